//! The computation of the producer: the positions of tiles, and the rows of gathered tiles, in distributions of its own.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::{Dist, fastest};

use super::super::access::gathered;
use super::super::assemble::operand_of;
use super::super::numbers::computes;
use super::super::rule::extents;
use super::super::wgmma::WARPGROUP;
use crate::ir::{ArrayId, Def, Func, Indexed, Kind, Op, OpId, RegionId, Value};

/// The positions of operations.
pub(super) struct Places<'a> {
    pub(super) func: &'a Func,
    pub(super) regions: BTreeMap<OpId, RegionId>,
    /// The operation that a region belongs to.
    owners: BTreeMap<RegionId, OpId>,
}

impl<'a> Places<'a> {
    pub(super) fn of(func: &'a Func) -> Places<'a> {
        let mut places = Places { func, regions: BTreeMap::new(), owners: BTreeMap::new() };
        places.collect(func.body());
        places
    }

    fn collect(&mut self, region: RegionId) {
        let func = self.func;
        for &id in &func.region(region).ops {
            self.regions.insert(id, region);
            for &inner in &func.op(id).regions {
                self.owners.insert(inner, id);
                self.collect(inner);
            }
        }
    }

    /// The operations around another, the innermost first.
    pub(super) fn around(&self, id: OpId) -> Vec<OpId> {
        let owner = |id: &OpId| self.owners.get(self.regions.get(id)?).copied();
        std::iter::successors(owner(&id), owner).collect()
    }

    pub(super) fn loops(&self, id: OpId) -> Vec<OpId> {
        let is_loop = |id: &OpId| matches!(self.func.op(*id).kind, Kind::For | Kind::Loop);
        self.around(id).into_iter().filter(is_loop).collect()
    }
}

/// The operations and values that the loads need.
#[derive(Clone)]
pub(super) struct Slice<'a> {
    places: &'a Places<'a>,
    pub(super) ops: BTreeSet<OpId>,
    pub(super) values: BTreeSet<Value>,
    /// Which of the producer's threads holds what of a tile.
    pub(super) dists: BTreeMap<Value, Dist>,
    work: Vec<Value>,
}

impl<'a> Slice<'a> {
    pub(super) fn new(places: &'a Places<'a>) -> Slice<'a> {
        let (ops, values, dists) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        Slice { places, ops, values, dists, work: Vec::new() }
    }

    /// A load or a gather that the producer runs, with all that it needs.
    pub(super) fn produce(&mut self, id: OpId) -> Result<(), String> {
        let op = self.places.func.op(id);
        self.around(id)?;
        match &op.kind {
            // Outside of the array there are zeros, whatever is computed there.
            Kind::Gather(at) => {
                self.array(at.array)?;
                let rank = self.places.func.param_of(at.array).1.extents.len();
                let dist = of_gather(self.places.func, op, at);
                op.operands[..rank].iter().try_for_each(|&value| self.value(value, Some(&dist)))?;
            }
            _ => self.operands(op, None)?,
        }
        self.close()
    }

    fn value(&mut self, value: Value, dist: Option<&Dist>) -> Result<(), String> {
        let ty = self.places.func.ty(value);
        if ty.dims.size() != 1 {
            let dist = dist.ok_or_else(|| format!("where it begins depends on %{} {ty}", value.0))?;
            let known = self.dists.entry(value).or_insert_with(|| dist.clone());
            if known != dist {
                return Err(format!("the threads that copy would need other elements of %{} {ty}", value.0));
            }
        }
        if self.values.insert(value) {
            self.work.push(value);
        }
        Ok(())
    }

    fn array(&mut self, array: ArrayId) -> Result<(), String> {
        let func = self.places.func;
        func.slices(array).flat_map(|(_, bounds)| bounds).try_for_each(|value| self.value(value, None))
    }

    /// Adds the operands of an operation whose result, a tile, has this distribution.
    fn operands(&mut self, op: &Op, dist: Option<&Dist>) -> Result<(), String> {
        let func = self.places.func;
        op.kind.array().map_or(Ok(()), |array| self.array(array))?;
        if let Kind::Dim(array, _) = &op.kind {
            self.array(*array)?;
        }
        for (at, &value) in op.operands.iter().enumerate() {
            let own = match (&op.kind, dist) {
                (Kind::Convert, Some(dist)) => Some(dist.clone()),
                (_, Some(dist)) => operand_of(func, op, at, dist),
                (_, None) => None,
            };
            self.value(value, own.as_ref())?;
        }
        Ok(())
    }

    /// An operation, and what is around it.
    fn op(&mut self, id: OpId) -> Result<(), String> {
        let func = self.places.func;
        if !self.ops.insert(id) {
            return Ok(());
        }
        let op = func.op(id);
        match &op.kind {
            Kind::For => {
                op.operands[..3].iter().try_for_each(|&value| self.value(value, None))?;
                if op.regions.iter().any(|&region| func.leaves(region)) {
                    return Err("a loop around it can be left early".into());
                }
            }
            Kind::If => self.value(op.operands[0], None)?,
            Kind::Loop => return Err("a loop around it has no range".into()),
            _ => {}
        }
        self.around(id)
    }

    fn around(&mut self, id: OpId) -> Result<(), String> {
        self.ops.insert(id);
        self.places.around(id).into_iter().try_for_each(|around| self.op(around))
    }

    fn close(&mut self) -> Result<(), String> {
        let func = self.places.func;
        while let Some(value) = self.work.pop() {
            let dist = self.dists.get(&value).cloned();
            match func.value(value).def {
                Def::Result(id, at) => {
                    let op = func.op(id);
                    match &op.kind {
                        Kind::For | Kind::If => self.carried(id, at as usize, dist.as_ref())?,
                        kind if computes(func, kind) || *kind == Kind::Convert => {
                            self.operands(op, dist.as_ref())?;
                        }
                        _ => {
                            let ty = func.ty(value);
                            return Err(format!("where it begins depends on %{} {ty}", value.0));
                        }
                    }
                    self.op(id)?;
                }
                Def::Argument(region, at) => {
                    let Some(&id) = self.places.owners.get(&region) else { continue };
                    // The first argument of a loop with a range is its number.
                    if func.op(id).kind == Kind::For && at > 0 {
                        self.carried(id, at as usize - 1, dist.as_ref())?;
                    }
                    self.op(id)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the values that a loop carries in one place, or the results of a condition.
    fn carried(&mut self, id: OpId, at: usize, dist: Option<&Dist>) -> Result<(), String> {
        let func = self.places.func;
        let op = func.op(id);
        self.value(op.results[at], dist)?;
        for &region in &op.regions {
            let data = func.region(region);
            if op.kind == Kind::For {
                self.value(op.operands[3 + at], dist)?;
                self.value(data.args[1 + at], dist)?;
            }
            if let Some(&value) = data.end.values().get(at) {
                self.value(value, dist)?;
            }
        }
        Ok(())
    }
}

/// Which elements of a gathered tile each of the producer's threads copies.
fn of_gather(func: &Func, op: &Op, at: &Indexed) -> Dist {
    let (along, vector) = gathered(func, at, &op.operands);
    let extents = extents(&func.ty(op.results[0]).dims);
    Dist::blocked(&extents, &fastest(along, extents.len()), vector, WARPGROUP.into())
}
