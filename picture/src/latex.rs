//! Pictures as LaTeX.

use std::fmt::Write;

use crate::sheet::{Line, LineKind};
use crate::{Cell, Grid, Palette, Sheet};

impl Sheet {
    /// The picture as a standalone LaTeX document with TikZ.
    pub fn latex(&self) -> String {
        let mut out = String::from(
            "\\documentclass[tikz]{standalone}\n\\begin{document}\n\
             \\begin{tikzpicture}[x={(0cm,-0.9cm)},y={(0.9cm,0cm)},\
             cell/.style={draw,inner sep=0pt,align=center,minimum size=0.9cm,font=\\tiny}]\n",
        );
        let cells = || self.grids.iter().flat_map(|grid| grid.cells.iter().flatten());
        let mut fills: Vec<u32> = cells().map(|cell| cell.fill).collect();
        fills.sort_unstable();
        fills.dedup();
        for fill in fills {
            let _ = writeln!(out, "\\definecolor{{f{fill:06x}}}{{HTML}}{{{fill:06X}}}");
        }
        let _ = writeln!(out, "\\definecolor{{girihmark}}{{HTML}}{{{:06X}}}", Palette::MARK);
        for (line, text) in std::iter::once(&self.title).chain(&self.notes).enumerate() {
            let at = line as f64 * 0.5;
            let _ = writeln!(out, "\\node[anchor=west] at ({at},0) {{\\texttt{{{}}}}};", escaped(text));
        }
        // Each grid has room for its labels, for its title, and for a gap.
        let starts = |axis: usize| {
            let sizes = move |line: usize| {
                let on = self.placed().filter(move |(_, place)| place[axis] == line);
                on.map(|(grid, _)| [grid.rows(), grid.columns()][axis]).max().unwrap_or(0)
            };
            let lines = self.places.iter().map(|place| place[axis] + 1).max().unwrap_or(0);
            (0..lines).scan(0, move |at, line| Some(std::mem::replace(at, *at + sizes(line) + 3)))
        };
        let (tops, lefts): (Vec<usize>, Vec<usize>) = (starts(0).collect(), starts(1).collect());
        for (grid, [row, column]) in self.placed() {
            let (top, left) = (tops[row] + 3 + self.notes.len().div_ceil(2), lefts[column] + 1);
            let title = escaped(&grid.title);
            let _ =
                writeln!(out, "\\node[anchor=west] at ({},{left}) {{\\tiny\\texttt{{{title}}}}};", top - 2);
            for column in 0..grid.columns() {
                let _ = writeln!(out, "\\node at ({},{}) {{\\tiny {column}}};", top - 1, left + column);
            }
            for (row, cells) in grid.cells.iter().enumerate() {
                let _ = writeln!(out, "\\node at ({},{}) {{\\tiny {row}}};", top + row, left - 1);
                for (column, cell) in cells.iter().enumerate() {
                    let [first, second] = &cell.words;
                    let text = if second.is_empty() { first.clone() } else { format!("{first}\\\\{second}") };
                    let ink = if Palette::ink(cell.fill) == 0xff_ff_ff { ",text=white" } else { "" };
                    let at = format_args!("({},{})", top + row, left + column);
                    let _ = writeln!(out, "\\node[cell,fill=f{:06x}{ink}] at {at} {{{text}}};", cell.fill);
                }
            }
            draw_lines(&mut out, grid, [top, left]);
        }
        out + "\\end{tikzpicture}\n\\end{document}\n"
    }
}

/// The thicker lines, from the lowest level of the hierarchy to those between groups and around the grid; then the rings around what is
/// pointed at. Cells are around whole numbers.
fn draw_lines(out: &mut String, grid: &Grid, [top, left]: [usize; 2]) {
    let corner = |row: usize, column: usize| {
        format!("({:.1},{:.1})", (top + row) as f64 - 0.5, (left + column) as f64 - 0.5)
    };
    let mut lines = grid.lines();
    lines.sort_by_key(|line| match line.kind {
        LineKind::Level(level) => level,
        LineKind::Groups => u8::MAX,
    });
    for Line { kind, from: [row, column], by: [rows, columns] } in lines {
        let width = match kind {
            LineKind::Level(level) => 0.4 + 0.3 * f64::from(level.min(3)),
            LineKind::Groups => 2.0,
        };
        let (from, to) = (corner(row, column), corner(row + rows, column + columns));
        let _ = writeln!(out, "\\draw[line width={width:.1}pt,line cap=rect] {from} -- {to};");
    }
    let (from, to) = (corner(0, 0), corner(grid.rows(), grid.columns()));
    let _ = writeln!(out, "\\draw[line width=2pt] {from} rectangle {to};");
    for (row, column) in marked(grid) {
        let (from, to) = (corner(row, column), corner(row + 1, column + 1));
        let _ = writeln!(out, "\\draw[draw=girihmark,line width=1.5pt] {from} rectangle {to};");
    }
}

fn marked(grid: &Grid) -> impl Iterator<Item = (usize, usize)> {
    let of_row = |(row, cells): (usize, &Vec<Cell>)| {
        let marked = cells.iter().enumerate().filter(|(_, cell)| cell.marked);
        marked.map(|(column, _)| (row, column)).collect::<Vec<_>>()
    };
    grid.cells.iter().enumerate().flat_map(of_row)
}

fn escaped(text: &str) -> String {
    text.replace('_', "\\_")
        .replace('^', "\\^{}")
        .replace('<', "\\textless{}")
        .replace('>', "\\textgreater{}")
}
