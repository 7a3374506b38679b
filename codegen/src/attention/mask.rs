//! Which keys the queries of a tile see.
//!
//! Query `i` of a sequence sees the keys from `i + diagonal - left` to `i + diagonal + right` that the sequence has. Everything else follows from
//! coordinates: the tiles of keys that some query sees, the tiles that some query sees in part, and the scores that are hidden in these.

use girih_tensor::Tensor;

use super::interface::Interface;
use super::tile::{Entry, MAX_LENGTH};
use crate::algorithm::{read, write};
use crate::builder::{Builder, Cond, Width};
use crate::{Counting, Error, Expr, Rmem, engine};

/// The keys that the queries of one tile see.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// The keys of a tile.
    tile: i64,
    keys: Expr,
    /// The first key that query 0 of the tile does not see any more, where there is a right border.
    right: Option<Expr>,
    /// The first key that query 0 of the tile sees, where there is a left border. It may lie before key 0.
    left: Option<Expr>,
    /// The rows of the tile that are queries.
    rows: Expr,
}

impl Sight {
    /// What the queries of `entry` see.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn new(b: &mut Builder, interface: &Interface<'_>, entry: &Entry) -> Result<Sight, Error> {
        let [queries, tile] = interface.config.tile;
        let diagonal = &(&entry.row + &entry.diagonal) + -MAX_LENGTH;
        let mut hold = |border: Expr| b.hold_index(&border, Width::W32);
        let right = interface.right.as_ref().map(|right| hold(&(&diagonal + right) + 1)).transpose()?;
        let left = interface.left.as_ref().map(|left| hold(&diagonal - left)).transpose()?;
        let rows = hold((&entry.queries - &entry.row).minimum(&Expr::from(queries)))?;
        Ok(Sight { tile, keys: entry.keys.clone(), right, left, rows })
    }

    /// The first tile of keys of which some query sees a key, and how many tiles there are from there to the last such tile.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn tiles(&self, b: &mut Builder) -> Result<[Expr; 2], Error> {
        let natural = |expr: &Expr| expr.maximum(&Expr::from(0));
        let end = match &self.right {
            Some(right) => natural(&self.keys.minimum(&(&(right + &self.rows) + -1))),
            None => self.keys.clone(),
        };
        let first = match &self.left {
            Some(left) => natural(left).div(self.tile)?,
            None => Expr::from(0),
        };
        let count = natural(&(&(&end + (self.tile - 1)).div(self.tile)? - &first));
        let first = b.hold_index(&first, Width::W32)?;
        Ok([first, b.bounded(&count, MAX_LENGTH / self.tile)?])
    }

    /// Whether the tile whose first key is `key` has keys that some query of the tile does not see.
    pub(super) fn cuts(&self, key: &Expr) -> Cond {
        let end = key + self.tile;
        let hidden = |right: &Expr| Cond::less(right, &end);
        let left = self.left.as_ref().map(|left| Cond::less(key, &(&(left + &self.rows) + -1)));
        Cond::any([Some(hidden(&self.keys)), self.right.as_ref().map(hidden), left].into_iter().flatten())
    }

    /// Sets the scores of keys that a query does not see to negative infinity. `coordinate` says which query and key of the tile a score belongs to,
    /// `key` is the first key of the tile.
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
        // The borders of a row are counted from the thread's first key, so that they are compared with constants.
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
                    let end = self
                        .right
                        .as_ref()
                        .map_or(self.keys.clone(), |right| self.keys.minimum(&(right + &row)));
                    let end = here(b, &(&end - &origin))?;
                    let begin = self.left.as_ref().map(|left| here(b, &(&(left + &row) - &origin)));
                    borders.push((row, end, begin.transpose()?));
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

/// The expression as a variable of this scope, so that what is compared with it is not compared outside.
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
