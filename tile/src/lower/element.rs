//! Elements of tiles in registers: wider dtypes to combine in, integers that order them, shared memory.

use girih_codegen::algorithm::{load_elements, store_elements};
use girih_codegen::plan::Dist;
use girih_codegen::{Cond, Expr, Reg};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Space};

use super::combine::Tuple;
use super::words::{immediate, m, of};
use super::{Lowering, register};
use crate::dtype::is_signed;
use crate::error::Result;
use crate::ir::Rounding;

/// The mask of all lanes.
const EVERY_LANE: i64 = 0xffff_ffff;

/// The untyped type of a register's size.
pub(super) fn bits_of(ty: Type) -> Type {
    match ty.bytes() {
        Some(8) => Type::B64,
        Some(2) => Type::B16,
        _ => Type::B32,
    }
}

/// The dtype in which elements are combined: integers below 32 bits in 32, f16 and bf16 in f32, bool as a number.
pub(super) fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 | DType::Tf32 => DType::F32,
        DType::S8 | DType::S16 => DType::S32,
        DType::U8 | DType::U16 | DType::Bool => DType::U32,
        same => same,
    }
}

/// Where NaN is in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NanAt {
    /// Before everything.
    First,
    /// Behind everything.
    Last,
}

/// The dtype of a [`Lowering::key`].
pub(super) fn key_dtype(dtype: DType) -> DType {
    if dtype.bits() == 64 { DType::S64 } else { DType::S32 }
}

/// The least number of a key, and the greatest.
pub(super) fn key_range(dtype: DType) -> (i64, i64) {
    if dtype.bits() == 64 { (i64::MIN, i64::MAX) } else { (i32::MIN.into(), i32::MAX.into()) }
}

/// Whether an integer's key has its highest bit the other way round.
fn turns(dtype: DType) -> bool {
    !is_signed(dtype) && dtype.bits() >= 32
}

impl Lowering<'_> {
    /// A predicate as 0 or 1.
    pub(super) fn number_of(&mut self, flag: &Reg) -> Reg {
        let operands = vec![Operand::Int(1), Operand::Int(0), Operand::from(flag)];
        self.make(Type::U32, Opcode::Selp, m![Type::U32], operands)
    }

    /// Whether a number is not 0.
    pub(super) fn flag_of(&mut self, number: &Reg) -> Reg {
        self.setp(Word::Ne, Type::U32, number, Operand::Int(0))
    }

    /// What the lane holds whose number differs in a bit.
    pub(super) fn butterfly(&mut self, tuple: &[Reg], bit: usize) -> Tuple {
        let other = |reg: &Reg| self.b.shuffle(reg.ty(), Word::Bfly, reg, &Operand::Int(1 << bit), 31);
        tuple.iter().map(other).collect()
    }

    /// One combination of the whole warp's 32-bit integers.
    pub(super) fn redux(&mut self, value: &Reg, word: Word, ty: Type) -> Reg {
        let operands = vec![Operand::from(value), Operand::Int(EVERY_LANE)];
        self.make(value.ty(), Opcode::Redux, m![Word::Sync, word, ty], operands)
    }

    /// An element in its [`wide`] dtype.
    pub(super) fn wide_of(&mut self, dtype: DType, value: &Reg) -> Result<Reg> {
        match dtype {
            DType::F16 | DType::Bf16 => self.convert_to(dtype, DType::F32, Rounding::Nearest, value),
            DType::Bool => Ok(self.number_of(value)),
            _ => Ok(value.clone()),
        }
    }

    /// An element of a dtype from its [`wide`] one: floats are rounded, integers wrap.
    pub(super) fn narrow_of(&mut self, dtype: DType, value: &Reg) -> Result<Reg> {
        match dtype {
            DType::F16 | DType::Bf16 => self.convert_to(DType::F32, dtype, Rounding::Nearest, value),
            DType::Bool => Ok(self.flag_of(value)),
            _ => Ok(self.extended(dtype, value)),
        }
    }

    /// A signed integer that is the smaller the earlier the element comes: the least first, or the greatest first. -0 equals 0.
    pub(super) fn key(&mut self, dtype: DType, value: &Reg, greatest_first: bool, nan: NanAt) -> Result<Reg> {
        let of_dtype = wide(dtype);
        let ty = register(key_dtype(dtype));
        let raw = bits_of(ty);
        let (least, most) = key_range(dtype);
        let value = self.wide_of(dtype, value)?;
        let mut rank = value.clone();
        if of_dtype.is_float() {
            let float = register(of_dtype);
            // -0 + 0 is 0.
            let operands = vec![Operand::from(&value), immediate(of_dtype, 0)];
            let plain = self.make(float, Opcode::Add, m![Word::Rn, float], operands);
            let bits = self.make(ty, Opcode::Mov, m![raw], of([&plain]));
            let shift = Operand::Int(i64::from(of_dtype.bits()) - 1);
            let sign = self.make(ty, Opcode::Shr, m![ty], vec![Operand::from(&bits), shift]);
            // The bits below the sign are the other way round in negative numbers.
            let turn = self.make(ty, Opcode::And, m![raw], vec![Operand::from(&sign), Operand::Int(most)]);
            rank = self.make(ty, Opcode::Xor, m![raw], of([&bits, &turn]));
        } else if turns(of_dtype) {
            rank = self.make(ty, Opcode::Xor, m![raw], vec![Operand::from(&rank), Operand::Int(least)]);
        }
        if greatest_first {
            rank = self.make(ty, Opcode::Not, m![raw], of([&rank]));
        }
        if !of_dtype.is_float() {
            return Ok(rank);
        }
        let is_nan = self.setp(Word::IsNan, register(of_dtype), &value, &value);
        let of_nan = Operand::Int(if nan == NanAt::First { least } else { most });
        let choice = vec![of_nan, Operand::from(&rank), Operand::from(&is_nan)];
        Ok(self.make(ty, Opcode::Selp, m![raw], choice))
    }

    /// The integer or the truth value of a dtype from its [`Lowering::key`].
    pub(super) fn of_key(&mut self, dtype: DType, key: &Reg, greatest_first: bool) -> Reg {
        let ty = register(wide(dtype));
        let raw = bits_of(ty);
        let mut value = key.clone();
        if greatest_first {
            value = self.make(ty, Opcode::Not, m![raw], of([&value]));
        }
        if turns(wide(dtype)) {
            let operands = vec![Operand::from(&value), Operand::Int(key_range(dtype).0)];
            value = self.make(ty, Opcode::Xor, m![raw], operands);
        }
        if dtype == DType::Bool { self.flag_of(&value) } else { value }
    }

    /// Stores an element, or neighbouring ones that are aligned as a whole, at an address in bytes of shared memory where `cond` holds.
    pub(super) fn put(&mut self, dtype: DType, address: &Expr, regs: &[Reg], cond: &Cond) -> Result {
        Ok(store_elements(&mut self.b, Space::Smem, dtype, address, cond, regs)?)
    }

    /// Loads neighbouring elements, which are aligned as a whole, from an address in bytes of shared memory where `cond` holds; elsewhere
    /// they are 0.
    pub(super) fn take(
        &mut self,
        dtype: DType,
        address: &Expr,
        count: usize,
        cond: &Cond,
    ) -> Result<Vec<Reg>> {
        Ok(load_elements(&mut self.b, Space::Smem, dtype, count, address, cond, Some(0))?)
    }

    /// The number that bits of the thread's number make, from the least significant one, times a weight.
    pub(super) fn weigh(&self, digits: &[usize], weight: i64) -> Result<Expr> {
        // Above the last bit is one that does not move.
        let mut bits = vec![None; digits.iter().map(|bit| bit + 2).max().unwrap_or(0)];
        digits.iter().enumerate().for_each(|(i, &bit)| bits[bit] = Some((0, weight << i)));
        Ok(Dist { bits, vals: Vec::new() }.coordinate(&self.thread, 1)?.swap_remove(0))
    }
}
