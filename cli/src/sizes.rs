//! Numbers in the types that memory and kernels count in.
//!
//! A number that a type does not hold becomes the type's greatest one. No memory is as long and no parameter accepts it, so that it is refused, and never
//! taken for another number.

/// A number of elements or bytes, or an index.
pub(crate) fn size<N: TryInto<usize>>(number: N) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}

/// A parameter of 32 bits.
pub(crate) fn word<N: TryInto<u32>>(number: N) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// A parameter of 64 bits, or a number of bytes.
pub(crate) fn wide<N: TryInto<u64>>(number: N) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// The nearest f32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float is rounded, and becomes infinite where f32 does not hold it"
)]
pub(crate) fn rounded(number: f64) -> f32 {
    number as f32
}
