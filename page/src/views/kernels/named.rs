//! Kernels of girih by name, each with arguments so small that a person can go through what it does.

use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::{Attentions, Diagonal, Mask, Order};
use girih_kernels::copy::Copy;
use girih_kernels::gemm::{Gemms, KernelKind, Layout, configurations};
use girih_kernels::{attention, copy, gemm};
use girih_layout::Lay;
use girih_notation::names::{did_you_mean, near};
use girih_programs::{ENTRIES, Entry};
use girih_ptx::Module;
use girih_tensor::{DType, Element};
use girih_tile::tune::Point;
use half::bf16;

use super::examples::EXAMPLES;

/// Why a kernel could not be run.
type Stop = Box<dyn std::error::Error + Send + Sync>;

/// A kernel that has been launched: the modules of those that the launch may have run, and the arrays before and after it.
type Launched = Result<(Vec<Module>, Vec<Array>), Stop>;

/// An array in global memory.
pub(super) struct Array {
    pub(super) name: &'static str,
    pub(super) ty: &'static str,
    pub(super) address: u64,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl Array {
    fn of<T: Pod>(name: &'static str, before: &[T], buffer: &Buffer<T>) -> Result<Array, Stop> {
        let bytes = |of: &[T]| bytemuck::cast_slice(of).to_vec();
        let after = bytes(&buffer.download()?);
        Ok(Array { name, ty: T::PTX, address: buffer.address(), before: bytes(before), after })
    }
}

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
            let names: Vec<&str> = EXAMPLES.iter().map(|of| of.name).chain(names).collect();
            let near = did_you_mean(&near(name, names.iter().copied()));
            let all = if near.is_empty() { format!("; the kernels are {}", names.join(", ")) } else { near };
            return Err(format!("no kernel {name:?}{all}").into());
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
        (None, None) => Ok(NOTHING),
    }
}

const NOTHING: (Vec<Module>, Vec<Array>) = (Vec::new(), Vec::new());

/// Numbers from -1 to 1, the same each time.
fn numbers<T: Element + Pod>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + seed * 13) % 33) as f64 / 16.0 - 1.0)).collect()
}

fn product<T: Element + Pod>(device: &Device, kind: KernelKind, sizes: &[i64]) -> Launched {
    let &[m, n, k] = sizes else { return Ok(NOTHING) };
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
    let [given_a, given_b, given_c] = [numbers::<T>(a, 1), numbers::<T>(b, 2), vec![T::from_f64(0.0); c]];
    let (a, b, c) = (device.upload(&given_a)?, device.upload(&given_b)?, device.upload(&given_c)?);
    gemm.run(&a, &b, &c)?;
    let arrays = [("A", &given_a, &a), ("B", &given_b, &b), ("C", &given_c, &c)];
    let arrays = arrays.map(|(name, before, buffer)| Array::of(name, before, buffer));
    Ok((vec![gemm.ptx().clone()], arrays.into_iter().collect::<Result<_, _>>()?))
}

fn attends(device: &Device, kind: attention::KernelKind, sizes: &[i64]) -> Launched {
    let &[queries, keys, columns] = sizes else { return Ok(NOTHING) };
    let problem = attention::Problem::new(DType::Bf16, Order::Bshd, [1, 1, queries, keys, columns])?
        .with_mask(Mask::causal(Diagonal::TopLeft))?;
    let attention = Attentions::new(device).by(&problem, Some(kind))?;
    let rows = |rows: i64, seed| numbers::<bf16>((rows * columns) as usize, seed);
    let given =
        [rows(queries, 1), rows(keys, 2), rows(keys, 3), vec![bf16::ZERO; (queries * columns) as usize]];
    let [q, k, v, o] = &given;
    let [q, k, v, o] = [device.upload(q)?, device.upload(k)?, device.upload(v)?, device.upload(o)?];
    attention.run(&q, &k, &v, &o)?;
    let arrays = ["Q", "K", "V", "O"].into_iter().zip(&given).zip([&q, &k, &v, &o]);
    let arrays = arrays.map(|((name, before), buffer)| Array::of(name, before, buffer));
    Ok((vec![attention.ptx().clone()], arrays.collect::<Result<_, _>>()?))
}

fn transposed(device: &Device, sizes: &[i64]) -> Launched {
    let &[m, n] = sizes else { return Ok(NOTHING) };
    let from = Lay::parse(&format!("({m},{n}):({n},1)"))?;
    let to = Lay::parse(&format!("({m},{n}):(1,{m})"))?;
    let copy = Copy::new(device, &copy::Problem::new(DType::F32, &from, &to)?)?;
    let count = (m * n) as usize;
    let given = [numbers::<f32>(count, 1), vec![0.0; count]];
    let [source, target] = [device.upload(&given[0])?, device.upload(&given[1])?];
    copy.run(&target, &source)?;
    let arrays = vec![Array::of("source", &given[0], &source)?, Array::of("target", &given[1], &target)?];
    Ok((vec![girih_codegen::copy::generate(copy.config())?.kernel.module().clone()], arrays))
}

fn over_tiles(entry: &Entry, device: &Device, sizes: &[i64]) -> Launched {
    let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    let mut arguments = entry.arguments(device, &sizes)?;
    let launch = entry.launch(&mut arguments, &Point::default());
    let kernels = launch.kernels(device.limits().sm)?;
    launch.run()?;
    Ok((kernels.iter().map(|kernel| kernel.module().clone()).collect(), Vec::new()))
}
