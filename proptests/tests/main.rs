//! One binary for all of them, since linking one for each file takes longer than running it.

mod agreement;
mod along;
mod binding;
mod columns;
mod complements;
mod composition;
mod coordinates;
mod divides;
mod general;
mod inverses;
mod numeric;
mod overlap;
mod partitions;
mod products;
mod programs;
mod recasts;
mod registry;
mod seeds;
mod shrinking;
mod sums;
mod swizzles;
mod symbols;
mod tile;
mod tuples;
mod typed;
mod vectors;
