//! How elements are combined by reductions and scans, on tuples of registers.

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::key::{NanAt, key, key_dtype, key_range, narrowed, wide, widened};
use super::order::{Order, of_two};
use super::{Group, Tile, bit_is_set, inside, inside_along};
use crate::algorithm::element::{Each, How, Nan, constant, copy, select};
use crate::builder::{Cond, Reg, Width};
use crate::scalar::register;
use crate::{AlgorithmError, Error, Expr};

/// An element of each operand.
pub(super) type Tuple = Vec<Reg>;

/// The mask of all lanes.
const EVERY_LANE: i64 = 0xffff_ffff;

/// A combination of two elements. `F` stands for a function that is none of those with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine<F> {
    /// Sum. f16 and bf16 are summed in f32 and rounded once at the end; integers wrap.
    Sum,
    /// Product, as [`Combine::Sum`].
    Prod,
    /// Greatest.
    Max(Nan),
    /// Least.
    Min(Nan),
    /// Index of the greatest along the mode, an s32; the smallest index of equals. Reductions alone.
    ArgMax(Nan),
    /// Index of the least along the mode, an s32; the smallest index of equals. Reductions alone.
    ArgMin(Nan),
    /// Conjunction of bool, bitwise of integers.
    And,
    /// Disjunction of bool, bitwise of integers.
    Or,
    /// Exclusive or.
    Xor,
    /// Any associative function.
    By(F),
}

impl<F> Combine<F> {
    /// The same with another function.
    pub fn map<T>(self, f: impl FnOnce(F) -> T) -> Combine<T> {
        match self {
            Combine::Sum => Combine::Sum,
            Combine::Prod => Combine::Prod,
            Combine::Max(nan) => Combine::Max(nan),
            Combine::Min(nan) => Combine::Min(nan),
            Combine::ArgMax(nan) => Combine::ArgMax(nan),
            Combine::ArgMin(nan) => Combine::ArgMin(nan),
            Combine::And => Combine::And,
            Combine::Or => Combine::Or,
            Combine::Xor => Combine::Xor,
            Combine::By(function) => Combine::By(f(function)),
        }
    }
}

/// An associative function of tuples, an element of each operand, with the bits of what changes nothing by operand.
pub enum By<'f, G: Group> {
    /// The tuple that comes first in an order of all tuples.
    First {
        /// The order, which decides between any two tuples.
        order: Order,
        /// The order of two tuples of which the left one is before the right one along the mode.
        in_a_row: Order,
        /// Bits of what changes nothing, by operand.
        identity: &'f [u64],
    },
    /// Any other function.
    Function {
        /// The function of the left tuple, which is before the right one along the mode, and of the right one.
        function: &'f Function<'f, G>,
        /// Bits of what changes nothing, by operand.
        identity: &'f [u64],
        /// Whether the function takes branches by its elements, which must not be padding then.
        branches: bool,
    },
}

/// A function of two tuples of registers.
pub type Function<'f, G> = dyn Fn(&mut G, &[Reg], &[Reg]) -> Result<Vec<Reg>, <G as Group>::Error> + 'f;

/// How two tuples become one.
enum Of<'f, G: Group> {
    /// A function of two elements, with its rule for NaN.
    Each(Each, Nan),
    /// The tuple that comes first.
    First(Order),
    By(&'f Function<'f, G>),
}

/// A combination of operands of some dtypes.
pub(super) struct Rule<'f, G: Group> {
    of: Of<'f, G>,
    /// Of an index: whether the greatest comes first, and where NaN is.
    index: Option<(bool, NanAt)>,
    /// Whether tuples are elements as they are.
    plain: bool,
    branches: bool,
    /// The operands' own dtypes.
    operands: Vec<DType>,
    /// The dtypes of what is combined.
    pub(super) dtypes: Vec<DType>,
    /// Bits of what changes nothing.
    identity: Vec<u64>,
    /// Bits of what an empty combination is.
    empty: Vec<u64>,
}

impl<'f, G: Group> Rule<'f, G> {
    /// The rule of operands with these dtypes, of which there is at least one: for any two tuples, or for a thread's own elements, of which the
    /// left one is before the right one along the mode.
    pub(super) fn new(
        combine: &Combine<By<'f, G>>,
        operands: &[DType],
        in_a_row: bool,
    ) -> Result<Self, Error> {
        let own = operands[0];
        let plain = |of, identity: &[u64], branches| Rule {
            of,
            index: None,
            plain: true,
            branches,
            operands: operands.to_vec(),
            dtypes: operands.to_vec(),
            identity: identity.to_vec(),
            empty: identity.to_vec(),
        };
        let one = |each, nan, [identity, empty]: [u64; 2]| Rule {
            of: Of::Each(each, nan),
            index: None,
            plain: false,
            branches: false,
            operands: operands.to_vec(),
            dtypes: vec![wide(own)],
            identity: vec![identity],
            empty: vec![empty],
        };
        let rule = match combine {
            Combine::By(By::First { order, in_a_row: next, identity }) => {
                plain(Of::First(if in_a_row { next } else { order }.clone()), identity, false)
            }
            Combine::By(By::Function { function, identity, branches }) => {
                plain(Of::By(*function), identity, *branches)
            }
            Combine::Sum => one(Each::Add, Nan::Ignored, zero(wide(own))),
            Combine::Prod => one(Each::Mul, Nan::Ignored, [unit(wide(own)); 2]),
            &Combine::Max(nan) => one(Each::Max, nan, extreme(own, true, nan)),
            &Combine::Min(nan) => one(Each::Min, nan, extreme(own, false, nan)),
            Combine::And => one(Each::And, Nan::Ignored, [if own == DType::Bool { 1 } else { u64::MAX }; 2]),
            Combine::Or => one(Each::Or, Nan::Ignored, [0; 2]),
            Combine::Xor => one(Each::Xor, Nan::Ignored, [0; 2]),
            &Combine::ArgMax(nan) | &Combine::ArgMin(nan) => {
                let greatest = matches!(combine, Combine::ArgMax(_));
                let at = if nan == Nan::Ignored { NanAt::Last } else { NanAt::First };
                let last = [key_range(own).1.cast_unsigned(), i32::MAX as u64];
                let value = if greatest { Each::Max } else { Each::Min };
                let rule = one(value, nan, extreme(own, greatest, nan));
                let (of, dtypes, identity) = match (in_a_row, own.bits()) {
                    (true, _) => {
                        let identity = vec![rule.identity[0], last[1]];
                        (Of::First(Order::by_value(greatest, at)), vec![wide(own), DType::S32], identity)
                    }
                    (_, 64) => (Of::First(Order::least([0, 1])), vec![DType::S64, DType::S32], last.to_vec()),
                    // The key above, the index below: the least number of 64 bits.
                    _ => (Of::Each(Each::Min, Nan::Ignored), vec![DType::S64], vec![i64::MAX as u64]),
                };
                let empty = identity.clone();
                Rule { of, index: Some((greatest, at)), dtypes, identity, empty, ..rule }
            }
        };
        if rule.plain && rule.identity.len() == operands.len() || !rule.plain && operands.len() == 1 {
            return Ok(rule);
        }
        Err(AlgorithmError::Operands { operands: operands.len() }.into())
    }

    /// Whether left and right may be exchanged.
    pub(super) fn commutes(&self) -> bool {
        !matches!(self.of, Of::By(_))
    }

    /// Registers with what changes nothing.
    pub(super) fn identity(&self, group: &mut G) -> Result<Tuple, G::Error> {
        self.constants(group, &self.identity)
    }

    /// What an empty combination is.
    pub(super) fn empty(&self, group: &mut G) -> Result<Tuple, G::Error> {
        self.constants(group, &self.empty)
    }

    fn constants(&self, group: &mut G, bits: &[u64]) -> Result<Tuple, G::Error> {
        let all = self.dtypes.iter().zip(bits);
        Ok(all.map(|(&dtype, &bits)| constant(group.builder(), dtype, bits)).collect::<Result<_, _>>()?)
    }

    /// A thread's value as what is combined; what changes nothing if it is `padding` that would come in. `origin` is the thread's own
    /// coordinate by mode.
    pub(super) fn element(
        &self,
        group: &mut G,
        (tile, mode, origin): (&Tile<'_>, usize, &[Expr]),
        value: usize,
        padding: bool,
    ) -> Result<Tuple, G::Error> {
        let Tile { dist, extents, operands } = tile;
        let offset = dist.offset(value, extents.len())[mode];
        let inside = match padding {
            _ if self.branches => inside(dist, origin, value, extents),
            true => inside_along(&origin[mode], dist.reach(mode), offset, extents[mode]),
            false => Cond::Always,
        };
        let element: Tuple = operands.iter().map(|(_, regs)| regs[value].clone()).collect();
        let tuple = self.prepare(group, element, &(&origin[mode] + offset))?;
        if inside == Cond::Always {
            return Ok(tuple);
        }
        let identity = self.identity(group)?;
        self.select(group, &inside, &tuple, &identity)
    }

    /// An element of each operand as what a thread combines. `index` is its coordinate along the mode.
    fn prepare(&self, group: &mut G, element: Tuple, index: &Expr) -> Result<Tuple, G::Error> {
        if self.plain {
            return Ok(element);
        }
        let b = group.builder();
        let mut tuple = vec![widened(b, self.operands[0], &element[0])?];
        if self.index.is_some() {
            tuple.push(b.value(index, Width::W32)?);
        }
        Ok(tuple)
    }

    /// What a thread has combined as what is combined with other threads: a value and its index as one number, or as two.
    pub(super) fn keyed(&self, group: &mut G, tuple: Tuple) -> Result<Tuple, G::Error> {
        let Some((greatest_first, nan)) = self.index else { return Ok(tuple) };
        let (b, dtype) = (group.builder(), wide(self.operands[0]));
        let (key, index) = (key(b, dtype, &tuple[0], greatest_first, nan)?, &tuple[1]);
        if key_dtype(dtype) == DType::S64 {
            return Ok(vec![key, copy(b, DType::S32, index)]);
        }
        Ok(vec![b.join(Type::S64, [index, &key])])
    }

    /// What was combined as an element of each result.
    pub(super) fn finish(&self, group: &mut G, tuple: &[Reg]) -> Result<Tuple, G::Error> {
        let b = group.builder();
        Ok(match (self.index, &self.of) {
            (Some(_), Of::First(_)) => vec![tuple[1].clone()],
            (Some(_), _) => {
                let [index, _] = b.split(Type::S32, &tuple[0]);
                vec![index]
            }
            (None, _) if self.plain => tuple.to_vec(),
            (None, _) => vec![narrowed(b, self.operands[0], &tuple[0])?],
        })
    }

    /// `yes` where `cond` holds, else `no`.
    pub(super) fn select(
        &self,
        group: &mut G,
        cond: &Cond,
        yes: &[Reg],
        no: &[Reg],
    ) -> Result<Tuple, G::Error> {
        let sides = self.dtypes.iter().zip(yes.iter().zip(no));
        let select =
            |(&dtype, (yes, no)): (&DType, (&Reg, &Reg))| select(group.builder(), dtype, cond, yes, no);
        Ok(sides.map(select).collect::<Result<_, _>>()?)
    }

    /// `left` and `right` combined.
    pub(super) fn combine(&self, group: &mut G, left: &[Reg], right: &[Reg]) -> Result<Tuple, G::Error> {
        match &self.of {
            Of::Each(each, nan) => {
                let how = How { nan: *nan, ..How::default() };
                Ok(vec![of_two(group.builder(), *each, how, self.dtypes[0], &left[0], &right[0])?])
            }
            Of::First(order) => Ok(order.first_of(group.builder(), &self.dtypes, left, right)?),
            Of::By(function) => function(group, left, right),
        }
    }

    /// Combines tuples in their order, as a balanced tree.
    pub(super) fn combine_tree(&self, group: &mut G, mut tuples: Vec<Tuple>) -> Result<Tuple, G::Error> {
        while tuples.len() > 1 {
            let mut next = Vec::with_capacity(tuples.len().div_ceil(2));
            for pair in tuples.chunks(2) {
                next.push(match pair {
                    [left, right] => self.combine(group, left, right)?,
                    rest => rest[0].clone(),
                });
            }
            tuples = next;
        }
        match tuples.pop() {
            Some(tuple) => Ok(tuple),
            None => self.identity(group),
        }
    }

    /// Combines what the lanes hold whose numbers differ in these bits, so that all of them hold the result. The bits are given from the
    /// least significant of the order that is combined in.
    pub(super) fn combine_lanes(
        &self,
        group: &mut G,
        mut tuple: Tuple,
        bits: &[usize],
    ) -> Result<Tuple, G::Error> {
        if let (5, Some(words)) = (bits.len(), self.reduces_at_once(group.builder().sm())) {
            let operands = vec![Operand::from(&tuple[0]), Operand::Int(EVERY_LANE)];
            return Ok(vec![group.builder().inst_to(tuple[0].ty(), Opcode::Redux, &words, operands)]);
        }
        for &bit in bits {
            let other = butterfly(group, &tuple, bit);
            tuple = self.combine_sides(group, &tuple, &other, bit, false)?;
        }
        Ok(tuple)
    }

    /// Combines a thread's own and the other's tuple, whose numbers differ in a bit: the one without the bit is on the left, or on the
    /// right.
    pub(super) fn combine_sides(
        &self,
        group: &mut G,
        own: &[Reg],
        other: &[Reg],
        bit: usize,
        turned: bool,
    ) -> Result<Tuple, G::Error> {
        if self.commutes() {
            return self.combine(group, own, other);
        }
        let set = bit_is_set(&group.thread(), bit)?;
        let (first, second) = if turned { (own, other) } else { (other, own) };
        let left = self.select(group, &set, first, second)?;
        let right = self.select(group, &set, second, first)?;
        self.combine(group, &left, &right)
    }

    /// The words of the instruction that combines a whole warp.
    fn reduces_at_once(&self, sm: u32) -> Option<[Modifier; 3]> {
        let [dtype @ (DType::S32 | DType::U32)] = self.dtypes[..] else { return None };
        let Of::Each(each, _) = self.of else { return None };
        let (word, ty) = match each {
            Each::Add => (Word::Add, register(dtype)),
            Each::Max => (Word::Max, register(dtype)),
            Each::Min => (Word::Min, register(dtype)),
            Each::And => (Word::And, Type::B32),
            Each::Or => (Word::Or, Type::B32),
            Each::Xor => (Word::Xor, Type::B32),
            _ => return None,
        };
        (sm >= 80).then(|| [Word::Sync.into(), word.into(), ty.into()])
    }
}

/// What the lane holds whose number differs in a bit.
pub(super) fn butterfly<G: Group>(group: &mut G, tuple: &[Reg], bit: usize) -> Tuple {
    let other = |reg: &Reg| group.builder().shuffle(reg.ty(), Word::Bfly, reg, &Operand::Int(1 << bit), 31);
    tuple.iter().map(other).collect()
}

/// What changes no sum, and what a sum of nothing is.
fn zero(dtype: DType) -> [u64; 2] {
    if dtype.is_float() { [dtype.encode(-0.0), dtype.encode(0.0)] } else { [0; 2] }
}

/// What changes no product.
fn unit(dtype: DType) -> u64 {
    if dtype.is_float() { dtype.encode(1.0) } else { 1 }
}

/// What changes no greatest or least element in the wider register, and what that of nothing is.
fn extreme(own: DType, greatest: bool, nan: Nan) -> [u64; 2] {
    if wide(own).is_float() {
        let infinity = wide(own).encode(if greatest { f64::NEG_INFINITY } else { f64::INFINITY });
        // The rest may be NaN alone.
        return [if nan == Nan::Ignored { wide(own).encode(f64::NAN) } else { infinity }, infinity];
    }
    let (least, most) = own.range().unwrap_or((0, 1));
    [(if greatest { least } else { most }) as u64; 2]
}
