//! Arguments, grids and shared memory that do not fit a kernel.

use expect_test::{Expect, expect};
use girih_device::{Arg, Fault, Kernel, LaunchConfig};

use super::{launch, programs, refused, sim};

#[test]
fn arguments_that_do_not_fit() {
    let device = sim();
    let saxpy = programs::kernel(&device, programs::SAXPY, "saxpy");
    let x = device.zeros::<f32>(8).unwrap();
    let foreign = sim().zeros::<f32>(8).unwrap();
    let one = LaunchConfig::linear(8, 8);
    let good = [Arg::from(&x), Arg::from(&x), Arg::from(&x), Arg::from(1.0f32), Arg::from(8u32)];
    let check = |index: usize, arg, wanted: Expect| {
        let mut args = good;
        args[index] = arg;
        refused(launch(&saxpy, one, &args), Fault::Caller, &wanted);
    };
    refused(
        launch(&saxpy, one, &good[..4]),
        Fault::Caller,
        &expect![
            "kernel `saxpy` takes 5 arguments (.u64 x, .u64 y, .u64 z, .f32 alpha, .u32 n), 4 were given"
        ],
    );
    refused(
        launch(&saxpy, one, &[]),
        Fault::Caller,
        &expect![
            "kernel `saxpy` takes 5 arguments (.u64 x, .u64 y, .u64 z, .f32 alpha, .u32 n), 0 were given"
        ],
    );
    check(
        0,
        Arg::from(1u32),
        expect!["kernel `saxpy`, argument 0: parameter `x` is .u64, the argument is the u32 1"],
    );
    check(
        1,
        Arg::from(&foreign),
        expect![
            "kernel `saxpy`, argument 1: the buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    check(
        3,
        Arg::from(1.0f64),
        expect!["kernel `saxpy`, argument 3: parameter `alpha` is .f32, the argument is the f64 1.0"],
    );
    check(
        3,
        Arg::from(1u32),
        expect!["kernel `saxpy`, argument 3: parameter `alpha` is .f32, the argument is the u32 1"],
    );
    check(
        4,
        Arg::from(8u64),
        expect!["kernel `saxpy`, argument 4: parameter `n` is .u32, the argument is the u64 8"],
    );
    check(
        4,
        Arg::from(8.0f32),
        expect!["kernel `saxpy`, argument 4: parameter `n` is .u32, the argument is the f32 8.0"],
    );
    check(
        4,
        Arg::from(&x),
        expect![
            "kernel `saxpy`, argument 4: parameter `n` is .u32, the argument is a buffer (a 64-bit address)"
        ],
    );
    check(
        4,
        Arg::Bytes(&[0; 3]),
        expect!["kernel `saxpy`, argument 4: parameter `n` is .u32, the argument is 3 bytes"],
    );
}

#[test]
fn a_structure_takes_exactly_its_bytes() {
    let device = sim();
    let scalars = programs::kernel(&device, programs::SCALARS, "scalars");
    let out = device.zeros::<u8>(40).unwrap();
    let check = |shape, wanted: Expect| {
        let args =
            [Arg::from(&out), shape, Arg::from(1i32), Arg::from(1i64), Arg::from(1.0f64), Arg::from(1u64)];
        refused(launch(&scalars, LaunchConfig::linear(1, 1), &args), Fault::Caller, &wanted);
    };
    check(
        Arg::Bytes(&[0; 11]),
        expect![
            "kernel `scalars`, argument 1: parameter `shape` is .b8 of 12 bytes, aligned to 4, the argument is 11 bytes"
        ],
    );
    check(
        Arg::from(1u32),
        expect![
            "kernel `scalars`, argument 1: parameter `shape` is .b8 of 12 bytes, aligned to 4, the argument is the u32 1"
        ],
    );
}

#[test]
fn grids_and_blocks_out_of_range() {
    let device = sim();
    let reverse = programs::kernel(&device, programs::REVERSE, "reverse");
    let saxpy = programs::kernel(&device, programs::SAXPY, "saxpy");
    let fixed = programs::kernel(&device, programs::REVERSE, "fixed");
    let check = |kernel: &Kernel, grid, block, wanted: Expect| {
        refused(launch(kernel, LaunchConfig::new(grid, block), &[]), Fault::Caller, &wanted);
    };
    check(
        &reverse,
        [0, 1, 1],
        [1, 1, 1],
        expect![
            "kernel `reverse`: the grid [0, 1, 1] is empty; every extent must be at least 1 (skip the launch of empty work)"
        ],
    );
    check(
        &reverse,
        [1, 1, 1],
        [32, 0, 1],
        expect![
            "kernel `reverse`: the block [32, 0, 1] is empty; every extent must be at least 1 (skip the launch of empty work)"
        ],
    );
    check(
        &reverse,
        [1 << 31, 1, 1],
        [1, 1, 1],
        expect![
            "kernel `reverse`: the grid [2147483648, 1, 1] exceeds the largest grid [2147483647, 65535, 65535]"
        ],
    );
    check(
        &reverse,
        [1, 1, 65536],
        [1, 1, 1],
        expect![
            "kernel `reverse`: the grid [1, 1, 65536] exceeds the largest grid [2147483647, 65535, 65535]"
        ],
    );
    check(
        &reverse,
        [1, 1, 1],
        [1, 1, 65],
        expect!["kernel `reverse`: the block [1, 1, 65] exceeds the largest block [1024, 1024, 64]"],
    );
    check(
        &reverse,
        [1, 1, 1],
        [1024, 2, 1],
        expect![
            "kernel `reverse`: a block [1024, 2, 1] has 2048 threads, at most 1024 are possible (the device's limit)"
        ],
    );
    check(
        &saxpy,
        [1, 1, 1],
        [257, 1, 1],
        expect![
            "kernel `saxpy`: a block [257, 1, 1] has 257 threads, at most 256 are possible (the kernel's .maxntid)"
        ],
    );
    check(
        &fixed,
        [1, 1, 1],
        [128, 1, 1],
        expect!["kernel `fixed` needs blocks of exactly [64, 2, 1] threads (.reqntid), not [128, 1, 1]"],
    );
}

#[test]
fn more_shared_memory_than_a_block_has() {
    let device = sim();
    let limit = device.limits().shared_per_block_optin;
    let reverse = programs::kernel(&device, programs::REVERSE, "reverse");
    let config = LaunchConfig::linear(1, 1).with_dynamic_shared(limit + 1);
    refused(
        launch(&reverse, config, &[]),
        Fault::Caller,
        &expect![
            "kernel `reverse`: 0 static + 232449 dynamic bytes of shared memory exceed the 232448 a block can have"
        ],
    );
    let fixed = programs::kernel(&device, programs::REVERSE, "fixed");
    let config = LaunchConfig::new([1; 3], [64, 2, 1]).with_dynamic_shared(limit - 4095);
    refused(
        launch(&fixed, config, &[]),
        Fault::Caller,
        &expect![
            "kernel `fixed`: 4096 static + 228353 dynamic bytes of shared memory exceed the 232448 a block can have"
        ],
    );
}
