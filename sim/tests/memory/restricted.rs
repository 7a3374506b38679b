//! Fences of shared memory alone ("membar, fence": `.sync_restrict`; "fence.proxy": `.async::generic`).

use girih_sim::Error;

use super::{race, twins};

/// A number in the shared memory of a cluster's block, handed over by a flag in another's.
#[test]
fn restricted_fences_order_shared_memory() {
    let lines = [
        "st.shared.u32 [%s+4], 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        "mapa.shared::cluster.u32 %r0, %s, 1; mapa.shared::cluster.u32 %r1, %s, 0; setp.ne.u32 %p0, %c, 0; @%p0 bra READ;",
        "st.shared.u32 [%s], 5;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "st.relaxed.cluster.shared::cluster.u32 [%r0+4], 1; bra DONE;",
        "READ: ld.relaxed.cluster.shared.u32 %r2, [%s+4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra READ;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "ld.shared::cluster.u32 %r3, [%r1]; st.global.u32 [%o], %r3;",
        "DONE: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    ];
    let broken = [
        ("fence.release.sync_restrict::shared::cta.cluster;", ""),
        ("fence.acquire.sync_restrict::shared::cluster.cluster;", ""),
    ];
    twins((2, 1, 2), &lines, &broken, race);
}

#[test]
fn restricted_fences_of_proxies_are_of_shared_memory() {
    let lines = [
        "mov.u32 %r0, 1; st.shared.v4.u32 [%s], {%r0, %r0, %r0, %r0};",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        "cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16;",
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    ];
    let broken = [
        ("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;", ""),
        (
            "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
            "fence.release.sync_restrict::shared::cta.cluster;",
        ),
    ];
    twins((1, 1, 1), &lines, &broken, |error| matches!(error, Error::Unfenced { .. }));
}
