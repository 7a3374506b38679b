//! Arithmetic on the halves and bytes of registers (PTX ISA, "SIMD Video Instructions") and on whole registers with a
//! second operation ("Scalar Video Instructions").

use girih_ptx::{Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::lanes::lanes;

/// The function of each lane of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Average,
    Difference,
    Min,
    Max,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Shifts by more than 31 bits leave nothing but the sign.
    ShiftLeft,
    ShiftRight,
    /// Shifts by the amount modulo 32.
    WrapLeft,
    WrapRight,
}

use Operation as Op;
const OPERATIONS: [Operation; 16] = [
    Op::Add,
    Op::Sub,
    Op::Average,
    Op::Difference,
    Op::Min,
    Op::Max,
    Op::Equal,
    Op::Unequal,
    Op::Less,
    Op::LessOrEqual,
    Op::Greater,
    Op::GreaterOrEqual,
    Op::ShiftLeft,
    Op::ShiftRight,
    Op::WrapLeft,
    Op::WrapRight,
];

/// The operation and types of an instruction, which its lane function reads from a constant register.
#[derive(Clone, Copy, Debug)]
struct Shape {
    operation: Operation,
    /// Bits of a lane: 8, 16 or 32.
    bits: u32,
    d_signed: bool,
    a_signed: bool,
    b_signed: bool,
    saturate: bool,
    /// Whether the lanes' results are added to `c`, and not packed into one register.
    add: bool,
}

/// The second function of a video instruction on whole registers, of its result and `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    Nothing,
    Add,
    Min,
    Max,
}

impl Shape {
    fn word(self) -> u32 {
        let flags = [self.d_signed, self.a_signed, self.b_signed, self.saturate, self.add];
        let flags = flags.iter().fold(0, |word, &flag| word << 1 | u32::from(flag));
        flags << 16 | (self.operation as u32) << 8 | self.bits
    }

    fn of(word: u32) -> Shape {
        let flag = |place: u32| word >> (16 + place) & 1 == 1;
        Shape {
            operation: OPERATIONS[(word >> 8 & 0xff) as usize % OPERATIONS.len()],
            bits: word & 0xff,
            d_signed: flag(4),
            a_signed: flag(3),
            b_signed: flag(2),
            saturate: flag(1),
            add: flag(0),
        }
    }

    fn run(self, a: u32, b: u32, c: u32) -> u32 {
        let lane = |x: u32, i: u32, signed: bool| {
            let x = x >> (i * self.bits) << (32 - self.bits);
            if signed { i64::from(x as i32 >> (32 - self.bits)) } else { i64::from(x >> (32 - self.bits)) }
        };
        let mask = u32::MAX >> (32 - self.bits);
        let values = (0..32 / self.bits)
            .map(|i| (i, self.operation.of(lane(a, i, self.a_signed), lane(b, i, self.b_signed))));
        if self.add {
            return values.fold(c, |sum, (_, value)| sum.wrapping_add(value as u32));
        }
        values.fold(0, |word, (i, value)| word | (self.fit(value) as u32 & mask) << (i * self.bits))
    }

    /// The result of an instruction on whole registers.
    fn run_whole(self, second: Second, a: u32, b: u32, c: u32) -> u32 {
        let wide = |x: u32, signed: bool| if signed { i64::from(x as i32) } else { i64::from(x) };
        let value = self.fit(self.operation.of(wide(a, self.a_signed), wide(b, self.b_signed))) as u32;
        match (second, self.d_signed) {
            (Second::Nothing, _) => value,
            (Second::Add, _) => value.wrapping_add(c),
            (Second::Min, false) => value.min(c),
            (Second::Max, false) => value.max(c),
            (Second::Min, true) => (value as i32).min(c as i32) as u32,
            (Second::Max, true) => (value as i32).max(c as i32) as u32,
        }
    }

    /// The value, clamped to the range of the destination if the instruction saturates.
    fn fit(self, value: i64) -> i64 {
        let top = 1i64 << self.bits;
        match (self.saturate, self.d_signed) {
            (false, _) => value,
            (true, true) => value.clamp(-top / 2, top / 2 - 1),
            (true, false) => value.clamp(0, top - 1),
        }
    }
}

impl Operation {
    fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Average => (a + b + i64::from(a + b >= 0)) >> 1,
            Op::Difference => (a - b).abs(),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Equal => (a == b).into(),
            Op::Unequal => (a != b).into(),
            Op::Less => (a < b).into(),
            Op::LessOrEqual => (a <= b).into(),
            Op::Greater => (a > b).into(),
            Op::GreaterOrEqual => (a >= b).into(),
            Op::ShiftLeft => a << b.min(32),
            Op::ShiftRight => a >> b.min(32),
            Op::WrapLeft => a << (b & 31),
            Op::WrapRight => a >> (b & 31),
        }
    }
}

const COMPARES: &[(Word, Operation)] = &[
    (Word::Eq, Op::Equal),
    (Word::Ne, Op::Unequal),
    (Word::Lt, Op::Less),
    (Word::Le, Op::LessOrEqual),
    (Word::Gt, Op::Greater),
    (Word::Ge, Op::GreaterOrEqual),
];

impl Decoder<'_> {
    /// `vadd` and the like; selectors of bytes and halves are not supported.
    pub(super) fn whole_video(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        use Opcode as O;
        let mut signed = || match words.ty() {
            Some(Type::U32) => Some(false),
            Some(Type::S32) => Some(true),
            _ => None,
        };
        let d = if opcode == O::Vset { Some(false) } else { signed() };
        let (Some(d_signed), Some(a_signed), Some(b_signed)) = (d, signed(), signed()) else {
            return Err(self.unsupported("a video instruction of other types than .u32 and .s32"));
        };
        let saturate = words.take(Word::Sat);
        let operation = match opcode {
            O::Vadd => Some(Op::Add),
            O::Vsub => Some(Op::Sub),
            O::Vabsdiff => Some(Op::Difference),
            O::Vmin => Some(Op::Min),
            O::Vmax => Some(Op::Max),
            O::Vshl => words.pick(&[(Word::Clamp, Op::ShiftLeft), (Word::Wrap, Op::WrapLeft)]),
            O::Vshr => words.pick(&[(Word::Clamp, Op::ShiftRight), (Word::Wrap, Op::WrapRight)]),
            _ => words.pick(COMPARES),
        };
        let operation = operation
            .ok_or_else(|| self.unsupported("a video instruction without its comparison or mode"))?;
        let seconds = [(Word::Add, Second::Add), (Word::Min, Second::Min), (Word::Max, Second::Max)];
        let second = words.pick(&seconds).unwrap_or(Second::Nothing);
        let shape = Shape { operation, bits: 32, d_signed, a_signed, b_signed, saturate, add: false };
        let count = if second == Second::Nothing { 3 } else { 4 };
        self.arity(ops, count..=count)?;
        let mut sources = Vec::with_capacity(4);
        for i in 1..count {
            sources.push(self.source(ops, i, Type::U32)?);
        }
        sources.resize(3, self.constant(File::W32, 0));
        sources.push(self.constant(File::W32, shape.word().into()));
        let d = self.destination(ops, 0, Type::U32)?;
        let run = match second {
            Second::Nothing => {
                lanes!(u32: |a: u32, b: u32, c: u32, e: u32| Shape::of(e).run_whole(Second::Nothing, a, b, c))
            }
            Second::Add => {
                lanes!(u32: |a: u32, b: u32, c: u32, e: u32| Shape::of(e).run_whole(Second::Add, a, b, c))
            }
            Second::Min => {
                lanes!(u32: |a: u32, b: u32, c: u32, e: u32| Shape::of(e).run_whole(Second::Min, a, b, c))
            }
            Second::Max => {
                lanes!(u32: |a: u32, b: u32, c: u32, e: u32| Shape::of(e).run_whole(Second::Max, a, b, c))
            }
        };
        self.lanes(run, d, &sources);
        Ok(())
    }

    /// `vadd2` and the like; masks and selectors of lanes are not supported.
    pub(super) fn video(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        use Opcode as O;
        let (operation, bits) = match opcode {
            O::Vadd2 => (Some(Op::Add), 16),
            O::Vadd4 => (Some(Op::Add), 8),
            O::Vsub2 => (Some(Op::Sub), 16),
            O::Vsub4 => (Some(Op::Sub), 8),
            O::Vavrg2 => (Some(Op::Average), 16),
            O::Vavrg4 => (Some(Op::Average), 8),
            O::Vabsdiff2 => (Some(Op::Difference), 16),
            O::Vabsdiff4 => (Some(Op::Difference), 8),
            O::Vmin2 => (Some(Op::Min), 16),
            O::Vmin4 => (Some(Op::Min), 8),
            O::Vmax2 => (Some(Op::Max), 16),
            O::Vmax4 => (Some(Op::Max), 8),
            O::Vset2 => (None, 16),
            _ => (None, 8),
        };
        let mut signed = || match words.ty() {
            Some(Type::U32) => Some(false),
            Some(Type::S32) => Some(true),
            _ => None,
        };
        let d = if operation.is_some() { signed() } else { Some(false) };
        let (Some(d_signed), Some(a_signed), Some(b_signed)) = (d, signed(), signed()) else {
            return Err(self.unsupported("a video instruction of other types than .u32 and .s32"));
        };
        let operation = operation.or_else(|| words.pick(COMPARES));
        let operation = operation.ok_or_else(|| self.unsupported("a vset without a comparison"))?;
        let saturate = words.take(Word::Sat);
        let add = words.take(Word::Add);
        let shape = Shape { operation, bits, d_signed, a_signed, b_signed, saturate, add };
        self.arity(ops, 4..=4)?;
        let mut sources = Vec::with_capacity(4);
        for i in 1..4 {
            sources.push(self.source(ops, i, Type::U32)?);
        }
        sources.push(self.constant(File::W32, shape.word().into()));
        let d = self.destination(ops, 0, Type::U32)?;
        self.lanes(lanes!(u32: |a: u32, b: u32, c: u32, e: u32| Shape::of(e).run(a, b, c)), d, &sources);
        Ok(())
    }
}
