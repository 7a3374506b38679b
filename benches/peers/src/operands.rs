//! The operands of a product, as often as it takes to leave the L2 cache, and whether C is the product of A and B.

use std::ops::Range;
use std::rc::Rc;

use girih_codegen::Operand;
use girih_codegen::gemm::Major;
use girih_device::{Buffer, Pod};
use girih_kernels::gemm::{self, Layout, Matrix, MixedInput, Problem};
use girih_tensor::{DType, Element};
use half::bf16;

use crate::contest::Failure;
use crate::data::{Pool, bytes, is_poison};
use crate::measure::Bench;
use crate::rows::Product;

/// Buffers start at multiples of this many bytes, as allocations do.
const LINE: i64 = 256;
/// The rows and the columns of C that are compared with f64.
const SAMPLED: i64 = 32;
/// Where the residuals and the bias begin in their pool.
const RESIDUAL: usize = 7_001;
const BIAS: usize = 77;

/// The norm of what differs, as a share of C's, below which another library computes the same product.
const ROUGH: f64 = 0.02;

/// How exact a result must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Each element as `girih_kernels::gemm::check` says.
    Exact,
    /// Close enough to be the same product: others round what girih does not.
    Rough,
}

/// Sets of A, B and C.
pub struct Operands<'a, T: Pod, C: Pod> {
    product: &'a Product,
    pool: Rc<Pool<T>>,
    /// The most multiplications of a check.
    most: i64,
    /// A and B of each set.
    pub inputs: Vec<[Buffer<T>; 2]>,
    /// C of each set.
    pub outputs: Vec<Buffer<C>>,
    /// What else C is made of.
    pub(crate) fused: Option<Fused<C>>,
    /// What stands for B, if B has scales.
    pub(crate) weights: Option<Weights>,
    /// Where girih's groups begin, if the products are of groups. Others have groups of equal sizes.
    pub(crate) offsets: Option<(Vec<u32>, Buffer<u32>)>,
}

/// Weights of 8 bits for each set, and their scales.
pub(crate) struct Weights {
    pools: (Rc<Pool<i8>>, Rc<Pool<bf16>>),
    pub(crate) numbers: Vec<Buffer<i8>>,
    pub(crate) scales: Vec<Buffer<bf16>>,
    /// The elements of K that share a scale, and those from the scales of one group to those of the next.
    group: i64,
    pitch: i64,
}

/// A residual for each set, which is laid out as C is, and one bias for all, with an element for each column of C.
pub(crate) struct Fused<C: Pod> {
    pool: Rc<Pool<C>>,
    pub(crate) residuals: Vec<Buffer<C>>,
    pub(crate) bias: Buffer<C>,
}

/// Rows and columns of C whose crossings are compared, and the elements there.
struct Sample<'a, C> {
    set: usize,
    /// Which A, B and C of the batch.
    of: [i64; 3],
    rows: &'a [i64],
    columns: &'a [i64],
    /// Row after row.
    found: Vec<C>,
}

impl<'a, T: Element + Pod, C: Element + Pod> Operands<'a, T, C> {
    /// Allocates and fills the sets, at least two.
    ///
    /// # Errors
    /// The device's.
    pub fn new(bench: &Bench, product: &'a Product) -> Result<Self, Failure> {
        let (device, pool, mut lens) = (&bench.device, bench.pool::<T>(product.dtype)?, lens(product)?);
        let scaled = product.weights.map(|_| problem(product)).transpose()?;
        let numbers = lens[1];
        let mut set = bytes(T::DTYPE, lens[0] + lens[1]) + bytes(C::DTYPE, lens[2]);
        if scaled.is_some() {
            // Weights stand for B.
            set -= bytes(T::DTYPE, numbers) - bytes(DType::S8, numbers);
            lens[1] = 1;
        }
        let sets = (bench.effort.cold / set.max(1) + 1).clamp(2, 256) as usize;
        let (a, b) = (parts::<T>(bench, sets, lens[0])?, parts::<T>(bench, sets, lens[1])?);
        let inputs: Vec<[Buffer<T>; 2]> = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
        for (set, pair) in inputs.iter().enumerate() {
            pool.fill(&pair[0], shift(set, 0))?;
            pool.fill(&pair[1], shift(set, 1))?;
        }
        let outputs = parts::<C>(bench, sets, lens[2])?;
        outputs.iter().try_for_each(|c| c.fill_bytes(0xff))?;
        let fused = if product.fused {
            let (pool, residuals) = (bench.pool::<C>(product.output)?, parts::<C>(bench, sets, lens[2])?);
            residuals.iter().try_for_each(|residual| pool.fill(residual, RESIDUAL))?;
            let bias = device.alloc(product.mnk[1] as usize)?;
            pool.fill(&bias, BIAS)?;
            Some(Fused { pool, residuals, bias })
        } else {
            None
        };
        let weights = scaled.map(|problem| Weights::new(bench, &problem, sets, numbers)).transpose()?;
        let offsets = product.grouped.then(|| offsets(product.mnk[0], product.batch));
        let offsets = offsets.map(|host| device.upload(&host).map(|buffer| (host, buffer))).transpose()?;
        let most = bench.effort.check;
        Ok(Operands { product, pool, most, inputs, outputs, fused, weights, offsets })
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
    pub fn check(&self, set: usize, bounds: Bounds) -> Result<(), Failure> {
        let [m, _, _] = self.product.extents();
        let mut batch = vec![0, self.product.batch - 1];
        batch.dedup();
        batch.into_iter().try_for_each(|of| self.check_product(set, bounds, [of; 3], 0..m))
    }

    /// The same of girih's result, whose groups have uneven sizes if the products are of groups.
    pub(crate) fn check_own(&self, set: usize) -> Result<(), Failure> {
        let Some((offsets, _)) = &self.offsets else { return self.check(set, Bounds::Exact) };
        let mut groups = offsets.windows(2).enumerate().filter(|(_, pair)| pair[0] < pair[1]);
        // A and C are those of all groups.
        [groups.next(), groups.next_back()].into_iter().flatten().try_for_each(|(group, pair)| {
            let rows = i64::from(pair[0])..i64::from(pair[1]);
            self.check_product(set, Bounds::Exact, [0, group as i64, 0], rows)
        })
    }

    /// Compares some elements of one product, whose rows are these.
    fn check_product(
        &self,
        set: usize,
        bounds: Bounds,
        of: [i64; 3],
        rows: Range<i64>,
    ) -> Result<(), Failure> {
        let [_, n, k] = self.product.extents();
        let c = matrices(self.product)?[2];
        let most = SAMPLED.min(((self.most / k.max(1)) as f64).sqrt() as i64);
        let spread_rows: Vec<i64> =
            spread(rows.end - rows.start, most).into_iter().map(|row| rows.start + row).collect();
        let (rows, columns) = (&*spread_rows, &*spread(n, most));
        let mut found = Vec::new();
        for &row in rows {
            let line = self.row(set, &c, of[2] * step(&c) + c.offset(row, 0))?;
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
        self.compare(&Sample { set, of, rows, columns, found }, bounds)
    }

    /// A row of C and what is between it and the next.
    fn row(&self, set: usize, c: &Matrix, start: i64) -> Result<Vec<C>, Failure> {
        let (start, buffer) = (start as usize, &self.outputs[set]);
        Ok(buffer.slice(start..(start + c.ld() as usize).min(buffer.len()))?.download()?)
    }

    /// Rows of A or columns of B, one after the other.
    fn lines(&self, sample: &Sample<'_, C>, operand: usize) -> Result<Vec<T>, Failure> {
        let (matrix, k) = (matrices(self.product)?[operand], self.product.mnk[2]);
        let shift = shift(sample.set, operand) + (sample.of[operand] * step(&matrix)) as usize;
        let line = |&x: &i64| (0..k).map(move |i| self.pool.at(shift, matrix.offset(x, i) as usize));
        Ok([sample.rows, sample.columns][operand].iter().flat_map(line).collect())
    }

    fn compare(&self, sample: &Sample<'_, C>, bounds: Bounds) -> Result<(), Failure> {
        let Sample { rows, columns, found, .. } = sample;
        let mnk = [rows.len() as i64, columns.len() as i64, self.product.mnk[2]];
        let left = self.lines(sample, 0)?;
        if let Some(weights) = &self.weights {
            let left: Vec<f32> = left.iter().map(|x| x.to_f64() as f32).collect();
            let right = weights.lines(sample.set, columns, &matrices(self.product)?[1]);
            let problem = Problem::new(self.product.dtype, mnk, Layout::Tn)?.with_output(C::DTYPE)?;
            let check = gemm::check(&problem, &left, &right, found, None)?;
            return if check.passed() { Ok(()) } else { Err(format!("{check:?}").into()) };
        }
        let right = self.lines(sample, 1)?;
        if let Some(fused) = &self.fused {
            return self.compare_fused(fused, sample, &left, &right, bounds);
        }
        let problem = Problem::new(self.product.dtype, mnk, Layout::Tn)?.with_output(C::DTYPE)?;
        let problem = problem.with_fast_accumulation(self.product.fast);
        let check = gemm::check(&problem, &left, &right, found, None)?;
        if check.passed() || bounds == Bounds::Rough && check.relative_error < ROUGH {
            return Ok(());
        }
        let [row, column] = check.worst_at.map(|at| at as usize);
        let (at, got) = ((rows[row], columns[column]), found[row * columns.len() + column]);
        Err(format!("element {at:?} of C is {got:?}: {check:?}").into())
    }

    /// The same with the residual, the bias and the GELU.
    fn compare_fused(
        &self,
        fused: &Fused<C>,
        sample: &Sample<'_, C>,
        left: &[T],
        right: &[T],
        bounds: Bounds,
    ) -> Result<(), Failure> {
        let k = self.product.mnk[2] as usize;
        let c = matrices(self.product)?[2];
        for (i, &row) in sample.rows.iter().enumerate() {
            for (j, &column) in sample.columns.iter().enumerate() {
                let pairs = left[i * k..][..k].iter().zip(&right[j * k..][..k]);
                let products = pairs.map(|(a, b)| a.to_f64() * b.to_f64());
                let (sum, size) = products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
                let at = (sample.of[2] * step(&c) + c.offset(row, column)) as usize;
                let residual = fused.pool.at(RESIDUAL, at).to_f64();
                let wanted = gelu(sum + residual + fused.pool.at(BIAS, column as usize).to_f64());
                let bound = C::DTYPE.epsilon() * wanted.abs() + 1e-5 * size + 1e-3;
                let got = sample.found[i * sample.columns.len() + j].to_f64();
                let bound = if bounds == Bounds::Rough { bound.max(ROUGH * wanted.abs()) } else { bound };
                // Comparisons with NaN are false.
                if (got - wanted).abs() <= bound {
                    continue;
                }
                return Err(
                    format!("element ({row},{column}) of C is {got}, not {wanted} +- {bound:.1e}").into()
                );
            }
        }
        Ok(())
    }
}

impl Weights {
    fn new(bench: &Bench, problem: &Problem, sets: usize, len: i64) -> Result<Weights, Failure> {
        let pools = (bench.pool::<i8>(DType::S8)?, bench.pool::<bf16>(DType::Bf16)?);
        let (group, pitch) =
            (problem.mixed_input().map_or(1, |mixed| mixed.group), problem.pitch_of_scales(Operand::B));
        let groups = (problem.mnk()[2] + group - 1) / group;
        let (numbers, scales) = (parts::<i8>(bench, sets, len)?, parts::<bf16>(bench, sets, groups * pitch)?);
        for (set, (numbers, scales)) in numbers.iter().zip(&scales).enumerate() {
            pools.0.fill(numbers, shift(set, 1))?;
            pools.1.fill(scales, shift(set, 0))?;
        }
        Ok(Weights { pools, numbers, scales, group, pitch })
    }

    /// Columns of a set's B, which is laid out as `matrix` says, each number times its scale, one after the other.
    fn lines(&self, set: usize, columns: &[i64], matrix: &Matrix) -> Vec<f32> {
        let [_, k] = matrix.extents();
        let element = |x: i64, i: i64| {
            let number = self.pools.0.at(shift(set, 1), matrix.offset(x, i) as usize);
            let scale = self.pools.1.at(shift(set, 0), (i / self.group * self.pitch + x) as usize);
            f32::from(number) * scale.to_f32()
        };
        columns.iter().flat_map(|&x| (0..k).map(move |i| element(x, i))).collect()
    }
}

/// GELU by its approximation with the hyperbolic tangent, which is cuBLASLt's.
fn gelu(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
    x / 2.0 * (1.0 + inner.tanh())
}

/// Buffers of `len` elements, one for each set, in one allocation.
fn parts<T: Element + Pod>(bench: &Bench, sets: usize, len: i64) -> Result<Vec<Buffer<T>>, Failure> {
    let line = LINE * 8 / i64::from(T::DTYPE.bits());
    let stride = ((len + line - 1) / line * line) as usize;
    let all = bench.device.alloc::<T>(sets * stride)?;
    let part = |set: usize| all.slice(set * stride..set * stride + len as usize);
    Ok((0..sets).map(part).collect::<Result<_, _>>()?)
}

/// Elements from a matrix of a batch to the next.
fn step(matrix: &Matrix) -> i64 {
    matrix.extents()[1 - matrix.contiguous()] * matrix.ld()
}

/// girih's problem, where girih has such products.
pub(crate) fn problem(product: &Product) -> Result<Problem, Failure> {
    let lacks = |what: &str| Err(format!("girih has no {what}").into());
    if product.grouped
        && (product.layout.majors()[0] == Major::Mn || product.fused || product.weights.is_some())
    {
        return lacks("grouped products beside which others have a batch in the same memory");
    }
    let [lda, ldb, ldc] = product.pitches().map(Some);
    let problem = Problem::new(product.dtype, product.mnk, product.layout)?;
    let problem = problem.with_fast_accumulation(product.fast);
    let mut problem = problem.with_output(product.output)?.with_pitches(lda, ldb, ldc)?;
    if let Some(dtype) = product.weights {
        problem = problem.with_mixed_input(MixedInput { dtype, scale: DType::Bf16, group: 128 })?;
    }
    Ok(if product.grouped {
        problem.grouped(product.batch, None)?
    } else {
        problem.batched(product.batch, [None; 3])?
    })
}

/// The matrices of one product of the batch. How they are laid out does not depend on the type of their elements.
fn matrices(product: &Product) -> Result<[Matrix; 3], Failure> {
    let [lda, ldb, ldc] = product.pitches().map(Some);
    let problem = Problem::new(DType::F32, product.extents(), product.layout)?;
    let problem = problem.with_pitches(lda, ldb, ldc)?;
    Ok([problem.a(), problem.b(), problem.c()])
}

/// The elements that A, B and C of a set span.
fn lens(product: &Product) -> Result<[i64; 3], Failure> {
    Ok(matrices(product)?.map(|matrix| (product.batch - 1) * step(&matrix) + matrix.span()))
}

/// Where `groups` groups of `rows` rows begin, and the last one ends: the largest have seven times as many rows as the smallest.
fn offsets(rows: i64, groups: i64) -> Vec<u32> {
    let weight = |group: i64| 1 + group * 5 % 7;
    let all: i64 = (0..groups).map(weight).sum();
    let mut before = 0;
    let mut next = |group| {
        before += weight(group);
        (rows * before / all.max(1)) as u32
    };
    [0].into_iter().chain((0..groups).map(&mut next)).collect()
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
