//! Modes picked, grouped and put side by side.

use crate::{Error, Lay, Profile, Shape};

impl Lay {
    /// All leaves in one flat tuple; a leaf stays a leaf.
    pub const fn flatten(&self) -> Lay {
        Lay { shape: self.shape.flatten(), stride: self.stride }
    }

    /// The modes of the given numbers, in that order (CuTe's `select`).
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
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn take(&self, begin: usize, end: usize) -> Result<Lay, Error> {
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
    /// # Errors
    /// [`Error::ModeOutOfRange`] unless `begin <= end <= rank`.
    pub const fn group(&self, begin: usize, end: usize) -> Result<Lay, Error> {
        let rank = self.rank();
        if end > rank || begin > end {
            return Err(Error::ModeOutOfRange { mode: end, rank });
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

    /// Another mode at the end (CuTe's `append`).
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

    /// Another mode at the beginning (CuTe's `prepend`).
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

    /// The layout with mode `mode` replaced by another one.
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

    /// The same leaves under another tree.
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless the profile has as many leaves.
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
    /// # Errors
    /// Those of [`Lay::composition`]; [`Error::Unsupported`] for a shape of another size.
    pub const fn with_shape(&self, shape: &Shape) -> Result<Lay, Error> {
        if !tri!(shape.size()).same(tri!(self.size())) {
            return Err(Error::Unsupported { op: "with_shape", what: "a shape of another size" });
        }
        self.composition(&tri!(Lay::left(shape)))
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
