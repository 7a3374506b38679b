//! What kernels of products are told apart by.

use std::collections::BTreeMap;

use girih_device::Device;
use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::prelude::*;

use super::launched::{close, device, matrix, product};

/// `c = a * b + bias`, a kernel of this test alone: others would build kernels of it too.
#[kernel]
fn biased(a: &Array<bf16, 2>, b: &Array<bf16, 2>, bias: &Array<f32, 1>, c: &mut Array<bf16, 2>) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        let x = a.tiles([64, 64]).load((i, k));
        acc = mma(x, b.tiles([64, 64]).load((k, j)), acc);
    }
    c.tiles_mut([64, 64]).store((i, j), (acc + bias.tiles([64]).load((j,))).to::<bf16>());
}

struct Arrays {
    a: DeviceArray<bf16, 2>,
    b: DeviceArray<bf16, 2>,
    bias: DeviceArray<f32, 1>,
    c: DeviceArray<bf16, 2>,
}

impl Arrays {
    fn new(device: &Device, [m, n, k]: [usize; 3]) -> Arrays {
        Arrays {
            a: DeviceArray::zeros(device, [m, k]).unwrap(),
            b: DeviceArray::zeros(device, [k, n]).unwrap(),
            bias: DeviceArray::zeros(device, [n]).unwrap(),
            c: DeviceArray::zeros(device, [m, n]).unwrap(),
        }
    }

    fn launch(&mut self) -> Launch<'_> {
        biased(&self.a, &self.b, &self.bias, &mut self.c)
    }
}

/// Sizes alone make no kernel: whether tiles divide extents is not asked for, only what vectors need.
#[test]
fn sizes_alone_make_no_kernel_of_a_product() {
    let device = device();
    let mut keys = BTreeMap::new();
    for m in [1, 63, 64, 65, 128, 200] {
        for n in [8, 64, 72, 128, 1000, 4, 68, 7] {
            for k in [8, 64, 72, 4096, 2, 66, 129] {
                let key = Arrays::new(&device, [m, n, k]).launch().key(90).unwrap();
                // Vectors of 16 bytes of bf16 have 8 elements.
                let asked = [n, k].map(|x: usize| 1 << x.trailing_zeros().min(3));
                let first = keys.entry(asked).or_insert(key.clone());
                assert_eq!(first, &key, "{m} x {n} x {k}");
            }
        }
    }
    let mut distinct: Vec<_> = keys.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), keys.len());
}

/// The kernel of one size multiplies matrices of others, whether tiles divide these or not.
#[test]
fn the_kernel_of_a_size_is_that_of_others() {
    let device = device();
    let key = Arrays::new(&device, [64, 64, 64]).launch().key(90).unwrap();
    for [m, n, k] in [[64, 64, 64], [70, 136, 72], [128, 64, 8]] {
        let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
        let bias = matrix::<f32, 1>(&device, 3, [n]);
        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = biased(&a.on, &b.on, &bias.on, &mut c);
        assert_eq!(launch.key(90).unwrap(), key);
        launch.run().unwrap();
        let sums = product(&a.wide, &b.wide, [m, n, k]);
        let wanted: Vec<f64> = sums.iter().enumerate().map(|(at, sum)| sum + bias.wide[at % n]).collect();
        close(&format!("{m} x {n} x {k}"), &c.download().unwrap(), &wanted);
    }
    // A launch that is no product of its arrays runs another kernel, even where no tile divides anything, so that both ask for the same.
    let mut edges = Arrays::new(&device, [130, 136, 72]);
    let whole = edges.launch().key(90).unwrap();
    assert_eq!(whole, key);
    assert_ne!(edges.launch().grid([1, 1]).key(90).unwrap(), whole);
    // And it asks for more.
    let mut part = Arrays::new(&device, [128, 64, 64]);
    assert_ne!(part.launch().grid([1, 1]).key(90).unwrap(), key);
    let mut odd = Arrays::new(&device, [130, 64, 64]);
    assert_ne!(odd.launch().grid([1, 1]).key(90).unwrap(), part.launch().grid([1, 1]).key(90).unwrap());
}
