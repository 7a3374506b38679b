//! Integers, shapes and layouts from Rust's numbers.

use core::convert::Infallible;

use crate::{Coord, Error, Int, IntTuple, Lay, MAX_LEAVES, Shape, Stride, Strides};

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Error {
        match never {}
    }
}

macro_rules! fits {
    ($($number:ty),*) => { $(
        impl From<$number> for Int {
            fn from(value: $number) -> Int {
                Int::value(value.into())
            }
        }

        impl From<$number> for Stride {
            fn from(value: $number) -> Stride {
                Stride::Int(value.into())
            }
        }

        impl From<$number> for Coord {
            fn from(position: $number) -> Coord {
                Coord::at(position.into())
            }
        }
    )* };
}

macro_rules! may_not_fit {
    ($($number:ty),*) => { $(
        impl TryFrom<$number> for Int {
            type Error = Error;

            fn try_from(value: $number) -> Result<Int, Error> {
                value.try_into().map(Int::value).map_err(|_| Error::Overflow { op: "an integer" })
            }
        }

        impl TryFrom<$number> for Stride {
            type Error = Error;

            fn try_from(value: $number) -> Result<Stride, Error> {
                Int::try_from(value).map(Stride::Int)
            }
        }

        impl TryFrom<$number> for Coord {
            type Error = Error;

            fn try_from(position: $number) -> Result<Coord, Error> {
                position.try_into().map(Coord::at).map_err(|_| Error::Overflow { op: "a position" })
            }
        }
    )* };
}

fits!(i8, i16, i32, i64, u8, u16, u32);
may_not_fit!(isize, usize, u64, i128, u128);

impl IntTuple {
    /// A flat tuple of numbers, which are integers of any type or [`Int`]s, from an array or anything else that can be
    /// iterated over.
    ///
    /// ```
    /// use girih_layout::{Int, Shape, Symbol};
    /// let n: usize = 64;
    /// assert_eq!(Shape::of([128, n])?.to_string(), "(128,64)");
    /// assert_eq!(Shape::of([Int::symbol(Symbol::new(0)), 8.into()])?.to_string(), "(s0,8)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`] past 64 bits with sign, and those of [`IntTuple::flat`].
    pub fn of<T>(leaves: impl IntoIterator<Item = T>) -> Result<IntTuple, Error>
    where
        T: TryInto<Int, Error: Into<Error>>,
    {
        let (count, leaves) = numbers(leaves)?;
        IntTuple::flat(&leaves[..count])
    }
}

impl Strides {
    /// A flat tuple of strides, of integers of any type, of [`Int`]s or of [`Stride`]s.
    ///
    /// ```
    /// use girih_layout::Strides;
    /// assert_eq!(Strides::of([1, 128])?.to_string(), "(1,128)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::of`].
    pub fn of<T>(leaves: impl IntoIterator<Item = T>) -> Result<Strides, Error>
    where
        T: TryInto<Stride, Error: Into<Error>>,
    {
        let (count, leaves) = numbers(leaves)?;
        Strides::flat(&leaves[..count])
    }
}

impl Lay {
    /// A mode for each extent and its stride, in elements; extents and strides may be any numbers that [`IntTuple::of`]
    /// takes.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// let (m, n, ld): (usize, usize, i64) = (128, 64, 72);
    /// assert_eq!(Lay::strided([m, n], [ld, 1])?, lay!("(128,64):(72,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless there are as many strides as extents, [`Error::NonPositiveShape`], and those of
    /// [`IntTuple::of`].
    pub fn strided<E, D>(
        shape: impl IntoIterator<Item = E>,
        stride: impl IntoIterator<Item = D>,
    ) -> Result<Lay, Error>
    where
        E: TryInto<Int, Error: Into<Error>>,
        D: TryInto<Stride, Error: Into<Error>>,
    {
        Lay::new(&Shape::of(shape)?, &Strides::of(stride)?)
    }

    /// The compact layout, rightmost mode fastest: a C array of these extents. This is [`Lay::right`] for numbers.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// assert_eq!(Lay::row_major([128, 64])?, lay!("(128,64):(64,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::strided`].
    pub fn row_major<T>(shape: impl IntoIterator<Item = T>) -> Result<Lay, Error>
    where
        T: TryInto<Int, Error: Into<Error>>,
    {
        Lay::right(&Shape::of(shape)?)
    }

    /// The compact layout, leftmost mode fastest: a Fortran array of these extents, and the layout that the text
    /// `"(128,64)"` without strides stands for. This is [`Lay::left`] for numbers.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// assert_eq!(Lay::col_major([128, 64])?, lay!("(128,64):(1,128)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::strided`].
    pub fn col_major<T>(shape: impl IntoIterator<Item = T>) -> Result<Lay, Error>
    where
        T: TryInto<Int, Error: Into<Error>>,
    {
        Lay::left(&Shape::of(shape)?)
    }
}

/// The number of values, and the values as leaves.
fn numbers<L: Default + Copy, T>(
    values: impl IntoIterator<Item = T>,
) -> Result<(usize, [L; MAX_LEAVES]), Error>
where
    T: TryInto<L, Error: Into<Error>>,
{
    let (mut count, mut out) = (0, [L::default(); MAX_LEAVES]);
    for value in values {
        *out.get_mut(count).ok_or(Error::Capacity { op: "a flat tuple" })? =
            value.try_into().map_err(Into::into)?;
        count += 1;
    }
    Ok((count, out))
}
