//! Arrays whose length is a static integer: owning storage in generic code, where `[T; N]` can't be written.

use core::marker::PhantomData;

/// `LEN` values of `T`, one after another in memory and nothing else: `size_of` is `LEN * size_of::<T>()`. The
/// alignment is that of `T`, and 1 for `LEN` 0.
///
/// ```
/// use girih_typed::{Int, S, Storage};
/// let mut three = <<S<3> as Int>::Array<u8> as Storage<u8>>::filled(7);
/// ```
pub trait Storage<T: Copy>: Copy {
    /// The number of values.
    const LEN: usize;

    /// `LEN` times the same value.
    fn filled(value: T) -> Self;

    /// The element with this number, if there is one.
    fn get(&self, index: usize) -> Option<&T>;

    /// The element with this number, if there is one.
    fn get_mut(&mut self, index: usize) -> Option<&mut T>;
}

/// No elements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[doc(hidden)]
pub struct Nothing<T>(PhantomData<T>);

/// Twice as many elements as the half `H` has.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[doc(hidden)]
pub struct Even<T, H> {
    halves: [H; 2],
    elements: PhantomData<T>,
}

/// Twice as many elements as the half `H` has, and one more.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[doc(hidden)]
pub struct Odd<T, H> {
    halves: [H; 2],
    last: T,
}

impl<T: Copy> Storage<T> for Nothing<T> {
    const LEN: usize = 0;

    fn filled(_: T) -> Self {
        Nothing(PhantomData)
    }

    fn get(&self, _: usize) -> Option<&T> {
        None
    }

    fn get_mut(&mut self, _: usize) -> Option<&mut T> {
        None
    }
}

impl<T: Copy, H: Storage<T>> Storage<T> for Even<T, H> {
    const LEN: usize = 2 * H::LEN;

    fn filled(value: T) -> Self {
        Even { halves: [H::filled(value); 2], elements: PhantomData }
    }

    fn get(&self, index: usize) -> Option<&T> {
        self.halves.get(index.checked_div(H::LEN)?)?.get(index.checked_rem(H::LEN)?)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.halves.get_mut(index.checked_div(H::LEN)?)?.get_mut(index.checked_rem(H::LEN)?)
    }
}

impl<T: Copy, H: Storage<T>> Storage<T> for Odd<T, H> {
    const LEN: usize = 2 * H::LEN + 1;

    fn filled(value: T) -> Self {
        Odd { halves: [H::filled(value); 2], last: value }
    }

    fn get(&self, index: usize) -> Option<&T> {
        if index + 1 == Self::LEN {
            return Some(&self.last);
        }
        self.halves.get(index.checked_div(H::LEN)?)?.get(index.checked_rem(H::LEN)?)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index + 1 == Self::LEN {
            return Some(&mut self.last);
        }
        self.halves.get_mut(index.checked_div(H::LEN)?)?.get_mut(index.checked_rem(H::LEN)?)
    }
}
