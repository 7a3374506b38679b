//! CuTe's layout algebra, exact.
//!
//! A layout maps coordinates to indices: a tree of extents (the *shape*) and a congruent tree of strides. `((2,2),4):((1,8),2)`
//! sends the coordinate `((i,j),k)` to `i + 8j + 2k`. Layouts compose, divide and multiply like functions, and that is enough to say how
//! data lies in memory, which thread owns which element, and what a tile is.
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
//! [`typed`] has the same layouts as types, computed when the program is compiled.
//!
//! A symbolic extent may turn out to be 0 at run time; the layout is then empty. A known extent is at least 1.
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
mod macros;

mod analysis;
mod arith;
mod ask;
mod bind;
mod carry;
mod coalesce;
mod codomain;
mod columns;
mod common;
mod complement;
mod compose_columns;
mod compose_integers;
mod composed;
mod composition;
mod coord;
mod crd;
mod definition;
mod divide;
mod editing;
mod elimination;
mod error;
mod eval;
mod explain;
mod f2;
mod function;
mod general;
mod inside;
mod int;
mod inverse;
mod iter;
mod lay;
mod layout_matrix;
mod limits;
mod make;
mod mode_path;
mod modes;
mod numbers;
mod order;
mod parse;
mod path;
mod picture;
mod preimage;
mod product;
mod profile;
mod quote;
mod range;
mod recast;
mod reductions;
mod refuse;
mod relations;
mod residue;
mod scale;
#[cfg(feature = "serde")]
mod serde;
mod shape_div;
mod slice;
mod space;
mod step;
mod store;
#[cfg(feature = "proptest")]
pub mod strategies;
mod stride;
mod sum;
mod swizzle;
mod swizzle_matrix;
mod symbol;
mod table;
mod text;
mod tiler;
mod tuple;
pub mod typed;
mod unswizzle;

pub use composed::Composed;
pub use coord::{crd2crd, crd2idx, idx2crd, idx2crd_extended, natural_coord};
pub use crd::Crd;
pub use error::{Error, Witness};
pub use f2::F2Matrix;
pub use function::{Composition, IndexFn};
pub use int::Int;
pub use iter::{Coords, Indices};
pub use lay::Lay;
pub(crate) use limits::EXACT_LIMIT;
pub use limits::{MAX_DEPTH, MAX_LEAVES};
pub use mode_path::ModePath;
pub use picture::{Latex, Picture, Svg};
pub use product::Product;
pub use profile::Profile;
pub use quote::Quote;
#[doc(hidden)]
pub use refuse::{Message, refuse};
pub use residue::Residue;
pub use stride::Stride;
pub use sum::Sum;
pub use swizzle::Swizzle;
pub use symbol::{Fact, Factor, Symbol};
pub use table::Table;
pub use tiler::{Tile, Tiler, Tiles};
pub use tuple::{Coord, IntTuple, Leaf, Shape, Strides, Tuple};
