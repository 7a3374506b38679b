//! Layouts whose structure is in their type: the same algebra, computed when the program is compiled.
//!
//! A [`Layout<M>`] is a tree of [`Mode`]s whose integers are static (typenum's types) or dynamic (`usize`, `i64`), in any mixture. Operations
//! on static layouts give static layouts, which are values of size 0; with something dynamic in them, the static parts stay static.
//!
//! ```
//! use girih_typed::{ArrayOf, Coalesced, Composition, Layout, Modes, int, layout};
//! // A 128 x 64 tile of a matrix whose leading dimension is known at run time.
//! let ld: usize = 4096;
//! let tile = layout!((128, 64) : (ld, 1)).try_composition((int!(32), int!(8)))?;
//! assert_eq!(format!("{tile:#}"), "(_32,_8):(4096,_1)");
//!
//! // Generic code needs no where clauses.
//! fn fragment<M: Modes, V: Modes>(tile: Layout<M>, values: Layout<V>) -> ArrayOf<f32, Coalesced<Composition<M, Layout<V>>>> {
//!     tile.composition(values).coalesce().array(0.0)
//! }
//! let values = fragment(layout!((16, 8) : (1, 16)), layout!((2, 2) : (1, 8)));
//! assert_eq!(size_of_val(&values), 10 * 4);
//! # Ok::<(), girih_layout::Error>(())
//! ```
//!
//! There is one semantics, that of the run-time layer ([`Lay`](girih_layout::Lay)):
//!
//! * `l.op(..)` takes static operands. The run-time layer checks the operands when the program is compiled: operands
//!   that it refuses are a compile error whose first line names the operation, the layouts and what does not divide
//!   (`cargo build` shows it, `cargo check` where it is asked to: [`Check`]).
//! * `l.try_op(..)` takes any operands. The types say what is static in the result; the run-time layer checks the
//!   operands when the program runs, and a result that the result's type can't hold is an `Err`.
//!
//! rustc prints the mismatch of two layouts as two types, which may differ only deep inside; `f(l.exactly())` instead
//! of `f(l)` makes rustc print two layouts.
//!
//! Results that only the general composition finds are left to the run-time layer, and so are symbols and F2 columns.
//!
//! # Constants
//!
//! What is known by a static layout's type is a constant of the type: [`Layout::SIZE`], [`COSIZE`](Layout::COSIZE),
//! [`RANK`](Layout::RANK) and the run-time layout [`LAY`](Layout::LAY), whose operations are constant functions. So an array
//! has its length from a layout:
//!
//! ```
//! use girih_typed::layout_type;
//! type Tile = layout_type!((128, 64) : (72, 1));
//! struct Shared {
//!     a: [f32; Tile::COSIZE],
//! }
//! let shared = Shared { a: [0.0; Tile::COSIZE] };
//! assert_eq!(shared.a[Tile::default().at((127, 63))], 0.0);
//! ```
//!
//! In code that is generic over the layout, where Rust takes no such length, [`ArrayOf`] and [`Layout::array`] are the
//! array, and `GenericArray<f32, Cosize<M>>` is one with the bound that generic-array asks for. A layout itself is no
//! constant, because typenum's integers have no constant constructor: `Tile::default()` is its only value.
//!
//! # With something dynamic
//!
//! The structure of a result is in its type, so it is decided by what is static:
//!
//! * modes merge, and modes of extent 1 or stride 0 disappear, where static integers say so;
//! * where an operation sorts by stride (complement, divides, products, inverses, `compact_like`, `fragment_like`), dynamic strides come after
//!   the static ones and stay in order among themselves: a leading dimension is the largest stride;
//! * a step of static length stays inside a mode of dynamic extent, and ends where that mode ends;
//! * a dynamic stride is taken to be a multiple of the number that an upcast divides by, and not to be the 1 that a
//!   downcast looks for.
//!
//! The result is then compared with the run-time layer's. If it is not the function that the operation defines, the
//! run-time layer's result is put under the same tree, with the same static integers, if it fits there; otherwise
//! `try_op` returns [`Error::Unsupported`](girih_layout::Error::Unsupported). So only values are refused whose result needs
//! another structure:
//!
//! ```
//! use girih_layout::{Error, Int};
//! use girih_typed::{int, layout};
//! // The holes are below the dynamic stride, where the types have a hole for the static one.
//! let n: usize = 4;
//! let l = layout!((2, 3) : (12, n));
//! assert!(matches!(l.try_complement(int!(48)), Err(Error::Unsupported { .. })));
//! assert_eq!(l.erase()?.complement(Int::fixed(48))?.to_string(), "(4,2):(1,24)");
//! // Above the static stride it is where the types expect it.
//! assert_eq!(layout!((2, 3) : (1, n)).try_complement(int!(48))?.to_string(), "(2,4):(2,12)");
//! # Ok::<(), Error>(())
//! ```
//!
//! # Tensors
//!
//! With the feature `tensor`, the module `tensor` has tensors under these layouts, `host` has tensors that own their values
//! or are written, and `algorithm` has CuTe's algorithms on them. Without the feature, the library needs no `std` and no heap.

#![cfg_attr(not(feature = "tensor"), no_std)]
#![forbid(unsafe_code)]

// Families in the order in which they build on one another: layouts, tensor, host, algorithm.
#[cfg(feature = "tensor")]
pub mod algorithm;
#[cfg(feature = "tensor")]
pub mod host;
mod layouts;
#[cfg(feature = "tensor")]
pub mod tensor;

pub use layouts::{
    __, All, Append, ArrayOf, Basis, BlockedProduct, Check, CoalesceBy, Coalesced, CompactLike, Complement,
    Composition, Congruent, Coord, Cosize, DomainDistribute, Downcast, E, Filter, FilterZeros, FlatDivide,
    FlatProduct, Flatten, FragmentLike, Group, Identity, Int, IntTuple, Layout, Left, LeftInverse,
    LogicalDivide, LogicalProduct, Lt, MaxAlignment, MaxCommonLayout, MaxCommonVector, Mode, ModeAt, Modes,
    ModesOf, Nat, Neg, Nullspace, Ordered, Path, Picks, Prepend, RakedProduct, Recast, Recasted, Replace,
    Reverse, Right, RightInverse, S, Select, Size, Slice, Splice, Step, Storage, Sw, SwizzleOf, Swizzled,
    Swizzling, Take, Tile, TileToShape, TileToShapeBy, TiledDivide, TiledProduct, Tiler, Typed, Unflatten,
    Unit, Upcast, Zip, ZippedDivide, ZippedProduct,
};
#[doc(hidden)]
pub use layouts::{FromBytes, byte};
