//! The order between streams, on a device that does everything as late as it may.

use crate::{Error, late::two};

/// The streams of these tests do nothing by themselves: without an order another stream's operation has not run.
#[test]
fn streams_are_as_late_as_they_may() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    #[allow(unsafe_code, reason = "the address of a live buffer")]
    // SAFETY: x is dropped last, and what is read early is the test's point.
    let unordered = unsafe { b.borrow::<u8>(x.address(), 4) }?;
    y.copy_from(&unordered)?;
    assert_eq!(y.download()?, [0; 4]);
    let written = a.record()?;
    b.wait(&written)?;
    assert!(!written.is_done()?);
    y.copy_from(&unordered)?;
    assert_eq!(y.download()?, [7; 4]);
    assert!(written.is_done()?);
    Ok(())
}

#[test]
fn an_operation_waits_for_the_stream_of_its_buffer() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    y.copy_from(&x)?;
    assert_eq!(y.download()?, [7; 4]);
    Ok(())
}

#[test]
fn the_stream_of_a_buffer_waits_for_operations_of_others() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    y.copy_from(&x.slice(..)?)?;
    x.fill_bytes(9)?;
    assert_eq!(x.download()?, [9; 4]);
    assert_eq!(y.download()?, [7; 4]);
    // Freed after them, too: the simulator refuses to copy what is freed.
    y.copy_from(&x)?;
    drop(x);
    a.synchronize()?;
    assert_eq!(y.download()?, [9; 4]);
    Ok(())
}

#[test]
fn a_replay_is_ordered_as_its_operations_are() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(1)?;
    let graph = a.capture(|| x.copy_from(&y))?;
    #[allow(unsafe_code, reason = "a graph of copies")]
    // SAFETY: the graph keeps both buffers.
    let replay = || unsafe { graph.launch() };
    y.fill_bytes(7)?;
    replay()?;
    assert_eq!(x.download()?, [7; 4]);
    y.fill_bytes(8)?;
    replay()?;
    y.fill_bytes(9)?;
    assert_eq!(y.download()?, [9; 4]);
    assert_eq!(x.download()?, [8; 4]);
    drop((graph, y));
    b.synchronize()
}

#[test]
fn transfers_are_over_when_they_have_been_waited_for() -> Result<(), Error> {
    let [a, _] = two();
    let x = a.alloc::<u16>(3)?;
    let mut pinned = a.pinned::<u16>(3)?;
    pinned.copy_from_slice(&[1, 2, 3]);
    let upload = x.write_async(pinned)?;
    assert!(!upload.is_done()?);
    let download = x.download_async(a.pinned(3)?)?;
    assert_eq!(*download.wait()?, [1, 2, 3]);
    assert!(upload.is_done()?);
    drop(upload);
    // Dropped before it is over: the memory is freed when it is.
    drop(x.write_async(a.pinned(3)?)?);
    assert_eq!(x.download()?, [0; 3]);
    Ok(())
}
