//! Products that warpgroups compute where their operands lie (`wgmma`): which these are, and why others are not.
//!
//! The accumulator of such a product has the distribution of the instruction's C, 64 rows a warpgroup. A is in registers of the same
//! distribution, or in shared memory, where B always is. A tile that is loaded for such products alone goes to shared memory at once, and no
//! thread holds it; other operands are stored there.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, Major, MmaAtom, MmaKind, Product};
use girih_codegen::plan::{Dist, Leaf, primes};
use girih_tensor::DType;

use super::access::width;
use super::pipeline::Pipeline;
use crate::ir::{Array, Def, Func, Kind, Known, Op, OpId, Order, Padding, RegionId, Value, View};

/// Threads of a warpgroup, and the rows of C that it computes by one instruction.
pub(crate) const WARPGROUP: u32 = 128;
const ROWS: i64 = 64;
/// Registers of a multiprocessor, and those that the assembler wants for an instruction beside its sums.
pub(crate) const REGISTERS: i64 = 65536;
const OF_INSTRUCTION: i64 = 26;
/// The most registers that the sums of one product take.
const SUMS: i64 = 192;
/// The most bytes of tiles in shared memory, which leaves room for exchanges.
const SHARED: i64 = 192 << 10;

/// Where a product takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From registers in the distribution of the instruction's operand.
    Registers,
    /// From where this load has put a tile in shared memory.
    Loaded(OpId),
    /// From registers in any distribution, by way of shared memory.
    Stored,
}

/// A product by `wgmma`.
#[derive(Clone, Debug, PartialEq)]
pub struct Wgmma {
    /// The instruction.
    pub atom: MmaAtom,
    /// M, N and K of the tiles.
    pub mnk: [i64; 3],
    /// The warpgroups, which share M.
    pub warpgroups: i64,
    /// Where A and B come from.
    pub sources: [Source; 2],
    /// How A and B lie in shared memory, where they do.
    pub layouts: [GmmaLayout; 2],
}

/// A tile in shared memory, in rows along its contiguous axis that are as long as the swizzle; such rows of all other coordinates stand
/// one below the other, and these blocks side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// The dtype of its elements.
    pub dtype: DType,
    /// The axes of the view of which the tile has more than one element: that along which rows lie, and the other one.
    pub axes: [usize; 2],
    /// The extents along these axes.
    pub extents: [i64; 2],
    /// How pieces of 16 bytes are exchanged.
    pub swizzle: GmmaSwizzle,
    /// Whether tensor copies bring it, or why not.
    pub tensor: Result<(), String>,
    /// The latency that the user expects.
    pub latency: Option<u8>,
    /// The axes along which the array is a part of another one: tensor copies bring what lies beyond the part, which is cleared.
    pub cut: Vec<usize>,
}

impl SharedTile {
    /// Bytes of the tile.
    pub fn bytes(&self) -> i64 {
        self.extents[0] * self.extents[1] * i64::from(self.dtype.bits()) / 8
    }

    /// How many rows of the tile a tensor copy brings at once: boxes have up to 256.
    pub fn rows_of_box(&self) -> i64 {
        let all = self.extents[1];
        let fits = |rows: &i64| all % rows == 0 && rows % 8 == 0;
        (1..=all.min(256)).rev().find(fits).unwrap_or(8)
    }

    /// Elements of a row that is as long as the swizzle.
    pub fn row(&self) -> i64 {
        row(self.swizzle, self.dtype)
    }
}

/// Elements of a row as long as a swizzle.
pub(crate) fn row(swizzle: GmmaSwizzle, dtype: DType) -> i64 {
    swizzle.period() / i64::from(dtype.bits())
}

/// The products of a function by the way in which they are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Products {
    /// The architecture, by which it is decided how the others are computed; 0 for multiply-adds alone.
    pub sm: u32,
    /// Those by `wgmma`.
    pub wgmma: BTreeMap<OpId, Wgmma>,
    /// Why the others are not.
    pub refused: BTreeMap<OpId, String>,
    /// Loads whose tiles lie in shared memory.
    pub loads: BTreeMap<OpId, SharedTile>,
    /// Operations that give such a tile other axes.
    pub views: BTreeSet<OpId>,
    /// How tensor copies bring such tiles.
    pub pipeline: Pipeline,
}

/// The distribution of C of `wgmma`, and of an A of 16 bits: rows and columns are the last two axes.
pub(crate) fn fragment(extents: &[i64], threads: i64) -> Dist {
    let (row, column) = (extents.len() - 2, extents.len() - 1);
    let mut bits: Vec<Option<(usize, i64)>> = vec![Some((column, 2)), Some((column, 4))];
    bits.extend([1, 2, 4, 16, 32].map(|scale| Some((row, scale))));
    let mut scale = ROWS;
    while (1 << bits.len()) < threads {
        bits.push(Some((row, scale)));
        scale *= 2;
    }
    let mut vals = vec![Leaf { extent: 2, mode: column, scale: 1 }, Leaf { extent: 2, mode: row, scale: 8 }];
    for (mode, mut scale, n) in [(column, 8, extents[column] / 8), (row, scale, extents[row] / scale)] {
        for extent in primes(n) {
            vals.push(Leaf { extent, mode, scale });
            scale *= extent;
        }
    }
    Dist { bits, vals }
}

/// The registers that threads begin with in blocks of so many warpgroups, of which a multiprocessor has some at a time.
pub(crate) fn begin(warpgroups: i64, blocks: i64) -> i64 {
    (REGISTERS / (i64::from(WARPGROUP) * warpgroups * blocks.max(1)) / 8 * 8).min(255)
}

/// Blocks that a user wants on a multiprocessor at a time.
pub(crate) fn blocks(func: &Func, sm: u32) -> i64 {
    func.hints.resolve(sm).occupancy.unwrap_or(1).into()
}

impl Products {
    /// Which products of a function `wgmma` computes in blocks of this many threads on this architecture.
    pub(crate) fn choose(func: &Func, sm: u32, threads: u32) -> Products {
        let mut chosen = Products::default();
        if !(90..100).contains(&sm) {
            return chosen;
        }
        let mut choice = Choice {
            func,
            threads,
            blocks: blocks(func, sm),
            regions: BTreeMap::new(),
            uses: BTreeMap::new(),
        };
        choice.collect(func.body());
        let mut products = Vec::new();
        func.walk(func.body(), &mut |id, op| {
            if op.kind == Kind::Mma {
                match choice.fits(op) {
                    Ok(mnk) => products.push((id, mnk)),
                    Err(why) => drop(chosen.refused.insert(id, why)),
                }
            }
        });
        let ids: BTreeSet<OpId> = products.iter().map(|(id, _)| *id).collect();
        for (id, mnk) in products {
            match choice.product(id, mnk, &ids, &mut chosen) {
                Ok(product) => drop(chosen.wgmma.insert(id, product)),
                Err(why) => drop(chosen.refused.insert(id, why)),
            }
        }
        // A load goes to shared memory for products by `wgmma` alone.
        let bytes: i64 = chosen.loads.values().map(SharedTile::bytes).sum::<i64>()
            + chosen.wgmma.values().map(Wgmma::stored).sum::<i64>();
        let broken = chosen.refused.keys().any(|id| ids.contains(id));
        if bytes > SHARED || broken {
            let why = if bytes > SHARED {
                format!("the tiles take {bytes} bytes of shared memory, {SHARED} are accepted")
            } else {
                String::from("another product of the kernel is not")
            };
            for id in ids {
                chosen.refused.entry(id).or_insert(why.clone());
            }
            return Products { refused: chosen.refused, ..Products::default() };
        }
        chosen
    }

    /// The most registers of a thread that the sums of one product take.
    pub(super) fn most_sums(&self) -> i64 {
        let sums = |product: &Wgmma| {
            let [m, n, _] = product.mnk;
            m * n * i64::from(product.atom.c_type.bits()) / (32 * i64::from(WARPGROUP) * product.warpgroups)
        };
        self.wgmma.values().map(sums).max().unwrap_or(0)
    }

    /// Keeps what is said of these operations.
    pub(super) fn keep(&mut self, live: &BTreeSet<OpId>) {
        self.wgmma.retain(|id, _| live.contains(id));
        self.refused.retain(|id, _| live.contains(id));
        self.loads.retain(|id, _| live.contains(id));
        self.views.retain(|id| live.contains(id));
    }

    /// Whether an operation's result lies in shared memory, where no thread holds it.
    pub(crate) fn is_shared(&self, id: OpId) -> bool {
        self.loads.contains_key(&id) || self.views.contains(&id)
    }

    /// The distribution of the sums of a product by `wgmma`.
    pub(crate) fn sums(&self, func: &Func, id: OpId, threads: i64) -> Option<Dist> {
        self.wgmma.get(&id)?;
        Some(fragment(&super::rule::extents(&func.ty(func.op(id).results[0]).dims), threads))
    }

    /// The distribution that a product by `wgmma` asks for of an operand; `None` within if any will do.
    pub(crate) fn need(&self, func: &Func, id: OpId, at: usize, threads: i64) -> Option<Option<Dist>> {
        let product = self.wgmma.get(&id)?;
        let own =
            |at: usize| fragment(&super::rule::extents(&func.ty(func.op(id).operands[at]).dims), threads);
        Some(match at {
            2 => Some(own(2)),
            0 if product.sources[0] == Source::Registers => Some(own(0)),
            _ => None,
        })
    }
}

impl Wgmma {
    /// Bytes of the operands that are stored in shared memory.
    pub(super) fn stored(&self) -> i64 {
        let [m, n, k] = self.mnk;
        let bytes = |dtype: DType, x: i64| x * k * i64::from(dtype.bits()) / 8;
        let operands = [bytes(self.atom.a_type, m), bytes(self.atom.b_type, n)];
        let stored = operands.iter().zip(&self.sources).filter(|(_, source)| **source == Source::Stored);
        stored.map(|(bytes, _)| bytes).sum()
    }
}

struct Choice<'a> {
    func: &'a Func,
    threads: u32,
    /// Blocks of a multiprocessor at a time.
    blocks: i64,
    regions: BTreeMap<OpId, RegionId>,
    /// The operations that read a value, and as which operand; none for the end of a region.
    uses: BTreeMap<Value, Vec<Option<(OpId, usize)>>>,
}

/// A tile as its load knows it: the load, and the axis of the view that is each mode.
struct Traced {
    load: OpId,
    axes: Vec<Option<usize>>,
    views: Vec<OpId>,
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

    /// M, N and K of a product whose shape and dtypes `wgmma` has.
    fn fits(&self, op: &Op) -> Result<[i64; 3], String> {
        let [a, b, c] = [0, 1, 2].map(|at| self.func.ty(op.operands[at]));
        let rank = a.dims.rank();
        let [m, n, k] = [a.dims[rank - 2], b.dims[rank - 1], a.dims[rank - 1]].map(i64::from);
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

    /// The load that a tile comes from by permutations, and by reshapes that leave extents of 1 out.
    fn trace(&self, value: Value) -> Option<Traced> {
        let Def::Result(id, _) = self.func.value(value).def else { return None };
        let op = self.func.op(id);
        match &op.kind {
            Kind::Load(view) if view.order == Order::Weak && self.func.is_pure(&op.kind) => {
                Some(Traced { load: id, axes: (0..view.tile.rank()).map(Some).collect(), views: Vec::new() })
            }
            Kind::Permute(axes) => {
                let mut traced = self.trace(op.operands[0])?;
                traced.axes = axes.iter().map(|&axis| traced.axes[axis as usize]).collect();
                traced.views.push(id);
                Some(traced)
            }
            Kind::Reshape => {
                let mut traced = self.trace(op.operands[0])?;
                let (from, to) = (self.func.ty(op.operands[0]).dims, self.func.ty(value).dims);
                let mut left = (0..from.rank()).filter(|&mode| from[mode] > 1);
                let mut axes = Vec::new();
                for mode in 0..to.rank() {
                    axes.push(if to[mode] == 1 {
                        None
                    } else {
                        let next = left.next().filter(|&next| from[next] == to[mode])?;
                        traced.axes[next]
                    });
                }
                if left.next().is_some() {
                    return None;
                }
                traced.axes = axes;
                traced.views.push(id);
                Some(traced)
            }
            _ => None,
        }
    }

    /// How many operands of these products a value is, maybe with other axes, if nothing else reads it.
    fn feeds(&self, value: Value, products: &BTreeSet<OpId>) -> Option<usize> {
        let count = |reader: &Option<(OpId, usize)>| {
            let (id, at) = (*reader)?;
            let op = self.func.op(id);
            match &op.kind {
                Kind::Mma => (at < 2 && products.contains(&id)).then_some(1),
                Kind::Permute(_) | Kind::Reshape if self.trace(op.results[0]).is_some() => {
                    self.feeds(op.results[0], products)
                }
                _ => None,
            }
        };
        let readers = self.uses.get(&value).filter(|_| !self.func.pins().contains_key(&value))?;
        readers.iter().map(count).sum()
    }

    /// Where an operand comes from, and how it lies in shared memory.
    fn source(
        &self,
        op: &Op,
        at: usize,
        [x, k]: [i64; 2],
        products: &BTreeSet<OpId>,
        chosen: &mut Products,
    ) -> (Source, GmmaLayout) {
        let value = op.operands[at];
        let ty = self.func.ty(value);
        let wide = ty.dtype.bits() == 16;
        let rank = ty.dims.rank();
        let modes = if at == 0 { [rank - 2, rank - 1] } else { [rank - 1, rank - 2] };
        if let Some(traced) = self.trace(value)
            && let Some((axes, tile)) = self.shared(&traced, modes, [x, k], products)
        {
            let major = if tile.axes[0] == axes[1] { Major::K } else { Major::Mn };
            let layout = GmmaLayout { major, swizzle: tile.swizzle };
            chosen.views.extend(traced.views);
            chosen.loads.insert(traced.load, tile);
            return (Source::Loaded(traced.load), layout);
        }
        if at == 0 && wide {
            return (Source::Registers, GmmaLayout::select(Major::K, ty.dtype, [x, k]));
        }
        // Rows along the last axis, where the order is free.
        let major = if at == 1 && wide { Major::Mn } else { Major::K };
        (Source::Stored, GmmaLayout::select(major, ty.dtype, [x, k]))
    }

    /// The axes of X and K, and the tile in shared memory, of an operand that is loaded for products alone.
    fn shared(
        &self,
        traced: &Traced,
        modes: [usize; 2],
        [x, k]: [i64; 2],
        products: &BTreeSet<OpId>,
    ) -> Option<([usize; 2], SharedTile)> {
        let op = self.func.op(traced.load);
        let Kind::Load(view) = &op.kind else { return None };
        let axes = [traced.axes[modes[0]]?, traced.axes[modes[1]]?];
        let readers = self.feeds(op.results[0], products)?;
        let dtype = self.func.ty(op.results[0]).dtype;
        let contiguous = width(self.func, view, &op.operands).contiguous.filter(|axis| axes.contains(axis));
        let fast = contiguous.unwrap_or(axes[0].max(axes[1]));
        // Another product might have it the other way round.
        if dtype.bits() != 16 && (readers > 1 || fast != axes[1]) {
            return None;
        }
        let (slow, extents) = if fast == axes[1] { (axes[0], [k, x]) } else { (axes[1], [x, k]) };
        let swizzle = GmmaLayout::select(Major::K, dtype, [extents[1], extents[0]]).swizzle;
        if extents[0] % row(swizzle, dtype) != 0 || extents[1] % 8 != 0 {
            return None;
        }
        let (mut cut, mut array) = (Vec::new(), view.array);
        while let Array::Slice { of, axis, .. } = self.func.arrays()[array.index()] {
            if view.padding != Padding::Undetermined && !cut.contains(&usize::from(axis)) {
                cut.push(usize::from(axis));
            }
            array = of;
        }
        let tensor = self.tensor(view, fast, &cut);
        let latency = view.latency;
        let tile = SharedTile { dtype, axes: [fast, slow], extents, swizzle, tensor, latency, cut };
        Some((axes, tile))
    }

    /// Whether tensor copies can bring the tiles of a view whose rows lie along an axis, or why not.
    fn tensor(&self, view: &View, fast: usize, cut: &[usize]) -> Result<(), String> {
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
        }
        Ok(())
    }

    fn product(
        &self,
        id: OpId,
        mnk: [i64; 3],
        products: &BTreeSet<OpId>,
        chosen: &mut Products,
    ) -> Result<Wgmma, String> {
        let op = self.func.op(id);
        let [m, n, k] = mnk;
        let [a, b, c] = [0, 1, 2].map(|at| self.func.ty(op.operands[at]).dtype);
        let (source_a, layout_a) = self.source(op, 0, [m, k], products, chosen);
        let (source_b, layout_b) = self.source(op, 1, [n, k], products, chosen);
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
            mnk,
            warpgroups: self.warpgroups(),
            sources: [source_a, source_b],
            layouts: [layout_a, layout_b],
        })
    }
}
