//! girih on contexts, streams and memory that belong to cudarc. Where there is no GPU, the tests skip themselves with one line.
#![allow(
    unsafe_code,
    reason = "kernels are launched within the bounds of their buffers, and handles outlive their devices"
)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod programs;

use std::{
    ffi::c_void,
    io::{self, Write as _},
    ptr,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
};

use cudarc::driver::{CudaContext, CudaStream, result, sys};
use girih_device::{Arg, Device, Error, Kernel, Launch, LaunchConfig, Select};
use programs::streams::{Late, WORDS};

/// The rounds of the kernel `late` that take a GPU some tens of milliseconds.
const LATE: u32 = 5_000_000;

/// A context and a stream of cudarc, if there is a GPU that girih can use, and a lock that lets one test run at a time: cudarc waits
/// for the whole context when it makes a context's first stream, which would spoil the capture of another test.
#[allow(clippy::explicit_write, reason = "the harness swallows what eprintln! writes")]
fn gpu() -> Option<(MutexGuard<'static, ()>, Arc<CudaContext>, Arc<CudaStream>)> {
    static TURN: Mutex<()> = Mutex::new(());
    if let Err(error) = Device::open(Select::Cuda(0)) {
        static SKIPPED: Once = Once::new();
        SKIPPED.call_once(|| writeln!(io::stderr(), "skipped: no CUDA device: {error}").unwrap());
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    Some((turn, context, stream))
}

fn handles(stream: &CudaStream) -> (u64, u64) {
    (stream.context().cu_ctx() as u64, stream.cu_stream() as u64)
}

fn raw(stream: &CudaStream) -> Result<Device, Error> {
    let (context, stream) = handles(stream);
    // SAFETY: the tests drop the device before the stream and the context.
    unsafe { Device::from_raw(context, stream) }
}

/// Launches `z = 2 x + y`, with `n` elements each.
fn saxpy(kernel: &Kernel, [x, y, z]: [Arg<'_>; 3], n: usize) -> Result<(), Error> {
    let args = [x, y, z, Arg::from(2.0f32), Arg::from(n as u32)];
    // SAFETY: the callers' buffers have n elements.
    unsafe { kernel.launch(&LaunchConfig::linear(n as u32, 256), &args) }
}

fn agrees(device: &Device) {
    programs::saxpy_agrees(device);
    programs::reverse_agrees(device);
    programs::buffers_hold(device);
    programs::memory::slices_agree(device);
    programs::memory::memory_is_refused(device);
    programs::streams::shared_buffers_are_ordered(device, LATE);
    programs::transfers::transfers_agree(device, LATE);
}

#[test]
fn programs_agree_on_a_borrowed_stream() {
    let Some((_turn, context, stream)) = gpu() else { return };
    let (of_cudarc, of_raw) = (Device::from_cudarc(&stream).unwrap(), raw(&stream).unwrap());
    for device in [&of_cudarc, &of_raw] {
        assert_eq!((device.cuda_context(), device.cuda_stream()), {
            let (context, stream) = handles(&stream);
            (Some(context), Some(stream))
        });
        agrees(device);
        programs::graphs::borrowed_memory_agrees(device);
        programs::prepared::changed_arguments_agree(device);
        programs::prepared::runs_are_ordered(device, LATE);
        programs::graphs::graphs_keep_what_they_use(device, LATE);
        programs::graphs::drops_in_a_capture_wait(device, LATE);
        programs::graphs::captures_are_refused(device);
    }
    assert!(of_cudarc.is_same(&of_raw) && of_raw.is_same(&Device::open(Select::Cuda(0)).unwrap()));
    let default = raw(&context.default_stream()).unwrap();
    agrees(&default);
    let error = default.capture(|| Ok::<(), Error>(())).unwrap_err();
    assert!(matches!(error, Error::Driver { .. }), "{error}");
}

/// A device keeps the context and the stream that it was opened on.
#[test]
fn a_stream_of_cudarc_is_kept() {
    let Some((_turn, context, stream)) = gpu() else { return };
    let device = Device::from_cudarc(&stream).unwrap();
    drop((context, stream));
    programs::saxpy_agrees(&device);
}

/// girih captures a graph with slices of cudarc in a stream of cudarc.
#[test]
fn a_graph_on_a_borrowed_slice_and_stream_is_replayed() {
    let Some((_turn, _, stream)) = gpu() else { return };
    let n = 1000;
    let device = Device::from_cudarc(&stream).unwrap();
    let kernel = programs::kernel(&device, programs::SAXPY, "saxpy");
    let x = stream.clone_htod(&vec![1.0f32; 2 * n]).unwrap();
    let mut y = stream.clone_htod(&vec![1.0f32; n]).unwrap();
    let mut z = stream.alloc_zeros::<f32>(n).unwrap();
    {
        let view = x.slice(n..);
        let x = device.borrow_cudarc(&view).unwrap();
        let y = device.borrow_cudarc_mut(&mut y).unwrap();
        let z = device.borrow_cudarc_mut(&mut z).unwrap();
        let graph = device.capture(|| {
            saxpy(&kernel, [(&x).into(), (&y).into(), (&z).into()], n)?;
            y.copy_from(&z)
        });
        let graph = graph.unwrap();
        assert_eq!(y.download().unwrap(), vec![1.0; n]);
        for _ in 0..100 {
            // SAFETY: the slices are borrowed, and nothing else uses them.
            unsafe { graph.launch() }.unwrap();
        }
    }
    assert_eq!(stream.clone_dtoh(&y).unwrap(), vec![201.0; n]);
    assert_eq!(stream.clone_dtoh(&z).unwrap(), vec![201.0; n]);
}

/// Launches of girih go into a graph that cudarc captures in its stream and replays.
#[test]
fn launches_join_the_owners_graph() {
    let Some((_turn, _, stream)) = gpu() else { return };
    let n = 1000;
    let device = Device::from_cudarc(&stream).unwrap();
    let kernel = programs::kernel(&device, programs::SAXPY, "saxpy");
    let (x, y) = (device.upload(&vec![1.0f32; n]).unwrap(), device.upload(&vec![1.0f32; n]).unwrap());
    let (z, elsewhere) =
        (device.zeros::<f32>(n).unwrap(), device.new_stream().unwrap().zeros::<f32>(n).unwrap());
    let unused = device.zeros::<u32>(4).unwrap();
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    saxpy(&kernel, [(&x).into(), (&y).into(), (&z).into()], n).unwrap();
    y.copy_from(&z).unwrap();
    let by_other = |outcome: Result<(), Error>| {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::CapturedByOther { .. }), "{error}");
    };
    by_other(device.alloc::<u8>(1).map(drop));
    by_other(z.download().map(drop));
    by_other(device.synchronize());
    by_other(device.capture(|| Ok::<(), Error>(())).map(drop));
    let apart = [y.copy_from(&elsewhere), elsewhere.copy_from(&y)];
    assert!(apart.iter().all(|outcome| matches!(outcome, Err(Error::CapturedApart { .. }))), "{apart:?}");
    drop(unused);
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).unwrap().unwrap();
    for _ in 0..100 {
        graph.launch().unwrap();
    }
    assert_eq!(y.download().unwrap(), vec![201.0; n]);
}

/// An engine calls the driver itself with what a prepared launch says, in the stream of the launch.
#[test]
fn an_engine_launches_what_was_prepared() {
    let Some((_turn, _, stream)) = gpu() else { return };
    let n = 1000;
    let device = Device::from_cudarc(&stream).unwrap();
    let kernel = programs::kernel(&device, programs::SAXPY, "saxpy");
    let (x, y) = (device.upload(&vec![1.0f32; n]).unwrap(), device.upload(&vec![2.0f32; n]).unwrap());
    let (first, second) = (device.zeros::<f32>(n).unwrap(), device.zeros::<f32>(n).unwrap());
    let args = [Arg::from(&x), Arg::from(&y), Arg::from(&first), Arg::from(2.0f32), Arg::from(n as u32)];
    let mut launch = kernel.prepare(&LaunchConfig::linear(n as u32, 256), &args).unwrap();
    drop((x, kernel));
    let run = |launch: &Launch| {
        let mut pointers: Vec<*mut c_void> =
            launch.arguments().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let (function, config) = (launch.function().unwrap(), launch.config());
        let [gx, gy, gz] = config.grid;
        let [bx, by, bz] = config.block;
        assert_eq!(launch.cluster(), None);
        // SAFETY: the launch keeps function and memory, and has one argument for each parameter.
        unsafe {
            result::launch_kernel(
                ptr::with_exposed_provenance_mut(function as usize),
                (gx, gy, gz),
                (bx, by, bz),
                config.dynamic_shared,
                stream.cu_stream(),
                &mut pointers,
            )
        }
        .unwrap();
    };
    run(&launch);
    launch.set("z", &second).unwrap();
    launch.set("alpha", 10.0f32).unwrap();
    run(&launch);
    drop((launch, y)); // freed and unloaded behind the engine's launches in this stream
    assert_eq!(first.download().unwrap(), vec![4.0; n]);
    assert_eq!(second.download().unwrap(), vec![12.0; n]);
}

/// Runs of a prepared launch with a slice of cudarc go into a graph that cudarc captures.
#[test]
fn prepared_launches_join_the_owners_graph() {
    let Some((_turn, _, stream)) = gpu() else { return };
    let n = 1000;
    let device = Device::from_cudarc(&stream).unwrap();
    let kernel = programs::kernel(&device, programs::SAXPY, "saxpy");
    let slice = stream.clone_htod(&vec![1.0f32; n]).unwrap();
    let y = device.upload(&vec![1.0f32; n]).unwrap();
    let x = device.borrow_cudarc(&slice).unwrap();
    let args = [Arg::from(&x), Arg::from(&y), Arg::from(&y), Arg::from(2.0f32), Arg::from(n as u32)];
    let mut launch = kernel.prepare(&LaunchConfig::linear(n as u32, 256), &args).unwrap();
    // SAFETY: the buffers have n elements, and the slice is dropped last.
    let run = |launch: &Launch| unsafe { launch.run() }.unwrap();
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    run(&launch);
    launch.set("alpha", 1.0f32).unwrap();
    run(&launch);
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).unwrap().unwrap();
    for _ in 0..100 {
        graph.launch().unwrap();
    }
    assert_eq!(y.download().unwrap(), vec![301.0; n]);
}

/// Operations of a device on a slice of another stream are ordered with that stream.
#[test]
fn slices_of_other_streams_are_ordered() {
    let Some((_turn, context, stream)) = gpu() else { return };
    let (device, owner) = (Device::from_cudarc(&stream).unwrap(), context.new_stream().unwrap());
    let late = Late::new(&device, LATE);
    let mut slice = owner.clone_htod(&[0u32; WORDS]).unwrap();
    let on_owner = Device::from_cudarc(&owner).unwrap();
    let y = device.zeros::<u32>(WORDS).unwrap();
    for round in 1..=5 {
        {
            let x = device.borrow_cudarc_mut(&mut slice).unwrap();
            late.run(&on_owner, (&x).into(), (&x).into(), 1);
            y.copy_from(&x).unwrap();
            late.run(&device, (&x).into(), (&y).into(), 1);
            let [part, same] = [x.slice(..1).unwrap(), x.slice(0..=0).unwrap()];
            assert_eq!(part.address(), same.address());
            assert!(matches!((*x).slice(..1), Err(Error::ScopedSlice)));
        }
        assert_eq!(owner.clone_dtoh(&slice).unwrap()[0], 2 * round);
        let third = context.new_stream().unwrap();
        assert_eq!(third.clone_dtoh(&slice).unwrap()[0], 2 * round);
    }
}

/// Contexts, streams and memory that do not belong together are refused. A context that is not the primary one works as the primary
/// one does.
#[test]
fn what_does_not_belong_together_is_refused() {
    let Some((_turn, context, stream)) = gpu() else { return };
    let other = CudaContext::new_non_primary(0, 0).unwrap();
    let other_stream = other.new_stream().unwrap();
    let ((primary, _), (_, foreign)) = (handles(&stream), handles(&other_stream));
    // SAFETY: the handles are valid, and each device here is refused.
    unsafe {
        let error = Device::from_raw(primary, foreign).unwrap_err();
        assert!(
            matches!(error, Error::WrongStream { stream, context, .. } if (stream, context) == (foreign, primary)),
            "{error}"
        );
        assert!(matches!(Device::from_raw(0, foreign), Err(Error::NoContext)));
        assert!(matches!(Device::from_raw(primary, 2), Err(Error::PerThreadStream)));
    }
    let (device, beside) = (raw(&stream).unwrap(), raw(&other_stream).unwrap());
    assert!(!device.is_same(&beside));
    // The context that was current on the thread is current again.
    context.bind_to_thread().unwrap();
    agrees(&beside);
    assert_eq!(result::ctx::get_current().unwrap(), Some(context.cu_ctx()));
    let (x, y) = (device.zeros::<f32>(8).unwrap(), beside.zeros::<f32>(8).unwrap());
    assert!(matches!(x.copy_from(&y), Err(Error::ForeignBuffer { .. })));
    let kernel = programs::kernel(&device, programs::SAXPY, "saxpy");
    let error = saxpy(&kernel, [(&x).into(), (&x).into(), (&y).into()], 8).unwrap_err();
    assert!(matches!(error, Error::ForeignBuffer { .. }), "{error}");
    assert!(matches!(kernel.on(&beside), Err(Error::ForeignKernel { .. })));
    assert!(matches!(device.wait(&beside.record().unwrap()), Err(Error::ForeignEvent)));
    let slice = other_stream.clone_htod(&[1.0f32; 8]).unwrap();
    let error = device.borrow_cudarc(&slice).map(drop).unwrap_err();
    assert!(matches!(error, Error::WrongMemory { .. }), "{error}");
    other.bind_to_thread().unwrap();
    // SAFETY: freed below; the memory is not used where it is refused.
    unsafe {
        let memory = result::malloc_sync(64).unwrap();
        let error = device.borrow::<u32>(memory, 16).unwrap_err();
        assert!(matches!(error, Error::WrongMemory { .. }), "{error}");
        let borrowed = beside.borrow::<u32>(memory, 16).unwrap();
        borrowed.fill_bytes(0).unwrap();
        assert_eq!(borrowed.download().unwrap(), [0; 16]);
        result::free_sync(memory).unwrap();
    }
    if CudaContext::device_count().unwrap() > 1 {
        let far = Device::open(Select::Cuda(1)).unwrap().zeros::<u32>(16).unwrap();
        // SAFETY: refused.
        let error = unsafe { device.borrow::<u32>(far.address(), 16) }.unwrap_err();
        assert!(matches!(error, Error::WrongMemory { .. }), "{error}");
    }
}
