//! The enumerations of a tensor map, with the driver's numbers.

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$case_doc])* $case = $value,)* }

        impl $name {
            /// All choices.
            pub const ALL: &[Self] = &[$(Self::$case),*];

            pub(super) fn decode(value: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|&case| case as u8 == value)
            }
        }
    };
}

choices! {
    /// The type of a tensor's elements (`CUtensorMapDataType`, with its numbers). The packed types of 4 and 6 bits, which
    /// Hopper does not have, are left out.
    TensorElement {
        /// `UINT8`
        #[default]
        U8 = 0,
        /// `UINT16`
        U16 = 1,
        /// `UINT32`
        U32 = 2,
        /// `INT32`
        S32 = 3,
        /// `UINT64`
        U64 = 4,
        /// `INT64`
        S64 = 5,
        /// `FLOAT16`
        F16 = 6,
        /// `FLOAT32`
        F32 = 7,
        /// `FLOAT64`
        F64 = 8,
        /// `BFLOAT16`
        Bf16 = 9,
        /// `FLOAT32_FTZ`: reductions flush subnormals; copies leave them.
        F32Ftz = 10,
        /// `TFLOAT32`: loads round f32 to tf32, to nearest even.
        Tf32 = 11,
        /// `TFLOAT32_FTZ`
        Tf32Ftz = 12,
    }
}

choices! {
    /// How a box is laid out in shared memory (`CUtensorMapSwizzle`): bits 4.. of each address are exclusive-ored with bits 7..,
    /// and a row takes the whole width even where the box is narrower.
    ///
    /// The numbers are the tensor map's; a `wgmma` descriptor counts the other way (1 is 128 bytes, 3 is 32).
    TensorSwizzle {
        /// Rows of the box one after another, without a swizzle.
        #[default]
        None = 0,
        /// Rows of 32 bytes; bit 4 is exclusive-ored with bit 7.
        B32 = 1,
        /// Rows of 64 bytes; bits 4 and 5 are exclusive-ored with bits 7 and 8.
        B64 = 2,
        /// Rows of 128 bytes; bits 4 to 6 are exclusive-ored with bits 7 to 9.
        B128 = 3,
    }
}

choices! {
    /// How much the second-level cache fetches at a time (`CUtensorMapL2promotion`); a hint.
    L2Promotion {
        /// The cache fetches no more than is asked for.
        #[default]
        None = 0,
        /// 64 bytes.
        B64 = 1,
        /// 128 bytes.
        B128 = 2,
        /// 256 bytes.
        B256 = 3,
    }
}

choices! {
    /// The value of elements outside of the tensor (`CUtensorMapFloatOOBfill`).
    OobFill {
        /// Zero.
        #[default]
        Zero = 0,
        /// A NaN, each 16 bits of which are 0x7ff7; only for floating-point elements.
        Nan = 1,
    }
}

choices! {
    /// How channels are grouped in global memory (`CUtensorMapInterleave`). Only [`Interleave::None`] is accepted.
    Interleave {
        /// Channels are not grouped.
        #[default]
        None = 0,
        /// NC/8HWC8.
        B16 = 1,
        /// NC/16HWC16.
        B32 = 2,
    }
}

impl TensorElement {
    /// Bytes of an element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        !matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::S32 | Self::U64 | Self::S64)
    }
}

impl TensorSwizzle {
    /// Bytes of a row in shared memory; `None` without a swizzle.
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }

    /// The shared address of the byte that without a swizzle would have the shared address `address`. The pattern
    /// repeats every 256, 512 or 1024 bytes and depends on the address itself, not on the offset in the box.
    ///
    /// ```
    /// use girih_ptx::TensorSwizzle;
    /// assert_eq!(TensorSwizzle::B128.apply(0x400 + 3 * 128 + 16), 0x400 + 3 * 128 + 2 * 16);
    /// ```
    pub const fn apply(self, address: u64) -> u64 {
        let mask = match self {
            Self::None => 0,
            Self::B32 => 1,
            Self::B64 => 3,
            Self::B128 => 7,
        };
        address ^ (address >> 7 & mask) << 4
    }
}
