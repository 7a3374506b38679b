//! Pinned memory, and copies for which the host does not wait.

use girih_device::{Device, Error};

use super::streams::{Late, WORDS};

/// Copies from and to pinned memory arrive, after the operations that were called before.
pub fn transfers_agree(device: &Device, rounds: u32) {
    let len = 100_000;
    let x = device.zeros::<u16>(len).unwrap();
    let mut pinned = device.pinned::<u16>(len).unwrap();
    assert!(pinned.len() == len && pinned.iter().all(|&value| value == 0));
    for round in 0..4u16 {
        pinned.iter_mut().enumerate().for_each(|(i, value)| *value = (i as u16).wrapping_mul(round));
        let upload = x.write_async(pinned).unwrap();
        let download = x.download_async(device.pinned(len).unwrap()).unwrap();
        let back = download.wait().unwrap();
        assert!(upload.is_done().unwrap());
        pinned = upload.wait().unwrap();
        assert_eq!(back[..], pinned[..]);
        assert_eq!(x.download().unwrap(), *back);
    }
    // The drop of a transfer waits for it. A transfer to a slice changes the slice alone.
    pinned.fill(7);
    drop(x.write_async(pinned).unwrap());
    let mut few = device.pinned::<u16>(2).unwrap();
    few.fill(9);
    few = x.slice(5..7).unwrap().write_async(few).unwrap().wait().unwrap();
    assert_eq!((x.download().unwrap()[4..8].to_vec(), few.to_vec()), (vec![7, 9, 9, 7], vec![9, 9]));
    let none = device.alloc::<u16>(0).unwrap();
    assert!(none.write_async(device.pinned(0).unwrap()).unwrap().wait().unwrap().is_empty());
    assert!(none.download_async(device.pinned(0).unwrap()).unwrap().is_done().unwrap());
    let error = x.write_async(device.pinned(3).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Length { buffer: 100_000, source_len: 3, .. }), "{error}");
    let error = x.download_async(device.pinned(3).unwrap()).unwrap_err();
    assert!(matches!(error, Error::TargetLength { buffer: 100_000, target: 3 }), "{error}");
    // The copy waits for a kernel that takes long in the stream of the buffer.
    let stream = device.new_stream().unwrap();
    let words = stream.zeros::<u32>(WORDS).unwrap();
    let late = Late::new(device, rounds);
    late.run(&stream, (&words).into(), (&words).into(), 5);
    let download = words.download_async(device.pinned(WORDS).unwrap()).unwrap();
    drop(words);
    assert_eq!(download.wait().unwrap()[0], 5);
}
