//! Kernels with products on the simulator, at sizes that it runs in a second.

use half::{bf16, f16};

use crate::on::On;
use crate::{checked, products, sequences};

fn on() -> On {
    On::Device(checked())
}

#[test]
fn products_of_matrices() {
    products::plain::<bf16, 64, 32, 32>(&on(), [200, 40, 70]).unwrap();
    products::plain::<f16, 64, 16, 16>(&on(), [64, 16, 64]).unwrap();
    products::plain::<f32, 24, 20, 12>(&on(), [50, 33, 30]).unwrap();
}

#[test]
fn batches_and_groups() {
    products::several::<64, 32, 32>(&on(), [150, 40, 50]).unwrap();
}

#[test]
fn operands_of_8_bits() {
    products::quantized::<64, 32, 32>(&on(), [70, 40, 70]).unwrap();
}

#[test]
fn gated_products() {
    products::gated::<64, 32, 32>(&on(), [70, 40, 50]).unwrap();
}

#[test]
fn attention() {
    sequences::attention::<bf16, 64, 32, 32, false>(&on(), &[[70, 70], [3, 100]], 1e-2).unwrap();
    sequences::attention::<f32, 16, 24, 8, true>(&on(), &[[20, 20], [3, 50]], 1e-5).unwrap();
    sequences::attention::<f16, 64, 64, 16, true>(&on(), &[[70, 70], [3, 100]], 1e-2).unwrap();
}

#[test]
fn recurrences() {
    sequences::recurrences::<bf16, 64, 64, 32>(&on(), 150, 1e-2).unwrap();
}

#[test]
fn convolutions() {
    sequences::convolutions::<64, 16, 16>(&on(), [2, 5, 70, 20, 20]).unwrap();
}

#[test]
fn samples() {
    sequences::samples::<4, 64>(&on(), [300, 150]).unwrap();
}
