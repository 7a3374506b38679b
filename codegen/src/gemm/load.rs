//! Global to shared memory: the block's tiles of A and B.

use girih_layout::{Int, Lay, Shape, Stride, Symbol};
use girih_ptx::{Opcode, Operand as Ptx, Type};
use girih_tensor::{Slice, Space, Tensor};

use super::{GemmConfig, Major};
use crate::atom::{CopyAtom, UNIVERSAL_COPY_16, cp_async};
use crate::builder::{Builder, Cond, Width};
use crate::engine::element_bytes;
use crate::tiled_copy::{self, TiledCopy, shape_tiler, static_size};
use crate::tiled_mma::Operand;
use crate::{Counting, Error, Expr, Gmem, Memory, Smem};

/// Loads that are in flight together on the synchronous path; more would not fit the registers.
const BATCH: usize = 8;

/// One thread's share of loading an operand's tiles.
pub(crate) struct TileLoad {
    /// The tiled copy, for the record.
    pub(crate) copy: TiledCopy,
    source: Tensor<Gmem>,         // (Val,RestX,RestK,KTile)
    target: Tensor<Smem>,         // (Val,RestX,RestK,Stage)
    coordinate: Tensor<Counting>, // (Val,RestX,RestK,KTile)
    extents: [Expr; 2],
    contiguous: usize,
    vector: i64,
}

/// An operand in global memory: its pointer, and the symbols of its extents and pitch.
pub(crate) struct GlobalOperand {
    pub(crate) pointer: Expr,
    pub(crate) extents: [Symbol; 2],
    pub(crate) pitch: Symbol,
}

impl TileLoad {
    /// Partitions the tiles of `operand` that belong to block tile `block` for `thread`.
    pub(crate) fn new(
        config: &GemmConfig,
        operand: Operand,
        global: &GlobalOperand,
        shared: Tensor<Smem>,
        block: &Expr,
        thread: &Expr,
    ) -> Result<TileLoad, Error> {
        let copy = tile_copy(config, operand)?;
        let contiguous = contiguous_mode(config, operand);
        let shape = Shape::flat(&global.extents.map(Int::symbol))?;
        let (one, pitch) = (Stride::Int(Int::fixed(1)), Stride::Int(Int::symbol(global.pitch)));
        let strides = if contiguous == 1 { [pitch, one] } else { [one, pitch] };
        let matrix = Lay::new(&shape, &girih_layout::Strides::flat(&strides)?)?; // (X,K)
        let tiler = shape_tiler(&config.extents(operand))?;
        let tile = [Slice::At(block.clone()), Slice::All];
        let g = Tensor::new(Gmem::new(global.pointer.clone(), config.atom.a_type), matrix);
        let g = g.local_tile(&tiler, &tile)?; // (BlockX,BlockK,KTile)
        let c = Tensor::new(Counting::new(2), Lay::identity(&shape)?);
        let c = c.local_tile(&tiler, &tile)?; // (BlockX,BlockK,KTile) -> (x,k)
        let mine = copy.get_slice(thread)?;
        Ok(TileLoad {
            source: mine.partition_s(&g)?,      // (Val,RestX,RestK,KTile)
            target: mine.partition_d(&shared)?, // (Val,RestX,RestK,Stage)
            coordinate: mine.partition_s(&c)?,  // (Val,RestX,RestK,KTile)
            copy,
            extents: global.extents.map(|s| Expr::from_int(&Int::symbol(s))),
            contiguous,
            vector: config.source(operand).vector,
        })
    }

    /// Emits the loads of k-tile `tile` into `stage`. What lies outside the matrix becomes zero.
    pub(crate) fn emit(&self, b: &mut Builder, tile: &Expr, stage: &Expr) -> Result<(), Error> {
        let layout = self.target.layout();
        let (rest_x, rest_k) =
            (static_size("load", &layout.mode(1)?)?, static_size("load", &layout.mode(2)?)?);
        let steps: Vec<(i64, i64)> = (0..rest_k).flat_map(|k| (0..rest_x).map(move |x| (x, k))).collect();
        for batch in steps.chunks(BATCH) {
            let mut loaded = Vec::new();
            for &(x, k) in batch {
                let at = |last: &Expr| {
                    Slice::tuple(
                        [0, x, k]
                            .map(|i| Slice::At(Expr::from(i)))
                            .into_iter()
                            .chain([Slice::At(last.clone())]),
                    )
                };
                let source = self.source.slice(&at(tile))?.into_engine().address()?;
                let target = self.target.slice(&at(stage))?.into_engine().address()?;
                let coordinate = self.coordinate.slice(&at(tile))?.into_engine();
                match self.copy.atom.op {
                    crate::atom::CopyOp::CpAsync { .. } => {
                        let bytes = self.bytes_inside(b, &coordinate)?;
                        copy_async(b, &self.copy.atom, &target, &source, bytes)?;
                    }
                    _ => loaded.push((self.load_element(b, &source, &coordinate)?, target)),
                }
            }
            for (reg, target) in loaded {
                b.store(Space::Smem, &target, &[reg], &Cond::Always)?;
            }
        }
        Ok(())
    }

    /// How many bytes of the vector at `coordinate` lie inside the matrix.
    fn bytes_inside(&self, b: &mut Builder, coordinate: &Counting) -> Result<Ptx, Error> {
        let at = coordinate.coordinate();
        let other = 1 - self.contiguous;
        let row_inside = Cond::less(&at[other], &self.extents[other]);
        let left = &self.extents[self.contiguous] - &at[self.contiguous];
        let inside = left.maximum(&Expr::from(0)).minimum(&Expr::from(self.vector));
        let element = element_bytes("load", self.source.engine().dtype())?;
        b.select_or_zero(&row_inside, &(&inside * element))
    }

    /// One element through a register, zero outside: for pitches that no asynchronous copy is aligned to.
    fn load_element(
        &self,
        b: &mut Builder,
        source: &Expr,
        coordinate: &Counting,
    ) -> Result<crate::Reg, Error> {
        let at = coordinate.coordinate();
        let inside = Cond::all((0..2).map(|i| Cond::less(&at[i], &self.extents[i])));
        let reg = b.reg(Type::B16);
        b.inst(Opcode::Mov, &[Type::B16.into()], vec![Ptx::from(&reg), Ptx::Int(0)]);
        b.load(Space::Gmem, std::slice::from_ref(&reg), source, &inside)?;
        Ok(reg)
    }
}

fn contiguous_mode(config: &GemmConfig, operand: Operand) -> usize {
    if config.source(operand).major == Major::K { 1 } else { 0 }
}

/// All threads of the block over the operand's tile, in vectors along its contiguous mode.
pub(crate) fn tile_copy(config: &GemmConfig, operand: Operand) -> Result<TiledCopy, Error> {
    let vector = config.source(operand).vector;
    let atom = load_atom(config, vector)?;
    let (threads, extents) = (config.mma().threads()?, config.extents(operand));
    tiled_copy::coalesced(*atom, threads, extents, contiguous_mode(config, operand), vector)
}

fn load_atom(config: &GemmConfig, vector: i64) -> Result<&'static CopyAtom, Error> {
    let element = config.element()?;
    let bytes = u32::try_from(vector.saturating_mul(element)).ok();
    match bytes.and_then(cp_async) {
        Some(atom) => Ok(atom),
        None if vector == 1 && element == 2 => Ok(&UNIVERSAL_COPY_16),
        None => Err(Error::Config {
            what: "vector",
            value: vector.to_string(),
            accepted: format!("4, 8 or 16 bytes of {}-byte elements, or one element of 2 bytes", element),
        }),
    }
}

fn copy_async(
    b: &mut Builder,
    atom: &CopyAtom,
    target: &Expr,
    source: &Expr,
    inside: Ptx,
) -> Result<(), Error> {
    let bytes = i64::from(atom.bits() / 8);
    let target = b.address(target, Width::W32)?;
    let source = b.address(source, Width::W64)?;
    b.inst(Opcode::Cp, &atom.modifiers(), vec![target, source, Ptx::Int(bytes), inside]);
    Ok(())
}
