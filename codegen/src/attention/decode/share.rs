//! The split of a sequence's keys that a block computes.

use girih_tensor::{DType, Tensor};

use super::MAX_KEYS;
use super::interface::Interface;
use crate::algorithm::read;
use crate::builder::Builder;
use crate::sizes::ONE;
use crate::{Error, Expr, Gmem};

/// The keys of a tile.
pub const KEYS: i64 = 64;
/// The most splits of a sequence.
pub const MAX_PARTS: i64 = 256;
/// The most tiles of a sequence.
pub const MAX_TILES: i64 = MAX_KEYS / KEYS;

/// The keys that a tile of rows sees, in tiles, and the splits that they are cut into. Both kernels come to the same.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// The keys of the sequence.
    pub keys: Expr,
    /// The first key that a row of the tile sees, if there is a window, and the key after the last one.
    pub begin: Option<Expr>,
    pub end: Expr,
    /// The first tile that a row sees.
    pub first: Expr,
    /// The tiles from there to the end.
    pub tiles: Expr,
    /// The splits, at least one.
    pub parts: Expr,
}

impl Share {
    /// The share of the rows from query `first_query` on of a batch.
    pub(super) fn new(
        b: &mut Builder,
        interface: &Interface<'_>,
        batch: &Expr,
        first_query: &Expr,
    ) -> Result<Share, Error> {
        let place = Tensor::new(Gmem::new(&interface.lengths + &(batch * 4), DType::U32), ONE);
        let length = read(b, &place)?;
        let keys = b.index_of(&length[0])?.minimum(&interface.capacity);
        let zero = Expr::from(0);
        // The key of the first query's own, which is before the first key if there are fewer keys than queries.
        let own = &(&keys - &interface.queries()) + first_query;
        let end = (&own + interface.config.rows[1]).minimum(&keys).maximum(&zero);
        let end = b.bounded(&end, MAX_KEYS)?;
        let begin = match &interface.left {
            Some(left) => Some(b.bounded(&(&own - left).maximum(&zero), MAX_KEYS)?),
            None => None,
        };
        let first = begin.as_ref().unwrap_or(&zero).div(KEYS)?;
        let tiles = (&(&end + (KEYS - 1)).div(KEYS)? - &first).maximum(&zero);
        let parts = match &interface.parts {
            Some(parts) => {
                let most = b.divide(&(&(&tiles + &parts.least) + -1), &parts.least, MAX_TILES)?;
                most.minimum(&parts.most).maximum(&Expr::from(1))
            }
            None => Expr::from(1),
        };
        Ok(Share { keys, begin, end, first, tiles, parts })
    }

    /// The first tile of a split and the number of its tiles.
    pub(super) fn of_part(&self, b: &mut Builder, part: &Expr) -> Result<[Expr; 2], Error> {
        if self.parts.as_constant() == Some(1) {
            return Ok([self.first.clone(), self.tiles.clone()]);
        }
        let mut until = |part: &Expr| b.divide(&(part * &self.tiles), &self.parts, MAX_TILES);
        let (begin, end) = (until(part)?, until(&(part + 1))?);
        Ok([&self.first + &begin, &end - &begin])
    }
}
