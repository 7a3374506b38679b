//! Layer normalisation: a block has a row, and adds up its values in two stages, in warps and between them.

use girih::codegen::algorithm::{read, transform, warp_reduce, write};
use girih::codegen::{Builder, Cond, Error, Expr, Gmem, Kernel, Scalar, Smem};
use girih::layout::{Int, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

/// A barrier that a kernel lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacks {
    Nothing,
    /// The barrier between the writes of the warps' sums and the reads.
    BeforeReads,
    /// The barrier between the reads and the writes of the next sums.
    AfterReads,
}

const THREADS: u32 = 128;

/// The sum of all threads' `x`, for all threads. Shared memory `sums` has a value for each warp.
fn block_sum(b: &mut Builder, sums: &Tensor<Smem>, x: &Scalar, lacks: Lacks) -> Result<Scalar, Error> {
    let [lane, thread] = [Special::Laneid, Special::TidX].map(|at| b.special(at));
    let warp = thread.div(32)?;
    let sum = warp_reduce(b, x, |x, y| x + y)?;
    let mine = sums.slice(&warp)?;
    b.if_(&Cond::equal(&lane, &Expr::from(0)), |b| {
        write(b, &mine, &[sum]) // sums are written
    })?;
    if lacks != Lacks::BeforeReads {
        b.barrier();
    }
    let all = read(b, sums)?; // sums are read
    if lacks != Lacks::AfterReads {
        b.barrier();
    }
    Ok(all[1..].iter().fold(all[0].clone(), |total, sum| total + sum))
}

/// `y = (x - mean) / sqrt(variance + eps) * weight + bias` for each row of x.
pub(crate) fn layernorm(lacks: Lacks) -> Result<Kernel, Error> {
    let mut b = Builder::new("layernorm", 80, THREADS);
    let [rows, columns] = b.symbols(["rows", "columns"], |n| n.at_least(1).at_most(1 << 20))?;
    let pitch = b.symbol("pitch", |n| n.at_least(4).divisible_by(4).at_most(1 << 20))?;
    let x = Gmem::matrix(&mut b, "x", DType::F32, [rows, columns], pitch)?; // (rows,columns)
    let y = Gmem::matrix(&mut b, "y", DType::F32, [rows, columns], pitch)?; // (rows,columns)
    let weight = Gmem::vector(&mut b, "weight", DType::F32, columns)?; // columns
    let bias = Gmem::vector(&mut b, "bias", DType::F32, columns)?; // columns
    let eps = b.scalar_parameter("eps", DType::F32)?;

    let [row, thread] = [Special::CtaidX, Special::TidX].map(|at| b.special(at));
    let [x, y] = [&x, &y].map(|m| m.slice((&row, Slice::All)));
    let [x, y, weight, bias] =
        [&x?, &y?, &weight, &bias].map(|v| v.local_tile(&tiler!("<512>"), &[Slice::All])); // (512,k)
    let [x, y, weight, bias] = [x?, y?, weight?, bias?];
    let tv = lay!("(128,4):(4,1)"); // (Thr,Val) -> column
    let mine = |t: &Tensor<Gmem>, step: &Expr| t.slice((Slice::All, step))?.tv_partition(&tv, &thread); // 4

    let sums = Smem::alloc(&mut b, DType::F32, None, &lay!("4:1"))?;
    let steps = Expr::from_int(&Int::symbol(columns).ceil_div(Int::fixed(512))?);
    let count = Scalar::index(&Expr::from_int(&Int::symbol(columns)), DType::U32).to(DType::F32);
    let zero = Scalar::new(DType::F32, 0.0);

    let [sum] = b.fold_range(&steps, [zero.clone()], |b, step, [sum]| {
        let values = read(b, &mine(&x, step)?)?; // zeros where there is no column
        Ok([values.iter().fold(sum, |sum, x| sum + x)])
    })?;
    let mean = block_sum(&mut b, &sums, &sum, lacks)? / &count;
    let [squares] = b.fold_range(&steps, [zero.clone()], |b, step, [mut sum]| {
        let mine = mine(&x, step)?;
        for (at, x) in read(b, &mine)?.iter().enumerate() {
            let apart = (x - &mean).select(&mine.slice(Slice::at(at as i64))?.engine().inside(), 0.0);
            sum = apart.mul_add(&apart, sum);
        }
        Ok([sum])
    })?;
    let variance = block_sum(&mut b, &sums, &squares, lacks)? / &count;
    let scale = 1.0 / (variance + &eps).sqrt();
    b.for_range(&steps, |b, step| {
        let [x, weight, bias] = [mine(&x, step)?, mine(&weight, step)?, mine(&bias, step)?];
        transform(b, &[&x, &weight, &bias], &mine(&y, step)?, |_, v| {
            Ok(((&v[0] - &mean) * &scale).mul_add(&v[1], &v[2]))
        })
    })?;
    b.finish()
}
