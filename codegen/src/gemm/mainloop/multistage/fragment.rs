//! Loads the fragments of a k-block from shared memory to registers.

use girih_layout::{Lay, Shape, Tiler};
use girih_ptx::{Opcode, Operand as Ptx, Type, Word};
use girih_tensor::{DType, Slice, Tensor};

use super::Multistage;
use crate::algorithm::copy;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::sizes::extent;
use crate::tiled::copy::{ThrCopy, TiledCopy};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Rmem, Smem};

/// One thread's fragment loads of an operand.
pub(super) struct FragmentLoad {
    /// The copy by `ldmatrix`; without it, a thread loads its own values in vectors.
    matrices: Option<(TiledCopy, ThrCopy<Expr>)>,
    source: Tensor<Smem>, // (Val,RestX,KAtoms,KBlock,Stage)
}

/// The register layout of an operand's k-block: `(FrgV,RestX,KAtoms)`, compact.
pub(super) fn fragment_layout(
    multistage: &Multistage,
    [x, _]: [i64; 2],
    operand: Operand,
) -> Result<Lay, Error> {
    let block = [x, multistage.atom.shape_mnk[2] * multistage.k_atoms];
    let values = multistage.mma()?.thrfrg(operand, &Lay::col_major(block)?)?.mode(1)?; // (FrgV,(RestX,KAtoms))
    let flat = [values.mode(0)?, values.mode(1)?.mode(0)?, values.mode(1)?.mode(1)?];
    let sizes = flat.iter().map(Lay::size).collect::<Result<Vec<_>, _>>()?;
    Ok(Lay::left(&Shape::flat(&sizes)?)?)
}

/// The instruction that loads an operand's fragments, for the kernel's record.
pub(super) fn name(matrices: &Option<TiledCopy>) -> String {
    match matrices {
        Some(copy) => copy.atom.name(),
        None => AUTO_VECTORIZING_COPY.name(),
    }
}

impl FragmentLoad {
    /// The loads from `shared`, (BlockX,BlockK,Stage).
    pub(super) fn new(
        multistage: &Multistage,
        operand: Operand,
        matrices: &Option<TiledCopy>,
        shared: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<FragmentLoad, Error> {
        let matrices = match matrices {
            Some(copy) => Some((*copy, copy.get_slice(thread)?)),
            None => None,
        };
        let mine = match &matrices {
            Some((_, mine)) => mine.partition_s(shared)?, // (Val,RestX,RestK,Stage)
            None => multistage.mma()?.get_slice(thread)?.partition(operand, shared)?, // (FrgV,RestX,RestK,Stage)
        };
        let layout = mine.layout();
        // The part of RestK in a k-block: a tiled copy's tile holds the block's atoms, while an MMA's partition counts them.
        let together = if matrices.is_some() { 1 } else { multistage.k_atoms };
        let k = layout.mode(2)?.logical_divide(&Tiler::Lay(extent(together)?))?; // (KAtoms,KBlock)
        let modes = [layout.mode(0)?, layout.mode(1)?, k.mode(0)?, k.mode(1)?, layout.mode(3)?];
        let source = Tensor::new(mine.engine().clone(), Lay::concat(&modes)?); // (Val,RestX,KAtoms,KBlock,Stage)
        Ok(FragmentLoad { matrices, source })
    }

    /// Writes the loads of k-block `block` of `stage` into `fragment`, (FrgV,RestX,KAtoms).
    pub(super) fn emit(
        &self,
        b: &mut Builder,
        fragment: &Tensor<Rmem>,
        block: i64,
        stage: &Expr,
    ) -> Result<(), Error> {
        let at = [Slice::At(Expr::from(block)), Slice::At(stage.clone())];
        let source =
            self.source.slice(Slice::tuple([Slice::All, Slice::All, Slice::All].into_iter().chain(at)))?;
        match &self.matrices {
            Some((matrices, mine)) => copy(b, matrices, &source, &mine.retile_d(fragment)?)?,
            None => copy(b, AUTO_VECTORIZING_COPY, &source, fragment)?,
        }
        if fragment.engine().dtype() == DType::Tf32 {
            round(b, fragment.engine());
        }
        Ok(())
    }
}

/// Rounds f32 to tf32: of numbers with more bits, the MMA instruction would cut bits off.
fn round(b: &mut Builder, fragment: &Rmem) {
    for reg in fragment.regs() {
        let words = [Word::Rna.into(), Type::Tf32.into(), Type::F32.into()];
        b.inst(Opcode::Cvt, &words, vec![Ptx::from(reg), Ptx::from(reg)]);
    }
}
