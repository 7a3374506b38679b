//! Quotients of many f32 by one. The reciprocal is computed once, and each quotient takes four instructions instead of a division.
//!
//! ```text
//! y = RN(1/c)    d = RD(1/c)    h = RN((1 - c*d) * y)    d + h is 1/c but for 2^-46 of it, and h >= 0 keeps the sign of zeros
//! q = RN(x*d + RN(x*h))                                  within one unit of x/c in the last place
//! r = c*q - x                                            exact
//! RN(q - r*y) = RN(x/c)                                  P. Markstein, Computation of elementary functions on the IBM RS/6000, 1990
//! ```
//!
//! The last line holds where nothing overflows or loses bits below the least exponent: c from 2^-20 to 2^20, and x zero or |x| from 2^-100
//! to 2^100. A warp with another c or x divides by `div.rn`.
//!
//! Of quotients that need not be exact (`div.full`, two units in the last place), `x RN(1/c)` is within one and a half where 1/c is a normal number.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Rounding;
use super::convert::recast;
use super::register::{m, of, setp};
use crate::builder::{Builder, Cond, Reg};
use crate::{Error, Expr};

/// The fewest quotients by one number for which its reciprocal pays.
const FEWEST: usize = 8;
/// Quotients that one vote judges. Their numerators stay in registers until then.
const JUDGED: usize = 16;

/// The bits of 2^exponent as an f32.
const fn power(exponent: i64) -> i64 {
    (exponent + 127) << 23
}

/// The quotients of f32 by f32, rounded to nearest or to two units in the last place: of each pair, its first by its second.
#[track_caller]
pub fn quotients(b: &mut Builder, pairs: &[(&Reg, &Reg)], rounding: Rounding) -> Result<Vec<Reg>, Error> {
    let mut quotients: Vec<Option<Reg>> = vec![None; pairs.len()];
    for first in 0..pairs.len() {
        let (_, divisor) = pairs[first];
        let open = |at: &usize| quotients[*at].is_none() && pairs[*at].1 == divisor;
        let places: Vec<usize> = (first..pairs.len()).filter(open).collect();
        if places.first() != Some(&first) {
            continue;
        }
        let mut numerators: Vec<Reg> = Vec::new();
        for &at in &places {
            if !numerators.contains(pairs[at].0) {
                numerators.push(pairs[at].0.clone());
            }
        }
        let values = match rounding {
            _ if numerators.len() < FEWEST => {
                let divide = |x| divide(b, rounding, x, divisor);
                numerators.iter().map(divide).collect()
            }
            Rounding::Full => products_by(b, &numerators, divisor)?,
            _ => quotients_by(b, &numerators, divisor)?,
        };
        for at in places {
            let same = numerators.iter().position(|numerator| numerator == pairs[at].0);
            quotients[at] = same.map(|same| values[same].clone());
        }
    }
    Ok(quotients.into_iter().flatten().collect())
}

/// An instruction on f32 that rounds to nearest.
fn f32(b: &mut Builder, opcode: Opcode, inputs: Vec<Operand>) -> Reg {
    b.inst_to(Type::F32, opcode, m![Word::Rn, Type::F32], inputs)
}

fn divide(b: &mut Builder, rounding: Rounding, x: &Reg, divisor: &Reg) -> Reg {
    b.inst_to(Type::F32, Opcode::Div, m![rounding.word(), Type::F32], of([x, divisor]))
}

/// Whether bits, as an unsigned number, are neither of these two nor between them. As such numbers the bits of positive floats are ordered,
/// and those of negative ones are above.
fn outside(b: &mut Builder, bits: &Reg, least: i64, most: i64) -> Reg {
    let inputs = vec![Operand::from(bits), Operand::Int(-least)];
    let above = b.inst_to(Type::U32, Opcode::Add, m![Type::U32], inputs);
    setp(b, Word::Gt, Type::U32, &above, Operand::Int(most - least))
}

/// Products with the reciprocal of a divisor.
fn products_by(b: &mut Builder, numerators: &[Reg], divisor: &Reg) -> Result<Vec<Reg>, Error> {
    let y = f32(b, Opcode::Rcp, of([divisor]));
    let size = b.inst_to(Type::F32, Opcode::Abs, m![Type::F32], of([divisor]));
    let bits = recast(b, DType::F32, DType::U32, &size);
    let unfit = outside(b, &bits, power(-126), power(126));
    let values: Vec<Reg> = numerators.iter().map(|x| f32(b, Opcode::Mul, of([x, &y]))).collect();
    else_divide(b, unfit, (&values, numerators), divisor, Rounding::Full)?;
    Ok(values)
}

/// In a warp with a thread in which quotients are unfit, divides.
fn else_divide(
    b: &mut Builder,
    unfit: Reg,
    (values, numerators): (&[Reg], &[Reg]),
    divisor: &Reg,
    rounding: Rounding,
) -> Result<(), Error> {
    let unfit = b.cond_in(&unfit)?;
    let unfit = b.vote_any(&unfit)?;
    let block = b.open_block();
    b.leave(&block, &Cond::not(unfit), true)?;
    // A loop, since what is seldom done must not take the place of what is near it in the instruction cache.
    b.move_all(values, numerators)?;
    let count = Expr::from(values.len() as i64);
    b.for_range(&count, |b, _| {
        let quotient = divide(b, rounding, &values[0], divisor);
        let next: Vec<Reg> = values[1..].iter().cloned().chain([quotient]).collect();
        b.move_all(values, &next)
    })?;
    b.close_block(block)
}

fn quotients_by(b: &mut Builder, numerators: &[Reg], divisor: &Reg) -> Result<Vec<Reg>, Error> {
    let one = Operand::F32(1f32.to_bits());
    let y = f32(b, Opcode::Rcp, of([divisor]));
    let minus = b.inst_to(Type::F32, Opcode::Neg, m![Type::F32], of([divisor]));
    let d = b.inst_to(Type::F32, Opcode::Rcp, m![Word::Rm, Type::F32], of([divisor]));
    let rest = f32(b, Opcode::Fma, vec![Operand::from(&minus), Operand::from(&d), one]);
    let h = f32(b, Opcode::Mul, of([&rest, &y]));
    let minus_y = b.inst_to(Type::F32, Opcode::Neg, m![Type::F32], of([&y]));
    let bits = recast(b, DType::F32, DType::U32, divisor);
    let unfit = outside(b, &bits, power(-20), power(20));
    let mut quotients = Vec::with_capacity(numerators.len());
    for numerators in numerators.chunks(JUDGED) {
        let (mut least, mut most): (Option<Reg>, Option<Reg>) = (None, None);
        let mut values = Vec::with_capacity(numerators.len());
        for x in numerators {
            let xh = f32(b, Opcode::Mul, of([x, &h]));
            let q = f32(b, Opcode::Fma, of([x, &d, &xh]));
            let minus_x = b.inst_to(Type::F32, Opcode::Neg, m![Type::F32], of([x]));
            let r = f32(b, Opcode::Fma, of([divisor, &q, &minus_x]));
            values.push(f32(b, Opcode::Fma, of([&r, &minus_y, &q])));
            let size = b.inst_to(Type::F32, Opcode::Abs, m![Type::F32], of([x]));
            most = Some(match most {
                Some(most) => b.inst_to(Type::F32, Opcode::Max, m![Type::F32], of([&most, &size])),
                None => size,
            });
            // Twice the bits less one: no sign, and zero is the greatest number.
            let bits = recast(b, DType::F32, DType::U32, x);
            let twice = vec![Operand::from(&bits), Operand::Int(2), Operand::Int(-1)];
            let twice = b.inst_to(Type::U32, Opcode::Mad, m![Word::Lo, Type::U32], twice);
            least = Some(match least {
                Some(least) => b.inst_to(Type::U32, Opcode::Min, m![Type::U32], of([&least, &twice])),
                None => twice,
            });
        }
        let mut unfit = unfit.clone();
        let or =
            |b: &mut Builder, x: &Reg, y: &Reg| b.inst_to(Type::Pred, Opcode::Or, m![Type::Pred], of([x, y]));
        if let (Some(least), Some(most)) = (least, most) {
            let small = setp(b, Word::Lt, Type::U32, &least, Operand::Int(2 * power(-100) - 1));
            let bits = recast(b, DType::F32, DType::U32, &most);
            let great = setp(b, Word::Gt, Type::U32, &bits, Operand::Int(power(100)));
            unfit = or(b, &unfit, &small);
            unfit = or(b, &unfit, &great);
        }
        else_divide(b, unfit, (&values, numerators), divisor, Rounding::Nearest)?;
        quotients.extend(values);
    }
    Ok(quotients)
}
