//! Registers to global memory: what becomes of the sums goes to C.

use girih_tensor::Tensor;

use super::AtTile;
use crate::algorithm::copy;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::{Error, Gmem, Rmem};

/// Stores what `epilogue` makes of the sums, (FrgV,RestM,RestN), to what the thread has of C, (FrgV,RestM,RestN).
pub(in crate::gemm) fn store(
    b: &mut Builder,
    epilogue: &AtTile<'_>,
    sums: &Tensor<Rmem>,
    c: &Tensor<Gmem>,
) -> Result<(), Error> {
    epilogue.for_each_piece(b, sums, |b, values, piece| copy(b, AUTO_VECTORIZING_COPY, values, &piece.of(c)?))
}
