//! Temporary shared memory of operations: they run one after the other, so the largest one counts.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::Pipeline;
use girih_tensor::DType;

use super::Plan;
use super::cost::across;
use super::numbers::of_elements;
use super::product::{fragments, rows};
use crate::ir::{Kind, Op, OpId, Order, RegionId, Value};
use girih_codegen::plan::Exchange;

/// Bytes that are left to an operation that says nothing of what it takes.
const LEFT: i64 = 16 << 10;
/// The most that elements of tiles, sums of warps, and counters of which there are several for a number take at once.
const TILES: i64 = 128 << 10;
const OF_WARPS: i64 = 64 << 10;
const COUNTERS: i64 = 32 << 10;

impl Plan {
    /// Bytes that the operations of a region, and of the regions within, take at the most.
    pub(super) fn scratch(&self, region: RegionId) -> i64 {
        let mut most = 0;
        self.func.walk(region, &mut |id, op| most = most.max(self.of_operation(id, op).unwrap_or(LEFT)));
        most
    }

    /// The same where an operation that says nothing may take all that one of its kind can.
    pub(super) fn most_scratch(&self, region: RegionId) -> i64 {
        let mut most = 0;
        self.func.walk(region, &mut |id, op| {
            most = most.max(self.of_operation(id, op).unwrap_or_else(|| self.at_most(op).max(LEFT)));
        });
        most
    }

    /// The most that counters take which are in shared memory as long as loops run.
    pub(super) fn counters(&self) -> i64 {
        let func = &self.func;
        let (mut sum, mut seen) = (0, BTreeSet::new());
        func.walk(func.body(), &mut |_, op| {
            let loops = op.regions.iter().filter(|_| matches!(op.kind, Kind::For | Kind::Loop));
            loops.for_each(|&region| {
                func.walk(region, &mut |id, op| {
                    sum += match &op.kind {
                        Kind::Histogram if seen.insert(id) => COUNTERS.max(self.size(op.results[0])),
                        Kind::Atomic { at, .. } if seen.insert(id) => {
                            let counts = matches!(func.param_of(at.array).1.dtype, DType::S32 | DType::U32);
                            if counts && func.ty(op.operands[0]).dims.rank() > 0 { COUNTERS } else { 0 }
                        }
                        _ => 0,
                    };
                });
            });
        });
        sum
    }

    /// Bytes of a value.
    fn size(&self, value: Value) -> i64 {
        let ty = self.func.ty(value);
        ty.dims.size() as i64 * ty.dtype.bytes()
    }

    /// The most that an operation may take whose elements need not go through shared memory.
    fn at_most(&self, op: &Op) -> i64 {
        let size = |value: &Value| self.size(*value);
        let results = op.results.iter().map(size);
        match &op.kind {
            // Its counters are counted apart.
            Kind::Histogram => 0,
            Kind::Reduce { .. } | Kind::Scan { .. } => {
                let of_warps = OF_WARPS.min(results.sum::<i64>() * i64::from(self.threads / 32));
                // Against bank conflicts, groups may be half as long again.
                of_warps + of_warps / 2
            }
            Kind::Sort { .. } => TILES.min(results.sum()),
            _ => TILES.min(results.chain(op.operands.iter().map(size)).max().unwrap_or(0)),
        }
    }

    /// The bytes of an operation, as far as they are known before it is lowered.
    fn of_operation(&self, id: OpId, op: &Op) -> Option<i64> {
        Some(match &op.kind {
            _ if self.products.pipeline.alone.contains(&id) => 0,
            Kind::Mma if self.products.wgmma.contains_key(&id) => 0,
            Kind::Mma => self.staged(op),
            Kind::Convert => match self.exchanges.get(&op.results[0]) {
                Some(Exchange::Shared(shared)) => shared.bytes(),
                _ => 0,
            },
            Kind::Reduce { axis, .. } if across(self.dist(op.operands[0]), (*axis).into())[1] == 0 => 0,
            // Of loads with an order one thread tells the others what it has read.
            Kind::Load(view) if view.order == Order::Weak => 0,
            Kind::Gather(at) if at.order == Order::Weak => 0,
            Kind::Reshape if self.products.is_view(id) => 0,
            kind if of_elements(kind) => 0,
            Kind::Store(_)
            | Kind::Scatter(_)
            | Kind::Print(_)
            | Kind::Assert(_)
            | Kind::For
            | Kind::Loop
            | Kind::If => 0,
            // A word of each warp, which what is fixed has room for.
            Kind::Reduce { .. } | Kind::Reshape if self.func.ty(op.results[0]).dims.size() == 1 => 0,
            _ => return None,
        })
    }

    /// Bytes of the operands that an MMA stores in shared memory.
    fn staged(&self, op: &Op) -> i64 {
        let func = &self.func;
        let needed = fragments(func, op, self.dist(op.results[0]), self.products.sm);
        let staged = (0..2).filter(|&at| {
            let value = op.operands[at];
            !self.products.holds(func, value) && *self.dist(value) != needed[at]
        });
        let size = |at: usize| {
            let ty = func.ty(op.operands[at]);
            let reach = needed[at].padded(ty.dims.rank());
            // Rows along either axis.
            let size = |fast: usize| rows(&reach, fast, ty.dtype.bytes()).1;
            size(reach.len() - 1).max(size(reach.len() - 2))
        };
        staged.map(size).sum()
    }

    /// Whether there is memory for the tiles of MMAs by `wgmma` beside all else, or why not.
    pub(super) fn has_room(&self) -> Result<(), String> {
        let products = &self.products;
        if products.wgmma.is_empty() {
            return Ok(());
        }
        let slots = products.pipeline.rings.iter().map(|ring| ring.slots).sum();
        let tiles = products.arena().bytes + of_slots(slots);
        let besides = self.scratch(self.func.body());
        let room = super::ahead::shared(products.sm) - FIXED;
        if tiles + besides > room {
            return Err(format!(
                "the tiles take {tiles} bytes of shared memory, and operations {besides} besides: {room} are accepted"
            ));
        }
        Ok(())
    }
}

/// Bytes for a word of each warp, for the barriers of a few slots, and for where what comes after tiles begins.
pub(super) const FIXED: i64 = 1024;

/// Bytes for the barriers of slots, beyond those that are fixed.
pub(super) fn of_slots(slots: i64) -> i64 {
    (Pipeline::barrier_bytes(slots) - FIXED / 2).max(0)
}

/// The alignment of tiles for `wgmma`: the pattern of the widest swizzle.
pub(crate) const PATTERN: i64 = 1024;

/// Where the tiles of MMAs by `wgmma` are in shared memory: one after the other from its beginning, each at a multiple of [`PATTERN`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arena {
    /// Those that threads store: the tile of a load, or an operand of an MMA.
    pub(crate) places: BTreeMap<(OpId, usize), i64>,
    /// The slots of each ring.
    pub(crate) rings: Vec<i64>,
    /// The bytes of TMA stores.
    pub(crate) stores: i64,
    /// Bytes of all.
    pub(crate) bytes: i64,
}

impl Arena {
    /// Takes this many bytes.
    pub(super) fn take(&mut self, bytes: i64) -> i64 {
        let at = (self.bytes + PATTERN - 1) / PATTERN * PATTERN;
        self.bytes = at + bytes;
        at
    }
}
