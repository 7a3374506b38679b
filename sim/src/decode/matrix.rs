//! `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`.

use girih_ptx::{Operand, Type, Word};

use super::words::Words;
use super::{Decoder, file};
use crate::lanes::File;
use crate::op::{Matrices, Mma, MmaSum, MmaType, Op, QuadMma, Sparse};
use crate::{Error, Space};

/// The shapes by M and K; N is 8.
const SHAPES: &[(Word, (usize, usize))] = &[
    (Word::M8n8k4, (8, 4)),
    (Word::M8n8k16, (8, 16)),
    (Word::M8n8k32, (8, 32)),
    (Word::M8n8k128, (8, 128)),
    (Word::M16n8k4, (16, 4)),
    (Word::M16n8k8, (16, 8)),
    (Word::M16n8k16, (16, 16)),
    (Word::M16n8k32, (16, 32)),
    (Word::M16n8k64, (16, 64)),
    (Word::M16n8k128, (16, 128)),
    (Word::M16n8k256, (16, 256)),
];

pub(super) fn element(ty: Type, and: bool) -> Option<MmaType> {
    Some(match ty {
        Type::F16 => MmaType::F16,
        Type::Bf16 => MmaType::Bf16,
        Type::Tf32 => MmaType::Tf32,
        Type::E4m3 => MmaType::E4m3,
        Type::E5m2 => MmaType::E5m2,
        Type::F64 => MmaType::F64,
        Type::U8 => MmaType::U8,
        Type::S8 => MmaType::S8,
        Type::U4 => MmaType::U4,
        Type::S4 => MmaType::S4,
        Type::B1 => MmaType::B1 { and },
        _ => return None,
    })
}

/// Whether the ISA has the shape for the element type.
fn has(ty: Type, shape: (usize, usize)) -> bool {
    match ty {
        Type::F16 | Type::Bf16 => matches!(shape, (16, 8 | 16)),
        Type::Tf32 => matches!(shape, (16, 4 | 8)),
        Type::E4m3 | Type::E5m2 => shape == (16, 32),
        Type::F64 => matches!(shape, (8, 4) | (16, 4 | 8 | 16)),
        Type::U8 | Type::S8 => matches!(shape, (8, 16) | (16, 16 | 32)),
        Type::U4 | Type::S4 => matches!(shape, (8, 32) | (16, 32 | 64)),
        Type::B1 => matches!(shape, (8, 128) | (16, 128 | 256)),
        _ => false,
    }
}

/// Whether the ISA has the shape for the element type with a sparse A.
fn has_sparse(ty: Type, shape: (usize, usize)) -> bool {
    match ty {
        Type::F16 | Type::Bf16 => matches!(shape, (16, 16 | 32)),
        Type::Tf32 => matches!(shape, (16, 8 | 16)),
        Type::E4m3 | Type::E5m2 => shape == (16, 64),
        Type::U8 | Type::S8 => matches!(shape, (16, 32 | 64)),
        Type::U4 | Type::S4 => matches!(shape, (16, 64 | 128)),
        _ => false,
    }
}

/// The number of selectors for a product of this type and K: of each four threads one, two or all have the metadata.
pub(super) fn selectors(ty: Type, k: usize) -> i64 {
    let bits = ty.bits().unwrap_or(32) as usize;
    // A chunk of a row has four bits of metadata, and a thread holds 32.
    let threads = k * bits / 256 * if bits < 16 { 2 } else { 1 };
    (4 / threads.max(1)) as i64
}

/// Whether A and B may have these types together.
fn fit(a: Type, b: Type) -> bool {
    let mixed = [[Type::U8, Type::S8], [Type::U4, Type::S4], [Type::E4m3, Type::E5m2]];
    a == b || mixed.iter().any(|pair| pair.contains(&a) && pair.contains(&b))
}

impl Decoder<'_> {
    pub(super) fn mma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let ordered = words.pick(&[(Word::Sp, false), (Word::SpOrdered, true)]);
        if !(words.take(Word::Sync) && words.take(Word::Aligned)) {
            return Err(self.unsupported("an mma that is not .sync.aligned"));
        }
        let shape = words.pick(SHAPES).ok_or_else(|| self.unsupported("an mma of this shape"))?;
        if shape == (8, 4) && words.last_type() != Some(Type::F64) {
            return self.quad_mma(words, ops);
        }
        if !(words.take(Word::Row) && words.take(Word::Col)) {
            return Err(self.unsupported("an mma that is not .row.col"));
        }
        let saturate = words.take(Word::Satfinite);
        words.take(Word::Rn);
        let [Some(d), Some(a), Some(b), Some(c)] = [words.ty(), words.ty(), words.ty(), words.ty()] else {
            return Err(self.unsupported("an mma without four types"));
        };
        let bitwise = match a {
            Type::B1 => words.pick(&[(Word::Xor, false), (Word::And, true)]),
            _ => Some(false),
        };
        let and = bitwise.ok_or_else(|| self.unsupported("an mma of bits without .xor.popc or .and.popc"))?;
        if a == Type::B1 && !words.take(Word::Popc) {
            return Err(self.unsupported("an mma of bits without .popc"));
        }
        let (Some(a_ty), Some(b_ty)) = (element(a, and), element(b, and)) else {
            return Err(self.unsupported(&format!("an mma of types `.{a}` and `.{b}`")));
        };
        let shaped = if ordered.is_some() { has_sparse(a, shape) } else { has(a, shape) };
        if !shaped || !fit(a, b) {
            return Err(self.unsupported(&format!("an mma of types `.{a}` and `.{b}` in this shape")));
        }
        let integral = matches!(a, Type::U8 | Type::S8 | Type::U4 | Type::S4);
        let sum = match (d, a) {
            (Type::F32, Type::F16 | Type::Bf16 | Type::Tf32 | Type::E4m3 | Type::E5m2) => MmaSum::F32,
            (Type::F16, Type::F16) => MmaSum::F16,
            (Type::F16, Type::E4m3 | Type::E5m2) if ordered.is_none() => MmaSum::F16,
            (Type::F64, Type::F64) => MmaSum::F64,
            (Type::S32, _) if integral || a == Type::B1 => MmaSum::S32 { saturate },
            _ => return Err(self.unsupported(&format!("an mma of `.{a}` with sums in `.{d}`"))),
        };
        if d != c || saturate && !integral {
            return Err(
                self.unsupported("an mma of different C and D, or with .satfinite of other than integers")
            );
        }
        let count = if ordered.is_some() { 6 } else { 4 };
        self.arity(ops, count..=count)?;
        let mut mma =
            self.fragments((a_ty, b_ty), sum, shape, a.bits().unwrap_or(32), ordered.is_some(), ops)?;
        if let Some(ordered) = ordered {
            let selector = self.selector(ops, 5, selectors(a, shape.1))?;
            let metadata = self.source(ops, 4, Type::B32)?.slot;
            mma.sparse = Some(Sparse { metadata, selector, ordered });
        }
        self.emit(Op::Mma(Box::new(mma)));
        Ok(())
    }

    /// The selector of the threads that have the metadata, which must be a constant below `count`.
    pub(super) fn selector(&self, ops: &[Operand], index: usize, count: i64) -> Result<u8, Error> {
        match ops.get(index) {
            Some(&Operand::Int(n)) if (0..count).contains(&n) => Ok(n as u8),
            _ if count == 1 => Err(self.operand(ops, index, "0: all threads have metadata")),
            _ => Err(self.operand(ops, index, &format!("which threads have metadata, 0 to {}", count - 1))),
        }
    }

    /// `mma.sync.m8n8k4` of f16, in every layout.
    fn quad_mma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let layouts = [(Word::Row, true), (Word::Col, false)];
        let (Some(a_by_rows), Some(b_by_rows)) = (words.pick(&layouts), words.pick(&layouts)) else {
            return Err(self.unsupported("an mma without two layouts, .row or .col"));
        };
        let types = [words.ty(), words.ty(), words.ty(), words.ty()];
        let (d, c) = match types {
            [Some(d), Some(Type::F16), Some(Type::F16), Some(c)] => (d, c),
            _ => return Err(self.unsupported("an mma of this shape with other types than .f16 and .f64")),
        };
        let count = |ty| match ty {
            Type::F16 => Some(4),
            Type::F32 => Some(8),
            _ => None,
        };
        let (Some(d), Some(c), false) = (count(d), count(c), (d, c) == (Type::F16, Type::F32)) else {
            return Err(self.unsupported(&format!("an mma of `.f16` with sums in `.{c}` and `.{d}`")));
        };
        self.arity(ops, 4..=4)?;
        let mma = QuadMma {
            a_by_rows,
            b_by_rows,
            a: self.registers_of(ops, 1, 2, Type::B32, false)?,
            b: self.registers_of(ops, 2, 2, Type::B32, false)?,
            c: self.registers_of(ops, 3, c, Type::B32, false)?,
            d: self.registers_of(ops, 0, d, Type::B32, true)?,
        };
        self.emit(Op::QuadMma(Box::new(mma)));
        Ok(())
    }

    fn fragments(
        &mut self,
        (a_ty, b_ty): (MmaType, MmaType),
        sum: MmaSum,
        (m, k): (usize, usize),
        bits: u32,
        sparse: bool,
        ops: &[Operand],
    ) -> Result<Mma, Error> {
        let register = if sum == MmaSum::F64 { Type::B64 } else { Type::B32 };
        // The number of elements in a register.
        let per = register.bits().unwrap_or(32) as usize / bits as usize;
        let (a, b) = (m * k / 32 / per / (1 + usize::from(sparse)), 8 * k / 32 / per);
        let c = if sum == MmaSum::F16 { m / 8 } else { m / 4 };
        Ok(Mma {
            m,
            a_ty,
            b_ty,
            sum,
            a: self.registers_of(ops, 1, a, register, false)?,
            b: self.registers_of(ops, 2, b, register, false)?,
            c: self.registers_of(ops, 3, c, register, false)?,
            d: self.registers_of(ops, 0, c, register, true)?,
            sparse: None,
        })
    }

    /// The slots of a fragment: a vector of `count` registers; one register needs no braces.
    pub(super) fn registers_of(
        &mut self,
        ops: &[Operand],
        index: usize,
        count: usize,
        ty: Type,
        write: bool,
    ) -> Result<Vec<u32>, Error> {
        let elements = match ops.get(index) {
            Some(Operand::Vector(elements)) if elements.len() == count => &elements[..],
            Some(Operand::Name(_)) if count == 1 => &ops[index..=index],
            _ => {
                return Err(self.operand(
                    ops,
                    index,
                    &format!("a vector of {count} registers of type .{ty}"),
                ));
            }
        };
        let mut slots = Vec::with_capacity(count);
        for i in 0..count {
            let reg = match (&elements[i], file(ty)) {
                (Operand::Sink, Some(file)) if write => self.temporary(file),
                _ if write => self.destination(elements, i, ty)?,
                _ => self.source(elements, i, ty)?,
            };
            debug_assert_ne!(reg.file, File::Pred);
            slots.push(reg.slot);
        }
        Ok(slots)
    }

    /// `ldmatrix`, `stmatrix`.
    pub(super) fn matrices(
        &mut self,
        load: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if !(words.take(Word::Sync) && words.take(Word::Aligned) && words.take(Word::M8n8)) {
            return Err(self.unsupported("matrices that are not .sync.aligned.m8n8"));
        }
        let count = words.pick(&[(Word::X1, 1), (Word::X2, 2), (Word::X4, 4)]);
        let count = count.ok_or_else(|| self.unsupported("matrices without .x1, .x2 or .x4"))?;
        let transposed = words.take(Word::Trans);
        let shared = words.pick(&[(Word::Shared, ()), (Word::SharedCta, ())]).is_some();
        let space = if shared { Space::Shared } else { Space::Generic };
        if words.ty() != Some(Type::B16) {
            return Err(self.unsupported("matrices of another type than .b16"));
        }
        self.arity(ops, 2..=2)?;
        let (data, place) = if load { (0, 1) } else { (1, 0) };
        let regs = self.registers_of(ops, data, count, Type::B32, load)?;
        let address = self.address(ops, place)?;
        self.touches(Space::Shared, if load { 4 } else { 2 });
        let matrices = Box::new(Matrices { space, address, transposed, regs });
        self.emit(if load { Op::Ldmatrix(matrices) } else { Op::Stmatrix(matrices) });
        Ok(())
    }

    pub(super) fn movmatrix(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let form = [Word::Sync, Word::Aligned, Word::M8n8, Word::Trans];
        if !form.into_iter().all(|word| words.take(word)) || words.ty() != Some(Type::B16) {
            return Err(self.unsupported("a movmatrix that is not .sync.aligned.m8n8.trans.b16"));
        }
        self.arity(ops, 2..=2)?;
        let a = self.registers_of(ops, 1, 1, Type::B32, false)?;
        let d = self.registers_of(ops, 0, 1, Type::B32, true)?;
        self.emit(Op::Movmatrix(d[0], a[0]));
        Ok(())
    }
}
