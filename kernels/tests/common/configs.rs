//! A configuration on small problems that it is made for: ragged ones, with as many tiles as show whether blocks go through them rightly.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, Mainloop, Major, Schedule, Store};
use girih_device::{Device, Pod};
use girih_kernels::gemm::{Epilogue, GemmConfig, Gemms, Layout, Order, Problem};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::{Data, Failure, bits, blocks, by_pointers, compared, filled, mixed, multiply, runs};

/// The configuration with another schedule, which has no other blocks in its clusters.
pub(crate) fn scheduled(config: GemmConfig, schedule: Schedule) -> GemmConfig {
    let config = GemmConfig { schedule, ..config };
    match config.mainloop {
        Mainloop::WarpSpecialized(mut parts) => {
            parts.multicast = 1;
            config.with_mainloop(Mainloop::WarpSpecialized(parts))
        }
        Mainloop::Multistage(_) => config,
    }
}

/// Runs the configuration on problems that end within a tile and begin another one along each mode, with the least alignment that it takes.
pub(crate) fn verify(device: &Device, config: &GemmConfig) -> Result<(), Failure> {
    problems(config)?.iter().try_for_each(|problem| verify_on(device, problem, config))
}

/// The same on one of these problems, each of which is that of every so many numbers.
pub(crate) fn verify_one(device: &Device, config: &GemmConfig, number: usize) -> Result<(), Failure> {
    let problems = problems(config)?;
    problems.get(number % problems.len().max(1)).map_or(Ok(()), |problem| verify_on(device, problem, config))
}

/// Runs the configuration on a problem that it is made for.
pub(crate) fn verify_on(device: &Device, problem: &Problem, config: &GemmConfig) -> Result<(), Failure> {
    if problem.mixed_input().is_some() {
        return mixed::verify(device, problem, Some(config));
    }
    if problem.block_scales().is_some() {
        return blocks::verify(device, problem, Some(config));
    }
    match config.atom().a_type {
        DType::F32 | DType::Tf32 => outputs::<f32>(device, problem, config),
        DType::F16 => outputs::<f16>(device, problem, config),
        DType::Bf16 => outputs::<bf16>(device, problem, config),
        DType::F64 => outputs::<f64>(device, problem, config),
        DType::S8 => outputs::<i8>(device, problem, config),
        DType::E4m3 => outputs::<F8E4M3>(device, problem, config),
        DType::E5m2 => outputs::<F8E5M2>(device, problem, config),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

/// The problems of a configuration, with C as the kernel stores it and with the transposed C.
fn problems(config: &GemmConfig) -> Result<Vec<Problem>, Failure> {
    let [tile_m, tile_n, tile_k] = config.tile;
    let parts = if let Schedule::SplitK { parts, .. } = config.schedule { parts } else { 1 };
    let (stacked, vectors) = match &config.mainloop {
        Mainloop::WarpSpecialized(parts) => (
            parts.multicast,
            [Operand::A, Operand::B].map(|operand| 128 / i64::from(config.dtype(operand).bits())),
        ),
        Mainloop::Multistage(parts) => (1, [parts.a.vector, parts.b.vector]),
    };
    let line = match config.store {
        Store::Direct { vector } | Store::Coalesced { vector, .. } => vector,
        Store::Tma { .. } => 128 / i64::from(config.c_type.bits()),
    };
    // One tile along a mode and a part of the next one, in whole vectors of C.
    let ragged = |extent: i64, by: i64| extent + (5 + by) / by * by;
    let [by_m, by_n] = if config.c_major == Major::K { [1, line] } else { [line, 1] };
    let (m, n) = (ragged(tile_m * stacked, by_m), ragged(tile_n, by_n));
    let by_k = config.aligned_k()?;
    let k = tile_k * parts + (8 + by_k) / by_k * by_k;
    let layout = |majors: [Major; 2]| Layout::ALL.into_iter().find(|layout| layout.majors() == majors);
    let [a, b] = config.majors();
    let order = |major: Major| if major == Major::K { Order::Row } else { Order::Column };
    let other = if config.c_major == Major::K { Major::Mn } else { Major::K };
    let mut out = Vec::new();
    for (mnk, majors, major) in [([m, n, k], [a, b], config.c_major), ([n, m, k], [b, a], other)] {
        // Only B has scales, which are those of the kernel's A.
        if config.mixed_input().is_some() && major == config.c_major {
            continue;
        }
        // Blocks of B have 128 rows, those of A one.
        let turned = config.block_scales().is_some_and(|scales| scales.granularity[0] == 128);
        if config.block_scales().is_some() && turned == (major == config.c_major) {
            continue;
        }
        let problem = Problem::new(config.atom().a_type, mnk, layout(majors).ok_or("four layouts")?)?;
        let problem =
            problem.with_order(order(major)).with_sums(config.atom().c_type)?.with_output(config.c_type)?;
        let problem = match config.mixed_input() {
            Some(mixed) => problem.with_mixed_input(*mixed)?,
            None if config.block_scales().is_some() => problem.with_block_scales()?,
            None => problem,
        };
        // Pitches that are multiples of no more than what the configuration takes.
        let vectors = if major == config.c_major { vectors } else { [vectors[1], vectors[0]] };
        let pitch = |ld: i64, vector: i64| Some(((ld + vector - 1) / vector / 2 * 2 + 1) * vector);
        let (lda, ldb) = (
            pitch(problem.a().ld() + vectors[0], vectors[0]),
            pitch(problem.b().ld() + vectors[1], vectors[1]),
        );
        let problem = problem.with_pitches(lda, ldb, pitch(problem.c().ld() + line, line))?;
        // Groups are of rows, which are the kernel's rows or columns.
        let mode = usize::from(major != config.c_major);
        match config.batch {
            Batch::Single => out.push(problem),
            Batch::Strided | Batch::Pointers => out.push(problem.batched(2, [None; 3])?),
            Batch::Grouped { mode: of } if of == mode => out.push(problem.grouped(7, None)?),
            Batch::Grouped { .. } => {}
        }
    }
    Ok(out)
}

fn outputs<T: Element + Pod>(device: &Device, problem: &Problem, config: &GemmConfig) -> Result<(), Failure> {
    match config.c_type {
        DType::F64 => run::<T, f64>(device, problem, config),
        DType::F32 => run::<T, f32>(device, problem, config),
        DType::F16 => run::<T, f16>(device, problem, config),
        DType::Bf16 => run::<T, bf16>(device, problem, config),
        DType::E4m3 => run::<T, F8E4M3>(device, problem, config),
        DType::E5m2 => run::<T, F8E5M2>(device, problem, config),
        DType::S32 => run::<T, i32>(device, problem, config),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

fn run<T: Element + Pod, C: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: &GemmConfig,
) -> Result<(), Failure> {
    // Integers that other dtypes round too much are small.
    let data = if T::DTYPE.is_float() || C::DTYPE == DType::S32 { Data::Random } else { Data::SmallIntegers };
    let [a, b] =
        [(problem.a(), 1), (problem.b(), 2)].map(|(m, seed)| filled::<T>(m.span() as usize, data, seed));
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let c = device.alloc::<C>((problem.c().span() + problem.c().ld()) as usize)?;
    let asked = if config.batch == Batch::Pointers { by_pointers(problem) } else { *problem };
    let gemm = Gemms::new(device).configured(&asked, *config, &Epilogue::new())?;
    // The same bits are right again.
    let mut first = None;
    for _ in 0..runs(device, &gemm)? {
        c.fill_bytes(0xff)?;
        let offsets = multiply(&gemm, problem, device, [&on_a, &on_b], &c, 7)?;
        let c = c.download()?;
        let run = Some(bits(&c));
        if first == run {
            continue;
        }
        first = run;
        let found = compared(problem, offsets.as_deref(), [&a, &b], &c)?;
        if !found.passed() {
            return Err(format!("{problem:?} by {config:?}: {found:?}").into());
        }
    }
    Ok(())
}
