//! How tensor cores round their sums, which the reference check allows for. Skips with one line where there is no GPU.

use girih_device::{Device, Select};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
use girih_tensor::DType;
use half::bf16;

const SIDE: i64 = 128;

/// A sum of positive products loses what each addition cuts off: at every 16 products at most a unit of the sum's last place. Rounding
/// to nearest would lose or gain half a unit each time, and far less in all.
#[test]
fn sums_are_cut_off() {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    let gemms = Gemms::new(&device);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        for k in [256, 1024, 4096, 16384, 65536] {
            let matrix = |seed: u64| -> Vec<bf16> {
                let mut state = seed;
                let mut next = || {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    bf16::from_f64(0.5 + (state >> 40) as f64 / f64::from(1 << 24))
                };
                (0..SIDE * k).map(|_| next()).collect()
            };
            let (a, b) = (matrix(1), matrix(2));
            let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let c = device.zeros::<f32>((SIDE * SIDE) as usize).unwrap();
            let problem = Problem::new(DType::Bf16, [SIDE, SIDE, k], Layout::Tn).unwrap();
            let gemm = gemms.get(&problem.with_output(DType::F32).unwrap(), kind).unwrap();
            gemm.run(&on_a, &on_b, &c).unwrap();
            let found = c.download().unwrap();
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for (i, found) in (0..).zip(found) {
                let (x, y) = ((i / SIDE * k) as usize, (i % SIDE * k) as usize);
                let products = a[x..].iter().zip(&b[y..]).take(k as usize);
                let sum: f64 = products.map(|(p, q)| p.to_f64() * q.to_f64()).sum();
                // The loss is told in units of 2^-23 of the sum, for each of K / 16 additions.
                let lost = (sum - f64::from(found)) / sum * f64::from(1 << 23) / (k as f64 / 16.0);
                (least, most) = (least.min(lost), most.max(lost));
            }
            println!("{} K={k}: {least:.4} to {most:.4} units lost at each 16 products", kind.name());
            assert!(least > -0.5 && most <= 1.0, "{} K={k}: {least} to {most}", kind.name());
        }
    }
}
