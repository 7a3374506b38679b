//! Shapes and order of elements.

use super::index::{Extents, Shape};
use super::operand::IntoItem;
use super::{Tile, dims, one};
use crate::elem::{Elem, Num};
use crate::error::Fault;
use crate::ir::{Build, Value};
use crate::stage::{Raw, apply, apply_all};

impl<T: Elem> Tile<T> {
    operations! {
        /// The same elements, row-major, in another shape; one extent may be -1 and follows from the others.
        reshape(shape: impl Extents) -> T { "reshape", |build, value| build.reshape(value, &shape.numbers()) }

        /// Axis `i` of the result is axis `axes[i]` of the tile.
        permute(axes: impl Extents) -> T { "permute", |build, value| build.permute(value, &axes.numbers()) }

        /// A tile of rank 2 with its axes exchanged.
        transpose() -> T { "transpose", |build, value| build.transpose(value, None) }

        /// The tile with two axes exchanged.
        swapaxes(a: i64, b: i64) -> T { "transpose", |build, value| build.transpose(value, Some((a, b))) }

        /// The tile with an axis of extent 1 inserted before axis `at`; -1 is behind the last.
        expand_dims(at: i64) -> T { "expand_dims", |build, value| build.expand_dims(value, at) }

        /// The tile the other way round along an axis.
        flip(axis: i64) -> T { "flip", |build, value| build.flip(value, axis) }
    }

    /// [`Tile::transpose`].
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn t(self) -> Tile<T> {
        self.transpose()
    }

    /// The tile stretched to a shape by the rules of broadcasting.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn broadcast_to(self, shape: impl Shape) -> Tile<T> {
        let Some(dims) = dims(&shape.extents()) else { return Tile::of(Raw::POISON) };
        one("broadcast_to", self, |build, value| build.broadcast_to(value, dims))
    }

    /// The part of `shape` at `index`, which counts parts of that shape.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn extract(self, index: impl Extents, shape: impl Shape) -> Tile<T> {
        let Some(dims) = dims(&shape.extents()) else { return Tile::of(Raw::POISON) };
        one("extract", self, |build, value| build.extract(value, &index.numbers(), dims))
    }

    /// The tile with `part` at `index`, which counts parts of that shape.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn insert(self, index: impl Extents, part: Tile<T>) -> Tile<T> {
        Tile::of(apply("insert", &[self.item(), part.item()], |build, args| {
            let (value, part) = (build.value(args[0])?, build.value(args[1])?);
            build.insert(value, &index.numbers(), part)
        }))
    }
}

/// Tiles of one type: a tuple of up to 8, an array, a slice or a vector.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no tiles of `{T}`",
    note = "tuples of up to 8 tiles of one type, arrays, slices and vectors of tiles are"
)]
pub trait Parts<T> {
    #[doc(hidden)]
    fn tiles(self) -> Vec<Tile<T>>;
}

impl<T, const N: usize> Parts<T> for [Tile<T>; N] {
    fn tiles(self) -> Vec<Tile<T>> {
        self.into()
    }
}

impl<T> Parts<T> for &[Tile<T>] {
    fn tiles(self) -> Vec<Tile<T>> {
        self.to_vec()
    }
}

impl<T> Parts<T> for Vec<Tile<T>> {
    fn tiles(self) -> Vec<Tile<T>> {
        self
    }
}

macro_rules! tuples {
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(
        impl<T> Parts<T> for ($(tuples!(@ $name T),)*) {
            fn tiles(self) -> Vec<Tile<T>> {
                vec![$(self.$at),*]
            }
        }
    )* };
    (@ $name:ident $t:ident) => { Tile<$t> };
}
for_tuples!(tuples, 8);

/// Tiles, one after the other along an axis.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_tile::launch::DeviceArray;
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn joined(y: &mut Array<i32, 1>) {
///     let [a, b, c] = [1, 2, 1].map(|n| arange::<i32>(n));
///     y.tiles_mut([4]).store((0,), cat((a, b, c), 0));
/// }
///
/// let device = Device::open(Select::Sim)?;
/// let mut y = DeviceArray::zeros(&device, [4])?;
/// joined(&mut y).grid([1]).run()?;
/// assert_eq!(y.download()?, [0, 0, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn cat<T: Elem>(parts: impl Parts<T>, axis: i64) -> Tile<T> {
    let items: Vec<_> = parts.tiles().into_iter().map(Tile::item).collect();
    Tile::of(apply("cat", &items, |build, args| {
        let mut parts = values(build, args)?.into_iter();
        let first = parts.next().ok_or(Fault::NoTiles { operation: "cat" })?;
        parts.try_fold(first, |all, part| build.cat(all, part, axis))
    }))
}

fn values(build: &mut Build, args: &[crate::ops::Arg]) -> Result<Vec<Value>, Fault> {
    args.iter().map(|&arg| build.value(arg)).collect()
}

impl<T: Num> Tile<T> {
    operations! {
        /// The elements sorted along an axis, the least first; equal ones keep their order, NaN comes last.
        sort(axis: i64) -> T { "sort", |build, value| Ok(build.sort(&[value], axis, false)?[0]) }

        /// The elements sorted along an axis, the greatest first.
        sort_descending(axis: i64) -> T { "sort", |build, value| Ok(build.sort(&[value], axis, true)?[0]) }

        /// The positions of the elements along an axis in sorted order.
        argsort(axis: i64, descending: bool) -> i32 { "argsort", |build, value| build.argsort(value, axis, descending) }
    }

    /// The tile sorted along an axis, and another one in the same order.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn sort_with<U: Elem>(self, other: Tile<U>, axis: i64, descending: bool) -> (Tile<T>, Tile<U>) {
        let items = [self.item(), other.item()];
        let sorted = apply_all("sort", &items, 2, |build, args| {
            let values = values(build, args)?;
            build.sort(&values, axis, descending)
        });
        (Tile::of(sorted[0]), Tile::of(sorted[1]))
    }

    /// The `k` greatest elements along an axis, the greatest first, and their positions.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn top_k(self, k: usize, axis: i64) -> (Tile<T>, Tile<i32>) {
        self.first_k("top_k", k, axis, false)
    }

    /// The `k` least elements along an axis, the least first, and their positions.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn bottom_k(self, k: usize, axis: i64) -> (Tile<T>, Tile<i32>) {
        self.first_k("bottom_k", k, axis, true)
    }

    #[track_caller]
    fn first_k(self, name: &'static str, k: usize, axis: i64, smallest: bool) -> (Tile<T>, Tile<i32>) {
        let k = u32::try_from(k).unwrap_or(u32::MAX);
        let found = apply_all(name, &[self.item()], 2, |build, args| {
            let value = build.value(args[0])?;
            build.top_k(value, k, axis, smallest).map(|(a, b)| vec![a, b])
        });
        (Tile::of(found[0]), Tile::of(found[1]))
    }
}

impl<T: crate::elem::Integer> Tile<T> {
    operations! {
        /// How often the tile has each number of `0..bins`; other numbers are not counted.
        histogram(bins: usize) -> i32 {
            "histogram", |build, value| build.histogram(value, i64::try_from(bins).unwrap_or(i64::MAX))
        }
    }
}
