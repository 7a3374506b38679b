//! Lowering of MMAs to `wgmma`: tiles in shared memory, asynchronous instructions, and waits for accumulators.
//!
//! An MMA is in flight until an operation reads its result ([`Lowering::regs`]), until a loop, a condition or a region
//! ends, or until the next iteration (`late.rs`). Its result is in the registers of its accumulator operand, or of the loop-carried value, if
//! nothing else reads these.
//!
//! With a producer, the program is written twice (`roles.rs`): for the producer, of which one thread issues TMA
//! copies and all threads copy gathered rows (`copies.rs`), and for the consumer warpgroups. One
//! thread of each warpgroup frees a slot when the last MMA that reads it is complete.

mod beside;
mod copies;
mod late;
mod roles;
mod store;
mod tiles;
mod turns;

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::algorithm::{
    MmaWith, gemm, pack, unpack, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait,
};
use girih_codegen::atom::Major;
use girih_codegen::sync::PingPong;
use girih_codegen::{Cond, Descriptor, Expr, Operand as Which, Reg, Rmem, Smem, TiledMma, Width};
use girih_layout::Lay;
use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Tensor};

use super::words::m;
use super::{Held, Lowering, register};
use crate::error::Error;
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Def, Kind, OpId, Value};
use crate::place::PATTERN;
use crate::place::wgmma::{SharedTile, Source, WARPGROUP, Wgmma, row};
pub(crate) use roles::Role;

/// Where a tile in shared memory is kept: that of a load, or an operand of a product.
type Place = (OpId, usize);

/// What a kernel with such products knows.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The products that are under way, the oldest first.
    flight: Vec<Flight>,
    /// Where tiles begin in shared memory, and the same for descriptors.
    buffers: BTreeMap<Place, [Expr; 2]>,
    /// The number of the thread's warpgroup.
    group: Option<Expr>,
    /// Who reads each value, and where operations are.
    uses: tiles::Uses,
    /// Which part of the program is being written.
    pub(crate) role: Role,
    /// Where the slots of each ring begin in shared memory.
    slots: Vec<Expr>,
    /// What TMA copies store from.
    stores: Option<store::Stores>,
    rings: Vec<roles::Slots>,
    /// The tensor map of each load.
    maps: BTreeMap<OpId, Expr>,
    /// Where the tiles of loads are.
    tickets: BTreeMap<OpId, roles::Ticket>,
    /// The loops that are being written whose iterations leave products under way.
    late: Vec<late::Late>,
    /// The ping-pong of warpgroups, if some loop has one.
    ping_pong: Option<PingPong>,
    /// The turns of warpgroups in the loop that is being written.
    turns: Option<turns::Turns>,
    /// Accumulators that the first iteration of their loop sets, and whether the iteration is a later one.
    first: BTreeMap<Value, Cond>,
    /// Whether a condition is being written beside which products stay under way.
    beside: bool,
    /// Registers with two elements of 16 bits, by the name of that with the first one: those with each, and that with both.
    pairs: BTreeMap<String, ([Reg; 2], Reg)>,
}

/// A product that is under way.
#[derive(Debug)]
struct Flight {
    result: Value,
    /// The loads whose slots are free once it is done.
    frees: Vec<OpId>,
    /// Registers with the mbarriers of slots that are free then, of the iteration before.
    past: Vec<Reg>,
}

impl Lowering<'_> {
    /// Takes shared memory for all tiles, before anything else is lowered.
    pub(crate) fn prepare_products(&mut self) -> Result<(), Error> {
        let plan = self.plan;
        let products = &plan.products;
        if products.wgmma.is_empty() {
            return Ok(());
        }
        let arena = products.arena();
        let tiles = if arena.bytes > 0 { self.b.alloc_shared(arena.bytes, PATTERN)? } else { Expr::from(0) };
        for (&place, &at) in &arena.places {
            let base = &tiles + at;
            let matrices = self.for_descriptors(&base)?;
            self.products.buffers.insert(place, [base, matrices]);
        }
        self.products.slots = arena.rings.iter().map(|&at| &tiles + at).collect();
        self.declare_stores(&tiles + arena.stores)?;
        self.products.uses = tiles::Uses::of(&plan.func);
        if !products.pipeline.rings.is_empty() {
            return Ok(());
        }
        let group = if plan.threads == WARPGROUP {
            Expr::from(0)
        } else {
            let thread = self.thread.clone();
            self.b.canonical_warp_group_idx(&thread)?
        };
        self.products.group = Some(group);
        Ok(())
    }

    /// An address in shared memory as descriptors have it: without the rank that those of a cluster's blocks begin with.
    pub(super) fn for_descriptors(&mut self, base: &Expr) -> Result<Expr, Error> {
        if self.plan.func.hints.resolve(self.b.sm()).num_ctas.unwrap_or(1) == 1 {
            return Ok(base.clone());
        }
        let whole = self.b.value(base, Width::W32)?;
        let inputs = vec![Operand::from(&whole), Operand::Int(WINDOW - 1)];
        let own = self.make(Type::U32, Opcode::And, m![Type::B32], inputs);
        Ok(self.b.var(&own, 0, WINDOW - 1, PATTERN))
    }

    /// Whether some products are computed in this way.
    pub(crate) fn has_products(&self) -> bool {
        !self.plan.products.wgmma.is_empty()
    }

    /// Lowers a product by `wgmma`.
    pub(crate) fn wgmma(&mut self, id: OpId, product: &Wgmma) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let [m, n, _] = product.mnk;
        let atom = &product.atom;
        let b = self.operand(id, product, 1)?;
        let rows = m / (64 * product.warpgroups);
        let a = match product.sources[0] {
            Source::Registers => {
                let regs = self.regs(op.operands[product.operands[0]])?;
                // Values of an instruction, row blocks, steps along K.
                let steps = product.mnk[2] / atom.shape_mnk[2];
                let lay = Lay::strided([8, rows, steps], [1, 8 * steps, 8])?;
                OperandA::Registers(Tensor::new(Rmem::of(self.pairs(&regs), atom.a_type)?, lay))
            }
            _ => OperandA::Shared(self.operand(id, product, 0)?),
        };
        let (sums, zero) = self.sums(id)?;
        let packed = atom.c_type == DType::F16;
        let sums = if packed { self.pairs(&sums) } else { sums };
        // Values of an instruction, and those of all columns.
        let [own, all] = [atom.shape_mnk[1], n].map(|n| n / 2);
        let lay = Lay::strided([own, rows, n / atom.shape_mnk[1]], [1, all, own])?;
        let c = Tensor::new(Rmem::of(sums.clone(), atom.c_type)?, lay);
        let later = self.products.first.get(&op.operands[2]).cloned().unwrap_or(Cond::Always);
        let with = MmaWith::from(atom).accumulate(if zero { Cond::Never } else { later });

        self.take_turn(id)?;
        warpgroup_arrive(&mut self.b);
        match &a {
            OperandA::Registers(a) => gemm(&mut self.b, with, a, &b, &c),
            OperandA::Shared(a) => gemm(&mut self.b, with, a, &b, &c),
        }?;
        warpgroup_commit_batch(&mut self.b);
        self.hand_on(id)?;
        let result = op.results[0];
        if packed {
            self.products.flight.push(Flight { result, frees: Vec::new(), past: Vec::new() });
            self.settle_all()?;
            let halves = self.halves(&sums);
            self.hold(result, Held::Regs(halves));
        } else {
            self.hold(result, Held::Regs(sums));
            self.products.flight.push(Flight { result, frees: Vec::new(), past: Vec::new() });
        }
        Ok(())
    }

    /// Waits for the product whose result a value is, if it is under way.
    pub(crate) fn settle(&mut self, value: Value) -> Result<(), Error> {
        let at = self.products.flight.iter().position(|flight| flight.result == value);
        at.map_or(Ok(()), |at| self.settle_first(at + 1))
    }

    /// Before an operation whose result the next iteration multiplies: waits for the products of this one that read what is carried there. The
    /// assembler keeps both in the same registers, and serialises all products if these are written under way.
    pub(crate) fn settle_carried(&mut self, id: OpId) -> Result<(), Error> {
        let (func, state) = (&self.plan.func, &self.products);
        let reads = |arg: Value, product: OpId| {
            let of = self.plan.products.wgmma.get(&product);
            let held = of.filter(|of| of.sources[0] == Source::Registers);
            held.is_some_and(|of| func.op(product).operands[of.operands[0]] == arg)
        };
        let flies =
            |product: OpId| state.flight.iter().any(|flight| func.op(product).results[0] == flight.result);
        let written = |arg: Value| {
            state.uses.readers(arg).iter().flatten().any(|&product| reads(arg, product) && flies(product))
        };
        if !state.flight.is_empty() && state.uses.arguments(func, id).into_iter().any(written) {
            return self.settle_all();
        }
        Ok(())
    }

    /// Waits for all products that are under way.
    pub(crate) fn settle_all(&mut self) -> Result<(), Error> {
        self.settle_first(self.products.flight.len())
    }

    /// Waits for the oldest products that are under way.
    fn settle_first(&mut self, count: usize) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let last = self.products.flight[count - 1].result;
        self.wait_behind_functions(last)?;
        warpgroup_wait(&mut self.b, fit::item(self.products.flight.len() - count));
        let done: Vec<Flight> = self.products.flight.drain(..count).collect();
        for flight in &done {
            flight.frees.iter().try_for_each(|&load| self.free(load))?;
            flight.past.iter().try_for_each(|reg| self.free_past(reg))?;
        }
        Ok(())
    }

    /// The registers of a product's accumulator, which it overwrites; or new ones, if it begins with zeros.
    fn sums(&mut self, id: OpId) -> Result<(Vec<Reg>, bool), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let (value, ty) = (op.operands[2], plan.func.ty(op.operands[2]));
        if let Def::Result(from, _) = plan.func.value(value).def
            && plan.func.op(from).kind == Kind::Full(0)
        {
            if let Some(carried) = self.carried_in(id) {
                return Ok((carried, true));
            }
            return Ok((self.b.regs(register(ty.dtype), plan.dist(value).size()), true));
        }
        let own = self.products.uses.is_last(&plan.func, value, id);
        // Sums that the product before has not written yet are added to nonetheless: the instructions keep their order.
        let flying = self.products.flight.iter().position(|flight| flight.result == value);
        let held = match &self.held[value.index()] {
            Some(Held::Regs(regs)) if own && flying.is_some() => regs.clone(),
            _ => self.regs(value)?,
        };
        let own = own && differ(&held);
        // What a loop carries is where the next iteration has it.
        if let Some(carried) = self.carried_in(id).filter(|_| flying.is_none()) {
            self.b.move_all(&carried, &held)?;
            return Ok((carried, false));
        }
        if own {
            return Ok((held, false));
        }
        self.settle(value)?;
        Ok((held.iter().map(|reg| self.copy(ty.dtype, reg)).collect(), false))
    }

    /// The registers in which the loop around carries a product's result, if nothing else is in them by now.
    fn carried_in(&self, id: OpId) -> Option<Vec<Reg>> {
        let at = self.products.uses.carried(&self.plan.func, id)?;
        self.loops.last()?.carried(at)
    }

    /// The registers of accumulators that one side of a condition passes on as they are, and that nothing else reads: the other side writes them.
    pub(crate) fn passed_on(&self, id: OpId, at: usize) -> Option<Vec<Reg>> {
        let func = &self.plan.func;
        let value = self.products.uses.passed_on(func, id, at)?;
        let Some(Held::Regs(regs)) = &self.held[value.index()] else { return None };
        differ(regs).then(|| regs.clone())
    }

    /// An operand in shared memory, as the thread's warpgroup takes it: a descriptor for each instruction, (1,RestX,RestK).
    fn operand(&mut self, id: OpId, product: &Wgmma, at: usize) -> Result<Tensor<Descriptor>, Error> {
        let plan = self.plan;
        let value = plan.func.op(id).operands[product.operands[at]];
        let base = match product.sources[at] {
            Source::Loaded(load) => {
                self.await_tile(load)?;
                match &self.held[value.index()] {
                    Some(Held::Shared(base)) => base.clone(),
                    _ => return Err(self.misplaced(id)),
                }
            }
            _ => self.store_operand(id, product, at)?,
        };
        let atom = &product.atom;
        let (which, dtype) = if at == 0 { (Which::A, atom.a_type) } else { (Which::B, atom.b_type) };
        let [m, n, k] = product.mnk;
        let tile = product.layouts[at].tile(dtype, [if at == 0 { m } else { n }, k])?;
        let tensor = Tensor::new(Smem::new(base, dtype, Some(tile.swizzle())), *tile.layout());
        let atoms = Lay::strided([product.warpgroups, 1], [1, 0])?;
        let group = self.products.group.clone().unwrap_or_else(|| Expr::from(0));
        let mine = TiledMma::new(*atom, atoms)?.get_slice(&(&group * i64::from(WARPGROUP)))?;
        Ok(mine.partition_descriptor(which, &tensor)?)
    }

    /// Registers of 32 bits with two values of 16 bits each.
    pub(crate) fn pairs(&mut self, regs: &[Reg]) -> Vec<Reg> {
        let pair = |low: &mut Self, two: &[Reg]| match low.products.pairs.get(&two[0].to_string()) {
            Some((known, both)) if known == two => both.clone(),
            _ => pack(&mut low.b, DType::F16, two).swap_remove(0),
        };
        regs.chunks(2).map(|two| pair(self, two)).collect()
    }

    /// Takes note of a register in which two elements of 16 bits are that have registers of their own too.
    pub(crate) fn note_pair(&mut self, halves: [&Reg; 2], both: &Reg) {
        if self.has_products() {
            let known = (halves.map(Reg::clone), both.clone());
            self.products.pairs.insert(halves[0].to_string(), known);
        }
    }

    /// The halves of registers that have two elements of 16 bits.
    pub(crate) fn halves(&mut self, pairs: &[Reg]) -> Vec<Reg> {
        let halves = unpack(&mut self.b, DType::F16, 2 * pairs.len(), pairs);
        for (halves, pair) in halves.chunks(2).zip(pairs) {
            self.note_pair([&halves[0], &halves[1]], pair);
        }
        halves
    }
}

/// Whether registers are different ones.
fn differ(regs: &[Reg]) -> bool {
    regs.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len() == regs.len()
}

/// A as a product takes it, (V,RestM,RestK).
enum OperandA {
    Registers(Tensor<Rmem>),
    Shared(Tensor<Descriptor>),
}

/// The bytes that addresses in the shared memory of one block reach.
const WINDOW: i64 = 1 << 18;

/// An operand that is stored for a product, whose modes are X and K.
fn stored(product: &Wgmma, at: usize) -> SharedTile {
    let [m, n, k] = product.mnk;
    let x = if at == 0 { m } else { n };
    let along_k = product.layouts[at].major == Major::K;
    let dtype = if at == 0 { product.atom.a_type } else { product.atom.b_type };
    SharedTile {
        dtype,
        fast: if along_k { 1 } else { 0 },
        rows: vec![if along_k { (0, x) } else { (1, k) }],
        extents: if along_k { [k, x] } else { [x, k] },
        swizzle: product.layouts[at].swizzle,
        row: row(product.layouts[at].swizzle, dtype),
        produced: Err(String::from("it is computed")),
        latency: None,
        cut: Vec::new(),
    }
}

/// Whether the results of an operation are in registers of their own.
fn has_own_registers(kind: &Kind) -> bool {
    match kind {
        Kind::Each { op, .. } => *op != Each::Select,
        Kind::Mma | Kind::Load(_) => true,
        _ => false,
    }
}
