//! A kernel over whole tiles, from a Rust function to its result: `cargo run --example tile_softmax`.

use girih::device::{Device, Select};
use girih::tile::launch::DeviceArray;
use girih::tile::prelude::*;

/// Softmax of each row of `x`, a block a row.
#[girih::kernel]
fn softmax<T: Float + StoreTo<T>, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>) {
    let row = bid(0);
    let v = x.tiles([1, N]).padding(Padding::NegInf).load((row, 0)).to::<f32>();
    let e = (v - v.max(keep(1))).exp();
    y.tiles_mut([1, N]).store((row, 0), (e / e.sum(keep(1))).to::<T>());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(Select::Sim)?;
    let data: Vec<f32> = (0..4 * 1000).map(|i| (i % 37) as f32 / 8.0).collect();
    let x = DeviceArray::upload(&device, &data, [4, 1000])?;
    let mut y = DeviceArray::zeros(&device, [4, 1000])?;
    // The grid follows from the tiles of `y` that blocks store.
    softmax::<f32, 1000>(&x, &mut y).run()?;
    for row in y.download()?.chunks(1000) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
    println!("{}", softmax::<f32, 1000>::explain(90, &Default::default())?);
    Ok(())
}
