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
