//! Combinations that choose one of two elements by keys, such as the smaller value; of equal values the one with the smaller index.

use girih_ptx::Word;
use girih_tensor::DType;

use super::key::NanAt;
use crate::algorithm::element::{Each, How, apply, selp, setp};
use crate::builder::{Builder, Reg};
use crate::scalar::register;
use crate::{AlgorithmError, Error};

/// A key of an [`Order`]: an operand, and whether the greater element comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Which operand.
    pub operand: usize,
    /// Whether the greater element comes first.
    pub greatest: bool,
    /// Where NaN comes; without it comparisons with NaN are false.
    pub nan: Option<NanAt>,
}

impl Key {
    /// An operand as a key.
    pub fn new(operand: usize, greatest: bool) -> Key {
        Key { operand, greatest, nan: None }
    }
}

/// An order of elements, the first of which is the result of a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The most significant key first.
    pub keys: Vec<Key>,
    /// Whether the right element is asked whether it comes before the left one. The element that is not asked is the result where NaN is
    /// compared.
    pub turned: bool,
    /// Whether the element that is asked comes first where all keys are equal.
    pub or_equal: bool,
}

impl Order {
    /// The right element is the result if it is smaller by these operands, else the left one.
    pub fn least(operands: impl IntoIterator<Item = usize>) -> Order {
        let keys = operands.into_iter().map(|operand| Key::new(operand, false)).collect();
        Order { keys, turned: true, or_equal: false }
    }

    /// The right element is the result if its first operand comes before that of the left one.
    pub(super) fn by_value(greatest: bool, nan: NanAt) -> Order {
        Order { keys: vec![Key { nan: Some(nan), ..Key::new(0, greatest) }], turned: true, or_equal: false }
    }

    /// The order, if it decides between any two of the elements, so that they may be combined in any order: an element is its keys, or is
    /// told from others by an operand that rises along the mode. If that operand is no key, equal elements are ordered by their place along the mode,
    /// and the operand becomes the last key. In a scan that is `reverse`d the left element is after the right one.
    pub fn decides(
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

    /// The order of elements of which the left one is before the right one along the mode, as the operand `rising` says.
    #[must_use]
    pub fn in_a_row(&self, rising: usize) -> Order {
        let Some(at) = self.keys.iter().position(|key| key.operand == rising) else { return self.clone() };
        let keys = self.keys[..at].to_vec();
        Order { keys, turned: self.turned, or_equal: self.keys[at].greatest == self.turned }
    }

    /// The first of two tuples of these dtypes.
    pub(super) fn first_of(
        &self,
        b: &mut Builder,
        dtypes: &[DType],
        left: &[Reg],
        right: &[Reg],
    ) -> Result<Vec<Reg>, Error> {
        let (asked, other) = if self.turned { (right, left) } else { (left, right) };
        let Some(take) = self.precedes(b, &self.keys, dtypes, [asked, other])? else {
            return Ok(if self.or_equal { asked } else { other }.to_vec());
        };
        let both = dtypes.iter().zip(asked.iter().zip(other));
        Ok(both.map(|(&dtype, (x, y))| selp(b, dtype, &take, x, y)).collect())
    }

    /// Whether the element that is asked comes first by these last keys of the order; `None` if there is no key.
    fn precedes(
        &self,
        b: &mut Builder,
        keys: &[Key],
        dtypes: &[DType],
        [asked, other]: [&[Reg]; 2],
    ) -> Result<Option<Reg>, Error> {
        let Some((key, rest)) = keys.split_first() else { return Ok(None) };
        let (dtype, x, y) = (dtypes[key.operand], &asked[key.operand], &other[key.operand]);
        let before = match (key.greatest, rest.is_empty() && self.or_equal) {
            (false, false) => Each::Less,
            (false, true) => Each::LessEqual,
            (true, false) => Each::Greater,
            (true, true) => Each::GreaterEqual,
        };
        let before = match key.nan.filter(|_| dtype.is_float()) {
            Some(nan) => {
                // An unordered comparison holds for NaN on either side: the one side where it must not is a number.
                let (ty, word) = (register(dtype), if key.greatest { Word::Gtu } else { Word::Ltu });
                let number = if nan == NanAt::Last { x } else { y };
                let is_number = setp(b, Word::Num, ty, number, number);
                let before = setp(b, word, ty, x, y);
                of_two(b, Each::And, How::default(), DType::Bool, &before, &is_number)?
            }
            None => of_two(b, before, How::default(), dtype, x, y)?,
        };
        if rest.is_empty() {
            return Ok(Some(before));
        }
        let equal = of_two(b, Each::Equal, How::default(), dtype, x, y)?;
        let Some(rest) = self.precedes(b, rest, dtypes, [asked, other])? else { return Ok(None) };
        let tie = of_two(b, Each::And, How::default(), DType::Bool, &equal, &rest)?;
        of_two(b, Each::Or, How::default(), DType::Bool, &before, &tie).map(Some)
    }
}

/// A function of two elements of a dtype.
pub(super) fn of_two(
    b: &mut Builder,
    each: Each,
    how: How,
    dtype: DType,
    x: &Reg,
    y: &Reg,
) -> Result<Reg, Error> {
    apply(b, each, how, dtype, &[x, y])?.ok_or_else(|| {
        let accepted = String::from("functions that are an instruction or a few");
        AlgorithmError::Function { function: each.row().name, operands: 2, dtype, accepted }.into()
    })
}
