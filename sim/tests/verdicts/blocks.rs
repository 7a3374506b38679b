//! Shared memory and the barrier of a block.

use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Check, Setup, equal, fractions, near, same, whole};

const OVERRUN: &[&str] = &["out-of-bounds", "overrun"];
const UNSET: &[&str] = &["uninitialised-memory", "uninitialised-register"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("block_reduce", block_reduce)
            .broken("no_sync_store", UNORDERED)
            .broken("no_sync_loop", UNORDERED)
            .broken("short_loop", UNORDERED),
        Case::new("transpose", transpose)
            .broken("no_sync", UNORDERED)
            .broken("unpadded", OVERRUN)
            .broken("rows_missing", UNSET),
        Case::new("stencil", stencil)
            .broken("no_sync", UNORDERED)
            .broken("overrun", OVERRUN)
            .broken("halo_unset", UNSET)
            .broken("input_overrun", OVERRUN),
        Case::new("histogram", histogram)
            .broken("no_sync_zero", UNORDERED)
            .broken("no_sync_flush", UNORDERED)
            .broken("plain_increment", &["race"])
            .broken("plain_flush", &["race"])
            .broken("unzeroed", UNSET),
        Case::new("matmul", matmul)
            .broken("no_sync_before", UNORDERED)
            .broken("no_sync_after", &["race"])
            .broken("unset_sum", UNSET),
        Case::new("softmax", softmax)
            .broken("no_sync_reuse", &["race"])
            .broken("no_sync_result", UNORDERED)
            .broken("infinite_tail", OVERRUN),
        Case::new("layernorm", layernorm)
            .broken("unset_partials", UNSET)
            .broken("no_sync", UNORDERED)
            .broken("no_sync_scale", UNORDERED),
        Case::new("block_scan", block_scan).broken("no_sync", UNORDERED).broken("one_buffer", &["race"]),
        Case::new("bitonic", bitonic).broken("no_syncwarp", &["race"]).broken("warp_only", &["race"]),
        Case::new("ragged_rows", ragged_rows)
            .broken("own_bound", &["divergent", "deadlock", "race"])
            .broken("early_exit", &["divergent", "uninitialised-memory"])
            .broken("half_warp", &["divergent"]),
        Case::new("early_return", early_return)
            .broken("no_sync", UNORDERED)
            .broken("of_returned", UNSET)
            .broken("half_barrier", &["divergent", "race"]),
        Case::new("left_behind", left_behind)
            .but("exited-race")
            .broken("no_sync", &["race"])
            .broken("named", &["race"]),
        Case::new("structs", structs).but("padding").broken("unset_field", UNSET),
        Case::new("constants", constants).broken("beyond", OVERRUN),
        Case::new("named_barriers", named_barriers)
            .broken("no_arrive", STUCK)
            .broken("wrong_count", &["race", "bad-value"])
            .broken("wrong_barrier", STUCK),
        Case::new("local_arrays", local_arrays).broken("unset_element", UNSET).broken("beyond", OVERRUN),
        Case::new("shared_pointers", shared_pointers)
            .broken("local_pointer", &["other-local", "out-of-bounds"]),
        Case::new("dynamic_shared", dynamic_shared).broken("no_sync", UNORDERED).broken("too_large", OVERRUN),
    ]
}

fn block_reduce(s: &mut Setup) -> Check {
    let x = whole(3 * 128, 1000, 1);
    s.shape(3, 128).buffer(&x);
    same(s.output::<i32>(3), x.chunks(128).map(|block| block.iter().sum::<i32>()).collect())
}

fn early_return(s: &mut Setup) -> Check {
    let x = whole(96, 1000, 12);
    s.shape(1, 96).buffer(&x);
    let out = s.output::<i32>(40);
    s.arg(40);
    same(out, (0..40).map(|t| x[39 - t]).collect())
}

fn left_behind(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 13);
    s.shape(1, 128).buffer(&x);
    same(s.output::<i32>(32), (0..32).map(|t| (0..4).map(|w| 2 * x[t + 32 * w]).sum::<i32>()).collect())
}

fn transpose(s: &mut Setup) -> Check {
    let n = 64;
    let x = whole(n * n, 1000, 2);
    (s.launch.grid, s.launch.block) = ([2, 2, 1], [32, 8, 1]);
    s.buffer(&x);
    let out = s.output::<i32>(n * n);
    s.arg(n as i32);
    same(out, (0..n * n).map(|i| x[i % n * n + i / n]).collect())
}

fn stencil(s: &mut Setup) -> Check {
    let n = 192;
    let x = whole(n, 100, 3);
    s.shape(3, 64).buffer(&x);
    let out = s.output::<i32>(n);
    s.arg(n as i32);
    let weight = |t: usize| t as i32 % 3 + 1;
    let at = |i: Option<usize>| i.and_then(|i| x.get(i)).copied().unwrap_or(0);
    let sum = |i: usize| {
        let t = i % 64;
        at(i.checked_sub(1)) * weight((t + 1) & 63) + at(Some(i)) + at(Some(i + 1)) * weight(t)
    };
    same(out, (0..n).map(sum).collect())
}

fn histogram(s: &mut Setup) -> Check {
    let x = whole(1000, 64, 4);
    s.shape(2, 128).buffer(&x);
    let bins = s.buffer(&[0; 64]);
    s.arg(1000);
    same(bins, (0..64).map(|bin| x.iter().filter(|&&x| x == bin).count() as i32).collect())
}

fn matmul(s: &mut Setup) -> Check {
    let n = 32;
    // Small whole numbers: the sums are exact.
    let numbers = |salt| -> Vec<f32> { whole(n * n, 16, salt).into_iter().map(|x| x as f32 - 8.0).collect() };
    let (a, b) = (numbers(5), numbers(6));
    (s.launch.grid, s.launch.block) = ([2, 2, 1], [16, 16, 1]);
    s.buffer(&a);
    s.buffer(&b);
    let out = s.output::<f32>(n * n);
    s.arg(n as i32);
    let sum = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum::<f32>();
    same(out, (0..n * n).map(sum).collect())
}

fn softmax(s: &mut Setup) -> Check {
    let columns = 300;
    let x: Vec<f32> = fractions(2 * columns, 7).into_iter().map(|x| 4.0 * x).collect();
    s.shape(2, 128).buffer(&x);
    let out = s.output::<f32>(x.len());
    s.arg(columns as i32);
    let rows = x.chunks(columns).flat_map(|row| {
        let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
        row.iter().map(move |&x| f64::from(x).exp() / sum)
    });
    near::<f32>(out, rows.collect(), 1e-5)
}

fn layernorm(s: &mut Setup) -> Check {
    let x = fractions(2 * 96, 8);
    s.shape(2, 96).buffer(&x);
    let out = s.output::<f32>(x.len());
    let rows = x.chunks(96).flat_map(|row| {
        let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
        let mean = row.iter().sum::<f64>() / 96.0;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 96.0;
        row.into_iter().map(move |x| (x - mean) / (variance + 1e-5).sqrt())
    });
    near::<f32>(out, rows.collect(), 1e-5)
}

fn block_scan(s: &mut Setup) -> Check {
    let x = whole(256, 1000, 9);
    s.shape(1, 256).buffer(&x);
    same(s.output::<i32>(256), sums(&x))
}

pub(crate) fn sums(x: &[i32]) -> Vec<i32> {
    x.iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect()
}

fn bitonic(s: &mut Setup) -> Check {
    let mut x = whole(128, 100_000, 10);
    let data = s.shape(1, 128).buffer(&x);
    x.sort();
    same(data, x)
}

fn ragged_rows(s: &mut Setup) -> Check {
    let lengths = [200, 77];
    let x = whole(512, 100, 11);
    s.shape(2, 64).buffer(&x);
    s.buffer(&lengths);
    let out = s.output::<i32>(128);
    let sum = |block: usize, t: usize| -> i32 {
        let length = lengths[block] as usize;
        let at = |i: usize| if i < length { x[block * 256 + i] } else { 0 };
        (0..length.div_ceil(64)).map(|k| at(k * 64 + (t ^ 1)) * 2 + at(k * 64 + t)).sum()
    };
    same(out, (0..128).map(|i| sum(i / 64, i % 64)).collect())
}

fn structs(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 12);
    s.shape(1, 64).buffer(&x);
    let items = s.output::<i32>(4 * 64);
    let out = s.output::<i32>(64);
    let want: Vec<i32> = (0..64).map(|t| x[63 - t] + 2 * (63 - t as i32)).collect();
    Box::new(move |setup| {
        let items = setup.read::<i32>(items);
        let fields: Vec<i32> = (0..64)
            .flat_map(|t| [items[4 * t] & 0xff, items[4 * t + 1], items[4 * t + 2] & 0xffff])
            .collect();
        equal(
            &fields,
            &(0..64).flat_map(|t| [63 - t, x[63 - t as usize], 2 * (63 - t)]).collect::<Vec<i32>>(),
        )?;
        equal(&setup.read::<i32>(out), &want)
    })
}

fn constants(s: &mut Setup) -> Check {
    let (first, second) =
        ([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5]);
    let x: Vec<i32> = (0..64).map(|i| i % 16).collect();
    s.shape(1, 64).buffer(&x);
    same(s.output::<i32>(64), x.iter().map(|&i| first[i as usize] * second[15 - i as usize]).collect())
}

fn named_barriers(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 13);
    s.shape(1, 128).buffer(&x);
    same(s.output::<i32>(64), (0..64).map(|t| x[t ^ 33] * 3).collect())
}

fn local_arrays(s: &mut Setup) -> Check {
    let mut x = whole(32 * 32, 8, 14);
    x[0] = 7;
    s.shape(1, 32).buffer(&x);
    let one = |own: &[i32]| {
        let count = own.iter().filter(|&&x| x == own[0]).count() as u32;
        count as i32 * 1000 + own[0].wrapping_mul(3i32.wrapping_pow(count))
    };
    same(s.output::<i32>(32), x.chunks(32).map(one).collect())
}

fn shared_pointers(s: &mut Setup) -> Check {
    let x = whole(32, 1000, 15);
    s.shape(1, 32).buffer(&x);
    same(s.output::<i32>(32), (0..32).map(|t| x[t ^ 1]).collect())
}

fn dynamic_shared(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 16);
    s.shape(1, 64).buffer(&x);
    s.launch.dynamic_shared = 2 * 64 * 4;
    let out = s.output::<i32>(64);
    s.arg(64);
    same(out, (0..64).map(|t| x[63 - t] + 2 * x[t ^ 1]).collect())
}
