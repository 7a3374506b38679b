//! What does not fit, as constants can tell it: [`Error`] without a heap.

use girih_layout::{Int, Lay, Message, Stride, Tile, Tiler, Tiles};
use girih_tensor::Space;

use crate::atom::{CopyAtom, MmaAtom};
use crate::{Error, Operand};

/// The value, or the function's end with the error. (`?` calls `From`, which constants can't.)
macro_rules! tri {
    ($e:expr) => {
        match $e {
            Ok(value) => value,
            Err(misfit) => return Err(misfit),
        }
    };
}

/// [`tri!`] of a result of the algebra.
macro_rules! known {
    ($e:expr) => {
        match $e {
            Ok(value) => value,
            Err(error) => return Err($crate::misfit::Misfit::Layout(error)),
        }
    };
}

pub(crate) use {known, tri};

/// Operands that do not fit. The text is that of the [`Error`] that it becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misfit {
    /// An operation of the layout algebra failed.
    Layout(girih_layout::Error),
    /// [`Error::NotStatic`].
    NotStatic { what: &'static str, operand: Subject },
    /// [`Error::Mismatch`].
    Mismatch { what: &'static str, operand: Subject, with: Partner, accepted: &'static str },
}

/// What does not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    Lay(Lay),
    Tiles(Tiles),
    /// From where to where; registers are each thread's own.
    Move([(Space, Option<Lay>); 2]),
}

/// What it was to fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partner {
    Text(&'static str),
    Lay(Lay),
    Mma(MmaAtom),
    /// An operand of an atom.
    Of(Operand, MmaAtom),
    /// Atoms side by side in a mode.
    Atoms {
        atom: MmaAtom,
        count: i64,
        extent: i64,
        mode: usize,
    },
    /// The order of a mode's coordinates.
    Order {
        order: Lay,
        mode: usize,
    },
    /// An atom with values of so many bits.
    Values {
        atom: CopyAtom,
        bits: u32,
        of: &'static str,
    },
    /// What a copy takes of each mode.
    Tile(Tiles),
    /// How many elements a tile has.
    Elements(i64, Tiles),
    /// A copy atom with its spaces.
    Spaces(CopyAtom),
}

/// A [`Misfit`], or what was asked for. Its operands are in it because constants have no heap; they are small beside layouts.
pub(crate) type Fit<T> = Result<T, Misfit>;

impl Misfit {
    /// In words.
    pub(crate) const fn message(&self) -> Message {
        let mut line = Message::EMPTY;
        match self {
            Misfit::Layout(error) => error.explain(&mut line),
            Misfit::NotStatic { what, operand } => {
                line.text(what);
                line.text(" needs a layout of constants, this one is ");
                operand.write(&mut line);
            }
            Misfit::Mismatch { what, operand, with, accepted } => {
                line.text(what);
                line.text(": ");
                operand.write(&mut line);
                line.text(" does not fit ");
                with.write(&mut line);
                line.text(": ");
                line.text(accepted);
            }
        }
        line
    }
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Error {
        let mut text = Message::EMPTY;
        match misfit {
            Misfit::Layout(error) => Error::Layout(error),
            Misfit::NotStatic { what, operand } => Error::NotStatic { what, layout: operand.text() },
            Misfit::Mismatch { what, operand, with, accepted } => {
                with.write(&mut text);
                Error::Mismatch { what, layout: operand.text(), with: text.as_str().to_owned(), accepted }
            }
        }
    }
}

impl Subject {
    /// In words; a layout may be too long for a [`Message`], and have symbols.
    fn text(&self) -> String {
        let mut text = Message::EMPTY;
        match self {
            Subject::Lay(layout) => return layout.to_string(),
            Subject::Tiles(tiles) => return tiles.to_string(),
            Subject::Move(_) => self.write(&mut text),
        }
        text.as_str().to_owned()
    }

    const fn write(&self, line: &mut Message) {
        match self {
            Subject::Lay(layout) => line.layout(layout),
            Subject::Tiles(tiles) => tiler(line, tiles),
            Subject::Move([from, to]) => {
                place(line, from);
                line.text(" to ");
                place(line, to);
            }
        }
    }
}

const fn place(line: &mut Message, (at, layout): &(Space, Option<Lay>)) {
    line.text(space(Some(*at)));
    if let Some(layout) = layout {
        line.text(" ");
        line.layout(layout);
    }
}

/// `<32:1,_>`
const fn tiler(line: &mut Message, tiles: &Tiles) {
    line.text("<");
    let mut mode = 0;
    while mode < tiles.len() {
        line.text(if mode > 0 { "," } else { "" });
        match tiles.tile(mode) {
            Ok(Tile::Lay(tile)) => line.layout(&tile),
            _ => line.text("_"),
        }
        mode += 1;
    }
    line.text(">");
}

/// `(32,_)`
const fn sizes(line: &mut Message, tiles: &Tiles) {
    line.text("(");
    let mut mode = 0;
    while mode < tiles.len() {
        line.text(if mode > 0 { "," } else { "" });
        match tile_size("", tiles, mode) {
            Ok(size) => line.number(size as usize),
            Err(_) => line.text("_"),
        }
        mode += 1;
    }
    line.text(")");
}

impl Partner {
    const fn write(&self, line: &mut Message) {
        match self {
            Partner::Text(text) => line.text(text),
            Partner::Lay(layout) => line.layout(layout),
            Partner::Mma(atom) => atom.spell(line),
            Partner::Of(operand, atom) => {
                line.text(match operand {
                    Operand::A => "A of ",
                    Operand::B => "B of ",
                    Operand::C => "C of ",
                });
                atom.spell(line);
            }
            Partner::Atoms { atom, count, extent, mode } => {
                atom.spell(line);
                line.text(" of ");
                line.number(*count as usize);
                line.text(" atoms of ");
                line.number(*extent as usize);
                line.text(" in mode ");
                line.number(*mode);
            }
            Partner::Order { order, mode } => {
                line.text("the order ");
                line.layout(order);
                line.text(" of mode ");
                line.number(*mode);
            }
            Partner::Values { atom, bits, of } => {
                atom.spell(line);
                line.text(of);
                line.number(*bits as usize);
                line.text(" bits");
            }
            Partner::Tile(tiles) => {
                line.text("the copy's tile ");
                sizes(line, tiles);
            }
            Partner::Elements(count, tiles) => {
                line.text("a tile of ");
                line.number(*count as usize);
                line.text(" elements, ");
                tiler(line, tiles);
            }
            Partner::Spaces(atom) => {
                let [from, to] = atom.spaces();
                atom.spell(line);
                line.text(", from ");
                line.text(space(from));
                line.text(" to ");
                line.text(space(to));
            }
        }
    }
}

const fn space(space: Option<Space>) -> &'static str {
    match space {
        Some(Space::Gmem) => "Gmem",
        Some(Space::Smem) => "Smem",
        Some(Space::Rmem) => "Rmem",
        Some(Space::Host) => "Host",
        Some(Space::Counting) => "Counting",
        None => "any",
    }
}

/// A constant layout's size.
pub(crate) const fn size(what: &'static str, layout: &Lay) -> Fit<i64> {
    match known!(layout.size()).get() {
        Some(size) => Ok(size),
        None => Err(Misfit::NotStatic { what, operand: Subject::Lay(*layout) }),
    }
}

/// Whether a constant layout is a bijection onto the indices below its size.
pub(crate) const fn is_bijective(what: &'static str, layout: &Lay) -> Fit<bool> {
    Ok(tri!(size(what, &known!(layout.right_inverse()))) == tri!(size(what, layout)))
}

/// What a tiler takes of a mode.
pub(crate) const fn tile_size(what: &'static str, tiles: &Tiles, mode: usize) -> Fit<i64> {
    match known!(tiles.tile(mode)) {
        Tile::Lay(tile) => size(what, &tile),
        Tile::All => Err(Misfit::NotStatic { what, operand: Subject::Tiles(*tiles) }),
    }
}

/// `n:1`
pub(crate) const fn extent(n: i64) -> Fit<Lay> {
    Ok(known!(Lay::leaf(Int::fixed(n), Stride::Int(Int::ONE))))
}

/// `<n0:1,n1:1>`
pub(crate) const fn shape_tiler(extents: [i64; 2]) -> Fit<Tiler> {
    let tiles = [Tile::Lay(tri!(extent(extents[0]))), Tile::Lay(tri!(extent(extents[1])))];
    Ok(Tiler::Modes(known!(Tiles::new(&tiles))))
}
