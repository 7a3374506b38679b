//! Any text: what parses prints as what parses to the same tree, and no check of it panics.
#![no_main]

#[path = "../src/ptx_parse.rs"]
mod ptx_parse;

libfuzzer_sys::fuzz_target!(|text: &str| ptx_parse::run(text));
