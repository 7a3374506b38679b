//! The facts that a program queries. Other facts do not change its kernel.

use num_integer::gcd;

use super::{ArrayFacts, Facts};
use crate::fit;
use crate::ir::{Dims, Func, Kind, Known};

/// Bytes of the widest access of a thread.
const WIDEST: u64 = 16;
/// The alignment of allocations.
const ALLOCATED: u64 = 256;

/// An array as a launch finds it. Extents and strides are in elements.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Extents.
    pub extents: &'a [usize],
    /// Strides.
    pub strides: &'a [usize],
    /// The address of the first element.
    pub address: u64,
}

impl Found<'_> {
    /// The stride of an axis as kernels have it: of an axis without a second element, one that every kernel takes.
    pub(crate) fn stride(&self, axis: usize) -> usize {
        stride(self.extents, self.strides, axis)
    }
}

/// [`Found::stride`] of extents and strides.
pub(crate) fn stride(extents: &[usize], strides: &[usize], axis: usize) -> usize {
    /// A multiple of all that is asked for.
    const NEAR: usize = 1 << 30;
    if extents[axis] <= 1 { strides[axis].min(NEAR) } else { strides[axis] }
}

/// How a program accesses an array by tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    tile: Dims,
    steps: Dims,
    check: bool,
}

/// The facts that a program requests of an array parameter.
#[derive(Clone, Debug)]
struct OfArray {
    /// Bits of an element.
    bits: u64,
    tiles: Vec<Access>,
    /// Whether elements are accessed by index tiles.
    indexed: bool,
}

/// Which facts of its arguments a program asks for: by these alone kernels of the program differ.
///
/// * Of strides: which are 0 and which are 1, and those that no parameter has: from 2^31 elements on of an array of up to two axes, beyond
///   2^42 of another one. A kernel is built for such a stride alone.
/// * Of an axis that is accessed by tiles with a check of bounds: whether the tile, and the distance of tiles, divide the extent.
/// * How many elements a vector can have: a power of two, which the alignment of the address and of the other strides allow, of at most 16
///   bytes and of no more than the tiles have along the contiguous axis. If this axis is checked, also how many of them the extent is a
///   multiple of.
///
/// So the sizes of arrays are asked for by no program.
///
/// # Examples
/// ```
/// use girih_tile::facts::{Found, Uses};
/// use girih_tile::ir::Known;
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn row_sum(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
///     let row = x.tiles([4, 256]).padding(Padding::Zero).load((bid(0), 0));
///     y.tiles_mut([4]).store((bid(0),), row.sum(1));
/// }
///
/// let uses = Uses::of(&row_sum::ir()?);
/// let facts = |rows: usize, columns: usize| {
///     let x = Found { extents: &[rows, columns], strides: &[columns, 1], address: 256 };
///     let y = Found { extents: &[rows], strides: &[1], address: 256 };
///     uses.facts(&[x, y], 0)
/// };
/// assert_eq!(facts(8, 100), facts(12, 1000));
/// assert_ne!(facts(8, 100), facts(8, 101));
/// assert_eq!(facts(8, 100).arrays[0].extents, [Known::MultipleOf(4), Known::MultipleOf(4)]);
/// # Ok::<(), girih_tile::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uses {
    arrays: Vec<OfArray>,
}

/// The greatest power of two up to `most`, which is one, that divides a number.
fn power(n: u64, most: u64) -> u64 {
    if n == 0 { most } else { (1 << n.trailing_zeros().min(62)).min(most) }
}

/// The least common multiple, if extents can be one.
fn both(a: i64, b: i64) -> i64 {
    (a / gcd(a, b)).checked_mul(b).filter(|&n| n <= i64::from(i32::MAX)).unwrap_or(a)
}

impl OfArray {
    /// The axis along which an access has its vectors: the one that placement takes.
    fn fast(&self, access: &Access, strides: &[usize]) -> Option<usize> {
        let one = |&axis: &usize| strides[axis] == 1;
        (0..strides.len()).filter(one).max_by_key(|&axis| (access.tile[axis] > 1, axis))
    }

    /// The widest vectors that accesses could have, in elements, if addresses and extents allowed them.
    fn widest(&self, strides: &[usize]) -> u64 {
        let most = (8 * WIDEST / self.bits).max(1);
        if self.indexed {
            return most;
        }
        let of = |access: &Access| {
            let Some(axis) = self.fast(access, strides) else { return 1 };
            power(access.steps[axis].into(), most).min(u64::from(access.tile[axis]).next_power_of_two())
        };
        self.tiles.iter().map(of).max().unwrap_or(1)
    }

    /// The facts of an array.
    fn facts(&self, found: &Found<'_>) -> ArrayFacts {
        let all: Vec<usize> = (0..found.strides.len()).map(|axis| found.stride(axis)).collect();
        let limits = all.iter().filter(|&&stride| stride > 1).map(|&stride| stride as u64);
        let widest = self.widest(found.strides);
        let aligned = power(8 * found.address / self.bits, widest);
        let vector = limits.fold(aligned, |vector, stride| power(stride, vector));
        let most = fit::farthest(all.len());
        let strides = all.iter().map(|&stride| match i64::try_from(stride).unwrap_or(i64::MAX) {
            stride if stride <= 1 || stride > most => Known::Is(stride),
            _ => Known::MultipleOf(vector as i64),
        });
        let mut extents = vec![1i64; found.extents.len()];
        let mut fast = vec![false; found.extents.len()];
        for access in self.tiles.iter().filter(|access| access.check) {
            self.fast(access, found.strides).into_iter().for_each(|axis| fast[axis] = true);
            for (axis, all) in extents.iter_mut().enumerate() {
                for by in [access.tile[axis], access.steps[axis]].map(i64::from) {
                    if by > 1 && found.extents[axis] as i64 % by == 0 {
                        *all = both(*all, by);
                    }
                }
            }
        }
        for (axis, all) in extents.iter_mut().enumerate() {
            if fast[axis] || self.indexed && found.strides[axis] == 1 {
                *all = both(*all, power(found.extents[axis] as u64, vector) as i64);
            }
        }
        ArrayFacts {
            extents: extents.into_iter().map(Known::MultipleOf).collect(),
            strides: strides.collect(),
            align: u32::try_from((vector * self.bits).div_ceil(8)).unwrap_or(1),
        }
    }
}

impl Uses {
    /// The facts that a program requests.
    pub fn of(func: &Func) -> Uses {
        let bits = func.params().map(|(_, param)| u64::from(param.dtype.bits()));
        let arrays = bits.map(|bits| OfArray { bits, tiles: Vec::new(), indexed: false });
        let mut uses = Uses { arrays: arrays.collect() };
        func.walk(func.body(), &mut |_, op| {
            let Some(array) = op.kind.array() else { return };
            let of = &mut uses.arrays[func.param_of(array).0.index()];
            match &op.kind {
                Kind::Load(view) | Kind::Store(view) => {
                    let access = Access { tile: view.tile, steps: view.steps, check: view.check };
                    if !of.tiles.contains(&access) {
                        of.tiles.push(access);
                    }
                }
                _ => of.indexed = true,
            }
        });
        uses
    }

    /// The facts of row-major arrays of these extents, each in an allocation of its own.
    ///
    /// # Examples
    /// ```
    /// use girih_tile::facts::Uses;
    /// use girih_tile::ir::Known;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel]
    /// fn copy(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    ///     y.tiles_mut([1, 256]).store((bid(0), bid(1)), x.tiles([1, 256]).load((bid(0), bid(1))));
    /// }
    ///
    /// let facts = Uses::of(&copy::ir()?).row_major(&[vec![10, 512], vec![10, 513]], 0);
    /// assert_eq!((facts.arrays[0].align, facts.arrays[1].align), (16, 4));
    /// assert_eq!(facts.arrays[0].strides, [Known::MultipleOf(4), Known::Is(1)]);
    /// # Ok::<(), girih_tile::error::Error>(())
    /// ```
    pub fn row_major(&self, extents: &[Vec<usize>], scalars: usize) -> Facts {
        let strides = |extents: &Vec<usize>| {
            let step =
                |size: &mut usize, &n: &usize| Some(std::mem::replace(size, size.saturating_mul(n.max(1))));
            let mut strides: Vec<usize> = extents.iter().rev().scan(1, step).collect();
            strides.reverse();
            strides
        };
        let strides: Vec<Vec<usize>> = extents.iter().map(strides).collect();
        let found = extents.iter().zip(&strides);
        let found = found.map(|(extents, strides)| Found { extents, strides, address: ALLOCATED });
        self.facts(&found.collect::<Vec<_>>(), scalars)
    }

    /// The requested facts of these arrays, in the order of the program's parameters; scalars have no facts. An array that the program does not have
    /// is skipped.
    pub fn facts(&self, arrays: &[Found<'_>], scalars: usize) -> Facts {
        let of = self.arrays.iter().zip(arrays).map(|(of, found)| of.facts(found));
        Facts { arrays: of.collect(), scalars: vec![Known::MultipleOf(1); scalars] }
    }
}
