//! Messages about texts that could not be read, with a caret under the place of the error.
//!
//! # Examples
//! ```
//! let mut facts = girih_notation::facts::Facts::default();
//! let told = facts.add("s0=at_leest(1)").expect_err("no fact").to_string();
//! assert!(told.contains("at_least(n)") && told.ends_with('^'), "{told}");
//! ```

use std::fmt;

use girih_layout::{Composed, Coord, Error, Lay, Shape, Tiler};

/// This many characters of a text are before the place of an error, and after the place, at the least, where the text is long.
const AROUND: usize = 100;
/// The mark for the rest of a long text.
const CUT: &str = "...";

/// An error in a text, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    message: String,
    text: String,
    at: Option<usize>,
}

impl Marked {
    /// The `message` about byte `at` of `text`.
    pub(crate) fn new(message: impl Into<String>, text: &str, at: usize) -> Marked {
        Marked { message: message.into(), text: text.to_owned(), at: Some(at) }
    }

    /// The message for an error of the layout library about a text.
    pub(crate) fn of(error: Error, text: &str) -> Marked {
        match error {
            Error::Parse { at, expected } => Marked::new(format!("expected {expected}"), text, at),
            other => Marked { message: other.to_string(), text: text.to_owned(), at: None },
        }
    }

    /// The error, without the text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The byte of the text at which the error is, if it is at one.
    pub fn at(&self) -> Option<usize> {
        self.at
    }
}

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Marked { message, text, at } = self;
        // The text is put on one line, so that the caret is below the place.
        let line: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let place = at.map(|at| text.get(..at).unwrap_or(text).chars().count());
        // Of a long text, the part around the place.
        let first = place.unwrap_or(0).saturating_sub(AROUND).min(line.len().saturating_sub(2 * AROUND));
        let last = (first + 2 * AROUND).min(line.len());
        let [before, behind] = [first > 0, last < line.len()].map(|cut| if cut { CUT } else { "" });
        let shown: String = line[first..last].iter().collect();
        write!(f, "{message}\n  {before}{shown}{behind}")?;
        match place {
            Some(place) => write!(f, "\n  {}^", " ".repeat(before.len() + place - first)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Marked {}

/// Parses a layout.
///
/// # Errors
/// [`Marked`].
pub fn layout(text: &str) -> Result<Lay, Marked> {
    Lay::parse(text).map_err(|error| Marked::of(error, text))
}

/// Parses a layout or a swizzled layout, such as `Sw<3,3,3> o 0 o (8,64):(64,1)`.
///
/// # Errors
/// [`Marked`].
pub fn composed(text: &str) -> Result<Composed, Marked> {
    if is_swizzled(text) {
        Composed::parse(text).map_err(|error| Marked::of(error, text))
    } else {
        Ok(layout(text)?.into())
    }
}

/// Whether a text is the text of a swizzled layout.
pub fn is_swizzled(text: &str) -> bool {
    text.trim_start().starts_with("Sw<")
}

/// Parses a shape.
///
/// # Errors
/// [`Marked`].
pub fn shape(text: &str) -> Result<Shape, Marked> {
    Shape::parse(text).map_err(|error| Marked::of(error, text))
}

/// Parses a coordinate.
///
/// # Errors
/// [`Marked`].
pub fn coord(text: &str) -> Result<Coord, Marked> {
    Coord::parse(text).map_err(|error| Marked::of(error, text))
}

/// Parses a tiler.
///
/// # Errors
/// [`Marked`].
pub fn tiler(text: &str) -> Result<Tiler, Marked> {
    Tiler::parse(text).map_err(|error| Marked::of(error, text))
}
