//! Barriers and exchanges by a part of a warp: some are right, and the others are reported (PTX ISA, "barrier",
//! "bar.warp.sync", "shfl.sync").

use crate::common::{map, per_thread};
use girih_sim::Error;

/// The word that each thread stores at `%d0`.
fn run(threads: u32, body: &str) -> Result<Vec<u32>, Error> {
    map(&per_thread(0, 1, body), threads, &[0], threads as usize)
}

const SHARED: &str =
    ".shared .align 4 .b8 s[512]; mov.u32 %r0, s; mad.lo.u32 %r1, %i, 4, %r0; xor.b32 %r2, %i, 33;
    mad.lo.u32 %r2, %r2, 4, %r0; setp.lt.u32 %p0, %i, 40; and.b32 %r3, %i, 7; setp.eq.u32 %p1, %r3, 0;";

/// Lanes that arrive separately at a barrier without `.aligned` wait for one another; the barrier orders all of them.
#[test]
fn unaligned_barriers_take_lanes_from_anywhere() {
    let read = "ld.shared.u32 %d0, [%r2];";
    let bodies = [
        // In both paths of a branch, at instructions of their own.
        "st.shared.u32 [%r1], %i; @%p1 bra ONE; barrier.sync 0; bra READ; ONE: barrier.sync 0; READ:",
        // Under opposite guards.
        "st.shared.u32 [%r1], %i; @%p1 barrier.sync 0; @!%p1 barrier.sync 0;",
        // One by one.
        "mov.u32 %r4, 0; L: setp.ne.u32 %p2, %r4, %r3; @%p2 bra N; st.shared.u32 [%r1], %i; barrier.sync 0; bra READ;
         N: add.u32 %r4, %r4, 1; bra L; READ:",
        // With the number of threads.
        "st.shared.u32 [%r1], %i; @%p1 bra ONE; barrier.sync 3, 64; bra READ; ONE: barrier.sync 3, 64; READ:",
    ];
    for body in bodies {
        let got = run(64, &format!("{SHARED} {body} {read}")).unwrap_or_else(|e| panic!("{body}: {e}"));
        assert_eq!(got, (0..64).map(|i| i ^ 33).collect::<Vec<_>>());
        if body.contains("L:") {
            continue;
        }
        // With `.aligned` all lanes must execute the same instruction.
        let aligned = body.replace("barrier.sync", "barrier.sync.aligned");
        assert!(
            matches!(run(64, &format!("{SHARED} {aligned} {read}")), Err(Error::Divergent { .. })),
            "{body}"
        );
        let bar = body.replace("barrier.sync", "bar.sync");
        assert!(matches!(run(64, &format!("{SHARED} {bar} {read}")), Err(Error::Divergent { .. })), "{body}");
    }
    let apart = "st.shared.u32 [%r1], %i; @%p1 bra ONE; barrier.sync 1; bra READ; ONE: barrier.sync 2; READ:";
    let found = run(64, &format!("{SHARED} {apart} {read}"));
    assert!(matches!(found, Err(Error::Divergent { .. } | Error::Deadlock { .. })), "{found:?}");
}

/// The votes of all lanes count, whichever instruction the lanes have come from.
#[test]
fn unaligned_votes_of_a_barrier() {
    let body = "setp.lt.u32 %p0, %i, 10; and.b32 %r3, %i, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra ONE;
        barrier.red.popc.u32 %d0, 0, %p0; bra END; ONE: barrier.red.popc.u32 %d0, 0, !%p0; add.u32 %d0, %d0, 100; END:";
    // Of 64 threads, 5 odd ones are below 10 and 27 even ones are not.
    let want: Vec<u32> = (0..64).map(|i| 32 + if i % 2 == 0 { 100 } else { 0 }).collect();
    assert_eq!(run(64, body).unwrap(), want);
}

/// Threads may exit before a barrier, which waits for the others: whole warps and parts of warps, and with `.aligned` or
/// without.
#[test]
fn barriers_of_warps_that_have_lost_lanes() {
    let tail =
        |sync: &str, exits: &str| format!("mov.u32 %d0, 1; setp.ge.u32 %p0, %i, {exits}; @%p0 exit; {sync}");
    for sync in ["bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;"] {
        assert!(run(96, &tail(sync, "32")).is_ok(), "{sync}");
    }
    for sync in [
        "barrier.sync 0;",
        "bar.sync 0;",
        "barrier.sync.aligned 0;",
        "bar.arrive 1, 96;",
        "bar.sync 2, 64;",
        "bar.red.popc.u32 %d0, 0, !%p0; sub.u32 %d0, %d0, 39;",
        "bar.warp.sync -1;",
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    ] {
        let got = run(96, &tail(sync, "40")).unwrap_or_else(|e| panic!("{sync}: {e}"));
        assert_eq!(got[..40], [1; 40], "{sync}");
    }
    // Not all that have not exited come: some are at the barrier, and the others of the warp at another one.
    let apart = "setp.lt.u32 %p1, %i, 36; @%p1 bra ONE; bar.sync 0; bra END; ONE: bar.sync 0; END:";
    let found = run(96, &tail(apart, "40"));
    assert!(matches!(found, Err(Error::Divergent { expected: 0xff, .. })), "{found:?}");
    // The rest goes to the exit after the others have come to the barrier.
    let late = "mov.u32 %d0, 1; setp.lt.u32 %p0, %i, 16; @%p0 bra SYNC; mov.u32 %r0, 0; bra END; SYNC: bar.sync 0; END:";
    assert!(run(32, late).is_ok());
    // The last warp of a block may begin without some of its lanes.
    assert!(run(45, "mov.u32 %d0, 1; bar.sync 0;").is_ok());
    // Matrices are of whole warps.
    let matrix = "mov.b32 %r4, 0; mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0;
        mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r4, %r4}, {%r4}, {%f0, %f1, %f2, %f3};";
    assert!(run(64, &tail(matrix, "32")).is_ok());
    assert!(matches!(run(64, &tail(matrix, "40")), Err(Error::Divergent { .. })));
}

#[test]
fn thread_counts_are_whole_warps() {
    for count in [32, 64] {
        assert!(run(64, &format!("mov.u32 %d0, 1; bar.sync 0, {count};")).is_ok());
    }
    for count in ["0", "1", "33", "63", "96"] {
        for sync in ["bar.sync 0,", "barrier.sync 0,", "bar.arrive 0,"] {
            let found = run(64, &format!("mov.u32 %d0, 1; {sync} {count};"));
            let what = "thread count of the barrier";
            assert!(
                matches!(&found, Err(Error::BadValue { what: w, .. }) if *w == what),
                "{sync} {count}: {found:?}"
            );
        }
    }
}

/// Lanes meet at `bar.warp.sync` wherever they are, as the ISA asks for no more than the same mask.
#[test]
fn lanes_meet_at_warp_barriers_in_different_branches() {
    let body = |masks: [&str; 2]| {
        format!(
            "{SHARED} xor.b32 %r2, %i, 1; mad.lo.u32 %r2, %r2, 4, %r0; setp.eq.u32 %p2, %r3, 1; st.shared.u32 [%r1], %i;
             @%p2 bra ONE; bar.warp.sync {}; bra READ; ONE: bar.warp.sync {}; READ: ld.shared.u32 %d0, [%r2];",
            masks[0], masks[1]
        )
    };
    let want: Vec<u32> = (0..32).map(|i| i ^ 1).collect();
    assert_eq!(run(32, &body(["-1", "-1"])).unwrap(), want);
    // Each side has its own lanes: neither waits for the other, and nothing orders the two.
    let sides = run(32, &body(["0xfdfdfdfd", "0x02020202"]));
    assert!(matches!(sides, Err(Error::Race { .. })), "{sides:?}");
    let differ = run(32, &body(["-1", "0x02020202"]));
    assert!(differ.is_err());
}

/// Every lane that a mask names must come with the same mask.
#[test]
fn members_agree_on_their_mask() {
    let operations = [
        "shfl.sync.idx.b32 %d0, %i, 0, 31, %r1;",
        "shfl.sync.bfly.b32 %d0, %i, 1, 31, %r1;",
        "vote.sync.ballot.b32 %d0, %p0, %r1;",
        "bar.warp.sync %r1;",
        "match.any.sync.b32 %d0, %i, %r1;",
        "match.all.sync.b32 %d0|%p1, %i, %r1;",
        "redux.sync.add.u32 %d0, %i, %r1;",
        "elect.sync %d0|%p1, %r1;",
    ];
    let masks = |some: u32, rest: u32, condition: &str| {
        format!("mov.u32 %d0, 0; setp.{condition} %p0, %i, 4; selp.b32 %r1, {some}, {rest}, %p0;")
    };
    for operation in operations {
        let with = |masks: String| run(32, &format!("{masks} {operation}"));
        with(masks(u32::MAX, u32::MAX, "lt.u32")).unwrap_or_else(|e| panic!("{operation}: {e}"));
        // Two sets, each of its own.
        if !operation.contains("idx") {
            with(masks(0xf, !0xf, "lt.u32")).unwrap_or_else(|e| panic!("{operation}: {e}"));
        }
        // Some name all, others only themselves.
        let wider = with(masks(0xf, u32::MAX, "lt.u32"));
        assert!(matches!(wider, Err(Error::BadValue { what: "member mask", .. })), "{operation}: {wider:?}");
        let overlap = with(masks(0x1f, !0xf, "lt.u32"));
        assert!(
            matches!(overlap, Err(Error::BadValue { what: "member mask", .. })),
            "{operation}: {overlap:?}"
        );
        // A lane that is not in its own mask.
        let outside = with(masks(u32::MAX, 0xf, "lt.u32"));
        assert!(
            matches!(outside, Err(Error::BadValue { what: "member mask", .. })),
            "{operation}: {outside:?}"
        );
    }
}
