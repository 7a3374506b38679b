//! One binary for all of them, since linking one for each file takes longer than running it.

mod algorithm;
mod atoms;
mod barriers;
mod best_maps;
mod bounded;
mod builder;
mod constants;
mod copy;
mod debugging;
mod expr;
mod f2_maps;
mod gemm;
mod gemms;
mod link;
mod mutants;
mod partitions;
mod pipeline;
mod plan;
mod random_copies;
mod scalars;
mod shared;
mod simulator;
mod tiled_copies;
mod tiled_mmas;
mod tma;
mod warp_specialized;
