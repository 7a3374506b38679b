//! The warp-specialised mainloop: one warpgroup issues tensor copies of A and B into a pipeline of stages, the others multiply what has
//! come (CUTLASS's `KernelTmaWarpSpecializedCooperative`). With a persistent schedule and a store by tensor copies, C of one tile is
//! stored while the next one is loaded.

mod config;
mod consumer;
mod producer;

use girih_layout::{Lay, Stride};
use girih_ptx::Special;
use girih_tensor::Tensor;

use crate::algorithm::fence_barrier_init;
use crate::atom::Transfer;
use crate::builder::{Builder, Cond, SHARED_ALIGN};
use crate::gemm::interface::Interface;
use crate::gemm::{GemmConfig, Schedule, Store};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Pipeline, Smem, TmaCopy};

pub use config::WarpSpecialized;

/// What producer and consumers share.
struct Context<'a> {
    parts: &'a WarpSpecialized,
    interface: &'a Interface<'a>,
    shared: [Tensor<Smem>; 2], // (BlockX,BlockK,Stage)
    copies: [TmaCopy; 2],
    /// How C leaves through shared memory, if it does.
    staged: Option<Staged>,
    pipeline: Pipeline,
    k_tiles: Expr,
    thread: Expr,
    /// The warpgroup: 0 is the producer's.
    group: Expr,
}

/// C's way through shared memory.
struct Staged {
    copy: TmaCopy,
    /// The base of C's tile in shared memory, in bytes.
    base: Expr,
    /// Rows of the tile that shared memory has room for.
    rows: i64,
}

impl WarpSpecialized {
    /// Writes the kernel, and returns what it was derived from.
    pub(in crate::gemm) fn emit(
        &self,
        b: &mut Builder,
        interface: &mut Interface<'_>,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        b.min_blocks(1);
        let config = interface.config;
        let copies = [Operand::A, Operand::B].map(|operand| {
            let tile = self.shared(config, operand)?;
            interface.tma_copy(Transfer::Load, operand, &tile)
        });
        let [copy_a, copy_b] = copies;
        let copies = [copy_a?, copy_b?];
        let copy_c = match config.store {
            Store::Tma { rows } => {
                Some((interface.tma_copy(Transfer::Store, Operand::C, &config.shared_c()?)?, rows))
            }
            Store::Direct { .. } => None,
        };
        let thread = b.special(Special::TidX);
        let shared = [self.stages_of(b, config, Operand::A)?, self.stages_of(b, config, Operand::B)?];
        let staged = match copy_c {
            Some((copy, rows)) => {
                let base = b.alloc_shared(config.shared_bytes_c()?, SHARED_ALIGN)?;
                Some(Staged { copy, base, rows })
            }
            None => None,
        };
        let pipeline = Pipeline::new(b, self.stages, self.stage_bytes(config)?, self.consumers()?)?;
        b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
            pipeline.init(b)?;
            fence_barrier_init(b);
            Ok(())
        })?;
        b.barrier();
        let group = b.canonical_warp_group_idx(&thread)?;
        let k_tiles = interface.k_tiles()?;
        let context = Context {
            parts: self,
            interface,
            shared,
            copies,
            staged,
            pipeline,
            k_tiles,
            thread,
            group: group.clone(),
        };
        b.if_else(&Cond::less(&group, &Expr::from(1)), |b| context.produce(b), |b| context.consume(b))?;
        context.describe()
    }

    /// All stages of an operand's tile, (BlockX,BlockK,Stage).
    fn stages_of(
        &self,
        b: &mut Builder,
        config: &GemmConfig,
        operand: Operand,
    ) -> Result<Tensor<Smem>, Error> {
        let tile = self.shared(config, operand)?;
        let [x, k] = config.extents(operand);
        let stage =
            Lay::leaf(girih_layout::Int::fixed(self.stages), Stride::Int(girih_layout::Int::fixed(x * k)))?;
        Smem::alloc(b, self.atom.dtype(operand), Some(tile.swizzle()), &tile.layout().append(&stage)?)
    }
}

impl Context<'_> {
    fn config(&self) -> &GemmConfig {
        self.interface.config
    }

    /// Whether every second tile goes through K backwards.
    fn alternates(&self) -> bool {
        matches!(self.config().schedule, Schedule::Persistent { alternate: true })
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let shared = |operand: usize| {
            let tensor = &self.shared[operand];
            let swizzle = tensor.engine().swizzle().map(ToString::to_string).unwrap_or_default();
            format!("{swizzle} o 0 o {}", tensor.layout())
        };
        let config = self.config();
        let [m, n, k] = config.tile;
        let c = self.parts.mma()?.thrfrg(Operand::C, &Lay::col_major([m, n])?)?;
        let mut lines = vec![
            ("tile (M,N,K)", format!("({m},{n},{k})")),
            ("MMA atom", self.parts.atom.name()),
            ("MMA atoms (M,N)", self.parts.atoms.to_string()),
            ("TV of C", c.to_string()),
            ("A: global to shared", self.copies[0].copy().atom.to_string()),
            ("B: global to shared", self.copies[1].copy().atom.to_string()),
            ("A in shared memory", shared(0)),
            ("B in shared memory", shared(1)),
        ];
        if let Some(staged) = &self.staged {
            lines.extend([
                ("C in shared memory", config.shared_c()?.to_string()),
                ("C: registers to shared", self.parts.store_c(config.c_type)?.atom.to_string()),
                ("C: shared to global", staged.copy.copy().atom.to_string()),
            ]);
        }
        Ok(lines)
    }
}
