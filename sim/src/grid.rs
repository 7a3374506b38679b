//! Runs the clusters of a launch on the host's cores.
//!
//! A worker runs a cluster to its end, unless the cluster only loops: then the cluster waits for something that another
//! block is going to do, and the worker goes on with the next cluster and comes back later. So blocks may wait for one
//! another through global memory. With a seed, blocks that communicate in this way begin in random order, a few at a
//! time, and run in between one another.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exec::{Cluster, Machine, Turn};
use crate::{Error, Report};

/// Where all clusters of a worker wait in vain this often, and some more turns have passed in which there was no
/// change, the worker takes it that no change will come.
const PATIENCE: usize = 2;
const MORE_PATIENCE: usize = 16;

/// Where blocks communicate and there is a seed: how many clusters of a worker run in between one another, until they
/// wait for further clusters.
const MIXED: usize = 8;

/// The state that the workers of a launch share.
pub(crate) struct Grid<'a> {
    machine: &'a Machine<'a>,
    blocks: u64,
    clusters: u64,
    /// The most clusters that a worker may have begun and not finished.
    resident: usize,
    /// The number of the cluster that begins next.
    next: AtomicU64,
    /// Counts changes: blocks that finish, and turns of clusters in which a cluster did something that others can see.
    changes: AtomicU64,
    workers: usize,
    /// Whether every finding ends the whole launch, and not only the clusters with larger numbers.
    probe: bool,
    /// Workers that have begun.
    begun: AtomicUsize,
    /// Workers that have begun and see no change, or have nothing left to do.
    idle: AtomicUsize,
    total: Mutex<Report>,
    /// The error that ended the cluster with the lowest number among those that had one.
    found: Mutex<Option<(u64, Error)>>,
}

/// A worker, with its clusters.
struct Worker<'a> {
    /// Clusters that have begun and not finished; the first is the next to run.
    resident: VecDeque<(u64, Cluster<'a>)>,
    /// Clusters that have finished, whose storage is used again.
    spare: Vec<Cluster<'a>>,
    /// The value of `Grid::changes` when the worker last looked.
    seen: u64,
    /// Turns of the worker's clusters since there was a change.
    quiet: usize,
    idle: bool,
    /// The state of the generator of random numbers.
    random: u64,
}

impl<'a> Worker<'a> {
    /// Puts a cluster at a random place among those that are going to run.
    fn mix(&mut self, number: u64, cluster: Cluster<'a>) {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (self.random >> 33) as usize % (self.resident.len() + 1);
        self.resident.insert(at, (number, cluster));
    }
}

impl<'a> Grid<'a> {
    /// The clusters of this many blocks, for at most this many workers.
    pub(crate) fn new(machine: &'a Machine<'a>, blocks: u64, workers: usize, probe: bool) -> Self {
        let clusters = blocks / machine.blocks();
        Grid {
            machine,
            blocks,
            clusters,
            resident: usize::try_from((machine.residency.blocks() / machine.blocks()).max(1))
                .unwrap_or(usize::MAX),
            next: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            workers: workers.max(1).min(usize::try_from(clusters).unwrap_or(usize::MAX)),
            probe,
            begun: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            total: Mutex::new(Report::default()),
            found: Mutex::new(None),
        }
    }

    /// Runs everything: with one worker on this thread, with several on the current pool of threads. Returns what was
    /// executed, and the error that ended the execution.
    pub(crate) fn run(self) -> (Report, Option<Error>) {
        if self.workers <= 1 {
            self.work();
        } else {
            rayon::scope(|scope| (0..self.workers).for_each(|_| scope.spawn(|_| self.work())));
        }
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let total = self.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        (total, found.map(|(_, error)| error))
    }

    fn work(&self) {
        self.begun.fetch_add(1, SeqCst);
        let random = self.machine.options.seed;
        let mut worker =
            Worker { resident: VecDeque::new(), spare: Vec::new(), seen: 0, quiet: 0, idle: false, random };
        let mixes = self.machine.mixes();
        loop {
            let most = if mixes && worker.quiet == 0 { self.resident.min(MIXED) } else { self.resident };
            while worker.resident.len() < most
                && let Some(number) = self.take()
            {
                let mut cluster = worker.spare.pop().unwrap_or_else(|| Cluster::new(self.machine));
                cluster.start(number);
                if mixes && worker.quiet == 0 {
                    worker.mix(number, cluster);
                    continue;
                }
                worker.resident.push_front((number, cluster));
                break;
            }
            let Some((number, mut cluster)) = worker.resident.pop_front() else { break };
            if self.lowest().as_ref().is_some_and(|(lowest, _)| self.probe || *lowest < number) {
                continue;
            }
            match cluster.go() {
                Ok(Turn::Done(report)) => {
                    self.finish(&report);
                    worker.spare.push(cluster);
                }
                Ok(Turn::Yield { changed }) => {
                    self.changes.fetch_add(u64::from(changed), SeqCst);
                    worker.mix(number, cluster);
                }
                // The cluster may wait for one that has ended with an error.
                Ok(Turn::Idle { changed: false }) if self.lowest().is_some() => {}
                Ok(Turn::Idle { changed }) => {
                    self.pause(&mut worker, number, &cluster, changed);
                    worker.resident.push_back((number, cluster));
                }
                Err(error) => {
                    self.tell(number, error);
                    worker.spare.push(cluster);
                }
            }
        }
        if !worker.idle {
            self.idle.fetch_add(1, SeqCst);
        }
    }

    /// The number of the next cluster to begin, if there is one and no error makes it superfluous.
    fn take(&self) -> Option<u64> {
        if self.lowest().is_some() {
            return None;
        }
        let next = self.next.fetch_add(1, SeqCst);
        (next < self.clusters).then_some(next)
    }

    fn finish(&self, report: &Report) {
        self.changes.fetch_add(1, SeqCst);
        // The lock keeps the calls of `progress` in the order of the counts.
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.add(report);
        if let Some(progress) = &self.machine.options.progress {
            progress(total.blocks, self.blocks);
        }
    }

    /// After a turn of a cluster that has not finished: reports an endless wait if no worker has seen a change for
    /// long.
    fn pause(&self, worker: &mut Worker<'a>, number: u64, cluster: &Cluster<'a>, changed: bool) {
        if changed {
            self.changes.fetch_add(1, SeqCst);
        }
        let now = self.changes.load(SeqCst);
        if now != worker.seen {
            (worker.seen, worker.quiet) = (now, 0);
            if std::mem::take(&mut worker.idle) {
                self.idle.fetch_sub(1, SeqCst);
            }
            return;
        }
        worker.quiet += 1;
        let patience = PATIENCE * (worker.resident.len() + 1) + MORE_PATIENCE;
        if worker.quiet < patience {
            return;
        }
        if !std::mem::replace(&mut worker.idle, true) {
            self.idle.fetch_add(1, SeqCst);
        }
        let begun = self.begun.load(SeqCst);
        // A worker that has not begun may lack a thread to run on.
        let all = self.idle.load(SeqCst) >= begun && (begun == self.workers || worker.quiet > 16 * patience);
        if all && self.changes.load(SeqCst) == now {
            let waiting = self.next.load(SeqCst) < self.clusters;
            self.tell(number, cluster.in_circles(waiting.then_some(self.blocks)));
        }
        std::thread::yield_now();
    }

    fn lowest(&self) -> MutexGuard<'_, Option<(u64, Error)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, number: u64, error: Error) {
        let mut found = self.lowest();
        if found.as_ref().is_none_or(|(lowest, _)| number < *lowest) {
            *found = Some((number, error));
        }
    }
}
