//! Rows of a matrix in the order that a list of indices gives: `y(i,:) = x(index(i),:)`.

use girih::codegen::algorithm::{copy, read};
use girih::codegen::{Builder, Error, Gmem, Kernel, atom::AUTO_VECTORIZING_COPY};
use girih::device::{Device, args};
use girih::layout::{lay, tiler};
use girih::ptx::{Module, Special};
use girih::tensor::DType;

use crate::Outcome;

/// The kernel `gather(from, rows, columns, x, y, index)`; `from` are the rows of x, `rows` those of y. A block moves 512 columns of a row.
pub(super) fn gather() -> Result<Kernel, Error> {
    let mut b = Builder::new("gather", 80, 128);
    let [from, rows, columns] = b.symbols(["from", "rows", "columns"], |n| n.at_least(1))?;
    let x = Gmem::matrix(&mut b, "x", DType::F32, [from, columns], columns)?; // (from,columns)
    let y = Gmem::matrix(&mut b, "y", DType::F32, [rows, columns], columns)?; // (rows,columns)
    let index = Gmem::vector(&mut b, "index", DType::U32, rows)?; // rows

    let [row, chunk, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let chosen = read(&mut b, &index.slice(&row)?)?;
    let chosen = b.index_of(&chosen[0])?;
    let tv = lay!("(128,4):(1,128)"); // (Thr,Val) -> column
    let x = x.local_tile(&tiler!("<1,512>"), (chosen, &chunk))?.tv_partition(&tv, &thread)?; // 4
    let y = y.local_tile(&tiler!("<1,512>"), (row, chunk))?.tv_partition(&tv, &thread)?; // 4
    copy(&mut b, AUTO_VECTORIZING_COPY, &x, &y)?;
    b.finish()
}

pub(super) fn run(device: &Device, module: &Module, [from, rows, columns]: [u32; 3]) -> Outcome {
    let input: Vec<f32> = (0..from * columns).map(|i| i as f32).collect();
    let list: Vec<u32> = (0..rows).map(|i| i * 7919 % from).collect();

    let (x, index) = (device.upload(&input)?, device.upload(&list)?);
    let y = device.upload(&vec![f32::NAN; (rows * columns) as usize])?;
    let kernel = device.load(module)?.kernel("gather")?;
    let args = kernel.arguments(&args![x, y, index, from, rows, columns])?;
    // SAFETY: a block reads an index and a row of x if there is one, and writes a row of y, as many as the grid has.
    unsafe { kernel.launch(&kernel.config([rows, columns.div_ceil(512), 1])?, &args) }?;

    for (found, &row) in y.download()?.chunks(columns as usize).zip(&list) {
        assert_eq!(found, &input[(row * columns) as usize..][..columns as usize], "row {row}");
    }
    Ok(())
}
