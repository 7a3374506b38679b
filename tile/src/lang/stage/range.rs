//! Ranges of loops: of numbers known while building they are Rust's own, of scalars they run at run time.

use girih_tensor::Element;

use super::{Item, Raw, int, refuse};
use crate::elem::Integer;
use crate::error::Fault;
use crate::handle::Tile;
use crate::ir::table::Each;
use crate::ops::Mode;

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
    pub(super) counted: Counted,
}

/// How the numbers that a loop counts become those of its range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counted {
    /// They are.
    Up,
    /// This less the number.
    From(Raw),
    /// This and the number: a range that was reversed twice, with steps in between.
    Beyond(Raw),
}

impl Counted {
    /// The range's number where the loop counts this one.
    #[track_caller]
    pub(super) fn number(self, counted: Raw) -> Raw {
        match self {
            Counted::Up => counted,
            Counted::From(sum) => each(Each::Sub, sum, counted),
            Counted::Beyond(base) => each(Each::Add, base, counted),
        }
    }
}

#[track_caller]
fn each(op: Each, x: Raw, y: Raw) -> Raw {
    super::each(op, &[Item::Tile(x), Item::Tile(y)], Mode::default())
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
                refuse(Fault::RangeStep { step: self as i128 });
                return Raw::POISON;
            }
            int(T::DTYPE, self as i64)
        }
    })* };
}
steps!(i32, i64, usize);

impl<T: Integer> Staged<T> {
    pub(crate) fn new(from: Tile<T>, to: Tile<T>) -> Staged<T> {
        Staged { from, to, step: None, counted: Counted::Up }
    }

    /// Every `step`-th number of the range.
    #[track_caller]
    #[must_use]
    pub fn step_by(self, step: impl Step<T>) -> Staged<T> {
        let step = step.step();
        let step = self.step.map_or(step, |own| each(Each::Mul, own, step));
        Staged { step: Some(step), ..self }
    }

    /// The numbers of the range, the last one first.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel]
    /// fn digits(y: &mut Array<i32, 1>, n: Scalar<i32>) {
    ///     let mut number = scalar::<i32>(0);
    ///     for i in (0..n).rev() {
    ///         number = number * 10 + i;
    ///     }
    ///     y.tiles_mut([1]).store((0,), number);
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let mut y = DeviceArray::zeros(&device, [1])?;
    /// digits(&mut y, 4).grid([1]).run()?;
    /// assert_eq!(y.download()?, [3210]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn rev(self) -> Staged<T> {
        // The last number that is counted; a range without numbers has no iteration that would use it.
        let (from, one) = (self.from.raw(), int(T::DTYPE, 1));
        let most = each(Each::Sub, self.to.raw(), one);
        let last = match self.step {
            None => most,
            Some(step) => {
                let beyond = each(Each::Mod, each(Each::Sub, most, from), step);
                each(Each::Sub, most, beyond)
            }
        };
        let sum = each(Each::Add, from, last);
        let counted = match self.counted {
            Counted::Up => Counted::From(sum),
            Counted::From(own) => Counted::Beyond(each(Each::Sub, own, sum)),
            Counted::Beyond(base) => Counted::From(each(Each::Add, base, sum)),
        };
        Staged { counted, ..self }
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
