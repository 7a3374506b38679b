//! Lossless conversions of integers, each with the reason. All others are checked.

/// The position of an axis: tiles and arrays have at most 8.
#[expect(clippy::cast_possible_truncation, reason = "cannot lose: a tile and an array have at most 8 axes")]
pub(crate) const fn axis(at: usize) -> u8 {
    debug_assert!(at <= 0xff);
    at as u8
}

/// The position of something of a program in its list, or a number of such things.
#[expect(
    clippy::cast_possible_truncation,
    reason = "cannot lose: lists of programs have fewer than 2^32 items"
)]
pub(crate) const fn item(at: usize) -> u32 {
    debug_assert!(at <= 0xffff_ffff);
    at as u32
}

/// A number of elements or bytes that a plan has, which is never negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: it counts elements of a tile or bytes of shared memory, of which a block has fewer than 2^31"
)]
pub(crate) const fn size(n: i64) -> usize {
    debug_assert!(n >= 0 && n <= 0xffff_ffff);
    n as usize
}

/// The same as 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: it counts elements of a tile, bytes of shared memory, threads or registers of a block"
)]
pub(crate) const fn word(n: i64) -> u32 {
    debug_assert!(n >= 0 && n <= 0xffff_ffff);
    n as u32
}

/// The number of elements of a tile.
#[expect(clippy::cast_possible_truncation, reason = "cannot lose: a tile has fewer than 2^32 elements")]
pub(crate) const fn elements(n: u64) -> usize {
    debug_assert!(n <= 0xffff_ffff);
    n as usize
}

/// The low 32 bits of an element's bits.
pub(crate) const fn low(bits: u64) -> u32 {
    (bits & 0xffff_ffff) as u32
}

/// The low 64 bits of an integer, of which those that a dtype has are taken.
#[expect(clippy::cast_sign_loss, reason = "cannot lose: the rest is masked out, as integers of 64 bits wrap")]
pub(crate) const fn wrapped(n: i128) -> u64 {
    (n & 0xffff_ffff_ffff_ffff) as u64
}

/// The low 16 bits of an element's bits.
pub(crate) const fn half(bits: u64) -> u16 {
    (bits & 0xffff) as u16
}

/// The position of a scalar parameter.
#[expect(
    clippy::cast_possible_truncation,
    reason = "cannot lose: kernels have parameters of at most 32764 bytes"
)]
pub(crate) const fn scalar(at: usize) -> u16 {
    debug_assert!(at <= 0xffff);
    at as u16
}

/// The integer whose lowest `width` bits these are.
pub(crate) const fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    (bits << unused).cast_signed() >> unused
}

/// The greatest stride in elements that a parameter has of an array with this many axes. One beyond is a constant of its kernel.
pub(crate) const fn farthest(rank: usize) -> i64 {
    if rank > 2 { 1 << 42 } else { i32::MAX as i64 }
}
