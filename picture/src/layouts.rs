//! Pictures of layouts: the index of each coordinate, and the owner of each element.

use girih_layout::{Composed, Lay, Shape};

use crate::limits::{CELLS, Result, bank, fits, index, size};
use crate::{Cell, Error, Grid, Palette, Sheet};

/// Threads of a warp.
const WARP: i64 = 32;

/// The most values of all threads: of a tile of the most cells, each of which sixteen threads hold.
const OWNERS: i64 = CELLS * 16;

/// The meaning of an index's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Eight greys, one after the other; this many neighbouring indices share one.
    Together(i64),
    /// The bank of shared memory in which an element of this many bits is.
    Bank(u32),
}

impl Sheet {
    /// The index of every coordinate of a layout without symbols: a row for each coordinate of mode 0, a column for each coordinate of
    /// the modes after it. A layout of rank 1 is one row. Indices that a swizzle moves together share a grey, so that the picture shows where they go.
    ///
    /// # Errors
    /// [`Error::Layout`] for strides that are no numbers, [`Error::Unknown`] for symbols,
    /// [`Error::TooLarge`].
    pub fn indices(layout: &Composed) -> Result<Sheet> {
        Sheet::indices_by(layout, By::Together(together(layout)))
    }

    /// [`Sheet::indices`] in other colours.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// use girih_picture::{By, Palette, Sheet};
    ///
    /// // A column of 16-bit elements with a pitch of 64 is in one bank.
    /// let banks = Sheet::indices_by(&Composed::from(lay!("(8,2):(64,1)")), By::Bank(16))?;
    /// assert!(banks.grids[0].cells.iter().all(|row| row[0].fill == Palette::bank(0)));
    /// # Ok::<(), girih_picture::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Sheet::indices`].
    pub fn indices_by(layout: &Composed, by: By) -> Result<Sheet> {
        of_indices(layout, |index| match by {
            By::Together(count) => Palette::index(index.div_euclid(count.max(1))),
            By::Bank(bits) => Palette::bank(bank(index, bits)),
        })
    }

    /// [`Sheet::indices`] in these colours, `0xRRGGBB`, one after the other in the place of the greys.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// use girih_picture::Sheet;
    ///
    /// let sheet = Sheet::indices_in(&Composed::from(lay!("(2,3):(3,1)")), &[0xffffff, 0xffcc00])?;
    /// assert_eq!(sheet.grids[0].cells[1][0].fill, 0xffcc00); // index 3
    /// # Ok::<(), girih_picture::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Sheet::indices`].
    pub fn indices_in(layout: &Composed, colours: &[u32]) -> Result<Sheet> {
        let together = together(layout);
        of_indices(layout, |at| {
            let nth = at.div_euclid(together).rem_euclid(colours.len().max(1) as i64);
            colours.get(index(nth)).copied().unwrap_or(Palette::PAPER)
        })
    }

    /// The threads and values that own the elements of a tile. `tv` maps (thread, value) to the number of the element in the tile, whose
    /// leftmost mode varies fastest. A tile of rank 1 is one row.
    ///
    /// # Errors
    /// [`Error::Undrawn`] unless the layout has rank 2 and the tile rank 1 or 2, [`Error::Unknown`] for symbols, [`Error::TooLarge`],
    /// [`Error::OutsideTile`].
    pub fn owners(tv: &Lay, tile: &Shape) -> Result<Sheet> {
        if tv.rank() != 2 {
            return Err(undrawn(tv, tv.rank(), "the owners are drawn of (thread,value), of rank 2"));
        }
        // Extents that no layout has are refused.
        Lay::left(tile)?;
        let extent = |shape: &Shape| -> Result<i64> {
            shape.size()?.get().ok_or_else(|| Error::Unknown { layout: shape.to_string() })
        };
        let extents = match tile.rank() {
            1 => [1, extent(tile)?],
            2 => [extent(&tile.mode(0)?)?, extent(&tile.mode(1)?)?],
            rank => return Err(undrawn(tile, rank, DRAWN)),
        };
        let title = format!("{tv}, (thread,value) to the place in a tile of {tile}");
        Ok(Sheet::new(title, [([0, 0], owners(String::new(), tv, extents)?)]))
    }
}

/// How many indices a swizzle moves together.
fn together(layout: &Composed) -> i64 {
    let swizzle = layout.swizzle();
    if swizzle.bits() == 0 { 1 } else { 1i64.checked_shl(swizzle.base()).unwrap_or(1) }
}

/// The index of every coordinate, in the colours that `fill` gives indices.
fn of_indices(layout: &Composed, fill: impl Fn(i64) -> u32) -> Result<Sheet> {
    let lay = layout.layout();
    let modes = match lay.rank() {
        1 => [Lay::parse("1")?, *lay],
        rank => [lay.mode(0)?, lay.take(1, rank)?],
    };
    let (rows, columns) = (size(&modes[0])?, size(&modes[1])?);
    fits(rows, columns)?;
    let cell = |number: i64| -> Result<Cell> {
        let index = layout.at(number)?;
        Ok(Cell { words: [index.to_string(), String::new()], fill: fill(index), ..Cell::default() })
    };
    let row = |row: i64| (0..columns).map(|column| cell(row + rows * column)).collect();
    let cells = (0..rows).map(row).collect::<Result<_>>()?;
    let levels = modes.each_ref().map(|mode| levels(mode.shape()));
    Ok(Sheet::new(without_identity(layout), [([0, 0], Grid { title: String::new(), cells, levels })]))
}

const DRAWN: &str = "tiles of rank 1 or 2 are drawn";

fn undrawn(drawn: &impl ToString, rank: usize, accepted: &'static str) -> Error {
    Error::Undrawn { drawn: drawn.to_string(), rank, accepted }
}

/// The text of a layout, without a swizzle that changes nothing.
pub fn without_identity(layout: &Composed) -> String {
    let lay = *layout.layout();
    if *layout == Composed::from(lay) { lay.to_string() } else { layout.to_string() }
}

/// The grid of the threads and values that own the elements of a tile of rows and columns.
pub(crate) fn owners(title: String, tv: &Lay, [rows, columns]: [i64; 2]) -> Result<Grid> {
    let (threads, values) = (size(&tv.mode(0)?)?, size(&tv.mode(1)?)?);
    fits(rows, columns)?;
    // If all threads share the values, as for an operand in shared memory, those of one thread are drawn.
    let is_shared = threads > 1 && size(&tv.mode(0)?.filter())? == 1;
    let counted = if is_shared { 1 } else { threads };
    if counted.saturating_mul(values) > OWNERS {
        return Err(Error::TooManyOwners { threads, values, most: OWNERS });
    }
    let mut owners: Vec<Vec<(i64, i64)>> = vec![Vec::new(); index(rows * columns)];
    for (thread, value) in (0..values).flat_map(|value| (0..counted).map(move |thread| (thread, value))) {
        let at = tv.at(thread + threads * value)?;
        let place = usize::try_from(at).ok().and_then(|at| owners.get_mut(at));
        place.ok_or(Error::OutsideTile { thread, value, at, rows, columns })?.push((thread, value));
    }
    let palette = Palette::of_threads(threads);
    let cell = |owners: &Vec<(i64, i64)>| {
        let Some(&(thread, value)) = owners.first() else {
            return Cell { fill: Palette::PAPER, group: -1, ..Cell::default() };
        };
        let (name, fill, group) = match owners.len() {
            count if is_shared || count as i64 == threads && threads > 1 => {
                (String::from("T*"), Palette::SHARED, -1)
            }
            1 => (format!("T{thread}"), palette.thread(thread), thread / WARP),
            count => (format!("T{thread}+{}", count - 1), palette.thread(thread), thread / WARP),
        };
        Cell { words: [name, format!("V{value}")], fill, group, marked: false, owners: owners.clone() }
    };
    let row = |row: i64| (0..columns).map(|column| cell(&owners[index(row + rows * column)])).collect();
    let cells = (0..rows).map(row).collect();
    // The hierarchy is that of the first column and the first row, as layouts to their first owners.
    let along = |count: i64, step: i64| {
        let code = |i: i64| owners[index(i * step)].first().map(|(thread, value)| thread + threads * value);
        let codes: Option<Vec<i64>> = (0..count).map(code).collect();
        let shape = codes.and_then(|codes| Lay::recognise(&codes).ok()).map(|lay| *lay.shape());
        shape.map_or_else(|| vec![0; index(count)], |shape| levels(&shape))
    };
    Ok(Grid { title, cells, levels: [along(rows, 1), along(columns, rows)] })
}

/// For each coordinate of a shape without symbols, how many of the extents to the left, multiplied one after the other, end before it.
///
/// ```
/// use girih_picture::levels;
/// use girih_layout::Shape;
///
/// assert_eq!(levels(&Shape::parse("(2,(1,3))")?), [0, 0, 1, 0, 1, 0]);
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub fn levels(shape: &Shape) -> Vec<u8> {
    let extents: Vec<i64> =
        shape.leaves().filter_map(|extent| extent.get()).filter(|&extent| extent != 1).collect();
    let ends = extents.iter().scan(1i64, |product, extent| {
        *product = product.saturating_mul(*extent);
        Some(*product)
    });
    let ends: Vec<i64> = ends.collect();
    let count = ends.last().copied().unwrap_or(1);
    (0..count)
        .map(|at| u8::try_from(ends.iter().filter(|&end| at > 0 && at % end == 0).count()).unwrap_or(u8::MAX))
        .collect()
}
