//! Rust types of tiles' elements, and the rules of promotion as traits: what [`dtype`](crate::dtype) says of dtypes while building, the
//! compiler says of types.
//!
//! # Examples
//! ```
//! use girih_tensor::Element as _;
//! use girih_tile::elem::{Elem, Promote};
//! use half::bf16;
//!
//! fn common<A: Promote<B>, B: Elem>() -> &'static str {
//!     <A as Promote<B>>::Out::DTYPE.name()
//! }
//! assert_eq!((common::<bf16, f32>(), common::<i8, i64>()), ("f32", "s64"));
//! ```
//!
//! The compiler refuses types that have no common one:
//!
//! ```compile_fail
//! use girih_tile::elem::{Elem, Promote};
//!
//! fn common<A: Promote<B>, B: Elem>() {}
//! common::<i32, u32>();
//! ```

use float8::{F8E4M3, F8E5M2};
use girih_tensor::{Element, F4E2M1, F8E8M0, S4, Tf32, U4};
use half::{bf16, f16};

/// A type of elements of tiles: bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, and the restricted types [`Tf32`], `F8E4M3`,
/// `F8E5M2`, [`F4E2M1`], [`F8E8M0`], [`S4`] and [`U4`], which are stored, cast and, except for the last four, multiplied only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element type of tiles",
    note = "bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, Tf32, F8E4M3, F8E5M2, F4E2M1, F8E8M0, S4 and U4 are"
)]
pub trait Elem: Element {}

/// Types whose tiles have a common type with tiles of `Rhs`.
#[diagnostic::on_unimplemented(
    message = "no common type of `{Self}` and `{Rhs}` tiles",
    label = "these dtypes do not mix",
    note = "integers of mixed sign, f16 with bf16, and restricted types with others have no common type: cast one by `.to::<T>()`"
)]
pub trait Promote<Rhs: Elem>: Elem {
    /// The common type.
    type Out: Elem;
}

/// Types whose tiles are combined with constants of Rust's type `C` (`i64` for integers, `f64` for floats), which take the tile's dtype unless their
/// kind is higher.
#[diagnostic::on_unimplemented(
    message = "`{Self}` tiles take no `{C}` constants",
    label = "no common type with a constant",
    note = "tiles of bool, integers, f16, bf16, f32 and f64 do"
)]
pub trait Loose<C>: Elem {
    /// The common type.
    type Out: Elem;
}

/// Types that functions for floats take; integers and bool become f32.
#[diagnostic::on_unimplemented(
    message = "`{Self}` tiles are not taken by functions of floats",
    note = "bool, integers, f16, bf16, f32 and f64 are; cast others by `.to::<f32>()`"
)]
pub trait ToFloat: Elem {
    /// The float.
    type Out: Float;
}

/// Types that take part in arithmetic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` tiles take no part in arithmetic",
    note = "integers, f16, bf16, f32 and f64 do; cast others by `.to::<T>()`"
)]
pub trait Num: Promote<Self, Out = Self> + Loose<i64, Out = Self> + ToFloat + StoreTo<Self> {}

/// f16, bf16, f32 and f64.
#[diagnostic::on_unimplemented(message = "`{Self}` is no float", note = "f16, bf16, f32 and f64 are")]
pub trait Float: Num + Loose<f64, Out = Self> + ToFloat<Out = Self> {}

/// i8 to i64 and u8 to u64.
#[diagnostic::on_unimplemented(message = "`{Self}` is no integer", note = "i8 to i64 and u8 to u64 are")]
pub trait Integer: Num + Bits {}

/// Integers and bool: types with bitwise operators.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bitwise operators",
    note = "bool and integers have"
)]
pub trait Bits: Promote<Self, Out = Self> {}

/// Types that are stored into arrays of `Array` without a cast: those whose common type with it is `Array`.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` tile is not stored into an array of `{Array}` as it is",
    label = "cast it by `.to::<{Array}>()`",
    note = "a store widens, it does not narrow"
)]
pub trait StoreTo<Array: Elem>: Elem {}

/// Types whose products with elements of `Rhs` are summed in `Acc`, by tensor cores or by multiply-adds.
#[diagnostic::on_unimplemented(
    message = "no product of `{Self}` and `{Rhs}` tiles is summed in `{Acc}`",
    note = "f16 sums in f16 or f32; bf16, f32, Tf32 in f32; f64 in f64; 8-bit floats, also of two kinds, in f16 or f32; i8 and u8, also one with the other, in i32"
)]
pub trait Mma<Acc: Elem, Rhs: Elem = Self>: Elem {}

/// Types whose tiles [`matmul`](crate::handle::matmul) multiplies.
#[diagnostic::on_unimplemented(
    message = "`{Self}` tiles have no product",
    note = "f16, bf16, f32, Tf32, f64, 8-bit floats, i8 and u8 have"
)]
pub trait Product: Mma<Self::Sum> {
    /// The accumulator type of their products.
    type Sum: Elem;
}

macro_rules! marks {
    ($($mark:ident: $($ty:ty),*;)*) => { $($(impl $mark for $ty {})*)* };
}
marks! {
    Elem: bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Tf32, F8E4M3, F8E5M2, F4E2M1, F8E8M0, S4, U4;
    Num: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
    Float: f16, bf16, f32, f64;
    Integer: i8, i16, i32, i64, u8, u16, u32, u64;
    Bits: bool, i8, i16, i32, i64, u8, u16, u32, u64;
}

/// Each type with the types that are below it: these two have the former as their common type.
macro_rules! promotions {
    ($($top:ty: $($below:ty)*;)*) => {
        $(
            impl Promote<$top> for $top { type Out = $top; }
            impl StoreTo<$top> for $top {}
            $(
                impl Promote<$top> for $below { type Out = $top; }
                impl Promote<$below> for $top { type Out = $top; }
                impl StoreTo<$top> for $below {}
            )*
        )*
    };
}
promotions! {
    bool:;
    i8: bool;
    i16: bool i8;
    i32: bool i8 i16;
    i64: bool i8 i16 i32;
    u8: bool;
    u16: bool u8;
    u32: bool u8 u16;
    u64: bool u8 u16 u32;
    f16: bool i8 i16 i32 i64 u8 u16 u32 u64;
    bf16: bool i8 i16 i32 i64 u8 u16 u32 u64;
    f32: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16;
    f64: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32;
    Tf32:;
    F8E4M3:;
    F8E5M2:;
    F4E2M1:;
    F8E8M0:;
    S4:;
    U4:;
}

/// Common types with integer constants, with float constants, and of functions of floats.
macro_rules! constants {
    ($($ty:ty: $int:ty, $float:ty;)*) => {
        $(
            impl Loose<i64> for $ty { type Out = $int; }
            impl Loose<f64> for $ty { type Out = $float; }
            impl ToFloat for $ty { type Out = $float; }
        )*
    };
}
constants! {
    bool: i32, f32;
    i8: i8, f32;
    i16: i16, f32;
    i32: i32, f32;
    i64: i64, f32;
    u8: u8, f32;
    u16: u16, f32;
    u32: u32, f32;
    u64: u64, f32;
    f16: f16, f16;
    bf16: bf16, bf16;
    f32: f32, f32;
    f64: f64, f64;
}

/// Two types that are multiplied, and what their products are summed in.
macro_rules! products {
    ($($a:ty, $b:ty => $($sum:ty)*;)*) => { $($(impl Mma<$sum, $b> for $a {})*)* };
}
products! {
    f16, f16 => f32 f16;
    bf16, bf16 => f32;
    f32, f32 => f32;
    Tf32, Tf32 => f32;
    f64, f64 => f64;
    F8E4M3, F8E4M3 => f32 f16;
    F8E4M3, F8E5M2 => f32 f16;
    F8E5M2, F8E4M3 => f32 f16;
    F8E5M2, F8E5M2 => f32 f16;
    i8, i8 => i32;
    i8, u8 => i32;
    u8, i8 => i32;
    u8, u8 => i32;
}

macro_rules! sums {
    ($($ty:ty: $sum:ty;)*) => { $(impl Product for $ty { type Sum = $sum; })* };
}
sums! {
    f16: f32;
    bf16: f32;
    f32: f32;
    Tf32: f32;
    f64: f64;
    F8E4M3: f32;
    F8E5M2: f32;
    i8: i32;
    u8: i32;
}
