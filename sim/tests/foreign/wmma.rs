//! `wmma.cu`: every shape, type and layout on small whole numbers, whose sums are the same in any order.

use half::{bf16, f16};

use super::basics::product;
use super::{Call, Plain, doubled, each, whole};

/// A matrix of `rows` by `columns` in this order.
fn stored<T: Copy>(values: &[T], (rows, columns): (usize, usize), by_rows: bool) -> Vec<T> {
    if by_rows {
        return values.to_vec();
    }
    (0..rows * columns).map(|i| values[i % rows * columns + i / rows]).collect()
}

/// Runs a kernel whose name ends in the layouts of A, B and C: `r` or `c` each.
fn check<T: Plain, S: Plain + Into<f64>>(
    name: &str,
    (m, n, k): (usize, usize, usize),
    number: fn(i32) -> T,
    value: fn(T) -> f64,
    sum: fn(i32) -> S,
) {
    let layouts = name.split('_').nth(1).unwrap().as_bytes();
    let by_rows = |i: usize| layouts[i] == b'r';
    let numbers = |count, salt| whole(count, 7, salt).into_iter().map(|x| x as i32).collect::<Vec<i32>>();
    let (a, b, c) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
    let [a, b] = [a, b].map(|values| values.into_iter().map(number).collect::<Vec<T>>());
    let c: Vec<S> = c.into_iter().map(|x| sum(x * 3 - 9)).collect();
    let [fa, fb] = [&a, &b].map(|values| values.iter().map(|&x| value(x)).collect::<Vec<f64>>());
    let want: Vec<f64> = product(&fa, &fb, (m, n, k)).iter().zip(&c).map(|(ab, &c)| ab + c.into()).collect();
    each("nvrtc_wmma", &|program| {
        let mut call = Call::row(program, 1, 32);
        call.buffer(&stored(&a, (m, k), by_rows(0)));
        call.buffer(&stored(&b, (k, n), by_rows(1)));
        call.buffer(&stored(&c, (m, n), by_rows(2)));
        let d = call.zeros::<S>(m * n);
        call.run(name);
        assert_eq!(doubled(&call.read::<S>(d)), stored(&want, (m, n), by_rows(2)), "{name}");
    });
}

#[test]
fn floats_are_multiplied() {
    let half = |x: i32| f16::from_f32(x as f32 - 3.0);
    let bfloat = |x: i32| bf16::from_f32(x as f32 - 3.0);
    let single = |x: i32| x as f32 - 3.0;
    let double = |x: i32| f64::from(x) - 3.0;
    let (of_half, of_bfloat) = (|x: f16| f64::from(x), |x: bf16| f64::from(x));
    check("f16_rrr", (16, 16, 16), half, of_half, single);
    check("f16_rcc", (16, 16, 16), half, of_half, single);
    check("f16_crr_wide", (8, 32, 16), half, of_half, half);
    check("f16_ccc_tall", (32, 8, 16), half, of_half, half);
    check("bf16_rcr", (16, 16, 16), bfloat, of_bfloat, single);
    check("bf16_crc_wide", (8, 32, 16), bfloat, of_bfloat, single);
    check("tf32_rcr", (16, 16, 8), single, f64::from, single);
    check("tf32_crc", (16, 16, 8), single, f64::from, single);
    check("f64_rcr", (8, 8, 4), double, f64::from, double);
    check("f64_crc", (8, 8, 4), double, f64::from, double);
}

#[test]
fn bytes_are_multiplied() {
    check("s8_rcr", (16, 16, 16), |x| (x * 40 - 128) as i8, f64::from, |x| x);
    check("u8_crc_tall", (32, 8, 16), |x| (x * 40) as u8, f64::from, |x| x);
    check("s8_rrr_wide", (8, 32, 16), |x| (x * 40 - 128) as i8, f64::from, |x| x);
}

/// Elements of `bits` bits, the first in the lowest bits.
fn packed(values: &[u32], bits: usize) -> Vec<u32> {
    let word = |part: &[u32]| part.iter().rev().fold(0u64, |word, &x| word << bits | u64::from(x)) as u32;
    values.chunks_exact(32 / bits).map(word).collect()
}

#[test]
fn parts_of_bytes_are_multiplied() {
    let c: Vec<i32> = (0..64).map(|i| i - 30).collect();
    let check = |name: &str, a: &[u32], b: &[u32], want: &[i32]| {
        each("nvrtc_wmma", &|program| {
            let mut call = Call::row(program, 1, 32);
            call.buffer(a);
            call.buffer(b);
            call.buffer(&c);
            let d = call.zeros::<i32>(want.len());
            call.run(name);
            assert_eq!(call.read::<i32>(d), want, "{name}");
        });
    };
    // A by rows and B by columns: both have k fastest.
    let (a, b) = (whole(8 * 32, 16, 4), whole(8 * 32, 16, 5));
    let signed = |x: u32| i64::from(((x << 28) as i32) >> 28);
    let dot = |row: usize, column: usize, value: fn(u32) -> i64| -> i64 {
        (0..32).map(|i| value(a[row * 32 + i]) * value(b[column * 32 + i])).sum()
    };
    let want: Vec<i32> = (0..64).map(|e| dot(e / 8, e % 8, signed) as i32 + c[e]).collect();
    check("s4_rcr", &packed(&a, 4), &packed(&b, 4), &want);
    // C and D by columns.
    let want: Vec<i32> = (0..64).map(|e| dot(e % 8, e / 8, i64::from) as i32 + c[e]).collect();
    check("u4_rcc", &packed(&a, 4), &packed(&b, 4), &want);

    let (a, b) = (whole(8 * 128, 2, 6), whole(8 * 128, 2, 7));
    let count = |e: usize, both: fn(u32, u32) -> u32| -> i32 {
        (0..128).map(|i| both(a[e / 8 * 128 + i], b[e % 8 * 128 + i]) as i32).sum()
    };
    let xor: Vec<i32> = (0..64).map(|e| count(e, |a, b| a ^ b) + c[e]).collect();
    let and: Vec<i32> = (0..64).map(|e| count(e, |a, b| a & b) + xor[e]).collect();
    check("b1_xor", &packed(&a, 1), &packed(&b, 1), &[xor, and].concat());
}

#[test]
fn a_tiled_product_goes_through_shared_memory() {
    let (m, n, k) = (64, 128, 48);
    let number = |x: &u32| f16::from_f32(*x as f32 - 2.0);
    let a: Vec<f16> = whole(m * k, 5, 8).iter().map(number).collect();
    let b: Vec<f16> = whole(k * n, 5, 9).iter().map(number).collect();
    let want: Vec<f64> =
        product(&doubled(&a), &doubled(&b), (m, n, k)).iter().map(|x| x * 0.5 + 1.0).collect();
    each("nvrtc_wmma", &|program| {
        let mut call = Call::new(program, [(n / 64) as u32, (m / 64) as u32, 1], [128, 1, 1]);
        call.buffer(&a);
        call.buffer(&b);
        let c = call.zeros::<f32>(m * n);
        call.arg(n as i32).arg(k as i32).arg(0.5f32).run("gemm");
        assert_eq!(doubled(&call.read::<f32>(c)), want);
    });
}
