//! Grids of coloured cells, drawn side by side as text, SVG or LaTeX.

use std::fmt::{self, Write};

/// A cell: up to two lines of text, and the colour of the cell as 0xRRGGBB.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) lines: [String; 2],
    pub(super) fill: u32,
}

impl Cell {
    fn text(&self) -> String {
        self.lines.concat()
    }
}

/// A table of cells with a title and with numbers for rows and columns.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) title: String,
    pub(super) cells: Vec<Vec<Cell>>,
}

impl Grid {
    fn columns(&self) -> usize {
        self.cells.first().map_or(0, Vec::len)
    }
}

/// Grids that stand in the (row, column) places of a coarse table, as the operands of an MMA stand around the result.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) grids: Vec<((usize, usize), Grid)>,
}

/// The colours of threads: eight, as in CuTe's pictures.
const COLOURS: [u32; 8] =
    [0xb3_cd_e8, 0xf9_d3_a2, 0xb9_e0_b5, 0xf4_b6_bb, 0xd9_c5_e6, 0xe8_e3_a0, 0xb6_e4_e1, 0xd8_cc_c0];

/// The colour of a thread, or of anything else that is counted.
pub fn colour(number: i64) -> u32 {
    COLOURS[number.rem_euclid(8) as usize]
}

/// A colour from white, for a `level` of 0, to red, for a `level` of 1.
pub(super) fn heat(level: f64) -> u32 {
    let rest = (255.0 * (1.0 - level.clamp(0.0, 1.0))) as u32;
    0xff_00_00 | rest << 8 | rest
}

impl Sheet {
    /// Where each grid begins, after its labels, and how large the sheet is, both in cells.
    fn places(&self) -> (Vec<(usize, usize)>, (usize, usize)) {
        let coarse = |pick: fn(&(usize, usize)) -> usize, size: fn(&Grid) -> usize| {
            let last = self.grids.iter().map(|(at, _)| pick(at)).max().unwrap_or(0);
            let mut starts = vec![0];
            for line in 0..=last {
                let sizes = self.grids.iter().filter(|(at, _)| pick(at) == line).map(|(_, grid)| size(grid));
                // Each grid has room for its labels, for its title, and for a gap.
                starts.push(starts[line] + sizes.max().unwrap_or(0) + 3);
            }
            starts
        };
        let rows = coarse(|at| at.0, |grid| grid.cells.len());
        let columns = coarse(|at| at.1, Grid::columns);
        let places = self.grids.iter().map(|((row, column), _)| (rows[*row] + 2, columns[*column] + 1));
        (places.collect(), (rows[rows.len() - 1], columns[columns.len() - 1]))
    }

    /// The sheet as text, one grid after the other.
    pub(super) fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for (_, grid) in &self.grids {
            let width = grid.cells.iter().flatten().map(|cell| cell.text().len()).max().unwrap_or(0).max(3);
            let _ = writeln!(out, "\n{}", grid.title);
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

    /// The sheet as a standalone SVG file.
    pub(super) fn svg(&self) -> String {
        const SIDE: usize = 36;
        let (places, (rows, columns)) = self.places();
        let (width, height) = (columns * SIDE, (rows + 1) * SIDE);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        let label = |out: &mut String, x: usize, y: usize, text: &dyn fmt::Display| {
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
        };
        let _ = writeln!(
            out,
            "<text x=\"8\" y=\"20\" text-anchor=\"start\" font-size=\"14\">{}</text>",
            escaped(&self.title)
        );
        for ((_, grid), (top, left)) in self.grids.iter().zip(places) {
            let (top, left) = ((top + 1) * SIDE, left * SIDE);
            let _ = writeln!(
                out,
                "<text x=\"{left}\" y=\"{}\" text-anchor=\"start\">{}</text>",
                top - SIDE,
                escaped(&grid.title)
            );
            for column in 0..grid.columns() {
                label(&mut out, left + column * SIDE + SIDE / 2, top - SIDE / 3, &column);
            }
            for (row, cells) in grid.cells.iter().enumerate() {
                let y = top + row * SIDE;
                label(&mut out, left - SIDE / 2, y + SIDE / 2 + 4, &row);
                for (column, cell) in cells.iter().enumerate() {
                    let x = left + column * SIDE;
                    let _ = writeln!(
                        out,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#{:06x}\" stroke=\"#000000\"/>",
                        cell.fill
                    );
                    let middle = x + SIDE / 2;
                    match &cell.lines {
                        [first, second] if second.is_empty() => {
                            label(&mut out, middle, y + SIDE / 2 + 4, first)
                        }
                        [first, second] => {
                            label(&mut out, middle, y + SIDE / 3 + 4, first);
                            label(&mut out, middle, y + SIDE * 3 / 4 + 4, second);
                        }
                    }
                }
            }
        }
        out + "</svg>\n"
    }

    /// The sheet as a standalone LaTeX document with TikZ.
    pub(super) fn latex(&self) -> String {
        let (places, _) = self.places();
        let mut out = String::from(
            "\\documentclass[tikz]{standalone}\n\\begin{document}\n\
             \\begin{tikzpicture}[x={(0cm,-0.9cm)},y={(0.9cm,0cm)},\
             cell/.style={draw,inner sep=0pt,align=center,minimum size=0.9cm,font=\\tiny}]\n",
        );
        let mut fills: Vec<u32> = self
            .grids
            .iter()
            .flat_map(|(_, grid)| grid.cells.iter().flatten())
            .map(|cell| cell.fill)
            .collect();
        fills.sort_unstable();
        fills.dedup();
        for fill in fills {
            let _ = writeln!(out, "\\definecolor{{f{fill:06x}}}{{HTML}}{{{fill:06X}}}");
        }
        let _ = writeln!(out, "\\node[anchor=west] at (0,0) {{\\texttt{{{}}}}};", tex(&self.title));
        for ((_, grid), (top, left)) in self.grids.iter().zip(places) {
            let top = top + 1;
            let _ = writeln!(
                out,
                "\\node[anchor=west] at ({},{left}) {{\\tiny\\texttt{{{}}}}};",
                top - 2,
                tex(&grid.title)
            );
            for column in 0..grid.columns() {
                let _ = writeln!(out, "\\node at ({},{}) {{\\tiny {column}}};", top - 1, left + column);
            }
            for (row, cells) in grid.cells.iter().enumerate() {
                let _ = writeln!(out, "\\node at ({},{}) {{\\tiny {row}}};", top + row, left - 1);
                for (column, cell) in cells.iter().enumerate() {
                    let [first, second] = &cell.lines;
                    let text = if second.is_empty() { first.clone() } else { format!("{first}\\\\{second}") };
                    let _ = writeln!(
                        out,
                        "\\node[cell,fill=f{:06x}] at ({},{}) {{{text}}};",
                        cell.fill,
                        top + row,
                        left + column
                    );
                }
            }
        }
        out + "\\end{tikzpicture}\n\\end{document}\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn tex(text: &str) -> String {
    text.replace('_', "\\_").replace('<', "\\textless{}").replace('>', "\\textgreater{}")
}
