//! The texts between people or programs and girih: expressions of layouts ([`expr`]), operations by name ([`ops`]), facts of symbols ([`facts`]),
//! dtypes and atoms by name ([`find`]), arguments and launches of a kernel ([`Plan`]), values, counts and findings of the simulator. The command line
//! and the page read and print the same texts, since both call this library.
//!
//! # Examples
//! ```
//! assert_eq!(girih_notation::expr::evaluate("coalesce((2,(1,6)):(1,(6,2)))")?, "12:1");
//! # Ok::<(), girih_notation::expr::ExprError>(())
//! ```

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]
#![forbid(unsafe_code)]

mod argument;
mod array;
mod boxed;
mod error;
pub mod expr;
pub mod facts;
pub mod find;
mod launches;
pub mod marked;
pub mod names;
mod number;
pub mod ops;
mod report;
mod value;

pub use argument::{Argument, Bound, extents};
pub use array::Array;
pub use error::{Error, Extents};
pub use launches::{ARGUMENTS, LAUNCHES, Plan, Ready, Refused, Shape};
pub use report::{FindingReport, LineReport, TrafficReport};
pub use value::{Tile, value, values};
