//! Pictures as SVG.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::palette::BLACK;
use crate::sheet::{Line, LineKind};
use crate::{Grid, Palette, Sheet};

/// The size of the text of cells, of numbers of rows and columns, and of titles, in pixels, and the advance of a character of each.
const CELL: Font = Font { size: 12, advance: 7.3 };
const NUMBER: Font = Font { size: 11, advance: 6.7 };
const TITLE: Font = Font { size: 14, advance: 8.5 };

struct Font {
    size: usize,
    advance: f64,
}

impl Font {
    /// How wide a text is.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cannot lose: a picture has few characters, and a whole number of pixels"
    )]
    fn width(&self, characters: usize) -> usize {
        (characters as f64 * self.advance).ceil() as usize
    }

    /// How tall a line of text is.
    fn line(&self) -> usize {
        self.size + 5
    }

    /// The lines of a text that are at most `width` wide.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cannot lose: a picture has few characters, and the part of one that is left does not fit"
    )]
    fn lines(&self, text: &str, width: usize) -> Vec<String> {
        wrapped(text, (width as f64 / self.advance) as usize)
    }
}

/// The space around the picture, and between a grid's numbers and its cells.
const MARGIN: usize = 10;
/// The space between grids.
const GAP: usize = 26;
/// A column of grids is as wide at the least, so that titles have few lines.
const NARROWEST: usize = 180;
/// The whole picture is as wide at the least.
const LEAST: usize = 340;
/// The side of the square that shows a colour.
const SWATCH: usize = 14;

/// A text in lines of at most `most` characters, which end after a blank, a comma or a parenthesis where there is one.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let most = most.max(8);
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > most {
        let ends = |wanted: fn(char) -> bool| (most / 3..most).rev().find(|&at| wanted(rest[at]));
        let end = ends(|c| c == ' ').or_else(|| ends(|c| matches!(c, ',' | ')' | ':' | '_' | '>')));
        let left = rest.split_off(end.map_or(most, |at| at + 1));
        lines.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = left;
    }
    if !rest.is_empty() {
        lines.push(rest.into_iter().collect());
    }
    lines
}

/// Where everything is, in pixels.
struct Layout {
    /// Whether both words of a cell are in one line.
    joined: bool,
    /// The width and height of a cell.
    cell: [usize; 2],
    /// The lines of each grid's title.
    titles: Vec<Vec<String>>,
    /// Where the cells of each grid begin, x and y.
    places: Vec<[usize; 2]>,
    size: [usize; 2],
    /// The lines of the sheet's title and of its notes.
    heading: Vec<(bool, String)>,
    /// Where each key is.
    keys: Vec<[usize; 2]>,
}

impl Layout {
    fn new(sheet: &Sheet) -> Layout {
        let cells = || sheet.grids.iter().flat_map(|grid| grid.cells.iter().flatten());
        let joined = !sheet.stacked && cells().all(|cell| cell.text().chars().count() <= 6);
        let longest = cells().map(|cell| match joined {
            true => cell.text().chars().count(),
            false => cell.words.iter().map(|word| word.chars().count()).max().unwrap_or(0),
        });
        let digits = |number: usize| number.saturating_sub(1).to_string().len();
        let [rows, columns] =
            [Grid::rows, Grid::columns].map(|of| sheet.grids.iter().map(of).max().unwrap_or(0));
        let numbers = NUMBER.width(digits(columns)) + 6;
        let width = (CELL.width(longest.max().unwrap_or(0)) + 8).max(numbers).max(26);
        let height = if joined { 24 } else { 36 };
        let gutter = NUMBER.width(digits(rows)) + 10;
        let count = |axis: usize| sheet.places.iter().map(|place| place[axis] + 1).max().unwrap_or(0);
        let extent = |axis: usize, line: usize, of: &dyn Fn(&Grid) -> usize| {
            let on = sheet.placed().filter(|(_, place)| place[axis] == line);
            on.map(|(grid, _)| of(grid)).max().unwrap_or(0)
        };
        // Columns of grids, one after the other.
        let (mut lefts, mut right) = (Vec::new(), MARGIN);
        let mut widths = Vec::new();
        for column in 0..count(1) {
            lefts.push(right + gutter);
            let wide = (extent(1, column, &Grid::columns) * width).max(NARROWEST);
            widths.push(wide);
            right += gutter + wide + GAP;
        }
        let full = (right - GAP.min(right)).max(MARGIN + LEAST) - MARGIN;
        let heading = TITLE.lines(&sheet.title, full).into_iter().map(|line| (true, line));
        let notes = sheet.notes.iter().flat_map(|note| CELL.lines(note, full));
        let heading: Vec<(bool, String)> = heading.chain(notes.map(|line| (false, line))).collect();
        let mut y = MARGIN;
        y += heading.iter().map(|(title, _)| if *title { TITLE.line() } else { CELL.line() }).sum::<usize>();
        let mut keys = Vec::new();
        let mut x = MARGIN;
        for key in &sheet.keys {
            let wide = SWATCH + 6 + CELL.width(key.text.chars().count()) + 18;
            if x > MARGIN && x + wide > MARGIN + full {
                (x, y) = (MARGIN, y + SWATCH + 6);
            }
            keys.push([x, y + 4]);
            x += wide;
        }
        y += if keys.is_empty() { 0 } else { SWATCH + 8 };
        let titles: Vec<Vec<String>> =
            sheet.placed().map(|(grid, [_, column])| CELL.lines(&grid.title, widths[column])).collect();
        let mut tops = Vec::new();
        for row in 0..count(0) {
            let lines = sheet.places.iter().zip(&titles).filter(|(place, _)| place[0] == row);
            let lines = lines.map(|(_, lines)| lines.len()).max().unwrap_or(0);
            y += lines * CELL.line() + NUMBER.line() + 6;
            tops.push(y);
            y += extent(0, row, &Grid::rows) * height + GAP;
        }
        let places = sheet.places.iter().map(|&[row, column]| [lefts[column], tops[row]]).collect();
        let size = [full + 2 * MARGIN, y - GAP.min(y) + MARGIN];
        Layout { joined, cell: [width, height], titles, places, size, heading, keys }
    }
}

impl Sheet {
    /// The picture as a standalone SVG file. Where the surroundings are dark, the background is light.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string can't fail.
        let _ = self.write_svg(&mut out);
        out
    }

    fn write_svg(&self, out: &mut impl Write) -> fmt::Result {
        let layout = Layout::new(self);
        let [width, height] = layout.size;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" font-family=\"ui-monospace,monospace\" font-size=\"{}\" text-anchor=\"middle\">",
            CELL.size
        )?;
        writeln!(out, "<title>{}</title>", escaped(&self.title))?;
        write_style(out)?;
        let paper = Palette::PAPER;
        writeln!(out, "<rect class=\"girih-paper\" width=\"100%\" height=\"100%\" fill=\"#{paper:06x}\"/>")?;
        let ink = Palette::INK;
        writeln!(out, "<g class=\"girih-ink\" fill=\"#{ink:06x}\" text-anchor=\"start\">")?;
        let mut y = MARGIN;
        for (title, line) in &layout.heading {
            let (font, line) = (if *title { TITLE } else { CELL }, escaped(line));
            y += font.line();
            writeln!(out, "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"{}\">{line}</text>", y - 5, font.size)?;
        }
        for (key, [x, y]) in self.keys.iter().zip(&layout.keys) {
            let (fill, ink, text) = (key.fill, Palette::FAINT, escaped(&key.text));
            let inside = match fill {
                Palette::MARK => format!("fill=\"none\" stroke=\"#{fill:06x}\" stroke-width=\"3\""),
                fill => format!("fill=\"#{fill:06x}\" stroke=\"#{ink:06x}\""),
            };
            writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{SWATCH}\" height=\"{SWATCH}\" {inside}/>")?;
            writeln!(out, "<text x=\"{}\" y=\"{}\">{text}</text>", x + SWATCH + 6, y + SWATCH - 3)?;
        }
        for (lines, [x, y]) in layout.titles.iter().zip(&layout.places) {
            for (i, line) in lines.iter().rev().enumerate() {
                let y = y - NUMBER.line() - 6 - i * CELL.line();
                writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(line))?;
            }
        }
        writeln!(out, "</g>")?;
        for (grid, place) in self.grids.iter().zip(&layout.places) {
            write_grid(out, grid, &layout, *place)?;
        }
        writeln!(out, "</svg>")
    }
}

/// The colours of the background, which a page may set and which follow the surroundings.
fn write_style(out: &mut impl Write) -> fmt::Result {
    let rules = |out: &mut dyn Write, colours: [u32; 3]| {
        let rule = |(name, colour): (&str, u32)| {
            write!(out, ".girih-{name}{{fill:var(--girih-{name},#{colour:06x})}}")
        };
        ["paper", "ink", "faint"].into_iter().zip(colours).try_for_each(rule)
    };
    write!(out, "<style>")?;
    rules(out, [Palette::PAPER, Palette::INK, Palette::FAINT])?;
    write!(out, "@media (prefers-color-scheme:dark){{")?;
    rules(out, Palette::DARK)?;
    writeln!(out, "}}</style>")
}

fn write_grid(out: &mut impl Write, grid: &Grid, layout: &Layout, [left, top]: [usize; 2]) -> fmt::Result {
    let ([width, height], [rows, columns]) = (layout.cell, [grid.rows(), grid.columns()]);
    let (faint, size) = (Palette::FAINT, NUMBER.size);
    writeln!(out, "<g class=\"girih-faint\" fill=\"#{faint:06x}\" font-size=\"{size}\">")?;
    for column in 0..columns {
        let x = left + column * width + width / 2;
        writeln!(out, "<text x=\"{x}\" y=\"{}\">{column}</text>", top - 6)?;
    }
    writeln!(out, "<g text-anchor=\"end\">")?;
    for row in 0..rows {
        let y = top + row * height + height / 2 + 4;
        writeln!(out, "<text x=\"{}\" y=\"{y}\">{row}</text>", left - 6)?;
    }
    writeln!(out, "</g>\n</g>")?;
    let mut of_colour: BTreeMap<u32, String> = BTreeMap::new();
    let mut rings = String::new();
    for (row, cells) in grid.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let (x, y) = (left + column * width, top + row * height);
            write!(of_colour.entry(cell.fill).or_default(), "M{x} {y}h{width}v{height}h-{width}z")?;
            if cell.marked {
                write!(rings, "M{} {}h{}v{}h-{}z", x + 2, y + 2, width - 4, height - 4, width - 4)?;
            }
        }
    }
    for (fill, path) in of_colour {
        writeln!(out, "<path fill=\"#{fill:06x}\" stroke=\"#777\" stroke-width=\".6\" d=\"{path}\"/>")?;
    }
    write_lines(out, grid, layout.cell, [left, top])?;
    if !rings.is_empty() {
        let mark = Palette::MARK;
        writeln!(out, "<path fill=\"none\" stroke=\"#{mark:06x}\" stroke-width=\"3\" d=\"{rings}\"/>")?;
    }
    writeln!(out, "<g fill=\"#{BLACK:06x}\">")?;
    for (row, cells) in grid.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let (x, y) = (left + column * width + width / 2, top + row * height + height / 2 + 4);
            let ink = match Palette::ink(cell.fill) {
                BLACK => String::new(),
                ink => format!(" fill=\"#{ink:06x}\""),
            };
            let [first, second] = &cell.words;
            let text = escaped(&cell.text());
            if layout.joined || second.is_empty() {
                if !text.is_empty() {
                    writeln!(out, "<text x=\"{x}\" y=\"{y}\"{ink}>{text}</text>")?;
                }
            } else {
                writeln!(out, "<text x=\"{x}\" y=\"{}\"{ink}>{}</text>", y - 7, escaped(first))?;
                writeln!(out, "<text x=\"{x}\" y=\"{}\"{ink}>{}</text>", y + 8, escaped(second))?;
            }
        }
    }
    writeln!(out, "</g>")
}

/// The lines between the modes of a hierarchy, thicker ones higher up, and the thickest ones between groups and around the grid.
fn write_lines(
    out: &mut impl Write,
    grid: &Grid,
    [width, height]: [usize; 2],
    [left, top]: [usize; 2],
) -> fmt::Result {
    let mut of_level: BTreeMap<u8, String> = BTreeMap::new();
    let [down, across] = [grid.rows() * height, grid.columns() * width];
    let mut borders = format!("M{left} {top}h{across}v{down}h-{across}z");
    for Line { kind, from: [row, column], by } in grid.lines() {
        let path = match kind {
            LineKind::Level(level) => of_level.entry(level).or_default(),
            LineKind::Groups => &mut borders,
        };
        write!(path, "M{} {}", left + column * width, top + row * height)?;
        match by {
            [0, columns] => write!(path, "h{}", columns * width)?,
            [rows, _] => write!(path, "v{}", rows * height)?,
        }
    }
    for (level, path) in of_level {
        let thick = 0.9 + 0.7 * f64::from(level.min(3));
        writeln!(out, "<path fill=\"none\" stroke=\"#333\" stroke-width=\"{thick:.1}\" d=\"{path}\"/>")?;
    }
    writeln!(
        out,
        "<path fill=\"none\" stroke=\"#{BLACK:06x}\" stroke-width=\"3.5\" stroke-linecap=\"square\" d=\"{borders}\"/>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
