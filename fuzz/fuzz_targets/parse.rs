//! The text form and every operation, on any text.
#![no_main]

#[path = "../src/parse.rs"]
mod parse;

libfuzzer_sys::fuzz_target!(|text: &str| parse::run(text));
