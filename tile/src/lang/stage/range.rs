//! Ranges of loops: of numbers known while building they are Rust's own, of scalars they run at run time.

use girih_tensor::Element;

use super::{Raw, int, refuse};
use crate::elem::Integer;
use crate::error::Code;
use crate::handle::Tile;

/// What `a..b` of a `for` loop becomes.
#[diagnostic::on_unimplemented(
    message = "no range from `{Self}` to `{B}`",
    note = "integers of one Rust type, scalars of one integer type, and scalars with `i64` constants make ranges"
)]
pub trait Range<B> {
    /// The range.
    type Out;
    /// `self..b`.
    fn range(self, b: B) -> Self::Out;
}

macro_rules! host {
    ($($ty:ty),*) => { $(impl Range<$ty> for $ty {
        type Out = std::ops::Range<$ty>;
        fn range(self, b: $ty) -> Self::Out {
            self..b
        }
    })* };
}
host!(usize, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, char);

/// A range of scalars: its loop runs at run time.
#[derive(Clone, Copy, Debug)]
pub struct Staged<T> {
    pub(super) from: Tile<T>,
    pub(super) to: Tile<T>,
    pub(super) step: Option<Raw>,
}

/// Steps of a range of scalars.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no step of a range of `{T}` scalars",
    note = "a number, or a scalar of the same type, is"
)]
pub trait Step<T> {
    #[doc(hidden)]
    fn step(self) -> Raw;
}

impl<T> Step<T> for Tile<T> {
    fn step(self) -> Raw {
        self.raw()
    }
}

macro_rules! steps {
    ($($ty:ty),*) => { $(impl<T: Element> Step<T> for $ty {
        #[track_caller]
        fn step(self) -> Raw {
            if self as i128 <= 0 {
                refuse(Code::RangeStep, format!("a range in steps of {self}: steps of 1 or more are accepted"));
                return Raw::POISON;
            }
            int(T::DTYPE, self as i64)
        }
    })* };
}
steps!(i32, i64, usize);

impl<T: Integer> Staged<T> {
    pub(crate) fn new(from: Tile<T>, to: Tile<T>) -> Staged<T> {
        Staged { from, to, step: None }
    }

    /// Every `step`-th number of the range.
    #[track_caller]
    #[must_use]
    pub fn step_by(self, step: impl Step<T>) -> Staged<T> {
        Staged { step: Some(step.step()), ..self }
    }
}

impl<T: Integer> Range<Tile<T>> for Tile<T> {
    type Out = Staged<T>;
    fn range(self, b: Tile<T>) -> Staged<T> {
        Staged::new(self, b)
    }
}

impl<T: Integer> Range<Tile<T>> for i64 {
    type Out = Staged<T>;
    fn range(self, b: Tile<T>) -> Staged<T> {
        Staged::new(Tile::of(int(T::DTYPE, self)), b)
    }
}

impl<T: Integer> Range<i64> for Tile<T> {
    type Out = Staged<T>;
    fn range(self, b: i64) -> Staged<T> {
        Staged::new(self, Tile::of(int(T::DTYPE, b)))
    }
}

/// `a..b`.
pub fn range<A: Range<B>, B>(a: A, b: B) -> A::Out {
    a.range(b)
}
