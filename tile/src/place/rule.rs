//! What an operation asks of its operands' distributions, and which its results have: the table of [`place`](super), as a function.
//!
//! An operation with a choice has a *work* distribution, from which the others follow.

use girih_codegen::plan::Dist;

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
        _ => need(func, op, operand, work),
    }
}

/// The distribution that the results have, by the work distribution.
pub(crate) fn give(op: &Op, work: &Dist) -> Dist {
    match &op.kind {
        Kind::Permute(axes) => work.permute(&axes.iter().map(|&axis| axis as usize).collect::<Vec<_>>()),
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
        Kind::Scan { axis, .. } | Kind::Reduce { axis, combine: Combine::Region, .. } => {
            along(*axis).map(|_| ())
        }
        Kind::Sort { axis, .. } => {
            let reach = along(*axis)?;
            let power = reach.count_ones() == 1;
            power
                .then_some(())
                .ok_or_else(|| format!("{work} covers {reach} along axis {axis}: a power of two is accepted"))
        }
        Kind::Atomic { .. } if func.ty(op.operands[0]).dims.rank() > 0 && work.is_replicated() => {
            Err(format!("{work} has copies: an atomic operation takes none"))
        }
        _ => Ok(()),
    }
}
