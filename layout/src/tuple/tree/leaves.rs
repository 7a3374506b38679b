//! What depends on the kind of leaf: how leaves are read and written.

use core::fmt;

use super::Tuple;
use crate::leaf::int::FACTORS;
use crate::leaf::symbol::write_with_facts;
use crate::tuple::profile::Profile;
use crate::tuple::store::{FULL, MAX_SYMBOLS, Small};
use crate::{Crd, Error, Int, Stride};

/// What is at the leaves of a tree: an [`Int`], a [`Stride`] or a [`Crd`].
///
/// ```
/// use girih_layout::{Coord, Crd, Leaf, Shape};
/// let origin: Coord = Crd::tree(Shape::parse("(4,(2,3))")?.profile(), std::iter::repeat(Crd::At(0)))?;
/// assert_eq!(origin.to_string(), "(0,(0,0))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub trait Leaf: Copy {
    /// The tree of such leaves.
    type Tree;

    /// The tree of a profile with these leaves from left to right; leaves that are missing are 0.
    ///
    /// # Errors
    /// [`Error::Capacity`] for more symbols than a tree holds.
    fn tree(profile: &Profile, leaves: impl Iterator<Item = Self>) -> Result<Self::Tree, Error>;
}

/// The operations that depend on the kind of leaf: how a leaf is read and written.
macro_rules! leaves {
    ($T:ty, $N:tt, |$tree:ident, $i:ident| $get:expr, |$to:ident, $leaf:ident, $used:ident| $write:expr) => {
        impl Tuple<$T, $N> {
            /// A single leaf.
            ///
            /// ```
            /// use girih_layout::{Int, Shape};
            /// assert_eq!(Shape::leaf(Int::fixed(4)), Shape::parse("4")?);
            /// # Ok::<(), girih_layout::Error>(())
            /// ```
            pub const fn leaf(leaf: $T) -> Tuple<$T, $N> {
                Tuple::<$T, $N>::repeat(leaf, &Profile::LEAF)
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
            /// [`Error::Capacity`] for more than [`MAX_LEAVES`](crate::MAX_LEAVES), [`Error::Unsupported`] for no
            /// leaves.
            pub const fn flat(leaves: &[$T]) -> Result<Tuple<$T, $N>, Error> {
                if leaves.is_empty() {
                    return Err(Error::Unsupported { op: "a flat tuple", what: "no leaves" });
                }
                let mut out = Tuple::<$T, $N>::EMPTY;
                tri!(out.profile.open());
                let mut i = 0;
                while i < leaves.len() {
                    tri!(out.push(leaves[i]));
                    i += 1;
                }
                out.profile.close();
                Ok(out)
            }

            /// The same leaf everywhere in a tree (CuTe's `repeat` and `repeat_like`).
            ///
            /// ```
            /// use girih_layout::{Int, Shape};
            /// let shape = Shape::parse("(2,(3,4))")?;
            /// assert_eq!(Shape::repeat(Int::fixed(1), shape.profile()).to_string(), "(1,(1,1))");
            /// # Ok::<(), girih_layout::Error>(())
            /// ```
            pub const fn repeat(leaf: $T, profile: &Profile) -> Tuple<$T, $N> {
                let mut out = Tuple::<$T, $N>::zeros(*profile);
                let mut i = 0;
                while i < out.leaf_count() {
                    let _fits = out.set(i, leaf); // its symbols are the only ones
                    i += 1;
                }
                out
            }

            /// Leaf `i`, counted from the left.
            ///
            /// ```
            /// use girih_layout::{Int, Shape};
            /// let shape = Shape::parse("(4,(2,3))")?;
            /// assert_eq!((shape.get(2), shape.get(3)), (Some(Int::fixed(3)), None));
            /// # Ok::<(), girih_layout::Error>(())
            /// ```
            #[inline]
            pub const fn get(&self, i: usize) -> Option<$T> {
                if i < self.leaf_count() { Some(self.at_leaf(i)) } else { None }
            }

            /// The leaves from left to right.
            ///
            /// ```
            /// use girih_layout::{Int, Shape};
            /// assert_eq!(Shape::parse("(4,(2,3))")?.leaves().nth(2), Some(Int::fixed(3)));
            /// # Ok::<(), girih_layout::Error>(())
            /// ```
            pub fn leaves(&self) -> impl ExactSizeIterator<Item = $T> + DoubleEndedIterator + Clone + '_ {
                (0..self.leaf_count()).map(|i| self.at_leaf(i))
            }

            /// A tree of the same profile, whose leaves are a function of these leaves (CuTe's `transform_leaf`).
            ///
            /// ```
            /// use girih_layout::{Crd, Shape};
            /// let last = Shape::parse("(2,(3,4))")?.map(|extent| Crd::At(extent.get().unwrap_or(1) - 1))?;
            /// assert_eq!(last.to_string(), "(1,(2,3))");
            /// # Ok::<(), girih_layout::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::Capacity`] for more symbols than a tree holds.
            pub fn map<U: Leaf>(&self, leaf: impl FnMut($T) -> U) -> Result<U::Tree, Error> {
                U::tree(&self.profile, self.leaves().map(leaf))
            }

            #[inline]
            pub(crate) const fn at_leaf(&self, i: usize) -> $T {
                let ($tree, $i) = (self, i);
                $get
            }

            pub(crate) const fn push(&mut self, leaf: $T) -> Result<(), Error> {
                let i = tri!(self.profile.leaf());
                self.leaves.set(i, Small::number(0, false));
                self.set(i, leaf)
            }

            pub(crate) const fn set(&mut self, i: usize, $leaf: $T) -> Result<(), Error> {
                let ($to, $used) = (&mut self.symbols, u16::MAX);
                let mut kept = $write;
                if kept.is_none() {
                    self.leaves.set(i, Small::number(0, false));
                    let ($to, $used) = (&mut self.symbols, self.leaves.used(self.profile.leaf_count()));
                    kept = $write;
                }
                let Some(kept) = kept else { return Err(FULL) };
                self.leaves.set(i, kept);
                Ok(())
            }
        }

        impl Leaf for $T {
            type Tree = Tuple<$T, $N>;

            fn tree(profile: &Profile, leaves: impl Iterator<Item = $T>) -> Result<Tuple<$T, $N>, Error> {
                let mut out = Tuple::<$T, $N>::zeros(*profile);
                for (i, leaf) in leaves.take(out.leaf_count()).enumerate() {
                    out.set(i, leaf)?;
                }
                Ok(out)
            }
        }

        impl fmt::Display for Tuple<$T, $N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if f.sign_plus() {
                    let factors = self.leaves.factors(self.leaf_count(), &self.symbols);
                    return write_with_facts(f, self, factors);
                }
                self.write(f, |i| self.at_leaf(i))
            }
        }
    };
}

leaves!(Int, MAX_SYMBOLS, |tree, i| tree.leaves.int(i, &tree.symbols), |to, leaf, used| to
    .write(&leaf, used));
leaves!(
    Stride,
    MAX_SYMBOLS,
    |tree, i| tree.leaves.step::<FACTORS, MAX_SYMBOLS>(i, &tree.symbols).stride(),
    |to, leaf, used| to.write_step(&leaf.step(), used)
);
leaves!(Crd, 0, |tree, i| tree.leaves.get(i).crd(), |_to, leaf, _used| Some(Small::of_crd(leaf)));
