//! Kernels of tokens, pixels and products on the simulator, at sizes that it runs in a second.

use crate::on::On;
use crate::{checked, sequences};

#[test]
fn samples() {
    sequences::samples::<4, 64>(&On::Device(checked()), [300, 150]).unwrap();
}
