//! Parts of arrays that begin and end anywhere: element `i` of a part is element `start + i` of its array.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::device;

/// Tiles and elements of a part of a part of `x`, and what is stored to such parts of `y`, `z` and `sums`, which have the extent of `x`.
#[kernel]
#[allow(unsafe_code, reason = "one block stores")]
fn moved(
    x: &Array<i32, 1>,
    loaded: &mut Array<i32, 2>,
    y: &mut Array<i32, 1>,
    z: &mut Array<i32, 1>,
    sums: &mut Array<i32, 1>,
    a: Scalar<i32>,
    b: Scalar<i32>,
    c: Scalar<i32>,
    d: Scalar<i32>,
) {
    let outer = x.slice(0, a, b);
    let part = outer.slice(0, c, d);
    let tiles = part.tiles([8]).padding(Padding::Zero);
    let count = arange::<i32>(8) - 2;
    let rows = [
        tiles.load((0,)),
        tiles.load((-1,)),
        tiles.load((1,)),
        tiles.steps([3]).load((1,)),
        tiles.steps([3]).load((-1,)),
        part.gather((count,)),
        part.gather((count.to::<i64>(),)),
        part.gather((7 - arange::<i32>(8) + c * 0,)),
        full::<i32>([8], part.dim(0)),
    ];
    for (i, row) in rows.into_iter().enumerate() {
        loaded.tiles_mut([1, 8]).store((i, 0), row.reshape([1, 8]));
    }
    let value = arange::<i32>(8) + 1;
    y.slice_mut(0, a, b).slice_mut(0, c, d).tiles_mut([8]).store((0,), value);
    let (mut z, mut sums) = (z.slice_mut(0, a, b), sums.slice_mut(0, a, b));
    let mut z = z.slice_mut(0, c, d);
    // SAFETY: there is one block.
    unsafe { z.elements_mut().assume_disjoint("one block") }.scatter((count,), value);
    sums.slice_mut(0, c, d).atomic_add((count,), value);
}

/// Rows of matrices: vectors along rows, where the part is one of rows, and where it is one of columns.
#[kernel]
fn rows(x: &Array<f16, 2>, y: &mut Array<f16, 2>, a: Scalar<i32>, b: Scalar<i32>) {
    let (upper, left) = (x.slice(0, a, b), x.slice(1, a, b));
    y.tiles_mut([8, 32]).store((0, 0), upper.tiles([8, 32]).padding(Padding::Zero).load((0, 0)));
    y.tiles_mut([8, 32]).store((1, 0), left.tiles([8, 32]).padding(Padding::Zero).load((0, 0)));
    y.tiles_mut([8, 32]).store((2, 0), upper.load_rows((arange::<i32>(8), span(0, 32))));
    y.tiles_mut([8, 32]).store((3, 0), left.load_rows((arange::<i32>(8), span(0, 32))));
}

/// Products whose operands are parts that begin where a scalar says, with tiles by tensor copies, by `cp.async`, and by registers.
#[kernel]
fn multiplied<const TMA: bool>(
    x: &Array<bf16, 2>,
    w: &Array<bf16, 2>,
    y: &mut Array<f32, 2>,
    a: Scalar<i32>,
    b: Scalar<i32>,
) {
    let part = x.slice(0, a, b);
    let mut sums = zeros::<f32>([64, 64]);
    for k in 0..cdiv(x.dim(1), 64) {
        let left = part.tiles([64, 64]).padding(Padding::Zero).tma(TMA).load((bid(0), k));
        let right = w.tiles([64, 64]).padding(Padding::Zero).tma(TMA).load((k, 0));
        sums = mma(left, right, sums);
    }
    y.tiles_mut([64, 64]).store((bid(0), 0), sums);
}

/// Counts by counters in shared memory, which stand for a part.
#[kernel]
fn counted(x: &Array<i32, 1>, y: &mut Array<i32, 1>) {
    let mut y = y.slice_mut(0, -2, 6);
    for k in 0..cdiv(x.dim(0), 8) {
        let at = x.tiles([8]).padding(Padding::Zero).load((k,));
        y.elements_mut().memory_order(Order::Relaxed, Scope::Device).atomic_add((at,), 1);
    }
}

/// The element of an array of `n` that is element `i` of a part of a part.
fn element(n: i64, [a, b, c, d]: [i64; 4], i: i64) -> Option<usize> {
    let outer = i + c;
    let inside = (0..d - c).contains(&i) && (0..b - a).contains(&outer) && (0..n).contains(&(outer + a));
    inside.then(|| usize::try_from(outer + a).unwrap())
}

#[test]
fn parts_begin_and_end_anywhere() {
    let device = device();
    for n in [1, 7, 16] {
        let values: Vec<i32> = (0..n).map(|i| 100 + i).collect();
        let x = DeviceArray::upload(&device, &values, [values.len()]).unwrap();
        let n = i64::from(n);
        let far = i64::from(i32::MAX);
        let mut bounds =
            vec![[0, n, 0, n], [-far - 1, far, far, far], [-3, -far - 1, 0, 8], [-far, n, far - 2, far]];
        for (a, b) in [(-3, 1), (-3, 9), (0, 5), (2, 20), (-20, -9), (-8, 8), (5, 2)] {
            for (c, d) in [(0, 20), (-2, 6), (3, 8), (4, 2)] {
                bounds.push([a, b, c, d]);
            }
        }
        for bounds in bounds {
            let [a, b, c, d] = bounds.map(|n| i32::try_from(n).unwrap());
            let mut loaded = DeviceArray::zeros(&device, [9, 8]).unwrap();
            let [mut y, mut z, mut sums] =
                [(); 3].map(|()| DeviceArray::zeros(&device, [values.len()]).unwrap());
            moved(&x, &mut loaded, &mut y, &mut z, &mut sums, a, b, c, d).grid([1]).run().unwrap();
            let at = |i: i64| element(n, bounds, i).map_or(0, |at| values[at]);
            let from = |first: i64| (first..first + 8).map(at).collect::<Vec<i32>>();
            let length = (i64::from(d) - i64::from(c)).max(0);
            let wanted = [
                from(0),
                from(-8),
                from(8),
                from(3),
                from(-3),
                from(-2),
                from(-2),
                (0..8).rev().map(at).collect(),
                vec![i32::try_from(length).unwrap(); 8],
            ];
            assert_eq!(loaded.download().unwrap(), wanted.concat(), "{n} {bounds:?}");
            let stored = |first: i64| {
                let mut all = vec![0; values.len()];
                for i in 0..8 {
                    if let Some(at) = element(n, bounds, first + i64::from(i)) {
                        all[at] = i + 1;
                    }
                }
                all
            };
            assert_eq!(y.download().unwrap(), stored(0), "{n} {bounds:?}");
            assert_eq!(z.download().unwrap(), stored(-2), "{n} {bounds:?}");
            assert_eq!(sums.download().unwrap(), stored(-2), "{n} {bounds:?}");
        }
    }
}

#[test]
fn rows_of_parts_begin_anywhere() {
    let device = device();
    let values: Vec<f16> = (0..16 * 64).map(|i| f16::from_f32(i as f32)).collect();
    let x = DeviceArray::upload(&device, &values, [16, 64]).unwrap();
    for (a, b) in [(-3, 4), (-8, 8), (-16, 40), (8, 16), (-40, -2), (5, 90)] {
        let mut y = DeviceArray::zeros(&device, [32, 32]).unwrap();
        rows(&x, &mut y, a, b).grid([1]).run().unwrap();
        let at = |i: i64, j: i64| {
            let inside = (0..16).contains(&i) && (0..64).contains(&j);
            if inside { values[usize::try_from(i * 64 + j).unwrap()] } else { f16::ZERO }
        };
        let (a, b) = (i64::from(a), i64::from(b));
        let mut wanted = Vec::new();
        for _ in 0..2 {
            for i in 0..8 {
                wanted.extend((0..32).map(|j| if i < b - a { at(a + i, j) } else { f16::ZERO }));
            }
            for i in 0..8 {
                wanted.extend((0..32).map(|j| if j < b - a { at(i, a + j) } else { f16::ZERO }));
            }
        }
        assert_eq!(y.download().unwrap(), wanted, "{a}..{b}");
    }
}

#[test]
fn products_of_parts_begin_anywhere() {
    let device = device();
    let values = |n: usize| (0..n).map(|i| bf16::from_f32((i * 7 % 11) as f32 - 5.0)).collect::<Vec<bf16>>();
    let (left, right) = (values(70 * 64), values(64 * 64));
    let x = DeviceArray::upload(&device, &left, [70, 64]).unwrap();
    let w = DeviceArray::upload(&device, &right, [64, 64]).unwrap();
    for (a, b) in [(-5, 60), (3, 128), (-64, 4), (0, 70)] {
        for tma in [true, false] {
            let mut y = DeviceArray::zeros(&device, [128, 64]).unwrap();
            let launch = if tma {
                multiplied::<true>(&x, &w, &mut y, a, b)
            } else {
                multiplied::<false>(&x, &w, &mut y, a, b)
            };
            launch.grid([2]).run().unwrap();
            let (a, b) = (i64::from(a), i64::from(b));
            let mut wanted = vec![0.0f32; 128 * 64];
            for i in 0..128 {
                let Some(row) = element(70, [a, b, 0, b - a], i) else { continue };
                for j in 0..64 {
                    let terms = (0..64).map(|k| left[row * 64 + k].to_f32() * right[k * 64 + j].to_f32());
                    wanted[usize::try_from(i).unwrap() * 64 + j] = terms.sum();
                }
            }
            assert_eq!(y.download().unwrap(), wanted, "{a}..{b} {tma}");
        }
    }
}

#[test]
fn counters_stand_for_parts_that_begin_anywhere() {
    let device = device();
    let values = [0, 1, 2, 3, 4, 5, 6, 7, 2, 2, -1, 5, 9, 4, 0, 3];
    let x = DeviceArray::upload(&device, &values, [values.len()]).unwrap();
    let mut y = DeviceArray::zeros(&device, [4]).unwrap();
    counted(&x, &mut y).grid([1]).run().unwrap();
    assert_eq!(y.download().unwrap(), [3, 2, 2, 2]);
}
