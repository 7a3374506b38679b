//! Constants that are chosen, ranges that are reversed, many tiles in one, scalars of arrays, and loops whose condition changes something.

use girih_device::{Device, SimOptions};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

fn device() -> Device {
    Device::open_sim(SimOptions { threads: Some(1), ..SimOptions::checked() }).unwrap()
}

#[kernel]
fn chosen(y: &mut Array<i32, 1>, z: &mut Array<f32, 1>) {
    let odd = arange::<i32>(8) % 2 == 1;
    y.tiles_mut([8]).store((0,), select(odd, 1, 0));
    y.tiles_mut([8]).store((1,), where_(odd, -3, 7) * 2);
    z.tiles_mut([8]).store((0,), select(odd, 1.5, 0.25));
    z.tiles_mut([8]).store((1,), select(odd, 1, 0.5));
}

#[kernel]
fn too_large(y: &mut Array<i64, 1>) {
    y.tiles_mut([8]).store((0,), select(arange::<i32>(8) < 4, 1 << 40, 0));
}

#[test]
fn constants_are_chosen_by_masks() {
    let text = too_large::ir().unwrap_err().to_string();
    assert!(text.contains("`select` of constants of s64, which are s32 where they meet no tile"), "{text}");
    let device = device();
    let mut y = DeviceArray::zeros(&device, [16]).unwrap();
    let mut z = DeviceArray::zeros(&device, [16]).unwrap();
    chosen(&mut y, &mut z).grid([1]).run().unwrap();
    assert_eq!(y.download().unwrap(), [[0, 1].repeat(4), [14, -6].repeat(4)].concat());
    assert_eq!(z.download().unwrap(), [[0.25f32, 1.5].repeat(4), [0.5, 1.0].repeat(4)].concat());
}

/// Writes the numbers of ranges one after the other, and how many there were.
#[kernel]
#[allow(unsafe_code, reason = "one block stores")]
fn reversed(y: &mut Array<i32, 2>, a: Scalar<i32>, b: Scalar<i32>, s: Scalar<i32>) {
    let mut count = zeros::<i32>([6]);
    // SAFETY: there is one block.
    let mut out = unsafe { y.tiles_mut([1, 1]).assume_disjoint("one block") };
    let mut at = scalar::<i32>(0);
    for i in (a..b).rev() {
        out.store((0, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 0, at, 0);
    at = scalar(0);
    for i in (a..b).rev().step_by(s) {
        out.store((1, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 1, at, 0);
    at = scalar(0);
    for i in (a..b).step_by(s).rev() {
        out.store((2, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 2, at, 0);
    at = scalar(0);
    for i in (a..b).rev().step_by(s).rev() {
        out.store((3, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 3, at, 0);
    at = scalar(0);
    for i in (a..b).step_by(2).step_by(s) {
        out.store((4, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 4, at, 0);
    at = scalar(0);
    for i in irange(0, 4).rev() {
        out.store((5, at), i.reshape([1, 1]));
        at += 1;
    }
    count = count + select(arange::<i32>(6) == 5, at, 0);
    let mut counts = y.slice_mut(0, 6, 12);
    // SAFETY: as above.
    unsafe { counts.tiles_mut([6, 1]).assume_disjoint("one block") }.store((0, 0), count.reshape([6, 1]));
}

#[test]
fn ranges_are_reversed_as_rust_reverses_them() {
    let device = device();
    for (a, b, s) in [
        (0, 7, 1),
        (2, 11, 3),
        (-4, 5, 2),
        (3, 3, 2),
        (5, 1, 4),
        (i32::MAX - 3, i32::MAX, 2),
        (i32::MIN, i32::MIN + 5, 4),
    ] {
        let mut y = DeviceArray::zeros(&device, [12, 10]).unwrap();
        reversed(&mut y, a, b, s).grid([1]).run().unwrap();
        let step = usize::try_from(s).unwrap();
        let wanted: [Vec<i32>; 6] = [
            (a..b).rev().collect(),
            (a..b).rev().step_by(step).collect(),
            (a..b).step_by(step).rev().collect(),
            (a..b).rev().step_by(step).rev().collect(),
            (a..b).step_by(2).step_by(step).collect(),
            (0..4).rev().collect(),
        ];
        let got = y.download().unwrap();
        for (i, wanted) in wanted.iter().enumerate() {
            assert_eq!(got[(6 + i) * 10], i32::try_from(wanted.len()).unwrap(), "{a}..{b} by {s}: {i}");
            assert_eq!(&got[i * 10..i * 10 + wanted.len()], wanted, "{a}..{b} by {s}: {i}");
        }
    }
}

#[kernel]
fn joined(y: &mut Array<i32, 1>, z: &mut Array<i32, 2>) {
    let part = |n: usize, first: i64| arange::<i32>(n) + first;
    let three = cat((part(3, 0), part(2, 10), part(4, 20)), 0);
    let list: Vec<Tile<i32>> = (0..5).map(|i| part(1, 100 + i)).collect();
    let all = cat([three, cat(list.as_slice(), -1), cat((part(1, 7),), 0), cat(list, 0)], 0);
    y.tiles_mut([20]).store((0,), all);
    let rows = |n: i64| full::<i32>([2, 1], n);
    z.tiles_mut([2, 4]).store((0, 0), cat([rows(1), rows(2), rows(3), rows(4)], 1));
}

#[kernel]
fn nothing_joined(y: &mut Array<i32, 1>) {
    let none: [Tile<i32>; 0] = [];
    y.tiles_mut([4]).store((0,), cat(none, 0));
}

#[test]
fn any_number_of_tiles_is_joined() {
    let device = device();
    let mut y = DeviceArray::zeros(&device, [20]).unwrap();
    let mut z = DeviceArray::zeros(&device, [2, 4]).unwrap();
    joined(&mut y, &mut z).grid([1]).run().unwrap();
    let list: Vec<i32> = (100..105).collect();
    let wanted = [vec![0, 1, 2, 10, 11, 20, 21, 22, 23], list.clone(), vec![7], list].concat();
    assert_eq!(y.download().unwrap(), wanted);
    assert_eq!(z.download().unwrap(), [1, 2, 3, 4, 1, 2, 3, 4]);
    let text = nothing_joined::ir().unwrap_err().to_string();
    assert!(text.contains("`cat` of no tiles: one or more are accepted"), "{text}");
}

#[kernel]
fn scalars(
    x: &Array<f32, 2>,
    one: &Array<i32, 0>,
    y: &mut Array<f32, 1>,
    z: &mut Array<i32, 0>,
    i: Scalar<i32>,
) {
    let here = x.tiles(()).padding(Padding::Zero).load((i, bid(0)));
    y.tiles_mut(()).store((bid(0),), here * 2.0);
    if bid(0) == 0 {
        z.tiles_mut([])
            .memory_order(Order::Relaxed, Scope::Device)
            .store((), one.tiles([]).load(()) + one.tiles(()).load(()));
    }
}

#[test]
fn scalars_are_loaded_and_stored() {
    let device = device();
    let x = DeviceArray::upload(&device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    let one = DeviceArray::<i32, 0>::upload(&device, &[21], []).unwrap();
    for (i, wanted) in [(0, [2.0, 4.0, 6.0, 0.0]), (1, [8.0, 10.0, 12.0, 0.0]), (2, [0.0; 4]), (-1, [0.0; 4])]
    {
        let mut y = DeviceArray::zeros(&device, [4]).unwrap();
        let mut z = DeviceArray::<i32, 0>::zeros(&device, []).unwrap();
        scalars(&x, &one, &mut y, &mut z, i).grid([4]).run().unwrap();
        assert_eq!(y.download().unwrap(), wanted);
        assert_eq!(z.download().unwrap(), [42]);
    }
}

/// Each block adds to a sum that a lock protects.
#[kernel]
fn locked(l: &mut Array<i32, 1>, sum: &mut Array<i32, 1>) {
    while l.atomic_cas((0,), 0, 1) == 1 {}
    let before = sum.tiles([1]).memory_order(Order::Relaxed, Scope::Device).load((0,));
    sum.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((0,), before + bid(0) + 1);
    l.atomic_xchg((0,), 0);
}

#[test]
fn a_condition_may_change_what_it_reads() {
    let device = device();
    let mut l = DeviceArray::zeros(&device, [1]).unwrap();
    let mut sum = DeviceArray::zeros(&device, [1]).unwrap();
    locked(&mut l, &mut sum).grid([4]).run().unwrap();
    assert_eq!((l.download().unwrap(), sum.download().unwrap()), (vec![0], vec![10]));
}

/// Halves of a row that are cut where a size says, by parts and by tiles.
#[kernel]
fn halves(x: &Array<i32, 2>, y: &mut Array<i32, 2>) {
    let half = floordiv(x.dim(1), 2);
    let row = x.tiles([1, 8]).padding(Padding::Zero).load((bid(0), 0));
    y.slice_mut(1, 0, half).tiles_mut([1, 8]).store((bid(0), 0), row);
    y.slice_mut(1, half, 2 * half).tiles_mut([1, 8]).store((bid(0), 0), row + 100);
}

#[test]
fn halves_of_a_block_s_part_are_apart() {
    let device = device();
    let x = DeviceArray::upload(&device, &(0..12).collect::<Vec<i32>>(), [2, 6]).unwrap();
    let mut y = DeviceArray::zeros(&device, [2, 6]).unwrap();
    halves(&x, &mut y).grid([2]).run().unwrap();
    assert_eq!(y.download().unwrap(), [0, 1, 2, 100, 101, 102, 6, 7, 8, 106, 107, 108]);
}
