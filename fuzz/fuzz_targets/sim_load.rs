//! Any text: the simulator loads a module or says what it can't, whether the module verifies or not, and a kernel that
#![no_main]

#[path = "../src/sim_load.rs"]
mod sim_load;

libfuzzer_sys::fuzz_target!(|text: &str| sim_load::run(text));
