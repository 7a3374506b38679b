//! Cells of tables as the page draws them.

use std::collections::HashMap;

use girih_picture::{Palette, Sheet};
use serde::Serialize;

/// The fills of cells: each is a number in a list of colours.
#[derive(Debug, Default, Serialize)]
pub(super) struct Fills {
    /// Colours as `#rrggbb`.
    palette: Vec<String>,
    /// For each of these the colour of text on it.
    inks: Vec<String>,
    /// The colour of each cell, row by row.
    cells: Vec<u32>,
}

impl FromIterator<u32> for Fills {
    /// Fills from colours `0xRRGGBB`.
    fn from_iter<I: IntoIterator<Item = u32>>(colours: I) -> Fills {
        let mut fills = Fills::default();
        let mut known: HashMap<u32, u32> = HashMap::new();
        for colour in colours {
            let next = fills.palette.len() as u32;
            let number = *known.entry(colour).or_insert(next);
            if number == next {
                fills.palette.push(format!("#{colour:06x}"));
                fills.inks.push(format!("#{:06x}", Palette::ink(colour)));
            }
            fills.cells.push(number);
        }
        fills
    }
}

/// A grid of one of girih's pictures.
#[derive(Debug, Serialize)]
pub(super) struct Picture {
    title: String,
    /// The row and the column among the grids of the picture.
    place: [usize; 2],
    rows: usize,
    columns: usize,
    /// The words of each cell, one or two lines, row by row.
    words: Vec<String>,
    fills: Fills,
    /// How high in the hierarchy the line above each row, and left of each column, is.
    levels: [Vec<u8>; 2],
    /// What each cell belongs to, such as its warp; lines separate cells of different groups.
    groups: Vec<i64>,
    /// Cells that are pointed at.
    marked: Vec<usize>,
}

/// The grids of a picture.
pub(super) fn pictures(sheet: &Sheet) -> Vec<Picture> {
    let picture = |(grid, place): (&girih_picture::Grid, &[usize; 2])| {
        let cells = || grid.cells.iter().flatten();
        let words = |cell: &girih_picture::Cell| match &cell.words {
            [one, none] if none.is_empty() => one.clone(),
            both => both.join("\n"),
        };
        Picture {
            title: grid.title.clone(),
            place: *place,
            rows: grid.rows(),
            columns: grid.columns(),
            words: cells().map(words).collect(),
            fills: cells().map(|cell| cell.fill).collect(),
            levels: grid.levels.clone(),
            groups: cells().map(|cell| cell.group).collect(),
            marked: cells().enumerate().filter(|(_, cell)| cell.marked).map(|(at, _)| at).collect(),
        }
    };
    sheet.grids.iter().zip(&sheet.places).map(picture).collect()
}
