//! The errors of constant evaluation for operands that do not fit: [`Error`] without a heap.
#![expect(
    clippy::result_large_err,
    reason = "an error holds the layout that does not fit; the results are as large"
)]

use girih_layout::{Int, Lay, Message, Stride, Tile, Tiler, Tiles};
use girih_tensor::Space;

use crate::Error;
use crate::atom::{CopyAtom, MmaAtom};
use crate::error::WgmmaError;

/// The value of a result; the function returns an error. (`?` calls `From`, which constants cannot do.)
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

/// Operands that do not fit. Such a misfit becomes an [`Error`] with the same text.
#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "constants have no heap")]
pub(crate) enum Misfit {
    /// An operation of the layout algebra failed.
    Layout(girih_layout::Error),
    /// [`Error::NotStatic`].
    NotStatic { what: &'static str, operand: Subject },
    /// [`Error::Mismatch`].
    Mismatch { what: &'static str, operand: Subject, with: Message, accepted: &'static str },
    /// [`Error::Wgmma`].
    Wgmma(WgmmaError),
}

/// A result, or the operands that do not fit.
pub(crate) type Fit<T> = Result<T, Misfit>;

/// An operand that does not fit: a layout, which may have symbols, or a text.
#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "constants have no heap")]
pub(crate) enum Subject {
    Lay(Lay),
    Text(Message),
}

impl Misfit {
    /// The text of the error.
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
                line.text(with.as_str());
                line.text(": ");
                line.text(accepted);
            }
            Misfit::Wgmma(error) => error.explain(&mut line),
        }
        line
    }
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Error {
        match misfit {
            Misfit::Layout(error) => Error::Layout(error),
            Misfit::NotStatic { what, operand } => Error::NotStatic { what, layout: operand.text() },
            Misfit::Mismatch { what, operand, with, accepted } => {
                Error::Mismatch { what, layout: operand.text(), with: with.as_str().to_owned(), accepted }
            }
            Misfit::Wgmma(error) => Error::Wgmma(error),
        }
    }
}

impl Subject {
    fn text(&self) -> String {
        match self {
            Subject::Lay(layout) => layout.to_string(),
            Subject::Text(text) => text.as_str().to_owned(),
        }
    }

    const fn write(&self, line: &mut Message) {
        match self {
            Subject::Lay(layout) => line.layout(layout),
            Subject::Text(text) => line.text(text.as_str()),
        }
    }
}

/// A part of a text.
pub(crate) enum Word<'a> {
    Text(&'a str),
    Number(i64),
    Lay(&'a Lay),
    Mma(&'a MmaAtom),
    Copy(&'a CopyAtom),
    /// `<32:1,_>`
    Tiler(&'a Tiles),
    /// `(32,_)`
    Sizes(&'a Tiles),
    /// A memory; `any` for none.
    Space(Option<Space>),
}

/// A text of the words, one after another.
pub(crate) const fn words(words: &[Word<'_>]) -> Message {
    let (mut line, mut i) = (Message::EMPTY, 0);
    while i < words.len() {
        match words[i] {
            Word::Text(text) => line.text(text),
            Word::Number(number) => line.number(number as usize),
            Word::Lay(layout) => line.layout(layout),
            Word::Mma(atom) => atom.spell(&mut line),
            Word::Copy(atom) => atom.spell(&mut line),
            Word::Tiler(tiles) => modes(&mut line, tiles, false),
            Word::Sizes(tiles) => modes(&mut line, tiles, true),
            Word::Space(space) => line.text(name(space)),
        }
        i += 1;
    }
    line
}

/// Writes the tiles, or their sizes.
const fn modes(line: &mut Message, tiles: &Tiles, sizes: bool) {
    line.text(if sizes { "(" } else { "<" });
    let mut mode = 0;
    while mode < tiles.len() {
        line.text(if mode > 0 { "," } else { "" });
        match (tiles.tile(mode), tile_size("", tiles, mode)) {
            (Ok(Tile::Lay(_)), Ok(size)) if sizes => line.number(size as usize),
            (Ok(Tile::Lay(tile)), _) => line.layout(&tile),
            (Ok(Tile::Modes(inner)), _) => modes(line, &inner, sizes),
            _ => line.text("_"),
        }
        mode += 1;
    }
    line.text(if sizes { ")" } else { ">" });
}

const fn name(space: Option<Space>) -> &'static str {
    match space {
        Some(Space::Gmem) => "Gmem",
        Some(Space::Smem) => "Smem",
        Some(Space::Dsmem) => "Dsmem",
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

/// The number of elements that a tiler takes of a mode.
pub(crate) const fn tile_size(what: &'static str, tiles: &Tiles, mode: usize) -> Fit<i64> {
    match known!(tiles.tile(mode)) {
        Tile::Lay(tile) => size(what, &tile),
        Tile::All => Err(Misfit::NotStatic { what, operand: Subject::Text(words(&[Word::Tiler(tiles)])) }),
        Tile::Modes(_) => {
            let operand = Subject::Text(words(&[Word::Tiler(tiles)]));
            let with = words(&[Word::Text("tiles in the tile of mode "), Word::Number(mode as i64)]);
            Err(Misfit::Mismatch { what, operand, with, accepted: "a layout or a size for each mode" })
        }
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
