//! Tiles of an array, and the view of the array that they are.

use crate::error::{Fault, ensure};
use crate::hints::Hint;
use crate::ir::{ArrayId, Build, Dims, Order, Padding, Scope, Value, View};
use crate::ops::Arg;

/// Tiles of an array, by which it is loaded and stored. A tile's axis is an axis of the array; the index counts tiles.
///
/// # Examples
/// ```
/// use girih_tile::ir::{ArrayId, Dims, Padding};
/// use girih_tile::ops::memory::Tiles;
///
/// let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(ArrayId(0), Dims::new(&[16, 64]).unwrap()) };
/// assert_eq!(tiles.latency, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The array.
    pub array: ArrayId,
    /// Extents of a tile. A tile of rank 0 is one element of any array.
    pub tile: Dims,
    /// Axis `i` of tiles and of their index is axis `axes[i]` of the array; none is the same.
    pub axes: Option<Dims>,
    /// The distance of neighbouring tiles along each of their axes, in elements; none is the tile's extents.
    pub steps: Option<Dims>,
    /// What a load gives for elements outside of the array.
    pub padding: Padding,
    /// Whether bounds are checked. An access without is a promise that all its elements are in the array.
    pub check: bool,
    /// Expected latency, 1 to 10.
    pub latency: Option<i64>,
    /// Whether TMA copies may be taken.
    pub tma: bool,
    /// Order of the access.
    pub order: Order,
    /// Scope of an order other than weak.
    pub scope: Option<Scope>,
}

impl Tiles {
    /// Tiles that are one beside the other, with no options set.
    pub const fn new(array: ArrayId, tile: Dims) -> Tiles {
        Tiles {
            array,
            tile,
            axes: None,
            steps: None,
            padding: Padding::Undetermined,
            check: true,
            latency: None,
            tma: true,
            order: Order::Weak,
            scope: None,
        }
    }

    /// The axis of tiles that is this one of the array.
    pub(super) fn mode(&self, axis: usize) -> usize {
        let found = self.axes.and_then(|axes| axes.iter().position(|&a| a as usize == axis));
        found.unwrap_or(axis)
    }
}

impl Build {
    /// The tile of an array's axes as a tile of the view's axes.
    pub(super) fn axes_of_tile(&mut self, value: Value, tiles: &Tiles) -> Result<Value, Fault> {
        if tiles.tile.rank() == 0 {
            return Ok(self.reshaped(value, tiles.tile));
        }
        match tiles.axes {
            Some(axes) => self.permute(value, &axes.iter().map(|&axis| axis.into()).collect::<Vec<i64>>()),
            None => Ok(value),
        }
    }

    /// The view of an array's axes that tiles are.
    pub(super) fn view(&self, name: &'static str, tiles: &Tiles) -> Result<View, Fault> {
        let rank = self.array_rank(tiles.array);
        let (extents, dtype) = (tiles.tile, self.array_dtype(tiles.array));
        let own = [rank, 0].contains(&extents.rank()) && !extents.contains(&0);
        ensure!(own, Fault::TileRank { operation: name, tile: extents, rank });
        let pow2 = !self.strict_pow2 || extents.iter().all(|n| n.is_power_of_two());
        ensure!(pow2, Fault::ShapeNotPow2 { shape: extents.numbers() });
        let mut order: Vec<usize> = (0..rank).collect();
        if let Some(axes) = tiles.axes {
            let own = axes.modes();
            let mut sorted = own.clone();
            sorted.sort_unstable();
            let fault = || Fault::AxesRank { operation: name, tile: extents, axes: axes.numbers() };
            ensure!(sorted == order && extents.rank() > 0, fault());
            order = own;
        }
        let own = tiles.steps.unwrap_or(extents);
        let fault =
            Fault::Steps { operation: name, tile: extents, steps: own, accepted: "a step of 1 or more" };
        ensure!(own.rank() == extents.rank() && !own.contains(&0), fault);
        let (mut tile, mut steps) = (Dims::ones(rank), Dims::ones(rank));
        for (axis, &n) in extents.iter().enumerate() {
            tile = tile.with(order[axis], n);
            steps = steps.with(order[axis], own[axis]);
        }
        let even = |dims: &Dims| dims.last().is_some_and(|n| n % 2 == 0);
        let accepted = "tiles of an even extent at even steps along the array's last axis";
        let whole = dtype.bits() >= 8 || even(&tile) && even(&steps);
        ensure!(whole, Fault::PartOfByte { operation: name, dtype, accepted });
        let latency = tiles.latency.map(|value| Hint::Latency.check(value, None)).transpose()?;
        self.check_padding(name, tiles)?;
        Ok(View {
            array: tiles.array,
            tile,
            steps,
            padding: tiles.padding,
            check: tiles.check,
            latency: latency.and_then(|value| u8::try_from(value).ok()),
            tma: tiles.tma,
            order: tiles.order,
            scope: tiles.scope,
        })
    }

    fn check_padding(&self, name: &'static str, tiles: &Tiles) -> Result<(), Fault> {
        let dtype = self.array_dtype(tiles.array);
        let has = match tiles.padding {
            Padding::Undetermined | Padding::Zero => true,
            Padding::NegZero => dtype.float().is_some_and(|float| float.signed) && dtype.bits() >= 8,
            Padding::Nan => dtype.float().is_some_and(|float| float.nan),
            Padding::PosInf | Padding::NegInf => dtype.float().is_some_and(|float| float.inf),
        };
        ensure!(has, Fault::Padding { operation: name, dtype, padding: tiles.padding });
        Ok(())
    }

    /// The index by the array's axes.
    pub(super) fn tile_index(
        &mut self,
        name: &'static str,
        tiles: &Tiles,
        index: &[Arg],
    ) -> Result<Vec<Value>, Fault> {
        let rank = self.array_rank(tiles.array);
        ensure!(index.len() == rank, Fault::IndexRank { operation: name, given: index.len(), rank });
        let own = index.iter().map(|&arg| self.index_scalar(name, arg)).collect::<Result<Vec<_>, _>>()?;
        Ok((0..rank).map(|axis| own[tiles.mode(axis)]).collect())
    }

    pub(super) fn index_scalar(&mut self, name: &'static str, arg: Arg) -> Result<Value, Fault> {
        let value = self.index_value(name, arg)?;
        let tile = self.ty(value).dims;
        ensure!(tile.rank() == 0, Fault::IndexShape { operation: name, tile, accepted: "scalars" });
        Ok(value)
    }
}
