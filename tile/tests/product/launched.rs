//! Launches of products.

use girih_device::{Device, Select};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::bf16;

use super::programs::plain;

#[test]
fn a_product_is_right() {
    let device = Device::open(Select::Sim).unwrap();
    let (m, n, k) = (200usize, 136usize, 104usize);
    let value = |i: usize| bf16::from_f32((i * 7 % 11) as f32 - 5.0);
    let a: Vec<bf16> = (0..m * k).map(value).collect();
    let b: Vec<bf16> = (0..k * n).map(|i| value(i * 3 + 1)).collect();
    let on_a = DeviceArray::upload(&device, &a, [m, k]).unwrap();
    let on_b = DeviceArray::upload(&device, &b, [k, n]).unwrap();
    let mut c = DeviceArray::zeros(&device, [m, n]).unwrap();
    plain::<bf16, 128, 128, 64>(&on_a, &on_b, &mut c).run().unwrap();
    let c = c.download().unwrap();
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|l| a[i * k + l].to_f64() * b[l * n + j].to_f64()).sum();
            assert_eq!(c[i * n + j], bf16::from_f64(sum), "({i}, {j})");
        }
    }
}

#[test]
fn found() {
    use girih_tile::facts::{ArrayFacts, Facts};
    use girih_tile::ir::Known;
    let func = plain::<bf16, 128, 256, 64>::ir().unwrap();
    println!("{func}");
    let array = |n: i64| ArrayFacts {
        extents: vec![Known::MultipleOf(n); 2],
        strides: vec![Known::MultipleOf(8), Known::Is(1)],
        align: 16,
    };
    let func = func.with_facts(&Facts { arrays: vec![array(8), array(8), array(8)], scalars: vec![] });
    let found = girih_tile::product::find(&func, 90, None).unwrap();
    println!("{:?}", found.config);
    let simple = girih_tile::product::find(&plain::<bf16, 128, 256, 64>::ir().unwrap(), 90, None).unwrap();
    println!("{:?}", simple.config);
}
