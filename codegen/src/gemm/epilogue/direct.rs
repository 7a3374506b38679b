//! Stores the results of an epilogue from registers to global memory.

use girih_tensor::Tensor;

use super::AtTile;
use super::gate::once_for_pairs;
use crate::algorithm::copy;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::gemm::mainloop::Sums;
use crate::tiled::mma::Operand;
use crate::{Error, Gmem};

/// Stores the results of `epilogue` on the accumulators to a tile of C, (BlockM,BlockN).
pub(in crate::gemm) fn store(
    b: &mut Builder,
    epilogue: &AtTile<'_>,
    sums: &Sums,
    tile: &Tensor<Gmem>,
) -> Result<(), Error> {
    let c = sums.thread.partition(Operand::C, tile)?; // (FrgV,RestM,RestN)
    epilogue.for_each_piece(b, &sums.values, |b, values, piece| {
        let c = piece.of(&c)?;
        let c = if epilogue.epilogue.is_gated() { once_for_pairs(&c)? } else { c };
        copy(b, AUTO_VECTORIZING_COPY, values, &c)
    })
}
