//! Random problems of attention on a GPU. Skips with one line where there is none.
//!
//! A number says everything about a problem, so that one that has failed can be run again: `GIRIH_SEEDS=1308..1309` runs number 1308. `GIRIH_CASES=200`
//! runs the first 200, and `GIRIH_SECONDS=200` begins nothing after so many seconds, and says which numbers are left.

mod common;

use common::Failure;
use common::attention::{exact, generator, random, verify, verify_values};
use girih_device::{Device, Select};
use girih_kernels::attention::{Attentions, KernelKind, MAX_HEADS, Order, Problem};
use girih_tensor::DType;
use rand::RngExt;

/// Problems that have the same dtype and head dim follow each other: compiling a kernel takes longer than many problems by it.
const FAMILY: u64 = 8;
const CASES: u64 = 1000;
/// The most queries and keys.
const LONGEST: i64 = 5000;

/// Opens the GPU, if there is one.
fn gpu() -> Option<Device> {
    Device::open(Select::Cuda(0)).inspect_err(|error| println!("skipped: {error}")).ok()
}

/// Runs so many problems by this function, or those that the environment names.
fn run(cases: u64, one: fn(&Attentions, &Device, u64) -> Result<(), Failure>) -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let attentions = |_| Attentions::new(&device);
    common::random::run(cases, FAMILY, attentions, |by, seed| one(by, &device, seed), Attentions::modules)
}

/// Runs a problem by the kernel that is chosen for it, and one of eight by the kernel for other GPUs too.
fn one(attentions: &Attentions, device: &Device, seed: u64) -> Result<(), Failure> {
    let mut of_family = generator(seed / FAMILY);
    let dtype = [DType::Bf16, DType::Bf16, DType::F16, DType::F32][of_family.random_range(0..4)];
    let dims = [64, 128, 128, 96, 192, 256, of_family.random_range(1..=256)];
    let dim = dims[of_family.random_range(0..dims.len())];
    // Products of f32 by multiply-adds take long.
    let most =
        [LONGEST, 700][of_family.random_range(0..2)].min(if dtype == DType::F32 { 1500 } else { LONGEST });
    let mut rng = generator(seed + 1_000_000);
    let problem = random(&mut rng, dtype, dim, most)?;
    let stretch = [1.0, 1.0, 4.0, 12.0, 100.0][rng.random_range(0..5)];
    verify(&attentions.get(&problem)?, device, seed, stretch)?;
    if seed.is_multiple_of(8) {
        verify(&attentions.by(&problem, Some(KernelKind::Sm80))?, device, seed, stretch)?;
    }
    Ok(())
}

#[test]
fn random_problems() -> Result<(), Failure> {
    run(CASES, one)
}

#[test]
fn large_scores_and_finite_masks() -> Result<(), Failure> {
    run(2 * CASES, large)
}

/// Runs a problem of scores of up to 1e30, of finite masks, and of what is not a number where no query sees it, by both kernels.
fn large(attentions: &Attentions, device: &Device, seed: u64) -> Result<(), Failure> {
    let mut of_family = generator(seed / FAMILY + 5_000_000);
    let dtype = [DType::Bf16, DType::F16, DType::F32][of_family.random_range(0..3)];
    let dim = [64, 128, 96, 40][of_family.random_range(0..4)];
    let mut rng = generator(seed + 6_000_000);
    let (problem, values) = exact(&mut rng, dtype, dim, [600, 200][of_family.random_range(0..2)])?;
    for kind in [None, Some(KernelKind::Sm80)] {
        verify_values(&attentions.by(&problem, kind)?, device, seed, values)?;
    }
    Ok(())
}

/// Heads of which some have numbers with all 16 bits, in more batches than one: more tiles than the second axis of a grid has blocks.
#[test]
fn as_many_heads_as_there_may_be() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let attentions = Attentions::new(&device);
    for kv_heads in [MAX_HEADS, MAX_HEADS / 3] {
        let problem =
            Problem::new(DType::Bf16, Order::Bhsd, [2, MAX_HEADS, 2, 3, 8])?.with_kv_heads(kv_heads)?;
        for kind in [None, Some(KernelKind::Sm80)] {
            verify(&attentions.by(&problem.clone().with_lse(true), kind)?, &device, 1, 4.0)?;
        }
    }
    Ok(())
}
