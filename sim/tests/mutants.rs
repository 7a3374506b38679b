//! The specialised GEMM of the probe, with one wait, fence or barrier taken away: the simulator must find it.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{u32_arg, u64_arg};
use girih_ptx::{Module, TensorElement, TensorSwizzle, Tiled};
use girih_sim::{Deny, Error, Launch, Memory, Options, Program, run};

const PROBE: &str = include_str!("ptx/hopper-probe.ptx");
const SPLIT_K: &str = include_str!("ptx/best-small-m-splitk.ptx");
/// Schedules that each mutant is given, the latest completion of everything first.
const SEEDS: u64 = 6;

/// `gemm` alone.
fn gemm() -> String {
    let (header, kernels) = PROBE.split_once(".visible .entry vadd(").unwrap();
    let (_, body) = kernels.split_once(".visible .entry gemm(").unwrap();
    format!("{header}.visible .entry gemm({body}")
}

/// The text without the `nth` place that has this instruction, from 0.
fn without(text: &str, instruction: &str, nth: usize) -> String {
    replaced(text, instruction, nth, "")
}

fn replaced(text: &str, instruction: &str, nth: usize, by: &str) -> String {
    let (at, _) = text.match_indices(instruction).nth(nth).unwrap_or_else(|| panic!("{instruction}"));
    format!("{}{by}{}", &text[..at], &text[at + instruction.len()..])
}

/// A map of `rows` x `columns` zeros, with the 128-byte swizzle.
fn map(memory: &Memory, rows: u64, columns: u64, box_rows: u32) -> Vec<u8> {
    let address = memory.alloc((rows * columns * 2) as usize).unwrap();
    let tiled = Tiled::new(TensorElement::Bf16, &[columns, rows], &[64, box_rows]);
    tiled.with_swizzle(TensorSwizzle::B128).at(address).unwrap().to_bytes().to_vec()
}

/// Runs `gemm` of a module at several seeds; the first error.
fn run_all(text: &str, prepare: impl Fn(&Memory) -> Launch) -> Result<(), Error> {
    let program = Program::load(&Module::parse(text).unwrap())?;
    for seed in 0..SEEDS {
        let memory = Memory::new();
        let launch = prepare(&memory);
        run(
            program.kernel("gemm")?,
            &memory,
            &launch,
            &Options { seed, deny: Deny::Warnings, ..Options::checked() },
        )?;
    }
    Ok(())
}

/// One tile of 128 x 256 with twice as many steps along K as there are stages.
fn outcome(text: &str) -> Result<(), Error> {
    let (m, n, k) = (128, 256, 512);
    run_all(text, |memory| {
        let maps = [map(memory, m, k, 128), map(memory, n, k, 256), map(memory, m, n, 64)];
        let sizes = [u32_arg(k as u32 / 64), u32_arg(1)];
        let (args, dynamic_shared) = (maps.into_iter().chain(sizes).collect(), 196_608 + 64);
        Launch { grid: [1; 3], block: [384, 1, 1], dynamic_shared, args, ..Launch::default() }
    })
}

/// 64 weights by 11 tokens, K shared by the two blocks of a cluster.
fn outcome_of_split_k(text: &str) -> Result<(), Error> {
    let (n, k, tokens) = (64, 512, 11);
    run_all(text, |memory| {
        let out = memory.alloc(2 * (n * tokens) as usize).unwrap();
        let sizes = [k as u32 / 256, n as u32, tokens as u32].map(u32_arg);
        let args = [map(memory, n, k, 64), map(memory, tokens, k, 16), u64_arg(out)];
        let (args, dynamic_shared) = (args.into_iter().chain(sizes).collect(), 209_072);
        Launch { grid: [2, 1, 1], block: [160, 1, 1], dynamic_shared, args, ..Launch::default() }
    })
}

#[test]
fn the_kernel_itself_is_fine() {
    outcome(&gemm()).unwrap_or_else(|e| panic!("{e}"));
    outcome_of_split_k(SPLIT_K).unwrap_or_else(|e| panic!("{e}"));
}

/// The partial sums are read by the other block after one barrier of the cluster, and no block leaves before another.
#[test]
fn clusters_need_their_barriers() {
    let barrier = "barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;";
    let error = outcome_of_split_k(&without(SPLIT_K, barrier, 0)).unwrap_err();
    assert!(matches!(error, Error::NotStarted { .. }), "{error}");
    let error = outcome_of_split_k(&without(SPLIT_K, barrier, 1)).unwrap_err();
    assert!(matches!(error, Error::ExitedBlock { .. }), "{error}");
    let relaxed = replaced(SPLIT_K, "cluster.arrive.release", 0, "cluster.arrive.relaxed");
    let error = outcome_of_split_k(&relaxed).unwrap_err();
    assert!(matches!(error, Error::Race { .. }), "{error}");
}

/// For each mutant: what is taken away, and a part of the simulator's message.
#[test]
fn what_is_needed_is_missed() {
    let gemm = gemm();
    let fences = |text: &str| {
        without(
            &without(text, "fence.mbarrier_init.release.cluster;", 0),
            "fence.proxy.async.shared::cta;",
            0,
        )
    };
    let wait_all = "wgmma.wait_group.sync.aligned 0;";
    let mutants = [
        ("both fences behind the initialisation", fences(&gemm)),
        ("the barrier behind the initialisation", without(&gemm, "bar.sync 0;", 0)),
        ("the producer's wait", without(&gemm, "@!%p2 bra PW;", 0)),
        (
            "the announcement of bytes",
            without(&gemm, "mbarrier.arrive.expect_tx.shared::cta.b64 %rd4,[%r24],49152;", 0),
        ),
        ("some of the announced bytes", replaced(&gemm, ",49152;", 0, ",49136;")),
        ("the turn of the producer's parity", without(&gemm, "@%p3 xor.b32 %r22,%r22,1;", 0)),
        ("the consumers' wait", without(&gemm, "@!%p2 bra CW;", 0)),
        ("the fence of the accumulators", without(&gemm, "wgmma.fence.sync.aligned;", 0)),
        ("the commit of a step", without(&gemm, "wgmma.commit_group.sync.aligned;", 0)),
        ("the wait for the step before", without(&gemm, "wgmma.wait_group.sync.aligned 1;", 0)),
        (
            "a part of that wait",
            replaced(&gemm, "wgmma.wait_group.sync.aligned 1;", 0, "wgmma.wait_group.sync.aligned 2;"),
        ),
        ("the release of a stage", without(&gemm, "@%p6 mbarrier.arrive.shared::cta.b64 _,[%r35];", 0)),
        ("the turn of the consumers' parity", without(&gemm, "@%p3 xor.b32 %r22,%r22,1;", 1)),
        ("the wait for the last step", without(&gemm, wait_all, 0)),
        ("the barrier of both groups", without(&gemm, "bar.sync 1,256;", 0)),
        ("the fence before the stores", without(&gemm, "fence.proxy.async.shared::cta;", 1)),
        ("the barrier before the stores", without(&gemm, "bar.sync %r48,128;", 0)),
        ("the commit of the stores", without(&gemm, "cp.async.bulk.commit_group;", 0)),
        ("the registers that the producer gives", without(&gemm, "setmaxnreg.dec.sync.aligned.u32 40;", 0)),
        (
            "registers beyond what it gives",
            replaced(&gemm, "inc.sync.aligned.u32 232;", 0, "inc.sync.aligned.u32 240;"),
        ),
        ("some of what it gives", replaced(&gemm, "dec.sync.aligned.u32 40;", 0, "dec.sync.aligned.u32 48;")),
        ("the wait for the stores", without(&gemm, "cp.async.bulk.wait_group.read 0;", 0)),
    ];
    let mut missed = Vec::new();
    for (what, text) in &mutants {
        match outcome(text) {
            Ok(()) => missed.push(*what),
            Err(error) => println!("{what}: {error}\n"),
        }
    }
    assert!(missed.is_empty(), "not seen: {missed:?}");
}

/// The initialisation of the mbarriers is made known to the async proxy by either of the two fences: `fence.mbarrier_init`
/// is made for that, and `fence.proxy.async` does it for all that was written before. So each alone is redundant.
#[test]
fn one_of_two_fences_is_enough() {
    outcome(&without(&gemm(), "fence.mbarrier_init.release.cluster;", 0)).unwrap();
    outcome(&without(&gemm(), "fence.proxy.async.shared::cta;", 0)).unwrap();
}
