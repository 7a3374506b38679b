//! Gated pairs of columns on the simulator with every check enabled, judged against f64, and what is refused.

use girih_codegen::gemm::Schedule;
use girih_device::Device;
use girih_kernels::gemm::{
    Activation, Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Output, Problem, Reduction, check,
    check_gated, choose,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Data, Failure, batch, configs, filled, fused::normal};

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

/// `C = activation(A * B_gate + bias) * (A * B_up + bias) * scale + residual` on a C with a gap between its rows.
fn verify(
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
    schedule: Option<Schedule>,
    activation: Activation,
) -> Result<(), Failure> {
    let [m, n, k] = problem.mnk();
    let problem = problem.with_pitches(None, None, Some(n / 2 + 3))?;
    let epilogue = Epilogue::new()
        .plus(Input::row("bias", DType::F32))
        .gated(activation)
        .times(Input::row("scale", DType::F32))
        .plus(Input::matrix("residual", DType::Bf16));
    let chosen = choose(&problem.with_epilogue(&epilogue), kind, 132)?;
    let config = schedule.map_or(chosen, |schedule| configs::scheduled(chosen, schedule));
    let config = choose::with_room(config, &epilogue);
    let random = |len: i64, seed| filled::<bf16>(len as usize, Data::Random, seed);
    let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
    let (bias, scale) =
        (filled::<f32>(n as usize, Data::Random, 3), filled::<f32>((n / 2) as usize, Data::Random, 4));
    let residual = random(m * (n / 2 + 5), 5);
    let on = (device.upload(&a)?, device.upload(&b)?, device.upload(&residual)?);
    let (on_bias, on_scale) = (device.upload(&bias)?, device.upload(&scale)?);
    let c = device.alloc::<bf16>((problem.c().span() + problem.c().ld()) as usize)?;
    c.fill_bytes(0xff)?;
    let given = [
        ("bias", Given::from(&on_bias)),
        ("scale", Given::from(&on_scale)),
        ("residual", Given::pitched(&on.2, n / 2 + 5)),
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
                gate * up * f64::from(scale[j as usize]) + residual[(i * (n / 2 + 5) + j) as usize].to_f64();
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

const ALL: [Activation; 4] = [Activation::Relu, Activation::Gelu, Activation::GeluErf, Activation::Silu];

/// By warps and by warpgroups, on ragged sizes of one and of several tiles.
#[test]
fn by_every_mainloop() -> Result<(), Failure> {
    let device = checked();
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        for (mnk, activation) in
            [[135, 70, 49], [3, 2, 8], [264, 330, 48], [20, 264, 72]].into_iter().zip(ALL)
        {
            let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?.gated()?;
            verify(&device, &problem, kind, None, activation)?;
        }
        let problem = Problem::new(DType::Bf16, [70, 134, 200], Layout::Nn)?.gated()?;
        verify(&device, &problem, kind, Some(Schedule::SplitK { parts: 2, cluster: 1 }), Activation::Silu)?;
        let problem = batch(Problem::new(DType::Bf16, [40, 72, 40], Layout::Tn)?.gated()?, 3, [0, 0, 0]);
        verify(&device, &problem, kind, None, Activation::Gelu)?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_gated_is_refused() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let even = Problem::new(DType::Bf16, [8, 16, 8], Layout::Tn)?;
    let told = Problem::new(DType::Bf16, [8, 15, 8], Layout::Tn)?.gated().expect_err("odd").to_string();
    assert!(told.contains("an N of 15, but accepted is an even N"), "{told}");
    let told = even.with_order(Order::Column).gated().expect_err("columns").to_string();
    assert!(told.contains("a row-major C"), "{told}");
    let (problem, gated) = (even.gated()?, Epilogue::new().gated(Activation::Silu));
    let both = [Input::matrix("x", DType::Bf16), Input::matrix("x", DType::Bf16)];
    let [before, behind] = both.map(|input| Epilogue::new().plus(input));
    for (problem, kind, epilogue, text) in [
        (even, KernelKind::Sm80, gated.clone(), "`Problem::gated`"),
        (problem, KernelKind::Sm80, Epilogue::new().relu(), "`Epilogue::gated`"),
        (problem, KernelKind::Sm80, gated.clone().gated(Activation::Relu), "one gate"),
        (problem, KernelKind::Sm90, gated.clone().amax("amax"), "no outputs besides C"),
        (
            problem,
            KernelKind::Sm90,
            gated.clone().reduce(Output::row("sums", Reduction::Sum)),
            "no outputs besides C",
        ),
        (problem, KernelKind::Sm80, before.then(gated.clone()).then(behind), "inputs of different names"),
        (problem.with_order(Order::Column), KernelKind::Sm80, gated.clone(), "a C whose rows are contiguous"),
        (
            Problem::new(DType::F32, [8, 16, 8], Layout::Tn)?.gated()?,
            KernelKind::Simt,
            gated.clone(),
            "an atom of tensor cores",
        ),
    ] {
        let told = gemms.fused(&problem, kind, &epilogue).expect_err(text).to_string();
        assert!(told.contains(text), "{told}\n{text}");
    }
    Ok(())
}

/// The check of a product with gated pairs alone, which tells of an element that is wrong.
#[test]
fn the_check_tells() -> Result<(), Failure> {
    let device = checked();
    for (kind, activation) in
        [KernelKind::Sm80, KernelKind::Sm90].into_iter().flat_map(|kind| ALL.map(|a| (kind, a)))
    {
        let problem = Problem::new(DType::Bf16, [19, 22, 40], Layout::Tn)?.gated()?;
        let random = |len: i64, seed| filled::<bf16>(len as usize, Data::Random, seed);
        let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
        let (on_a, on_b, on_c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(19 * 11)?);
        Gemms::new(&device)
            .fused(&problem, kind, &Epilogue::new().gated(activation))?
            .run(&on_a, &on_b, &on_c)?;
        let mut c = on_c.download()?;
        assert!(check_gated(&problem, activation, &a, &b, &c, None)?.passed(), "{kind:?} {activation}");
        let wrong = c[100].to_f64() + 0.05 * (1.0 + c[100].to_f64().abs());
        c[100] = bf16::from_f64(wrong);
        let told = check_gated(&problem, activation, &a, &b, &c, None)?;
        assert!(!told.passed() && told.worst_at == [9, 1], "{told:?}");
        assert!(check(&problem, &a, &b, &c, None).is_err());
    }
    Ok(())
}
