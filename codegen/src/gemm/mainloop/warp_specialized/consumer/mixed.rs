//! Products of an A that is converted in registers: each thread loads its values from shared memory as they lie there, converts them, and
//! the sums of the products of a tile along K are scaled where they are added to those of the tiles before (CUTLASS's
//! `sm90_mma_tma_gmma_rs_warpspecialized_mixed_input`).

use girih_layout::{Int, Lay, Shape};
use girih_tensor::{DType, Slice, Tensor};

use super::Consumer;
use crate::algorithm::{
    MmaWith, clear, convert, copy, gemm, read_once, transform, warpgroup_arrive, warpgroup_commit_batch,
    warpgroup_wait,
};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::sizes::{ONE, static_size};
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Error, Expr, Memory, Rmem, Scalar, Smem};

/// A thread's part of A and its scales.
pub(super) struct Converted {
    /// A as it lies in shared memory.
    shared: Tensor<Smem>, // (FrgV,RestM,RestK,Stage)
    /// The scales of the sums' rows.
    scales: Tensor<Smem>, // (FrgV,RestM,RestN,Stage)
    /// The values of a row of atoms as they lie in memory, and as they are multiplied.
    loaded: Tensor<Rmem>, // (FrgV,1,RestK)
    values: Tensor<Rmem>, // (FrgV,1,RestK)
}

impl Converted {
    /// The part of `thread` of the stages of A, (BlockM,BlockK,Stage), and of the scales, (BlockM,1,Stage).
    pub(super) fn new(
        b: &mut Builder,
        [m, n, _]: [i64; 3],
        thread: &ThrMma<Expr>,
        tiles: &Tensor<Smem>,
        scales: &Tensor<Smem>,
    ) -> Result<Converted, Error> {
        let shared = thread.partition(Operand::A, tiles)?; // (FrgV,RestM,RestK,Stage)
        let like_c = Lay::strided([m, n], [1, 0])?.append(&scales.layout().mode(2)?)?; // (BlockM,BlockN,Stage)
        let scales = thread.partition(Operand::C, &Tensor::new(scales.engine().clone(), like_c))?;
        let [values, steps] = [shared.layout().mode(0)?.size()?, shared.layout().mode(2)?.size()?];
        let row = Lay::left(&Shape::flat(&[values, Int::fixed(1), steps])?)?; // (FrgV,1,RestK)
        let loaded = Rmem::tensor(b, tiles.engine().dtype(), row)?;
        let values = Rmem::tensor(b, thread.atom().a_type, row)?;
        Ok(Converted { shared, scales, loaded, values })
    }

    /// Loads row `row` of atoms of a stage.
    fn load(&self, b: &mut Builder, row: i64, stage: &Expr) -> Result<(), Error> {
        let at = [Slice::All, Slice::at(row), Slice::All, Slice::At(stage.clone())];
        let source = self.shared.slice(Slice::tuple(at))?; // (FrgV,RestK)
        copy(b, AUTO_VECTORIZING_COPY, &source, &self.loaded.slice((Slice::All, Slice::at(0), Slice::All))?)
    }

    /// The values of instruction `k`, (FrgV,1).
    fn values(&self, k: i64) -> Result<Tensor<Rmem>, Error> {
        Ok(self.values.slice((Slice::All, Slice::All, Slice::at(k)))?)
    }

    /// Converts the loaded values of instruction `k`.
    fn convert(&self, b: &mut Builder, k: i64) -> Result<(), Error> {
        convert(b, &self.loaded.slice((Slice::All, Slice::All, Slice::at(k)))?, &self.values(k)?)
    }

    /// The scales of the sums of the atom at row `row` and the first column in a stage, (FrgV), as f32.
    fn scales(&self, b: &mut Builder, row: i64, stage: &Expr) -> Result<Vec<Scalar>, Error> {
        let at = [Slice::All, Slice::at(row), Slice::at(0), Slice::At(stage.clone())];
        let scales = read_once(b, &self.scales.slice(Slice::tuple(at))?)?;
        Ok(scales.iter().map(|scale| scale.to(DType::F32)).collect())
    }
}

impl Consumer<'_> {
    /// Writes the sums over the next `k_tiles` tiles. `partial` has the sums of one atom over a tile along K, (FrgV,1,1). While one
    /// warpgroup converts, the others multiply, and a product runs while the values of the next one are converted.
    pub(super) fn multiply_converted(
        &self,
        b: &mut Builder,
        k_tiles: &Expr,
        a: &Converted,
        partial: &Tensor<Rmem>,
    ) -> Result<(), Error> {
        let (sums, parts) = (&self.sums.values, &self.shared.mainloop.parts);
        let size = |layout: &Lay, mode: usize| static_size("operand", &layout.mode(mode)?);
        let [m, n] = [size(sums.layout(), 1)?, size(sums.layout(), 2)?];
        let instructions = size(a.values.layout(), 2)?;
        clear(b, sums)?;
        b.for_range(k_tiles, |b, _| {
            let [read, _] = &self.states;
            let stage = read.stage(b);
            self.shared.pipeline.consumer_wait(b, &stage)?;
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                if j == 0 {
                    a.load(b, i, &stage.index)?;
                }
                let scales = a.scales(b, i, &stage.index)?;
                for k in 0..instructions {
                    if j == 0 {
                        a.convert(b, k)?;
                    }
                    let at = [Slice::All, Slice::at(j), Slice::at(k), Slice::At(stage.index.clone())];
                    let columns = self.b.slice(Slice::tuple(at))?; // (1)
                    let columns = Tensor::new(columns.engine().clone(), columns.layout().append(&ONE)?); // (1,1)
                    warpgroup_arrive(b);
                    let first = if k == 0 { Cond::Never } else { Cond::Always };
                    gemm(b, MmaWith::from(&parts.atom).accumulate(first), &a.values(k)?, &columns, partial)?;
                }
                warpgroup_commit_batch(b);
                warpgroup_wait(b, 0);
                if (i, j) == (m - 1, n - 1) {
                    self.release(b, &stage, Cond::Always)?;
                }
                let own = sums.slice((Slice::All, Slice::at(i), Slice::at(j)))?; // (FrgV)
                let partial = partial.slice((Slice::All, Slice::at(0), Slice::at(0)))?; // (FrgV)
                let mut scales = scales.iter();
                transform(b, &[&own, &partial], &own, |_, x| {
                    Ok(scales.next().map_or_else(|| x[0].clone(), |scale| x[1].mul_add(scale, &x[0])))
                })?;
            }
            read.advance(b);
            Ok(())
        })
    }
}
