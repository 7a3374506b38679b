//! Fence-SC order and observation order ("Fence-SC", "Causality order"): patterns of reductions and of grid barriers.

use super::{kinds, race, right, twins, wrong};

/// The block that comes last reads what all blocks have left; `before` and `after` are the lines before and after the
/// ticket.
fn last_block(before: &str, after: &str) -> [String; 6] {
    [
        "mad.lo.u32 %r5, %me, 32, %i; mul.wide.u32 %rd0, %r5, 4; add.s64 %rd0, %rd0, %p; st.global.u32 [%rd0+256], %r5;".into(),
        before.into(),
        "@!%first bra SKIP; atom.relaxed.gpu.global.add.u32 %r0, [%p], 1; st.shared.u32 [%s], %r0; SKIP: bar.sync 0;".into(),
        "ld.shared.u32 %r0, [%s]; mov.u32 %r1, %nctaid.x; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r0, %r1; @%p1 exit;".into(),
        after.into(),
        "ld.global.u32 %r2, [%o+256]; ld.global.u32 %r3, [%o+384]; @%first st.global.u32 [%p], 0;".into(),
    ]
}

#[test]
fn the_last_block_reads_what_all_have_left() {
    // Each thread fences for itself, on both sides of the barriers.
    for fence in ["membar.gl;", "fence.sc.gpu;", "fence.sc.sys;"] {
        let before = format!("{fence} bar.sync 0;");
        let lines = last_block(&before, fence);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        right((4, 32, 1), &lines);
        for (which, to) in [(1, "bar.sync 0;"), (4, ""), (1, "membar.cta; bar.sync 0;"), (4, "fence.sc.cta;")]
        {
            let mut broken = lines.clone();
            broken[which] = to;
            wrong((4, 32, 1), &broken, race);
        }
    }
    // One thread fences for all.
    let one = last_block("bar.sync 0; @%first fence.acq_rel.gpu;", "");
    let one = one
        .map(|line| line.replace("st.shared.u32 [%s], %r0;", "fence.acq_rel.gpu; st.shared.u32 [%s], %r0;"));
    let one: Vec<&str> = one.iter().map(String::as_str).collect();
    twins(
        (4, 32, 1),
        &one,
        &[
            ("@%first fence.acq_rel.gpu;", ""),
            ("@%first fence.acq_rel.gpu;", "@%first fence.acq_rel.cta;"),
            ("fence.acq_rel.gpu; st.shared", "st.shared"),
        ],
        race,
    );
}

/// CUDA's sample fences before the ticket and not after it: by the model the reads are not ordered.
#[test]
fn a_ticket_without_a_fence_after_it_is_a_race() {
    for fence in ["membar.gl;", "fence.acq_rel.gpu;"] {
        let lines = last_block(&format!("{fence} bar.sync 0;"), "");
        wrong((4, 32, 1), &lines.each_ref().map(String::as_str), race);
    }
}

/// Code from before lanes had program counters of their own.
#[test]
fn lanes_that_exchange_in_step_by_volatile_are_reported() {
    for space in ["shared", "global"] {
        let place = if space == "shared" { "%m" } else { "%o" };
        let lines = [
            format!("st.volatile.{space}.u32 [{place}], %i;"),
            "bar.warp.sync -1;".to_owned(),
            "setp.lt.u32 %p1, %l, 16;".to_owned(),
            format!("@%p1 ld.volatile.{space}.u32 %r1, [{place}+64];"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(kinds((1, 64, 1), &lines), [""; 0]);
        assert_eq!(kinds((1, 64, 1), &[lines[0], lines[2], lines[3]]), ["lockstep"]);
    }
}

/// A lane that waits for another lane's value may find the value at once; a lane that reads a value in a loop that the
/// value does not end does not wait for it.
#[test]
fn a_lane_that_polls_is_no_exchange_in_step() {
    for space in ["shared", "global"] {
        let place = if space == "shared" { "%s" } else { "%p" };
        let set = format!("mov.u32 %r2, 0; @%first st.volatile.{space}.u32 [{place}], 1;");
        let start = format!("@%first st.volatile.{space}.u32 [{place}], 0; bar.sync 0;");
        let load = format!("AGAIN: ld.volatile.{space}.u32 %r0, [{place}];");
        let [while_zero, until_one, three_times] = [
            "setp.eq.u32 %p1, %r0, 0; @%p1 bra AGAIN;",
            "setp.eq.u32 %p1, %r0, 1; @%p1 bra DONE; bra.uni AGAIN; DONE:",
            "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra AGAIN;",
        ];
        for (ends, found) in [(while_zero, &[""; 0][..]), (until_one, &[]), (three_times, &["lockstep"])] {
            assert_eq!(kinds((1, 32, 1), &[&start, &set, &load, ends]), found, "{space} {ends}");
        }
    }
}

/// A write that an atomic has read from comes before what the atomic's thread does next, without any fence: a counter
/// is set to zero again.
#[test]
fn an_atomic_comes_after_those_that_it_has_seen() {
    let lines = [
        "@!%first exit; atom.relaxed.gpu.global.add.u32 %r0, [%p], 1; setp.ne.u32 %p1, %r0, 3; @%p1 exit;",
        "st.global.u32 [%p], 0;",
    ];
    twins((4, 32, 1), &lines, &[("%r0, 3;", "%r0, 2;"), ("atom.relaxed.gpu", "atom.relaxed.cta")], race);
    // A neighbour of the thread that has seen it, after a barrier.
    let handed = [
        "@!%first bra SKIP; atom.relaxed.gpu.global.add.u32 %r0, [%p], 1; st.shared.u32 [%s], %r0; SKIP: bar.sync 0;",
        "ld.shared.u32 %r0, [%s]; setp.ne.u32 %p1, %r0, 3; @%p1 exit; setp.eq.u32 %p2, %i, 5; @%p2 st.global.u32 [%p], 0;",
    ];
    right((4, 32, 1), &handed);
    // What came before that write does not.
    let own = "@!%first exit; mul.wide.u32 %rd0, %me, 4; add.s64 %rd0, %rd0, %p; st.global.u32 [%rd0+64], 1;";
    let more = [own, lines[0], "ld.global.v2.u32 {%r1, %r2}, [%p+64];"];
    wrong((2, 32, 1), &more.map(|l| l.replace("%r0, 3;", "%r0, 1;")).each_ref().map(|l| l.as_str()), race);
}

/// Barriers of the grid as cooperative groups have them: the first thread of each block adds, the first block's adds what
/// is left to the sign, and all wait for the sign to change.
#[test]
fn a_barrier_of_the_grid() {
    let grid = |add: &str, look: &str, before: &str, after: &str| {
        [
            "mul.wide.u32 %rd0, %me, 4; add.s64 %rd0, %rd0, %p; setp.eq.u32 %p4, %i, 40; @%p4 st.global.u32 [%rd0+64], %i;".to_owned(),
            "mov.u32 %r5, %nctaid.x; bar.sync 0; @!%first bra WAITED;".into(),
            format!("{before} sub.u32 %r1, 0x80000001, %r5; setp.ne.u32 %p1, %me, 0; @%p1 mov.u32 %r1, 1;"),
            format!("{add} %r2, [%p], %r1;"),
            format!("LOOK: {look} %r3, [%p]; xor.b32 %r4, %r3, %r2; setp.ge.s32 %p1, %r4, 0; @%p1 bra LOOK; {after}"),
            "WAITED: bar.sync 0; add.u32 %r6, %me, 1; rem.u32 %r6, %r6, %r5; mul.wide.u32 %rd1, %r6, 4;".into(),
            "add.s64 %rd1, %rd1, %p; ld.global.u32 %r7, [%rd1+64];".into(),
        ]
    };
    let old = grid("atom.add.u32", "ld.volatile.u32", "membar.gl;", "membar.gl;");
    let new = grid("atom.release.gpu.add.u32", "ld.acquire.gpu.u32", "", "");
    let of = |lines: &[String]| lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    let (old, new) = (of(&old), of(&new));
    twins(
        (4, 64, 1),
        &[&old],
        &[
            ("membar.gl; sub", "sub"),
            ("bra LOOK; membar.gl;", "bra LOOK;"),
            ("WAITED: bar.sync 0;", "WAITED:"),
            ("%nctaid.x; bar.sync 0;", "%nctaid.x;"),
        ],
        race,
    );
    twins(
        (4, 64, 1),
        &[&new],
        &[("release.gpu", "relaxed.gpu"), ("acquire.gpu", "relaxed.gpu"), ("acquire.gpu", "acquire.cta")],
        race,
    );
}
