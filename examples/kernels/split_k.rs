//! A product whose sum over K several blocks share, each adding its part atomically: for few tiles and a long K.

use girih::codegen::algorithm::{clear, copy, gemm};
use girih::codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, SM80_16X8X16_F32F16F16F32_TN};
use girih::codegen::{Builder, Error, Expr, Gmem, Kernel, Operand, TiledMma};
use girih::device::{Device, args};
use girih::layout::{lay, tiler};
use girih::ptx::{Module, Special};
use girih::tensor::{DType, Tensor};
use half::f16;

use crate::Outcome;

/// The kernel `split_k(m, n, k, steps, a, b, c)`: `C(m,n) += A(m,k) * B(n,k)`, by each block `steps` tiles of 32 along K; `add` is the
/// copy that adds.
pub(super) fn split_k(add: CopyAtom) -> Result<Kernel, Error> {
    let mut b = Builder::new("split_k", 80, 128);
    let [m, n, k, steps] = b.symbols(["m", "n", "k", "steps"], |n| n.at_least(1).at_most(1 << 20))?;
    let a_all = Gmem::matrix(&mut b, "a", DType::F16, [m, k], k)?;
    let b_all = Gmem::matrix(&mut b, "b", DType::F16, [n, k], k)?;
    let c_all = Gmem::matrix(&mut b, "c", DType::F32, [m, n], n)?;
    let [i, j, part] = [Special::CtaidX, Special::CtaidY, Special::CtaidZ].map(|at| b.special(at));
    let steps = Expr::from_int(&steps.into());
    let mma = TiledMma::new(SM80_16X8X16_F32F16F16F32_TN, lay!("(2,2,1):(1,2,0)"))?; // (32,16,16)
    let mine = mma.get_slice(&b.special(Special::TidX))?;

    let tile = c_all.local_tile(&tiler!("<64,64>"), (&i, &j))?;
    let sums = mine.partition_fragment(&mut b, Operand::C, &tile)?; // (4,2,4)
    clear(&mut b, &sums)?;
    b.for_range(&steps, |b, step| {
        let at = &(&part * &steps) + step;
        let load = |b: &mut Builder, operand, all: &Tensor<Gmem>, x: &Expr| {
            let tile = all.local_tile(&tiler!("<64,32>"), (x, &at))?;
            let values = mine.partition_fragment(b, operand, &tile)?; // (FrgV,RestX,2)
            clear(b, &values)?;
            copy(b, AUTO_VECTORIZING_COPY, &mine.partition(operand, &tile)?, &values)?;
            Ok::<_, Error>(values)
        };
        let (a, x) = (load(b, Operand::A, &a_all, &i)?, load(b, Operand::B, &b_all, &j)?);
        gemm(b, &mma, &a, &x, &sums)
    })?;
    copy(&mut b, add, &sums, &mine.partition(Operand::C, &tile)?)?;
    b.finish()
}

pub(super) fn run(device: &Device, module: &Module, [m, n, k]: [u32; 3], parts: u32) -> Outcome {
    let number = |i: u32| f16::from_f32((i * 7919 % 17) as f32 - 8.0);
    let [a, b]: [Vec<f16>; 2] = [m * k, n * k].map(|size| (0..size).map(number).collect());

    let (a_device, b_device) = (device.upload(&a)?, device.upload(&b)?);
    let c = device.zeros::<f32>((m * n) as usize)?;
    let args = args![m, n, k, steps = k.div_ceil(32 * parts), a = &a_device, b = &b_device, c];
    let kernel = device.load(module)?.kernel("split_k")?;
    let (config, args) = (kernel.config([m.div_ceil(64), n.div_ceil(64), parts])?, kernel.arguments(&args)?);
    // SAFETY: a block reads tiles of A and B and adds to a tile of C, as far as they go.
    unsafe { kernel.launch(&config, &args) }?;

    let [n, k] = [n, k].map(|n| n as usize);
    for (at, found) in c.download()?.into_iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let products = (0..k).map(|i| a[row * k + i].to_f32() * b[column * k + i].to_f32());
        // Small integers: every sum is exact.
        assert_eq!(found, products.sum::<f32>(), "({row},{column})");
    }
    Ok(())
}
