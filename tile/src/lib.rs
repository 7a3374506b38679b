//! The tile language of girih: kernels over whole tiles.
//!
//! A function under [`#[kernel]`](macro@kernel) is written for one block of a grid, on tiles of arrays. It is Rust: the attribute leaves
//! control flow and types as they are. Branches on `bool` and loops over Rust integers are decided and unrolled when the kernel is built.
//! Branches and loops on scalars become branches and loops of the kernel.
//!
//! ```
//! use girih_device::{Device, Select};
//! use girih_tile::launch::DeviceArray;
//! use girih_tile::prelude::*;
//!
//! /// The sum of each row, in steps of `N`.
//! #[kernel]
//! fn row_sum<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
//!     let row = bid(0);
//!     let mut sum = zeros::<f32>([N]);
//!     for step in 0..cdiv(x.dim(1), N) {
//!         sum += x.tiles([1, N]).padding(Padding::Zero).load((row, step)).reshape([N]);
//!     }
//!     y.tiles_mut([1]).store((row,), sum.sum(keep(0)));
//! }
//!
//! let device = Device::open(Select::Sim)?;
//! let x = DeviceArray::upload(&device, &[0.5f32; 3 * 100], [3, 100])?;
//! let mut y = DeviceArray::zeros(&device, [3])?;
//! row_sum::<64>(&x, &mut y).run()?;
//! assert_eq!(y.download()?, [50.0; 3]);
//!
//! // The same name is a type, for what is asked of the kernel without a launch.
//! assert!(row_sum::<64>::ir()?.to_string().contains("reduce sum"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The compiler refuses mixed dtypes, narrowing stores and wrong numbers of indices. All other errors, such as
//! wrong shapes, are collected when the kernel is built, each with its line ([`error::Error::Build`]).
//!
//! The body of a run-time loop is built twice, and both results must be equal. So side effects of the body in Rust,
//! such as printing, happen twice, and a change of state that the loop does not carry is an error.

#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod compile;
pub mod dtype;
pub mod elem;
pub mod error;
pub mod explain;
pub mod facts;
mod figures;
mod fit;
pub mod hints;
pub mod ir;
mod lang;
#[cfg(feature = "launch")]
pub mod launch;
pub mod lower;
pub mod math;
pub mod ops;
pub mod pass;
pub mod place;
pub mod resources;
#[cfg(feature = "launch")]
pub mod tune;
mod types;

pub use compile::{Compiled, compile};
pub use girih_codegen::algorithm::element::exact;
#[doc(hidden)]
pub use girih_tile_macros::{GirihTiles, girih_function, girih_kernel};
pub use girih_tile_macros::{Tiles, function, kernel};
pub use lang::{handle, stage};
pub use lower::Target;

/// What kernels are written with: `use girih::tile::prelude::*`.
pub mod prelude {
    pub use float8::{F8E4M3, F8E5M2};
    pub use girih_tensor::{F4E2M1, F8E8M0, S4, Tf32, U4};
    pub use half::{bf16, f16};

    pub use crate::elem::{Bits, Elem, Float, Integer, Loose, Mma, Num, Product, Promote, StoreTo, ToFloat};
    pub use crate::handle::*;
    pub use crate::ir::{Order, Overflow, Padding, Rounding, Scope};
    pub use crate::ops::{Mode, Running, Scan};
    pub use crate::{Tiles, function, kernel, printf, static_assert};
}

/// The host's side of a kernel, where there is one.
#[cfg(feature = "launch")]
#[doc(hidden)]
#[macro_export]
macro_rules! __launch {
    ($($item:tt)*) => { $($item)* };
}

/// The host's side of a kernel, where there is none.
#[cfg(not(feature = "launch"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __launch {
    ($($item:tt)*) => {};
}
