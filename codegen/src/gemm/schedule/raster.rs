//! Rasterisation: from a block index to the tile of C.

use crate::builder::Builder;
use crate::{Error, Expr};

/// Row and column of tile `pid`: groups of `group` rows, each walked column by column, so that blocks running together share tiles of A
/// and B in the L2 cache.
pub(super) fn block_tile(
    b: &mut Builder,
    pid: &Expr,
    [tiles_m, tiles_n]: [&Expr; 2],
    group: i64,
) -> Result<(Expr, Expr), Error> {
    let width = tiles_n * group;
    let group_index = b.divide(pid, &width, tiles_m.range().1 / group)?;
    let first = &group_index * group;
    let rows = (tiles_m - &first).maximum(&Expr::from(1)).minimum(&Expr::from(group));
    let within = pid - &(&group_index * &width);
    let column = b.divide(&within, &rows, tiles_n.range().1 - 1)?;
    let row = &first + &(&within - &(&column * &rows));
    Ok((b.bounded(&row, tiles_m.range().1 - 1)?, column))
}
