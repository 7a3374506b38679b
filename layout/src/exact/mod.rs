//! Enumeration of functions point by point, for questions that the symbolic rules cannot decide.

pub(crate) mod definition;
pub(crate) mod space;
