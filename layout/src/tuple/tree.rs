//! Trees of leaves: tuples of integers, strides and positions over a profile.

mod leaves;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::tuple::profile::{Node, Profile};
use crate::tuple::store::{FULL, Leaves, MAX_SYMBOLS, Small, Symbols, same};
use crate::{Crd, Error, Int, Stride, Symbol};
pub use leaves::Leaf;

/// A tree of at most [`MAX_LEAVES`](crate::MAX_LEAVES) leaves: a leaf, or a tuple of trees.
///
/// The symbols that are in its leaves are held once, `N` of them at most; a symbol that is divided by a number counts as one more.
///
/// ```
/// use girih_layout::Shape;
/// let shape = Shape::parse("(4,(2,3))")?;
/// assert_eq!((shape.rank(), shape.depth(), shape.leaf_count()), (2, 2, 3));
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub struct Tuple<T, const N: usize = MAX_SYMBOLS> {
    pub(crate) profile: Profile,
    pub(crate) leaves: Leaves,
    pub(crate) symbols: Symbols<N>,
    pub(crate) of: PhantomData<T>,
}

impl<T, const N: usize> Clone for Tuple<T, N> {
    fn clone(&self) -> Tuple<T, N> {
        *self
    }
}

impl<T, const N: usize> Copy for Tuple<T, N> {}

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

/// A tree of strides.
///
/// ```
/// use girih_layout::Strides;
/// assert_eq!(Strides::parse("(1,(2@1,4))")?.to_string(), "(1,(2@1,4))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type Strides = Tuple<Stride>;

/// A coordinate: a tree of positions and `_`. An integer may stand for a whole subtree of the shape and then counts through it,
/// leftmost leaf fastest (colexicographic order).
///
/// ```
/// use girih_layout::Coord;
/// assert_eq!(Coord::parse("(3,(_,1))")?.leaf_count(), 3);
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type Coord = Tuple<Crd, 0>;

impl<T, const N: usize> Tuple<T, N> {
    /// The empty tree, which operations write their results into.
    pub(crate) const EMPTY: Tuple<T, N> = Tuple::zeros(Profile::EMPTY);

    /// A known 0 at every leaf.
    pub(crate) const fn zeros(profile: Profile) -> Tuple<T, N> {
        Tuple { profile, leaves: Leaves::ZEROS, symbols: Symbols::EMPTY, of: PhantomData }
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
    /// [`Error::Capacity`] for more than [`MAX_LEAVES`](crate::MAX_LEAVES), [`Error::Unsupported`] for no trees.
    pub const fn concat(trees: &[Tuple<T, N>]) -> Result<Tuple<T, N>, Error> {
        if trees.is_empty() {
            return Err(Error::Unsupported { op: "a tuple", what: "no modes" });
        }
        let mut out = Tuple::EMPTY;
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

    /// Whether the tree is a single leaf, no tuple.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("4")?.is_leaf() && !Shape::parse("(4)")?.is_leaf());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn is_leaf(&self) -> bool {
        self.profile.is_leaf()
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
    pub const fn mode(&self, mode: usize) -> Result<Tuple<T, N>, Error> {
        let Some(node) = self.profile.nth(self.profile.root(), mode) else {
            return Err(Error::ModeOutOfRange { mode, rank: self.rank() });
        };
        let mut out = Tuple::EMPTY;
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
    pub const fn flatten(&self) -> Tuple<T, N> {
        let mut out = *self;
        if !self.is_leaf() {
            out.profile = self.profile.as_flat();
        }
        out
    }

    pub(crate) const fn copy<const M: usize>(&mut self, from: &Tuple<T, M>, node: Node) -> Result<(), Error> {
        let first = self.leaf_count();
        tri!(self.profile.graft(&from.profile, node));
        let mut i = node.begin;
        while i < node.end {
            let leaf = from.leaves.get(i);
            self.leaves.set(first + i - node.begin, if leaf.is_symbolic() { Small::ZERO } else { leaf });
            i += 1;
        }
        i = node.begin;
        while i < node.end && !from.symbols.is_empty() {
            tri!(self.take_leaf(first + i - node.begin, from.leaves.get(i), &from.symbols));
            i += 1;
        }
        Ok(())
    }

    #[inline]
    const fn take_leaf<const M: usize>(
        &mut self,
        i: usize,
        leaf: Small,
        of: &Symbols<M>,
    ) -> Result<(), Error> {
        if leaf.is_symbolic() {
            self.leaves.set(i, Small::number(0, false));
        }
        let kept = match self.symbols.take(leaf, of, u16::MAX) {
            None => self.symbols.take(leaf, of, self.leaves.used(self.leaf_count())),
            kept => kept,
        };
        let Some(kept) = kept else { return Err(FULL) };
        self.leaves.set(i, kept);
        Ok(())
    }

    /// The same leaves, read as another kind of leaf that can hold the same values.
    pub(crate) const fn retyped<U>(&self) -> Tuple<U, N> {
        Tuple { profile: self.profile, leaves: self.leaves, symbols: self.symbols, of: PhantomData }
    }

    pub(crate) const fn push_small(&mut self, leaf: Small) -> Result<(), Error> {
        let i = tri!(self.profile.leaf());
        self.leaves.set(i, leaf);
        Ok(())
    }

    const fn same(&self, other: &Tuple<T, N>) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            if !same((self.leaves.get(i), &self.symbols), (other.leaves.get(i), &other.symbols)) {
                return false;
            }
            i += 1;
        }
        self.profile.congruent(&other.profile)
    }
}

impl<T, const N: usize> Tuple<T, N> {
    /// Adds what is known of a symbol. Returns whether the tree has the symbol.
    pub(crate) const fn learn(&mut self, symbol: Symbol) -> bool {
        self.symbols.learn(symbol)
    }

    fn write<L: fmt::Display>(&self, f: &mut fmt::Formatter<'_>, leaf: impl Fn(usize) -> L) -> fmt::Result {
        if self.leaf_count() == 0 {
            return f.write_str("()");
        }
        for i in 0..self.leaf_count() {
            if i > 0 {
                f.write_str(",")?;
            }
            let (opens, closes) = self.profile.parens(self.profile.root(), i);
            (0..opens).try_for_each(|_| f.write_str("("))?;
            leaf(i).fmt(f)?;
            (0..closes).try_for_each(|_| f.write_str(")"))?;
        }
        Ok(())
    }
}

impl<T, const N: usize> fmt::Debug for Tuple<T, N>
where
    Tuple<T, N>: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl<T, const N: usize> PartialEq for Tuple<T, N> {
    fn eq(&self, other: &Tuple<T, N>) -> bool {
        self.same(other)
    }
}

impl<T, const N: usize> Eq for Tuple<T, N> {}

impl<T, const N: usize> Hash for Tuple<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.profile.hash(state);
        self.leaves.coefs[..self.leaf_count()].hash(state);
    }
}
