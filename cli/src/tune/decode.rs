//! `girih tune attention decode`: the fastest number of splits of the keys.

use girih_device::Pod;
use girih_kernels::attention::decode::{Decode, DecodePlan, DecodeProblem, choose};
use girih_tensor::Element;

use super::contest::{Entrant, Tuned, rounds};
use super::said::Said;
use crate::attention::decode::{Inputs, OnDevice, ProblemArgs, of_types, peak};
use crate::progress::Busy;
use crate::run::{RunArgs, Session};
use crate::{CommandResult, Error};

/// Numbers of splits that are tried.
const PARTS: [i64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// The arguments of `girih tune attention decode`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let (problem, lengths) = args.problem.without_files()?;
    let by = of_types!(problem, tune);
    let (session, mut said) = (Session::open(&args.run)?, Said::new(args.run.json));
    by(&session, args, &problem, &lengths, &mut said)?;
    said.finish(&session)
}

fn described(plan: &DecodePlan) -> String {
    let config = &plan.config;
    format!(
        "{} parts of {} or more tiles, {} stages, {} blocks on an SM",
        plan.parts, plan.least_tiles, config.stages, config.min_blocks
    )
}

/// The chosen plan, and plans with other numbers of splits.
fn plans(
    session: &Session,
    problem: &DecodeProblem,
    asked: Option<i64>,
) -> Result<Vec<DecodePlan>, girih_kernels::Error> {
    let limits = session.device.limits();
    let own = choose(problem, limits, asked)?;
    let tiles = (problem.capacity() + 63) / 64;
    let mut all = vec![own.clone()];
    for parts in PARTS.into_iter().filter(|parts| *parts <= tiles && *parts != own.parts) {
        // Sequences of few tiles have this many splits too.
        all.push(DecodePlan { least_tiles: 1, ..choose(problem, limits, Some(parts))? });
    }
    Ok(all)
}

fn tune<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    args: &Args,
    problem: &DecodeProblem,
    lengths: &[u32],
    said: &mut Said,
) -> Result<(), Box<dyn std::error::Error>> {
    let device = &session.device;
    session.fits(peak(problem, &choose(problem, device.limits(), args.problem.parts)?, lengths))?;
    let same = problem.packed(lengths)?;
    let inputs = Inputs::<T, C>::random(problem, lengths, 0);
    let on = OnDevice::new(device, problem, lengths, &inputs)?;
    let given = on.given(problem);
    let tensors = on.args(problem, &given);
    let mut field = Vec::new();
    for config in plans(session, problem, args.problem.parts)? {
        match Decode::planned(device, problem, config.clone()) {
            Ok(kernel) => field.push(Entrant::new(config, kernel)),
            // A configuration that the driver refuses is no candidate.
            Err(error) if !field.is_empty() => said.left_out(&described(&config), &error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    let run = |decode: &Decode| decode.run(&tensors);
    let chosen = rounds(device, &mut field, described, &run, said)?;
    let _busy = Busy::begin("comparing with the f64 reference");
    for entrant in field {
        let (config, kernel, cost) = entrant.into_parts();
        on.poison()?;
        kernel.run(&tensors)?;
        let (o, lse) = on.results()?;
        if inputs.check(problem, &same, &o, &lse)?.passed() {
            let fastest = described(&config);
            Tuned { fastest: (config, cost), chosen }.print(device, &fastest, said);
            return Ok(());
        }
        said.left_out(&described(&config), "wrong");
    }
    Err(Error::Wrong("no plan computes the problem".into()).into())
}
