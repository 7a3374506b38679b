//! Masks: the KV tiles that a tile of queries attends to, and the masking of scores in tiles that the diagonal or the window crosses.

use girih_tensor::Tensor;

use super::interface::Interface;
use super::keys::{self, Keys, OfTile, sees_all};
use super::tile::{Entry, MAX_LENGTH};
use crate::algorithm::{read, write};
use crate::builder::{Builder, Cond, Width};
use crate::{Counting, Error, Expr, Rmem, engine};

/// The keys that the queries of one tile see.
pub(super) struct Sight<'a> {
    interface: &'a Interface<'a>,
    entry: &'a Entry,
    /// The keys that all of the queries see.
    complete: Keys,
    /// The first key that some query sees. Tiles of keys are counted from it.
    pub(super) base: Expr,
    /// The number of keys from `base` to the last one that some query sees.
    pub(super) keys: Expr,
    /// The number of tiles of these keys.
    pub(super) tiles: Expr,
}

impl<'a> Sight<'a> {
    /// The keys that the queries of `entry` see.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn new(
        b: &mut Builder,
        interface: &'a Interface<'a>,
        entry: &'a Entry,
    ) -> Result<Sight<'a>, Error> {
        let [queries, keys] = interface.config.tile;
        let stop = (&entry.row + queries).minimum(&entry.queries);
        let OfTile { base, end, blocks, .. } = keys::seen_of_tile(b, interface, entry)?;
        Ok(Sight {
            interface,
            entry,
            complete: Keys::of_all(b, interface, entry, &entry.row, &stop)?,
            keys: b.bounded(&(&end - &base), MAX_LENGTH)?,
            base,
            tiles: b.bounded(&blocks.stop, MAX_LENGTH / keys)?,
        })
    }

    /// Whether the KV tile from `key` on needs a mask: some query does not see all of its keys.
    pub(super) fn cuts(&self, key: &Expr) -> Cond {
        Cond::not(sees_all(&self.complete, key, self.interface.config.tile[1]))
    }

    /// Sets the scores of keys that a query does not see to negative infinity. `coordinate` holds the (query,key) in the tile of each score. `key` is
    /// the first key of the tile.
    ///
    /// # Errors
    /// As [`write()`].
    #[track_caller]
    pub(super) fn hide(
        &self,
        b: &mut Builder,
        scores: &Tensor<Rmem>,
        coordinate: &Tensor<Counting>,
        key: &Expr,
    ) -> Result<(), Error> {
        let values = read(b, scores)?;
        let mut shown = Vec::new();
        // The bounds of a row are relative to the thread's first key, so that they are compared with constants.
        let mut borders: Vec<(Expr, Expr, Option<Expr>)> = Vec::new();
        let places = engine::Values::of(coordinate.engine(), *coordinate.layout());
        let [_, first] = place(&places, 0)?;
        let origin = b.hold_index(&(key + &first), Width::W32)?;
        for (i, value) in (0..).zip(&values) {
            let [row, column] = place(&places, i)?;
            let known = borders.iter().position(|(of, ..)| *of == row);
            let known = match known {
                Some(known) => known,
                None => {
                    let at = b.bounded(&(&self.entry.row + &row), 2 * MAX_LENGTH)?;
                    let seen = Keys::of(b, self.interface, self.entry, &at, &(&at + 1))?;
                    let begin = if self.interface.left.is_some() {
                        Some(here(b, &(&seen.begin - &origin))?)
                    } else {
                        None
                    };
                    borders.push((row, here(b, &(&seen.end - &origin))?, begin));
                    borders.len() - 1
                }
            };
            let (_, end, begin) = &borders[known];
            let at = &column - &first;
            let before = begin.as_ref().map_or(Cond::Never, |begin| Cond::less(&at, begin));
            let seen = Cond::all([Cond::less(&at, end), Cond::not(before)]);
            shown.push(value.select(&seen, f64::NEG_INFINITY));
        }
        write(b, scores, &shown)
    }
}

/// The expression as a variable of this scope, so that comparisons with it are not hoisted out of the scope.
fn here(b: &mut Builder, expr: &Expr) -> Result<Expr, Error> {
    let (reg, (lower, upper)) = (b.value(expr, Width::W32)?, expr.range());
    Ok(b.var(&reg, lower, upper, 1))
}

/// The row and the column of value `i`.
pub(super) fn place(places: &engine::Values<'_, Counting>, i: i64) -> Result<[Expr; 2], Error> {
    let at = places.at(i)?;
    match at.coordinate() {
        [row, column] => Ok([row.clone(), column.clone()]),
        other => Err(Error::Mismatch {
            what: "scores",
            layout: format!("{} modes", other.len()),
            with: String::from("rows and columns"),
            accepted: "the coordinates of a matrix",
        }),
    }
}
