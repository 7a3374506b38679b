//! Recognition of launches whose arrays and grid are those of one whole GEMM.

use girih_codegen::Operand;
use girih_kernels::gemm::Problem;

use super::product::Call;
use super::request::ArrayArgument;
use crate::product::{Arguments, Product, Scale, Scales, Source};

impl Product {
    /// Whether a grid and arguments of these sizes are those of one product.
    pub(crate) fn is_of(&self, grid: [u32; 3], call: Call<'_, '_>) -> bool {
        self.problem_of(&arguments(grid, call), call.arrays).is_some()
    }

    /// The scales: the name that they are given by, the operand, how many of its rows share one, and their array.
    pub(super) fn scales_of(&self) -> impl Iterator<Item = (&'static str, Operand, i64, Scale)> {
        let (a, b) = match self.scales {
            None => (None, None),
            Some(Scales::Blocks([a, b])) => {
                (Some(("scales_a", Operand::A, 1, a)), Some(("scales_b", Operand::B, 128, b)))
            }
            Some(Scales::Rows(_, b)) => (None, Some(("scales", Operand::B, 1, b))),
        };
        a.into_iter().chain(b)
    }

    /// The problem of a launch, if its arrays are those of one and the blocks of its grid store each tile once.
    pub(super) fn problem_of(&self, with: &Arguments, arrays: &[ArrayArgument<'_>]) -> Option<Problem> {
        let extent = |i: usize, mode: usize| {
            let matrix = &self.matrices[i];
            with.extents[matrix.array.index()][usize::from(matrix.modes[mode])]
        };
        let stride = |i: usize, axis: u8| {
            arrays[self.matrices[i].array.index()].array.strides()[usize::from(axis)] as i64
        };
        let ([m, n, k], sample) = ([extent(2, 0), extent(2, 1), extent(0, 1)], &self.problem);
        if [extent(0, 0), extent(1, 0), extent(1, 1)] != [m, n, k] || m == 0 || n == 0 {
            return None;
        }
        let along = [sample.a(), sample.b(), sample.c()];
        let pitch = |i: usize| {
            let other = 1 - along[i].contiguous();
            let stride = stride(i, self.matrices[i].modes[other]);
            // Of one line, the stride is not used.
            let row = along[i].contiguous();
            Some(if extent(i, other) <= 1 { stride.max(extent(i, row)) } else { stride })
        };
        let problem = sample.sized([m, n, k]).ok()?.with_pitches(pitch(0), pitch(1), pitch(2)).ok()?;
        let products = |i: usize| {
            let matrix = &self.matrices[i];
            matrix.batch.map(|axis| with.extents[matrix.array.index()][usize::from(axis)])
        };
        let ends = self.tiles.ends().map(|ends| with.extents[ends.index()][0]);
        // The ends are copied from one to behind the last.
        if self.tiles.ends().is_some_and(|ends| arrays[ends.index()].array.integers().is_none()) {
            return None;
        }
        let problem = match products(2) {
            None if ends.is_some() => {
                let axis = self.matrices[1].batch?;
                if products(1) != ends {
                    return None;
                }
                problem.grouped(ends?, Some(stride(1, axis))).ok()?
            }
            None => problem,
            Some(count) => {
                if [0, 1].into_iter().filter_map(products).any(|other| other != count) {
                    return None;
                }
                let strides = [0, 1, 2].map(|i| {
                    let axis = self.matrices[i].batch;
                    Some(axis.map_or(0, |axis| stride(i, axis)))
                });
                problem.batched(count, strides).ok()?
            }
        };
        for (_, operand, shared, scale) in self.scales_of() {
            let of = arrays[scale.array.index()].array;
            let all = if operand == Operand::A { m } else { n };
            let [rows, groups] = scale.axes.map(usize::from);
            let extents = [of.extents()[rows] as i64, of.extents()[groups] as i64];
            let far = extents[1] <= 1 || of.strides()[groups] as i64 == problem.pitch_of_scales(operand);
            if extents != [(all + shared - 1) / shared, (k + 127) / 128]
                || !far
                || !of.bytes().start.is_multiple_of(16)
            {
                return None;
            }
        }
        let fits = self
            .fused
            .inputs
            .iter()
            .all(|(_, source)| fits(source, with, arrays, [m, n], products(2).or(ends)));
        (fits && self.tiles.cover(&self.func, with, [m, n, k], products(2).or(ends).unwrap_or(1)))
            .then_some(problem)
    }
}

/// A grid and the numbers of a call.
pub(super) fn arguments(grid: [u32; 3], call: Call<'_, '_>) -> Arguments {
    let numbers = |of: &ArrayArgument<'_>| of.array.extents().iter().map(|&n| n as i64).collect();
    let extents = call.arrays.iter().map(numbers).collect();
    Arguments { grid, extents, scalars: call.scalars.iter().map(|&(_, bits)| bits).collect() }
}

/// Whether an array that the epilogue reads has a value for each element of C, and rows that do not overlap.
fn fits(
    source: &Source,
    with: &Arguments,
    arrays: &[ArrayArgument<'_>],
    mn: [i64; 2],
    count: Option<i64>,
) -> bool {
    let Source::Array { array, modes, batch } = source else { return true };
    let extents = &with.extents[array.index()];
    let extent = |axis: &u8| extents[usize::from(*axis)];
    let strides = arrays[array.index()].array.strides();
    let has_all = modes.iter().zip(mn).all(|(mode, n)| mode.as_ref().is_none_or(|axis| extent(axis) >= n));
    let apart = match modes {
        [Some(x), Some(y)] => {
            let (x, y) = (usize::from(*x), usize::from(*y));
            let pair = if strides[y] == 1 { [strides[x] as i64, mn[1]] } else { [strides[y] as i64, mn[0]] };
            pair[0] >= pair[1]
        }
        _ => true,
    };
    has_all
        && apart
        && extents.iter().all(|&n| n > 0)
        && batch.as_ref().is_none_or(|axis| Some(extent(axis)) >= count)
}
