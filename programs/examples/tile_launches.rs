//! What a launch over tiles costs on the host, beside a prepared launch of the device.
//!
//! On a GPU, the time of calls that put launches into a stream that is not full. On the simulator, where a launch runs before its call
//! returns, the time of calls that put launches into a graph that is never run: what the driver adds is not in it.
//!
//! `cargo run --profile bench -p girih-programs --example tile_launches`, with `GIRIH_DEVICE=cuda` on a GPU.

use std::time::{Duration, Instant};

use girih_device::{Device, Kind, Samples};
use girih_programs::gemm;
use girih_tile::error::Error;
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

/// Launches that are timed together: fewer than a stream takes without waiting.
const CALLS: usize = 200;
const ROUNDS: usize = 41;

/// A call of a number.
type Call<'a> = dyn FnMut(usize) -> Result<(), Error> + 'a;

#[kernel]
fn scaled<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 2>, by: Scalar<f32>) {
    let at = (bid(0), bid(1));
    y.tiles_mut([4, N]).store(at, x.tiles([4, N]).load(at) * by);
}

#[kernel]
fn step(x: &mut Array<f32, 1>) {
    let next = x.tiles([256]).load((bid(0),)) + 1.0;
    x.tiles_mut([256]).store((bid(0),), next);
}

/// The time on the GPU of each of many small kernels, each of which waits for the one before it.
fn chain(device: &Device, early: bool) -> Result<Duration, Error> {
    let mut x = DeviceArray::<f32, 1>::zeros(device, [1 << 14])?;
    let launch = if early { step(&mut x).programmatic() } else { step(&mut x) }.prepare()?;
    let took = device.time(|| (0..CALLS).try_for_each(|_| launch.run()))?;
    Ok(took / CALLS as u32)
}

/// The time of a call, in nanoseconds.
fn time(device: &Device, call: &mut Call<'_>) -> Result<Duration, Error> {
    let mut took = Duration::ZERO;
    let mut calls = || -> Result<(), Error> {
        let start = Instant::now();
        (0..CALLS).try_for_each(&mut *call)?;
        took = start.elapsed();
        Ok(())
    };
    match device.kind() {
        Kind::Sim => drop(device.capture(&mut calls)?),
        Kind::Cuda => {
            calls()?;
            device.synchronize()?;
        }
    }
    Ok(took / CALLS as u32)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(std::env::var("GIRIH_DEVICE").unwrap_or_else(|_| "auto".into()).parse()?)?;
    println!("{device:?}");
    let array = |rows: usize| DeviceArray::<f32, 2>::zeros(&device, [rows, 128]);
    let (x, mut y, mut z) = (array(8)?, array(8)?, array(8)?);
    let (few, mut of_few) = (array(4)?, array(4)?);
    let prepared = scaled::<64>(&x, &mut y, 2.0).prepare()?;
    let raw = prepared.launch().ok_or("no launch")?;
    for rows in [8, 4] {
        scaled::<64>(&array(rows)?, &mut array(rows)?, 2.0).prepare()?;
    }

    let matrix = || DeviceArray::<bf16, 2>::zeros(&device, [256, 256]);
    let (a, b, mut c) = (matrix()?, matrix()?, matrix()?);
    let product = gemm::<bf16, 128, 128, 64>(&a, &b, &mut c).prepare()?;

    let mut of_product = |_: usize| product.run();
    let mut as_product = |_: usize| gemm::<bf16, 128, 128, 64>(&a, &b, &mut c).run();
    let mut same = |_: usize| scaled::<64>(&x, &mut y, 2.0).run();
    let mut turns = |i: usize| match i % 2 {
        0 => scaled::<64>(&x, &mut z, i as f32).run(),
        _ => scaled::<64>(&few, &mut of_few, i as f32).run(),
    };
    let mut again = |_: usize| prepared.run();
    #[allow(unsafe_code, reason = "the launch was checked")]
    // SAFETY: the launch was checked, and its arrays live.
    let mut bare = |_: usize| unsafe { Ok(raw.run()?) };
    let mut ways: [(&str, &mut Call<'_>, Vec<Duration>); 6] = [
        ("a prepared launch of the device", &mut bare, Vec::new()),
        ("a prepared launch over tiles", &mut again, Vec::new()),
        ("a launch with the same arrays", &mut same, Vec::new()),
        ("launches of two sizes by turns, with other numbers", &mut turns, Vec::new()),
        ("a prepared product of matrices", &mut of_product, Vec::new()),
        ("a product of the same matrices", &mut as_product, Vec::new()),
    ];
    // In turns, so that what changes with time changes for all.
    for _ in 0..ROUNDS {
        for (_, way, times) in &mut ways {
            times.push(time(&device, way)?);
        }
    }
    let mut least = None;
    for (name, _, times) in ways {
        let median = times.into_iter().collect::<Samples>().median();
        let least = *least.get_or_insert(median);
        let beyond = median.as_secs_f64() - least.as_secs_f64();
        println!("{:>8.0} ns, {:>+7.0} beyond the first: {name}", median.as_secs_f64() * 1e9, beyond * 1e9);
    }
    if device.kind() == Kind::Cuda {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            times[0].push(chain(&device, false)?);
            times[1].push(chain(&device, true)?);
        }
        let [plain, early] = times.map(|times| times.into_iter().collect::<Samples>().median());
        println!(
            "{plain:?} on the GPU for each of a chain of small kernels, {early:?} where they begin early"
        );
    }
    Ok(())
}
