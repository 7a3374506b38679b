//! Operations on tiles: operands are promoted and broadcast, result types are inferred, and operands that do not match are a
//! [`Fault`](crate::error::Fault). The typed handles and `girih eval --tile` call the same functions.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//! use girih_tile::ops::table::Each;
//! use girih_tile::ops::Mode;
//!
//! let mut b = Build::new("sum");
//! let column = b.filled(DType::S32, &[8, 1], Const::Int(1))?;
//! let row = b.filled(DType::F32, &[4], Const::Float(0.5))?;
//! // (8,1) and (4) broadcast to (8,4), and s32 promotes to f32.
//! let sum = b.each(Each::Add, &[column.into(), row.into()], Mode::default())?;
//! assert_eq!((b.ty(sum).dtype, &b.ty(sum).dims[..]), (DType::F32, &[8, 4][..]));
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

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
