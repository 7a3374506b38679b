//! How tensor cores round their sums, which the reference check allows for. Skips with one line where there is no GPU.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use float8::{F8E4M3, F8E5M2};
use girih_device::{Device, Pod, Select};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
use girih_tensor::{DType, Element};
use half::bf16;

const SIDE: i64 = 128;

/// A sum of positive products loses what each addition cuts off: at every 32 bytes of products at most a unit of the sum's last place.
/// Rounding to nearest would lose or gain half a unit each time, and far less in all.
#[test]
fn sums_are_cut_off() {
    with_gpu(|device| {
        for kind in [KernelKind::Sm80, KernelKind::Sm90] {
            for k in [256, 1024, 4096, 16384, 65536] {
                for (name, step, lost) in [
                    ("bf16", 16.0, lost::<bf16>(device, fast(DType::Bf16, k), kind)),
                    ("tf32", 8.0, lost::<f32>(device, fast(DType::Tf32, k), kind)),
                ] {
                    // In units of 2^-23 of the sum, for each step.
                    let lost = lost.map(|x| x * f64::from(1 << 23) / (k as f64 / step));
                    let name = format!("{} {name} K={k}", kind.name());
                    println!("{name}: {:.4} to {:.4} units lost at each {step} products", lost[0], lost[1]);
                    assert!(lost[0] > -0.5 && lost[1] <= 1.0, "{name}: {lost:?}");
                }
            }
        }
    });
}

/// Sums of products of 8-bit floats lose more by `wgmma`: at every 32 products at most 2^-10 of the sum, and so much that it shows. By
/// `mma.sync` they lose no more than those of 16-bit floats.
#[test]
fn sums_of_bytes_are_cut_off_early() {
    with_gpu(|device| {
        for k in [256, 1024, 4096] {
            for (kind, least, most) in [(KernelKind::Sm80, -1e-3, 1e-3), (KernelKind::Sm90, 1e-3, 1.0)] {
                for (name, lost) in [
                    ("e4m3", lost::<F8E4M3>(device, fast(DType::E4m3, k), kind)),
                    ("e5m2", lost::<F8E5M2>(device, fast(DType::E5m2, k), kind)),
                ] {
                    // In units of 2^-10 of the sum, for each of K / 32 additions.
                    let lost = lost.map(|x| x * f64::from(1 << 10) / (k as f64 / 32.0));
                    let name = format!("{} {name} K={k}", kind.name());
                    println!("{name}: {:.4} to {:.4} units lost at each 32 products", lost[0], lost[1]);
                    assert!(lost[1] >= least && lost[1] <= most && lost[0] > -0.1, "{name}: {lost:?}");
                }
            }
        }
    });
}

/// Sums that are promoted lose what the sums of 128 products lose, however many of them there are.
#[test]
fn promoted_sums_of_bytes_lose_little() {
    with_gpu(|device| {
        for k in [128, 1024, 4096, 16384] {
            let problem = fast(DType::E4m3, k).with_fast_accumulation(false);
            // In units of 2^-10 of the sum, for each of the four additions of 128 products.
            let lost =
                lost::<F8E4M3>(device, problem, KernelKind::Sm90).map(|x| x * f64::from(1 << 10) / 4.0);
            println!("promoted e4m3 K={k}: {:.4} to {:.4} units lost at each 32 products", lost[0], lost[1]);
            assert!(lost[1] <= 1.0 && lost[0] > -0.1, "K={k}: {lost:?}");
        }
    });
}

/// The problem of K products with a C of f32, whose sums are as fast as they can be.
fn fast(dtype: DType, k: i64) -> Problem {
    let problem = Problem::new(dtype, [SIDE, SIDE, k], Layout::Tn).unwrap().with_output(DType::F32).unwrap();
    problem.with_fast_accumulation(true)
}

fn with_gpu(test: impl Fn(&Device)) {
    match Device::open(Select::Cuda(0)) {
        Ok(device) => test(&device),
        Err(error) => println!("skipped: {error}"),
    }
}

/// The least and the greatest part of a sum of products of positive numbers that is lost.
fn lost<T: Element + Pod>(device: &Device, problem: Problem, kind: KernelKind) -> [f64; 2] {
    let k = problem.mnk()[2];
    let matrix = |seed: u64| -> Vec<T> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Every f32 of these has no more bits than a tf32.
            T::from_f64(0.5 + (state >> 54) as f64 / f64::from(1 << 10))
        };
        (0..SIDE * k).map(|_| next()).collect()
    };
    let (a, b) = (matrix(1), matrix(2));
    let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let c = device.zeros::<f32>((SIDE * SIDE) as usize).unwrap();
    let gemm = Gemms::new(device).get(&problem, kind).unwrap();
    gemm.run(&on_a, &on_b, &c).unwrap();
    let found = c.download().unwrap();
    let lost = |(i, found): (i64, f32)| {
        let (x, y) = ((i / SIDE * k) as usize, (i % SIDE * k) as usize);
        let products = a[x..].iter().zip(&b[y..]).take(k as usize);
        let sum: f64 = products.map(|(p, q)| p.to_f64() * q.to_f64()).sum();
        (sum - f64::from(found)) / sum
    };
    let all = (0..).zip(found).map(lost);
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)])
}
