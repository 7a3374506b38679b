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
    sequences::equal_scores::<bf16, 64, 32, 32>(&on(), 2e-2).unwrap();
    sequences::equal_scores::<f32, 16, 24, 8>(&on(), 1e-5).unwrap();
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

/// Sizes that stand in no extent by themselves.
const NAMED: &[(&str, &[(&str, usize)])] =
    &[("conv2d_gather", &[("images", 1), ("height", 9), ("width", 11)])];

#[test]
fn sizes_follow_from_the_extents_of_arrays_of_the_callers() {
    let device = crate::checked();
    for entry in girih_programs::ENTRIES {
        let small = entry.small();
        let samples = entry.samples(&small);
        let array = |sample: &girih_programs::Sample| {
            girih_tile::launch::AnyArray::filled(&device, sample.dtype, &sample.extents, |_| 0.0).unwrap()
        };
        let own = || samples.iter().filter(|sample| sample.role != girih_programs::Role::Scratch);
        let named =
            NAMED.iter().find(|(name, _)| entry.name.starts_with(name)).map_or(&[][..], |(_, sizes)| sizes);
        let arguments = entry.arguments_of(&device, own().map(array).collect(), named);
        let arguments = arguments.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert_eq!(arguments.sizes(), small, "{}", entry.name);
        let all: Vec<_> = arguments.arrays().map(|(role, array)| (role, array.extents().to_vec())).collect();
        assert_eq!(
            all,
            samples.iter().map(|of| (of.role, of.extents.clone())).collect::<Vec<_>>(),
            "{}",
            entry.name
        );
        // One array too few.
        let fewer = entry.arguments_of(&device, own().skip(1).map(array).collect(), named);
        assert!(fewer.unwrap_err().to_string().contains(entry.name));
    }
}
