//! One binary for all of them, since linking one for each file takes longer than running it.

mod barriers;
mod best_maps;
mod bounded;
mod constants;
mod debugging;
mod f2_maps;
mod gemms;
mod mutants;
mod partitions;
mod pipeline;
mod random_copies;
mod scalars;
mod shared;
mod tiled_copies;
mod tiled_mmas;
mod warp_specialized;
