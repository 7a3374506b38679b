//! The peer's side of a product.

use girih_device::Pod;
use girih_tensor::Element;

use crate::contest::{Contestant, Failure, Times, contest};
use crate::cublas::{self, Bias, Plan};
use crate::measure::{Bench, Run, Side};
use crate::operands::Operands;
use crate::rows::Product;

/// How much slower than the fastest an algorithm may be in the short contest, and still be in the last one.
const CLOSE: f64 = 1.08;
/// The most algorithms in the last contest.
const FINALISTS: usize = 3;

pub(crate) fn plan<'a, T: Pod, C: Pod>(
    bench: &Bench,
    product: &Product,
    operands: &'a Operands<'_, T, C>,
) -> Result<Plan<'a>, Failure> {
    if product.weights.is_some() {
        return Err("cuBLASLt has no weights with scales".into());
    }
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
