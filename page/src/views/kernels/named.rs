//! Kernels of girih by name, each with arguments so small that a person can go through what it does.

use girih_device::{Device, Pod};
use girih_kernels::attention::{Attentions, Diagonal, Mask, Order};
use girih_kernels::copy::Copy;
use girih_kernels::gemm::{Gemms, KernelKind, Layout, configurations};
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
    /// The names of its sizes, and what they are where nothing else is said.
    pub(super) sizes: &'static [(&'static str, i64)],
    launch: fn(&Device, &[i64]) -> Launched,
}

/// Kernels of `girih_kernels`.
pub(super) const KERNELS: &[Named] = &[
    Named {
        name: "gemm_sm90_bf16",
        about: "GEMM for Hopper, warp specialised, by TMA and wgmma",
        sizes: &[("m", 128), ("n", 128), ("k", 256)],
        launch: |device, sizes| product::<bf16>(device, KernelKind::Sm90, sizes),
    },
    Named {
        name: "gemm_sm80_bf16",
        about: "GEMM for Ampere, by cp.async and mma.sync",
        sizes: &[("m", 128), ("n", 128), ("k", 64)],
        launch: |device, sizes| product::<bf16>(device, KernelKind::Sm80, sizes),
    },
    Named {
        name: "gemm_simt_f32",
        about: "GEMM of f32 on CUDA cores",
        sizes: &[("m", 64), ("n", 64), ("k", 32)],
        launch: |device, sizes| product::<f32>(device, KernelKind::Simt, sizes),
    },
    Named {
        name: "attention_sm90_bf16",
        about: "causal attention for Hopper",
        sizes: &[("queries", 128), ("keys", 128), ("columns", 64)],
        launch: |device, sizes| attends(device, attention::KernelKind::Sm90, sizes),
    },
    Named {
        name: "attention_sm80_bf16",
        about: "causal attention for Ampere",
        sizes: &[("queries", 128), ("keys", 128), ("columns", 64)],
        launch: |device, sizes| attends(device, attention::KernelKind::Sm80, sizes),
    },
    Named {
        name: "transpose_f32",
        about: "a copy that transposes f32",
        sizes: &[("m", 64), ("n", 64)],
        launch: transposed,
    },
];

/// The most that the sizes of a kernel may come to, multiplied.
const MOST: i64 = 1 << 24;

/// Launches the kernel or the program over tiles of this name on a device, with sizes that are not those it has by itself.
pub(super) fn launch(name: &str, device: &Device, sizes: &[i64]) -> Launched {
    let named = KERNELS.iter().find(|named| named.name == name);
    let entry = ENTRIES.iter().find(|entry| entry.name == name);
    let own: Vec<(&str, i64)> = match (named, entry) {
        (Some(named), _) => named.sizes.to_vec(),
        (_, Some(entry)) => entry.sizes().iter().map(|size| (size.name, size.small as i64)).collect(),
        (None, None) => {
            let names = KERNELS.iter().map(|named| named.name).chain(ENTRIES.iter().map(|entry| entry.name));
            let names: Vec<&str> = names.collect();
            return Err(format!("no kernel {name:?}; the kernels are {}", names.join(", ")).into());
        }
    };
    let given = if sizes.is_empty() { own.iter().map(|(_, size)| *size).collect() } else { sizes.to_vec() };
    let all = given.iter().try_fold(1i64, |all, &size| all.checked_mul(size).filter(|_| size > 0));
    if given.len() != own.len() || all.is_none_or(|all| all > MOST) {
        let names: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "{name} has the sizes {}, each at least 1, and up to {MOST} multiplied; given are {given:?}",
            names.join(" x ")
        )
        .into());
    }
    match (named, entry) {
        (Some(named), _) => (named.launch)(device, &given),
        (_, Some(entry)) => over_tiles(entry, device, &given),
        (None, None) => Ok(Vec::new()),
    }
}

/// Numbers from -1 to 1, the same each time.
fn numbers<T: Element + Pod>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + seed * 13) % 33) as f64 / 16.0 - 1.0)).collect()
}

fn product<T: Element + Pod>(device: &Device, kind: KernelKind, sizes: &[i64]) -> Launched {
    let &[m, n, k] = sizes else { return Ok(Vec::new()) };
    let problem = &gemm::Problem::new(T::DTYPE, [m, n, k], Layout::Tn)?;
    let gemms = Gemms::new(device);
    let gemm = match kind {
        // The kernel with as many warps as large products have.
        KernelKind::Sm90 => {
            let all = configurations(problem, device.limits().multiprocessors);
            match all.into_iter().find(|config| config.tile == [128, 128, 64]) {
                Some(config) => gemms.configured(problem, config, &gemm::Epilogue::new())?,
                None => gemms.get(problem, kind)?,
            }
        }
        _ => gemms.get(problem, kind)?,
    };
    let [a, b, c] = [problem.a(), problem.b(), problem.c()].map(|matrix| matrix.span() as usize);
    let (a, b) = (device.upload(&numbers::<T>(a, 1))?, device.upload(&numbers::<T>(b, 2))?);
    gemm.run(&a, &b, &device.zeros::<T>(c)?)?;
    Ok(vec![gemm.ptx().clone()])
}

fn attends(device: &Device, kind: attention::KernelKind, sizes: &[i64]) -> Launched {
    let &[queries, keys, columns] = sizes else { return Ok(Vec::new()) };
    let problem = attention::Problem::new(DType::Bf16, Order::Bshd, [1, 1, queries, keys, columns])?
        .with_mask(Mask::causal(Diagonal::TopLeft))?;
    let attention = Attentions::new(device).by(&problem, Some(kind))?;
    let rows = |rows: i64, seed| device.upload(&numbers::<bf16>((rows * columns) as usize, seed));
    let o = device.zeros((queries * columns) as usize)?;
    attention.run(&rows(queries, 1)?, &rows(keys, 2)?, &rows(keys, 3)?, &o)?;
    Ok(vec![attention.ptx().clone()])
}

fn transposed(device: &Device, sizes: &[i64]) -> Launched {
    let &[m, n] = sizes else { return Ok(Vec::new()) };
    let from = Lay::parse(&format!("({m},{n}):({n},1)"))?;
    let to = Lay::parse(&format!("({m},{n}):(1,{m})"))?;
    let copy = Copy::new(device, &copy::Problem::new(DType::F32, &from, &to)?)?;
    let count = (m * n) as usize;
    copy.run(&device.zeros::<f32>(count)?, &device.upload(&numbers::<f32>(count, 1))?)?;
    Ok(vec![girih_codegen::copy::generate(copy.config())?.kernel.module().clone()])
}

fn over_tiles(entry: &Entry, device: &Device, sizes: &[i64]) -> Launched {
    let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    let mut arguments = entry.arguments(device, &sizes)?;
    let launch = entry.launch(&mut arguments, &Point::default());
    let kernels = launch.kernels(device.limits().sm)?;
    launch.run()?;
    Ok(kernels.iter().map(|kernel| kernel.module().clone()).collect())
}
