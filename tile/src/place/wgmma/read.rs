//! Tiles that the producer loads and threads read into registers to compute operands, such as packed weights and their scales.
//! If the threads loaded them, they would wait for memory.

use std::collections::BTreeMap;

use girih_codegen::atom::GmmaSwizzle;
use girih_codegen::plan::{Dist, WIDEST, run};
use girih_tensor::DType;

use super::super::access::width;
use super::super::ahead::computed;
use super::super::cost::SHARED;
use super::choice::Choice;
use super::{BOX, Products, SharedTile, row};
use crate::ir::{Kind, OpId, RegionId};

/// The most bytes of a tile.
const MOST: i64 = 16 << 10;
/// Rows after which a swizzle begins again. Fewer are read without conflicts.
const ROWS: i64 = 8;
/// Issue slots of a warp to wait for a tile and to free its slot.
const WAIT: f64 = 12.0;

impl Choice<'_> {
    /// The loads of loops from which operands are computed and that TMA can load, if TMA loads other tiles of MMAs.
    pub(super) fn reads(&self, chosen: &Products) -> BTreeMap<OpId, SharedTile> {
        let mut found = BTreeMap::new();
        if chosen.loads.values().any(|tile| tile.produced.is_ok()) {
            self.reads_of(self.func.body(), false, &mut found);
        }
        found.retain(|id, _| !chosen.loads.contains_key(id));
        found
    }

    fn reads_of(&self, region: RegionId, in_loop: bool, found: &mut BTreeMap<OpId, SharedTile>) {
        if in_loop {
            let loads = computed(self.func, region).into_iter();
            found.extend(loads.filter_map(|id| Some((id, self.read(id)?))));
        }
        for &id in &self.func.region(region).ops {
            let op = self.func.op(id);
            let in_loop = in_loop || op.kind == Kind::For;
            op.regions.iter().for_each(|&region| self.reads_of(region, in_loop, found));
        }
    }

    /// How a loaded tile is laid out in shared memory from which threads read it.
    fn read(&self, id: OpId) -> Option<SharedTile> {
        let func = self.func;
        let op = func.op(id);
        let Kind::Load(view) = &op.kind else { return None };
        let dtype = func.ty(*op.results.first()?).dtype;
        let (bits, plain) = (dtype.bits(), func.slices(view.array).next().is_none());
        if !plain || self.refused.contains_key(&id) || dtype == DType::Bool || !matches!(bits, 8 | 16 | 32) {
            return None;
        }
        let fast = width(func, view, &op.operands).contiguous?;
        let all = |axis: usize| i64::from(view.tile[axis]);
        let others = (0..view.tile.rank()).filter(|&axis| axis != fast && all(axis) > 1);
        let rows: Vec<(usize, i64)> = others.map(|axis| (axis, all(axis))).collect();
        let extents @ [along, others] = [all(fast), rows.iter().map(|(_, extent)| extent).product()];
        let fits = |swizzle: &GmmaSwizzle| row(*swizzle, dtype) == along && others % ROWS == 0;
        let swizzle = GmmaSwizzle::ALL.into_iter().find(fits);
        let bytes = along * dtype.bytes();
        let fits = along <= BOX && bytes % WIDEST == 0 && bytes * others <= MOST;
        if !fits || swizzle.is_none() && others >= ROWS {
            return None;
        }
        self.tensor(view, fast, &rows, &[]).ok()?;
        let swizzle = swizzle.unwrap_or(GmmaSwizzle::Inter);
        let (produced, latency, cut) = (Ok(()), view.latency, Vec::new());
        Some(SharedTile { dtype, fast, rows, extents, swizzle, row: along, produced, latency, cut })
    }
}

impl Products {
    /// Issue slots of a warp to read a tile from shared memory into registers of a distribution; `None` for a load whose tile is not read so.
    pub(in crate::place) fn read(&self, id: OpId, dtype: DType, dist: &Dist) -> Option<f64> {
        let slots = |fast: usize| {
            let vector = run(dist, fast).min(WIDEST / dtype.bytes());
            SHARED * dist.size() as f64 / vector as f64
        };
        let tile = self.loads.get(&id).filter(|_| self.read.contains(&id));
        match tile {
            Some(tile) => Some(WAIT + slots(tile.fast)),
            None => self.ahead.loads.get(&id).filter(|early| early.computed).map(|early| slots(early.fast)),
        }
    }
}
