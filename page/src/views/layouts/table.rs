//! A layout as a table of cells.

use girih_layout::{Composed, Lay, Shape, Swizzle, idx2crd};
use girih_picture::{CELLS, Palette, levels};
use serde::Serialize;

use super::super::cells::Fills;
use super::{By, Colours};

/// A line of cells that is longer goes on in further rows, of which the last one may be shorter.
const LINE: i64 = 64;

/// A layout as a table: a row for each coordinate of mode 0, a column for each coordinate of the other modes. A layout of one mode is a
/// line, which may go on in further rows.
#[derive(Serialize)]
pub(super) struct Table {
    rows: i64,
    columns: i64,
    /// Whether the cells have the coordinates 0, 1, ... one after the other.
    line: bool,
    #[serde(skip)]
    size: i64,
    /// The hierarchical coordinates of rows and of columns; of a line those of all cells.
    names: [Vec<String>; 2],
    /// The index of each cell, row by row. Of a layout with coordinates for indices, equal numbers are equal coordinates.
    values: Vec<i64>,
    /// The coordinates that are the layout's indices.
    words: Option<Vec<String>>,
    /// The index of each cell before the swizzle.
    before: Option<Vec<i64>>,
    fills: Fills,
    /// How high in the hierarchy the line above each row, and left of each column, is.
    levels: [Vec<u8>; 2],
}

type Refused<T> = Result<T, String>;

fn refuse(error: girih_layout::Error) -> String {
    error.to_string()
}

impl Table {
    /// The table, or why there is none.
    pub(super) fn new(layout: &Composed, colours: &Colours) -> Refused<Table> {
        let lay = layout.layout();
        let size = lay.size().map_err(refuse)?;
        let size = size.get().ok_or_else(|| format!("{lay} has a symbol: layouts of numbers are drawn"))?;
        if size > CELLS {
            return Err(format!("{size} cells are too many to draw: up to {CELLS} are drawn"));
        }
        let line = lay.rank() < 2;
        let modes = if line {
            [*lay, Lay::parse("1").map_err(refuse)?]
        } else {
            [lay.mode(0).map_err(refuse)?, lay.take(1, lay.rank()).map_err(refuse)?]
        };
        let [first, rest] = modes.map(|mode| *mode.shape());
        let known = |shape: &Shape| shape.size().ok().and_then(|size| size.get()).unwrap_or(1);
        let names = |shape: &Shape| -> Refused<Vec<String>> {
            (0..known(shape))
                .map(|at| idx2crd(shape, at).map(|coord| coord.to_string()).map_err(refuse))
                .collect()
        };
        let mut table = Table {
            rows: known(&first),
            columns: known(&rest),
            line,
            size,
            names: [names(&first)?, if line { Vec::new() } else { names(&rest)? }],
            values: Vec::new(),
            words: None,
            before: None,
            fills: Fills::default(),
            levels: [levels(&first), levels(&rest)],
        };
        if line {
            table.wrap(size, &first);
        } else {
            // The other modes stand beside mode 0, not inside a mode of their own.
            for name in &mut table.names[1] {
                *name =
                    name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name).to_owned();
            }
        }
        table.fill(layout)?;
        let most = table.values.iter().copied().max().unwrap_or(0);
        table.fills = (0..size).map(|cell| table.colour(cell, most, &modes, colours)).collect();
        Ok(table)
    }

    /// Makes a line of this many cells a table whose rows have the same length, if there is such a table.
    fn wrap(&mut self, size: i64, shape: &Shape) {
        let ends = ends(shape);
        let fits = |columns: &i64| (8..=LINE).contains(columns) && size % columns == 0;
        self.columns = match size {
            ..=LINE => size,
            _ => ends.iter().copied().filter(fits).max().or((8..=LINE).rev().find(fits)).unwrap_or(LINE),
        };
        self.rows = (size + self.columns - 1) / self.columns;
        let level = |at: i64, whole: &dyn Fn(i64) -> bool| {
            ends.iter().filter(|&&end| at > 0 && whole(end) && at % end == 0).count() as u8
        };
        let columns = self.columns;
        self.levels = [
            (0..self.rows)
                .map(|row| level(row * columns, &|end| end % columns == 0 || columns % end == 0))
                .collect(),
            (0..columns).map(|column| level(column, &|end| columns % end == 0)).collect(),
        ];
    }

    /// The cell of a 1-D coordinate.
    pub(super) fn cell(&self, coordinate: i64) -> i64 {
        if self.line { coordinate } else { (coordinate % self.rows) * self.columns + coordinate / self.rows }
    }

    /// The 1-D coordinate of a cell.
    fn coordinate(&self, cell: i64) -> i64 {
        if self.line { cell } else { cell / self.columns + (cell % self.columns) * self.rows }
    }

    /// The 1-D coordinates of the cells, one after the other.
    pub(super) fn coordinates(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.size).map(|cell| self.coordinate(cell))
    }

    fn fill(&mut self, layout: &Composed) -> Refused<()> {
        let values: Result<Vec<i64>, _> = self.coordinates().map(|at| layout.at(at)).collect();
        match values {
            Ok(values) => self.values = values,
            Err(error) => {
                let coordinates: Option<Vec<String>> =
                    self.coordinates().map(|at| coordinate_at(layout.layout(), at)).collect();
                let words = coordinates.ok_or_else(|| refuse(error))?;
                let mut known = std::collections::HashMap::new();
                let number = |word: &String| {
                    let next = known.len() as i64;
                    *known.entry(word.clone()).or_insert(next)
                };
                self.values = words.iter().map(number).collect();
                self.words = Some(words);
            }
        }
        if layout.swizzle() != Swizzle::NONE {
            let plain = Composed::new(Swizzle::NONE, layout.offset(), *layout.layout());
            self.before = self.coordinates().map(|at| plain.at(at).ok()).collect();
        }
        Ok(())
    }

    /// The colour of a cell, where `most` is the greatest index.
    fn colour(&self, cell: i64, most: i64, modes: &[Lay; 2], Colours { by, level, bits }: &Colours) -> u32 {
        let value = self.values[cell as usize];
        let counted = |number: i64, count: i64| Palette::of_threads(count).thread(number);
        // The number of the piece of memory, of this many bits, in which the element is.
        let pieces = |value: i64, piece: i128| (i128::from(value) * i128::from(*bits)).div_euclid(piece);
        let coordinate = self.coordinate(cell);
        let inside =
            if self.line { [coordinate, 0] } else { [coordinate % self.rows, coordinate / self.rows] };
        match by {
            By::Value => counted(value, most.saturating_add(1)),
            By::Grey => Palette::index(value),
            By::Thread => counted(inside[0], if self.line { self.values.len() as i64 } else { self.rows }),
            By::Mode => {
                let unit = |mode: &Lay| {
                    let ends = ends(mode.shape());
                    ends.get(level.saturating_sub(1)).or(ends.last()).copied().unwrap_or(1)
                };
                let units = [unit(&modes[0]), unit(&modes[1])];
                let blocks = [0, 1].map(|mode| {
                    let size = if mode == 0 { self.values.len() as i64 / self.width() } else { self.width() };
                    size / units[mode]
                });
                let block = inside[0] / units[0] + blocks[0] * (inside[1] / units[1]);
                counted(block, (blocks[0] * blocks[1]).max(1))
            }
            By::Bank => Palette::bank(pieces(value, 32).rem_euclid(32) as i64),
            By::Sector => {
                let sector = |value: i64| pieces(value, 256).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                counted(sector(value), sector(most).saturating_add(1))
            }
        }
    }

    /// The extent of the other modes.
    fn width(&self) -> i64 {
        if self.line { 1 } else { self.columns }
    }
}

/// The coordinate that is the index of a layout of basis vectors.
fn coordinate_at(layout: &Lay, at: i64) -> Option<String> {
    let rank = (1..=layout.leaf_count()).find(|rank| layout.coord_at(0, *rank).is_ok())?;
    layout.coord_at(at, rank).ok().map(|coord| coord.to_string())
}

/// The products of a shape's extents from the left, without those of 1.
fn ends(shape: &Shape) -> Vec<i64> {
    let extents = shape.leaves().filter_map(|extent| extent.get()).filter(|&extent| extent != 1);
    let ends = extents.scan(1, |product, extent| {
        *product *= extent;
        Some(*product)
    });
    ends.collect()
}
