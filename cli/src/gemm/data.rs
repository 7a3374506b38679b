//! The matrices on the host.

use girih_device::Pod;
use girih_kernels::gemm::{Matrix, Problem};
use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::Error;
use crate::npy::Npy;

/// Where A and B come from.
pub(crate) enum Source {
    /// Uniform in -1..1, from a seed.
    Random(u64),
    /// Two files.
    Files(Box<[Npy; 2]>),
}

impl Source {
    /// What they are, for the report.
    pub(crate) fn origin(&self) -> [String; 2] {
        match self {
            Source::Random(seed) => [(); 2].map(|()| format!("random, seed {seed}")),
            Source::Files(files) => files.each_ref().map(|file| file.path.display().to_string()),
        }
    }

    /// A and B as the problem arranges them.
    pub(crate) fn operands<T: Element + Pod>(self, problem: &Problem) -> Result<[Vec<T>; 2], Error> {
        let [a, b] = match self {
            Source::Random(seed) => {
                let mut rng = StdRng::seed_from_u64(seed);
                [problem.a(), problem.b()].map(|matrix| random(&mut rng, matrix.extents().iter().product()))
            }
            Source::Files(files) => {
                let [a, b] = *files;
                [a.read()?, b.read()?]
            }
        };
        Ok([scatter(a, &problem.a()), scatter(b, &problem.b())])
    }
}

/// `len` elements, uniform in -1..1.
pub(crate) fn random<T: Element>(rng: &mut StdRng, len: i64) -> Vec<T> {
    (0..len).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect()
}

/// Elements of a tight matrix at the pitch of `matrix`; what lies between its rows is NaN, so that a kernel that
/// reads it fails its check.
fn scatter<T: Element>(tight: Vec<T>, matrix: &Matrix) -> Vec<T> {
    let (row, pitch) = (matrix.extents()[matrix.contiguous()] as usize, matrix.ld() as usize);
    if row == pitch || tight.is_empty() {
        return tight;
    }
    let mut out = vec![T::from_f64(f64::NAN); matrix.span() as usize];
    for (to, from) in out.chunks_mut(pitch).zip(tight.chunks(row)) {
        to[..row].copy_from_slice(from);
    }
    out
}

/// The opposite: the elements of `matrix` without what lies between its rows.
pub(crate) fn gather<T: Element>(data: &[T], matrix: &Matrix) -> Vec<T> {
    let row = matrix.extents()[matrix.contiguous()] as usize;
    data.chunks(matrix.ld() as usize).flat_map(|line| &line[..row]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih_kernels::gemm::Layout;
    use girih_tensor::DType;

    #[test]
    fn scatter_puts_each_element_at_its_offset_and_gather_takes_it_back() {
        for mnk in [[3, 4, 5], [1, 1, 1], [5, 0, 2], [2, 3, 0], [7, 1, 3]] {
            for (layout, pad) in Layout::ALL.into_iter().flat_map(|l| [0, 1, 6].map(|pad| (l, pad))) {
                let tight = Problem::new(DType::F32, mnk, layout).expect("small");
                let lda = Some(tight.a().ld() + pad);
                let matrix = tight.with_pitches(lda, None, None).expect("not too small").a();
                let values: Vec<f32> = (0..matrix.extents().iter().product()).map(|i| i as f32).collect();
                let placed = scatter(values.clone(), &matrix);
                assert_eq!(placed.len() as i64, matrix.span());
                for x in 0..matrix.extents()[0] {
                    for y in 0..matrix.extents()[1] {
                        let at = |m: &Matrix| m.offset(x, y) as usize;
                        assert_eq!(placed[at(&matrix)], values[at(&tight.a())]);
                    }
                }
                assert_eq!(placed.iter().filter(|x| !x.is_nan()).count(), values.len());
                assert_eq!(gather(&placed, &matrix), values);
            }
        }
    }
}
