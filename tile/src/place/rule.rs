//! The rules between the distributions of an operation's operands and results: the table of [`place`](super), as a
//! function.
//!
//! An operation with a choice has a *work* distribution, from which the others follow.

use girih_codegen::plan::{Digit, Dist, Leaf, primes};

use crate::ir::{Combine, Dims, Func, Kind, Op};

/// Extents as distributions count them.
pub(crate) fn extents(dims: &Dims) -> Vec<i64> {
    dims.iter().map(|&n| i64::from(n)).collect()
}

/// What the work distribution of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// There is none: no operand or result is a tile, or any distribution will do.
    None,
    /// That of the results, from which operands follow.
    Result,
    /// That of the first operand, from which results follow.
    Operand,
    /// One for each result: what a loop carries, what a condition gives.
    Each,
}

/// Which kind of work distribution an operation has.
pub(crate) fn work(func: &Func, op: &Op) -> Work {
    let tile = |values: &[crate::ir::Value]| values.iter().any(|&value| func.ty(value).dims.rank() > 0);
    match &op.kind {
        Kind::For | Kind::Loop | Kind::If => Work::Each,
        Kind::Permute(_) | Kind::Reduce { .. } | Kind::Store(_) | Kind::Scatter(_) => Work::Operand,
        Kind::Atomic { .. } if op.results.is_empty() => Work::Operand,
        Kind::Print(_) | Kind::Assert(_) => Work::None,
        _ if tile(&op.results) => Work::Result,
        _ => Work::None,
    }
}

/// The distribution that an operand must have, by the work distribution; `None` if any will do.
pub(crate) fn need(func: &Func, op: &Op, operand: usize, work: &Dist) -> Option<Dist> {
    let dims = func.ty(op.operands[operand]).dims;
    if dims.rank() == 0 {
        return None;
    }
    match &op.kind {
        Kind::Each { .. }
        | Kind::Cast(_)
        | Kind::Bitcast
        | Kind::Permute(_)
        | Kind::Reduce { .. }
        | Kind::Scan { .. }
        | Kind::Sort { .. }
        | Kind::Store(_)
        | Kind::Gather(_)
        | Kind::Scatter(_)
        | Kind::Atomic { .. } => Some(work.clone()),
        Kind::Mma if operand == 2 => Some(work.clone()),
        Kind::Broadcast => {
            let to = func.ty(op.results[0]).dims;
            let stretched = (0..dims.rank()).filter(|&mode| dims[mode] == 1 && to[mode] != 1);
            Some(stretched.fold(work.clone(), |dist, mode| dist.slice(mode)))
        }
        _ => None,
    }
}

/// The distribution that an operand had best have where the rules leave it open: that in which nothing moves.
pub(crate) fn wish(func: &Func, op: &Op, operand: usize, work: &Dist) -> Option<Dist> {
    match &op.kind {
        Kind::Reshape => {
            let (from, to) = (func.ty(op.operands[operand]).dims, func.ty(op.results[0]).dims);
            work.reshape(&extents(&to), &extents(&from))
        }
        Kind::Cat(axis) => halves(func, op, usize::from(*axis), work).map(|halves| halves.dist),
        Kind::Extract(start) => {
            let (from, to) = (func.ty(op.operands[operand]).dims, func.ty(op.results[0]).dims);
            let fits = |&mode: &usize| from[mode] % to[mode] == 0 && start[mode] % to[mode] == 0;
            let mut modes = (0..from.rank()).filter(|&mode| from[mode] != to[mode]);
            let whole = modes.try_fold(work.clone(), |dist, mode| {
                let [from, to] = [from, to].map(|dims| i64::from(dims[mode]));
                Some(mode).filter(fits).and_then(|mode| repeated(&dist, mode, to, from / to))
            });
            // Threads that hold the same part would each hold the whole tile.
            whole.filter(|whole| !whole.is_replicated())
        }
        _ => need(func, op, operand, work),
    }
}

/// A distribution of two tiles side by side as one of each.
pub(crate) struct Halves {
    /// That of each tile.
    pub(crate) dist: Dist,
    /// The bit of a thread's number by which it holds elements of one or the other; none if each thread holds those of both.
    pub(crate) bit: Option<usize>,
}

/// The distribution of both operands of a [`Kind::Cat`] in which nothing moves.
pub(crate) fn halves(func: &Func, op: &Op, axis: usize, work: &Dist) -> Option<Halves> {
    let [first, second] = [0, 1].map(|at| i64::from(func.ty(op.operands[at]).dims[axis]));
    let (dist, beyond) = part(work, axis, first)?;
    match beyond[..] {
        [Digit::Values { extent: 2, .. }] if first == second => Some(Halves { dist, bit: None }),
        [Digit::Bit { bit, .. }] if first == second => Some(Halves { dist, bit: Some(bit) }),
        _ => None,
    }
}

/// The distribution of the elements below a coordinate, and the digits of the coordinate that are beyond; `None` if it is cut elsewhere.
pub(crate) fn part(dist: &Dist, mode: usize, extent: i64) -> Option<(Dist, Vec<Digit>)> {
    let digits = dist.digits(mode);
    let (below, beyond): (Vec<Digit>, Vec<Digit>) =
        digits.into_iter().partition(|digit| digit.scale() < extent);
    (reach(&below) == extent - 1).then(|| {
        let mut dist = dist.clone();
        dist.bits
            .iter_mut()
            .filter(|bit| bit.is_some_and(|(at, scale)| at == mode && scale >= extent))
            .for_each(|bit| *bit = None);
        dist.vals.retain(|leaf| leaf.mode != mode || leaf.scale < extent);
        (dist, beyond)
    })
}

/// The distribution of `count` tiles of an extent side by side, of which each thread holds its elements; `None` if the tile is padded.
pub(crate) fn repeated(dist: &Dist, mode: usize, extent: i64, count: i64) -> Option<Dist> {
    (reach(&dist.digits(mode)) == extent - 1).then(|| {
        let (mut dist, mut scale) = (dist.clone(), extent);
        for (at, extent) in primes(count).into_iter().enumerate() {
            dist.vals.insert(at, Leaf { extent, mode, scale });
            scale *= extent;
        }
        dist
    })
}

/// The greatest coordinate of these digits.
fn reach(digits: &[Digit]) -> i64 {
    let most = |digit: &Digit| match digit {
        Digit::Values { extent, scale, .. } => (extent - 1) * scale,
        Digit::Bit { scale, .. } => *scale,
    };
    digits.iter().map(most).sum()
}

/// The distribution that the results have, by the work distribution.
pub(crate) fn give(op: &Op, work: &Dist) -> Dist {
    match &op.kind {
        Kind::Permute(axes) => work.permute(&axes.modes()),
        Kind::Reduce { axis, .. } => work.slice(usize::from(*axis)),
        _ => work.clone(),
    }
}

/// Whether an operation can work in a distribution.
pub(crate) fn accepts(func: &Func, op: &Op, work: &Dist) -> Result<(), String> {
    let along = |axis: u8| {
        let leaves = work.along(usize::from(axis));
        let mut stage = leaves.iter().map(|(_, bit)| *bit).skip_while(Option::is_none).skip_while({
            let mut last = None;
            move |bit| {
                let rising = bit.is_some() && *bit > last;
                last = *bit;
                rising
            }
        });
        if stage.any(|bit| bit.is_some()) {
            return Err(format!("{work} along axis {axis}: values, rising bits, values are accepted"));
        }
        Ok(leaves.iter().map(|(leaf, _)| leaf.extent).product::<i64>())
    };
    match &op.kind {
        Kind::Scan { axis, .. } | Kind::Reduce { axis, combine: Combine::By(()), .. } => {
            along(*axis).map(|_| ())
        }
        Kind::Sort { axis, .. } => {
            let reach = along(*axis)?;
            if reach.count_ones() == 1 {
                return Ok(());
            }
            Err(format!("{work} covers {reach} along axis {axis}: a power of two is accepted"))
        }
        Kind::Atomic { .. } if func.ty(op.operands[0]).dims.rank() > 0 && work.is_replicated() => {
            Err(format!("{work} has copies: an atomic operation takes none"))
        }
        _ => Ok(()),
    }
}
