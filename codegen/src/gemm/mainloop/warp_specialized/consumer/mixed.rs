//! Mixed-input GEMM: A is converted in registers (CUTLASS's `sm90_mma_tma_gmma_rs_warpspecialized_mixed_input`). Each thread loads its values of A
//! from shared memory and converts them. The accumulators of a tile along K are scaled when they are added to those of the previous tiles.

use girih_layout::{Int, Lay, Shape};
use girih_tensor::{Slice, Tensor};

use super::Consumer;
use super::scales::of_atom;
use crate::algorithm::{
    MmaWith, clear, convert_finite, copy, gemm, transform, warpgroup_arrive, warpgroup_commit_batch,
    warpgroup_wait,
};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::sizes::{ONE, static_size};
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Error, Expr, Memory, Rmem, Scalar, Smem};

/// The atoms whose MMAs a thread has in registers: those that run, and those that are scaled meanwhile.
pub(super) const AT_ONCE: i64 = 2;

/// A thread's part of A.
pub(super) struct Converted {
    /// A as it is laid out in shared memory.
    shared: Tensor<Smem>, // (FrgV,RestM,RestK,Stage)
    /// The values of a row of atoms as they are laid out in memory, and those of two rows as they are multiplied.
    loaded: Tensor<Rmem>, // (FrgV,1,RestK)
    values: Tensor<Rmem>, // (FrgV,1,RestK,2)
}

impl Converted {
    /// The part of `thread` of the stages of A, (BlockM,BlockK,Stage).
    pub(super) fn new(
        b: &mut Builder,
        thread: &ThrMma<Expr>,
        tiles: &Tensor<Smem>,
    ) -> Result<Converted, Error> {
        let shared = thread.partition(Operand::A, tiles)?; // (FrgV,RestM,RestK,Stage)
        let [values, steps] = [shared.layout().mode(0)?.size()?, shared.layout().mode(2)?.size()?];
        let row = Lay::left(&Shape::flat(&[values, Int::fixed(1), steps])?)?; // (FrgV,1,RestK)
        let loaded = Rmem::tensor(b, tiles.engine().dtype(), row)?;
        let rows = Lay::left(&Shape::flat(&[values, Int::fixed(1), steps, Int::fixed(AT_ONCE)])?)?; // (FrgV,1,RestK,2)
        let values = Rmem::tensor(b, thread.atom().a_type, rows)?;
        Ok(Converted { shared, loaded, values })
    }

    /// Loads row `row` of atoms of a stage.
    fn load(&self, b: &mut Builder, row: i64, stage: &Expr) -> Result<(), Error> {
        let at = [Slice::All, Slice::at(row), Slice::All, Slice::At(stage.clone())];
        let source = self.shared.slice(Slice::tuple(at))?; // (FrgV,RestK)
        copy(b, AUTO_VECTORIZING_COPY, &source, &self.loaded.slice((Slice::All, Slice::at(0), Slice::All))?)
    }

    /// The values of row `row` of atoms for instruction `k`, (FrgV,1).
    fn values(&self, row: i64, k: i64) -> Result<Tensor<Rmem>, Error> {
        let at = [Slice::All, Slice::All, Slice::at(k), Slice::at(row % AT_ONCE)];
        Ok(self.values.slice(Slice::tuple(at))?)
    }

    /// Converts the loaded values of row `row` of atoms for instruction `k`.
    fn convert(&self, b: &mut Builder, row: i64, k: i64) -> Result<(), Error> {
        convert_finite(b, &self.loaded.slice((Slice::All, Slice::All, Slice::at(k)))?, &self.values(row, k)?)
    }
}

/// The scales of A, which are the same along N, for the accumulators of the atoms of row `row` in a stage: (FrgV), as f32.
fn of_row(b: &mut Builder, scales: &[Tensor<Smem>], row: i64, stage: &Expr) -> Result<Vec<Scalar>, Error> {
    scales.first().map_or(Ok(Vec::new()), |scales| of_atom(b, scales, [row, 0], stage))
}

impl Consumer<'_> {
    /// Writes the accumulators over the next `k_tiles` tiles. `partial` has the accumulators of two atoms over a tile along K, (FrgV,1,1,2). While one
    /// warpgroup converts, the others multiply. The MMAs of an atom run while its next values and those of the next atom are converted,
    /// and while the accumulators of the atom before it are scaled.
    pub(super) fn multiply_converted(
        &self,
        b: &mut Builder,
        k_tiles: &Expr,
        a: &Converted,
        partial: &Tensor<Rmem>,
        scales: &[Tensor<Smem>], // (FrgV,RestM,RestN,Stage)
    ) -> Result<(), Error> {
        let sums = &self.sums.values;
        let size = |mode: usize| static_size("operand", &sums.layout().mode(mode)?);
        let [m, n] = [size(1)?, size(2)?];
        let atoms: Vec<[i64; 2]> = (0..m).flat_map(|i| (0..n).map(move |j| [i, j])).collect();
        clear(b, sums)?;
        b.for_range(k_tiles, |b, _| {
            let [read, _] = &self.states;
            let stage = read.stage(b);
            self.shared.pipeline.consumer_wait(b, &stage)?;
            let mut before = None;
            for (at, &atom) in (0..).zip(&atoms) {
                let own = partial.slice((Slice::All, Slice::All, Slice::All, Slice::at(at % AT_ONCE)))?; // (FrgV,1,1)
                self.multiply_atom(b, a, &stage.index, atom, &own)?;
                if let Some((atom, sums)) = before.replace((atom, own)) {
                    let scales = of_row(b, scales, atom[0], &stage.index)?;
                    warpgroup_wait(b, 1);
                    self.add_scaled(b, atom, &sums, &scales)?;
                }
            }
            if let Some((atom, sums)) = before {
                let scales = of_row(b, scales, atom[0], &stage.index)?;
                warpgroup_wait(b, 0);
                self.release(b, &stage, Cond::Always)?;
                self.add_scaled(b, atom, &sums, &scales)?;
            }
            read.advance(b);
            Ok(())
        })
    }

    /// Starts the MMAs of an atom, row i and column j of the atoms, over the tiles of a stage. The values of a row are loaded and converted for
    /// its first column.
    fn multiply_atom(
        &self,
        b: &mut Builder,
        a: &Converted,
        stage: &Expr,
        [i, j]: [i64; 2],
        partial: &Tensor<Rmem>, // (FrgV,1,1)
    ) -> Result<(), Error> {
        let instructions = static_size("operand", &a.values.layout().mode(2)?)?;
        if j == 0 {
            a.load(b, i, stage)?;
        }
        for k in 0..instructions {
            if j == 0 {
                a.convert(b, i, k)?;
            }
            let at = [Slice::All, Slice::at(j), Slice::at(k), Slice::At(stage.clone())];
            let columns = self.b.slice(Slice::tuple(at))?; // (1)
            let columns = Tensor::new(columns.engine().clone(), columns.layout().append(&ONE)?); // (1,1)
            warpgroup_arrive(b);
            let first = if k == 0 { Cond::Never } else { Cond::Always };
            let atom = &self.shared.mainloop.parts.atom;
            gemm(b, MmaWith::from(atom).accumulate(first), &a.values(i, k)?, &columns, partial)?;
        }
        warpgroup_commit_batch(b);
        Ok(())
    }

    /// Adds the accumulators of an atom over a tile, each times its scale.
    fn add_scaled(
        &self,
        b: &mut Builder,
        [i, j]: [i64; 2],
        partial: &Tensor<Rmem>, // (FrgV,1,1)
        scales: &[Scalar],
    ) -> Result<(), Error> {
        let own = self.sums.values.slice((Slice::All, Slice::at(i), Slice::at(j)))?; // (FrgV)
        let partial = partial.slice((Slice::All, Slice::at(0), Slice::at(0)))?; // (FrgV)
        let mut scales = scales.iter();
        transform(b, &[&own, &partial], &own, |_, x| {
            Ok(scales.next().map_or_else(|| x[0].clone(), |scale| x[1].mul_add(scale, &x[0])))
        })?;
        Ok(())
    }
}
