//! Scans, in the order of indices.

use super::reduce::Fold;
use super::tile::{Tile, lines};
use super::{Block, Result, failed};
use girih_tile::ir::{Combine, Kind, Op};

/// Runs along the lines of tiles.
pub(super) fn scan(block: &mut Block<'_>, op: &Op) -> Result<Vec<Tile>> {
    let Kind::Scan { axis, combine, identity, reverse, exclusive } = &op.kind else {
        return failed("no scan".into());
    };
    let operands = block.all(&op.operands)?;
    let (firsts, extent, step) = lines(operands[0].ty.dims, usize::from(*axis));
    let mut results: Vec<Vec<(u64, bool)>> =
        operands.iter().map(|tile| vec![(0, false); tile.bits.len()]).collect();
    let dtype = operands[0].ty.dtype;
    let fold = Fold::new(*combine, dtype);
    if *combine != Combine::By(()) && (fold.is_none() || operands.len() != 1) {
        return failed("a scan by an index, or of several tiles without a region".into());
    }
    for first in firsts {
        let mut sum: Option<Vec<(u64, bool)>> = None;
        for i in 0..extent {
            let at = first + step * if *reverse { extent - 1 - i } else { i };
            let here: Vec<(u64, bool)> = match &fold {
                Some(fold) => vec![fold.enter(dtype, operands[0].at(at))],
                None => operands.iter().map(|tile| tile.at(at)).collect(),
            };
            let before = sum.clone();
            let next = match (&before, &fold) {
                (None, _) => here,
                (Some(sum), Some(fold)) => vec![fold.join(sum[0], here[0])],
                (Some(sum), None) => block.combine(op, sum, &here)?,
            };
            let shown = match (exclusive, before, &fold) {
                (false, ..) => next.clone(),
                (true, Some(before), _) => before,
                (true, None, Some(fold)) => vec![fold.identity()],
                (true, None, None) => identity.iter().map(|&bits| (bits, false)).collect(),
            };
            for (result, element) in results.iter_mut().zip(shown) {
                result[at] = fold.as_ref().map_or(element, |fold| fold.leave(dtype, element));
            }
            sum = Some(next);
        }
    }
    Ok(operands.iter().zip(results).map(|(tile, elements)| Tile::of(tile.ty, elements)).collect())
}
