//! Arrays in device memory, as kernels see them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::index::Index;
use super::{Scalar, Tile};
use crate::elem::Elem;
use crate::ir::ArrayId;
use crate::stage::apply;

/// An array of rank `R` in device memory. A kernel reads a `&Array` and writes a `&mut Array`.
pub struct Array<T, const R: usize> {
    id: Option<ArrayId>,
    of: PhantomData<fn() -> T>,
}

impl<T, const R: usize> fmt::Debug for Array<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("id", &self.id).finish()
    }
}

impl<T, const R: usize> Array<T, R> {
    pub(crate) fn of(id: ArrayId) -> Array<T, R> {
        Array { id: Some(id), of: PhantomData }
    }

    /// The array in the program; `None` for a part whose bounds were refused.
    pub(crate) fn id(&self) -> Option<ArrayId> {
        self.id
    }
}

impl<T: Elem, const R: usize> Array<T, R> {
    /// The extent along an axis, in elements; negative axes count from the end. Of a part it is `stop - start`, or 0 where `stop` is less:
    /// elements of the part that its array does not have count too.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn dim(&self, axis: i64) -> Scalar<i32> {
        let Some(id) = self.id else { return Tile::of(crate::stage::Raw::POISON) };
        Tile::of(apply("dim", &[], |build, _| build.dim(id, axis)))
    }

    #[track_caller]
    fn part(&self, axis: i64, start: impl Index, stop: impl Index) -> Array<T, R> {
        let mut part = None;
        if let Some(id) = self.id {
            apply("slice", &[start.index(), stop.index()], |build, args| {
                part = Some(build.array_slice(id, axis, args[0], args[1])?);
                build.value(args[0])
            });
        }
        Array { id: part, of: PhantomData }
    }

    /// The elements `start..stop` along an axis: element `i` of the part is element `start + i` of the array. What of them is outside of the
    /// array is outside of the part too: of `x.slice(0, -3, 1)` a load gives padding three times, and then the first element of `x`.
    #[track_caller]
    pub fn slice(&self, axis: i64, start: impl Index, stop: impl Index) -> Part<'_, T, R> {
        Part { array: self.part(axis, start, stop), of: PhantomData }
    }

    /// [`Array::slice`] to be written.
    #[track_caller]
    pub fn slice_mut(&mut self, axis: i64, start: impl Index, stop: impl Index) -> PartMut<'_, T, R> {
        PartMut { array: self.part(axis, start, stop), of: PhantomData }
    }
}

/// A part of an array, which is an [`Array`].
#[derive(Debug)]
pub struct Part<'a, T, const R: usize> {
    array: Array<T, R>,
    of: PhantomData<&'a Array<T, R>>,
}

impl<T, const R: usize> Deref for Part<'_, T, R> {
    type Target = Array<T, R>;
    fn deref(&self) -> &Array<T, R> {
        &self.array
    }
}

/// A part of an array that is written, which is an [`Array`].
#[derive(Debug)]
pub struct PartMut<'a, T, const R: usize> {
    array: Array<T, R>,
    of: PhantomData<&'a mut Array<T, R>>,
}

impl<T, const R: usize> Deref for PartMut<'_, T, R> {
    type Target = Array<T, R>;
    fn deref(&self) -> &Array<T, R> {
        &self.array
    }
}

impl<T, const R: usize> DerefMut for PartMut<'_, T, R> {
    fn deref_mut(&mut self) -> &mut Array<T, R> {
        &mut self.array
    }
}

/// The block's index along an axis of the grid, 0 to 2.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn bid(axis: usize) -> Scalar<i32> {
    Tile::of(apply("bid", &[], |build, _| build.bid(i64::try_from(axis).unwrap_or(i64::MAX))))
}

/// The grid's extent along an axis, 0 to 2.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn num_blocks(axis: usize) -> Scalar<i32> {
    Tile::of(apply("num_blocks", &[], |build, _| build.num_blocks(i64::try_from(axis).unwrap_or(i64::MAX))))
}
