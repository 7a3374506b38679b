//! Host types whose values device memory can hold.

use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}

/// A numeric type whose bytes on the host are its bytes on the device: little-endian, without padding, and every bit pattern is valid.
///
/// The types are `f32 f64 f16 bf16 F8E4M3 F8E5M2 u8 i8 u16 i16 u32 i32 u64 i64`. The trait is sealed, since [`Buffer`](crate::Buffer) relies
/// on these properties.
pub trait Pod: bytemuck::Pod + Send + Sync + sealed::Sealed {
    /// The type's name in PTX, without the dot: `f32`, `bf16`, `u8`.
    const PTX: &'static str;
}

macro_rules! pod {
    ($($ty:ty = $name:literal),* $(,)?) => {$(
        impl sealed::Sealed for $ty {}
        impl Pod for $ty {
            const PTX: &'static str = $name;
        }
    )*};
}
pod! {
    f32 = "f32", f64 = "f64", f16 = "f16", bf16 = "bf16", F8E4M3 = "e4m3", F8E5M2 = "e5m2",
    u8 = "u8", i8 = "s8", u16 = "u16", i16 = "s16", u32 = "u32", i32 = "s32", u64 = "u64", i64 = "s64",
}

#[cfg(target_endian = "big")]
compile_error!("girih-device moves values between host and device as they are: both must be little-endian");
