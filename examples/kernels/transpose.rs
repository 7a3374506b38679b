//! The transpose of a matrix of any size, in tiles of 32 x 32 through shared memory: both sides access whole rows.

use girih::codegen::algorithm::copy;
use girih::codegen::{Builder, Error, Gmem, Kernel, Smem, atom::AUTO_VECTORIZING_COPY};
use girih::device::{Device, args};
use girih::layout::{Swizzle, lay, tiler};
use girih::ptx::{Module, Special};
use girih::tensor::{DType, Tensor};

use crate::Outcome;

/// The kernel `transpose(rows, columns, x, y)`.
pub(super) fn transpose() -> Result<Kernel, Error> {
    let mut b = Builder::new("transpose", 80, 256);
    let [rows, columns] = b.symbols(["rows", "columns"], |n| n.at_least(1))?;
    let x = Gmem::matrix(&mut b, "x", DType::F32, [rows, columns], columns)?;
    let y = Gmem::matrix(&mut b, "y", DType::F32, [columns, rows], rows)?;

    // Without the swizzle, the 32 threads that read a column of the tile would read from one bank.
    let tile = Smem::alloc(&mut b, DType::F32, Some(Swizzle::new(5, 0, 5)?), &lay!("(32,32):(32,1)"))?;
    let turned = Tensor::new(tile.engine().clone(), lay!("(32,32):(1,32)"));
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let tv = lay!("((32,8),4):((32,1),8)"); // (Thr,Val) -> (row,column): a warp has a row
    let x = x.local_tile(&tiler!("<32,32>"), (&i, &j))?.tv_partition(&tv, &thread)?; // 4
    let y = y.local_tile(&tiler!("<32,32>"), (&j, &i))?.tv_partition(&tv, &thread)?; // 4
    copy(&mut b, AUTO_VECTORIZING_COPY, &x, &tile.tv_partition(&tv, &thread)?)?;
    b.barrier();
    copy(&mut b, AUTO_VECTORIZING_COPY, &turned.tv_partition(&tv, &thread)?, &y)?;
    b.finish()
}

pub(super) fn run(device: &Device, module: &Module, [rows, columns]: [usize; 2]) -> Outcome {
    let input: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();

    let (x, y) = (device.upload(&input)?, device.upload(&vec![f32::NAN; rows * columns])?);
    let [m, n] = [rows, columns].map(|n| n as u32);
    let kernel = device.load(module)?.kernel("transpose")?;
    let args = kernel.arguments(&args![x, y, rows = m, columns = n])?;
    // SAFETY: a block reads and writes a tile of both matrices, as far as they go.
    unsafe { kernel.launch(&kernel.config([m.div_ceil(32), n.div_ceil(32), 1])?, &args) }?;

    for (at, found) in y.download()?.into_iter().enumerate() {
        let (column, row) = (at / rows, at % rows);
        assert_eq!(found, input[row * columns + column], "({row},{column})");
    }
    Ok(())
}
