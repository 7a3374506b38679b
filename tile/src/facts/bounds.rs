//! Proofs that accesses are in bounds.

use std::collections::HashMap;

use super::index::Index;
use super::poly::{Atom, Poly};
use crate::error::{Diagnostic, Fault};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Func, Kind, Known, OpId, Padding, Value, View};
use crate::types::named;

named! {
    /// How a bound of an access is known to hold.
    Bound {
        Proved "proved" "It follows from the program and from what is known of the parameters.",
        Launch "checked at launch" "The launch compares the grid with the number of tiles.",
        Promised "promised" "The user promises it.",
        Kernel "checked in the kernel" "The kernel compares each element's coordinate.",
    }
}

/// How the bounds of an access along an axis are known. Who lowers the access compares a coordinate with 0 where `low` is
/// [`Bound::Kernel`], and with the extent where `high` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisBounds {
    /// That no coordinate is negative.
    pub low: Bound,
    /// That every coordinate is below the extent.
    pub high: Bound,
}

impl AxisBounds {
    /// Both in the kernel.
    pub const KERNEL: AxisBounds = AxisBounds { low: Bound::Kernel, high: Bound::Kernel };
}

/// A comparison that a launch makes: the grid's extent along an axis against the tiles of an array along one of its axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GridCheck {
    /// Axis of the grid.
    pub axis: u8,
    /// The array parameter.
    pub array: ArrayId,
    /// Its axis.
    pub along: u8,
    /// Distance of neighbouring tiles.
    pub step: u32,
}

/// How the bounds of all accesses of a function are known.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    of: HashMap<OpId, Vec<AxisBounds>>,
    /// What a launch compares.
    pub checks: Vec<GridCheck>,
    /// Axes of array parameters along which a launch finds elements: numbers of tiles that the kernel divides by.
    pub nonempty: Vec<(ArrayId, u8)>,
}

impl Bounds {
    /// Decides for every access of a function.
    pub fn of_func(func: &Func) -> Bounds {
        Bounds::of(&Index::new(func))
    }

    pub(super) fn of(index: &Index<'_>) -> Bounds {
        let func = index.func;
        let mut bounds = Bounds::default();
        func.walk(func.body(), &mut |id, op| match &op.kind {
            Kind::Load(view) => {
                bounds.view(index, id, view, &op.operands, view.padding == Padding::Undetermined)
            }
            Kind::Store(view) => bounds.view(index, id, view, &op.operands[1..], true),
            Kind::Gather(at) | Kind::Scatter(at) | Kind::Atomic { at, .. } => {
                let own = if at.check {
                    AxisBounds::KERNEL
                } else {
                    AxisBounds { low: Bound::Promised, high: Bound::Promised }
                };
                let rank = func.param_of(at.array).1.extents.len();
                bounds.of.insert(id, vec![own; rank]);
            }
            _ => {}
        });
        bounds.checks.sort_unstable();
        bounds.checks.dedup();
        bounds.nonempty.sort_unstable();
        bounds.nonempty.dedup();
        bounds
    }

    /// The bounds of an access, by the axes of the array. What is not an access has none.
    pub fn access(&self, op: OpId) -> &[AxisBounds] {
        self.of.get(&op).map_or(&[], Vec::as_slice)
    }

    fn view(&mut self, index: &Index<'_>, id: OpId, view: &View, at: &[Value], strict: bool) {
        let mut found = Vec::new();
        for (axis, &value) in at.iter().enumerate() {
            if !view.check {
                found.push(AxisBounds { low: Bound::Promised, high: Bound::Promised });
                continue;
            }
            let poly = index.poly(value);
            let low = if self.not_negative(index, value, &poly) { Bound::Proved } else { Bound::Kernel };
            let Array::Param(param) = &index.func.arrays()[view.array.index()] else {
                found.push(AxisBounds { low, high: Bound::Kernel });
                continue;
            };
            let (tile, step) = (i64::from(view.tile[axis]), i64::from(view.steps[axis]));
            let known @ (Known::Is(n) | Known::MultipleOf(n)) = param.extents[axis];
            // A whole number of tiles: the last is inside if it begins inside.
            let whole = n % step == 0 && tile <= step;
            let high = match (poly.as_number(), known) {
                (Some(n), Known::Is(extent)) if n >= 0 && n * step + tile <= extent => Bound::Proved,
                _ if whole && self.below_tiles(index, value, &poly, view.array, axis, step, known) => {
                    Bound::Proved
                }
                _ => {
                    let region = index.region_of(id).unwrap_or(index.func.body());
                    let unconditional = index.conditions(region).is_empty();
                    match single_bid(&poly) {
                        Some(grid) if strict && unconditional => {
                            self.checks.push(GridCheck {
                                axis: grid,
                                array: view.array,
                                along: fit::axis(axis),
                                step: view.steps[axis],
                            });
                            if whole { Bound::Launch } else { Bound::Kernel }
                        }
                        _ => Bound::Kernel,
                    }
                }
            };
            found.push(AxisBounds { low, high });
        }
        self.of.insert(id, found);
    }

    /// Accesses that the kernel checks.
    pub(super) fn denied(&self, func: &Func) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        func.walk(func.body(), &mut |id, op| {
            let kernel = |bounds: &AxisBounds| bounds.low == Bound::Kernel || bounds.high == Bound::Kernel;
            let Some(axis) = self.access(id).iter().position(kernel) else { return };
            let name = op.kind.array().map(|array| func.param_of(array).1.name.clone()).unwrap_or_default();
            found.push(Diagnostic::at(op.site, Fault::BoundsCheck { array: name, axis }));
        });
        found
    }
}

/// The axis of the grid whose block number the index is.
pub(super) fn single_bid(poly: &Poly) -> Option<u8> {
    let mut terms = poly.terms();
    match (terms.next()?, terms.next()) {
        (([Atom::Bid(axis)], 1), None) => Some(*axis),
        _ => None,
    }
}

impl Bounds {
    /// Whether an index cannot be negative. Wrapping does not matter where each step is a minimum, a remainder, or a count.
    fn not_negative(&mut self, index: &Index<'_>, value: Value, poly: &Poly) -> bool {
        let is_bid = single_bid(poly).is_some() && !index.narrows(value);
        if poly.as_number().is_some_and(|n| n >= 0) || is_bid {
            return true;
        }
        if let Some((op, _, 0)) = index.argument(value)
            && op.kind == Kind::For
        {
            return self.not_negative(index, op.operands[0], &index.poly(op.operands[0]));
        }
        let Some(op) = index.op_of(value) else { return false };
        match &op.kind {
            Kind::Dim(..) | Kind::NumBlocks(_) => true,
            Kind::Each { op: each, .. } => {
                let mut of =
                    |at: usize| self.not_negative(index, op.operands[at], &index.poly(op.operands[at]));
                match each {
                    Each::Mod => self.positive(index, op.operands[1]),
                    Each::FloorDiv | Each::CeilDiv => of(0) && self.positive(index, op.operands[1]),
                    Each::Min => of(0) && of(1),
                    Each::Max => of(0) || of(1),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether a number is 1 or more, if need be since a launch finds elements.
    fn positive(&mut self, index: &Index<'_>, value: Value) -> bool {
        if index.poly(value).as_number().is_some_and(|n| n > 0) {
            return true;
        }
        let Some(op) = index.op_of(value) else { return false };
        match op.kind {
            Kind::NumBlocks(_) => true,
            Kind::Dim(array, axis) => {
                self.nonempty.push((array, axis));
                true
            }
            Kind::Each { op: Each::CeilDiv, .. } => {
                index.poly(op.operands[1]).as_number().is_some_and(|n| n > 0)
                    && self.positive(index, op.operands[0])
            }
            _ => false,
        }
    }

    /// Whether an index is below the number of tiles of an array along an axis.
    #[expect(clippy::too_many_arguments, reason = "an axis of an access, and what is known of it")]
    fn below_tiles(
        &mut self,
        index: &Index<'_>,
        value: Value,
        poly: &Poly,
        array: ArrayId,
        axis: usize,
        step: i64,
        known: Known,
    ) -> bool {
        if let (Some(n), Known::Is(extent)) = (poly.as_number(), known) {
            return n >= 0 && n < extent / step;
        }
        if let Some((op, _, 0)) = index.argument(value)
            && op.kind == Kind::For
        {
            return is_tiles(index, op.operands[1], array, axis, step, known);
        }
        let Some(op) = index.op_of(value) else { return false };
        match op.kind {
            Kind::Each { op: Each::Mod, .. } => {
                is_tiles(index, op.operands[1], array, axis, step, known)
                    && self.positive(index, op.operands[1])
            }
            _ => false,
        }
    }
}

/// Whether a value is the number of tiles of an array along an axis, or less.
fn is_tiles(index: &Index<'_>, value: Value, array: ArrayId, axis: usize, step: i64, known: Known) -> bool {
    if let Known::Is(n) = known
        && let Some(m) = index.poly(value).as_number()
    {
        return m <= n / step;
    }
    let Some(op) = index.op_of(value) else { return false };
    let of_dim =
        |value: Value| index.op_of(value).is_some_and(|op| op.kind == Kind::Dim(array, fit::axis(axis)));
    match &op.kind {
        Kind::Dim(..) => step == 1 && of_dim(value),
        Kind::Each { op: Each::CeilDiv | Each::FloorDiv, .. } => {
            of_dim(op.operands[0]) && index.poly(op.operands[1]).as_number() == Some(step)
        }
        _ => false,
    }
}
