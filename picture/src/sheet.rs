//! Pictures as data: grids of cells side by side, and the pictures as text.

use std::fmt::Write;

/// A cell: one or two words, and what the cell looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The words, such as the thread and the value; the second may be empty.
    pub words: [String; 2],
    /// The colour of the cell, `0xRRGGBB`.
    pub fill: u32,
    /// The group of the cell, such as the index of a warp: thick lines separate cells of different groups.
    pub group: i64,
    /// Whether the cell is pointed at.
    pub marked: bool,
    /// All threads and values that own the cell, where the picture is one of owners.
    pub owners: Vec<(i64, i64)>,
}

impl Cell {
    /// Both words.
    pub fn text(&self) -> String {
        self.words.concat()
    }
}

/// A line from the corner (row, column) of a cell on, this many rows down or columns to the right.
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    pub(crate) from: [usize; 2],
    pub(crate) by: [usize; 2],
}

/// The parts that a line separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Modes, of this height in the hierarchy.
    Level(u8),
    /// Cells of different groups.
    Groups,
}

/// A table of cells with a title and with numbers for rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The title.
    pub title: String,
    /// The rows of cells, all of the same length.
    pub cells: Vec<Vec<Cell>>,
    /// For each row, and for each column, how high in the hierarchy of the modes the line is before it: 0 for the lines inside of the
    /// innermost mode.
    pub levels: [Vec<u8>; 2],
}

impl Grid {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.cells.len()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.cells.first().map_or(0, Vec::len)
    }

    /// The lines between the modes of a hierarchy and between groups, in this order.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let [rows, columns] = [self.rows(), self.columns()];
        let [row_levels, column_levels] = &self.levels;
        let across = (0..).zip(row_levels).map(|(row, level)| (*level, [row, 0], [0, columns]));
        let down = (0..).zip(column_levels).map(|(column, level)| (*level, [0, column], [rows, 0]));
        let levels = across.chain(down).filter(|(level, ..)| *level > 0);
        let mut lines: Vec<Line> =
            levels.map(|(level, from, by)| Line { kind: LineKind::Level(level), from, by }).collect();
        let group = |row: usize, column: usize| self.cells[row][column].group;
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let mut border = |by| lines.push(Line { kind: LineKind::Groups, from: [row, column], by });
            if row > 0 && group(row, column) != group(row - 1, column) {
                border([0, 1]);
            }
            if column > 0 && group(row, column) != group(row, column - 1) {
                border([1, 0]);
            }
        }
        lines
    }

    /// The grid with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Grid {
        let column = |column: usize| self.cells.iter().map(|row| row[column].clone()).collect();
        let cells = (0..self.columns()).map(column).collect();
        let [rows, columns] = self.levels;
        Grid { title: self.title, cells, levels: [columns, rows] }
    }
}

/// An entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The colour, `0xRRGGBB`.
    pub fill: u32,
    /// The meaning of this colour.
    pub text: String,
}

/// A picture: grids that are in the (row, column) places of a coarse table, as the operands of an MMA are around the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The title.
    pub title: String,
    /// Further notes on the picture, a line each.
    pub notes: Vec<String>,
    /// The legend, where the cells do not explain the colours.
    pub keys: Vec<Key>,
    /// Whether the two words of a cell are below each other even if they are short.
    pub stacked: bool,
    /// The places of the grids in the coarse table.
    pub places: Vec<[usize; 2]>,
    /// The grids.
    pub grids: Vec<Grid>,
}

impl Sheet {
    pub(crate) fn new(title: String, grids: impl IntoIterator<Item = ([usize; 2], Grid)>) -> Sheet {
        let (places, grids) = grids.into_iter().unzip();
        Sheet { title, places, grids, ..Sheet::default() }
    }

    /// The grids with their (row, column) places in the coarse table.
    pub fn placed(&self) -> impl Iterator<Item = (&Grid, [usize; 2])> {
        self.grids.iter().zip(self.places.iter().copied())
    }

    /// The picture as text, one grid after the other.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for note in &self.notes {
            let _ = writeln!(out, "{note}");
        }
        out + &self.tables()
    }

    /// The grids as text.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        for grid in &self.grids {
            let width = grid.cells.iter().flatten().map(|cell| cell.text().len()).max().unwrap_or(0).max(3);
            let _ = writeln!(out, "{}{}", if grid.title.is_empty() { "" } else { "\n" }, grid.title);
            let numbers: Vec<String> =
                (0..grid.columns()).map(|column| format!("{column:>width$}")).collect();
            let _ = writeln!(out, "      {}", numbers.join(" ").trim_end());
            for (row, cells) in grid.cells.iter().enumerate() {
                let cells: Vec<String> =
                    cells.iter().map(|cell| format!("{:>width$}", cell.text())).collect();
                let _ = writeln!(out, "{row:>5} {}", cells.join(" ").trim_end());
            }
        }
        out
    }
}
