//! Matrices between files, which are tight, and buffers, where a row may end before the next begins.

use girih_kernels::gemm::Matrix;
use girih_tensor::Element;

/// Elements of a tight matrix at the pitch of `matrix`; what lies between its rows is NaN, so that a kernel that
/// reads it fails its check.
pub(crate) fn scatter<T: Element>(tight: Vec<T>, matrix: &Matrix) -> Vec<T> {
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
