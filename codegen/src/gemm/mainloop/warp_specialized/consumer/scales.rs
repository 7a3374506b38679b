//! The scales of A and B as a thread needs them: one for each of its accumulators.

use girih_layout::Lay;
use girih_tensor::{DType, Slice, Tensor};

use super::Consumer;
use crate::algorithm::read_once;
use crate::builder::Builder;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Scalar, Smem};

impl Consumer<'_> {
    /// The scales of A and B in all stages, of those that have scales, for block tiles `at`, as they belong to the thread's accumulators:
    /// (FrgV,RestM,RestN,Stage). Accumulators that share a scale share its place.
    pub(super) fn scales(&self, at: [&Expr; 2]) -> Result<Vec<Tensor<Smem>>, Error> {
        let mainloop = self.shared.mainloop;
        let mut all = Vec::new();
        for operand in [Operand::A, Operand::B] {
            let (scaling, i) = (mainloop.parts.scales(operand), operand as usize);
            let (Some(scaling), Some(scales)) = (scaling, &self.shared.stages.scales[i]) else { continue };
            let rows = mainloop.tile[i];
            let [m, n] = [mainloop.tile[0], mainloop.tile[1]].map(|extent| Lay::strided([extent], [0]));
            let of_rows = match scaling.rows {
                1 => Lay::strided([rows], [1])?,
                shared if shared >= rows => Lay::strided([rows], [0])?,
                shared => Lay::strided([shared, rows / shared], [0, 1])?,
            };
            let [_, before] = scaling.begin(at[i], rows)?;
            let first = [Slice::At(before), Slice::at(0), Slice::at(0)];
            let scales = scales.domain_offset(Slice::tuple(first))?; // (Scales,1,Stage)
            let modes = if operand == Operand::A { [of_rows, n?] } else { [m?, of_rows] };
            let like_c = Lay::concat(&[modes[0], modes[1], scales.layout().mode(2)?])?; // (BlockM,BlockN,Stage)
            let like_c = Tensor::new(scales.engine().clone(), like_c);
            all.push(self.sums.thread.partition(Operand::C, &like_c)?);
        }
        Ok(all)
    }
}

/// The scales of the accumulators of the atom at row `i` and column `j` in a stage, (FrgV), as f32.
pub(super) fn of_atom(
    b: &mut Builder,
    scales: &Tensor<Smem>,
    [i, j]: [i64; 2],
    stage: &Expr,
) -> Result<Vec<Scalar>, Error> {
    let at = [Slice::All, Slice::at(i), Slice::at(j), Slice::At(stage.clone())];
    let scales = read_once(b, &scales.slice(Slice::tuple(at))?)?;
    Ok(scales.iter().map(|scale| scale.to(DType::F32)).collect())
}
