//! Functions that work element by element.

use girih_tensor::Element;

use super::operand::{IntoItem, Pair};
use super::{Tile, one};
use crate::elem::{Bits, Elem, Float, Integer, Num, ToFloat};
use crate::error::Fault;
use crate::ir::table::Each;
use crate::ir::{Nan, Overflow, Rounding};
use crate::ops::Mode;
use crate::stage::{each, refuse, with};

#[track_caller]
pub(super) fn binary<T>(op: Each, a: impl IntoItem, b: impl IntoItem) -> Tile<T> {
    Tile::of(each(op, &[a.item(), b.item()], Mode::default()))
}

#[track_caller]
pub(super) fn unary<T>(op: Each, a: impl IntoItem) -> Tile<T> {
    Tile::of(each(op, &[a.item()], Mode::default()))
}

impl Mode {
    /// Rounds to nearest, keeps subnormal numbers, and ignores NaN in minimum and maximum.
    pub fn new() -> Mode {
        Mode::default()
    }

    /// Rounds this way.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Mode {
        Mode { rounding: Some(rounding), ..self }
    }

    /// Flushes subnormal f32 numbers to zero.
    #[must_use]
    pub fn ftz(self) -> Mode {
        Mode { ftz: true, ..self }
    }

    /// Promises that integers stay in their range, as signed numbers, as unsigned ones, or as both: what the reference evaluator then gives where
    /// they do not is undetermined.
    #[must_use]
    pub fn overflow(self, overflow: Overflow) -> Mode {
        Mode { overflow, ..self }
    }

    /// Lets NaN win in minimum and maximum.
    #[must_use]
    pub fn propagate_nan(self) -> Mode {
        Mode { nan: Nan::Propagated, ..self }
    }
}

/// Functions of two operands, with what is asked of their common type, and the result's.
macro_rules! binaries {
    ($($name:ident $op:ident [$($bound:ident)?] $out:ty, $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name<A: Pair<B>, B: IntoItem>(a: A, b: B) -> Tile<$out>
        where
            $(A::Out: $bound,)?
        {
            binary(Each::$op, a, b)
        }
    )* };
}
binaries! {
    add Add [Num] A::Out, "Sum; integers wrap.";
    sub Sub [Num] A::Out, "Difference; integers wrap.";
    mul Mul [Num] A::Out, "Product; integers wrap.";
    minimum Min [Num] A::Out, "The smaller; a number where one of two is NaN.";
    maximum Max [Num] A::Out, "The greater; a number where one of two is NaN.";
    floordiv FloorDiv [Num] A::Out, "Quotient rounded down.";
    modulo Mod [Num] A::Out, "Remainder with the divisor's sign, as `%`.";
    mulhi MulHi [Integer] A::Out, "Upper half of the product.";
    bitwise_and And [Bits] A::Out, "Bitwise and, of bool and integers.";
    bitwise_or Or [Bits] A::Out, "Bitwise or, of bool and integers.";
    bitwise_xor Xor [Bits] A::Out, "Bitwise exclusive or, of bool and integers.";
    bitwise_lshift Shl [Integer] A::Out, "Shifted left.";
    bitwise_rshift Shr [Integer] A::Out, "Shifted right; signed integers keep their sign.";
    less Less [] bool, "`a < b`; false for NaN.";
    less_equal LessEqual [] bool, "`a <= b`; false for NaN.";
    greater Greater [] bool, "`a > b`; false for NaN.";
    greater_equal GreaterEqual [] bool, "`a >= b`; false for NaN.";
    equal Equal [] bool, "`a == b`; false for NaN.";
    not_equal NotEqual [] bool, "`a != b`; true for NaN.";
    truediv TrueDiv [ToFloat] <A::Out as ToFloat>::Out, "Quotient; integers become f32.";
    pow Pow [ToFloat] <A::Out as ToFloat>::Out, "The first to the power of the second; integers become f32.";
    atan2 Atan2 [ToFloat] <A::Out as ToFloat>::Out, "The angle of the point (second, first), in radians; integers become f32.";
}

/// The same with modes.
macro_rules! binaries_with {
    ($($name:ident $plain:ident $op:ident [$bound:ident] $out:ty, $modes:literal;)*) => { $(
        #[doc = concat!("[`", stringify!($plain), "`] with a rounding mode", $modes, ".")]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name<A: Pair<B>, B: IntoItem>(a: A, b: B, mode: Mode) -> Tile<$out>
        where
            A::Out: $bound,
        {
            Tile::of(each(Each::$op, &[a.item(), b.item()], mode))
        }
    )* };
}
binaries_with! {
    add_with add Add [Num] A::Out, ", flushing to zero, a rule for NaN, or a promise about overflow";
    sub_with sub Sub [Num] A::Out, ", flushing to zero, a rule for NaN, or a promise about overflow";
    mul_with mul Mul [Num] A::Out, ", flushing to zero, a rule for NaN, or a promise about overflow";
    minimum_with minimum Min [Num] A::Out, ", flushing to zero, a rule for NaN, or a promise about overflow";
    maximum_with maximum Max [Num] A::Out, ", flushing to zero, a rule for NaN, or a promise about overflow";
    truediv_with truediv TrueDiv [ToFloat] <A::Out as ToFloat>::Out, " or flushing to zero";
}

/// Quotient rounded down, and remainder with the divisor's sign.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn divmod<A: Pair<B>, B: IntoItem>(a: A, b: B) -> (Tile<A::Out>, Tile<A::Out>)
where
    A::Out: Num,
{
    (floordiv(a, b), modulo(a, b))
}

/// `a * b + c`, rounded once.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn fma<A, B, C>(a: A, b: B, c: C) -> Tile<<Tile<A::Out> as Pair<C>>::Out>
where
    A: Pair<B>,
    B: IntoItem,
    C: IntoItem,
    Tile<A::Out>: Pair<C>,
    <Tile<A::Out> as Pair<C>>::Out: Float,
{
    fma_with(a, b, c, Mode::default())
}

/// [`fma`] with a rounding mode or flushing to zero.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn fma_with<A, B, C>(a: A, b: B, c: C, mode: Mode) -> Tile<<Tile<A::Out> as Pair<C>>::Out>
where
    A: Pair<B>,
    B: IntoItem,
    C: IntoItem,
    Tile<A::Out>: Pair<C>,
    <Tile<A::Out> as Pair<C>>::Out: Float,
{
    Tile::of(each(Each::Fma, &[a.item(), b.item(), c.item()], mode))
}

/// Conditions of [`select`]: tiles of bool, and of numbers, which are true where they are not 0.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no condition by element",
    note = "tiles of bool and of numbers are"
)]
pub trait Mask: IntoItem {}

impl<T: ToFloat> Mask for Tile<T> {}

/// `x` where the condition is true, `y` elsewhere: NumPy's `where`. All three broadcast, `x` and `y` promote. Two constants are of `i32`, or of
/// `f32` if one of them is a float.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn select<A: Pair<B>, B: IntoItem>(condition: impl Mask, x: A, y: B) -> Tile<A::Out> {
    let chosen = each(Each::Select, &[condition.item(), x.item(), y.item()], Mode::default());
    let (own, wanted) = (with(|stage| stage.ty(chosen)), <A::Out as Element>::DTYPE);
    if let Some(own) = own.filter(|own| own.dtype != wanted) {
        refuse(Fault::SelectConst { own: own.dtype, wanted });
    }
    Tile::of(chosen)
}

/// [`select`], by NumPy's name.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn where_<A: Pair<B>, B: IntoItem>(condition: impl Mask, x: A, y: B) -> Tile<A::Out> {
    select(condition, x, y)
}

/// Functions of one tile, as functions and methods, by what they take and give.
macro_rules! unaries {
    ($($name:ident $op:ident $bound:ident $out:ty, $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name<T: $bound>(x: Tile<T>) -> Tile<$out> {
            unary(Each::$op, x)
        }

        impl<T: $bound> Tile<T> {
            #[doc = $doc]
            #[track_caller]
            #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
            pub fn $name(self) -> Tile<$out> {
                unary(Each::$op, self)
            }
        }
    )* };
}
unaries! {
    exp Exp ToFloat T::Out, "e to the power; integers become f32.";
    exp2 Exp2 ToFloat T::Out, "2 to the power; integers become f32.";
    log Log ToFloat T::Out, "Natural logarithm; integers become f32.";
    log2 Log2 ToFloat T::Out, "Logarithm to base 2; integers become f32.";
    sqrt Sqrt ToFloat T::Out, "Square root; integers become f32.";
    rsqrt Rsqrt ToFloat T::Out, "1 over the square root; integers become f32.";
    sin Sin ToFloat T::Out, "Sine of radians; integers become f32.";
    cos Cos ToFloat T::Out, "Cosine of radians; integers become f32.";
    tan Tan ToFloat T::Out, "Tangent of radians; integers become f32.";
    sinh Sinh ToFloat T::Out, "Hyperbolic sine; integers become f32.";
    cosh Cosh ToFloat T::Out, "Hyperbolic cosine; integers become f32.";
    tanh Tanh ToFloat T::Out, "Hyperbolic tangent; integers become f32.";
    erf Erf ToFloat T::Out, "Error function; integers become f32.";
    sigmoid Sigmoid ToFloat T::Out, "1 / (1 + exp(-x)); integers become f32.";
    floor Floor Float T, "Rounded down.";
    ceil Ceil Float T, "Rounded up.";
    round Round Float T, "Rounded to nearest, ties to even.";
    trunc Trunc Float T, "Rounded toward zero.";
    isnan IsNan Float bool, "Whether it is NaN.";
    isinf IsInf Float bool, "Whether it is infinite.";
    abs Abs Num T, "Magnitude.";
    negative Neg Num T, "Negative, as `-x`.";
    bitwise_not Not Bits T, "All bits the other way round, as `!x`.";
}

/// Functions of one tile with modes.
macro_rules! modes {
    ($($name:ident $plain:ident $op:ident;)*) => { $(
        #[doc = concat!("[`", stringify!($plain), "`] with a rounding mode or flushing to zero.")]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name<T: ToFloat>(x: Tile<T>, mode: Mode) -> Tile<T::Out> {
            Tile::of(each(Each::$op, &[x.item()], mode))
        }
    )* };
}
modes! {
    exp_with exp Exp;
    exp2_with exp2 Exp2;
    log_with log Log;
    log2_with log2 Log2;
    sqrt_with sqrt Sqrt;
    rsqrt_with rsqrt Rsqrt;
    sin_with sin Sin;
    cos_with cos Cos;
    tanh_with tanh Tanh;
}

/// Not below `low`, not above `high`.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn clamp<A: Pair<B>, B: IntoItem, C: IntoItem>(
    x: A,
    low: B,
    high: C,
) -> Tile<<Tile<A::Out> as Pair<C>>::Out>
where
    A::Out: Num,
    Tile<A::Out>: Pair<C>,
    <Tile<A::Out> as Pair<C>>::Out: Num,
{
    minimum(maximum(x, low), high)
}

impl<T: Elem> Tile<T> {
    /// Converts to another type: floats are rounded to nearest, floats become integers toward zero, integers wrap, bool is `!= 0`.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn to<U: Elem>(self) -> Tile<U> {
        self.to_rounded(Rounding::Nearest)
    }

    /// [`Tile::to`], by NumPy's name.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn astype<U: Elem>(self) -> Tile<U> {
        self.to()
    }

    operations! {
        /// [`Tile::to`] with a rounding mode.
        to_rounded<U>(rounding: Rounding) -> U { "astype", |build, value| build.cast(value, U::DTYPE, rounding) }

        /// The bits of each element as an element of a type that is as wide.
        bitcast<U>() -> U { "bitcast", |build, value| build.bitcast(value, U::DTYPE) }

        /// The bytes of all elements, row-major and little-endian.
        pack_to_bytes() -> u8 { "pack_to_bytes", |build, value| build.pack_to_bytes(value) }
    }
}

impl Tile<u8> {
    operations! {
        /// The elements, a tile of rank 1, whose bytes these are.
        unpack_from_bytes<U>() -> U { "unpack_from_bytes", |build, value| build.unpack_from_bytes(value, U::DTYPE) }
    }
}

impl<T: Num> Tile<T> {
    /// The smaller of the two, [`minimum`].
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn minimum<B: IntoItem>(self, b: B) -> Tile<<Tile<T> as Pair<B>>::Out>
    where
        Tile<T>: Pair<B>,
        <Tile<T> as Pair<B>>::Out: Num,
    {
        minimum(self, b)
    }

    /// The greater of the two, [`maximum`].
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn maximum<B: IntoItem>(self, b: B) -> Tile<<Tile<T> as Pair<B>>::Out>
    where
        Tile<T>: Pair<B>,
        <Tile<T> as Pair<B>>::Out: Num,
    {
        maximum(self, b)
    }
}

/// How many times `b` fits into `a`, rounded up: while building for numbers of Rust, at run time for scalars and tiles.
#[diagnostic::on_unimplemented(
    message = "no `cdiv` of `{Self}` by `{B}`",
    note = "integers of Rust of one type, and tiles of integers by tiles of the same type and by numbers, are accepted"
)]
pub trait CeilDiv<B>: Sized {
    #[doc(hidden)]
    fn cdiv(self, b: B) -> Self;
}

macro_rules! host_cdiv {
    ($($ty:ty),*) => { $(impl CeilDiv<$ty> for $ty {
        #[track_caller]
        fn cdiv(self, b: $ty) -> $ty {
            if b <= 0 {
                refuse(Fault::CeilDiv { dividend: self as i128, divisor: b as i128 });
                return 0;
            }
            self / b + <$ty>::from(self % b > 0)
        }
    })* };
}
host_cdiv!(i32, i64, u32, u64, usize);

impl<T: Integer> CeilDiv<Tile<T>> for Tile<T> {
    #[track_caller]
    fn cdiv(self, b: Tile<T>) -> Tile<T> {
        binary(Each::CeilDiv, self, b)
    }
}

macro_rules! tile_cdiv {
    ($($ty:ty),*) => { $(
        impl<T: Integer> CeilDiv<$ty> for Tile<T> {
            #[track_caller]
            fn cdiv(self, b: $ty) -> Tile<T> {
                binary(Each::CeilDiv, self, b as i64)
            }
        }
    )* };
}
tile_cdiv!(i32, i64, usize);

/// `a` over `b`, rounded up: of numbers of Rust while building, of scalars and tiles at run time.
#[track_caller]
pub fn cdiv<A: CeilDiv<B>, B>(a: A, b: B) -> A {
    a.cdiv(b)
}
