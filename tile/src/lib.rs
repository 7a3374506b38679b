//! The tile language of girih: kernels over whole tiles.

mod compile;
pub mod dtype;
pub mod elem;
pub mod error;
pub mod explain;
pub mod facts;
pub mod handle;
pub mod hints;
pub mod ir;
#[cfg(feature = "launch")]
pub mod launch;
pub mod lower;
pub mod math;
pub mod ops;
pub mod pass;
pub mod place;
pub mod reference;
pub mod stage;

pub use compile::{Compiled, compile};
#[doc(hidden)]
pub use girih_tile_macros::{GirihTiles, girih_function, girih_kernel};
pub use girih_tile_macros::{Tiles, function, kernel};

/// What kernels are written with: `use girih::tile::prelude::*`.
pub mod prelude {
    pub use float8::{F8E4M3, F8E5M2};
    pub use girih_tensor::Tf32;
    pub use half::{bf16, f16};

    pub use crate::elem::{Bits, Elem, Float, Integer, Loose, Mma, Num, Promote, StoreTo, ToFloat};
    pub use crate::handle::*;
    pub use crate::ir::{Order, Padding, Rounding, Scope};
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
