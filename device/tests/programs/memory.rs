//! Slices of buffers, and buffers of borrowed memory.

use girih_device::{Arg, Device, Error, LaunchConfig};

use super::{SAXPY, kernel, small};

/// Slices are buffers of a part of the memory, and keep the memory allocated.
pub fn slices_agree(device: &Device) {
    let saxpy = kernel(device, SAXPY, "saxpy");
    let (x, n) = (small(1000, 1), 300);
    let whole = device.upload(&x).unwrap();
    let [a, b, c] = [50..350, 351..651, 700..1000].map(|range| whole.slice(range).unwrap());
    assert_eq!((c.len(), c.address() - whole.address()), (n, 2800));
    let args = [Arg::from(&a), Arg::from(&b), Arg::from(&c), Arg::from(2.0f32), Arg::from(n as u32)];
    // SAFETY: the slices have n elements each.
    unsafe { saxpy.launch(&LaunchConfig::linear(n as u32, 256), &args) }.unwrap();
    let wanted: Vec<f32> = (0..n).map(|i| 2.0 * x[50 + i] + x[351 + i]).collect();
    assert_eq!(whole.download().unwrap(), [&x[..700], &wanted].concat());
    drop(whole);
    b.slice(1..=2).unwrap().write(&[5.0, 6.0]).unwrap();
    a.slice(..2).unwrap().copy_from(&b.slice(1..3).unwrap()).unwrap();
    assert_eq!(a.download().unwrap()[..3], [5.0, 6.0, x[52]]);
    assert_eq!(c.slice(299..).unwrap().download().unwrap(), wanted[299..]);
    // A slice may have no elements, at the end of the buffer too.
    for empty in [a.slice(7..7), a.slice(300..), a.slice(..0)] {
        assert_eq!(empty.unwrap().download().unwrap(), []);
    }
    a.copy_from(&a).unwrap();
    let error = a.slice(1..).unwrap().copy_from(&a.slice(..299).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Overlap { bytes: 1192 }), "{error}");
    for (range, end) in [(0..301, 301), (301..302, 302), (5..usize::MAX, usize::MAX)] {
        let start = range.start;
        let error = a.slice(range).unwrap_err();
        assert!(
            matches!(error, Error::OutOfRange { start: s, end: e, len: 300 } if (s, e) == (start, end)),
            "{error}"
        );
    }
}

/// Borrowed memory can be used like other memory, and is not freed with its buffers.
pub fn borrowed_memory_agrees(device: &Device) {
    let owner = device.upload(&(0..1000u32).collect::<Vec<_>>()).unwrap();
    for stream in [device.clone(), device.new_stream().unwrap()] {
        device.synchronize().unwrap();
        // SAFETY: the owner is dropped last, and the streams are in order.
        let part = unsafe { stream.borrow::<u32>(owner.address() + 40, 990) }.unwrap();
        assert_eq!(part.download().unwrap()[..3], [10, 11, 12]);
        part.slice(1..2).unwrap().write(&[7]).unwrap();
        let copy = stream.alloc::<u32>(990).unwrap();
        copy.copy_from(&part).unwrap();
        assert_eq!(copy.download().unwrap()[..3], [10, 7, 12]);
        owner.slice(11..12).unwrap().write(&[11]).unwrap();
    }
    assert_eq!(owner.download().unwrap()[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

/// Addresses and lengths that are not inside one allocation of the device are refused.
pub fn memory_is_refused(device: &Device) {
    let owner = device.zeros::<u8>(1024).unwrap();
    let start = owner.address();
    // SAFETY: refused, or not used.
    unsafe {
        let error = device.borrow::<u32>(start + 512, 129).unwrap_err();
        let (bytes, available) = (516, 512);
        assert!(
            matches!(error, Error::BeyondAllocation { bytes: b, available: a, .. } if (b, a) == (bytes, available)),
            "{error}"
        );
        let error = device.borrow::<u64>(start + 4, 1).unwrap_err();
        assert!(matches!(error, Error::Misaligned { element: "u64", align: 8, .. }), "{error}");
        let error = device.borrow::<u8>(0, 1).unwrap_err();
        assert!(matches!(error, Error::NoMemory { address: 0, .. }), "{error}");
        let error = device.borrow::<u8>(1 << 20, 1).unwrap_err();
        assert!(matches!(error, Error::NoMemory { .. }), "{error}");
        let error = device.borrow::<u64>(start, usize::MAX / 8).unwrap_err();
        assert!(matches!(error, Error::TooLong { .. } | Error::BeyondAllocation { .. }), "{error}");
        assert!(device.borrow::<u64>(3, 0).unwrap().is_empty());
        assert_eq!(device.borrow::<u64>(start, 128).unwrap().len(), 128);
    }
}
