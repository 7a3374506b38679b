//! `girih tune attention`: the fastest configuration.

use girih_device::Pod;
use girih_kernels::attention::choose::{candidates, described};
use girih_kernels::attention::{Attention, Attentions, Problem, check};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::contest::{Entrant, Tuned, rounds};
use super::said::Said;
use super::{at_least_one, decode};
use crate::attention::{Inputs, OnDevice, ProblemArgs, peak};
use crate::progress::Busy;
use crate::run::{RunArgs, Session};
use crate::{CommandResult, Error};

/// The arguments of `girih tune attention`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    problem: ProblemArgs,
    /// The most configurations that are measured
    #[arg(long, value_name = "COUNT", default_value_t = 40, value_parser = at_least_one())]
    most: usize,
    #[command(flatten)]
    run: RunArgs,
}

/// Attention of another kind than of all queries to all keys.
#[derive(clap::Subcommand)]
enum Other {
    /// Numbers of parts for the attention of a few queries to a random cache; the fastest is printed
    #[command(after_help = crate::attention::decode::EXAMPLES)]
    Decode(Box<decode::Args>),
}

pub(super) fn run(args: Args) -> CommandResult {
    if let Some(Other::Decode(args)) = &args.other {
        return decode::run(args);
    }
    let problem = args.problem.without_files(0, false)?.problem;
    let session = Session::open(&args.run)?;
    let mut said = Said::new(args.run.json);
    match problem.dtype() {
        DType::F32 => tune::<f32>(&session, &problem, args.most, &mut said)?,
        DType::F16 => tune::<f16>(&session, &problem, args.most, &mut said)?,
        _ => tune::<bf16>(&session, &problem, args.most, &mut said)?,
    }
    said.finish(&session)
}

fn tune<T: Element + Pod>(
    session: &Session,
    problem: &Problem,
    most: usize,
    said: &mut Said,
) -> Result<(), Box<dyn std::error::Error>> {
    let device = &session.device;
    session.fits(peak(problem))?;
    let inputs = Inputs::<T>::random(problem, 0);
    let on = OnDevice::new(device, problem, &inputs)?;
    let given = on.given(problem);
    let attentions = Attentions::new(device);
    let mut field = Vec::new();
    for config in candidates(problem, device.limits())?.into_iter().take(most) {
        match attentions.configured(problem, config) {
            Ok(kernel) => field.push(Entrant::new(config, kernel)),
            // A configuration that the generator or the driver refuses is no candidate.
            Err(error) if !field.is_empty() => said.left_out(&described(&config), &error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    let run = |attention: &Attention| attention.run_with(on.tensors(), &given);
    let chosen = rounds(device, &mut field, described, &run, said)?;
    let _busy = Busy::begin("comparing with the f64 reference");
    for entrant in field {
        let (config, kernel, cost) = entrant.into_parts();
        on.poison()?;
        kernel.run_with(on.tensors(), &given)?;
        let (o, lse) = on.results()?;
        let found = check(problem, &inputs.host(), &o, &lse, Some(T::from_f64(f64::NAN)))?;
        if found.passed() {
            let fastest = described(&config);
            Tuned { fastest: (config, cost), chosen }.print(device, &fastest, said);
            return Ok(());
        }
        said.left_out(&described(&config), "wrong");
    }
    Err(Error::Wrong("no configuration computes the problem".into()).into())
}
