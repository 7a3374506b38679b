//! The choice of the MMAs that use `wgmma`, and the memory of their operands.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::atom::{GmmaLayout, Major, MmaAtom, MmaKind, Product};

use super::super::access::{constant, gathered, width};
use super::{BOX, OF_INSTRUCTION, Products, ROWS, SUMS, SharedTile, Source, WARPGROUP, Wgmma, begin, row};
use crate::ir::{Def, Func, Kind, Known, Op, OpId, Padding, RegionId, Value, View};

/// Bytes of the narrowest `cp.async`.
pub(in crate::place) const NARROWEST: i64 = 4;
/// The upper bound of the strides of tensor maps, in bytes.
const FARTHEST: i64 = 1 << 40;

pub(in crate::place) struct Choice<'a> {
    pub(in crate::place) func: &'a Func,
    pub(super) threads: u32,
    /// Blocks of an SM at a time.
    pub(super) blocks: i64,
    /// The gathers that are not the producer's, and why.
    pub(super) refused: BTreeMap<OpId, String>,
    pub(super) regions: BTreeMap<OpId, RegionId>,
    /// The operations that read a value, and as which operand; `None` for the end of a region.
    pub(super) uses: BTreeMap<Value, Vec<Option<(OpId, usize)>>>,
}

/// A tile as its load or gather knows it: what each mode is of the view, and the operations between.
pub(crate) struct Traced<T> {
    pub(crate) load: OpId,
    pub(crate) axes: Vec<T>,
    pub(crate) views: Vec<OpId>,
}

/// The load that a tile comes from by permutations, and by reshapes that leave extents of 1 out: each mode is an axis of the view, or none.
pub(crate) fn trace(func: &Func, value: Value) -> Option<Traced<Option<usize>>> {
    let Traced { load, axes, views } = merged(func, value)?;
    let alone = axes.iter().all(|axes| axes.len() <= 1);
    alone.then(|| Traced { load, axes: axes.iter().map(|axes| axes.first().copied()).collect(), views })
}

/// The load that a tile comes from by permutations and by reshapes that merge axes: each mode is axes of the view, the slowest first.
fn merged(func: &Func, value: Value) -> Option<Traced<Vec<usize>>> {
    let Def::Result(id, _) = func.value(value).def else { return None };
    let op = func.op(id);
    if let Kind::Load(_) | Kind::Gather(_) = &op.kind {
        let axes = (0..func.ty(value).dims.rank()).map(|axis| vec![axis]).collect();
        return func.is_pure(&op.kind).then(|| Traced { load: id, axes, views: Vec::new() });
    }
    if !matches!(op.kind, Kind::Permute(_) | Kind::Reshape) {
        return None;
    }
    let mut traced = merged(func, op.operands[0])?;
    traced.views.push(id);
    if let Kind::Permute(axes) = &op.kind {
        traced.axes = axes.iter().map(|&axis| traced.axes[axis as usize].clone()).collect();
        return Some(traced);
    }
    let (from, to) = (func.ty(op.operands[0]).dims, func.ty(value).dims);
    let mut left = (0..from.rank()).filter(|&mode| from[mode] > 1);
    let mut axes = Vec::new();
    for &extent in to.iter() {
        let (mut own, mut size) = (Vec::new(), 1);
        while size < extent {
            let next = left.next()?;
            own.extend(&traced.axes[next]);
            size *= from[next];
        }
        if size != extent {
            return None;
        }
        axes.push(own);
    }
    traced.axes = axes;
    Some(traced)
}

impl<'a> Choice<'a> {
    /// Of a function, for blocks of this many threads.
    pub(in crate::place) fn new(func: &'a Func, sm: u32, threads: u32) -> Choice<'a> {
        let (refused, regions, uses) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut choice = Choice { func, threads, blocks: super::blocks(func, sm), refused, regions, uses };
        choice.collect(func.body());
        choice
    }
}

impl Choice<'_> {
    fn collect(&mut self, region: RegionId) {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            self.regions.insert(id, region);
            for (at, &operand) in op.operands.iter().enumerate() {
                self.uses.entry(operand).or_default().push(Some((id, at)));
            }
            op.regions.iter().for_each(|&region| self.collect(region));
        }
        for &value in func.region(region).end.values() {
            self.uses.entry(value).or_default().push(None);
        }
    }

    fn warpgroups(&self) -> i64 {
        i64::from(self.threads / WARPGROUP)
    }

    /// Which operands of the MMAs are the instructions' A and B: the other way round where each MMA has a B that threads compute, and an
    /// A that is loaded to shared memory.
    pub(super) fn operands(&self) -> [usize; 2] {
        let (plain, turned) = ([0, 1], [1, 0]);
        let mut products = BTreeSet::new();
        self.func.walk(self.func.body(), &mut |id, op| {
            if op.kind == Kind::Mma {
                products.insert(id);
            }
        });
        let fits = |id: &OpId| {
            let op = self.func.op(*id);
            let wide = self.func.ty(op.operands[1]).dtype.bits() == 16;
            let Ok([m, n, k]) = self.fits(op, turned) else { return false };
            wide && self.loaded(op, 0, [n, k], &products).is_some()
                && self.loaded(op, 1, [m, k], &products).is_none()
        };
        if !products.is_empty() && products.iter().all(fits) { turned } else { plain }
    }

    /// M, N and K of the instructions of an MMA whose shape and dtypes `wgmma` has.
    pub(super) fn fits(&self, op: &Op, operands: [usize; 2]) -> Result<[i64; 3], String> {
        let [a, b, c] = [0, 1, 2].map(|at| self.func.ty(op.operands[at]));
        let rank = a.dims.rank();
        let ([rows, columns], k) =
            ([a.dims[rank - 2], b.dims[rank - 1]].map(i64::from), a.dims[rank - 1].into());
        let [m, n] = operands.map(|at| [rows, columns][at]);
        let types = [c.dtype, a.dtype, b.dtype];
        let named = || format!("{} and {} into {}", a.dtype, b.dtype, c.dtype);
        if rank > 2 && a.dims[0] != 1 {
            return Err(format!("a batch of {} products, 1 is accepted", a.dims[0]));
        }
        if MmaAtom::wgmma(MmaKind::WgmmaSs, 8, types, [Major::K; 2], Product::Multiply).is_err() {
            return Err(format!("it does not multiply {}", named()));
        }
        let warpgroups = self.warpgroups();
        if !self.threads.is_multiple_of(WARPGROUP) || m % (ROWS * warpgroups) != 0 {
            return Err(format!(
                "M is {m}: multiples of {} are accepted for {} warps",
                ROWS * warpgroups.max(1),
                self.threads / 32
            ));
        }
        let along = 256 / i64::from(a.dtype.bits());
        if k % along != 0 {
            return Err(format!("K is {k}: multiples of {along} are accepted"));
        }
        if n % 8 != 0 {
            return Err(format!("N is {n}: multiples of 8 are accepted"));
        }
        let sums = m * n / (warpgroups * i64::from(WARPGROUP));
        if sums > SUMS {
            return Err(format!("{sums} sums a thread: {SUMS} are accepted"));
        }
        Ok([m, n, k])
    }

    /// How many operands of these MMAs a value is, maybe with other axes, if nothing else reads it.
    pub(in crate::place) fn feeds(&self, value: Value, products: &BTreeSet<OpId>) -> Option<usize> {
        let count = |reader: &Option<(OpId, usize)>| {
            let (id, at) = (*reader)?;
            let op = self.func.op(id);
            match &op.kind {
                Kind::Mma => (at < 2 && products.contains(&id)).then_some(1),
                Kind::Permute(_) | Kind::Reshape if merged(self.func, op.results[0]).is_some() => {
                    self.feeds(op.results[0], products)
                }
                _ => None,
            }
        };
        let readers = self.uses.get(&value).filter(|_| !self.func.pins().contains_key(&value))?;
        readers.iter().map(count).sum()
    }

    /// An operand that is loaded for MMAs alone: where it comes from, and the tile in shared memory with the mode along which its rows are.
    fn loaded(
        &self,
        op: &Op,
        operand: usize,
        [x, k]: [i64; 2],
        products: &BTreeSet<OpId>,
    ) -> Option<(Traced<Vec<usize>>, Major, SharedTile)> {
        let value = op.operands[operand];
        let rank = self.func.ty(value).dims.rank();
        let modes = if operand == 0 { [rank - 2, rank - 1] } else { [rank - 1, rank - 2] };
        let traced = merged(self.func, value)?;
        let (major, tile) = self.shared(&traced, modes, [x, k], products)?;
        Some((traced, major, tile))
    }

    /// Where an operand comes from, and how it is laid out in shared memory. `at` says which it is of the instruction.
    fn source(
        &self,
        op: &Op,
        [at, operand]: [usize; 2],
        [x, k]: [i64; 2],
        products: &BTreeSet<OpId>,
        chosen: &mut Products,
    ) -> (Source, GmmaLayout) {
        if let Some((traced, major, tile)) = self.loaded(op, operand, [x, k], products) {
            let layout = GmmaLayout { major, swizzle: tile.swizzle };
            chosen.views.extend(traced.views);
            chosen.loads.insert(traced.load, tile);
            return (Source::Loaded(traced.load), layout);
        }
        if let Some(traced) = merged(self.func, op.operands[operand])
            && let Some(Err(why)) = self.gather(traced.load)
        {
            chosen.refused_loads.insert(traced.load, why);
        }
        let ty = self.func.ty(op.operands[operand]);
        let wide = ty.dtype.bits() == 16;
        if at == 0 && wide {
            return (Source::Registers, GmmaLayout::select(Major::K, ty.dtype, [x, k]));
        }
        // Rows along the last axis, where the order is free.
        let major = if operand == 1 && wide { Major::Mn } else { Major::K };
        (Source::Stored, GmmaLayout::select(major, ty.dtype, [x, k]))
    }

    /// The mode along which rows are, and the tile in shared memory, of an operand that is loaded for MMAs alone.
    fn shared(
        &self,
        traced: &Traced<Vec<usize>>,
        modes: [usize; 2],
        [x, k]: [i64; 2],
        products: &BTreeSet<OpId>,
    ) -> Option<(Major, SharedTile)> {
        let op = self.func.op(traced.load);
        let tile = self.func.ty(op.results[0]).dims;
        let contiguous = match (&op.kind, self.gather(traced.load)) {
            (Kind::Load(view), _) => width(self.func, view, &op.operands).contiguous,
            (_, Some(Ok(along))) => Some(along),
            _ => return None,
        };
        let [of_x, of_k] = modes.map(|mode| &traced.axes[mode]);
        let readers = self.feeds(op.results[0], products)?;
        let dtype = self.func.ty(op.results[0]).dtype;
        let alone = |axes: &[usize]| if let [axis] = axes { Some(*axis) } else { None };
        let major = match [alone(of_x), alone(of_k)] {
            [x, Some(k)] if contiguous == Some(k) || x.is_none_or(|x| x < k && contiguous != Some(x)) => {
                Major::K
            }
            [Some(_), _] => Major::Mn,
            _ => return None,
        };
        // Another MMA might have it the other way round.
        if dtype.bits() != 16 && (readers > 1 || major == Major::Mn) {
            return None;
        }
        let (fast, slow, extents) = match major {
            Major::K => (of_k, of_x, [k, x]),
            Major::Mn => (of_x, of_k, [x, k]),
        };
        let fast = alone(fast)?;
        let rows: Vec<(usize, i64)> = slow.iter().map(|&axis| (axis, tile[axis].into())).collect();
        let swizzle = GmmaLayout::select(Major::K, dtype, [extents[1], extents[0]]).swizzle;
        if extents[0] % row(swizzle, dtype) != 0 || extents[1] % 8 != 0 {
            return None;
        }
        let Kind::Load(view) = &op.kind else {
            let (produced, latency, cut) = (Ok(()), None, Vec::new());
            let row = row(swizzle, dtype);
            let tile = SharedTile { dtype, fast, rows, extents, swizzle, row, produced, latency, cut };
            return (contiguous == Some(fast)).then_some((major, tile));
        };
        let mut cut = Vec::new();
        for (axis, _) in self.func.slices(view.array) {
            if view.padding != Padding::Undetermined && !cut.contains(&axis) {
                cut.push(axis);
            }
        }
        let produced = self.tensor(view, fast, &rows, &cut);
        let latency = view.latency;
        let row = row(swizzle, dtype);
        Some((major, SharedTile { dtype, fast, rows, extents, swizzle, row, produced, latency, cut }))
    }

    /// The axis of a gathered tile along which the producer copies vectors, or why it does not gather it; `None` for what is no gather.
    fn gather(&self, id: OpId) -> Option<Result<usize, String>> {
        let op = self.func.op(id);
        let Kind::Gather(at) = &op.kind else { return None };
        let param = self.func.param_of(at.array).1;
        let (along, vector) = gathered(self.func, at, &op.operands);
        let bytes = vector * i64::from(param.dtype.bits()) / 8;
        Some(match self.refused.get(&id) {
            Some(why) => Err(why.clone()),
            None if self.threads + WARPGROUP > 1024 => {
                Err(format!("a block of {} threads has no room for more", self.threads))
            }
            None if at.masked => Err("it has a mask".into()),
            None if constant(self.func, op.operands[param.extents.len()]) != Some(0) => {
                Err("outside of the array is another number: cp.async fills with zeros".into())
            }
            None if self.func.slices(at.array).any(|(axis, _)| param.strides[axis] == Known::Is(1)) => {
                Err("the array is a part along the axis along which elements follow each other".into())
            }
            None if vector == 1 => Err("a gather has an address for each element".into()),
            None if bytes < NARROWEST => {
                Err(format!("{bytes} bytes follow each other: cp.async copies {NARROWEST} and more"))
            }
            None => Ok(along),
        })
    }

    /// Whether TMA can load the tiles of a view whose rows are along an axis, or why not.
    pub(super) fn tensor(
        &self,
        view: &View,
        fast: usize,
        rows: &[(usize, i64)],
        cut: &[usize],
    ) -> Result<(), String> {
        if self.threads + WARPGROUP > 1024 {
            return Err(format!("a block of {} threads has no room for more", self.threads));
        }
        let (_, param) = self.func.param_of(view.array);
        let bytes = i64::from(param.dtype.bits()) / 8;
        let rank = param.extents.len();
        if !view.tma {
            return Err("the user forbids tensor copies".into());
        }
        if rank > 5 {
            return Err(format!("{rank} axes: 5 are accepted"));
        }
        if !matches!(view.padding, Padding::Zero | Padding::Undetermined) {
            return Err(format!("outside of the array is {:?}: zero is accepted", view.padding));
        }
        if let [_, _, ..] = rows
            && let Some((axis, extent)) = rows.iter().find(|(_, extent)| *extent > BOX)
        {
            return Err(format!(
                "the tile has {extent} along axis {axis}: {BOX} are accepted beside other axes"
            ));
        }
        if cut.contains(&fast) {
            return Err(format!("the array is a part along axis {fast}, along which rows lie"));
        }
        if param.align % 16 != 0 {
            return Err("the pointer is not known to be a multiple of 16 bytes".into());
        }
        if param.strides[fast] != Known::Is(1) {
            return Err(format!("axis {fast} is not known to have stride 1"));
        }
        for axis in (0..rank).filter(|&axis| axis != fast) {
            let (Known::Is(stride) | Known::MultipleOf(stride)) = param.strides[axis];
            if stride * bytes % 16 != 0 {
                return Err(format!("the stride of axis {axis} is not known to be a multiple of 16 bytes"));
            }
            if !(0..FARTHEST).contains(&(stride * bytes)) {
                return Err(format!(
                    "the stride of axis {axis} is {} bytes: less than 2^40 are accepted",
                    stride * bytes
                ));
            }
        }
        Ok(())
    }

    pub(super) fn product(
        &self,
        id: OpId,
        operands: [usize; 2],
        mnk: [i64; 3],
        products: &BTreeSet<OpId>,
        chosen: &mut Products,
    ) -> Result<Wgmma, String> {
        let op = self.func.op(id);
        let [m, n, k] = mnk;
        let [a, b, c] = [operands[0], operands[1], 2].map(|at| self.func.ty(op.operands[at]).dtype);
        let (source_a, layout_a) = self.source(op, [0, operands[0]], [m, k], products, chosen);
        let (source_b, layout_b) = self.source(op, [1, operands[1]], [n, k], products, chosen);
        let kind = if source_a == Source::Registers { MmaKind::WgmmaRs } else { MmaKind::WgmmaSs };
        // A block has a warpgroup more, which loads.
        let room = (begin(self.warpgroups() + 1, self.blocks) - OF_INSTRUCTION) * 64 / i64::from(c.bits());
        let unit = if layout_b.major == Major::Mn { row(layout_b.swizzle, b) } else { 8 };
        let majors = [if kind == MmaKind::WgmmaRs { Major::K } else { layout_a.major }, layout_b.major];
        let atom = (1..=32)
            .rev()
            .map(|n| n * 8)
            .filter(|columns| n % columns == 0 && columns % unit == 0 && *columns <= room)
            .find_map(|n| MmaAtom::wgmma(kind, n, [c, a, b], majors, Product::Multiply).ok());
        let atom = atom.ok_or_else(|| format!("no instruction has a part of {n} columns"))?;
        Ok(Wgmma {
            atom,
            operands,
            mnk,
            warpgroups: self.warpgroups(),
            sources: [source_a, source_b],
            layouts: [layout_a, layout_b],
        })
    }
}
