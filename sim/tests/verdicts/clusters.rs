//! Distributed shared memory.

use super::manifest::Case;
use super::setup::{Check, Setup, same, whole};

/// The shared memory of a block that may not run yet, or has written nothing.
const EARLY: &[&str] = &["race", "uninitialised-memory", "exited-block", "mbarrier", "not-started"];
/// The shared memory of a block that may have left.
const LATE: &[&str] = &["exited-block", "race"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("cluster_exchange", cluster_exchange)
            .broken("no_first_barrier", EARLY)
            .broken("no_last_barrier", LATE)
            .broken("block_barrier", EARLY)
            .broken("next_rank", &["bad-value", "out-of-bounds"]),
        Case::new("cluster_histogram", cluster_histogram)
            .broken("no_first_barrier", EARLY)
            .broken("own_zeroes", &["uninitialised-memory", "uninitialised-register"])
            .broken("no_last_barrier", LATE)
            .broken("plain_add", &["race"]),
        Case::new("cluster_flag", cluster_flag)
            .broken("block_release", &["race"])
            .broken("block_acquire", &["race"])
            .broken("relaxed", &["race"])
            .broken("unguarded", EARLY),
        Case::new("cluster_arrive", cluster_arrive)
            .broken("no_wait", &["race", "uninitialised-memory"])
            .broken("relaxed_arrive", &["race"])
            .broken("block_acquire", &["race"])
            .broken("no_first_barrier", EARLY),
        Case::new("remote_store", remote_store)
            .broken("no_wait", &["in-flight", "race", "uninitialised-memory"])
            .broken("too_few_bytes", &["deadlock", "livelock", "step-limit", "mbarrier", "in-flight"])
            .broken("no_first_barrier", EARLY),
    ]
}

fn pairs(s: &mut Setup, blocks: u32, threads: u32) {
    s.shape(blocks, threads);
    s.launch.cluster = Some([2, 1, 1]);
}

fn cluster_exchange(s: &mut Setup) -> Check {
    let x = whole(4 * 64, 1000, 1);
    pairs(s, 4, 64);
    s.buffer(&x);
    same(s.output::<i32>(256), (0..256).map(|i| x[i ^ 127]).collect())
}

fn cluster_histogram(s: &mut Setup) -> Check {
    let x = whole(500, 64, 2);
    pairs(s, 2, 64);
    s.buffer(&x);
    let bins = s.output::<i32>(64);
    s.arg(500);
    same(bins, (0..64).map(|bin| x.iter().filter(|&&x| x == bin).count() as i32).collect())
}

fn cluster_flag(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 3);
    pairs(s, 2, 64);
    s.buffer(&x);
    same(s.output::<i32>(64), (0..64).map(|t| 2 * x[63 - t]).collect())
}

fn cluster_arrive(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 4);
    pairs(s, 2, 32);
    s.buffer(&x);
    same(s.output::<i32>(64), (0..64).map(|i| x[i ^ 32 ^ 7] + ((i as i32 / 32) ^ 1)).collect())
}

fn remote_store(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 5);
    pairs(s, 2, 32);
    s.buffer(&x);
    same(s.output::<i32>(64), (0..64).map(|i| 2 * x[i ^ 32 ^ 5]).collect())
}
