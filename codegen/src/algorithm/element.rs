//! Functions of elements, each in a register of its own ([`register`](crate::scalar::register)): one or a few instructions for each element.
//!
//! [`TABLE`] says of each function what it takes and gives, [`apply`] writes its instructions, [`convert_element`] converts an element,
//! and [`quotients`] divides many elements by one.

mod convert;
pub mod exact;
mod instruction;
mod quotient;
mod register;
mod table;

use std::fmt;

use girih_ptx::Word;

pub use convert::{convert_element, recast};
pub use instruction::apply;
pub use quotient::quotients;
pub use register::{constant, copy, extended, float, integer, moved, of, select, selp, setp};
pub use table::{Each, Gives, Rounds, Row, TABLE, Takes};

/// How a float result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
    /// The full range in f32, not correctly rounded (`div.full`).
    Full,
    /// The fast instruction of f32.
    Approx,
}

impl Rounding {
    /// All, in order.
    pub const ALL: &[Rounding] =
        &[Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up, Rounding::Full, Rounding::Approx];

    /// The word of an instruction.
    pub fn word(self) -> Word {
        match self {
            Rounding::Nearest => Word::Rn,
            Rounding::Zero => Word::Rz,
            Rounding::Down => Word::Rm,
            Rounding::Up => Word::Rp,
            Rounding::Full => Word::Full,
            Rounding::Approx => Word::Approx,
        }
    }

    /// The name in text, which is that of the word.
    pub fn name(self) -> &'static str {
        self.word().text()
    }

    /// That of a name in text.
    pub fn named(name: &str) -> Option<Rounding> {
        Rounding::ALL.iter().copied().find(|of| of.name() == name)
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of a maximum or minimum if an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Nan {
    /// NaN counts as missing.
    #[default]
    Ignored,
    /// NaN wins.
    Propagated,
}

/// How a function is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// How the result is rounded.
    pub rounding: Rounding,
    /// Whether subnormal numbers of f32 are flushed to zero.
    pub ftz: bool,
    /// The result of a maximum or minimum if an operand is NaN.
    pub nan: Nan,
}
