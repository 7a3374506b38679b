//! `girih gemm`: multiplies two matrices by a generated kernel and verifies the product.

mod args;
mod data;
mod pitch;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use girih_device::sizes::size;
use girih_device::{Buffer, Device, Kind, Pod, Pointers};
use girih_kernels::gemm::{
    Check, Gemm, Gemms, Given, KernelKind, Matrix, Order, Problem, check, check_groups,
};
use girih_tensor::Element;

pub(crate) use args::{Chosen, LAYOUTS, ProblemArgs, peak};
pub(crate) use data::{random, random_operands};

use crate::elements::{Elements, bytes_of, of_dtype, untyped};
use crate::npy::{self, Npy};
use crate::output::{Output, say};
use crate::progress::Busy;
use crate::run::{self, Rate, Session, Timing, paths};
use crate::{CommandResult, records};
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

/// The end of the first command's output.
const NEXT: &str = "
next: a kernel of your own                   docs/tile/1-hello.md
      what these lines say                   docs/command-line.md
      why it is this kernel, and its PTX     girih explain gemm, girih emit gemm
      all commands                           girih help
      (girih is target/release/girih, or cargo run --release --)";

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
        Some(path) => gemms.with_records(records::products(path, &session.device)?),
        None => gemms,
    };
    let report = multiply(&session, &gemms, &chosen, source, output)?;
    run::print(&report, args.run.json)?;
    if report.passed && !args.run.json && args.problem.is_default() {
        say(NEXT);
    }
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The byte that C is filled with before the run. Floats of such bytes are NaN, and integers -1.
const POISON: u8 = 0xff;

fn multiply(
    session: &Session,
    gemms: &Gemms,
    chosen: &Chosen,
    source: Source,
    output: Option<Output>,
) -> Result<Report, Box<dyn std::error::Error>> {
    let (problem, device) = (&chosen.problem, &session.device);
    // On the host, the matrices of a batch follow each other in any case.
    let laid = problem.pointers().map_or(Ok(*problem), |count| problem.batched(count, [None; 3]))?;
    let kind = chosen.kind.unwrap_or_else(|| KernelKind::for_problem(problem, device.limits().sm));
    session.fits(args::peak(&laid, kind, device)?)?;
    let gemm = gemms.get(problem, kind)?;
    let launch = gemm.launch_config()?;
    let origin = source.origin();
    let offsets = problem.groups().map(|groups| data::offsets(source.seed(), problem.mnk()[0], groups));
    let [a, b] = source.operands(&laid)?;
    let (time, c) = if problem.pointers().is_some() {
        by_pointers(session, &gemm, &laid, [&a, &b])?
    } else {
        let (on_a, on_b) = (a.upload(device)?, b.upload(device)?);
        let on_c = device.alloc::<u8>(bytes_of(problem.output(), problem.c().span()))?;
        on_c.fill_bytes(POISON)?;
        let on_offsets = offsets.as_deref().map(|offsets| device.upload(offsets)).transpose()?;
        let given: Vec<_> = on_offsets.iter().map(|offsets| ("offsets", Given::from(offsets))).collect();
        let matrices = [untyped(&on_a, a.dtype), untyped(&on_b, b.dtype), untyped(&on_c, problem.output())];
        let time = session.time(&mut || gemm.run_untyped(matrices, &given))?;
        (time, Elements::download(problem.output(), &on_c)?)
    };
    let busy = Busy::begin("comparing with the f64 reference");
    let found = match &offsets {
        Some(offsets) => checked(problem, Some(offsets), [&a, &b], &c)?,
        None => checked(&laid, None, [&a, &b], &c)?,
    };
    drop(busy);
    let output = output.filter(|_| found.passed());
    if let Some(output) = &output {
        write(output, problem, &c)?;
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
        rate: Rate::Products { tflops: rated.then(|| time.0.rate(problem.flops()) / 1e12) },
        time,
        check: found.into(),
        written: paths([output]),
        passed: found.passed(),
    })
}

/// Compares C with the f64 reference, as groups of rows where these begin somewhere.
pub(crate) fn checked(
    problem: &Problem,
    offsets: Option<&[u32]>,
    [a, b]: [&Elements; 2],
    c: &Elements,
) -> Result<Check, girih_kernels::Error> {
    let refused = |dtype| Err(girih_kernels::Error::unsupported("gemm", dtype));
    of_dtype!(a.dtype, T => of_dtype!(c.dtype, C => {
        let poison = Some(C::from_f64(if C::DTYPE.is_float() { f64::NAN } else { -1.0 }));
        let ([a, b], c) = ([a.of::<T>(), b.of::<T>()], c.of::<C>());
        match offsets {
            Some(offsets) => check_groups(problem, offsets, [a, b], c, poison),
            None => check(problem, a, b, c, poison),
        }
    }, other => refused(other)), other => refused(other))
}

/// Writes C without the gaps between its rows.
fn write(output: &Output, problem: &Problem, c: &Elements) -> Result<(), Box<dyn std::error::Error>> {
    let order = if problem.c().contiguous() == 1 { Order::Row } else { Order::Column };
    of_dtype!(c.dtype, C => {
        let tight = pitch::gather(c.of::<C>(), &problem.c());
        Ok(output.write(|to| npy::write(to, problem.c().extents(), order, &tight))?)
    }, other => Err(girih_kernels::Error::unsupported("gemm", other).into()))
}

/// Runs a GEMM with a buffer for each matrix of a batch, which are on the host as those of `laid` are. Returns the time, and C on the host.
fn by_pointers(
    session: &Session,
    gemm: &Gemm,
    laid: &Problem,
    [a, b]: [&Elements; 2],
) -> Result<(Timing, Elements), girih_kernels::Error> {
    let device = &session.device;
    let refused = |dtype| Err(girih_kernels::Error::unsupported("gemm", dtype));
    of_dtype!(a.dtype, T => {
        let (on_a, on_b) = (each::<T>(device, &laid.a(), a)?, each::<T>(device, &laid.b(), b)?);
        let (of_a, of_b) = (device.pointers(&on_a)?, device.pointers(&on_b)?);
        of_dtype!(laid.output(), C => {
            timed(session, laid, &mut |of_c: &Pointers<'_, C>| gemm.run_pointers(&of_a, &of_b, of_c, &[]))
        }, other => refused(other))
    }, other => refused(other))
}

/// Measures what writes a buffer for each C of a batch. Returns the time, and all C on the host.
fn timed<C: Element + Pod>(
    session: &Session,
    laid: &Problem,
    run: &mut dyn FnMut(&Pointers<'_, C>) -> Result<(), girih_kernels::Error>,
) -> Result<(Timing, Elements), girih_kernels::Error> {
    let on_c = poisoned::<C>(&session.device, laid)?;
    let of_c = session.device.pointers(&on_c)?;
    let time = session.time(&mut || run(&of_c))?;
    let all = on_c.iter().map(Buffer::download).collect::<Result<Vec<_>, _>>()?;
    Ok((time, all.concat().into()))
}

/// A buffer for each matrix of a batch.
fn each<T: Element + Pod>(
    device: &Device,
    matrix: &Matrix,
    all: &Elements,
) -> Result<Vec<Buffer<T>>, girih_device::Error> {
    let all = all.of::<T>();
    let begin = |l: i64| size(l * matrix.batch_stride()).min(all.len());
    (0..matrix.batches()).map(|l| device.upload(&all[begin(l)..begin(l + 1)])).collect()
}

/// A buffer for each C of a batch.
fn poisoned<C: Pod>(device: &Device, laid: &Problem) -> Result<Vec<Buffer<C>>, girih_device::Error> {
    let own = |_| {
        let buffer = device.alloc::<C>(size(laid.c().batch_stride()))?;
        buffer.fill_bytes(POISON)?;
        Ok(buffer)
    };
    (0..laid.batches()).map(own).collect()
}
