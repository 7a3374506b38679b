//! Fallible operations on leaves: checked arithmetic, questions that facts about symbols decide, and paths that are joined.

mod add_mul;
pub(crate) mod ask;
mod bind;
mod divide;
pub(crate) mod equation;
mod path;
pub(crate) mod scale;
