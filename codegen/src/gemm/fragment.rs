//! Shared memory to registers: the fragments of a k-block.

use girih_layout::{Lay, Shape, Tiler};
use girih_ptx::{Opcode, Operand as Ptx};
use girih_tensor::{Slice, Space, Tensor};

use super::GemmConfig;
use crate::algorithm::registers;
use crate::atom::{CopyAtom, SM75_U16X8_LDSM_T, SM75_U32X4_LDSM_N};
use crate::builder::{Builder, Cond, Width};
use crate::tiled_copy::{extent, static_size};
use crate::tiled_mma::{Operand, append, split_matrix};
use crate::{Error, Expr, Memory, Rmem, Smem, Vectors, engine, vectorise};

/// One thread's fragment loads of an operand.
pub(crate) enum FragmentLoad {
    /// `ldmatrix`: a row address for each step.
    Matrix {
        atom: &'static CopyAtom,
        rows: Tensor<Smem>, /* ((Step,KAtoms),KBlock,Stage) */
        registers: usize,
    },
    /// Vectors of a thread's own values.
    Vector { vectors: Box<Vectors>, values: Tensor<Smem> /* (Vec,Rest,KBlock,Stage) */ },
}

/// The register layout of an operand's k-block: `(FrgV,RestX,KAtoms)`, compact.
pub(crate) fn fragment_layout(config: &GemmConfig, operand: Operand) -> Result<Lay, Error> {
    let [x, _] = config.extents(operand);
    let block = [x, config.atom.shape_mnk[2] * config.k_atoms];
    let tile = Lay::col_major(block)?;
    let values = config.mma().thrfrg(operand, &tile)?.mode(1)?; // (FrgV,(RestX,KAtoms))
    let flat = [values.mode(0)?, values.mode(1)?.mode(0)?, values.mode(1)?.mode(1)?];
    let sizes = flat.iter().map(Lay::size).collect::<Result<Vec<_>, _>>()?;
    Ok(Lay::left(&Shape::flat(&sizes)?)?)
}

impl FragmentLoad {
    pub(crate) fn new(
        config: &GemmConfig,
        operand: Operand,
        shared: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<FragmentLoad, Error> {
        if config.uses_ldmatrix() {
            FragmentLoad::matrix(config, operand, shared, thread)
        } else {
            FragmentLoad::vector(config, operand, shared, thread)
        }
    }

    fn vector(
        config: &GemmConfig,
        operand: Operand,
        shared: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<FragmentLoad, Error> {
        let mine = config.mma().get_slice(thread)?.partition(operand, shared)?; // (FrgV,RestX,RestK,Stage)
        let layout = mine.layout();
        let k = layout.mode(2)?.logical_divide(&Tiler::Lay(extent(config.k_atoms)?))?; // (KAtoms,KBlock)
        let block = Lay::concat(&[layout.mode(0)?, layout.mode(1)?, k.mode(0)?])?; // (FrgV,RestX,KAtoms)
        let bytes = config.element()?;
        let registers = Lay::left(block.shape())?;
        let vectors = vectorise(&block, &registers, 16 / bytes)?; // ((Vec),(Rest..))
        let memory =
            Lay::concat(&[vectors.memory.mode(0)?, vectors.memory.mode(1)?, k.mode(1)?, layout.mode(3)?])?;
        let values = Tensor::new(mine.engine().clone(), memory); // (Vec,Rest,KBlock,Stage)
        let alignment = engine::at(&values, 0)?.address()?.multiple();
        if alignment % (vectors.width * bytes) != 0 {
            return Err(Error::Mismatch {
                what: "fragment load",
                layout: memory.to_string(),
                with: format!("vectors of {} bytes", vectors.width * bytes),
                accepted: "addresses that are multiples of the vector",
            });
        }
        Ok(FragmentLoad::Vector { vectors: Box::new(vectors), values })
    }

    /// Composes the operand's (thread, value) layout with the inverse of what `ldmatrix` delivers and with what it
    /// reads: the row that each lane supplies the address of.
    fn matrix(
        config: &GemmConfig,
        operand: Operand,
        shared: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<FragmentLoad, Error> {
        let mma = config.mma();
        let (matrix, stage) = split_matrix(shared.layout())?;
        let thrfrg = mma.thrfrg(operand, &matrix)?; // ((ThrV,(ThrX,ThrK)),(FrgV,(RestX,RestK)))
        let (threads, values) = (thrfrg.mode(0)?, thrfrg.mode(1)?);
        let frg_v = values.mode(0)?;
        let contiguous = if config.source(operand).major == super::Major::K {
            &SM75_U32X4_LDSM_N
        } else {
            &SM75_U16X8_LDSM_T
        };
        let bits = config.atom.a_type.bits();
        let (src, dst) = (contiguous.src.upcast(i64::from(bits))?, contiguous.dst.upcast(i64::from(bits))?);
        let per_thread = static_size("ldmatrix", &dst.mode(1)?)?;
        let atoms = per_thread / static_size("ldmatrix", &frg_v)?;
        let x = values.mode(1)?.mode(0)?.logical_divide(&Tiler::Lay(extent(atoms)?))?; // (Atoms,Step)
        let fragment = Lay::concat(&[threads.mode(0)?, Lay::concat(&[frg_v, x.mode(0)?])?])?; // (ThrV,(FrgV,Atoms))
        let read = fragment.composition(&dst.right_inverse()?)?.composition(&src)?; // (Lane,Element of the row)
        if read.mode(1)?.coalesce() != extent(static_size("ldmatrix", &src.mode(1)?)?)? {
            return Err(Error::Mismatch {
                what: "ldmatrix",
                layout: fragment.to_string(),
                with: contiguous.name(),
                accepted: "fragments whose 8x8 matrices have contiguous rows",
            });
        }
        let lanes = Lay::concat(&[read.mode(0)?, threads.mode(1)?])?; // (Lane,(ThrX,ThrK))
        let k = values.mode(1)?.mode(1)?.logical_divide(&Tiler::Lay(extent(config.k_atoms)?))?; // (KAtoms,KBlock)
        let steps = Lay::concat(&[x.mode(1)?, k.mode(0)?])?; // (Step,KAtoms)
        let rows = Lay::concat(&[lanes, steps, k.mode(1)?])?; // ((Lane,Thr),(Step,KAtoms),KBlock)
        let rows = append(&Tensor::new(shared.engine().clone(), rows), &stage)?;
        let mine = mma.get_slice(thread)?.coordinate(operand)?;
        let rows = rows.slice(&Slice::tuple([mine, Slice::All, Slice::All, Slice::All]))?; // ((Step,KAtoms),KBlock,Stage)
        Ok(FragmentLoad::Matrix {
            atom: contiguous,
            rows,
            registers: per_thread as usize * bits as usize / 32,
        })
    }

    /// What it loads with, for the record.
    pub(crate) fn name(&self) -> String {
        match self {
            FragmentLoad::Matrix { atom, .. } => atom.name(),
            FragmentLoad::Vector { vectors, .. } => {
                format!("ld.shared, vectors of {} elements", vectors.width)
            }
        }
    }

    /// Emits the loads of k-block `block` of `stage` into `fragment`.
    pub(crate) fn emit(
        &self,
        b: &mut Builder,
        fragment: &Rmem,
        block: i64,
        stage: &Expr,
    ) -> Result<(), Error> {
        let at = |i: i64| Slice::At(Expr::from(i));
        let stage = Slice::At(stage.clone());
        match self {
            FragmentLoad::Matrix { atom, rows, registers } => {
                for step in 0..static_size("ldmatrix", &rows.layout().mode(0)?)? {
                    let row = rows.slice(&Slice::tuple([at(step), at(block), stage.clone()]))?.into_engine();
                    let address = b.address(&row.address()?, Width::W32)?;
                    let first = step as usize * registers;
                    let target = fragment.regs()[first..first + registers].iter().map(Ptx::from).collect();
                    b.inst(Opcode::Ldmatrix, &atom.modifiers(), vec![Ptx::Vector(target), address]);
                }
            }
            FragmentLoad::Vector { vectors, values } => {
                for i in 0..vectors.count()? {
                    let vector =
                        values.slice(&Slice::tuple([at(0), at(i), at(block), stage.clone()]))?.into_engine();
                    let target = registers(fragment, vectors, i)?;
                    b.load(Space::Smem, &target, &vector.address()?, &Cond::Always)?;
                }
            }
        }
        Ok(())
    }
}
