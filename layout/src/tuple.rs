//! Trees of leaves: tuples of anything over a profile.

use core::hash::{Hash, Hasher};

use crate::profile::{Node, Profile};
use crate::{Error, Int, MAX_LEAVES};

/// A tree of at most [`MAX_LEAVES`] leaves: a leaf, or a tuple of trees.
///
/// ```
/// use girih_layout::Shape;
/// let shape = Shape::parse("(4,(2,3))")?;
/// assert_eq!((shape.rank(), shape.depth(), shape.leaf_count()), (2, 2, 3));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Tuple<T> {
    pub(crate) profile: Profile,
    pub(crate) leaves: [T; MAX_LEAVES],
}

/// A tree of integers.
///
/// ```
/// use girih_layout::IntTuple;
/// assert_eq!(IntTuple::parse("(4,(2,3))")?.leaf_count(), 3);
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type IntTuple = Tuple<Int>;

/// The shape of a layout: a tree of extents.
///
/// ```
/// use girih_layout::Shape;
/// assert_eq!(Shape::parse("(4,(2,3))")?.size()?.get(), Some(24));
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type Shape = IntTuple;

impl<T: Copy> Tuple<T> {
    /// An empty tuple whose unused places hold `fill`.
    pub(crate) const fn filled(fill: T) -> Tuple<T> {
        Tuple { profile: Profile::EMPTY, leaves: [fill; MAX_LEAVES] }
    }

    /// A single leaf.
    ///
    /// ```
    /// use girih_layout::{Int, Shape};
    /// assert_eq!(Shape::leaf(Int::fixed(4)), Shape::parse("4")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn leaf(leaf: T) -> Tuple<T> {
        Tuple { profile: Profile::LEAF, leaves: [leaf; MAX_LEAVES] }
    }

    /// A flat tuple of leaves.
    ///
    /// ```
    /// use girih_layout::{Int, Shape};
    /// assert_eq!(Shape::flat(&[Int::fixed(4), Int::fixed(2)])?, Shape::parse("(4,2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than [`MAX_LEAVES`], [`Error::Unsupported`] for none.
    pub const fn flat(leaves: &[T]) -> Result<Tuple<T>, Error> {
        if leaves.is_empty() {
            return Err(Error::Unsupported { op: "a flat tuple", what: "no leaves" });
        }
        let mut out = Tuple::filled(leaves[0]);
        tri!(out.profile.open());
        let mut i = 0;
        while i < leaves.len() {
            tri!(out.push(leaves[i]));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }

    /// The tuple of trees, side by side.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let (a, b) = (Shape::parse("4")?, Shape::parse("(2,3)")?);
    /// assert_eq!(Shape::concat(&[a, b])?, Shape::parse("(4,(2,3))")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than [`MAX_LEAVES`], [`Error::Unsupported`] for none.
    pub const fn concat(trees: &[Tuple<T>]) -> Result<Tuple<T>, Error> {
        if trees.is_empty() {
            return Err(Error::Unsupported { op: "a tuple", what: "no modes" });
        }
        let mut out = Tuple::filled(trees[0].leaves[0]);
        tri!(out.profile.open());
        let mut i = 0;
        while i < trees.len() {
            tri!(out.copy(&trees[i], trees[i].profile.root()));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }

    /// The tree without its leaves.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(4,(2,3))")?.profile().congruent(Shape::parse("(1,(1,1))")?.profile()));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The number of modes: 1 for a leaf.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.rank(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// How deep the tree is: 0 for a leaf.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.depth(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// The number of leaves.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.leaf_count(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn leaf_count(&self) -> usize {
        self.profile.leaf_count()
    }

    /// Whether it is a single leaf, no tuple.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("4")?.is_leaf() && !Shape::parse("(4)")?.is_leaf());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn is_leaf(&self) -> bool {
        self.profile.is_leaf()
    }

    /// The leaves from left to right.
    ///
    /// ```
    /// use girih_layout::{Int, Shape};
    /// assert_eq!(Shape::parse("(4,(2,3))")?.leaves()[2], Int::fixed(3));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn leaves(&self) -> &[T] {
        let (used, _) = self.leaves.split_at(self.profile.leaf_count());
        used
    }

    /// Mode `mode`.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.mode(1)?, Shape::parse("(2,3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn mode(&self, mode: usize) -> Result<Tuple<T>, Error> {
        let Some(node) = self.profile.nth(self.profile.root(), mode) else {
            return Err(Error::ModeOutOfRange { mode, rank: self.rank() });
        };
        let mut out = Tuple::filled(self.leaves[0]);
        tri!(out.copy(self, node));
        Ok(out)
    }

    /// All leaves in one flat tuple; a leaf stays a leaf.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.flatten(), Shape::parse("(4,2,3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn flatten(&self) -> Tuple<T> {
        let mut out = *self;
        if !self.is_leaf() {
            out.profile = self.profile.as_flat();
        }
        out
    }

    pub(crate) const fn push(&mut self, leaf: T) -> Result<(), Error> {
        let i = tri!(self.profile.leaf());
        self.leaves[i] = leaf;
        Ok(())
    }

    pub(crate) const fn copy(&mut self, from: &Tuple<T>, node: Node) -> Result<(), Error> {
        let mut i = node.begin;
        while i < node.end {
            let (opens, closes) = from.profile.parens(node, i);
            tri!(self.profile.open_many(opens));
            tri!(self.push(from.leaves[i]));
            self.profile.close_many(closes);
            i += 1;
        }
        Ok(())
    }
}

impl<T: PartialEq> PartialEq for Tuple<T> {
    fn eq(&self, other: &Tuple<T>) -> bool {
        let n = self.profile.leaf_count();
        self.profile == other.profile && self.leaves[..n] == other.leaves[..n]
    }
}

impl<T: Eq> Eq for Tuple<T> {}

impl<T: Copy + Hash> Hash for Tuple<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.profile.hash(state);
        self.leaves().hash(state);
    }
}
