//! `girih gemm`: multiplies two matrices by a generated kernel and verifies the product.

mod args;
mod data;
mod pitch;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use girih_device::{Kind, Pod};
use girih_kernels::gemm::{Gemms, KernelKind, Order, check};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

pub(crate) use args::{Chosen, LAYOUTS, ProblemArgs};

use crate::CommandResult;
use crate::npy::{self, Npy};
use crate::output::Output;
use crate::run::{self, Session};
use data::Source;
use report::Report;

/// The arguments of `girih gemm`.
#[derive(clap::Args)]
#[command(after_help = LAYOUTS)]
pub(crate) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// The file of A, which says the extents and the dtype: '<f4', '<f2', or '<u2' for the bits of bf16 [default: random]
    #[arg(long, value_name = "A.npy", requires = "b")]
    a: Option<PathBuf>,
    /// The file of B, of the same dtype as A
    #[arg(long, value_name = "B.npy", requires = "a")]
    b: Option<PathBuf>,
    /// Write the product to this file, if the product passes the check (bf16 as '<u2')
    #[arg(short, long, value_name = "C.npy")]
    output: Option<PathBuf>,
    /// Seed of the random matrices, whose elements are uniform in -1..1
    #[arg(long, default_value_t = 0, conflicts_with = "a")]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let (chosen, source) = match (&args.a, &args.b) {
        (Some(a), Some(b)) => {
            let [a, b] = [Npy::open(a)?, Npy::open(b)?];
            (args.problem.with_files(&a, &b)?, Source::Files(Box::new([a, b])))
        }
        _ => (args.problem.without_files()?, Source::Random(args.seed)),
    };
    let output = args.output.as_deref().map(Output::new).transpose()?;
    let session = Session::open(&args.run)?;
    let report = match chosen.problem.dtype() {
        DType::F32 => multiply::<f32>(&session, &chosen, source, output)?,
        DType::F16 => multiply::<f16>(&session, &chosen, source, output)?,
        DType::Bf16 => multiply::<bf16>(&session, &chosen, source, output)?,
        other => return Err(girih_kernels::Error::unsupported("gemm", other).into()),
    };
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The byte that C is filled with before the run. Elements of such bytes are NaN in every dtype.
const POISON: u8 = 0xff;

fn multiply<T: Element + Pod>(
    session: &Session,
    chosen: &Chosen,
    source: Source,
    output: Option<Output>,
) -> Result<Report, Box<dyn std::error::Error>> {
    let (problem, device) = (&chosen.problem, &session.device);
    session.fits(args::bytes(problem))?;
    let kind = chosen.kind.unwrap_or_else(|| KernelKind::for_problem(problem, device.limits().sm));
    let gemm = Gemms::new(device).get(problem, kind)?;
    let launch = gemm.launch_config()?;
    let origin = source.origin();
    let [a, b] = source.operands::<T>(problem)?;
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let on_c = device.alloc::<T>(problem.c().span() as usize)?;
    on_c.fill_bytes(POISON)?;
    let time = session.time(|| gemm.run(&on_a, &on_b, &on_c))?;
    let c = on_c.download()?;
    let found = check(problem, &a, &b, &c, Some(T::from_f64(f64::NAN)))?;
    let output = output.filter(|_| found.passed());
    if let Some(output) = &output {
        let order = if problem.c().contiguous() == 1 { Order::Row } else { Order::Column };
        let tight = pitch::gather(&c, &problem.c());
        output.write(|to| npy::write(to, problem.c().extents(), order, &tight))?;
    }
    let rated = device.kind() == Kind::Cuda && problem.flops() > 0.0;
    Ok(Report {
        device: session.report(),
        problem: report::ProblemReport::new(chosen, kind, &gemm, origin),
        kernel: run::KernelReport::new(
            gemm.kernel(),
            gemm.partitions(),
            launch.block[0],
            gemm.shared_bytes(),
        ),
        tflops: rated.then(|| time.0.rate(problem.flops()) / 1e12),
        time,
        check: found.into(),
        output: output.map(|output| output.path().display().to_string()),
        passed: found.passed(),
    })
}
