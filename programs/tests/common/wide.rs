//! Kernels whose blocks have something of one another, launched several times with what the launches before have left.

use girih_device::Device;
use girih_programs as tile;
use half::bf16;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Outcome, near, poisoned, random, wide};
use girih_tile::launch::DeviceArray;

fn running(x: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    x.iter()
        .map(|x| {
            sum += x;
            sum
        })
        .collect()
}

pub(crate) fn scans(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(6);
    // One state for grids of all sizes.
    let mut state = DeviceArray::<u64, 1>::zeros(device, [200])?;
    for n in [1, 511, 512, 513, 40_000, 70_001] {
        let grid = [(n as u32).div_ceil(512)];
        let x = random::<f32>(&mut rng, n);
        let xs = DeviceArray::upload(device, &x, [n])?;
        let mut y = poisoned::<f32, 1>(device, [n])?;
        tile::cumsum_all::<f32, f32, 512, 32>(&xs, &mut y, &mut state).grid(grid).run()?;
        near(&y.download()?, &running(&wide(&x)), 1e-5);

        let x: Vec<i32> = (0..n).map(|_| rng.random()).collect();
        let xs = DeviceArray::upload(device, &x, [n])?;
        let mut y = poisoned::<i32, 1>(device, [n])?;
        tile::cumsum_all::<i32, i32, 512, 128>(&xs, &mut y, &mut state).grid(grid).run()?;
        let mut sum = 0i32;
        let wanted: Vec<i32> = x
            .iter()
            .map(|x| {
                sum = sum.wrapping_add(*x);
                sum
            })
            .collect();
        assert_eq!(y.download()?, wanted, "{n} elements");
    }
    let x = random::<bf16>(&mut rng, 3000);
    let xs = DeviceArray::upload(device, &x, [3000])?;
    let mut y = poisoned::<bf16, 1>(device, [3000])?;
    tile::cumsum_all::<bf16, f32, 512, 256>(&xs, &mut y, &mut state).grid([6]).run()?;
    near(&y.download()?, &running(&wide(&x)), 1e-2);
    Ok(())
}

pub(crate) fn reductions(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(7);
    let mut count = DeviceArray::<u32, 1>::zeros(device, [1])?;
    for (n, blocks) in [(1, 1), (1000, 3), (1024, 4), (70_001, 7), (5000, 30)] {
        // More room than there are blocks, and what nobody wrote.
        let mut parts = poisoned::<f32, 1>(device, [blocks + 2])?;
        let x = random::<f32>(&mut rng, n);
        let xs = DeviceArray::upload(device, &x, [n])?;
        let mut first = None;
        for _ in 0..2 {
            let mut y = poisoned::<f32, 1>(device, [1])?;
            tile::sum_all::<f32, f32, 1024>(&xs, &mut y, &mut parts, &mut count)
                .grid([blocks as u32])
                .run()?;
            let y = y.download()?;
            let total = x.iter().map(|x| f64::from(x.abs())).sum::<f64>();
            assert!((f64::from(y[0]) - x.iter().map(|&x| f64::from(x)).sum::<f64>()).abs() <= 1e-6 * total);
            assert_eq!(*first.get_or_insert(y.clone()), y, "the same each time");
        }

        let mut most = poisoned::<f32, 1>(device, [blocks + 2])?;
        let mut places = poisoned::<i32, 1>(device, [blocks + 2])?;
        // Equals, NaN, infinities, and nothing but one of these.
        let few = |rng: &mut StdRng| [1.0, 2.0, f32::NAN, f32::NEG_INFINITY][rng.random_range(0..4)];
        let some: Vec<f32> = (0..n).map(|_| few(&mut rng)).collect();
        for x in [x, some, vec![f32::NAN; n], vec![f32::NEG_INFINITY; n]] {
            let best = x.iter().enumerate().fold(None, |best: Option<(usize, f32)>, (i, &x)| match best {
                Some((_, most)) if x <= most => best,
                _ if x.is_nan() => best,
                _ => Some((i, x)),
            });
            let xs = DeviceArray::upload(device, &x, [n])?;
            let mut y = poisoned::<i32, 1>(device, [1])?;
            tile::argmax_all::<f32, 512>(&xs, &mut y, &mut most, &mut places, &mut count)
                .grid([blocks as u32])
                .run()?;
            assert_eq!(y.download()?, [best.map_or(0, |(at, _)| at as i32)], "{n} elements, {blocks} blocks");
        }
    }
    assert_eq!(count.download()?, [0]);
    Ok(())
}

pub(crate) fn segments(device: &Device) -> Outcome {
    let mut rng = StdRng::seed_from_u64(8);
    let mut state = DeviceArray::<u64, 1>::zeros(device, [100])?;
    // Elements, segments, and how many elements most segments have.
    for (n, count, most) in
        [(1, 1, 1), (5000, 3000, 4), (5000, 7, 2000), (2048, 40, 1), (3000, 1, 3000), (700, 900, 9)]
    {
        // Elements before the first segment and after the last, and segments without any at both ends.
        let mut offsets = vec![rng.random_range(0..=n / 4)];
        while offsets.len() <= count {
            let length = if rng.random_bool(0.3) { 0 } else { rng.random_range(0..=most) };
            let last = offsets[offsets.len() - 1];
            offsets.push((last + length).min(n));
        }
        if rng.random() {
            offsets[0] = 0;
            offsets[count] = n;
        }
        let places: Vec<i32> = offsets.iter().map(|&at| at as i32).collect();
        let os = DeviceArray::upload(device, &places, [count + 1])?;
        let grid = [(n as u32).div_ceil(512)];

        let x: Vec<i32> = (0..n).map(|_| rng.random_range(-1000..1000)).collect();
        let wanted: Vec<i32> = offsets.windows(2).map(|part| x[part[0]..part[1]].iter().sum()).collect();
        let xs = DeviceArray::upload(device, &x, [n])?;
        let mut y = poisoned::<i32, 1>(device, [count])?;
        tile::segment_sum::<i32, i32, 512, 32>(&xs, &os, &mut y, &mut state).grid(grid).run()?;
        assert_eq!(y.download()?, wanted, "{n} elements in {count} segments");

        let x = random::<bf16>(&mut rng, n);
        let xs = DeviceArray::upload(device, &x, [n])?;
        let mut y = poisoned::<f32, 1>(device, [count])?;
        tile::segment_sum::<bf16, f32, 512, 128>(&xs, &os, &mut y, &mut state).grid(grid).run()?;
        let x = wide(&x);
        for (at, (part, y)) in offsets.windows(2).zip(y.download()?).enumerate() {
            let part = &x[part[0]..part[1]];
            let (sum, all) = (part.iter().sum::<f64>(), part.iter().map(|x| x.abs()).sum::<f64>());
            assert!((f64::from(y) - sum).abs() <= 1e-6 * all, "segment {at} of {count}: {y}, not {sum}");
        }
    }
    Ok(())
}
