//! One binary for all of them, since linking one for each file takes longer than running it.

mod gemm;
mod help;
mod layout;
mod ops;
mod show;
mod sim;
