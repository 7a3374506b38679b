//! Blocks that share tiles of C: every element is checked, and a second run has to give the same bits.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::gemm::Schedule;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{Epilogue, GemmConfig, Gemms, KernelKind, Problem, check, choose};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::configs::scheduled;
use super::{Data, Failure, bits, filled, poison};

/// The problem by `parts` blocks for each tile, by every kernel that takes it.
pub(crate) fn verify(device: &Device, problem: &Problem, parts: i64) -> Result<(), Failure> {
    verify_with(device, problem, |_| Schedule::SplitK { parts, cluster: 1 })
}

/// The problem by blocks that share out tiles along K evenly, by every kernel that takes it.
pub(crate) fn verify_stream(device: &Device, problem: &Problem) -> Result<(), Failure> {
    verify_with(device, problem, |config| Schedule::StreamK {
        alternate: config.mainloop.multistage().is_none(),
    })
}

fn verify_with(
    device: &Device,
    problem: &Problem,
    schedule: impl Fn(&GemmConfig) -> Schedule,
) -> Result<(), Failure> {
    for kind in super::kinds(problem, device.limits().sm) {
        match problem.dtype() {
            DType::F32 | DType::Tf32 => verify_by::<f32, f32>(device, problem, kind, &schedule)?,
            DType::F16 => verify_by::<f16, f16>(device, problem, kind, &schedule)?,
            DType::Bf16 => verify_by::<bf16, bf16>(device, problem, kind, &schedule)?,
            DType::F64 => verify_by::<f64, f64>(device, problem, kind, &schedule)?,
            DType::S8 => verify_by::<i8, i32>(device, problem, kind, &schedule)?,
            DType::E4m3 => verify_by::<F8E4M3, bf16>(device, problem, kind, &schedule)?,
            DType::E5m2 => verify_by::<F8E5M2, bf16>(device, problem, kind, &schedule)?,
            other => return Err(girih_kernels::Error::unsupported("gemm", other).into()),
        }
    }
    Ok(())
}

fn verify_by<T: Element + Pod, C: Element + Pod>(
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
    schedule: impl Fn(&GemmConfig) -> Schedule,
) -> Result<(), Failure> {
    let [a, b] = [(problem.a(), 1), (problem.b(), 2)].map(|(matrix, seed)| (matrix.span() as usize, seed));
    let [a, b] = [a, b].map(|(len, seed)| filled::<T>(len, Data::Random, seed));
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let c = device.alloc::<C>((problem.c().span() + problem.c().ld()) as usize)?;
    let chosen = choose(problem, kind, device.limits().multiprocessors)?;
    let config = scheduled(chosen, schedule(&chosen));
    let gemm = Gemms::new(device).configured(problem, config, &Epilogue::new())?;
    let run = || -> Result<Vec<C>, Failure> {
        c.fill_bytes(0xff)?;
        gemm.run(&on_a, &on_b, &c)?;
        Ok(c.download()?)
    };
    let first = run()?;
    let found = check(problem, &a, &b, &first, Some(poison()))?;
    if !found.passed() {
        return Err(format!("{problem:?} by {}, {:?}: {found:?}", kind.name(), config.schedule).into());
    }
    // Parts are added in one order, and the workspace is as the next run needs it.
    if bits(&first) != bits(&run()?) {
        return Err(format!("{problem:?} by {}, {:?}: another result", kind.name(), config.schedule).into());
    }
    Ok(())
}
