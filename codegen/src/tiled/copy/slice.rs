//! One thread of a tiled copy (CuTe's `ThrCopy`).

use girih_layout::{Int, Lay, Shape, Tile, Tiler};
use girih_tensor::{Engine, Index, Part, Slice, Tensor};

use super::{Side, TiledCopy};
use crate::builder::Builder;
use crate::sizes::{extent, shape_tiler, static_size};
use crate::{Error, Expr, Memory, Rmem, engine};

/// A thread of a [`TiledCopy`].
#[derive(Clone, Debug)]
pub struct ThrCopy<I> {
    copy: TiledCopy,
    thread: I,
}

impl<I: Index> ThrCopy<I> {
    pub(super) fn new(copy: TiledCopy, thread: I) -> ThrCopy<I> {
        ThrCopy { copy, thread }
    }

    /// The elements that the thread reads of a tensor whose first modes the tile divides, `((Val,RestVal),RestM,RestN,...)` (CuTe's `partition_S`).
    /// For `ldmatrix` this is the row whose address the thread passes.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the tile does not divide the tensor's first modes.
    pub fn partition_s<E: Engine<Index = I>>(&self, tensor: &Tensor<E>) -> Result<Tensor<E>, Error> {
        self.partition(Side::Source, tensor)
    }

    /// The elements that the thread writes (CuTe's `partition_D`).
    ///
    /// # Errors
    /// As [`ThrCopy::partition_s`].
    pub fn partition_d<E: Engine<Index = I>>(&self, tensor: &Tensor<E>) -> Result<Tensor<E>, Error> {
        self.partition(Side::Destination, tensor)
    }

    fn partition<E: Engine<Index = I>>(&self, side: Side, tensor: &Tensor<E>) -> Result<Tensor<E>, Error> {
        let tv = Tensor::new(tensor.engine().clone(), self.copy.tidfrg(side, tensor.layout())?);
        let mine = Slice::tuple([Slice::tuple([Slice::At(self.thread.clone()), Slice::All]), Slice::All]);
        let mine = engine::unpack_rest(&tv.slice(&mine)?)?; // ((Val,RestVal),RestM,RestN,...)
        let offsets = *mine.layout();
        Ok(Tensor::new(
            mine.into_engine().with_part(|| self.part(side, tensor.layout(), offsets).ok()),
            offsets,
        ))
    }

    /// Which elements of the tensor the values of a partition are.
    fn part(&self, side: Side, tile: &Lay, offsets: Lay) -> Result<Part<I>, Error> {
        let tv = self.copy.tidfrg(side, &Part::<I>::coordinates(tile)?)?; // ((Thr,(Val,RestVal)),(RestM,RestN,...))
        let (own, rest) = (tv.mode(0)?, tv.mode(1)?);
        let values = engine::unpacked(&own.mode(1)?, &rest)?; // ((Val,RestVal),RestM,RestN,...)
        Ok(Part { thread: self.thread.clone(), threads: own.mode(0)?, values, offsets })
    }

    /// The fragment `(Frg,M,N,...)` of an MMA or of another copy in this copy's order, `((Val,RestVal),RestM,RestN,...)`: the values of
    /// one instruction come first (CuTe's `retile_S`). The fragment's modes past the first must count the rows and columns of the tile
    /// upward. The fragments of an MMA that permutes rows or columns within the tile are in the order of [`TiledCopy::of_mma`] without
    /// retiling.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the source is not the atom's reference, or the copy does not divide the fragment.
    pub fn retile_s<E: Engine>(&self, fragment: &Tensor<E>) -> Result<Tensor<E>, Error> {
        let layout = self.copy.retile(Side::Source, fragment.layout())?;
        Ok(Tensor::new(fragment.engine().clone(), layout))
    }

    /// The fragment of an MMA or of another copy in the order in which the instruction writes it (CuTe's `retile_D`).
    ///
    /// # Errors
    /// As [`ThrCopy::retile_s`], for the destination.
    pub fn retile_d<E: Engine>(&self, fragment: &Tensor<E>) -> Result<Tensor<E>, Error> {
        let layout = self.copy.retile(Side::Destination, fragment.layout())?;
        Ok(Tensor::new(fragment.engine().clone(), layout))
    }
}

impl ThrCopy<Expr> {
    /// Registers for what the thread reads, `((Val,RestVal),RestM,RestN,...)` (CuTe's `partition_fragment_S`).
    ///
    /// # Errors
    /// As [`ThrCopy::partition_s`]; [`Error::NotStatic`].
    pub fn partition_fragment_s<E: Memory>(
        &self,
        b: &mut Builder,
        tensor: &Tensor<E>,
    ) -> Result<Tensor<Rmem>, Error> {
        Rmem::like(b, &self.partition_s(tensor)?)
    }

    /// Registers for what the thread writes (CuTe's `partition_fragment_D`).
    ///
    /// # Errors
    /// As [`ThrCopy::partition_fragment_s`].
    pub fn partition_fragment_d<E: Memory>(
        &self,
        b: &mut Builder,
        tensor: &Tensor<E>,
    ) -> Result<Tensor<Rmem>, Error> {
        Rmem::like(b, &self.partition_d(tensor)?)
    }
}

impl TiledCopy {
    /// `(Frg,M,N,...)` becomes `((Val,RestVal),RestM,RestN,...)`. The fragment's first mode holds the first values of the
    /// thread in the tile, and its other modes the thread's other values.
    fn retile(&self, side: Side, fragment: &Lay) -> Result<Lay, Error> {
        let mismatch = |accepted| Error::Mismatch {
            what: "retile",
            layout: fragment.to_string(),
            with: format!("{} over {}", self.atom, self.tv),
            accepted,
        };
        let [src, dst, reference] = self.atom_layouts()?;
        if (if side == Side::Source { src } else { dst }) != reference {
            return Err(mismatch("the side that holds the atom's registers"));
        }
        if fragment.rank() != 1 + self.tiler.len() {
            return Err(mismatch("a fragment (Frg,M,N,...) with a mode for each of the tile's"));
        }
        let first = static_size("retile", &fragment.mode(0)?)?;
        let values = static_size("retile", &reference.mode(1)?)?;
        let extents: Vec<Int> = self.extents()?.into_iter().map(Int::fixed).collect();
        let shape = Shape::flat(&extents)?;
        let unfit = |_| mismatch("a fragment whose first values are the thread's first values in the tile");
        // (M,N) -> the index of the thread's group of `first` values
        let groups = self.tv.right_inverse()?.with_shape(&shape).map_err(unfit)?;
        let groups = groups.upcast(self.threads()? * first).map_err(unfit)?;
        let in_tile = extent(first)?.logical_product(&Tiler::Lay(groups.right_inverse()?)).map_err(unfit)?;
        let tile = in_tile.zipped_divide(&Tiler::Lay(extent(values)?)).map_err(unfit)?; // (Val,RestVal) -> (Frg,M,N)
        let mut sizes = vec![first];
        for mode in 0..groups.rank() {
            sizes.push(static_size("retile", &groups.mode(mode)?)?);
        }
        for (mode, &size) in sizes.iter().enumerate() {
            if static_size("retile", &fragment.mode(mode)?)? % size != 0 {
                return Err(mismatch("a fragment that the tile divides"));
            }
        }
        let tiled = fragment.zipped_divide(&shape_tiler(&sizes)?)?; // ((Frg,TileM,TileN),(1,RestM,RestN))
        let retiled = tiled.composition_by(&[Tile::Lay(tile), Tile::All]).map_err(unfit)?; // ((Val,RestVal),(1,RestM,RestN))
        let rest = retiled.mode(1)?;
        let mut modes = vec![retiled.mode(0)?];
        for mode in 1..rest.rank() {
            modes.push(rest.mode(mode)?);
        }
        Ok(Lay::concat(&modes)?)
    }
}
