//! Moves matrices between files, whose rows follow one another, and buffers, which may have a gap between rows.

use girih_device::sizes::size;
use girih_kernels::gemm::Matrix;
use girih_tensor::Element;

/// The elements of a matrix without gaps, put at the pitch of `matrix` and the strides of a batch. The gaps between the rows hold NaN, or
/// the greatest integer, so
/// that a kernel that reads a gap fails the check.
pub(crate) fn scatter<T: Element>(tight: Vec<T>, matrix: &Matrix) -> Vec<T> {
    let (row, pitch) = (size(matrix.extents()[matrix.contiguous()]), size(matrix.ld()));
    if row == 0 || tight.len() == size(matrix.span()) {
        return tight;
    }
    let lines = size(matrix.extents()[1 - matrix.contiguous()]);
    let gap = T::from_f64(if T::DTYPE.is_float() { f64::NAN } else { f64::INFINITY });
    let mut out = vec![gap; size(matrix.span())];
    for (i, from) in tight.chunks(row).enumerate() {
        let at = i / lines * size(matrix.batch_stride()) + i % lines * pitch;
        out[at..at + row].copy_from_slice(from);
    }
    out
}

/// The elements of `matrix` without the gaps between the rows, which is the opposite of [`scatter`].
pub(crate) fn gather<T: Element>(data: &[T], matrix: &Matrix) -> Vec<T> {
    let row = size(matrix.extents()[matrix.contiguous()]);
    data.chunks(size(matrix.ld())).flat_map(|line| &line[..row]).copied().collect()
}
