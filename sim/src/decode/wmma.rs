//! `wmma.load`, `wmma.mma`, `wmma.store`.

use girih_ptx::{Operand, Type, Word};

use super::float::ROUNDS;
use super::memory::SHARED_OR_GLOBAL;
use super::words::Words;
use super::{Decoder, file};
use crate::float::Round;
use crate::lanes::{Reg, WARP};
use crate::op::{Fragment, Op, Tile, WmmaMma};
use crate::{Error, Space};

/// M, N and K: the rows of A, the columns of B, and the number of products in each sum.
type Shape = (usize, usize, usize);

const SHAPES: &[(Word, Shape)] = &[
    (Word::M16n16k16, (16, 16, 16)),
    (Word::M8n32k16, (8, 32, 16)),
    (Word::M32n8k16, (32, 8, 16)),
    (Word::M16n16k8, (16, 16, 8)),
    (Word::M8n8k4, (8, 8, 4)),
    (Word::M8n8k32, (8, 8, 32)),
    (Word::M8n8k128, (8, 8, 128)),
];

/// Whether the ISA has the shape for the element type of A and B.
fn has(ty: Type, shape: Shape) -> bool {
    match ty {
        Type::F16 | Type::Bf16 | Type::U8 | Type::S8 => {
            matches!(shape, (16, 16, 16) | (8, 32, 16) | (32, 8, 16))
        }
        Type::Tf32 => shape == (16, 16, 8),
        Type::F64 => shape == (8, 8, 4),
        Type::U4 | Type::S4 => shape == (8, 8, 32),
        Type::B1 => shape == (8, 8, 128),
        _ => false,
    }
}

/// Whether sums of the shape can have the type.
fn sums(ty: Type, shape: Shape) -> bool {
    match ty {
        Type::F16 => has(Type::F16, shape),
        Type::F32 => has(Type::F16, shape) || has(Type::Tf32, shape),
        Type::S32 => has(Type::S8, shape) || has(Type::S4, shape) || has(Type::B1, shape),
        Type::F64 => has(Type::F64, shape),
        _ => false,
    }
}

/// Whether products of elements of type `ty` are added in `sum`.
fn fit(ty: Type, sum: Type) -> bool {
    match ty {
        Type::F16 => matches!(sum, Type::F16 | Type::F32),
        Type::Bf16 | Type::Tf32 => sum == Type::F32,
        Type::F64 => sum == Type::F64,
        _ => sum == Type::S32,
    }
}

impl Decoder<'_> {
    pub(super) fn wmma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let kind = words.pick(&[(Word::Load, Some(true)), (Word::Store, Some(false)), (Word::Mma, None)]);
        match kind {
            Some(Some(load)) => self.wmma_tile(load, words, ops),
            Some(None) => self.wmma_mma(words, ops),
            None => Err(self.unsupported("a wmma that is not .load, .mma or .store")),
        }
    }

    fn wmma_tile(&mut self, load: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let matrices: &[Word] = if load { &[Word::A, Word::B, Word::C] } else { &[Word::D] };
        let matrix = matrices.iter().copied().find(|&matrix| words.take(matrix));
        let matrix = matrix
            .ok_or_else(|| self.unsupported("a wmma of this matrix; a, b and c are loaded, d is stored"))?;
        self.wmma_aligned(words)?;
        let row = self.wmma_layout(words)?;
        let shape @ (m, n, k) = self.wmma_shape(words)?;
        let space = words.pick(SHARED_OR_GLOBAL).unwrap_or(Space::Generic);
        let ty = self.last(words)?;
        let factor = matches!(matrix, Word::A | Word::B);
        if !(if factor { has(ty, shape) } else { sums(ty, shape) }) {
            return Err(self.unsupported(&format!("a wmma of type `.{ty}` in this shape")));
        }
        let (lines, width, along) = match matrix {
            Word::A => (m, k, row),
            Word::B => (n, k, !row),
            _ => (m, n, row),
        };
        if matches!(ty, Type::U4 | Type::S4 | Type::B1) && !along {
            return Err(self.unsupported("parts of bytes in another layout than .row of a and .col of b"));
        }
        self.arity(ops, 2..=3)?;
        let (data, place) = if load { (0, 1) } else { (1, 0) };
        let address = self.address(ops, place)?;
        let stride = if ops.len() > 2 { Some(self.source(ops, 2, Type::U32)?) } else { None };
        let fragment = self.wmma_fragment(ops, data, (lines, width), (ty, factor), load)?;
        self.touches(space, ty.bits().unwrap_or(8).div_ceil(8));
        self.emit(Op::Wmma(Box::new(Tile { load, space, address, stride, along, fragment })));
        Ok(())
    }

    fn wmma_mma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let bits = words.pick(&[(Word::Xor, false), (Word::And, true)]);
        if bits.is_some() && !words.take(Word::Popc) {
            return Err(self.unsupported("a wmma of bits without .popc"));
        }
        self.wmma_aligned(words)?;
        let (row_a, row_b) = (self.wmma_layout(words)?, self.wmma_layout(words)?);
        let shape @ (m, n, k) = self.wmma_shape(words)?;
        let (d, second) = (self.last(words)?, self.last(words)?);
        // Products of f16 name only the types of D and C.
        let (a, b, c) = match (words.ty(), words.ty()) {
            (Some(b), Some(c)) => (second, b, c),
            _ => (Type::F16, Type::F16, second),
        };
        let whole = matches!(a, Type::F16 | Type::Bf16 | Type::Tf32 | Type::F64 | Type::U8 | Type::S8);
        let sound = a == b
            && has(a, shape)
            && fit(a, d)
            && fit(a, c)
            && (d == c || a == Type::F16)
            && (a == Type::B1) == bits.is_some()
            && (whole || row_a && !row_b);
        if !sound {
            return Err(self.unsupported("a wmma.mma of these types and layouts in this shape"));
        }
        let saturate = d == Type::S32 && a != Type::B1 && words.take(Word::Satfinite);
        let round = if a == Type::F64 { words.pick(ROUNDS) } else { None };
        self.arity(ops, 4..=4)?;
        let mma = WmmaMma {
            a: self.wmma_fragment(ops, 1, (m, k), (a, true), false)?,
            b: self.wmma_fragment(ops, 2, (n, k), (b, true), false)?,
            c: self.wmma_fragment(ops, 3, (m, n), (c, false), false)?,
            d: self.wmma_fragment(ops, 0, (m, n), (d, false), true)?,
            and: bits == Some(true),
            saturate,
            round: round.unwrap_or(Round::Nearest),
        };
        self.emit(Op::WmmaMma(Box::new(mma)));
        Ok(())
    }

    fn wmma_aligned(&self, words: &mut Words<'_>) -> Result<(), Error> {
        match words.take(Word::Sync) && words.take(Word::Aligned) {
            true => Ok(()),
            false => Err(self.unsupported("a wmma that is not .sync.aligned")),
        }
    }

    /// Whether the layout is `.row`.
    fn wmma_layout(&self, words: &mut Words<'_>) -> Result<bool, Error> {
        let layout = words.pick(&[(Word::Row, true), (Word::Col, false)]);
        layout.ok_or_else(|| self.unsupported("a wmma without .row or .col"))
    }

    fn wmma_shape(&self, words: &mut Words<'_>) -> Result<Shape, Error> {
        words.pick(SHAPES).ok_or_else(|| self.unsupported("a wmma of this shape"))
    }

    /// The fragment in operand `index`, with elements of type `ty`; `factor` is true for A and B, false for C and D.
    fn wmma_fragment(
        &mut self,
        ops: &[Operand],
        index: usize,
        (lines, width): (usize, usize),
        (ty, factor): (Type, bool),
        write: bool,
    ) -> Result<Fragment, Error> {
        let register = if ty == Type::F64 { Type::B64 } else { Type::B32 };
        let [element, word] = [ty, register].map(|ty| ty.bits().unwrap_or(32) as usize);
        // Factors of f16 have eight registers for every shape, so that some elements are held twice.
        let count = if factor && ty == Type::F16 { 8 } else { lines * width * element / word / WARP };
        let file = file(register).ok_or_else(|| self.unsupported(&format!("type .{register}")))?;
        let slots = self.registers_of(ops, index, count, register, write)?;
        let regs = slots.into_iter().map(|slot| Reg { file, slot }).collect();
        Ok(Fragment { lines, width, ty, regs })
    }
}
