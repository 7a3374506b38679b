//! The order and the memory of launches that find their buffers by addresses in memory, on a device that does everything as late as it may.

use std::sync::Arc;

use girih_ptx::Module;

use crate::{Arg, Buffer, Device, Error, Kernel, LaunchConfig, Pointers, args, late::two};

/// `all[0][0] = all[1][0] + by`.
const ADD: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 all, .param .u32 by) {
  .reg .b64 %all, %to, %from; .reg .b32 %x, %by;
  ld.param.u64 %all, [all]; ld.param.u32 %by, [by];
  ld.global.u64 %to, [%all]; ld.global.u64 %from, [%all+8];
  ld.global.u32 %x, [%from]; add.u32 %x, %x, %by; st.global.u32 [%to], %x; ret;
}";

fn kernel(device: &Device) -> Result<Kernel, Error> {
    device.load(&Module::parse(ADD)?)?.kernel("add")
}

fn add(kernel: &Kernel, all: &Pointers<'_, u32>, by: u32) -> Result<(), Error> {
    let args = kernel.arguments(&args![all = all, by])?;
    #[allow(unsafe_code, reason = "the kernel reads one word and writes another")]
    // SAFETY: every buffer of these tests has a word, and every array two buffers.
    unsafe {
        kernel.launch(&LaunchConfig::linear(1, 1), &args)
    }
}

/// A launch comes after what the streams of all buffers have done, and before what they do later.
#[test]
fn a_launch_is_ordered_with_the_streams_of_all_buffers() -> Result<(), Error> {
    let [a, b] = two();
    let (from, to) = (a.alloc::<u32>(1)?, b.alloc::<u32>(1)?);
    let (kernel, all) = (kernel(&b)?, b.pointers([&to, &from])?);
    for byte in [1, 2] {
        from.fill_bytes(byte)?;
        add(&kernel, &all, 1)?;
        from.fill_bytes(0xFF)?;
        assert_eq!(from.download()?, [u32::MAX]);
        assert_eq!(to.download()?, [u32::from(byte) * 0x0101_0101 + 1]);
    }
    Ok(())
}

/// The array and the buffers are freed after a launch that uses them; a prepared launch, and a graph, keep them.
#[test]
fn the_memory_of_all_buffers_is_kept() -> Result<(), Error> {
    let [a, b] = two();
    let (kernel, to) = (kernel(&b)?, b.alloc::<u32>(1)?);
    let memory = |buffer: &Buffer<u32>| buffer.memory().map(Arc::downgrade).expect("memory");
    let from = a.upload(&[7u32])?;
    add(&kernel, &b.pointers([&to, &from])?, 1)?;
    drop(from);
    a.synchronize()?;
    assert_eq!(to.download()?, [8]);
    let (x, y) = (a.upload(&[20u32])?, a.upload(&[30u32])?);
    let kept = [memory(&x), memory(&y)];
    let is_kept = || kept.each_ref().map(|memory| memory.upgrade().is_some());
    let of_x = b.pointers([&to, &x])?;
    let args = kernel.arguments(&args![all = &of_x, by = 1u32])?;
    let mut launch = kernel.prepare(&LaunchConfig::linear(1, 1), &args)?;
    drop(of_x);
    drop(x);
    assert_eq!(is_kept(), [true, true]);
    let mut template = launch.clone().open(&["all"])?;
    launch.set("all", &b.pointers([&to, &y])?)?;
    // The template keeps no memory of what is open, and the launch that of its new argument.
    assert_eq!(is_kept(), [false, true]);
    drop(y);
    #[allow(unsafe_code, reason = "as above")]
    // SAFETY: as above.
    let graph = b.capture(|| unsafe { launch.run() })?;
    drop(launch);
    assert_eq!(is_kept(), [false, true]);
    let z = a.upload(&[40u32])?;
    let of_z = b.pointers([&to, &z])?;
    #[allow(unsafe_code, reason = "as above")]
    // SAFETY: as above, and the graph keeps what its kernel uses.
    unsafe {
        template.run(&[Arg::from(&of_z)])?;
        assert_eq!(to.download()?, [41]);
        graph.launch()?;
    }
    assert_eq!(to.download()?, [31]);
    drop(graph);
    assert_eq!(is_kept(), [false, false]);
    Ok(())
}

#[test]
fn an_array_says_what_its_buffers_have_in_common() -> Result<(), Error> {
    let [a, b] = two();
    let (x, none) = (a.zeros::<u32>(8)?, a.zeros::<u32>(0)?);
    let parts = [x.slice(5..)?, x.slice(..4)?, none];
    let all = b.pointers(&parts)?;
    assert_eq!((all.len(), all.is_empty(), all.shortest()), (3, false, 0));
    assert_eq!(all.addresses(), [0, x.address(), x.address() + 20]);
    assert_eq!(all.array.download()?, [x.address() + 20, x.address(), 0]);
    let nothing = b.pointers::<u32>([])?;
    assert_eq!((nothing.is_empty(), nothing.shortest(), nothing.address()), (true, 0, 0));
    let [foreign, _] = two();
    let told = foreign.pointers(&parts).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.starts_with("Device::pointers: buffer 0 lives on another device"), "{told}");
    Ok(())
}
