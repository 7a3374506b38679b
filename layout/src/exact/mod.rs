//! Functions point by point, for the questions that rules leave open.

pub(crate) mod definition;
pub(crate) mod space;
