//! Operations as users call them: operands are promoted and broadcast, types inferred, and what does not fit is a
//! [`Fault`](crate::error::Fault). The typed handles and `girih eval --tile` call the same functions.

mod arg;
mod bits;
pub mod each;
pub mod factory;
pub mod indexed;
pub mod memory;
mod output;
pub mod product;
pub mod random;
pub mod reduce;
pub mod scan;
pub mod shape;
mod sort;
mod staging;

pub use crate::dtype::number;
pub use crate::ir::table;
pub use arg::Arg;
pub use each::{Mode, broadcast};
pub use factory::Nested;
pub use reduce::{Axes, Reduce, Reduction};
pub use scan::{Running, Scan};
