//! Blocks that hand numbers to one another through global memory.

use super::blocks::sums;
use super::manifest::{Case, UNORDERED};
use super::setup::{Check, Setup, equal, fractions, same, whole};

const RACE: &[&str] = &["race"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("last_block", |s| last_block(s, 64, 2, 1))
            .broken("no_fence", RACE)
            .broken("block_fence", RACE)
            .broken("no_barrier", RACE)
            .broken("no_late_barrier", UNORDERED),
        Case::new("last_block_atomic", |s| last_block(s, 32, 32, 2))
            .broken("relaxed", RACE)
            .broken("block_scope", RACE)
            .broken("release_only", RACE),
        Case::new("last_block_sc", |s| last_block(s, 32, 32, 2))
            .broken("block_fence", RACE)
            .broken("one_fence", RACE),
        Case::new("grid_barrier", |s| grid_barrier(s, 12))
            .broken("no_fence", RACE)
            .broken("block_fence", RACE)
            .broken("no_barrier", RACE)
            .broken("weak_poll", &["race", "livelock", "step-limit"]),
        Case::also("grid_barrier", "as many blocks as are there at a time", |s| grid_barrier_of(s, 12)),
        Case::misused("grid_barrier", "one block more", &["not-resident"], |s| grid_barrier_of(s, 13)),
        Case::new("grid_sync", grid_sync).broken("no_sync", RACE).broken("block_sync", RACE),
        Case::new("lookback_scan", lookback_scan)
            .broken("relaxed_flag", RACE)
            .broken("relaxed_poll", RACE)
            .broken("block_scope", RACE)
            .broken("flag_first", RACE)
            .broken("no_broadcast_sync", UNORDERED),
        Case::new("message", message)
            .broken("no_fence", RACE)
            .broken("no_reader_fence", RACE)
            .broken("block_fence", RACE)
            .broken("weak_flag", RACE)
            .broken("no_barrier", RACE),
        Case::new("spin_lock", spin_lock)
            .broken("no_acquire", RACE)
            .broken("no_release", RACE)
            .broken("block_scope", RACE)
            .broken("plain_unlock", RACE),
        Case::new("block_counters", block_counters).broken("shared_counter", RACE),
        Case::new("saxpy", saxpy)
            .broken("at_end", &["out-of-bounds"])
            .broken("no_guard", &["out-of-bounds"])
            .broken("before_begin", &["out-of-bounds"])
            .broken("misaligned", &["misaligned"]),
        Case::new("work_queue", work_queue)
            .broken("no_sync", UNORDERED)
            .broken("no_second_sync", RACE)
            .broken("plain_ticket", RACE),
        Case::new("compaction", compaction)
            .broken("plain_counter", RACE)
            .broken("same_place", RACE)
            .broken("no_room", &["out-of-bounds"]),
        Case::new("common_flag", common_flag).but("same-value-race").broken("who", RACE),
        Case::new("guarded_minimum", guarded_minimum)
            .but("guard-race")
            .broken("plain_update", RACE)
            .broken("told", RACE),
        Case::new("swapped_sum", swapped_sum).but("guard-race").broken("no_swap", RACE).broken("told", RACE),
        Case::new("read_only", read_only).broken("after_write", &["read-only", "race"]),
        Case::new("packed_minimum", packed_minimum).broken("half_access", RACE).broken("half_poll", RACE),
        Case::new("store_load", store_load).broken("plain_flags", RACE),
    ]
}

fn guarded_minimum(s: &mut Setup) -> Check {
    let (to, by) = (whole(256, 16, 21), whole(256, 1000, 22));
    s.shape(4, 64).buffer(&to);
    s.buffer(&by);
    let least = (0..16)
        .map(|v| to.iter().zip(&by).filter(|(to, _)| **to == v).fold(900, |least, (_, &x)| least.min(x)));
    let want = least.collect();
    let d = s.buffer(&[900; 16]);
    s.buffer(&[0; 256]);
    s.arg(256);
    same(d, want)
}

fn swapped_sum(s: &mut Setup) -> Check {
    let x = whole(96, 1000, 23);
    let bits: Vec<u64> = x.iter().map(|&x| f64::from(x).to_bits()).collect();
    s.shape(3, 32).buffer(&bits);
    let sum = s.buffer(&[0u64]);
    s.output::<u64>(96);
    same(sum, vec![f64::from(x.iter().sum::<i32>()).to_bits()])
}

/// Sums of columns of `parts` numbers a block, of `threads` numbers each `times` over.
fn last_block(s: &mut Setup, threads: usize, parts: usize, times: i32) -> Check {
    let blocks = 6;
    let x = whole(blocks * threads, 1000, 1);
    s.shape(blocks as u32, threads as u32).buffer(&x);
    s.output::<i32>(blocks * parts);
    s.buffer(&[0u32]);
    let each = threads / parts;
    let column = |p: usize| -> i32 { x.chunks(threads).flat_map(|block| &block[p * each..][..each]).sum() };
    let want = (0..parts).map(|p| times * column(p)).collect();
    same(s.output::<i32>(parts), want)
}

/// One block fills an SM's shared memory, and an H200 has 132 of them.
fn grid_barrier(s: &mut Setup, blocks: u32) -> Check {
    let count = blocks as usize * 32;
    s.shape(blocks, 32);
    s.launch.dynamic_shared = 200 << 10;
    s.output::<i32>(count);
    s.buffer(&[0u32]);
    let data = |i: usize| (i / 32 * 100 + i % 32) as i32;
    same(s.output::<i32>(count), (0..count).map(|i| data((i + 32) % count)).collect())
}

/// On a device of 12 multiprocessors; `tests/residency.rs` has the 132 of an H200.
fn grid_barrier_of(s: &mut Setup, blocks: u32) -> Check {
    s.multiprocessors = Some(12);
    grid_barrier(s, blocks)
}

fn grid_sync(s: &mut Setup) -> Check {
    let count = 4 * 64;
    s.launch.cooperative = true;
    s.shape(4, 64).output::<i32>(count);
    let out = s.buffer(&vec![0; count]);
    same(out, (0..count as i32).map(|i| 3 * (count as i32 - 1 - i)).collect())
}

fn lookback_scan(s: &mut Setup) -> Check {
    let blocks = 6;
    let x = whole(blocks * 64, 100, 2);
    s.shape(blocks as u32, 64).buffer(&x);
    let out = s.output::<i32>(x.len());
    s.output::<i32>(blocks);
    s.output::<i32>(blocks);
    s.buffer(&vec![0; blocks]);
    same(out, sums(&x))
}

fn message(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 3);
    s.shape(2, 64).buffer(&x);
    s.output::<i32>(64);
    s.buffer(&[0]);
    same(s.output::<i32>(64), (0..64).map(|t| x[t ^ 1] + 1).collect())
}

fn spin_lock(s: &mut Setup) -> Check {
    s.shape(5, 32).buffer(&[0]);
    let guarded = s.buffer(&[0, 0]);
    same(guarded, vec![5, 15])
}

fn block_counters(s: &mut Setup) -> Check {
    let x = whole(256, 1000, 4);
    s.shape(4, 64).buffer(&x);
    let counts = s.buffer(&[0; 4]);
    let ranks = s.buffer(&[-1; 256]);
    Box::new(move |setup| {
        let (counts, ranks) = (setup.read::<i32>(counts), setup.read::<i32>(ranks));
        for block in 0..4 {
            let mut own: Vec<i32> =
                ranks[64 * block..][..64].iter().copied().filter(|&rank| rank >= 0).collect();
            own.sort();
            equal(&own, &(0..counts[block]).collect::<Vec<_>>())?;
            let odd = x[64 * block..][..64].iter().filter(|&&x| x & 1 == 1).count();
            equal(&[counts[block]], &[odd as i32])?;
        }
        Ok(())
    })
}

fn saxpy(s: &mut Setup) -> Check {
    let n = 500;
    let (x, y) = (fractions(n, 5), fractions(n, 6));
    s.shape(4, 64).buffer(&x);
    let out = s.buffer(&y);
    s.arg(2.5f32).arg(n as i32);
    same(out, x.iter().zip(&y).map(|(x, y)| x.mul_add(2.5, *y)).collect())
}

fn work_queue(s: &mut Setup) -> Check {
    let tiles = 7;
    let x = whole(tiles * 64, 1000, 7);
    s.shape(3, 64).buffer(&x);
    let out = s.output::<i32>(x.len());
    s.buffer(&[0]);
    s.arg(tiles as i32);
    same(out, x.iter().enumerate().map(|(i, x)| x * (i as i32 / 64)).collect())
}

fn compaction(s: &mut Setup) -> Check {
    let x: Vec<i32> = (0..200).collect();
    s.shape(2, 128).buffer(&x);
    let out = s.output::<i32>(100);
    let count = s.buffer(&[0]);
    s.arg(200);
    Box::new(move |setup| {
        let mut kept = setup.read::<i32>(out);
        kept.sort();
        equal(&kept, &(0..100).map(|i| 2 * i).collect::<Vec<_>>())?;
        equal(&setup.read::<i32>(count), &[100])
    })
}

fn common_flag(s: &mut Setup) -> Check {
    let x = whole(256, 10, 8);
    s.shape(4, 64).buffer(&x);
    s.arg(3);
    same(s.buffer(&[0]), vec![i32::from(x.contains(&3))])
}

fn read_only(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 9);
    s.shape(1, 64).buffer(&x);
    s.output::<i32>(64);
    same(s.output::<i32>(64), (0..64).map(|t| 3 * x[t ^ 33]).collect())
}

fn packed_minimum(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 10);
    s.shape(1, 128).buffer(&x);
    s.buffer(&[u64::MAX]);
    let (at, least) = x.iter().enumerate().min_by_key(|&(i, x)| (x, i)).unwrap();
    same(s.output::<i32>(8), [at as i32, *least].repeat(4))
}

fn store_load(s: &mut Setup) -> Check {
    s.shape(2, 1).buffer(&[0, 0]);
    let seen = s.output::<i32>(2);
    Box::new(move |setup| {
        let seen = setup.read::<i32>(seen);
        if seen == [0, 0] { Err("neither saw the other's flag".into()) } else { Ok(()) }
    })
}
