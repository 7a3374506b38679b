//! The algebra against the definition, on layouts made of bytes.
#![no_main]

#[path = "../src/algebra.rs"]
mod algebra;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| algebra::run(bytes));
