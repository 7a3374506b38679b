//! Which keys of a sequence a block goes through.

use girih_tensor::{DType, Tensor};

use super::MAX_KEYS;
use super::interface::Interface;
use crate::algorithm::read;
use crate::builder::Builder;
use crate::sizes::ONE;
use crate::{Error, Expr, Gmem};

/// The keys of a tile.
pub const KEYS: i64 = 64;
/// The most parts of a sequence.
pub const MAX_PARTS: i64 = 256;
/// The most tiles of a sequence.
pub const MAX_TILES: i64 = MAX_KEYS / KEYS;

/// The keys that a tile of rows sees, in tiles, and the parts that they are cut into. Both kernels come to the same.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// The keys of the sequence.
    pub keys: Expr,
    /// The first tile that a row sees.
    pub first: Expr,
    /// The tiles from there to the end.
    pub tiles: Expr,
    /// The parts, at least one.
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
        let first = match &interface.left {
            Some(left) => {
                let own = &(&keys - &interface.queries()) + first_query;
                (&own - left).maximum(&zero).div(KEYS)?
            }
            None => zero.clone(),
        };
        let tiles = (&(&keys + (KEYS - 1)).div(KEYS)? - &first).maximum(&zero);
        let parts = match &interface.parts {
            Some(parts) => {
                let most = b.divide(&(&(&tiles + &parts.least) + -1), &parts.least, MAX_TILES)?;
                most.minimum(&parts.most).maximum(&Expr::from(1))
            }
            None => Expr::from(1),
        };
        Ok(Share { keys, first, tiles, parts })
    }

    /// The first tile of a part and the number of its tiles.
    pub(super) fn of_part(&self, b: &mut Builder, part: &Expr) -> Result<[Expr; 2], Error> {
        if self.parts.as_constant() == Some(1) {
            return Ok([self.first.clone(), self.tiles.clone()]);
        }
        let mut until = |part: &Expr| b.divide(&(part * &self.tiles), &self.parts, MAX_TILES);
        let (begin, end) = (until(part)?, until(&(part + 1))?);
        Ok([&self.first + &begin, &end - &begin])
    }
}
