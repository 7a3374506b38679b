//! The rows of queries of a block, and which keys they see.

use girih_layout::{Lay, Shape, Int};
use girih_tensor::Tensor;

use super::config::DecodeConfig;
use super::interface::Interface;
use super::share::{KEYS, Share};
use crate::builder::{Builder, Cond};
use crate::sizes::static_size;
use crate::{Counting, Error, Expr, Operand, TiledMma, engine};

/// The two rows of a thread's values in an atom.
pub(super) const ROWS: usize = 2;

/// The row, 0 or 1, of value `value` of a thread's fragment of 16 rows.
pub(super) const fn row_of(value: usize) -> usize {
    value / 2 % ROWS
}

/// Where a value stands in the tile of rows.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub head: Expr,
    pub query: Expr,
    /// The key of a tile, or the column.
    pub column: Expr,
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

/// Which keys the thread's rows see.
pub(super) struct Mask {
    places: Vec<Place>,
    /// The key behind the last one that query 0 of the sequence sees, and the first one, which may be negative.
    end: Expr,
    begin: Option<Expr>,
    /// The last key that some row does not see at the beginning, and the first one at the end.
    first_query: Expr,
    last_begin: Option<Expr>,
}

impl Mask {
    /// The mask of the rows from query `first_query` of the sequence on.
    pub(super) fn new(
        interface: &Interface<'_>,
        share: &Share,
        first_query: &Expr,
        thread: &Expr,
    ) -> Result<Mask, Error> {
        let places = places(interface.config, &interface.config.scores_mma()?, KEYS, thread)?;
        let diagonal = &share.keys - &interface.queries();
        let begin = interface.left.as_ref().map(|left| &diagonal - left);
        let last_begin = interface.left.as_ref().map(|left| &(&share.keys + -1) - left);
        Ok(Mask { places, end: &diagonal + 1, begin, first_query: first_query.clone(), last_begin })
    }

    /// Whether a row may not see all keys of the tile whose first key is `key`.
    pub(super) fn cuts(&self, key: &Expr) -> Cond {
        let behind = Cond::less(&(&self.end + &self.first_query), &(key + KEYS));
        let before = self.last_begin.as_ref().map(|begin| Cond::less(key, begin));
        Cond::any([behind].into_iter().chain(before))
    }

    /// Whether the row of value `value` sees the value's key in the tile whose first key is `key`.
    pub(super) fn sees(&self, b: &mut Builder, value: usize, key: &Expr) -> Result<Cond, Error> {
        let Place { query, column, .. } = &self.places[value];
        let query = b.hold_index(&(query + &self.first_query), crate::Width::W32)?;
        let key = key + column;
        let before_end = Cond::less(&key, &(&self.end + &query));
        let behind_begin = self.begin.as_ref().map(|begin| Cond::less(&(&(begin + &query) + -1), &key));
        Ok(Cond::all([before_end].into_iter().chain(behind_begin)))
    }
}
