//! The GEMM generators: partitions, banks, runs on the simulator, golden modules, the order of tiles.
#![expect(clippy::unwrap_used, reason = "tests")]

mod ahead;
mod banks;
mod batches;
pub(crate) mod configs;
mod golden;
mod groups;
mod order;
mod partitions;
mod pieces;
mod pointers;
mod repitch;
mod run;
pub(crate) mod stream;

use girih_codegen::gemm::{GemmConfig, SharedTile, Source};
use girih_codegen::{Builder, Expr, Operand, Smem};
use girih_ptx::Special;
use girih_tensor::Tensor;

use crate::expr::formula::Formula;

/// The operand's tiles in shared memory from address 0.
fn shared(config: &GemmConfig, operand: Operand) -> Tensor<Smem> {
    let tile = shared_tile(config, operand);
    Tensor::new(Smem::new(Expr::from(0), config.atom().a_type, tile.swizzle), tile.layout)
}

fn shared_tile(config: &GemmConfig, operand: Operand) -> SharedTile {
    *config.mainloop.multistage().unwrap().mainloop(config.tile).unwrap().shared(operand)
}

fn threads(config: &GemmConfig) -> i64 {
    config.mma().unwrap().threads().unwrap()
}

/// The facts about A or B.
fn source(config: &GemmConfig, operand: Operand) -> Source {
    config.mainloop.multistage().unwrap().source(operand)
}

/// The thread's index in a block, as a kernel reads it.
fn thread(config: &GemmConfig) -> Expr {
    Builder::new("k", 80, threads(config) as u32).special(Special::TidX)
}

/// The value of an expression of [`thread`] alone, for each thread.
fn for_thread(expr: &Expr) -> impl Fn(i64) -> i64 + use<> {
    let formula = Formula::of(expr);
    move |thread| formula.value(&|_| thread)
}
