//! What kernels with products mean: on the reference evaluator, against f64.

use half::bf16;

use crate::on::On;
use crate::{products, sequences};

#[test]
fn products_of_matrices() {
    products::products::<32, 16, 16>(&On::Reference, &[[64, 32, 48], [300, 40, 17], [1, 1, 1]]).unwrap();
}

#[test]
fn batches_and_groups() {
    products::several::<16, 16, 16>(&On::Reference, [45, 33, 20]).unwrap();
}

#[test]
fn operands_of_8_bits() {
    products::quantized::<16, 16, 32>(&On::Reference, [33, 40, 70]).unwrap();
}

#[test]
fn gated_products() {
    products::gated::<16, 16, 16>(&On::Reference, [33, 40, 17]).unwrap();
}

#[test]
fn attention() {
    let sizes = [[37, 37], [10, 16], [3, 50]];
    sequences::attention::<f32, 16, 16, 8, false>(&On::Reference, &sizes, 1e-5).unwrap();
    sequences::equal_scores::<f32, 16, 16, 8>(&On::Reference, 1e-5).unwrap();
    sequences::attention::<f32, 16, 8, 8, true>(&On::Reference, &sizes, 1e-5).unwrap();
    sequences::attention::<bf16, 16, 32, 16, true>(&On::Reference, &sizes, 1e-2).unwrap();
}

#[test]
fn recurrences() {
    sequences::recurrences::<f32, 16, 8, 4>(&On::Reference, 50, 1e-5).unwrap();
    sequences::recurrences::<bf16, 16, 16, 8>(&On::Reference, 32, 1e-2).unwrap();
}

#[test]
fn convolutions() {
    sequences::convolutions::<8, 16, 4>(&On::Reference, [2, 5, 11, 6, 20]).unwrap();
}

#[test]
fn samples() {
    sequences::samples::<4, 16>(&On::Reference, [600, 50]).unwrap();
}
