//! Layouts: construction, evaluation, slices, iteration, domain and codomain; and the tilers.

mod codomain;
mod eval;
pub(crate) mod iter;
pub(crate) mod lay;
pub(crate) mod make;
mod modes;
mod numbers;
mod overlap;
mod preimage;
mod range;
mod slice;
pub(crate) mod tiler;
mod writing;
