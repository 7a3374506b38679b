//! `girih gemm`: multiplies two matrices by a generated kernel and verifies the product.

mod args;
mod data;
mod pitch;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use float8::{F8E4M3, F8E5M2};
use girih_device::{Kind, Pod};
use girih_kernels::gemm::{Gemm, Gemms, Given, KernelKind, Matrix, Order, Problem, check, check_groups};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

pub(crate) use args::{Chosen, LAYOUTS, ProblemArgs, bytes};
pub(crate) use data::random;

use crate::CommandResult;
use crate::npy::{self, Npy};
use crate::output::Output;
use crate::run::{self, Session, Timing};
use data::Source;
use report::Report;

/// The arguments of `girih gemm`.
#[derive(clap::Args)]
#[command(after_help = LAYOUTS)]
pub(crate) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// The file of A, which says the extents and the dtype: '<f4', '<f8', '<f2', '|i1', or '<u2' for the bits of bf16 and '|u1' for
    /// those of e4m3, or of e5m2 if --dtype says so [default: random]
    #[arg(long, value_name = "A.npy", requires = "b", conflicts_with_all = ["batch", "groups"])]
    a: Option<PathBuf>,
    /// The file of B, of the same dtype as A
    #[arg(long, value_name = "B.npy", requires = "a")]
    b: Option<PathBuf>,
    /// Write the product to this file, if the product passes the check (bf16 as '<u2', 8-bit floats as '|u1')
    #[arg(short, long, value_name = "C.npy", conflicts_with_all = ["batch", "groups"])]
    output: Option<PathBuf>,
    /// Configurations that `girih tune` has measured on this GPU
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Seed of the random matrices, whose elements are uniform in -1..1, or integers from -127 to 127
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
    let gemms = Gemms::new(&session.device);
    let gemms = match &args.records {
        Some(path) => gemms.with_records(crate::tune::read(path, &session.device)?),
        None => gemms,
    };
    let report = match chosen.problem.input() {
        DType::F32 => of::<f32>(&session, &gemms, &chosen, source, output)?,
        DType::F64 => of::<f64>(&session, &gemms, &chosen, source, output)?,
        DType::F16 => of::<f16>(&session, &gemms, &chosen, source, output)?,
        DType::Bf16 => of::<bf16>(&session, &gemms, &chosen, source, output)?,
        DType::E4m3 => of::<F8E4M3>(&session, &gemms, &chosen, source, output)?,
        DType::E5m2 => of::<F8E5M2>(&session, &gemms, &chosen, source, output)?,
        DType::S8 => of::<i8>(&session, &gemms, &chosen, source, output)?,
        other => return Err(girih_kernels::Error::unsupported("gemm", other).into()),
    };
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The byte that C is filled with before the run. Floats of such bytes are NaN, and integers -1.
const POISON: u8 = 0xff;

/// Multiplies elements of `T`.
fn of<T: Element + Pod>(
    session: &Session,
    gemms: &Gemms,
    chosen: &Chosen,
    source: Source,
    output: Option<Output>,
) -> Result<Report, Box<dyn std::error::Error>> {
    match chosen.problem.output() {
        DType::F32 => multiply::<T, f32>(session, gemms, chosen, source, output),
        DType::F64 => multiply::<T, f64>(session, gemms, chosen, source, output),
        DType::F16 => multiply::<T, f16>(session, gemms, chosen, source, output),
        DType::Bf16 => multiply::<T, bf16>(session, gemms, chosen, source, output),
        DType::E4m3 => multiply::<T, F8E4M3>(session, gemms, chosen, source, output),
        DType::E5m2 => multiply::<T, F8E5M2>(session, gemms, chosen, source, output),
        DType::S32 => multiply::<T, i32>(session, gemms, chosen, source, output),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

fn multiply<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    gemms: &Gemms,
    chosen: &Chosen,
    source: Source,
    output: Option<Output>,
) -> Result<Report, Box<dyn std::error::Error>> {
    let (problem, device) = (&chosen.problem, &session.device);
    // On the host, the matrices of a batch follow each other in any case.
    let laid = problem.pointers().map_or(Ok(*problem), |count| problem.batched(count, [None; 3]))?;
    session.fits(args::bytes(&laid))?;
    let kind = chosen.kind.unwrap_or_else(|| KernelKind::for_problem(problem, device.limits().sm));
    let gemm = gemms.get(problem, kind)?;
    let launch = gemm.launch_config()?;
    let origin = source.origin();
    let offsets = problem.groups().map(|groups| data::offsets(source.seed(), problem.mnk()[0], groups));
    let [a, b] = source.operands::<T>(&laid)?;
    let (time, c) = if problem.pointers().is_some() {
        by_pointers(session, &gemm, &laid, [&a, &b])?
    } else {
        let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
        let on_c = device.alloc::<C>(problem.c().span() as usize)?;
        on_c.fill_bytes(POISON)?;
        let on_offsets = offsets.as_deref().map(|offsets| device.upload(offsets)).transpose()?;
        let given: Vec<_> = on_offsets.iter().map(|offsets| ("offsets", Given::from(offsets))).collect();
        (session.time(|| gemm.run_with(&on_a, &on_b, &on_c, &given))?, on_c.download()?)
    };
    let poison = C::from_f64(if C::DTYPE.is_float() { f64::NAN } else { -1.0 });
    let found = match &offsets {
        Some(offsets) => check_groups(problem, offsets, [&a, &b], &c, Some(poison))?,
        None => check(&laid, &a, &b, &c, Some(poison))?,
    };
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

/// Runs a GEMM with a buffer for each matrix of a batch, which lie on the host as those of `laid` do. Returns the time, and C on the host.
fn by_pointers<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    gemm: &Gemm,
    laid: &Problem,
    [a, b]: [&[T]; 2],
) -> Result<(Timing, Vec<C>), Box<dyn std::error::Error>> {
    let device = &session.device;
    let each = |matrix: &Matrix, all: &[T]| {
        let begin = |l: i64| ((l * matrix.batch_stride()) as usize).min(all.len());
        (0..matrix.batches())
            .map(|l| device.upload(&all[begin(l)..begin(l + 1)]))
            .collect::<Result<Vec<_>, _>>()
    };
    let (on_a, on_b) = (each(&laid.a(), a)?, each(&laid.b(), b)?);
    let own = |_| device.alloc::<C>(laid.c().batch_stride() as usize);
    let on_c = (0..laid.batches()).map(own).collect::<Result<Vec<_>, _>>()?;
    on_c.iter().try_for_each(|c| c.fill_bytes(POISON))?;
    let (of_a, of_b, of_c) = (device.pointers(&on_a)?, device.pointers(&on_b)?, device.pointers(&on_c)?);
    let time = session.time(|| gemm.run_pointers(&of_a, &of_b, &of_c, &[]))?;
    let c = on_c.iter().map(|c| c.download()).collect::<Result<Vec<_>, _>>()?;
    Ok((time, c.concat()))
}
