//! Functions element by element, each an instruction or a few.

use girih_codegen::{Expr, Reg};
use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::words::{Words, integer, m, of};
use super::{Held, Lowering, register};
use crate::dtype::number::encode;
use crate::dtype::{Category, Const, category, is_integer, is_signed};
use crate::error::Result;
use crate::ir::table::Each;
use crate::ir::{Nan, Op, OpId, Rounding};

/// How a function is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) rounding: Rounding,
    pub(crate) ftz: bool,
    pub(crate) nan: Nan,
}

/// The word of a direction.
pub(crate) fn direction(rounding: Rounding) -> Word {
    match rounding {
        Rounding::Nearest => Word::Rn,
        Rounding::Zero => Word::Rz,
        Rounding::Down => Word::Rm,
        Rounding::Up => Word::Rp,
        Rounding::Full => Word::Full,
        Rounding::Approx => Word::Approx,
    }
}

impl Lowering<'_> {
    /// Lowers [`Kind::Each`](crate::ir::Kind::Each).
    pub(crate) fn each(&mut self, id: OpId, op: &Op, function: Each, how: How) -> Result {
        let result = op.results[0];
        let ty = self.plan.func.ty(result);
        if ty.dims.rank() == 0
            && let Some(expr) = self.scalar_each(function, &op.operands, ty.dtype)?
        {
            self.hold(result, Held::Index(expr));
            return Ok(());
        }
        let exact = how.rounding == Rounding::Nearest && !how.ftz;
        if function == Each::Mul && exact && self.scale_where_needed(id)? {
            return Ok(());
        }
        let dtype = self.plan.func.ty(op.operands[op.operands.len() - 1]).dtype;
        let operands = op.operands.iter().map(|&value| self.regs(value)).collect::<Result<Vec<_>, _>>()?;
        let size = self.plan.dist(result).size();
        if operands.iter().any(|regs| regs.len() != size) {
            return Err(self.misplaced(id));
        }
        let mut regs: Vec<Reg> = Vec::with_capacity(size);
        let full = how.rounding == Rounding::Full && !how.ftz;
        // Approximate ones are judged by the divisor alone.
        let judged = if full { &op.operands[1..] } else { &op.operands[..] };
        let divides = function == Each::TrueDiv && dtype == DType::F32 && (exact || full);
        if divides && judged.iter().all(|&value| self.is_judged(value)) {
            let pairs: Vec<_> = operands[0].iter().zip(&operands[1]).collect();
            regs = Words { b: &mut self.b }.quotients(&pairs, how.rounding)?;
        }
        for i in regs.len()..size {
            let args: Vec<&Reg> = operands.iter().map(|regs| &regs[i]).collect();
            // Elements that share their registers share the result.
            let same = (0..i).rev().take(1).find(|&k| operands.iter().all(|regs| regs[k] == regs[i]));
            let reg = match same {
                Some(k) => regs[k].clone(),
                None => self
                    .apply(function, how, dtype, &args)?
                    .ok_or_else(|| self.unsupported(id, "no instruction has this function"))?,
            };
            regs.push(reg);
        }
        if dtype == DType::F32 && function != Each::Select && ty.dtype == DType::F32 {
            self.compute_meanwhile(&regs);
        }
        self.hold_regs(result, regs)?;
        if ty.dims.rank() == 0 {
            self.narrow(function, &op.operands, result)?;
        }
        Ok(())
    }
}

impl Words<'_> {
    /// The register of a function's value for operands of a dtype; none where no instruction has it.
    pub(crate) fn apply(&mut self, op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Option<Reg>> {
        if op == Each::Select {
            let [cond, a, b] = args else { return Ok(None) };
            return Ok(Some(self.selp(dtype, cond, a, b)));
        }
        match category(dtype) {
            Category::Bool => Ok(self.bools(op, args)),
            Category::Integer => Ok(self.integers(op, dtype, args)),
            Category::Float => self.floats(op, how, dtype, args),
        }
    }

    fn bools(&mut self, op: Each, args: &[&Reg]) -> Option<Reg> {
        let pred = Type::Pred;
        let two = |low: &mut Self, opcode, a: &Reg, b: &Reg| low.make(pred, opcode, m![pred], of([a, b]));
        let a = *args.first()?;
        let not = |low: &mut Self, a: &Reg| low.make(pred, Opcode::Not, m![pred], of([a]));
        let Some(&b) = args.get(1) else { return (op == Each::Not).then(|| not(self, a)) };
        Some(match op {
            Each::And => two(self, Opcode::And, a, b),
            Each::Or => two(self, Opcode::Or, a, b),
            Each::Xor | Each::NotEqual => two(self, Opcode::Xor, a, b),
            Each::Equal => {
                let differ = two(self, Opcode::Xor, a, b);
                not(self, &differ)
            }
            Each::Less | Each::GreaterEqual => {
                let other = not(self, a);
                let less = two(self, Opcode::And, &other, b);
                if op == Each::Less { less } else { not(self, &less) }
            }
            Each::Greater | Each::LessEqual => {
                let other = not(self, b);
                let greater = two(self, Opcode::And, &other, a);
                if op == Each::Greater { greater } else { not(self, &greater) }
            }
            _ => return None,
        })
    }

    fn integers(&mut self, op: Each, dtype: DType, args: &[&Reg]) -> Option<Reg> {
        let (ty, wide) = (integer(dtype), dtype.bits() == 64);
        let bits = if wide { Type::B64 } else { Type::B32 };
        let signed = is_signed(dtype);
        let small = dtype.bits() < 32;
        let a = *args.first()?;
        let b = args.get(1).copied().unwrap_or(a);
        let two = |low: &mut Self, opcode, words: &[Modifier]| low.make(ty, opcode, words, of([a, b]));
        if let Some(word) = comparison(op, false) {
            return Some(self.setp(word, ty, a, Operand::from(b)));
        }
        let value = match op {
            Each::Add => two(self, Opcode::Add, m![ty]),
            Each::Sub => two(self, Opcode::Sub, m![ty]),
            Each::Mul => two(self, Opcode::Mul, m![Word::Lo, ty]),
            Each::MulHi if small => {
                let product = two(self, Opcode::Mul, m![Word::Lo, ty]);
                let by = Operand::Int(dtype.bits().into());
                return Some(self.make(ty, Opcode::Shr, m![ty], vec![Operand::from(&product), by]));
            }
            Each::MulHi => return Some(two(self, Opcode::Mul, m![Word::Hi, ty])),
            Each::FloorDiv | Each::CeilDiv | Each::Mod => self.division(op, dtype, a, b),
            Each::Min => return Some(two(self, Opcode::Min, m![ty])),
            Each::Max => return Some(two(self, Opcode::Max, m![ty])),
            Each::And => return Some(two(self, Opcode::And, m![bits])),
            Each::Or => return Some(two(self, Opcode::Or, m![bits])),
            Each::Xor => return Some(two(self, Opcode::Xor, m![bits])),
            Each::Shl | Each::Shr => {
                // Amounts are unsigned numbers of 32 bits, and from the width on all bits are shifted out.
                let by = if wide {
                    let inputs = vec![Operand::from(b), Operand::Int(64)];
                    let least = self.make(Type::U64, Opcode::Min, m![Type::U64], inputs);
                    self.make(Type::U32, Opcode::Cvt, m![Type::U32, Type::U64], of([&least]))
                } else {
                    b.clone()
                };
                if op == Each::Shr {
                    return Some(self.make(ty, Opcode::Shr, m![ty], of([a, &by])));
                }
                self.make(ty, Opcode::Shl, m![bits], of([a, &by]))
            }
            Each::Not => self.make(ty, Opcode::Not, m![bits], of([a])),
            Each::Neg => {
                let ty = if wide { Type::S64 } else { Type::S32 };
                self.make(register(dtype), Opcode::Neg, m![ty], of([a]))
            }
            Each::Abs if signed => self.make(ty, Opcode::Abs, m![ty], of([a])),
            Each::Abs => return Some(a.clone()),
            _ => return None,
        };
        Some(self.extended(dtype, &value))
    }

    /// Quotients and remainders, from those rounded toward zero.
    fn division(&mut self, op: Each, dtype: DType, a: &Reg, b: &Reg) -> Reg {
        let ty = integer(dtype);
        let bits = if dtype.bits() == 64 { Type::B64 } else { Type::B32 };
        let zero = Operand::Int(0);
        if !is_signed(dtype) && op == Each::Mod {
            return self.make(ty, Opcode::Rem, m![ty], of([a, b]));
        }
        let quotient = self.make(ty, Opcode::Div, m![ty], of([a, b]));
        if !is_signed(dtype) && op == Each::FloorDiv {
            return quotient;
        }
        let product = self.make(ty, Opcode::Mul, m![Word::Lo, ty], of([&quotient, b]));
        let rest = self.make(ty, Opcode::Sub, m![ty], of([a, &product]));
        let inexact = self.setp(Word::Ne, ty, &rest, zero.clone());
        let adjusted = if is_signed(dtype) {
            let signs = self.make(ty, Opcode::Xor, m![bits], of([&rest, b]));
            let word = if op == Each::CeilDiv { Word::Ge } else { Word::Lt };
            let away = self.setp(word, ty, &signs, zero);
            self.make(Type::Pred, Opcode::And, m![Type::Pred], of([&inexact, &away]))
        } else {
            inexact
        };
        let (from, by) = match op {
            Each::Mod => (&rest, Operand::from(b)),
            Each::CeilDiv => (&quotient, Operand::Int(1)),
            _ => (&quotient, Operand::Int(-1)),
        };
        let other = self.make(ty, Opcode::Add, m![ty], vec![Operand::from(from), by]);
        self.selp(dtype, &adjusted, &other, from)
    }

    fn floats(&mut self, op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Option<Reg>> {
        let native = self.native(op, how, dtype);
        if !native {
            // f32 holds twice the bits and more, so that the second rounding to nearest does no harm; in one direction it never does.
            let wide = args.iter().map(|reg| self.widened(dtype, reg)).collect::<Vec<_>>();
            let wide: Vec<&Reg> = wide.iter().collect();
            let Some(value) = self.floats(op, how, DType::F32, &wide)? else { return Ok(None) };
            if matches!(value.ty(), Type::Pred) {
                return Ok(Some(value));
            }
            return self.convert_float(DType::F32, dtype, how.rounding, &value).map(Some);
        }
        let ty = float(dtype);
        let (rounded, approximate) = (Some(direction(how.rounding)), Some(Word::Approx));
        // The instruction, and its first word.
        let (opcode, word) = match op {
            Each::Exp2 | Each::Rsqrt | Each::Log2 | Each::Sin | Each::Cos | Each::Tanh
                if dtype != DType::F32 =>
            {
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
            Each::IsNan => return Ok(Some(self.setp(Word::IsNan, ty, args[0], args[0]))),
            Each::IsInf => {
                let magnitude = self.make(register(dtype), Opcode::Abs, m![ty], of([args[0]]));
                let infinite = self.bits(dtype, encode(dtype, Const::Float(f64::INFINITY)))?;
                return Ok(Some(self.setp(Word::Eq, ty, &magnitude, &infinite)));
            }
            _ => return Ok(comparison(op, true).map(|word| self.setp(word, ty, args[0], args[1]))),
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
        let value = self.make(register(dtype), opcode, &words, args.iter().map(|&reg| reg.into()).collect());
        if extreme && how.nan == Nan::Propagated && dtype == DType::F64 {
            // PTX has no such minimum of f64.
            let unordered = self.setp(Word::IsNan, Type::F64, args[0], args[1]);
            let missing = self.bits(dtype, encode(dtype, Const::Float(f64::NAN)))?;
            return Ok(Some(self.selp(dtype, &unordered, &missing, &value)));
        }
        Ok(Some(value))
    }

    /// Whether PTX has a function for a dtype on the target.
    fn native(&self, op: Each, how: How, dtype: DType) -> bool {
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
                    || self.b.sm() >= 90 && matches!(op, Each::Add | Each::Sub | Each::Mul) && to_nearest
            }
            _ => true,
        }
    }
}

/// The type that instructions compute floats of a dtype in.
pub(crate) fn float(dtype: DType) -> Type {
    match dtype {
        DType::F64 => Type::F64,
        DType::F16 => Type::F16,
        DType::Bf16 => Type::Bf16,
        _ => Type::F32,
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

/// Whether an index expression is a number of an integer dtype whatever its registers hold.
pub(crate) fn fits(expr: &Expr, dtype: DType) -> bool {
    let ((lower, upper), (least, most)) = (expr.range(), crate::dtype::range(dtype));
    is_integer(dtype) && lower >= least && upper <= most
}
