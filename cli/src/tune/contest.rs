//! Contests: interleaved measurements of configurations.

use std::time::Duration;

use girih_device::{Device, Kind};

use super::said::Said;
use crate::progress::Busy;

/// The fastest configuration and its cost, and the cost of the one that is chosen without a record.
pub(super) struct Tuned<C> {
    pub(super) fastest: (C, f64),
    pub(super) chosen: f64,
}

impl<C> Tuned<C> {
    /// Reports which is fastest, and returns both costs.
    pub(super) fn print(&self, device: &Device, described: &str, said: &mut Said) -> [f64; 2] {
        let costs = [self.fastest.1, self.chosen];
        said.fastest(described, costs, [unit(device), "chosen one"]);
        costs
    }
}

/// The unit of costs. The simulator has no time: it counts instructions and the costs of their memory accesses.
pub(super) fn unit(device: &Device) -> &'static str {
    match device.kind() {
        Kind::Cuda => "us",
        Kind::Sim => "counts",
    }
}

/// A configuration that is measured, and its kernel.
pub(super) struct Entrant<C, K> {
    config: C,
    kernel: K,
    costs: Vec<f64>,
}

impl<C, K> Entrant<C, K> {
    pub(super) fn new(config: C, kernel: K) -> Entrant<C, K> {
        Entrant { config, kernel, costs: Vec::new() }
    }

    /// The median of the costs.
    fn cost(&self) -> f64 {
        let mut costs = self.costs.clone();
        costs.sort_by(f64::total_cmp);
        costs.get(costs.len() / 2).copied().unwrap_or(f64::INFINITY)
    }

    /// The configuration, its kernel and its cost.
    pub(super) fn into_parts(self) -> (C, K, f64) {
        let cost = self.cost();
        (self.config, self.kernel, cost)
    }
}

/// Rounds in which all configurations run, and the configurations that stay after each.
const ROUNDS: [usize; 3] = [1, 3, 7];
const STAY: [usize; 2] = [12, 4];
/// How long a configuration runs in a round, after a start that is not timed.
const SLICE: Duration = Duration::from_millis(60);
const SETTLE: Duration = Duration::from_millis(40);

/// Measures all configurations, of which the first is the chosen one, and the fastest again until few are left: microseconds on a GPU; on the
/// simulator counts, which are the same each time. Puts the fastest first, and returns the cost of the chosen one.
pub(super) fn rounds<C, K>(
    device: &Device,
    field: &mut Vec<Entrant<C, K>>,
    described: impl Fn(&C) -> String,
    run: &dyn Fn(&K) -> Result<(), girih_kernels::Error>,
    said: &mut Said,
) -> Result<f64, girih_kernels::Error> {
    let all = field.len();
    said.line(&format!("{all} configurations"));
    let (rounds, unit) = (if device.kind() == Kind::Sim { 1 } else { ROUNDS.len() }, unit(device));
    for (round, &repeated) in ROUNDS[..rounds].iter().enumerate() {
        let busy = Busy::begin(format!("measuring {} configurations", field.len()));
        // Through a pipe it would say nothing for minutes: what was measured first is told at once.
        let mut told = 0;
        contest(device, field, repeated, run, &mut |entrant: &Entrant<C, K>| {
            told += 1;
            if round == 0 {
                let (cost, config) = (entrant.cost(), described(&entrant.config));
                said.line(&format!("{told:>4} of {all}  {cost:>9.2} {unit}  {config}"));
            }
        })?;
        drop(busy);
        // The chosen configuration stays to the end, for comparison.
        let (first, rest) = field.split_at_mut(1);
        rest.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        let kept = STAY.get(round).map_or(rest.len(), |stay| rest.len().min(*stay));
        for entrant in first.iter().chain(&rest[..kept]).filter(|_| rounds > 1) {
            said.line(&format!("  {:>9.2} {unit}  {}", entrant.cost(), described(&entrant.config)));
        }
        field.truncate(1 + kept);
    }
    let chosen = field[0].cost();
    field.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    Ok(chosen)
}

/// Lets all run in turns, each round in another order, so that none always follows the same.
fn contest<C, K>(
    device: &Device,
    field: &mut [Entrant<C, K>],
    rounds: usize,
    run: &dyn Fn(&K) -> Result<(), girih_kernels::Error>,
    measured: &mut dyn FnMut(&Entrant<C, K>),
) -> Result<(), girih_kernels::Error> {
    let count = field.len();
    for round in 0..rounds {
        for i in 0..count {
            // From another one on, and every other time backwards.
            let at = if round % 2 == 0 { i } else { count - 1 - i };
            let entrant = &mut field[(at + round) % count];
            let found = cost(device, &|| run(&entrant.kernel))?;
            entrant.costs.push(found);
            measured(entrant);
        }
    }
    Ok(())
}

/// The cost of a run: microseconds on a GPU, counts on the simulator.
fn cost(
    device: &Device,
    run: &dyn Fn() -> Result<(), girih_kernels::Error>,
) -> Result<f64, girih_kernels::Error> {
    if device.kind() == Kind::Sim {
        run()?;
        return Ok(device.simulated_cost().map_or(f64::INFINITY, |count| count as f64));
    }
    let timed = |count: u32| device.time(|| (0..count).try_for_each(|_| run()));
    let each = timed(3)?.as_secs_f64().max(1e-7) / 3.0;
    let runs = |time: Duration| (1..u32::MAX).find(|&runs| f64::from(runs) * each >= time.as_secs_f64());
    timed(runs(SETTLE).unwrap_or(1))?;
    let count = runs(SLICE).unwrap_or(1);
    Ok(timed(count)?.as_secs_f64() * 1e6 / f64::from(count))
}
