//! Products that are the kernels of [`girih_kernels::gemm`].

mod blocks;
mod cover;
mod epilogues;
mod equal;
mod launched;
mod near;
mod parts;
mod programs;
mod refused;
mod sizes;
mod weights;
mod written;
