//! `threads.cu`.

use girih_sim::{Error, Space};
use half::f16;

use super::{Call, each, whole};

fn numbers(count: usize, below: u32, salt: u32) -> Vec<i32> {
    whole(count, below, salt).iter().map(|&x| x as i32).collect()
}

/// One bit a thread of a warp, or of a part of it.
fn ballot(x: &[i32], set: impl Fn(i32) -> bool) -> u32 {
    x.iter().enumerate().fold(0, |bits, (i, &x)| bits | u32::from(set(x)) << i)
}

#[test]
fn groups_of_threads_exchange() {
    each("nvrtc_threads", &|program| {
        let x = numbers(64, 100, 1);
        let mut call = Call::row(program, 1, 64);
        call.buffer(&x);
        let out = call.zeros::<i32>(6 * 64);
        call.run("groups");
        let want = (0..64).flat_map(|i| {
            let (tile, warp) = (&x[i / 8 * 8..][..8], &x[i / 32 * 32..][..32]);
            let odd = ballot(warp, |x| x & 1 == 1);
            let before = odd & ((1 << (i % 32)) - 1);
            [
                tile.iter().sum(),
                if i % 8 > 0 { x[i - 1] } else { -1 },
                if x[i] & 1 == 1 { (odd.count_ones() * 100 + before.count_ones()) as i32 } else { 0 },
                i32::from(tile.iter().any(|&x| x > 90)) * 2 + i32::from(tile.iter().all(|&x| x > 5)),
                ballot(tile, |other| other & 3 == x[i] & 3) as i32,
                ballot(tile, |x| x & 1 == 1) as i32,
            ]
        });
        assert_eq!(call.read::<i32>(out), want.collect::<Vec<_>>());
    });
}

#[test]
fn votes_count_the_block() {
    for offset in [0, 1] {
        each("nvrtc_threads", &|program| {
            // Three warps and a part of one for the barriers; whole warps vote on their own.
            let x: Vec<i32> = numbers(96, 99, 2).iter().map(|x| x + offset).collect();
            let mut call = Call::row(program, 1, 96);
            call.buffer(&x);
            let out = call.zeros::<i32>(8 * 96);
            call.run("votes");
            let want = (0..96).flat_map(|i| {
                let warp = &x[i / 32 * 32..][..32];
                let odd = ballot(warp, |x| x & 1 == 1);
                // The numbers are all below 256, so the upper bits match in all lanes.
                let all = u32::MAX.wrapping_add(1);
                let nth = (0..32).filter(|lane| odd >> lane & 1 == 1).nth(i % 8);
                [
                    x.iter().filter(|&x| x & 1 == 1).count() as i32,
                    i32::from(x.iter().all(|&x| x > 0)),
                    i32::from(x.iter().any(|&x| x > 98)),
                    ballot(warp, |x| x > 50) as i32,
                    warp.iter().sum(),
                    warp.iter().max().unwrap() - 50,
                    all as i32,
                    nth.unwrap_or(-1),
                ]
            });
            assert_eq!(call.read::<i32>(out), want.collect::<Vec<_>>());
        });
    }
}

#[test]
fn atomics_are_all_counted() {
    each("nvrtc_threads", &|program| {
        let x = numbers(64, 1000, 3);
        let start = [5, 5, 500, 500, u32::MAX, 0, 9, 3, 3, 1.5f32.to_bits(), 1, 10];
        let mut call = Call::row(program, 1, 64);
        call.buffer(&x);
        let words = call.buffer(&start);
        let longs = call.buffer(&[1u64, 1, 1]);
        let sums = call.buffer(&[0.25f64]);
        let pairs = call.buffer(&[f16::from_f32(0.5); 2]);
        // The first read of its compare-and-swap loop is a plain one.
        assert_races(&mut call, "atomics");
        call.write(words, &start);
        call.write(longs, &[1u64, 1, 1]);
        call.write(sums, &[0.25f64]);
        call.write(pairs, &[f16::from_f32(0.5); 2]);
        call.run("atomics");
        let sum: i32 = x.iter().sum();
        let bits = x.iter().fold(0, |bits, x| bits | 1u32 << (x & 31));
        let times = |n: usize, step: fn(u32) -> u32, start: u32| (0..n).fold(start, |x, _| step(x));
        let words = call.read::<u32>(words);
        assert_eq!(
            words,
            [
                5 + sum as u32,
                5u32.wrapping_sub(sum as u32),
                *x.iter().min().unwrap().min(&500) as u32,
                *x.iter().max().unwrap().max(&500) as u32,
                !bits,
                bits,
                x.iter().fold(9, |all, &x| all ^ x as u32),
                times(64, |x| if x >= 20 { 0 } else { x + 1 }, 3),
                times(64, |x| if x == 0 || x > 20 { 20 } else { x - 1 }, 3),
                (1.5 + sum as f32).to_bits(),
                times(64, |x| x.wrapping_mul(3).wrapping_add(1), 1),
                10 + sum as u32,
            ]
        );
        let squares: u64 = x.iter().map(|&x| (x as u64 * x as u64) << 20).sum();
        assert_eq!(call.read::<u64>(longs), [(*x.iter().max().unwrap() as u64) << 33, 1 + squares, 77]);
        assert_eq!(call.read::<f64>(sums), [0.25 + 0.5 * f64::from(sum)]);
        assert_eq!(call.read::<f16>(pairs), [64.5, 128.5].map(f16::from_f32));
    });
}

/// Code as CUDA's guides show it, which PTX's memory model leaves unordered: it is reported, and the execution goes on.
fn assert_races(call: &mut Call<'_>, kernel: &str) {
    let found = call.try_run(kernel);
    assert!(matches!(found, Err(Error::Race { space: Space::Global, .. })), "{found:?}");
    call.options.races = false;
}

#[test]
fn the_last_block_adds_all_sums() {
    each("nvrtc_threads", &|program| {
        let x: Vec<f32> = numbers(1000, 100, 4).iter().map(|&x| x as f32).collect();
        let mut call = Call::row(program, 8, 32);
        call.buffer(&x);
        call.zeros::<f32>(8);
        let done = call.zeros::<u32>(1);
        let total = call.zeros::<f32>(1);
        // The last block has no fence between its atomic and its reads.
        assert_races(call.arg(1000i32), "last_block");
        call.write(done, &[0u32]);
        call.run("last_block");
        assert_eq!(call.read::<f32>(total), [x.iter().sum::<f32>()]);
        assert_eq!(call.read::<u32>(done), [0]);
    });
}

#[test]
fn copies_are_waited_for() {
    each("nvrtc_threads", &|program| {
        let tiles = 5;
        let x = numbers(tiles * 128, 1 << 20, 5);
        let mut call = Call::row(program, 1, 32);
        call.buffer(&x);
        let out = call.zeros::<i32>(x.len());
        call.arg(tiles as i32).run("pipeline");
        let want = (0..x.len()).map(|i| {
            let (tile, thread, word) = (i / 128, i / 4 % 32, i % 4);
            x[tile * 128 + (31 - thread) * 4 + word] + if word == 0 { tile as i32 } else { 0 }
        });
        assert_eq!(call.read::<i32>(out), want.collect::<Vec<_>>());
    });
}

/// An access to bytes that a copy is still writing is reported, if the wait is taken away.
#[test]
fn a_missing_wait_is_found() {
    for text in super::texts("nvrtc_threads") {
        let broken = text.replace("cp.async.wait_group 1;", "");
        assert_ne!(broken, text);
        let module = girih_ptx::Module::parse(&broken).unwrap();
        let program = girih_sim::Program::load(&module).unwrap();
        let mut call = Call::row(&program, 1, 32);
        call.zeros::<i32>(256);
        call.zeros::<i32>(256);
        let error = call.arg(2i32).try_run("pipeline").unwrap_err();
        assert!(matches!(error, girih_sim::Error::InFlight { .. }), "{error}");
    }
}

#[test]
fn bits_are_what_the_functions_say() {
    each("nvrtc_threads", &|program| {
        let (x, y) = (whole(128, 1 << 23, 6), whole(128, 1 << 23, 7));
        let word = |(i, &x): (usize, &u32)| x << (i % 10) ^ x >> 3 ^ (i as u32) << 24;
        let x: Vec<u32> = x.iter().enumerate().map(word).collect();
        let y: Vec<u32> = y.iter().enumerate().map(word).collect();
        let mut call = Call::row(program, 1, 128);
        call.buffer(&x);
        call.buffer(&y);
        let out = call.zeros::<u32>(128 * 20);
        call.run("bits");
        let want = x.iter().zip(&y).flat_map(|(&a, &b)| functions(a, b));
        for (i, (got, want)) in call.read::<u32>(out).into_iter().zip(want).enumerate() {
            assert_eq!(got, want, "thread {}, function {}", i / 20, i % 20);
        }
    });
}

/// The functions of kernel `bits`, from their documentation.
fn functions(a: u32, b: u32) -> [u32; 20] {
    let (sa, sb) = (a as i32, b as i32);
    let bytes = |f: &dyn Fn(u8, u8) -> u8| {
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes([0, 1, 2, 3].map(|i| f(x[i], y[i])))
    };
    let dot: i32 =
        (0..4).map(|i| i32::from(sa.to_le_bytes()[i] as i8) * i32::from(sb.to_le_bytes()[i] as i8)).sum();
    let unsigned_dot: u32 =
        (0..4).map(|i| u32::from(a.to_le_bytes()[i]) * u32::from(b.to_le_bytes()[i])).sum();
    let low_dot =
        (0..2).map(|i| i32::from((sa >> (16 * i)) as i16) * i32::from((sb >> (8 * i)) as i8)).sum::<i32>();
    let both = u64::from(b) << 32 | u64::from(a);
    let pool = both.to_le_bytes();
    // The function takes three bits of each selector, unlike the instruction.
    let byte = |i: u32| pool[(b >> (4 * i) & 7) as usize];
    let low24 = |x: u32| i64::from((x << 8) as i32 >> 8);
    let halves = |f: fn(i16, i16) -> i16| {
        [0, 16].iter().fold(0, |word, &s| word | u32::from(f((a >> s) as i16, (b >> s) as i16) as u16) << s)
    };
    let odd = b | 1;
    [
        dot.wrapping_add(5) as u32,
        unsigned_dot + 5,
        low_dot.wrapping_add(7) as u32,
        ((both << (a & 31)) >> 32) as u32,
        (both >> 32) as u32,
        u32::from_le_bytes([0, 1, 2, 3].map(byte)),
        a.reverse_bits(),
        a.leading_zeros() * 33 + if b == 0 { 0 } else { b.trailing_zeros() + 1 },
        (a ^ b).count_ones(),
        ((i64::from(sa) - i64::from(sb)).unsigned_abs() as u32).wrapping_add(9),
        ((low24(a) * low24(b)) as u32)
            .wrapping_add((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) as u32),
        ((i64::from(sa) * i64::from(sb)) >> 32) as u32 ^ ((u64::from(a) * u64::from(b)) >> 32) as u32,
        bytes(&|x, y| x.wrapping_add(y)),
        bytes(&|x, y| x.abs_diff(y)),
        halves(i16::max),
        bytes(&|x, y| if x > y { 255 } else { 0 }),
        (((i64::from(sa) + i64::from(sb) + 1) >> 1) as u32)
            .wrapping_add(((u64::from(a) + u64::from(b)) >> 1) as u32),
        (0..4).map(|i| u32::from(a.to_le_bytes()[i].abs_diff(b.to_le_bytes()[i]))).sum(),
        (a / odd).wrapping_add(a % odd),
        (sa.wrapping_div(odd as i32) ^ sa.wrapping_rem(odd as i32)) as u32,
    ]
}

#[test]
fn clocks_go_on_and_addresses_have_spaces() {
    each("nvrtc_threads", &|program| {
        let mut call = Call::row(program, 1, 32);
        let out = call.zeros::<i64>(32);
        call.run("_Z4spinPx");
        assert_eq!(call.read::<i64>(out), [2; 32]);
        let mut call = Call::row(program, 1, 32);
        let x = call.buffer(&[1.5f32; 32]);
        call.run("_Z5scaleILi3EEvPf");
        assert_eq!(call.read::<f32>(x), [4.5; 32]);
    });
}
