//! Products with weights of 8 bits and scales, judged against the dequantised weights.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::{Operand, gemm::Schedule};
use girih_device::{Device, Pod};
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, Given, KernelKind, Layout, MixedInput, Order, Problem, candidates, check,
    choose, dequantized,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::{Data, Failure, bits, filled, poison, runs};

/// Problems of every number, scale, layout and order, of an output each.
pub(crate) fn variants(mnk: [i64; 3]) -> Result<Vec<Problem>, Failure> {
    let inputs =
        MixedInput::DTYPES.into_iter().flat_map(|dtype| MixedInput::SCALES.map(|scale| [dtype, scale]));
    let places = || {
        [Layout::Tn, Layout::Nn]
            .into_iter()
            .flat_map(|layout| [Order::Row, Order::Column].map(|o| (layout, o)))
    };
    let all = inputs.flat_map(|input| places().map(move |place| (input, place)));
    let outputs = [DType::Bf16, DType::F32, DType::F16, DType::E4m3, DType::E5m2].into_iter().cycle();
    let mut problems = Vec::new();
    for (([dtype, scale], (layout, order)), output) in all.zip(outputs) {
        let problem = Problem::new(DType::Bf16, mnk, layout)?.with_order(order).with_output(output)?;
        let problem = problem.with_mixed_input(MixedInput { dtype, scale, group: 128 })?;
        // A and B begin their rows at multiples of 16 bytes, C anywhere.
        let up = |ld: i64, by: i64| Some((ld + by - 1) / by * by);
        problems.push(problem.with_pitches(up(problem.a().ld(), 8), up(problem.b().ld(), 16), None)?);
    }
    Ok(problems)
}

/// Runs a problem by a configuration, or the one that is chosen, on poisoned output, and checks every element, or a sample.
pub(crate) fn verify(device: &Device, problem: &Problem, config: Option<&GemmConfig>) -> Result<(), Failure> {
    match problem.mixed_input().map(|mixed| (mixed.dtype, mixed.scale)) {
        Some((DType::S8, DType::F32)) => outputs::<i8, f32>(device, problem, config),
        Some((DType::S8, DType::Bf16)) => outputs::<i8, bf16>(device, problem, config),
        Some((DType::E4m3, DType::F32)) => outputs::<F8E4M3, f32>(device, problem, config),
        Some((DType::E4m3, DType::Bf16)) => outputs::<F8E4M3, bf16>(device, problem, config),
        other => Err(format!("{other:?}").into()),
    }
}

/// Runs every `step`-th of what a tuner measures of blocks that share out the tiles of weights along K evenly, from `from` on, and says how
/// many configurations these are.
pub(crate) fn verify_streams(
    device: &Device,
    problem: &Problem,
    [from, step]: [usize; 2],
) -> Result<usize, Failure> {
    let streams = |config: &GemmConfig| matches!(config.schedule, Schedule::StreamK { .. });
    let all = candidates(problem, device.limits().multiprocessors, 1000).into_iter().filter(streams);
    let some: Vec<GemmConfig> = all.skip(from).step_by(step).collect();
    for config in &some {
        verify(device, problem, Some(config)).map_err(|e| format!("{problem:?}: {config:?}: {e}"))?;
    }
    Ok(some.len())
}

fn outputs<W: Element + Pod, S: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: Option<&GemmConfig>,
) -> Result<(), Failure> {
    match problem.output() {
        DType::F32 => run::<W, S, f32>(device, problem, config),
        DType::F16 => run::<W, S, f16>(device, problem, config),
        DType::Bf16 => run::<W, S, bf16>(device, problem, config),
        DType::E4m3 => run::<W, S, F8E4M3>(device, problem, config),
        DType::E5m2 => run::<W, S, F8E5M2>(device, problem, config),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

fn run<W: Element + Pod, S: Element + Pod, C: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: Option<&GemmConfig>,
) -> Result<(), Failure> {
    let ([_, n, k], chosen) = (problem.mnk(), choose(problem, KernelKind::Sm90, 132));
    let config = config.copied().map_or(chosen, Ok)?;
    let (groups, pitch) = ((k + 127) / 128, problem.pitch_of_scales(Operand::B));
    let a = filled::<bf16>(problem.a().span() as usize, Data::Random, 1);
    let b = filled::<W>(problem.b().span() as usize, Data::Random, 2);
    let mut scales = filled::<S>((groups.max(1) * pitch) as usize, Data::Random, 3);
    // Sums of integers are kept within what a C of 8 bits holds; a kernel that reads a scale after the rows is found out.
    let size = if W::DTYPE.is_float() { 1.0 } else { 127.0 };
    for (i, scale) in scales.iter_mut().enumerate() {
        let inside = i as i64 % pitch < n;
        *scale = S::from_f64(if inside { scale.to_f64() / size } else { f64::NAN });
    }
    let (on_a, on_b, on_scales) = (device.upload(&a)?, device.upload(&b)?, device.upload(&scales)?);
    let c = device.alloc::<C>((problem.c().span() + problem.c().ld()) as usize)?;
    let gemm = Gemms::new(device).configured(problem, config, &Epilogue::new())?;
    let wide: Vec<f32> = a.iter().map(|x| x.to_f32()).collect();
    let dequantized = dequantized(problem, Operand::B, &b, &scales)?;
    // The same bits are right again.
    let mut first = None;
    for _ in 0..runs(device, &gemm)? {
        c.fill_bytes(0xff)?;
        gemm.run_with(&on_a, &on_b, &c, &[("scales", Given::from(&on_scales))])?;
        let c = c.download()?;
        let run = Some(bits(&c));
        if first == run {
            continue;
        }
        first = run;
        let found = check(problem, &wide, &dequantized, &c, Some(poison()))?;
        if !found.passed() {
            return Err(format!("{problem:?} by {config:?}: {found:?}").into());
        }
    }
    Ok(())
}
