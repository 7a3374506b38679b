//! A row that is a matrix product: girih beside its peer.

use float8::F8E4M3;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{
    Epilogue, Gemm, GemmConfig, Gemms, Given, Input, KernelKind, Problem, choose, described,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use serde_json::{Value, json};

use crate::contest::{Contestant, Failure, Rules, Times, contest};
use crate::cublas::{self, Bias, Plan};
use crate::measure::{Bench, Run, Side, streamed};
use crate::operands::{Bounds, Fused, Operands};
use crate::record::{Clocks, compared};
use crate::rows::{Peer, Product, Row, Work};

/// How much slower than the fastest an algorithm may be in the short contest, and still be in the last one.
const CLOSE: f64 = 1.08;
/// The most algorithms in the last contest.
const FINALISTS: usize = 3;
/// Rounds of a side that has nobody beside it.
const ALONE: usize = 3;

/// Calls a function of the element types of a product.
macro_rules! typed {
    ($product:expr, $call:ident($($arg:expr),*)) => {
        match ($product.dtype, $product.output) {
            (DType::F32 | DType::Tf32, DType::F32) => $call::<f32, f32>($($arg),*),
            (DType::F16, DType::F16) => $call::<f16, f16>($($arg),*),
            (DType::Bf16, DType::Bf16) => $call::<bf16, bf16>($($arg),*),
            (DType::E4m3, DType::Bf16) => $call::<F8E4M3, bf16>($($arg),*),
            (DType::S8, DType::S32) => $call::<i8, i32>($($arg),*),
            (DType::F64, DType::F64) => $call::<f64, f64>($($arg),*),
            (input, output) => Err(format!("no bench has operands of {input} and {output}").into()),
        }
    };
}
pub(crate) use typed;

impl Bench {
    /// Measures a row that is a product.
    ///
    /// # Errors
    /// What neither girih nor the peer is to blame for: the device's.
    pub(crate) fn product(&self, row: &Row, product: &Product) -> Result<Value, Failure> {
        typed!(product, measure(self, row, product))
    }
}

fn measure<T: Element + Pod, C: Element + Pod>(
    bench: &Bench,
    row: &Row,
    product: &Product,
) -> Result<Value, Failure> {
    let device = &bench.device;
    let operands = Operands::<T, C>::new(bench, product)?;
    let ours = Ours::new(bench, product, None, &operands);
    alive(device, &ours)?;
    // The peer's operands, if it is another row.
    let other = match &row.peer {
        Peer::Row(name) => Some(bench.product_of(name)?),
        _ => None,
    };
    let others = other.map(|other| Operands::<T, C>::new(bench, other)).transpose()?;
    let plan = if other.is_none() { Some(plan(bench, product, &operands)) } else { None };
    let theirs = match (&plan, other, &others) {
        (_, Some(other), Some(others)) => {
            Ours::new(bench, other, None, others).map(|ours| vec![ours.side.named(row_name(row))])
        }
        (Some(Ok(plan)), ..) => finalists(bench, plan, &operands),
        (Some(Err(error)), ..) => Err(error.to_string().into()),
        (None, ..) => Err("no peer".into()),
    };
    alive(device, &theirs)?;
    let mut record = json!({"row": row.name, "frozen": row.frozen, "bar": row.bar});
    let sides = ours.iter().map(|ours| &ours.side).chain(theirs.iter().flatten());
    let mut contestants: Vec<Contestant<'_>> = sides.map(Side::contestant).collect();
    let rounds = if ours.is_ok() && theirs.is_ok() { bench.effort.last.rounds } else { ALONE };
    let clocks = (ours.is_ok() && theirs.is_ok()).then(Clocks::of_soon);
    let mut times = contest(device, Rules { rounds, ..bench.effort.last }, &mut contestants)?;
    drop(contestants);
    record["clocks"] = clocks.map(Clocks::told).into();
    let girih = ours.is_ok().then(|| times.remove(0));
    let best = (0..times.len()).min_by_key(|&i| times[i].samples.median());
    compared(&mut record, &row.work, girih.as_ref(), best.map(|best| &times[best]));
    match &ours {
        Ok(ours) => {
            record["config"] = ours.config.as_str().into();
            record["girih_stream_us"] = ours.side.streamed(device)?.into();
            record["girih_run_us"] = streamed(device, &ours.by_call, operands.sets())?.into();
            operands.poison()?;
            ours.side.replay()?;
            if let Err(wrong) = operands.check(operands.sets() - 1, Bounds::Exact) {
                record["girih_wrong"] = wrong.to_string().into();
            }
        }
        Err(wrong) if wrong.is::<Wrong>() => record["girih_wrong"] = wrong.to_string().into(),
        Err(missing) => record["girih_missing"] = missing.to_string().into(),
    }
    match (&theirs, best) {
        (Ok(theirs), Some(best)) => {
            record["peer_stream_us"] = theirs[best].streamed(device)?.into();
            if others.is_none() {
                operands.poison()?;
                (theirs[best].run)(0)?;
                if let Err(wrong) = operands.check(0, Bounds::Rough) {
                    record["peer_wrong"] = wrong.to_string().into();
                }
            }
        }
        (Err(missing), _) => record["peer_missing"] = missing.to_string().into(),
        (Ok(_), None) => {}
    }
    Ok(record)
}

/// A kernel whose result is not the product.
#[derive(Debug, thiserror::Error)]
#[error("wrong result of {0}")]
struct Wrong(String);

/// Says what a side did before the device failed: then nothing that comes can be measured.
fn alive<S>(device: &Device, side: &Result<S, Failure>) -> Result<(), Failure> {
    let said = side.as_ref().err().map_or(String::new(), |error| format!(" after: {error}"));
    device.synchronize().map_err(|error| format!("{error}{said}").into())
}

fn row_name(row: &Row) -> String {
    match &row.peer {
        Peer::Row(name) => format!("girih: {name}"),
        Peer::CublasLt | Peer::DeviceToDevice => String::from("girih"),
    }
}

/// girih's kernel for a product, with a launch for each set of operands.
pub(crate) struct Ours<'a> {
    pub(crate) side: Side<'a>,
    /// By a call that checks and encodes its arguments each time.
    pub(crate) by_call: Run<'a>,
    /// The configuration.
    pub(crate) config: String,
}

impl<'a> Ours<'a> {
    /// Loads the kernel of a configuration, or of girih's choice, and checks its result.
    pub(crate) fn new<T: Element + Pod, C: Element + Pod>(
        bench: &Bench,
        product: &Product,
        config: Option<GemmConfig>,
        operands: &'a Operands<'_, T, C>,
    ) -> Result<Ours<'a>, Failure> {
        let problem = problem(product)?;
        let gemm = load(bench, product, &problem, config)?;
        Ours::loaded(bench, gemm, operands, bench.effort.graph)
    }

    /// Checks the result of a kernel, and captures a graph of so many launches as take `length`.
    pub(crate) fn loaded<T: Element + Pod, C: Element + Pod>(
        bench: &Bench,
        gemm: Gemm,
        operands: &'a Operands<'_, T, C>,
        length: std::time::Duration,
    ) -> Result<Ours<'a>, Failure> {
        let config = described(gemm.config());
        operands.outputs[0].fill_bytes(0xff)?;
        let _tried = Tried::new(bench, &config);
        let ([a, b], c) = (&operands.inputs[0], &operands.outputs[0]);
        gemm.run_with(a, b, c, &given(operands, 0))?;
        operands.check(0, Bounds::Exact).map_err(|wrong| Wrong(format!("{config}: {wrong}")))?;
        let launches = (0..operands.sets()).map(|set| {
            let ([a, b], c) = (&operands.inputs[set], &operands.outputs[set]);
            gemm.prepare(a, b, c, &given(operands, set))?.ok_or("C is empty".into())
        });
        let launches = launches.collect::<Result<Vec<_>, Failure>>()?;
        #[allow(unsafe_code, reason = "a launch of a prepared kernel")]
        // SAFETY: the buffers hold the problem's matrices.
        let run: Run<'a> = Box::new(move |set| Ok(unsafe { launches[set].run() }?));
        let by_call: Run<'a> = Box::new(move |set| {
            let [a, b] = &operands.inputs[set];
            Ok(gemm.run_with(a, b, &operands.outputs[set], &given(operands, set))?)
        });
        let side = Side::new(&bench.device, String::from("girih"), run, operands.sets(), length)?;
        Ok(Ours { side, by_call, config })
    }
}

/// Names what is tried until it has ended, with whatever result. A configuration that has stopped the device has not.
struct Tried<'a>(&'a Bench);

impl<'a> Tried<'a> {
    fn new(bench: &'a Bench, config: &str) -> Tried<'a> {
        bench.trial().set(Some(config.into()));
        Tried(bench)
    }
}

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        if self.0.device.synchronize().is_ok() {
            self.0.trial().set(None);
        }
    }
}

/// girih's problem, where girih has such products.
pub(crate) fn problem(product: &Product) -> Result<Problem, Failure> {
    let lacks = |what: &str| Err(format!("girih has no {what}").into());
    if product.grouped {
        return lacks("grouped products");
    }
    if product.batch != 1 {
        return lacks("batches");
    }
    if matches!(product.dtype, DType::E4m3 | DType::E5m2) && !product.fast {
        return lacks("full sums of 8-bit floats");
    }
    if product.weights.is_some() {
        return lacks("products of different inputs");
    }
    let [lda, ldb, ldc] = product.pitches().map(Some);
    let problem = Problem::new(product.dtype, product.mnk, product.layout)?;
    Ok(problem.with_output(product.output)?.with_pitches(lda, ldb, ldc)?)
}

/// girih's choice for a problem.
pub(crate) fn chosen(bench: &Bench, product: &Product, problem: &Problem) -> Result<GemmConfig, Failure> {
    let limits = bench.device.limits();
    let kind = product.kernel.unwrap_or_else(|| KernelKind::for_problem(problem, limits.sm));
    Ok(choose(problem, kind, limits.multiprocessors)?)
}

fn load(
    bench: &Bench,
    product: &Product,
    problem: &Problem,
    config: Option<GemmConfig>,
) -> Result<Gemm, Failure> {
    let config = config.map_or_else(|| chosen(bench, product, problem), Ok)?;
    Ok(Gemms::new(&bench.device).configured(problem, config, &epilogue(product))?)
}

/// The nodes of a product: those that cuBLASLt has in this order.
pub(crate) fn epilogue(product: &Product) -> Epilogue {
    if !product.fused {
        return Epilogue::new();
    }
    let [residual, bias] = [Input::matrix("residual", product.output), Input::row("bias", product.output)];
    Epilogue::new().plus(residual).plus(bias).gelu()
}

/// What the nodes read.
fn given<'a, T: Pod, C: Element + Pod>(
    operands: &'a Operands<'_, T, C>,
    set: usize,
) -> Vec<(&'static str, Given<'a>)> {
    let given = |fused: &'a Fused<C>| {
        [("residual", Given::from(&fused.residuals[set])), ("bias", Given::from(&fused.bias))]
    };
    operands.fused.iter().flat_map(given).collect()
}

impl Bench {
    /// The product of the row of a name.
    fn product_of(&self, name: &str) -> Result<&Product, Failure> {
        match self.rows.iter().find(|row| row.name == name).map(|row| &row.work) {
            Some(Work::Product(product)) => Ok(product),
            _ => Err(format!("no row of products is called {name}").into()),
        }
    }
}

pub(crate) fn plan<'a, T: Pod, C: Pod>(
    bench: &Bench,
    product: &Product,
    operands: &'a Operands<'_, T, C>,
) -> Result<Plan<'a>, Failure> {
    let library = bench.cublas.as_ref().map_err(|error| error.as_str())?;
    let bias = operands.fused.as_ref().map(|fused| Bias::from(&fused.bias));
    Ok(Plan::new(library, cublas::Problem::of_row(product), bias)?)
}

/// The fastest algorithms of the heuristic's list, by one slice of each.
pub(crate) fn finalists<'a, T: Element + Pod, C: Element + Pod>(
    bench: &Bench,
    plan: &'a Plan<'_>,
    operands: &'a Operands<'_, T, C>,
) -> Result<Vec<Side<'a>>, Failure> {
    let side = |index: usize| -> Result<Side<'a>, Failure> {
        let run: Run<'a> = Box::new(move |set| {
            let [a, b] = &operands.inputs[set];
            let residual = operands.fused.as_ref().map(|fused| &fused.residuals[set]);
            // C' = B' A'
            Ok(plan.run_with(index, [b, a], residual, &operands.outputs[set])?)
        });
        Side::new(&bench.device, plan.name(index), run, operands.sets(), bench.effort.graph)
    };
    let (mut sides, mut refused) = (Vec::new(), None);
    for index in 0..plan.algorithms() {
        // The heuristic lists some that then refuse.
        match side(index) {
            Ok(side) => sides.push(side),
            Err(error) => refused = Some(error),
        }
    }
    if let (true, Some(error)) = (sides.is_empty(), refused) {
        return Err(error);
    }
    if sides.len() > 1 {
        let mut contestants: Vec<Contestant<'_>> = sides.iter().map(Side::contestant).collect();
        let times = contest(&bench.device, bench.effort.ranking, &mut contestants)?;
        drop(contestants);
        sides = closest(sides, &times, FINALISTS);
    }
    Ok(sides)
}

/// The fastest ones, at most `most`, and none that is far behind the first.
pub(crate) fn closest<S>(sides: Vec<S>, times: &[Times], most: usize) -> Vec<S> {
    let mut ranked: Vec<(S, f64)> = sides
        .into_iter()
        .zip(times)
        .map(|(side, times)| (side, times.samples.median().as_secs_f64()))
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let first = ranked.first().map_or(0.0, |(_, time)| *time);
    ranked.into_iter().take(most).filter(|(_, time)| *time <= CLOSE * first).map(|(side, _)| side).collect()
}
