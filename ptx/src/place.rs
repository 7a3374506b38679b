//! Names, and positions in a text, of trees, notes and errors.

/// Where a piece of syntax stood in the text it was parsed from. Line and column start at 1; 0 means "not from text".
///
/// Positions are not part of a tree's meaning: all spans are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Span {}

/// A name: of a register, parameter, variable, label or kernel.
pub type Name = std::sync::Arc<str>;
