//! The operands of a product, as often as it takes to leave the L2 cache, and whether C is the product of A and B.

use girih_device::{Buffer, Device, Pod};
use girih_kernels::gemm::{self, Layout, Matrix, Problem};
use girih_tensor::Element;

use crate::contest::Failure;
use crate::data::{Pool, bytes, is_poison};
use crate::rows::Product;

/// Buffers start at multiples of so many bytes, as allocations do.
const LINE: i64 = 256;
/// The rows and the columns of C that are compared with f64.
const SAMPLED: i64 = 32;
/// The most products of a check.
const WORK: i64 = 1 << 26;

/// Sets of A, B and C.
pub struct Operands<'a, T: Pod, C: Pod> {
    product: &'a Product,
    pool: &'a Pool<T>,
    /// A and B of each set.
    pub inputs: Vec<[Buffer<T>; 2]>,
    /// C of each set.
    pub outputs: Vec<Buffer<C>>,
}

impl<'a, T: Element + Pod, C: Element + Pod> Operands<'a, T, C> {
    /// Allocates and fills as many sets as have more than `cold` bytes together, at least two.
    ///
    /// # Errors
    /// The device's.
    pub fn new(device: &Device, product: &'a Product, pool: &'a Pool<T>, cold: i64) -> Result<Self, Failure> {
        let lens = lens(product)?;
        let dtypes = [T::DTYPE, T::DTYPE, C::DTYPE];
        let line = |i: usize| LINE * 8 / i64::from(dtypes[i].bits());
        let strides = [0, 1, 2].map(|i| ((lens[i] + line(i) - 1) / line(i) * line(i)) as usize);
        let set: i64 = (0..3).map(|i| bytes(dtypes[i], lens[i])).sum();
        let sets = (cold / set.max(1) + 1).clamp(2, 256) as usize;
        let [a, b] = [0, 1].map(|i| device.alloc::<T>(sets * strides[i]));
        let ([a, b], c) = ([a?, b?], device.alloc::<C>(sets * strides[2])?);
        c.fill_bytes(0xff)?;
        let part = |set: usize, i: usize| set * strides[i]..set * strides[i] + lens[i] as usize;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for set in 0..sets {
            let pair = [a.slice(part(set, 0))?, b.slice(part(set, 1))?];
            for (i, buffer) in pair.iter().enumerate() {
                pool.fill(buffer, shift(set, i))?;
            }
            inputs.push(pair);
            outputs.push(c.slice(part(set, 2))?);
        }
        Ok(Operands { product, pool, inputs, outputs })
    }

    /// How many sets there are.
    pub fn sets(&self) -> usize {
        self.outputs.len()
    }

    /// Makes every element of C's memory NaN, or -1.
    ///
    /// # Errors
    /// The device's.
    pub fn poison(&self) -> Result<(), Failure> {
        Ok(self.outputs.iter().try_for_each(|c| c.fill_bytes(0xff))?)
    }

    /// Compares some elements of a set's C with f64: those where some rows and columns of it cross, in the first and the last product of
    /// the batch. Every other element of these rows must have been written, and no element between the rows.
    ///
    /// # Errors
    /// What differs; the device's; what refuses the problem.
    pub fn check(&self, set: usize) -> Result<(), Failure> {
        let [m, n, k] = self.product.extents();
        let [a, b, c] = matrices(self.product)?;
        let most = SAMPLED.min(((WORK / k.max(1)) as f64).sqrt() as i64);
        let (rows, columns) = (spread(m, most), spread(n, most));
        let lines = |operand: usize, matrix: Matrix, chosen: &[i64], of: i64| -> Vec<T> {
            let shift = shift(set, operand) + (of * step(&matrix)) as usize;
            let line = |&x: &i64| (0..k).map(move |i| self.pool.at(shift, matrix.offset(x, i) as usize));
            chosen.iter().flat_map(line).collect()
        };
        let mut batch = vec![0, self.product.batch - 1];
        batch.dedup();
        for of in batch {
            let (left, right) = (lines(0, a, &rows, of), lines(1, b, &columns, of));
            let mut found = Vec::new();
            for &row in &rows {
                let line = self.row(set, &c, of * step(&c) + c.offset(row, 0))?;
                // -1 is an ordinary sum of integers.
                let unwritten = |x: &C| C::DTYPE.is_float() && is_poison(*x);
                if let Some(column) = line[..n as usize].iter().position(unwritten) {
                    return Err(format!("element ({row},{column}) of C has not been written").into());
                }
                if line[n as usize..].iter().any(|x| !is_poison(*x)) {
                    return Err(format!("something was written behind row {row} of C").into());
                }
                found.extend(columns.iter().map(|&column| line[column as usize]));
            }
            let sample = [rows.len() as i64, columns.len() as i64, k];
            let sample = Problem::new(self.product.dtype, sample, Layout::Tn)?.with_output(C::DTYPE)?;
            let check = gemm::check(&sample, &left, &right, &found, None)?;
            if !check.passed() {
                let [row, column] = check.worst_at.map(|at| at as usize);
                let at = (rows[row], columns[column]);
                let got = found[row * columns.len() + column];
                return Err(format!("element {at:?} of C is {got:?}: {check:?}").into());
            }
        }
        Ok(())
    }

    /// A row of C and what lies between it and the next.
    fn row(&self, set: usize, c: &Matrix, start: i64) -> Result<Vec<C>, Failure> {
        let (start, buffer) = (start as usize, &self.outputs[set]);
        Ok(buffer.slice(start..(start + c.ld() as usize).min(buffer.len()))?.download()?)
    }
}

/// Elements from a matrix of a batch to the next.
fn step(matrix: &Matrix) -> i64 {
    matrix.extents()[1 - matrix.contiguous()] * matrix.ld()
}

/// The matrices of one product of the batch. How they lie does not depend on the type of their elements.
fn matrices(product: &Product) -> Result<[Matrix; 3], Failure> {
    let [lda, ldb, ldc] = product.pitches().map(Some);
    let problem = Problem::new(girih_tensor::DType::F32, product.extents(), product.layout)?;
    let problem = problem.with_pitches(lda, ldb, ldc)?;
    Ok([problem.a(), problem.b(), problem.c()])
}

/// The elements that A, B and C of a set span.
fn lens(product: &Product) -> Result<[i64; 3], Failure> {
    Ok(matrices(product)?.map(|matrix| (product.batch - 1) * step(&matrix) + matrix.span()))
}

/// Where a buffer of a set begins in the pool.
fn shift(set: usize, operand: usize) -> usize {
    (2 * set + operand) * 1_000_003
}

/// Numbers of `0..extent`: both ends, and others between them by steps that are no multiple of a tile.
fn spread(extent: i64, most: i64) -> Vec<i64> {
    if extent <= most {
        return (0..extent).collect();
    }
    (0..most).map(|i| i * (extent - 1) / (most - 1).max(1)).collect()
}
