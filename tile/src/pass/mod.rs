//! Passes: each rewrites a function without changing its meaning.
//!
//! A pass rebuilds a function through [`Build`](crate::ir::Build), so that equal operations become one and scalars are as far out as
//! their operands, whatever the pass does.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([1024]).store((block,), x.tiles([1024]).load((block,)) * 2.0);
//! }
//!
//! use girih_tile::{ir::verify, pass::simplify};
//!
//! let simple = simplify(&double::ir()?);
//! verify(&simple)?;
//! assert!(simple.value_count() <= double::ir()?.value_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approximate;
mod dce;
mod expand;
mod fold;
mod guard;
mod licm;
mod overlap;
mod packed;
mod persistent;
mod rebuild;
pub(crate) mod uses;

pub use approximate::approximate;
pub use dce::dce;
pub use expand::expand;
pub use fold::fold;
pub use guard::guard;
pub use licm::licm;
pub use overlap::overlap;
pub use packed::packed;
pub(crate) use packed::per_byte;
pub use persistent::{is_even, persistent};
pub(crate) use uses::{needs, sources};

use crate::ir::Func;

/// The passes before placement: packing of 4-bit elements, folding, hoisting out of loops, approximate quotients, removal of masks, expansion with
/// further folding, and dead-code elimination.
pub fn simplify(func: &Func) -> Func {
    dce(&fold(&expand(&guard(&approximate(&licm(&fold(&packed(func))))))))
}
