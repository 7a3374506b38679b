//! Vectors of elements between memory and registers: elements of less than 32 bits travel several to a register.

use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Space};

use super::memory::Path;
use super::words::{immediate, m, moved, of};
use super::{Lowering, bytes, register};
use crate::dtype::is_signed;
use crate::error::Error;
use crate::fit;

/// The type and number of the registers that an access of `count` elements has.
fn carriers(dtype: DType, count: usize) -> (Type, usize) {
    let size = bytes(dtype);
    match size {
        8 if dtype == DType::F64 => (Type::F64, count),
        8 => (Type::B64, count),
        4 if matches!(dtype, DType::F32 | DType::Tf32) => (Type::F32, count),
        4 => (Type::B32, count),
        _ => match size * count as i64 {
            1 => (Type::U8, 1),
            2 if size == 2 && register(dtype) == Type::B16 => (Type::B16, 1),
            2 => (Type::U16, 1),
            all => (Type::B32, fit::size(all / 4)),
        },
    }
}

impl Lowering<'_> {
    /// Loads `count` neighbouring elements, which are aligned as a whole, where `cond` holds; elsewhere they are `pad`, or anything.
    pub(crate) fn load_elements(
        &mut self,
        space: Space,
        dtype: DType,
        count: usize,
        address: &Expr,
        cond: &Cond,
        pad: Option<u64>,
    ) -> Result<Vec<Reg>, Error> {
        self.load_path(&Path::plain(space), dtype, count, address, cond, pad)
    }

    /// Stores neighbouring elements, which are aligned as a whole, where `cond` holds.
    pub(crate) fn store_elements(
        &mut self,
        space: Space,
        dtype: DType,
        address: &Expr,
        cond: &Cond,
        regs: &[Reg],
    ) -> Result<(), Error> {
        self.store_path(&Path::plain(space), dtype, address, cond, regs)
    }

    pub(crate) fn load_path(
        &mut self,
        path: &Path,
        dtype: DType,
        count: usize,
        address: &Expr,
        cond: &Cond,
        pad: Option<u64>,
    ) -> Result<Vec<Reg>, Error> {
        let (ty, words) = carriers(dtype, count);
        // Bytes and halves are loaded into registers of 32 bits.
        let reg_ty = if matches!(ty, Type::U8 | Type::U16) { Type::U32 } else { ty };
        let got = self.b.regs(reg_ty, words);
        if let (Some(bits), false) = (pad, *cond == Cond::Always) {
            let (bits, initial) = match words {
                _ if bytes(dtype) >= 4 => (immediate(dtype, bits), moved(dtype)),
                _ if ty == Type::B16 => (Operand::Int(bits as i64), Type::B16),
                _ => {
                    let size = 8 * fit::word(bytes(dtype));
                    let repeated = (0..32 / size).fold(0u32, |all, i| all | fit::low(bits) << (i * size));
                    let one = if ty == Type::B32 { repeated } else { fit::low(bits) };
                    (Operand::Int(i64::from(one as i32)), Type::B32)
                }
            };
            for reg in &got {
                self.b.inst(Opcode::Mov, m![initial], vec![Operand::from(reg), bits.clone()]);
            }
        }
        let at = self.b.address(address, width(path.space))?;
        let mut modifiers = path.words.clone();
        modifiers.extend(lanes(words));
        modifiers.push(ty.into());
        self.b.inst_if(cond, Opcode::Ld, &modifiers, vec![list(&got), at])?;
        Ok(self.unpack(dtype, count, &got))
    }

    pub(crate) fn store_path(
        &mut self,
        path: &Path,
        dtype: DType,
        address: &Expr,
        cond: &Cond,
        regs: &[Reg],
    ) -> Result<(), Error> {
        if *cond == Cond::Never {
            return Ok(());
        }
        let (ty, words) = carriers(dtype, regs.len());
        let packed = self.pack(dtype, regs);
        let at = self.b.address(address, width(path.space))?;
        let mut modifiers = path.words.clone();
        modifiers.extend(lanes(words));
        modifiers.push(ty.into());
        Ok(self.b.inst_if(cond, Opcode::St, &modifiers, vec![at, list(&packed)])?)
    }

    /// The elements that loaded registers have.
    fn unpack(&mut self, dtype: DType, count: usize, words: &[Reg]) -> Vec<Reg> {
        let size = bytes(dtype);
        if size >= 4 {
            return words.to_vec();
        }
        if register(dtype) == Type::B16 {
            if count == 1 {
                return words.to_vec();
            }
            let mut out = Vec::new();
            for word in words {
                let halves = self.b.regs(Type::B16, 2);
                self.b.inst(Opcode::Mov, m![Type::B32], vec![list(&halves), Operand::from(word)]);
                out.extend(halves);
            }
            return out;
        }
        let each = (count / words.len()).max(1);
        let mut out = Vec::new();
        for word in words {
            for i in 0..each {
                let (at, bits) = (Operand::Int(i as i64 * 8 * size), Operand::Int(8 * size));
                out.push(match dtype {
                    DType::Bool => {
                        let mask = vec![Operand::from(word), Operand::Int(0xff << (8 * i))];
                        let byte = self.make(Type::U32, Opcode::And, m![Type::B32], mask);
                        self.setp(Word::Ne, Type::U32, &byte, Operand::Int(0))
                    }
                    // Bytes and halves that are loaded alone are extended by zeros.
                    _ if count == 1 && !is_signed(dtype) => word.clone(),
                    _ => {
                        let ty = if is_signed(dtype) { Type::S32 } else { Type::U32 };
                        self.make(ty, Opcode::Bfe, m![ty], vec![Operand::from(word), at, bits])
                    }
                });
            }
        }
        out
    }

    /// The registers in which elements are stored.
    pub(super) fn pack(&mut self, dtype: DType, regs: &[Reg]) -> Vec<Reg> {
        let size = bytes(dtype);
        if size >= 4 || register(dtype) == Type::B16 && regs.len() == 1 {
            return regs.to_vec();
        }
        if register(dtype) == Type::B16 {
            let pairs = regs.chunks(2);
            return pairs
                .map(|pair| self.make(Type::B32, Opcode::Mov, m![Type::B32], vec![list(pair)]))
                .collect();
        }
        let numbers: Vec<Reg> = match dtype {
            DType::Bool => {
                let one = |low: &mut Self, reg: &Reg| {
                    let inputs = vec![Operand::Int(1), Operand::Int(0), Operand::from(reg)];
                    low.make(Type::U32, Opcode::Selp, m![Type::B32], inputs)
                };
                regs.iter().map(|reg| one(self, reg)).collect()
            }
            _ => regs.to_vec(),
        };
        if numbers.len() == 1 {
            return numbers;
        }
        let join = |low: &mut Self, a: &Reg, b: &Reg, selector: i64| {
            let mut inputs = of([a, b]);
            inputs.push(Operand::Int(selector));
            low.make(Type::B32, Opcode::Prmt, m![Type::B32], inputs)
        };
        let halves: Vec<Reg> = match size {
            1 => numbers.chunks(2).map(|pair| join(self, &pair[0], &pair[1], 0x3340)).collect(),
            _ => numbers,
        };
        if halves.len() == 1 {
            return halves;
        }
        halves.chunks(2).map(|pair| join(self, &pair[0], &pair[1], 0x5410)).collect()
    }
}

fn width(space: Space) -> Width {
    if space == Space::Smem { Width::W32 } else { Width::W64 }
}

fn lanes(words: usize) -> Option<girih_ptx::Modifier> {
    match words {
        2 => Some(Word::V2.into()),
        4 => Some(Word::V4.into()),
        _ => None,
    }
}

fn list(regs: &[Reg]) -> Operand {
    match regs {
        [one] => Operand::from(one),
        many => Operand::Vector(many.iter().map(Operand::from).collect()),
    }
}
