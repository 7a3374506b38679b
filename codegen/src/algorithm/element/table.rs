//! The table of elementwise functions: the operands, the result and the cost of each.
//!
//! # Examples
//! ```
//! use girih_codegen::algorithm::element::{Each, TABLE};
//!
//! assert_eq!((Each::Fma.row().name, Each::Fma.arity()), ("fma", 3));
//! assert!(TABLE.iter().all(|row| row.op.row().name == row.name));
//! ```

use super::Rounding;

/// Which dtypes a function takes, and what it does with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All but bool and restricted floats.
    Numbers,
    /// Floats; integers and bool are converted to f32.
    Floats,
    /// Floats alone.
    FloatsOnly,
    /// Integers alone.
    Integers,
    /// Integers and bool, of one dtype.
    Bits,
    /// Everything that has an order: numbers and bool.
    Ordered,
}

/// The dtype of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The operands' dtype.
    Same,
    /// bool.
    Bool,
}

/// The roundings that a function supports in addition to round-to-nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// None.
    No,
    /// The four directions.
    Directed,
    /// The four directions, and full and approximate f32.
    Division,
    /// The four directions, and approximate f32.
    Root,
    /// Full and approximate f32.
    Fast,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The function.
    pub op: Each,
    /// Its name in text.
    pub name: &'static str,
    /// Number of operands.
    pub arity: usize,
    /// The dtypes of the operands.
    pub takes: Takes,
    /// The dtype of the result.
    pub gives: Gives,
    /// How it rounds.
    pub rounds: Rounds,
    /// Whether it can flush subnormal f32 numbers to zero.
    pub ftz: bool,
    /// Issue slots of a warp for each element of 32 bits.
    pub cost: u32,
}

impl Rounds {
    /// Whether a function rounds like this, of f32.
    pub fn has(self, rounding: Rounding) -> bool {
        let fast = matches!(rounding, Rounding::Full | Rounding::Approx);
        match self {
            Rounds::No => false,
            Rounds::Directed => !fast,
            Rounds::Division => true,
            Rounds::Root => rounding != Rounding::Full,
            Rounds::Fast => fast,
        }
    }
}

macro_rules! table {
    ($($op:ident $name:literal $arity:literal $takes:ident $gives:ident $rounds:ident $ftz:literal $cost:literal $doc:literal;)*) => {
        /// A function that works element by element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Each {
            $(#[doc = $doc] $op),*
        }

        /// All functions.
        pub const TABLE: &[Row] = &[$(Row {
            op: Each::$op,
            name: $name,
            arity: $arity,
            takes: Takes::$takes,
            gives: Gives::$gives,
            rounds: Rounds::$rounds,
            ftz: $ftz,
            cost: $cost,
        }),*];
    };
}

table! {
    Add "add" 2 Numbers Same Directed true 1 "Sum; integers wrap.";
    Sub "sub" 2 Numbers Same Directed true 1 "Difference; integers wrap.";
    Mul "mul" 2 Numbers Same Directed true 1 "Product; integers wrap.";
    MulHi "mulhi" 2 Integers Same No false 2 "Upper half of the product.";
    TrueDiv "truediv" 2 Floats Same Division true 8 "Quotient.";
    FloorDiv "floordiv" 2 Numbers Same No false 12 "Quotient rounded down; of floats, of the quotient rounded to nearest. Of integers it is undetermined for a divisor of 0.";
    CeilDiv "cdiv" 2 Integers Same No false 12 "Quotient rounded up.";
    Mod "mod" 2 Numbers Same No false 12 "Remainder with the divisor's sign.";
    Pow "pow" 2 Floats Same No false 24 "Power.";
    Atan2 "atan2" 2 Floats Same No false 30 "Angle of the point (second, first).";
    Min "minimum" 2 Numbers Same No true 1 "The smaller.";
    Max "maximum" 2 Numbers Same No true 1 "The greater.";
    And "bitwise_and" 2 Bits Same No false 1 "Bitwise and.";
    Or "bitwise_or" 2 Bits Same No false 1 "Bitwise or.";
    Xor "bitwise_xor" 2 Bits Same No false 1 "Bitwise exclusive or.";
    Shl "bitwise_lshift" 2 Integers Same No false 1 "Shifted left. The amount counts as an unsigned number, beyond the width as the width.";
    Shr "bitwise_rshift" 2 Integers Same No false 1 "Shifted right, by amounts as of shifts to the left; signed ones keep their sign.";
    Not "bitwise_not" 1 Bits Same No false 1 "All bits the other way round.";
    Less "less" 2 Ordered Bool No false 1 "First below second; false for NaN.";
    LessEqual "less_equal" 2 Ordered Bool No false 1 "First at most second; false for NaN.";
    Greater "greater" 2 Ordered Bool No false 1 "First above second; false for NaN.";
    GreaterEqual "greater_equal" 2 Ordered Bool No false 1 "First at least second; false for NaN.";
    Equal "equal" 2 Ordered Bool No false 1 "Equal; false for NaN.";
    NotEqual "not_equal" 2 Ordered Bool No false 1 "Not equal; true for NaN.";
    Select "where" 3 Ordered Same No false 1 "The second where the first, a bool, is true, else the third.";
    Fma "fma" 3 FloatsOnly Same Directed true 1 "Product of the first two plus the third, rounded once.";
    Neg "negative" 1 Numbers Same No false 1 "Negative.";
    Abs "abs" 1 Numbers Same No false 1 "Magnitude.";
    Exp "exp" 1 Floats Same Fast true 6 "e to the power.";
    Exp2 "exp2" 1 Floats Same Fast true 4 "2 to the power.";
    Log "log" 1 Floats Same Fast true 6 "Natural logarithm.";
    Log2 "log2" 1 Floats Same Fast true 4 "Logarithm to base 2.";
    Sqrt "sqrt" 1 Floats Same Root true 8 "Square root.";
    Rsqrt "rsqrt" 1 Floats Same Fast true 4 "1 over the square root.";
    Sin "sin" 1 Floats Same Fast true 20 "Sine.";
    Cos "cos" 1 Floats Same Fast true 20 "Cosine.";
    Tan "tan" 1 Floats Same No false 30 "Tangent.";
    Sinh "sinh" 1 Floats Same No false 30 "Hyperbolic sine.";
    Cosh "cosh" 1 Floats Same No false 30 "Hyperbolic cosine.";
    Tanh "tanh" 1 Floats Same Fast false 20 "Hyperbolic tangent.";
    Erf "erf" 1 Floats Same No false 20 "Error function.";
    Sigmoid "sigmoid" 1 Floats Same No false 12 "1 / (1 + exp(-x)).";
    Floor "floor" 1 FloatsOnly Same No false 1 "Rounded down.";
    Ceil "ceil" 1 FloatsOnly Same No false 1 "Rounded up.";
    Round "round" 1 FloatsOnly Same No false 1 "Rounded to nearest, ties to even.";
    Trunc "trunc" 1 FloatsOnly Same No false 1 "Rounded toward zero.";
    IsNan "isnan" 1 FloatsOnly Bool No false 1 "Whether it is NaN.";
    IsInf "isinf" 1 FloatsOnly Bool No false 1 "Whether it is infinite.";
}

impl Each {
    /// The function's row.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Whether results of integers can be beyond their dtype in a way that a promise is about.
    pub fn overflows(self) -> bool {
        matches!(self, Each::Add | Each::Sub | Each::Mul | Each::Shl)
    }

    /// Number of operands.
    pub fn arity(self) -> usize {
        self.row().arity
    }
}
