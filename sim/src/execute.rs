//! One execution of a launch, whose findings depend on the seed alone.
//!
//! Clusters that can't communicate run side by side, and nothing orders one after another. Whether two of them access a
//! common byte, and one writes it, does not depend on the order in which they happen to run. But which of the accesses
//! is found to be the later one does, and so do the values that are read. So a parallel execution is only a probe: it
//! ends at the first finding of any kind. Then the launch is executed again from the same memory, one cluster after
//! another, for the findings that are reported.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::exec::Machine;
use crate::grid::Grid;
use crate::launch::{SHARED_LIMIT, arguments, check_shape, cluster};
use crate::ledger::{Ledger, Mode};
use crate::residency::{MULTIPROCESSORS, Residency};
use crate::shadow::Global;
use crate::snapshot::Snapshot;
use crate::{Error, Finding, Kernel, Launch, Memory, Options, Profile, Report, Severity};

/// The result of an execution.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) findings: Vec<Finding>,
    pub(crate) untold: u64,
    /// The text that each block has printed, by block index.
    printed: BTreeMap<u64, String>,
}

/// Runs a kernel on a grid of blocks, deterministically for a given [`Options::seed`]. Clusters of blocks run in
/// parallel. But if the kernel has instructions by which blocks can communicate through global memory (strong accesses,
/// atomics that return a value or whose result depends on their order, such as sums of floats), its clusters alternate
/// on one thread. Such blocks may wait for one another: a cluster that makes no progress lets others go on, and begin.
/// Results depend on the host's timing only where blocks communicate by data races, which [`Options::races`] reports.
///
/// ```
/// use girih_sim::{Launch, Memory, Options, Program, run};
///
/// let module = girih_ptx::Module::parse(
///     ".version 8.0 .target sm_80 .address_size 64
///      .visible .entry iota(.param .u64 out) {
///        .reg .b32 %i; .reg .b64 %p, %at;
///        ld.param.u64 %p, [out]; mov.u32 %i, %tid.x;
///        mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %p;
///        st.global.u32 [%at], %i; ret;
///      }",
/// )?;
/// let program = Program::load(&module)?;
/// let memory = Memory::new();
/// let out = memory.alloc(64 * 4)?;
/// let launch = Launch { grid: [1; 3], block: [64, 1, 1], args: vec![out.to_le_bytes().into()], ..Launch::default() };
/// let report = run(program.kernel("iota")?, &memory, &launch, &Options::checked())?;
/// assert_eq!(report.blocks, 1);
/// let mut last = [0; 4];
/// memory.read(out + 63 * 4, &mut last)?;
/// assert_eq!(u32::from_le_bytes(last), 63);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A launch that does not fit the kernel ([`Error::ArgumentCount`], [`Error::ArgumentSize`], [`Error::LaunchShape`],
/// [`Error::SharedTooLarge`]), or the first finding that is an error, of the cluster with the lowest number. Memory
/// written before a finding stays written. Warnings are only counted, in the report; [`judge`](crate::judge) reports
/// all warnings and errors.
pub fn run(kernel: &Kernel, memory: &Memory, launch: &Launch, options: &Options) -> Result<Report, Error> {
    let Outcome { report, findings, .. } = execute(kernel, memory, launch, options, Mode::First)?;
    let warnings = findings.len() as u64;
    match findings.into_iter().find(|finding| finding.severity == Severity::Error) {
        Some(finding) => Err(finding.error),
        None => Ok(Report { warnings, ..report }),
    }
}

/// Executes a launch once.
///
/// # Errors
/// A launch that does not fit the kernel. Errors of the execution itself are in its outcome.
pub(crate) fn execute(
    kernel: &Kernel,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
    mode: Mode,
) -> Result<Outcome, Error> {
    let workers = workers(kernel, launch, options);
    let outcome = match workers {
        2.. if options.races || mode == Mode::All => match probe(kernel, memory, launch, options, workers)? {
            Some(outcome) => outcome,
            None => once(kernel, memory, launch, options, (mode, 1))?,
        },
        _ => once(kernel, memory, launch, options, (mode, workers))?,
    };
    if let Some(print) = &options.print {
        outcome.printed.values().for_each(|text| print(text));
    }
    Ok(outcome)
}

/// The number of threads that run clusters at the same time. There is one if blocks can communicate, since the seed
/// decides the order of their turns, or if an observer is to see the clusters in order.
fn workers(kernel: &Kernel, launch: &Launch, options: &Options) -> usize {
    match options.threads {
        _ if launch.grid == [1; 3] => 1,
        _ if kernel.code.communicates || options.observer.is_some() => 1,
        Some(threads) => threads.max(1),
        None => rayon::current_num_threads(),
    }
}

/// Executes a launch on several threads. If there is a finding, returns nothing, and the memory is as before.
fn probe(
    kernel: &Kernel,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
    workers: usize,
) -> Result<Option<Outcome>, Error> {
    let before = Snapshot::new(kernel, memory);
    let profile = options.profile.as_ref().map(|_| Profile::default());
    let probing = Options { profile: profile.clone(), ..options.clone() };
    let outcome = once(kernel, memory, launch, &probing, (Mode::Probe, workers))?;
    if !outcome.findings.is_empty() {
        before.restore();
        return Ok(None);
    }
    if let (Some(all), Some(profile)) = (&options.profile, &profile) {
        all.absorb(profile);
    }
    Ok(Some(outcome))
}

fn once(
    kernel: &Kernel,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
    (mode, workers): (Mode, usize),
) -> Result<Outcome, Error> {
    check_shape(kernel, launch)?;
    let cluster = cluster(kernel, launch)?;
    let params = arguments(kernel, launch)?;
    let used = kernel.shared(launch.dynamic_shared);
    if used > SHARED_LIMIT {
        return Err(Error::SharedTooLarge {
            kernel: kernel.name.clone(),
            static_bytes: kernel.dynamic_offset.max(kernel.static_shared).into(),
            dynamic_bytes: launch.dynamic_shared.into(),
            limit: SHARED_LIMIT,
        });
    }
    let mut view = if launch.cooperative { memory.cooperative_view() } else { memory.view() };
    // The variables' addresses are above those of all allocations, so that the view stays sorted.
    view.allocations.extend(kernel.variables.iter().cloned());
    let threads = launch.block.iter().product();
    let multiprocessors = options.multiprocessors.unwrap_or(MULTIPROCESSORS);
    let residency = Residency::new(multiprocessors, threads, used, kernel.registers);
    let blocks = launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    if launch.cooperative && blocks > residency.blocks() {
        let what = "blocks of a cooperative launch";
        let accepted = format!("at most {}: {residency}", residency.blocks());
        return Err(Error::LaunchShape { kernel: kernel.name.clone(), what, given: blocks, accepted });
    }
    let machine = Machine {
        kernel,
        view,
        params,
        launch,
        options,
        shared: usize::try_from(used).unwrap_or(usize::MAX),
        threads,
        cluster,
        explicit: launch.cluster.is_some() || kernel.explicit_cluster,
        printed: Mutex::default(),
        global: options.races.then(|| Global::new(kernel.code.communicates)),
        findings: Mutex::new(Ledger::new(mode)),
        residency,
    };
    let (report, ended) = run_grid(&machine, workers, mode)?;
    let ledger = machine.findings.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut findings, untold) = ledger.close(ended, options);
    for finding in &mut findings {
        finding.name = kernel.locate(launch, &machine.view, &finding.error);
    }
    let printed = machine.printed.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Outcome { report, findings, untold, printed })
}

/// Returns what was executed, and the error that ended the execution.
fn run_grid(machine: &Machine<'_>, workers: usize, mode: Mode) -> Result<(Report, Option<Error>), Error> {
    let blocks = machine.launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    let grid = Grid::new(machine, blocks, workers, mode == Mode::Probe);
    match machine.options.threads {
        Some(threads) if workers > 1 => Ok(pool(threads)?.install(|| grid.run())),
        _ => Ok(grid.run()),
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|reason| Error::Workers { threads, reason: reason.to_string() })
}
