//! `girih attention decode`: a few queries of each sequence against a cache of keys and values.

mod data;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use float8::{F8E4M3, F8E5M2};
use girih_device::{Kind, Pod};
use girih_kernels::attention::decode::{CacheOrder, Decode, DecodeArgs, DecodeProblem, ScalesOf, choose};
use girih_kernels::attention::{Order, Problem};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::POISON;
use super::data::integers;
use crate::npy::Array;
use crate::progress::Busy;
use crate::run::{self, Session};
use crate::{CommandResult, Error};
use data::{Inputs, same};
use report::{PlanReport, ProblemReport, Report};

/// How many keys a sequence has by default.
const KEYS: u32 = 256;

const EXAMPLES: &str = "\
The queries of a sequence are its last ones: the last query sees all keys, each one before it one key less.

  girih attention decode --batch 4 --keys 300 --capacity 512 --kv-heads 2   groups of heads
  girih attention decode --keys 300 --pages 64 --cache e4m3 --scales head   8-bit floats in pages
  girih attention decode --lengths lengths.npy --queries 4 --window 100     different lengths";

/// The arguments of `girih attention decode`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Sequences [default: 1, or as many as --lengths has]
    #[arg(long, allow_negative_numbers = true)]
    batch: Option<i64>,
    /// Keys of each sequence [default: 256]
    #[arg(long)]
    keys: Option<u32>,
    /// The file of the keys of each sequence: integers
    #[arg(long, value_name = "LENGTHS.npy", conflicts_with_all = ["batch", "keys"])]
    lengths: Option<PathBuf>,
    /// Keys of a sequence for which the cache has room [default: those of the longest one]
    #[arg(long, value_name = "KEYS", allow_negative_numbers = true)]
    capacity: Option<i64>,
    /// Queries of each sequence, 1 to 16
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    queries: i64,
    /// Heads of queries
    #[arg(long, default_value_t = 8, allow_negative_numbers = true)]
    heads: i64,
    /// Heads of keys and values, a divisor of the heads of queries [default: as many]
    #[arg(long, value_name = "HEADS", allow_negative_numbers = true)]
    kv_heads: Option<i64>,
    /// Elements of a row of a head, a multiple of 8 up to 256
    #[arg(long, value_name = "ELEMENTS", default_value_t = 64, allow_negative_numbers = true)]
    head_dim: i64,
    /// Element type of Q and O: bf16, f16
    #[arg(long, default_value = "bf16")]
    dtype: DType,
    /// Element type of K and V: that of Q, e4m3, e5m2 [default: that of Q]
    #[arg(long, value_name = "DTYPE")]
    cache: Option<DType>,
    /// Multiply K and V by random scales: one for each `tensor`, or one for each `head`
    #[arg(long, value_name = "OF", value_parser = scales)]
    scales: Option<ScalesOf>,
    /// Let the cache lie in pages of so many keys, 16, 32, 64, 128 or 256, in a random order
    #[arg(long, value_name = "KEYS", allow_negative_numbers = true)]
    pages: Option<i64>,
    /// Order of the axes of the cache: bshd, (sequence or page, key, head, dim), or bhsd
    #[arg(long, default_value = "bshd")]
    order: Order,
    /// A query sees its own key and so many keys before it [default: all]
    #[arg(long, value_name = "KEYS", allow_negative_numbers = true)]
    window: Option<i64>,
    /// What scores are multiplied by [default: 1 / sqrt(head dim)]
    #[arg(long, allow_negative_numbers = true)]
    scale: Option<f32>,
    /// Let scores become cap * tanh(score / cap)
    #[arg(long, value_name = "CAP", allow_negative_numbers = true)]
    softcap: Option<f32>,
    /// Compute the logarithms of the sums of powers too
    #[arg(long)]
    lse: bool,
    /// Cut the keys of a sequence into up to so many parts [default: as keep the device busy]
    #[arg(long, allow_negative_numbers = true)]
    parts: Option<i64>,
    /// Seed of the random tensors, whose elements are uniform in -1..1
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: run::RunArgs,
}

impl Args {
    /// The problem and the keys of each sequence.
    fn problem(&self) -> Result<(DecodeProblem, Vec<u32>), Box<dyn std::error::Error>> {
        let file = self.lengths.as_ref();
        let file =
            file.map(|path| integers(&(path.display().to_string(), Array::read(path)?))).transpose()?;
        let batch = file.as_ref().map_or(self.batch.unwrap_or(1), |lengths| lengths.len() as i64);
        let longest = file.iter().flatten().max().copied().unwrap_or(self.keys.unwrap_or(KEYS));
        let capacity = self.capacity.unwrap_or(i64::from(longest).max(1));
        let heads = [self.heads, self.kv_heads.unwrap_or(self.heads)];
        let problem = DecodeProblem::new(self.dtype, [batch, self.queries], heads, self.head_dim, capacity)?
            .with_cache(self.cache.unwrap_or(self.dtype), self.scales)?;
        if i64::from(longest) > capacity {
            let (text, expected) =
                (format!("{longest} keys"), format!("a capacity of as many, not of {capacity}"));
            return Err(Error::Argument { text, expected }.into());
        }
        let order = match self.order {
            Order::Bshd => CacheOrder::KeysFirst,
            Order::Bhsd => CacheOrder::HeadsFirst,
        };
        let problem = match self.pages {
            None => problem.contiguous(order)?,
            // As many pages as all sequences have.
            Some(size) => problem.paged(size, problem.paged(size, 1, order)?.table_entries(), order)?,
        };
        let problem = self.window.map_or(Ok(problem), |left| problem.with_window(left))?;
        let problem = self.scale.map_or(Ok(problem), |scale| problem.with_scale(scale))?;
        let problem = self.softcap.map_or(Ok(problem), |cap| problem.with_softcap(cap))?;
        let problem = if self.lse { problem.with_lse() } else { problem };
        Ok((problem, file.unwrap_or_else(|| vec![longest; batch as usize])))
    }
}

/// Parses to what scales belong.
fn scales(text: &str) -> Result<ScalesOf, Error> {
    match text {
        "tensor" => Ok(ScalesOf::Tensor),
        "head" => Ok(ScalesOf::Head),
        _ => Err(Error::Argument { text: text.into(), expected: "`tensor` or `head`".into() }),
    }
}

pub(crate) fn run(args: &Args) -> CommandResult {
    let (problem, lengths) = args.problem()?;
    let same = same(&problem, &lengths, args.window, args.softcap)?;
    let session = Session::open(&args.run)?;
    let by = match (problem.dtype(), problem.cache()) {
        (DType::F16, DType::E4m3) => compute::<f16, F8E4M3>,
        (DType::F16, DType::E5m2) => compute::<f16, F8E5M2>,
        (DType::F16, _) => compute::<f16, f16>,
        (_, DType::E4m3) => compute::<bf16, F8E4M3>,
        (_, DType::E5m2) => compute::<bf16, F8E5M2>,
        _ => compute::<bf16, bf16>,
    };
    let report = by(&session, args, &problem, &lengths, &same)?;
    run::print(&report, args.run.json)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the problem and compares it with attention of packed sequences that computes the same.
fn compute<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    args: &Args,
    problem: &DecodeProblem,
    lengths: &[u32],
    same: &Problem,
) -> Result<Report, Box<dyn std::error::Error>> {
    let device = &session.device;
    let plan = choose(problem, device.limits(), args.parts)?;
    let bytes = |elements: i64, dtype: DType| (elements as u64).saturating_mul(u64::from(dtype.bits() / 8));
    let rows = problem.row_spans().map(|len| bytes(len, problem.dtype()));
    let keys = problem.key_spans().map(|len| bytes(len, problem.cache()));
    let parts = plan.workspace(problem).map(|len| bytes(len, DType::F32));
    session.fits([rows, keys, parts].into_iter().flatten().fold(0, u64::saturating_add))?;
    let decode = Decode::planned(device, problem, plan)?;
    let inputs = Inputs::<T, C>::random(problem, lengths, args.seed);
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
    let busy = Busy::begin("comparing with the f64 reference");
    let found = inputs.check(problem, same, &o.download()?, &lse.download()?)?;
    drop(busy);
    let most = args.window.map_or(i64::MAX, |left| left + args.queries);
    let seen: i64 = lengths.iter().map(|&keys| i64::from(keys).min(most)).sum();
    let read = 2 * bytes(seen * problem.heads()[1] * problem.head_dim(), problem.cache());
    let rated = device.kind() == Kind::Cuda && read > 0;
    Ok(Report {
        device: session.report(),
        problem: ProblemReport::new(problem, lengths, args),
        plan: PlanReport::from(decode.plan()),
        gigabytes_per_second: rated.then(|| time.0.rate(read as f64) / 1e9),
        time,
        check: found.into(),
        passed: found.passed(),
    })
}
