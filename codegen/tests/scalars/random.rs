//! Random expressions, bit by bit.

use girih_codegen::scalar::COMPUTED;
use girih_codegen::{Cond, Scalar};
use girih_tensor::{DType, Element};
use half::bf16;
use proptest::prelude::*;

use super::Value::{self, Bf16, F16, F32, F64, S32, S64, U32, U64};
use super::{converted, run};

/// The result of `op` on the operands in their dtype, by the arithmetic of Rust.
macro_rules! numbers {
    ($a:expr, $b:expr, $float:expr, $integer:expr) => {
        match ($a, $b) {
            (F64(a), F64(b)) => F64($float(a, b)),
            (F32(a), F32(b)) => F32($float(a.into(), b.into()) as f32),
            (F16(a), F16(b)) => F16(Element::from_f64($float(a.into(), b.into()))),
            (Bf16(a), Bf16(b)) => Bf16(Element::from_f64($float(a.into(), b.into()))),
            (S64(a), S64(b)) => S64($integer(a.into(), b.into()) as i64),
            (U64(a), U64(b)) => U64($integer(a.into(), b.into()) as u64),
            (S32(a), S32(b)) => S32($integer(a.into(), b.into()) as i32),
            (U32(a), U32(b)) => U32($integer(a.into(), b.into()) as u32),
            _ => unreachable!("operands of one dtype"),
        }
    };
}

/// An operation on two scalars, which the builder and the host both do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Two {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    MulAdd,
    SelectLess,
    SelectEquals,
    SelectDiffers,
}

const TWO: [Two; 15] = [
    Two::Add,
    Two::Sub,
    Two::Mul,
    Two::Div,
    Two::Min,
    Two::Max,
    Two::And,
    Two::Or,
    Two::Xor,
    Two::Shl,
    Two::Shr,
    Two::MulAdd,
    Two::SelectLess,
    Two::SelectEquals,
    Two::SelectDiffers,
];

impl Two {
    /// The results of both; `None` for an operation that the dtype does not have, or whose result PTX leaves open.
    pub(super) fn apply(self, (x, a): &(Scalar, Value), (y, b): &(Scalar, Value)) -> Option<(Scalar, Value)> {
        let (a, b, float) = (*a, *b, a.dtype().is_float());
        let wrapping = |f: fn(i128, i128) -> i128| move |a: i128, b: i128| f(a, b);
        let none = |_: f64, _: f64| f64::NAN;
        let zero = |_: i128, _: i128| 0;
        // In f64, sums, products and quotients of two floats of at most 24 bits are exact enough to be rounded once more.
        Some(match self {
            Two::Add => (x + y, numbers!(a, b, |a: f64, b: f64| a + b, wrapping(|a, b| a + b))),
            Two::Sub => (x - y, numbers!(a, b, |a: f64, b: f64| a - b, wrapping(|a, b| a - b))),
            Two::Mul => (x * y, numbers!(a, b, |a: f64, b: f64| a * b, wrapping(|a, b| a.wrapping_mul(b)))),
            Two::Div if float => (x / y, numbers!(a, b, |a: f64, b: f64| a / b, zero)),
            Two::Div if b.bits() == 0 => return None,
            Two::Div => (x / y, numbers!(a, b, none, wrapping(|a, b| a / b))),
            Two::Min => (x.min(y), least(a, b, true)),
            Two::Max => (x.max(y), least(a, b, false)),
            Two::And if !float => (x & y, numbers!(a, b, none, wrapping(|a, b| a & b))),
            Two::Or if !float => (x | y, numbers!(a, b, none, wrapping(|a, b| a | b))),
            Two::Xor if !float => (x ^ y, numbers!(a, b, none, wrapping(|a, b| a ^ b))),
            Two::Shl | Two::Shr if b.dtype() == DType::U32 && !float => {
                let bits = a.dtype().bits();
                let by = (b.bits() as u32).min(bits);
                let left = matches!(self, Two::Shl);
                let moved = |a: i128| if left { a.checked_shl(by).unwrap_or(0) } else { a >> by };
                let value = numbers!(a, a, none, |a: i128, _: i128| moved(a));
                (if left { x << y } else { x >> y }, value)
            }
            Two::MulAdd if !float => {
                (x.mul_add(y, x), numbers!(a, b, none, wrapping(|a, b| a.wrapping_mul(b).wrapping_add(a))))
            }
            Two::MulAdd => match (a, b) {
                (F64(a), F64(b)) => (x.mul_add(y, x), F64(a.mul_add(b, a))),
                (F32(a), F32(b)) => (x.mul_add(y, x), F32(a.mul_add(b, a))),
                (F16(a), F16(b)) => (x.mul_add(y, x), F16(Element::from_f64(mul_add(a.into(), b.into())))),
                (Bf16(a), Bf16(b)) => (x.mul_add(y, x), Bf16(Element::from_f64(mul_add(a.into(), b.into())))),
                _ => return None,
            },
            Two::SelectLess => {
                (x.select(&x.less(y), y), if compared(a, b, |o| o == Some(-1)) { a } else { b })
            }
            Two::SelectEquals => {
                (y.select(&Cond::not(x.equals(y)), x), if compared(a, b, |o| o == Some(0)) { a } else { b })
            }
            Two::SelectDiffers => {
                (x.select(&x.differs(y), y), if compared(a, b, |o| o != Some(0)) { a } else { b })
            }
            _ => return None,
        })
    }
}

/// `a * b + a` of floats of 16 bits, rounded to odd: to round it once more gives the same as to round once.
fn mul_add(a: f64, b: f64) -> f64 {
    let (product, sum) = (a * b, a * b + a);
    // The exact difference between the true sum and `sum`.
    let part = sum - product;
    let lacks = (product - (sum - part)) + (a - part);
    if !sum.is_finite() || lacks == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if (lacks > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

fn order(a: Value, b: Value) -> Option<i32> {
    let of = |order: std::cmp::Ordering| order as i32;
    match (a, b) {
        (S64(a), S64(b)) => Some(of(a.cmp(&b))),
        (U64(a), U64(b)) => Some(of(a.cmp(&b))),
        _ => a.number().partial_cmp(&b.number()).map(of),
    }
}

fn compared(a: Value, b: Value, holds: impl Fn(Option<i32>) -> bool) -> bool {
    holds(order(a, b))
}

/// The smaller or the larger one; a number rather than NaN, and -0 below 0.
fn least(a: Value, b: Value, smaller: bool) -> Value {
    let nan = |value: Value| value.number().is_nan();
    let sign = |value: Value| !value.number().is_sign_negative();
    match order(a, b) {
        _ if nan(a) => b,
        _ if nan(b) => a,
        Some(0) if a.dtype().is_float() => {
            if (sign(a) <= sign(b)) == smaller {
                a
            } else {
                b
            }
        }
        order => {
            if (order <= Some(0)) == smaller {
                a
            } else {
                b
            }
        }
    }
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    let value = (0..COMPUTED.len(), any::<u64>(), -40..40i32, any::<bool>()).prop_map(
        |(which, bits, small, plain)| {
            let dtype = COMPUTED[which];
            if plain {
                converted(F32(small as f32 / 4.0), dtype).unwrap()
            } else {
                Value::of_bits(dtype, bits)
            }
        },
    );
    proptest::collection::vec(value, 1..6)
}

/// An operation: its kind, its number, and the numbers of its operands among the values so far.
pub(super) type Step = (u8, usize, usize, usize);

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..4u8, any::<usize>(), any::<usize>(), any::<usize>()), 1..40)
}

/// The scalars that the steps make, and their values on the host.
pub(super) fn grown(mut all: Vec<(Scalar, Value)>, steps: &[Step]) -> Vec<(Scalar, Value)> {
    for &(kind, which, i, j) in steps {
        let (left, right) = (all[i % all.len()].clone(), all[j % all.len()].clone());
        let (x, a) = &left;
        let dtype = a.dtype();
        let made = match kind {
            0 => {
                let to = COMPUTED[which % COMPUTED.len()];
                converted(*a, to).map(|value| (x.to(to), value))
            }
            1 => Some(match a {
                F64(v) => (-x, F64(-v)),
                F32(v) => (x.abs(), F32(v.abs())),
                F16(v) => (-x, F16(-*v)),
                Bf16(v) => (x.abs(), Bf16(bf16::from_f32(v.to_f32().abs()))),
                S64(v) => (!x, S64(!v)),
                U64(v) => (x.count_ones(), U32(v.count_ones())),
                S32(v) => (-x, S32(v.wrapping_neg())),
                U32(v) => (x.leading_zeros(), U32(v.leading_zeros())),
            }),
            _ => {
                let op = TWO[which % TWO.len()];
                let shifts = matches!(op, Two::Shl | Two::Shr);
                let same = right.1.dtype() == dtype || shifts;
                if same { op.apply(&left, &right) } else { None }
            }
        };
        all.extend(made);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn kernels_compute_what_the_host_computes(inputs in values(), steps in steps()) {
        let mut wanted = Vec::new();
        let found = run(&inputs, |_, scalars| {
            let all = grown(scalars.into_iter().zip(inputs.iter().copied()).collect(), &steps);
            wanted = all.iter().map(|(_, value)| value.bits()).collect();
            Ok(all.into_iter().map(|(scalar, _)| scalar).collect())
        });
        prop_assert_eq!(found, wanted, "{:?} {:?}", inputs, steps);
    }

    /// Constants give the same results as loaded values.
    #[test]
    fn constants_are_values(numbers in proptest::collection::vec((0..COMPUTED.len(), -100..100i32), 1..6), steps in steps()) {
        let constants = || numbers.iter().map(|&(which, number)| {
            let dtype = COMPUTED[which];
            let number = if matches!(dtype, DType::U64 | DType::U32) { number.abs() } else { number };
            (Scalar::new(dtype, number.into()), converted(S32(number), dtype).or(converted(F32(number as f32), dtype)).unwrap())
        });
        let all = grown(constants().collect(), &steps);
        let found = run(&[], |_, _| Ok(all.iter().map(|(scalar, _)| scalar.clone()).collect()));
        let wanted: Vec<u64> = all.iter().map(|(_, value)| value.bits()).collect();
        prop_assert_eq!(found, wanted, "{:?} {:?}", numbers, steps);
    }
}
