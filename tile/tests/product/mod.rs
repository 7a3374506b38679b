//! Products that are the kernels of [`girih_kernels::gemm`].

mod launched;
mod programs;
