//! Gated pairs of columns, judged against f64.

use girih_codegen::gemm::{Schedule, Store};
use girih_device::Device;
use girih_kernels::gemm::{
    Activation, Epilogue, GemmConfig, Gemms, Given, Input, KernelKind, Layout, Problem, choose,
};
use girih_tensor::DType;
use half::bf16;

use super::{Data, Failure, batch, configs, filled, fused::normal};

pub(crate) const ALL: [Activation; 4] =
    [Activation::Relu, Activation::Gelu, Activation::GeluErf, Activation::Silu];

fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => {
            x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        }
        Activation::GeluErf => x * normal(x),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// With a store by tensor copies of 32 columns at once of the sums, which become 16 of C.
pub(crate) fn in_turns(config: GemmConfig) -> GemmConfig {
    match config.store {
        Store::Tma { tile: [rows, _], .. } => {
            GemmConfig { store: Store::Tma { tile: [rows, 32], stages: 1 }, ..config }
        }
        _ => config,
    }
}

/// The change of a configuration that is none.
fn same(config: GemmConfig) -> GemmConfig {
    config
}

/// `C = activation(A * B_gate + bias) * (A * B_up + bias) * scale + residual` on a C with a gap between its rows.
fn verify(
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
    change: impl FnOnce(GemmConfig) -> GemmConfig,
    activation: Activation,
) -> Result<(), Failure> {
    let [m, n, k] = problem.mnk();
    // Tensor copies store a C whose rows and pitch are whole vectors.
    let gap = if n / 2 % 8 == 0 { 8 } else { 3 };
    let (problem, pitch) = (problem.with_pitches(None, None, Some(n / 2 + gap))?, n / 2 + 2 * gap);
    let epilogue = Epilogue::new()
        .plus(Input::row("bias", DType::F32))
        .gated(activation)
        .times(Input::row("scale", DType::F32))
        .plus(Input::matrix("residual", DType::Bf16));
    let chosen = choose(&problem.with_epilogue(&epilogue), kind, 132)?;
    let config = choose::with_room(change(chosen), &epilogue);
    let random = |len: i64, seed| filled::<bf16>(len as usize, Data::Random, seed);
    let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
    let (bias, scale) =
        (filled::<f32>(n as usize, Data::Random, 3), filled::<f32>((n / 2) as usize, Data::Random, 4));
    let residual = random(m * pitch, 5);
    let on = (device.upload(&a)?, device.upload(&b)?, device.upload(&residual)?);
    let (on_bias, on_scale) = (device.upload(&bias)?, device.upload(&scale)?);
    let c = device.alloc::<bf16>((problem.c().span() + problem.c().ld()) as usize)?;
    c.fill_bytes(0xff)?;
    let given = [
        ("bias", Given::from(&on_bias)),
        ("scale", Given::from(&on_scale)),
        ("residual", Given::pitched(&on.2, pitch)),
    ];
    Gemms::new(device).configured(&problem, config, &epilogue)?.run_with(&on.0, &on.1, &c, &given)?;
    let c = c.download()?;
    let mut written = vec![false; c.len()];
    for l in 0..problem.batches() {
        for (i, j) in (0..m).flat_map(|i| (0..n / 2).map(move |j| (i, j))) {
            let product = |column: i64| {
                let at = |x: i64| {
                    a[problem.a().offset_in(i, x, l) as usize].to_f64()
                        * b[problem.b().offset_in(column, x, l) as usize].to_f64()
                };
                (0..k).map(at).sum::<f64>() + f64::from(bias[column as usize])
            };
            let (gate, up) = (activated(activation, product(2 * j)), product(2 * j + 1));
            let wanted =
                gate * up * f64::from(scale[j as usize]) + residual[(i * pitch + j) as usize].to_f64();
            let at = problem.c().offset_in(i, j, l) as usize;
            written[at] = true;
            let found = c[at].to_f64();
            let of_sums = 1e-5 * (k as f64).sqrt() * (1.0 + gate.abs() + up.abs());
            let bound = 2.0 * DType::Bf16.epsilon() * wanted.abs() + of_sums + 1e-6;
            if found.is_nan() || (found - wanted).abs() > bound {
                return Err(
                    format!("({i},{j}) of {l} is {found}, not {wanted} +- {bound}, by {config:?}").into()
                );
            }
        }
    }
    match (0..c.len()).find(|&i| !written[i] && !c[i].to_f64().is_nan()) {
        Some(i) => Err(format!("element {i} outside of C was written").into()),
        None => Ok(()),
    }
}

/// Runs products of these sizes by a kernel of this kind, each with another function, and those of blocks that share K, of a batch and of a
/// B whose columns are contiguous.
pub(crate) fn verify_all(device: &Device, kind: KernelKind, sizes: &[[i64; 3]]) -> Result<(), Failure> {
    for (&mnk, activation) in sizes.iter().zip(ALL.into_iter().cycle()) {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?.gated()?;
        verify(device, &problem, kind, same, activation)?;
    }
    let problem = Problem::new(DType::Bf16, [70, 134, 200], Layout::Nn)?.gated()?;
    let split = |config| configs::scheduled(config, Schedule::SplitK { parts: 2, cluster: 1 });
    verify(device, &problem, kind, split, Activation::Silu)?;
    let problem = Problem::new(DType::Bf16, [300, 336, 72], Layout::Tn)?.gated()?;
    verify(device, &problem, kind, in_turns, Activation::Silu)?;
    let problem = batch(Problem::new(DType::Bf16, [40, 72, 40], Layout::Tn)?.gated()?, 3, [0, 0, 0]);
    verify(device, &problem, kind, same, Activation::Gelu)
}
