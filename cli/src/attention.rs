//! `girih attention`: computes attention by a generated kernel and verifies the result.

mod args;
mod data;
pub(crate) mod decode;
mod options;
mod report;
mod tensors;

use std::path::PathBuf;
use std::process::ExitCode;

use girih_device::sizes::wide;
use girih_device::{Kind, Pod};
use girih_kernels::attention::{Attentions, KernelKind, check};
use girih_notation::Array;
use girih_tensor::{DType, Element};
use half::{bf16, f16};

pub(crate) use args::{Chosen, ORDERS, ProblemArgs};
pub(crate) use data::{Inputs, peak};
pub(crate) use report::described;
pub(crate) use tensors::OnDevice;

use crate::CommandResult;
use crate::output::Output;
use crate::progress::Busy;
use crate::run::{self, Rate, Session};
use data::{Files, array};
use report::Report;

/// The arguments of `girih attention`.
#[derive(clap::Args)]
#[command(after_help = ORDERS, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    problem: ProblemArgs,
    /// The file of Q, of four axes in the order that --order says, or of three, (row,head,dim), of packed sequences: '<f4', '<f2', or '<u2' for the
    /// bits of bf16 [default: random]
    #[arg(long, value_name = "Q.npy", requires_all = ["k", "v"], conflicts_with_all = ["batch", "heads", "kv_heads", "queries", "keys", "head_dim", "value_dim", "dtype", "packed", "bias"])]
    q: Option<PathBuf>,
    /// The file of K, of the same type
    #[arg(long, value_name = "K.npy", requires = "q")]
    k: Option<PathBuf>,
    /// The file of V, of the same type and extents as K
    #[arg(long, value_name = "V.npy", requires = "q")]
    v: Option<PathBuf>,
    /// The file of what is added to the scores, (batch,head,query,key), f32 or of the same type as Q; the first three extents may be 1
    #[arg(long, value_name = "BIAS.npy", requires = "q")]
    bias_file: Option<PathBuf>,
    /// The file of where packed sequences begin among the rows of Q and where the last one ends: integers, the first of which is 0
    #[arg(long, value_name = "CU.npy", requires = "q")]
    cu_seqlens_q: Option<PathBuf>,
    /// The same among the rows of K and V [default: that of Q]
    #[arg(long, value_name = "CU.npy", requires = "cu_seqlens_q")]
    cu_seqlens_k: Option<PathBuf>,
    /// Write O to this file, if it passes the check (bf16 as '<u2')
    #[arg(short, long, value_name = "O.npy")]
    output: Option<PathBuf>,
    /// Write the logsumexps to this file, (batch,head,query), if they pass the check
    #[arg(long, value_name = "LSE.npy")]
    lse_output: Option<PathBuf>,
    /// Seed of the random tensors, whose elements are uniform in -1..1, and of the lengths of packed sequences
    #[arg(long, default_value_t = 0, conflicts_with = "q")]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

/// Attention of another kind than of all queries to all keys.
#[derive(clap::Subcommand)]
enum Other {
    /// Compute the attention of a few queries of each sequence to a cache of keys and values, in one piece or in pages, and verify the result
    Decode(Box<decode::Args>),
}

pub(crate) fn run(args: Args) -> CommandResult {
    if let Some(Other::Decode(args)) = &args.other {
        return decode::run(args);
    }
    let lse = args.lse_output.is_some();
    let (chosen, files) = match (&args.q, &args.k, &args.v) {
        (Some(q), Some(k), Some(v)) => {
            let begins = [args.cu_seqlens_q.as_deref(), args.cu_seqlens_k.as_deref()];
            let files = Files::open([q, k, v], args.bias_file.as_deref(), begins)?;
            (args.problem.with_files(&files, lse)?, Some(files))
        }
        _ => (args.problem.without_files(args.seed, lse)?, None),
    };
    let outputs = [args.output.as_deref(), args.lse_output.as_deref()];
    let [output, of_lse] = outputs.map(|path| path.map(Output::new).transpose());
    let outputs = [output?, of_lse?];
    let session = Session::open(&args.run)?;
    let report = match chosen.problem.dtype() {
        DType::F32 => compute::<f32>(&session, &chosen, files, args.seed, outputs)?,
        DType::F16 => compute::<f16>(&session, &chosen, files, args.seed, outputs)?,
        _ => compute::<bf16>(&session, &chosen, files, args.seed, outputs)?,
    };
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn compute<T: Element + Pod>(
    session: &Session,
    chosen: &Chosen,
    files: Option<Files>,
    seed: u64,
    [output, of_lse]: [Option<Output>; 2],
) -> Result<Report, Box<dyn std::error::Error>> {
    let (problem, device) = (&chosen.problem, &session.device);
    session.fits(peak(problem))?;
    let kind = chosen.kind.unwrap_or_else(|| KernelKind::for_problem(problem, device.limits().sm));
    let attention = Attentions::new(device).by(problem, Some(kind))?;
    let origin = files.as_ref().map_or(format!("random, seed {seed}"), Files::origin);
    let inputs = match files {
        Some(files) => files.inputs::<T>(problem)?,
        None => Inputs::<T>::random(problem, seed),
    };
    let on = OnDevice::new(device, problem, &inputs)?;
    let given = on.given(problem);
    let time = session.time(&mut || attention.run_with(on.tensors(), &given))?;
    let (o, lse) = on.results()?;
    let busy = Busy::begin("comparing with the f64 reference");
    let found = check(problem, &inputs.host(), &o, &lse, Some(T::from_f64(f64::NAN)))?;
    drop(busy);
    let (output, of_lse) = (output.filter(|_| found.passed()), of_lse.filter(|_| found.passed()));
    if let Some(output) = &output {
        let written = array(problem, &o)?;
        output.write(|to| written.write(to))?;
    }
    if let Some(output) = &of_lse {
        let shape = [problem.batches(), problem.heads(), problem.queries()].map(wide);
        let bytes = bytemuck::cast_slice(&lse).to_vec();
        let written =
            Array { element: data::element(DType::F32)?, shape: shape.into(), fortran: false, bytes };
        output.write(|to| written.write(to))?;
    }
    let rated = device.kind() == Kind::Cuda && problem.flops() > 0.0;
    let threads = attention.launch_config()?.map_or(0, |launch| launch.block[0]);
    Ok(Report {
        device: session.report(),
        problem: report::ProblemReport::new(problem, kind, origin),
        kernel: run::KernelReport::new(
            attention.kernel(),
            attention.partitions(),
            threads,
            attention.shared_bytes(),
        ),
        rate: Rate::Products { tflops: rated.then(|| time.0.rate(problem.flops()) / 1e12) },
        time,
        check: found.into(),
        written: run::paths([output, of_lse]),
        passed: found.passed(),
    })
}
