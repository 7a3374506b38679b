//! Strides beyond 2^31 elements: exact, or refused before anything runs.

use girih_device::{Buffer, Device};
use girih_tile::compile;
use girih_tile::facts::{Found, Uses};
use girih_tile::ir::Known;
use girih_tile::launch::run::{Given, run};
use girih_tile::launch::{DeviceArray, HostElement};
use girih_tile::prelude::*;

use super::device;

#[kernel]
#[allow(unsafe_code, reason = "one block stores")]
fn copied(x: &Array<u8, 2>, y: &mut Array<u8, 2>, z: &mut Array<u8, 2>) {
    for i in irange(0, 2) {
        z.tiles_mut([1, 8]).store((i, 0), x.tiles([1, 8]).load((i, 0)));
        y.tiles_mut([1, 8]).store((i, 0), x.tiles([1, 8]).load((i, 0)) + 1);
    }
    let (row, column) = (arange::<i32>(2).reshape([2, 1]), arange::<i64>(8));
    z.tiles_mut([2, 8]).store((1, 0), x.gather((row, column)));
    z.tiles_mut([2, 8]).store((2, 0), x.load_rows((arange::<i32>(2), span(0, 8))));
    z.tiles_mut([2, 8]).store((3, 0), x.tiles([2, 8]).load((0, 0)));
    z.tiles_mut([2, 8]).store((4, 0), x.slice(0, -1, 1).tiles([2, 8]).padding(Padding::Zero).load((0, 0)));
}

#[kernel]
fn added(x: &mut Array<f16, 2>) {
    x.atomic_add((arange::<i32>(2).reshape([2, 1]), arange::<i32>(4)), full::<f16>([2, 4], 2.5));
}

/// Memory with this many elements of which few are used: the simulator has pages for those that are. None if the host has no room even so.
fn wide<T: HostElement>(device: &Device, stride: usize) -> Option<Buffer<T::Stored>> {
    device.alloc(stride + 8).ok()
}

#[test]
fn rows_far_apart_are_what_they_are() {
    let device = device();
    for stride in [1 << 32, (1 << 31) + 8, (1 << 32) + 3] {
        let [Some(x), Some(y)] = [(); 2].map(|()| wide::<u8>(&device, stride)) else { return };
        for (row, value) in [(0, 10), (1, 50)] {
            let of = row * stride..row * stride + 8;
            x.slice(of.clone()).unwrap().write(&[0, 1, 2, 3, 4, 5, 6, 7].map(|i| value + i)).unwrap();
            y.slice(of).unwrap().write(&[0; 8]).unwrap();
        }
        let kept = y.slice(..).unwrap();
        let x = DeviceArray::<u8, 2>::new(x, 0, [2, 8], [stride, 1]).unwrap();
        let mut y = DeviceArray::<u8, 2>::new(y, 0, [2, 8], [stride, 1]).unwrap();
        let mut z = DeviceArray::<u8, 2>::zeros(&device, [10, 8]).unwrap();
        copied(&x, &mut y, &mut z).grid([1]).run().unwrap();
        let row = |first: u8| (first..first + 8).collect::<Vec<u8>>();
        let both = [row(10), row(50)].concat();
        let cut = [vec![0; 8], row(10)].concat();
        assert_eq!(z.download().unwrap(), [&both[..], &both, &both, &both, &cut].concat(), "{stride}");
        for (at, wanted) in [(0, row(11)), (stride, row(51))] {
            assert_eq!(kept.slice(at..at + 8).unwrap().download().unwrap(), wanted, "{stride}");
        }
    }
}

#[test]
fn atomic_operations_far_apart_meet_nobody() {
    let device = device();
    let stride = 1 << 31;
    let Some(x) = wide::<f16>(&device, stride) else { return };
    for at in [0, stride] {
        x.slice(at..at + 4).unwrap().write(&[f16::ONE; 4]).unwrap();
    }
    let kept = x.slice(..).unwrap();
    let mut x = DeviceArray::<f16, 2>::new(x, 0, [2, 4], [stride, 1]).unwrap();
    added(&mut x).grid([1]).run().unwrap();
    for at in [0, stride] {
        assert_eq!(kept.slice(at..at + 4).unwrap().download().unwrap(), [f16::from_f32(3.5); 4]);
    }
}

#[kernel]
fn same(x: &Array<u8, 2>, y: &mut Array<u8, 2>) {
    y.tiles_mut([1, 8]).store((bid(0), 0), x.tiles([1, 8]).load((bid(0), 0)));
}

/// A stride that no parameter has is a constant of the kernel; others make no kernels of their own.
#[test]
fn far_strides_are_facts() {
    let uses = Uses::of(&same::ir().unwrap());
    let strides = |extent: usize, stride: usize| {
        let of = Found { extents: &[extent, 8], strides: &[stride, 1], address: 256 };
        uses.facts(&[of, of], 0).arrays[0].strides.clone()
    };
    assert_eq!(strides(2, (1 << 31) - 8), [Known::MultipleOf(8), Known::Is(1)]);
    for far in [1 << 31, 1 << 32, 1 << 50] {
        assert_eq!(strides(2, far), [Known::Is(far as i64), Known::Is(1)]);
        // An axis of one element has no stride.
        assert_eq!(strides(1, far), [Known::MultipleOf(8), Known::Is(1)]);
    }
}

#[test]
fn an_axis_of_one_element_has_any_stride() {
    let device = device();
    for stride in [0, 1, 3, 1 << 31, 1 << 41] {
        let x = device.upload(&[1u8, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let x = DeviceArray::<u8, 2>::new(x, 0, [1, 8], [stride, 1]).unwrap();
        let y = device.zeros(8).unwrap();
        let mut y = DeviceArray::<u8, 2>::new(y, 0, [1, 8], [stride, 1]).unwrap();
        same(&x, &mut y).run().unwrap();
        assert_eq!(y.download().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8], "{stride}");
    }
}

/// A kernel that was built for any strides refuses those that its parameters do not have, and says nothing of girih's own files.
#[test]
#[allow(unsafe_code, reason = "nothing runs")]
fn strides_that_no_parameter_has_are_refused() {
    let device = device();
    let compiled = compile(&same::ir().unwrap(), 90).unwrap();
    let buffer = device.upload(&[0u8; 16]).unwrap();
    let refused = |extents: [i64; 2], strides: [i64; 2]| {
        let given = Given { buffer: (&buffer).into(), extents: extents.to_vec(), strides: strides.to_vec() };
        let fine = Given { buffer: (&buffer).into(), extents: vec![2, 8], strides: vec![8, 1] };
        // SAFETY: it is refused.
        unsafe { run(&device, &compiled, [2, 1, 1], &[given, fine], &[]) }.unwrap_err().to_string()
    };
    let text = |what: &str, value: i64, axis: usize, accepted: &str| {
        format!("`same` is given `x` with {what} of {value} along axis {axis}: {accepted} is accepted")
    };
    for stride in [1 << 31, 1 << 32, i64::MAX, -1, -8, i64::MIN] {
        assert_eq!(refused([2, 8], [stride, 1]), text("a stride", stride, 0, "0 to 2147483647"));
    }
    assert_eq!(refused([2, 8], [8, 2]), text("a stride", 2, 1, "1"));
    assert_eq!(refused([2, 1 << 31], [8, 1]), text("an extent", 1 << 31, 1, "0 to 2147483647"));
    assert_eq!(refused([-2, 8], [8, 1]), text("an extent", -2, 0, "0 to 2147483647"));
}
