//! Rows drawn at random: products that nothing was tuned by.

use std::collections::HashSet;

use girih_codegen::gemm::Major;
use girih_kernels::gemm::Layout;
use girih_tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{Peer, Product, Row, Work};

/// Types of A and B and of C, as often as they are drawn.
const TYPES: [(DType, DType); 12] = [
    (DType::Bf16, DType::Bf16),
    (DType::Bf16, DType::Bf16),
    (DType::Bf16, DType::Bf16),
    (DType::Bf16, DType::Bf16),
    (DType::F16, DType::F16),
    (DType::F16, DType::F16),
    (DType::F16, DType::F16),
    (DType::Tf32, DType::F32),
    (DType::F32, DType::F32),
    (DType::E4m3, DType::Bf16),
    (DType::S8, DType::S32),
    (DType::F64, DType::F64),
];
const LAYOUTS: [Layout; 6] = [Layout::Tn, Layout::Tn, Layout::Tn, Layout::Nn, Layout::Nt, Layout::Tt];
/// What all extents of a product are multiples of.
const STEPS: [i64; 3] = [64, 8, 1];
/// The largest extent and the most products of a batch.
const EXTENT: i64 = 200_000;
const BATCH: i64 = 64;
/// The most bytes of A, B and C, and the most operations: those of a few milliseconds, of tensor cores and of others.
const BYTES: f64 = 2e9;
const OPERATIONS: [f64; 2] = [4e12, 2e11];
/// The speed beside the peer that a row must reach.
const BAR: f64 = 0.97;

/// As many different rows that are wanted as are asked for, of an endless sequence that a seed begins: extents are log-uniform.
pub fn drawn(seed: u64, count: usize, wanted: impl Fn(&Row) -> bool) -> Vec<Row> {
    let (mut rng, mut known) = (StdRng::seed_from_u64(seed), HashSet::new());
    let mut next = || {
        let work = Work::Product(product(&mut rng)?);
        let row = Row { name: work.to_string(), frozen: false, work, peer: Peer::CublasLt, bar: BAR };
        (wanted(&row) && known.insert(row.name.clone())).then_some(row)
    };
    // What is not wanted at all ends too.
    let tries = 0..1000 * count;
    tries.filter_map(|_| next()).take(count).collect()
}

/// A number from 1 to `most`, whose logarithm is uniform.
fn log_uniform(rng: &mut StdRng, most: i64) -> i64 {
    ((most as f64).ln() * rng.random::<f64>()).exp() as i64
}

fn of<T: Copy>(rng: &mut StdRng, all: &[T], first: T) -> T {
    all.choose(rng).copied().unwrap_or(first)
}

/// The next product, if it is neither too large nor one that no peer computes.
fn product(rng: &mut StdRng) -> Option<Product> {
    let (dtype, output) = of(rng, &TYPES, TYPES[0]);
    let layout = of(rng, &LAYOUTS, Layout::Tn);
    let step = of(rng, &STEPS, 1);
    let mut mnk = [0; 3].map(|_| (log_uniform(rng, EXTENT) + step - 1) / step * step);
    // Of 24 products 18 are single, 4 of batches and 2 of groups.
    let kind = rng.random_range(0..24);
    let (batch, grouped) = (if kind < 18 { 1 } else { 1 + log_uniform(rng, BATCH - 1) }, kind >= 22);
    if grouped {
        // Others compute a batch of equal sizes in the same memory.
        let each = step * batch;
        mnk[0] = (mnk[0] + each - 1) / each * each;
    }
    let product = Product {
        dtype,
        output,
        mnk,
        layout,
        ld: None,
        batch,
        grouped,
        fast: false,
        fused: false,
        weights: None,
        kernel: None,
        tile: None,
    };
    let narrow = dtype.bits() == 8;
    let most = OPERATIONS[usize::from(matches!(dtype, DType::F32 | DType::F64))];
    let taken =
        !(narrow && (layout != Layout::Tn || step == 1) || grouped && layout.majors()[0] == Major::Mn);
    (taken && product.bytes() <= BYTES && product.flops() <= most).then_some(product)
}
