//! Blocks that leave a kernel early.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::{array, sim};

/// `if (blockIdx.x >= n) return;` before a reduction and a sort.
#[kernel]
fn returns(x: &Array<i32, 2>, y: &mut Array<i32, 2>, n: Scalar<i32>) {
    let row = bid(0);
    if row >= n {
        return;
    }
    let values = x.tiles([1, 256]).load((row, 0)).reshape([256]);
    let total = values.sum(0);
    if total < 0 {
        // A return in a branch that does something before.
        y.tiles_mut([1, 256]).store((row, 0), full::<i32>([1, 256], total));
        return;
    }
    let sorted = values.sort(0) + values.max(0);
    y.tiles_mut([1, 256]).store((row, 0), sorted.reshape([1, 256]));
}

/// The same without `return`: the work of the block is in a branch on a scalar that is loaded.
#[kernel]
fn skips(x: &Array<i32, 2>, active: &Array<i32, 1>, y: &mut Array<i32, 2>) {
    let row = bid(0);
    let is_active = active.tiles([1]).load((row,)).reshape(());
    if is_active != 0 {
        let values = x.tiles([1, 256]).load((row, 0)).reshape([256]);
        let sums = values.cumsum(0) + values.max(0);
        y.tiles_mut([1, 256]).store((row, 0), sums.flip(0).reshape([1, 256]));
    }
}

/// Ways out in every place where nothing follows: the kernel's last branch, both sides of one, `else if`.
#[kernel]
fn ways_out(y: &mut Array<i32, 1>, n: Scalar<i32>) {
    let mut value = bid(0) * 10;
    if bid(0) == 1 {
        y.tiles_mut([1]).store((bid(0),), n);
        return;
    } else if bid(0) == 2 {
        return;
    } else {
        value += 1;
    }
    if n == 7 {
        y.tiles_mut([1]).store((bid(0),), value);
    } else {
        if value > 31 {
            return;
        }
        y.tiles_mut([1]).store((bid(0),), value + 1);
        if value == 31 {
            return;
        }
        y.tiles_mut([1]).store((bid(0),), value + 2);
    }
}

/// A block leaves before a product, whose operands come by tensor copies on sm_90.
#[kernel]
fn leaves_before_a_product(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>, n: Scalar<i32>) {
    if bid(0) >= n {
        return;
    }
    let mut sums = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        let (left, right) = (a.tiles([64, 64]).load((bid(0), k)), b.tiles([64, 64]).load((k, 0)));
        sums = mma(left, right, sums);
    }
    c.tiles_mut([64, 64]).store((bid(0), 0), sums);
}

#[test]
fn blocks_leave_wherever_nothing_follows() {
    let device = sim();
    for n in [7, 8] {
        let mut y = array(&device, &[-1; 5]);
        ways_out(&mut y, n).run().unwrap();
        let of = |block: i32| {
            let value = block * 10 + 1;
            match block {
                1 => n,
                2 => -1,
                _ if n == 7 => value,
                _ if value > 31 => -1,
                3 => value + 1,
                _ => value + 2,
            }
        };
        assert_eq!(y.download().unwrap(), (0..5).map(of).collect::<Vec<i32>>(), "{n}");
    }
    let values =
        |count: usize| (0..count).map(|i| bf16::from_f32((i * 7 % 11) as f32 - 5.0)).collect::<Vec<bf16>>();
    let (left, right) = (values(128 * 128), values(128 * 64));
    let a = DeviceArray::upload(&device, &left, [128, 128]).unwrap();
    let b = DeviceArray::upload(&device, &right, [128, 64]).unwrap();
    let mut c = DeviceArray::upload(&device, &[-1.0; 128 * 64], [128, 64]).unwrap();
    leaves_before_a_product(&a, &b, &mut c, 1).grid([2]).run().unwrap();
    let product = |i: usize| {
        let terms = (0..128).map(|k| left[i / 64 * 128 + k].to_f32() * right[k * 64 + i % 64].to_f32());
        if i < 64 * 64 { terms.sum() } else { -1.0 }
    };
    assert_eq!(c.download().unwrap(), (0..128 * 64).map(product).collect::<Vec<f32>>());
}

#[test]
fn a_block_that_leaves_before_others_exchange() {
    let device = sim();
    let rows = 4;
    let values: Vec<i32> =
        (0..rows * 256).map(|i| (i * 37 + 11) % 101 - if i / 256 == 1 { 200 } else { 0 }).collect();
    let x = DeviceArray::upload(&device, &values, [4, 256]).unwrap();
    for n in 0..=4usize {
        let mut y = DeviceArray::upload(&device, &[7; 4 * 256], [4, 256]).unwrap();
        returns(&x, &mut y, n as i32).run().unwrap();
        let mut wanted = vec![7; 4 * 256];
        for (row, wanted) in wanted.chunks_mut(256).enumerate().take(n) {
            let row = &values[row * 256..][..256];
            let total: i32 = row.iter().sum();
            let (mut sorted, most) = (row.to_vec(), row.iter().max().unwrap());
            sorted.sort_unstable();
            sorted.iter_mut().for_each(|value| *value = if total < 0 { total } else { *value + most });
            wanted.copy_from_slice(&sorted);
        }
        assert_eq!(y.download().unwrap(), wanted, "{n}");
    }
    let active = array(&device, &[1, 0, 0, 5]);
    let mut y = DeviceArray::upload(&device, &[7; 4 * 256], [4, 256]).unwrap();
    skips(&x, &active, &mut y).run().unwrap();
    let mut wanted = vec![7; 4 * 256];
    for row in [0, 3] {
        let (row, wanted) = (&values[row * 256..][..256], &mut wanted[row * 256..][..256]);
        let most = row.iter().max().unwrap();
        for (i, wanted) in wanted.iter_mut().rev().enumerate() {
            *wanted = row[..=i].iter().sum::<i32>() + most;
        }
    }
    assert_eq!(y.download().unwrap(), wanted);
}
