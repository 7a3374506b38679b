//! `girih tune tile`: measures tiles and hints of a program against each other, and records the fastest.

use std::path::PathBuf;
use std::time::Duration;

use girih_device::Kind;
use girih_programs::Entry;
use girih_tile::hints::Hint;
use girih_tile::tune::{Budget, Records, Space};

use super::contest::unit;
use super::said::Said;
use super::{at_least_one, today};
use crate::output::Output;
use crate::progress::Busy;
use crate::run::{Peak, RunArgs, Session, checks};
use crate::{CommandResult, Error, programs, records};

/// The text below the arguments.
pub(super) const AFTER: &str = "\
Programs by name: the kernels of `girih::programs`, each with its dtype and tile, such as softmax_bf16_16x1024; `girih list kernels tile` \
lists them. A size that a program does not have gets those that it has. A program that takes the record up makes its launch by `girih_tile::tune::launch`.";

/// The arguments of `girih tune tile`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The program's name
    program: String,
    /// Sizes that the extents of its arrays are made of, as m=8192 [default: enough to keep a GPU busy, on the simulator what it computes in
    /// a second]
    #[arg(value_name = "SIZE=NUMBER")]
    sizes: Vec<String>,
    /// A hint with the values that are measured beside none, as occupancy=2,4; may be given several times [default: num_worker_warps=4,8,16]
    #[arg(long = "hint", value_name = "HINT=NUMBERS")]
    hints: Vec<String>,
    /// Add the record to this file, in the place of one of the same program and arguments
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most points, each a tile with hints, that are measured
    #[arg(long, value_name = "COUNT", default_value_t = 40, value_parser = at_least_one())]
    most: usize,
    /// About how long measuring takes
    #[arg(long, value_name = "SECONDS", default_value_t = 4)]
    seconds: u64,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run(args: Args) -> CommandResult {
    let entry = programs::entry(&args.program)?;
    let session = Session::open(&args.run)?;
    let device = &session.device;
    let is_simulated = device.kind() == Kind::Sim;
    let sizes = sizes(entry, &args.sizes, is_simulated)?;
    let space = space(entry, &args.hints)?;
    // The file is checked before anything is measured.
    let mut records = match args.output.as_deref().filter(|path| path.exists()) {
        Some(path) => records::read(path, |text| Records::read(text, device.limits()))?,
        None => Records::new(device.limits()),
    };
    let output = args.output.as_deref().map(Output::new).transpose()?;
    let samples = entry.samples(&sizes);
    let bytes = samples.iter().map(|of| {
        let count = of.extents.iter().fold(1u64, |count, &n| count.saturating_mul(n as u64));
        (count.saturating_mul(u64::from(of.dtype.bits().div_ceil(8))), of.dtype)
    });
    let [arrays, checks] = bytes.fold([0u64; 2], |[arrays, all], (array, dtype)| {
        [arrays.saturating_add(array), all.saturating_add(checks(array, u64::MAX, dtype))]
    });
    // Written arrays have a second copy, and the results of a point are on the host along with those of the default.
    let [arrays, checks] = [arrays, checks].map(|bytes| bytes.saturating_mul(2));
    session.fits(Peak { device: arrays, host: arrays, checks })?;

    let mut arguments = entry.arguments(device, &sizes)?;
    let budget = Budget { points: args.most, time: Duration::from_secs(args.seconds) };
    let busy = Busy::begin("measuring");
    let tuned = entry.tune(&mut arguments, &space, &budget)?;
    drop(busy);
    if let Some(finding) = device.sim_findings().first() {
        return Err(Error::Wrong(finding.to_string()).into());
    }
    let (mut kept, left): (Vec<_>, Vec<_>) = tuned.measured.iter().partition(|of| of.share.is_ok());
    kept.sort_by(|a, b| a.share.as_ref().unwrap_or(&1.0).total_cmp(b.share.as_ref().unwrap_or(&1.0)));
    let mut said = Said::new(args.run.json);
    said.line(&format!("{} points, as shares of what the usual one costs", tuned.measured.len()));
    for of in kept.iter().chain(&left) {
        match &of.share {
            Ok(share) => said.line(&format!("  {share:>6.3}  {}", of.point)),
            Err(why) => said.left_out(&of.point.to_string(), &why.to_string()),
        }
    }
    said.fastest(&tuned.best.to_string(), tuned.costs, [unit(device), "usual one"]);
    if let Some(output) = output {
        records.insert(tuned.record(&today()));
        output.write(|to| std::io::Write::write_all(to, records.to_string().as_bytes()))?;
        said.recorded(output.path());
    }
    said.finish(&session)
}

/// The sizes of a program with those that are given.
fn sizes(entry: &Entry, given: &[String], small: bool) -> Result<Vec<usize>, String> {
    let mut sizes = if small { entry.small() } else { entry.usual() };
    for text in given {
        let place = |name: &str| entry.sizes().iter().position(|size| size.name == name);
        let found =
            text.split_once('=').and_then(|(name, number)| Some((place(name)?, number.parse().ok()?)));
        match found {
            Some((at, number @ 1..)) => sizes[at] = number,
            _ => {
                let all = entry.sizes().iter().zip(&sizes).map(|(size, n)| format!("{}={n}", size.name));
                let all: Vec<String> = all.collect();
                return Err(format!(
                    "{} has no size {text}: such as {} are accepted",
                    entry.name,
                    all.join(" ")
                ));
            }
        }
    }
    Ok(sizes)
}

/// The tiles of a program with the hints that are given.
fn space(entry: &Entry, hints: &[String]) -> Result<Space, Box<dyn std::error::Error>> {
    if hints.is_empty() {
        return Ok(entry.space().optional_hint(Hint::NumWorkerWarps, [4, 8, 16])?);
    }
    hints.iter().try_fold(entry.space(), |space, text| {
        let numbers = |list: &str| list.split(',').map(|n| n.parse().ok()).collect::<Option<Vec<i64>>>();
        let parts = text.split_once('=').and_then(|(name, list)| Some((Hint::named(name)?, numbers(list)?)));
        let (hint, numbers) = parts.ok_or_else(|| {
            let names: Vec<String> = Hint::ALL.iter().map(ToString::to_string).collect();
            format!("no hint {text}: one of {} with numbers, as occupancy=2,4, is accepted", names.join(", "))
        })?;
        Ok(space.optional_hint(hint, numbers)?)
    })
}
