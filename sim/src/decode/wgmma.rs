//! `wgmma`.

use std::sync::Arc;

use girih_ptx::{Operand, Type, Word};

use super::Decoder;
use super::matrix::{element, selectors};
use super::words::Words;
use crate::Error;
use crate::op::Major;
use crate::op::{Left, MmaSum, Op, Sparse, Wgmma};

/// N and K of a shape.
fn shape(word: Word) -> Option<(usize, usize)> {
    let (n, k) = word.text().strip_prefix("m64n")?.split_once('k')?;
    Some((n.parse().ok()?, k.parse().ok()?))
}

impl Decoder<'_> {
    pub(super) fn wgmma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let what = words.pick(&[
            (Word::MmaAsync, Word::MmaAsync),
            (Word::Fence, Word::Fence),
            (Word::CommitGroup, Word::CommitGroup),
            (Word::WaitGroup, Word::WaitGroup),
        ]);
        let sparse = what == Some(Word::MmaAsync) && words.take(Word::Sp);
        if !(words.take(Word::Sync) && words.take(Word::Aligned)) {
            return Err(self.unsupported("a wgmma that is not .sync.aligned"));
        }
        match what {
            Some(Word::MmaAsync) => return self.mma_async(sparse, words, ops),
            Some(Word::Fence) => self.emit_alone(ops, Op::WgmmaFence)?,
            Some(Word::CommitGroup) => self.emit_alone(ops, Op::WgmmaCommit)?,
            Some(_) => {
                self.arity(ops, 1..=1)?;
                let keep = if let Operand::Int(n) = ops[0] { u32::try_from(n).ok() } else { None };
                let keep = keep.ok_or_else(|| self.operand(ops, 0, "a number of groups"))?;
                self.emit(Op::WgmmaWait(keep));
            }
            None => return Err(self.unsupported("a wgmma of this kind")),
        }
        Ok(())
    }

    fn emit_alone(&mut self, ops: &[Operand], op: Op) -> Result<(), Error> {
        self.arity(ops, 0..=0)?;
        self.emit(op);
        Ok(())
    }

    fn mma_async(&mut self, sparse: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let shape = words.word().and_then(shape);
        let (n, k) = shape.ok_or_else(|| self.unsupported("a wgmma of this shape"))?;
        let saturate = words.take(Word::Satfinite);
        let [Some(d), Some(a), Some(b)] = [words.ty(), words.ty(), words.ty()] else {
            return Err(self.unsupported("a wgmma without three types"));
        };
        if a == Type::B1 && !(words.take(Word::And) && words.take(Word::Popc)) {
            return Err(self.unsupported("a wgmma of bits without .and.popc"));
        }
        let (Some(a_ty), Some(b_ty), Some(sum)) =
            (element(a, true), element(b, true), sum(d, a, b, saturate))
        else {
            return Err(self.unsupported(&format!("a wgmma of `.{a}` and `.{b}` with sums in `.{d}`")));
        };
        let integral = matches!(sum, MmaSum::S32 { .. });
        // The number of stored elements in a row of A.
        let k = if sparse { k / 2 } else { k };
        let shaped = !(sparse && a == Type::B1)
            && 256 / k == a.bits().unwrap_or(0) as usize
            && (8..=256).contains(&n)
            && (!integral || n <= 32 || n.is_multiple_of(16));
        if !shaped || saturate && (!integral || a == Type::B1) {
            return Err(self.unsupported("a wgmma of these types in this shape"));
        }
        // Products of integers have no operands for signs or transposes, and only 16-bit types have those for
        // transposes.
        let registers = matches!(ops.get(1), Some(Operand::Vector(_)));
        let signs = if integral { 0 } else { 2 };
        let transposes = if k == 16 { 2 - usize::from(registers) } else { 0 };
        // Metadata and its selector come before scale-d.
        let scale = if sparse { 5 } else { 3 };
        let count = scale + 1 + signs + transposes;
        self.arity(ops, count..=count)?;
        let negate_a = signs > 0 && self.constant_of(ops, scale + 1, [1, -1])?;
        let negate_b = signs > 0 && self.constant_of(ops, scale + 2, [1, -1])?;
        let a_mn = transposes == 2 && self.constant_of(ops, scale + 3, [0, 1])?;
        let b_mn = transposes > 0 && self.constant_of(ops, ops.len() - 1, [0, 1])?;
        let left = if registers {
            let slots = self.registers_of(ops, 1, 4, Type::B32, false)?;
            self.reads.clear();
            Left::Registers([slots[0], slots[1], slots[2], slots[3]])
        } else {
            Left::Descriptor(self.source(ops, 1, Type::B64)?)
        };
        let sparse = match sparse {
            true => {
                let selector = self.selector(ops, 4, selectors(a, 2 * k))?;
                let before = self.reads.len();
                let metadata = self.source(ops, 3, Type::B32)?.slot;
                self.reads.truncate(before);
                Some(Sparse { metadata, selector, ordered: false })
            }
            false => None,
        };
        let major = |mn| if mn { Major::Mn } else { Major::K };
        let wgmma = Wgmma {
            n,
            a_ty,
            b_ty,
            sum,
            a: left,
            b: self.source(ops, 2, Type::B64)?,
            accumulate: self.source(ops, scale, Type::Pred)?,
            negate_a,
            negate_b,
            a_major: major(a_mn),
            b_major: major(b_mn),
            d: self.accumulators(ops, n * if sum == MmaSum::F16 { 1 } else { 2 } / 4)?,
            sparse,
        };
        self.code.wgmma = true;
        self.emit(Op::Wgmma(Arc::new(wgmma)));
        Ok(())
    }

    /// The registers of D. When they are read and written is decided at the execution, so they don't count as written
    /// here.
    fn accumulators(&mut self, ops: &[Operand], count: usize) -> Result<Vec<u32>, Error> {
        let slots = self.registers_of(ops, 0, count, Type::B32, true)?;
        self.writes.clear();
        let mut sorted = slots.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() == count {
            Ok(slots)
        } else {
            Err(self.operand(ops, 0, "a vector of different registers"))
        }
    }

    /// Whether an operand is the second of two accepted constants; the first is false.
    fn constant_of(&self, ops: &[Operand], index: usize, accepted: [i64; 2]) -> Result<bool, Error> {
        match ops.get(index) {
            Some(&Operand::Int(value)) if value == accepted[0] => Ok(false),
            Some(&Operand::Int(value)) if value == accepted[1] => Ok(true),
            _ => Err(self.operand(ops, index, &format!("{} or {}", accepted[0], accepted[1]))),
        }
    }
}

/// The type of the sums, if the ISA has these types together.
fn sum(d: Type, a: Type, b: Type, saturate: bool) -> Option<MmaSum> {
    let eight = |ty| matches!(ty, Type::E4m3 | Type::E5m2);
    let integer = |ty| matches!(ty, Type::U8 | Type::S8);
    match d {
        Type::F32 if matches!(a, Type::F16 | Type::Bf16 | Type::Tf32) && a == b => Some(MmaSum::F32),
        Type::F16 if a == Type::F16 && a == b => Some(MmaSum::F16),
        Type::F32 if eight(a) && eight(b) => Some(MmaSum::F32),
        Type::F16 if eight(a) && eight(b) => Some(MmaSum::F16),
        Type::S32 if integer(a) && integer(b) => Some(MmaSum::S32 { saturate }),
        Type::S32 if a == Type::B1 && a == b => Some(MmaSum::S32 { saturate }),
        _ => None,
    }
}
