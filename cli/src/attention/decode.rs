//! `girih attention decode`: a few queries of each sequence against a cache of keys and values.

mod args;
mod data;
mod files;
mod report;
mod tensors;

use std::path::PathBuf;
use std::process::ExitCode;

use girih_device::sizes::wide;
use girih_device::{Kind, Pod};
use girih_kernels::attention::Problem;
use girih_kernels::attention::decode::{Decode, DecodeProblem, choose};
use girih_notation::Array;
use girih_tensor::{DType, Element};

use super::data::{element, integers, open};
use crate::output::Output;
use crate::progress::Busy;
use crate::run::{self, Rate, Session};
use crate::{CommandResult, Error};
pub(crate) use args::ProblemArgs;
pub(crate) use data::Inputs;
use files::{Files, cache_order};
pub(crate) use report::PlanReport;
use report::{ProblemReport, Report};
pub(crate) use tensors::{OnDevice, of_types, peak};

pub(crate) const EXAMPLES: &str = "\
The queries of a sequence are its last ones: the last query sees all keys, each one before it one key less.

Examples:
  girih attention decode --batch 4 --keys 300 --capacity 512 --kv-heads 2   groups of heads
  girih attention decode --keys 300 --pages 64 --cache e4m3 --scales head   8-bit floats in pages
  girih attention decode --lengths lengths.npy --queries 4 --window 100     different lengths
  girih attention decode --q q.npy --k k.npy --v v.npy -o o.npy             files";

/// The arguments of `girih attention decode`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// The file of Q, (sequence,query,head,dim): '<f2', or '<u2' for the bits of bf16 [default: random]
    #[arg(long, value_name = "Q.npy", requires_all = ["k", "v"], conflicts_with_all = ["batch", "keys", "capacity", "queries", "heads", "kv_heads", "head_dim", "dtype", "scales", "pages", "seed"])]
    q: Option<PathBuf>,
    /// The file of K, (sequence,key,head,dim) or in the order that --order says, of the same type; '|u1' for the bits of --cache e4m3 and e5m2. With
    /// --table it has pages for sequences
    #[arg(long, value_name = "K.npy", requires = "q")]
    k: Option<PathBuf>,
    /// The file of V, of the same type and extents as K
    #[arg(long, value_name = "V.npy", requires = "q")]
    v: Option<PathBuf>,
    /// The file of the pages of each sequence, (sequence,page): integers
    #[arg(long, value_name = "TABLE.npy", requires = "q")]
    table: Option<PathBuf>,
    /// Write O to this file, (sequence,query,head,dim), if it passes the check (bf16 as '<u2')
    #[arg(short, long, value_name = "O.npy")]
    output: Option<PathBuf>,
    /// Write the logsumexps to this file, (sequence,head,query), if they pass the check
    #[arg(long, value_name = "LSE.npy")]
    lse_output: Option<PathBuf>,
    /// The file of the keys of each sequence: integers [default of files: all that the cache has room for]
    #[arg(long, value_name = "LENGTHS.npy", conflicts_with_all = ["batch", "keys"])]
    lengths: Option<PathBuf>,
    /// Seed of the random tensors, whose elements are uniform in -1..1
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

impl Args {
    /// The files of the tensors.
    fn files(&self) -> Result<Option<Files>, Error> {
        let (Some(q), Some(k), Some(v)) = (&self.q, &self.k, &self.v) else { return Ok(None) };
        Files::open([q, k, v], self.table.as_deref()).map(Some)
    }

    /// The problem and the keys of each sequence.
    fn problem(
        &self,
        files: Option<&Files>,
    ) -> Result<(DecodeProblem, Vec<u32>), Box<dyn std::error::Error>> {
        let lengths = self.lengths.as_ref().map(|path| integers(&open(path)?)).transpose()?;
        let of_files = files.map(|files| files.problem(cache_order(self.problem.order), self.problem.cache));
        let (problem, lengths) = self.problem.of(of_files.transpose()?, lengths)?;
        let with_lse = |attention: Problem| Ok(attention.with_lse(true));
        Ok((if self.lse_output.is_some() { problem.map(with_lse)? } else { problem }, lengths))
    }
}

pub(crate) fn run(args: &Args) -> CommandResult {
    let files = args.files()?;
    let (problem, lengths) = args.problem(files.as_ref())?;
    let outputs = [args.output.as_deref(), args.lse_output.as_deref()];
    let [output, of_lse] = outputs.map(|path| path.map(Output::new).transpose());
    let outputs = [output?, of_lse?];
    let same = problem.packed(&lengths)?;
    let session = Session::open(&args.run)?;
    let by = of_types!(problem, compute);
    let report = by(&session, args, files, &problem, &lengths, &same, outputs)?;
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the problem and compares it with attention of packed sequences that computes the same.
fn compute<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    args: &Args,
    files: Option<Files>,
    problem: &DecodeProblem,
    lengths: &[u32],
    same: &Problem,
    [output, of_lse]: [Option<Output>; 2],
) -> Result<Report, Box<dyn std::error::Error>> {
    let device = &session.device;
    let plan = choose(problem, device.limits(), args.problem.parts)?;
    session.fits(peak(problem, &plan, lengths))?;
    let decode = Decode::planned(device, problem, plan)?;
    let origin = files.as_ref().map_or(format!("random, seed {}", args.seed), Files::origin);
    let inputs = match files {
        Some(files) => files.inputs::<T, C>(problem, lengths)?,
        None => Inputs::<T, C>::random(problem, lengths, args.seed),
    };
    let on = OnDevice::new(device, problem, lengths, &inputs)?;
    let given = on.given(problem);
    let tensors = on.args(problem, &given);
    let time = session.time(&mut || decode.run(&tensors))?;
    let (o, lse) = on.results()?;
    let busy = Busy::begin("comparing with the f64 reference");
    let found = inputs.check(problem, same, &o, &lse)?;
    drop(busy);
    let (output, of_lse) = (output.filter(|_| found.passed()), of_lse.filter(|_| found.passed()));
    let ([batch, queries], [heads, _]) = (problem.sequences(), problem.heads());
    let save = |to: &Option<Output>, dtype: DType, shape: &[i64], bytes: &[u8]| -> Result<(), Error> {
        let Some(to) = to else { return Ok(()) };
        let shape = shape.iter().map(|&extent| wide(extent)).collect();
        let array = Array { element: element(dtype)?, shape, fortran: false, bytes: bytes.to_vec() };
        to.write(|file| array.write(file))
    };
    let rows = [batch, queries, heads, problem.head_dim()];
    save(&output, problem.dtype(), &rows, bytemuck::cast_slice(&o))?;
    save(&of_lse, DType::F32, &[batch, heads, queries], bytemuck::cast_slice(&lse))?;
    let most = args.problem.window.map_or(i64::MAX, |left| left + queries);
    let seen: i64 = lengths.iter().map(|&keys| i64::from(keys).min(most)).sum();
    let read = 2 * seen * problem.heads()[1] * problem.head_dim() * i64::from(problem.cache().bits() / 8);
    let rated = device.kind() == Kind::Cuda && read > 0;
    Ok(Report {
        device: session.report(),
        problem: ProblemReport::new(problem, lengths, args, origin),
        kernel: PlanReport::from(decode.plan()),
        rate: Rate::Keys { gigabytes_per_second: rated.then(|| time.0.rate(read as f64) / 1e9) },
        time,
        check: found.into(),
        written: run::paths([output, of_lse]),
        passed: found.passed(),
    })
}
