//! All tests of the command line are one binary, since linking a binary for each file takes longer than running the tests.

mod attention;
mod book;
mod commands;
mod decode;
mod gemm;
mod help;
mod layout;
mod ops;
mod picture;
mod show;
mod sim;
mod tile;

// What a module that a test includes imports from the binary.
#[allow(dead_code, reason = "the tests use a part of it")]
#[path = "../src/sizes.rs"]
mod sizes;
