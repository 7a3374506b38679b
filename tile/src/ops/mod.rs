//! Operations as users call them: operands are promoted and broadcast, types inferred, and what does not fit is a
//! [`Fault`](crate::error::Fault). The typed handles and `girih eval --tile` call the same functions.

mod arg;
pub mod each;
pub mod number;
pub mod shape;
pub mod table;

pub use arg::Arg;
pub use each::{Mode, broadcast};
