//! The matrices on the host.

use girih_device::Pod;
use girih_kernels::gemm::{Matrix, Problem};
use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::pitch::scatter;
use crate::Error;
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
    pub(crate) fn operands<T: Element + Pod>(self, problem: &Problem) -> Result<[Vec<T>; 2], Error> {
        let [a, b] = match self {
            Source::Random(seed) => {
                let mut rng = StdRng::seed_from_u64(seed);
                [problem.a(), problem.b()].map(|matrix| random(&mut rng, elements(&matrix)))
            }
            Source::Files(files) => {
                let [a, b] = *files;
                [a.read()?, b.read()?]
            }
        };
        Ok([scatter(a, &problem.a()), scatter(b, &problem.b())])
    }
}

/// Where `groups` groups of `rows` rows begin, at random, and where the last one ends: after the last row.
pub(crate) fn offsets(seed: u64, rows: i64, groups: i64) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut offsets: Vec<u32> = (1..groups).map(|_| rng.random_range(0..=rows as u32)).collect();
    offsets.extend([0, rows as u32]);
    offsets.sort_unstable();
    offsets.truncate(groups as usize + 1);
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
