//! `basics.cu`.

use half::f16;

use super::{Call, assert_near, doubled, each, fractions, whole};

#[test]
fn vectors_are_added() {
    each("nvrtc_basics", &|program| {
        let (a, b) = (fractions(1000, 1), fractions(1000, 2));
        let mut call = Call::row(program, 4, 256);
        call.buffer(&a);
        call.buffer(&b);
        let c = call.zeros::<f32>(1000);
        call.arg(1000i32).run("vadd");
        let want: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(call.read::<f32>(c), want);
    });
}

/// The softmax of each row in f64.
pub(crate) fn softmax(rows: &[f32], columns: usize) -> Vec<f64> {
    let row = |row: &[f32]| {
        let most = row.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x.into()));
        let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(move |x| x / sum)
    };
    rows.chunks_exact(columns).flat_map(row).collect()
}

/// The layer norm of each row in f64.
pub(crate) fn layernorm(rows: &[f64], gain: &[f32], bias: &[f32], epsilon: f64) -> Vec<f64> {
    let columns = gain.len();
    let row = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (variance + epsilon).sqrt();
        let element = |(i, x): (usize, &f64)| (x - mean) * scale * f64::from(gain[i]) + f64::from(bias[i]);
        row.iter().enumerate().map(element).collect::<Vec<_>>()
    };
    rows.chunks_exact(columns).flat_map(row).collect()
}

/// A B in f64: A of `m` by `k`, B of `k` by `n`, both by rows.
pub(crate) fn product(a: &[f64], b: &[f64], (m, n, k): (usize, usize, usize)) -> Vec<f64> {
    let element = |e: usize| (0..k).map(|i| a[e / n * k + i] * b[i * n + e % n]).sum();
    (0..m * n).map(element).collect()
}

#[test]
fn rows_are_normalised() {
    each("nvrtc_basics", &|program| {
        let columns = 300;
        let x: Vec<f32> = fractions(3 * columns, 3).iter().map(|x| 8.0 * x).collect();
        let mut call = Call::row(program, 3, 128);
        call.buffer(&x);
        let out = call.zeros::<f32>(x.len());
        call.arg(columns as i32).run("softmax");
        assert_near(&doubled(&call.read::<f32>(out)), &softmax(&x, columns), 2e-6, 1e-12, "softmax");

        let x: Vec<f16> = x.iter().map(|&x| f16::from_f32(x + 3.0)).collect();
        let (gain, bias) = (fractions(columns, 4), fractions(columns, 5));
        let mut call = Call::row(program, 3, 64);
        call.buffer(&x);
        call.buffer(&gain);
        call.buffer(&bias);
        let out = call.zeros::<f16>(x.len());
        call.arg(columns as i32).arg(1e-5f32).run("layernorm");
        let want = layernorm(&doubled(&x), &gain, &bias, 1e-5);
        // Half an f16's last bit, and a little of the sums' in f32.
        assert_near(&doubled(&call.read::<f16>(out)), &want, 6e-4, 1e-5, "layernorm");
    });
}

#[test]
fn integers_are_reduced_and_counted() {
    each("nvrtc_basics", &|program| {
        let x: Vec<i32> = whole(2000, 1000, 6).iter().map(|&x| x as i32 - 500).collect();
        let mut call = Call::row(program, 3, 96);
        call.buffer(&x);
        let sum = call.zeros::<i32>(1);
        call.arg(x.len() as i32).run("reduce");
        assert_eq!(call.read::<i32>(sum), [x.iter().sum::<i32>()]);

        let x: Vec<u8> = whole(3000, 256, 7).iter().map(|&x| ((x * x) >> 8) as u8).collect();
        let mut call = Call::row(program, 4, 128);
        call.buffer(&x);
        let bins = call.zeros::<u32>(256);
        call.arg(x.len() as i32).run("histogram");
        let want: Vec<u32> = (0..=255).map(|bin| x.iter().filter(|&&x| x == bin).count() as u32).collect();
        assert_eq!(call.read::<u32>(bins), want);
    });
}

#[test]
fn matrices_are_multiplied_and_transposed() {
    each("nvrtc_basics", &|program| {
        let (m, n, k) = (37, 20, 41);
        // Small whole numbers: every order of summing gives the same.
        let number = |x: &u32| *x as f32 - 4.0;
        let a: Vec<f32> = whole(m * k, 9, 8).iter().map(number).collect();
        let b: Vec<f32> = whole(k * n, 9, 9).iter().map(number).collect();
        let mut call = Call::new(program, [n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1], [16, 16, 1]);
        call.buffer(&a);
        call.buffer(&b);
        let c = call.zeros::<f32>(m * n);
        call.arg(m as i32).arg(n as i32).arg(k as i32).run("matmul");
        assert_eq!(doubled(&call.read::<f32>(c)), product(&doubled(&a), &doubled(&b), (m, n, k)));

        let n = 45;
        let x: Vec<f64> = (0..n * n).map(|i| i as f64).collect();
        let mut call = Call::new(program, [2, 2, 1], [32, 8, 1]);
        call.launch.dynamic_shared = 32 * 33 * 8;
        call.buffer(&x);
        let out = call.zeros::<f64>(n * n);
        call.arg(n as i32).arg(33i32).run("transpose");
        let want: Vec<f64> = (0..n * n).map(|i| (i % n * n + i / n) as f64).collect();
        assert_eq!(call.read::<f64>(out), want);
    });
}
