//! The GEMM generator: partitions, banks, runs on the simulator, golden modules.

mod banks;
mod configs;
mod golden;
mod partitions;
mod run;

use girih_tensor::Tensor;

use super::{GemmConfig, SharedTile};
use crate::expr::tests::program::evaluate;
use crate::tiled_mma::Operand;
use crate::{Expr, Smem, VarId};

/// The operand's tiles in shared memory from address 0.
fn shared(config: &GemmConfig, operand: Operand) -> Tensor<Smem> {
    let tile = SharedTile::new(config, operand).unwrap();
    Tensor::new(Smem::new(Expr::from(0), config.atom.a_type, tile.swizzle), tile.layout)
}

fn threads(config: &GemmConfig) -> i64 {
    config.mma().threads().unwrap()
}

/// The thread's number as a variable.
fn thread(config: &GemmConfig) -> Expr {
    Expr::var(VarId(0), 0, threads(config) - 1, 1)
}

/// The value of an expression of [`thread`] alone.
fn for_thread(expr: &Expr, thread: i64) -> i64 {
    evaluate(expr, &|_| thread)
}
