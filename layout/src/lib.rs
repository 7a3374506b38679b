//! CuTe's layout algebra, exact.
//!
//! A layout maps coordinates to indices: a tree of extents (the *shape*) and a congruent tree of strides. `((2,2),4):((1,8),2)`
//! sends the coordinate `((i,j),k)` to `i + 8j + 2k`. Layouts compose, divide and multiply like functions, and that is enough to say how
//! data is in memory, which thread owns which element, and what a tile is.
//!
//! ```
//! use girih_layout::{Lay, lay, tiler};
//! // A row-major 256 x 64 matrix in tiles of 128 x 32.
//! let a = Lay::parse("(256,64):(64,1)")?;
//! let tiles = a.zipped_divide(&tiler!("<128,32>"))?;
//! assert_eq!(tiles.to_string(), "((128,32),(2,2)):((64,1),(8192,32))");
//! # Ok::<(), girih_layout::Error>(())
//! ```
//!
//! Three promises:
//!
//! * **Exact or an error.** An operation returns the layout of the function that its definition names, or an [`Error`] that carries the
//!   operands and, where there is one, a witness. Nothing wraps, truncates or panics. The one rounding is the uneven divide, which rounds up
//!   by definition.
//! * **No heap, no `std`.** A [`Lay`] holds up to [`MAX_LEAVES`] leaves in place, and everything that computes is a
//!   `const fn`.
//! * **Symbols.** An extent or a stride may be a [`Symbol`] (the `M` and `ld` of a kernel's parameters) with facts:
//!   operations decide from the facts or return [`Error::NeedsFact`], naming the fact that would settle the question.
//!
//! A symbolic extent may turn out to be 0 at run time; the layout is then empty. A known extent is at least 1.
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
mod macros;

// Families in the order in which they build on one another: leaf, limits, error, arith, tuple, layout, f2, exact, algebra,
// swizzled, text. Each imports from those before it alone (`cargo xtask imports`).
mod algebra;
mod arith;
mod error;
mod exact;
mod f2;
mod layout;
mod leaf;
mod limits;
#[cfg(feature = "proptest")]
pub mod strategies;
mod swizzled;
mod text;
mod tuple;

pub use algebra::product::Product;
pub use algebra::residue::Residue;
pub use error::quote::Quote;
pub use error::variants::{Error, Witness};
pub use f2::matrix::F2Matrix;
pub use f2::swizzle::Swizzle;
pub use layout::iter::{Coords, Indices};
pub use layout::lay::Lay;
pub use layout::tiler::{Tile, Tiler, Tiles};
pub use leaf::crd::Crd;
pub use leaf::int::Int;
pub use leaf::mode_path::ModePath;
pub use leaf::stride::Stride;
pub use leaf::symbol::{Fact, Factor, Symbol};
pub(crate) use limits::EXACT_LIMIT;
pub use limits::{MAX_DEPTH, MAX_LEAVES};
pub use swizzled::composed::Composed;
pub use swizzled::function::{Composition, IndexFn};
#[doc(hidden)]
pub use text::message::{Message, refuse};
pub use text::table::Table;
pub use tuple::coord::{crd2crd, crd2idx, idx2crd, idx2crd_extended, natural_coord};
pub use tuple::profile::Profile;
pub use tuple::sum::Sum;
pub use tuple::tree::{Coord, IntTuple, Leaf, Shape, Strides, Tuple};
