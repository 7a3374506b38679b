//! Reductions and scans.

use super::Tile;
use super::index::Axes;
use super::operand::IntoItem;
use crate::dtype::Const;
use crate::elem::{Elem, Loose, Num, ToFloat};
use crate::error::{Fault, Site};
use crate::ir::{Build, Nan, Value};
use crate::ops::{self, Reduce, Reduction, Running, Scan};
use crate::stage::{Raw, apply, combine};

fn axes(of: &impl Axes) -> ops::Axes {
    match of.axes() {
        None => ops::Axes::All,
        Some(list) => match of.single() {
            Some(one) => ops::Axes::One(one),
            None => ops::Axes::Many(list),
        },
    }
}

#[track_caller]
fn reduce_tile<T: Elem, U: Elem>(op: Reduction, x: Tile<T>, over: &impl Axes, nan: Nan) -> Tile<U> {
    let how = Reduce { keepdims: over.kept(), nan };
    let over = axes(over);
    Tile::of(apply(op.name(), &[x.item()], |build, args| {
        let value = build.value(args[0])?;
        build.reduce(op, value, &over, how)
    }))
}

impl<T: Loose<i64>> Tile<T> {
    /// The sum over axes; integers wrap, bool is counted in i32.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn sum(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Sum, self, &axes, Nan::Ignored)
    }

    /// The product over axes; integers wrap, bool is counted in i32.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn prod(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Prod, self, &axes, Nan::Ignored)
    }

    /// The greatest over axes; NaN is passed over.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn max(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Max, self, &axes, Nan::Ignored)
    }

    /// The least over axes; NaN is passed over.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn min(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Min, self, &axes, Nan::Ignored)
    }

    /// The greatest over axes; NaN wins.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn max_propagate_nan(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Max, self, &axes, Nan::Propagated)
    }

    /// The least over axes; NaN wins.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn min_propagate_nan(self, axes: impl Axes) -> Tile<T::Out> {
        reduce_tile(Reduction::Min, self, &axes, Nan::Propagated)
    }

    /// The index of the greatest along an axis, or in row-major order over all; the smallest index of equals. NaN is passed over.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn argmax(self, axes: impl Axes) -> Tile<i32> {
        reduce_tile(Reduction::ArgMax, self, &axes, Nan::Ignored)
    }

    /// The index of the least along an axis, or in row-major order over all; the smallest index of equals. NaN is passed over.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn argmin(self, axes: impl Axes) -> Tile<i32> {
        reduce_tile(Reduction::ArgMin, self, &axes, Nan::Ignored)
    }

    /// [`Tile::argmax`] where NaN wins.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn argmax_propagate_nan(self, axes: impl Axes) -> Tile<i32> {
        reduce_tile(Reduction::ArgMax, self, &axes, Nan::Propagated)
    }

    /// [`Tile::argmin`] where NaN wins.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn argmin_propagate_nan(self, axes: impl Axes) -> Tile<i32> {
        reduce_tile(Reduction::ArgMin, self, &axes, Nan::Propagated)
    }

    /// Running sums along an axis; integers wrap, bool is counted in i32.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn cumsum(self, axis: i64) -> Tile<T::Out> {
        self.scan(Running::Sum, axis, Scan::default())
    }

    /// Running products along an axis.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn cumprod(self, axis: i64) -> Tile<T::Out> {
        self.scan(Running::Prod, axis, Scan::default())
    }

    /// The greatest so far along an axis.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn cummax(self, axis: i64) -> Tile<T::Out> {
        self.scan(Running::Max, axis, Scan::default())
    }

    /// The least so far along an axis.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn cummin(self, axis: i64) -> Tile<T::Out> {
        self.scan(Running::Min, axis, Scan::default())
    }

    /// A running combination along an axis: from the end, without the element itself, by the rule for NaN.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn scan(self, op: Running, axis: i64, how: Scan) -> Tile<T::Out> {
        Tile::of(apply(op.name(), &[self.item()], |build, args| {
            let value = build.value(args[0])?;
            build.scan(op, value, axis, how)
        }))
    }
}

impl Scan {
    /// From the end: results stand where their elements do.
    pub fn reverse() -> Scan {
        Scan { reverse: true, ..Scan::default() }
    }

    /// Without the element itself: the first result is what changes nothing.
    pub fn exclusive() -> Scan {
        Scan { exclusive: true, ..Scan::default() }
    }

    /// Also from the end.
    #[must_use]
    pub fn reversed(self) -> Scan {
        Scan { reverse: true, ..self }
    }
}

impl<T: ToFloat> Tile<T> {
    /// Whether any element over axes is not 0.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn any(self, axes: impl Axes) -> Tile<bool> {
        reduce_tile(Reduction::Any, self, &axes, Nan::Ignored)
    }

    /// Whether all elements over axes are not 0.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn all(self, axes: impl Axes) -> Tile<bool> {
        reduce_tile(Reduction::All, self, &axes, Nan::Ignored)
    }
}

/// One tile, or several of one shape, that are reduced or scanned together by a combination of one's own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not reduced or scanned by a closure",
    note = "a tile, and tuples of up to four tiles, are; with an identity of the same form"
)]
pub trait Together: Copy {
    /// What changes nothing: a number for each tile.
    type Identity: Copy;
    #[doc(hidden)]
    fn raws(self) -> Vec<Raw>;
    #[doc(hidden)]
    fn from_raws(raws: &[Raw]) -> Self;
    #[doc(hidden)]
    fn constants(identity: Self::Identity) -> Vec<Const>;
}

fn constant<T: Elem>(value: T) -> Const {
    match crate::dtype::category(T::DTYPE) {
        crate::dtype::Category::Float => Const::Float(value.to_f64()),
        // The text of an integer is the number; a truth value is 0 or 1.
        _ => Const::Int(format!("{value:?}").parse().unwrap_or(i128::from(value.to_f64() != 0.0))),
    }
}

impl<T: Num> Together for Tile<T> {
    type Identity = T;
    fn raws(self) -> Vec<Raw> {
        vec![self.raw()]
    }
    fn from_raws(raws: &[Raw]) -> Self {
        Tile::of(raws.first().copied().unwrap_or(Raw::POISON))
    }
    fn constants(identity: T) -> Vec<Const> {
        vec![constant(identity)]
    }
}

macro_rules! together {
    ($($($name:ident $at:tt)*;)*) => { $(impl<$($name: Elem),*> Together for ($(Tile<$name>,)*) {
        type Identity = ($($name,)*);
        fn raws(self) -> Vec<Raw> {
            vec![$(self.$at.raw()),*]
        }
        fn from_raws(raws: &[Raw]) -> Self {
            ($(Tile::<$name>::of(raws.get($at).copied().unwrap_or(Raw::POISON)),)*)
        }
        fn constants(identity: Self::Identity) -> Vec<Const> {
            vec![$(constant(identity.$at)),*]
        }
    })* };
}
together! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
}

#[track_caller]
fn combined<X: Together>(
    name: &'static str,
    x: X,
    f: impl FnOnce(X, X) -> X,
    done: impl FnOnce(&mut Build, &[Value], crate::ir::RegionId) -> Result<Vec<Value>, Fault>,
) -> X {
    let site = Site::caller();
    let found =
        combine(name, site, &x.raws(), |left, right| f(X::from_raws(left), X::from_raws(right)).raws(), done);
    X::from_raws(&found)
}

/// Reduces tiles along an axis by a closure on scalars, which combines two elements (tuples of them for tuples of tiles). `identity`
/// combined with anything changes nothing; the closure must be associative.
///
/// Elements are combined in the order of the axis. Where the closure chooses one of two elements by comparisons, such as the smaller value
/// and of equal ones the smaller index, they are combined in any order, which costs less. NaN is then compared in any order too.
///
/// [`keep`](super::keep) around the axis keeps it with extent 1.
#[track_caller]
pub fn reduce<X: Together>(x: X, axis: impl Axes, identity: X::Identity, f: impl FnOnce(X, X) -> X) -> X {
    let how = Reduce { keepdims: axis.kept(), nan: Nan::Ignored };
    let along = axis.single();
    combined("reduce", x, f, |build, values, region| {
        let along = along.ok_or_else(|| {
            Fault::new(crate::error::Code::AxisTupleUnsupported, "`reduce` by a closure takes one axis")
        })?;
        build.reduce_by(values, along, &X::constants(identity), region, how)
    })
}

/// Running combinations of tiles along an axis by a closure on scalars, as [`reduce`].
#[track_caller]
pub fn scan<X: Together>(x: X, axis: i64, identity: X::Identity, how: Scan, f: impl FnOnce(X, X) -> X) -> X {
    combined("scan", x, f, |build, values, region| {
        build.scan_by(values, axis, &X::constants(identity), region, how)
    })
}
