//! Names that are bound again where control flow of the run time has something to carry under them.

use girih_device::{Device, Select};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

/// `steps` is a `&mut` outside of the branch, and a number within.
#[function]
fn halved(steps: &mut Scalar<i32>, x: &mut Tile<f32>, n: Scalar<i32>) {
    if n > 2 {
        *steps += 1;
        let steps = n - 1;
        for _ in 0..steps {
            *x *= 0.5;
        }
    }
}

/// The way out of the loop leaves what the outer `count` and `sum` are, and not what is called so where it stands.
#[kernel]
fn ways_out(x: &Array<f32, 1>, y: &mut Array<f32, 1>, counts: &mut Array<i32, 1>, n: Scalar<i32>) {
    let mut count = scalar::<i32>(0);
    let mut sum = zeros::<f32>([8]);
    for i in 0..n {
        count += 1;
        sum += x.tiles([8]).load((i,));
        if i == 3 {
            let mut count = scalar::<i32>(100);
            let mut sum = full::<f32>([8], 50.0);
            while count < 103 {
                count += 1;
                sum += 1.0;
            }
            if sum.max(..) > 0.0 {
                break;
            }
        }
        for sum in irange(0, 2) {
            if i + sum == 2 {
                continue;
            }
            count += 10;
        }
    }
    let mut steps = scalar::<i32>(0);
    halved(&mut steps, &mut sum, n);
    y.tiles_mut([8]).store((0,), sum);
    counts.tiles_mut([2]).store((0,), cat((count.reshape([1]), steps.reshape([1])), 0));
}

#[test]
fn a_name_that_is_bound_again_hides_nothing_that_is_carried() {
    let device = Device::open(Select::Sim).unwrap();
    let data: Vec<f32> = (0..80).map(|i| (i % 7) as f32).collect();
    let x = DeviceArray::upload(&device, &data, [80]).unwrap();
    for n in [0, 2, 3, 4, 5, 9] {
        let (mut count, mut sum) = (0, [0.0; 8]);
        for (i, row) in data.chunks(8).enumerate().take(n as usize) {
            count += 1;
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            if i == 3 {
                break;
            }
            count += 10 * (0..2).filter(|step| i + step != 2).count() as i32;
        }
        let steps = i32::from(n > 2);
        let scale = if n > 2 { 0.5f32.powi(n - 1) } else { 1.0 };
        let mut y = DeviceArray::zeros(&device, [8]).unwrap();
        let mut counts = DeviceArray::zeros(&device, [2]).unwrap();
        ways_out(&x, &mut y, &mut counts, n).grid([1]).run().unwrap();
        assert_eq!(counts.download().unwrap(), [count, steps], "{n}");
        assert_eq!(y.download().unwrap(), sum.map(|x| x * scale), "{n}");
    }
}
