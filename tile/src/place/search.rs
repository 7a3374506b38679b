//! The search for the cheapest work distributions.
//!
//! A node is a choice: the work distribution of an operation, or the distribution of a loop-carried value. The search is a local descent from
//! several seeds. For each seed, a node starts with the candidate nearest to the seed. Then nodes change one by one, and nodes with equal candidates
//! change together, as long as the cost falls. In the cheapest result, nodes also change together with their operands and readers.

mod descent;
mod nodes;

use std::collections::BTreeMap;

use girih_codegen::QuickMap;
use girih_codegen::plan::Dist;

use super::candidates::Pools;
use super::wgmma::Products;
use crate::error::Result;
use crate::fit;
use crate::ir::{Dims, Func, Kind, Op, OpId};

/// How much more often the body of a loop runs than what is around it.
const LOOP: f64 = 8.0;

/// A distribution by its number.
type Id = u32;

struct Node {
    candidates: Vec<Id>,
    /// The cost of the operation itself, by candidate.
    own: Vec<f64>,
    /// Values whose conversions depend on the node.
    touches: Vec<usize>,
    /// The shape, if further functions of its elements may join the node.
    joins: Option<Dims>,
}

/// Where the distribution of a value comes from.
#[derive(Clone)]
enum Source {
    Fixed(Id),
    /// A node, and the distribution by the node's candidate.
    Node(usize, Vec<Id>),
}

/// A use of a value: the node that reads it, and what that asks for by candidate.
struct Use {
    node: usize,
    needs: Vec<Option<Id>>,
    /// How often the use runs, and the modes along which elements may be in a row, if it is an MMA that puts the value into shared memory
    /// where threads do not have what they need.
    staged: Option<(f64, Vec<usize>)>,
    /// The upper bound of a conversion's cost, by candidate: above it the operation itself moves elements through shared memory.
    most: Vec<f64>,
}

struct Problem<'a> {
    func: &'a Func,
    threads: i64,
    products: &'a Products,
    dists: Vec<Dist>,
    ids: BTreeMap<Dist, Id>,
    nodes: Vec<Node>,
    of: BTreeMap<(OpId, usize), usize>,
    /// Work distributions of values that each consumer rematerialises.
    remade: BTreeMap<(OpId, usize), Dist>,
    sources: Vec<Source>,
    uses: Vec<Vec<Use>>,
    /// How often the definition of a value runs.
    weights: Vec<f64>,
    /// Conversions priced, by value, from, to.
    priced: QuickMap<(usize, Id, Id, usize), f64>,
}

/// The work distributions that cost the least for blocks of this many threads.
pub(crate) fn search(
    func: &Func,
    threads: u32,
    products: &Products,
) -> Result<BTreeMap<(OpId, usize), Dist>> {
    let threads = i64::from(threads);
    let pools = Pools::new(func, threads, products);
    let mut problem = Problem {
        func,
        threads,
        products,
        dists: Vec::new(),
        ids: BTreeMap::new(),
        nodes: Vec::new(),
        of: BTreeMap::new(),
        remade: BTreeMap::new(),
        sources: Vec::new(),
        uses: (0..func.value_count()).map(|_| Vec::new()).collect(),
        weights: vec![1.0; func.value_count()],
        priced: QuickMap::default(),
    };
    let scalar = problem.id(&Dist::scalar(threads));
    problem.sources = vec![Source::Fixed(scalar); func.value_count()];
    problem.region(func.body(), &pools, &mut Vec::new(), 1.0)?;
    problem.touch();
    let chosen = problem.solve(&pools);
    let dist = |node: usize| problem.dists[problem.nodes[node].candidates[chosen[node]] as usize].clone();
    let mut works: BTreeMap<_, _> = problem.of.iter().map(|(&at, &node)| (at, dist(node))).collect();
    works.append(&mut problem.remade);
    Ok(works)
}

fn is_each(op: &Op) -> bool {
    matches!(op.kind, Kind::Each { .. } | Kind::Cast(_) | Kind::Bitcast)
}

impl Problem<'_> {
    fn id(&mut self, dist: &Dist) -> Id {
        if let Some(&id) = self.ids.get(dist) {
            return id;
        }
        let id = fit::item(self.dists.len());
        self.dists.push(dist.clone());
        self.ids.insert(dist.clone(), id);
        id
    }

    fn node(&mut self, at: (OpId, usize), candidates: &[Dist], own: Vec<f64>) -> usize {
        let candidates = candidates.iter().map(|dist| self.id(dist)).collect();
        self.nodes.push(Node { candidates, own, touches: Vec::new(), joins: None });
        self.of.insert(at, self.nodes.len() - 1);
        self.nodes.len() - 1
    }
}
