//! Slices: coordinates in which a mode may be kept whole.

use girih_layout::{Int, Lay, Stride, Sum};

use crate::Error;

/// A coordinate with `_`: each mode is fixed at a position, or kept whole.
///
/// Functions take what becomes one: `t.slice((2, Slice::All))` is CuTe's `t(2, _)`, a tuple has an entry for each mode, and an array
/// of slices is a tuple whose length the program may compute. Where coordinates are expressions, as in kernels, a number is
/// [`Slice::at(3)`](Slice::at). The result's modes are the kept modes side by side, whatever tuples they stood in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slice<I> {
    /// `_`: keep the mode.
    All,
    /// Fix the mode at a 1-D coordinate.
    At(I),
    /// One entry for each mode.
    Tuple(Vec<Slice<I>>),
}

impl<I> Slice<I> {
    /// Fixes a mode at `coordinate`.
    pub fn at(coordinate: impl Into<I>) -> Slice<I> {
        Slice::At(coordinate.into())
    }

    /// One entry for each mode.
    pub fn tuple(entries: impl IntoIterator<Item = Slice<I>>) -> Slice<I> {
        Slice::Tuple(entries.into_iter().collect())
    }

    /// Whether a mode is kept.
    pub(crate) fn keeps_modes(&self) -> bool {
        match self {
            Slice::All => true,
            Slice::At(_) => false,
            Slice::Tuple(entries) => entries.iter().any(Slice::keeps_modes),
        }
    }
}

impl<I: Index> From<I> for Slice<I> {
    fn from(coordinate: I) -> Slice<I> {
        Slice::At(coordinate)
    }
}

impl<I: Index> From<&I> for Slice<I> {
    fn from(coordinate: &I) -> Slice<I> {
        Slice::At(coordinate.clone())
    }
}

impl<I: Clone> From<&Slice<I>> for Slice<I> {
    fn from(slice: &Slice<I>) -> Slice<I> {
        slice.clone()
    }
}

impl<I: Clone> From<&[Slice<I>]> for Slice<I> {
    fn from(entries: &[Slice<I>]) -> Slice<I> {
        Slice::Tuple(entries.to_vec())
    }
}

impl<I: Clone> From<&Vec<Slice<I>>> for Slice<I> {
    fn from(entries: &Vec<Slice<I>>) -> Slice<I> {
        Slice::Tuple(entries.clone())
    }
}

impl<I: Clone, const N: usize> From<&[Slice<I>; N]> for Slice<I> {
    fn from(entries: &[Slice<I>; N]) -> Slice<I> {
        Slice::Tuple(entries.to_vec())
    }
}

macro_rules! slices_of_tuples {
    ($($($name:ident)+;)*) => {
        $(impl<I: Index, $($name: Into<Slice<I>>),+> From<($($name,)+)> for Slice<I> {
            #[expect(non_snake_case, reason = "an entry has the name of its type")]
            fn from(($($name,)+): ($($name,)+)) -> Slice<I> {
                Slice::tuple([$($name.into()),+])
            }
        })*
    };
}

slices_of_tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
}

impl<I: std::fmt::Display> std::fmt::Display for Slice<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slice::All => f.write_str("_"),
            Slice::At(i) => write!(f, "{i}"),
            Slice::Tuple(entries) => {
                f.write_str("(")?;
                for (i, entry) in entries.iter().enumerate() {
                    write!(f, "{}{entry}", if i > 0 { "," } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// The integers that an engine's coordinates are made of.
pub trait Index: Clone + std::fmt::Display {
    /// The number 0.
    fn zero() -> Self;

    /// `self + digit * scale`: a step along a mode.
    ///
    /// # Errors
    /// [`Error::Index`] if the arithmetic cannot express the result.
    fn advanced(&self, digit: &Self, scale: &Int) -> Result<Self, Error>;

    /// `(self / by, self mod by)`: the step from a 1-D coordinate to its digits.
    ///
    /// # Errors
    /// [`Error::Index`] if the arithmetic cannot express the result.
    fn div_rem(&self, by: &Int) -> Result<(Self, Self), Error>;

    /// Checks that `self` is a coordinate of `mode`, as far as that is known.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the coordinate is known to be outside.
    fn check(&self, mode: &Lay) -> Result<(), Error>;

    /// The least and the greatest value that `self` can have, as far as they are known.
    fn known_range(&self) -> Option<(i64, i64)> {
        None
    }
}

impl Index for i64 {
    fn zero() -> i64 {
        0
    }

    fn advanced(&self, digit: &i64, scale: &Int) -> Result<i64, Error> {
        let scale = scale.get().ok_or_else(|| Error::Index(format!("{scale} is no constant")))?;
        let sum = digit.checked_mul(scale).and_then(|step| self.checked_add(step));
        sum.ok_or_else(|| Error::Index(format!("{self} + {digit} * {scale} overflows")))
    }

    fn div_rem(&self, by: &Int) -> Result<(i64, i64), Error> {
        match by.get() {
            Some(by) if by > 0 => Ok((self.div_euclid(by), self.rem_euclid(by))),
            _ => Err(Error::Index(format!("{self} / {by}: a host index needs a positive constant"))),
        }
    }

    fn check(&self, mode: &Lay) -> Result<(), Error> {
        match mode.size()?.get() {
            Some(size) if *self < 0 || *self >= size => {
                Err(Error::OutOfRange { coordinate: *self, mode: mode.to_string() })
            }
            _ => Ok(()),
        }
    }

    fn known_range(&self) -> Option<(i64, i64)> {
        Some((*self, *self))
    }
}

/// Coordinates that are computed at launch, such as the first row `128*s0` of tile `s0`.
impl Index for Sum {
    fn zero() -> Sum {
        Sum::ZERO
    }

    fn advanced(&self, digit: &Sum, scale: &Int) -> Result<Sum, Error> {
        Ok(self.add(&digit.mul(*scale)?)?)
    }

    /// Divides a number, or a sum whose constant and whose every product `by` divides.
    fn div_rem(&self, by: &Int) -> Result<(Sum, Sum), Error> {
        if let (Some(number), Some(_)) = (self.get(), by.get()) {
            let (quotient, rest) = number.div_rem(by)?;
            return Ok((quotient.into(), rest.into()));
        }
        let inexact = || Error::Index(format!("({self}) / {by} may leave a remainder"));
        let mut parts = self.terms().chain([Int::value(self.constant())]);
        let quotient = parts.try_fold(Sum::ZERO, |sum, part| {
            Ok::<Sum, Error>(sum.add(&part.div_exact(*by).ok_or_else(inexact)?.into())?)
        })?;
        Ok((quotient, Sum::ZERO))
    }

    fn check(&self, mode: &Lay) -> Result<(), Error> {
        self.get().map_or(Ok(()), |position| position.check(mode))
    }
}

/// The result of a slice: the kept modes, and for each fixed leaf its digit and stride.
pub(crate) struct Sliced<I> {
    pub(crate) kept: Vec<Lay>,
    pub(crate) steps: Vec<(I, Stride)>,
}

impl<I: Index> Sliced<I> {
    pub(crate) fn of(layout: &Lay, slice: &Slice<I>) -> Result<Sliced<I>, Error> {
        let mut out = Sliced { kept: Vec::new(), steps: Vec::new() };
        out.take(layout, slice, true)?;
        Ok(out)
    }

    /// The steps to a position that may be outside the layout.
    pub(crate) fn to(layout: &Lay, position: &Slice<I>) -> Result<Sliced<I>, Error> {
        let mut out = Sliced { kept: Vec::new(), steps: Vec::new() };
        out.take(layout, position, false)?;
        Ok(out)
    }

    fn take(&mut self, layout: &Lay, slice: &Slice<I>, inside: bool) -> Result<(), Error> {
        match slice {
            Slice::All => {
                self.kept.push(*layout);
                Ok(())
            }
            Slice::At(coordinate) => {
                if inside {
                    coordinate.check(layout)?;
                }
                self.fix(layout, coordinate)
            }
            Slice::Tuple(entries) => {
                if layout.is_leaf() || entries.len() != layout.rank() {
                    return Err(Error::SliceRank {
                        slice: slice.to_string(),
                        found: entries.len(),
                        layout: layout.to_string(),
                        rank: layout.rank(),
                    });
                }
                entries
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, entry)| self.take(&layout.mode(i)?, entry, inside))
            }
        }
    }

    /// Adds the steps for a 1-D coordinate's digits in the leaves, colexicographically; the last leaf takes the rest.
    fn fix(&mut self, layout: &Lay, coordinate: &I) -> Result<(), Error> {
        let mut rest = coordinate.clone();
        let leaves = layout.leaf_count();
        for i in 0..leaves {
            let (shape, stride) = layout.flat_leaf(i);
            if i + 1 == leaves {
                self.steps.push((rest.clone(), stride));
            } else {
                let (quotient, digit) = rest.div_rem(&shape)?;
                self.steps.push((digit, stride));
                rest = quotient;
            }
        }
        Ok(())
    }
}
