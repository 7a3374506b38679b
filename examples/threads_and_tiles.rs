//! Kernels of both kinds in one program, on one stream: a product over tiles, a hand-written kernel of threads on its result, and a sum over
//! tiles of that. `cargo run --release --example threads_and_tiles`

use girih::codegen::algorithm::copy;
use girih::codegen::{Builder, Error, Gmem, Kernel, Rmem, atom::AUTO_VECTORIZING_COPY};
use girih::device::{Device, Select, args};
use girih::layout::{lay, tiler};
use girih::ptx::Special;
use girih::tensor::DType;
use girih::tile::launch::DeviceArray;
use girih::tile::prelude::*;

/// `c = a b`, a tile a block.
#[girih::kernel]
fn product<const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    c: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    c.tiles_mut([BM, BN]).store((i, j), acc);
}

/// The kernel `hard_sigmoid(n, x, y)` of threads: `y = clamp(x / 6 + 1/2, 0, 1)` of n elements, a multiple of 4.
fn hard_sigmoid() -> Result<Kernel, Error> {
    let mut b = Builder::new("hard_sigmoid", 80, 128);
    let n = b.symbol("n", |n| n.at_least(1).divisible_by(4))?;
    let (x, y) = (Gmem::vector(&mut b, "x", DType::F32, n)?, Gmem::vector(&mut b, "y", DType::F32, n)?);
    let (block, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let tv = lay!("(128,4):(4,1)"); // (Thr,Val) -> index in the block's 512 elements
    let x = x.local_tile(&tiler!("<512>"), &block)?.tv_partition(&tv, &thread)?; // 4
    let y = y.local_tile(&tiler!("<512>"), &block)?.tv_partition(&tv, &thread)?; // 4
    let values = Rmem::like(&mut b, &x)?; // 4
    copy(&mut b, AUTO_VECTORIZING_COPY, &x, &values)?;
    for value in values.engine().regs() {
        b.ptx("fma.rn.sat.f32 %0, %0, 0f3E2AAAAB, 0f3F000000;", &[value])?; // x * 1/6 + 1/2, saturated
    }
    copy(&mut b, AUTO_VECTORIZING_COPY, &values, &y)?;
    b.finish()
}

/// `y[r] = sum(x[r, ..])`, a row a block.
#[girih::kernel]
fn row_sum<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let row = bid(0);
    let mut sum = zeros::<f32>([1, N]);
    for k in 0..cdiv(x.dim(1), N) {
        sum += x.tiles([1, N]).padding(Padding::Zero).load((row, k));
    }
    y.tiles_mut([1]).store((row,), sum.sum(1));
}

fn run(select: Select) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(select)?;
    let stream = device.new_stream()?;
    let (m, n, k) = (150, 200, 100);
    let numbers =
        |count: usize, by: usize| (0..count).map(|i| (i * by % 13) as f32 / 4.0 - 1.5).collect::<Vec<_>>();
    let (x, y) = (numbers(m * k, 7), numbers(k * n, 5));
    let rounded = |x: &[f32]| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>();
    let a = DeviceArray::upload(&device, &rounded(&x), [m, k])?;
    let b = DeviceArray::upload(&device, &rounded(&y), [k, n])?;
    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n])?;
    product::<64, 64, 32>(&a, &b, &mut c).on(&stream).run()?;

    // The same stream, so that this waits for the product, and what comes next for this. The memory of arrays is that of buffers.
    let kernel = device.load(&hard_sigmoid()?)?.kernel("hard_sigmoid")?.on(&stream)?;
    let squashed = device.zeros::<f32>(m * n)?;
    let count = (m * n) as u32;
    let arguments = kernel.arguments(&args![n = count, x = c.buffer(), y = &squashed])?;
    // SAFETY: the kernel reads one array and writes the other at indices below `count` only, and both hold so many elements.
    #[expect(unsafe_code, reason = "launching one's own PTX")]
    unsafe { kernel.launch(&kernel.config([count.div_ceil(512), 1, 1])?, &arguments) }?;

    let squashed = DeviceArray::new(squashed, 0, [m, n], [n, 1])?;
    let mut sums = DeviceArray::zeros(&device, [m])?;
    row_sum::<128>(&squashed, &mut sums).on(&stream).run()?;

    for (row, sum) in x.chunks(k).zip(sums.download()?) {
        let product =
            |j: usize| row.iter().zip(y[j..].iter().step_by(n)).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        let wanted: f64 = (0..n).map(|j| (product(j) / 6.0 + 0.5).clamp(0.0, 1.0)).sum();
        assert!((f64::from(sum) - wanted).abs() <= 1e-4 * wanted.abs(), "{sum}, not {wanted}");
    }
    println!("a product, a hard sigmoid and {m} sums on {}: every one is right", device.name());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(Select::Auto)
}

#[test]
fn runs_on_the_simulator() -> Result<(), Box<dyn std::error::Error>> {
    run(Select::Sim)
}
