//! Asynchronous operations on global memory: when they read and write it, and through which proxy ("Asynchronous
//! Operations", "Proxies"); memory that is read through another path than it is written.

use super::{race, right, twins, wrong};
use girih_sim::Error;

fn unfenced(error: &Error) -> bool {
    matches!(error, Error::Unfenced { .. })
}

/// The block may also exit before its copy has read.
fn early(error: &Error) -> bool {
    race(error) || matches!(error, Error::Unfinished { .. })
}

const FILL: &str = "st.shared.u32 [%m], %i; fence.proxy.async.shared::cta; bar.sync 0;";
const STORE: &str =
    "cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 128; cp.async.bulk.commit_group;";

#[test]
fn a_bulk_store_has_written_when_it_has_been_waited_for() {
    let lines = [FILL, "@!%first exit;", STORE, "cp.async.bulk.wait_group 0;", "ld.global.u32 %r0, [%p+64];"];
    let early = [("wait_group 0;", "wait_group.read 0;"), ("wait_group 0;", "wait_group 1;")];
    twins((1, 32, 1), &lines, &early, race);
    // A write after the wait is ordered, a write before the wait is not.
    right(
        (1, 32, 1),
        &[FILL, "@!%first exit;", STORE, "cp.async.bulk.wait_group 0;", "st.global.u32 [%p+64], %i;"],
    );
    wrong(
        (1, 32, 1),
        &[FILL, "@!%first exit;", STORE, "st.global.u32 [%p+64], 77; cp.async.bulk.wait_group 0;"],
        race,
    );
    // Other threads need to come after the wait.
    let others = [
        FILL,
        "@!%first bra ON;",
        STORE,
        "cp.async.bulk.wait_group 0;",
        "ON: bar.sync 0; ld.global.u32 %r0, [%o];",
    ];
    twins((1, 32, 1), &others, &[("wait_group 0;", "wait_group.read 0;"), ("ON: bar.sync 0;", "ON:")], race);
}

#[test]
fn a_flag_after_a_bulk_store_needs_its_wait() {
    let lines = [
        "setp.eq.u32 %p1, %me, 1; @%p1 bra READ;",
        FILL,
        "@!%first bra DONE;",
        STORE,
        "cp.async.bulk.wait_group 0;",
        "st.release.gpu.global.u32 [%p+512], 1;",
        "DONE: exit;",
        "READ: ld.acquire.gpu.global.u32 %r0, [%p+512]; setp.eq.u32 %p2, %r0, 0; @%p2 bra READ;",
        "ld.global.u32 %r1, [%o];",
    ];
    let broken = [
        ("cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"),
        ("cp.async.bulk.wait_group 0;", ""),
        ("st.release", "st.relaxed"),
    ];
    twins((2, 32, 1), &lines, &broken, early);
}

const INIT: &str =
    "@%first mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster; bar.sync 0;";
const LOAD: &str = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128; \
    @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%p], 128, [%b];";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;";

#[test]
fn a_bulk_load_of_what_the_kernel_wrote_needs_a_proxy_fence() {
    for fence in ["fence.proxy.async;", "fence.proxy.async.global;"] {
        let lines =
            [INIT, "st.global.u32 [%o], %i;", fence, "bar.sync 0;", LOAD, WAIT, "ld.shared.u32 %r0, [%m];"];
        let broken = [
            (fence, ""),
            (fence, "fence.proxy.async.shared::cta;"),
            (fence, "fence.proxy.async.shared::cluster;"),
            (fence, "fence.proxy.alias;"),
        ];
        twins((1, 32, 1), &lines, &broken, unfenced);
        // The fence may also come after the barrier, in the thread that issues the copy.
        right(
            (1, 32, 1),
            &[INIT, "st.global.u32 [%o], %i; bar.sync 0;", fence, LOAD, WAIT, "ld.shared.u32 %r0, [%m];"],
        );
        // From another block, fenced there or here.
        let there = [
            "setp.eq.u32 %p1, %me, 1; @%p1 bra READ; st.global.u32 [%o], %i;",
            fence,
            "bar.sync 0; @%first st.release.gpu.global.u32 [%p+512], 1; exit;",
            "READ:",
            INIT,
            "LOOK: ld.acquire.gpu.global.u32 %r0, [%p+512]; setp.eq.u32 %p2, %r0, 0; @%p2 bra LOOK;",
            "",
            LOAD,
            WAIT,
        ];
        twins((2, 32, 1), &there, &[(fence, "")], unfenced);
        let mut here = there;
        (here[1], here[6]) = ("", fence);
        right((2, 32, 1), &here);
    }
}

#[test]
fn a_bulk_load_reads_until_its_mbarrier_tells() {
    let lines = [INIT, LOAD, WAIT, "st.global.u32 [%o], %i;"];
    twins((1, 32, 1), &lines, &[(WAIT, "")], early);
}

#[test]
fn bulk_reductions_into_global_memory_are_atomics_of_their_proxy() {
    let reduce = "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [%s], 128; \
        @%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;";
    right((3, 32, 1), &[FILL, reduce]);
    wrong((2, 32, 1), &[FILL, reduce, "ld.global.u32 %r0, [%o];"], race);
    // Atomics of the generic proxy are not morally strong with those of the async proxy.
    wrong(
        (2, 32, 1),
        &[
            FILL,
            "setp.eq.u32 %p1, %me, 0; @%p1 bra OTHER;",
            reduce,
            "exit; OTHER: red.relaxed.gpu.global.add.u32 [%o], 1;",
        ],
        race,
    );
}

#[test]
fn a_fence_of_another_space_is_none() {
    let lines = [
        "st.shared.u32 [%m], %i; fence.proxy.async.shared::cta; bar.sync 0;",
        "@!%first exit;",
        STORE,
        "cp.async.bulk.wait_group 0;",
    ];
    let fence = "fence.proxy.async.shared::cta;";
    for right_too in ["fence.proxy.async;", "fence.proxy.async.shared::cluster;"] {
        right((1, 32, 1), &lines.map(|l| l.replace(fence, right_too)).each_ref().map(|l| l.as_str()));
    }
    twins(
        (1, 32, 1),
        &lines,
        &[(fence, "fence.proxy.async.global;"), (fence, "fence.proxy.alias;"), (fence, "fence.acq_rel.sys;")],
        unfenced,
    );
    // Atomics are of the generic proxy as well.
    let atomics = [
        "st.shared.u32 [%m], 0; bar.sync 0; red.relaxed.cta.shared.add.u32 [%m], 3; fence.proxy.async; bar.sync 0;",
        lines[1],
        lines[2],
        lines[3],
    ];
    twins((1, 32, 1), &atomics, &[("fence.proxy.async;", "")], unfenced);
    // For a peer's shared memory the fence must be that of the cluster.
    let peer = [
        INIT,
        "mapa.shared::cluster.u32 %r1, %m, 1; setp.eq.u32 %p1, %c, 1; barrier.cluster.arrive; barrier.cluster.wait;",
        "@!%p1 st.shared::cluster.u32 [%r1], %i; @!%p1 fence.proxy.async.shared::cluster; barrier.cluster.arrive; barrier.cluster.wait;",
        "and.pred %p2, %p1, %first; @!%p2 bra DONE;",
        STORE,
        "cp.async.bulk.wait_group 0; DONE:",
    ];
    twins(
        (2, 32, 2),
        &peer,
        &[("fence.proxy.async.shared::cluster;", "fence.proxy.async.shared::cta;")],
        unfenced,
    );
}

#[test]
fn a_copy_reads_its_source_until_it_is_waited_for() {
    let lines = [
        "cp.async.ca.shared.global [%m], [%o], 4; cp.async.commit_group;",
        "cp.async.wait_group 0;",
        "st.global.u32 [%o], %i;",
    ];
    twins(
        (1, 32, 1),
        &lines,
        &[("cp.async.wait_group 0;", ""), ("cp.async.wait_group 0;", "cp.async.wait_group 1;")],
        race,
    );
    let arrive = [
        "@%first mbarrier.init.shared::cta.b64 [%b], 32; bar.sync 0;",
        "cp.async.ca.shared.global [%m], [%o], 4; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];",
        WAIT,
        "xor.b32 %r0, %i, 1; mul.wide.u32 %rd0, %r0, 4; add.s64 %rd0, %rd0, %p; st.global.u32 [%rd0], %i;",
    ];
    twins((1, 32, 1), &arrive, &[(WAIT, "")], race);
}

#[test]
fn what_is_read_as_constant_is_not_written() {
    let constant = |error: &Error| matches!(error, Error::ReadOnly { .. });
    right((2, 32, 1), &["ld.global.nc.u32 %r0, [%n];"]);
    for write in [
        "st.global.u32 [%o], %i;",
        "red.relaxed.gpu.global.add.u32 [%o], 1;",
        "st.relaxed.gpu.global.u32 [%o], %i;",
    ] {
        let after = [write, "bar.sync 0;", "ld.global.nc.u32 %r0, [%o];"];
        wrong((1, 32, 1), &after, constant);
        wrong((1, 32, 1), &[after[2], after[1], after[0]], constant);
        right((1, 32, 1), &[write, "bar.sync 0; ld.global.u32 %r0, [%o]; ld.global.nc.u32 %r1, [%o+128];"]);
    }
    wrong(
        (1, 32, 1),
        &[FILL, "@!%first exit;", STORE, "cp.async.bulk.wait_group 0; ld.global.nc.u32 %r0, [%p];"],
        constant,
    );
}
