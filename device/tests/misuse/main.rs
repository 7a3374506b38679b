//! The ways to call the interface wrongly, and the messages that the caller gets.
#![allow(unsafe_code, reason = "each launch here is refused before anything runs")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod launches;
mod maps;
mod notes;
#[path = "../programs/mod.rs"]
mod programs;

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use girih_device::{Arg, Assembler, Device, Error, Fault, Kernel, LaunchConfig, Optimization, Select};
use girih_ptx::Module;

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
