//! `girih sim`: run a kernel of a PTX file in the simulator, on arrays from files.

mod argument;
mod number;
mod report;
mod source;
mod tensor;
mod verdict;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use girih_sim::{Launch, Memory, Options, Profile, Program};

use crate::{CommandResult, Error, run};
use argument::{Argument, Bound, extents};
use report::SimReport;
use verdict::VerdictArgs;
use watch::WatchArgs;

/// How arguments are written, for the long help.
const ARGUMENTS: &str = "\
Arguments are given in the order of the kernel's parameters, one --arg each:

  u32:5  s64:-1  u16:0xffff        an integer: u8 to u64, s8 to s64
  f32:0.5  f64:1e-3  f16:2  bf16:1 a number
  bytes:0100ff00                   the bytes of a structure, in hexadecimal
  in:A.npy                         the address of a copy of the array
  out:f32:4096:C.npy               the address of an array that nothing has written, which goes to the file;
                                   4096 or 64x64 elements of u8 to u64, s8 to s64, f16, bf16, f32, f64
  inout:H.npy:H2.npy               the address of a copy of H, which goes to H2 afterwards
  tensormap:16x64,128B:in:A.npy    the tensor map of such an array: the box in the array's order; a swizzle of 32B, 64B
                                   or 128B; nan for what lies outside; bf16, tf32, tf32.ftz or f32.ftz for elements
                                   that numpy has no name for

Files are in numpy's format, of any numeric type; bf16 is kept as u16.

The launch is executed for each of --seeds seeds on the same memory, and files get what the first has left. After an
execution with an error there is no other. What is found is told on stderr, each kind and pair of instructions once, and
with --report json in the report.

The exit status is 0 if the launch passed, be it with warnings; 1 if there was an error; 2 for arguments that the kernel
can't be launched with; 3 if a file can't be read or written, or the simulator can't run the kernel. No file is written
unless it is 0.";

/// What is checked beyond alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// Accesses that nothing orders
    Races,
    /// Accesses outside of every allocation; always checked
    Bounds,
    /// Reads of what nothing has written
    Uninit,
}

/// How the result is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

/// The arguments of `girih sim`.
#[derive(clap::Args)]
#[command(after_long_help = ARGUMENTS)]
pub(crate) struct Args {
    /// The PTX file
    file: PathBuf,
    /// The kernel [default: the only one]
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks: x, or x,y or x,y,z
    #[arg(long, value_parser = extents)]
    grid: [u32; 3],
    /// Threads of a block: x, or x,y or x,y,z
    #[arg(long, value_parser = extents)]
    block: [u32; 3],
    /// Blocks of a cluster: x, or x,y or x,y,z [default: what the kernel asks for]
    #[arg(long, value_parser = extents)]
    cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    smem: u32,
    /// An argument of the kernel, see below; once for each, in order
    #[arg(long = "arg")]
    arguments: Vec<Argument>,
    /// What to check, of races, bounds, uninit
    #[arg(long, value_delimiter = ',', default_value = "races,bounds,uninit")]
    check: Vec<Check>,
    #[command(flatten)]
    verdict: VerdictArgs,
    /// Tell what each instruction did
    #[arg(long)]
    lines: bool,
    /// How the result is told
    #[arg(long, default_value = "text")]
    report: Form,
    /// If the launch fails, look for the least grid in which it still does
    #[arg(long)]
    reduce: bool,
    #[command(flatten)]
    watch: WatchArgs,
}

pub(crate) fn run(args: Args) -> CommandResult {
    match launch(&args) {
        Ok(report) => {
            run::print(&report, args.report == Form::Json)?;
            Ok(ExitCode::from(u8::from(!report.passed())))
        }
        Err(error) => {
            eprintln!("error: {error}");
            Ok(ExitCode::from(if is_usage(&*error) { 2 } else { 3 }))
        }
    }
}

/// Whether other arguments would be accepted, rather than another program or other data.
fn is_usage(error: &(dyn std::error::Error + 'static)) -> bool {
    use girih_sim::Error as E;
    matches!(error.downcast_ref(), Some(Error::KernelNeeded { .. } | Error::Argument { .. }))
        || matches!(error.downcast_ref(), Some(girih_ptx::Error::TensorMap { .. }))
        || matches!(
            error.downcast_ref(),
            Some(
                E::UnknownKernel { .. }
                    | E::ArgumentCount { .. }
                    | E::ArgumentSize { .. }
                    | E::LaunchShape { .. }
                    | E::SharedTooLarge { .. }
            )
        )
}

impl Args {
    fn launch(&self, bound: &[Bound]) -> Launch {
        Launch {
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            dynamic_shared: self.smem,
            args: bound.iter().map(|bound| bound.bytes.clone()).collect(),
        }
    }
}

fn bind(args: &Args, memory: &Memory) -> Result<Vec<Bound>, Box<dyn std::error::Error>> {
    args.arguments.iter().map(|argument| argument.bind(memory)).collect()
}

/// The least grid in which a launch fails from the start, and how many launches it took to find; none if it did not fail
/// again.
fn reduced(
    args: &Args,
    module: &girih_ptx::Module,
    kernel: &str,
    options: &Options,
) -> Result<Option<([u32; 3], u32)>, Box<dyn std::error::Error>> {
    let (program, memory) = (Program::load(module)?, Memory::new());
    let launch = args.launch(&bind(args, &memory)?);
    let options = Options { profile: None, ..options.clone() };
    let reduced = girih_sim::reduce(program.kernel(kernel)?, &memory, &launch, &options)?;
    Ok(reduced.map(|reduced| (reduced.launch.grid, reduced.runs)))
}

fn launch(args: &Args) -> Result<SimReport, Box<dyn std::error::Error>> {
    let source = source::Source::read(&args.file, args.kernel.as_deref())?;
    let module = source.module;
    let program = Program::load(&module)?;
    let kernel = program.kernel(&source.kernel)?;
    let memory = Memory::new();
    let bound = bind(args, &memory)?;
    let profile = Profile::default();
    let options = args.verdict.options(Options {
        profile: Some(profile.clone()),
        races: args.check.contains(&Check::Races),
        uninitialised: args.check.contains(&Check::Uninit),
        counts: true,
        ..Options::default()
    });
    let launch = args.launch(&bound);
    let watch = args.watch.observer(kernel, &launch)?.map(Arc::new);
    let observed = Options { observer: watch.clone().map(|watch| watch as _), ..options.clone() };
    let verdict = girih_sim::judge(kernel, &memory, &launch, &observed)?;
    for missed in watch.iter().flat_map(|watch| watch.missed()) {
        eprintln!("{missed}");
    }
    for finding in &verdict.findings {
        eprintln!("{}: {finding}", finding.severity);
    }
    match verdict.errors().next() {
        Some(finding) if args.reduce => {
            let options = Options { seed: finding.seed, ..options.clone() };
            eprintln!("{}", least_grid(reduced(args, &module, kernel.name(), &options)?));
        }
        Some(_) => {}
        None => {
            for Bound { output, .. } in bound {
                output.map_or(Ok(()), |output| output.write(&memory))?;
            }
        }
    }
    Ok(SimReport::new(kernel.name(), &launch, &options, &verdict, (&profile, args.lines)))
}

fn least_grid(least: Option<([u32; 3], u32)>) -> String {
    match least {
        Some(([x, y, z], runs)) => {
            format!("the least grid in which it fails: --grid {x},{y},{z} (found by {runs} launches)")
        }
        None => "it did not fail when it was launched again".into(),
    }
}
