//! Editing of trees (CuTe's `tuple_algorithms.hpp`). [`Lay`](crate::Lay) has the same operations on its modes.

use crate::tuple::profile::Node;
use crate::{Error, Profile, Tuple};

impl<T, const N: usize> Tuple<T, N> {
    /// The modes from `begin` up to `end`, as a tuple (CuTe's `take`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,(3,4),5)")?.take(1, 3)?, Shape::parse("((3,4),5)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeRange`] unless `begin <= end <= rank`.
    pub const fn take(&self, begin: usize, end: usize) -> Result<Tuple<T, N>, Error> {
        tri!(self.profile.require_modes(begin, end));
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        tri!(self.modes_into(begin, end, &mut out));
        out.profile.close();
        Ok(out)
    }

    /// The modes of the given numbers, in that order (CuTe's `select`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,(3,4),5)")?.select(&[2, 0])?, Shape::parse("(5,2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`], [`Error::Capacity`].
    pub const fn select(&self, modes: &[usize]) -> Result<Tuple<T, N>, Error> {
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        let mut i = 0;
        while i < modes.len() {
            tri!(out.copy(self, tri!(self.node(modes[i]))));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }

    /// The modes from the last to the first (CuTe's `reverse`); a leaf stays a leaf.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,(3,4),5)")?.reverse(), Shape::parse("(5,(3,4),2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn reverse(&self) -> Tuple<T, N> {
        let (mut order, rank) = ([0; crate::MAX_LEAVES], self.rank());
        let mut i = 0;
        while i < rank {
            order[i] = rank - 1 - i;
            i += 1;
        }
        let (order, _) = order.split_at(rank);
        match self.select(order) {
            Ok(reversed) if !self.is_leaf() => reversed,
            _ => *self, // as many modes as there were: they fit
        }
    }

    /// The modes from `begin` up to `end` grouped into one (CuTe's `group`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,3,4)")?.group(0, 2)?, Shape::parse("((2,3),4)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeRange`] unless `begin <= end <= rank`, [`Error::Unsupported`] for no modes: there is no empty tuple.
    pub const fn group(&self, begin: usize, end: usize) -> Result<Tuple<T, N>, Error> {
        let rank = self.rank();
        tri!(self.profile.require_modes(begin, end));
        if begin == end {
            return Err(Error::Unsupported { op: "group", what: "a group of no modes" });
        }
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        tri!(self.modes_into(0, begin, &mut out));
        tri!(out.profile.open());
        tri!(self.modes_into(begin, end, &mut out));
        out.profile.close();
        tri!(self.modes_into(end, rank, &mut out));
        out.profile.close();
        Ok(out)
    }

    /// The tree with another mode at the end (CuTe's `append`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,3)")?.append(&Shape::parse("(4,5)")?)?, Shape::parse("(2,3,(4,5))")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn append(&self, mode: &Tuple<T, N>) -> Result<Tuple<T, N>, Error> {
        self.insert(self.rank(), mode)
    }

    /// The tree with another mode at the beginning (CuTe's `prepend`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,3)")?.prepend(&Shape::parse("4")?)?, Shape::parse("(4,2,3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn prepend(&self, mode: &Tuple<T, N>) -> Result<Tuple<T, N>, Error> {
        self.insert(0, mode)
    }

    /// The tree with another mode before mode `at`, or at the end (CuTe's `insert`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,3)")?.insert(1, &Shape::parse("4")?)?, Shape::parse("(2,4,3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`] unless `at <= rank`, [`Error::Capacity`].
    pub const fn insert(&self, at: usize, mode: &Tuple<T, N>) -> Result<Tuple<T, N>, Error> {
        let rank = self.rank();
        if at > rank {
            return Err(Error::ModeOutOfRange { mode: at, rank });
        }
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        tri!(self.modes_into(0, at, &mut out));
        tri!(out.copy(mode, mode.profile.root()));
        tri!(self.modes_into(at, rank, &mut out));
        out.profile.close();
        Ok(out)
    }

    /// The tree without mode `mode` (CuTe's `remove`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,(3,4),5)")?.remove(1)?, Shape::parse("(2,5)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn remove(&self, mode: usize) -> Result<Tuple<T, N>, Error> {
        tri!(self.node(mode));
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        tri!(self.modes_into(0, mode, &mut out));
        tri!(self.modes_into(mode + 1, self.rank(), &mut out));
        out.profile.close();
        Ok(out)
    }

    /// The tree with `by` in the place of mode `mode` (CuTe's `replace`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(2,3)")?.replace(0, &Shape::parse("(4,5)")?)?, Shape::parse("((4,5),3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`], [`Error::Capacity`].
    pub const fn replace(&self, mode: usize, by: &Tuple<T, N>) -> Result<Tuple<T, N>, Error> {
        tri!(self.node(mode));
        let mut out = Tuple::EMPTY;
        tri!(out.profile.open());
        tri!(self.modes_into(0, mode, &mut out));
        tri!(out.copy(by, by.profile.root()));
        tri!(self.modes_into(mode + 1, self.rank(), &mut out));
        out.profile.close();
        Ok(out)
    }

    /// A leaf becomes a tuple of one mode; a tuple stays as it is (CuTe's `wrap`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("4")?.wrap().to_string(), "(4)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn wrap(&self) -> Tuple<T, N> {
        let mut out = *self;
        if self.is_leaf() {
            out.profile = self.profile.as_flat();
        }
        out
    }

    /// A tuple of one mode becomes that mode, until the result is no such tuple (CuTe's `unwrap`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(((4,2)))")?.unwrap_tuple().to_string(), "(4,2)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn unwrap_tuple(&self) -> Tuple<T, N> {
        let mut out = *self;
        while !out.is_leaf() && out.rank() == 1 {
            out = match out.mode(0) {
                Ok(mode) => mode,
                Err(_) => return out, // there is a mode 0
            };
        }
        out
    }

    /// The same leaves under another tree (CuTe's `unflatten`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let shape = Shape::parse("((2,3),4)")?;
    /// assert_eq!(shape.flatten().unflatten(shape.profile())?, shape);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless the profile has as many leaves as the tree.
    pub const fn unflatten(&self, profile: &Profile) -> Result<Tuple<T, N>, Error> {
        if profile.leaf_count() != self.leaf_count() {
            return Err(Error::NotCongruent { op: "unflatten", leaf: profile.leaf_count() });
        }
        Ok(Tuple { profile: *profile, ..*self })
    }

    /// A tuple of tuples: the first modes of all trees, then the second modes of all trees, and so on (CuTe's `zip`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let zipped = Shape::zip(&[Shape::parse("(2,(3,4))")?, Shape::parse("(5,6)")?])?;
    /// assert_eq!(zipped, Shape::parse("((2,5),((3,4),6))")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] unless the ranks agree, [`Error::Unsupported`] for no trees, [`Error::Capacity`].
    pub const fn zip(trees: &[Tuple<T, N>]) -> Result<Tuple<T, N>, Error> {
        const OP: &str = "zip";
        if trees.is_empty() {
            return Err(Error::Unsupported { op: OP, what: "no trees" });
        }
        let (rank, mut out) = (trees[0].rank(), Tuple::EMPTY);
        tri!(out.profile.open());
        let mut mode = 0;
        while mode < rank {
            tri!(out.profile.open());
            let mut i = 0;
            while i < trees.len() {
                if trees[i].rank() != rank {
                    return Err(Error::RankMismatch { op: OP, rank, other: trees[i].rank() });
                }
                tri!(out.copy(&trees[i], tri!(trees[i].node(mode))));
                i += 1;
            }
            out.profile.close();
            mode += 1;
        }
        out.profile.close();
        Ok(out)
    }

    pub(crate) const fn node(&self, mode: usize) -> Result<Node, Error> {
        match self.profile.nth(self.profile.root(), mode) {
            Some(node) => Ok(node),
            None => Err(Error::ModeOutOfRange { mode, rank: self.rank() }),
        }
    }

    /// Appends the modes from `begin` up to `end` to `out`.
    const fn modes_into(&self, begin: usize, end: usize, out: &mut Tuple<T, N>) -> Result<(), Error> {
        let mut mode = begin;
        while mode < end {
            tri!(out.copy(self, tri!(self.node(mode))));
            mode += 1;
        }
        Ok(())
    }
}
