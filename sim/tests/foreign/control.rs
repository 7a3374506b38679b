//! `control.cu`.

use std::sync::{Arc, Mutex};

use super::{Call, each, whole};

/// `mix` of the source.
fn mix((a, b): (i64, i32), i: i32) -> (i64, i32) {
    let x = [1.5, 2.5, 3.5].map(|factor| factor * f64::from(i));
    (a * 3 + x[(b % 3) as usize] as i64, b ^ i32::from((i * 7) as i16))
}

#[test]
fn functions_take_and_return_structures() {
    each("nvrtc_control", &|program| {
        let x: Vec<i32> = whole(64, 200, 1).iter().map(|&x| x as i32).collect();
        let mut call = Call::row(program, 1, 64);
        call.buffer(&x);
        let out = call.zeros::<i64>(128);
        call.run("calls");
        let want = x.iter().zip(0i32..).flat_map(|(&x, i)| {
            let first = mix((x.into(), i), i);
            // The second call's index must not be negative.
            let second = mix(first, i);
            let byte =
                if i & 1 == 1 { (x as u8).wrapping_add(i as u8) } else { (x as u8).wrapping_sub(i as u8) };
            let terms = [1.0, 2.0, 3.0, 4.0, f64::from(i)];
            let poly = (0..2 + i % 4).rev().fold(0.0, |y, n| y * 2.0 + terms[n as usize]);
            [second.0 + i64::from(byte), i64::from(second.1) + poly as i64]
        });
        assert_eq!(call.read::<i64>(out), want.collect::<Vec<_>>());
    });
}

#[test]
fn local_arrays_are_sorted() {
    each("nvrtc_control", &|program| {
        let mut x: Vec<i32> = whole(32 * 8, 1000, 2).iter().map(|&x| x as i32).collect();
        x[0] = 3;
        let mut call = Call::row(program, 1, 32);
        call.buffer(&x);
        let out = call.zeros::<i32>(x.len());
        call.run("sort8");
        x.chunks_exact_mut(8).for_each(<[i32]>::sort_unstable);
        assert_eq!(call.read::<i32>(out), x);
    });
}

#[test]
fn a_switch_computes_in_64_bits() {
    let primes = [2i64, 3, 5, 7, 11, 13, 17, 19];
    each("nvrtc_control", &|program| {
        let count = 17 * 32;
        let code: Vec<i32> = (0..count).map(|i| i as i32 % 17).collect();
        let wide = |salt| {
            let (low, high) = (whole(count, 1 << 23, salt), whole(count, 1 << 23, salt + 1));
            // Of all sizes and both signs.
            let number = |i: usize| ((i64::from(high[i]) << 41) | i64::from(low[i])) >> (low[i] % 60);
            (0..count).map(|i| if number(i) == 0 { 5 } else { number(i) }).collect::<Vec<i64>>()
        };
        let (x, y) = (wide(10), wide(20));
        assert!(x.iter().any(|&x| x < 0) && y.iter().any(|&y| y.unsigned_abs() > 1 << 60));
        let mut call = Call::row(program, 17, 32);
        call.buffer(&code);
        call.buffer(&x);
        call.buffer(&y);
        let out = call.zeros::<i64>(count);
        call.run("interpret");
        let want = (0..count).map(|i| {
            let (a, b) = (x[i], y[i]);
            let (ua, ub) = (a as u64, b as u64);
            match code[i] {
                0 => a.wrapping_add(b),
                1 => a.wrapping_sub(b),
                2 => a.wrapping_mul(b),
                3 => a.wrapping_div(b),
                4 => a.wrapping_rem(b),
                5 => (ua / ub) as i64,
                6 => (ua % ub) as i64,
                7 => a << (b & 63),
                8 => a >> (b & 63),
                9 => (ua >> (b & 63)) as i64,
                10 => ((i128::from(a) * i128::from(b)) >> 64) as i64,
                11 => ((u128::from(ua) * u128::from(ub)) >> 64) as i64,
                12 => a.min(b),
                13 => i64::from(a.count_ones() * 64 + b.leading_zeros()),
                14 => i64::from(a.trailing_zeros() + 1).wrapping_sub(b.reverse_bits()),
                15 => primes[(a & 7) as usize].wrapping_mul(b),
                _ => -1,
            }
        });
        assert_eq!(call.read::<i64>(out), want.collect::<Vec<_>>());
    });
}

#[test]
fn a_variable_counts_over_blocks_and_launches() {
    each("nvrtc_control", &|program| {
        let mut tickets = Vec::new();
        for _ in 0..2 {
            let mut call = Call::row(program, 2, 32);
            let out = call.zeros::<u64>(64);
            call.run("tickets");
            tickets.extend(call.read::<u64>(out));
        }
        tickets.sort_unstable();
        assert_eq!(tickets, (0..128).map(|i| 1000 + 3 * i).collect::<Vec<u64>>());
    });
}

#[test]
fn threads_leave_loops_on_their_own() {
    each("nvrtc_control", &|program| {
        let x: Vec<i32> = (1..=100).collect();
        let mut call = Call::row(program, 1, 128);
        call.buffer(&x);
        let out = call.zeros::<i32>(100);
        call.arg(100i32).run("early");
        let steps = |mut x: i32| {
            let mut steps = 0;
            while x != 1 {
                x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
                steps += 1;
            }
            steps
        };
        assert_eq!(call.read::<i32>(out), x.into_iter().map(steps).collect::<Vec<_>>());
    });
}

#[test]
fn threads_print() {
    each("nvrtc_control", &|program| {
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = printed.clone();
        let mut call = Call::row(program, 2, 32);
        call.options.print = Some(Arc::new(move |text: &str| sink.lock().unwrap().push_str(text)));
        call.arg(3i32).arg(-1.25f64).run("report");
        let block = "thread 0 of 32: -0.00|zero    |a|0000beef|0|%|-1.250000e+00\n\
                     thread 1 of 32: -1.25|one     |b|0000bef0|-10000000000|%|-1.250000e+00\n\
                     thread 2 of 32: -2.50|two     |c|0000bef1|-20000000000|%|-1.250000e+00\n\
                     no arguments\n";
        assert_eq!(*printed.lock().unwrap(), [block, block].concat());
    });
}
