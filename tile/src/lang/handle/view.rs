//! Views: an array as tiles, by which it is loaded and stored.

use std::fmt;
use std::marker::PhantomData;

use super::index::At;
use super::operand::IntoItem as _;
use super::{Array, ElementsMut, Mask, Scalar, Tile, Update, dims};
use crate::elem::{Elem, StoreTo};
use crate::error::Fault;
use crate::ir::{Array as Source, ArrayId, Build, Dims, Order, Padding, Rmw, Scope, Value};
use crate::ops::Arg;
use crate::ops::memory::Tiles;
use crate::stage::{Item, Raw, apply, apply_all, with};

/// An array as tiles that are loaded. `at` counts tiles along each axis.
pub struct View<'a, T, const R: usize> {
    tiles: Option<Tiles>,
    of: PhantomData<&'a Array<T, R>>,
}

/// An array as tiles that are loaded and stored. `at` counts tiles along each axis.
pub struct ViewMut<'a, T, const R: usize> {
    tiles: Option<Tiles>,
    of: PhantomData<&'a mut Array<T, R>>,
}

impl<T, const R: usize> Clone for View<'_, T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const R: usize> Copy for View<'_, T, R> {}

impl<T: Elem, const R: usize> Array<T, R> {
    #[track_caller]
    fn view(&self, tile: impl OfTile<R>) -> Option<Tiles> {
        Some(Tiles::new(self.id()?, dims(&tile.extents())?))
    }

    /// The array as tiles of these extents: one for each axis, or `()` for scalars.
    #[track_caller]
    pub fn tiles(&self, tile: impl OfTile<R>) -> View<'_, T, R> {
        View { tiles: self.view(tile), of: PhantomData }
    }

    /// The array as tiles of these extents, to be stored.
    #[track_caller]
    pub fn tiles_mut(&mut self, tile: impl OfTile<R>) -> ViewMut<'_, T, R> {
        ViewMut { tiles: self.view(tile), of: PhantomData }
    }
}

/// Extents of the tiles of an array of rank `R`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tile of an array of rank {R}",
    label = "an extent for each of {R} axes is accepted",
    note = "`[usize; {R}]` is, and `()` for tiles of rank 0, which are scalars"
)]
pub trait OfTile<const R: usize> {
    #[doc(hidden)]
    fn extents(self) -> Vec<usize>;
}

impl<const R: usize> OfTile<R> for [usize; R] {
    fn extents(self) -> Vec<usize> {
        self.into()
    }
}

impl<const R: usize> OfTile<R> for () {
    fn extents(self) -> Vec<usize> {
        Vec::new()
    }
}

/// An access of tiles or elements by an index, operands, and further ones where there are some; poison where these themselves were refused.
#[track_caller]
pub(super) fn access<O, const N: usize, const M: usize>(
    name: &'static str,
    of: Option<O>,
    at: Vec<Item>,
    operands: [Item; N],
    options: [Option<Item>; M],
    f: impl FnOnce(&mut Build, &O, &[Arg], [Arg; N], [Option<Arg>; M]) -> Result<Option<Value>, Fault>,
) -> Raw {
    let Some(of) = of else { return Raw::POISON };
    let rank = at.len();
    let items: Vec<Item> = at.into_iter().chain(operands).chain(options.into_iter().flatten()).collect();
    let found = apply_all(name, &items, 1, |build, args| {
        let (at, rest) = args.split_at(rank);
        let Some((operands, rest)) = rest.split_first_chunk() else { return Ok(Vec::new()) };
        let mut rest = rest.iter().copied();
        let options = options.map(|option| option.and_then(|_| rest.next()));
        f(build, &of, at, *operands, options).map(|value| value.into_iter().collect())
    });
    found.first().copied().unwrap_or(Raw::POISON)
}

macro_rules! view {
    ($view:ident) => {
        impl<T, const R: usize> fmt::Debug for $view<'_, T, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($view)).field("tiles", &self.tiles).finish()
            }
        }

        impl<T: Elem, const R: usize> $view<'_, T, R> {
            #[must_use]
            fn with(mut self, f: impl FnOnce(&mut Tiles)) -> Self {
                if let Some(options) = &mut self.tiles {
                    f(options);
                }
                self
            }

            /// What a load gives for elements outside of the array; anything, unless this is said.
            #[must_use]
            pub fn padding(self, padding: Padding) -> Self {
                self.with(|tiles| tiles.padding = padding)
            }

            /// How far ahead accesses may be issued, 1 to 10.
            #[must_use]
            pub fn latency(self, latency: i64) -> Self {
                self.with(|tiles| tiles.latency = Some(latency))
            }

            /// Whether TMA copies may be taken.
            #[must_use]
            pub fn tma(self, allowed: bool) -> Self {
                self.with(|tiles| tiles.tma = allowed)
            }

            /// The distance of neighbouring tiles along each axis, in elements: tiles overlap, or leave gaps.
            #[track_caller]
            #[must_use]
            pub fn steps(mut self, steps: [usize; R]) -> Self {
                match dims(&steps) {
                    Some(steps) => self.with(|tiles| tiles.steps = Some(steps)),
                    None => {
                        self.tiles = None;
                        self
                    }
                }
            }

            /// Axis `i` of tiles and of their index is axis `axes[i]` of the array.
            #[must_use]
            pub fn axes(self, axes: [usize; R]) -> Self {
                let axes = axes.map(|axis| u32::try_from(axis).unwrap_or(u32::MAX));
                self.with(|tiles| tiles.axes = Dims::new(&axes))
            }

            /// The order that accesses keep with others, and who sees it.
            #[must_use]
            pub fn memory_order(self, order: Order, scope: Scope) -> Self {
                self.with(|tiles| (tiles.order, tiles.scope) = (order, Some(scope)))
            }

            /// Accesses without a check of bounds.
            ///
            /// # Safety
            /// All elements of each tile that is accessed must be in the array.
            #[must_use]
            #[allow(unsafe_code, reason = "that the elements are in the array is the caller's promise")]
            pub unsafe fn unchecked(self) -> Self {
                self.with(|tiles| tiles.check = false)
            }

            /// The number of tiles along an axis, the last of which may reach beyond the array.
            #[track_caller]
            #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
            pub fn num_tiles(&self, axis: i64) -> Scalar<i32> {
                let Some(tiles) = self.tiles else { return Tile::of(Raw::POISON) };
                Tile::of(apply("num_tiles", &[], |build, _| build.num_tiles(&tiles, axis)))
            }

            /// Loads the tile at an index.
            #[track_caller]
            #[must_use = "a load changes nothing: it returns the tile"]
            pub fn load(&self, at: impl At<R>) -> Tile<T> {
                Tile::of(access("load", self.tiles, at.items(), [], [], |build, tiles, at, [], []| {
                    build.load(tiles, at).map(Some)
                }))
            }

            /// Loads the tile at an index where a mask holds; `other` is elsewhere.
            #[track_caller]
            #[must_use = "a load changes nothing: it returns the tile"]
            pub fn load_masked(&self, at: impl At<R>, mask: Tile<bool>, other: impl Update<T>) -> Tile<T> {
                let operands = [mask.item(), other.item()];
                Tile::of(access(
                    "load",
                    self.tiles,
                    at.items(),
                    operands,
                    [],
                    |build, tiles, at, [mask, other], []| build.load_masked(tiles, at, mask, other).map(Some),
                ))
            }
        }
    };
}
view!(View);
view!(ViewMut);

macro_rules! atomics {
    ($($name:ident $rmw:ident $doc:literal;)*) => {
        impl<T: Elem, const R: usize> ViewMut<'_, T, R> {
            $(
                #[doc = $doc]
                ///
                /// Relaxed, and seen by the device, unless the view has a memory order. Elements outside of the array are left out.
                #[track_caller]
                pub fn $name(&mut self, at: impl At<R>, update: impl Update<T>) {
                    access(Rmw::$rmw.name(), self.tiles, at.items(), [update.item()], [], |build, tiles, at, [update], []| {
                        build.atomic_tile(Rmw::$rmw, tiles, at, update).map(|()| None)
                    });
                }
            )*
        }
    };
}
atomics! {
    atomic_add Add "Adds a tile to that at an index, each element atomically.";
    atomic_min Min "Takes the least of a tile and that at an index, each element atomically.";
    atomic_max Max "Takes the greatest of a tile and that at an index, each element atomically.";
    atomic_and And "Bitwise and of a tile and that at an index, each element atomically.";
    atomic_or Or "Bitwise or of a tile and that at an index, each element atomically.";
    atomic_xor Xor "Bitwise exclusive or of a tile and that at an index, each element atomically.";
}

impl<T: Elem, const R: usize> ViewMut<'_, T, R> {
    /// Stores a tile at an index. Elements outside of the array are dropped.
    #[track_caller]
    pub fn store<V: StoreTo<T>>(&mut self, at: impl At<R>, value: Tile<V>) {
        access("store", self.tiles, at.items(), [value.item()], [], |build, tiles, at, [value], []| {
            build.store(tiles, at, value).map(|()| None)
        });
    }

    /// Stores a tile at an index where a mask holds.
    #[track_caller]
    pub fn store_masked<V: StoreTo<T>>(&mut self, at: impl At<R>, value: Tile<V>, mask: impl Mask) {
        let operands = [value.item(), mask.item()];
        access("store", self.tiles, at.items(), operands, [], |build, tiles, at, [value, mask], []| {
            build.store_masked(tiles, at, value, mask).map(|()| None)
        });
    }
}

macro_rules! apart {
    ($($name:ident by $options:ident;)*) => { $(
        impl<T: Elem, const R: usize> $name<'_, T, R> {
            /// Takes the user's word for it that blocks store to different elements of this array.
            ///
            /// # Safety
            /// No two blocks may store to one element of the array; `reason` says why none do.
            #[must_use]
            #[allow(unsafe_code, reason = "that blocks store apart is the caller's promise")]
            pub unsafe fn assume_disjoint(self, reason: &str) -> Self {
                if let Some(of) = self.$options {
                    keep_apart(of.array, reason);
                }
                self
            }
        }
    )* };
}
apart! {
    ViewMut by tiles;
    ElementsMut by of;
}

/// Notes the user's word that blocks store to different elements of an array.
fn keep_apart(array: ArrayId, reason: &str) {
    with(|stage| {
        let (param, _) = stage.build.func().param_of(array);
        if let Some(Source::Param(param)) = stage.build.arrays_mut().get_mut(param.index()) {
            param.assume_disjoint = Some(reason.into());
        }
    });
}
