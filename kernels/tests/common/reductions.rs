//! Outputs of an epilogue besides C, judged against f64: sums of rows and columns and largest absolute values, between other nodes.

use girih_codegen::gemm::Schedule;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, Given, Input, KernelKind, Output, Problem, Reduction, choose,
};
use girih_tensor::{DType, Element};

use super::{Data, Failure, configs, dot, filled, rows};

/// What a product has of each output: with these strides in a batch, there is something between them.
const GAP: i64 = 3;
/// The names of the outputs, with what the expected values of each are of.
const NAMES: [&str; 4] = ["columns", "rows", "most", "amax"];

/// The outputs of one product in f64, each value with its bound.
struct Expected([Vec<[f64; 2]>; 4]);

/// Sums columns before the bias, rows after it, and takes the largest absolute values of rows and of all elements at the end.
fn epilogue() -> Epilogue {
    Epilogue::new()
        // What lies outside of C becomes 2, and must not count.
        .map("x + 2", |x| x + 2.0)
        .reduce(Output::row("columns", Reduction::Sum))
        .plus(Input::row("bias", DType::F32))
        .reduce(Output::column("rows", Reduction::Sum))
        .scale_by(-0.75)
        // One that is combined across warps last, before one that begins anew.
        .amax("amax")
        .reduce(Output::column("most", Reduction::AbsMax))
}

/// Runs `problem` by every kernel of `kinds`, by another schedule than the chosen one if there is one.
pub(crate) fn verify_all<T: Element + Pod>(
    device: &Device,
    problem: &Problem,
    kinds: &[KernelKind],
    schedule: Option<Schedule>,
) -> Result<(), Failure> {
    for &kind in kinds {
        let chosen = choose(&problem.with_epilogue(&epilogue()), kind, device.limits().multiprocessors)?;
        let config = schedule.map_or(chosen, |schedule| configs::scheduled(chosen, schedule));
        let config = choose::with_room(config, &epilogue());
        verify::<T>(device, problem, config).map_err(|e| format!("{problem:?} by {config:?}: {e}"))?;
    }
    Ok(())
}

/// Runs `problem` twice on poisoned outputs, which have to be right, and the same each time.
pub(crate) fn verify<T: Element + Pod>(
    device: &Device,
    problem: &Problem,
    config: GemmConfig,
) -> Result<(), Failure> {
    let [m, n, _] = problem.mnk();
    let random = |len: i64, seed| filled::<T>(len as usize, Data::Random, seed);
    let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
    let bias = filled::<f32>(n as usize, Data::Random, 3);
    let (on_a, on_b, on_bias) = (device.upload(&a)?, device.upload(&b)?, device.upload(&bias)?);
    let c = device.alloc::<T>((problem.c().span() + problem.c().ld()) as usize)?;
    let gemm = Gemms::new(device).configured(problem, config, &epilogue())?;
    let lens = [n, m, m, 1];
    let expected: Vec<Expected> =
        (0..problem.batches()).map(|l| expected(problem, l, &a, &b, &bias)).collect();
    let mut before: Option<Vec<Vec<f32>>> = None;
    for _ in 0..2 {
        let mut outputs = Vec::new();
        for len in lens {
            let output = device.alloc::<f32>((problem.batches() * (len + GAP)) as usize)?;
            output.fill_bytes(0xff)?;
            outputs.push(output);
        }
        let mut given = vec![("bias", Given::from(&on_bias))];
        let named = NAMES.iter().zip(&outputs).zip(lens);
        given.extend(named.map(|((name, output), len)| (*name, Given::from(output).for_each(len + GAP))));
        gemm.run_with(&on_a, &on_b, &c, &given)?;
        let found = outputs.iter().map(|output| output.download()).collect::<Result<Vec<_>, _>>()?;
        for (l, Expected(expected)) in (0..).zip(&expected) {
            for ((name, found), (expected, len)) in NAMES.iter().zip(&found).zip(expected.iter().zip(lens)) {
                let own = &found[(l * (len + GAP)) as usize..][..(len + GAP) as usize];
                for (i, (&x, [wanted, bound])) in own.iter().zip(expected).enumerate() {
                    if x.is_nan() || (f64::from(x) - wanted).abs() > *bound {
                        return Err(
                            format!("{name}[{i}] of product {l} is {x}, not {wanted} +- {bound}").into()
                        );
                    }
                }
                if let Some(i) = own.iter().skip(expected.len()).position(|x| !x.is_nan()) {
                    return Err(format!("{name} is written {i} elements behind its end").into());
                }
            }
        }
        let bits = |all: &[Vec<f32>]| all.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
        if before.as_ref().is_some_and(|before| bits(before) != bits(&found)) {
            return Err("another result".into());
        }
        before = Some(found);
    }
    Ok(())
}

fn expected<T: Element>(problem: &Problem, l: i64, a: &[T], b: &[T], bias: &[f32]) -> Expected {
    let [m, n, k] = problem.mnk();
    let (a, b) = (rows(&problem.a(), l, a), rows(&problem.b(), l, b));
    let lens = [n, m, m, 1];
    let mut out = lens.map(|len| vec![[0f64; 2]; len as usize]);
    // The error of a sum, of its K products and of those that are added up here; twice for the values after the bias.
    let of_sum = 1e-5 * ((k + 1) as f64).sqrt();
    for (i, j) in (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j))) {
        let sum = dot(&a[i], &b[j]) + 2.0;
        let biased = sum + f64::from(bias[j]);
        for (output, at, value) in [(0, j, sum), (1, i, biased)] {
            let [wanted, bound] = out[output][at];
            out[output][at] = [wanted + value, bound + of_sum + 1e-6 * value.abs()];
        }
        let most = (biased * -0.75).abs();
        let of_row = &mut out[2][i];
        *of_row = [of_row[0].max(most), of_sum + 1e-6];
        out[3][0] = [out[3][0][0].max(most), of_sum + 1e-6];
    }
    Expected(out)
}
