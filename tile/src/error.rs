//! Errors of tile programs.
//!
//! # Examples
//! ```
//! use girih_tile::error::{Code, Error};
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn sums(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let sum = x.tiles([8]).load((0,)) + x.tiles([16]).load((0,));
//!     y.tiles_mut([16]).store((0,), sum);
//! }
//!
//! // All that is wrong is told at once, each with its place.
//! let Err(Error::Build(found)) = sums::ir() else { unreachable!("8 and 16 do not broadcast") };
//! assert_eq!(found[0].fault.code, Code::Broadcast);
//! assert!(found[0].site.line > 0);
//! ```

#[cfg(feature = "launch")]
mod launch;

use std::fmt;

#[cfg(feature = "launch")]
pub use launch::{LaunchError, Warning, Warnings};

/// A [`Fault`] of a class, with a message as `format!` takes it.
macro_rules! fault {
    ($code:expr, $($message:tt)+) => { $crate::error::Fault::new($code, format!($($message)+)) };
}

/// Refuses by a [`fault!`].
macro_rules! bail {
    ($($fault:tt)+) => { return Err($crate::error::fault!($($fault)+)) };
}

/// Refuses by a [`fault!`] unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($fault:tt)+) => { if !$holds { $crate::error::bail!($($fault)+) } };
}
pub(crate) use {bail, ensure, fault};

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

named! {
    /// The class of an error that building a kernel reports, as conformance records and `girih eval --tile` name it.
    Code {
        Broadcast "broadcast" "Shapes that do not broadcast.",
        PromotionMixedSign "promotion_mixed_sign" "A signed and an unsigned integer have no common dtype.",
        PromotionF16Bf16 "promotion_f16_bf16" "f16 and bf16 have no common dtype.",
        PromotionRestrictedFloat "promotion_restricted_float" "A restricted float (tf32, 8-bit floats) has no common dtype with another one.",
        NonArithmeticDtype "non_arithmetic_dtype" "A restricted float takes no part in arithmetic.",
        BoolArithmetic "bool_arithmetic" "Truth values take no part in arithmetic.",
        ConstOutOfRange "const_out_of_range" "A constant that its dtype cannot hold.",
        NarrowingConst "narrowing_const" "A constant that would be narrowed, in the strict dialect.",
        BitwiseDtypeMismatch "bitwise_dtype_mismatch" "Bitwise operands of different dtypes.",
        BitwiseNonInteger "bitwise_non_integer" "Bitwise operation on floats.",
        ShiftNonInteger "shift_non_integer" "Shift of or by something that is no integer.",
        IntegerInputUnsupported "integer_input_unsupported" "The function takes no integers.",
        FloatInputUnsupported "float_input_unsupported" "The function takes no floats.",
        RoundingNeedsFloat "rounding_needs_float" "A rounding mode for something that is no float.",
        RoundingNeedsF32 "rounding_needs_f32" "A rounding mode that f32 alone has.",
        RoundingUnsupported "rounding_unsupported" "A rounding mode that the function does not have.",
        FtzNeedsF32 "ftz_needs_f32" "Flushing to zero is for f32 alone.",
        AxisOutOfRange "axis_out_of_range" "An axis that the shape does not have.",
        RepeatedAxis "repeated_axis" "An axis named twice.",
        AxisTupleUnsupported "axis_tuple_unsupported" "The function takes one axis.",
        AxesRank "axes_rank" "A permutation of another number of axes than the tile has.",
        TransposeRank "transpose_rank" "A transpose of a tile without two axes.",
        TransposeAxesRequired "transpose_axes_required" "A transpose that must name its axes.",
        ReshapeSize "reshape_size" "A new shape of another size.",
        ReshapeInfer "reshape_infer" "More than one extent to be inferred, or one that does not divide.",
        ShapeNotPow2 "shape_not_pow2" "An extent that is no power of two, where these are asked for.",
        CatShape "cat_shape" "Tiles to concatenate that differ off the axis.",
        CatDtype "cat_dtype" "Tiles to concatenate of different dtypes.",
        CatRank "cat_rank" "Tiles to concatenate of different ranks, or of rank 0.",
        ExtractIndex "extract_index" "A part outside of the tile.",
        ExtractDivisible "extract_divisible" "A part whose shape does not divide the tile's.",
        IndexRank "index_rank" "Another number of indices than the array has axes.",
        IndexNonInteger "index_non_integer" "An index that is no integer.",
        MaskDtype "mask_dtype" "A mask that does not consist of truth values.",
        ImplicitCast "implicit_cast" "A store that would narrow what it stores.",
        BitcastWidth "bitcast_width" "A bitcast between dtypes of different sizes.",
        BitcastBool "bitcast_bool" "A bitcast from or to truth values.",
        AstileRagged "astile_ragged" "Nested constants of different lengths.",
        MmaShape "mma_shape" "Operands of a product that do not fit.",
        MmaAccShape "mma_acc_shape" "An accumulator of another shape than the product's.",
        MmaRank "mma_rank" "A product of tiles of unequal or unfit ranks.",
        MmaDtype "mma_dtype" "A dtype that no product takes.",
        MmaDtypeMismatch "mma_dtype_mismatch" "Operands of a product of dtypes that do not go together.",
        MmaAccDtype "mma_acc_dtype" "An accumulator of a dtype that the operands do not sum into.",
        AtomicDtype "atomic_dtype" "A dtype that the atomic operation does not have.",
        AtomicBitwiseDtypeMismatch "atomic_bitwise_dtype_mismatch" "A bitwise atomic operation with another dtype than the array's.",
        MemoryOrderScope "memory_order_scope" "An order, or a scope, that the access does not have.",
        HintValue "hint_value" "A hint's value that is not among those accepted.",
        ArchKey "arch_key" "An architecture that hints do not know.",
        HintUnsupportedHere "hint_unsupported_here" "A hint that does not belong here.",
        RangeStep "range_step" "A step of a range that is not positive.",
        StaticAssertFalse "static_assert_false" "A static assertion that does not hold.",
        ShapeFromRuntimeValue "shape_from_runtime_value" "A shape that is not known while building.",
        BidAxis3 "bid_axis_3" "An axis that grids do not have.",
        TileItemAssignment "tile_item_assignment" "Elements of a tile cannot be assigned: tiles are values.",
        StoreShape "store_shape" "A stored tile of another shape than the view's tiles.",
        Carry "carry" "A variable whose value changes its dtype or shape around a loop or between branches.",
        Uncarried "uncarried" "A value used outside of the loop iteration or branch that made it.",
        HostState "host_state" "A build-time value that changes in a region that runs at run time.",
        Unstable "unstable" "A body of a loop that came out different when it was built again.",
        Leave "leave" "A way out of a region that a run-time region does not have.",
        Condition "condition" "A condition that is not of rank 0.",
        Disjoint "disjoint" "Stores of different blocks that are not proved disjoint.",
        BoundsCheck "bounds_check" "An access whose bounds are checked in the kernel, where that is denied.",
        Overflow "overflow" "A promise about overflow for something that does not overflow.",
        Shape "shape" "A shape or size that the operation does not take.",
        Unsupported "unsupported" "Something that this version does not build.",
    }
}

/// What an operation objects to: the class, and a message that names the operands and what would be accepted. The place is added by
/// who knows it ([`Diagnostic`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The class.
    pub code: Code,
    /// The operation, its operands, and what is accepted.
    pub message: String,
}

impl Fault {
    /// A fault of this class.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into() }
    }
}

/// A place in the source of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Site {
    /// The place of the caller.
    #[track_caller]
    pub fn caller() -> Site {
        Site::from(std::panic::Location::caller())
    }

    /// Whether a place in a kernel is this one.
    pub(crate) fn is(&self, place: &girih_ptx::Site) -> bool {
        (self.file, self.line, self.column) == (&*place.file, place.line, place.column)
    }
}

impl From<&'static std::panic::Location<'static>> for Site {
    fn from(at: &'static std::panic::Location<'static>) -> Site {
        Site { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl From<Site> for girih_codegen::Line {
    fn from(Site { file, line, column }: Site) -> girih_codegen::Line {
        girih_codegen::Line { file, line, column }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A fault at its place, with the helpers through which the kernel came there, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub site: Site,
    /// What.
    pub fault: Fault,
    /// The helper functions on the way, each with the place of its call.
    pub stack: Vec<(&'static str, Site)>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.site, self.fault)?;
        self.stack.iter().try_for_each(|(name, site)| write!(f, "\n  in `{name}`, called at {site}"))
    }
}

/// A result whose error is that of tile programs.
pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a tile program does not become a kernel, or does not run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is wrong; all that was found.
    #[error("{}", list(.0))]
    Build(Vec<Diagnostic>),
    /// No placement fits the device.
    #[error("placement: {0}")]
    Place(Fault),
    /// Something that is not lowered to PTX.
    #[error("lowering: {0}")]
    Lower(Fault),
    /// Code generation refused.
    #[error(transparent)]
    Codegen(#[from] girih_codegen::Error),
    /// A text that is no tile program.
    #[error("line {line}: {message}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what is accepted.
        message: String,
    },
    /// A launch, or an array for one, that is refused.
    #[cfg(feature = "launch")]
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The simulator found something wrong in the kernel of a launch.
    #[cfg(feature = "launch")]
    #[error("{words}\n  {error}")]
    Finding {
        /// The user's operation and its place, and what is wrong as far as the program says it.
        words: String,
        /// The finding, with the instruction and the thread.
        error: std::sync::Arc<girih_device::Error>,
    },
    /// The device refused.
    #[cfg(feature = "launch")]
    #[error("{0}")]
    Device(std::sync::Arc<girih_device::Error>),
    /// A program that breaks a rule of the representation: an operation, and the rule.
    #[error("verification: {0}")]
    Verify(String),
}

impl From<girih_layout::Error> for Error {
    fn from(error: girih_layout::Error) -> Error {
        Error::Codegen(error.into())
    }
}

#[cfg(feature = "launch")]
impl From<girih_device::Error> for Error {
    fn from(error: girih_device::Error) -> Error {
        Error::Device(std::sync::Arc::new(error))
    }
}

fn list(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}
