//! The limits of sizes: leaves, depth, enumeration.

/// The most leaves that one layout, shape or coordinate holds.
pub const MAX_LEAVES: usize = 24;

/// The deepest nesting of a shape: a leaf has depth 0, a flat tuple 1.
pub const MAX_DEPTH: usize = 32;

/// Longest domain that an operation walks point by point to settle a question that the symbolic rules leave open.
pub(crate) const EXACT_LIMIT: i64 = 1 << 16;
