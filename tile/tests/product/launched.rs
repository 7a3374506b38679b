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
