//! `girih sim`: runs a kernel of a PTX file in the simulator, on arrays from files.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod report;
mod source;
mod verdict;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use girih_device::host_fits;
use girih_notation::{ARGUMENTS, Argument, LAUNCHES, Plan, Ready, Refused, Shape, extents};
use girih_page::Recording;
use girih_sim::{Launch, Memory, Options, Profile, Program};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::output::{Output, tell};
use crate::progress::{self, Busy, Notice};
use crate::status::Status;
use crate::{CommandResult, Error, run};
use report::SimReport;
use verdict::VerdictArgs;
use watch::WatchArgs;

/// How launches are judged, for the long help.
const JUDGED: &str = "\
The launch is executed once for each of --seeds seeds, each time on the same initial memory, and
files get what the first execution has left. An execution with an error is the last one. What is
found is printed on standard error, once for each kind and pair of source lines, and with --json it
is in the report too.

The exit status is 0 if the launch passed, with warnings or without; 1 if there was an error; 2 for
arguments with which the kernel cannot be launched; 3 if a file cannot be read or written, or if the
simulator cannot run the kernel. Files are written only with the exit status 0; only the recording of
--record is written in any case.";

/// The checks other than alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// Accesses of the same memory that nothing orders
    Races,
    /// Accesses outside of every allocation (always checked)
    Bounds,
    /// Reads of registers and memory that nothing has written
    Uninit,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

/// The arguments of `girih sim`.
#[derive(clap::Args)]
#[command(after_long_help = format!("{ARGUMENTS}\n\n{JUDGED}\n\n{LAUNCHES}"))]
pub(crate) struct Args {
    /// The PTX file
    file: PathBuf,
    /// The kernel [default: the only one]
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks: x, or x,y or x,y,z
    #[arg(long, value_parser = extents, required_unless_present = "launches")]
    grid: Option<[u32; 3]>,
    /// Threads of a block: x, or x,y or x,y,z
    #[arg(long, value_parser = extents, required_unless_present = "launches")]
    block: Option<[u32; 3]>,
    /// Blocks of a cluster: x, or x,y or x,y,z [default: what the kernel asks for]
    #[arg(long, value_parser = extents)]
    cluster: Option<[u32; 3]>,
    /// Launch all blocks together, for kernels that wait for the whole grid
    #[arg(long)]
    cooperative: bool,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    smem: u32,
    /// An argument of the kernel, see below; given once for each parameter, in order
    #[arg(long = "arg")]
    arguments: Vec<Argument>,
    /// A file of arrays and launches, see below, instead of one launch
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grid", "block", "cluster", "cooperative", "smem", "arguments", "reduce"])]
    launches: Option<PathBuf>,
    /// What to check: races, bounds, uninit
    #[arg(long, value_delimiter = ',', default_value = "races,bounds,uninit")]
    check: Vec<Check>,
    #[command(flatten)]
    verdict: VerdictArgs,
    /// Report what each instruction has done
    #[arg(long)]
    lines: bool,
    /// The form of the report
    #[arg(long, default_value = "text")]
    report: Form,
    /// Print one JSON object for each launch, a line each
    #[arg(long, conflicts_with = "report")]
    json: bool,
    /// If the launch fails, look for the least grid with which the launch still fails
    #[arg(long)]
    reduce: bool,
    #[command(flatten)]
    watch: WatchArgs,
    /// Write a page that replays what the warps of a block have done, step by step; a browser opens it without a server. Of
    /// several launches, the last one of the kernel that --kernel names is recorded
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "breaks"])]
    record: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let reports = launch_all(&args)?;
    let passed = reports.iter().all(SimReport::passed);
    let is_json = args.json || args.report == Form::Json;
    match (args.launches.is_some(), &reports[..]) {
        (false, [report]) => run::print(report, is_json)?,
        // Each launch has its line.
        _ if args.json => reports.iter().try_for_each(|report| run::print(report, true))?,
        _ => run::print(&Reports(reports), is_json)?,
    }
    Ok(ExitCode::from(if passed { 0 } else { Status::Wrong.code() }))
}

impl Args {
    /// The launch, and the name of the kernel if one is chosen.
    fn plan(&self) -> Result<(Plan, Option<String>), Error> {
        let Some(file) = &self.launches else {
            let (grid, block) = (self.grid.unwrap_or([1; 3]), self.block.unwrap_or([1; 3]));
            let (cluster, cooperative) = (self.cluster, self.cooperative);
            let shape = Shape { grid, block, cluster, cooperative, smem: self.smem };
            return Ok((
                Plan::one(self.kernel.clone().unwrap_or_default(), shape, &self.arguments),
                self.kernel.clone(),
            ));
        };
        let plan = read(file)?;
        let kernel = self.kernel.clone().or_else(|| plan.first().map(str::to_string));
        Ok((plan, kernel))
    }
}

/// The arrays and launches of a file.
fn read(file: &Path) -> Result<Plan, Error> {
    let text = std::fs::read_to_string(file).map_err(Error::read(file))?;
    Plan::parse(&text).map_err(|Refused { line, message }| Error::Launches {
        file: file.into(),
        line,
        message,
    })
}

/// The reports of several launches.
#[derive(serde::Serialize)]
#[serde(transparent)]
struct Reports(Vec<SimReport>);

impl std::fmt::Display for Reports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|report| write!(f, "{report}"))
    }
}

/// A grid, and how many launches it took to find it.
type Least = ([u32; 3], u32);

/// The least grid with which a launch on the initial memory fails; `None` if the launch did not fail again.
fn reduced(
    plan: &Plan,
    module: &girih_ptx::Module,
    kernel: &str,
    options: &Options,
) -> Result<Option<Least>, Box<dyn std::error::Error>> {
    let (program, memory) = (Program::load(module)?, Memory::new());
    let (ready, _) = plan.bind(&memory)?;
    let Some(Ready { launch, .. }) = ready.into_iter().next() else { return Ok(None) };
    let options = Options { profile: None, ..options.clone() };
    let reduced = girih_sim::reduce(program.kernel(kernel)?, &memory, &launch, &options)?;
    Ok(reduced.map(|reduced| (reduced.launch.grid, reduced.runs)))
}

/// Executes the launches in order, up to the first launch with an error. If no launch has an error, writes the files.
fn launch_all(args: &Args) -> Result<Vec<SimReport>, Box<dyn std::error::Error>> {
    let (plan, kernel) = args.plan()?;
    let source = source::Source::read(&args.file, kernel.as_deref())?;
    let program = Program::load(&source.module)?;
    // An array is on the host, in the simulator's memory, and in what the memory is put back to for each seed.
    host_fits(plan.bytes().saturating_mul(3)).map_err(Error::from)?;
    let memory = Arc::new(Memory::new());
    let (ready, bound) = plan.bind(&memory)?;
    // A file that cannot be written is refused before the launches.
    let outputs = bound.iter().map(|bound| bound.to().map(Output::new).transpose());
    let outputs: Vec<Option<Output>> = outputs.collect::<Result<_, _>>()?;
    let page = args.record.as_deref().map(Output::new).transpose()?;
    let mut reports = Vec::new();
    for Ready { kernel, launch } in &ready {
        // The one launch of the command line does not name its kernel if the file has only one.
        let names: Vec<String> = program.names().map(str::to_string).collect();
        let kernel = match args.launches {
            Some(_) => program.kernel(&source::named(kernel, &names)?)?,
            None => program.kernel(&source.kernel)?,
        };
        let report = launch_one(args, (&plan, &source, page.as_ref()), kernel, launch, &memory)?;
        let passed = report.passed();
        reports.push(report);
        if !passed {
            return Ok(reports);
        }
    }
    for (bound, output) in bound.into_iter().zip(outputs) {
        if let (Some(output), Some(array)) = (output, bound.array(&memory)?) {
            output.write(|to| array.write(to))?;
        }
    }
    Ok(reports)
}

fn launch_one(
    args: &Args,
    (plan, source, page): (&Plan, &source::Source, Option<&Output>),
    kernel: &girih_sim::Kernel,
    launch: &Launch,
    memory: &Arc<Memory>,
) -> Result<SimReport, Box<dyn std::error::Error>> {
    let profile = Profile::default();
    let options = args.verdict.options(Options {
        profile: Some(profile.clone()),
        races: args.check.contains(&Check::Races),
        uninitialised: args.check.contains(&Check::Uninit),
        counts: true,
        ..Options::default()
    });
    // Of several launches, those of the kernel that --kernel names are watched.
    let named = |name: &str| girih_sim::is_named(kernel.name(), name);
    let watched = args.launches.is_none() || args.kernel.as_deref().is_none_or(named);
    let watch = if watched { args.watch.observer(kernel, launch)?.map(Arc::new) } else { None };
    let page = page.filter(|_| watched);
    let recording =
        page.map(|_| args.watch.block(launch)).transpose()?.map(|block| Recording::of(block, memory.clone()));
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let observed = Options {
        observer: watch
            .clone()
            .map(|watch| watch as _)
            .or_else(|| recording.as_ref().map(Recording::observer)),
        threads: recording.as_ref().map(|_| 1),
        progress: Some(progress::of_blocks(bar.clone())),
        ..options.clone()
    };
    let is_json = args.json || args.report == Form::Json;
    let notice = (!is_json).then(|| Notice::begin(args.verdict.notice()));
    let verdict = girih_sim::judge(kernel, memory, launch, &observed);
    drop(notice);
    bar.finish_and_clear();
    let verdict = verdict?;
    for missed in watch.iter().flat_map(|watch| watch.missed()) {
        tell(&missed);
    }
    for finding in &verdict.findings {
        let formal = if finding.error.is_formal() { "formal: " } else { "" };
        tell(&format!("{}: {formal}{finding}", finding.severity));
    }
    if let (Some(page), Some(recording)) = (page, recording) {
        let html = recording.html(&source.text, &profile, &verdict).map_err(|fault| fault.message)?;
        page.write(|to| to.write_all(html.as_bytes()))?;
        tell(&format!(
            "{}: {} KB, to be opened in a browser",
            page.path().display(),
            html.len().div_ceil(1000)
        ));
    }
    if let Some(finding) = verdict.errors().next().filter(|_| args.reduce) {
        let options = Options { seed: finding.seed, ..options.clone() };
        let _busy = Busy::begin("looking for the least grid");
        tell(&least_grid(reduced(plan, &source.module, kernel.name(), &options)?));
    }
    Ok(SimReport::new(kernel.name(), launch, &options, &verdict, (&profile, args.lines)))
}

fn least_grid(least: Option<([u32; 3], u32)>) -> String {
    match least {
        Some(([x, y, z], runs)) => {
            format!(
                "the least grid with which the launch fails: --grid {x},{y},{z} (found by {runs} launches)"
            )
        }
        None => "the launch did not fail again".into(),
    }
}
