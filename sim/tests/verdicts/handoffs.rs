//! Numbers that blocks hand to one another: locks, rings, flags, lists.

use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Check, Setup, equal, fractions, same, whole};

const RACE: &[&str] = &["race"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("ticket_lock", ticket_lock)
            .broken("relaxed_wait", RACE)
            .broken("relaxed_pass", RACE)
            .broken("block_scope", RACE)
            .broken("weak_pass", RACE),
        Case::new("seqlock", seqlock)
            .broken("plain_data", RACE)
            .broken("late_writer", RACE)
            .broken("plain_sequence", RACE),
        Case::new("block_ring", block_ring)
            .broken("relaxed_head", RACE)
            .broken("relaxed_tail", RACE)
            .broken("no_room_check", RACE)
            .broken("block_scope", RACE)
            .broken("one_early", RACE),
        Case::new("fixup", fixup)
            .broken("no_fence", RACE)
            .broken("flag_first", RACE)
            .broken("no_wait", UNORDERED)
            .broken("no_sync", RACE)
            .broken("no_wait_fence", RACE),
        Case::new("ordered_sum", ordered_sum)
            .broken("relaxed_wait", RACE)
            .broken("relaxed_set", RACE)
            .broken("no_wait", RACE)
            .broken("no_sync", UNORDERED),
        Case::new("lazy_table", lazy_table)
            .broken("no_make_fence", RACE)
            .broken("no_use_fence", RACE)
            .broken("plain_state", RACE)
            .broken("no_wait", UNORDERED),
        Case::new("float_maximum", float_maximum).broken("no_swap", RACE).broken("plain_unfenced", RACE),
        Case::new("stack_push", stack_push)
            .broken("relaxed_push", RACE)
            .broken("relaxed_count", RACE)
            .broken("next_late", &["race", "uninitialised-memory", "step-limit"]),
        Case::new("halo", halo)
            .broken("no_fence", RACE)
            .broken("no_wait", UNORDERED)
            .broken("one_step_early", UNORDERED)
            .broken("no_copy", RACE),
        Case::new("tickets_reset", tickets_reset)
            .broken("early_reset", RACE)
            .broken("plain_reset_early", RACE)
            .broken("no_ticket_sync", RACE)
            .broken("no_fence", RACE),
        Case::new("semaphore", semaphore).broken("no_acquire", RACE).broken("block_scope", RACE),
        Case::new("cluster_sum", cluster_sum)
            .broken("no_first_sync", &["race", "not-started", "uninitialised-memory"])
            .broken("no_last_sync", &["race", "exited-block"])
            .broken("plain_add", RACE)
            .broken("no_zero", &["uninitialised-memory", "uninitialised-register"]),
        Case::new("remote_sum", remote_sum)
            .broken("no_wait", UNORDERED)
            .broken("fewer_bytes", &["race", "in-flight", "mbarrier", "deadlock", "uninitialised-memory"])
            .broken("more_bytes", STUCK)
            .broken("no_cluster_sync", &["not-started", "race", "mbarrier"])
            .broken("early_exit", &["unfinished", "exited-block"]),
        Case::new("multicast", multicast)
            .broken("no_first_sync", &["not-started", "race", "mbarrier"])
            .broken("no_wait", UNORDERED)
            .broken("one_block", STUCK)
            .broken("others_expect_none", STUCK),
    ]
}

fn ticket_lock(s: &mut Setup) -> Check {
    s.shape(5, 32).buffer(&[0]);
    s.buffer(&[0]);
    let count = s.buffer(&[0]);
    let order = s.output::<i32>(5);
    Box::new(move |setup| {
        let mut order = setup.read::<i32>(order);
        order.sort();
        equal(&order, &[0, 1, 2, 3, 4])?;
        equal(&setup.read::<i32>(count), &[5])
    })
}

fn seqlock(s: &mut Setup) -> Check {
    s.shape(3, 32).buffer(&[0u32]);
    s.buffer(&[0; 4]);
    same(s.output::<i32>(4), vec![3, -3, 3, -3])
}

fn block_ring(s: &mut Setup) -> Check {
    let n = 10;
    let x = whole(32 * n, 1000, 1);
    s.shape(2, 32).output::<i32>(128);
    s.buffer(&[0]);
    s.buffer(&[0]);
    s.buffer(&x);
    let out = s.output::<i32>(32 * n);
    s.arg(n as i32);
    same(out, (0..32 * n).map(|i| x[i ^ 1] + 1).collect())
}

fn fixup(s: &mut Setup) -> Check {
    let x = whole(6 * 128, 1000, 2);
    s.shape(6, 64).buffer(&x);
    s.output::<i32>(6 * 64);
    s.buffer(&[0; 6]);
    let sum = |tile: usize, t: usize| (0..6).map(|k| x[tile * 384 + k * 64 + t]).sum::<i32>();
    same(s.output::<i32>(128), (0..128).map(|i| sum(i / 64, i % 64)).collect())
}

fn ordered_sum(s: &mut Setup) -> Check {
    let x = fractions(4 * 64, 3);
    s.shape(4, 64).buffer(&x);
    let total = s.buffer(&[0f32]);
    s.buffer(&[0]);
    let tree = |lanes: &[f32]| {
        let mut lanes = lanes.to_vec();
        while lanes.len() > 1 {
            let half = lanes.len() / 2;
            lanes = (0..half).map(|i| lanes[i] + lanes[i + half]).collect();
        }
        lanes[0]
    };
    let blocks = x.chunks(64).map(|block| tree(&block[..32]) + tree(&block[32..]));
    same(total, vec![blocks.fold(0f32, |sum, x| sum + x)])
}

fn lazy_table(s: &mut Setup) -> Check {
    s.shape(3, 16).buffer(&[0]);
    s.output::<i32>(16);
    same(s.output::<i32>(48), (0..48).map(|i| i % 16 * (i % 16) + 1).collect())
}

fn float_maximum(s: &mut Setup) -> Check {
    let x: Vec<f32> = fractions(3 * 64, 4).into_iter().map(f32::abs).collect();
    s.shape(3, 64).buffer(&x);
    s.buffer(&[0]);
    s.buffer(&[0]);
    same(s.output::<f32>(1), vec![x.iter().copied().fold(0f32, f32::max)])
}

fn stack_push(s: &mut Setup) -> Check {
    s.shape(4, 32).output::<i32>(5);
    s.output::<i32>(5);
    s.buffer(&[0]);
    s.buffer(&[0]);
    same(s.output::<i32>(1), vec![1 + 4 + 9 + 16])
}

fn halo(s: &mut Setup) -> Check {
    let n = 4 * 32;
    let x = whole(n, 100, 5);
    s.shape(4, 32).buffer(&x);
    s.output::<i32>(2 * 4 * 2);
    s.buffer(&[0; 4]);
    let smooth =
        |x: Vec<i32>| (0..n).map(|i| x[(i + n - 1) % n] + 2 * x[i] + x[(i + 1) % n]).collect::<Vec<_>>();
    same(s.output::<i32>(n), smooth(smooth(smooth(x))))
}

fn tickets_reset(s: &mut Setup) -> Check {
    let tiles = 7;
    let x = whole(32 * tiles, 1000, 6);
    s.shape(6, 32);
    let counters = [s.buffer(&[0]), s.buffer(&[0])];
    let data = s.buffer(&x);
    s.arg(tiles as i32);
    Box::new(move |setup| {
        equal(&counters.map(|counter| setup.read::<i32>(counter)[0]), &[0, 0])?;
        equal(
            &setup.read::<i32>(data),
            &x.iter().enumerate().map(|(i, x)| x + i as i32 / 32).collect::<Vec<_>>(),
        )
    })
}

fn semaphore(s: &mut Setup) -> Check {
    s.shape(4, 32).buffer(&[1i64]);
    s.buffer(&[1i64]);
    let scratch = s.buffer(&[0; 4]);
    s.output::<i32>(1);
    same(scratch, (0..4).map(|i| 6 + 4 * i).collect())
}

fn cluster_sum(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 7);
    s.shape(4, 32).buffer(&x);
    same(s.output::<i32>(1), vec![x.iter().sum::<i32>()])
}

fn remote_sum(s: &mut Setup) -> Check {
    cluster_sum(s)
}

fn multicast(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 8);
    s.shape(2, 64).buffer(&x);
    same(s.output::<i32>(128), (0..128).map(|i| x[(i ^ 5) % 64] + i as i32 / 64).collect())
}
