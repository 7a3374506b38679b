//! `cp.async`, `cuda::pipeline` and `cuda::barrier`.

use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Check, Setup, same, whole};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("copy_ring", |s| steps(s, 3, 5))
            .broken("no_wait", UNORDERED)
            .broken("wait_too_few", UNORDERED)
            .broken("no_sync", UNORDERED)
            .broken("no_reuse_sync", UNORDERED)
            .broken("no_commit", UNORDERED),
        Case::new("pipeline_stages", |s| steps(s, 5, 9))
            .broken("no_wait", UNORDERED)
            .broken("no_release", STUCK)
            .broken("no_commit", &["deadlock", "livelock", "step-limit", "race", "in-flight", "mbarrier"])
            .broken("early_release", &["race", "in-flight", "mbarrier"]),
        Case::new("block_barrier", block_barrier)
            .broken("no_wait", UNORDERED)
            .broken("too_many_expected", STUCK)
            .broken("no_init_sync", &["race", "mbarrier", "mbarrier-access", "uninitialised-memory"])
            .broken("old_phase", &["race", "in-flight", "mbarrier"]),
    ]
}

/// Horner's sums over five tiles of 64, of the neighbour at this distance.
fn steps(s: &mut Setup, factor: i32, neighbour: usize) -> Check {
    let x = whole(5 * 64, 100, 1);
    s.shape(1, 64).buffer(&x);
    let out = s.output::<i32>(64);
    s.arg(5);
    let one = |t: usize| (0..5).fold(0, |sum, k| sum * factor + x[k * 64 + (t ^ neighbour)]);
    same(out, (0..64).map(one).collect())
}

fn block_barrier(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 2);
    s.shape(1, 64).buffer(&x);
    same(s.output::<i32>(128), (0..128).map(|i| x[i] * 7 + x[i ^ 63]).collect())
}
