//! Combinations that choose one of two elements by an order of keys, such as the smaller value, of equals that with the smaller index.
//! Where they decide between all elements, these may be combined in any order.

use girih_codegen::Reg;
use girih_ptx::Word;
use girih_tensor::DType;

use super::combine::Tuple;
use super::element::NanAt;
use super::{How, Lowering, register, unfit};
use crate::error::Result;
use crate::ir::table::Each;
use crate::ir::{Func, Kind, RegionId, Value};
use crate::place::access::counting;

/// A key: an operand, and whether the greater element comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    operand: usize,
    greatest: bool,
    /// Where NaN comes; without it comparisons with NaN are false.
    nan: Option<NanAt>,
}

impl Key {
    fn new(operand: usize, greatest: bool) -> Key {
        Key { operand, greatest, nan: None }
    }
}

/// An order of elements, the first of which is the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The most significant key first.
    keys: Vec<Key>,
    /// Whether the right element is asked whether it comes before the left one. The element that is not asked is the result where NaN is
    /// compared.
    turned: bool,
    /// Whether the element that is asked comes first where all keys are equal.
    or_equal: bool,
}

/// What a comparison of a key says of the element that is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Before,
    BeforeOrEqual,
    Equal,
}

impl Order {
    /// The right element is the result if it is smaller by these operands, else the left one.
    pub(super) fn least(operands: impl IntoIterator<Item = usize>) -> Order {
        let keys = operands.into_iter().map(|operand| Key::new(operand, false)).collect();
        Order { keys, turned: true, or_equal: false }
    }

    /// The right element is the result if its first operand comes before that of the left one.
    pub(super) fn by_value(greatest: bool, nan: NanAt) -> Order {
        Order { keys: vec![Key { nan: Some(nan), ..Key::new(0, greatest) }], turned: true, or_equal: false }
    }

    /// The order that a region chooses by: all its results are of one side, by a chain of comparisons.
    pub(super) fn of(func: &Func, region: RegionId) -> Option<Order> {
        let region = func.region(region);
        let chooses = region.ops.iter().all(|&id| matches!(func.op(id).kind, Kind::Each { .. }));
        let (left, right) = region.args.split_at(region.args.len() / 2);
        let choices = region.end.values().iter().map(|&value| each(func, value));
        let choices = choices.collect::<Option<Vec<_>>>().filter(|_| chooses)?;
        let &(_, first) = choices.first()?;
        let (cond, turned) = (first.first()?, first.get(1) == right.first());
        let [asked, other] = if turned { [right, left] } else { [left, right] };
        let of_one_side = choices.len() == left.len()
            && choices
                .iter()
                .zip(asked.iter().zip(other))
                .all(|(&(op, operands), (&a, &b))| op == Each::Select && operands == [*cond, a, b]);
        let mut order = Order { keys: Vec::new(), turned, or_equal: false };
        (of_one_side && order.read(func, *cond, asked, other)).then_some(order)
    }

    /// Reads the keys off a condition: one comparison, or one or equality and a condition on further keys.
    fn read(&mut self, func: &Func, cond: Value, asked: &[Value], other: &[Value]) -> bool {
        if let Some((key, how)) = compared(func, cond, asked, other) {
            self.keys.push(key);
            self.or_equal = how == Asked::BeforeOrEqual;
            return how != Asked::Equal;
        }
        let both = |value: Value, of: Each| match each(func, value) {
            Some((op, &[a, b])) if op == of => Some([[a, b], [b, a]]),
            _ => None,
        };
        let key = |value: Value| compared(func, value, asked, other);
        for [before, tie] in both(cond, Each::Or).into_iter().flatten() {
            for [equal, rest] in both(tie, Each::And).into_iter().flatten() {
                if let (Some((key, Asked::Before)), Some((same, Asked::Equal))) = (key(before), key(equal))
                    && key.operand == same.operand
                {
                    self.keys.push(key);
                    return self.read(func, rest, asked, other);
                }
            }
        }
        false
    }

    /// The order, if it decides between any two of the elements, so that they may be combined in any order: an element is its keys, or is
    /// told from others by an operand that rises along the axis. If that operand is no key, equal elements are ordered by their place along the axis,
    /// and the operand becomes the last key.
    /// In a scan that is `reverse`d the left element is after the right one.
    pub(super) fn decides(
        mut self,
        operands: usize,
        rising: Option<usize>,
        padded: bool,
        reverse: bool,
    ) -> Option<Order> {
        let is_key = |operand: usize| self.keys.iter().any(|key| key.operand == operand);
        if (0..operands).all(is_key) || rising.is_some_and(is_key) {
            return Some(self);
        }
        // The identity, which replaces padding, has no place.
        let operand = rising.filter(|_| !padded)?;
        let left_of_equals = self.or_equal != self.turned;
        self.keys.push(Key::new(operand, left_of_equals == reverse));
        self.or_equal = false;
        Some(self)
    }

    /// The order of elements of which the left one is before the right one along the axis, as the operand `rising` says.
    pub(super) fn in_a_row(&self, rising: usize) -> Order {
        let Some(at) = self.keys.iter().position(|key| key.operand == rising) else { return self.clone() };
        let keys = self.keys[..at].to_vec();
        Order { keys, turned: self.turned, or_equal: self.keys[at].greatest == self.turned }
    }
}

/// The function of elements that a value is.
fn each(func: &Func, value: Value) -> Option<(Each, &[Value])> {
    let op = func.op_of(value)?;
    match op.kind {
        Kind::Each { op: each, .. } => Some((each, &op.operands)),
        _ => None,
    }
}

/// A comparison of one operand of both elements.
fn compared(func: &Func, value: Value, asked: &[Value], other: &[Value]) -> Option<(Key, Asked)> {
    let (op, &[a, b]) = each(func, value)? else { return None };
    let place = |a: Value, b: Value| (0..asked.len()).find(|&at| asked[at] == a && other[at] == b);
    let (operand, swapped) = match (place(a, b), place(b, a)) {
        (Some(at), _) => (at, false),
        (None, Some(at)) => (at, true),
        (None, None) => return None,
    };
    let (greatest, how) = match op {
        Each::Less => (swapped, Asked::Before),
        Each::LessEqual => (swapped, Asked::BeforeOrEqual),
        Each::Greater => (!swapped, Asked::Before),
        Each::GreaterEqual => (!swapped, Asked::BeforeOrEqual),
        Each::Equal => (false, Asked::Equal),
        _ => return None,
    };
    Some((Key::new(operand, greatest), how))
}

impl Lowering<'_> {
    /// The first of two tuples of these dtypes.
    pub(super) fn first_of(
        &mut self,
        order: &Order,
        dtypes: &[DType],
        left: &[Reg],
        right: &[Reg],
    ) -> Result<Tuple> {
        let (asked, other) = if order.turned { (right, left) } else { (left, right) };
        let Some(take) = self.precedes(order, &order.keys, dtypes, [asked, other])? else {
            return Ok(if order.or_equal { asked } else { other }.to_vec());
        };
        let both = dtypes.iter().zip(asked.iter().zip(other));
        Ok(both.map(|(&dtype, (a, b))| self.selp(dtype, &take, a, b)).collect())
    }

    /// Whether the element that is asked comes first by these last keys of the order; none if there is no key.
    fn precedes(
        &mut self,
        order: &Order,
        keys: &[Key],
        dtypes: &[DType],
        [asked, other]: [&[Reg]; 2],
    ) -> Result<Option<Reg>> {
        let Some((key, rest)) = keys.split_first() else { return Ok(None) };
        let (dtype, a, b) = (dtypes[key.operand], &asked[key.operand], &other[key.operand]);
        let before = match (key.greatest, rest.is_empty() && order.or_equal) {
            (false, false) => Each::Less,
            (false, true) => Each::LessEqual,
            (true, false) => Each::Greater,
            (true, true) => Each::GreaterEqual,
        };
        let before = match key.nan.filter(|_| dtype.is_float()) {
            Some(nan) => {
                // An unordered comparison holds for NaN on either side: the one side where it must not is a number.
                let (ty, word) = (register(dtype), if key.greatest { Word::Gtu } else { Word::Ltu });
                let number = if nan == NanAt::Last { a } else { b };
                let is_number = self.setp(Word::Num, ty, number, number);
                let before = self.setp(word, ty, a, b);
                self.of_two(Each::And, How::default(), DType::Bool, &before, &is_number)?
            }
            None => self.of_two(before, How::default(), dtype, a, b)?,
        };
        if rest.is_empty() {
            return Ok(Some(before));
        }
        let equal = self.of_two(Each::Equal, How::default(), dtype, a, b)?;
        let Some(rest) = self.precedes(order, rest, dtypes, [asked, other])? else { return Ok(None) };
        let tie = self.of_two(Each::And, How::default(), DType::Bool, &equal, &rest)?;
        self.of_two(Each::Or, How::default(), DType::Bool, &before, &tie).map(Some)
    }

    /// A function of two elements.
    pub(super) fn of_two(&mut self, each: Each, how: How, dtype: DType, a: &Reg, b: &Reg) -> Result<Reg> {
        self.apply(each, how, dtype, &[a, b])?.ok_or_else(|| unfit(format!("no {each:?} of {dtype}")))
    }

    /// Whether a tile's elements rise along an axis.
    pub(super) fn rises(&self, value: Value, axis: usize) -> bool {
        let func = &self.plan.func;
        let Some(found) = counting(func, value).filter(|found| found.along == axis) else { return false };
        let dtype = func.ty(*found.start.first().unwrap_or(&value)).dtype;
        let extent = i64::from(func.ty(value).dims[axis]);
        // Scalars with known ranges: with others, positions may wrap.
        let start = found.start.iter().try_fold(0.into(), |sum: girih_codegen::Expr, &scalar| {
            match &self.held[scalar.index()] {
                Some(super::Held::Index(expr)) => Some(&sum + expr),
                _ => None,
            }
        });
        start.is_some_and(|start| {
            super::each::fits(&start, dtype) && super::each::fits(&(&start + (extent - 1)), dtype)
        })
    }
}
