//! Whole programs.

use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::prelude::*;

use super::{device, numbers};

#[kernel]
pub(super) fn saxpy(x: &Array<f32, 1>, y: &mut Array<f32, 1>, alpha: Scalar<f32>) {
    let i = bid(0);
    let sum = alpha * x.tiles([64]).load((i,)) + y.tiles([64]).load((i,));
    y.tiles_mut([64]).store((i,), sum);
}

#[kernel]
pub(super) fn transpose(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let (i, j) = (bid(0), bid(1));
    y.tiles_mut([16, 32]).store((j, i), x.tiles([32, 16]).load((i, j)).t());
}

#[kernel]
fn block_sum(x: &Array<i32, 1>, sum: &mut Array<i32, 1>) {
    let part = x.tiles([64]).padding(Padding::Zero).load((bid(0),)).sum(0);
    sum.tiles_mut([1]).atomic_add((0,), part);
}

#[kernel]
fn persistent(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let columns = y.tiles([8, 16]).num_tiles(1);
    let all = y.tiles([8, 16]).num_tiles(0) * columns;
    let mut t = bid(0);
    while t < all {
        let at = (floordiv(t, columns), t % columns);
        y.tiles_mut([8, 16]).store(at, x.tiles([8, 16]).load(at) * 2.0);
        t += num_blocks(0);
    }
}

#[test]
fn a_kernel_that_works_in_place_has_the_grid_of_its_store() {
    let device = device();
    for n in [1, 64, 100, 200] {
        let x = DeviceArray::upload(&device, &numbers(n), [n]).unwrap();
        let mut y = DeviceArray::upload(&device, &vec![1.0f32; n], [n]).unwrap();
        saxpy(&x, &mut y, 2.0).run().unwrap();
        let wanted: Vec<f32> = numbers(n).iter().map(|x| 2.0 * x + 1.0).collect();
        assert_eq!(y.download().unwrap(), wanted);
    }
    let x = DeviceArray::<f32, 1>::zeros(&device, [0]).unwrap();
    let mut y = DeviceArray::<f32, 1>::zeros(&device, [0]).unwrap();
    saxpy(&x, &mut y, 2.0).run().unwrap();
}

#[test]
fn permuted_and_strided_arrays_are_what_they_name() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(70 * 50), [70, 50]).unwrap();
    let wanted = x.permute([1, 0]).unwrap().download().unwrap();
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [50, 70]).unwrap();
    transpose(&x, &mut y).run().unwrap();
    assert_eq!(y.download().unwrap(), wanted);
    // The other way round, into the columns 3 to 52 of a larger array.
    let whole = DeviceArray::<f32, 2>::zeros(&device, [70, 60]).unwrap();
    let mut part = whole.slice(1, 3..53).unwrap();
    let stream = device.new_stream().unwrap();
    transpose(&y, &mut part).on(&stream).run().unwrap();
    assert_eq!(part.download().unwrap(), numbers(70 * 50));
    let margin = whole.slice(1, 53..60).unwrap().download().unwrap();
    assert!(margin.iter().all(|&x| x == 0.0));
}

#[test]
fn blocks_meet_by_atomic_operations() {
    let device = device();
    let data: Vec<i32> = (0..1000).map(|i| i * 7 % 31 - 9).collect();
    let x = DeviceArray::upload(&device, &data, [1000]).unwrap();
    let mut sum = DeviceArray::<i32, 1>::zeros(&device, [1]).unwrap();
    block_sum(&x, &mut sum).grid([16]).run().unwrap();
    assert_eq!(sum.download().unwrap(), [data.iter().sum::<i32>()]);
}

#[test]
fn persistent_blocks_cover_every_tile() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(30 * 50), [30, 50]).unwrap();
    for blocks in [1, 3, 16, 40] {
        let mut y = DeviceArray::<f32, 2>::zeros(&device, [30, 50]).unwrap();
        persistent(&x, &mut y).grid([blocks]).run().unwrap();
        let wanted: Vec<f32> = numbers(30 * 50).iter().map(|x| x * 2.0).collect();
        assert_eq!(y.download().unwrap(), wanted, "{blocks} blocks");
    }
}

#[kernel]
fn scaled(x: &Array<f32, 1>, y: &mut Array<f32, 1>, by: f64) {
    y.tiles_mut([32]).store((bid(0),), x.tiles([32]).load((bid(0),)) * by);
}

#[test]
fn sizes_alone_make_no_kernel() {
    let device = device();
    let run = |n: usize, by: f64| {
        let x = DeviceArray::upload(&device, &numbers(n), [n]).unwrap();
        let mut y = DeviceArray::<f32, 1>::zeros(&device, [n]).unwrap();
        scaled(&x, &mut y, by).run().unwrap();
        let wanted: Vec<f32> = numbers(n).iter().map(|x| x * by as f32).collect();
        assert_eq!(y.download().unwrap(), wanted);
        scaled(&x, &mut y, by).key(90).unwrap()
    };
    assert_eq!(run(64, 2.0), run(640, 2.0));
    assert_eq!(run(33, 2.0), run(1001, 2.0));
    assert_ne!(run(64, 2.0), run(33, 2.0));
    assert_ne!(run(64, 2.0), run(64, 3.0));
    assert!(Launch::kernels_built() >= 3);
}
