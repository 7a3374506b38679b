//! A kernel of one's own: the hard sigmoid `y = clamp(x / 6 + 1/2, 0, 1)` of a vector, from a thread-value layout, a
//! copy atom and a line of inline PTX. `cargo run --release --example own_kernel`

use girih::codegen::algorithm::copy;
use girih::codegen::{Builder, Cond, Error, Expr, Gmem, Kernel, Rmem, atom::UNIVERSAL_COPY_128};
use girih::device::{Arg, Device, Select};
use girih::layout::{Int, Lay, Stride, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

/// The kernel `hard_sigmoid(x, y, n)`, for n a multiple of 4 up to 2^30.
fn hard_sigmoid() -> Result<Kernel, Error> {
    let mut b = Builder::new("hard_sigmoid", 80, 128);
    let (x, y) = (b.pointer("x", 16), b.pointer("y", 16));
    let n = b.symbol("n", |n| n.divisible_by(4).at_least(1).at_most(1 << 30))?;
    let vector = Lay::leaf(Int::symbol(n), Stride::Int(Int::fixed(1)))?; // n:1

    let (block, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let block = b.bounded(&block, (1 << 21) - 1)?;
    let tv = lay!("(128,4):(4,1)"); // (Thr,Val) -> index in the block's 512 elements
    let mine = |pointer: &Expr| -> Result<Tensor<Gmem>, Error> {
        let tiles =
            Tensor::new(Gmem::new(pointer.clone(), DType::F32), vector).zipped_divide(&tiler!("512:1"))?; // (512,n/512)
        let tile = tiles.slice(&Slice::tuple([Slice::All, Slice::At(block.clone())]))?; // (512)
        Ok(tile.tv_partition(&tv, &thread)?) // 4
    };
    let inside = Cond::less(&(&(&block * 512) + &(&thread * 4)), &Expr::from_int(&Int::symbol(n)));

    b.if_(&inside, |b| {
        let values = Rmem::like(b, &mine(&x)?)?;
        copy(b, UNIVERSAL_COPY_128, &mine(&x)?, &values)?;
        for value in values.engine().regs() {
            b.ptx("fma.rn.sat.f32 %0, %0, 0f3E2AAAAB, 0f3F000000;", &[value])?; // x * 1/6 + 1/2, saturated
        }
        copy(b, UNIVERSAL_COPY_128, &values, &mine(&y)?)
    })?;
    b.finish()
}

fn run(select: Select) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(select)?;
    let kernel = device.load(&hard_sigmoid()?)?.kernel("hard_sigmoid")?;

    let n = 10_000;
    let input: Vec<f32> = (0..n).map(|i| (i as f32 - 5000.0) / 1000.0).collect();
    let (x, y) = (device.upload(&input)?, device.zeros::<f32>(n)?);
    let config = kernel.config([n.div_ceil(512) as u32, 1, 1])?;
    let args = kernel.arguments(&[("x", Arg::from(&x)), ("y", Arg::from(&y)), ("n", Arg::U32(n as u32))])?;
    // SAFETY: the kernel reads x and writes y at indices below n only, and both hold n elements.
    #[expect(unsafe_code, reason = "launching one's own PTX")]
    unsafe {
        kernel.launch(&config, &args)?;
    }

    let output = y.download()?;
    for (x, y) in input.iter().zip(&output) {
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
