//! How sums of tensor cores are rounded: what the judge allows for. Skips with one line where there is no GPU.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_codegen::atom::{MmaAtom, SM80_16X8X16_F32BF16BF16F32_TN};
use girih_codegen::gemm::warp_specialized::WarpSpecializedConfig;
use girih_codegen::gemm::{GemmConfig, Major, Source};
use girih_device::{Arg, Device, Select, TensorMap};
use girih_kernels::gemm::{Config, Generated};
use girih_layout::{Tile, lay};
use girih_tensor::DType;
use half::bf16;

const SIDE: i64 = 128;

/// Kernels of 128 x 128 products with sums as they are.
fn configs() -> [Config; 2] {
    let source = Source { major: Major::K, vector: 8 };
    [
        Config::Multistage(GemmConfig {
            name: "mma",
            atom: SM80_16X8X16_F32BF16BF16F32_TN,
            atoms: lay!("(2,2):(1,2)"),
            permutation: [Tile::All, Tile::All],
            tile: [128, 128, 32],
            k_atoms: 1,
            fragments: 2,
            stages: 4,
            raster: 1,
            min_blocks: 1,
            a: source,
            b: source,
            c_type: DType::F32,
            c_vector: 2,
        }),
        Config::WarpSpecialized(WarpSpecializedConfig {
            name: "wgmma",
            atom: MmaAtom::find("SM90_64x128x16_F32BF16BF16_SS").unwrap(),
            atoms: lay!("(2,1):(1,0)"),
            tile: [128, 128, 64],
            stages: 4,
            rows_c: 128,
            alternate: false,
            registers: [40, 232],
            c_type: DType::F32,
        }),
    ]
}

/// Products of positive numbers lose what an addition cuts off, at every 16 of them at most a unit of the sum's last place;
/// what rounding to nearest would lose, half a unit either way, stays far below.
#[test]
fn sums_are_cut_off() {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    for config in configs() {
        let generated = config.generate().unwrap();
        let kernel = device.load(generated.kernel()).unwrap().kernel(config.name()).unwrap();
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
            let shape = [SIDE, SIDE, k];
            let sizes = shape.map(|v| Arg::U32(v as u32));
            let launch = kernel.config([1; 3]).unwrap();
            let (maps, order);
            let args: Vec<Arg<'_>> = match &generated {
                Generated::Multistage(_) => {
                    let pitches = [k, k, SIDE].map(|v| Arg::U32(v as u32));
                    [(&on_a).into(), (&on_b).into(), (&c).into()]
                        .into_iter()
                        .chain(sizes)
                        .chain(pitches)
                        .collect()
                }
                Generated::WarpSpecialized(kernel) => {
                    let [of_a, of_b, of_c] = kernel.maps(shape, [k, k, SIDE]).unwrap();
                    maps = [
                        TensorMap::new(&on_a, &of_a).unwrap(),
                        TensorMap::new(&on_b, &of_b).unwrap(),
                        TensorMap::new(&c, &of_c).unwrap(),
                    ];
                    order = device.upload(&kernel.order(SIDE, SIDE).unwrap().concat()).unwrap();
                    let rest = [(&order).into(), Arg::U32(1), Arg::U32(k as u32)];
                    maps.iter().map(Arg::from).chain(rest).collect()
                }
            };
            // SAFETY: the kernel reads A and B and writes C within the extents that the buffers have.
            #[expect(unsafe_code, reason = "launching a generated kernel")]
            let launched = unsafe { kernel.launch(&launch, &args) };
            launched.unwrap();
            let found = c.download().unwrap();
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for (i, found) in (0..).zip(found) {
                let (x, y) = ((i / SIDE * k) as usize, (i % SIDE * k) as usize);
                let products = a[x..].iter().zip(&b[y..]).take(k as usize);
                let sum: f64 = products.map(|(p, q)| p.to_f64() * q.to_f64()).sum();
                // In units of 2^-23 of the sum, for each of K / 16 additions.
                let lost = (sum - f64::from(found)) / sum * f64::from(1 << 23) / (k as f64 / 16.0);
                (least, most) = (least.min(lost), most.max(lost));
            }
            println!("{} K={k}: {least:.4} to {most:.4} units lost at each 16 products", config.name());
            assert!(least > -0.5 && most <= 1.0, "{} K={k}: {least} to {most}", config.name());
        }
    }
}
