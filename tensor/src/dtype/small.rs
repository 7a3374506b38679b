//! Element types that Rust lacks, stored as their bits.

use std::fmt;

use super::{DType, Element};

macro_rules! small {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        pub struct $name(u8);

        impl $name {
            /// The element whose bits are the lowest bits of `bits`.
            pub const fn from_bits(bits: u8) -> $name {
                $name(bits & (0xff >> (8 - Self::DTYPE.bits())))
            }

            /// The bits, in the lowest bits of the byte.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }

        impl Element for $name {
            const DTYPE: DType = small!(@ $name);
            fn to_f64(self) -> f64 {
                Self::DTYPE.decode(self.0.into())
            }
            fn from_f64(value: f64) -> $name {
                $name(Self::DTYPE.encode(value) as u8)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                self.to_f64() == other.to_f64()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f64().fmt(f)
            }
        }
    )*};
    (@ F4E2M1) => { DType::E2m1 };
    (@ F8E8M0) => { DType::E8m0 };
    (@ $name:ident) => { DType::$name };
}

small! {
    /// A [`DType::S4`]: -8 to 7.
    S4;
    /// A [`DType::U4`]: 0 to 15.
    U4;
    /// A [`DType::E2m1`]: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
    ///
    /// ```
    /// use girih_tensor::{Element, F4E2M1};
    /// assert_eq!([2.4, 2.5, -100.0].map(|x| F4E2M1::from_f64(x).to_f64()), [2.0, 2.0, -6.0]);
    /// ```
    F4E2M1;
    /// A [`DType::E8m0`]: 2^-127 to 2^127, or NaN.
    ///
    /// ```
    /// use girih_tensor::{Element, F8E8M0};
    /// assert_eq!([0.26, 1.4, 6.0].map(|x| F8E8M0::from_f64(x).to_f64()), [0.25, 1.0, 8.0]);
    /// ```
    F8E8M0;
}
