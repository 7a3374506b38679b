//! Combination of two elements in reductions and scans, on tuples of registers.

use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Type, Word};
use girih_tensor::DType;

use super::element::{NanAt, key_dtype, wide};
use super::order::Order;
use super::{Lowering, register};
use crate::dtype::Const;
use crate::dtype::number::encode;
use crate::error::Result;
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Combine, Kind, Nan, Op, RegionId};

/// An element of each operand.
pub(super) type Tuple = Vec<Reg>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    /// A function of two elements, with its rule for NaN.
    Each(Each, Nan),
    /// The tuple that comes first.
    First(Order),
    Region(RegionId),
}

/// How the elements of an operation are combined.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    how: How,
    combine: Combine,
    /// The operands' own dtypes.
    operands: Vec<DType>,
    /// The dtypes of what is combined.
    pub(super) dtypes: Vec<DType>,
    /// Bits of what changes nothing.
    identity: Vec<u64>,
    /// Bits of what an empty combination is.
    empty: Vec<u64>,
}

/// The order and the NaN of an index: whether the greatest comes first.
fn index_order(combine: Combine) -> Option<(bool, NanAt)> {
    let at = |nan| if nan == Nan::Ignored { NanAt::Last } else { NanAt::First };
    match combine {
        Combine::ArgMax(nan) => Some((true, at(nan))),
        Combine::ArgMin(nan) => Some((false, at(nan))),
        _ => None,
    }
}

impl Rule {
    /// The rule of a reduction or scan of operands with these dtypes.
    pub(super) fn new(combine: Combine, operands: &[DType], identity: &[u64], op: &Op) -> Rule {
        let own = operands.first().copied().unwrap_or(DType::F32);
        let dtype = wide(own);
        let plain = |each| How::Each(each, Nan::Ignored);
        let rule = |how, dtypes: Vec<DType>, identity: Vec<u64>, empty: Vec<u64>| Rule {
            how,
            combine,
            operands: operands.to_vec(),
            dtypes,
            identity,
            empty,
        };
        let same = |how, value: u64| rule(how, vec![dtype], vec![value], vec![value]);
        let extreme = |how, nan, greatest: bool| {
            if dtype.is_float() {
                let infinity =
                    encode(dtype, Const::Float(if greatest { f64::NEG_INFINITY } else { f64::INFINITY }));
                let missing = encode(dtype, Const::Float(f64::NAN));
                // The rest may be NaN alone.
                let identity = if nan == Nan::Ignored { missing } else { infinity };
                return rule(how, vec![dtype], vec![identity], vec![infinity]);
            }
            // In the wider register.
            let (least, most) = own.range().unwrap_or((0, 1));
            same(how, fit::wrapped(if greatest { least } else { most }))
        };
        match combine {
            Combine::Sum if dtype.is_float() => {
                let zero = |x| vec![encode(dtype, Const::Float(x))];
                rule(plain(Each::Add), vec![dtype], zero(-0.0), zero(0.0))
            }
            Combine::Sum => same(plain(Each::Add), 0),
            Combine::Prod => same(plain(Each::Mul), encode(dtype, Const::Int(1))),
            Combine::Max(nan) => extreme(How::Each(Each::Max, nan), nan, true),
            Combine::Min(nan) => extreme(How::Each(Each::Min, nan), nan, false),
            Combine::And => same(plain(Each::And), if own == DType::Bool { 1 } else { u64::MAX }),
            Combine::Or => same(plain(Each::Or), 0),
            Combine::Xor => same(plain(Each::Xor), 0),
            Combine::ArgMax(_) | Combine::ArgMin(_) if own.bits() == 64 => {
                let last = vec![i64::MAX as u64, i32::MAX as u64];
                rule(How::First(Order::least([0, 1])), vec![DType::S64, DType::S32], last.clone(), last)
            }
            // The key above, the index below: the least number of 64 bits.
            Combine::ArgMax(_) | Combine::ArgMin(_) => {
                let last = vec![i64::MAX as u64];
                rule(plain(Each::Min), vec![DType::S64], last.clone(), last)
            }
            Combine::Region => {
                let region = op.regions.first().copied().unwrap_or(RegionId(0));
                rule(How::Region(region), operands.to_vec(), identity.to_vec(), identity.to_vec())
            }
        }
    }

    /// Whether left and right may be exchanged.
    pub(super) fn commutes(&self) -> bool {
        !matches!(self.how, How::Region(_))
    }
}

impl Lowering<'_> {
    /// The rule of a reduction or scan, and that of a thread's own elements, of which the left one is before the right one along the axis.
    pub(super) fn rules(&self, op: &Op, axis: usize, combine: Combine, identity: &[u64]) -> [Rule; 2] {
        let func = &self.plan.func;
        let dtypes: Vec<DType> = op.operands.iter().map(|&value| func.ty(value).dtype).collect();
        let mut rule = Rule::new(combine, &dtypes, identity, op);
        let mut in_a_row = rule.clone();
        if let Some((greatest, nan)) = index_order(combine) {
            let value = match combine {
                Combine::ArgMax(nan) => Combine::Max(nan),
                Combine::ArgMin(nan) => Combine::Min(nan),
                other => other,
            };
            in_a_row = Rule {
                combine,
                how: How::First(Order::by_value(greatest, nan)),
                ..Rule::new(value, &dtypes, identity, op)
            };
            in_a_row.dtypes.push(DType::S32);
            in_a_row.identity.push(i32::MAX as u64);
        }
        if let How::Region(region) = rule.how
            && let Some(order) = Order::of(func, region)
        {
            let rising = (0..op.operands.len()).find(|&at| self.rises(op.operands[at], axis));
            let reverse = matches!(op.kind, Kind::Scan { reverse: true, .. });
            let padded = self.is_padded(self.plan.dist(op.operands[0]), &func.ty(op.operands[0]).dims);
            if let Some(order) = order.decides(op.operands.len(), rising, padded, reverse) {
                in_a_row.how = How::First(rising.map_or(order.clone(), |at| order.in_a_row(at)));
                rule.how = How::First(order);
            }
        }
        [rule, in_a_row]
    }

    /// Whether a combination decides by its elements which way a thread takes, so that padding must not come in.
    pub(super) fn branches(&self, rule: &Rule) -> bool {
        let func = &self.plan.func;
        let How::Region(region) = rule.how else { return false };
        func.region(region).ops.iter().any(|&id| !func.op(id).regions.is_empty())
    }

    /// Registers with what changes nothing.
    pub(super) fn identity(&mut self, rule: &Rule) -> Result<Tuple> {
        rule.dtypes.iter().zip(&rule.identity).map(|(&dtype, &bits)| self.bits(dtype, bits)).collect()
    }

    /// What an empty combination is.
    pub(super) fn empty(&mut self, rule: &Rule) -> Result<Tuple> {
        rule.dtypes.iter().zip(&rule.empty).map(|(&dtype, &bits)| self.bits(dtype, bits)).collect()
    }

    /// An element of each operand as what a thread combines. `index` is its coordinate along the axis.
    pub(super) fn prepare(&mut self, rule: &Rule, element: &[Reg], index: &Expr) -> Result<Tuple> {
        if rule.combine == Combine::Region {
            return Ok(element.to_vec());
        }
        let mut tuple = vec![self.wide_of(rule.operands[0], &element[0])?];
        if index_order(rule.combine).is_some() {
            tuple.push(self.b.value(index, Width::W32)?);
        }
        Ok(tuple)
    }

    /// What a thread has combined as what is combined with other threads: a value and its index as one number, or as two.
    pub(super) fn keyed(&mut self, rule: &Rule, tuple: Tuple) -> Result<Tuple> {
        let Some((greatest_first, nan)) = index_order(rule.combine) else { return Ok(tuple) };
        let dtype = wide(rule.operands[0]);
        let (key, index) = (self.key(dtype, &tuple[0], greatest_first, nan)?, &tuple[1]);
        if key_dtype(dtype) == DType::S64 {
            return Ok(vec![key, self.copy(DType::S32, index)]);
        }
        Ok(vec![self.b.join(Type::S64, [index, &key])])
    }

    /// What was combined as an element of each result.
    pub(super) fn finish(&mut self, rule: &Rule, tuple: &[Reg]) -> Result<Tuple> {
        Ok(match (index_order(rule.combine), &rule.how) {
            (Some(_), How::First(_)) => vec![tuple[1].clone()],
            (Some(_), _) => {
                let [index, _] = self.b.split(Type::S32, &tuple[0]);
                vec![index]
            }
            (None, _) if rule.combine == Combine::Region => tuple.to_vec(),
            (None, _) => vec![self.narrow_of(rule.operands[0], &tuple[0])?],
        })
    }

    /// `yes` where `cond` holds, else `no`.
    pub(super) fn select_all(&mut self, rule: &Rule, cond: &Cond, yes: &[Reg], no: &[Reg]) -> Result<Tuple> {
        let sides = rule.dtypes.iter().zip(yes.iter().zip(no));
        sides.map(|(&dtype, (yes, no))| self.select(dtype, cond, yes, no)).collect()
    }

    /// `left` and `right` combined.
    pub(super) fn combine(&mut self, rule: &Rule, left: &[Reg], right: &[Reg]) -> Result<Tuple> {
        match &rule.how {
            How::Each(each, nan) => {
                let how = super::How { nan: *nan, ..super::How::default() };
                Ok(vec![self.of_two(*each, how, rule.dtypes[0], &left[0], &right[0])?])
            }
            How::First(order) => self.first_of(order, &rule.dtypes, left, right),
            How::Region(region) => {
                let args: Vec<Reg> = left.iter().chain(right).cloned().collect();
                self.inlined(*region, &args)
            }
        }
    }

    /// Combines tuples in their order, as a balanced tree.
    pub(super) fn combine_tree(&mut self, rule: &Rule, mut tuples: Vec<Tuple>) -> Result<Tuple> {
        while tuples.len() > 1 {
            let mut next = Vec::with_capacity(tuples.len().div_ceil(2));
            for pair in tuples.chunks(2) {
                next.push(match pair {
                    [left, right] => self.combine(rule, left, right)?,
                    rest => rest[0].clone(),
                });
            }
            tuples = next;
        }
        match tuples.pop() {
            Some(tuple) => Ok(tuple),
            None => self.identity(rule),
        }
    }

    /// Whether a bit of the thread's number is set.
    pub(super) fn bit_is_set(&self, bit: usize) -> Result<Cond> {
        let value = self.thread.div(1 << bit)?.rem(2)?;
        Ok(Cond::less(&Expr::from(0), &value))
    }

    /// Combines what the lanes hold whose numbers differ in these bits, so that all of them hold the result. The bits are given from the
    /// least significant of the order that is combined in.
    pub(super) fn combine_lanes(&mut self, rule: &Rule, mut tuple: Tuple, bits: &[usize]) -> Result<Tuple> {
        if let (5, Some((word, ty))) = (bits.len(), self.reduces_at_once(rule)) {
            return Ok(vec![self.redux(&tuple[0], word, ty)]);
        }
        for &bit in bits {
            let other = self.butterfly(&tuple, bit);
            tuple = self.combine_sides(rule, &tuple, &other, bit, false)?;
        }
        Ok(tuple)
    }

    /// Combines a thread's own and the other's tuple, whose numbers differ in a bit: the one without the bit is on the left, or on the
    /// right.
    pub(super) fn combine_sides(
        &mut self,
        rule: &Rule,
        own: &[Reg],
        other: &[Reg],
        bit: usize,
        turned: bool,
    ) -> Result<Tuple> {
        if rule.commutes() {
            return self.combine(rule, own, other);
        }
        let set = self.bit_is_set(bit)?;
        let (first, second) = if turned { (own, other) } else { (other, own) };
        let left = self.select_all(rule, &set, first, second)?;
        let right = self.select_all(rule, &set, second, first)?;
        self.combine(rule, &left, &right)
    }

    /// The instruction that combines a whole warp.
    fn reduces_at_once(&self, rule: &Rule) -> Option<(Word, Type)> {
        let [dtype] = rule.dtypes[..] else { return None };
        if self.b.sm() < 80 || !matches!(dtype, DType::S32 | DType::U32) {
            return None;
        }
        let ty = register(dtype);
        let How::Each(each, _) = rule.how else { return None };
        Some(match each {
            Each::Add => (Word::Add, ty),
            Each::Max => (Word::Max, ty),
            Each::Min => (Word::Min, ty),
            Each::And => (Word::And, Type::B32),
            Each::Or => (Word::Or, Type::B32),
            Each::Xor => (Word::Xor, Type::B32),
            _ => return None,
        })
    }
}
