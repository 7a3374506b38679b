//! Checks for results that depend on undetermined padding.
//!
//! A load without padding has undetermined elements where its tile reaches beyond the array. Functions of elements keep them where they are, and
//! a store of a tile of the same place drops them. They matter where elements are combined along that axis, by an MMA, a reduction or a
//! sort, and where the tile is stored to elements that the array has.

use std::collections::HashMap;

use crate::error::Site;
use crate::facts::{Concrete, Index, Intervals};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Combine, End, Func, Kind, Op, OpId, Order, Padding, RegionId, Value, View};

/// A load of a tile that reaches beyond its array, whose padding reaches a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beyond {
    /// Where the load is.
    pub(super) site: Option<Site>,
    /// The array.
    pub(super) array: ArrayId,
    /// Its axis.
    pub(super) axis: u8,
    /// Elements of a tile along it.
    pub(super) tile: i64,
    /// The extent.
    pub(super) extent: i64,
    /// Whether a block surely reads there.
    pub(super) is_certain: bool,
}

/// The loads whose undetermined elements reach a result, as far as bounds of the indices say.
pub(super) fn beyond(func: &Func, with: &Concrete) -> Vec<Beyond> {
    let index = Index::new(func);
    let mut found = Vec::new();
    func.walk(func.body(), &mut |id, op| {
        if let Kind::Load(view) = &op.kind {
            let axes = 0..op.operands.len();
            found.extend(axes.filter_map(|axis| Padded::new(&index, with, id, view, axis)?.reaches()));
        }
    });
    found
}

/// Which elements of a tile are undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// The last ones along a mode, as many as of the load's tile.
    Along(usize),
    /// Some.
    Some,
    /// All.
    All,
}

/// A load that reaches beyond its array along an axis.
struct Padded<'a> {
    index: &'a Index<'a>,
    with: &'a Concrete,
    load: OpId,
    op: &'a Op,
    view: &'a View,
    axis: usize,
    extent: i64,
    /// The elements that the array has of the last tile, the one that has the fewest.
    inside: i128,
    /// The values with undetermined elements.
    spread: HashMap<Value, Spread>,
    is_certain: bool,
}

impl<'a> Padded<'a> {
    fn new(
        index: &'a Index<'a>,
        with: &'a Concrete,
        load: OpId,
        view: &'a View,
        axis: usize,
    ) -> Option<Padded<'a>> {
        let op = index.func.op(load);
        let Array::Param(_) = index.func.arrays()[view.array.index()] else { return None };
        if view.padding != Padding::Undetermined || !view.check || view.order != Order::Weak {
            return None;
        }
        let region = index.region_of(load)?;
        let (begin, conditions) = (op.operands[axis], index.conditions(region));
        let intervals = Intervals::new(index, with, &conditions);
        let (low, high) = intervals.value(begin)?;
        let extent = *with.extents.get(view.array.index())?.get(axis)?;
        let inside = i128::from(extent) - high.checked_mul(view.steps[axis].into())?;
        if inside >= view.tile[axis].into() {
            return None;
        }
        let is_bid = index.op_of(begin).is_some_and(|op| matches!(op.kind, Kind::Bid(_)));
        // The last number of a loop that goes through all numbers.
        let is_last = index.argument(begin).is_some_and(|(around, _, at)| {
            let bounds =
                [0, 1, 2].map(|at| around.operands.get(at).and_then(|&value| intervals.value(value)));
            around.kind == Kind::For
                && at == 0
                && bounds.iter().all(|bound| bound.is_some_and(|bound| bound.0 == bound.1))
                && bounds[2] == Some((1, 1))
        });
        let spread = op.results.iter().map(|&result| (result, Spread::Along(axis))).collect();
        let mut padded =
            Padded { index, with, load, op, view, axis, extent, inside, spread, is_certain: false };
        padded.is_certain = (low == high || is_bid || is_last) && padded.always_runs(region);
        Some(padded)
    }

    /// The report, if undetermined elements reach a result.
    fn reaches(mut self) -> Option<Beyond> {
        self.region(self.index.func.body()).then(|| Beyond {
            site: self.op.site,
            array: self.view.array,
            axis: fit::axis(self.axis),
            tile: self.view.tile[self.axis].into(),
            extent: self.extent,
            is_certain: self.is_certain,
        })
    }

    /// Whether a region runs in every block.
    fn always_runs(&self, region: RegionId) -> bool {
        let intervals = Intervals::new(self.index, self.with, &[]);
        self.index.conditions(region).is_empty()
            && self.index.loops(region).iter().all(|&id| {
                let around = self.index.func.op(id);
                let bound = |at: usize| intervals.value(around.operands[at]);
                around.kind == Kind::For
                    && !self.index.func.leaves(around.regions[0])
                    && bound(0).zip(bound(1)).is_some_and(|(first, end)| first.1 < end.0)
            })
    }

    fn of(&self, value: Value) -> Option<Spread> {
        self.spread.get(&value).copied()
    }

    /// Follows the operations of a region; whether an undetermined element reaches a result.
    fn region(&mut self, region: RegionId) -> bool {
        let func = self.index.func;
        func.region(region).ops.iter().any(|&id| self.operation(id))
    }

    fn operation(&mut self, id: OpId) -> bool {
        let func = self.index.func;
        let op = func.op(id);
        match &op.kind {
            _ if id == self.load => {}
            Kind::Store(view) => return self.stores(id, op, view),
            Kind::If => return op.regions.iter().any(|&region| self.region(region)),
            Kind::For => {
                for (&arg, &first) in func.region(op.regions[0]).args[1..].iter().zip(&op.operands[3..]) {
                    self.spread.extend(self.of(first).map(|spread| (arg, spread)));
                }
                if self.region(op.regions[0]) {
                    return true;
                }
                if let End::Continue(0, values) = &func.region(op.regions[0]).end {
                    for (&result, &last) in op.results.iter().zip(values) {
                        self.spread.extend(self.of(last).map(|spread| (result, spread)));
                    }
                }
            }
            Kind::Loop => return self.region(op.regions[0]),
            Kind::Mma => {
                let rank = func.ty(op.results[0]).dims.rank();
                // K is the last mode of A, and the last but one of B.
                if (0..2).any(|at| self.of(op.operands[at]) == Some(Spread::Along(rank - 1 - at))) {
                    self.is_certain &=
                        self.index.region_of(id).is_some_and(|region| self.always_runs(region));
                    return true;
                }
                let spread = op.operands.iter().find_map(|&value| self.of(value));
                self.spread.extend(spread.map(|spread| (op.results[0], spread)));
            }
            _ => {
                let spread = op.operands.iter().find_map(|&value| self.through(op, value, self.of(value)?));
                self.spread.extend(
                    spread.into_iter().flat_map(|spread| op.results.iter().map(move |&to| (to, spread))),
                );
            }
        }
        false
    }

    /// The undetermined elements of an operation's results, by those of an operand. Where an operation may choose other elements, none are sure.
    fn through(&self, op: &Op, value: Value, spread: Spread) -> Option<Spread> {
        let func = self.index.func;
        let (from, to) = (func.ty(value).dims, func.ty(*op.results.first()?).dims);
        let along = |mode: usize| if let Spread::Along(own) = spread { own == mode } else { false };
        match &op.kind {
            Kind::Each { op: Each::Select, .. } => None,
            Kind::Each { .. } | Kind::Cast(_) | Kind::Bitcast => Some(spread),
            Kind::Broadcast => match spread {
                Spread::Along(mode) if from[mode] != to[mode] => Some(Spread::All),
                spread => Some(spread),
            },
            Kind::Permute(axes) => match spread {
                Spread::Along(mode) => axes.iter().position(|&axis| axis as usize == mode).map(Spread::Along),
                spread => Some(spread),
            },
            Kind::Reshape => Some(match spread {
                Spread::Along(mode) => {
                    let before = |dims: &crate::ir::Dims, mode: usize| {
                        dims.iter().take(mode).map(|&n| u64::from(n)).product::<u64>()
                    };
                    let same = |&at: &usize| to[at] == from[mode] && before(&to, at) == before(&from, mode);
                    (0..to.rank()).find(same).map_or(Spread::Some, Spread::Along)
                }
                spread => spread,
            }),
            Kind::Reduce { axis, combine, .. } if *combine != Combine::By(()) => Some(match spread {
                _ if along((*axis).into()) || to.size() == 1 => Spread::All,
                spread => spread,
            }),
            Kind::Scan { axis, combine, reverse, exclusive, .. } if *combine != Combine::By(()) => {
                match spread {
                    Spread::Along(_) if along((*axis).into()) && (*exclusive || *reverse) => {
                        (*reverse && !*exclusive).then_some(Spread::All)
                    }
                    Spread::All if *exclusive => Some(Spread::Some),
                    spread => Some(spread),
                }
            }
            Kind::Sort { axis, .. } => Some(match spread {
                _ if !along((*axis).into()) => spread,
                _ if value == op.operands[0] => Spread::All,
                _ => Spread::Some,
            }),
            Kind::Histogram => Some(Spread::All),
            Kind::Flip(axis) if along((*axis).into()) => Some(Spread::Some),
            Kind::Flip(_) => Some(spread),
            Kind::Pack | Kind::Unpack | Kind::Extract(_) => (spread == Spread::All).then_some(spread),
            _ => None,
        }
    }

    /// Whether a store that surely runs stores undetermined elements to elements that the array has.
    fn stores(&self, id: OpId, op: &Op, view: &View) -> bool {
        let Some(spread) = self.of(op.operands[0]) else { return false };
        let Array::Param(_) = self.index.func.arrays()[view.array.index()] else { return false };
        let Some(extents) = self.with.extents.get(view.array.index()) else { return false };
        let intervals = Intervals::new(self.index, self.with, &[]);
        // The elements of the tile that the array has along an axis, in a block and an iteration that read beyond the end.
        let inside = |axis: usize| {
            let (begin, own) = (op.operands[1 + axis], self.op.operands[self.axis]);
            let (low, high) = intervals.value(begin)?;
            let same = low == high || self.index.poly(begin) == self.index.poly(own);
            let rest = i128::from(extents[axis]) - high * i128::from(view.steps[axis]);
            Some((rest.clamp(0, view.tile[axis].into()), same))
        };
        let some = |axis: usize| inside(axis).is_some_and(|(inside, _)| inside > 0);
        let stored = (0..view.tile.rank()).all(some)
            && match spread {
                Spread::All => true,
                Spread::Along(mode) => {
                    inside(mode).is_some_and(|(inside, same)| same && inside > self.inside.max(0))
                }
                Spread::Some => false,
            };
        stored && self.index.region_of(id).is_some_and(|region| self.always_runs(region))
    }
}
