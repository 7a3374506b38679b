//! Scopes. Two strong operations are morally strong if the scope of each includes the other's thread ("Morally strong
//! operations"), and only then an acquire gets what a release has released ("Release and Acquire patterns").

use super::{found, race, right, twins, wrong};

const ONE: &str = "@!%first exit;";

/// Block 0 writes a word and sets a flag, block 1 waits for the flag and reads.
fn message(release: &str, acquire: &str, fence: &str) -> [String; 5] {
    let wait = "setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;";
    [
        format!("{ONE} setp.ne.u32 %p1, %me, 0; @%p1 bra READ;"),
        format!("st.global.u32 [%p], 5; {fence}"),
        format!("st.{release}.global.u32 [%p+128], 1; exit;"),
        format!("READ: ld.{acquire}.global.u32 %r0, [%p+128]; {wait} {fence}"),
        "ld.global.u32 %r1, [%p];".into(),
    ]
}

#[test]
fn a_fence_reaches_no_further_than_its_scope() {
    for fence in ["fence.acq_rel.gpu;", "fence.sc.sys;", "membar.gl;", "membar.sys;"] {
        let lines = message("relaxed.gpu", "relaxed.gpu", fence);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let narrow = if fence.starts_with('m') { "membar.cta;" } else { "fence.acq_rel.cta;" };
        twins((2, 32, 1), &lines, &[(fence, narrow), (fence, "fence.sc.cluster;"), (fence, "")], race);
        // Either alone.
        for which in [1, 3] {
            let mut one = lines.clone();
            let changed = one[which].replace(fence, "fence.acq_rel.cta;");
            one[which] = &changed;
            wrong((2, 32, 1), &one, race);
        }
    }
}

#[test]
fn a_release_and_an_acquire_reach_no_further_than_their_scopes() {
    let lines = message("release.gpu", "acquire.sys", "");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let narrow = [
        ("release.gpu", "release.cta"),
        ("release.gpu", "release.cluster"),
        ("acquire.sys", "acquire.cta"),
        ("release.gpu", "relaxed.gpu"),
        ("acquire.sys", "relaxed.sys"),
    ];
    twins((2, 32, 1), &lines, &narrow, race);
    // Within the block each of them does.
    let within = [
        "setp.eq.u32 %p1, %i, 32; setp.ne.u32 %p3, %i, 0; @%p1 bra READ; @%p3 exit;",
        "st.global.u32 [%p], 5;",
        "st.release.cta.global.u32 [%p+128], 1; exit;",
        "READ: ld.acquire.cta.global.u32 %r0, [%p+128]; setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;",
        "ld.global.u32 %r1, [%p];",
    ];
    twins((1, 64, 1), &within, &[("release", "relaxed"), ("acquire", "relaxed")], race);
}

/// A flag in the shared memory of block 0, to which block 1 of the cluster writes.
#[test]
fn an_acquire_of_a_peers_release_needs_the_clusters_scope() {
    let lines = [
        "mapa.shared::cluster.u32 %r1, %s, 0; setp.ne.u32 %p1, %c, 0;",
        "@%first st.shared.u32 [%s+64], 0; barrier.cluster.arrive; barrier.cluster.wait;",
        "@!%first bra DONE; @!%p1 bra READ;",
        "st.shared::cluster.u32 [%r1], 5; st.release.cluster.shared::cluster.u32 [%r1+64], 1; bra DONE;",
        "READ: ld.acquire.cluster.shared.u32 %r0, [%s+64]; setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;",
        "ld.shared.u32 %r2, [%s];",
        "DONE: barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    let narrow = [
        ("ld.acquire.cluster", "ld.acquire.cta"),
        ("st.release.cluster", "st.release.cta"),
        ("ld.acquire.cluster", "ld.relaxed.cluster"),
    ];
    twins((2, 32, 2), &lines, &narrow, race);
    let fenced = lines.map(|line| {
        line.replace("st.release", "fence.acq_rel.cluster; st.relaxed")
            .replace("ld.acquire", "ld.relaxed")
            .replace("ld.shared.u32 %r2", "fence.acq_rel.cluster; ld.shared.u32 %r2")
    });
    let fenced: Vec<&str> = fenced.iter().map(String::as_str).collect();
    twins((2, 32, 2), &fenced, &[("fence.acq_rel.cluster; st", "fence.acq_rel.cta; st")], race);
    twins((2, 32, 2), &fenced, &[("fence.acq_rel.cluster; ld", "membar.cta; ld")], race);
}

#[test]
fn atomics_of_different_blocks_need_a_scope_that_holds_both() {
    for of in ["red.relaxed.gpu.global.add.u32 [%p], 1;", "atom.relaxed.gpu.global.add.u32 %r0, [%p], 1;"] {
        twins((3, 32, 1), &[of], &[(".gpu", ".cta"), (".gpu", ".cluster")], race);
        // One of them alone is too narrow.
        wrong(
            (2, 32, 1),
            &["setp.eq.u32 %p1, %me, 0;", &format!("@%p1 {of} @!%p1 {}", of.replace("gpu", "cta"))],
            race,
        );
        // Of the block's own they do.
        right((1, 64, 1), &[&of.replace("gpu", "cta")]);
        let own = "mul.wide.u32 %rd0, %me, 64; add.s64 %p, %p, %rd0;";
        right((3, 64, 1), &[own, &of.replace("gpu", "cta")]);
    }
    // Blocks of one cluster.
    right((2, 32, 2), &["red.relaxed.cluster.global.add.u32 [%p], 1;"]);
    wrong((4, 32, 2), &["red.relaxed.cluster.global.add.u32 [%p], 1;"], race);
    let there = "mapa.shared::cluster.u32 %r1, %s, 0; @%first st.shared.u32 [%s], 0;";
    let gate = "barrier.cluster.arrive; barrier.cluster.wait;";
    let lines = [there, gate, "red.relaxed.cluster.shared::cluster.add.u32 [%r1], 1;", gate];
    twins((2, 32, 2), &lines, &[("red.relaxed.cluster", "red.relaxed.cta")], race);
}

/// What a thread of the block has handed over within the block, another thread hands on to another block.
#[test]
fn what_is_handed_over_narrowly_is_handed_on_widely() {
    let lines = [
        "setp.eq.u32 %p3, %me, 1; @%first st.shared.u32 [%s], 0; bar.sync 0; @!%lead exit; @%p3 bra READ;",
        "setp.eq.u32 %p1, %i, 32; @%p1 bra MIDDLE; st.global.u32 [%p], 5;",
        "st.release.cta.shared.u32 [%s], 1; exit;",
        "MIDDLE: ld.acquire.cta.shared.u32 %r0, [%s]; setp.eq.u32 %p2, %r0, 0; @%p2 bra MIDDLE;",
        "st.release.gpu.global.u32 [%p+128], 1; exit;",
        "READ: ld.acquire.gpu.global.u32 %r0, [%p+128]; setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;",
        "ld.global.u32 %r1, [%p];",
    ];
    let broken = [
        ("st.release.cta", "st.relaxed.cta"),
        ("ld.acquire.cta", "ld.relaxed.cta"),
        ("st.release.gpu", "st.relaxed.gpu"),
        ("ld.acquire.gpu", "ld.relaxed.gpu"),
        ("st.release.gpu", "fence.acq_rel.cta; st.relaxed.gpu"),
    ];
    twins((2, 64, 1), &lines, &broken, race);
}

/// A value goes from hand to hand by atomics; one whose scope is too narrow breaks the chain.
#[test]
fn a_chain_of_atomics_carries_what_its_first_released() {
    let lines = [
        "@!%first exit; setp.eq.u32 %p1, %me, 1; setp.eq.u32 %p3, %me, 2; @%p1 bra NEXT; @%p3 bra LAST;",
        "st.global.u32 [%p], 5; red.release.gpu.global.add.u32 [%p+128], 1; exit;",
        "NEXT: ld.relaxed.gpu.global.u32 %r0, [%p+128]; setp.ne.u32 %p2, %r0, 1; @%p2 bra NEXT;",
        "red.relaxed.gpu.global.add.u32 [%p+128], 1; exit;",
        "LAST: ld.acquire.gpu.global.u32 %r0, [%p+128]; setp.ne.u32 %p2, %r0, 2; @%p2 bra LAST;",
        "ld.global.u32 %r1, [%p];",
    ];
    let broken = [("red.release.gpu", "red.relaxed.gpu"), ("red.relaxed.gpu", "red.relaxed.cta")];
    twins((3, 32, 1), &lines, &broken, race);
    // A store begins a new value; a thread that waits for it may have seen the first value, too.
    let anew = lines.map(|line| {
        line.replace("red.relaxed.gpu.global.add.u32 [%p+128], 1;", "st.relaxed.gpu.global.u32 [%p+128], 2;")
    });
    let found = found((3, 32, 1), &anew.each_ref().map(|l| l.as_str()));
    assert!(found[0].as_ref().is_some_and(race), "{found:#?}");
    assert!(found.iter().flatten().all(race), "{found:#?}");
    // A store of the thread that released does not.
    let same = lines.map(|line| {
        line.replace(
            "red.release.gpu.global.add.u32 [%p+128], 1; exit;",
            "st.release.gpu.global.u32 [%p+128], 1; st.relaxed.gpu.global.u32 [%p+128], 1; exit;",
        )
    });
    right((3, 32, 1), &same.each_ref().map(|l| l.as_str()));
}

#[test]
fn strong_accesses_that_overlap_in_part_race() {
    let atomics = "setp.eq.u32 %p1, %me, 0; @%p1 red.relaxed.gpu.global.add.u32 [%p], 1; @!%p1 red.relaxed.gpu.global.add.u32 [%p], 1;";
    let wide = "@!%p1 red.relaxed.gpu.global.add.u64 [%p], 1;";
    let broken = [("@!%p1 red.relaxed.gpu.global.add.u32 [%p], 1;", wide)];
    twins((2, 32, 1), &[atomics], &broken, race);
    let loads = "@!%first exit; setp.eq.u32 %p1, %me, 0; @%p1 st.relaxed.gpu.global.u32 [%p], 1; @!%p1 ld.relaxed.gpu.global.u32 %r0, [%p];";
    let broken = [
        ("ld.relaxed.gpu.global.u32 %r0, [%p]", "ld.relaxed.gpu.global.u8 %r0, [%p+1]"),
        ("ld.relaxed.gpu.global.u32 %r0, [%p]", "ld.relaxed.gpu.global.u64 %rd0, [%p]"),
        ("st.relaxed.gpu.global.u32 [%p], 1", "st.relaxed.gpu.global.u16 [%p+2], 1"),
        ("ld.relaxed.gpu.global.u32 %r0, [%p]", "ld.relaxed.gpu.global.v2.u32 {%r0, %r1}, [%p]"),
    ];
    twins((2, 32, 1), &[loads], &broken[..3], race);
    // The elements of a vector are accesses of their own.
    right((2, 32, 1), &[&loads.replace(broken[3].0, broken[3].1)]);
    let shared = [
        "@%first st.shared.u64 [%s], 0; bar.sync 0; setp.lt.u32 %p1, %i, 32;",
        "@%p1 red.relaxed.cta.shared.add.u32 [%s], 1; @!%p1 red.relaxed.cta.shared.add.u32 [%s], 1;",
    ];
    twins(
        (1, 64, 1),
        &shared,
        &[("@!%p1 red.relaxed.cta.shared.add.u32 [%s], 1;", "@!%p1 red.relaxed.cta.shared.add.u64 [%s], 1;")],
        race,
    );
    // Accesses that are ordered do not race.
    let barrier = "@%p1 red.relaxed.cta.shared.add.u32 [%s], 1; bar.sync 0; @!%p1 red.relaxed.cta.shared.add.u64 [%s], 1;";
    right((1, 64, 1), &[shared[0], barrier]);
}
