//! Shapes, axes, and indices of tiles in arrays.

use super::Tile;
use crate::dtype::Const;
use crate::elem::Integer;
use crate::stage::Item;

/// Shapes of tiles, known while building.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape",
    note = "arrays and `Vec`s of `usize` are, and `()` for a scalar; what is known at run time only is none"
)]
pub trait Shape {
    /// The extents.
    fn extents(&self) -> Vec<usize>;
}

impl<const N: usize> Shape for [usize; N] {
    fn extents(&self) -> Vec<usize> {
        self.to_vec()
    }
}

impl Shape for Vec<usize> {
    fn extents(&self) -> Vec<usize> {
        self.clone()
    }
}

impl Shape for &[usize] {
    fn extents(&self) -> Vec<usize> {
        self.to_vec()
    }
}

impl Shape for () {
    fn extents(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// New extents of a tile, of which one may be -1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no new shape of a tile",
    note = "arrays and `Vec`s of integers are"
)]
pub trait Extents {
    /// The extents.
    fn numbers(&self) -> Vec<i64>;
}

macro_rules! extents {
    ($($ty:ty),*) => { $(
        impl<const N: usize> Extents for [$ty; N] {
            fn numbers(&self) -> Vec<i64> {
                self.iter().map(|&n| n as i64).collect()
            }
        }
        impl Extents for Vec<$ty> {
            fn numbers(&self) -> Vec<i64> {
                self.iter().map(|&n| n as i64).collect()
            }
        }
    )* };
}
extents!(i32, i64, usize);

impl Extents for () {
    fn numbers(&self) -> Vec<i64> {
        Vec::new()
    }
}

/// Axes of a reduction: one, an array of them, or `..` for all. Negative ones count from the end. [`keep`] keeps the axes with extent 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axes",
    note = "a number, an array of numbers, and `..` do"
)]
pub trait Axes {
    /// The axes; `None` for all.
    fn axes(&self) -> Option<Vec<i64>>;
    /// Whether reduced axes are kept.
    fn kept(&self) -> bool {
        false
    }
    /// The axis, where one is named and not an array of them.
    fn single(&self) -> Option<i64> {
        None
    }
}

macro_rules! axes {
    ($($ty:ty),*) => { $(
        impl Axes for $ty {
            fn axes(&self) -> Option<Vec<i64>> {
                Some(vec![*self as i64])
            }
            fn single(&self) -> Option<i64> {
                Some(*self as i64)
            }
        }
        impl<const N: usize> Axes for [$ty; N] {
            fn axes(&self) -> Option<Vec<i64>> {
                Some(self.iter().map(|&n| n as i64).collect())
            }
        }
    )* };
}
axes!(i32, i64, usize);

impl Axes for std::ops::RangeFull {
    fn axes(&self) -> Option<Vec<i64>> {
        None
    }
}

/// Axes that a reduction keeps.
#[derive(Clone, Copy, Debug)]
pub struct Keep<A>(A);

impl<A: Axes> Axes for Keep<A> {
    fn axes(&self) -> Option<Vec<i64>> {
        self.0.axes()
    }
    fn kept(&self) -> bool {
        true
    }
    fn single(&self) -> Option<i64> {
        self.0.single()
    }
}

/// Axes that a reduction keeps with extent 1: `x.sum(keep(1))`.
pub fn keep<A: Axes>(axes: A) -> Keep<A> {
    Keep(axes)
}

/// An index: a scalar of an integer type, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index",
    note = "scalars of integer types and Rust's i32, i64 and usize are"
)]
pub trait Index: Copy {
    #[doc(hidden)]
    fn index(self) -> Item;
}

impl<T: Integer> Index for Tile<T> {
    fn index(self) -> Item {
        Item::Tile(self.raw())
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(impl Index for $ty {
        fn index(self) -> Item {
            Item::Loose(Const::Int(self as i128))
        }
    })* };
}
numbers!(i32, i64, usize);

/// Where a tile is in an array of rank `R`: an index for each axis, as a tuple or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index into an array of rank {R}",
    label = "an index for each of {R} axes is accepted",
    note = "tuples of scalars of integer types and of numbers are"
)]
pub trait At<const R: usize> {
    #[doc(hidden)]
    fn items(self) -> Vec<Item>;
}

macro_rules! at {
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(
        impl<$($name: Index),*> At<$n> for ($($name,)*) {
            fn items(self) -> Vec<Item> {
                vec![$(self.$at.index()),*]
            }
        }
    )* };
}
at! { 0: ; }
for_tuples!(at, 8);

impl<I: Index, const R: usize> At<R> for [I; R] {
    fn items(self) -> Vec<Item> {
        self.into_iter().map(Index::index).collect()
    }
}
