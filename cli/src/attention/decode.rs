//! `girih attention decode`: a few queries of each sequence against a cache of keys and values.

mod args;
mod data;
mod files;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use float8::{F8E4M3, F8E5M2};
use girih_device::{Kind, Pod};
use girih_kernels::attention::Problem;
use girih_kernels::attention::decode::{Decode, DecodeArgs, DecodeProblem, choose};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::POISON;
use super::data::{element, integers, open};
use crate::npy::Array;
use crate::output::Output;
use crate::progress::Busy;
use crate::run::{self, Session};
use crate::{CommandResult, Error};
pub(crate) use args::ProblemArgs;
pub(crate) use data::{Inputs, same};
use files::{Files, cache_order};
pub(crate) use report::PlanReport;
use report::{ProblemReport, Report};

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
    /// Write the logarithms of the sums of powers to this file, (sequence,head,query), if they pass the check
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
        Ok((if self.lse_output.is_some() { problem.with_lse() } else { problem }, lengths))
    }
}

pub(crate) fn run(args: &Args) -> CommandResult {
    let files = args.files()?;
    let (problem, lengths) = args.problem(files.as_ref())?;
    let outputs = [args.output.as_deref(), args.lse_output.as_deref()];
    let [output, of_lse] = outputs.map(|path| path.map(Output::new).transpose());
    let outputs = [output?, of_lse?];
    let same = same(&problem, &lengths, args.problem.window, args.problem.softcap)?;
    let session = Session::open(&args.run)?;
    let by = match (problem.dtype(), problem.cache()) {
        (DType::F16, DType::E4m3) => compute::<f16, F8E4M3>,
        (DType::F16, DType::E5m2) => compute::<f16, F8E5M2>,
        (DType::F16, _) => compute::<f16, f16>,
        (_, DType::E4m3) => compute::<bf16, F8E4M3>,
        (_, DType::E5m2) => compute::<bf16, F8E5M2>,
        _ => compute::<bf16, bf16>,
    };
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
    let bytes = |elements: i64, dtype: DType| (elements as u64).saturating_mul(u64::from(dtype.bits() / 8));
    let rows = problem.row_spans().map(|len| bytes(len, problem.dtype()));
    let keys = problem.key_spans().map(|len| bytes(len, problem.cache()));
    let parts = plan.workspace(problem).map(|len| bytes(len, DType::F32));
    session.fits([rows, keys, parts].into_iter().flatten().fold(0, u64::saturating_add))?;
    let decode = Decode::planned(device, problem, plan)?;
    let origin = files.as_ref().map_or(format!("random, seed {}", args.seed), Files::origin);
    let inputs = match files {
        Some(files) => files.inputs::<T, C>(problem, lengths)?,
        None => Inputs::<T, C>::random(problem, lengths, args.seed),
    };
    let q = device.upload(&inputs.q)?;
    let [k, v] = [device.upload(&inputs.kv[0])?, device.upload(&inputs.kv[1])?];
    let (of_lengths, table) = (device.upload(lengths)?, device.upload(&inputs.table)?);
    let [of_k, of_v] = [device.upload(&inputs.scales[0])?, device.upload(&inputs.scales[1])?];
    let o = device.alloc::<T>(problem.row_spans()[1] as usize)?;
    let lse = device.alloc::<f32>(problem.lse_len() as usize)?;
    o.fill_bytes(POISON)?;
    lse.fill_bytes(POISON)?;
    let tensors = DecodeArgs {
        q: &q,
        kv: [&k, &v],
        lengths: &of_lengths,
        table: problem.pages().is_some().then_some(&table),
        scales: (problem.scales_len() > 0).then_some([&of_k, &of_v]),
        o: &o,
        lse: problem.has_lse().then_some(&lse),
    };
    let time = session.time(&mut || decode.run(&tensors))?;
    let (o, lse) = (o.download()?, lse.download()?);
    let busy = Busy::begin("comparing with the f64 reference");
    let found = inputs.check(problem, same, &o, &lse)?;
    drop(busy);
    let (output, of_lse) = (output.filter(|_| found.passed()), of_lse.filter(|_| found.passed()));
    let ([batch, queries], [heads, _]) = (problem.sequences(), problem.heads());
    let save = |to: &Option<Output>, dtype: DType, shape: &[i64], bytes: &[u8]| -> Result<(), Error> {
        let Some(to) = to else { return Ok(()) };
        let shape = shape.iter().map(|&extent| extent as u64).collect();
        let array = Array { element: element(dtype)?, shape, fortran: false, bytes: bytes.to_vec() };
        to.write(|file| array.write(file))
    };
    let rows = [batch, queries, heads, problem.head_dim()];
    save(&output, problem.dtype(), &rows, bytemuck::cast_slice(&o))?;
    save(&of_lse, DType::F32, &[batch, heads, queries], bytemuck::cast_slice(&lse))?;
    let written = [output, of_lse].into_iter().flatten().map(|output| output.path().display().to_string());
    let most = args.problem.window.map_or(i64::MAX, |left| left + queries);
    let seen: i64 = lengths.iter().map(|&keys| i64::from(keys).min(most)).sum();
    let read = 2 * bytes(seen * problem.heads()[1] * problem.head_dim(), problem.cache());
    let rated = device.kind() == Kind::Cuda && read > 0;
    Ok(Report {
        device: session.report(),
        problem: ProblemReport::new(problem, lengths, args, origin),
        plan: PlanReport::from(decode.plan()),
        gigabytes_per_second: rated.then(|| time.0.rate(read as f64) / 1e9),
        time,
        check: found.into(),
        written: written.collect(),
        passed: found.passed(),
    })
}
