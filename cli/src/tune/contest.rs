//! Contests between configurations.

use std::time::Duration;

use girih_device::{Device, Samples};

use super::said::Said;
use crate::progress::Busy;

/// The fastest configuration and its time, and the time of the one that is chosen without a record.
pub(super) struct Tuned<C> {
    pub(super) fastest: (C, Duration),
    pub(super) chosen: Duration,
}

impl<C> Tuned<C> {
    /// Says which is fastest, and returns both times in microseconds.
    pub(super) fn print(&self, described: &str, said: &mut Said) -> [f64; 2] {
        let [best, usual] = [self.fastest.1, self.chosen].map(|time| time.as_secs_f64() * 1e6);
        said.fastest(described, [best, usual], ["us", "chosen one"]);
        [best, usual]
    }
}

/// A configuration that is measured, and its kernel.
pub(super) struct Entrant<C, K> {
    pub(super) config: C,
    pub(super) kernel: K,
    pub(super) times: Vec<Duration>,
}

impl<C, K> Entrant<C, K> {
    pub(super) fn time(&self) -> Duration {
        self.times.iter().copied().collect::<Samples>().median()
    }
}

/// Rounds in which all configurations run, and the configurations that stay after each.
const ROUNDS: [usize; 3] = [1, 3, 7];
const STAY: [usize; 2] = [12, 4];
/// How long a configuration runs in a round, after a start that is not timed.
const SLICE: Duration = Duration::from_millis(60);
const SETTLE: Duration = Duration::from_millis(40);

/// Measures all configurations, of which the first is the chosen one, and the fastest again until few are left. Returns the time of the chosen one.
pub(super) fn rounds<C, K>(
    device: &Device,
    field: &mut Vec<Entrant<C, K>>,
    described: impl Fn(&C) -> String,
    run: &dyn Fn(&K) -> Result<(), girih_kernels::Error>,
    said: &mut Said,
) -> Result<Duration, girih_kernels::Error> {
    said.line(&format!("{} configurations", field.len()));
    for (round, rounds) in ROUNDS.into_iter().enumerate() {
        let busy = Busy::begin(format!("measuring {} configurations", field.len()));
        contest(device, field, rounds, run)?;
        drop(busy);
        // The chosen configuration stays to the end, for comparison.
        let (first, rest) = field.split_at_mut(1);
        rest.sort_by_key(Entrant::time);
        let kept = STAY.get(round).map_or(rest.len(), |stay| rest.len().min(*stay));
        for entrant in first.iter().chain(&rest[..kept]) {
            let time = entrant.time().as_secs_f64() * 1e6;
            said.line(&format!("  {time:>9.2} us  {}", described(&entrant.config)));
        }
        field.truncate(1 + kept);
    }
    Ok(field[0].time())
}

/// Lets all run in turns, each round in another order, so that none always follows the same.
fn contest<C, K>(
    device: &Device,
    field: &mut [Entrant<C, K>],
    rounds: usize,
    run: &dyn Fn(&K) -> Result<(), girih_kernels::Error>,
) -> Result<(), girih_kernels::Error> {
    let count = field.len();
    for round in 0..rounds {
        for i in 0..count {
            // From another one on, and every other time backwards.
            let at = if round % 2 == 0 { i } else { count - 1 - i };
            let Entrant { kernel, times, .. } = &mut field[(at + round) % count];
            let run = |count: usize| device.time(|| (0..count).try_for_each(|_| run(kernel)));
            let each = run(3)?.as_secs_f64().max(1e-7) / 3.0;
            run((SETTLE.as_secs_f64() / each) as usize)?;
            let runs = ((SLICE.as_secs_f64() / each) as usize).max(1);
            times.push(run(runs)?.div_f64(runs as f64));
        }
    }
    Ok(())
}
