//! Stores by TMA: threads write a tile to shared memory, and one thread issues the TMA copy while the others continue.

use std::collections::BTreeMap;

use girih_codegen::atom::{GmmaLayout, Major, Transfer};
use girih_codegen::plan::{Dist, ROUND_TRIP, WIDEST, run};
use girih_codegen::{Error, TmaCopy};
use girih_layout::{Int, Lay, Stride, Swizzle};

use super::super::access::width;
use super::super::cost::{SHARED, own};
use super::super::rule::extents;
use super::choice::Choice;
use super::{Products, ROWS, SharedTile, WARPGROUP, Wgmma, fragment, row, transposed};
use crate::ir::{ArrayId, Dims, Func, Kind, Known, OpId, Order, Padding, RegionId, Value, View};

/// The most bytes of a tile on its way out.
const MOST: i64 = 64 << 10;
/// The bits of elements of which a warp writes whole sectors from its accumulators: there is nothing to gain.
const WIDE: u32 = 32;
/// Bytes of the narrowest access to shared memory that a tile is put there by.
const WORD: i64 = 4;
/// Elements of a thread that `stmatrix` writes at once.
const MATRICES: i64 = 8;

impl Choice<'_> {
    /// The stores that TMA copies can make. Nothing else accesses these arrays, and no access has a memory order, since a TMA copy is in no
    /// order with what threads do: a block that reads a flag might read what has not been written yet.
    ///
    /// They are those of a loop around the loops of MMAs, of which the next iteration hides a copy: a block that ends waits for it, and where
    /// MMAs are in loops deeper within, whose tiles come just in time, the copy delays these (measured, 7 to 10 %).
    pub(super) fn stores(&self, products: &BTreeMap<OpId, Wgmma>) -> BTreeMap<OpId, SharedTile> {
        let func = self.func;
        let mut depths = BTreeMap::new();
        loops(func, func.body(), 0, &mut depths);
        if products.keys().map(|product| depths[product]).max() != Some(2) {
            return BTreeMap::new();
        }
        let (mut accesses, mut ordered) = (BTreeMap::<ArrayId, usize>::new(), false);
        let mut stores = BTreeMap::new();
        func.walk(func.body(), &mut |id, op| {
            let Some(array) = op.kind.array() else { return };
            let (array, _) = func.param_of(array);
            *accesses.entry(array).or_default() += 1;
            ordered |= match &op.kind {
                Kind::Load(view) | Kind::Store(view) => view.order != Order::Weak,
                Kind::Gather(at) | Kind::Scatter(at) => at.order != Order::Weak,
                _ => true,
            };
            if let Kind::Store(view) = &op.kind
                && depths[&id] == 1
                && let Some(tile) = self.stored(view, &op.operands)
            {
                stores.insert(id, (array, tile));
            }
        });
        stores.retain(|_, (array, _)| accesses[array] == 1 && !ordered);
        stores.into_iter().map(|(id, (_, tile))| (id, tile)).collect()
    }

    /// How a tile is laid out in shared memory from which a TMA copy stores it.
    fn stored(&self, view: &View, operands: &[Value]) -> Option<SharedTile> {
        let func = self.func;
        let (_, param) = func.param_of(view.array);
        let fast = width(func, view, &operands[1..]).contiguous?;
        let all = |axis: usize| i64::from(view.tile[axis]);
        let others = (0..view.tile.rank()).filter(|&axis| axis != fast && all(axis) > 1);
        let rows: Vec<(usize, i64)> = others.map(|axis| (axis, all(axis))).collect();
        let extents = [all(fast), rows.iter().map(|(_, extent)| extent).product()];
        let dtype = func.ty(operands[0]).dtype;
        let bytes = i64::from(dtype.bits()) / 8;
        // TMA writes whole units of 16 bytes.
        let (Known::Is(n) | Known::MultipleOf(n)) = param.extents[fast];
        let whole = bytes > 0 && n * bytes % WIDEST == 0;
        let sliced = func.slices(view.array).next().is_some();
        if !whole || dtype.bits() >= WIDE || view.order != Order::Weak || sliced {
            return None;
        }
        let swizzle = GmmaLayout::select(Major::K, dtype, [extents[1], extents[0]]).swizzle;
        let fits = extents[0] % row(swizzle, dtype) == 0 && extents[1] % 8 == 0;
        if !fits || extents[0] * extents[1] * bytes > MOST {
            return None;
        }
        let like = View { padding: Padding::Zero, ..*view };
        self.tensor(&like, fast, &rows, &[]).ok()?;
        let (produced, cut) = (Ok(()), Vec::new());
        let row = row(swizzle, dtype);
        Some(SharedTile { dtype, fast, rows, extents, swizzle, row, produced, latency: None, cut })
    }
}

/// How many loops are around each operation of a region, which is in this many loops.
fn loops(func: &Func, region: RegionId, around: usize, depths: &mut BTreeMap<OpId, usize>) {
    for &id in &func.region(region).ops {
        let op = func.op(id);
        depths.insert(id, around);
        let within = around + usize::from(matches!(op.kind, Kind::For | Kind::Loop));
        op.regions.iter().for_each(|&region| loops(func, region, within, depths));
    }
}

impl Products {
    /// Issue slots of a warp to store a tile of a distribution, by a TMA copy where that takes fewer.
    pub(in crate::place) fn store(&self, func: &Func, id: OpId, dist: &Dist) -> f64 {
        let own = own(func, func.op(id), dist);
        let dims = func.ty(func.op(id).operands[0]).dims;
        self.stores.get(&id).map_or(own, |tile| own.min(tile.store(&dims, dist)))
    }

    /// Leaves stores to the threads that take fewer issue slots so.
    pub(in crate::place) fn keep_stores(&mut self, func: &Func, dists: &[Dist]) {
        self.stores.retain(|&id, tile| {
            let op = func.op(id);
            let dist = &dists[op.operands[0].index()];
            tile.store(&func.ty(op.operands[0]).dims, dist) < own(func, op, dist)
        });
    }
}

impl SharedTile {
    /// Issue slots of a warp to put a tile of a distribution here and let it be copied: by `stmatrix`, or in words and wider.
    fn store(&self, dims: &Dims, dist: &Dist) -> f64 {
        let vector = match self.strips(dims, dist) {
            Some(_) => MATRICES,
            None => run(dist, self.fast).min(WIDEST / self.dtype.bytes()),
        };
        if vector * self.dtype.bytes() < WORD {
            return f64::INFINITY;
        }
        ROUND_TRIP + SHARED * dist.size() as f64 / vector as f64
    }

    /// Whether each warpgroup holds strips of a tile of 16-bit floats like accumulators of `wgmma`: 64 rows, or as many columns where the MMA is
    /// transposed.
    pub(crate) fn strips(&self, dims: &Dims, dist: &Dist) -> Option<Major> {
        let [n, m] = self.extents;
        let threads = dist.threads();
        let held = |like: Dist| like.reshape(&[m, n], &extents(dims)).as_ref() == Some(dist);
        let all = ROWS * (threads / i64::from(WARPGROUP));
        let fits = |[m, n]: [i64; 2]| all > 0 && m % all == 0 && n % 16 == 0;
        // Integers of 16 bits have registers of 32.
        let pairs = self.dtype.bits() == 16 && self.dtype.is_float();
        if !pairs || self.fast + 1 != dims.rank() {
            return None;
        }
        if fits([m, n]) && strip(&self.rows).is_some() && held(fragment(&[m, n], threads)) {
            return Some(Major::K);
        }
        (fits([n, m]) && held(transposed(&[m, n], threads))).then_some(Major::Mn)
    }

    /// The part that is stored at once: the tile, or a strip of it.
    pub(crate) fn piece(&self, strips: Option<Major>) -> SharedTile {
        let [along, others] = self.extents;
        match strips {
            None => self.clone(),
            Some(Major::K) => {
                let rows = strip(&self.rows).unwrap_or_default();
                SharedTile { rows, extents: [along, ROWS], ..self.clone() }
            }
            Some(Major::Mn) => SharedTile { extents: [ROWS, others], ..self.clone() },
        }
    }

    /// Where elements are, in elements: modes are the axes of an array of its rank, (Tile0,Tile1,...).
    ///
    /// # Errors
    /// There are none for extents that multiply to less than 2^63.
    pub(crate) fn layout(&self, rank: usize) -> Result<Lay, girih_layout::Error> {
        let (row, [along, others]) = (self.row, self.extents);
        let mut modes = vec![leaf(1, 0)?; rank];
        // Rows, (Row,RestRows):(1,Row*Others), and the other axes below each other, the last one the fastest.
        modes[self.fast] = Lay::strided([row, along / row], [1, row * others])?;
        let mut below = row;
        for &(axis, extent) in self.rows.iter().rev() {
            modes[axis] = leaf(extent, below)?;
            below *= extent;
        }
        Lay::concat(&modes)
    }

    /// The TMA copy of the tile: modes are the axes of an array of its rank. What it says of the array are the tile's own extents, and
    /// that elements follow each other along the contiguous axis; a launch knows the rest.
    ///
    /// # Errors
    /// Those of [`TmaCopy::new`].
    pub(crate) fn tensor_copy(&self, transfer: Transfer, rank: usize) -> Result<TmaCopy, Error> {
        let mut global = vec![leaf(1, WIDEST)?; rank];
        global[self.fast] = leaf(self.extents[0], 1)?;
        for &(axis, extent) in &self.rows {
            global[axis] = leaf(extent, WIDEST)?;
        }
        let swizzle = self.swizzle.swizzle(self.dtype)?.unwrap_or(Swizzle::NONE);
        TmaCopy::new(transfer, self.dtype, &Lay::concat(&global)?, &self.layout(rank)?, swizzle)
    }
}

/// The part of a tile's rows that the first [`ROWS`] of them are, if these are a box.
fn strip(rows: &[(usize, i64)]) -> Option<Vec<(usize, i64)>> {
    let mut left = ROWS;
    let mut own = Vec::new();
    for &(axis, extent) in rows.iter().rev() {
        let part = extent.min(left);
        if left % part != 0 || extent % part != 0 {
            return None;
        }
        own.push((axis, part));
        left /= part;
    }
    own.reverse();
    (left == 1).then_some(own)
}

/// A mode of one extent and one stride.
fn leaf(extent: i64, stride: i64) -> Result<Lay, girih_layout::Error> {
    Lay::leaf(Int::fixed(extent), Stride::Int(Int::fixed(stride)))
}
