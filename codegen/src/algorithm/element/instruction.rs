//! Functions of elements that are one instruction or a few.

use std::panic::Location;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::convert::{float_to_float, widened};
use super::register::{constant, extended, float, integer, m, of, selp, setp};
use super::{Each, How, Nan, Rounding};
use crate::Error;
use crate::builder::{Builder, Reg};
use crate::scalar::register;

/// A function of elements in registers of `dtype`, which is that of the last operand; the result is a register of the function's dtype
/// ([`Gives`](super::Gives)). `None` for a function that is no instruction or a few.
///
/// # Errors
/// [`Error`] for a rounding that the target does not have.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::element::{Each, How, apply, constant};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 90, 32);
/// let [x, y] = [3.0, 4.0].map(|x| constant(&mut b, DType::Bf16, DType::Bf16.encode(x)));
/// let sum = apply(&mut b, Each::Add, How::default(), DType::Bf16, &[&x?, &y?])?;
/// assert!(sum.is_some() && b.finish()?.module().to_string().contains("add.rn.bf16"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn apply(b: &mut Builder, op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Option<Reg>, Error> {
    if op == Each::Select {
        let [cond, x, y] = args else { return Ok(None) };
        return Ok(Some(selp(b, dtype, cond, x, y)));
    }
    b.on_behalf(Location::caller(), |b| match dtype {
        DType::Bool => Ok(bools(b, op, args)),
        _ if dtype.is_float() => floats(b, op, how, dtype, args),
        _ => Ok(integers(b, op, dtype, args)),
    })
}

fn bools(b: &mut Builder, op: Each, args: &[&Reg]) -> Option<Reg> {
    let pred = Type::Pred;
    let two = |b: &mut Builder, opcode, x: &Reg, y: &Reg| b.inst_to(pred, opcode, m![pred], of([x, y]));
    let x = *args.first()?;
    let not = |b: &mut Builder, x: &Reg| b.inst_to(pred, Opcode::Not, m![pred], of([x]));
    let Some(&y) = args.get(1) else { return (op == Each::Not).then(|| not(b, x)) };
    Some(match op {
        Each::And => two(b, Opcode::And, x, y),
        Each::Or => two(b, Opcode::Or, x, y),
        Each::Xor | Each::NotEqual => two(b, Opcode::Xor, x, y),
        Each::Equal => {
            let differ = two(b, Opcode::Xor, x, y);
            not(b, &differ)
        }
        Each::Less | Each::GreaterEqual => {
            let other = not(b, x);
            let less = two(b, Opcode::And, &other, y);
            if op == Each::Less { less } else { not(b, &less) }
        }
        Each::Greater | Each::LessEqual => {
            let other = not(b, y);
            let greater = two(b, Opcode::And, &other, x);
            if op == Each::Greater { greater } else { not(b, &greater) }
        }
        _ => return None,
    })
}

fn integers(b: &mut Builder, op: Each, dtype: DType, args: &[&Reg]) -> Option<Reg> {
    let (ty, wide) = (integer(dtype), dtype.bits() == 64);
    let bits = if wide { Type::B64 } else { Type::B32 };
    let signed = dtype.is_signed();
    let small = dtype.bits() < 32;
    let x = *args.first()?;
    let y = args.get(1).copied().unwrap_or(x);
    let two = |b: &mut Builder, opcode, words: &[Modifier]| b.inst_to(ty, opcode, words, of([x, y]));
    if let Some(word) = comparison(op, false) {
        return Some(setp(b, word, ty, x, Operand::from(y)));
    }
    let value = match op {
        Each::Add => two(b, Opcode::Add, m![ty]),
        Each::Sub => two(b, Opcode::Sub, m![ty]),
        Each::Mul => two(b, Opcode::Mul, m![Word::Lo, ty]),
        Each::MulHi if small => {
            let product = two(b, Opcode::Mul, m![Word::Lo, ty]);
            let by = Operand::Int(dtype.bits().into());
            return Some(b.inst_to(ty, Opcode::Shr, m![ty], vec![Operand::from(&product), by]));
        }
        Each::MulHi => return Some(two(b, Opcode::Mul, m![Word::Hi, ty])),
        Each::FloorDiv | Each::CeilDiv | Each::Mod => division(b, op, dtype, x, y),
        Each::Min => return Some(two(b, Opcode::Min, m![ty])),
        Each::Max => return Some(two(b, Opcode::Max, m![ty])),
        Each::And => return Some(two(b, Opcode::And, m![bits])),
        Each::Or => return Some(two(b, Opcode::Or, m![bits])),
        Each::Xor => return Some(two(b, Opcode::Xor, m![bits])),
        Each::Shl | Each::Shr => {
            // Amounts are unsigned numbers of 32 bits, and from the width on all bits are shifted out.
            let by = if wide {
                let inputs = vec![Operand::from(y), Operand::Int(64)];
                let least = b.inst_to(Type::U64, Opcode::Min, m![Type::U64], inputs);
                b.inst_to(Type::U32, Opcode::Cvt, m![Type::U32, Type::U64], of([&least]))
            } else {
                y.clone()
            };
            if op == Each::Shr {
                return Some(b.inst_to(ty, Opcode::Shr, m![ty], of([x, &by])));
            }
            b.inst_to(ty, Opcode::Shl, m![bits], of([x, &by]))
        }
        Each::Not => b.inst_to(ty, Opcode::Not, m![bits], of([x])),
        Each::Neg => {
            let ty = if wide { Type::S64 } else { Type::S32 };
            b.inst_to(register(dtype), Opcode::Neg, m![ty], of([x]))
        }
        Each::Abs if signed => b.inst_to(ty, Opcode::Abs, m![ty], of([x])),
        Each::Abs => return Some(x.clone()),
        _ => return None,
    };
    Some(extended(b, dtype, &value))
}

/// Quotients and remainders, from those rounded toward zero.
fn division(b: &mut Builder, op: Each, dtype: DType, x: &Reg, y: &Reg) -> Reg {
    let ty = integer(dtype);
    let bits = if dtype.bits() == 64 { Type::B64 } else { Type::B32 };
    let zero = Operand::Int(0);
    if !dtype.is_signed() && op == Each::Mod {
        return b.inst_to(ty, Opcode::Rem, m![ty], of([x, y]));
    }
    let quotient = b.inst_to(ty, Opcode::Div, m![ty], of([x, y]));
    if !dtype.is_signed() && op == Each::FloorDiv {
        return quotient;
    }
    let product = b.inst_to(ty, Opcode::Mul, m![Word::Lo, ty], of([&quotient, y]));
    let rest = b.inst_to(ty, Opcode::Sub, m![ty], of([x, &product]));
    let inexact = setp(b, Word::Ne, ty, &rest, zero.clone());
    let adjusted = if dtype.is_signed() {
        let signs = b.inst_to(ty, Opcode::Xor, m![bits], of([&rest, y]));
        let word = if op == Each::CeilDiv { Word::Ge } else { Word::Lt };
        let away = setp(b, word, ty, &signs, zero);
        b.inst_to(Type::Pred, Opcode::And, m![Type::Pred], of([&inexact, &away]))
    } else {
        inexact
    };
    let (from, by) = match op {
        Each::Mod => (&rest, Operand::from(y)),
        Each::CeilDiv => (&quotient, Operand::Int(1)),
        _ => (&quotient, Operand::Int(-1)),
    };
    let other = b.inst_to(ty, Opcode::Add, m![ty], vec![Operand::from(from), by]);
    selp(b, dtype, &adjusted, &other, from)
}

fn floats(b: &mut Builder, op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Option<Reg>, Error> {
    let native = native(b, op, how, dtype);
    if !native {
        // f32 holds twice the bits and more, so that the second rounding to nearest does no harm; in one direction it never does.
        let wide = args.iter().map(|reg| widened(b, dtype, reg)).collect::<Vec<_>>();
        let wide: Vec<&Reg> = wide.iter().collect();
        let Some(value) = floats(b, op, how, DType::F32, &wide)? else { return Ok(None) };
        if matches!(value.ty(), Type::Pred) {
            return Ok(Some(value));
        }
        return float_to_float(b, DType::F32, dtype, how.rounding, &value).map(Some);
    }
    let ty = float(dtype);
    let (rounded, approximate) = (Some(how.rounding.word()), Some(Word::Approx));
    // The instruction, and its first word.
    let (opcode, word) = match op {
        Each::Exp2 | Each::Rsqrt | Each::Log2 | Each::Sin | Each::Cos | Each::Tanh if dtype != DType::F32 => {
            return Ok(None);
        }
        Each::Add => (Opcode::Add, rounded),
        Each::Sub => (Opcode::Sub, rounded),
        Each::Mul => (Opcode::Mul, rounded),
        Each::Fma => (Opcode::Fma, rounded),
        Each::TrueDiv => (Opcode::Div, rounded),
        Each::Sqrt => (Opcode::Sqrt, rounded),
        Each::Neg => (Opcode::Neg, None),
        Each::Abs => (Opcode::Abs, None),
        Each::Min => (Opcode::Min, None),
        Each::Max => (Opcode::Max, None),
        Each::Exp2 => (Opcode::Ex2, approximate),
        Each::Rsqrt => (Opcode::Rsqrt, approximate),
        Each::Log2 => (Opcode::Lg2, approximate),
        Each::Sin => (Opcode::Sin, approximate),
        Each::Cos => (Opcode::Cos, approximate),
        Each::Tanh => (Opcode::Tanh, approximate),
        Each::Floor => (Opcode::Cvt, Some(Word::Rmi)),
        Each::Ceil => (Opcode::Cvt, Some(Word::Rpi)),
        Each::Round => (Opcode::Cvt, Some(Word::Rni)),
        Each::Trunc => (Opcode::Cvt, Some(Word::Rzi)),
        Each::IsNan => return Ok(Some(setp(b, Word::IsNan, ty, args[0], args[0]))),
        Each::IsInf => {
            let magnitude = b.inst_to(register(dtype), Opcode::Abs, m![ty], of([args[0]]));
            let infinite = constant(b, dtype, dtype.encode(f64::INFINITY))?;
            return Ok(Some(setp(b, Word::Eq, ty, &magnitude, &infinite)));
        }
        _ => return Ok(comparison(op, true).map(|word| setp(b, word, ty, args[0], args[1]))),
    };
    let mut words: Vec<Modifier> = word.into_iter().map(Modifier::from).collect();
    if how.ftz && dtype == DType::F32 && op != Each::Tanh {
        words.push(Word::Ftz.into());
    }
    let extreme = matches!(op, Each::Min | Each::Max);
    if extreme && how.nan == Nan::Propagated && dtype != DType::F64 {
        words.push(Word::Nan.into());
    }
    words.push(ty.into());
    if opcode == Opcode::Cvt {
        words.push(ty.into());
    }
    let value = b.inst_to(register(dtype), opcode, &words, args.iter().map(|&reg| reg.into()).collect());
    if extreme && how.nan == Nan::Propagated && dtype == DType::F64 {
        // PTX has no such minimum of f64.
        let unordered = setp(b, Word::IsNan, Type::F64, args[0], args[1]);
        let missing = constant(b, dtype, dtype.encode(f64::NAN))?;
        return Ok(Some(selp(b, dtype, &unordered, &missing, &value)));
    }
    Ok(Some(value))
}

/// Whether PTX has a function for a dtype on the target.
fn native(b: &Builder, op: Each, how: How, dtype: DType) -> bool {
    let to_nearest = how.rounding == Rounding::Nearest;
    let compared = comparison(op, true).is_some();
    match dtype {
        DType::F16 => {
            matches!(op, Each::Neg | Each::Abs | Each::Min | Each::Max)
                || matches!(op, Each::Floor | Each::Ceil | Each::Round | Each::Trunc)
                || matches!(op, Each::IsNan | Each::IsInf)
                || compared
                || matches!(op, Each::Add | Each::Sub | Each::Mul | Each::Fma) && to_nearest
        }
        DType::Bf16 => {
            matches!(op, Each::Neg | Each::Abs | Each::Min | Each::Max)
                || op == Each::Fma && to_nearest
                || b.sm() >= 90 && matches!(op, Each::Add | Each::Sub | Each::Mul) && to_nearest
        }
        _ => true,
    }
}

fn comparison(op: Each, float: bool) -> Option<Word> {
    Some(match op {
        Each::Less => Word::Lt,
        Each::LessEqual => Word::Le,
        Each::Greater => Word::Gt,
        Each::GreaterEqual => Word::Ge,
        Each::Equal => Word::Eq,
        // The unordered comparison, which holds for NaN.
        Each::NotEqual if float => Word::Neu,
        Each::NotEqual => Word::Ne,
        _ => return None,
    })
}
