//! A kernel of one's own: the hard sigmoid `y = clamp(x / 6 + 1/2, 0, 1)` of a vector, from a thread-value layout, a
//! copy and a line of inline PTX. `cargo run --release --example own_kernel`

use girih::codegen::algorithm::copy;
use girih::codegen::{Builder, Error, Gmem, Kernel, Rmem, atom::AUTO_VECTORIZING_COPY};
use girih::device::{Device, Select, args};
use girih::layout::{lay, tiler};
use girih::ptx::Special;
use girih::tensor::DType;

/// The kernel `hard_sigmoid(n, x, y)`, for n a multiple of 4.
fn hard_sigmoid() -> Result<Kernel, Error> {
    let mut b = Builder::new("hard_sigmoid", 80, 128);
    let n = b.symbol("n", |n| n.at_least(1).divisible_by(4))?;
    let x = Gmem::vector(&mut b, "x", DType::F32, n)?; // n
    let y = Gmem::vector(&mut b, "y", DType::F32, n)?;

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

fn run(select: Select) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(select)?;
    let kernel = device.load(&hard_sigmoid()?)?.kernel("hard_sigmoid")?;

    let n = 10_000u32;
    let input: Vec<f32> = (0..n).map(|i| (i as f32 - 5000.0) / 1000.0).collect();
    let (x, y) = (device.upload(&input)?, device.zeros::<f32>(input.len())?);
    let args = kernel.arguments(&args![n, x, y])?;
    // SAFETY: the kernel reads x and writes y at indices below n only, and both hold n elements.
    #[expect(unsafe_code, reason = "launching one's own PTX")]
    unsafe { kernel.launch(&kernel.config([n.div_ceil(512), 1, 1])?, &args) }?;

    for (x, y) in input.iter().zip(&y.download()?) {
        let expected = (f64::from(*x) / 6.0 + 0.5).clamp(0.0, 1.0);
        assert!((f64::from(*y) - expected).abs() <= 1e-6, "hard_sigmoid({x}) = {y}, not {expected}");
    }
    println!("hard_sigmoid of {n} values on {}: every one is right", device.name());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(Select::Auto)
}

#[test]
fn runs_on_the_simulator() -> Result<(), Box<dyn std::error::Error>> {
    run(Select::Sim)
}
