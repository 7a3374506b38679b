//! Pictures of layouts as SVG and LaTeX, in the manner of CuTe's `print_svg` and `print_latex`.

use core::fmt;

use crate::{Composed, Crd, Error, Lay, Palette, Shape, Swizzle};

const WHITE: u32 = 0xff_ff_ff;

/// The most cells of a picture.
const CELLS: i64 = 1 << 16;

/// A table of cells to be drawn: a row for each coordinate of mode 0, a column for each coordinate of mode 1. It comes
/// from [`Lay::picture`], [`Lay::picture_tv`] or [`Composed::picture`].
///
/// ```
/// use girih_layout::lay;
/// let picture = lay!("(2,3):(3,1)").picture()?;
/// assert!(picture.svg().to_string().starts_with("<svg"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    source: Source,
    rows: i64,
    columns: i64,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Indices(Composed),
    Owners { tv: Lay, threads: i64 },
}

/// The contents of a cell.
enum Cell {
    Index(i64),
    Owner { thread: i64, value: i64 },
    Nobody,
}

impl Composed {
    /// A picture of the index of every coordinate of a known layout of rank 1 (a row) or 2.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 0 o (2,2):(2,1)")?.picture()?.rows(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] for another rank, [`Error::NotKnown`] for symbols, [`Error::Unsupported`] for basis strides, [`Error::Capacity`]
    /// for more than 65536 cells.
    pub fn picture(&self) -> Result<Picture, Error> {
        const OP: &str = "a picture";
        let shape = *self.layout().shape();
        let (rows, columns) = match shape.rank() {
            1 => (1, known(OP, &shape)?),
            2 => (known(OP, &shape.mode(0)?)?, known(OP, &shape.mode(1)?)?),
            rank => return Err(Error::RankMismatch { op: OP, rank, other: 2 }),
        };
        let picture = Picture::new(Source::Indices(*self), rows, columns)?;
        // A layout that can't be drawn is refused here, so that printing can't fail.
        (0..rows * columns).try_for_each(|i| self.at(i).map(drop))?;
        Ok(picture)
    }
}

impl Lay {
    /// A picture of the index of every coordinate of a known layout of rank 1 (a row) or 2.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let picture = lay!("(2,3):(3,1)").picture()?;
    /// assert!(picture.svg().to_string().starts_with("<svg "));
    /// assert!(picture.latex().to_string().contains("\\node"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Composed::picture`].
    pub fn picture(&self) -> Result<Picture, Error> {
        Composed::new(Swizzle::NONE, 0, *self).picture()
    }

    /// A picture of the owner of every element of a tile: `self` maps (thread, value) to the element's number in the
    /// tile, leftmost mode fastest. A cell has the text `T` thread and `V` value, and the colour of the thread.
    ///
    /// ```
    /// use girih_layout::{Shape, lay};
    /// // The accumulator of mma.m16n8k16.
    /// let c = lay!("((4,8),(2,2)):((32,1),(16,8))");
    /// let svg = c.picture_tv(&Shape::parse("(16,8)")?)?.svg().to_string();
    /// assert!(svg.contains(">T31<") && svg.contains(">V3<"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] unless both the layout and the tile have rank 2, and those of [`Lay::preimage`] and [`Composed::picture`].
    pub fn picture_tv(&self, tile: &Shape) -> Result<Picture, Error> {
        const OP: &str = "a picture of threads and values";
        for rank in [self.rank(), tile.rank()] {
            if rank != 2 {
                return Err(Error::RankMismatch { op: OP, rank, other: 2 });
            }
        }
        let (rows, columns) = (known(OP, &tile.mode(0)?)?, known(OP, &tile.mode(1)?)?);
        let threads = known(OP, &self.shape().mode(0)?)?;
        let picture = Picture::new(Source::Owners { tv: *self, threads }, rows, columns)?;
        (0..rows * columns).try_for_each(|i| self.preimage(i).map(drop))?;
        Ok(picture)
    }
}

fn known(op: &'static str, shape: &Shape) -> Result<i64, Error> {
    let size = shape.size()?;
    size.get().ok_or(Error::NotKnown { op, value: size.quoted() })
}

impl Picture {
    fn new(source: Source, rows: i64, columns: i64) -> Result<Picture, Error> {
        match rows.checked_mul(columns) {
            Some(cells) if cells <= CELLS => Ok(Picture { source, rows, columns }),
            _ => Err(Error::Capacity { op: "a picture" }),
        }
    }

    /// The number of rows.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(3,1)").picture()?.rows(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn rows(&self) -> i64 {
        self.rows
    }

    /// The number of columns.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(3,1)").picture()?.columns(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn columns(&self) -> i64 {
        self.columns
    }

    /// The picture as a standalone SVG file.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(2,3):(3,1)").picture()?.svg().to_string().contains(">5<"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn svg(&self) -> Svg<'_> {
        Svg(self)
    }

    /// The picture as a standalone LaTeX document with TikZ.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(2,3):(3,1)").picture()?.latex().to_string().contains("at (1,2) {5};"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn latex(&self) -> Latex<'_> {
        Latex(self)
    }

    fn cell(&self, row: i64, column: i64) -> Result<Cell, fmt::Error> {
        let number = row + column * self.rows;
        match &self.source {
            Source::Indices(layout) => layout.at(number).map(Cell::Index).map_err(|_| fmt::Error),
            Source::Owners { tv, threads } => {
                let Some(coord) = tv.preimage(number).map_err(|_| fmt::Error)? else {
                    return Ok(Cell::Nobody);
                };
                // The 1-D coordinate of thread and value together.
                let (mut place, mut step) = (0, 1);
                for (crd, extent) in coord.leaves().zip(tv.shape().leaves()) {
                    if let Crd::At(at) = crd {
                        place += at * step;
                    }
                    step *= extent.coefficient();
                }
                Ok(Cell::Owner { thread: place % threads, value: place / threads })
            }
        }
    }

    /// The colour of a cell, as in all pictures of girih.
    fn fill(&self, cell: &Cell) -> u32 {
        match (cell, &self.source) {
            (Cell::Index(index), _) => Palette::index(*index),
            (Cell::Owner { thread, .. }, Source::Owners { threads, .. }) => {
                Palette::of_threads(*threads).thread(*thread)
            }
            _ => WHITE,
        }
    }

    fn is_wide(&self) -> bool {
        matches!(self.source, Source::Owners { .. })
    }
}

/// Displays a [`Picture`] as SVG.
///
/// ```
/// use girih_layout::lay;
/// assert_eq!(lay!("(2,3):(3,1)").picture()?.svg().to_string().lines().last(), Some("</svg>"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Svg<'a>(&'a Picture);

impl fmt::Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SIDE: i64 = 36;
        let picture = self.0;
        let (width, height) = ((picture.columns + 1) * SIDE + 1, (picture.rows + 1) * SIDE + 1);
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">"
        )?;
        writeln!(f, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
        let text = |f: &mut fmt::Formatter<'_>, x: i64, y: i64, args: fmt::Arguments<'_>| {
            writeln!(f, "<text x=\"{}\" y=\"{}\">{args}</text>", x + SIDE / 2, y + 4)
        };
        for column in 0..picture.columns {
            text(f, (column + 1) * SIDE, SIDE / 2, format_args!("{column}"))?;
        }
        for row in 0..picture.rows {
            let y = (row + 1) * SIDE;
            text(f, 0, y + SIDE / 2, format_args!("{row}"))?;
            for column in 0..picture.columns {
                let (x, cell) = ((column + 1) * SIDE, picture.cell(row, column)?);
                writeln!(
                    f,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#{:06x}\" stroke=\"#000000\"/>",
                    picture.fill(&cell)
                )?;
                match cell {
                    Cell::Index(index) => text(f, x, y + SIDE / 2, format_args!("{index}"))?,
                    Cell::Owner { thread, value } => {
                        text(f, x, y + SIDE / 3, format_args!("T{thread}"))?;
                        text(f, x, y + SIDE * 3 / 4, format_args!("V{value}"))?;
                    }
                    Cell::Nobody => {}
                }
            }
        }
        writeln!(f, "</svg>")
    }
}

/// Displays a [`Picture`] as LaTeX.
///
/// ```
/// use girih_layout::lay;
/// assert!(lay!("(2,3):(3,1)").picture()?.latex().to_string().starts_with("\\documentclass"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Latex<'a>(&'a Picture);

impl fmt::Display for Latex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let picture = self.0;
        let side = if picture.is_wide() { "0.9cm" } else { "0.7cm" };
        writeln!(f, "\\documentclass[tikz]{{standalone}}\n\\begin{{document}}")?;
        writeln!(
            f,
            "\\begin{{tikzpicture}}[x={{(0cm,-{side})}},y={{({side},0cm)}},cell/.style={{draw,inner sep=0pt,align=center,\
             minimum size={side},font=\\tiny}}]"
        )?;
        for row in 0..picture.rows {
            for column in 0..picture.columns {
                let cell = picture.cell(row, column)?;
                let [_, red, green, blue] = picture.fill(&cell).to_be_bytes();
                write!(
                    f,
                    "\\node[cell,fill={{rgb,255:red,{red};green,{green};blue,{blue}}}] at ({row},{column}) "
                )?;
                match cell {
                    Cell::Index(index) => writeln!(f, "{{{index}}};")?,
                    Cell::Owner { thread, value } => writeln!(f, "{{T{thread}\\\\V{value}}};")?,
                    Cell::Nobody => writeln!(f, "{{}};")?,
                }
            }
            writeln!(f, "\\node at ({row},-1) {{\\tiny {row}}};")?;
        }
        for column in 0..picture.columns {
            writeln!(f, "\\node at (-1,{column}) {{\\tiny {column}}};")?;
        }
        writeln!(f, "\\end{{tikzpicture}}\n\\end{{document}}")
    }
}
