//! Which tile of C a block computes.

use girih_ptx::Special;

use crate::builder::Builder;
use crate::{Error, Expr};

/// Block tiles in groups of `group` rows, each group walked column by column, so that blocks running together share
/// tiles of A and B in the L2 cache. Returns the tile's row and column.
pub(crate) fn block_tile(
    b: &mut Builder,
    tiles_m: &Expr,
    tiles_n: &Expr,
    group: i64,
) -> Result<(Expr, Expr), Error> {
    let pid = b.special(Special::CtaidX);
    let width = tiles_n * group;
    let group_index = b.divide(&pid, &width, tiles_m.range().1 / group)?;
    let first = &group_index * group;
    let rows = (tiles_m - &first).maximum(&Expr::from(1)).minimum(&Expr::from(group));
    let within = &pid - &(&group_index * &width);
    let column = b.divide(&within, &rows, tiles_n.range().1 - 1)?;
    let row = &first + &(&within - &(&column * &rows));
    Ok((b.bounded(&row, tiles_m.range().1 - 1)?, column))
}
