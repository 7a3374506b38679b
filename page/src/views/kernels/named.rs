//! Kernels of girih by name, each with arguments so small that a person can go through what it does.

use girih_device::{Device, Pod};
use girih_kernels::attention::{Attentions, Diagonal, Mask, Order};
use girih_kernels::copy::Copy;
use girih_kernels::gemm::{Asked, Gemms, KernelKind, Layout, tiled};
use girih_kernels::{attention, copy, gemm};
use girih_layout::Lay;
use girih_programs::{ENTRIES, Entry};
use girih_ptx::Module;
use girih_tensor::{DType, Element};
use girih_tile::tune::Point;
use half::bf16;

use super::Stop;

/// A kernel that has been launched: the modules of those that the launch may have run.
type Launched = Result<Vec<Module>, Stop>;

/// A kernel by name.
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    launch: fn(&Device) -> Launched,
}

/// Kernels of `girih_kernels`.
pub(super) const KERNELS: &[Named] = &[
    Named {
        name: "gemm_sm90_bf16",
        about: "GEMM for Hopper, warp specialised: 128 x 128 x 256 by TMA and wgmma",
        launch: |device| product(device, KernelKind::Sm90, [128, 128, 256]),
    },
    Named {
        name: "gemm_sm80_bf16",
        about: "GEMM for Ampere: 128 x 128 x 64 by cp.async and mma.sync",
        launch: |device| product(device, KernelKind::Sm80, [128, 128, 64]),
    },
    Named {
        name: "gemm_simt_f32",
        about: "GEMM on CUDA cores: 64 x 64 x 32 of f32",
        launch: |device| {
            of_product::<f32>(
                device,
                &gemm::Problem::new(DType::F32, [64, 64, 32], Layout::Tn)?,
                KernelKind::Simt,
            )
        },
    },
    Named {
        name: "attention_sm90_bf16",
        about: "attention for Hopper: 128 queries and 128 keys of 64 columns, causal",
        launch: |device| attends(device, attention::KernelKind::Sm90),
    },
    Named {
        name: "attention_sm80_bf16",
        about: "attention for Ampere: 128 queries and 128 keys of 64 columns, causal",
        launch: |device| attends(device, attention::KernelKind::Sm80),
    },
    Named { name: "transpose_f32", about: "a copy that transposes 64 x 64 of f32", launch: transposed },
];

/// What the simulator is when it chooses kernels: a device of sm_90.
const SM: u32 = 90;

/// Launches the kernel or the program over tiles of this name on a device.
pub(super) fn launch(name: &str, device: &Device) -> Launched {
    if let Some(named) = KERNELS.iter().find(|named| named.name == name) {
        return (named.launch)(device);
    }
    if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) {
        return over_tiles(entry, device);
    }
    let names = KERNELS.iter().map(|named| named.name).chain(ENTRIES.iter().map(|entry| entry.name));
    let names: Vec<&str> = names.collect();
    Err(format!("no kernel {name:?}; the kernels are {}", names.join(", ")).into())
}

/// Numbers from -1 to 1, the same each time.
fn numbers<T: Element + Pod>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + seed * 13) % 33) as f64 / 16.0 - 1.0)).collect()
}

fn product(device: &Device, kind: KernelKind, mnk: [i64; 3]) -> Launched {
    of_product::<bf16>(device, &gemm::Problem::new(DType::Bf16, mnk, Layout::Tn)?, kind)
}

fn of_product<T: Element + Pod>(device: &Device, problem: &gemm::Problem, kind: KernelKind) -> Launched {
    let gemms = Gemms::new(device);
    let gemm = match kind {
        // The kernel with as many warps as large products have.
        KernelKind::Sm90 => {
            let config = tiled(problem, SM, device.limits(), &Asked::tile([128, 128, 64]))?;
            gemms.configured(problem, config, &gemm::Epilogue::new())?
        }
        _ => gemms.get(problem, kind)?,
    };
    let [a, b, c] = [problem.a(), problem.b(), problem.c()].map(|matrix| matrix.span() as usize);
    let (a, b) = (device.upload(&numbers::<T>(a, 1))?, device.upload(&numbers::<T>(b, 2))?);
    gemm.run(&a, &b, &device.zeros::<T>(c)?)?;
    Ok(vec![gemm.ptx().clone()])
}

fn attends(device: &Device, kind: attention::KernelKind) -> Launched {
    let problem = attention::Problem::new(DType::Bf16, Order::Bshd, [1, 1, 128, 128, 64])?
        .with_mask(Mask::causal(Diagonal::TopLeft))?;
    let attention = Attentions::new(device).by(&problem, Some(kind))?;
    let rows = |seed| device.upload(&numbers::<bf16>(128 * 64, seed));
    attention.run(&rows(1)?, &rows(2)?, &rows(3)?, &device.zeros(128 * 64)?)?;
    Ok(vec![attention.ptx().clone()])
}

fn transposed(device: &Device) -> Launched {
    let (from, to) = (Lay::parse("(64,64):(64,1)")?, Lay::parse("(64,64):(1,64)")?);
    let copy = Copy::new(device, &copy::Problem::new(DType::F32, &from, &to)?)?;
    copy.run(&device.zeros::<f32>(64 * 64)?, &device.upload(&numbers::<f32>(64 * 64, 1))?)?;
    Ok(vec![girih_codegen::copy::generate(copy.config())?.kernel.module().clone()])
}

fn over_tiles(entry: &Entry, device: &Device) -> Launched {
    let mut arguments = entry.arguments(device, &entry.small())?;
    let launch = entry.launch(&mut arguments, &Point::default());
    let kernels = launch.kernels(device.limits().sm)?;
    launch.run()?;
    Ok(kernels.iter().map(|kernel| kernel.module().clone()).collect())
}
