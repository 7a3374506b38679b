//! All configurations that can be chosen.

use std::collections::HashSet;

use girih_codegen::gemm::{Batch, BlockScales, GemmConfig, Major, MixedInput, outputs};
use girih_tensor::DType;

use super::facts::{Facts, name_of_mixed, taken};
use super::inputs::{INPUTS, Input, MAJORS, STORES_SM90, stores_of_groups};
use super::multistage;
use super::plan::Plan;
use super::space::{COLUMNS_OF_WEIGHTS, GROUPED, INVARIANT, WEIGHTS, listed, of_weights, shorter};
use crate::gemm::problem::{BLOCKS, GROUP, is_promoted};
use crate::gemm::records::{Kind, Records};

/// The products that kernels compute.
const BATCHES: [Batch; 5] =
    [Batch::Single, Batch::Strided, Batch::Pointers, Batch::Grouped { mode: 0 }, Batch::Grouped { mode: 1 }];

/// Every configuration that [`choose`](super::choose) may return, each once.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::F16, [1000, 200, 300], Layout::Nt)?;
/// let config = choose(&problem, KernelKind::Sm80, 132)?;
/// assert!(choose::all().any(|known| known == config));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn all() -> impl Iterator<Item = GemmConfig> {
    let mut all = Vec::new();
    for batch in BATCHES {
        for input in &INPUTS {
            all.extend(each_once(multistage::all(input, batch)));
            if input.is_of_warpgroups() {
                all.extend(each_once(of_warpgroups(input, batch)));
            }
        }
    }
    all.extend(each_once(with_scales()));
    all.into_iter()
}

/// The configurations without those that were there before.
fn each_once(all: impl IntoIterator<Item = GemmConfig>) -> impl Iterator<Item = GemmConfig> {
    let mut seen = HashSet::new();
    all.into_iter().filter(move |config| seen.insert(*config))
}

/// The configurations of warpgroups for products of a dtype.
fn of_warpgroups(input: &'static Input, batch: Batch) -> impl Iterator<Item = GemmConfig> {
    let dtype = input.dtype;
    let majors = MAJORS.into_iter().flat_map(|a| MAJORS.map(|b| [a, b]));
    let majors = majors.filter(move |&majors| taken(dtype, majors) == majors);
    let stored = move |output: DType| match batch {
        Batch::Grouped { .. } => stores_of_groups(output).map(Some).to_vec(),
        // A tensor map has one address.
        Batch::Pointers => Vec::new(),
        Batch::Single | Batch::Strided => [None].into_iter().chain(STORES_SM90.map(Some)).collect(),
    };
    let stored = move || {
        let outputs = outputs(input.sums).iter();
        outputs.flat_map(move |&output| stored(output).into_iter().map(move |store| (output, store)))
    };
    let facts = majors.flat_map(move |majors| {
        stored().flat_map(move |(output, store)| {
            ways(dtype, batch).map(move |(promotes, scales)| {
                let name = input.names[1];
                let base = Facts { name, dtype, sums: input.sums, majors, output, store, promotes, ..PLAIN };
                Facts { scales, batch, ..base }
            })
        })
    });
    facts.flat_map(|facts| {
        let plans: Vec<Plan> = match facts.batch.grouped() {
            // Along the shorter side of the tile.
            Some(mode) => {
                let plans = GROUPED.iter().map(|(plan, _)| plan).filter(|plan| shorter(plan) == mode);
                plans.flat_map(|plan| [*plan, plan.of_columns()]).collect()
            }
            None => listed().chain(recorded(&facts)).collect(),
        };
        plans.into_iter().map(move |plan| facts.adapted(plan)).flat_map(move |plan| {
            let invariant = facts.batch.grouped().is_none() && INVARIANT.contains(&plan);
            let forwards = Facts { invariant, ..facts };
            [facts.fitting(&plan), forwards.fitting(&plan)].into_iter().flatten()
        })
    })
}

/// Facts of which others are variants.
const PLAIN: Facts = Facts {
    name: "",
    dtype: DType::Bf16,
    sums: DType::F32,
    majors: MAJORS,
    output: DType::Bf16,
    store: None,
    promotes: false,
    fused: false,
    reduces: false,
    gated: false,
    invariant: false,
    scales: None,
    mixed: None,
    batch: Batch::Single,
};

/// The plans that shipped records name, which count for single products whose C is stored by TMA copies.
fn recorded(facts: &Facts) -> Vec<Plan> {
    let kind = Kind { bits: [facts.dtype, facts.output].map(DType::bits), promotes: facts.promotes };
    let counts = facts.batch == Batch::Single && facts.store.is_none() && facts.scales.is_none();
    let records = Records::shipped().ok().filter(|_| counts);
    records.into_iter().flat_map(|records| records.of_kind(kind)).collect()
}

/// Whether accumulators are promoted, and the scales of blocks, in both orientations of a problem. The products of a batch have no scales.
fn ways(dtype: DType, batch: Batch) -> impl Iterator<Item = (bool, Option<BlockScales>)> {
    let [a, b] = BLOCKS;
    let scaled = [[a, b], [b, a]].map(|[a, b]| Some(BlockScales { granularity: [a, b, GROUP] }));
    let scaled = scaled.into_iter().filter(move |_| batch == Batch::Single);
    let promoted = [None].into_iter().chain(scaled).map(|scales| (true, scales));
    [(false, None)].into_iter().chain(promoted.filter(move |_| is_promoted(dtype)))
}

/// The configurations for weights with scales.
fn with_scales() -> impl Iterator<Item = GemmConfig> {
    let inputs = MixedInput::DTYPES
        .into_iter()
        .flat_map(|dtype| MixedInput::SCALES.map(|scale| MixedInput { dtype, scale, group: GROUP }));
    let places = || MAJORS.into_iter().flat_map(|b| [false, true].map(|columns| (b, columns)));
    let stores = || [None].into_iter().chain(STORES_SM90.map(Some));
    let stored = move || {
        outputs(DType::F32).iter().flat_map(move |&output| stores().map(move |store| (output, store)))
    };
    let facts = inputs.flat_map(move |mixed| {
        places().flat_map(move |(b, columns)| {
            stored().map(move |(output, store)| {
                let (name, majors) = (name_of_mixed(&mixed), [Major::K, b]);
                (Facts { name, majors, output, store, mixed: Some(mixed), ..PLAIN }, columns)
            })
        })
    });
    facts.flat_map(|(facts, by_columns)| {
        let tiles = COLUMNS_OF_WEIGHTS
            .into_iter()
            .flat_map(|columns| WEIGHTS.map(|(rows, parts)| ([rows, columns], parts)));
        tiles.flat_map(move |(tile, parts)| {
            let plan = of_weights(tile, parts, by_columns);
            let invariant = parts == 1 && tile[1] == COLUMNS_OF_WEIGHTS[2];
            [facts, Facts { invariant, ..facts }].into_iter().filter_map(move |facts| facts.fitting(&plan))
        })
    })
}
