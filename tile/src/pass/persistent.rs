//! Persistent kernels: as many blocks run as a device has room for, and each takes one block of the grid after the other. A producer loads the
//! tiles of the next one while the consumers store the last, so that tensor cores do not wait for a block to begin.
//!
//! ```text
//! for n from worker to blocks by workers {
//!     the program, for block (x, y, z) of the grid
//! }
//! ```
//!
//! Blocks are ordered in groups of rows, column by column. Blocks that run at the same time then read few rows and few columns of the
//! operands, which stay in the L2 cache (Triton tutorial 03, "L2 Cache Optimizations").

use std::collections::{HashMap, HashSet};

use girih_tensor::DType;

use super::overlap::each;
use super::rebuild::{Copy, Pass};
use crate::ir::table::Each;
use crate::ir::{ArrayParam, End, Func, Kind, Op, Order, RegionId, Rounding, Type, Value};

/// Blocks that run at a time on a GPU of the size of an H100.
const AT_A_TIME: u64 = 128;
/// Rows of blocks in a group where it is not known which blocks read the same, and the most.
const ROWS: u64 = 8;
const MOST_ROWS: u64 = 64;

/// The function whose blocks take one block of the grid after the other, whatever their number.
pub fn persistent(func: &Func) -> Func {
    let mut copy = Copy::new(func, ArrayParam::clone);
    let scalar = |copy: &mut Copy<'_>, kind: Kind| copy.b.push1(kind, &[], Type::scalar(DType::S32));
    let [rows, columns, layers] = [0, 1, 2].map(|axis| scalar(&mut copy, Kind::NumBlocks(axis)));
    let [worker, workers] = [Kind::Worker, Kind::Workers].map(|kind| scalar(&mut copy, kind));
    let of = |copy: &mut Copy<'_>, op, operands| each(copy, op, operands, DType::S32);
    let layer = of(&mut copy, Each::Mul, [rows, columns]);
    let all = of(&mut copy, Each::Mul, [layer, layers]);
    let most = scalar(&mut copy, Kind::Full(rows_of_group(func)));
    let group = of(&mut copy, Each::Mul, [most, columns]);

    let (_, args) = copy.b.open(&[Type::scalar(DType::S32)]);
    let [z, in_layer] = divide(&mut copy, args[0], layer);
    let [number, in_group] = divide(&mut copy, in_layer, group);
    let first = of(&mut copy, Each::Mul, [number, most]);
    let left = of(&mut copy, Each::Sub, [rows, first]);
    let own = of(&mut copy, Each::Min, [left, most]);
    let [y, row] = divide(&mut copy, in_group, own);
    let x = of(&mut copy, Each::Add, [first, row]);
    copy.ops(func.body(), &mut Blocks { at: [x, y, z] });
    let body = copy.b.close(End::Continue(0, Vec::new()));
    copy.b.push_regions(Kind::For, &[worker, all, workers], &[], vec![body]);
    copy.b.finish()
}

/// The quotient of numbers that are not negative, and what is left, by one division without signs.
fn divide(copy: &mut Copy<'_>, number: Value, by: Value) -> [Value; 2] {
    let cast = |copy: &mut Copy<'_>, value, dtype| {
        copy.b.push1(Kind::Cast(Rounding::Nearest), &[value], Type::scalar(dtype))
    };
    let of = [number, by].map(|value| cast(copy, value, DType::U32));
    let quotient = each(copy, Each::FloorDiv, of, DType::U32);
    let quotient = cast(copy, quotient, DType::S32);
    let whole = each(copy, Each::Mul, [quotient, by], DType::S32);
    [quotient, each(copy, Each::Sub, [number, whole], DType::S32)]
}

/// How many rows of blocks come together, a power of two. Blocks of `r` rows and `c` columns read `r x + c y` bytes in an iteration, if a row
/// of blocks reads `x` bytes and a column `y`. With `r c` blocks at a time that is least where
///
/// ```text
/// r x = c y,  r = sqrt(r c y / x)
/// ```
fn rows_of_group(func: &Func) -> u64 {
    let mut shares = Shares { func, on: HashMap::new(), bytes: [0; 2] };
    shares.region(func.body(), false);
    let [x, y] = shares.bytes;
    if x == 0 || y == 0 {
        return ROWS;
    }
    let squared = (AT_A_TIME * y / x).max(1);
    (1 << (squared.ilog2() / 2)).min(MOST_ROWS)
}

/// The bytes of tiles that an iteration loads for a row of blocks, and for a column of them.
struct Shares<'a> {
    func: &'a Func,
    /// The axes of the grid on which values depend, a bit each.
    on: HashMap<Value, u8>,
    bytes: [u64; 2],
}

impl Shares<'_> {
    fn region(&mut self, region: RegionId, in_loop: bool) {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            let of = |value: &Value| self.on.get(value).copied().unwrap_or(0);
            let on = match op.kind {
                Kind::Bid(axis) => 1 << axis,
                _ => op.operands.iter().map(of).fold(0, |all, own| all | own),
            };
            // The blocks of a layer have the same place along the last axis.
            if let (Kind::Load(_) | Kind::Gather(_), true, 1 | 2) = (&op.kind, in_loop, on & 3) {
                let ty = func.ty(op.results[0]);
                self.bytes[usize::from(on & 3) - 1] += ty.dims.size() * u64::from(ty.dtype.bits()) / 8;
            }
            self.on.extend(op.results.iter().map(|&result| (result, on)));
            let args = op.regions.iter().flat_map(|&region| &func.region(region).args);
            self.on.extend(args.map(|&arg| (arg, on)));
            op.regions.iter().for_each(|&region| self.region(region, in_loop || op.kind == Kind::For));
        }
    }
}

/// Says which block of the grid this one is at.
struct Blocks {
    at: [Value; 3],
}

impl Pass for Blocks {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, _: &[Value]) -> Option<Vec<Value>> {
        let Kind::Bid(axis) = op.kind else { return None };
        let at = *self.at.get(usize::from(axis))?;
        Some(vec![copy.b.push1(Kind::Bid(axis), &[at], Type::scalar(DType::S32))])
    }
}

/// Whether the blocks of a grid may come in any order and one after the other, and each has as much to do as another: MMAs in loops whose
/// length does not depend on the block.
pub fn is_even(func: &Func) -> bool {
    let mut even = Even { func, own: HashSet::new(), products: false };
    even.region(func.body(), false) && even.products
}

struct Even<'a> {
    func: &'a Func,
    /// The values that depend on the block.
    own: HashSet<Value>,
    products: bool,
}

impl Even<'_> {
    fn region(&mut self, region: RegionId, in_loop: bool) -> bool {
        let func = self.func;
        func.region(region).ops.iter().all(|&id| {
            let op = func.op(id);
            let own = |value: &Value| self.own.contains(value);
            let depends = matches!(op.kind, Kind::Bid(_)) || op.operands.iter().any(own);
            let fits = match &op.kind {
                Kind::Loop | Kind::Atomic { .. } | Kind::Print(_) | Kind::Worker => false,
                Kind::Load(view) | Kind::Store(view) => view.order == Order::Weak,
                Kind::Gather(at) | Kind::Scatter(at) => at.order == Order::Weak,
                Kind::For => !op.operands[..3].iter().any(own),
                Kind::If => !own(&op.operands[0]),
                _ => true,
            };
            self.products |= in_loop && op.kind == Kind::Mma;
            if depends {
                self.own.extend(&op.results);
            }
            // A carried value may come to depend on the block; the induction variable does not.
            let carried = op.regions.iter().flat_map(|&region| func.region(region).args.iter().skip(1));
            self.own.extend(carried);
            let inside = in_loop || op.kind == Kind::For;
            fits && op.regions.iter().all(|&region| self.region(region, inside))
        })
    }
}
