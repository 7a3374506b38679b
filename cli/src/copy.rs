//! `girih copy`: copies a matrix by a generated kernel and compares every element.

use std::fmt;
use std::process::ExitCode;

use girih_device::{Kind, Pod};
use girih_kernels::copy::{Copy, Problem};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::CommandResult;
use crate::gemm::random;
use crate::run::{self, DeviceReport, KernelReport, Session, Timing, line};

/// The arguments that describe a copy.
#[derive(clap::Args)]
pub(crate) struct ProblemArgs {
    /// Rows
    #[arg(long, default_value_t = 4096, allow_negative_numbers = true)]
    rows: i64,
    /// Elements of a row
    #[arg(long, default_value_t = 4096, allow_negative_numbers = true)]
    columns: i64,
    /// Element type: f32, f16 or bf16
    #[arg(long, value_parser = run::kernel_dtype, default_value = "bf16")]
    dtype: DType,
    /// Elements from the start of a row of the destination to the next [default: the elements of a row]
    #[arg(long, allow_negative_numbers = true)]
    ld_dst: Option<i64>,
    /// Elements from the start of a row of the source to the next [default: the elements of a row]
    #[arg(long, allow_negative_numbers = true)]
    ld_src: Option<i64>,
}

impl ProblemArgs {
    fn pitches(&self) -> [i64; 2] {
        [self.ld_dst, self.ld_src].map(|ld| ld.unwrap_or(self.columns.max(1)))
    }

    /// The copy.
    pub(crate) fn problem(&self) -> Result<Problem, girih_kernels::Error> {
        let [ld_dst, ld_src] = self.pitches();
        Problem::new(self.dtype, self.rows, self.columns, ld_dst, ld_src)
    }
}

/// The arguments of `girih copy`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Seed of the random matrix
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let problem = args.problem.problem()?;
    let session = Session::open(&args.run)?;
    let report = match problem.dtype() {
        DType::F32 => copy::<f32>(&session, &args, &problem)?,
        DType::F16 => copy::<f16>(&session, &args, &problem)?,
        DType::Bf16 => copy::<bf16>(&session, &args, &problem)?,
        other => return Err(girih_kernels::Error::unsupported("copy", other).into()),
    };
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn copy<T: Element + Pod>(
    session: &Session,
    args: &Args,
    problem: &Problem,
) -> Result<Report, Box<dyn std::error::Error>> {
    let ProblemArgs { rows, columns, dtype, .. } = args.problem;
    let [ld_dst, ld_src] = args.problem.pitches();
    let device = &session.device;
    // The buffers hold whole rows, with the padding of the last row.
    session.fits(rows as u64 * (ld_dst as u64 + ld_src as u64) * u64::from(dtype.bits() / 8))?;
    let copy = Copy::new(device, problem)?;
    let source: Vec<T> = random(&mut StdRng::seed_from_u64(args.seed), rows * ld_src);
    let from = device.upload(&source)?;
    let to = device.alloc::<T>((rows * ld_dst) as usize)?;
    // These bytes are NaN in every dtype, so that no element is right unless the kernel has copied it.
    to.fill_bytes(0xff)?;
    let time = session.time(|| copy.run(&to, &from))?;
    let copied = to.download()?;
    let (wrong, padding_written) = compare(&copied, &source, columns, [ld_dst, ld_src]);
    let rated = device.kind() == Kind::Cuda && problem.bytes() > 0;
    Ok(Report {
        device: session.report(),
        dtype: dtype.name(),
        dst: format!("({rows},{columns}):({ld_dst},1)"),
        src: format!("({rows},{columns}):({ld_src},1)"),
        kernel: KernelReport::new(copy.kernel(), copy.partitions(), copy.config().threads as u32, 0),
        gigabytes_per_second: rated.then(|| time.0.rate(problem.bytes() as f64) / 1e9),
        time,
        elements: rows * columns,
        wrong,
        padding_written,
        passed: wrong == 0 && padding_written == 0,
    })
}

/// How many elements of `copied` differ from the source, and how many elements between the rows of `copied` are no longer NaN.
fn compare<T: Element>(
    copied: &[T],
    source: &[T],
    columns: i64,
    [ld_dst, ld_src]: [i64; 2],
) -> (usize, usize) {
    let columns = columns as usize;
    let (mut wrong, mut padding) = (0, 0);
    for (to, from) in copied.chunks(ld_dst as usize).zip(source.chunks(ld_src as usize)) {
        wrong += to[..columns].iter().zip(&from[..columns]).filter(|(x, y)| x != y).count();
        padding += to[columns..].iter().filter(|x| !x.to_f64().is_nan()).count();
    }
    (wrong, padding)
}

/// What `girih copy` reports.
#[derive(Serialize)]
struct Report {
    device: DeviceReport,
    dtype: &'static str,
    dst: String,
    src: String,
    kernel: KernelReport,
    time: Timing,
    gigabytes_per_second: Option<f64>,
    elements: i64,
    wrong: usize,
    padding_written: usize,
    passed: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { dtype, dst, src, wrong, padding_written, elements, .. } = self;
        write!(f, "{}", self.device)?;
        line(f, "problem", format_args!("{dtype}, {src} to {dst}"))?;
        write!(f, "{}", self.kernel)?;
        line(f, "time", &self.time)?;
        if let Some(rate) = self.gigabytes_per_second {
            line(f, "rate", format_args!("{rate:.1} GB/s, read and written"))?;
        }
        let text = format_args!(
            "{wrong} of {elements} elements differ, {padding_written} between rows were written"
        );
        line(f, "error", text)?;
        writeln!(f, "{}", if self.passed { "PASSED" } else { "FAILED" })
    }
}
