//! One thread of a tiled MMA (CuTe's `ThrMMA`).

use girih_layout::{Int, Lay, Stride, Strides};
use girih_tensor::{Engine, Index, Part, Slice, Tensor};

use super::{Operand, TiledMma, append, digits, split_matrix};
use crate::atom::{MmaAtom, MmaKind};
use crate::builder::Builder;
use crate::engine::per_register;
use crate::sizes::static_size;
use crate::{Error, Expr, Memory, Rmem, engine};

/// A thread of a [`TiledMma`].
#[derive(Clone, Debug)]
pub struct ThrMma<I> {
    mma: TiledMma,
    thread: I,
    /// `(ThrV,ThrM,ThrN,ThrK)` -> the thread's index.
    vmnk: Lay,
}

impl<I: Index> ThrMma<I> {
    pub(super) fn new(mma: TiledMma, thread: I, vmnk: Lay) -> ThrMma<I> {
        ThrMma { mma, thread, vmnk }
    }

    /// The atom.
    pub(crate) fn atom(&self) -> &MmaAtom {
        &self.mma.atom
    }

    /// The thread's coordinate in an operand's `(ThrV,(ThrX,ThrY))` mode.
    pub(crate) fn coordinate(&self, operand: Operand) -> Result<Slice<I>, Error> {
        let along = |mode: usize| digits(&self.vmnk.mode(mode)?, &self.thread);
        let [x, y] = operand.modes();
        Ok(Slice::tuple([along(0)?, Slice::tuple([along(1 + x)?, along(1 + y)?])]))
    }

    /// The values of an operand that the thread holds: `(FrgV,RestX,RestY,...)`; modes of the tensor past the second are kept
    /// (CuTe's `partition_A`, `partition_B`, `partition_C`).
    ///
    /// # Errors
    /// Those of [`TiledMma::thrfrg`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Operand, TiledMma, atom::SM80_8X8X4_F64F64F64F64_TN};
    /// use girih_layout::lay;
    /// use girih_tensor::Tensor;
    ///
    /// let mma = TiledMma::new(SM80_8X8X4_F64F64F64F64_TN, lay!("(1,1):(0,0)"))?;
    /// let data: Vec<i64> = (0..64).collect();
    /// let c = Tensor::host(&data, lay!("(8,8):(8,1)"))?;
    /// // Lane 5 is the second of the second group: row 1, columns 2 and 3.
    /// let mine = mma.get_slice(&5i64)?.partition(Operand::C, &c)?;
    /// assert_eq!((mine.at(0)?, mine.at(1)?), (10, 11));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn partition<E: Engine<Index = I>>(
        &self,
        operand: Operand,
        tensor: &Tensor<E>,
    ) -> Result<Tensor<E>, Error> {
        let (matrix, rest) = split_matrix(tensor.layout())?;
        let thrfrg = self.mma.thrfrg(operand, &matrix)?; // ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))
        let mine = Slice::tuple([self.coordinate(operand)?, Slice::All]);
        let values = Tensor::new(tensor.engine().clone(), thrfrg).slice(&mine)?; // ((FrgV,(RestX,RestY)))
        let values = Tensor::new(values.engine().clone(), values.layout().mode(0)?); // (FrgV,(RestX,RestY))
        let values = engine::unpack_rest(&values)?; // (FrgV,RestX,RestY)
        let mine = append(&values, &rest)?;
        let offsets = *mine.layout();
        let part = || self.part(operand, tensor.layout(), offsets).ok();
        Ok(Tensor::new(mine.into_engine().with_part(part), offsets))
    }

    /// Which elements of the tensor the values of a partition are.
    pub(crate) fn part(&self, operand: Operand, tile: &Lay, offsets: Lay) -> Result<Part<I>, Error> {
        let (matrix, further) = split_matrix(&Part::<I>::coordinates(tile)?)?;
        let frg = self.mma.thrfrg(operand, &matrix)?; // ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))
        let (threads, values) = (self.mma.by_number(operand, &self.vmnk, &frg.mode(0)?)?, frg.mode(1)?);
        let values = engine::unpacked(&values.mode(0)?, &values.mode(1)?)?; // (FrgV,RestX,RestY)
        let values = further.iter().try_fold(values, |values, mode| values.append(mode))?;
        Ok(Part { thread: self.thread.clone(), threads, values, offsets })
    }
}

impl ThrMma<Expr> {
    /// Registers for the values of an operand that the thread holds, `(FrgV,RestX,RestY,...)`. The values are compact, except that the
    /// values of each instruction begin with a new register (CuTe's `partition_fragment_A`, `_B`, `_C`).
    ///
    /// # Errors
    /// Those of [`ThrMma::partition`]; [`Error::Mismatch`] for an operand that the atom takes from shared memory;
    /// [`Error::NotStatic`].
    pub fn partition_fragment<E: Memory>(
        &self,
        b: &mut Builder,
        operand: Operand,
        tensor: &Tensor<E>,
    ) -> Result<Tensor<Rmem>, Error> {
        let atom = &self.mma.atom;
        let mine = self.partition(operand, tensor)?; // (FrgV,RestX,RestY,...)
        if atom.from_shared(operand) {
            return Err(Error::Mismatch {
                what: "partition_fragment",
                layout: mine.layout().to_string(),
                with: format!("{operand:?} of {atom}"),
                accepted: "an operand that the atom takes in registers; this one it takes from shared memory, by \
                           descriptors",
            });
        }
        let dtype = atom.dtype(operand);
        let values = Lay::left(mine.layout().mode(0)?.shape())?; // FrgV
        let count = static_size("partition_fragment", &values)?;
        let per = if atom.kind == MmaKind::Fma { 1 } else { per_register(dtype) as i64 };
        let mut modes = vec![values];
        let mut step = (count + per - 1) / per * per;
        for i in 1..mine.layout().rank() {
            let mode = mine.layout().mode(i)?;
            modes.push(compact(&mode, step)?);
            step *= static_size("partition_fragment", &mode)?;
        }
        Rmem::holding(Rmem::tensor(b, dtype, Lay::concat(&modes)?)?, mine.part())
    }
}

/// The shape of a mode with compact strides, the smallest of which is `step`.
fn compact(mode: &Lay, step: i64) -> Result<Lay, Error> {
    let left = Lay::left(mode.shape())?;
    let scaled = (0..left.leaf_count()).map(|leaf| match left.flat_leaf(leaf) {
        (_, Stride::Int(stride)) => Ok(Stride::Int(stride.mul(Int::fixed(step))?)),
        _ => Err(Error::NotStatic { what: "partition_fragment", layout: mode.to_string() }),
    });
    let scaled = scaled.collect::<Result<Vec<_>, Error>>()?;
    if mode.is_leaf() {
        return Ok(Lay::leaf(left.flat_leaf(0).0, scaled[0])?);
    }
    let flat = Lay::new(&left.flatten().shape().wrap(), &Strides::flat(&scaled)?)?;
    Ok(flat.unflatten(mode.shape().profile())?)
}
