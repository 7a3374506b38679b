//! Elements of arrays by index tiles: gathers, scatters, rows, atomic operations.

use std::fmt;
use std::marker::PhantomData;

use super::index::{At, Index};
use super::operand::IntoItem;
use super::view::access;
use super::{Array, Mask, Tile};
use crate::elem::{Elem, Integer, StoreTo};
use crate::ir::{Order, Rmw, Scope};
use crate::ops::Arg;
use crate::ops::indexed::{Along, Elements};
use crate::stage::Item;

/// A value that is stored into an array of `T`: a tile whose type becomes `T` by promotion, or a constant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not stored into an array of `{T}`",
    note = "tiles whose type becomes the array's by promotion are, and constants; cast others by `.to::<T>()`"
)]
pub trait Update<T: Elem>: IntoItem {}

impl<T: Elem, V: StoreTo<T>> Update<T> for Tile<V> {}
impl<T: Elem> Update<T> for i64 {}
impl<T: Elem> Update<T> for f64 {}

/// Elements of an array, with options for their access.
pub struct ElementsOf<'a, T, const R: usize> {
    of: Option<Elements>,
    mask: Option<Item>,
    padding: Option<Item>,
    array: PhantomData<&'a Array<T, R>>,
}

/// Elements of an array that is written, with options for their access.
pub struct ElementsMut<'a, T, const R: usize> {
    pub(super) of: Option<Elements>,
    mask: Option<Item>,
    padding: Option<Item>,
    array: PhantomData<&'a mut Array<T, R>>,
}

macro_rules! elements {
    ($name:ident) => {
        impl<T, const R: usize> fmt::Debug for $name<'_, T, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("of", &self.of).finish_non_exhaustive()
            }
        }

        impl<T: Elem, const R: usize> $name<'_, T, R> {
            #[must_use]
            fn with(mut self, f: impl FnOnce(&mut Elements)) -> Self {
                if let Some(options) = &mut self.of {
                    f(options);
                }
                self
            }

            /// Only elements where a mask holds are accessed.
            #[must_use]
            pub fn mask(mut self, mask: impl Mask) -> Self {
                self.mask = Some(mask.item());
                self
            }

            /// The value that masked elements, and those outside of the array, are gathered as. Without it they are 0.
            #[must_use]
            pub fn padding(mut self, padding: impl Update<T>) -> Self {
                self.padding = Some(padding.item());
                self
            }

            /// How far ahead accesses may be issued, 1 to 10.
            #[must_use]
            pub fn latency(self, latency: i64) -> Self {
                self.with(|of| of.latency = Some(latency))
            }

            /// The order that accesses keep with others, and who sees it.
            #[must_use]
            pub fn memory_order(self, order: Order, scope: Scope) -> Self {
                self.with(|of| (of.order, of.scope) = (Some(order), Some(scope)))
            }

            /// Accesses without a check of bounds.
            ///
            /// # Safety
            /// All elements that are accessed must be in the array.
            #[must_use]
            #[allow(unsafe_code, reason = "that the elements are in the array is the caller's promise")]
            pub unsafe fn unchecked(self) -> Self {
                self.with(|of| of.check = false)
            }

            /// The elements that index tiles name, one tile for each axis; they broadcast to the result's shape.
            #[track_caller]
            #[must_use = "a load changes nothing: it returns the tile"]
            pub fn gather(self, at: impl At<R>) -> Tile<T> {
                let options = [self.mask, self.padding];
                Tile::of(access(
                    "gather",
                    self.of,
                    at.items(),
                    [],
                    options,
                    |build, of, at, [], [mask, padding]| build.gather(of, at, mask, padding).map(Some),
                ))
            }

            /// The elements that rows and [`span`]s name along each axis: the result has an axis for each axis of the array.
            #[track_caller]
            #[must_use = "a load changes nothing: it returns the tile"]
            pub fn load_rows(self, along: impl Rows<R>) -> Tile<T> {
                let (items, counts) = along.parts();
                Tile::of(access(
                    "load_rows",
                    self.of,
                    items,
                    [],
                    [self.padding],
                    |build, of, at, [], [padding]| build.load_rows(of, &rows(at, &counts), padding).map(Some),
                ))
            }
        }
    };
}
elements!(ElementsOf);
elements!(ElementsMut);

fn rows(at: &[Arg], counts: &[Option<u32>]) -> Vec<Along> {
    let part = |(&start, count): (&Arg, &Option<u32>)| match *count {
        None => Along::Rows(start),
        Some(count) => Along::Span { start, count },
    };
    at.iter().zip(counts).map(part).collect()
}

macro_rules! atomics {
    ($($name:ident $rmw:ident $doc:literal;)*) => {
        impl<T: Elem, const R: usize> ElementsMut<'_, T, R> {
            $(
                #[doc = $doc]
                ///
                /// Returns what stood there. The order is acquire and release, and the device sees it, unless another is said.
                #[track_caller]
                pub fn $name(self, at: impl At<R>, update: impl Update<T>) -> Tile<T> {
                    self.atomic(Rmw::$rmw, at.items(), [update.item()])
                }
            )*
        }

        impl<T: Elem, const R: usize> Array<T, R> {
            $(
                #[doc = $doc]
                ///
                /// Returns what stood there. The order is acquire and release, and the device sees it: see [`Array::elements_mut`].
                #[track_caller]
                pub fn $name(&mut self, at: impl At<R>, update: impl Update<T>) -> Tile<T> {
                    self.elements_mut().$name(at, update)
                }
            )*
        }
    };
}
atomics! {
    atomic_add Add "Adds to the elements that index tiles name, each atomically.";
    atomic_min Min "Takes the least with the elements that index tiles name, each atomically.";
    atomic_max Max "Takes the greatest with the elements that index tiles name, each atomically.";
    atomic_and And "Bitwise and with the elements that index tiles name, each atomically.";
    atomic_or Or "Bitwise or with the elements that index tiles name, each atomically.";
    atomic_xor Xor "Bitwise exclusive or with the elements that index tiles name, each atomically.";
    atomic_xchg Xchg "Puts values into the elements that index tiles name, each atomically.";
}

impl<T: Elem, const R: usize> ElementsMut<'_, T, R> {
    #[track_caller]
    fn atomic<const N: usize>(self, rmw: Rmw, at: Vec<Item>, operands: [Item; N]) -> Tile<T> {
        Tile::of(access(rmw.name(), self.of, at, operands, [self.mask], |build, of, at, operands, [mask]| {
            let [expected @ .., update] = &operands[..] else { return Ok(None) };
            build.atomic(rmw, of, at, expected.first().copied(), *update, mask).map(Some)
        }))
    }

    /// Puts values into the elements that index tiles name where these are the expected ones, each atomically. Returns what stood there.
    #[track_caller]
    pub fn atomic_cas(self, at: impl At<R>, expected: impl Update<T>, update: impl Update<T>) -> Tile<T> {
        self.atomic(Rmw::Cas, at.items(), [expected.item(), update.item()])
    }

    /// Stores a tile into the elements that index tiles name. Elements outside of the array are dropped.
    #[track_caller]
    pub fn scatter(self, at: impl At<R>, value: impl Update<T>) {
        access(
            "scatter",
            self.of,
            at.items(),
            [value.item()],
            [self.mask],
            |build, of, at, [value], [mask]| build.scatter(of, at, value, mask).map(|()| None),
        );
    }

    /// Stores a tile into the elements that rows and [`span`]s name along each axis.
    #[track_caller]
    pub fn store_rows(self, along: impl Rows<R>, value: impl Update<T>) {
        let (items, counts) = along.parts();
        access("store_rows", self.of, items, [value.item()], [], |build, of, at, [value], []| {
            build.store_rows(of, &rows(at, &counts), value).map(|()| None)
        });
    }
}

impl<T: Elem, const R: usize> Array<T, R> {
    /// The array's elements, with options for their access.
    pub fn elements(&self) -> ElementsOf<'_, T, R> {
        ElementsOf { of: self.id().map(Elements::new), mask: None, padding: None, array: PhantomData }
    }

    /// The array's elements to be written, with options for their access.
    pub fn elements_mut(&mut self) -> ElementsMut<'_, T, R> {
        ElementsMut { of: self.id().map(Elements::new), mask: None, padding: None, array: PhantomData }
    }

    /// The elements that index tiles name, one tile for each axis; 0 for those outside of the array. Options: [`Array::elements`].
    #[track_caller]
    #[must_use = "a load changes nothing: it returns the tile"]
    pub fn gather(&self, at: impl At<R>) -> Tile<T> {
        self.elements().gather(at)
    }

    /// Stores a tile into the elements that index tiles name; those outside of the array are dropped. Options:
    /// [`Array::elements_mut`].
    #[track_caller]
    pub fn scatter(&mut self, at: impl At<R>, value: impl Update<T>) {
        self.elements_mut().scatter(at, value);
    }

    /// The elements that rows and [`span`]s name along each axis.
    #[track_caller]
    #[must_use = "a load changes nothing: it returns the tile"]
    pub fn load_rows(&self, along: impl Rows<R>) -> Tile<T> {
        self.elements().load_rows(along)
    }

    /// Stores a tile into the elements that rows and [`span`]s name along each axis.
    #[track_caller]
    pub fn store_rows(&mut self, along: impl Rows<R>, value: impl Update<T>) {
        self.elements_mut().store_rows(along, value);
    }

    /// Puts values into the elements that index tiles name where these are the expected ones, each atomically. Returns what stood there.
    #[track_caller]
    pub fn atomic_cas(
        &mut self,
        at: impl At<R>,
        expected: impl Update<T>,
        update: impl Update<T>,
    ) -> Tile<T> {
        self.elements_mut().atomic_cas(at, expected, update)
    }
}

/// Consecutive elements along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Span<I> {
    start: I,
    count: usize,
}

/// `count` elements from `start` on, along an axis of [`Array::load_rows`].
pub fn span<I: Index>(start: I, count: usize) -> Span<I> {
    Span { start, count }
}

/// Which elements along one axis: a tile of rows, or a [`span`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no rows",
    note = "tiles of integers of rank 1, scalars, and `span(start, count)` do"
)]
pub trait RowsOrSpan {
    #[doc(hidden)]
    fn part(self) -> (Item, Option<u32>);
}

impl<T: Integer> RowsOrSpan for Tile<T> {
    fn part(self) -> (Item, Option<u32>) {
        (self.item(), None)
    }
}

impl<I: Index> RowsOrSpan for Span<I> {
    fn part(self) -> (Item, Option<u32>) {
        (self.start.index(), Some(u32::try_from(self.count).unwrap_or(0)))
    }
}

/// Rows and spans for each axis of an array of rank `R`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no rows of an array of rank {R}",
    note = "a tuple with a tile of rows, or a `span`, for each axis does"
)]
pub trait Rows<const R: usize> {
    #[doc(hidden)]
    fn parts(self) -> (Vec<Item>, Vec<Option<u32>>);
}

macro_rules! rows {
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(
        impl<$($name: RowsOrSpan),*> Rows<$n> for ($($name,)*) {
            fn parts(self) -> (Vec<Item>, Vec<Option<u32>>) {
                [$(self.$at.part()),*].into_iter().unzip()
            }
        }
    )* };
}
for_tuples!(rows, 4);
