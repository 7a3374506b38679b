//! Lowering of a placed function to PTX, one family of operations a file.
//!
//! A value is held in registers of each thread, in the order of its distribution's values:
//!
//! | dtype | register |
//! |---|---|
//! | bool | `.pred` |
//! | s8, s16, s32 | `.s32`, sign-extended |
//! | u8, u16, u32 | `.u32`, zero-extended |
//! | s64, u64 | `.s64`, `.u64` |
//! | f16, bf16 | `.b16` |
//! | f32, tf32 | `.f32` |
//! | f64 | `.f64` |
//! | e4m3, e5m2 | `.u32`, the byte |
//!
//! Registers of a value are written once, except for results of a loop or a condition. One register may
//! hold several equal elements. All threads of a block take the same branches, since conditions are
//! scalars. So barriers are allowed anywhere except in the region of a combination, whose scalars are elements.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([1024]).store((block,), x.tiles([1024]).load((block,)) * 2.0);
//! }
//!
//! use girih_tile::{lower::lower, place::place};
//!
//! let plan = place(&double::ir()?, 90)?;
//! let text = lower(&plan, 90)?.kernel.module().to_string();
//! assert!(text.contains(".entry double"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asynchronous;
mod atomic;
mod bins;
mod cast;
mod combine;
mod control;
mod divide;
mod each;
mod gather;
mod histogram;
mod memory;
mod order;
mod params;
mod print;
mod product;
mod scalar;
mod shape;
mod shared;
mod span;
mod target;
mod wgmma;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};

use girih_codegen::algorithm::distributed::{Group, inside, redistribute, redistribute_by};
use girih_codegen::plan::Dist;
use girih_codegen::{Builder, Cond, Expr, Kernel, Reg, Width};
use girih_ptx::{Opcode, Operand, Special};
use girih_tensor::DType;

use crate::error::{Diagnostic, Error, Fault, Result};
use crate::ir::{ArrayId, Dims, Kind, Op, OpId, Value};
use crate::place::product::sliced_along;
use crate::place::{Plan, extents};

pub(crate) use girih_codegen::algorithm::element::How;
pub use girih_codegen::scalar::register;
pub use memory::{ArrayAt, Touch};
pub use params::{Boxes, Param, Source};
pub use target::Target;

/// What lowering knows of a value.
#[derive(Clone, Debug)]
pub enum Held {
    /// Registers in the order of the distribution's values.
    Regs(Vec<Reg>),
    /// An integer scalar as an index expression, with its range and divisor.
    Index(Expr),
    /// The address in shared memory of a tile that no thread holds.
    Shared(Expr),
}

/// A kernel that was lowered: its module, and what its parameters stand for.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernel.
    pub kernel: Kernel,
    /// The kernel's parameters in order.
    pub params: Vec<Param>,
}

/// A kernel in the making. Families of operations add methods in files of their own.
pub struct Lowering<'a> {
    /// The builder of the kernel.
    pub b: Builder,
    /// The function and its distributions.
    pub plan: &'a Plan,
    /// The same as the producer computes it, where there is one.
    producer: Option<&'a Plan>,
    /// The thread's number.
    pub thread: Expr,
    pub(crate) held: Vec<Option<Held>>,
    params: params::Params,
    scratch: shared::Scratch,
    touched: memory::Touched,
    loops: Vec<control::Frame>,
    counting: histogram::Counting,
    bins: BTreeMap<ArrayId, bins::Bins>,
    /// Whether all threads of a block take the same way.
    alike: bool,
    /// The values of which elements may come from outside of an array, once this has been asked.
    open: Option<HashSet<Value>>,
    origins: HashMap<Dist, Vec<Expr>>,
    bounds: crate::facts::Bounds,
    products: wgmma::State,
    ahead: product::Ahead,
}

/// Lowers a placed function for an architecture, such as 90 for sm_90.
///
/// # Errors
/// [`Error::Lower`] for what the device does not have, [`Error::Codegen`].
pub fn lower(plan: &Plan, target: impl Into<Target>) -> Result<Lowered> {
    let Target { sm, programmatic } = target.into();
    let mut b = Builder::new(&plan.func.name, sm, plan.block());
    if let Some(blocks) = plan.func.hints.resolve(sm).occupancy.or(plan.products.blocks) {
        // A multiprocessor has room for 2048 threads.
        b.min_blocks(blocks.min(2048 / plan.block()).max(1));
    } else if plan.block() > plan.threads {
        // Warpgroups hand registers on to others, which have to be known.
        b.min_blocks(1);
    }
    if programmatic {
        // Before anything that touches memory. The next kernel waits for all of this one in the same way.
        b.wait_on_dependent_grids();
        b.launch_dependent_grids();
    }
    let thread = b.special(Special::TidX);
    let params = params::Params::declare(&mut b, &plan.func)?;
    let producer = (plan.block() > plan.threads).then(|| plan.of_producer());
    let mut lowering = Lowering {
        b,
        plan,
        producer: producer.as_ref(),
        thread,
        held: vec![None; plan.func.value_count()],
        params,
        scratch: shared::Scratch::default(),
        touched: memory::Touched::default(),
        loops: Vec::new(),
        counting: histogram::Counting::default(),
        bins: BTreeMap::new(),
        alike: true,
        open: None,
        origins: HashMap::new(),
        bounds: crate::facts::Bounds::of_func(&plan.func),
        products: wgmma::State::default(),
        ahead: product::Ahead::default(),
    };
    // What belongs to no operation, such as the parameters, belongs to the kernel as a whole.
    let first = plan.func.region(plan.func.body()).ops.iter().find_map(|&id| plan.func.op(id).site);
    lowering.b.attribute(first.map(Into::into));
    lowering.prepare_products()?;
    lowering.body()?;
    let params = lowering.params.list;
    Ok(Lowered { kernel: lowering.b.finish()?, params })
}

/// The error for a plan whose parts do not go together.
fn unfit(why: impl Into<String>) -> Error {
    Error::Contradiction(why.into())
}

impl Lowering<'_> {
    /// Says what holds a value.
    pub(crate) fn hold(&mut self, value: Value, held: Held) {
        self.held[value.index()] = Some(held);
    }

    /// Says which registers hold a value. An integer scalar of at most 32 bits becomes an index expression.
    pub(crate) fn hold_regs(&mut self, value: Value, regs: Vec<Reg>) -> Result {
        let ty = self.plan.func.ty(value);
        match regs.as_slice() {
            // A combination runs on padding too, which may be beyond the range of a narrow dtype.
            [reg]
                if ty.dims.rank() == 0
                    && ty.dtype.is_integer()
                    && (ty.dtype.bits() == 32 || ty.dtype.bits() < 32 && self.alike) =>
            {
                self.hold_number(value, &reg.clone(), ty.dtype)
            }
            _ => {
                self.hold(value, Held::Regs(regs));
                Ok(())
            }
        }
    }

    /// Lowers an operation. What is written for it is attributed to the user's line.
    pub(crate) fn op(&mut self, id: OpId) -> Result {
        self.on_behalf(id, |low| low.own(id))
    }

    /// Writes what belongs to an operation: in errors and in the findings of the simulator it has the user's line.
    pub(crate) fn on_behalf<R>(&mut self, id: OpId, write: impl FnOnce(&mut Self) -> R) -> R {
        let Some(site) = self.plan.func.op(id).site else { return write(self) };
        let outer = self.b.attribute(Some(site.into()));
        let written = write(self);
        self.b.attribute(outer);
        written
    }

    fn own(&mut self, id: OpId) -> Result {
        let plan = self.plan;
        let op = plan.func.op(id);
        if let Some(product) = plan.products.wgmma.get(&id) {
            return self.wgmma(id, product);
        }
        if let Some(early) = plan.products.ahead.loads.get(&id).filter(|_| self.consumes()) {
            // The iteration began with it.
            return if early.computed { self.read_early(id, early) } else { Ok(()) };
        }
        if plan.products.is_view(id) {
            let tile = self.held[op.operands[0].index()].clone().ok_or_else(|| self.misplaced(id))?;
            self.hold(op.results[0], tile);
            return Ok(());
        }
        if let Some(tile) = plan.products.loads.get(&id) {
            return self.load_shared(id, tile);
        }
        self.settle_carried(id)?;
        if !op.regions.is_empty() {
            self.settle_around(id)?;
            self.await_inside(id)?;
        }
        match &op.kind {
            _ if self.counting.sums.contains(&id) => Ok(()),
            Kind::Full(_) | Kind::Dense(_) | Kind::Iota => self.constant(id, op),
            Kind::Bid(_)
            | Kind::NumBlocks(_)
            | Kind::Worker
            | Kind::Workers
            | Kind::Dim(..)
            | Kind::Param(_) => self.number(id, op),
            &Kind::Each { op: function, rounding, ftz, nan, .. } => {
                self.each(id, op, function, How { rounding, ftz, nan })
            }
            Kind::Cast(rounding) => self.cast(op, *rounding),
            Kind::Bitcast => self.bitcast(op),
            Kind::Broadcast => self.broadcast(id, op),
            Kind::Permute(_) => {
                let regs = self.regs(op.operands[0])?;
                self.hold_regs(op.results[0], regs)
            }
            Kind::Convert => self.convert(op),
            Kind::Load(view) => self.load(id, op, view),
            Kind::Store(view) => self.store(id, view),
            Kind::For => self.for_loop(id, op),
            Kind::Loop => self.endless(op),
            Kind::If => self.if_else(id, op),
            Kind::Mma => self.product(id),
            Kind::Histogram => self.histogram(id, op),
            Kind::Reduce { .. } | Kind::Scan { .. } | Kind::Sort { .. } => self.combine(op),
            Kind::Reshape
            | Kind::Extract(_)
            | Kind::Insert(_)
            | Kind::Cat(_)
            | Kind::Flip(_)
            | Kind::Pack
            | Kind::Unpack => self.reshape(id, op),
            Kind::Gather(at) => self.gather(op, at),
            Kind::Scatter(at) => self.scatter(op, at),
            Kind::Atomic { rmw, at } => self.atomic(id, op, *rmw, at),
            Kind::Print(format) => self.print(id, op, format),
            Kind::Assert(message) => self.assert(op, message),
        }
    }

    /// The error for an operation that the device does not have.
    pub(crate) fn refused(&self, id: OpId, fault: Fault) -> Error {
        Error::Lower(Box::new(Diagnostic::at(self.plan.func.op(id).site, fault)))
    }

    /// The error for an operation that is not lowered, by a fault of girih.
    pub(crate) fn unsupported(&self, id: OpId, why: &str) -> Error {
        let op = self.plan.func.op(id);
        let types: Vec<String> =
            op.operands.iter().map(|&value| self.plan.func.ty(value).to_string()).collect();
        let site = op.site.map_or_else(String::new, |site| format!("{site}: "));
        unfit(format!("{site}{:?} of {}: {why}", op.kind, types.join(", ")))
    }

    /// The registers of a value, in the order of its distribution.
    pub(crate) fn regs(&mut self, value: Value) -> Result<Vec<Reg>> {
        self.settle(value)?;
        match &self.held[value.index()] {
            Some(Held::Regs(regs)) => Ok(regs.clone()),
            Some(Held::Index(expr)) => {
                let expr = expr.clone();
                Ok(vec![self.materialise(&expr, self.plan.func.ty(value).dtype)?])
            }
            Some(Held::Shared(_)) => {
                Err(unfit(format!("%{} is in shared memory, where no thread reads it", value.0)))
            }
            None => Err(unfit(format!("%{} is used where it has not been computed", value.0))),
        }
    }

    /// The one register of a scalar.
    pub(crate) fn reg(&mut self, value: Value) -> Result<Reg> {
        Ok(self.regs(value)?.swap_remove(0))
    }

    /// An integer scalar as an index expression. What 32 bits do not hold is beyond any array, and remains so as the nearest number
    /// that they hold.
    pub(crate) fn index(&mut self, value: Value) -> Result<Expr> {
        if let Some(Held::Index(expr)) = &self.held[value.index()] {
            return Ok(expr.clone());
        }
        let (reg, dtype) = (self.reg(value)?, self.plan.func.ty(value).dtype);
        Ok(if dtype.bits() < 64 { self.index_in(&reg, dtype) } else { self.near(reg, dtype) })
    }

    /// A number of 64 bits, or the nearest one that 32 bits hold.
    pub(crate) fn near(&mut self, number: Reg, dtype: DType) -> Expr {
        let (ty, mut near) = (register(dtype), number);
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        if dtype == DType::S64 {
            let inputs = vec![Operand::from(&near), Operand::Int(least)];
            near = self.make(ty, Opcode::Max, words::m![ty], inputs);
        }
        let inputs = vec![Operand::from(&near), Operand::Int(most)];
        let near = self.make(ty, Opcode::Min, words::m![ty], inputs);
        self.b.var(&near, if dtype == DType::S64 { least } else { 0 }, most, 1)
    }

    /// An integer register of at most 32 bits as an index expression with the range of its dtype.
    pub(crate) fn index_in(&mut self, reg: &Reg, dtype: DType) -> Expr {
        let (lower, upper) = crate::dtype::range(dtype);
        self.b.var(reg, lower, upper, 1)
    }

    /// A register of a dtype with the value of an index expression, which is in the dtype's range.
    pub(crate) fn materialise(&mut self, expr: &Expr, dtype: DType) -> Result<Reg> {
        let width = if dtype.bits() == 64 { Width::W64 } else { Width::W32 };
        Ok(self.b.value(expr, width)?)
    }

    /// The coordinate of a thread's value by mode.
    pub(crate) fn coordinates(&mut self, dist: &Dist, value: usize, rank: usize) -> Result<Vec<Expr>> {
        let origin = self.origin(dist, rank)?;
        Ok(origin.iter().zip(dist.offset(value, rank)).map(|(at, by)| at + by).collect())
    }

    /// The condition that a thread's value is an element of a tile, and no padding.
    pub(crate) fn inside(&mut self, dist: &Dist, value: usize, dims: &Dims) -> Result<Cond> {
        let origin = self.origin(dist, dims.rank())?;
        Ok(inside(dist, &origin, value, &extents(dims)))
    }

    /// Whether any thread holds padding.
    pub(crate) fn is_padded(&self, dist: &Dist, dims: &Dims) -> bool {
        dist.padded(dims.rank()).iter().zip(dims.iter()).any(|(&reach, &n)| reach > i64::from(n))
    }

    /// A tile with extents of 1 stretched: registers stand for several elements.
    fn broadcast(&mut self, id: OpId, op: &Op) -> Result {
        let (from, to) = (op.operands[0], op.results[0]);
        let regs = self.regs(from)?;
        let (small, large) = (self.plan.func.ty(from).dims, self.plan.func.ty(to).dims);
        let dist = self.plan.dist(to);
        let stretched = |mode: usize| small[mode] != large[mode];
        let all = (0..dist.size()).map(|value| regs.get(sliced_along(dist, stretched, value)).cloned());
        let all = all.collect::<Option<Vec<_>>>().ok_or_else(|| self.misplaced(id))?;
        self.hold_regs(to, all)
    }

    /// Lowers [`Kind::Convert`].
    fn convert(&mut self, op: &Op) -> Result {
        let plan = self.plan;
        let (source, result) = (op.operands[0], op.results[0]);
        let ty = plan.func.ty(result);
        let regs = self.regs(source)?;
        let sides = [plan.dist(source), plan.dist(result)];
        let got = match plan.exchanges.get(&result) {
            Some(exchange) => redistribute_by(self, exchange, ty.dtype, sides, &regs)?,
            None => redistribute(self, ty.dtype, &ty.dims, sides, &regs)?,
        };
        self.hold_regs(result, got)
    }

    /// The error for distributions that do not go together.
    pub(crate) fn misplaced(&self, id: OpId) -> Error {
        self.unsupported(id, "its operands and results are placed differently")
    }
}
