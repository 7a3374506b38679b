//! What a program says of accesses to memory: how wide they can be, and which indices follow each other.
//!
//! # Examples
//! ```
//! use girih_tile::{ir::Kind, place::access::order, prelude::*};
//!
//! #[kernel]
//! fn copied(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
//!     let tile = x.tiles([8, 16]).load((bid(0), bid(1)));
//!     y.tiles_mut([8, 16]).store((bid(0), bid(1)), tile);
//! }
//!
//! let func = copied::ir()?;
//! func.walk(func.body(), &mut |_, op| {
//!     if let Kind::Load(view) = &op.kind {
//!         assert_eq!(order(&func, view).len(), 2);
//!     }
//! });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use girih_codegen::plan::{WIDEST, fastest};
use girih_tensor::DType;

use crate::dtype::holds;
use crate::ir::table::Each;
use crate::ir::{Func, Indexed, Kind, Known, Order, Value, View};

/// How wide accesses to an array's tile can be, and why not wider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Width {
    /// The axis along which elements are in a row, if one is known.
    pub contiguous: Option<usize>,
    /// Elements of an access: a power of two.
    pub most: i64,
    /// What limits it.
    pub why: String,
    /// Whether a tile that is not wholly inside of the array is accessed element by element.
    pub whole: bool,
}

/// What a number that is known to some extent is a multiple of; 0 for 0.
fn multiple(known: Known) -> i64 {
    let (Known::Is(n) | Known::MultipleOf(n)) = known;
    n.abs()
}

/// The greatest power of two that divides `n`, at most 16.
fn power(n: i64) -> i64 {
    if n == 0 { WIDEST } else { (n & n.wrapping_neg()).min(WIDEST) }
}

/// What an integer scalar is a multiple of, as far as constants and parameters say.
fn scalar(func: &Func, value: Value) -> i64 {
    let Some(op) = func.op_of(value) else { return 1 };
    let operand = |at: usize| op.operands.get(at).map_or(1, |&operand| scalar(func, operand));
    match &op.kind {
        Kind::Full(bits) => power(*bits as i64),
        Kind::Param(at) => power(multiple(func.scalars()[usize::from(*at)].known)),
        Kind::Cast(_) => operand(0),
        Kind::Each { op: Each::Mul, .. } => power(operand(0) * operand(1)),
        Kind::Each { op: Each::Add | Each::Sub, .. } => operand(0).min(operand(1)),
        _ => 1,
    }
}

/// An index tile whose elements are a number and 0, 1, 2, ... along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counting {
    /// The axis.
    pub(crate) along: usize,
    /// Scalars whose sum is the first one.
    pub(crate) start: Vec<Value>,
}

impl Counting {
    /// A power of two that divides the first element; of 64 bits none is known that divides the nearest number of 32 bits.
    pub(crate) fn multiple(&self, func: &Func) -> i64 {
        let of = |&value: &Value| if func.ty(value).dtype == DType::S32 { scalar(func, value) } else { 1 };
        self.start.iter().map(of).fold(WIDEST, i64::min)
    }
}

/// An index tile as one that counts along an axis.
pub(crate) fn counting(func: &Func, value: Value) -> Option<Counting> {
    let op = func.op_of(value)?;
    let dims = |value: Value| func.ty(value).dims;
    match &op.kind {
        Kind::Iota => {
            let last = i128::from(dims(value).size()) - 1;
            holds(func.ty(value).dtype, last).then_some(Counting { along: 0, start: Vec::new() })
        }
        Kind::Convert => counting(func, op.operands[0]),
        Kind::Cast(_) => {
            let (from, to) = (func.ty(op.operands[0]).dtype, func.ty(value).dtype);
            let wider = from.is_integer() && to.bits() > from.bits();
            wider.then(|| counting(func, op.operands[0])).flatten()
        }
        Kind::Broadcast => {
            let found = counting(func, op.operands[0])?;
            (dims(op.operands[0])[found.along] == dims(value)[found.along]).then_some(found)
        }
        Kind::Reshape => {
            let (from, to) = (dims(op.operands[0]), dims(value));
            let found = counting(func, op.operands[0])?;
            let along = (0..to.rank()).find(|&axis| to[axis] == from[found.along])?;
            // Axes of one element come and go.
            let alone = from.size() == u64::from(from[found.along]) && to.size() == from.size();
            alone.then_some(Counting { along, ..found })
        }
        Kind::Each { op: Each::Add, .. } => {
            let &[a, b] = &op.operands[..] else { return None };
            let (mut found, other) = match (counting(func, a), counting(func, b)) {
                (Some(found), None) => (found, b),
                (None, Some(found)) => (found, a),
                _ => return None,
            };
            // Where one of these wraps, it is beyond an array: others may wrap to an element.
            let dtype = func.ty(value).dtype;
            let same = found.start.iter().all(|&value| func.ty(value).dtype == dtype);
            if !matches!(dtype, DType::S32 | DType::S64) || !same {
                return None;
            }
            found.start.push(one(func, other)?);
            Some(found)
        }
        _ => None,
    }
}

/// The scalar that all elements of a value are.
fn one(func: &Func, value: Value) -> Option<Value> {
    let scalar = |value: Value| func.ty(value).dims.rank() == 0;
    let of = func.within(value, |value, kind| match kind {
        _ if scalar(value) => false,
        Kind::Broadcast | Kind::Convert => true,
        Kind::Reshape => func.ty(value).dims.size() == 1,
        _ => false,
    });
    Some(of).filter(|&of| scalar(of))
}

/// The bits of the constant that all elements of a value are.
pub(crate) fn constant(func: &Func, value: Value) -> Option<u64> {
    let of = func.within(value, |_, kind| matches!(kind, Kind::Broadcast | Kind::Reshape | Kind::Convert));
    func.op_of(of).and_then(|op| if let Kind::Full(bits) = op.kind { Some(bits) } else { None })
}

/// Whether a tile's elements along an axis are one number that is stretched, in one register.
fn stretched(func: &Func, value: Value, along: usize) -> bool {
    let Some(op) = func.op_of(value) else { return false };
    match &op.kind {
        Kind::Full(_) => true,
        Kind::Broadcast if func.ty(op.operands[0]).dims[along] == 1 => true,
        Kind::Broadcast | Kind::Convert => stretched(func, op.operands[0], along),
        _ => false,
    }
}

/// How many elements a thread gathers at once: the axis of the tile along which they are in a row, and the most of them. 1 where an index
/// does not count, or another one differs along the axis.
pub(crate) fn gathered(func: &Func, at: &Indexed, indices: &[Value]) -> (usize, i64) {
    let (_, param) = func.param_of(at.array);
    let fast = (0..param.strides.len()).rev().find(|&axis| param.strides[axis] == Known::Is(1));
    let found = fast.and_then(|axis| Some((axis, counting(func, *indices.get(axis)?)?)));
    let alike = |(fast, found): &(usize, Counting)| {
        let mut others = indices[..param.strides.len()].iter().enumerate().filter(|(axis, _)| axis != fast);
        others.all(|(_, &index)| stretched(func, index, found.along))
    };
    let found = found.filter(|_| at.order == Order::Weak && !at.masked).filter(alike);
    let Some((fast, found)) = found else { return (0, 1) };
    let bytes = i64::from(param.dtype.bits().max(8)) / 8;
    let others = (0..param.strides.len()).filter(|&axis| axis != fast);
    let strides = others.map(|axis| multiple(param.strides[axis]));
    let parts =
        func.slices(at.array).filter(|(axis, _)| *axis == fast).map(|(_, [start, _])| scalar(func, start));
    let known = strides.chain(parts).chain([found.multiple(func), i64::from(param.align) / bytes]);
    (found.along, known.map(power).fold(WIDEST / bytes, i64::min))
}

/// Whether a view is accessed at several tiles along an axis, by the index there: all of them but the last are wholly inside of the array.
fn several(func: &Func, index: Option<&Value>) -> bool {
    let constant = |value| func.op_of(value).is_some_and(|op| matches!(op.kind, Kind::Full(_)));
    index.is_some_and(|&value| !constant(value))
}

/// How wide accesses through a view at an index can be by what is known of its array: its alignment, extents and strides, and where tiles
/// begin. A vector is wholly inside or outside of the array, or its tile is wholly inside: one that is not is accessed element by element.
pub fn width(func: &Func, view: &View, at: &[Value]) -> Width {
    limits(func, view, Some(at))
}

/// As [`width`], of vectors that may reach beyond the end of the array, of which only the elements in it are read.
pub(super) fn aligned(func: &Func, view: &View) -> Width {
    limits(func, view, None)
}

/// What limits vectors; where tiles end too if it is given where they are.
fn limits(func: &Func, view: &View, at: Option<&[Value]>) -> Width {
    let (_, param) = func.param_of(view.array);
    let bytes = i64::from(param.dtype.bits().max(8)) / 8;
    let one = |axis: &usize| param.strides[*axis] == Known::Is(1);
    let axes = 0..param.strides.len();
    // An axis of one element has any stride: another one is meant where there is one.
    let contiguous = axes.clone().rev().filter(one).max_by_key(|&axis| (view.tile[axis] > 1, axis));
    let Some(fast) = contiguous else {
        let why = "no axis is known to have stride 1".into();
        return Width { contiguous, most: 1, why, whole: false };
    };
    let mut width = Width { contiguous, most: WIDEST / bytes, why: format!("{WIDEST} bytes"), whole: false };
    let mut limit = |n: i64, why: &dyn Fn(i64) -> String| {
        let most = power(n);
        if most < width.most {
            width.most = most;
            width.why = why(most);
        }
    };
    limit(i64::from(param.align) / bytes, &|n| format!("the pointer is a multiple of {n} elements"));
    for axis in axes.filter(|&axis| axis != fast) {
        limit(multiple(param.strides[axis]), &|n| format!("the stride of axis {axis} is a multiple of {n}"));
    }
    limit(i64::from(view.steps[fast]), &|n| format!("tiles begin at multiples of {n} along axis {fast}"));
    let checked = view.check && at.is_some_and(|at| !several(func, at.get(fast)));
    if checked {
        limit(multiple(param.extents[fast]), &|n| format!("the extent of axis {fast} is a multiple of {n}"));
    }
    for (_, [start, stop]) in func.slices(view.array).filter(|(axis, _)| *axis == fast) {
        limit(scalar(func, start), &|n| format!("a part begins at a multiple of {n} along axis {fast}"));
        if checked {
            limit(scalar(func, stop), &|n| format!("a part ends at a multiple of {n} along axis {fast}"));
        }
    }
    width.whole = view.check && !checked && multiple(param.extents[fast]) % width.most != 0;
    width
}

/// The order of an array's modes in memory, the fastest first, as far as is known.
pub fn order(func: &Func, view: &View) -> Vec<usize> {
    let contiguous = width(func, view, &[]).contiguous;
    fastest(contiguous.unwrap_or(view.tile.rank().saturating_sub(1)), view.tile.rank())
}
