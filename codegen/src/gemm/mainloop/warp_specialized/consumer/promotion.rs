//! Promotion of 8-bit float accumulators (CUTLASS's `GmmaFP8Accumulation`). `wgmma` accumulates 8-bit floats with few bits. So after some
//! instructions its accumulators are added to f32 accumulators of the threads, and start from zero again. If blocks of A and B have scales, the
//! accumulators of a block are scaled at that point.

use girih_layout::{Lay, Tiler};
use girih_tensor::{Slice, Tensor};

use super::Consumer;
use super::scales::of_atom;
use crate::algorithm::{
    MmaWith, clear, gemm, transform, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait,
};
use crate::builder::{Builder, Cond};
use crate::sizes::{ONE, extent, static_size};
use crate::{Descriptor, Error, Expr, Rmem, Scalar, Smem};

/// An operand as the MMAs between two promotions take it: (1,RestX,KAtoms,RestK,Stage).
fn in_intervals(operand: &Tensor<Descriptor>, interval: i64) -> Result<Tensor<Descriptor>, Error> {
    let layout = operand.layout(); // (1,RestX,RestK,Stage)
    let k = layout.mode(2)?.logical_divide(&Tiler::Lay(extent(interval)?))?; // (KAtoms,RestK)
    let modes = [layout.mode(0)?, layout.mode(1)?, k.mode(0)?, k.mode(1)?, layout.mode(3)?];
    Ok(Tensor::new(operand.engine().clone(), Lay::concat(&modes)?))
}

/// The atoms (1,1,KAtoms) of row or column `x` in interval `k` of a stage.
fn atoms(operand: &Tensor<Descriptor>, x: i64, k: i64, stage: &Expr) -> Result<Tensor<Descriptor>, Error> {
    let at = [Slice::All, Slice::at(x), Slice::All, Slice::at(k), Slice::At(stage.clone())];
    let own = operand.slice(Slice::tuple(at))?; // (1,KAtoms)
    let layout = Lay::concat(&[own.layout().mode(0)?, ONE, own.layout().mode(1)?])?;
    Ok(Tensor::new(own.into_engine(), layout))
}

impl Consumer<'_> {
    /// Writes the accumulators over the next `k_tiles` tiles. `partial` has the accumulators of one atom between two promotions, which are multiplied by
    /// `scales`, those of A and of B, if there are scales. While a warpgroup adds, the others multiply.
    pub(super) fn multiply_promoted(
        &self,
        b: &mut Builder,
        k_tiles: &Expr,
        a: &Tensor<Descriptor>,  // (1,RestM,RestK,Stage)
        partial: &Tensor<Rmem>,  // (FrgV,1,1)
        scales: &[Tensor<Smem>], // (FrgV,RestM,RestN,Stage)
    ) -> Result<(), Error> {
        let (sums, parts) = (&self.sums.values, &self.shared.mainloop.parts);
        let interval = parts.mma_promotion_interval;
        let [rows, columns] = [a, &self.b].map(|operand| in_intervals(operand, interval));
        let (rows, columns) = (rows?, columns?);
        let size =
            |tensor: &Tensor<Descriptor>, mode: usize| static_size("operand", &tensor.layout().mode(mode)?);
        let (m, n, k) = (size(&rows, 1)?, size(&columns, 1)?, size(&rows, 3)?);
        let steps = (0..k).flat_map(|k| (0..n).flat_map(move |j| (0..m).map(move |i| [i, j, k])));
        let steps: Vec<[i64; 3]> = steps.collect();
        clear(b, sums)?;
        b.for_range(k_tiles, |b, _| {
            let [read, _] = &self.states;
            let stage = read.stage(b);
            self.shared.pipeline.consumer_wait(b, &stage)?;
            for (step, &[i, j, k]) in steps.iter().enumerate() {
                let of_a = atoms(&rows, i, k, &stage.index)?;
                let of_b = atoms(&columns, j, k, &stage.index)?;
                let scales = scales.iter().map(|scales| of_atom(b, scales, [i, j], &stage.index));
                let scales: Vec<Vec<Scalar>> = scales.collect::<Result<_, _>>()?;
                warpgroup_arrive(b);
                gemm(b, MmaWith::from(&parts.atom).accumulate(Cond::Never), &of_a, &of_b, partial)?;
                warpgroup_commit_batch(b);
                warpgroup_wait(b, 0);
                if step + 1 == steps.len() {
                    self.release(b, &stage, Cond::Always)?;
                }
                let own = sums.slice((Slice::All, Slice::at(i), Slice::at(j)))?; // (FrgV)
                let partial = partial.slice((Slice::All, Slice::at(0), Slice::at(0)))?; // (FrgV)
                let mut values = 0..;
                transform(b, &[&own, &partial], &own, |_, x| {
                    let of_value =
                        values.next().map(|value: usize| scales.iter().filter_map(move |all| all.get(value)));
                    let scale = of_value.and_then(|all| all.cloned().reduce(|x, y| &x * &y));
                    Ok(scale.map_or_else(|| &x[0] + &x[1], |scale| x[1].mul_add(&scale, &x[0])))
                })?;
            }
            read.advance(b);
            Ok(())
        })
    }
}
