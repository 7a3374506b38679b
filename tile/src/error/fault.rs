//! What an operation objects to: its name, its operands, and what would be accepted.

use std::fmt::Display;

use girih_codegen::algorithm::element::Rounding;
use girih_tensor::DType;

use crate::types::{Const, Dims, MAX_RANK, Order, Padding, Scope, Type};

/// Returns with an error unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $fault:expr $(,)?) => {
        if !$holds {
            return Err($fault);
        }
    };
}
pub(crate) use ensure;

/// Defines the enum of faults: each variant's name, its class in conformance records, its operands with their documentation, and its message.
macro_rules! faults {
    ($(#[$of:meta])* $name:ident { $($(#[$meta:meta])* $variant:ident $code:literal { $($field:ident: $ty:ty = $doc:literal),* $(,)? })* }) => {
        $(#[$of])*
        #[derive(Clone, Debug, PartialEq, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$meta])* $variant { $(#[doc = $doc] $field: $ty),* }),*
        }

        impl $name {
            /// The names of all variants, in order.
            pub const KINDS: &[&str] = &[$(stringify!($variant)),*];

            /// The name of the variant.
            pub const fn kind(&self) -> &'static str {
                match self { $($name::$variant { .. } => stringify!($variant)),* }
            }

            /// The class of the fault, as conformance records and `girih eval --tile` name it.
            pub const fn code(&self) -> &'static str {
                match self { $($name::$variant { .. } => $code),* }
            }
        }
    };
}

faults! {
    /// What an operation objects to. The place is added by who knows it ([`Diagnostic`](super::Diagnostic)).
    Fault {
        /// Shapes that do not broadcast.
        #[error("shapes {a} and {b} do not broadcast: {} and {} at axis {axis} of {}; equal extents, or 1, are accepted", extents[0], extents[1], a.rank().max(b.rank()))]
        Broadcast "broadcast" { a: Dims = "A shape.", b: Dims = "Another shape.", axis: usize = "The axis of the result.", extents: [u32; 2] = "The extents there." }
        /// A tile that does not stretch to a shape.
        #[error("a tile {from} does not broadcast to {to}: equal extents, or 1, are accepted, along {} axes or fewer", to.rank())]
        BroadcastTo "broadcast" { from: Dims = "The tile's shape.", to: Dims = "The shape." }
        /// An axis that the shape does not have.
        #[error("`{operation}` along axis {axis} where the rank is {rank}: {} accepted", axes(*rank))]
        AxisOutOfRange "axis_out_of_range" { operation: &'static str = "The operation.", axis: i64 = "The axis.", rank: usize = "The number of axes." }
        /// An axis named twice.
        #[error("`{operation}` over the axes {axes:?}: each axis is accepted once")]
        RepeatedAxis "repeated_axis" { operation: &'static str = "The operation.", axes: Vec<i64> = "The axes." }
        /// A list of axes for a function that has one.
        #[error("`{operation}` over several axes: {accepted} is accepted")]
        AxisTupleUnsupported "axis_tuple_unsupported" { operation: &'static str = "The operation.", accepted: &'static str = "What would be accepted." }
        /// An order of axes that is no permutation of the tile's.
        #[error("`{operation}` of a tile {tile} in the order {axes:?}: a permutation of the axes of the tile is accepted")]
        AxesRank "axes_rank" { operation: &'static str = "The operation.", tile: Dims = "The tile.", axes: Vec<i64> = "The axes." }
        /// A transpose of a tile without two axes.
        #[error("`transpose` of a tile {tile}: tiles of rank 2 or more are accepted")]
        TransposeRank "transpose_rank" { tile: Dims = "The tile." }
        /// A transpose that must name its axes.
        #[error("`transpose` of a tile {tile}: the two axes to exchange are accepted; only rank 2 has them without being named")]
        TransposeAxesRequired "transpose_axes_required" { tile: Dims = "The tile." }
        /// A shape that no tile has.
        #[error("a tile {shape:?}: at most {MAX_RANK} extents of 1 or more are accepted, 2^32 - 1 elements in all")]
        Extents "shape" { shape: Vec<i64> = "The extents." }
        /// An extent that is no power of two, where these are asked for.
        #[error("a tile {shape:?} in a kernel with `strict_pow2`: extents that are powers of two are accepted")]
        ShapeNotPow2 "shape_not_pow2" { shape: Vec<i64> = "The extents." }
        /// A new shape of another size.
        #[error("`reshape` of a tile {tile} to {shape:?}: a shape of {} elements and at most {MAX_RANK} axes is accepted", tile.size())]
        ReshapeSize "reshape_size" { tile: Dims = "The tile.", shape: Vec<i64> = "The extents." }
        /// More than one extent to be inferred, or one that does not divide.
        #[error("`reshape` of a tile {tile} to {shape:?}: one extent of -1 is accepted, if the product of the others divides {}", tile.size())]
        ReshapeInfer "reshape_infer" { tile: Dims = "The tile.", shape: Vec<i64> = "The extents." }
        /// Tiles to concatenate of different ranks, or of rank 0.
        #[error("`cat` of {a} and {b}: tiles of one rank, 1 or more, are accepted")]
        CatRank "cat_rank" { a: Type = "A tile.", b: Type = "The next one." }
        /// Tiles to concatenate, or to insert, of different dtypes.
        #[error("`{operation}` of {a} and {b}: tiles of one dtype are accepted")]
        CatDtype "cat_dtype" { operation: &'static str = "The operation.", a: Type = "A tile.", b: Type = "The other tile." }
        /// Tiles to concatenate that differ off the axis.
        #[error("`cat` of {a} and {b} along axis {axis}: tiles that are equal along the other axes are accepted")]
        CatShape "cat_shape" { a: Type = "A tile.", b: Type = "The next one.", axis: usize = "The axis." }
        /// An operation on a list of tiles without any.
        #[error("`{operation}` of no tiles: one or more are accepted")]
        NoTiles "shape" { operation: &'static str = "The operation." }
        /// A combination of tiles with another number of identities.
        #[error("`{operation}` of {tiles} tiles with {identities} identities: one or more tiles are accepted, with an identity for each")]
        Identities "shape" { operation: &'static str = "The operation.", tiles: usize = "The tiles.", identities: usize = "The identities." }
        /// A part outside of the tile.
        #[error("`{operation}` at {index:?} of a tile with {parts} parts: indices from 0 on that are below these numbers are accepted")]
        ExtractIndex "extract_index" { operation: &'static str = "The operation.", index: Vec<i64> = "The index.", parts: Dims = "Parts of the tile along each axis." }
        /// A part whose shape does not divide the tile's.
        #[error("`{operation}` of a part {part} of a tile {tile}: extents that divide the tile's are accepted")]
        ExtractDivisible "extract_divisible" { operation: &'static str = "The operation.", part: Dims = "The part.", tile: Dims = "The tile." }
        /// A number of elements that the axis does not have.
        #[error("`{operation}` of {count} elements along axis {axis}: {} are accepted", most.map_or("1 or more".into(), |most| format!("1 to {most}")))]
        Elements "shape" { operation: &'static str = "The operation.", count: u32 = "The elements.", axis: usize = "The axis.", most: Option<u32> = "The most, if there is a limit." }

        /// Another number of indices than there are axes.
        #[error("`{operation}` at {given} indices where the rank is {rank}: {rank} are accepted")]
        IndexRank "index_rank" { operation: &'static str = "The operation.", given: usize = "The indices.", rank: usize = "The number of axes." }
        /// An index that is no integer.
        #[error("`{operation}` at an index of {dtype}: integers are accepted")]
        IndexNonInteger "index_non_integer" { operation: &'static str = "The operation.", dtype: DType = "The index's dtype." }
        /// An index of a rank that the operation does not take.
        #[error("`{operation}` at an index that is a tile {tile}: {accepted} are accepted, and other tiles by `gather`")]
        IndexShape "shape" { operation: &'static str = "The operation.", tile: Dims = "The index.", accepted: &'static str = "What would be accepted." }
        /// A mask that does not consist of truth values.
        #[error("`{operation}` under a mask of {dtype}: bool is accepted")]
        MaskDtype "mask_dtype" { operation: &'static str = "The operation.", dtype: DType = "The mask's dtype." }
        /// A store that would narrow what it stores.
        #[error("`{operation}` of {value} in an array of {array}: dtypes that promote to {array} are accepted, and casts by `.to::<T>()`")]
        ImplicitCast "implicit_cast" { operation: &'static str = "The operation.", value: String = "The value's dtype, or the constant.", array: DType = "The array's dtype." }
        /// A store in an array that is only read.
        #[error("`{operation}` in the array `{array}`, which is `&Array`: `&mut Array` is accepted")]
        ReadOnly "unsupported" { operation: &'static str = "The operation.", array: String = "The array." }
        /// Tiles without an extent for each axis of the array, or without elements.
        #[error("`{operation}` by tiles {tile} of an array of rank {rank}: an extent of 1 or more for each axis is accepted")]
        TileRank "shape" { operation: &'static str = "The operation.", tile: Dims = "The tiles.", rank: usize = "The array's rank." }
        /// Steps that tiles do not have.
        #[error("`{operation}` by tiles {tile} at steps of {steps}: {accepted} is accepted for each axis")]
        Steps "shape" { operation: &'static str = "The operation.", tile: Dims = "The tiles.", steps: Dims = "Their steps.", accepted: &'static str = "What would be accepted." }
        /// A padding that the dtype does not have.
        #[error("`{operation}` of {dtype} with {padding:?} outside: {dtype} does not have it; zero is accepted")]
        Padding "integer_input_unsupported" { operation: &'static str = "The operation.", dtype: DType = "The array's dtype.", padding: Padding = "The padding." }
        /// An access of elements that are parts of a byte.
        #[error("`{operation}` of {dtype}, two elements in a byte: {accepted} are accepted")]
        PartOfByte "shape" { operation: &'static str = "The operation.", dtype: DType = "The dtype.", accepted: &'static str = "What would be accepted." }
        /// An axis that grids do not have.
        #[error("`{operation}` along axis {axis} of a grid: 0, 1 and 2 are accepted")]
        BidAxis3 "bid_axis_3" { operation: &'static str = "The operation.", axis: i64 = "The axis." }
        /// An order, or a scope, that the access does not have.
        #[error("{access} with the order {order} and {}: {accepted} is accepted", scope.map_or("no scope".into(), |scope| format!("the scope {scope}")))]
        MemoryOrderScope "memory_order_scope" { access: &'static str = "The access.", order: Order = "The order.", scope: Option<Scope> = "The scope.", accepted: String = "What would be accepted." }
        /// A stored tile of another shape than the view's tiles.
        #[error("`{operation}` of a tile {value} where tiles are {tile}: a tile that broadcasts to that shape is accepted")]
        StoreShape "store_shape" { operation: &'static str = "The operation.", value: Dims = "The value's shape.", tile: Dims = "The tiles." }
        /// A dtype that the atomic operation does not have.
        #[error("`{operation}` in an array of {dtype}: {} are accepted", list(*accepted))]
        AtomicDtype "atomic_dtype" { operation: &'static str = "The operation.", dtype: DType = "The array's dtype.", accepted: &'static [DType] = "The dtypes that it has." }
        /// A bitwise atomic operation with another dtype than the array's.
        #[error("`{operation}` of {value} in an array of {array}: {array} is accepted")]
        AtomicBitwiseDtypeMismatch "atomic_bitwise_dtype_mismatch" { operation: &'static str = "The operation.", value: DType = "The value's dtype.", array: DType = "The array's dtype." }
        /// An expected value for another atomic operation than a comparison, or none for that.
        #[error("`{operation}` with {given} expected values: one is accepted by `atomic_cas`, and none by others")]
        Expected "unsupported" { operation: &'static str = "The operation.", given: usize = "Expected values." }

        /// A signed and an unsigned integer, which have no common dtype.
        #[error("no common dtype of {a} and {b}, of which one is signed: a cast of one by `.to::<T>()` is accepted")]
        PromotionMixedSign "promotion_mixed_sign" { a: DType = "A dtype.", b: DType = "Another dtype." }
        /// f16 and bf16, which have no common dtype.
        #[error("no common dtype of {a} and {b}, of which neither holds the other's numbers: a cast of one by `.to::<T>()` is accepted")]
        PromotionF16Bf16 "promotion_f16_bf16" { a: DType = "A dtype.", b: DType = "Another dtype." }
        /// A restricted dtype (tf32, floats of up to 8 bits, integers of 4), which has no common dtype with another one.
        #[error("no common dtype of {a} and {b}: casts of tf32, of floats of up to 8 bits and of 4-bit integers by `.to::<T>()` are accepted")]
        PromotionRestrictedFloat "promotion_restricted_float" { a: DType = "A dtype.", b: DType = "Another dtype, or that of a constant." }
        /// A restricted dtype, which takes no part in arithmetic.
        #[error("`{operation}` takes no {dtype}, which is stored, cast and multiplied only: a cast by `.to::<T>()` is accepted")]
        NonArithmeticDtype "non_arithmetic_dtype" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// Truth values, which take no part in arithmetic.
        #[error("`{operation}` takes no bool: a cast to an integer by `.to::<i32>()` is accepted")]
        BoolArithmetic "bool_arithmetic" { operation: &'static str = "The operation." }
        /// A constant that its dtype cannot hold.
        #[error("the constant {constant} is not a number of {dtype}: {} are accepted", numbers(*dtype))]
        ConstOutOfRange "const_out_of_range" { constant: Const = "The constant.", dtype: DType = "The dtype." }
        /// Constants that no integer dtype holds.
        #[error("no integer dtype holds {}: integers of 64 bits are accepted, -2^63 to 2^63 - 1 or 0 to 2^64 - 1", list(constants))]
        ConstTooLarge "const_out_of_range" { constants: Vec<Const> = "The constants." }
        /// Constants to select from that are of another dtype without a tile.
        #[error("`select` of constants of {own}, which are {wanted} where they meet no tile: `strict(x)` is accepted, a constant with a dtype")]
        SelectConst "const_out_of_range" { own: DType = "The constants' dtype.", wanted: DType = "The dtype of the result." }
        /// A constant that would be narrowed, in the strict dialect.
        #[error("the constant {constant} would be narrowed to {dtype}: a constant of that dtype, or a cast of the tile, is accepted")]
        NarrowingConst "narrowing_const" { constant: Const = "The constant.", dtype: DType = "The dtype." }
        /// Bitwise operands of different dtypes.
        #[error("`{operation}` of {a} and {b}: equal dtypes are accepted")]
        BitwiseDtypeMismatch "bitwise_dtype_mismatch" { operation: &'static str = "The operation.", a: DType = "A dtype.", b: DType = "Another dtype." }
        /// A bitwise operation on floats.
        #[error("`{operation}` of {dtype}: integers and bool are accepted")]
        BitwiseNonInteger "bitwise_non_integer" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// A shift of or by something that is no integer.
        #[error("`{operation}` with {dtype}: integers are accepted")]
        ShiftNonInteger "shift_non_integer" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// Integers for a function of floats.
        #[error("`{operation}` of {dtype}: floats are accepted")]
        IntegerInputUnsupported "integer_input_unsupported" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// Floats for a function of integers.
        #[error("`{operation}` of {dtype}: integers are accepted")]
        FloatInputUnsupported "float_input_unsupported" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// A rounding mode for something that is no float.
        #[error("`{operation}` of {dtype} is not rounded: rounding modes are accepted for floats")]
        RoundingNeedsFloat "rounding_needs_float" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// A rounding mode that f32 alone has.
        #[error("`{operation}` of {dtype} does not round by {rounding:?}: f32 is accepted")]
        RoundingNeedsF32 "rounding_needs_f32" { operation: &'static str = "The operation.", dtype: DType = "The dtype.", rounding: Rounding = "The mode." }
        /// A rounding mode that the function does not have.
        #[error("`{operation}` that gives {dtype} does not round by {rounding:?}: {accepted:?} are accepted")]
        RoundingUnsupported "rounding_unsupported" { operation: &'static str = "The operation.", dtype: DType = "The result's dtype.", rounding: Rounding = "The mode.", accepted: Vec<Rounding> = "The modes that it has." }
        /// Flushing to zero, which f32 arithmetic alone has.
        #[error("`{operation}` of {dtype} does not flush to zero: f32 arithmetic is accepted")]
        FtzNeedsF32 "ftz_needs_f32" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// A promise about overflow for something that does not overflow.
        #[error("`{operation}` of {dtype} does not overflow: sums, differences, products and shifts to the left of integers are accepted")]
        Overflow "overflow" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// A bitcast between dtypes of different sizes.
        #[error("`bitcast` of {from} to {to}, of {} and {} bits: equal widths are accepted", from.bits(), to.bits())]
        BitcastWidth "bitcast_width" { from: DType = "The dtype.", to: DType = "The new dtype." }
        /// Bytes of elements that are no u8, or no whole number of elements.
        #[error("`{operation}` of {bytes} and {dtype}: u8 tiles of a whole number of elements are accepted, and elements of whole bytes")]
        PackedBytes "bitcast_width" { operation: &'static str = "The operation.", bytes: Type = "The tile.", dtype: DType = "The elements' dtype." }
        /// A bitcast from or to truth values.
        #[error("`{operation}` of bool, which has no bits of its own: numbers are accepted, and casts by `.to::<T>()`")]
        BitcastBool "bitcast_bool" { operation: &'static str = "The operation." }
        /// Nested constants of different lengths.
        #[error("`astile` of rows of shapes {:?} and {:?}: rows of one shape are accepted", shapes[0], shapes[1])]
        AstileRagged "astile_ragged" { shapes: [Vec<i64>; 2] = "The shape of the first row, and of another one." }
        /// Another number of constants than the shape has elements.
        #[error("a tile {tile} of {given} constants: {} are accepted", tile.size())]
        Constants "astile_ragged" { tile: Dims = "The tile.", given: usize = "The constants." }
        /// Random numbers of words that are no u32 tiles of one shape.
        #[error("`philox` of {} and {}: u32 tiles of one shape are accepted", words[0], words[1])]
        Philox "shape" { words: [Type; 2] = "The first word, and another one." }

        /// A product of tiles of unequal or unfit ranks.
        #[error("`{operation}` of {a} and {b}: tiles of rank 2 are accepted, of rank 3 with a batch axis, and of rank 1 by `matmul`")]
        MmaRank "mma_rank" { operation: &'static str = "The operation.", a: Dims = "The first operand.", b: Dims = "The second operand." }
        /// Operands of a product that do not fit.
        #[error("`{operation}` of {a} and {b}: (M,K) and (K,N) are accepted, here K = {}, and equal batches, or one of 1", a.last().copied().unwrap_or(1))]
        MmaShape "mma_shape" { operation: &'static str = "The operation.", a: Dims = "The first operand.", b: Dims = "The second operand." }
        /// An accumulator of another shape than the product's.
        #[error("`mma` into an accumulator {acc}: {accepted} is accepted, the shape of the product")]
        MmaAccShape "mma_acc_shape" { acc: Dims = "The accumulator.", accepted: Dims = "The shape of the product." }
        /// A dtype that no product takes.
        #[error("`{operation}` of {dtype}: f16, bf16, f32, tf32, f64, 8-bit floats, i8 and u8 are accepted")]
        MmaDtype "mma_dtype" { operation: &'static str = "The operation.", dtype: DType = "The dtype." }
        /// Operands of a product of dtypes that do not go together.
        #[error("`mma` of {a} and {b}: equal dtypes, two 8-bit floats, or i8 and u8, are accepted; casts are by `.to::<T>()`")]
        MmaDtypeMismatch "mma_dtype_mismatch" { a: DType = "The first operand's dtype.", b: DType = "The second operand's." }
        /// An accumulator of a dtype that the operands do not sum into.
        #[error("`mma` of {a} and {b} into {acc}: an accumulator of {} is accepted", list(*accepted))]
        MmaAccDtype "mma_acc_dtype" { a: DType = "The first operand's dtype.", b: DType = "The second operand's.", acc: DType = "The accumulator's.", accepted: &'static [DType] = "The dtypes of the accumulator that they have." }

        /// A condition or a bound that is no scalar, or of another dtype.
        #[error("{what} is {ty}: {accepted} is accepted")]
        Condition "condition" { what: &'static str = "The condition or bound.", ty: Type = "Its type.", accepted: &'static str = "What would be accepted." }
        /// A variable whose value changes its dtype or shape around a loop or between branches.
        #[error("{name} is {} {} and {} {}: one shape is accepted", types[0], places[0], types[1], places[1])]
        Carry "carry" { name: String = "The variable.", types: Box<[Type; 2]> = "Its types.", places: [&'static str; 2] = "Where it has them." }
        /// A combination whose results are not what it combines.
        #[error("a combination gives ({}): ({}) are accepted", list(given), list(accepted))]
        Combination "carry" { given: Vec<Type> = "Its results.", accepted: Vec<Type> = "What it combines." }
        /// A value of an `if` that cannot be carried out of it.
        #[error("the value of this run-time `if` is a `{ty}`: tiles, numbers, tuples and arrays of them are accepted, and types with `derive(Tiles)`")]
        IfValue "carry" { ty: &'static str = "The Rust type." }
        /// A value used outside of the loop iteration or branch that made it.
        #[error("`{operation}` of a value of a loop's body, or of a branch, that is closed: a variable that is carried is accepted; assign to it by its name where it is bound, or derive `Tiles` for its type")]
        Uncarried "uncarried" { operation: &'static str = "The operation, or the variable." }
        /// A value of another build.
        #[error("`{operation}` of a tile of another build: tiles are accepted while their kernel is built")]
        OtherBuild "uncarried" { operation: &'static str = "The operation, or the variable." }
        /// A build-time value that changes in a region that runs at run time.
        #[error("{name} is known while building and {changes}: a scalar is accepted, or a region that is decided while building")]
        HostState "host_state" { name: String = "The variable.", changes: &'static str = "Where it changes." }
        /// A body of a loop that came out different when it was built again.
        #[error("the body of this loop is another one when it is built again ({what}): a body is accepted that changes only what the loop carries")]
        Unstable "unstable" { what: String = "The operations that differ first." }
        /// A way out of a run-time region that it does not have.
        #[error("{what} inside of a run-time loop or branch: an `if` whose value is the result is accepted")]
        Leave "leave" { what: String = "The way out." }
        /// A way out of a loop of the build under a condition of the run time.
        #[error("`{what}` of a loop that runs while building, under a condition of the run time: a run-time loop is accepted, by `irange` or to a scalar")]
        LeaveUnrolled "leave" { what: String = "The way out." }
        /// A loop that never ends.
        #[error("this `loop` has no `break`: a loop that ends is accepted")]
        Endless "leave" {}
        /// A step of a range that is not positive.
        #[error("a range in steps of {step}: steps of 1 or more are accepted")]
        RangeStep "range_step" { step: i128 = "The step." }
        /// A static assertion that does not hold.
        #[error("{message}")]
        StaticAssertFalse "static_assert_false" { message: String = "The assertion's message." }
        /// A shape that is not known while building.
        #[error("an extent that is a value {ty} of the kernel: constants of the build are accepted")]
        ShapeFromRuntimeValue "shape_from_runtime_value" { ty: Type = "The value's type." }
        /// An extent that is no integer.
        #[error("an extent of {constant}: integers are accepted")]
        ExtentConst "shape" { constant: Const = "The constant." }
        /// A quotient by a number that is not positive, rounded up.
        #[error("`cdiv` of {dividend} by {divisor}: a divisor of 1 or more is accepted")]
        CeilDiv "shape" { dividend: i128 = "The dividend.", divisor: i128 = "The divisor." }
        /// A format whose conversions are not those of the values.
        #[error("`printf` by {format:?} of {values} values: a `%` with a letter is accepted for each, `%%` for a per cent sign, and no zero byte")]
        Format "unsupported" { format: String = "The format.", values: usize = "The values." }
        /// A conversion that does not print its value's dtype.
        #[error("`printf` by {format:?} with `%{conversion}` for {dtype}: %f, %e, %g, %a are accepted for floats and %d, %u, %x, %o for integers, without a length")]
        Conversion "unsupported" { format: String = "The format.", conversion: char = "The letter.", dtype: DType = "The dtype of the value." }

        /// A hint's value that is not among those accepted.
        #[error("`{hint} = {value}`{}: {accepted} is accepted", arch.map_or_else(String::new, |arch| format!(" on sm_{arch}")))]
        HintValue "hint_value" { hint: &'static str = "The hint.", value: i64 = "Its value.", arch: Option<u32> = "The architecture that it is for.", accepted: &'static str = "What would be accepted." }
        /// A hint that does not belong here.
        #[error("`{hint}` at the construct `{construct}`: {} are accepted for it", accepted.join(", "))]
        HintUnsupportedHere "hint_unsupported_here" { hint: &'static str = "The hint.", construct: &'static str = "The construct.", accepted: Vec<&'static str> = "The constructs that it belongs to." }
        /// A hint that there is not.
        #[error("no hint is called `{name}`: {} are accepted", accepted.join(", "))]
        HintName "hint_unsupported_here" { name: String = "The name.", accepted: Vec<&'static str> = "The hints." }
        /// An architecture that hints do not know.
        #[error("no architecture is called `{key}`: {} are accepted", list(accepted.iter().map(|arch| format!("sm_{arch}"))))]
        ArchKey "arch_key" { key: String = "The name.", accepted: &'static [u32] = "The architectures." }
        /// Stores of different blocks that are not proved disjoint.
        #[error("blocks are not proved to keep to elements of their own in `{array}`: {what}; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`")]
        Disjoint "disjoint" { array: String = "The array.", what: String = "The accesses, or two blocks that meet." }
        /// An access whose bounds are checked in the kernel, where that is denied.
        #[error("the bounds of an access of `{array}` along axis {axis} are checked in the kernel, which is denied: an extent that is known to be a multiple of the tile's, and an index that is a block's number or below the number of tiles, are accepted")]
        BoundsCheck "bounds_check" { array: String = "The array.", axis: usize = "The axis." }

        /// A number of warps that blocks do not have.
        #[error("{warps} warps of a block: 1, 2, 4, 8, 16 and 32 are accepted")]
        Warps "hint_value" { warps: u32 = "The warps." }
        /// A distribution that a value is pinned to and that its operation does not take.
        #[error("{value} is pinned to {pin}: a distribution of {threads} threads that covers the tile and that the operation takes is accepted")]
        Pin "shape" { value: String = "The value and its type.", pin: String = "The distribution.", threads: i64 = "The block's threads." }
        /// A tile of more elements than a thread holds.
        #[error("{tile}: {size} elements a thread in a block of {threads} threads; up to {most} are accepted")]
        TileSize "shape" { tile: String = "The tile, and where it is made.", size: usize = "Elements of a thread.", threads: u32 = "The block's threads.", most: usize = "The most." }
        /// Tiles of more registers than a thread has.
        #[error("tiles take {registers} registers of a thread in a block of {threads} threads, {most} are accepted: at a time live {live}")]
        Registers "shape" { registers: f64 = "Registers of a thread.", threads: u32 = "The block's threads.", most: f64 = "The most.", live: String = "The tiles that are live at a time." }
        /// Sums in memory that the device does not have.
        #[error("an atomic sum of {dtype} on sm_{sm}: sm_90 and later are accepted")]
        AtomicSum "unsupported" { dtype: DType = "The dtype.", sm: u32 = "The architecture." }
        /// A tile that is too large to be printed.
        #[error("`printf` of {ty}: tiles of at most {most} elements are accepted")]
        PrintSize "unsupported" { ty: Type = "The tile.", most: u64 = "The most elements." }
    }
}

/// Items as a list.
fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// The numbers of a dtype of integers or truth values, in words.
fn numbers(dtype: DType) -> String {
    dtype.range().map_or_else(|| "0 and 1".into(), |(least, most)| format!("{least} to {most}"))
}

/// The axes of a rank, in words.
fn axes(rank: usize) -> String {
    rank.checked_sub(1).map_or_else(|| "none is".into(), |last| format!("-{rank} to {last} are"))
}
