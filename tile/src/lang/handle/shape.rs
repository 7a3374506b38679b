//! Shapes and order of elements.

use super::index::{Extents, Shape};
use super::operand::IntoItem;
use super::{Tile, dims};
use crate::elem::{Elem, Num};
use crate::error::Fault;
use crate::ir::{Build, Value};
use crate::stage::{Raw, apply, apply_all};

#[track_caller]
fn one<T: Elem>(
    name: &str,
    x: Tile<T>,
    f: impl FnOnce(&mut Build, Value) -> Result<Value, Fault>,
) -> Tile<T> {
    Tile::of(apply(name, &[x.item()], |build, args| {
        let value = build.value(args[0])?;
        f(build, value)
    }))
}

impl<T: Elem> Tile<T> {
    /// The same elements, row-major, in another shape; one extent may be -1 and follows from the others.
    #[track_caller]
    pub fn reshape(self, shape: impl Extents) -> Tile<T> {
        one("reshape", self, |build, value| build.reshape(value, &shape.numbers()))
    }

    /// Axis `i` of the result is axis `axes[i]` of the tile.
    #[track_caller]
    pub fn permute(self, axes: impl Extents) -> Tile<T> {
        one("permute", self, |build, value| build.permute(value, &axes.numbers()))
    }

    /// A tile of rank 2 with its axes exchanged.
    #[track_caller]
    pub fn transpose(self) -> Tile<T> {
        one("transpose", self, |build, value| build.transpose(value, None))
    }

    /// [`Tile::transpose`].
    #[track_caller]
    pub fn t(self) -> Tile<T> {
        self.transpose()
    }

    /// The tile with two axes exchanged.
    #[track_caller]
    pub fn swapaxes(self, a: i64, b: i64) -> Tile<T> {
        one("transpose", self, |build, value| build.transpose(value, Some((a, b))))
    }

    /// The tile with an axis of extent 1 inserted before axis `at`; -1 is behind the last.
    #[track_caller]
    pub fn expand_dims(self, at: i64) -> Tile<T> {
        one("expand_dims", self, |build, value| build.expand_dims(value, at))
    }

    /// The tile stretched to a shape by the rules of broadcasting.
    #[track_caller]
    pub fn broadcast_to(self, shape: impl Shape) -> Tile<T> {
        let Some(dims) = dims("broadcast_to", &shape.extents()) else { return Tile::of(Raw::POISON) };
        one("broadcast_to", self, |build, value| build.broadcast_to(value, dims))
    }

    /// The part of `shape` at `index`, which counts parts of that shape.
    #[track_caller]
    pub fn extract(self, index: impl Extents, shape: impl Shape) -> Tile<T> {
        let Some(dims) = dims("extract", &shape.extents()) else { return Tile::of(Raw::POISON) };
        one("extract", self, |build, value| build.extract(value, &index.numbers(), dims))
    }

    /// The tile with `part` at `index`, which counts parts of that shape.
    #[track_caller]
    pub fn insert(self, index: impl Extents, part: Tile<T>) -> Tile<T> {
        Tile::of(apply("insert", &[self.item(), part.item()], |build, args| {
            let (value, part) = (build.value(args[0])?, build.value(args[1])?);
            build.insert(value, &index.numbers(), part)
        }))
    }

    /// The tile the other way round along an axis.
    #[track_caller]
    pub fn flip(self, axis: i64) -> Tile<T> {
        one("flip", self, |build, value| build.flip(value, axis))
    }
}

/// Two tiles, one after the other along an axis.
#[track_caller]
pub fn cat<T: Elem>(parts: (Tile<T>, Tile<T>), axis: i64) -> Tile<T> {
    Tile::of(apply("cat", &[parts.0.item(), parts.1.item()], |build, args| {
        let (a, b) = (build.value(args[0])?, build.value(args[1])?);
        build.cat(a, b, axis)
    }))
}

fn values(build: &mut Build, args: &[crate::ops::Arg]) -> Result<Vec<Value>, Fault> {
    args.iter().map(|&arg| build.value(arg)).collect()
}

impl<T: Num> Tile<T> {
    /// The elements sorted along an axis, the least first; equal ones keep their order, NaN comes last.
    #[track_caller]
    pub fn sort(self, axis: i64) -> Tile<T> {
        one("sort", self, |build, value| Ok(build.sort(&[value], axis, false)?[0]))
    }

    /// The elements sorted along an axis, the greatest first.
    #[track_caller]
    pub fn sort_descending(self, axis: i64) -> Tile<T> {
        one("sort", self, |build, value| Ok(build.sort(&[value], axis, true)?[0]))
    }

    /// The tile sorted along an axis, and another one in the same order.
    #[track_caller]
    pub fn sort_with<U: Elem>(self, other: Tile<U>, axis: i64, descending: bool) -> (Tile<T>, Tile<U>) {
        let items = [self.item(), other.item()];
        let sorted = apply_all("sort", &items, 2, |build, args| {
            let values = values(build, args)?;
            build.sort(&values, axis, descending)
        });
        (Tile::of(sorted[0]), Tile::of(sorted[1]))
    }

    /// The positions of the elements along an axis in sorted order.
    #[track_caller]
    pub fn argsort(self, axis: i64, descending: bool) -> Tile<i32> {
        Tile::of(apply("argsort", &[self.item()], |build, args| {
            let value = build.value(args[0])?;
            build.argsort(value, axis, descending)
        }))
    }

    /// The `k` greatest elements along an axis, the greatest first, and their positions.
    #[track_caller]
    pub fn top_k(self, k: usize, axis: i64) -> (Tile<T>, Tile<i32>) {
        self.first_k("top_k", k, axis, false)
    }

    /// The `k` least elements along an axis, the least first, and their positions.
    #[track_caller]
    pub fn bottom_k(self, k: usize, axis: i64) -> (Tile<T>, Tile<i32>) {
        self.first_k("bottom_k", k, axis, true)
    }

    #[track_caller]
    fn first_k(self, name: &str, k: usize, axis: i64, smallest: bool) -> (Tile<T>, Tile<i32>) {
        let k = u32::try_from(k).unwrap_or(u32::MAX);
        let found = apply_all(name, &[self.item()], 2, |build, args| {
            let value = build.value(args[0])?;
            build.top_k(value, k, axis, smallest).map(|(a, b)| vec![a, b])
        });
        (Tile::of(found[0]), Tile::of(found[1]))
    }
}

impl<T: crate::elem::Integer> Tile<T> {
    /// How often each number of `0..bins` stands in the tile; other numbers are not counted.
    #[track_caller]
    pub fn histogram(self, bins: usize) -> Tile<i32> {
        Tile::of(apply("histogram", &[self.item()], |build, args| {
            let value = build.value(args[0])?;
            build.histogram(value, i64::try_from(bins).unwrap_or(i64::MAX))
        }))
    }
}
