//! Today's GEMM kernels beside those of another version, on the same memory, in turns.
//!
//! The other version's modules stand in the folder that `GIRIH_OTHER` names, one file for each product, as its `girih emit gemm` writes
//! them: `<dtype>_<layout>_<m>x<n>x<k>.ptx`, with the parameters of today's kernels. Today's must not be slower by more than 1 %: the
//! lower bound of the paired ratio (95 %) is printed for each product, and the run fails if it is below 0.99.
#![allow(missing_docs, reason = "a binary")]

use std::{env, fs, path::Path, time::Duration};

use girih_codegen::{
    Slot, Value,
    gemm::{Arguments, Epilogue, GemmKernel, generate},
};
use girih_device::{Arg, Buffer, BufferArg, Device, Kernel, LaunchConfig, Pod, TensorMap};
use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
use girih_peers::{
    contest::{Clock, Contestant, Failure, Rules, contest},
    gpu, normal,
};
use girih_ptx::Module;
use girih_tensor::Element;
use half::{bf16, f16};

const RULES: Rules = Rules {
    rounds: 15,
    settle: Duration::from_millis(40),
    timed: Duration::from_millis(60),
    clock: Clock::Device,
};
/// Tensor cores run at the limit of the GPU's power, which settles slowly.
const AT_THE_LIMIT: Rules =
    Rules { rounds: 25, settle: Duration::from_millis(200), timed: Duration::from_millis(200), ..RULES };

fn main() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let Some(folder) = env::var_os("GIRIH_OTHER") else {
        println!("skipped: GIRIH_OTHER names no folder");
        return Ok(());
    };
    let mut slower = Vec::new();
    for side in [8192, 4096, 2048] {
        for layout in [Layout::Tn, Layout::Tt] {
            let mnk = [side; 3];
            slower.extend(versions::<bf16>(&device, mnk, layout, folder.as_ref())?);
            slower.extend(versions::<f16>(&device, mnk, layout, folder.as_ref())?);
            slower.extend(versions::<f32>(&device, mnk, layout, folder.as_ref())?);
        }
    }
    if slower.is_empty() { Ok(()) } else { Err(format!("slower than the other version: {slower:?}").into()) }
}

/// The product by both versions; its name if today's is slower.
fn versions<T: Element + Pod>(
    device: &Device,
    mnk: [i64; 3],
    layout: Layout,
    folder: &Path,
) -> Result<Option<String>, Failure> {
    let [m, n, k] = mnk;
    let name = format!("{}_{layout}_{m}x{n}x{k}", T::DTYPE);
    let problem = Problem::new(T::DTYPE, mnk, layout)?;
    let limits = device.limits();
    let config = choose(&problem, KernelKind::for_problem(&problem, limits.sm), limits.multiprocessors)?;
    let generated = generate(&config, &Epilogue::new())?;
    let blocks = generated.blocks([m, n, 1], limits.multiprocessors)?;
    let ours = device.load(&generated.kernel)?.kernel(config.name)?;
    let other = Module::parse(&fs::read_to_string(folder.join(format!("{name}.ptx")))?)?;
    let theirs = device.load(&other)?.kernel(config.name)?;
    let launch = ours.config([blocks, 1, 1])?;
    let operand = |span: i64, seed| device.upload(&normal::<T>(span as usize, seed));
    let (a, b) = (operand(problem.a().span(), 1)?, operand(problem.b().span(), 2)?);
    let outputs = [device.alloc::<T>((m * n) as usize)?, device.alloc::<T>((m * n) as usize)?];
    let order = device.upload(&generated.order(m, n)?.concat())?;
    for output in &outputs {
        output.fill_bytes(0xff)?;
    }
    let run = |kernel: &Kernel, c: &Buffer<T>| -> Result<(), Failure> {
        product(kernel, &launch, &generated, &problem, [&a, &b, c], &order)
    };
    run(&ours, &outputs[0])?;
    run(&theirs, &outputs[1])?;
    if outputs[0].download()?.iter().zip(&outputs[1].download()?).any(|(x, y)| x != y) {
        return Err(format!("{name}: the versions differ").into());
    }
    let rules = if T::DTYPE.bits() == 16 { AT_THE_LIMIT } else { RULES };
    let times = contest(
        device,
        rules,
        &mut [
            Contestant::new("today", 1, || run(&ours, &outputs[0])),
            Contestant::new("other", 1, || run(&theirs, &outputs[1])),
        ],
    )?;
    let ratio = times[0].speed_beside(&times[1]);
    let rate = |i: usize| times[i].samples.rate(problem.flops()) / 1e12;
    println!(
        "{name}: {:.1} TFLOP/s, other {:.1}: {:.4}, at least {:.4}",
        rate(0),
        rate(1),
        ratio.mean,
        ratio.lower
    );
    Ok((ratio.lower < 0.99).then_some(name))
}

/// Enqueues one product.
fn product<T: Pod>(
    kernel: &Kernel,
    launch: &LaunchConfig,
    generated: &GemmKernel,
    problem: &Problem,
    matrices: [&Buffer<T>; 3],
    order: &Buffer<u32>,
) -> Result<(), Failure> {
    let pitches = [problem.a().ld(), problem.b().ld(), problem.c().ld()];
    let arguments = Arguments { mnk: problem.mnk(), pitches, products: 1, ..Arguments::default() };
    let values = generated.params.values(&arguments)?;
    let memory = |value: &Value| match value.slot()? {
        Slot::Memory("a") => Some(BufferArg::from(matrices[0])),
        Slot::Memory("b") => Some(BufferArg::from(matrices[1])),
        Slot::Memory("c") => Some(BufferArg::from(matrices[2])),
        Slot::Memory("order") => Some(BufferArg::from(order)),
        _ => None,
    };
    let map = |value: &Value| match value {
        Value::Map(_, tiled) => memory(value).map(|matrix| TensorMap::new(matrix, tiled)).transpose(),
        _ => Ok(None),
    };
    let maps = values.iter().map(map).collect::<Result<Vec<_>, _>>()?;
    let mut args = Vec::new();
    for (value, map) in values.iter().zip(&maps) {
        args.extend(match value {
            Value::Map(..) => map.as_ref().map(Arg::from),
            Value::Slot(_) => memory(value).map(Arg::Buffer),
            Value::U32(number) => Some(Arg::U32(*number)),
            Value::U64(number) => Some(Arg::U64(*number)),
            Value::F32(number) => Some(Arg::F32(*number)),
        });
    }
    // SAFETY: the kernels of both versions read A and B and write C within the extents that the buffers have.
    #[allow(unsafe_code, reason = "the kernels take what they are given")]
    unsafe { kernel.launch(launch, &args) }?;
    Ok(())
}
