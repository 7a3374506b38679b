//! What can fail on a leaf: checked arithmetic, questions that facts about symbols decide, and paths put together.

pub(crate) mod add_mul;
pub(crate) mod ask;
pub(crate) mod bind;
pub(crate) mod path;
pub(crate) mod scale;
