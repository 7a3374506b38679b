//! `girih copy`: copies between two layouts by a generated kernel and compares every element.

use std::fmt;
use std::process::ExitCode;

use girih_device::Kind;
use girih_device::sizes::{size, wide, word};
use girih_kernels::copy::{Copy, Problem};
use girih_layout::{Coord, Crd, Lay, idx2crd};
use girih_notation::find::dtype;
use girih_notation::marked;
use girih_tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::CommandResult;
use crate::elements::{bytes_of, untyped};
use crate::run::{self, DeviceReport, KernelReport, Peak, Session, Timing, bytes, checks, line};

/// The text on layouts of `girih copy --help` and `girih emit copy --help`.
pub(crate) const EXAMPLES: &str = "\
Examples:
  a transpose               girih copy '(4096,4096):(4096,1)' '(4096,4096):(1,4096)' --dtype f32
  to rows of 80 bytes       girih copy '(100,33):(33,1)' '(100,33):(40,1)'
  channels behind pixels    girih copy '(5,3,50176):(150528,50176,1)' '(5,3,50176):(150528,1,3)'
  with a border of zeros    girih copy '(30,30):(30,1)' '(32,32):(32,1)' --at '(1,1)' --fill 0
  random rows of a table    girih copy '(1000,32):(32,1)' '(4096,32):(32,1)' --gather 0
  columns backwards         girih copy '(100,32):(32,-1)' '(100,32):(32,1)'";

/// The arguments that describe a copy.
#[derive(clap::Args)]
pub(crate) struct ProblemArgs {
    /// The source's layout, coordinate -> element
    #[arg(value_parser = marked::layout, default_value = "(4096,4096):(4096,1)")]
    src: Lay,
    /// The destination's layout; its coordinates correspond to the source's in colexicographic order [default: the source's]
    #[arg(value_parser = marked::layout)]
    dst: Option<Lay>,
    /// Element type; of its values only the bits count
    #[arg(long, default_value = "bf16", value_parser = dtype)]
    dtype: DType,
    /// Pad: where in the destination the source begins, a number for each mode
    #[arg(long, value_parser = marked::coord, conflicts_with = "gather")]
    at: Option<Coord>,
    /// What is written where a padded source has nothing
    #[arg(long, default_value_t = 0.0, requires = "at")]
    fill: f64,
    /// Read this mode of the source at random positions
    #[arg(long, value_name = "MODE")]
    gather: Option<usize>,
}

impl ProblemArgs {
    fn dst(&self) -> &Lay {
        self.dst.as_ref().unwrap_or(&self.src)
    }

    /// Where in the destination the source begins.
    fn low(&self) -> Option<Vec<i64>> {
        let position = |crd| match crd {
            Crd::At(position) => position,
            Crd::All => 0,
        };
        self.at.as_ref().map(|at| at.leaves().map(position).collect())
    }

    /// The copy.
    pub(crate) fn problem(&self) -> Result<Problem, girih_kernels::Error> {
        let (src, dst) = (&self.src, self.dst());
        match (self.low(), self.gather) {
            (Some(low), _) => Problem::pad(self.dtype, src, dst, &low, self.fill),
            (None, Some(mode)) => Problem::gather(self.dtype, src, dst, mode, DType::U32),
            (None, None) => Problem::new(self.dtype, src, dst),
        }
    }
}

/// The arguments of `girih copy`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Seed of the random elements and positions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let problem = args.problem.problem()?;
    let session = Session::open(&args.run)?;
    let report = copy(&session, &args, &problem)?;
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn copy(session: &Session, args: &Args, problem: &Problem) -> Result<Report, Box<dyn std::error::Error>> {
    let (device, arguments, dtype) = (&session.device, &args.problem, problem.dtype());
    if dtype.bits() < 8 || matches!(dtype, DType::Tf32 | DType::E8m0 | DType::Bool) {
        return Err(Box::new(girih_kernels::Error::Kernel {
            kernel: "copy",
            dtype: dtype.name(),
            accepted: "f64, f32, f16, bf16, e4m3, e5m2 and integers of 8 to 64 bits are accepted",
        }));
    }
    let (src, dst) = (&arguments.src, arguments.dst());
    // From the least index to the greatest.
    let span = |layout: &Lay| Ok::<_, girih_layout::Error>(layout.span()?.get().unwrap_or(0));
    let [m, n] = [span(src)?, span(dst)?];
    session.fits(peak(problem, [m, n]))?;
    let copy = Copy::new(device, problem)?;
    let mut rng = StdRng::seed_from_u64(args.seed);
    let width = bytes_of(dtype, 1);
    let encoded = |x: f64| dtype.encode(x).to_le_bytes().into_iter().take(width);
    let source: Vec<u8> = (0..m).flat_map(|_| encoded(rng.random_range(-100.0..100.0))).collect();
    let from = device.upload(&source)?;
    let to = device.alloc::<u8>(bytes_of(dtype, n))?;
    // These bytes are NaN in every floating-point type.
    to.fill_bytes(0xff)?;
    let mut expected = to.download()?;
    let rows: Vec<u32> = match problem.gathered() {
        Some(gather) => {
            let count = problem.modes()[gather.mode].extent;
            (0..count).map(|_| word(rng.random_range(0..gather.rows))).collect()
        }
        None => Vec::new(),
    };
    let list = device.upload::<u8>(bytemuck::cast_slice(&rows))?;
    let index = problem.gathered().map(|_| untyped(&list, DType::U32));
    let time = session.time(&mut || copy.run_untyped(untyped(&to, dtype), untyped(&from, dtype), index))?;
    let mut written = vec![false; size(n)];
    let fill: Vec<u8> = encoded(arguments.fill).collect();
    for moved in arguments.moves(&rows)? {
        let (place, element) = moved?;
        let element = element.map_or(&fill[..], |element| &source[element * width..][..width]);
        expected[place * width..][..width].copy_from_slice(element);
        written[place] = true;
    }
    let (mut wrong, mut others_written) = (0, 0);
    let decoded = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..width].copy_from_slice(bytes);
        dtype.decode(u64::from_le_bytes(bits))
    };
    let same = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan();
    let found = to.download()?;
    let pairs = found.chunks(width).zip(expected.chunks(width));
    for ((found, expected), written) in pairs.zip(written) {
        let differs = found != expected && !(dtype.is_float() && same(decoded(found), decoded(expected)));
        *if written { &mut wrong } else { &mut others_written } += usize::from(differs);
    }
    let rated = device.kind() == Kind::Cuda && problem.bytes() > 0;
    Ok(Report {
        device: session.report(),
        dtype: dtype.name(),
        src: src.to_string(),
        dst: dst.to_string(),
        kernel: KernelReport::new(
            copy.kernel(),
            copy.partitions(),
            word(copy.config().threads),
            copy.shared_bytes(),
        ),
        gigabytes_per_second: rated.then(|| time.0.rate(problem.bytes() as f64) / 1e9),
        time,
        elements: problem.elements(),
        wrong,
        others_written,
        passed: wrong == 0 && others_written == 0,
    })
}

/// The peak memory of a copy with a source and a destination of this many elements, and indices: on the host also a second destination, with a mark
/// for each element.
fn peak(problem: &Problem, [m, n]: [i64; 2]) -> Peak {
    let indices = problem.gathered().map_or(0, |gather| problem.modes()[gather.mode].extent);
    let [source, target] = [m, n].map(|elements| bytes(elements, problem.dtype()));
    let marks = bytes(n, DType::U8).saturating_add(target);
    let device = source.saturating_add(target).saturating_add(bytes(indices, DType::U32));
    // A source of no more elements than the destination is accessed, or other elements of it in every row.
    let remembered = [source, target].map(|array| checks(array, wide(problem.elements()), problem.dtype()));
    let checks = remembered.into_iter().fold(0, u64::saturating_add);
    Peak { device, host: device.saturating_add(marks), checks }
}

/// A place of the destination, and the element of the source that comes there; `None` for the fill.
type Moved = Result<(usize, Option<usize>), girih_layout::Error>;

impl ProblemArgs {
    /// By the definition: every place of the destination that is written, counted from the least one, and the element of the source that comes
    /// there. `rows` are the positions of a gather.
    fn moves(&self, rows: &[u32]) -> Result<impl Iterator<Item = Moved>, girih_layout::Error> {
        let (src, dst, low) = (&self.src, self.dst(), self.low());
        let [of_src, of_dst] = [src.min_index()?, dst.min_index()?];
        let one = move |i: i64| -> Moved {
            let place = size(dst.at(i)? - of_dst);
            if low.is_none() && self.gather.is_none() {
                return Ok((place, Some(size(src.at(i)? - of_src))));
            }
            // The number of the coordinate in each mode.
            let (mut rest, mut inside, mut at) = (i, true, Vec::new());
            for mode in 0..dst.rank() {
                let [own, extent] =
                    [src.mode(mode)?.size()?, dst.mode(mode)?.size()?].map(|n| n.get().unwrap_or(1));
                let position = match self.gather {
                    Some(gather) if gather == mode => {
                        rows.get(size(rest % extent)).map_or(-1, |&row| row.into())
                    }
                    _ => rest % extent - low.as_ref().map_or(0, |low| low[mode]),
                };
                inside &= (0..own).contains(&position);
                at.push(position);
                rest /= extent;
            }
            let coord = |mode: usize| idx2crd(src.mode(mode)?.shape(), at[mode]);
            let element = (0..if inside { src.rank() } else { 0 }).try_fold(0, |sum, mode| {
                Ok::<_, girih_layout::Error>(sum + src.mode(mode)?.crd2idx(&coord(mode)?)?)
            })?;
            Ok((place, inside.then_some(size(element - of_src))))
        };
        Ok((0..dst.size()?.get().unwrap_or(0)).map(one))
    }
}

/// The report of `girih copy`.
#[derive(Serialize)]
struct Report {
    device: DeviceReport,
    dtype: &'static str,
    src: String,
    dst: String,
    kernel: KernelReport,
    time: Timing,
    gigabytes_per_second: Option<f64>,
    elements: i64,
    wrong: usize,
    others_written: usize,
    passed: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { dtype, dst, src, wrong, others_written, elements, .. } = self;
        write!(f, "{}", self.device)?;
        line(f, "problem", format_args!("{dtype}, {src} to {dst}"))?;
        write!(f, "{}", self.kernel)?;
        line(f, "time", &self.time)?;
        if let Some(rate) = self.gigabytes_per_second {
            line(f, "rate", format_args!("{rate:.1} GB/s, read and written"))?;
        }
        let text =
            format_args!("{wrong} of {elements} elements differ, {others_written} others were written");
        line(f, "error", text)?;
        writeln!(f, "{}", if self.passed { "PASSED" } else { "FAILED" })
    }
}
