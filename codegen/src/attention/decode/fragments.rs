//! Fragments of Q, K and V.

use girih_layout::{Lay, lay};
use girih_tensor::{DType, Slice, Tensor};

use super::config::DecodeConfig;
use crate::algorithm::{convert_finite, copy};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::sizes::{extent, static_size};
use crate::{Error, Expr, Memory, Operand, Rmem, Smem, TiledCopy};

/// The reads of the fragments of K or V from a ring.
pub(super) struct Reader {
    copy: TiledCopy,
    source: Tensor<Smem>, // (Val,RestN,RestK,Stage)
    /// The values of a tile of the copy in the order of MMA atoms, (FrgV,N,K), and in the order of registers.
    order: [Lay; 3],
    /// The dtype of the MMA.
    dtype: DType,
}

impl Reader {
    /// The reads of K from its ring, (Keys,HeadDim,Stage).
    pub(super) fn keys(config: &DecodeConfig, ring: &Tensor<Smem>, thread: &Expr) -> Result<Reader, Error> {
        let columns = if config.converts() { lay!("2:8") } else { lay!("1:0") };
        let order = [lay!("(2,2):(1,2)"), lay!("2:4"), columns];
        Reader::new(config, config.keys_reader()?, ring, order, thread)
    }

    /// The reads of V from its ring, (Keys,HeadDim,Stage).
    pub(super) fn values(config: &DecodeConfig, ring: &Tensor<Smem>, thread: &Expr) -> Result<Reader, Error> {
        let order = match config.converts() {
            true => [lay!("(2,2):(2,4)"), lay!("(2,2):(1,8)"), lay!("1:0")],
            false => [lay!("(2,2):(1,2)"), lay!("2:4"), lay!("1:0")],
        };
        let layout = ring.layout();
        let modes = [layout.mode(1)?, layout.mode(0)?, layout.mode(2)?];
        let ring = Tensor::new(ring.engine().clone(), Lay::concat(&modes)?); // (HeadDim,Keys,Stage)
        Reader::new(config, config.values_reader()?, &ring, order, thread)
    }

    fn new(
        config: &DecodeConfig,
        copy: TiledCopy,
        ring: &Tensor<Smem>,
        order: [Lay; 3],
        thread: &Expr,
    ) -> Result<Reader, Error> {
        let source = copy.get_slice(thread)?.partition_s(ring)?; // (Val,RestN,RestK,Stage)
        Ok(Reader { copy, source, order, dtype: config.dtype })
    }

    /// How many tiles of the copy there are along N or K, mode 1 or 2.
    pub(super) fn tiles(&self, mode: usize) -> Result<i64, Error> {
        static_size("fragments", &self.source.layout().mode(mode)?)
    }

    /// The atoms of a tile of the copy along N or K, mode 1 or 2.
    pub(super) fn atoms(&self, mode: usize) -> Result<i64, Error> {
        static_size("fragments", &self.order[mode])
    }

    /// Reads the fragments of the tiles at `at` along N and K, (FrgV,N,K); of all tiles along N where that is `None`.
    pub(super) fn read(
        &self,
        b: &mut Builder,
        at: (Option<i64>, i64),
        stage: &Expr,
    ) -> Result<Tensor<Rmem>, Error> {
        let column = at.0.map_or(Slice::All, Slice::at);
        let source = [Slice::All, column, Slice::at(at.1), Slice::At(stage.clone())];
        let source = self.source.slice(Slice::tuple(source))?; // (Val[,RestN])
        let tiles = if at.0.is_some() { 1 } else { self.tiles(1)? };
        let [values, n, k] = self.order;
        let each = static_size("fragments", &Lay::concat(&[values, n, k])?)?;
        let n = Lay::concat(&[n, Lay::strided([tiles], [each])?.mode(0)?])?;
        let order = Lay::concat(&[values, n, k])?; // (FrgV,(N,Tiles),K)
        let loaded = Rmem::new(b, self.copy_dtype(), (each * tiles) as usize);
        copy(b, &self.copy, &source, &Tensor::new(loaded.clone(), extent(each * tiles)?))?;
        let loaded = Tensor::new(loaded, order);
        if self.copy_dtype() == self.dtype {
            return Ok(loaded);
        }
        let converted = Rmem::tensor(b, self.dtype, Lay::left(order.shape())?)?;
        convert_finite(b, &loaded, &converted)?;
        Ok(converted)
    }

    fn copy_dtype(&self) -> DType {
        Memory::dtype(self.source.engine())
    }
}

/// The fragments of Q, which stay in registers or are read again for each tile of keys.
pub(super) enum Queries {
    Kept(Tensor<Rmem>),          // (FrgV,RestM,RestK)
    Shared(Tensor<Smem>, DType), // (FrgV,RestM,RestK)
}

impl Queries {
    /// The fragments of a tile, (Rows,HeadDim), that has arrived, read once.
    pub(super) fn kept(
        b: &mut Builder,
        config: &DecodeConfig,
        tile: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<Queries, Error> {
        let mine = config.scores_mma()?.get_slice(thread)?;
        let kept = mine.partition_fragment(b, Operand::A, tile)?; // (FrgV,RestM,RestK)
        copy(b, AUTO_VECTORIZING_COPY, &mine.partition(Operand::A, tile)?, &kept)?;
        Ok(Queries::Kept(kept))
    }

    /// The fragments of a tile, (Rows,HeadDim), read when they are needed.
    pub(super) fn shared(
        config: &DecodeConfig,
        tile: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<Queries, Error> {
        let source = config.scores_mma()?.get_slice(thread)?.partition(Operand::A, tile)?; // (FrgV,RestM,RestK)
        Ok(Queries::Shared(source, config.dtype))
    }

    /// The fragment of step `k`, (FrgV,RestM).
    pub(super) fn at(&self, b: &mut Builder, k: i64) -> Result<Tensor<Rmem>, Error> {
        let at = (Slice::All, Slice::All, Slice::at(k));
        match self {
            Queries::Kept(all) => Ok(all.slice(at)?),
            Queries::Shared(all, dtype) => {
                let source = all.slice(at)?; // (FrgV,RestM)
                let values = Rmem::tensor(b, *dtype, Lay::left(source.layout().shape())?)?;
                copy(b, AUTO_VECTORIZING_COPY, &source, &values)?;
                Ok(values)
            }
        }
    }
}
