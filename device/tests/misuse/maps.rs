//! Tensor maps that do not fit, and those that can not be moved.

use expect_test::{Expect, expect};
use girih_device::{Arg, Fault, LaunchConfig, TensorMap};
use girih_ptx::{TensorElement, Tiled};

use super::{launch, programs, refused, sim};

#[test]
fn tensor_maps_that_do_not_fit() {
    let device = sim();
    let x = device.zeros::<u16>(64 * 64).unwrap();
    let tiled = Tiled::new(TensorElement::Bf16, &[64, 64], &[64, 8]);
    let map = TensorMap::new(&x, &tiled).unwrap();
    assert_eq!((map.description().address(), map.description().tiled()), (x.address(), &tiled));
    let refuse = |offset, tiled: &Tiled, wanted: Expect| {
        refused(TensorMap::at(&x, offset, tiled).map(drop), Fault::Caller, &wanted);
    };
    refuse(
        8,
        &tiled,
        expect!["the tensor starts 16 bytes into its buffer and has 8192 bytes: the buffer has 8192"],
    );
    refuse(
        0,
        &tiled.clone().with_strides(&[144]),
        expect!["the tensor starts 0 bytes into its buffer and has 9200 bytes: the buffer has 8192"],
    );
    refuse(
        0,
        &Tiled::new(TensorElement::U8, &[1 << 32; 5], &[16, 1, 1, 1, 1]).with_strides(&[(1 << 40) - 16; 4]),
        expect![
            "the tensor starts 0 bytes into its buffer and has more than an address can count: the buffer has 8192"
        ],
    );
    refuse(1, &tiled, expect!["tensor map: the global address is 30064771074, must be a multiple of 16"]);
    refuse(
        0,
        &Tiled { extents: vec![60, 8], ..tiled.clone() },
        expect!["tensor map: the size of extents[0] in bytes is 120, must be a multiple of 16"],
    );
    let module = "
        .version 8.0 .target sm_90 .address_size 64
        .visible .entry fits(.param .align 64 .b8 map[128]) { ret; }
        .visible .entry loose(.param .align 16 .b8 map[128]) { ret; }
        .visible .entry pointer(.param .u64 map) { ret; }";
    let one = LaunchConfig::new([1; 3], [1; 3]);
    launch(&programs::kernel(&device, module, "fits"), one, &[Arg::from(&map)]).unwrap();
    let check = |kernel, wanted: Expect| {
        let kernel = programs::kernel(&device, module, kernel);
        refused(launch(&kernel, one, &[Arg::from(&map)]), Fault::Caller, &wanted);
    };
    check(
        "loose",
        expect![
            "kernel `loose`, argument 0: parameter `map` is .b8 of 128 bytes, aligned to 16, the argument is a tensor map (128 bytes, aligned to 64)"
        ],
    );
    check(
        "pointer",
        expect![
            "kernel `pointer`, argument 0: parameter `map` is .u64, the argument is a tensor map (128 bytes, aligned to 64)"
        ],
    );
    let fits = programs::kernel(&sim(), module, "fits");
    refused(
        launch(&fits, one, &[Arg::from(&map)]),
        Fault::Caller,
        &expect![
            "kernel `fits`, argument 0: the tensor map's buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
}

/// A tensor map can be moved only to a buffer that has room for its tensor.
#[test]
fn tensor_maps_that_can_not_be_moved() {
    let device = sim();
    let text = ".version 8.0 .target sm_90 .address_size 64
        .visible .entry k(.param .align 64 .b8 map[128], .param .u64 x) { ret; }";
    let kernel = programs::kernel(&device, text, "k");
    let (x, y) = (device.zeros::<u16>(64 * 64).unwrap(), device.zeros::<u16>(64 * 64 + 8).unwrap());
    let map = TensorMap::new(&x, &Tiled::new(TensorElement::Bf16, &[64, 64], &[64, 8])).unwrap();
    let config = LaunchConfig::linear(1, 1);
    let prepared = kernel.prepare(&config, &[Arg::from(&map), Arg::from(&x)]).unwrap();
    let foreign = sim().zeros::<u16>(64 * 64).unwrap();
    let refuse = |value: Arg<'_>, wanted: Expect| {
        let mut launch = prepared.clone();
        refused(launch.set("map", value), Fault::Caller, &wanted);
        assert_eq!(launch.arguments().next().unwrap(), map.bytes());
        launch.set("map", &y.slice(8..).unwrap()).unwrap();
        assert_ne!(launch.arguments().next().unwrap(), map.bytes());
    };
    refuse(
        Arg::from(&x.slice(8..).unwrap()),
        expect!["the tensor starts 0 bytes into its buffer and has 8192 bytes: the buffer has 8176"],
    );
    refuse(
        Arg::from(&y.slice(1..).unwrap()),
        expect!["tensor map: the global address is 30065827842, must be a multiple of 16"],
    );
    refuse(
        Arg::from(&x.slice(..0).unwrap()),
        expect!["the tensor starts 0 bytes into its buffer and has 8192 bytes: the buffer has 0"],
    );
    refuse(
        Arg::from(&foreign),
        expect![
            "kernel `k`, argument 0: the buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    refuse(
        Arg::U64(x.address()),
        expect![
            "kernel `k`, argument 0: parameter `map` is .b8 of 128 bytes, aligned to 64 (a tensor map, or its bytes), the argument is the u64 30064771072"
        ],
    );
    refused(
        map.with_buffer(&foreign),
        Fault::Caller,
        &expect![
            "TensorMap::with_buffer: the buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    refused(
        map.with_buffer(&x.slice(8..).unwrap()),
        Fault::Caller,
        &expect!["the tensor starts 0 bytes into its buffer and has 8192 bytes: the buffer has 8176"],
    );
    let elsewhere = TensorMap::new(&foreign, map.description().tiled()).unwrap();
    refuse(
        Arg::from(&elsewhere),
        expect![
            "kernel `k`, argument 0: the tensor map's buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    // A map that is given as bytes can't be moved, since nothing says what tensor it describes.
    let mut unknown = prepared.clone();
    unknown.set("map", Arg::Bytes(map.bytes())).unwrap();
    refused(
        unknown.set("map", &y),
        Fault::Caller,
        &expect![
            "kernel `k`, argument 0: parameter `map` is .b8 of 128 bytes, aligned to 64 (a tensor map, or its bytes), the argument is a buffer (a 64-bit address)"
        ],
    );
    unknown.set("map", &map).unwrap();
    unknown.set("map", &y).unwrap();
}
