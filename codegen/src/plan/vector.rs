//! How wide the accesses of a partition's threads can be.

use std::fmt;

use girih_layout::{Composed, Lay};

use crate::Error;
use crate::sizes::static_size;

/// Why an access is not wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The access is as wide as was asked for.
    None,
    /// A value is not next to the value before it.
    Apart {
        /// The thread.
        thread: i64,
        /// The value's index.
        value: i64,
        /// How many elements the value is after the value before it: the stride that breaks the run.
        step: i64,
    },
    /// A vector does not begin at a multiple of its size.
    Misaligned {
        /// The thread.
        thread: i64,
        /// The number of the vector's first value.
        value: i64,
        /// The element at which the vector begins.
        offset: i64,
    },
    /// A thread has fewer values.
    Values(i64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::None => f.write_str("as wide as asked for"),
            Limit::Apart { thread, value, step } => {
                write!(f, "value {value} of thread {thread} is {step} elements after the one before")
            }
            Limit::Misaligned { thread, value, offset } => {
                write!(f, "value {value} of thread {thread} begins at element {offset}")
            }
            Limit::Values(n) => write!(f, "a thread has {n} values"),
        }
    }
}

/// The widest vectors, elements of a power of two up to `most`, in which every thread of `tv` can access its values of
/// a tile that is laid out as `memory` says, and what is in the way of the next width.
///
/// # Errors
/// [`Error::NotStatic`]; [`Error::Layout`] for indices outside of `memory`.
///
/// # Examples
/// ```
/// use girih_codegen::plan::widest_vector;
/// use girih_layout::{Composed, Swizzle, lay};
///
/// // Eight values along rows of 68 elements: every second row begins in the middle of 8.
/// let tv = lay!("((4,8),8):((64,1),8)");
/// let rows = |pitch| Composed::new(Swizzle::NONE, 0, pitch);
/// let (width, why) = widest_vector(&rows(lay!("(8,32):(68,1)")), &tv, 8)?;
/// assert_eq!((width, why.to_string().as_str()), (4, "value 0 of thread 4 begins at element 68"));
/// let (width, why) = widest_vector(&rows(lay!("(8,32):(1,8)")), &tv, 8)?;
/// assert_eq!((width, why.to_string().as_str()), (1, "value 1 of thread 0 is 8 elements after the one before"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn widest_vector(memory: &Composed, tv: &Lay, most: i64) -> Result<(i64, Limit), Error> {
    let offsets = Offsets::new("widest_vector", memory, tv, 8)?;
    let mut width = 1;
    loop {
        if 2 * width > most {
            return Ok((width, Limit::None));
        }
        match offsets.limit(2 * width)? {
            Limit::None => width *= 2,
            limit => return Ok((width, limit)),
        }
    }
}

/// The most values of all threads, each of which is looked at.
const MOST: i64 = 1 << 24;

/// Where the values of a partition are.
pub(super) struct Offsets<'a> {
    memory: &'a Composed,
    tv: &'a Lay,
    pub(super) threads: i64,
    pub(super) values: i64,
}

impl Offsets<'_> {
    pub(super) fn new<'a>(
        what: &'static str,
        memory: &'a Composed,
        tv: &'a Lay,
        bits: i64,
    ) -> Result<Offsets<'a>, Error> {
        if tv.rank() != 2 || bits < 1 {
            let (layout, with) = (tv.to_string(), format!("elements of {bits} bits"));
            return Err(Error::Mismatch { what, layout, with, accepted: "(Thr,Val) and at least one bit" });
        }
        let size = |mode: usize| static_size(what, &tv.mode(mode)?);
        let (threads, values) = (size(0)?, size(1)?);
        if threads.saturating_mul(values) > MOST {
            let (layout, with) = (tv.to_string(), format!("{threads} threads with {values} values each"));
            return Err(Error::Mismatch {
                what,
                layout,
                with,
                accepted: "up to 2^24 values of all threads together",
            });
        }
        Ok(Offsets { memory, tv, threads, values })
    }

    /// The element of memory at which a value is.
    pub(super) fn at(&self, thread: i64, value: i64) -> Result<i64, Error> {
        Ok(self.memory.at(self.tv.at(thread + self.threads * value)?)?)
    }

    /// The reason against vectors of `width`.
    pub(super) fn limit(&self, width: i64) -> Result<Limit, Error> {
        if self.values % width != 0 {
            return Ok(Limit::Values(self.values));
        }
        for thread in 0..self.threads {
            let mut before = 0;
            for value in 0..self.values {
                let at = self.at(thread, value)?;
                if value % width == 0 {
                    if at.rem_euclid(width) != 0 {
                        return Ok(Limit::Misaligned { thread, value, offset: at });
                    }
                } else if at != before + 1 {
                    return Ok(Limit::Apart { thread, value, step: at - before });
                }
                before = at;
            }
        }
        Ok(Limit::None)
    }
}
