//! The tiles that each block stores: the indices of a program's store, evaluated for every block of a grid.

use std::collections::HashMap;

use super::loops::Sketch;
use crate::dtype::number::encode;
use crate::dtype::{Const, is_integer};
use crate::facts::integer;
use crate::ir::{Array, ArrayId, Def, Func, Kind, OpId, Rounding, Value};
use crate::reference;

/// How a program goes through the tiles of C.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// The indices of rows and columns, and of the product of a batch.
    at: [Value; 2],
    batch: Option<Value>,
    /// The end of the loop along K.
    stop: Value,
    /// Loops and conditions around the store, the outermost first, and which of their regions.
    path: Vec<(OpId, usize)>,
    /// Rows and columns of a tile, and elements along K.
    extents: [i64; 3],
    /// Where the groups of rows end, whose tiles blocks go through as they run.
    ends: Option<ArrayId>,
}

/// A grid and the arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arguments {
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Extents of the array parameters.
    pub extents: Vec<Vec<i64>>,
    /// The bits of the scalar parameters.
    pub scalars: Vec<u64>,
}

/// The most tiles that are gone through, and the most blocks and iterations of loops that go through them: a first launch takes about a
/// microsecond for each.
const MOST: i64 = 1 << 18;

impl Tiles {
    /// The array that says where groups of rows end, if the product is one of groups.
    pub fn ends(&self) -> Option<ArrayId> {
        self.ends
    }

    pub(super) fn of(sketch: &Sketch<'_>) -> Tiles {
        Tiles {
            at: sketch.at_values,
            batch: sketch.batch_value,
            stop: sketch.stop,
            path: sketch.path.clone(),
            extents: sketch.tile,
            ends: sketch.groups.map(|groups| groups.ends),
        }
    }

    /// Whether the blocks of a grid store each tile of C of this many products of M x N x K once, and go through all of K. Of a block for each
    /// tile this is seen at once; any other order is gone through, if it has at most 2^18 tiles, blocks and iterations, and is taken for none that
    /// covers C if it has more.
    pub fn cover(&self, func: &Func, with: &Arguments, mnk: [i64; 3], products: i64) -> bool {
        let [rows, columns, along_k] = [0, 1, 2].map(|i| (mnk[i] + self.extents[i] - 1) / self.extents[i]);
        if self.ends.is_some() {
            let mut block = Block::new(func, with, [0; 3]);
            let groups = self.path.first().map(|(id, _)| func.op(*id).operands[1]);
            let all = groups.is_some_and(|groups| block.number(groups) == Some(products));
            return all && block.number(self.stop) == Some(along_k);
        }
        let Some(all) = rows.checked_mul(columns).and_then(|all| all.checked_mul(products)) else {
            return false;
        };
        let counts = [rows, columns, products];
        if self.is_direct(func, with, counts) {
            // The loop along K is the same in all blocks, or the program is no product.
            let mut first = Block::new(func, with, [0; 3]);
            return first.number(self.stop) == Some(along_k);
        }
        let [x, y, z] = with.grid;
        let blocks = u128::from(x) * u128::from(y) * u128::from(z);
        if all > MOST || blocks > MOST as u128 {
            return false;
        }
        let mut walk = Walk {
            stored: vec![false; usize::try_from(all).unwrap_or_default()],
            left: all,
            iterations: MOST,
            counts,
            along_k,
        };
        for bid in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
            let mut block = Block::new(func, with, bid);
            if self.walk(&mut block, 0, &mut walk).is_none() {
                return false;
            }
        }
        walk.left == 0
    }

    /// Whether there is a block for each tile, whose numbers are the tile's.
    fn is_direct(&self, func: &Func, with: &Arguments, counts: [i64; 3]) -> bool {
        let axis = |value: Value| match func.value(value).def {
            Def::Result(id, _) => match func.op(id).kind {
                Kind::Bid(axis) => Some(usize::from(axis)),
                _ => None,
            },
            Def::Argument(..) => None,
        };
        let mut left = with.grid.map(i64::from);
        let places = [Some(self.at[0]), Some(self.at[1]), self.batch];
        let mut taken = [false; 3];
        let all = places.into_iter().zip(counts).all(|(value, count)| match value.map(axis) {
            None => count == 1,
            Some(None) => false,
            Some(Some(axis)) => {
                let is_first = !std::mem::replace(&mut taken[axis], true);
                is_first && std::mem::replace(&mut left[axis], 1) == count
            }
        });
        all && left == [1; 3] && self.path.is_empty()
    }

    /// Goes through what a block stores from a loop or condition on; `None` if it stores something twice or outside, or what is not known.
    fn walk(&self, block: &mut Block<'_>, depth: usize, walk: &mut Walk) -> Option<()> {
        let Some(&(id, which)) = self.path.get(depth) else {
            let at = |block: &mut Block<'_>, value: Value| block.number(value);
            let place = [
                at(block, self.at[0])?,
                at(block, self.at[1])?,
                self.batch.map_or(Some(0), |value| at(block, value))?,
            ];
            if block.number(self.stop)? != walk.along_k {
                return None;
            }
            return walk.store(place);
        };
        let op = block.func.op(id);
        if op.kind == Kind::If {
            let taken = block.bits(op.operands[0])? != 0;
            return if taken == (which == 0) { self.walk(block, depth + 1, walk) } else { Some(()) };
        }
        let [start, stop, step] = [0, 1, 2].map(|i| block.number(op.operands[i]));
        let (mut at, stop, step) = (start?, stop?, step.filter(|&step| step > 0)?);
        let iteration = block.func.region(op.regions[which]).args[0];
        let dtype = block.func.ty(iteration).dtype;
        while at < stop {
            walk.iterations -= 1;
            if walk.iterations < 0 {
                return None;
            }
            let outer = block.found.len();
            block.learn(iteration, encode(dtype, Const::Int(at.into())));
            self.walk(block, depth + 1, walk)?;
            block.forget(outer);
            at = at.checked_add(step)?;
        }
        Some(())
    }
}

/// The tiles that have been stored.
struct Walk {
    stored: Vec<bool>,
    left: i64,
    /// Iterations of loops that may still be gone through.
    iterations: i64,
    counts: [i64; 3],
    along_k: i64,
}

impl Walk {
    fn store(&mut self, at: [i64; 3]) -> Option<()> {
        let inside = at.iter().zip(&self.counts).all(|(at, count)| (0..*count).contains(at));
        let [rows, columns, _] = self.counts;
        let number = inside.then(|| (at[2] * columns + at[1]) * rows + at[0])?;
        let stored = self.stored.get_mut(usize::try_from(number).ok()?)?;
        if std::mem::replace(stored, true) {
            return None;
        }
        self.left -= 1;
        Some(())
    }
}

/// A block, and the scalars that it has computed.
struct Block<'a> {
    func: &'a Func,
    with: &'a Arguments,
    bid: [u32; 3],
    known: HashMap<Value, u64>,
    /// The scalars that are known, in the order in which they were found.
    found: Vec<Value>,
}

impl<'a> Block<'a> {
    fn new(func: &'a Func, with: &'a Arguments, bid: [u32; 3]) -> Block<'a> {
        Block { func, with, bid, known: HashMap::new(), found: Vec::new() }
    }

    fn learn(&mut self, value: Value, bits: u64) {
        self.known.insert(value, bits);
        self.found.push(value);
    }

    /// Forgets all but the scalars that were found first.
    fn forget(&mut self, all_but: usize) {
        let known = &mut self.known;
        self.found.drain(all_but..).for_each(|value| {
            known.remove(&value);
        });
    }

    /// An integer scalar.
    fn number(&mut self, value: Value) -> Option<i64> {
        let bits = self.bits(value)?;
        integer(self.func.ty(value).dtype, bits)
    }

    /// The bits of a scalar.
    fn bits(&mut self, value: Value) -> Option<u64> {
        if let Some(&known) = self.known.get(&value) {
            return Some(known);
        }
        let func = self.func;
        let Def::Result(id, _) = func.value(value).def else { return None };
        let (op, dtype) = (func.op(id), func.ty(value).dtype);
        let whole = |n: i64| encode(dtype, Const::Int(n.into()));
        let bits = match &op.kind {
            Kind::Full(bits) => *bits,
            Kind::Bid(axis) => whole(self.bid[usize::from(*axis)].into()),
            Kind::NumBlocks(axis) => whole(self.with.grid[usize::from(*axis)].into()),
            Kind::Dim(array, axis) => match &func.arrays()[array.index()] {
                Array::Param(_) => whole(*self.with.extents.get(array.index())?.get(usize::from(*axis))?),
                Array::Slice { .. } => return None,
            },
            Kind::Param(at) => *self.with.scalars.get(usize::from(*at))?,
            Kind::Each { op: each, rounding, ftz, nan, .. } => {
                let mut args = [0; 3];
                for (arg, &operand) in args.iter_mut().zip(&op.operands) {
                    *arg = self.bits(operand)?;
                }
                if *each == crate::ir::table::Each::Select {
                    args[if args[0] != 0 { 1 } else { 2 }]
                } else {
                    let dtype = func.ty(*op.operands.last()?).dtype;
                    reference::apply(*each, *rounding, *ftz, *nan, dtype, args)?
                }
            }
            Kind::Cast(_) if is_integer(dtype) => {
                let from = func.ty(op.operands[0]).dtype;
                reference::convert(from, dtype, Rounding::Nearest, self.bits(op.operands[0])?)
            }
            Kind::Reshape | Kind::Broadcast if func.ty(op.operands[0]).dims.size() == 1 => {
                self.bits(op.operands[0])?
            }
            _ => return None,
        };
        self.learn(value, bits);
        Some(bits)
    }
}
