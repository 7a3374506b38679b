//! A whole kernel for sm_90, with tensor maps as arguments, a producer warpgroup that issues tensor copies, two consumer warpgroups
//! that run `wgmma`, and tensor stores.

use girih_device::{Arg, Device, LaunchConfig, TensorMap};
use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
use half::bf16;

const PROBE: &str = include_str!("../../../sim/tests/ptx/hopper-probe.ptx");

/// C = A B^T of 256 x 512 x 256 small whole numbers agrees with the host bit for bit.
pub fn gemm_agrees(device: &Device) {
    let (m, n, k) = (256usize, 512usize, 256usize);
    let kernel = super::kernel(device, PROBE, "gemm");
    let matrix =
        |rows: usize, seed| super::small(rows * k, seed).into_iter().map(|x| (x / 4.0).round()).collect();
    let (a, b): (Vec<f32>, Vec<f32>) = (matrix(m, 1), matrix(n, 2));
    let upload = |values: &[f32]| {
        device.upload(&values.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>()).unwrap()
    };
    let (da, db, dc) = (upload(&a), upload(&b), device.alloc::<bf16>(m * n).unwrap());
    dc.fill_bytes(0xFF).unwrap();
    let tiled = |columns: usize, rows: usize, box_rows| {
        let tiled = Tiled::new(TensorElement::Bf16, &[columns as u64, rows as u64], &[64, box_rows]);
        tiled.with_swizzle(TensorSwizzle::B128)
    };
    let maps = [
        TensorMap::new(&da, &tiled(k, m, 128)).unwrap(),
        TensorMap::new(&db, &tiled(k, n, 256)).unwrap(),
        TensorMap::new(&dc, &tiled(n, m, 64)).unwrap(),
    ];
    let [ma, mb, mc] = maps.each_ref().map(Arg::from);
    // The kernel takes tiles in groups of 16 along M, of which two are inside this matrix.
    let config = LaunchConfig::new([18, 1, 1], [384, 1, 1]).with_dynamic_shared(196_608 + 64);
    let args = [ma, mb, mc, Arg::from(k as u32 / 64), Arg::from(n as u32 / 256)];
    // SAFETY: the maps are those of the whole matrices.
    unsafe { kernel.launch(&config, &args) }.unwrap();
    let found = dc.download().unwrap();
    for i in 0..m {
        for j in 0..n {
            let sum: f32 = (0..k).map(|l| a[i * k + l] * b[j * k + l]).sum();
            assert_eq!(found[i * n + j], bf16::from_f32(sum), "row {i}, column {j}");
        }
    }
}
