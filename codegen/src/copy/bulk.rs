//! Copies of tiles that are contiguous on both sides: one thread moves a tile through shared memory by bulk copies.

use girih_ptx::Special;

use super::config::CopyConfig;
use super::interface::Interface;
use super::walk::Walked;
use crate::algorithm::{fence_barrier_init, tma_store_arrive, tma_store_wait};
use crate::builder::{Builder, Cond, Width};
use crate::engine::element_bytes;
use crate::{Error, Expr, MBARRIER_BYTES, Mbarrier, PipelineState};

/// The ring of stages of a block's tiles.
struct Ring<'a> {
    config: &'a CopyConfig,
    interface: &'a Interface,
    walked: Walked<'a>,
    /// Bytes of a stage.
    bytes: i64,
    base: Expr,
    barriers: Expr,
}

/// Copies the tiles of a block, with `stages - 1` of them prefetched.
pub(super) fn copy(
    b: &mut Builder,
    config: &CopyConfig,
    interface: &Interface,
    stages: i64,
) -> Result<(), Error> {
    let bytes = config.elements() * element_bytes("dtype", config.dtype)?;
    let walked = Walked::new(b, config, interface)?;
    let base = b.alloc_shared(stages * bytes, 128)?;
    let barriers = b.alloc_shared(stages * MBARRIER_BYTES, MBARRIER_BYTES)?;
    let ring = Ring { config, interface, walked, bytes, base, barriers };
    let first = Cond::less(&b.special(Special::TidX), &Expr::from(1));
    b.if_(&first, |b| ring.run(b, stages))
}

impl Ring<'_> {
    fn run(&self, b: &mut Builder, stages: i64) -> Result<(), Error> {
        for stage in 0..stages {
            self.barrier(&Expr::from(stage))?.init(b, 1)?;
        }
        fence_barrier_init(b);
        let Some((first, step, tiles)) = self.walked.loops() else { return Ok(()) };
        for ahead in 0..stages - 1 {
            let number = first + &(step * ahead);
            b.if_(&Cond::less(&number, tiles), |b| self.load(b, &number, &Expr::from(ahead)))?;
        }
        let (full, free) = (PipelineState::new(b, stages), PipelineState::behind(b, stages));
        b.for_steps(first, tiles, step, |b, number| {
            let at = full.stage(b);
            self.barrier(&at.index)?.wait(b, &at.phase)?;
            self.store(b, number, &at.index)?;
            tma_store_arrive(b);
            // The previous stage is free when its store has read it.
            tma_store_wait(b, 1);
            let (next, stage) = (number + &(step * (stages - 1)), free.stage(b));
            b.if_(&Cond::less(&next, tiles), |b| self.load(b, &next, &stage.index))?;
            full.advance(b);
            free.advance(b);
            Ok(())
        })?;
        tma_store_wait(b, 0);
        Ok(())
    }

    fn barrier(&self, stage: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&self.barriers + &(stage * MBARRIER_BYTES)))
    }

    fn load(&self, b: &mut Builder, number: &Expr, stage: &Expr) -> Result<(), Error> {
        let [_, source, bytes] = self.ends(b, number)?;
        let shared = b.value(&(&self.base + &(stage * self.bytes)), Width::W32)?;
        let (source, bytes) = (b.value(&source, Width::W64)?, b.value(&bytes, Width::W32)?);
        let barrier = b.value(self.barrier(stage)?.address(), Width::W32)?;
        b.ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", &[&barrier, &bytes])?;
        let form = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
        b.ptx(&format!("{form} [%0], [%1], %2, [%3];"), &[&shared, &source, &bytes, &barrier])
    }

    fn store(&self, b: &mut Builder, number: &Expr, stage: &Expr) -> Result<(), Error> {
        let [target, _, bytes] = self.ends(b, number)?;
        let shared = b.value(&(&self.base + &(stage * self.bytes)), Width::W32)?;
        let (target, bytes) = (b.value(&target, Width::W64)?, b.value(&bytes, Width::W32)?);
        b.ptx("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;", &[&target, &shared, &bytes])
    }

    /// The addresses of a tile in the destination and in the source, and its bytes.
    fn ends(&self, b: &mut Builder, number: &Expr) -> Result<[Expr; 3], Error> {
        let at = self.walked.coordinate(b, number)?;
        let [target, source] = self.interface.lines(self.config, &at)?;
        let lead = self.config.dst.order[0];
        let left = &self.interface.extent(lead) - &(&at[lead] * self.config.modes[lead].tile);
        let elements = left.minimum(&Expr::from(self.config.modes[lead].tile));
        Ok([target, source, &elements * element_bytes("dtype", self.config.dtype)?])
    }
}
