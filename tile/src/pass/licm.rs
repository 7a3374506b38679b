//! Loop-invariant code motion.

use super::rebuild::{Copy, Pass, rebuild, types};
use crate::ir::{Func, Kind, Op, Type, Value};

/// Moves loads of arrays that the kernel does not write, and pure operations, out of the loops that their operands do not depend on.
/// Nothing leaves a condition. What holds more than `MOST` bytes of a block stays, since it would occupy registers all the time.
pub fn licm(func: &Func) -> Func {
    rebuild(func, &mut Licm)
}

/// The most bytes of a tile that is computed ahead: 32 in each of 128 threads. Of one that is loaded it is eight times as many.
const MOST: u64 = 4096;

struct Licm;

impl Pass for Licm {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let func = copy.func;
        if copy.loops() == 0 || !func.is_pure(&op.kind) || op.results.is_empty() {
            return None;
        }
        let indexed = matches!(op.kind, Kind::Load(_) | Kind::Gather(_));
        if !indexed && op.results.iter().all(|&value| func.ty(value).dims.rank() == 0) {
            // Building puts scalars as far out as they can stand.
            return None;
        }
        // A loop without an iteration must not access memory that does not exist.
        let (most, checked) = match &op.kind {
            Kind::Load(view) => (8 * MOST, view.check),
            Kind::Gather(at) => (8 * MOST, at.check),
            _ => (MOST, true),
        };
        let types = types(func, &op.results);
        if !checked || types.iter().map(bytes).sum::<u64>() > most {
            return None;
        }
        let kind = copy.kind(op);
        let slices = kind.names().into_iter().flat_map(|array| copy.b.func().slices(array));
        let needs = slices.flat_map(|(_, bounds)| bounds).chain(operands.iter().copied());
        let innermost = copy.b.depth() - 1;
        let needed = needs.map(|value| copy.b.depth_of(value)).max().unwrap_or(0);
        let depth = needed.max(innermost - copy.loops());
        (depth < innermost).then(|| copy.b.push_at(depth, kind, operands, &types))
    }
}

fn bytes(ty: &Type) -> u64 {
    ty.dims.size() * u64::from(ty.dtype.bits()) / 8
}
