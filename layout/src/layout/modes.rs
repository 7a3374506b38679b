//! Modes picked, grouped and put side by side.

use crate::arith::ask;
use crate::{Error, Lay, Profile, Shape, Strides};

impl Lay {
    /// All leaves in one flat tuple; a leaf stays a leaf.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,(3,4)):(12,(4,1))").flatten(), lay!("(2,3,4):(12,4,1)"));
    /// ```
    pub const fn flatten(&self) -> Lay {
        Lay { shape: self.shape.flatten(), steps: self.steps }
    }

    /// The modes of the given numbers, in that order (CuTe's `select`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,(3,4)):(12,(4,1))").select(&[1, 0])?, lay!("((3,4),2):((4,1),12)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`], [`Error::Capacity`].
    pub const fn select(&self, modes: &[usize]) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = 0;
        while i < modes.len() {
            tri!(out.copy(self, tri!(self.node(modes[i]))));
            i += 1;
        }
        out.close();
        Ok(out)
    }

    /// The modes from `begin` up to `end`, as a tuple (CuTe's `take`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3,4):(12,4,1)").take(1, 3)?, lay!("(3,4):(4,1)"));
    /// let refused = lay!("(2,3,4):(12,4,1)").take(2, 1).unwrap_err();
    /// assert!(refused.to_string().starts_with("there are no modes 2 up to 1 in rank 3"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeRange`] unless `begin <= end <= rank`.
    pub const fn take(&self, begin: usize, end: usize) -> Result<Lay, Error> {
        tri!(self.shape.profile.require_modes(begin, end));
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = begin;
        while i < end {
            tri!(out.copy(self, tri!(self.node(i))));
            i += 1;
        }
        out.close();
        Ok(out)
    }

    /// The modes from `begin` up to `end` grouped into one (CuTe's `group`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3,4):(12,4,1)").group(1, 3)?, lay!("(2,(3,4)):(12,(4,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeRange`] unless `begin <= end <= rank`, [`Error::Unsupported`] for no modes: there is no empty tuple.
    pub const fn group(&self, begin: usize, end: usize) -> Result<Lay, Error> {
        let rank = self.rank();
        tri!(self.shape.profile.require_modes(begin, end));
        if begin == end {
            return Err(Error::Unsupported { op: "group", what: "a group of no modes" });
        }
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = 0;
        while i <= rank {
            if i == begin {
                tri!(out.open());
            }
            if i == end {
                out.close();
            }
            if i < rank {
                tri!(out.copy(self, tri!(self.node(i))));
            }
            i += 1;
        }
        out.close();
        Ok(out)
    }

    /// The layout with another mode at the end (CuTe's `append`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(1,2)").append(&lay!("4:6"))?, lay!("(2,3,4):(1,2,6)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn append(&self, mode: &Lay) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(out.open());
        tri!(out.copy_modes(self));
        tri!(out.copy(mode, mode.root()));
        out.close();
        Ok(out)
    }

    /// The layout with another mode at the beginning (CuTe's `prepend`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(1,2)").prepend(&lay!("4:6"))?, lay!("(4,2,3):(6,1,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn prepend(&self, mode: &Lay) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(out.open());
        tri!(out.copy(mode, mode.root()));
        tri!(out.copy_modes(self));
        out.close();
        Ok(out)
    }

    /// The layout with copies of a mode at the end, so that the rank is `rank`: CuTe's `append<N>`, which pads
    /// with `1:0` unless told otherwise.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// assert_eq!(lay!("(2,3):(1,2)").append_to(4, &Lay::UNIT)?, lay!("(2,3,1,1):(1,2,0,0)"));
    /// // An empty tuple fills nothing up.
    /// assert!(lay!("(2,3):(1,2)").append_to(4, &Lay::parse("()")?).is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] for a layout of higher rank, [`Error::Capacity`], [`Error::Unsupported`] for the mode `()`.
    pub const fn append_to(&self, rank: usize, mode: &Lay) -> Result<Lay, Error> {
        self.filled_up("append_to", rank, mode, false)
    }

    /// The layout with copies of a mode at the beginning, so that the rank is `rank`: CuTe's `prepend<N>`.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// assert_eq!(lay!("3:2").prepend_to(2, &Lay::UNIT)?, lay!("(1,3):(0,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::append_to`].
    pub const fn prepend_to(&self, rank: usize, mode: &Lay) -> Result<Lay, Error> {
        self.filled_up("prepend_to", rank, mode, true)
    }

    const fn filled_up(&self, op: &'static str, rank: usize, mode: &Lay, before: bool) -> Result<Lay, Error> {
        if self.rank() > rank {
            return Err(Error::RankMismatch { op, rank: self.rank(), other: rank });
        }
        let mut out = *self;
        while out.rank() < rank {
            let longer = if before { tri!(out.prepend(mode)) } else { tri!(out.append(mode)) };
            // An empty tuple is no mode among others, however often it comes.
            if longer.rank() == out.rank() {
                return Err(Error::Unsupported { op, what: "a mode that is an empty tuple" });
            }
            out = longer;
        }
        Ok(out)
    }

    /// The layout with mode `mode` replaced by another one.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(1,2)").replace(1, &lay!("4:6"))?, lay!("(2,4):(1,6)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`], [`Error::Capacity`].
    pub const fn replace(&self, mode: usize, by: &Lay) -> Result<Lay, Error> {
        let rank = self.rank();
        if mode >= rank {
            return Err(Error::ModeOutOfRange { mode, rank });
        }
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = 0;
        while i < rank {
            if i == mode {
                tri!(out.copy(by, by.root()));
            } else {
                tri!(out.copy(self, tri!(self.node(i))));
            }
            i += 1;
        }
        out.close();
        Ok(out)
    }

    /// The layout with another mode before mode `at`, or at the end (CuTe's `insert`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,4):(1,2)").insert(1, &lay!("3:8"))?, lay!("(2,3,4):(1,8,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`] unless `at <= rank`, [`Error::Capacity`].
    pub const fn insert(&self, at: usize, mode: &Lay) -> Result<Lay, Error> {
        let shape = tri!(self.shape.insert(at, mode.shape()));
        Lay::new(&shape, &tri!(self.stride().insert(at, &mode.stride())))
    }

    /// The layout without mode `mode` (CuTe's `remove`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3,4):(1,8,2)").remove(1)?, lay!("(2,4):(1,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn remove(&self, mode: usize) -> Result<Lay, Error> {
        Lay::new(&tri!(self.shape.remove(mode)), &tri!(self.stride().remove(mode)))
    }

    /// The modes from the last to the first (CuTe's `reverse`): the transpose of a matrix.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,(3,4)):(12,(4,1))").reverse(), lay!("((3,4),2):((4,1),12)"));
    /// ```
    pub const fn reverse(&self) -> Lay {
        let mut out = *self;
        out.shape = self.shape.reverse();
        let stride = self.stride().reverse();
        let _fits = out.take_steps(&stride.leaves, &stride.symbols); // the symbols that there were
        out
    }

    /// Two layouts mode by mode: `((A0,B0),(A1,B1))` (CuTe's `zip`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(1,2)").zip(&lay!("(4,5):(6,24)"))?, lay!("((2,4),(3,5)):((1,6),(2,24))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`], [`Error::Capacity`].
    pub const fn zip(&self, other: &Lay) -> Result<Lay, Error> {
        let shape = tri!(Shape::zip(&[self.shape, other.shape]));
        Lay::new(&shape, &tri!(Strides::zip(&[self.stride(), other.stride()])))
    }

    /// The layout with each mode turned into another layout (CuTe's `transform_layout`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// let filtered = lay!("((4,2),(3,1)):((1,0),(8,5))").map_modes(|mode| Ok(mode.filter()))?;
    /// assert_eq!(filtered, lay!("(4,3):(1,8)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `map`; [`Error::Capacity`].
    pub fn map_modes(&self, mut map: impl FnMut(Lay) -> Result<Lay, Error>) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.open()?;
        for k in 0..self.rank() {
            let mode = map(self.mode(k)?)?;
            out.copy(&mode, mode.root())?;
        }
        out.close();
        Ok(out)
    }

    /// The same leaves under another tree.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let l = lay!("(2,(3,4)):(12,(4,1))");
    /// assert_eq!(l.flatten().unflatten(l.shape().profile())?, l);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless the profile has as many leaves as the layout.
    pub const fn unflatten(&self, profile: &Profile) -> Result<Lay, Error> {
        if profile.leaf_count() != self.leaf_count() {
            return Err(Error::NotCongruent { op: "unflatten", leaf: profile.leaf_count() });
        }
        let mut out = *self;
        out.shape.profile = *profile;
        Ok(out)
    }

    /// The same function over another shape of the same size: `composition(self, left(shape))` (CuTe's `with_shape`).
    ///
    /// ```
    /// use girih_layout::{Shape, lay};
    /// assert_eq!(lay!("(4,6):(6,1)").with_shape(&Shape::parse("(2,12)")?)?, lay!("(2,(2,6)):(6,(12,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::composition`]; [`Error::Unsupported`] for a shape of another size, [`Error::NotKnown`] where a symbol decides.
    pub const fn with_shape(&self, shape: &Shape) -> Result<Lay, Error> {
        const OP: &str = "with_shape";
        let (size, own) = (tri!(shape.size()), tri!(self.size()));
        match ask::equal(size, own) {
            Some(true) => {}
            Some(false) => return Err(Error::Unsupported { op: OP, what: "a shape of another size" }),
            None => {
                return Err(Error::NotKnown {
                    op: OP,
                    value: (if size.is_symbolic() { size } else { own }).quoted(),
                });
            }
        }
        called!("with_shape", self.composition(&tri!(Lay::left(shape))))
    }

    /// Appends the modes of `from`, or `from` itself if it is a leaf.
    pub(crate) const fn copy_modes(&mut self, from: &Lay) -> Result<(), Error> {
        let root = from.root();
        let mut at = root.begin;
        while at < root.end {
            let child = from.shape.profile.child(root, at);
            tri!(self.copy(from, child));
            at = child.end;
        }
        Ok(())
    }
}
