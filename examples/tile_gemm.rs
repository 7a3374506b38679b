//! The program of the README, a GEMM in the tile language: `cargo run --release --example tile_gemm`.

use girih::device::{Device, Select};
use girih::tile::launch::DeviceArray;
use girih::tile::prelude::*;

/// `c = a b`: a block computes a tile of `c`. Which thread holds what, and what tensor cores and copies do, is girih's.
#[girih::kernel]
fn gemm<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    c: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<T>());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(Select::Sim)?; // `Select::Auto` takes a GPU where there is one
    let a = DeviceArray::upload(&device, &[bf16::ONE; 100 * 70], [100, 70])?;
    let b = DeviceArray::upload(&device, &[bf16::from_f32(0.5); 70 * 250], [70, 250])?;
    let mut c = DeviceArray::zeros(&device, [100, 250])?;
    gemm::<bf16, 64, 128, 32>(&a, &b, &mut c).run()?; // a block for each tile of `c`
    assert_eq!(c.download()?, [bf16::from_f32(35.0); 100 * 250]);
    println!("every element of c is 35; next: docs/tile/1-hello.md");
    Ok(())
}
