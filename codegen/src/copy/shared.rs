//! Copies of tiles through shared memory.

use girih_layout::{Int, Lay};
use girih_tensor::Tensor;

use super::At;
use super::config::CopyConfig;
use super::interface::Interface;
use super::registers::loaded;
use crate::algorithm;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, SHARED_ALIGN};
use crate::engine::element_bytes;
use crate::plan::{StagedCopy, staged_copy};
use crate::{Error, Expr, Rmem, Smem};

/// A tile in shared memory, in the order of the destination, and how it is written and read.
pub(super) struct Staging {
    plan: StagedCopy,
    /// With a mode for each group of the source that has more than one element of the tile.
    by_source: Tensor<Smem>,
    by_target: Tensor<Smem>,
}

impl Staging {
    pub(super) fn new(b: &mut Builder, config: &CopyConfig) -> Result<Staging, Error> {
        let bytes = element_bytes("dtype", config.dtype)?;
        let by_source = config.groups(&config.src)?;
        let plan =
            staged_copy(&by_source, bytes * 8, [config.src.vector, config.dst.vector], config.threads)?;
        let period = bytes << plan.map.map.inputs();
        let size = (config.elements() * bytes + period - 1) / period * period;
        let base = b.alloc_shared(size, period.clamp(16, SHARED_ALIGN))?;
        let engine = Smem::mapped(base, config.dtype, &plan.map.map)?;
        let by_target = config.groups(&config.dst)?;
        let [by_source, by_target] = [by_source, by_target].map(|layout| Tensor::new(engine.clone(), layout));
        Ok(Staging { plan, by_source, by_target })
    }

    pub(super) fn describe(&self, partitions: &mut Vec<(&'static str, String)>) {
        let StagedCopy { load, store, map, .. } = &self.plan;
        partitions.push(("load (Thr,Val)", load.to_string()));
        partitions.push(("store (Thr,Val)", store.to_string()));
        partitions.push(("wavefronts", map.wavefronts.to_string()));
    }

    pub(super) fn copy(
        &self,
        b: &mut Builder,
        config: &CopyConfig,
        interface: &Interface,
        at: &At,
        thread: &Expr,
    ) -> Result<(), Error> {
        let StagedCopy { load, store, pack, .. } = &self.plan;
        let staged = self.by_source.tv_partition(load, thread)?; // (Val)
        let source = interface.source(config, at)?.tv_partition(load, thread)?; // (Val)
        let values = loaded(b, config, interface, &source)?;
        let values = match pack {
            Some(pack) => self.packed(b, config, &values, *pack)?,
            None => values,
        };
        if config.walk.persistent {
            // The block has read the tile before.
            b.barrier();
        }
        algorithm::copy(b, AUTO_VECTORIZING_COPY, &values, &staged)?;
        b.barrier();
        let staged = self.by_target.tv_partition(store, thread)?; // (Val)
        let target = interface.target(config, at)?.tv_partition(store, thread)?; // (Val)
        algorithm::copy(b, AUTO_VECTORIZING_COPY, &staged, &target)
    }

    /// The values with those of a leaf next to each other, so that they share registers.
    fn packed(
        &self,
        b: &mut Builder,
        config: &CopyConfig,
        values: &Tensor<Rmem>,
        leaf: usize,
    ) -> Result<Tensor<Rmem>, Error> {
        let by_value = self.plan.load.mode(1)?; // (Val)
        let extents: Vec<Int> = (0..by_value.leaf_count()).map(|leaf| by_value.flat_leaf(leaf).0).collect();
        let mut order: Vec<usize> = (0..extents.len()).collect();
        order[..=leaf].rotate_right(1);
        let mut strides = vec![Int::ONE; extents.len()];
        order.iter().try_fold(Int::ONE, |step, &leaf| {
            strides[leaf] = step;
            step.mul(extents[leaf])
        })?;
        let packed = Rmem::tensor(b, config.dtype, Lay::strided(extents, strides)?)?;
        algorithm::copy(b, AUTO_VECTORIZING_COPY, values, &packed)?;
        Ok(packed)
    }
}
