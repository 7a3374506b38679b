//! Layouts themselves: made, evaluated, sliced, counted through, and asked about their domain and codomain; and the tilers.

pub(crate) mod codomain;
pub(crate) mod eval;
pub(crate) mod iter;
pub(crate) mod lay;
pub(crate) mod make;
pub(crate) mod modes;
pub(crate) mod numbers;
pub(crate) mod preimage;
pub(crate) mod range;
pub(crate) mod slice;
pub(crate) mod tiler;
