//! The order and the memory of templates, on a device that does everything as late as it may.

use std::sync::Arc;

use girih_ptx::{Module, TensorElement, Tiled};

use crate::{
    Arg, Buffer, Device, Error, LaunchConfig, Template, TensorMap, args,
    late::{ADD, two},
};

/// Adds 1, with `open` parameters.
fn template(device: &Device, to: &Buffer<u32>, from: &Buffer<u32>, open: &[&str]) -> Result<Template, Error> {
    let kernel = device.load(&Module::parse(ADD)?)?.kernel("add")?;
    let args = kernel.arguments(&args![to = to, from = from, by = 1u32])?;
    kernel.prepare(&LaunchConfig::linear(1, 1), &args)?.open(open)
}

fn run(template: &mut Template, args: &[Arg<'_>]) -> Result<(), Error> {
    #[allow(unsafe_code, reason = "the kernel reads one word and writes another")]
    // SAFETY: every buffer of these tests has a word.
    unsafe {
        template.run(args)
    }
}

fn watch(buffer: &Buffer<u32>) -> std::sync::Weak<crate::stream::Allocation> {
    buffer.memory().map(Arc::downgrade).expect("memory")
}

/// Each run waits for the streams of the buffers that it is given, these wait for it, and the next run is free of them.
#[test]
fn a_run_is_ordered_with_the_streams_of_its_buffers() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y, own, to) = (a.alloc::<u32>(1)?, a.alloc::<u32>(1)?, b.alloc::<u32>(1)?, b.alloc::<u32>(1)?);
    own.write(&[100])?;
    let mut add = template(&b, &to, &x, &["from"])?;
    for (buffer, byte) in [(&x, 1), (&y, 2), (&x, 3)] {
        buffer.fill_bytes(byte)?; // in its own stream, late
        run(&mut add, &[Arg::from(buffer)])?;
        buffer.fill_bytes(0xFF)?; // behind the run
        assert_eq!(buffer.download()?, [u32::MAX]);
        assert_eq!(to.download()?, [u32::from(byte) * 0x0101_0101 + 1]);
    }
    run(&mut add, &[Arg::from(&own)])?;
    assert_eq!(to.download()?, [101]);
    Ok(())
}

/// Memory of open parameters is the caller's, and is freed after the run that uses it; the other memory is the template's.
#[test]
fn a_template_keeps_what_is_not_open() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y, to) = (a.upload(&[7u32])?, a.upload(&[8u32])?, b.alloc::<u32>(1)?);
    let mut add = template(&b, &to, &x, &["from"])?;
    let [of_x, of_y, of_to] = [&x, &y, &to].map(watch);
    drop(x);
    assert!(of_x.upgrade().is_none());
    run(&mut add, &[Arg::from(&y)])?;
    drop(y);
    assert!(of_y.upgrade().is_none());
    assert_eq!(to.download()?, [9]);
    drop(to);
    assert!(of_to.upgrade().is_some());
    drop(add);
    assert!(of_to.upgrade().is_none());
    Ok(())
}

/// A graph replays each run with the arguments of that run, and keeps their memory.
#[test]
fn a_graph_has_the_arguments_of_each_run() -> Result<(), Error> {
    let [_, b] = two();
    let (x, y, to, also) = (b.upload(&[7u32])?, b.upload(&[70u32])?, b.alloc::<u32>(1)?, b.alloc::<u32>(1)?);
    let mut add = template(&b, &to, &x, &["from", "to"])?;
    let of_x = watch(&x);
    let graph = b.capture(|| {
        run(&mut add, &[Arg::from(&x), Arg::from(&to)])?;
        run(&mut add, &[Arg::from(&y), Arg::from(&also)])
    })?;
    drop((x, add));
    assert!(of_x.upgrade().is_some());
    #[allow(unsafe_code, reason = "the graph keeps what its kernel uses")]
    // SAFETY: as above.
    unsafe {
        graph.launch()?;
    }
    assert_eq!((to.download()?, also.download()?), (vec![8], vec![71]));
    drop(graph);
    assert!(of_x.upgrade().is_none());
    Ok(())
}

/// What does not fit is refused, and nothing is launched.
#[test]
fn what_does_not_fit_is_refused() -> Result<(), Error> {
    let [a, b] = two();
    let (x, to) = (a.upload(&[7u32])?, b.upload(&[0u32])?);
    let mut add = template(&b, &to, &x, &["from", "by"])?;
    for args in [&[][..], &[Arg::from(&x)], &[Arg::from(&x), Arg::U32(1), Arg::U32(1)]] {
        let error = run(&mut add, args).err().ok_or(Error::NoContext)?;
        assert!(matches!(error, Error::OpenArguments { .. }), "{error}");
    }
    let error = run(&mut add, &[Arg::U32(1), Arg::U32(1)]).err();
    assert!(matches!(error, Some(Error::ArgumentType { index: 1, .. })), "{error:?}");
    assert_eq!(to.download()?, [0]);
    for open in [["from", "from"], ["from", "nothing"]] {
        let error = template(&b, &to, &x, &open).err();
        assert!(matches!(error, Some(Error::ArgumentName { .. })), "{error:?}");
    }
    run(&mut add, &[Arg::from(&x), Arg::U32(3)])?;
    assert_eq!(to.download()?, [10]);
    Ok(())
}

/// A buffer in which a map's tensor has no place is refused, also at the address that the map has, and takes nothing from later runs.
#[test]
fn a_map_is_checked_at_each_run() -> Result<(), Error> {
    let text = ".version 8.0 .target sm_90 .address_size 64 .visible .entry none(.param .align 64 .b8 map[128]) { ret; }";
    let [_, b] = two();
    let (x, y) = (b.upload(&[1u32; 16])?, b.upload(&[2u32; 32])?);
    let kernel = b.load(&Module::parse(text)?)?.kernel("none")?;
    let map = TensorMap::new(&x, &Tiled::new(TensorElement::U32, &[16], &[16]))?;
    let mut none = kernel.prepare(&LaunchConfig::linear(1, 1), &[Arg::from(&map)])?.open(&["map"])?;
    let (short, crooked, second) = (x.slice(..8)?, y.slice(1..)?, y.slice(16..)?);
    for right in [&x, &y, &second, &x] {
        for (wrong, outside) in [(&short, true), (&crooked, false)] {
            let error = run(&mut none, &[Arg::from(wrong)]).err();
            assert_eq!(matches!(error, Some(Error::TensorOutside { .. })), outside, "{error:?}");
            assert_eq!(matches!(error, Some(Error::TensorMap(_))), !outside, "{error:?}");
        }
        run(&mut none, &[Arg::from(right)])?;
        let anew = TensorMap::new(right, map.description().tiled())?;
        assert_eq!(none.launch.arguments().next(), Some(&anew.bytes()[..]));
    }
    Ok(())
}
