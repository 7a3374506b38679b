//! Typed layouts and their operations.
//!
//! How it works: every operation is a total function from types to types, a generic associated type with bounds, over
//! typenum's integers; next to it is the same rule on run-time integers, which decides by what is static and
//! supplies the dynamic integers. The two are compared wherever an operation is used. Tuples have up to 12 modes; a
//! longer tuple is a compile error that says so.
//!
//! The traits of integers, lists, modes and tilers name the operations, and the operations are functions from these
//! traits to these traits: `nat.rs`, `int.rs`, `list.rs`, `modes.rs` and `tiler.rs` are the core that every circle of imports
//! goes through. Without the core there is no circle, which `cargo xtask imports` checks.

#[macro_use]
mod declare;

mod access;
mod arrange;
mod basis;
mod check;
mod coalesce;
mod compact;
mod complement;
mod composition;
mod congruent;
mod constructions;
mod coord;
mod cosize;
mod digits;
mod divide;
mod edit;
mod exactly;
mod fit;
mod int;
mod int_tuple;
mod ints;
mod inverse;
mod layout;
mod list;
mod macros;
mod modes;
mod nat;
mod op;
mod operand;
mod operations;
mod recast;
mod repeat;
mod resized;
mod rules;
mod say;
mod share;
mod storage;
mod swizzled;
mod tiler;
mod tree;
mod tuples;
mod unswizzle;
mod whole;

pub use arrange::{Reverse, Zip};
pub use basis::{Basis, E, Identity, Path};
pub use check::Check;
pub use coalesce::Coalesced;
pub use compact::{CompactLike, Filter, FilterZeros, FragmentLike, Left, Ordered, Right};
pub use complement::Complement;
pub use composition::Composition;
pub use congruent::{Congruent, Step};
pub use coord::{Coord, Slice};
pub use cosize::{Cosize, Size};
#[doc(hidden)]
pub use digits::{FromBytes, byte};
pub use divide::{
    BlockedProduct, FlatDivide, FlatProduct, LogicalDivide, LogicalProduct, RakedProduct, TiledDivide,
    TiledProduct, ZippedDivide, ZippedProduct,
};
pub use edit::{Append, Flatten, Group, ModeAt, Picks, Prepend, Replace, Select, Take, Unflatten};
pub use int::{Int, Neg, S};
pub use int_tuple::IntTuple;
pub use inverse::{LeftInverse, RightInverse};
pub use layout::{ArrayOf, Layout, Lt, ModesOf, Typed};
pub use modes::{Mode, Modes, Unit};
pub use nat::Nat;
pub use recast::{Downcast, Recast, Upcast};
pub use repeat::{CoalesceBy, TileToShape, TileToShapeBy};
pub use share::{DomainDistribute, MaxAlignment, MaxCommonLayout, MaxCommonVector, Nullspace};
pub use storage::Storage;
pub use swizzled::{Recasted, Sw, SwizzleOf, Swizzled, Swizzling};
pub use tiler::{__, All, Tile, Tiler};
pub use whole::Splice;
