//! Loads and stores of tiles of arrays, in vectors as wide as memory, distribution and bounds allow.

use std::collections::BTreeMap;

use girih_codegen::algorithm::distributed::{Group, Move, access, widest};
use girih_codegen::builder::Access;
use girih_codegen::plan::{Dist, WIDEST};
use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::Word;
use girih_tensor::{DType, Space};

use super::shared::Scratch;
use super::wgmma::Role;
use super::{Lowering, unfit};
use crate::dtype::number::encode;
use crate::dtype::{Category, Const, category};
use crate::error::{Error, Result};
use crate::facts::{AxisBounds, Bound};
use crate::ir::{Array, ArrayId, Dims, Kind, Op, OpId, Order, Padding, RegionId, Scope, Value, View};

/// The greatest extent that an array has, and a part of one.
const MOST_EXTENT: i64 = i32::MAX as i64;

/// An array as an access sees it: a parameter, or a part of one.
#[derive(Clone, Debug)]
pub struct ArrayAt {
    /// The address of the first element, in bytes.
    pub pointer: Expr,
    /// The extents.
    pub extents: Vec<Expr>,
    /// The least coordinate that is in the array, by axis: beyond 0 for a part that begins before its array.
    pub lows: Vec<Expr>,
    /// The strides in elements.
    pub strides: Vec<Expr>,
    /// The dtype of the elements.
    pub dtype: DType,
    /// Whether the kernel writes it.
    pub mutable: bool,
}

/// How the threads of a block access an array, by which it is known whether two accesses can conflict at an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Tiles side by side of this shape, each element by the thread that the distribution says.
    Tiles(ArrayId, Dims, Dims, Dist),
    /// In any way.
    Any,
}

impl Touch {
    /// Whether accesses of both kinds are of one thread wherever they are of one element.
    fn agrees(&self, other: &Touch, write: bool) -> bool {
        match self {
            Touch::Tiles(_, tile, steps, dist) => {
                self == other
                    && tile.iter().zip(steps.iter()).all(|(tile, step)| step >= tile)
                    && (write || !dist.is_replicated())
            }
            Touch::Any => false,
        }
    }
}

/// The accesses of arrays that the kernel writes, since the last barrier: reads and writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched(BTreeMap<ArrayId, [Vec<Touch>; 2]>);

impl Touched {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether an access must come after one of another thread.
    fn meets(&self, array: ArrayId, write: bool, touch: &Touch) -> bool {
        self.0.get(&array).is_some_and(|[reads, writes]| {
            writes.iter().any(|other| !touch.agrees(other, write))
                || write && reads.iter().any(|other| !touch.agrees(other, false))
        })
    }

    fn add(&mut self, array: ArrayId, write: bool, touch: Touch) {
        let list = &mut self.0.entry(array).or_default()[usize::from(write)];
        if !list.contains(&touch) {
            list.push(touch);
        }
    }
}

/// Accesses of global memory with an order.
pub(super) fn global(order: Order, scope: Option<Scope>) -> Access {
    let mut access = Access::from(Space::Gmem);
    let order = match order {
        Order::Weak => return access,
        Order::Relaxed => Word::Relaxed,
        Order::Acquire => Word::Acquire,
        Order::Release => Word::Release,
        Order::AcqRel => Word::AcqRel,
    };
    let scope = match scope {
        Some(Scope::Block) => Word::Cta,
        Some(Scope::System) => Word::Sys,
        _ => Word::Gpu,
    };
    access.words.splice(0..0, [order.into(), scope.into()]);
    access
}

/// Bits of what a load gives outside of an array.
pub(crate) fn padding(dtype: DType, padding: Padding) -> Option<u64> {
    let float = category(dtype) == Category::Float;
    padding.number().map(|x| encode(dtype, if float { Const::Float(x) } else { Const::Int(0) }))
}

/// An access of a tile.
pub(super) struct Tile<'t> {
    pub(super) array: ArrayAt,
    pub(super) dist: &'t Dist,
    pub(super) dims: Dims,
    /// The address of the thread's first element.
    pub(super) first: Expr,
    /// The thread's first coordinate less `rest`, by axis: an element is in the array while this and its offset are below 0.
    pub(super) beyond: Vec<Expr>,
    /// How many elements of the tile are in the array, by axis; all below it if it begins below 0.
    pub(super) rest: Vec<Expr>,
    /// Where the tile begins, from the array's least coordinate on, by axis, if part of it may be below that and another part in the array.
    pub(super) begins: Vec<Option<Expr>>,
    /// The part of the condition that does not depend on the element.
    pub(super) always: Cond,
    access: Access,
}

impl Lowering<'_> {
    /// An array, with the offset and extents of a part.
    pub fn array_at(&mut self, id: ArrayId) -> Result<ArrayAt> {
        match self.plan.func.arrays()[id.index()].clone() {
            Array::Param(param) => {
                let bound = self.params.arrays.get(&id).cloned();
                let bound =
                    bound.ok_or_else(|| unfit(format!("the array `{}` has no parameter", param.name)))?;
                let lows = vec![Expr::from(0); bound.extents.len()];
                Ok(ArrayAt {
                    lows,
                    pointer: bound.pointer,
                    extents: bound.extents,
                    strides: bound.strides,
                    dtype: param.dtype,
                    mutable: param.mutable,
                })
            }
            Array::Slice { of, axis, start, stop } => {
                let mut at = self.array_at(of)?;
                let axis = usize::from(axis);
                let zero = Expr::from(0);
                let start = self.index(start)?;
                let stop = self.index(stop)?.minimum(&at.extents[axis]);
                at.pointer = &at.pointer + &(&(&start * &at.strides[axis]) * at.dtype.bytes());
                at.extents[axis] = (&stop - &start).maximum(&zero).minimum(&Expr::from(MOST_EXTENT));
                at.lows[axis] = (&at.lows[axis] - &start).maximum(&zero);
                Ok(at)
            }
        }
    }

    /// Notes an access of an array, and adds a barrier before it if another thread's access must come first.
    pub fn touch(&mut self, array: ArrayId, write: bool, touch: Touch) {
        let (root, param) = self.plan.func.param_of(array);
        if !param.mutable {
            return;
        }
        if self.touched.meets(root, write, &touch) {
            self.meet_idle();
        }
        self.touched.add(root, write, touch);
    }

    /// Notes what the iterations of a loop access, before the first one.
    pub(crate) fn touch_loop(&mut self, body: RegionId) {
        // A producer accesses nothing that is written, and takes no part in barriers of the other threads.
        if self.products.role == Role::Producer {
            return;
        }
        let plan = self.plan;
        let mut found = Vec::new();
        plan.func.walk(body, &mut |_, op| {
            let Some(array) = op.kind.array() else { return };
            let (root, param) = plan.func.param_of(array);
            match &op.kind {
                _ if !param.mutable => {}
                // A part that begins elsewhere in each iteration has other elements under the same name.
                Kind::Load(view) | Kind::Store(view) if !self.is_bounded(view.array) => {
                    found.push((root, matches!(op.kind, Kind::Store(_)), Touch::Any));
                }
                Kind::Load(view) => found.push((root, false, tiles(view, plan.dist(op.results[0])))),
                Kind::Store(view) => found.push((root, true, tiles(view, plan.dist(op.operands[0])))),
                Kind::Gather(_) => found.push((root, false, Touch::Any)),
                _ => found.extend([(root, false, Touch::Any), (root, true, Touch::Any)]),
            }
        });
        // There is one barrier before the loop, rather than in each of its iterations.
        if found.iter().any(|(root, write, touch)| self.touched.meets(*root, *write, touch)) {
            self.meet_idle();
        }
        found.into_iter().for_each(|(root, write, touch)| self.touched.add(root, write, touch));
        self.scratch_unknown();
    }

    /// The accesses since the last barrier.
    pub(crate) fn state(&self) -> (Scratch, Touched) {
        (self.scratch, self.touched.clone())
    }

    pub(crate) fn set_state(&mut self, state: (Scratch, Touched)) {
        (self.scratch, self.touched) = state;
    }

    /// Joins the accesses of two branches.
    pub(crate) fn join_state(&mut self, (scratch, touched): (Scratch, Touched)) {
        self.scratch.join(scratch);
        for (array, lists) in touched.0 {
            for (write, list) in lists.into_iter().enumerate() {
                list.into_iter().for_each(|touch| self.touched.add(array, write == 1, touch));
            }
        }
    }

    /// Lowers [`Kind::Load`].
    pub(crate) fn load(&mut self, id: OpId, op: &Op, view: &View) -> Result {
        let result = op.results[0];
        let dist = self.plan.dist(result);
        let mut tile = self.tile(id, view, &op.operands, dist, global(view.order, view.scope))?;
        self.touch(view.array, false, tiles(view, dist));
        if view.order == Order::Weak && !tile.array.mutable {
            tile.access.words.push(Word::Nc.into());
        }
        let dtype = tile.array.dtype;
        let pad = padding(dtype, view.padding);
        let alone = self.is_read_once(view.order, dist);
        if alone {
            tile.always = Cond::all([tile.always, dist.owner(&self.thread)?]);
        }
        let mut regs = self.transfer(&tile, &Move::Load(pad))?;
        if alone {
            regs = self.spread(dtype, dist, &view.tile, &regs)?;
        } else if matches!(view.order, Order::Acquire | Order::AcqRel) {
            self.meet_idle();
        }
        self.hold_regs(result, regs)
    }

    /// Lowers [`Kind::Store`].
    pub(crate) fn store(&mut self, id: OpId, view: &View) -> Result {
        if let Some(tile) = self.plan.products.stores.get(&id) {
            return self.store_by_copy(id, view, tile);
        }
        let op = self.plan.func.op(id);
        let value = op.operands[0];
        let dist = self.plan.dist(value);
        if matches!(view.order, Order::Release | Order::AcqRel) {
            self.meet_idle();
        }
        let regs = self.regs(value)?;
        let mut tile = self.tile(id, view, &op.operands[1..], dist, global(view.order, view.scope))?;
        tile.always = Cond::all([tile.always, dist.owner(&self.thread)?]);
        // A barrier comes before, so that it is not taken for a barrier after the access.
        self.touch(view.array, true, tiles(view, dist));
        self.transfer(&tile, &Move::Store(&regs))?;
        Ok(())
    }

    pub(super) fn tile<'t>(
        &mut self,
        id: OpId,
        view: &View,
        index: &[Value],
        dist: &'t Dist,
        access: Access,
    ) -> Result<Tile<'t>> {
        let array = self.array_at(view.array)?;
        let origin = self.origin(dist, view.tile.rank())?;
        let (mut rest, mut conds) = (Vec::new(), Vec::new());
        let (mut first, mut beyond, mut begins) = (array.pointer.clone(), Vec::new(), Vec::new());
        for (axis, &at) in index.iter().enumerate() {
            let (tile, step) = (i64::from(view.tile[axis]), i64::from(view.steps[axis]));
            let begin = &self.index(at)? * step;
            let whole = Expr::from(tile);
            // Bounds that follow from the program, or that a launch compares, are not compared again.
            let known = self.bounds.access(id).get(axis).copied().unwrap_or(AxisBounds::KERNEL);
            let least = &array.lows[axis];
            let inner = least.as_constant() != Some(0);
            let low = view.check && (known.low == Bound::Kernel || inner);
            let across = low && (tile > step || inner);
            if low && !across {
                conds.push(Cond::less(&Expr::from(-1), &begin));
            }
            begins.push(across.then(|| &begin - least));
            rest.push(if view.check && known.high == Bound::Kernel {
                (&array.extents[axis] - &begin).maximum(&Expr::from(0)).minimum(&whole)
            } else {
                whole
            });
            first = &first + &(&(&begin + &origin[axis]) * &(&array.strides[axis] * array.dtype.bytes()));
            let left = &origin[axis] - &rest[axis];
            beyond.push(match rest[axis].as_constant() {
                Some(_) => left,
                None => self.b.hold_index(&left, Width::W32)?,
            });
        }
        let constant = first.constant();
        let first = &self.b.hold_index(&first.variable_part(), Width::W64)? + constant;
        let always = Cond::all(conds);
        Ok(Tile { array, dist, dims: view.tile, first, beyond, rest, begins, always, access })
    }

    /// Moves the elements of a tile between memory and registers.
    pub(super) fn transfer(&mut self, tile: &Tile<'_>, what: &Move<'_>) -> Result<Vec<Reg>> {
        let rank = tile.dims.rank();
        let size = tile.array.dtype.bytes();
        let most = if tile.access.words.len() > 2 { 1 } else { WIDEST / size };
        // An axis of one element has any stride: another one is meant where there is one.
        let one = |axis: &usize| tile.array.strides[*axis].as_constant() == Some(1);
        let axis = (0..rank).filter(one).max_by_key(|&axis| (tile.dims[axis] > 1, axis));
        let best = |whole: bool| {
            widest(tile.dist, rank, axis, most, |n, run| {
                let cut = |at: &Expr| whole || at.multiple() % n == 0;
                let even = axis.is_some_and(|axis| {
                    i64::from(tile.dims[axis]) % n == 0
                        && cut(&tile.rest[axis])
                        && tile.begins[axis].as_ref().is_none_or(cut)
                });
                Ok::<_, Error>(even && self.address_of(tile, run[0]).multiple() % (n * size) == 0)
            })
        };
        let (careful, fast) = (best(false)?, best(true)?);
        let write = |low: &mut Self, runs: &[Vec<usize>], whole: bool| {
            access(low, &tile.access, tile.array.dtype, runs, what, |low: &mut Self, value| {
                Ok((low.address_of(tile, value), low.in_array(tile, value, whole, None)?))
            })
        };
        if fast.len() >= careful.len() {
            return write(self, &careful, false);
        }
        // Whole tiles in wide vectors, and the tiles at the end of the array element by element.
        let whole = tile.rest.iter().zip(tile.dims.iter());
        let whole = whole.map(|(rest, &n)| Cond::less(&Expr::from(i64::from(n) - 1), rest));
        let begins = tile.begins.iter().flatten().map(|begin| Cond::less(&Expr::from(-1), begin));
        let regs = match what {
            Move::Store(_) => Vec::new(),
            _ => self.b.regs(super::register(tile.array.dtype), tile.dist.size()),
        };
        let whole = Cond::all(whole.chain(begins));
        self.either_of(&regs, whole, |low| write(low, &fast, true), |low| write(low, &careful, false))?;
        Ok(regs)
    }

    /// The address of a value's element.
    pub(super) fn address_of(&self, tile: &Tile<'_>, value: usize) -> Expr {
        let mut address = tile.first.clone();
        for (by, stride) in tile.dist.offset(value, tile.dims.rank()).into_iter().zip(&tile.array.strides) {
            address = &address + &(stride * (by * tile.array.dtype.bytes()));
        }
        address
    }

    /// Where a value is in the array, as far as axes but one say; `whole` says that the whole tile is.
    pub(super) fn in_array(
        &mut self,
        tile: &Tile<'_>,
        value: usize,
        whole: bool,
        but: Option<usize>,
    ) -> Result<Cond> {
        let origin = self.origin(tile.dist, tile.dims.rank())?;
        let mut conds = vec![tile.always.clone()];
        for (axis, by) in tile.dist.offset(value, tile.dims.rank()).into_iter().enumerate() {
            let n = i64::from(tile.dims[axis]);
            let rest = &tile.rest[axis];
            // A multiple of the tile's extent is all of it or nothing.
            let most = rest.as_constant().or_else(|| (whole || rest.multiple() % n == 0).then_some(n));
            conds.extend(match most {
                _ if but == Some(axis) => vec![],
                Some(most) if whole => vec![Cond::less(&origin[axis], &Expr::from(most - by))],
                Some(most) => {
                    vec![Cond::less(&origin[axis], &Expr::from(most - by)), Cond::less(&Expr::from(0), rest)]
                }
                None => vec![Cond::less(&tile.beyond[axis], &Expr::from(-by))],
            });
            if let (false, Some(begin)) = (whole, &tile.begins[axis]) {
                conds.push(Cond::less(&Expr::from(-1 - by), &(begin + &origin[axis])));
            }
        }
        Ok(Cond::all(conds))
    }
}

fn tiles(view: &View, dist: &Dist) -> Touch {
    Touch::Tiles(view.array, view.tile, view.steps, dist.clone())
}
