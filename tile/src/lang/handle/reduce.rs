//! Reductions and scans.

use super::index::Axes;
use super::{Tile, one};
use crate::dtype::Const;
use crate::elem::{Elem, Loose, Num, ToFloat};
use crate::error::{Fault, Site};
use crate::ir::{Build, Nan, Value};
use crate::ops::{self, Reduce, Reduction, Running, Scan};
use crate::stage::{Raw, combine};

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
    one(op.name(), x, |build, value| build.reduce(op, value, &over, how))
}

/// Reductions over axes, by what they do with NaN.
macro_rules! reductions {
    ($($name:ident $op:ident $nan:ident $out:ty, $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name(self, axes: impl Axes) -> Tile<$out> {
            reduce_tile(Reduction::$op, self, &axes, Nan::$nan)
        }
    )* };
}

/// Scans along an axis.
macro_rules! running {
    ($($name:ident $op:ident $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name(self, axis: i64) -> Tile<T::Out> {
            self.scan(Running::$op, axis, Scan::default())
        }
    )* };
}

impl<T: Loose<i64>> Tile<T> {
    reductions! {
        sum Sum Ignored T::Out, "The sum over axes; integers wrap, bool is counted in i32.";
        prod Prod Ignored T::Out, "The product over axes; integers wrap, bool is counted in i32.";
        max Max Ignored T::Out, "The greatest over axes; NaN is passed over.";
        min Min Ignored T::Out, "The least over axes; NaN is passed over.";
        max_propagate_nan Max Propagated T::Out, "The greatest over axes; NaN wins.";
        min_propagate_nan Min Propagated T::Out, "The least over axes; NaN wins.";
        argmax ArgMax Ignored i32, "The index of the greatest along an axis, or in row-major order over all; the smallest index of equals. NaN is passed over.";
        argmin ArgMin Ignored i32, "The index of the least along an axis, or in row-major order over all; the smallest index of equals. NaN is passed over.";
        argmax_propagate_nan ArgMax Propagated i32, "[`Tile::argmax`] where NaN wins.";
        argmin_propagate_nan ArgMin Propagated i32, "[`Tile::argmin`] where NaN wins.";
    }

    running! {
        cumsum Sum "Running sums along an axis; integers wrap, bool is counted in i32.";
        cumprod Prod "Running products along an axis.";
        cummax Max "The greatest so far along an axis.";
        cummin Min "The least so far along an axis.";
    }

    /// A running combination along an axis: from the end, without the element itself, by the rule for NaN.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn scan(self, op: Running, axis: i64, how: Scan) -> Tile<T::Out> {
        one(op.name(), self, |build, value| build.scan(op, value, axis, how))
    }
}

impl Scan {
    /// From the end: results are where their elements are.
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
    reductions! {
        any Any Ignored bool, "Whether any element over axes is not 0.";
        all All Ignored bool, "Whether all elements over axes are not 0.";
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
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(impl<$($name: Elem),*> Together for ($(Tile<$name>,)*) {
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
for_tuples!(together, 4);

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
        let none = Fault::AxisTupleUnsupported { operation: "reduce", accepted: "one axis" };
        let along = along.ok_or(none)?;
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
