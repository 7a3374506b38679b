//! Two whole kernels, written by hand: a tiled f32 product on FMAs, and a bf16 one on cp.async, ldmatrix and mma.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::kernels::{mma, simt};
use crate::common::{download, launch, shape, u32_arg, u64_arg, upload};
use girih_sim::{Memory, Options};

/// Small integers, so that every order of summation gives the same bits.
fn integers(count: usize, seed: u32) -> Vec<i32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as i32 % 7 - 3
    };
    (0..count).map(next).collect()
}

fn product(m: usize, n: usize, k: usize, a: &[i32], b: impl Fn(usize, usize) -> i32) -> Vec<i32> {
    let at = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b(l, j)).sum();
    (0..m * n).map(|ij| at(ij / n, ij % n)).collect()
}

fn run_simt(m: usize, n: usize, k: usize, options: &Options) -> std::time::Duration {
    let (a, b) = (integers(m * k, 1), integers(k * n, 2));
    let bits = |values: &[i32]| values.iter().map(|&v| (v as f32).to_bits()).collect::<Vec<_>>();
    let memory = Memory::new();
    let (pa, pb, pc) =
        (upload(&memory, &bits(&a)), upload(&memory, &bits(&b)), upload(&memory, &vec![0; m * n]));
    let mut shape = shape((n / 64) as u32, 256);
    shape.grid[1] = (m / 64) as u32;
    shape.args = vec![u64_arg(pc), u64_arg(pa), u64_arg(pb), u32_arg(n as u32), u32_arg(k as u32)];
    let start = std::time::Instant::now();
    let report = launch(&simt(), &memory, &shape, options).unwrap();
    let time = start.elapsed();
    assert_eq!(report.blocks, (m / 64 * n / 64) as u64);
    let want = product(m, n, k, &a, |l, j| b[l * n + j]);
    assert_eq!(download(&memory, pc, m * n), bits(&want));
    time
}

#[test]
fn simt_product_is_exact_with_every_check_on() {
    run_simt(128, 192, 48, &Options::checked());
    run_simt(64, 64, 32, &Options { seed: 7, threads: Some(2), ..Options::checked() });
}

/// The first barrier of the loop stands between writes and reads, the second between reads and the next writes.
#[test]
fn simt_product_without_either_barrier_is_reported() {
    use girih_sim::{Access, Error};
    let good = simt();
    let places: Vec<usize> = good.match_indices("bar.sync 0;").map(|(at, _)| at).collect();
    assert_eq!(places.len(), 2);
    for (at, later) in places.into_iter().zip([Access::Read, Access::Write]) {
        let mut text = good.clone();
        text.replace_range(at..at + "bar.sync 0;".len(), "");
        for seed in 0..3 {
            let memory = Memory::new();
            let [a, b, c] = [0; 3].map(|_| upload(&memory, &[0; 64 * 64]));
            let mut shape = shape(1, 256);
            shape.args = vec![u64_arg(c), u64_arg(a), u64_arg(b), u32_arg(64), u32_arg(64)];
            let options = Options { races: true, seed, ..Options::default() };
            match launch(&text, &memory, &shape, &options) {
                Err(Error::Race { at, access, other, .. }) => {
                    assert_ne!(at.thread, other.at.thread);
                    // Without the first barrier warps run one whole pass at a time, so a later one writes what an
                    // earlier one has read; without the second as well.
                    assert!(access == later || access == Access::Write, "{access}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Timings for the record: `cargo test --release -p girih-sim --test all gemm:: -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    for (name, options) in [("unchecked", Options::default()), ("checked", Options::checked())] {
        let options = Options { threads: Some(1), ..options };
        println!("simt f32 256^3 {name}: {:?}", run_simt(256, 256, 256, &options));
        println!("mma bf16 256^3 {name}: {:?}", run_mma(256, 256, 256, &options));
    }
    let options = Options { threads: Some(1), ..Options::default() };
    println!("simt f32 512^3 unchecked: {:?}", run_simt(512, 512, 512, &options));
    println!("mma bf16 512^3 unchecked: {:?}", run_mma(512, 512, 512, &options));
}

fn try_mma(
    text: &str,
    [m, n, k]: [usize; 3],
    options: &Options,
) -> (Result<Vec<u32>, girih_sim::Error>, Vec<u32>, std::time::Duration) {
    let (a, b) = (integers(m * k, 3), integers(n * k, 4));
    let pack = |values: &[i32]| {
        let half = |v: i32| (v as f32).to_bits() >> 16;
        values.chunks_exact(2).map(|v| half(v[0]) | half(v[1]) << 16).collect::<Vec<_>>()
    };
    let memory = Memory::new();
    let (pa, pb, pc) =
        (upload(&memory, &pack(&a)), upload(&memory, &pack(&b)), upload(&memory, &vec![0; m * n]));
    let mut shape = shape((n / 64) as u32, 128);
    shape.grid[1] = (m / 64) as u32;
    shape.dynamic_shared = 3 * 10240;
    shape.args = vec![u64_arg(pc), u64_arg(pa), u64_arg(pb), u32_arg(n as u32), u32_arg(k as u32)];
    let start = std::time::Instant::now();
    let result = launch(text, &memory, &shape, options).map(|_| download(&memory, pc, m * n));
    let time = start.elapsed();
    let want = product(m, n, k, &a, |l, j| b[j * k + l]);
    (result, want.iter().map(|&v| (v as f32).to_bits()).collect(), time)
}

fn run_mma(m: usize, n: usize, k: usize, options: &Options) -> std::time::Duration {
    let (got, want, time) = try_mma(&mma(), [m, n, k], options);
    assert_eq!(got.unwrap(), want);
    time
}

#[test]
fn mma_product_is_exact_with_every_check_on() {
    run_mma(64, 128, 64, &Options::checked());
    run_mma(128, 64, 160, &Options { seed: 11, ..Options::checked() });
}

/// Every wait and barrier of the kernel is needed; without one the checks find a race or a copy in flight.
#[test]
fn mma_product_without_a_wait_or_a_barrier_is_reported() {
    use girih_sim::Error;
    let good = mma();
    let line = |text: &str, what: &str| 1 + text.lines().position(|l| l.contains(what)).unwrap() as u32;

    let no_wait = good.replace("  cp.async.wait_group 1;", "  // no wait");
    match try_mma(&no_wait, [64, 64, 128], &Options::checked()).0 {
        Err(Error::InFlight { at, copy, .. }) => {
            assert_eq!(at.place.line, line(&no_wait, "ldmatrix.sync"));
            assert_eq!(copy.at.place.line, line(&no_wait, "cp.async.cg"));
        }
        other => panic!("{other:?}"),
    }
    let late_wait = good.replace("cp.async.wait_group 1;", "cp.async.wait_group 2;");
    assert!(matches!(try_mma(&late_wait, [64, 64, 128], &Options::checked()).0, Err(Error::InFlight { .. })));

    let no_barrier = good.replace("  bar.sync 0;", "  // no barrier");
    for seed in 0..4 {
        match try_mma(&no_barrier, [64, 64, 128], &Options { seed, ..Options::checked() }).0 {
            Err(Error::Race { at, other, .. }) => assert_ne!(at.thread, other.at.thread),
            Err(Error::InFlight { .. }) => {}
            // A warp that runs ahead reads what no thread has written.
            Err(Error::UninitialisedMemory { .. }) => {}
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    // Without the checks the missing wait shows in the result.
    let (got, want, _) = try_mma(&no_wait, [64, 64, 128], &Options::default());
    assert_ne!(got.unwrap(), want);
}
