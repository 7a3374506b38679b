//! What programs and their errors consist of: types of values, constants, attributes of accesses.

use std::fmt;
use std::ops::Deref;

use girih_tensor::DType;

/// Defines an enumeration by each variant's name in Rust and in text, and what it means.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident $text:literal $doc:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$of])* #[doc = $doc] $variant),*
        }

        impl $name {
            /// All, in order.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The name in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// That of a name in text.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|of| of.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use named;

/// The most axes that a tile has.
pub const MAX_RANK: usize = 8;

/// A shape of up to [`MAX_RANK`] extents, in elements. A tile of rank 0 is a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Dims {
    rank: u8,
    extents: [u32; MAX_RANK],
}

impl Dims {
    /// The shape of a scalar.
    pub const SCALAR: Dims = Dims { rank: 0, extents: [0; MAX_RANK] };

    /// The shape with these extents; `None` for more than [`MAX_RANK`].
    pub fn new(extents: &[u32]) -> Option<Dims> {
        let mut dims = Dims { rank: u8::try_from(extents.len()).ok()?, extents: [0; MAX_RANK] };
        dims.extents.get_mut(..extents.len())?.copy_from_slice(extents);
        Some(dims)
    }

    /// A shape of this many extents of 1, at most [`MAX_RANK`].
    pub fn ones(rank: usize) -> Dims {
        Dims::new(&[1; MAX_RANK][..rank]).unwrap_or_default()
    }

    /// Number of elements, or all that 64 bits count.
    pub fn size(&self) -> u64 {
        self.iter().fold(1, |size, &n| size.saturating_mul(n.into()))
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// The extents as numbers that may be negative.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.iter().map(|&n| n.into()).collect()
    }

    /// Numbers of axes as such.
    pub(crate) fn modes(&self) -> Vec<usize> {
        self.iter().map(|&axis| axis as usize).collect()
    }

    /// The shape with `extent` along `axis`. The axis must exist.
    pub fn with(&self, axis: usize, extent: u32) -> Dims {
        let mut dims = *self;
        dims.extents[axis] = extent;
        dims
    }
}

impl Deref for Dims {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.extents[..usize::from(self.rank)]
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, n) in self.iter().enumerate() {
            write!(f, "{}{n}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The shape.
    pub dims: Dims,
}

impl Type {
    /// A scalar of this dtype.
    pub const fn scalar(dtype: DType) -> Type {
        Type { dtype, dims: Dims::SCALAR }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.dims)
    }
}

/// A constant without a dtype of its own: it takes that of the tile that it meets, or the least of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl std::fmt::Display for Const {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Const::Bool(value) => write!(f, "{value}"),
            Const::Int(value) => write!(f, "{value}"),
            Const::Float(value) => write!(f, "{value:?}"),
        }
    }
}

named! {
    /// What a load gives for elements outside of the array.
    #[derive(Default)]
    Padding {
        #[default] Undetermined "any" "Anything. The reference evaluator gives poison.",
        Zero "0" "0.",
        NegZero "-0" "-0.",
        Nan "nan" "NaN.",
        PosInf "inf" "Infinity.",
        NegInf "-inf" "Minus infinity.",
    }
}

impl Padding {
    /// The number, if it is one: its name is how it is written.
    pub fn number(self) -> Option<f64> {
        self.name().parse().ok()
    }
}

named! {
    /// The order that an access keeps with others, PTX ISA "Memory Consistency Model".
    #[derive(Default)]
    Order {
        #[default] Weak "weak" "None: nobody else may access the element at the time.",
        Relaxed "relaxed" "Atomic without order.",
        Acquire "acquire" "What follows stays behind.",
        Release "release" "What precedes stays before.",
        AcqRel "acq_rel" "Both.",
    }
}

named! {
    /// Who sees an ordered access.
    Scope {
        Block "block" "The block.",
        Device "device" "The device.",
        System "system" "All devices and the host.",
    }
}
