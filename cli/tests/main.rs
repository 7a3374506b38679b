//! All tests of the command line are one binary, since linking a binary for each file takes longer than running the tests.

mod attention;
mod book;
mod commands;
mod decode;
mod gemm;
mod help;
mod layout;
mod memory;
mod show;
mod sim;
mod tile;
