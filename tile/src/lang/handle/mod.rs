//! What kernels are written with: tiles, scalars, arrays, and views of arrays.

/// Operations on a tile: the methods, what errors call them, and what builds them.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $(<$of:ident>)? ($($arg:ident: $ty:ty),*) -> $out:ty {
        $called:expr, |$build:ident, $value:ident| $built:expr
    })*) => { $(
        $(#[$doc])*
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name $(<$of: Elem>)? (self, $($arg: $ty),*) -> Tile<$out> {
            one($called, self, |$build, $value| $built)
        }
    )* };
}

mod array;
mod elements;
mod factory;
mod index;
mod math;
mod operand;
mod operators;
mod output;
mod product;
mod random;
mod reduce;
mod shape;
mod turn;
mod view;

use std::fmt;
use std::marker::PhantomData;

pub use array::{Array, Part, PartMut, bid, num_blocks};
pub use elements::{ElementsMut, ElementsOf, Rows, RowsOrSpan, Span, Update, span};
pub use factory::{Fill, Nested, arange, astile, full, irange, ones, scalar, strict, zeros};
pub use index::{At, Axes, Extents, Index, Keep, Shape, keep};
pub use math::*;
pub use operand::{IntoItem, Pair};
pub use output::{assert_, print};
pub use product::{matmul, mma};
pub use random::{rand, randint, randn};
pub use reduce::{Together, reduce, scan};
pub use shape::{Parts, cat};
pub use turn::{Turn, last_block};
pub use view::{OfTile, View, ViewMut};

use crate::elem::Elem;
use crate::error::Fault;
use crate::ir::{Build, Dims, Value};
use crate::stage::{Raw, apply, refuse, with};

/// A tile: an array of elements of type `T` whose shape is known when the kernel is built. A value: operations make new tiles.
///
/// A tile of rank 0 is a [`Scalar`]. Tiles live while their kernel is built; an operation that is refused gives a tile on which
/// operations are silent, and the build reports all of the refused ones.
pub struct Tile<T> {
    raw: Raw,
    of: PhantomData<fn() -> T>,
}

/// A tile of rank 0.
pub type Scalar<T> = Tile<T>;

impl<T> Clone for Tile<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Tile<T> {}

impl<T> fmt::Debug for Tile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tile").finish_non_exhaustive()
    }
}

impl<T> Tile<T> {
    pub(crate) fn of(raw: Raw) -> Tile<T> {
        Tile { raw, of: PhantomData }
    }

    pub(crate) fn raw(self) -> Raw {
        self.raw
    }

    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        &mut self.raw
    }
}

impl<T: Elem> Tile<T> {
    pub(crate) fn dims(self) -> Option<Dims> {
        with(|stage| stage.ty(self.raw)).map(|ty| ty.dims)
    }

    /// The shape, in elements by axes. That of a tile whose operation was refused is empty.
    pub fn shape(self) -> Vec<usize> {
        self.dims().unwrap_or_default().iter().map(|&n| n as usize).collect()
    }

    /// The number of axes.
    pub fn rank(self) -> usize {
        self.dims().unwrap_or_default().rank()
    }

    /// The extent along an axis; negative axes count from the end. 1 for an axis that does not exist, which is reported.
    #[track_caller]
    pub fn extent(self, axis: i64) -> usize {
        let Some(dims) = self.dims() else { return 1 };
        match crate::ops::shape::axis("extent", axis, dims.rank()) {
            Ok(at) => dims[at] as usize,
            Err(fault) => {
                refuse(fault);
                1
            }
        }
    }
}

/// What an operation makes of a tile.
#[track_caller]
fn one<T: Elem, U>(
    name: &'static str,
    x: Tile<T>,
    f: impl FnOnce(&mut Build, Value) -> Result<Value, Fault>,
) -> Tile<U> {
    Tile::of(apply(name, &[x.item()], |build, args| {
        let value = build.value(args[0])?;
        f(build, value)
    }))
}

/// A shape of the build as the IR has it, refused where it is none.
#[track_caller]
pub(crate) fn dims(extents: &[usize]) -> Option<Dims> {
    let shape: Vec<i64> = extents.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    match with(|stage| stage.build.tile_dims(&shape)) {
        Ok(dims) => Some(dims),
        Err(fault) => {
            refuse(fault);
            None
        }
    }
}
