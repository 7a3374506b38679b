//! Promotion of dtypes, as functions of the run time of a build. The typed handles have the same rules as traits.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::{Const, holds, loose, promote};
//!
//! assert_eq!(promote(DType::F16, DType::F32), Ok(DType::F32));
//! // f16 and bf16 have no common dtype, and neither have a signed and an unsigned integer.
//! assert!(promote(DType::F16, DType::Bf16).is_err() && promote(DType::S32, DType::U32).is_err());
//! // A constant takes the dtype of the tile that it meets.
//! assert_eq!(loose(DType::Bf16, Const::Int(3)), Ok(DType::Bf16));
//! assert!(holds(DType::S8, -128) && !holds(DType::S8, 128));
//! ```

pub mod number;

use girih_tensor::{DType, Numbers};

use crate::error::{Fault, ensure};
use crate::fit;
pub use crate::types::Const;

/// Kinds of dtypes, from the lowest: the higher one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// bool.
    Bool,
    /// Integers.
    Integer,
    /// Floats.
    Float,
}

/// The dtype's category.
pub fn category(dtype: DType) -> Category {
    match dtype.format().numbers {
        Numbers::Truth => Category::Bool,
        Numbers::Signed | Numbers::Unsigned => Category::Integer,
        Numbers::Float(_) => Category::Float,
    }
}

/// The range of an integer dtype as an index; of 64 bits what addresses reach.
pub(crate) fn range(dtype: DType) -> (i64, i64) {
    let far = 1i128 << 60;
    let (least, most) = dtype.range().unwrap_or((0, 1));
    let within = |n: i128| fit::wrapped(n.clamp(-far, far)).cast_signed();
    (within(least), within(most))
}

/// Dtypes that are stored, cast and multiplied, and take part in nothing else: tf32, floats of 8 bits and fewer, integers of 4 bits.
pub fn is_restricted(dtype: DType) -> bool {
    dtype == DType::Tf32 || dtype.is_narrow_float() || dtype.bits() < 8
}

/// The common dtype of two tiles.
///
/// # Errors
/// A [`Fault`] with the class of the mix.
pub fn promote(a: DType, b: DType) -> Result<DType, Fault> {
    if a == b {
        return Ok(a);
    }
    ensure!(!is_restricted(a) && !is_restricted(b), Fault::PromotionRestrictedFloat { a, b });
    match (category(a), category(b)) {
        (x, y) if x != y => Ok(if x > y { a } else { b }),
        (Category::Integer, _) if a.is_signed() != b.is_signed() => Err(Fault::PromotionMixedSign { a, b }),
        (Category::Float, _) if a.bits() == b.bits() => Err(Fault::PromotionF16Bf16 { a, b }),
        _ => Ok(if a.bits() >= b.bits() { a } else { b }),
    }
}

/// The dtype of a constant that meets no tile.
///
/// # Errors
/// [`Fault::ConstTooLarge`] for an integer beyond 64 bits.
pub fn dtype_of(constant: Const) -> Result<DType, Fault> {
    match constant {
        Const::Bool(_) => Ok(DType::Bool),
        Const::Float(_) => Ok(DType::F32),
        Const::Int(_) => least_integer(&[constant]),
    }
}

/// The dtype of constants that meet each other and no tile: the least of the highest category that holds them all.
///
/// # Errors
/// [`Fault::ConstTooLarge`] where no integer dtype holds all of them.
pub fn of_constants(constants: &[Const]) -> Result<DType, Fault> {
    let all = constants.iter().map(|&constant| dtype_of(constant)).collect::<Result<Vec<_>, _>>()?;
    let highest = all.into_iter().max_by_key(|&dtype| category(dtype)).unwrap_or(DType::Bool);
    if highest.is_integer() { least_integer(constants) } else { Ok(highest) }
}

/// The least dtype that holds all integers among constants.
fn least_integer(constants: &[Const]) -> Result<DType, Fault> {
    let holds = |dtype, constant: &Const| !matches!(*constant, Const::Int(n) if !holds(dtype, n));
    let mut dtypes = [DType::S32, DType::S64, DType::U64].into_iter();
    let found = dtypes.find(|&dtype| constants.iter().all(|constant| holds(dtype, constant)));
    found.ok_or_else(|| Fault::ConstTooLarge { constants: constants.to_vec() })
}

/// The integer that a constant of a dtype is.
pub(crate) fn integer(dtype: DType, bits: u64) -> Option<i64> {
    match category(dtype) {
        Category::Float => None,
        _ if dtype.is_signed() => Some(fit::signed(bits, dtype.bits())),
        _ => i64::try_from(bits).ok(),
    }
}

/// Whether an integer dtype has a number.
pub fn holds(dtype: DType, n: i128) -> bool {
    dtype.range().is_some_and(|(least, most)| (least..=most).contains(&n))
}

/// The dtype of a tile and a loose constant together.
///
/// # Errors
/// [`Fault::ConstOutOfRange`] for an integer that the tile's dtype does not have; [`Fault::PromotionRestrictedFloat`].
pub fn loose(tile: DType, constant: Const) -> Result<DType, Fault> {
    let of_constant = dtype_of(constant)?;
    ensure!(!is_restricted(tile), Fault::PromotionRestrictedFloat { a: tile, b: of_constant });
    if category(of_constant) > category(tile) {
        return Ok(of_constant);
    }
    match constant {
        Const::Int(n) if tile.is_integer() && !holds(tile, n) => {
            Err(Fault::ConstOutOfRange { constant, dtype: tile })
        }
        _ => Ok(tile),
    }
}

/// The dtypes that products of elements of two dtypes are summed in, the one that loses the least first; none where the two have no product.
pub fn sums(a: DType, b: DType) -> &'static [DType] {
    use DType::{Bf16, E4m3, E5m2, F16, F32, F64, S8, S32, Tf32, U8};
    match (a, b) {
        (F16, F16) => &[F32, F16],
        (Bf16, Bf16) | (F32, F32) | (Tf32, Tf32) => &[F32],
        (F64, F64) => &[F64],
        (E4m3 | E5m2, E4m3 | E5m2) => &[F32, F16],
        (S8 | U8, S8 | U8) => &[S32],
        _ => &[],
    }
}
