//! Products of 8-bit floats in blocks with scales, judged against the dequantised operands.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::Operand;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, Given, KernelKind, Layout, Order, Problem, check, choose, dequantized,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::{Data, Failure, filled, poison, runs};

/// Problems of both dtypes, every layout and order, and outputs in turn.
pub(crate) fn variants(mnk: [i64; 3]) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for (dtype, layout) in
        [DType::E4m3, DType::E5m2].into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout)))
    {
        for (order, output) in [(Order::Row, DType::F32), (Order::Column, DType::Bf16)] {
            let problem = Problem::new(dtype, mnk, layout)?.with_order(order).with_output(output)?;
            problems.push(problem.with_block_scales()?);
        }
    }
    Ok(problems)
}

/// Runs a problem by a configuration, or the one that is chosen, on poisoned output, and checks every element, or a sample.
pub(crate) fn verify(device: &Device, problem: &Problem, config: Option<&GemmConfig>) -> Result<(), Failure> {
    match problem.dtype() {
        DType::E4m3 => outputs::<F8E4M3>(device, problem, config),
        DType::E5m2 => outputs::<F8E5M2>(device, problem, config),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

fn outputs<T: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: Option<&GemmConfig>,
) -> Result<(), Failure> {
    match problem.output() {
        DType::F32 => run::<T, f32>(device, problem, config),
        DType::F16 => run::<T, f16>(device, problem, config),
        DType::Bf16 => run::<T, bf16>(device, problem, config),
        DType::E4m3 => run::<T, F8E4M3>(device, problem, config),
        DType::E5m2 => run::<T, F8E5M2>(device, problem, config),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

/// The scales of an operand, with no numbers beside them: a kernel that reads a scale after the rows is found out.
fn scales(problem: &Problem, operand: Operand, seed: u64) -> Vec<f32> {
    let [m, n, k] = problem.mnk();
    let (rows, pitch) =
        (if operand == Operand::A { m } else { (n + 127) / 128 }, problem.pitch_of_scales(operand));
    let mut scales = filled::<f32>((((k + 127) / 128).max(1) * pitch) as usize, Data::Random, seed);
    for (i, scale) in scales.iter_mut().enumerate() {
        *scale = if i as i64 % pitch < rows { *scale } else { f32::NAN };
    }
    scales
}

fn run<T: Element + Pod, C: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: Option<&GemmConfig>,
) -> Result<(), Failure> {
    let chosen = choose(problem, KernelKind::Sm90, 132);
    let config = config.copied().map_or(chosen, Ok)?;
    let a = filled::<T>(problem.a().span() as usize, Data::Random, 1);
    let b = filled::<T>(problem.b().span() as usize, Data::Random, 2);
    let [of_a, of_b] = [(Operand::A, 3), (Operand::B, 4)].map(|(of, seed)| scales(problem, of, seed));
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let (scales_a, scales_b) = (device.upload(&of_a)?, device.upload(&of_b)?);
    let c = device.alloc::<C>((problem.c().span() + problem.c().ld()) as usize)?;
    let gemm = Gemms::new(device).configured(problem, config, &Epilogue::new())?;
    let wide_a = dequantized(problem, Operand::A, &a, &of_a)?;
    let wide_b = dequantized(problem, Operand::B, &b, &of_b)?;
    for _ in 0..runs(device, &gemm)? {
        c.fill_bytes(0xff)?;
        let given = [("scales_a", Given::from(&scales_a)), ("scales_b", Given::from(&scales_b))];
        gemm.run_with(&on_a, &on_b, &c, &given)?;
        let found = check(problem, &wide_a, &wide_b, &c.download()?, Some(poison()))?;
        if !found.passed() {
            return Err(format!("{problem:?} by {config:?}: {found:?}").into());
        }
    }
    Ok(())
}
