//! The range of keys that each query sees.

use super::interface::Interface;
use super::tile::{Entry, MAX_LENGTH};
use crate::builder::{Builder, Cond};
use crate::{Error, Expr};

/// The first key that is seen, and the one behind the last.
pub(super) struct Keys {
    pub begin: Expr,
    pub end: Expr,
}

/// The tiles of keys from `first` to before `stop`, counted from the first key that a block's tile sees.
#[derive(Clone)]
pub(super) struct Blocks {
    pub first: Expr,
    pub stop: Expr,
}

/// The keys of a block's tile.
pub(super) struct OfTile {
    /// The first key that some row sees, from which tiles of keys are counted, and the key behind the last one, which is not before it.
    pub base: Expr,
    pub end: Expr,
    pub blocks: Blocks,
}

impl Keys {
    /// The keys from the first one that row `first` sees to the last one that the row before `stop` sees. There may be none: `end` may be less than `begin`.
    pub(super) fn of(
        b: &mut Builder,
        interface: &Interface<'_>,
        entry: &Entry,
        first: &Expr,
        stop: &Expr,
    ) -> Result<Keys, Error> {
        Ok(Keys { begin: begin(b, interface, entry, first)?, end: end(b, interface, entry, stop)? })
    }

    /// The keys that all rows from `first` to before `stop` see.
    pub(super) fn of_all(
        b: &mut Builder,
        interface: &Interface<'_>,
        entry: &Entry,
        first: &Expr,
        stop: &Expr,
    ) -> Result<Keys, Error> {
        Keys::of(b, interface, entry, &(stop + -1), &(first + 1))
    }

    /// The tiles of `keys` keys that have any of these, counted from key `base`, which is not behind the first one.
    pub(super) fn blocks(&self, b: &mut Builder, base: &Expr, keys: i64) -> Result<Blocks, Error> {
        let first = (&self.begin - base).maximum(&Expr::from(0)).div(keys)?;
        let stop = (&(&self.end - base).maximum(&Expr::from(0)) + (keys - 1)).div(keys)?;
        Ok(Blocks { first: b.bounded(&first, MAX_LENGTH)?, stop: b.bounded(&stop, MAX_LENGTH)? })
    }
}

/// The first key that row `row` sees; `row` may be -1.
fn begin(b: &mut Builder, interface: &Interface<'_>, entry: &Entry, row: &Expr) -> Result<Expr, Error> {
    let Some(left) = &interface.left else { return Ok(Expr::from(0)) };
    let least = left + MAX_LENGTH;
    let diagonal = b.bounded(&(row + &entry.diagonal).maximum(&least), 4 * MAX_LENGTH)?;
    b.bounded(&(&diagonal - &least), 4 * MAX_LENGTH)
}

/// The key behind the last one that the row before `row` sees.
fn end(b: &mut Builder, interface: &Interface<'_>, entry: &Entry, row: &Expr) -> Result<Expr, Error> {
    let Some(right) = &interface.right else { return Ok(entry.keys.clone()) };
    let least = Expr::from(MAX_LENGTH);
    let diagonal = b.bounded(&(&(row + &entry.diagonal) + right).maximum(&least), 5 * MAX_LENGTH)?;
    Ok(b.bounded(&(&diagonal - &least), 4 * MAX_LENGTH)?.minimum(&entry.keys))
}

/// The tiles of keys that some row of a block's tile sees. There may be none.
pub(super) fn seen_of_tile(
    b: &mut Builder,
    interface: &Interface<'_>,
    entry: &Entry,
) -> Result<OfTile, Error> {
    let [rows, keys] = interface.config.tile;
    let stop = (&entry.row + rows).minimum(&entry.queries);
    let seen = Keys::of(b, interface, entry, &entry.row, &stop)?;
    let base = match interface.left {
        Some(_) => b.bounded(&seen.begin, MAX_LENGTH)?,
        None => seen.begin.clone(),
    };
    let blocks = seen.blocks(b, &base, keys)?;
    Ok(OfTile { end: seen.end.maximum(&base), base, blocks: Blocks { first: Expr::from(0), ..blocks } })
}

/// As [`seen_of_tile`], with one tile if no row sees a key, so that each tile of queries has something to wait for.
pub(super) fn of_tile(b: &mut Builder, interface: &Interface<'_>, entry: &Entry) -> Result<OfTile, Error> {
    let seen = seen_of_tile(b, interface, entry)?;
    let stop = seen.blocks.stop.maximum(&Expr::from(1));
    let blocks = Blocks { stop: b.bounded(&stop, MAX_LENGTH)?, ..seen.blocks };
    Ok(OfTile { blocks, ..seen })
}

/// Whether `keys` keys from `key` on are among those that are seen.
pub(super) fn sees_all(seen: &Keys, key: &Expr, keys: i64) -> Cond {
    // The first key that is not seen comes behind the block, and the first that is seen not behind its beginning.
    Cond::all([Cond::less(&(key + (keys - 1)), &seen.end), Cond::less(&seen.begin, &(key + 1))])
}
