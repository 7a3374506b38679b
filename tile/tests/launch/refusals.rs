//! What a launch refuses, and what it says.

use expect_test::{Expect, expect};
use girih_tensor::DType;
use girih_tile::error::Error;
use girih_tile::launch::{AnyArray, DeviceArray, Launch};
use girih_tile::prelude::*;

use super::programs::{saxpy, transpose};
use super::{device, numbers};

fn refused(result: Result<(), Error>, text: Expect) {
    let message = result.unwrap_err().to_string();
    // Lines and columns of this file change with it.
    let mut text_of = String::new();
    for (i, part) in message.split("refusals.rs:").enumerate() {
        let rest =
            if i == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':') };
        text_of += rest;
        text_of += if i + 1 < message.split("refusals.rs:").count() { "refusals.rs" } else { "" };
    }
    text.assert_eq(&format!("{text_of}\n"));
}

#[test]
fn arrays_that_are_written_share_no_memory() {
    let device = device();
    let whole = DeviceArray::upload(&device, &numbers(128), [128]).unwrap();
    let (x, mut y) = (whole.slice(0, 0..70).unwrap(), whole.slice(0, 64..128).unwrap());
    refused(
        saxpy(&x, &mut y, 1.0).run(),
        expect![[r#"
        `saxpy` writes `y`, which has 24 bytes in common with `x`: an array that is written is accepted if no other argument overlaps it; a kernel that works in place takes one `&mut` array
    "#]],
    );
    let beside = whole.slice(0, 0..64).unwrap();
    saxpy(&beside, &mut y, 1.0).grid([1]).run().unwrap();
}

#[test]
fn strides_of_arrays_that_are_written_keep_elements_apart() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(32 * 16), [32, 16]).unwrap();
    let buffer = || device.zeros::<f32>(32 * 16).unwrap();
    let mut repeated = DeviceArray::new(buffer(), 0, [16, 32], [0, 1]).unwrap();
    refused(
        transpose(&x, &mut repeated).run(),
        expect![[r#"
        `transpose` writes `y`, whose layout [16, 32]:[0, 1] has several coordinates for one element: strides that keep elements apart are accepted
    "#]],
    );
    let mut crossing = DeviceArray::new(buffer(), 0, [16, 32], [2, 8]).unwrap();
    refused(
        transpose(&x, &mut crossing).run(),
        expect![[r#"
        `transpose` writes `y`, whose layout [16, 32]:[2, 8] has several coordinates for one element: strides that keep elements apart are accepted
    "#]],
    );
    // Strides that interleave keep them apart.
    let mut odd = DeviceArray::new(buffer(), 0, [4, 2], [2, 3]).unwrap();
    transpose(&x.slice(0, 0..2).unwrap().slice(1, 0..4).unwrap(), &mut odd).run().unwrap();
}

#[test]
fn a_grid_has_a_tile_for_each_block() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(100), [100]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [100]).unwrap();
    refused(
        saxpy(&x, &mut y, 1.0).grid([3]).run(),
        expect![[r#"
        3 blocks along axis 0 of the grid of `saxpy` access tiles of `x` along its axis 0, which has 2: at most 2 blocks are accepted
    "#]],
    );
    refused(
        saxpy(&x, &mut y, 1.0).grid([2, 2]).run(),
        expect![[r#"
        blocks of `saxpy` store to disjoint elements of `y` only if the grid has one block along axis 1, and not 2
    "#]],
    );
    refused(
        saxpy(&x, &mut y, 1.0).grid([0]).run(),
        expect![[r#"
        a grid of [0, 1, 1] blocks for `saxpy`: 1 to 2147483647 along axis 0 is accepted
    "#]],
    );
    let short = DeviceArray::upload(&device, &numbers(50), [50]).unwrap();
    refused(
        saxpy(&short, &mut y, 1.0).run(),
        expect![[r#"
        2 blocks along axis 0 of the grid of `saxpy` access tiles of `x` along its axis 0, which has 1: at most 1 blocks are accepted
    "#]],
    );
}

#[kernel]
fn total(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let mut sum = zeros::<f32>([1]);
    for i in 0..x.tiles([32]).num_tiles(0) {
        sum = sum + x.tiles([32]).padding(Padding::Zero).load((i,)).sum(keep(0));
    }
    y.tiles_mut([1]).store((0,), sum);
}

#[kernel]
fn strided(y: &mut Array<f32, 1>, n: Scalar<i32>) {
    y.tiles_mut([8]).store((bid(0) * n,), ones::<f32>([8]));
}

#[test]
fn what_a_proof_rests_on_is_checked() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(100), [100]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [100]).unwrap();
    total(&x, &mut y).grid([1]).run().unwrap();
    assert_eq!(y.download().unwrap()[0], numbers(100).iter().sum::<f32>());
    refused(
        total(&x, &mut y).grid([2]).run(),
        expect![[r#"
        blocks of `total` store to disjoint elements of `y` only if the grid has one block along axis 0, and not 2
    "#]],
    );
    strided(&mut y, 2).grid([5]).run().unwrap();
    refused(
        strided(&mut y, 0).grid([5]).run(),
        expect![[r#"
        blocks of `strided` store to disjoint elements of `y` only if n is 1 or more
    "#]],
    );
    refused(
        strided(&mut y, i32::MAX).grid([5]).run(),
        expect![[r#"
        blocks of `strided` store to disjoint elements of `y` only if the index mul(bid(0), n) is computed without leaving s32
    "#]],
    );
    refused(
        strided(&mut y, 2).run(),
        expect![[r#"
        the grid of `strided` does not follow from its stores (a store to `y` is not indexed by every block number): `.grid([x, y, z])` is accepted
    "#]],
    );
}

#[kernel]
fn two_forms(y: &mut Array<f32, 1>) {
    y.tiles_mut([64]).store((0,), zeros::<f32>([64]));
    y.scatter((arange::<i32>(8) * 3,), ones::<f32>([8]));
    y.tiles_mut([16]).store_masked((1,), full::<f32>([16], 2.0), arange::<i32>(16) < 4);
}

#[test]
fn a_kernel_for_one_block_stores_in_any_form() {
    let device = device();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [64]).unwrap();
    two_forms(&mut y).grid([1]).run().unwrap();
    let wanted: Vec<f32> = (0..64)
        .map(|i| match i {
            16..20 => 2.0,
            i if i % 3 == 0 && i < 24 => 1.0,
            _ => 0.0,
        })
        .collect();
    assert_eq!(y.download().unwrap(), wanted);
    refused(
        two_forms(&mut y).grid([1, 2]).run(),
        expect![[r#"
        blocks of `two_forms` store to disjoint elements of `y` only if the grid has one block along axis 1, and not 2
    "#]],
    );
}

#[kernel]
fn halves(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    y.tiles_mut([8]).store((floordiv(bid(0), 2),), x.tiles([8]).load((bid(0),)));
}

#[kernel]
fn neighbours(y: &mut Array<f32, 1>) {
    let next = y.tiles([8]).padding(Padding::Zero).load((bid(0) + 1,));
    y.tiles_mut([8]).store((bid(0),), next);
}

#[kernel]
fn behind(y: &mut Array<f32, 1>) {
    y.tiles_mut([8]).store((bid(0),), zeros::<f32>([8]));
    let again = y.tiles([8]).load((bid(0),));
    y.tiles_mut([8]).store((bid(0),), again + 1.0);
}

#[kernel]
fn iterations(y: &mut Array<f32, 1>, n: Scalar<i32>) {
    for _ in 0..n {
        let last = y.tiles([8]).load((bid(0),));
        y.tiles_mut([8]).store((bid(0),), last + 1.0);
    }
}

#[kernel(deny_in_kernel_checks)]
fn unchecked(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    y.tiles_mut([8]).store((bid(0),), x.tiles([8]).load((bid(0),)));
}

#[kernel]
fn scattered(at: &Array<i32, 1>, y: &mut Array<f32, 1>) {
    y.scatter((at.tiles([8]).load((bid(0),)),), full::<f32>([8], bid(0)));
}

#[kernel]
fn mixed(y: &mut Array<f32, 1>) {
    y.tiles_mut([8]).atomic_add((0,), ones::<f32>([8]));
    let all = y.tiles([8]).load((bid(0),));
    y.tiles_mut([8]).store((bid(0),), all);
}

#[kernel]
#[allow(unsafe_code, reason = "on the simulator a wrong kernel is an error")]
fn waived(at: &Array<i32, 1>, y: &mut Array<f32, 1>) {
    // SAFETY: on the simulator a wrong promise is an error.
    let mut tiles = unsafe { y.tiles_mut([8]).assume_disjoint("`at` names each tile once") };
    let place = at.elements().gather((bid(0),));
    tiles.store((place,), full::<f32>([8], 1.0) + bid(0).to::<f32>());
}

#[test]
fn a_waiver_stands_for_a_proof() {
    let device = device();
    let at = DeviceArray::upload(&device, &[3, 0, 2, 1], [4]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [32]).unwrap();
    waived(&at, &mut y).grid([4]).run().unwrap();
    let wanted: Vec<f32> = [2.0, 4.0, 3.0, 1.0].iter().flat_map(|&x| [x; 8]).collect();
    assert_eq!(y.download().unwrap(), wanted);
    // What the waiver promises does not hold here, and the simulator sees it.
    let at = DeviceArray::upload(&device, &[3, 0, 3, 1], [4]).unwrap();
    let error = waived(&at, &mut y).grid([4]).run().unwrap_err().to_string();
    assert!(error.contains("race"), "{error}");
}

#[test]
fn stores_that_meet_are_refused_when_the_kernel_is_built() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(64), [64]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [64]).unwrap();
    refused(
        halves(&x, &mut y).run(),
        expect![[r#"
        tile/tests/launch/refusals.rs blocks are not proved to keep to elements of their own in `y`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] both store the element at [0]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    refused(
        neighbours(&mut y).run(),
        expect![[r#"
        tile/tests/launch/refusals.rs blocks are not proved to keep to elements of their own in `y`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] load and store the element at [8]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    // A block sees its own stores.
    behind(&mut y).run().unwrap();
    iterations(&mut y, 2).run().unwrap();
    assert_eq!(y.download().unwrap(), [3.0; 64]);
    let at = DeviceArray::upload(&device, &[0i32; 64], [64]).unwrap();
    refused(
        scattered(&at, &mut y).grid([2]).run(),
        expect![[r#"
        tile/tests/launch/refusals.rs blocks are not proved to keep to elements of their own in `y`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] both store the element at [0]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
}

#[test]
fn checks_in_the_kernel_are_refused_where_they_are_denied() {
    let device = device();
    let (x, mut y) = (
        DeviceArray::upload(&device, &numbers(64), [64]).unwrap(),
        DeviceArray::zeros(&device, [64]).unwrap(),
    );
    unchecked(&x, &mut y).run().unwrap();
    assert_eq!(y.download().unwrap(), numbers(64));
    let (x, mut y) = (
        DeviceArray::upload(&device, &numbers(60), [60]).unwrap(),
        DeviceArray::zeros(&device, [60]).unwrap(),
    );
    refused(
        unchecked(&x, &mut y).run(),
        expect![[r#"
        tile/tests/launch/refusals.rs the bounds of an access of `x` along axis 0 are checked in the kernel, which is denied: an extent that is known to be a multiple of the tile's, and an index that is a block's number or below the number of tiles, are accepted
        tile/tests/launch/refusals.rs the bounds of an access of `y` along axis 0 are checked in the kernel, which is denied: an extent that is known to be a multiple of the tile's, and an index that is a block's number or below the number of tiles, are accepted
    "#]],
    );
}

#[test]
fn arrays_are_on_the_device_of_the_launch() {
    let (here, there) = (device(), device());
    let x = DeviceArray::upload(&there, &numbers(64), [64]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&here, [64]).unwrap();
    refused(
        saxpy(&x, &mut y, 1.0).on(&here).run(),
        expect![[r#"
        `x` is in the memory of another device than `saxpy` is launched on
    "#]],
    );
}

#[test]
fn arrays_of_any_type_are_those_of_the_parameters() {
    let device = device();
    let array = |dtype, extents: &[usize]| AnyArray::filled(&device, dtype, extents, |i| i as f64).unwrap();
    let x = array(DType::F32, &[100]);
    for mut y in
        [array(DType::F32, &[10, 10]), array(DType::Bf16, &[100]), array(DType::F32, &[1, 1, 1, 100])]
    {
        let launch = Launch::new::<saxpy>("saxpy", Default::default(), saxpy::ir_with);
        let message = launch.any(&x).any_mut(&mut y).scalar(2.0f32).grid([1]).run().unwrap_err().to_string();
        assert!(
            message.starts_with("`saxpy` has the parameters (&Array<f32, 1>, &mut Array<f32, 1>, f32)"),
            "{message}"
        );
    }
    let mut y = array(DType::F32, &[100]);
    let launch = Launch::new::<saxpy>("saxpy", Default::default(), saxpy::ir_with);
    launch.any(&x).any_mut(&mut y).scalar(2.0f32).run().unwrap();
    assert_eq!(y.numbers().unwrap(), (0..100).map(|i| 3.0 * f64::from(i)).collect::<Vec<_>>());
    let none = AnyArray::filled(&device, DType::F32, &[1; 5], |_| 0.0).unwrap_err().to_string();
    assert!(none.contains("an array of f32 of rank 5"), "{none}");
}
