//! Views: an array cut into tiles, which are loaded and stored.

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

/// An array cut into tiles that are loaded. `at` counts tiles along each axis.
pub struct View<'a, T, const R: usize> {
    tiles: Option<Tiles>,
    of: PhantomData<&'a Array<T, R>>,
}

/// An array cut into tiles that are loaded and stored. `at` counts tiles along each axis.
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

    /// The array cut into tiles of these extents: one for each axis, or `()` for scalars.
    #[track_caller]
    pub fn tiles(&self, tile: impl OfTile<R>) -> View<'_, T, R> {
        View { tiles: self.view(tile), of: PhantomData }
    }

    /// The array cut into tiles of these extents, which can be stored.
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

/// Records an access of tiles or elements at an index, with operands and optional operands. Returns poison if the view or an operand was refused.
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

            /// The value of loaded elements outside of the array. Without it they are undetermined.
            #[must_use]
            pub fn padding(self, padding: Padding) -> Self {
                self.with(|tiles| tiles.padding = padding)
            }

            /// The latency of accesses, 1 to 10: loads in a loop are prefetched further ahead if it is higher.
            #[must_use]
            pub fn latency(self, latency: i64) -> Self {
                self.with(|tiles| tiles.latency = Some(latency))
            }

            /// Whether accesses may use TMA.
            #[must_use]
            pub fn tma(self, allowed: bool) -> Self {
                self.with(|tiles| tiles.tma = allowed)
            }

            /// The distance in elements of neighbouring tiles along each axis. Tiles may overlap or leave gaps.
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

            /// The memory order and the scope of accesses.
            #[must_use]
            pub fn memory_order(self, order: Order, scope: Scope) -> Self {
                self.with(|tiles| (tiles.order, tiles.scope) = (order, Some(scope)))
            }

            /// Accesses without a bounds check.
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

            /// Loads the elements of the tile at an index for which the mask is true. The other elements are `other`.
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
                /// The order is relaxed and the scope is the device, unless the view has a memory order. Elements outside of the array are skipped.
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
    atomic_add Add "Adds a tile to the tile at an index, each element atomically.";
    atomic_min Min "Stores the minimum of a tile and the tile at an index, each element atomically.";
    atomic_max Max "Stores the maximum of a tile and the tile at an index, each element atomically.";
    atomic_and And "Stores the bitwise and of a tile and the tile at an index, each element atomically.";
    atomic_or Or "Stores the bitwise or of a tile and the tile at an index, each element atomically.";
    atomic_xor Xor "Stores the bitwise exclusive or of a tile and the tile at an index, each element atomically.";
}

impl<T: Elem, const R: usize> ViewMut<'_, T, R> {
    /// Stores a tile at an index. Elements outside of the array are dropped.
    #[track_caller]
    pub fn store<V: StoreTo<T>>(&mut self, at: impl At<R>, value: Tile<V>) {
        access("store", self.tiles, at.items(), [value.item()], [], |build, tiles, at, [value], []| {
            build.store(tiles, at, value).map(|()| None)
        });
    }

    /// Stores the elements of a tile at an index for which the mask is true.
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
            /// Asserts that blocks store to disjoint elements of this array.
            ///
            /// # Safety
            /// No two blocks may store to one element of the array. `reason` documents why.
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

/// Records the assertion that blocks store to disjoint elements of an array.
fn keep_apart(array: ArrayId, reason: &str) {
    with(|stage| {
        let (param, _) = stage.build.func().param_of(array);
        if let Some(Source::Param(param)) = stage.build.arrays_mut().get_mut(param.index()) {
            param.assume_disjoint = Some(reason.into());
        }
    });
}
