//! girih's side of a product.

use std::time::Duration;

use girih_device::Pod;
use girih_kernels::gemm::{Epilogue, Gemm, GemmConfig, Given, Input, KernelKind, Problem, choose, described};
use girih_tensor::Element;
use serde_json::Value;

use crate::contest::Failure;
use crate::fields;
use crate::measure::{Bench, Run, Side};
use crate::operands::{Fused, Operands, problem};
use crate::rows::Product;

/// A kernel whose result is not the product.
#[derive(Debug, thiserror::Error)]
#[error("wrong result of {0}")]
pub(crate) struct Wrong(pub(crate) String);

/// girih's kernel for a product, with a launch for each set of operands.
pub(crate) struct Ours<'a> {
    pub(crate) side: Side<'a>,
    /// By a call that checks and encodes its arguments each time.
    pub(crate) by_call: Run<'a>,
    /// The configuration, and its fields.
    pub(crate) config: String,
    pub(crate) fields: Value,
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

    /// Checks the result of a kernel, and captures a graph of this many launches as take `length`.
    pub(crate) fn loaded<T: Element + Pod, C: Element + Pod>(
        bench: &Bench,
        gemm: Gemm,
        operands: &'a Operands<'_, T, C>,
        length: Duration,
    ) -> Result<Ours<'a>, Failure> {
        let copied = ["A", "B"].into_iter().zip(gemm.copied()).filter(|(_, copy)| copy.is_some());
        let copied: String = copied.map(|(name, _)| format!(", {name} copied")).collect();
        let (config, fields) = (described(gemm.config()) + &copied, fields::config(gemm.config()));
        operands.outputs[0].fill_bytes(0xff)?;
        let _tried = Tried::new(bench, &described(gemm.config()));
        run(&gemm, operands, 0)?;
        operands.check_own(0).map_err(|wrong| Wrong(format!("{config}: {wrong}")))?;
        let launches = (0..operands.sets()).map(|set| {
            let ([a, b], c) = (&operands.inputs[set], &operands.outputs[set]);
            let given = given(operands, set);
            let launch = match &operands.weights {
                Some(weights) => gemm.prepare(a, &weights.numbers[set], c, &given)?,
                None => gemm.prepare(a, b, c, &given)?,
            };
            launch.ok_or("C is empty".into())
        });
        let launches = launches.collect::<Result<Vec<_>, Failure>>()?;
        #[allow(unsafe_code, reason = "a launch of a prepared kernel")]
        // SAFETY: the buffers hold the problem's matrices.
        let launched: Run<'a> = Box::new(move |set| Ok(unsafe { launches[set].run() }?));
        let by_call: Run<'a> = Box::new(move |set| run(&gemm, operands, set));
        let side = Side::new(&bench.device, String::from("girih"), launched, operands.sets(), length)?;
        Ok(Ours { side, by_call, config, fields })
    }
}

/// Calls girih for a set.
fn run<T: Element + Pod, C: Element + Pod>(
    gemm: &Gemm,
    operands: &Operands<'_, T, C>,
    set: usize,
) -> Result<(), Failure> {
    let ([a, b], c, given) = (&operands.inputs[set], &operands.outputs[set], given(operands, set));
    Ok(match &operands.weights {
        Some(weights) => gemm.run_with(a, &weights.numbers[set], c, &given),
        None => gemm.run_with(a, b, c, &given),
    }?)
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

/// girih's choice for a problem.
pub(crate) fn chosen(bench: &Bench, product: &Product, problem: &Problem) -> Result<GemmConfig, Failure> {
    let limits = bench.device.limits();
    let kind = product.kernel.unwrap_or_else(|| KernelKind::for_problem(problem, limits.sm));
    let problem = problem.with_epilogue(&epilogue(product));
    Ok(choose(&problem, kind, limits)?)
}

fn load(
    bench: &Bench,
    product: &Product,
    problem: &Problem,
    config: Option<GemmConfig>,
) -> Result<Gemm, Failure> {
    let config = config.map_or_else(|| chosen(bench, product, problem), Ok)?;
    Ok(bench.gemms.configured(problem, config, &epilogue(product))?)
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
    let scales = operands.weights.iter().map(|weights| ("scales", Given::from(&weights.scales[set])));
    let offsets = operands.offsets.iter().map(|(_, offsets)| ("offsets", Given::from(offsets)));
    operands.fused.iter().flat_map(given).chain(scales).chain(offsets).collect()
}
