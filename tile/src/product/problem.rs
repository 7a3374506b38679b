//! The GEMM problem of a program before its arrays are known.

use girih_kernels::gemm::{Layout, Order, Problem};
use girih_tensor::DType;
use num_integer::lcm;

use super::loops::Sketch;
use super::{Matrix, Scales, refused};
use crate::error::Refusal;
use crate::ir::{ArrayParam, Func, Known};

/// The least extent of a sample: kernels for short ones are others.
const LEAST: i64 = 4097;
/// The same along K, which blocks may share.
const LONG: i64 = (1 << 16) + 1;
/// Products of a sample's batch.
const PRODUCTS: i64 = 3;

/// What a number is a multiple of, if both are known of it.
fn both(a: Known, b: Known) -> Known {
    match (a, b) {
        (Known::Is(n), _) | (_, Known::Is(n)) => Known::Is(n),
        (Known::MultipleOf(a), Known::MultipleOf(b)) => Known::MultipleOf(lcm(a, b)),
    }
}

/// A number from `least` on of which no more is true than is known.
fn number(known: Known, least: i64) -> i64 {
    match known {
        Known::Is(n) => n,
        Known::MultipleOf(by) => by * (((least + by - 1) / by) | 1),
    }
}

/// The extent of a mode that two arrays have.
fn shared(func: &Func, [a, b]: [(&Matrix, usize); 2]) -> Known {
    let known = |(matrix, mode): (&Matrix, usize)| {
        func.param_of(matrix.array).1.extents[usize::from(matrix.modes[mode])]
    };
    both(known(a), known(b))
}

/// Which mode of a matrix is contiguous; the second one where both are.
fn contiguous(param: &ArrayParam, matrix: &Matrix) -> Option<usize> {
    [1, 0].into_iter().find(|&mode| param.strides[usize::from(matrix.modes[mode])] == Known::Is(1))
}

/// The dtypes that are multiplied, summed, and stored.
fn dtypes(func: &Func, sketch: &Sketch<'_>) -> Result<[DType; 3], Refusal> {
    let [a, b] = &sketch.operands;
    if a.dtype != b.dtype {
        let why = format!("{} times {}: operands of one dtype are accepted", a.dtype, b.dtype);
        return Err(refused(func.op(b.load), why));
    }
    let output = func.param_of(sketch.matrices[2].array).1.dtype;
    Ok([a.dtype, func.ty(sketch.sums).dtype, output])
}

/// A problem of which no more is known than of the program's arrays.
pub(super) fn sample(func: &Func, sketch: &Sketch<'_>) -> Result<Problem, Refusal> {
    let [dtype, sums, output] = dtypes(func, sketch)?;
    let matrices = &sketch.matrices;
    let [a, b, c] = matrices;
    let params = matrices.map(|matrix| func.param_of(matrix.array).1);
    let extent = |pair, least| number(shared(func, pair), least);
    let [m, n] = [extent([(a, 0), (c, 0)], LEAST), extent([(b, 0), (c, 1)], LEAST)];
    let k = extent([(a, 1), (b, 1)], LONG);
    let mut along = [0; 3];
    for (i, name) in ["A", "B", "C"].into_iter().enumerate() {
        along[i] = contiguous(params[i], &matrices[i])
            .ok_or_else(|| Refusal::new(format!("{name} (`{}`) has no contiguous axis", params[i].name)))?;
    }
    let layout = match [along[0], along[1]] {
        [1, 1] => Layout::Tn,
        [1, _] => Layout::Tt,
        [_, 1] => Layout::Nn,
        _ => Layout::Nt,
    };
    let order = if along[2] == 1 { Order::Row } else { Order::Column };
    let rows = [[m, k], [n, k], [m, n]];
    let pitch = |i: usize| {
        let stride = params[i].strides[usize::from(matrices[i].modes[1 - along[i]])];
        Some(number(stride, rows[i][along[i]]))
    };
    let aligned = |i: usize| {
        let bytes = i64::from(params[i].align).clamp(i64::from(params[i].dtype.bits()) / 8, 16);
        Some(1 << bytes.max(1).ilog2())
    };
    let problem = Problem::new(dtype, [m, n, k], layout)?;
    let problem = match sketch.scales {
        None => problem,
        Some(Scales::Blocks(_)) => problem.with_block_scales()?,
        Some(Scales::Rows(mixed, _)) => problem.with_mixed_input(mixed)?,
    };
    let problem = problem
        .with_sums(sums)?
        .with_output(output)?
        .with_order(order)
        .with_pitches(pitch(0), pitch(1), pitch(2))?
        .with_alignments(aligned(0), aligned(1), aligned(2))?;
    if c.batch.is_none() && sketch.groups.is_none() {
        return Ok(problem);
    }
    let stride = |i: usize| match matrices[i].batch {
        None => Some(0),
        Some(axis) => {
            let whole = [problem.a(), problem.b(), problem.c()][i];
            let lines = whole.extents()[1 - whole.contiguous()];
            Some(number(params[i].strides[usize::from(axis)], whole.ld() * lines))
        }
    };
    if sketch.groups.is_some() {
        return Ok(problem.grouped(PRODUCTS, stride(1))?);
    }
    let count = match c.batch.map(|axis| params[2].extents[usize::from(axis)]) {
        Some(Known::Is(n)) => n.max(1),
        _ => PRODUCTS,
    };
    Ok(problem.batched(count, [stride(0), stride(1), stride(2)])?)
}
