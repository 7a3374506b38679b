//! Buffers that are filled and emptied in turn, within a block.

use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Check, Setup, fractions, near, same, whole};

const RACE: &[&str] = &["race"];
const UNFINISHED: &[&str] = &["unfinished", "race", "in-flight", "deadlock", "mbarrier"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("bulk_stages", bulk_stages)
            .broken("no_empty_wait", &["race", "in-flight", "mbarrier"])
            .broken("no_release", STUCK)
            .broken("wrong_phase", &["race", "in-flight", "deadlock", "mbarrier", "uninitialised-register"])
            .broken("early_release", &["race", "in-flight"])
            .broken("one_arrival", &["race", "in-flight", "mbarrier", "deadlock"])
            .broken("no_full_wait", UNORDERED),
        Case::new("async_stages", async_stages)
            .broken("one_more_open", UNORDERED)
            .broken("no_sync", UNORDERED)
            .broken("no_late_sync", &["race", "in-flight"])
            .broken("no_commit", UNORDERED),
        Case::new("named_ring", named_ring)
            .broken("one_barrier", &["race", "bad-value", "deadlock"])
            .broken("no_free_wait", &["race", "deadlock"])
            .broken("swapped", STUCK)
            .broken("short_count", &["race", "bad-value", "deadlock"]),
        Case::new("store_stages", store_stages)
            .broken("no_read_wait", &["race", "in-flight"])
            .broken("one_more_open", &["race", "in-flight"])
            .broken("no_fence", &["unfenced"])
            .broken("no_sync", &["race", "unfenced"])
            .broken("no_commit", UNFINISHED),
        Case::new("phaser", phaser)
            .broken("no_free_wait", &["race", "deadlock"])
            .broken("no_full_wait", UNORDERED)
            .broken("no_free_arrive", &["deadlock", "livelock", "step-limit", "race"])
            .broken("fewer", &["race", "mbarrier"]),
        Case::new("hash_insert", hash_insert)
            .broken("no_sync", &["race", "step-limit"])
            .broken("plain_key", RACE)
            .broken("plain_value", RACE),
        Case::new("bitmap", bitmap)
            .broken("plain_or", RACE)
            .broken("no_sync", RACE)
            .broken("no_clear_sync", &["race", "uninitialised-memory"]),
        Case::new("odd_even", odd_even)
            .broken("no_sync", RACE)
            .broken("part_votes", &["divergent", "deadlock", "race"])
            .broken("no_vote_sync", RACE),
        Case::new("warp_tiles", warp_tiles)
            .broken("no_sync", UNORDERED)
            .broken("no_late_sync", RACE)
            .broken("wrong_pitch", &["overrun", "uninitialised-memory", "uninitialised-register"]),
        Case::new("segments", segments)
            .broken("no_sync", UNORDERED)
            .broken("partial_mask", &["divergent", "bad-value"])
            .broken("uneven_shuffle", &["divergent", "bad-value", "inactive-lane", "deadlock"]),
        Case::new("volatile_flag", volatile_flag)
            .broken("no_fence", RACE)
            .broken("no_reader_fence", RACE)
            .broken("plain_flag", RACE),
    ]
}

fn bulk_stages(s: &mut Setup) -> Check {
    let n = 5;
    let x = whole(64 * n, 1000, 1);
    s.shape(1, 96).buffer(&x);
    let out = s.output::<i32>(64);
    s.arg(n as i32);
    same(out, (0..64).map(|t| (0..n).map(|i| x[i * 64 + (t ^ 7)] * (i as i32 + 1)).sum::<i32>()).collect())
}

fn async_stages(s: &mut Setup) -> Check {
    let n = 5;
    let x = whole(256 * n, 1000, 2);
    s.shape(1, 64).buffer(&x);
    let out = s.output::<i32>(64);
    s.arg(n as i32);
    let part = |i: usize, t: usize| x[i * 256 + 4 * (t ^ 17)..][..4].iter().sum::<i32>() * (i as i32 + 1);
    same(out, (0..64).map(|t| (0..n).map(|i| part(i, t)).sum::<i32>()).collect())
}

fn named_ring(s: &mut Setup) -> Check {
    let n = 6;
    let x = whole(64 * n, 1000, 3);
    s.shape(1, 128).buffer(&x);
    let out = s.output::<i32>(64 * n);
    s.arg(n as i32);
    same(out, (0..64 * n).map(|i| x[i ^ 33]).collect())
}

fn store_stages(s: &mut Setup) -> Check {
    let n = 5;
    let x = whole(64 * n, 1000, 4);
    s.shape(1, 64).buffer(&x);
    let out = s.output::<i32>(64 * n);
    s.arg(n as i32);
    same(out, x.iter().map(|x| 3 * x).collect())
}

fn phaser(s: &mut Setup) -> Check {
    let n = 4;
    let x = whole(32 * n, 1000, 5);
    s.shape(1, 64).buffer(&x);
    let out = s.output::<i32>(32 * n);
    s.arg(n as i32);
    same(out, (0..32 * n).map(|i| x[i ^ 3] + i as i32 / 32).collect())
}

fn hash_insert(s: &mut Setup) -> Check {
    let keys: Vec<i32> = whole(64, 40, 6).into_iter().map(|k| k + 1).collect();
    s.shape(1, 64).buffer(&keys);
    let sum = |k: i32| keys.iter().zip(0..).filter(|(key, _)| **key == k).map(|(_, t)| t).sum::<i32>();
    same(s.output::<i32>(64), (0..64).map(|t: usize| sum(keys[t ^ 21])).collect())
}

fn bitmap(s: &mut Setup) -> Check {
    let x = whole(64, 256, 7);
    s.shape(1, 64).buffer(&x);
    let below = |bit: i32| (0..bit).filter(|bit| x.contains(bit)).count() as i32;
    same(s.output::<i32>(64), x.iter().map(|&x| below(x)).collect())
}

fn odd_even(s: &mut Setup) -> Check {
    let mut x = whole(128, 1000, 8);
    s.shape(1, 64);
    let data = s.buffer(&x);
    x.sort();
    same(data, x)
}

fn warp_tiles(s: &mut Setup) -> Check {
    let k = 48;
    let numbers = |count, salt| -> Vec<half::f16> {
        fractions(count, salt).into_iter().map(half::f16::from_f32).collect()
    };
    let (a, b) = (numbers(32 * k, 9), numbers(16 * k, 10));
    s.shape(1, 64).buffer(&a);
    s.buffer(&b);
    let out = s.output::<f32>(512);
    s.arg(k as i32);
    let dot = |i: usize, j: usize| (0..k).map(|x| a[i * k + x].to_f64() * b[j * k + x].to_f64()).sum::<f64>();
    near::<f32>(out, (0..512).map(|e| dot(e / 16, e % 16)).collect(), 1e-5)
}

fn segments(s: &mut Setup) -> Check {
    let begin = [0, 5, 5, 300, 431];
    let x = whole(431, 1000, 11);
    s.shape(4, 128).buffer(&begin);
    s.buffer(&x);
    let out = s.output::<i32>(4);
    same(out, begin.windows(2).map(|row| x[row[0] as usize..row[1] as usize].iter().sum::<i32>()).collect())
}

fn volatile_flag(s: &mut Setup) -> Check {
    let x = whole(32, 1000, 12);
    s.shape(1, 64).buffer(&x);
    same(s.output::<i32>(64), (0..64).map(|t: usize| if t < 32 { t as i32 } else { x[t ^ 33] + 1 }).collect())
}
