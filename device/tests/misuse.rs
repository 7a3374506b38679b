//! The ways to call the interface wrongly, and the messages that the caller gets.
#![allow(unsafe_code, reason = "each launch here is refused before anything runs")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod programs;

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use girih_device::{
    Arg, Assembler, Device, Error, Fault, Kernel, LaunchConfig, Optimization, Select, TensorMap,
};
use girih_ptx::{Fact, LaunchNotes, Module, Notes, Site, TensorElement, Tiled};

fn sim() -> Device {
    Device::open(Select::Sim).unwrap()
}

#[track_caller]
fn refused<T>(outcome: Result<T, Error>, fault: Fault, wanted: &Expect) {
    let error = outcome.err().unwrap();
    assert_eq!(error.fault(), fault);
    wanted.assert_eq(&error.to_string());
}

fn launch(kernel: &Kernel, config: LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
    // SAFETY: refused before it runs.
    unsafe { kernel.launch(&config, args) }
}

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

#[test]
fn modules_for_other_devices_and_kernels_that_are_not_there() {
    let device = sim();
    let newer = Module::parse(&programs::SAXPY.replace("sm_80", "sm_100")).unwrap();
    refused(
        device.load(&newer),
        Fault::Target,
        &expect![
            "the module is for sm_100, the device is sm_90: a plain target runs on its own architecture and newer ones"
        ],
    );
    let module = device.load(&Module::parse(programs::REVERSE).unwrap()).unwrap();
    assert_eq!(module.kernels().map(|info| info.name.to_string()).collect::<Vec<_>>(), ["reverse", "fixed"]);
    refused(
        module.kernel("revers"),
        Fault::Caller,
        &expect!["the module has no kernel `revers`; it has: reverse, fixed"],
    );
    let empty = Module::parse(".version 7.0\n.target sm_80\n.address_size 64\n").unwrap();
    refused(
        device.load(&empty).and_then(|m| m.kernel("x")),
        Fault::Caller,
        &expect!["the module has no kernel `x`; it has: none"],
    );
}

#[test]
fn buffers_of_other_lengths_and_devices() {
    let device = sim();
    let x = device.zeros::<u16>(8).unwrap();
    refused(
        x.write(&[1, 2, 3]),
        Fault::Caller,
        &expect!["Buffer::write: the buffer has 8 elements, the source 3; they must be equal"],
    );
    let y = device.zeros::<u16>(9).unwrap();
    refused(
        x.copy_from(&y),
        Fault::Caller,
        &expect!["Buffer::copy_from: the buffer has 8 elements, the source 9; they must be equal"],
    );
    refused(
        x.write_async(device.pinned(3).unwrap()),
        Fault::Caller,
        &expect!["Buffer::write_async: the buffer has 8 elements, the source 3; they must be equal"],
    );
    refused(
        x.download_async(device.pinned(3).unwrap()),
        Fault::Caller,
        &expect![
            "Buffer::download_async: the buffer has 8 elements, the pinned memory 3; they must be equal"
        ],
    );
    let foreign = sim().zeros::<u16>(8).unwrap();
    refused(
        x.copy_from(&foreign),
        Fault::Caller,
        &expect![
            "Buffer::copy_from: the source lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    refused(
        device.alloc::<u64>(usize::MAX / 4),
        Fault::Caller,
        &expect![
            "a buffer of 4611686018427387903 elements of 8 bytes has more bytes than an address can count"
        ],
    );
    assert_eq!(x.download().unwrap(), [0; 8]);
}

#[test]
fn slices_and_borrowed_memory_out_of_range() {
    let device = sim();
    let x = device.zeros::<u16>(8).unwrap();
    refused(
        x.slice(3..9),
        Fault::Caller,
        &expect!["Buffer::slice: the elements 3..9 of a buffer of 8: ranges inside 0..8 are accepted"],
    );
    refused(
        x.slice(..7).unwrap().copy_from(&x.slice(1..).unwrap()),
        Fault::Caller,
        &expect![
            "Buffer::copy_from: source and destination overlap in 12 bytes: copy through another buffer"
        ],
    );
    // SAFETY: refused.
    let borrow = |address, len| unsafe { device.borrow::<f32>(address, len) };
    refused(
        borrow(x.address() + 2, 1),
        Fault::Caller,
        &expect![
            "the address 0x700000002 is no multiple of 4, as the address of elements of type f32 must be"
        ],
    );
    refused(
        borrow(0, 1),
        Fault::Caller,
        &expect!["no memory of girih simulator is at 0x0: an address in a live allocation is accepted"],
    );
    refused(
        borrow(x.address() + 8, 3),
        Fault::Caller,
        &expect![
            "12 bytes from 0x700000008 on reach beyond their allocation, which has 8 bytes from there on"
        ],
    );
}

#[test]
fn what_a_capture_does_not_hold() {
    let device = sim();
    let (x, y) = (device.zeros::<u16>(8).unwrap(), device.new_stream().unwrap().zeros::<u16>(8).unwrap());
    let graph = device.capture(|| {
        refused(
            x.download(),
            Fault::Caller,
            &expect![
                "Buffer::download in a capture: launches, Buffer::fill_bytes and Buffer::copy_from are accepted there; call it before or after the capture, or on another stream"
            ],
        );
        refused(
            y.copy_from(&x),
            Fault::Caller,
            &expect![
                "Buffer::copy_from: one of its buffers belongs to another stream, and one of the two streams is being captured: capture with Device::capture, which accepts buffers of other streams, or use the buffer before or after the capture"
            ],
        );
        std::thread::scope(|scope| scope.spawn(|| {
            refused(
                x.fill_bytes(1),
                Fault::Caller,
                &expect![
                    "Buffer::fill_bytes: another thread, or the library that owns the stream, is capturing the stream: wait until the capture has ended, or use another stream (Device::new_stream)"
                ],
            );
        }).join().unwrap());
        x.copy_from(&y)
    });
    drop(graph.unwrap());
}

#[test]
fn events_and_kernels_of_other_devices() {
    let device = sim();
    refused(
        device.wait(&sim().record().unwrap()),
        Fault::Caller,
        &expect![
            "the event was recorded on another device: wait for it on the host, or record an event on this device"
        ],
    );
    let reverse = programs::kernel(&device, programs::REVERSE, "reverse");
    refused(
        reverse.on(&sim()),
        Fault::Caller,
        &expect![
            "kernel `reverse` was loaded on another device than the stream's: load its module on this device"
        ],
    );
}

#[test]
fn a_gpu_that_can_not_be_opened_is_one_line() {
    let Err(error) = Device::open(Select::Cuda(4096)) else { panic!("4097 GPUs?") };
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.is_empty(), "{text}");
    let cause = matches!(
        error,
        Error::NoDriver
            | Error::NoGpu { .. }
            | Error::NoSuchGpu { index: 4096, .. }
            | Error::DriverTooOld { .. }
            | Error::NoCudaFeature
    );
    assert!(cause, "{error:?}");
}

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

/// The kernel `k(x, n)` with notes on its block, its dynamic shared memory and the values of its parameters.
fn noted() -> Module {
    let mut module = Module::parse(
        ".version 8.0 .target sm_80 .address_size 64
        .extern .shared .align 16 .b8 smem[];
        .visible .entry k(.param .u64 x, .param .u32 n) .maxntid 64 { .reg .b32 %r0; mov.u32 %r0, smem; ret; }",
    )
    .unwrap();
    let fact = |lower, upper, multiple| {
        let site = Site { file: "own.rs".into(), line: 7, column: 9 };
        Fact { lower, upper, multiple, site }
    };
    let launch = LaunchNotes {
        kernel: "k".into(),
        block: [32, 2, 1],
        dynamic_shared_bytes: 48,
        facts: vec![("x".into(), fact(0, 1 << 60, 16)), ("n".into(), fact(-8, 800, 8))],
    };
    module.notes = Notes::new(&module.to_string(), Vec::new(), Vec::new()).with_launches(vec![launch]);
    module
}

#[test]
fn what_a_kernel_relies_on_is_checked_at_its_launch() {
    let device = sim();
    let kernel = device.load(&noted()).unwrap().kernel("k").unwrap();
    let config = kernel.config([3, 1, 1]).unwrap();
    assert_eq!(config, LaunchConfig::new([3, 1, 1], [32, 2, 1]).with_dynamic_shared(48));
    let x = device.zeros::<f32>(8).unwrap();
    for n in [-8, 0, 8, 800] {
        launch(&kernel, config, &[Arg::from(&x), Arg::I32(n)]).unwrap();
    }
    for n in [-16, -1, 4, 801, 808, i32::MIN, i32::MAX] {
        let refused = launch(&kernel, config, &[Arg::from(&x), Arg::I32(n)]);
        assert!(matches!(refused, Err(Error::ArgumentValue { value, .. }) if value == n.into()), "{n}");
    }
    refused(
        launch(&kernel, config, &[Arg::from(&x), Arg::Bytes(&12u32.to_le_bytes())]),
        Fault::Caller,
        &expect![
            "kernel `k`: parameter `n` = 12: the kernel takes multiples of 8 from -8 to 800, as own.rs:7:9 says"
        ],
    );
    refused(
        launch(&kernel, config, &[Arg::U64(8), Arg::U32(8)]),
        Fault::Caller,
        &expect![
            "kernel `k`: parameter `x` = 8: the kernel takes multiples of 16 from 0 to 1152921504606846976, as own.rs:7:9 says"
        ],
    );
}

/// Notes on another text are ignored.
#[test]
fn a_changed_text_has_no_notes() {
    let device = sim();
    let changed = Module::parse(&noted().to_string().replace(".maxntid 64", ".maxntid 32")).unwrap();
    let kernel = device.load(&Module { notes: noted().notes, ..changed }).unwrap().kernel("k").unwrap();
    refused(
        kernel.config([1; 3]),
        Fault::Caller,
        &expect![
            "kernel `k`: its text does not say its block and its dynamic shared memory; state them by `LaunchConfig::new`"
        ],
    );
    launch(&kernel, LaunchConfig::new([1; 3], [1; 3]), &[Arg::U64(1), Arg::U32(1)]).unwrap();
}

#[test]
fn arguments_by_name() {
    let device = sim();
    let kernel = device.load(&noted()).unwrap().kernel("k").unwrap();
    let [x, n] = [("x", Arg::U64(16)), ("n", Arg::U32(8))];
    let args = kernel.arguments(&[n, x]).unwrap();
    assert!(matches!(args[..], [Arg::U64(16), Arg::U32(8)]));
    let refuse = |named: &[(&str, Arg<'_>)], wanted: Expect| {
        refused(kernel.arguments(named), Fault::Caller, &wanted);
    };
    refuse(&[x], expect!["kernel `k`: `n` has no argument; its parameters are: x, n"]);
    refuse(&[x, n, x], expect!["kernel `k`: `x` has several arguments; its parameters are: x, n"]);
    refuse(&[x, n, ("m", Arg::U32(1))], expect!["kernel `k`: `m` is no parameter; its parameters are: x, n"]);
}

/// To prepare a launch is refused with the errors of the launch.
#[test]
fn a_launch_that_can_not_be_prepared() {
    let device = sim();
    let kernel = device.load(&noted()).unwrap().kernel("k").unwrap();
    let config = kernel.config([3, 1, 1]).unwrap();
    let (x, foreign) = (device.zeros::<f32>(8).unwrap(), sim().zeros::<f32>(8).unwrap());
    let refuse = |config: LaunchConfig, args: &[Arg<'_>], wanted: Expect| {
        refused(kernel.prepare(&config, args), Fault::Caller, &wanted);
        let error = kernel.prepare(&config, args).unwrap_err().to_string();
        assert_eq!(launch(&kernel, config, args).unwrap_err().to_string(), error);
    };
    refuse(config, &[Arg::from(&x)], expect!["kernel `k` takes 2 arguments (.u64 x, .u32 n), 1 were given"]);
    refuse(
        config,
        &[Arg::from(&x), Arg::from(1.0f32)],
        expect!["kernel `k`, argument 1: parameter `n` is .u32, the argument is the f32 1.0"],
    );
    refuse(
        config,
        &[Arg::from(&x), Arg::from(12u32)],
        expect![
            "kernel `k`: parameter `n` = 12: the kernel takes multiples of 8 from -8 to 800, as own.rs:7:9 says"
        ],
    );
    refuse(
        config,
        &[Arg::from(&foreign), Arg::from(8u32)],
        expect![
            "kernel `k`, argument 0: the buffer lives on another device: its address means nothing here; download it and upload it to this device"
        ],
    );
    refuse(
        LaunchConfig { grid: [0; 3], ..config },
        &[Arg::from(&x), Arg::from(8u32)],
        expect![
            "kernel `k`: the grid [0, 0, 0] is empty; every extent must be at least 1 (skip the launch of empty work)"
        ],
    );
}

/// When an argument is refused, the launch stays as it was.
#[test]
fn arguments_that_can_not_be_set() {
    let device = sim();
    let kernel = device.load(&noted()).unwrap().kernel("k").unwrap();
    let (x, foreign) = (device.zeros::<f32>(8).unwrap(), sim().zeros::<f32>(8).unwrap());
    let config = kernel.config([3, 1, 1]).unwrap();
    let prepared = kernel.prepare(&config, &[Arg::from(&x), Arg::from(8u32)]).unwrap();
    let before: Vec<Vec<u8>> = prepared.arguments().map(<[u8]>::to_vec).collect();
    let refuse = |name: &str, value: Arg<'_>, wanted: Expect| {
        let mut launch = prepared.clone();
        refused(launch.set(name, value), Fault::Caller, &wanted);
        assert!(launch.arguments().eq(before.iter().map(|bytes| &bytes[..])));
        // SAFETY: the kernel touches no memory.
        unsafe { launch.run() }.unwrap();
    };
    refuse("m", Arg::from(8u32), expect!["kernel `k`: `m` is no parameter; its parameters are: x, n"]);
    refuse("", Arg::from(8u32), expect!["kernel `k`: `` is no parameter; its parameters are: x, n"]);
    refuse(
        "n",
        Arg::from(8u64),
        expect!["kernel `k`, argument 1: parameter `n` is .u32, the argument is the u64 8"],
    );
    refuse(
        "n",
        Arg::from(&x),
        expect!["kernel `k`, argument 1: parameter `n` is .u32, the argument is a buffer (a 64-bit address)"],
    );
    refuse(
        "n",
        Arg::from(12u32),
        expect![
            "kernel `k`: parameter `n` = 12: the kernel takes multiples of 8 from -8 to 800, as own.rs:7:9 says"
        ],
    );
    refuse(
        "n",
        Arg::Bytes(&808u32.to_le_bytes()),
        expect![
            "kernel `k`: parameter `n` = 808: the kernel takes multiples of 8 from -8 to 800, as own.rs:7:9 says"
        ],
    );
    refuse(
        "x",
        Arg::from(8u32),
        expect!["kernel `k`, argument 0: parameter `x` is .u64, the argument is the u32 8"],
    );
    refuse(
        "x",
        Arg::from(&x.slice(1..).unwrap()),
        expect![
            "kernel `k`: parameter `x` = 30064771076: the kernel takes multiples of 16 from 0 to 1152921504606846976, as own.rs:7:9 says"
        ],
    );
    refuse(
        "x",
        Arg::from(&foreign),
        expect![
            "kernel `k`, argument 0: the buffer lives on another device: its address means nothing here; download it and upload it to this device"
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

/// What NVIDIA's assembler makes of a module, where there is one: named by `GIRIH_PTXAS` or in the target folder's `ptx-tools`.
#[test]
fn a_module_that_the_assembler_refuses() {
    let fetched = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ptx-tools").join("ptxas");
    let Some(assembler) =
        Assembler::find(std::env::var_os("GIRIH_PTXAS").map_or_else(fetched, PathBuf::from))
    else {
        eprintln!("SKIPPED: no ptxas (GIRIH_PTXAS names one)");
        return;
    };
    let assemble =
        |text: &str, optimization| assembler.assemble(&Module::parse(text).unwrap(), 90, optimization);
    let [full, none] =
        [Optimization::Full, Optimization::None].map(|level| assemble(programs::SAXPY, level).unwrap());
    for built in [&full, &none] {
        assert!(built.code.starts_with(b"\x7fELF"));
        assert!(built.log.contains("Function properties for saxpy"), "{}", built.log);
    }
    assert!(full.code.len() < none.code.len(), "optimised code is shorter");
    let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { .reg .b32 %r; mov.b32 %r, nowhere; ret; }";
    let Error::Jit { compiler, log, line: Some((number, line)), .. } =
        assemble(text, Optimization::Full).unwrap_err()
    else {
        panic!("a module with an unknown name is refused with its line")
    };
    assert_eq!((compiler, line.trim()), ("ptxas", "mov.b32 %r, nowhere;"));
    assert!(log.contains("nowhere") && number > 1, "{number}: {log}");
}

#[test]
fn an_assembler_that_does_not_run() {
    let not_a_program = tempfile::NamedTempFile::new().unwrap();
    let assembler = Assembler::find(not_a_program.path()).unwrap();
    let module = Module::parse(programs::SAXPY).unwrap();
    let error = assembler.assemble(&module, 90, Optimization::Full).unwrap_err();
    assert_eq!(error.fault(), Fault::Target);
    let [before, after] = [
        "the assembler ",
        " does not run (Permission denied (os error 13)): GIRIH_PTXAS names the `ptxas` of a CUDA \
                            toolkit, or is not set, and then the driver compiles",
    ];
    assert_eq!(error.to_string(), format!("{before}{}{after}", not_a_program.path().display()));
}
