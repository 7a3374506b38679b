//! Bulk copies, mbarriers and proxies.

use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Check, Setup, same, whole};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("bulk_load", bulk_load)
            .broken("no_wait", UNORDERED)
            .broken("wrong_bytes", STUCK)
            .broken("wrong_parity", UNORDERED)
            .broken("no_init_sync", &["race", "mbarrier", "mbarrier-access", "uninitialised-memory"])
            .broken("misaligned", &["misaligned"])
            .broken("overlap", &["race", "in-flight"])
            .warned("no_init_fence", "mbarrier-unfenced"),
        Case::new("bulk_store", bulk_store)
            .broken("no_proxy_fence", &["unfenced"])
            .broken("no_sync", &["race", "unfenced", "uninitialised-memory"])
            .broken("no_read_wait", &["race", "in-flight", "unfinished"])
            .broken("no_commit", &["race", "in-flight", "unfinished"])
            .broken("no_last_wait", &["unfinished"])
            .broken("wrong_space", &["unfenced"]),
        Case::new("bulk_same", bulk_same).but("same-value-race").broken("elsewhere", &["race"]),
        Case::new("bulk_store_flag", bulk_store_flag)
            .broken("no_wait", &["race", "in-flight"])
            .broken("read_wait", &["race", "in-flight"])
            .broken("relaxed_flag", &["race"]),
        Case::new("bulk_of_written", bulk_of_written)
            .broken("no_proxy_fence", &["unfenced"])
            .broken("wrong_space", &["unfenced"])
            .broken("no_sync", &["race", "unfenced", "uninitialised-memory"])
            .broken("fence_before", &["unfenced"]),
        Case::new("bulk_reduce", bulk_reduce)
            .broken("no_proxy_fence", &["unfenced"])
            .broken("plain_store", &["race"])
            .broken("weak_read", &["race", "out-of-bounds"]),
        Case::new("warp_roles", warp_roles)
            .broken("no_full_wait", UNORDERED)
            .broken("no_empty_wait", &["race", "in-flight", "mbarrier"])
            .broken("no_release", STUCK)
            .broken("no_phase_turn", &["race", "in-flight", "mbarrier", "deadlock"])
            .broken("one_release", STUCK)
            .broken("early_release", &["race", "in-flight"])
            .broken("no_expect", &["race", "in-flight", "mbarrier", "uninitialised-memory"]),
    ]
}

fn bulk_load(s: &mut Setup) -> Check {
    // A few more, so that what begins late stays inside.
    let x = whole(260, 1000, 1);
    s.shape(1, 128).buffer(&x);
    same(s.output::<i32>(256), (0..256).map(|i| x[i ^ 127] + i as i32 / 128).collect())
}

fn bulk_store(s: &mut Setup) -> Check {
    let x = whole(256, 1000, 2);
    s.shape(1, 128).buffer(&x);
    same(s.output::<i32>(256), x.iter().map(|x| 2 * x).collect())
}

fn bulk_same(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 7);
    s.shape(1, 32).buffer(&x);
    same(s.output::<i32>(64), x[..64].iter().map(|x| 2 * x).collect())
}

fn bulk_store_flag(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 3);
    s.shape(2, 64).buffer(&x);
    s.output::<i32>(64);
    s.buffer(&[0]);
    same(s.output::<i32>(64), (0..64).map(|t| x[63 - t] * 3).collect())
}

fn bulk_of_written(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 4);
    s.shape(1, 64).buffer(&x);
    s.output::<i32>(64);
    same(s.output::<i32>(64), (0..64).map(|t| x[t ^ 3] + 5).collect())
}

fn bulk_reduce(s: &mut Setup) -> Check {
    let x = whole(3 * 64, 1000, 5);
    s.shape(3, 64).buffer(&x);
    let mut want: Vec<i32> = (0..64).map(|t| x[t] + x[64 + t] + x[128 + t]).collect();
    want.resize(256, 0);
    same(s.buffer(&[0; 256]), want)
}

fn warp_roles(s: &mut Setup) -> Check {
    let x = whole(5 * 64, 100, 6);
    s.shape(1, 96).buffer(&x);
    let out = s.output::<i32>(64);
    s.arg(5);
    same(out, (0..64).map(|t| (0..5).fold(0, |sum, k| sum * 3 + x[k * 64 + (t ^ 1)])).collect())
}
