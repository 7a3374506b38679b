//! The warp-specialised mainloop: one warpgroup issues TMA copies of A and B into a pipeline of stages, and the others multiply the
//! tiles that have arrived, all together (CUTLASS's `KernelTmaWarpSpecializedCooperative`) or in teams that take tiles of C in alternation
//! (`KernelTmaWarpSpecializedPingpong`).

mod config;
mod consumer;
mod producer;
mod scaling;

use girih_layout::{Int, Lay, Stride, Swizzle};
use girih_ptx::Special;
use girih_tensor::Tensor;

use crate::algorithm::{fence_barrier_init, prefetch_tma_descriptor};
use crate::atom::{Major, Transfer};
use crate::builder::{Builder, Cond};
use crate::error::GemmError;
use crate::sync::OrderedSequence;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Pipeline, Smem, TiledMma, TmaCopy};

pub(in crate::gemm) use config::{CLUSTERS, ROWS, WARPGROUP};
pub use config::{MixedInput, WarpSpecialized};
pub use consumer::Consumer;
pub use producer::Producer;
pub use scaling::BlockScales;
pub(in crate::gemm) use scaling::Scaling;

/// A warp-specialised mainloop on tiles of one size ([`WarpSpecialized::mainloop`]).
#[derive(Clone, Debug)]
pub struct WarpSpecializedMainloop {
    parts: WarpSpecialized,
    /// BlockM, BlockN, BlockK.
    tile: [i64; 3],
    mma: TiledMma,
}

/// The source of the tiles of A or B ([`WarpSpecializedMainloop::tma_copy`]), or of their scales
/// ([`WarpSpecializedMainloop::tma_copy_of_scales`]): a TMA copy and the address of its tensor map.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The copy, which knows the tensor's shape.
    pub copy: TmaCopy,
    /// The address of the map ([`Builder::tensor_map`]).
    pub map: Expr,
}

/// The stages of A and B, and of their scales, in shared memory ([`WarpSpecializedMainloop::stages`]).
#[derive(Clone, Debug)]
pub struct Stages {
    tiles: [Tensor<Smem>; 2],          // (BlockX,BlockK,Stage)
    scales: [Option<Tensor<Smem>>; 2], // (Scales,1,Stage)
}

/// The parts that the producer and the consumers share.
struct Shared<'a> {
    mainloop: &'a WarpSpecializedMainloop,
    stages: Stages,
    pipeline: Pipeline,
    /// The ping-pong order of the teams' mainloops, if there are several teams.
    turns: Option<OrderedSequence>,
}

impl WarpSpecialized {
    /// The mainloop on tiles of BlockM, BlockN, BlockK elements.
    ///
    /// # Errors
    /// [`Error::Gemm`], which names the field that does not fit.
    pub fn mainloop(&self, tile: [i64; 3]) -> Result<WarpSpecializedMainloop, Error> {
        self.check(tile)?;
        Ok(WarpSpecializedMainloop { parts: *self, tile, mma: self.mma()? })
    }
}

impl WarpSpecializedMainloop {
    /// The TMA copy that loads tiles of A, (M,K) or (M,K,L), or B, (N,K) or (N,K,L), which is in global memory as `global` says.
    ///
    /// # Errors
    /// As [`TmaCopy::new`].
    pub fn tma_copy(&self, operand: Operand, global: &Lay) -> Result<TmaCopy, Error> {
        let tile = self.parts.shared(operand, self.extents_of_copy(operand))?; // (CopyX,BlockK)
        let dtype = self.parts.dtype(operand);
        let transfer = if self.is_multicast(operand) { Transfer::Multicast } else { Transfer::Load };
        let layout = tile.layout().append_to(global.rank(), &Lay::UNIT)?; // (CopyX,BlockK,1)
        TmaCopy::new(transfer, dtype, global, &layout, tile.swizzle())
    }

    /// The TMA copy that loads the scales of a tile's rows for one group, of scales of an operand that are in global memory as `global`,
    /// (Scales,Groups), says: the scales of a group follow each other (CUTLASS's scales are M-major too).
    ///
    /// # Errors
    /// [`GemmError::Scales`] for an operand without scales; as [`TmaCopy::new`].
    pub fn tma_copy_of_scales(&self, operand: Operand, global: &Lay) -> Result<TmaCopy, Error> {
        let Some(scaling) = self.parts.scales(operand) else {
            return Err(GemmError::Scales { operand: format!("{operand:?}") }.into());
        };
        let one = self.scales_layout(operand, &scaling)?.take(0, 2)?; // (Scales,1)
        TmaCopy::new(Transfer::Load, scaling.dtype, global, &one, Swizzle::NONE)
    }

    /// Whether the blocks of a cluster load a tile of the operand together.
    fn is_multicast(&self, operand: Operand) -> bool {
        operand == Operand::B && self.parts.multicast > 1
    }

    /// The extents of the part of an operand's tile that one block loads: CopyX and BlockK.
    fn extents_of_copy(&self, operand: Operand) -> [i64; 2] {
        let [x, k] = self.extents(operand);
        [if self.is_multicast(operand) { x / self.parts.multicast } else { x }, k]
    }

    /// Takes shared memory for the stages of A and B. The kernel's other shared memory may come before or after.
    ///
    /// # Errors
    /// [`BuilderError::SharedMemory`](crate::BuilderError::SharedMemory) for shared memory that does not suffice.
    #[track_caller]
    pub fn stages(&self, b: &mut Builder) -> Result<Stages, Error> {
        let tiles = [self.stages_of(b, Operand::A)?, self.stages_of(b, Operand::B)?];
        let mut scales = [None, None];
        for (scales, operand) in scales.iter_mut().zip([Operand::A, Operand::B]) {
            if let Some(scaling) = self.parts.scales(operand) {
                let layout = self.scales_layout(operand, &scaling)?;
                *scales = Some(Smem::alloc(b, scaling.dtype, None, &layout)?);
            }
        }
        Ok(Stages { tiles, scales })
    }

    /// Writes the producer and the consumers. One thread of the first warpgroup executes `produce`, and the other warpgroups execute
    /// `consume`: both have to iterate over the same tiles of C, with as many tiles along K, and where consumers are several teams, each tile is
    /// that of one of them ([`Consumer::in_turn`]). All threads of the block, of which there are
    /// [`WarpSpecialized::threads`], must execute this. With a multicast, the kernel is one of clusters ([`Builder::cluster`]), whose blocks
    /// go through the same columns of tiles. `feeds` are those of A and B, and of the scales of A and of B where these have scales.
    ///
    /// # Errors
    /// [`BuilderError::SharedMemory`](crate::BuilderError::SharedMemory) for shared memory that does not suffice, [`GemmError::Feeds`] for another number of feeds; the errors of `produce` and `consume`.
    ///
    /// # Examples
    /// The kernel has a block for each tile of 64 x 64, and does not store the accumulators.
    /// ```
    /// use girih_codegen::atom::{Major, MmaAtom, MmaKind, Product};
    /// use girih_codegen::gemm::{Feed, WarpSpecialized, k_tiles};
    /// use girih_codegen::{Builder, Expr, Operand};
    /// use girih_layout::{Int, Lay, lay};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// let types = [DType::F32, DType::Bf16, DType::Bf16];
    /// let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 64, types, [Major::K; 2], Product::Multiply)?;
    /// let parts = WarpSpecialized { atom, atoms: lay!("(1,1):(0,0)"), teams: 1, stages: 4, registers: [40, 232], multicast: 1, mma_promotion_interval: 0, mixed_input: None, block_scales: None };
    /// let mainloop = parts.mainloop([64, 64, 64])?;
    /// let mut b = Builder::new("k", 90, parts.threads()?);
    /// let [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20).divisible_by(8))?;
    /// let mut feed = |name: &str, operand: Operand, x| -> Result<Feed, girih_codegen::Error> {
    ///     let global = Lay::strided([x, k].map(Int::symbol), [Int::symbol(k), Int::fixed(1)])?;
    ///     Ok(Feed { copy: mainloop.tma_copy(operand, &global)?, map: b.tensor_map(name) })
    /// };
    /// let feeds = [feed("map_a", Operand::A, m)?, feed("map_b", Operand::B, n)?];
    /// let [row, column] = [Special::CtaidX, Special::CtaidY].map(|special| b.special(special));
    /// let along_k = k_tiles(&Expr::from_int(&k.into()), 64)?;
    /// let stages = mainloop.stages(&mut b)?;
    /// mainloop.emit(
    ///     &mut b,
    ///     stages,
    ///     feeds,
    ///     |b, producer| producer.load(b, [&row, &column].map(std::slice::from_ref), along_k.clone(), &Expr::from(0)),
    ///     |b, consumer| {
    ///         let sums = consumer.multiply(b, [&row, &column], &along_k.end)?;
    ///         assert_eq!(sums.values.layout().to_string(), "(32,1,1):(1,0,0)");
    ///         Ok(())
    ///     },
    /// )?;
    /// assert!(b.finish()?.module().to_string().contains("wgmma.mma_async"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn emit(
        &self,
        b: &mut Builder,
        stages: Stages,
        feeds: impl Into<Vec<Feed>>,
        produce: impl FnOnce(&mut Builder, &Producer<'_>) -> Result<(), Error>,
        consume: impl FnOnce(&mut Builder, &Consumer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.emit_beside(b, stages, feeds, produce, |_, _| Ok(()), consume)
    }

    /// The same with `beside`, which all threads of the first warpgroup execute with their index, the one that executes `produce` after that. Its
    /// work overlaps with the MMAs of the consumers, on threads that have as few registers as the producer.
    ///
    /// # Errors
    /// As [`WarpSpecializedMainloop::emit`]; those of `beside`.
    #[track_caller]
    pub fn emit_beside(
        &self,
        b: &mut Builder,
        stages: Stages,
        feeds: impl Into<Vec<Feed>>,
        produce: impl FnOnce(&mut Builder, &Producer<'_>) -> Result<(), Error>,
        beside: impl FnOnce(&mut Builder, &Expr) -> Result<(), Error>,
        consume: impl FnOnce(&mut Builder, &Consumer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let feeds = feeds.into();
        let wanted = 2 + stages.scales.iter().flatten().count();
        if feeds.len() != wanted {
            return Err(GemmError::Feeds { feeds: feeds.len(), accepted: wanted }.into());
        }
        let thread = b.special(Special::TidX);
        let stage_bytes = self.parts.stage_bytes(self.tile)?;
        let pipeline = Pipeline::new(b, self.parts.stages, stage_bytes, self.parts.releasing()?)?;
        let turns = match self.parts.teams {
            1 => None,
            teams => Some(OrderedSequence::new(b, teams, self.parts.consumers()?)?),
        };
        b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
            for feed in &feeds {
                prefetch_tma_descriptor(b, &feed.map)?;
            }
            pipeline.init(b)?;
            turns.iter().try_for_each(|turns| turns.init(b))?;
            fence_barrier_init(b);
            Ok(())
        })?;
        // Other blocks multicast into this block, and arrive at its mbarriers.
        if self.parts.multicast > 1 {
            b.cluster_sync()
        } else {
            b.barrier()
        }
        let group = b.canonical_warp_group_idx(&thread)?;
        let shared = Shared { mainloop: self, stages, pipeline, turns };
        b.if_else(
            &Cond::less(&group, &Expr::from(1)),
            |b| {
                Producer::run(b, &shared, &feeds, &thread, produce)?;
                beside(b, &thread)
            },
            |b| Consumer::run(b, &shared, &thread, &group, consume),
        )
    }

    /// The layouts from which the mainloop is derived, each with its name.
    ///
    /// # Errors
    /// [`Error::Mismatch`].
    pub fn describe(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let [m, n, k] = self.tile;
        let c = self.mma.thrfrg(Operand::C, &Lay::col_major([m, n])?)?;
        let shared = |operand| -> Result<String, Error> {
            let (swizzle, layout) = self.stages_layout(operand)?;
            Ok(format!("{swizzle} o 0 o {layout}"))
        };
        // The boxes do not depend on the layout of the tensors in global memory.
        let copy = |operand: Operand| -> Result<String, Error> {
            let [x, k] = self.extents(operand);
            let strides = if self.parts.atom.majors[operand as usize] == Major::K { [k, 1] } else { [1, x] };
            Ok(self.tma_copy(operand, &Lay::strided([x, k], strides)?)?.copy().atom.to_string())
        };
        Ok(vec![
            ("tile (M,N,K)", format!("({m},{n},{k})")),
            ("MMA atom", self.parts.atom.name()),
            ("MMA atoms (M,N)", self.parts.atoms.to_string()),
            ("TV of C", c.to_string()),
            ("A: global to shared", copy(Operand::A)?),
            ("B: global to shared", copy(Operand::B)?),
            ("A in shared memory", shared(Operand::A)?),
            ("B in shared memory", shared(Operand::B)?),
        ])
    }

    /// BlockX and BlockK of an operand.
    fn extents(&self, operand: Operand) -> [i64; 2] {
        operand.modes().map(|mode| self.tile[mode])
    }

    /// All stages of an operand's tile, (BlockX,BlockK,Stage).
    fn stages_of(&self, b: &mut Builder, operand: Operand) -> Result<Tensor<Smem>, Error> {
        let (swizzle, layout) = self.stages_layout(operand)?;
        Smem::alloc(b, self.parts.dtype(operand), Some(swizzle), &layout)
    }

    fn stages_layout(&self, operand: Operand) -> Result<(Swizzle, Lay), Error> {
        let [x, k] = self.extents(operand);
        let tile = self.parts.shared(operand, [x, k])?;
        let stage = Lay::leaf(Int::fixed(self.parts.stages), Stride::Int(Int::fixed(x * k)))?;
        Ok((tile.swizzle(), tile.layout().append(&stage)?))
    }

    /// The scales of a tile's rows in shared memory, (Scales,1,Stage).
    fn scales_layout(&self, operand: Operand, scaling: &Scaling) -> Result<Lay, Error> {
        let rows = self.tile[operand as usize];
        let (scales, pitch) = (scaling.boxed(rows), scaling.pitch(rows));
        Ok(Lay::strided([scales, 1, self.parts.stages], [1, pitch, pitch])?)
    }
}
