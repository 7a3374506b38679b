//! GEMMs whose sums become C by an epilogue, judged element by element against f64.

use girih_codegen::Cond;
use girih_codegen::gemm::Schedule;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{Epilogue, GemmConfig, Gemms, Given, Input, KernelKind, Order, Problem, choose};
use girih_tensor::{DType, Element};
use half::bf16;

use super::{Data, Failure, dot, filled, rows};

/// What an epilogue makes of the sum of element (m,n), computed in f64 from the sum, the coordinates and the inputs.
type Expected = fn(f64, [i64; 2], &Values) -> f64;

pub(crate) struct Values {
    alpha: f64,
    row: f64,
    column: f64,
    matrix: f64,
}

pub(crate) fn gelu(x: f64) -> f64 {
    x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

/// The integral of the density of the normal distribution up to `x`, by Simpson's rule, to 1e-7 of the density at `x`.
pub(crate) fn normal(x: f64) -> f64 {
    const STEPS: i32 = 800;
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let from = -12.0;
    let width = (x.clamp(from, -from) - from) / f64::from(STEPS);
    let weight = |i: i32| match i {
        0 | STEPS => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=STEPS).map(|i| weight(i) * density(from + f64::from(i) * width)).sum::<f64>() * width / 3.0
}

/// Epilogues with every ready-made node and with functions of the caller's, and what they compute.
pub(crate) fn epilogues() -> Vec<(Epilogue, Expected)> {
    let (row, column) = (Input::row("row", DType::Bf16), Input::column("column", DType::F32));
    let (matrix, any) =
        (Input::matrix("matrix", DType::Bf16), Input::matrix("matrix", DType::Bf16).unaligned());
    let with = Epilogue::new;
    let triangle = with().node("scaled lower triangle", [column.clone()], |_, e| {
        let [m, n] = e.coordinate();
        Ok((e.value() * e.input("column")).select(&Cond::less(n, &(m + 1)), 0.0))
    });
    vec![
        (with().scale("alpha"), |x, _, v| x * v.alpha),
        (with().scale_by(-0.5).relu(), |x, _, _| (x * -0.5).max(0.0)),
        (with().plus(row.clone()).gelu().plus(matrix.clone()), |x, _, v| gelu(x + v.row) + v.matrix),
        (with().plus(row.clone()).gelu_erf(), |x, _, v| (x + v.row) * normal(x + v.row)),
        (with().times(column).silu(), |x, _, v| x * v.column / (1.0 + (-x * v.column).exp())),
        (with().scale("alpha").plus_scaled("beta", any), |x, _, v| x * v.alpha + 0.75 * v.matrix),
        (
            triangle.then(with().map("square", |x| x * x)),
            |x, [m, n], v| {
                if n <= m { (x * v.column).powi(2) } else { 0.0 }
            },
        ),
        (with().plus(row.unaligned()), |x, _, v| x + v.row),
    ]
}

/// Runs `problem` with every epilogue by every kernel that takes it, by another schedule than the chosen one if there is one.
pub(crate) fn verify_all<T: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    kinds: &[KernelKind],
    schedule: Option<Schedule>,
) -> Result<(), Failure> {
    for &kind in kinds {
        let chosen = choose(problem, kind, device.limits().multiprocessors)?;
        let config = schedule.map_or(chosen, |schedule| super::configs::scheduled(chosen, schedule));
        for (epilogue, expected) in epilogues() {
            verify::<T>(gemms, device, problem, config, &epilogue, expected)
                .map_err(|e| format!("{problem:?} by {kind:?}, {epilogue:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Runs `problem` with one of [`epilogues`] by the kernel that is chosen for it.
pub(crate) fn verify_one<T: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
    number: usize,
) -> Result<(), Failure> {
    let (epilogue, expected) = &epilogues()[number];
    let config = choose(&problem.with_epilogue(epilogue), kind, device.limits().multiprocessors)?;
    let verified = verify::<T>(gemms, device, problem, config, epilogue, *expected);
    verified.map_err(|e| format!("{problem:?} by {kind:?}, {epilogue:?}: {e}").into())
}

pub(crate) fn verify<T: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    config: GemmConfig,
    epilogue: &Epilogue,
    expected: Expected,
) -> Result<(), Failure> {
    let [m, n, k] = problem.mnk();
    let random = |len: i64, seed| filled::<T>(len as usize, Data::Random, seed);
    let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
    // The matrix lies like C, and is aligned as C is unless its input accepts any alignment.
    let unaligned = epilogue.inputs().iter().any(|input| input.vector == Some(1));
    let lines = problem.c().extents()[problem.c().contiguous()];
    let pitch = lines + if unaligned { 3 } else { 8 };
    let others = if problem.c().contiguous() == 1 { m } else { n };
    let matrix = filled::<bf16>((others * pitch) as usize, Data::Random, 3);
    let (row, column) =
        (filled::<bf16>(n as usize, Data::Random, 4), filled::<f32>(m as usize, Data::Random, 5));
    let on = (device.upload(&a)?, device.upload(&b)?, device.upload(&matrix)?);
    let (on_row, on_column) = (device.upload(&row)?, device.upload(&column)?);
    let c = device.alloc::<T>((problem.c().span() + problem.c().ld()) as usize)?;
    c.fill_bytes(0xff)?;
    let all = [
        ("alpha", Given::from(1.5)),
        ("beta", Given::from(0.75)),
        ("row", Given::from(&on_row)),
        ("column", Given::from(&on_column)),
        ("matrix", Given::pitched(&on.2, pitch)),
    ];
    let inputs = epilogue.inputs();
    let given: Vec<_> =
        all.into_iter().filter(|(name, _)| inputs.iter().any(|input| input.name == *name)).collect();
    gemms.configured(problem, config, epilogue)?.run_with(&on.0, &on.1, &c, &given)?;
    let c = c.download()?;
    let order = if problem.c().contiguous() == 1 { Order::Row } else { Order::Column };
    let mut written = vec![false; c.len()];
    let (a, b) = (rows(&problem.a(), 0, &a), rows(&problem.b(), 0, &b));
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let sum = dot(&a[i as usize], &b[j as usize]);
        let place = if order == Order::Row { i * pitch + j } else { j * pitch + i } as usize;
        let values = Values {
            alpha: 1.5,
            row: row[j as usize].to_f64(),
            column: column[i as usize].into(),
            matrix: matrix[place].to_f64(),
        };
        let at = problem.c().offset(i, j) as usize;
        written[at] = true;
        let (found, expected) = (c[at].to_f64(), expected(sum, [i, j], &values));
        // The bound has the error of the sums, that of approximated functions, and one rounding.
        let bound = 2.0 * T::DTYPE.epsilon() * expected.abs() + 1e-5 * (k as f64).sqrt() + 1e-6;
        if (found - expected).abs() > bound || found.is_nan() {
            return Err(format!("({i},{j}) is {found}, expected {expected}").into());
        }
    }
    match (0..c.len()).find(|&i| !written[i] && !c[i].to_f64().is_nan()) {
        Some(i) => Err(format!("element {i} outside of C was written").into()),
        None => Ok(()),
    }
}
