//! What a kernel relies on, arguments by name, and launches that are prepared.

use expect_test::{Expect, expect};
use girih_device::{Arg, Error, Fault, LaunchConfig};
use girih_ptx::{Fact, LaunchNotes, Module, Notes, Site};

use super::{launch, refused, sim};

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
