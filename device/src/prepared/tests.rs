//! The order and the memory of prepared launches, on a device that does everything as late as it may.

use girih_ptx::Module;

use crate::{
    Device, Error, Launch, LaunchConfig, args,
    late::{ADD, two},
};

fn prepare(
    device: &Device,
    to: &crate::Buffer<u32>,
    from: &crate::Buffer<u32>,
    by: u32,
) -> Result<Launch, Error> {
    let kernel = device.load(&Module::parse(ADD)?)?.kernel("add")?;
    kernel.prepare(&LaunchConfig::linear(1, 1), &kernel.arguments(&args![to = to, from = from, by])?)
}

fn run(launch: &Launch) -> Result<(), Error> {
    #[allow(unsafe_code, reason = "the kernel reads one word and writes another")]
    // SAFETY: every buffer of these tests has a word.
    unsafe {
        launch.run()
    }
}

/// A launch waits for the streams of the buffers that it has when it runs, and these streams wait for it.
#[test]
fn a_launch_is_ordered_with_the_streams_of_its_buffers() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y, own) = (a.alloc::<u32>(1)?, a.alloc::<u32>(1)?, b.alloc::<u32>(1)?);
    let to = b.alloc::<u32>(1)?;
    own.write(&[100])?;
    let mut launch = prepare(&b, &to, &own, 1)?;
    run(&launch)?;
    assert_eq!(to.download()?, [101]);
    // The buffers of another stream, which are written late and overwritten after the launch.
    for (buffer, byte) in [(&x, 1), (&y, 2)] {
        buffer.fill_bytes(byte)?;
        launch.set("from", buffer)?;
        run(&launch)?;
        buffer.fill_bytes(0xFF)?;
        assert_eq!(buffer.download()?, [u32::MAX]);
        assert_eq!(to.download()?, [u32::from(byte) * 0x0101_0101 + 1]);
    }
    // And no other stream once more.
    launch.set("from", &own)?;
    assert!(launch.others.is_empty());
    run(&launch)?;
    assert_eq!(to.download()?, [101]);
    Ok(())
}

/// A launch keeps the memory that it names, until another argument takes its place; a run that is in flight has its memory
/// then, too.
#[test]
fn a_launch_keeps_the_memory_that_it_names() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y, to) = (a.upload(&[7u32])?, a.upload(&[8u32])?, b.alloc::<u32>(1)?);
    let mut launch = prepare(&b, &to, &x, 1)?;
    let memory = x.memory().map(std::sync::Arc::downgrade).expect("memory");
    drop(x);
    run(&launch)?;
    assert_eq!(to.download()?, [8]);
    assert!(memory.upgrade().is_some());
    run(&launch)?;
    launch.set("from", &y)?;
    assert!(memory.upgrade().is_none());
    // The simulator refuses to read what is freed.
    a.synchronize()?;
    assert_eq!(to.download()?, [8]);
    // A clone keeps its own arguments.
    let mut clone = launch.clone();
    clone.set("by", 10u32)?;
    drop((launch, y));
    run(&clone)?;
    assert_eq!(to.download()?, [18]);
    Ok(())
}

/// A captured launch has the arguments of the time of its capture, and the graph keeps their memory.
#[test]
fn a_graph_has_the_arguments_of_its_capture() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y, to) = (a.upload(&[7u32])?, a.upload(&[70u32])?, b.alloc::<u32>(1)?);
    let mut launch = prepare(&b, &to, &x, 1)?;
    let memory = x.memory().map(std::sync::Arc::downgrade).expect("memory");
    drop(x);
    let graph = b.capture(|| {
        run(&launch)?;
        launch.set("from", &y)?;
        launch.set("by", 2u32)
    })?;
    assert!(memory.upgrade().is_some());
    run(&launch)?;
    assert_eq!(to.download()?, [72]);
    drop(launch);
    #[allow(unsafe_code, reason = "the graph keeps what its kernel uses")]
    // SAFETY: as above.
    unsafe {
        graph.launch()?;
    }
    assert_eq!(to.download()?, [8]);
    drop(graph);
    assert!(memory.upgrade().is_none());
    Ok(())
}
