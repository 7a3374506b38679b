//! Nodes of the search: what is chosen, and what is read of the choices.

use girih_codegen::plan::Dist;
use std::collections::BTreeSet;

use super::{Id, LOOP, Problem, Source, Use, is_each};
use crate::error::{Error, Fault, Result};
use crate::ir::{Dims, Kind, Op, OpId, RegionId, Value};
use crate::place::assemble::{DEEP, remade};
use crate::place::candidates::{Pools, inverse};
use crate::place::cost::{own, through_shared};
use crate::place::product::{self, row_modes};
use crate::place::rule::{Work, accepts, extents, give, work};

impl Problem<'_> {
    pub(super) fn region(
        &mut self,
        region: RegionId,
        pools: &Pools,
        loops: &mut Vec<Vec<Option<usize>>>,
        weight: f64,
    ) -> Result {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            op.results.iter().for_each(|result| self.weights[result.index()] = weight);
            match work(func, op) {
                Work::None => {}
                Work::Each => self.control(id, op, pools, loops, weight)?,
                Work::Result | Work::Operand => self.op(id, op, pools, weight)?,
            }
        }
        Ok(())
    }

    fn op(&mut self, id: OpId, op: &Op, pools: &Pools, weight: f64) -> Result {
        let func = self.func;
        let kind = work(func, op);
        let of = if kind == Work::Result { op.results[0] } else { op.operands[0] };
        let dims = func.ty(of).dims;
        let pin =
            op.results.iter().find_map(|result| Some((*result, func.pins().get(result)?.dist.clone()?)));
        if dims.rank() == 0 || self.products.is_shared(id) {
            return Ok(());
        }
        if let (Kind::Permute(axes), None) = (&op.kind, &pin) {
            let axes = axes.modes();
            let source = self.sources[op.operands[0].index()].clone();
            let mut permute = |id: Id| {
                let dist = self.dists[id as usize].permute(&axes);
                self.id(&dist)
            };
            self.sources[op.results[0].index()] = match source {
                Source::Fixed(id) => Source::Fixed(permute(id)),
                Source::Node(node, ids) => Source::Node(node, ids.into_iter().map(permute).collect()),
            };
            return Ok(());
        }
        let mut candidates = self.candidates(op, &dims, pools);
        let sums = self.products.sums(func, id, self.threads);
        if let Some(sums) = sums {
            candidates = vec![sums];
        }
        if let Some((value, pin)) = pin {
            let work = match &op.kind {
                Kind::Permute(axes) => pin.permute(&inverse(axes)),
                _ => pin.clone(),
            };
            let fits = work.threads() == self.threads
                && work.covers(&extents(&dims))
                && accepts(func, op, &work).is_ok()
                && give(op, &work) == pin;
            if !fits {
                let value = format!("%{} {}", value.0, func.ty(value));
                return Err(Error::Place(
                    Fault::Pin { value, pin: pin.to_string(), threads: self.threads }.into(),
                ));
            }
            candidates = vec![work];
        } else if op.results.len() == 1 && remade(func, op.results[0], &candidates[0], DEEP).is_some() {
            // Made again by whoever reads it.
            let fixed = self.id(&candidates[0]);
            self.sources[op.results[0].index()] = Source::Fixed(fixed);
            self.remade.insert((id, 0), candidates.swap_remove(0));
            return Ok(());
        } else if self.join(id, op, &dims, weight) {
            return Ok(());
        }
        let read = |dist: &Dist| self.products.read(id, func.ty(*op.results.first()?).dtype, dist);
        let own = |dist: &Dist| match op.kind {
            Kind::Mma => product::cost(func, op, dist, self.products.sm),
            Kind::Store(_) => self.products.store(func, id, dist),
            _ => read(dist).unwrap_or_else(|| own(func, op, dist)),
        };
        let own = candidates.iter().map(|dist| weight * own(dist)).collect();
        let node = self.node((id, 0), &candidates, own);
        if is_each(op) && candidates.len() > 1 {
            self.nodes[node].joins = Some(dims);
        }
        for (at, &operand) in op.operands.iter().enumerate() {
            let own = self.products.need(func, id, at, self.threads);
            let need = |dist: &Dist| self.products.wish(func, id, at, dist);
            let needs: Vec<Option<Id>> =
                candidates.iter().map(|dist| need(dist).map(|dist| self.id(&dist))).collect();
            if func.ty(operand).dims.rank() > 0 {
                let ty = func.ty(operand);
                let staged = (op.kind == Kind::Mma && at < 2 && own.is_none())
                    .then(|| (weight, row_modes(ty.dtype, at, ty.dims.rank())));
                let most = match op.kind {
                    Kind::Cat(_) | Kind::Extract(_) => candidates
                        .iter()
                        .map(|dist| through_shared(dist) / op.operands.len() as f64)
                        .collect(),
                    _ => Vec::new(),
                };
                self.uses[operand.index()].push(Use { node, needs, staged, most });
            }
        }
        let gives: Vec<Id> = candidates.iter().map(|dist| self.id(&give(op, dist))).collect();
        for &result in &op.results {
            if func.ty(result).dims.rank() > 0 {
                self.sources[result.index()] = Source::Node(node, gives.clone());
            }
        }
        Ok(())
    }

    /// Gives a function of elements to the node of an operand that is one too: nothing is gained by conversions between them.
    fn join(&mut self, id: OpId, op: &Op, dims: &Dims, weight: f64) -> bool {
        let node = op.operands.iter().find_map(|operand| match &self.sources[operand.index()] {
            Source::Node(node, _) if self.nodes[*node].joins == Some(*dims) => Some(*node),
            _ => None,
        });
        let Some(node) = node.filter(|_| is_each(op)) else { return false };
        let candidates = self.nodes[node].candidates.clone();
        for (at, &candidate) in candidates.iter().enumerate() {
            self.nodes[node].own[at] += weight * own(self.func, op, &self.dists[candidate as usize]);
        }
        for &operand in &op.operands {
            let together = matches!(&self.sources[operand.index()], Source::Node(other, ids) if *other == node && *ids == candidates);
            if self.func.ty(operand).dims.rank() > 0 && !together {
                let needs = candidates.iter().map(|&id| Some(id)).collect();
                self.uses[operand.index()].push(Use { node, needs, staged: None, most: Vec::new() });
            }
        }
        for &result in &op.results {
            self.sources[result.index()] = Source::Node(node, candidates.clone());
        }
        self.of.insert((id, 0), node);
        true
    }

    /// What the operation takes of a shape's pool; at least one.
    fn candidates(&self, op: &Op, dims: &Dims, pools: &Pools) -> Vec<Dist> {
        let mut all = pools.of(dims).to_vec();
        let order: Vec<usize> = (0..dims.rank()).rev().collect();
        match op.kind {
            Kind::Atomic { .. } => all.iter_mut().for_each(|dist| *dist = dist.distinct(0)),
            Kind::Sort { axis, .. } => {
                let axis = usize::from(axis);
                let padded = extents(&dims.with(axis, dims[axis].next_power_of_two()));
                let mut fastest: Vec<usize> = order.iter().copied().filter(|&mode| mode != axis).collect();
                fastest.push(axis);
                all.push(Dist::blocked(&padded, &order, 1, self.threads));
                all.push(Dist::blocked(&padded, &fastest, 1, self.threads));
            }
            _ => {}
        }
        let mut seen = BTreeSet::new();
        all.retain(|dist| accepts(self.func, op, dist).is_ok() && seen.insert(dist.clone()));
        if all.is_empty() {
            all.push(Dist::blocked(&extents(dims), &order, 1, self.threads));
        }
        all
    }

    fn control(
        &mut self,
        id: OpId,
        op: &Op,
        pools: &Pools,
        loops: &mut Vec<Vec<Option<usize>>>,
        weight: f64,
    ) -> Result {
        let func = self.func;
        let mut carried = Vec::new();
        for (at, &result) in op.results.iter().enumerate() {
            let dims = func.ty(result).dims;
            if dims.rank() == 0 {
                carried.push(None);
                continue;
            }
            let mut candidates = pools.of(&dims).to_vec();
            if let Some(pin) = func.pins().get(&result).and_then(|pin| pin.dist.clone()) {
                candidates = vec![pin];
            }
            let node = self.node((id, at), &candidates, vec![0.0; candidates.len()]);
            self.sources[result.index()] = Source::Node(node, self.nodes[node].candidates.clone());
            carried.push(Some(node));
        }
        let first = op.kind.bounds();
        if let Some(first) = first {
            self.reads(op.operands.get(first..).unwrap_or_default(), &carried);
            loops.push(carried.clone());
        }
        let inner = if first.is_some() { weight * LOOP } else { weight };
        for &region in &op.regions {
            let args = &func.region(region).args;
            args.iter().for_each(|arg| self.weights[arg.index()] = inner);
            for (&arg, node) in args.iter().skip(args.len().saturating_sub(carried.len())).zip(&carried) {
                if let &Some(node) = node {
                    self.sources[arg.index()] = Source::Node(node, self.nodes[node].candidates.clone());
                }
            }
            self.region(region, pools, loops, inner)?;
            let end = &func.region(region).end;
            end.target(&carried, loops).into_iter().for_each(|to| self.reads(end.values(), to));
        }
        if first.is_some() {
            loops.pop();
        }
        Ok(())
    }

    /// Values that nodes take as they are.
    fn reads(&mut self, values: &[Value], nodes: &[Option<usize>]) {
        for (&value, node) in values.iter().zip(nodes) {
            if let &Some(node) = node {
                let needs = self.nodes[node].candidates.iter().map(|&id| Some(id)).collect();
                self.uses[value.index()].push(Use { node, needs, staged: None, most: Vec::new() });
            }
        }
    }

    pub(super) fn touch(&mut self) {
        for value in 0..self.uses.len() {
            let mut nodes: Vec<usize> = self.uses[value].iter().map(|reader| reader.node).collect();
            if let (Source::Node(node, _), false) = (&self.sources[value], nodes.is_empty()) {
                nodes.push(*node);
            }
            nodes.sort_unstable();
            nodes.dedup();
            nodes.into_iter().for_each(|node| self.nodes[node].touches.push(value));
        }
    }
}
