//! Shared memory of the cluster's other blocks: it may be accessed once those blocks are known to run, until they exit.

use super::{right, twins, wrong};
use girih_sim::Error;

fn unknown(error: &Error) -> bool {
    matches!(error, Error::NotStarted { .. })
}

#[test]
fn a_peers_shared_memory_is_there_once_the_peer_is_known_to_run() {
    let gate = "barrier.cluster.arrive; barrier.cluster.wait;";
    for access in [
        "st.shared::cluster.u32 [%r1+1024], %i;",
        "red.relaxed.cluster.shared::cluster.add.u32 [%r1+1024], 1;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
    ] {
        let lines = [
            "xor.b32 %r0, %c, 1; mapa.shared::cluster.u32 %r1, %m, %r0; mapa.shared::cluster.u32 %r3, %b, %r0;",
            "st.shared.u32 [%m+1024], %i; @%first mbarrier.init.shared::cta.b64 [%b], 32; @%first fence.mbarrier_init.release.cluster;",
            "bar.sync 0; barrier.cluster.arrive; barrier.cluster.wait;",
            access,
            "barrier.cluster.arrive; barrier.cluster.wait;",
        ];
        right((2, 32, 2), &lines);
        wrong(
            (2, 32, 2),
            &lines
                .map(|line| line.replace(&format!("bar.sync 0; {gate}"), "bar.sync 0;"))
                .each_ref()
                .map(|l| l.as_str()),
            |error| {
                // A peer that has not begun has no mbarrier either.
                unknown(error) || matches!(error, Error::Mbarrier { .. })
            },
        );
    }
    // Another thread of the block has waited, and a barrier tells.
    let one = [
        "xor.b32 %r0, %c, 1; mapa.shared::cluster.u32 %r1, %m, %r0; setp.ge.u32 %p1, %i, 32;",
        "barrier.cluster.arrive.relaxed; @%p1 bra LATER; barrier.cluster.wait; bar.sync 0; bra ON;",
        "LATER: bar.sync 0;",
        "ON: st.shared::cluster.u32 [%r1], %i;",
        "@%p1 barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    twins((2, 64, 2), &one, &[("LATER: bar.sync 0;", "LATER: bar.arrive 0, 64;")], unknown);
}
