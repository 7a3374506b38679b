//! Every kernel on the simulator, which checks for races, uninitialised reads and accesses out of bounds, and its text.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/kernels.rs"]
mod common;
mod goldens;
mod kernels;
#[path = "../common/launches.rs"]
mod launches;
mod meaning;
#[path = "../common/on.rs"]
mod on;
#[path = "../common/products.rs"]
mod products;
#[path = "../common/sequences.rs"]
mod sequences;
mod simulated;

use girih_device::{Device, SimOptions};

fn checked() -> Device {
    Device::open_sim(SimOptions::checked()).expect("the simulator opens anywhere")
}
