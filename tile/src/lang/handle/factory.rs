//! Creating tiles.

use girih_tensor::{DType, Element};

use super::index::Shape;
use super::operand::IntoItem;
use super::{Tile, dims};
use crate::dtype::Const;
use crate::elem::{Elem, Integer};
use crate::ir::{Dims, Kind, Type};
use crate::ops;
use crate::stage::{Item, Raw, Staged, apply};

/// A number of Rust that a tile can be full of, converted to the tile's dtype. Integers must be numbers of the dtype.
#[diagnostic::on_unimplemented(
    message = "a tile of constants cannot be full of `{Self}`",
    note = "numbers, bool and scalars can be"
)]
pub trait Fill: Copy {
    #[doc(hidden)]
    fn fill(self) -> Item;
}

macro_rules! fill {
    ($($ty:ty: $kind:ident),*) => { $(impl Fill for $ty {
        fn fill(self) -> Item {
            Item::Loose(Const::$kind(self.into()))
        }
    })* };
}
fill!(bool: Bool, i32: Int, i64: Int, u32: Int, u64: Int, f32: Float, f64: Float);

impl Fill for usize {
    fn fill(self) -> Item {
        Item::Loose(Const::Int(self as i128))
    }
}

impl<T> Fill for Tile<T> {
    fn fill(self) -> Item {
        self.item()
    }
}

/// A tile of a shape, full of a number, or of the value of a scalar.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn full<T: Elem>(shape: impl Shape, value: impl Fill) -> Tile<T> {
    let Some(dims) = dims(&shape.extents()) else { return Tile::of(Raw::POISON) };
    let item = value.fill();
    let extents: Vec<i64> = dims.iter().map(|&n| n.into()).collect();
    Tile::of(apply("full", &[item], |build, args| match item {
        Item::Loose(constant) => build.filled(T::DTYPE, &extents, constant),
        Item::Tile(_) => {
            let value = build.value(args[0])?;
            let value = build.cast(value, T::DTYPE, crate::ir::Rounding::Nearest)?;
            build.broadcast_to(value, dims)
        }
    }))
}

/// A tile of zeros.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn zeros<T: Elem>(shape: impl Shape) -> Tile<T> {
    full(shape, 0.0)
}

/// A tile of ones.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn ones<T: Elem>(shape: impl Shape) -> Tile<T> {
    full(shape, 1.0)
}

/// A scalar of a number.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn scalar<T: Elem>(value: impl Fill) -> Tile<T> {
    full((), value)
}

/// A constant of its own type: it promotes as a scalar does.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn strict<T: Elem>(value: T) -> Tile<T> {
    Tile::of(apply("strict", &[], |build, _| Ok(build.full(T::DTYPE, Dims::SCALAR, constant(value)))))
}

/// A number as a constant. What f64 does not hold, the greatest integers, is read from how they print.
fn constant<T: Element>(value: T) -> Const {
    match format!("{value:?}").parse::<i128>() {
        Ok(n) if T::DTYPE.is_integer() => Const::Int(n),
        _ if T::DTYPE == DType::Bool => Const::Bool(value.to_f64() != 0.0),
        _ => Const::Float(value.to_f64()),
    }
}

/// 0, 1, 2, ... `n - 1`. Scale and shift it by operators.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn arange<T: Integer>(n: usize) -> Tile<T> {
    let Some(dims) = dims(&[n]) else { return Tile::of(Raw::POISON) };
    let ty = Type { dtype: T::DTYPE, dims };
    Tile::of(apply("arange", &[], |build, _| Ok(build.push1(Kind::Iota, &[], ty))))
}

/// Constants in nested arrays or `Vec`s, known while building.
pub trait Nested<T> {
    #[doc(hidden)]
    fn nested(&self) -> ops::Nested;
}

impl<T: Elem> Nested<T> for T {
    fn nested(&self) -> ops::Nested {
        ops::Nested::One(constant(*self))
    }
}

impl<T, N: Nested<T>> Nested<T> for [N] {
    fn nested(&self) -> ops::Nested {
        ops::Nested::Many(self.iter().map(N::nested).collect())
    }
}

impl<T, N: Nested<T>, const L: usize> Nested<T> for [N; L] {
    fn nested(&self) -> ops::Nested {
        self.as_slice().nested()
    }
}

impl<T, N: Nested<T>> Nested<T> for Vec<N> {
    fn nested(&self) -> ops::Nested {
        self.as_slice().nested()
    }
}

/// A tile of nested constants.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn astile<T: Elem>(nested: impl Nested<T>) -> Tile<T> {
    let nested = nested.nested();
    Tile::of(apply("astile", &[], |build, _| build.tile_of(T::DTYPE, &nested)))
}

/// A range whose loop runs at run time although its ends may be known while building: `for i in irange(0, 10)`.
pub fn irange(from: impl Fill, to: impl Fill) -> Staged<i32> {
    let end = |item| {
        Tile::of(apply("irange", &[item], |build, args| {
            let value = build.value(args[0])?;
            build.cast(value, DType::S32, crate::ir::Rounding::Nearest)
        }))
    };
    Staged::new(end(from.fill()), end(to.fill()))
}
