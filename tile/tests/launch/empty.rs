//! Products of arrays without elements.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::device;

#[kernel]
fn plain(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    let at = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        let x = a.tiles([128, 64]).padding(Padding::Zero).load((at.0, k));
        acc = mma(x, b.tiles([64, 64]).padding(Padding::Zero).load((k, at.1)), acc);
    }
    c.tiles_mut([128, 64]).store(at, acc);
}

/// More than a product.
#[kernel]
fn raised(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    let at = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 64]) + 1.0;
    for k in 0..cdiv(a.dim(1), 64) {
        let x = a.tiles([128, 64]).padding(Padding::Zero).load((at.0, k));
        acc = mma(x, b.tiles([64, 64]).padding(Padding::Zero).load((k, at.1)), acc * 2.0);
    }
    c.tiles_mut([128, 64]).store(at, acc);
}

/// One tile, which lies outside of arrays without elements.
#[kernel]
fn once(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    let x = a.tiles([128, 64]).padding(Padding::Zero).load((bid(0), 0));
    let y = b.tiles([64, 64]).padding(Padding::Zero).load((0, bid(1)));
    c.tiles_mut([128, 64]).store((bid(0), bid(1)), mma(x, y, zeros::<f32>([128, 64])));
}

#[test]
fn sums_over_nothing_are_zero() {
    let device = device();
    for [m, n, k] in [[200, 72, 64], [200, 72, 0], [0, 72, 64], [200, 0, 64], [0, 0, 0]] {
        // Parts of arrays that have elements.
        let part = |extents: [usize; 2]| {
            let whole = device.zeros::<bf16>(256 * 256).unwrap();
            DeviceArray::new(whole, 0, extents, [256, 1]).unwrap()
        };
        let (a, b) = (part([m, k]), part([k, n]));
        let mut c = DeviceArray::upload(&device, &vec![7.0f32; m * n], [m, n]).unwrap();
        let name = format!("{m} x {n} x {k}");
        plain(&a, &b, &mut c).run().unwrap_or_else(|error| panic!("plain {name}: {error}"));
        assert_eq!(c.download().unwrap(), vec![0.0; m * n], "plain {name}");
        raised(&a, &b, &mut c).run().unwrap_or_else(|error| panic!("raised {name}: {error}"));
        let iterations = k.div_ceil(64) as i32;
        assert_eq!(c.download().unwrap(), vec![2f32.powi(iterations); m * n], "raised {name}");
        once(&a, &b, &mut c).run().unwrap_or_else(|error| panic!("once {name}: {error}"));
        assert_eq!(c.download().unwrap(), vec![0.0; m * n], "once {name}");
    }
}
