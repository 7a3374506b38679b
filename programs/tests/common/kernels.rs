//! The tile kernels on a device, against references in f64: random inputs, ragged extents, outputs that are not what they should become.

use girih_device::Device;
use girih_programs as tile;
use girih_tensor::Element;
use girih_tile::launch::{DeviceArray, HostElement};
use half::bf16;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub(crate) mod wide;

type Outcome = Result<(), girih_tile::error::Error>;

/// Random elements, those of floats from -4 to 4.
fn random<T: Element>(rng: &mut StdRng, count: usize) -> Vec<T> {
    (0..count).map(|_| T::from_f64(rng.random_range(-4.0..4.0))).collect()
}

/// An array of elements none of which a kernel gives.
fn poisoned<T: HostElement + Element, const R: usize>(
    device: &Device,
    extents: [usize; R],
) -> Result<DeviceArray<T, R>, girih_tile::error::Error> {
    DeviceArray::upload(device, &vec![T::from_f64(-77.0); extents.iter().product()], extents)
}

/// Panics unless all elements are as near as `bound` times their magnitude and that of the others, on average.
#[track_caller]
fn near<T: Element>(found: &[T], wanted: &[f64], bound: f64) {
    assert_eq!(found.len(), wanted.len());
    let mean = wanted.iter().map(|x| x * x).sum::<f64>() / wanted.len().max(1) as f64;
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let error = (found.to_f64() - wanted).abs();
        assert!(
            error <= bound * (wanted.abs() + mean.sqrt()) + T::DTYPE.epsilon() * wanted.abs(),
            "element {i} is {found:?}, not {wanted}"
        );
    }
}

/// A matrix of f64 by rows.
fn wide<T: Element>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|x| x.to_f64()).collect()
}

fn by_rows(x: &[f64], n: usize, f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    x.chunks(n).flat_map(f).collect()
}

pub(crate) fn elementwise(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(1);
    for n in [1, 2047, 2048, 5001] {
        let (x, y) = (random::<f32>(&mut rng, n), random::<f32>(&mut rng, n));
        let sum: Vec<f64> = x.iter().zip(&y).map(|(x, y)| f64::from(x + y)).collect();
        let [xs, mut ys] = [DeviceArray::upload(device, &x, [n])?, DeviceArray::upload(device, &y, [n])?];
        let mut z = poisoned::<f32, 1>(device, [n])?;
        tile::add::<f32, 2048>(&xs, &ys, &mut z).run()?;
        near(&z.download()?, &sum, 0.0);
        tile::saxpy::<2048>(2.5, &xs, &mut ys).run()?;
        let wanted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 2.5 * f64::from(*x) + f64::from(*y)).collect();
        near(&ys.download()?, &wanted, 1e-6);
    }
    let (rows, heads, half) = (3, 5, 64);
    let x = random::<bf16>(&mut rng, rows * heads * 2 * half);
    let angle = |row: usize, c: usize| row as f64 / 10f64.powf(c as f64 / 16.0);
    let table =
        |f: fn(f64) -> f64| (0..rows * half).map(|i| f(angle(i / half, i % half)) as f32).collect::<Vec<_>>();
    let (cos, sin) = (table(f64::cos), table(f64::sin));
    let xs = DeviceArray::upload(device, &x, [rows, heads, 2 * half])?;
    let [cs, ss] =
        [DeviceArray::upload(device, &cos, [rows, half])?, DeviceArray::upload(device, &sin, [rows, half])?];
    let mut y = poisoned::<bf16, 3>(device, [rows, heads, 2 * half])?;
    tile::rotary_embedding::<bf16, 2, 64>(&xs, &cs, &ss, &mut y).grid([rows as u32, 3]).run()?;
    let x = wide(&x);
    let wanted: Vec<f64> = (0..x.len())
        .map(|i| {
            let (row, c, first) = (i / (heads * 2 * half), i % half, i % (2 * half) < half);
            let (cos, sin) = (f64::from(cos[row * half + c]), f64::from(sin[row * half + c]));
            if first { x[i] * cos - x[i + half] * sin } else { x[i] * cos + x[i - half] * sin }
        })
        .collect();
    near(&y.download()?, &wanted, 1e-6);
    Ok(())
}

pub(crate) fn rows(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(2);
    let softmax = |row: &[f64]| {
        let most = row.iter().fold(f64::NEG_INFINITY, |most, x| most.max(*x));
        let powers: Vec<f64> = row.iter().map(|x| (x - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect::<Vec<_>>()
    };
    for (m, n) in [(5, 1024), (16, 1000), (3, 1), (1, 777)] {
        let x = random::<bf16>(&mut rng, m * n);
        let xs = DeviceArray::upload(device, &x, [m, n])?;
        let wanted = by_rows(&wide(&x), n, softmax);
        for long in [false, true] {
            let mut y = poisoned::<bf16, 2>(device, [m, n])?;
            match long {
                false => tile::softmax::<bf16, 4, 1024>(&xs, &mut y).run()?,
                true => tile::softmax_long::<bf16, 512>(&xs, &mut y).grid([m as u32]).run()?,
            }
            near(&y.download()?, &wanted, 1e-5);
        }
        let target: Vec<i32> = (0..m).map(|_| rng.random_range(0..n as i32)).collect();
        let targets = DeviceArray::upload(device, &target, [m])?;
        let mut loss = poisoned::<f32, 1>(device, [m])?;
        tile::cross_entropy::<bf16, 1024>(&xs, &targets, &mut loss).run()?;
        let wanted: Vec<f64> =
            wanted.chunks(n).zip(&target).map(|(row, at)| -row[*at as usize].ln()).collect();
        near(&loss.download()?, &wanted, 1e-5);
        let mut best = poisoned::<i32, 1>(device, [m])?;
        tile::argmax_rows::<bf16, 1024>(&xs, &mut best).run()?;
        let first = |row: &[bf16]| (0..n).fold(0, |best, i| if row[i] > row[best] { i } else { best });
        near(&best.download()?, &x.chunks(n).map(|row| first(row) as f64).collect::<Vec<_>>(), 0.0);
    }
    Ok(())
}

pub(crate) fn norms(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(3);
    let eps = 1e-5f32;
    for (m, n) in [(5, 1024), (6, 1000), (2, 8)] {
        let x = random::<bf16>(&mut rng, m * n);
        let [w, b] = [random::<bf16>(&mut rng, n), random::<bf16>(&mut rng, n)];
        let xs = DeviceArray::upload(device, &x, [m, n])?;
        let [ws, bs] = [DeviceArray::upload(device, &w, [n])?, DeviceArray::upload(device, &b, [n])?];
        let (w, b) = (wide(&w), wide(&b));
        let normed = |row: &[f64], centre: bool| {
            let mean = if centre { row.iter().sum::<f64>() / n as f64 } else { 0.0 };
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
            let root = 1.0 / (variance + f64::from(eps)).sqrt();
            (0..n)
                .map(|i| (row[i] - mean) * root * w[i] + if centre { b[i] } else { 0.0 })
                .collect::<Vec<_>>()
        };
        for centre in [false, true] {
            let wanted = by_rows(&wide(&x), n, |row| normed(row, centre));
            for long in [false, true] {
                let mut y = poisoned::<bf16, 2>(device, [m, n])?;
                match (centre, long) {
                    (false, false) => tile::rmsnorm::<bf16, 4, 1024>(&xs, &ws, &mut y, eps).run()?,
                    (false, true) => {
                        tile::rmsnorm_long::<bf16, 256>(&xs, &ws, &mut y, eps).grid([m as u32]).run()?
                    }
                    (true, false) => tile::layernorm::<bf16, 2, 1024>(&xs, &ws, &bs, &mut y, eps).run()?,
                    (true, true) => {
                        tile::layernorm_long::<bf16, 256>(&xs, &ws, &bs, &mut y, eps)
                            .grid([m as u32])
                            .run()?;
                    }
                }
                near(&y.download()?, &wanted, 1e-5);
            }
        }
    }
    Ok(())
}

pub(crate) fn sums(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(4);
    for (m, n) in [(3, 4096), (130, 37), (1, 1)] {
        let x = random::<f32>(&mut rng, m * n);
        let xs = DeviceArray::upload(device, &x, [m, n])?;
        let x = wide(&x);
        let mut y = poisoned::<f32, 1>(device, [m])?;
        tile::row_sum::<2, 512>(&xs, &mut y).run()?;
        near(&y.download()?, &by_rows(&x, n, |row| vec![row.iter().sum()]), 1e-5);
        let mut y = poisoned::<f32, 1>(device, [n])?;
        tile::column_sum::<32, 32>(&xs, &mut y).run()?;
        let wanted: Vec<f64> = (0..n).map(|c| (0..m).map(|r| x[r * n + c]).sum()).collect();
        near(&y.download()?, &wanted, 1e-5);
        let mut y = poisoned::<f32, 2>(device, [m, n])?;
        tile::cumsum::<f32, 512>(&xs, &mut y).grid([m as u32]).run()?;
        let running = |row: &[f64]| {
            let mut sum = 0.0;
            row.iter()
                .map(|x| {
                    sum += x;
                    sum
                })
                .collect()
        };
        near(&y.download()?, &by_rows(&x, n, running), 1e-5);
        let flat = DeviceArray::upload(device, &x.iter().map(|&x| x as f32).collect::<Vec<_>>(), [m * n])?;
        let mut y = DeviceArray::<f32, 1>::zeros(device, [1])?;
        tile::full_sum::<1024>(&flat, &mut y).grid([3]).run()?;
        let total = x.iter().map(|x| x.abs()).sum::<f64>();
        assert!((f64::from(y.download()?[0]) - x.iter().sum::<f64>()).abs() <= 1e-6 * total);
    }
    Ok(())
}

pub(crate) fn moves(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(5);
    for (m, n) in [(64, 128), (70, 33), (1, 1)] {
        let x = random::<bf16>(&mut rng, m * n);
        let xs = DeviceArray::upload(device, &x, [m, n])?;
        let mut y = poisoned::<bf16, 2>(device, [n, m])?;
        tile::transpose::<bf16, 64, 64>(&xs, &mut y).run()?;
        let y = y.download()?;
        assert!((0..m * n).all(|i| y[i % n * m + i / n] == x[i]), "transpose of {m} x {n}");
        let from: Vec<i32> = (0..50).map(|_| rng.random_range(0..m as i32)).collect();
        let rows = DeviceArray::upload(device, &from, [50])?;
        let mut y = poisoned::<bf16, 2>(device, [50, n])?;
        tile::gather_rows::<bf16, 16, 32>(&xs, &rows, &mut y).run()?;
        let y = y.download()?;
        assert!((0..50 * n).all(|i| y[i] == x[from[i / n] as usize * n + i % n]), "rows of {m} x {n}");
    }
    let bytes: Vec<u8> = (0..10_001).map(|_| rng.random_range(0..=255)).collect();
    let xs = DeviceArray::upload(device, &bytes, [bytes.len()])?;
    let mut counts = DeviceArray::<i32, 1>::zeros(device, [256])?;
    tile::histogram::<1024, 256>(&xs, &mut counts).grid([4]).run()?;
    let mut wanted = vec![0; 256];
    bytes.iter().for_each(|&byte| wanted[usize::from(byte)] += 1);
    assert_eq!(counts.download()?, wanted);
    let n = 5000;
    let x = vec![1f32; n];
    let xs = DeviceArray::upload(device, &x, [n])?;
    let mut y = poisoned::<f32, 1>(device, [n])?;
    tile::dropout::<f32, 1024>(&xs, &mut y, 0.25, 42).run()?;
    let y = y.download()?;
    let kept = y.iter().filter(|&&y| y == 1.0 / 0.75).count();
    assert!(y.iter().all(|&y| y == 0.0 || y == 1.0 / 0.75));
    // Five standard deviations of the binomial distribution.
    assert!(
        (kept as f64 - 0.75 * n as f64).abs() < 5.0 * (n as f64 * 0.75 * 0.25).sqrt(),
        "{kept} of {n} are kept"
    );
    let mut again = poisoned::<f32, 1>(device, [n])?;
    tile::dropout::<f32, 1024>(&xs, &mut again, 0.25, 42).run()?;
    assert_eq!(y, again.download()?);
    Ok(())
}
