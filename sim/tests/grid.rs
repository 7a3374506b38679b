//! Blocks that wait for one another through global memory.

use crate::common::{download, launch, module, shape, u64_arg, upload};
use girih_sim::{Awaited, Error, Memory, Options, Space};

/// Runs lines on blocks of one warp with a zeroed buffer of 64 words at %p; the first line is line 8.
fn run(blocks: u32, options: &Options, lines: &[&str]) -> Result<Vec<u32>, Error> {
    let head = ".visible .entry k(.param .u64 out) {
         .reg .b32 %i, %me, %n, %r<9>; .reg .b64 %p, %q; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %n, %nctaid.x;
         mul.wide.u32 %q, %me, 4; add.s64 %q, %q, %p;\n";
    let memory = Memory::new();
    let out = upload(&memory, &[0; 64]);
    let mut shape = shape(blocks, 32);
    shape.args = vec![u64_arg(out)];
    launch(&module(&format!("{head}{}\nret; }}", lines.join("\n"))), &memory, &shape, options)?;
    Ok(download(&memory, out, 64))
}

/// Workers and seeds.
fn all() -> impl Iterator<Item = Options> {
    [(None, 0), (Some(1), 0), (Some(1), 3), (Some(2), 5)].into_iter().map(|(threads, seed)| Options {
        threads,
        seed,
        ..Options::checked()
    })
}

#[test]
fn blocks_wait_for_blocks_that_begin_after_them() {
    // Each block waits for the flag of the next; the last block waits for none.
    let lines = [
        "add.u32 %r0, %me, 1; setp.eq.u32 %p0, %r0, %n; @%p0 bra MINE;",
        "WAIT: ld.acquire.gpu.global.u32 %r1, [%q+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;",
        "MINE: add.u32 %r2, %r1, 1; @%p0 mov.u32 %r2, 7; setp.eq.u32 %p2, %r3, 0;",
        "st.release.gpu.global.u32 [%q], %r2;",
    ];
    let lines = lines.map(|l| {
        l.replace("setp.eq.u32 %p2, %r3, 0;", "").replace(
            "MINE: add.u32 %r2, %r1, 1; @%p0 mov.u32 %r2, 7;",
            "add.u32 %r2, %r1, 1; bra PUT; MINE: mov.u32 %r2, 7; PUT:",
        )
    });
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for options in all() {
        let got = run(20, &options, &lines).unwrap();
        assert_eq!(got[..20], (0..20).map(|i| 7 + 19 - i).collect::<Vec<_>>(), "{options:?}");
    }
}

/// As in Triton's loops, in which a block hands the result of an atomic to its threads through shared memory.
#[test]
fn a_wait_that_stores_lets_others_run_before_long() {
    let lines = [
        ".shared .b32 s; mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit;",
        "atom.release.gpu.global.add.u32 %r0, [%p], 1;",
        "WAIT: atom.acquire.gpu.global.add.u32 %r0, [%p], 0; st.shared.u32 [s], %r0; setp.lt.u32 %p1, %r0, %n; @%p1 bra WAIT;",
    ];
    for options in all() {
        // Enough for a turn of each of the others.
        let options = Options { steps: Some(1 << 21), ..options };
        assert_eq!(run(4, &options, &lines).unwrap()[0], 4);
    }
}

#[test]
fn a_lock_by_compare_and_swap() {
    let lines = [
        "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit;",
        "LOCK: atom.acquire.gpu.global.cas.b32 %r0, [%p], 0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra LOCK;",
        "ld.global.u32 %r1, [%p+4]; add.u32 %r1, %r1, %me; st.global.u32 [%p+4], %r1;",
        "atom.release.gpu.global.exch.b32 %r0, [%p], 0;",
    ];
    for options in all() {
        assert_eq!(run(40, &options, &lines).unwrap()[1], 780);
    }
}

#[test]
fn waiting_for_what_no_block_does_is_told() {
    let lines = [
        "setp.ne.u32 %p0, %me, 1; @%p0 exit;",
        "WAIT: ld.volatile.global.u32 %r0, [%p];",
        "setp.eq.u32 %p1, %r0, 0;",
        "@%p1 bra WAIT;",
    ];
    for threads in [Some(1), Some(2)] {
        match run(3, &Options { threads, ..Options::default() }, &lines) {
            Err(Error::Spinning {
                at,
                awaited: Some(Awaited::Value { space: Space::Global, value: 0, .. }),
            }) => {
                assert!(at.place.line == 9 && at.block == [1, 0, 0], "{at}");
            }
            other => panic!("{other:?}"),
        }
    }
    // The finding is reported, and not that other blocks wait for the block in which it was made.
    let bad = [
        "setp.ne.u32 %p0, %me, 2; @%p0 bra WAIT;",
        "trap;",
        "WAIT: ld.volatile.global.u32 %r0, [%p];",
        "setp.eq.u32 %p1, %r0, 0; @%p1 bra WAIT;",
    ];
    for options in all() {
        let found = run(3, &options, &bad);
        assert!(matches!(found, Err(Error::Trap { .. })), "{found:?}");
    }
}

#[test]
fn accesses_of_blocks_to_global_memory_race_unless_they_are_ordered() {
    let one = "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit;";
    let race = |blocks: u32, lines: &[&str]| {
        let found = all().map(|options| run(blocks, &options, lines).err()).collect::<Vec<_>>();
        let race = |e: &Option<Error>| matches!(e, Some(Error::Race { space: Space::Global, .. }));
        assert!(found.iter().all(race) || found.iter().all(Option::is_none), "{found:?}");
        found[0].is_some()
    };
    // Each its own word, half and byte; the same word; a neighbour's.
    assert!(!race(8, &[one, "st.global.u32 [%q], %me;"]));
    let byte = "cvt.u64.u32 %q, %me; add.s64 %q, %q, %p;";
    assert!(!race(8, &[one, byte, "st.global.u8 [%q], %me;"]));
    assert!(race(8, &[one, byte, "st.global.u8 [%q+1], %me; ld.global.u8 %r0, [%q];"]));
    assert!(race(2, &[one, "st.global.u32 [%p], %me;"]));
    assert!(race(2, &[one, "st.global.u32 [%q], %me; ld.global.u32 %r0, [%p+4];"]));
    assert!(!race(2, &[one, "ld.global.u32 %r0, [%p]; st.global.u32 [%q+8], %r0;"]));
    // Within a block a barrier orders them.
    let within = [
        "mov.u32 %i, %tid.x; mul.wide.u32 %q, %i, 4; add.s64 %q, %q, %p; xor.b32 %r1, %i, 4; mul.wide.u32 %p, %r1, 4; sub.s64 %p, %p, 0;",
        "st.global.u32 [%q], %i;",
        "bar.sync 0;",
    ];
    let neighbour =
        "mul.wide.u32 %rd, %i, 4; sub.s64 %rd, %q, %rd; add.s64 %rd, %rd, %p; ld.global.u32 %r0, [%rd];"
            .replace("%rd", "%x");
    let declared = ".reg .b64 %x;";
    assert!(!race(1, &[declared, within[0], within[1], within[2], &neighbour]));
    assert!(race(1, &[declared, within[0], within[1], &neighbour]));
    // Atomics do not race with one another; with plain accesses they do.
    assert!(!race(8, &[one, "red.global.add.u32 [%p], 1; ld.relaxed.gpu.global.u32 %r0, [%p];"]));
    assert!(race(8, &[one, "red.global.add.u32 [%p], 1; ld.global.u32 %r0, [%p];"]));
}

/// Block 0 writes a word and raises a flag; block 1 waits for it and reads.
const MESSAGE: [&str; 7] = [
    "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit; setp.ne.u32 %p1, %me, 0; @%p1 bra READ;",
    "st.global.u32 [%p], 5;",
    "fence.acq_rel.gpu;",
    "st.relaxed.gpu.global.u32 [%p+4], 1; exit;",
    "READ: ld.relaxed.gpu.global.u32 %r0, [%p+4]; setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;",
    "fence.acq_rel.gpu;",
    "ld.global.u32 %r1, [%p]; st.global.u32 [%p+8], %r1;",
];

#[test]
fn a_message_between_blocks_needs_a_release_and_an_acquire() {
    for options in all() {
        assert_eq!(run(2, &options, &MESSAGE).unwrap()[..3], [5, 1, 5]);
        for dropped in [2, 5] {
            let mut lines = MESSAGE;
            lines[dropped] = "";
            let found = run(2, &options, &lines);
            assert!(matches!(found, Err(Error::Race { space: Space::Global, .. })), "{found:?}");
            // An order on the access itself does as well.
            let strong = MESSAGE
                .map(|line| line.replace("st.relaxed", "st.release").replace("ld.relaxed", "ld.acquire"));
            let mut strong: Vec<&str> = strong.iter().map(String::as_str).collect();
            strong[dropped] = "";
            assert!(run(2, &options, &strong).is_ok());
        }
    }
    // Order that is handed on through two blocks is handed on.
    let chain = [
        "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit; setp.eq.u32 %p1, %me, 0; @%p1 bra FIRST;",
        "WAIT: atom.acquire.gpu.global.add.u32 %r0, [%p+4], 0; setp.ne.u32 %p2, %r0, %me; @%p2 bra WAIT;",
        "ld.global.u32 %r1, [%p]; add.u32 %r1, %r1, 1;",
        "FIRST: @%p1 mov.u32 %r1, 10; st.global.u32 [%p], %r1; atom.release.gpu.global.add.u32 %r0, [%p+4], 1;",
    ];
    for options in all() {
        assert_eq!(run(6, &options, &chain).unwrap()[..2], [15, 6]);
    }
}

/// Results that depend on the order of blocks are the same in every run with one seed, whatever the number of workers.
#[test]
fn what_blocks_tell_one_another_depends_on_the_seed_alone() {
    // Each warp's first lane takes a ticket and leaves its block's index there.
    let tickets: &[&str] = &[
        "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit;",
        "atom.relaxed.gpu.global.add.u32 %r0, [%p+252], 1;",
        "mul.wide.u32 %q, %r0, 4; add.s64 %q, %q, %p; st.global.u32 [%q], %me;",
    ];
    // Sums of numbers of many magnitudes, whose rounding depends on their order.
    let sums: &[&str] = &[
        "mov.u32 %i, %tid.x; shl.b32 %r0, %i, 2; xor.b32 %r0, %r0, %me; add.u32 %r0, %r0, 64; shl.b32 %r0, %r0, 23;",
        "red.relaxed.gpu.global.add.f32 [%p], %r0;",
    ];
    for (lines, blocks) in [(tickets, 60), (sums, 64)] {
        for seed in 0..6 {
            let one = run(blocks, &Options { threads: Some(1), seed, ..Options::default() }, lines).unwrap();
            for threads in [None, Some(2), Some(8), Some(8), Some(8)] {
                let options = Options { threads, seed, ..Options::default() };
                assert_eq!(run(blocks, &options, lines).unwrap(), one, "{options:?}");
            }
        }
    }
}
