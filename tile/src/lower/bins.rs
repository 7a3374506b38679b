//! Additions of tiles to a small array by index: a loop adds to counters in shared memory, which are added to the array after the loop.

use std::collections::BTreeMap;

use girih_codegen::algorithm::distributed::Counters;
use girih_codegen::{Cond, Expr, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Lowering;
use super::gather::Places;
use super::memory::{Touch, global};
use super::words::m;
use crate::error::Result;
use crate::ir::{ArrayId, Func, Indexed, Kind, Op, OpId, Order, RegionId, Rmw, Scope, Value};

/// The largest array in bytes that counters replace.
const MOST: i64 = 16 << 10;

/// Counters that replace an array while a loop runs.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    /// The array, or the part of one.
    array: ArrayId,
    scope: Option<Scope>,
    counters: Counters,
    /// The bounds of its extents.
    extents: Vec<i64>,
}

/// An atomic addition by index without a result.
fn adds<'o>(func: &Func, op: &'o Op) -> Option<&'o Indexed> {
    match &op.kind {
        Kind::Atomic { rmw: Rmw::Add, at }
            if matches!(func.param_of(at.array).1.dtype, DType::S32 | DType::U32)
                && at.scope != Some(Scope::System) =>
        {
            Some(at)
        }
        _ => None,
    }
}

impl Lowering<'_> {
    /// The arrays to which a loop only adds, each with its accesses.
    fn added(&self, region: RegionId) -> BTreeMap<ArrayId, Vec<OpId>> {
        let func = &self.plan.func;
        let mut found: BTreeMap<ArrayId, Option<Vec<OpId>>> = BTreeMap::new();
        let mut hands_on = false;
        func.walk(region, &mut |id, op| {
            let order = match &op.kind {
                Kind::Load(view) | Kind::Store(view) => view.order,
                Kind::Gather(at) | Kind::Scatter(at) | Kind::Atomic { at, .. } => at.order,
                _ => Order::Weak,
            };
            // Earlier additions must be in the array when other blocks learn of it.
            hands_on |= matches!(order, Order::Release | Order::AcqRel) && self.has_other_accesses(id);
            let Some(array) = op.kind.array() else { return };
            let list = found.entry(func.param_of(array).0).or_insert_with(|| Some(Vec::new()));
            let quiet = adds(func, op).is_some_and(|at| {
                (at.order == Order::Relaxed || !self.has_other_accesses(id))
                    && func.ty(op.operands[0]).dims.rank() > 0
                    && !op.results.iter().any(|&result| self.is_used(result))
            });
            match list {
                Some(list) if quiet => list.push(id),
                _ => *list = None,
            }
        });
        found.into_iter().filter(|_| !hands_on).filter_map(|(root, list)| Some((root, list?))).collect()
    }

    /// Whether an access of an array in a loop may wait for additions of other blocks.
    fn is_awaited(&self, root: ArrayId) -> bool {
        let func = &self.plan.func;
        let mut found = false;
        func.walk(func.body(), &mut |_, op| {
            if !matches!(op.kind, Kind::For | Kind::Loop) {
                return;
            }
            func.walk(op.regions[0], &mut |_, op| {
                let own = op.kind.array().is_some_and(|array| func.param_of(array).0 == root);
                let quiet =
                    adds(func, op).is_some() && !op.results.iter().any(|&result| self.is_used(result));
                found |= own && !quiet;
            });
        });
        found
    }

    /// Whether the bounds of a part are known already.
    pub(super) fn is_bounded(&self, array: ArrayId) -> bool {
        let known = |value: Value| self.held[value.index()].is_some();
        self.plan.func.slices(array).all(|(_, bounds)| bounds.into_iter().all(known))
    }

    /// Allocates counters for the small arrays to which the outermost loop adds.
    pub(super) fn begin_bins(&mut self, region: RegionId) -> Result<Vec<ArrayId>> {
        let mut made = Vec::new();
        if !self.loops.is_empty() || !self.alike {
            return Ok(made);
        }
        let func = &self.plan.func;
        for (root, accesses) in self.added(region) {
            let Some(at) = accesses.first().and_then(|&id| adds(func, func.op(id))).copied() else {
                continue;
            };
            let same = |&id: &OpId| adds(func, func.op(id)).is_some_and(|other| other.array == at.array);
            if !accesses.iter().all(same) || !self.is_bounded(at.array) || self.is_awaited(root) {
                continue;
            }
            let extents: Vec<i64> =
                self.array_at(at.array)?.extents.iter().map(|extent| extent.range().1.max(1)).collect();
            let bins = extents.iter().try_fold(1i64, |size, &n| size.checked_mul(n));
            let Some(bins) = bins.filter(|bins| bins * DType::S32.bytes() <= MOST) else { continue };
            let elements =
                accesses.iter().map(|&id| func.ty(func.op(id).operands[0]).dims.size() as i64).sum();
            self.meet_idle();
            let counters = self.counters(bins, elements)?;
            counters.clear(self)?;
            self.meet_idle();
            self.bins.insert(root, Bins { array: at.array, scope: at.scope, counters, extents });
            made.push(root);
        }
        Ok(made)
    }

    /// Adds a thread's elements to the counters that replace their array.
    pub(super) fn add_to_bins(&mut self, places: &Places<'_>, root: ArrayId, values: Value) -> Result {
        let Some(bins) = self.bins.get(&root).cloned() else { return Ok(()) };
        let own = places.dist.owner(&self.thread)?;
        for (value, update) in self.regs(values)?.iter().enumerate() {
            let (_, inside) = self.place(places, None, value)?;
            let mut bin = self.index_word(places, 0, value);
            for (axis, &extent) in bins.extents.iter().enumerate().skip(1) {
                let next = self.index_word(places, axis, value);
                let inputs = vec![Operand::from(&bin), Operand::Int(extent), Operand::from(&next)];
                bin = self.make(Type::U32, Opcode::Mad, m![Word::Lo, Type::U32], inputs);
            }
            let cond = Cond::all([own.clone(), inside]);
            bins.counters.add(self, &bin, Operand::from(update), &cond)?;
        }
        Ok(())
    }

    /// Adds the counters of a loop that has ended to their arrays.
    pub(super) fn end_bins(&mut self, made: Vec<ArrayId>) -> Result {
        if !made.is_empty() {
            self.meet_idle();
        }
        for root in made {
            let Some(bins) = self.bins.remove(&root) else { continue };
            self.touch(root, true, Touch::Any);
            let array = self.array_at(bins.array)?;
            let size: i64 = bins.extents.iter().product();
            let mut modifiers = global(Order::Relaxed, bins.scope).words;
            modifiers.extend(m![Word::Add, Type::U32]);
            for first in (0..size).step_by(self.plan.threads as usize) {
                let bin = &self.thread + first;
                let mut conds = vec![Cond::less(&bin, &Expr::from(size))];
                let sum = bins.counters.total(self, &bin, &conds[0])?;
                let (mut rest, mut offset) = (bin, Expr::from(0));
                for (axis, &extent) in bins.extents.iter().enumerate().rev() {
                    let at = if axis == 0 { rest.clone() } else { rest.rem(extent)? };
                    conds.push(Cond::less(&(&array.lows[axis] + -1), &at));
                    conds.push(Cond::less(&at, &array.extents[axis]));
                    offset = &offset + &(&at * &array.strides[axis]);
                    rest = rest.div(extent)?;
                }
                let some = self.setp(Word::Ne, Type::S32, &sum, Operand::Int(0));
                conds.push(self.b.cond_in(&some)?);
                let address = &array.pointer + &(&offset * array.dtype.bytes());
                let address = self.b.address(&address, Width::W64)?;
                let inputs = vec![address, Operand::from(&sum)];
                self.b.inst_if(&Cond::all(conds), Opcode::Red, &modifiers, inputs)?;
            }
        }
        Ok(())
    }
}
