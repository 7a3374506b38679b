//! Conversions of sizes to the integer types of memory and of kernels.
//!
//! A number that a type does not hold becomes the greatest one of the type. No memory is as long and no parameter accepts that, so that it is refused, and
//! never taken for another number. What a user gives is checked before, so that nothing is lost here: extents, strides and lengths of problems are within
//! limits that 32 or 64 bits hold, and are not negative.
//!
//! # Examples
//! ```
//! use girih_device::sizes::{rounded, size, wide, word};
//!
//! assert_eq!((size(7i64), word(7u64), wide(7i64)), (7, 7, 7));
//! assert_eq!((word(1u64 << 40), wide(-1i64)), (u32::MAX, u64::MAX));
//! assert_eq!((rounded(0.1), rounded(1e300)), (0.1f32, f32::INFINITY));
//! ```

/// A number of elements or bytes, or an index.
pub fn size<N: TryInto<usize>>(number: N) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}

/// A parameter of 32 bits.
pub fn word<N: TryInto<u32>>(number: N) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// A parameter of 64 bits, or a number of bytes.
pub fn wide<N: TryInto<u64>>(number: N) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// The nearest f32; infinity where f32 has no number near.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float is rounded, and becomes infinite where f32 does not hold it"
)]
pub fn rounded(number: f64) -> f32 {
    number as f32
}
