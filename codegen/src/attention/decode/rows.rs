//! The rows of queries of a block, and which keys they see.

use girih_layout::{Int, Lay, Shape};
use girih_tensor::Tensor;

use super::config::DecodeConfig;
use super::interface::Interface;
use super::share::{KEYS, Share};
use crate::builder::{Builder, Cond, Width};
use crate::sizes::static_size;
use crate::{Counting, Error, Expr, Operand, TiledMma, engine};

/// The two rows of a thread's values in an atom.
pub(super) const ROWS: usize = 2;

/// The row, 0 or 1, of value `value` of a thread's fragment of 16 rows.
pub(super) const fn row_of(value: usize) -> usize {
    value / 2 % ROWS
}

/// Where a value is in the tile of rows.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub head: Expr,
    pub query: Expr,
    /// The key of a tile, or the column.
    pub column: Expr,
}

/// The coordinates of the values that a thread has of a tile of (Rows,`columns`), (FrgV,RestM,RestN) -> (row,column).
pub(super) fn coordinates(
    config: &DecodeConfig,
    mma: &TiledMma,
    columns: i64,
    thread: &Expr,
) -> Result<Tensor<Counting>, Error> {
    let shape = Shape::flat(&[config.tile_rows(), columns].map(Int::fixed))?;
    let all = Tensor::new(Counting::new(2), Lay::identity(&shape)?); // (Rows,Columns)
    mma.get_slice(thread)?.partition(Operand::C, &all)
}

/// The places of the values that a thread has of a tile of (Rows,`columns`), in their order.
pub(super) fn places(
    config: &DecodeConfig,
    mma: &TiledMma,
    columns: i64,
    thread: &Expr,
) -> Result<Vec<Place>, Error> {
    let [heads, queries] = config.rows;
    let shape = Shape::flat(&[heads, queries, columns].map(Int::fixed))?;
    let all = Tensor::new(Counting::new(3), Lay::identity(&shape)?).group_modes(0, 2)?; // ((Heads,Queries),Columns)
    let mine = mma.get_slice(thread)?.partition(Operand::C, &all)?; // (FrgV,RestM,RestN)
    let place = |value| {
        let at = engine::at(&mine, value)?;
        let [head, query, column] = [0, 1, 2].map(|mode| at.coordinate()[mode].clone());
        Ok(Place { head, query, column })
    };
    (0..static_size("rows", mine.layout())?).map(place).collect()
}

/// Which keys the rows of a block see.
pub(super) struct Mask {
    /// The key after the last one that query 0 of the tile sees, and the first one, which may be negative.
    end: Expr,
    begin: Option<Expr>,
    /// The first key that all rows see.
    last_begin: Option<Expr>,
}

/// Which keys a thread's rows see.
pub(super) struct Seen {
    /// The places of the thread's values in the tile of keys.
    columns: Vec<Expr>,
    /// For each of the thread's rows the key after the last one that it sees, and the one before the first one.
    ends: Vec<Expr>,
    begins: Vec<Expr>,
}

impl Mask {
    /// The mask of the rows from query `first_query` of the sequence on.
    pub(super) fn new(interface: &Interface<'_>, share: &Share, first_query: &Expr) -> Mask {
        let diagonal = &(&share.keys - &interface.queries()) + first_query;
        let begin = interface.left.as_ref().map(|left| &diagonal - left);
        let last_begin = interface.left.as_ref().map(|left| &(&share.keys + -1) - left);
        Mask { end: &diagonal + 1, begin, last_begin }
    }

    /// Whether a row may not see all keys of the tile whose first key is `key`.
    pub(super) fn cuts(&self, key: &Expr) -> Cond {
        let behind = Cond::less(&self.end, &(key + KEYS));
        let before = self.last_begin.as_ref().map(|begin| Cond::less(key, begin));
        Cond::any([behind].into_iter().chain(before))
    }

    /// The keys that the rows of a thread see.
    pub(super) fn of_thread(
        &self,
        b: &mut Builder,
        config: &DecodeConfig,
        thread: &Expr,
    ) -> Result<Seen, Error> {
        let places = places(config, &config.scores_mma()?, KEYS, thread)?;
        let (mut ends, mut begins) = (Vec::new(), Vec::new());
        for row in 0..ROWS {
            let query = &places[2 * row].query;
            ends.push(b.hold_index(&(&self.end + query), Width::W32)?);
            if let Some(begin) = &self.begin {
                begins.push(b.hold_index(&(&(begin + query) + -1), Width::W32)?);
            }
        }
        Ok(Seen { columns: places.into_iter().map(|place| place.column).collect(), ends, begins })
    }
}

impl Seen {
    /// Whether the row of value `value` sees the value's key in the tile whose first key is `key`.
    pub(super) fn sees(&self, value: usize, key: &Expr) -> Cond {
        let (key, row) = (key + &self.columns[value], row_of(value));
        let before_end = Cond::less(&key, &self.ends[row]);
        let behind_begin = self.begins.get(row).map(|begin| Cond::less(begin, &key));
        Cond::all([before_end].into_iter().chain(behind_begin))
    }
}
