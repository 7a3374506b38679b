//! One execution of a launch, whose findings depend on the seed alone.
//!
//! Clusters that can't communicate run side by side, and nothing orders one after another. So whether two of them access a
//! common byte, one by a write, does not depend on which comes first; but which access is found to be the later one does,
//! and so does what they read. Such an execution is therefore a probe: it ends at the first finding of whatever kind, and
//! then the launch is executed again from the same memory, one cluster after another, for the findings that are told.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::exec::Machine;
use crate::grid::Grid;
use crate::launch::{SHARED_LIMIT, arguments, check_shape, cluster};
use crate::residency::{MULTIPROCESSORS, Residency};
use crate::shadow::Global;
use crate::snapshot::Snapshot;
use crate::verdict::Ledger;
use crate::{Error, Finding, Kernel, Launch, Memory, Options, Profile, Report};

/// What an execution does at a finding after which it could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It ends, be it a warning.
    Probe,
    /// It ends if it is an error.
    First,
    /// It goes on.
    All,
}

/// What an execution has come to.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) findings: Vec<Finding>,
    pub(crate) untold: u64,
    /// What blocks have printed, by their number.
    printed: BTreeMap<u64, String>,
}

/// Executes a launch once.
///
/// # Errors
/// A launch that does not fit the kernel; what the execution finds is in its outcome.
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

/// The threads that can run clusters at a time. One, if blocks can communicate: their turns are a part of what the seed
/// decides; or if an observer is to see them in that order.
fn workers(kernel: &Kernel, launch: &Launch, options: &Options) -> usize {
    match options.threads {
        _ if launch.grid == [1; 3] => 1,
        _ if kernel.code.communicates || options.observer.is_some() => 1,
        Some(threads) => threads.max(1),
        None => rayon::current_num_threads(),
    }
}

/// An execution on several threads if it finds nothing at all; else nothing has happened.
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
    // Their addresses are above all of memory's.
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
        shared: used as usize,
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

/// What was executed, and the finding that ended it.
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
