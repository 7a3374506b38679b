//! Graphs, which are captured once and replayed often.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use girih_device::{Arg, Buffer, Device, Error, Graph, LaunchConfig};

use super::{
    SAXPY, kernel,
    streams::{Late, WORDS},
};

fn words(device: &Device) -> Buffer<u32> {
    device.zeros(WORDS).unwrap()
}

fn first(buffer: &Buffer<u32>) -> u32 {
    buffer.download().unwrap()[0]
}

fn replay(graph: &Graph, times: usize) {
    for _ in 0..times {
        // SAFETY: what the graphs below use is kept by them, or dropped after them.
        unsafe { graph.launch() }.unwrap();
    }
}

/// A graph on borrowed memory that is replayed 100 times does its operations 100 times. The capture does not do them.
pub fn borrowed_memory_agrees(device: &Device) {
    let saxpy = kernel(device, SAXPY, "saxpy");
    let n = 1000;
    let owner = device.upload(&vec![1.0f32; 3 * n]).unwrap();
    let parts = [0, 1, 2].map(|part| {
        // SAFETY: the owner is dropped last.
        unsafe { device.borrow::<f32>(owner.address() + 4 * (part * n) as u64, n) }.unwrap()
    });
    let [x, y, z] = &parts;
    let graph = device.capture(|| {
        let args = [Arg::from(x), Arg::from(y), Arg::from(z), Arg::from(2.0f32), Arg::from(n as u32)];
        // SAFETY: x, y and z have n elements.
        unsafe { saxpy.launch(&LaunchConfig::linear(n as u32, 256), &args) }?;
        y.copy_from(z)
    });
    let graph = graph.unwrap();
    drop(saxpy);
    assert_eq!(y.download().unwrap(), vec![1.0; n]);
    replay(&graph, 100);
    assert_eq!(y.download().unwrap(), vec![201.0; n]);
    drop(graph);
    assert_eq!(owner.download().unwrap()[n..], vec![201.0; 2 * n]);
}

/// A graph keeps its buffers and its code, and is ordered with the streams of its buffers.
pub fn graphs_keep_what_they_use(device: &Device, rounds: u32) {
    let [a, b] = [(); 2].map(|()| device.new_stream().unwrap());
    let (x, y, scratch) = (words(&a), words(&b), words(&a));
    let late = Late::new(device, rounds);
    let graph = a.capture(|| {
        late.run(&a, (&scratch).into(), (&y).into(), 1); // scratch = y + 1
        y.copy_from(&x)?; // an operation of the stream `b`, which is not captured
        x.copy_from(&scratch)
    });
    let error = graph.unwrap_err();
    assert!(matches!(error, Error::CapturedApart { operation: "Buffer::copy_from" }), "{error}");
    let graph = a.capture(|| {
        late.run(&a, (&scratch).into(), (&y).into(), 1);
        late.run(&a, (&y).into(), (&scratch).into(), 0);
        x.copy_from(&scratch)
    });
    let graph = graph.unwrap();
    drop((late, scratch));
    words(&a).fill_bytes(0xFF).unwrap();
    for round in 1..=10 {
        replay(&graph, 1);
        assert_eq!(first(&y), round); // the stream of y waits for the replay
        b.synchronize().unwrap();
    }
    y.fill_bytes(0).unwrap(); // the next replay waits for the stream of y
    replay(&graph, 3);
    drop((y, b));
    replay(&graph, 2);
    drop(graph);
    assert_eq!(first(&x), 5);
}

/// Buffers and kernels that are dropped during a capture are freed and unloaded after the capture.
pub fn drops_in_a_capture_wait(device: &Device, rounds: u32) {
    let x = words(device);
    let (unused, late) = (words(device), Late::new(device, rounds));
    late.run(device, (&unused).into(), (&x).into(), 1);
    let other = Late::new(device, 3);
    let graph = device.capture(|| {
        drop(unused);
        late.run(device, (&x).into(), (&x).into(), 1);
        drop((late, other));
        Ok::<(), Error>(())
    });
    let graph = graph.unwrap();
    let again: Vec<_> = (0..10).map(|_| device.upload(&[7u32; WORDS]).unwrap()).collect();
    replay(&graph, 4);
    assert_eq!(first(&x), 4);
    assert!(again.iter().all(|buffer| first(buffer) == 7));
}

/// Operations that a capture can't hold are refused. The stream can be used after captures that fail or panic.
pub fn captures_are_refused(device: &Device) {
    let (x, late) = (words(device), Late::new(device, 3));
    let (other, mut timer) = (device.new_stream().unwrap(), device.timer().unwrap());
    let beside = words(&other);
    let module = girih_ptx::Module::parse(SAXPY).unwrap();
    let loaded = device.load(&module).unwrap();
    let (event, ready) = (other.record().unwrap(), device.capture(|| x.fill_bytes(1)).unwrap());
    let refused = |outcome: Result<(), Error>, name: &str| {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::NotCaptured { operation } if operation == name), "{name}: {error}");
    };
    let graph = device.capture(|| {
        refused(device.alloc::<u8>(1).map(drop), "Device::alloc");
        refused(x.download().map(drop), "Buffer::download");
        refused(x.write(&[1, 2]), "Buffer::write");
        refused(x.write_async(device.pinned(WORDS).unwrap()).map(drop), "Buffer::write_async");
        refused(x.download_async(device.pinned(WORDS).unwrap()).map(drop), "Buffer::download_async");
        refused(device.synchronize(), "Device::synchronize");
        refused(device.record().map(drop), "Device::record");
        refused(device.wait(&event), "Device::wait");
        refused(timer.start(), "Timer::start");
        refused(timer.stop().map(drop), "Timer::stop");
        refused(device.load(&module).map(drop), "Device::load");
        refused(loaded.kernel("saxpy").map(drop), "Module::kernel");
        refused(device.capture(|| Ok::<(), Error>(())).map(drop), "Device::capture");
        // SAFETY: refused.
        refused(unsafe { ready.launch() }, "Graph::launch");
        // Operations of other threads are refused, and other streams go on.
        let elsewhere = thread::scope(|scope| scope.spawn(|| x.fill_bytes(9)).join().unwrap());
        let error = elsewhere.unwrap_err();
        assert!(matches!(error, Error::CapturedByOther { operation: "Buffer::fill_bytes" }), "{error}");
        late.run(&other, (&beside).into(), (&beside).into(), 5);
        assert_eq!((first(&beside), other.upload(&[3u32])?.download()?), (5, vec![3]));
        late.run(device, (&x).into(), (&x).into(), 2);
        Ok::<(), Error>(())
    });
    let graph = graph.unwrap();
    assert_eq!(first(&x), 0);
    replay(&graph, 2);
    assert_eq!(first(&x), 4);
    // When a capture fails, its operations are forgotten.
    let failed = device.capture(|| {
        x.fill_bytes(0xFF)?;
        x.slice(3..).map(drop)
    });
    assert!(matches!(failed, Err(Error::OutOfRange { .. })), "{failed:?}");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        device.capture(|| -> Result<(), Error> {
            x.fill_bytes(0xFF)?;
            std::panic::resume_unwind(Box::new("on purpose"))
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(first(&x), 4);
    // A graph may have no operations.
    replay(&device.capture(|| Ok::<(), Error>(())).unwrap(), 2);
    device.synchronize().unwrap();
}
