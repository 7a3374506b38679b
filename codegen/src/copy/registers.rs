//! Copies of tiles through registers.

use girih_layout::Lay;
use girih_ptx::Opcode;
use girih_tensor::Tensor;

use super::At;
use super::config::CopyConfig;
use super::interface::Interface;
use crate::algorithm::{self, CopyWith};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::{Error, Expr, Gmem, Rmem};

pub(super) fn copy(
    b: &mut Builder,
    config: &CopyConfig,
    interface: &Interface,
    at: &At,
    (tv, thread): (&Lay, &Expr),
) -> Result<(), Error> {
    let source = interface.source(config, at)?.tv_partition(tv, thread)?; // (Val)
    let target = interface.target(config, at)?.tv_partition(tv, thread)?; // (Val)
    let values = loaded(b, config, interface, &source)?;
    algorithm::copy(b, AUTO_VECTORIZING_COPY, &values, &target)
}

/// The thread's part of the source in registers. What is outside of the source's extents is the fill of a padded copy.
pub(super) fn loaded(
    b: &mut Builder,
    config: &CopyConfig,
    interface: &Interface,
    source: &Tensor<Gmem>,
) -> Result<Tensor<Rmem>, Error> {
    let values = Rmem::like(b, source)?;
    let mut with = CopyWith::from(AUTO_VECTORIZING_COPY);
    match &interface.fill {
        Some(fill) => {
            let fill = b.scalar(fill)?;
            for reg in values.engine().regs() {
                b.inst(Opcode::Mov, &[reg.ty().into()], [reg, &fill].map(Into::into).to_vec());
            }
        }
        None if config.is_ragged() => with = with.zero_fill(),
        None => {}
    }
    algorithm::copy(b, with, source, &values)?;
    Ok(values)
}
