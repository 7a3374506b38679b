//! The descent: the distributions of nodes change while the cost falls, one by one, all to one distribution, and at the end along chains of
//! operations.

use super::{Id, Node, Problem, Source};
use crate::fit;
use crate::ir::Value;
use crate::place::assemble::{DEEP, remade};
use crate::place::candidates::Pools;
use crate::place::cost::conversion;
use crate::place::product::{in_registers, staging};

/// Differences of cost that count.
const LEAST: f64 = 1e-9;
/// Seeds that are tried, and those where MMAs say what most tiles are like.
const SEEDS: usize = 12;
const SEEDS_OF_PRODUCTS: usize = 3;

impl Problem<'_> {
    /// The cost of a value's conversions.
    fn converted(&mut self, value: usize, chosen: &[usize]) -> f64 {
        let from = match &self.sources[value] {
            Source::Fixed(id) => *id,
            Source::Node(node, ids) => ids[chosen[*node]],
        };
        let mut sum = 0.0;
        for (i, reader) in self.uses[value].iter().enumerate() {
            let Some(to) = reader.needs[chosen[reader.node]] else { continue };
            let before = &self.uses[value][..i];
            if to == from || before.iter().any(|other| other.needs[chosen[other.node]] == Some(to)) {
                continue;
            }
            let own = self.weights[value];
            let (staged, often) = match &reader.staged {
                &Some((weight, ref rows)) => {
                    let dists = [from, to].map(|id| &self.dists[id as usize]);
                    let ty = self.func.ty(Value(fit::item(value)));
                    let held = in_registers(&ty.dims, ty.dtype, dists[0], dists[1], own < weight);
                    (Some(rows).filter(|_| !held), if held { own } else { weight })
                }
                None => (None, own),
            };
            let rows = staged.map_or(0, |rows| rows.iter().map(|mode| 1 << mode).sum::<usize>());
            let price = self.priced.entry((value, from, to, rows)).or_insert_with(|| {
                let of = Value(fit::item(value));
                let (ty, [from, to]) = (self.func.ty(of), [from, to].map(|id| &self.dists[id as usize]));
                let again = remade(self.func, of, to, DEEP);
                again.unwrap_or_else(|| match staged {
                    Some(rows) => staging(ty.dtype, from, rows),
                    None => conversion(ty, from, to, self.products.tight),
                })
            });
            let most = reader.most.get(chosen[reader.node]).copied().unwrap_or(f64::INFINITY);
            sum += price.min(most) * often;
        }
        sum
    }

    /// The cost of everything that depends on a node.
    fn around(&mut self, node: usize, chosen: &[usize]) -> f64 {
        let mut sum = self.nodes[node].own[chosen[node]];
        for at in 0..self.nodes[node].touches.len() {
            sum += self.converted(self.nodes[node].touches[at], chosen);
        }
        sum
    }

    fn total(&mut self, chosen: &[usize]) -> f64 {
        let own: f64 = self.nodes.iter().zip(chosen).map(|(node, &at)| node.own[at]).sum();
        own + (0..self.uses.len()).map(|value| self.converted(value, chosen)).sum::<f64>()
    }

    pub(super) fn solve(&mut self, pools: &Pools) -> Vec<usize> {
        let mut seeds: Vec<Id> = Vec::new();
        for dist in pools.all() {
            let Some(&id) = self.ids.get(dist) else { continue };
            if !seeds.contains(&id) {
                seeds.push(id);
            }
        }
        let nearest = |problem: &Self, seed: Id, node: &Node| {
            let near = |id: Id| {
                let (a, b) = (&problem.dists[id as usize], &problem.dists[seed as usize]);
                let bits = a.bits.iter().zip(&b.bits);
                (id == seed, bits.filter(|(a, b)| a == b || a.is_none()).count())
            };
            let mut best = 0;
            for at in 1..node.candidates.len() {
                if near(node.candidates[at]) > near(node.candidates[best]) {
                    best = at;
                }
            }
            best
        };
        // The seeds that are cheapest as they are go first.
        let mut starts: Vec<(f64, Vec<usize>)> = Vec::new();
        for &seed in &seeds {
            let chosen: Vec<usize> = self.nodes.iter().map(|node| nearest(self, seed, node)).collect();
            if !starts.iter().any(|(_, other)| *other == chosen) {
                starts.push((self.total(&chosen), chosen));
            }
        }
        starts.push((self.total(&vec![0; self.nodes.len()]), vec![0; self.nodes.len()]));
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(if self.products.wgmma.is_empty() { SEEDS } else { SEEDS_OF_PRODUCTS });
        let mut best: Option<(f64, Vec<usize>)> = None;
        for (_, start) in starts {
            let (cost, chosen) = self.descend(start, &seeds, false);
            if best.as_ref().is_none_or(|(least, _)| cost < least - LEAST) {
                best = Some((cost, chosen));
            }
        }
        best.map(|(_, chosen)| self.descend(chosen, &seeds, true).1).unwrap_or_default()
    }

    /// The choice in which a node has another candidate, and the nodes that it reads, and those that these read, have candidates in which nothing
    /// moves between them, as far as there are some, and the nodes that change; `down` says that so have those that read it. What runs less often, outside of the node's loop, stays
    /// as it is.
    fn carried(&self, chosen: &[usize], node: usize, at: usize, down: bool) -> (Vec<usize>, Vec<usize>) {
        let mut next = chosen.to_vec();
        next[node] = at;
        let mut changed = vec![node];
        let often = self.nodes[node].touches.iter().map(|&value| self.weights[value]).fold(0.0, f64::max);
        let (mut open, mut seen) = (vec![node], vec![false; self.nodes.len()]);
        seen[node] = true;
        while let Some(node) = open.pop() {
            for &value in self.nodes[node].touches.iter().filter(|&&value| self.weights[value] >= often) {
                let Source::Node(source, ids) = &self.sources[value] else { continue };
                for reader in &self.uses[value] {
                    let (other, found) = if *source == node && down {
                        (reader.node, reader.needs.iter().position(|&need| need == Some(ids[next[node]])))
                    } else if reader.node == node {
                        (*source, ids.iter().position(|&id| reader.needs[next[node]] == Some(id)))
                    } else {
                        continue;
                    };
                    if let (false, Some(at)) = (seen[other], found) {
                        seen[other] = true;
                        if next[other] != at {
                            next[other] = at;
                            changed.push(other);
                        }
                        open.push(other);
                    }
                }
            }
        }
        (next, changed)
    }

    /// The cost of everything that depends on some nodes.
    fn around_all(&mut self, nodes: &[usize], chosen: &[usize]) -> f64 {
        let own: f64 = nodes.iter().map(|&node| self.nodes[node].own[chosen[node]]).sum();
        let mut touched: Vec<usize> =
            nodes.iter().flat_map(|&node| self.nodes[node].touches.clone()).collect();
        touched.sort_unstable();
        touched.dedup();
        own + touched.into_iter().map(|value| self.converted(value, chosen)).sum::<f64>()
    }

    /// The choice and its cost once nothing gains. `chains` says that nodes change with those that they read and are read by too.
    fn descend(&mut self, mut chosen: Vec<usize>, seeds: &[Id], chains: bool) -> (f64, Vec<usize>) {
        loop {
            let mut moved = false;
            for node in 0..self.nodes.len() {
                let mut best = (self.around(node, &chosen), chosen[node]);
                for at in 0..self.nodes[node].candidates.len() {
                    chosen[node] = at;
                    let cost = self.around(node, &chosen);
                    if cost < best.0 - LEAST {
                        best = (cost, at);
                        moved = true;
                    }
                }
                chosen[node] = best.1;
            }
            for node in 0..if chains { self.nodes.len() } else { 0 } {
                for at in 0..self.nodes[node].candidates.len() {
                    for down in [false, true] {
                        let (next, changed) = self.carried(&chosen, node, at, down);
                        // A node alone has been tried.
                        if changed.len() > 1
                            && self.around_all(&changed, &next) < self.around_all(&changed, &chosen) - LEAST
                        {
                            (chosen, moved) = (next, true);
                        }
                    }
                }
            }
            let mut least = self.total(&chosen);
            for &seed in seeds {
                let together = |(node, &at): (&Node, &usize)| {
                    node.candidates.iter().position(|&id| id == seed).unwrap_or(at)
                };
                let next: Vec<usize> = self.nodes.iter().zip(&chosen).map(together).collect();
                if next != chosen {
                    let cost = self.total(&next);
                    if cost < least - LEAST {
                        (least, chosen, moved) = (cost, next, true);
                    }
                }
            }
            if !moved {
                return (least, chosen);
            }
        }
    }
}
