//! CuTe's `gemm` on fragments: `C += A * B^T` by an MMA atom (CuTe guide, "Algorithms").

mod operand;

use std::panic::Location;

use girih_layout::Lay;
use girih_ptx::{Operand as Ptx, Type};
use girih_tensor::{DType, Engine, Slice, Tensor};

use super::congruent::{self, Held};
use super::scalars::insert;
use crate::atom::{Major, MmaAtom, MmaKind};
use crate::builder::{Builder, Cond};
use crate::sizes::{ONE, static_size};
use crate::{Error, Expr, Operand, Rmem, TiledMma, engine};
pub use operand::MmaOperand;
use operand::mismatch;

/// An MMA atom, and what its instruction takes besides the operands (CuTe's `accumulate_`, `ScaleIn`).
#[derive(Clone, Debug)]
pub struct MmaWith {
    atom: MmaAtom,
    accumulate: Cond,
    negate: [bool; 2],
}

impl From<&MmaAtom> for MmaWith {
    fn from(atom: &MmaAtom) -> MmaWith {
        MmaWith { atom: *atom, accumulate: Cond::Always, negate: [false; 2] }
    }
}

impl From<&TiledMma> for MmaWith {
    fn from(mma: &TiledMma) -> MmaWith {
        MmaWith::from(&mma.atom)
    }
}

impl MmaWith {
    /// Where `cond` does not hold, C is taken for zero before the first step along K. Only the atoms of a warpgroup can do this
    /// (`scale-d`, CuTe's `GMMA::ScaleOut`).
    pub fn accumulate(self, cond: Cond) -> MmaWith {
        MmaWith { accumulate: cond, ..self }
    }

    /// With A, B negated. Only the atoms of a warpgroup for floats can do this (`imm-scale`, CuTe's `GMMA::ScaleIn::Neg`).
    pub fn negate(self, negate: [bool; 2]) -> MmaWith {
        MmaWith { negate, ..self }
    }

    fn check(&self) -> Result<(), Error> {
        let (wgmma, floats) = (self.atom.kind.is_wgmma(), self.atom.c_type != DType::S32);
        if self.accumulate != Cond::Always && !wgmma {
            let accepted = "an atom of a warpgroup; for other atoms, clear C";
            return Err(mismatch(format!("accumulate {:?}", self.accumulate), self.atom.name(), accepted));
        }
        if self.negate != [false; 2] && !(wgmma && floats) {
            let accepted = "a warpgroup's atom of floats";
            return Err(mismatch(format!("negate {:?}", self.negate), self.atom.name(), accepted));
        }
        Ok(())
    }
}

/// `C += A * B^T` on the fragments of a thread, by `atom`:
///
/// | A | B | C | |
/// |---|---|---|---|
/// | (V) | (V) | (V) | one instruction |
/// | (V,M) | (V,N) | (V,M,N) | an outer product |
/// | (V,M,K) | (V,N,K) | (V,M,N) | the sum of outer products |
/// | (M) | (N) | (M,N) | an outer product, by an atom of one thread and value |
/// | (M,K) | (N,K) | (M,N) | the sum of outer products, by such an atom |
///
/// A and B are in registers, or in shared memory, from which the values of one step along K at a time are loaded in the widest vectors
/// (CuTe's `gemm(tCsA, tCsB, tCrC)`). The atoms of a warpgroup take what they read from shared memory as descriptors
/// ([`ThrMma::partition_descriptor`](crate::ThrMma::partition_descriptor)).
///
/// The instructions of a warpgroup are asynchronous. They belong between [`warpgroup_arrive`](super::warpgroup_arrive) and
/// [`warpgroup_commit_batch`](super::warpgroup_commit_batch).
///
/// # Errors
/// [`Error::Mismatch`] for an option of [`MmaWith`] that the atom does not have, for other ranks, for extents that differ, for operands
/// that the atom takes from another memory (shared memory for an atom of a warpgroup), and for values that are not whole registers.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{copy, gemm};
/// use girih_codegen::atom::{AUTO_VECTORIZING_COPY, SM80_16X8X8_F32TF32TF32F32_TN};
/// use girih_codegen::{Builder, Gmem, Operand, TiledMma};
/// use girih_layout::lay;
/// use girih_ptx::Special;
/// use girih_tensor::{DType, Tensor};
///
/// let mma = TiledMma::new(SM80_16X8X8_F32TF32TF32F32_TN, lay!("(1,1):(0,0)"))?;
/// let mut b = Builder::new("k", 80, 32);
/// let [x, y, z] = ["a", "b", "c"].map(|name| b.pointer(name, 16));
/// let thr = mma.get_slice(&b.special(Special::TidX))?;
/// // A 32 x 16, B 8 x 16, C 32 x 8: two atoms along M, two steps along K.
/// let tensors = [
///     Tensor::new(Gmem::new(x, DType::Tf32), lay!("(32,16):(16,1)")),
///     Tensor::new(Gmem::new(y, DType::Tf32), lay!("(8,16):(16,1)")),
///     Tensor::new(Gmem::new(z, DType::F32), lay!("(32,8):(8,1)")),
/// ];
/// let mut fragments = Vec::new();
/// for (operand, tensor) in Operand::ALL.into_iter().zip(&tensors) {
///     let fragment = thr.partition_fragment(&mut b, operand, tensor)?; // (FrgV,RestX,RestY)
///     copy(&mut b, AUTO_VECTORIZING_COPY, &thr.partition(operand, tensor)?, &fragment)?;
///     fragments.push(fragment);
/// }
/// gemm(&mut b, &mma, &fragments[0], &fragments[1], &fragments[2])?;
/// copy(&mut b, AUTO_VECTORIZING_COPY, &fragments[2], &thr.partition(Operand::C, &tensors[2])?)?;
/// assert_eq!(b.finish()?.module().to_string().matches("mma.sync.aligned.m16n8k8").count(), 4);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn gemm<A: MmaOperand, B: MmaOperand>(
    b: &mut Builder,
    atom: impl Into<MmaWith>,
    a_tensor: &Tensor<A>,
    b_tensor: &Tensor<B>,
    c_tensor: &Tensor<Rmem>,
) -> Result<(), Error> {
    let with = atom.into();
    with.check()?;
    let ranks = [a_tensor.layout(), b_tensor.layout(), c_tensor.layout()].map(Lay::rank);
    if with.atom.kind == MmaKind::Fma && matches!(ranks, [1, 1, 2] | [2, 2, 2]) {
        return gemm(b, with, &of_one(a_tensor)?, &of_one(b_tensor)?, &of_one(c_tensor)?);
    }
    let extents = extents([a_tensor.layout(), b_tensor.layout(), c_tensor.layout()])?;
    if !(A::IN_MEMORY || B::IN_MEMORY) {
        return multiply(b, with, a_tensor, b_tensor, c_tensor, extents);
    }
    let site = Location::caller();
    let step = |k: i64| Slice::tuple([Slice::All, Slice::All, Slice::At(Expr::from(k))]);
    for k in 0..extents[2] {
        let (a_step, b_step) = match ranks[0] {
            3 => (a_tensor.slice(step(k))?, b_tensor.slice(step(k))?), // (V,M), (V,N)
            _ => (a_tensor.clone(), b_tensor.clone()),
        };
        let with = if k > 0 { MmaWith { accumulate: Cond::Always, ..with.clone() } } else { with.clone() };
        let a_loaded = b.on_behalf(site, |b| A::load(b, &with.atom, Operand::A, &a_step))?;
        let b_loaded = b.on_behalf(site, |b| B::load(b, &with.atom, Operand::B, &b_step))?;
        let extents = [extents[0], extents[1], 1];
        match (&a_loaded, &b_loaded) {
            (Some(a), Some(bb)) => multiply(b, with, a, bb, c_tensor, extents),
            (Some(a), None) => multiply(b, with, a, &b_step, c_tensor, extents),
            (None, Some(bb)) => multiply(b, with, &a_step, bb, c_tensor, extents),
            (None, None) => multiply(b, with, &a_step, &b_step, c_tensor, extents),
        }?;
    }
    Ok(())
}

/// The number of instructions along M, N and K of fragments with these layouts.
fn extents(layouts: [&Lay; 3]) -> Result<[i64; 3], Error> {
    let extent = |which: usize, mode: usize| -> Result<i64, Error> {
        if mode < layouts[which].rank() { static_size("gemm", &layouts[which].mode(mode)?) } else { Ok(1) }
    };
    let [m, n, k] = [extent(0, 1)?, extent(1, 1)?, extent(0, 2)?];
    let fits = matches!(layouts.map(Lay::rank), [1, 1, 1] | [2, 2, 3] | [3, 3, 3])
        && [extent(2, 1)?, extent(2, 2)?, extent(1, 2)?] == [m, n, k];
    if !fits {
        let with = format!("B {} and C {}", layouts[1], layouts[2]);
        let accepted = "(V)x(V)->(V), (V,M)x(V,N)->(V,M,N) or (V,M,K)x(V,N,K)->(V,M,N) with equal extents";
        return Err(mismatch(format!("A {}", layouts[0]), with, accepted));
    }
    Ok([m, n, k])
}

/// The product of fragments in registers or of descriptors, with `m`, `n` and `k` instructions along the modes.
#[track_caller]
fn multiply<A: MmaOperand, B: MmaOperand>(
    b: &mut Builder,
    mut with: MmaWith,
    a_tensor: &Tensor<A>,
    b_tensor: &Tensor<B>,
    c_tensor: &Tensor<Rmem>,
    [m, n, k]: [i64; 3],
) -> Result<(), Error> {
    let layouts = [a_tensor.layout(), b_tensor.layout(), c_tensor.layout()];
    let held = [held(a_tensor), held(b_tensor), held(c_tensor)];
    congruent::product(&with.atom, &held, layouts)?;
    let site = Location::caller();
    let atom = with.atom;
    let mut a_values = Values::new(&atom, Operand::A, a_tensor, [m, k])?;
    let mut b_values = Values::new(&atom, Operand::B, b_tensor, [n, k])?;
    let mut c_values = Values::new(&atom, Operand::C, c_tensor, [m, n])?;
    for (step_k, i) in (0..k).flat_map(|step| (0..m).map(move |i| (step, i))) {
        if step_k > 0 {
            with.accumulate = Cond::Always;
        }
        for step in 0..n {
            // Goes back and forth along N, so that neighbours share a fragment.
            let j = if i % 2 == 0 { step } else { n - 1 - step };
            b.on_behalf(site, |b| {
                let operands = [
                    a_values.operand(b, [i, step_k])?,
                    b_values.operand(b, [j, step_k])?,
                    c_values.operand(b, [i, j])?,
                ];
                one(b, &with, operands, || c_values.engine([i, j]))
            })?;
        }
    }
    Ok(())
}

fn held<E: MmaOperand>(tensor: &Tensor<E>) -> Option<Held> {
    Held::of(&Tensor::new(tensor.engine().registers()?.clone(), *tensor.layout()))
}

/// The tensor with a mode of one value before its own modes.
fn of_one<E: Engine>(tensor: &Tensor<E>) -> Result<Tensor<E>, Error> {
    let layout = match tensor.layout() {
        leaf if leaf.is_leaf() => Lay::concat(&[ONE, *leaf])?,
        layout => layout.prepend(&ONE)?,
    };
    Ok(Tensor::new(tensor.engine().clone(), layout))
}

/// What the instructions of a product take of an operand.
struct Values<'t, E> {
    atom: &'t MmaAtom,
    which: Operand,
    /// The values of one instruction, and the first values of all instructions.
    each: Lay,
    first: engine::Values<'t, E>,
    /// The extent of the first mode after the values.
    rows: i64,
    /// By coordinate, once an instruction has taken it; empty where each instruction has registers of its own written for it.
    taken: Vec<Option<Ptx>>,
}

impl<'t, E: MmaOperand> Values<'t, E> {
    fn new(
        atom: &'t MmaAtom,
        which: Operand,
        tensor: &'t Tensor<E>,
        [rows, columns]: [i64; 2],
    ) -> Result<Values<'t, E>, Error> {
        let layout = tensor.layout();
        let mut rest = vec![ONE];
        for mode in 1..if layout.is_leaf() { 1 } else { layout.rank() } {
            rest.push(layout.mode(mode)?);
        }
        let (each, rest) = (if layout.is_leaf() { *layout } else { layout.mode(0)? }, Lay::concat(&rest)?);
        let unpacked = atom.kind == MmaKind::Fma && atom.dtype(which).bits() == 16;
        let own = unpacked || tensor.engine().registers().is_none();
        let count = if own { 0 } else { (rows * columns) as usize };
        let first = engine::Values::of(tensor.engine(), rest);
        Ok(Values { atom, which, each, first, rows, taken: vec![None; count] })
    }

    /// The engine at the values of the instruction at a coordinate of the modes after the values.
    fn engine(&self, [i, j]: [i64; 2]) -> Result<E, Error> {
        Ok(self.first.at(i + j * self.rows)?)
    }

    /// The operand of the instruction at a coordinate of the modes after the values.
    fn operand(&mut self, b: &mut Builder, at: [i64; 2]) -> Result<Ptx, Error> {
        let place = (at[0] + at[1] * self.rows) as usize;
        if let Some(Some(taken)) = self.taken.get(place) {
            return Ok(taken.clone());
        }
        let operand = self.engine(at)?.operand(b, self.atom, self.which, &self.each)?;
        self.taken.get_mut(place).into_iter().for_each(|taken| *taken = Some(operand.clone()));
        Ok(operand)
    }
}

/// One instruction. `packed` returns the registers of C at the value that the instruction computes.
fn one(
    b: &mut Builder,
    with: &MmaWith,
    [a, bb, c]: [Ptx; 3],
    packed: impl FnOnce() -> Result<Rmem, Error>,
) -> Result<(), Error> {
    let atom = &with.atom;
    let (opcode, modifiers) = (atom.opcode(), atom.modifiers());
    if atom.kind == MmaKind::Fma && atom.c_type.bits() == 16 {
        let sum = b.reg(Type::B16);
        b.inst(opcode, &modifiers, vec![Ptx::from(&sum), a, bb, c]);
        insert(b, &packed()?, &sum, false);
        return Ok(());
    }
    if !atom.kind.is_wgmma() {
        b.inst(opcode, &modifiers, vec![c.clone(), a, bb, c]);
        return Ok(());
    }
    let accumulate = b.cond(&with.accumulate)?;
    let mut operands = vec![c, a, bb, Ptx::from(&accumulate)];
    if atom.c_type != DType::S32 {
        operands.extend(with.negate.map(|negated| Ptx::Int(if negated { -1 } else { 1 })));
    }
    if atom.a_type.bits() == 16 {
        let transposed = atom.majors.map(|major| Ptx::Int(i64::from(major == Major::Mn)));
        let skip = if atom.kind == MmaKind::WgmmaSs { 0 } else { 1 };
        operands.extend(transposed.into_iter().skip(skip));
    }
    b.inst(opcode, &modifiers, operands);
    Ok(())
}
