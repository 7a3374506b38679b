//! The matrices of `girih gemm` on the host.

use girih_device::sizes::{size, word};
use girih_kernels::gemm::{Matrix, Problem};
use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::pitch::scatter;
use crate::elements::{Elements, of_dtype};
use crate::npy::Npy;

/// Where A and B come from.
pub(crate) enum Source {
    /// Random elements from a seed.
    Random(u64),
    /// Two files.
    Files(Box<[Npy; 2]>),
}

impl Source {
    /// Where A and B come from, for the report.
    pub(crate) fn origin(&self) -> [String; 2] {
        match self {
            Source::Random(seed) => [(); 2].map(|()| format!("random, seed {seed}")),
            Source::Files(files) => files.each_ref().map(|file| file.path.display().to_string()),
        }
    }

    /// The seed of what is random beside A and B.
    pub(crate) fn seed(&self) -> u64 {
        if let Source::Random(seed) = self { *seed } else { 0 }
    }

    /// The elements of A and B as the problem arranges the matrices.
    pub(crate) fn operands(self, problem: &Problem) -> Result<[Elements; 2], Box<dyn std::error::Error>> {
        of_dtype!(problem.input(), T => {
            let [a, b]: [Vec<T>; 2] = match self {
                Source::Random(seed) => {
                    let mut rng = StdRng::seed_from_u64(seed);
                    [problem.a(), problem.b()].map(|matrix| random(&mut rng, elements(&matrix)))
                }
                Source::Files(files) => {
                    let [a, b] = *files;
                    [a.read()?, b.read()?]
                }
            };
            Ok([scatter(a, &problem.a()).into(), scatter(b, &problem.b()).into()])
        }, other => Err(girih_kernels::Error::unsupported("gemm", other).into()))
    }
}

/// Random A and B, with random elements between their rows too.
pub(crate) fn random_operands(problem: &Problem, seed: u64) -> Result<[Elements; 2], girih_kernels::Error> {
    of_dtype!(problem.input(), T => {
        let mut rng = StdRng::seed_from_u64(seed);
        Ok([problem.a(), problem.b()].map(|matrix| random::<T>(&mut rng, matrix.span()).into()))
    }, other => Err(girih_kernels::Error::unsupported("gemm", other)))
}

/// Where `groups` groups of `rows` rows begin, at random, and where the last one ends: after the last row.
pub(crate) fn offsets(seed: u64, rows: i64, groups: i64) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut offsets: Vec<u32> = (1..groups).map(|_| rng.random_range(0..=word(rows))).collect();
    offsets.extend([0, word(rows)]);
    offsets.sort_unstable();
    offsets.truncate(size(groups) + 1);
    offsets
}

/// Random elements, `len` of them: floats uniform in -1..1, integers from -127 to 127.
pub(crate) fn random<T: Element>(rng: &mut StdRng, len: i64) -> Vec<T> {
    let most = if T::DTYPE.is_float() { 1.0 } else { 127.0 };
    (0..len).map(|_| T::from_f64(rng.random_range(-most..most))).collect()
}

/// How many elements a matrix has; of a batch, all matrices that differ.
fn elements(matrix: &Matrix) -> i64 {
    let matrices = if matrix.batch_stride() == 0 { matrix.batches().min(1) } else { matrix.batches() };
    matrix.extents().iter().product::<i64>() * matrices
}
