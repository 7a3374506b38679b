//! Kernels launched on the simulator by typed arrays, and what a launch refuses.

mod again;
mod arrays;
mod empty;
mod idioms;
mod meant;
mod packed;
mod padding;
mod parts;
mod programs;
mod refusals;
mod strides;

use girih_device::{Device, SimOptions};

/// The simulator with all checks.
fn device() -> Device {
    Device::open_sim(SimOptions { threads: Some(1), ..SimOptions::checked() }).unwrap()
}

/// Small numbers, all different.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.25) - 3.0).collect()
}
