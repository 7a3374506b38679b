//! Scalars: the values that a thread computes with, each of one dtype.
//!
//! A [`Scalar`] is an expression, as an [`Expr`] is: operators and methods make larger scalars of smaller ones, and nothing is
//! written before the [builder](crate::builder) is asked for the register ([`Builder::scalar`](crate::Builder::scalar), stores,
//! conditions). The builder writes each operation once, in the outermost scope that has its operands. An operation that does not
//! fit (operands of two dtypes, an operation that a dtype does not have) is remembered with its line, and refused by the builder.
//!
//! Scalars have the dtypes that registers are computed in: [`COMPUTED`]. Floats of 16 bits are rounded after every operation;
//! an operation for which PTX has no instruction of such floats is done in f32 and then rounded. Two scalars that are
//! [written](crate::algorithm::write) to one register are computed together as far as they are the same operation (`add.f16x2`).
//! The PTX ISA states the errors of approximated functions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::rc::Rc;

use girih_tensor::DType;

use crate::expr::{Expr, VarId};

mod compare;
mod cond;
mod convert;
pub(crate) mod lower;
mod ops;

pub use compare::Compare;
pub use cond::{Cond, Predicate};
pub use convert::{IntoScalar, Rounding};
pub use lower::{computed, immediate, moved, register};
pub use ops::{Binary, Unary};

/// The dtypes that scalars have.
pub const COMPUTED: [DType; 8] =
    [DType::F64, DType::F32, DType::F16, DType::Bf16, DType::S64, DType::U64, DType::S32, DType::U32];

/// The most operations inside one another that an expression may have; [`Builder::hold`](crate::Builder::hold) begins anew.
const DEEPEST: u32 = 1000;

/// A value that a thread computes; the [module](self) says how.
///
/// # Examples
/// ```
/// use girih_codegen::{Builder, Scalar};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 32);
/// let x = b.hold(&Scalar::new(DType::F32, 0.5))?;
/// let sigmoid = 1.0 / ((-&x * std::f64::consts::LOG2_E).exp2() + 1.0);
/// b.scalar(&sigmoid)?;
/// let text = b.finish()?.module().to_string();
/// assert!(text.contains("ex2.approx.f32") && text.contains("div.rn.f32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scalar(Rc<Node>);

#[derive(Debug)]
struct Node {
    op: Op,
    dtype: DType,
    hash: u64,
    span: Span,
    fault: Option<Rc<Fault>>,
}

/// The depth of an expression, and the builder that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// The number of operations inside one another.
    pub(crate) depth: u32,
    /// The builder whose registers the expression has.
    pub(crate) home: Home,
}

/// The builder whose registers an expression has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Home {
    /// The expression has no registers.
    #[default]
    Nowhere,
    /// The expression has registers of the builder with this number.
    Builder(u64),
    /// The expression has registers of several builders, so that no builder can compute it.
    Several,
}

impl Span {
    /// The span of an operation on expressions with these spans.
    pub(crate) fn over(operands: impl IntoIterator<Item = Span>) -> Span {
        let both = |a: Span, b: Span| Span {
            depth: a.depth.max(b.depth),
            home: match (a.home, b.home) {
                (Home::Nowhere, home) | (home, Home::Nowhere) => home,
                (a, b) if a == b => a,
                _ => Home::Several,
            },
        };
        let all = operands.into_iter().fold(Span::default(), both);
        Span { depth: all.depth + 1, ..all }
    }
}

/// An operation that does not fit, and the line that wrote it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) site: &'static Location<'static>,
    pub(crate) what: String,
    pub(crate) accepted: String,
}

/// The operation that gives a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// The bits of a constant.
    Constant(u64),
    Register(VarId),
    /// The lower or the upper half of a register of 32 bits.
    Half(VarId, bool),
    Index(Expr),
    Unary(Unary, Scalar),
    Binary(Binary, Scalar, Scalar),
    /// The sum of the third operand and the product of the first two, rounded once.
    MulAdd(Scalar, Scalar, Scalar),
    /// The same, rounded towards zero.
    MulAddToZero(Scalar, Scalar, Scalar),
    Select(Cond, Scalar, Scalar),
    Convert(Rounding, Scalar),
    Faulty,
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.dtype == other.0.dtype && self.0.op == other.0.op
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Scalar {
    /// A constant of a dtype. Floats are rounded to nearest even; a number that an integer dtype does not have is refused where the
    /// scalar is used.
    #[track_caller]
    pub fn new(dtype: DType, value: f64) -> Scalar {
        convert::constant(dtype, value)
    }

    /// The lowest bits of an index expression as an integer of 32 or 64 bits.
    #[track_caller]
    pub fn index(expr: &Expr, dtype: DType) -> Scalar {
        match dtype {
            DType::S64 | DType::U64 | DType::S32 | DType::U32 => {
                Scalar::of(dtype, Op::Index(expr.clone()), &[])
            }
            _ => Scalar::fault(dtype, format!("an index as {dtype}"), "s64, u64, s32 and u32"),
        }
    }

    /// The scalar's dtype.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The f32 from which the scalar was rounded to nearest even, if it is a float of 16 bits that was made so.
    pub(crate) fn rounded_from_f32(&self) -> Option<&Scalar> {
        match &self.0.op {
            Op::Convert(Rounding::NearestEven, from) if from.dtype() == DType::F32 => Some(from),
            _ => None,
        }
    }

    pub(crate) fn op(&self) -> &Op {
        &self.0.op
    }

    pub(crate) fn faulty(&self) -> Option<&Fault> {
        self.0.fault.as_deref()
    }

    pub(crate) fn span(&self) -> Span {
        self.0.span
    }

    /// The value that a register holds.
    pub(crate) fn register(dtype: DType, id: VarId) -> Scalar {
        Scalar::node(dtype, Op::Register(id), Span { depth: 1, home: Home::Builder(id.home) }, None)
    }

    /// The lower or the upper half of the value that a register holds.
    pub(crate) fn half(dtype: DType, id: VarId, upper: bool) -> Scalar {
        Scalar::node(dtype, Op::Half(id, upper), Span { depth: 1, home: Home::Builder(id.home) }, None)
    }

    /// The constant with these bits.
    pub(crate) fn of_bits(dtype: DType, bits: u64) -> Scalar {
        Scalar::node(dtype, Op::Constant(bits), Span::default(), None)
    }

    /// A node over `operands`.
    #[track_caller]
    pub(crate) fn of(dtype: DType, op: Op, operands: &[&Scalar]) -> Scalar {
        let fault = operands.iter().find_map(|operand| operand.0.fault.clone());
        let of_cond = if let Op::Select(cond, ..) = &op { Some(cond.span()) } else { None };
        let span = Span::over(operands.iter().map(|operand| operand.span()).chain(of_cond));
        match fault {
            // The operands are not needed any more.
            Some(fault) => Scalar::node(dtype, Op::Faulty, Span::default(), Some(fault)),
            None if span.depth > DEEPEST => Scalar::too_deep(dtype),
            None => Scalar::node(dtype, op, span, None),
        }
    }

    fn node(dtype: DType, op: Op, span: Span, fault: Option<Rc<Fault>>) -> Scalar {
        let mut hasher = DefaultHasher::new();
        (dtype, &op).hash(&mut hasher);
        Scalar(Rc::new(Node { hash: hasher.finish(), op, dtype, span, fault }))
    }

    #[track_caller]
    fn too_deep(dtype: DType) -> Scalar {
        let what = format!("{DEEPEST} operations inside one another");
        Scalar::fault(dtype, what, "an expression whose parts `Builder::hold` keeps in registers")
    }

    /// A scalar that cannot be computed.
    #[track_caller]
    pub(crate) fn fault(dtype: DType, what: String, accepted: &str) -> Scalar {
        let fault = Fault { site: Location::caller(), what, accepted: accepted.into() };
        Scalar::node(dtype, Op::Faulty, Span::default(), Some(Rc::new(fault)))
    }
}
