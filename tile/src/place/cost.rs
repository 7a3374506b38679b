//! The costs of operations and conversions, in issue slots of a warp: closed formulas of distributions.

use girih_codegen::plan::shuffle::Shuffles;
use girih_codegen::plan::{Dist, LANE_BITS, ROUND_TRIP, WIDEST, fastest, lines, rename, run, sectors};
use girih_tensor::DType;

use super::access::{gathered, width};
use super::rule::{halves, wish};
use crate::ir::{Func, Kind, Op, Order, Type, Value, View};

/// Slots of an access to global memory in addition to its sectors.
const GLOBAL: f64 = 4.0;
/// Slots of a line of the cache, as many as of two sectors: where a line is not read as a whole, memory is slower too.
const LINE: f64 = 1.5;
/// Slots of an access to shared memory.
pub(crate) const SHARED: f64 = 2.0;
/// Issue slots of a step of an xor shuffle.
const BUTTERFLY: f64 = 3.0;
/// How many times as much an exchange counts where it takes the shared memory of tiles that would be prefetched.
const TIGHT: f64 = 5.0;
/// Bytes that an exchange can take in shared memory.
const ROOM: i64 = 224 << 10;

fn words(dtype: DType) -> f64 {
    (f64::from(dtype.bits()) / 32.0).max(1.0)
}

/// An access through a view.
fn access(func: &Func, view: &View, at: &[Value], dtype: DType, dist: &Dist) -> f64 {
    let width = width(func, view, at);
    let vector = width.contiguous.map_or(1, |mode| run(dist, mode).min(width.most));
    let count = dist.size() as f64 / vector as f64;
    let sectors = sectors(dist, width.contiguous, vector, dtype.bytes()) as f64;
    let lines = lines(dist, width.contiguous, vector, dtype.bytes()) as f64;
    count * (GLOBAL + sectors.max(LINE * lines))
}

/// Bits of lanes and of warps along an axis.
pub(crate) fn across(dist: &Dist, axis: usize) -> [usize; 2] {
    let along =
        |bits: &[Option<(usize, i64)>]| bits.iter().flatten().filter(|(mode, _)| *mode == axis).count();
    let (lanes, warps) = dist.bits.split_at(LANE_BITS.min(dist.bits.len()));
    [along(lanes), along(warps)]
}

/// An operation with its work distribution.
pub(crate) fn own(func: &Func, op: &Op, work: &Dist) -> f64 {
    let registers = work.size() as f64;
    let dtype = |value: &Value| func.ty(*value).dtype;
    let each = || op.operands.iter().map(|value| words(dtype(value))).sum::<f64>();
    match &op.kind {
        Kind::Load(view) => access(func, view, &op.operands, dtype(&op.results[0]), work),
        Kind::Store(view) => access(func, view, &op.operands[1..], dtype(&op.operands[0]), work),
        Kind::Each { op: each, .. } => registers * f64::from(each.row().cost) * words(dtype(&op.operands[0])),
        Kind::Cast(_) => registers * words(dtype(&op.operands[0])).max(words(dtype(&op.results[0]))),
        Kind::Reduce { axis, .. } => {
            let axis = usize::from(*axis);
            let results = work.slice(axis).size() as f64;
            let [lanes, warps] = across(work, axis);
            // Every thread reads what each warp has.
            let partial = (1 << warps) as f64;
            let through = if warps > 0 { ROUND_TRIP + (SHARED + partial) * results } else { 0.0 };
            each() * (registers + BUTTERFLY * lanes as f64 * results + through)
        }
        Kind::Scan { axis, .. } => {
            let axis = usize::from(*axis);
            let [lanes, warps] = across(work, axis);
            // Values that lie together are one before lanes and warps are scanned.
            let together = work.along(axis).into_iter().take_while(|(_, bit)| bit.is_none());
            let together: i64 = together.map(|(leaf, _)| leaf.extent).product();
            let blocks = registers / together as f64;
            // Every thread reads what each warp has, and finds its own place in it.
            let partial = 2.0 * (1 << warps) as f64;
            let through = if warps > 0 { ROUND_TRIP + (SHARED + partial) * blocks } else { 0.0 };
            each() * (2.0 * registers + BUTTERFLY * lanes as f64 * blocks + through)
        }
        Kind::Sort { axis, .. } => {
            let steps = work.along(usize::from(*axis)).len() as f64;
            let [lanes, warps] = across(work, usize::from(*axis));
            each() * registers * steps * (1.0 + lanes as f64 * BUTTERFLY + warps as f64 * SHARED)
                + warps as f64 * ROUND_TRIP
        }
        Kind::Gather(at) if at.order != Order::Weak && work.is_replicated() => {
            // Read once, and told to the others.
            registers * (GLOBAL + 8.0) + ROUND_TRIP
        }
        Kind::Gather(at) => {
            let (along, most) = gathered(func, at, &op.operands);
            registers / run(work, along).min(most) as f64 * (GLOBAL + 8.0)
        }
        Kind::Scatter(_) | Kind::Atomic { .. } => registers * (GLOBAL + 8.0),
        Kind::Cat(axis) => match halves(func, op, usize::from(*axis), work) {
            // A thread that holds elements of one operand alone chooses between them.
            Some(halves) => halves.bit.map_or(0.0, |_| registers),
            None => through_shared(work),
        },
        Kind::Extract(_) if wish(func, op, 0, work).is_some() => 0.0,
        Kind::Extract(_) | Kind::Insert(_) | Kind::Flip(_) | Kind::Pack | Kind::Unpack => {
            through_shared(work)
        }
        _ => 0.0,
    }
}

/// An operation that puts its operands into shared memory and takes its result from there.
pub(crate) fn through_shared(work: &Dist) -> f64 {
    ROUND_TRIP + SHARED * 2.0 * work.size() as f64
}

/// A tile from one distribution into another; `tight` if shared memory is for tiles that are prefetched.
pub(crate) fn conversion(Type { dtype, dims }: Type, from: &Dist, to: &Dist, tight: bool) -> f64 {
    let dims = &dims;
    if from == to || rename(dims, from, to).is_some() {
        return 0.0;
    }
    let shuffles = Shuffles::new(dims, dtype, from, to).map_or(f64::INFINITY, |shuffles| shuffles.cost());
    if shuffles <= ROUND_TRIP {
        return shuffles;
    }
    let bytes = dtype.bytes();
    let size = from.padded(dims.rank()).iter().product::<i64>() * bytes;
    if size > ROOM {
        return shuffles.min(1e9);
    }
    let count = |dist: &Dist, mode: usize| dist.size() as f64 / run(dist, mode).min(WIDEST / bytes) as f64;
    let fewest = (0..dims.rank())
        .filter_map(|mode| fastest(mode, dims.rank()).first().copied())
        .map(|mode| count(from, mode) + count(to, mode))
        .fold(f64::INFINITY, f64::min);
    let times = if tight { TIGHT } else { 1.0 };
    shuffles.min(times * (ROUND_TRIP + SHARED * fewest))
}
