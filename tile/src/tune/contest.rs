//! Measurement of candidates in alternation with the baseline.

use std::time::Duration;

use girih_device::{Device, Kind, Record};

use super::refused;
use super::space::{Point, Space};
use crate::error::Result;
use crate::launch::{Launch, Prepared, Written};

/// Rounds of pairs, and the candidates that stay after each.
const ROUNDS: [usize; 3] = [1, 3, 7];
const STAY: [usize; 2] = [12, 4];
/// How long one side of a pair runs at least and at most.
const SLICE: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(60)];
/// A candidate is chosen instead of the default only if its cost is below this fraction of the default's.
const BETTER: f64 = 0.99;

/// How much may be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most points, the usual one included.
    pub points: usize,
    /// About how long measuring takes, without building.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { points: 40, time: Duration::from_secs(2) }
    }
}

/// The measurement of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The point.
    pub point: Point,
    /// Its cost as a share of the usual one's, the median of pairs; or why it has none: it was refused, or its results were others.
    pub share: Result<f64, String>,
}

/// The result of tuning.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The point that is taken: the best, or the usual one unless another is at least 1 % better.
    pub best: Point,
    /// The cost of a run at that point and at the usual one: microseconds on a GPU, counts on the simulator.
    pub costs: [f64; 2],
    /// All points, the usual one first.
    pub measured: Vec<Measured>,
    pub(super) record: Record,
}

impl Tuned {
    /// The record of the best point, with the day on which it was measured, `2026-11-26` for instance.
    pub fn record(&self, date: &str) -> Record {
        Record { date: date.into(), ..self.record.clone() }
    }
}

/// A candidate that is measured.
struct Entrant {
    number: usize,
    launch: Prepared,
    /// Its cost and that of the usual one, by pairs.
    pairs: Vec<[f64; 2]>,
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::INFINITY)
}

impl Entrant {
    /// The pair of the median share.
    fn middle(&self) -> [f64; 2] {
        let mut pairs = self.pairs.clone();
        pairs.sort_by(|[a, b], [c, d]| (a / b).total_cmp(&(c / d)));
        pairs.get(pairs.len() / 2).copied().unwrap_or([f64::INFINITY, 1.0])
    }

    /// Its cost as a share of the usual one's.
    fn share(&self) -> f64 {
        let [own, of_usual] = self.middle();
        own / of_usual
    }
}

/// Measures the points of a space: candidates in alternation with the usual one, in pairs, so that what changes with time changes for both. On the
/// simulator what a launch executes is counted instead. `launch` makes the launch of a point; the point's hints are put in the place of its
/// own. The arrays that are written are put back to what they were, and a point whose results are not those of the usual one is left out
/// ([`Launch::scratch`] says which arrays hold none).
///
/// # Errors
/// Those of the usual point; a point that is refused is left out. The device's.
pub fn tune<A: ?Sized>(
    args: &mut A,
    space: &Space,
    budget: &Budget,
    mut launch: impl for<'a> FnMut(&'a mut A, &Point) -> Launch<'a>,
) -> Result<Tuned> {
    let mut written = Vec::new();
    let mut identity = None;
    let mut points: Vec<(Point, Result<Prepared>)> = Vec::new();
    let mut programs = Vec::new();
    for point in space.points(budget.points.max(1)) {
        let launch = launch(args, &point).replace_hints(&point.hints());
        if points.is_empty() {
            written = launch.written()?;
            identity = Some(launch.problem()?);
        }
        programs.push(launch.program_hash().ok());
        points.push((point, launch.prepare()));
    }
    let Some(identity) = identity else {
        return Err(refused("a space without points", "at least one value of each constant and hint"));
    };
    let measured = contest(&points, &written, budget);
    written.iter().try_for_each(|of| of.restore())?;
    let (winner, costs, shares) = measured?;
    let (best, program) = (points[winner].0.clone(), programs[winner].unwrap_or_default());
    let config = identity.config(&best, program);
    let record = identity.record(config, costs);
    let measured = points.into_iter().zip(shares).map(|((point, _), share)| Measured { point, share });
    Ok(Tuned { best, costs, measured: measured.collect(), record })
}

type Outcome = (usize, [f64; 2], Vec<Result<f64, String>>);

fn contest(points: &[(Point, Result<Prepared>)], written: &[Written], budget: &Budget) -> Result<Outcome> {
    let mut shares: Vec<Result<f64, String>> = Vec::new();
    let usual = points[0].1.clone()?;
    let results: Vec<&Written> = written.iter().filter(|of| of.is_result).collect();
    let found_by = |launch: &Prepared| -> Result<Vec<Vec<f64>>> {
        written.iter().try_for_each(|of| of.restore())?;
        launch.run()?;
        results.iter().map(|of| of.values()).collect()
    };
    let wanted = found_by(&usual)?;
    let agrees = |found: &[Vec<f64>]| {
        let mut pairs = results.iter().zip(found.iter().zip(&wanted));
        pairs.all(|(of, (found, wanted))| of.agree(found, wanted))
    };
    let mut field = Vec::new();
    for (number, (_, launch)) in points.iter().enumerate() {
        shares.push(match launch {
            Err(error) => Err(error.to_string()),
            Ok(_) if number == 0 => Ok(1.0),
            Ok(launch) => match found_by(launch) {
                Err(error) => Err(error.to_string()),
                Ok(found) if !agrees(&found) => {
                    Err("its results are others than those of the usual point".into())
                }
                Ok(_) => {
                    field.push(Entrant { number, launch: launch.clone(), pairs: Vec::new() });
                    Ok(f64::INFINITY)
                }
            },
        });
    }
    let slice = slice(budget, field.len());
    let device = usual.device();
    let mut usual_costs = Vec::new();
    // Counts are the same each time.
    let rounds = if device.kind() == Kind::Sim { 1 } else { ROUNDS.len() };
    for (round, &pairs) in ROUNDS[..rounds].iter().enumerate() {
        for pair in 0..pairs {
            for entrant in &mut field {
                // Alternating which of the two is first.
                let first = if pair % 2 == 0 { [&usual, &entrant.launch] } else { [&entrant.launch, &usual] };
                let costs = [cost(device, first[0], slice)?, cost(device, first[1], slice)?];
                let [of_usual, own] = if pair % 2 == 0 { costs } else { [costs[1], costs[0]] };
                usual_costs.push(of_usual);
                entrant.pairs.push([own, of_usual]);
            }
        }
        field.iter().for_each(|entrant| shares[entrant.number] = Ok(entrant.share()));
        field.sort_by(|a, b| a.share().total_cmp(&b.share()));
        field.truncate(STAY.get(round).copied().unwrap_or(usize::MAX));
    }
    if usual_costs.is_empty() {
        usual_costs.push(cost(device, &usual, slice)?);
    }
    let of_usual = median(usual_costs.into_iter());
    Ok(match field.first().filter(|entrant| entrant.share() < BETTER) {
        // The cost of the default compared with the best. Measured with others, at another time, it may be less.
        Some(best) => (best.number, best.middle(), shares),
        None => (0, [of_usual; 2], shares),
    })
}

/// How long one side of a pair runs, so that all pairs of this many candidates fit the time.
fn slice(budget: &Budget, candidates: usize) -> Duration {
    let stay = [candidates].into_iter().chain(STAY.map(|stay| stay.min(candidates)));
    let pairs: usize = stay.zip(ROUNDS).map(|(candidates, pairs)| candidates * pairs).sum();
    (budget.time / u32::try_from(2 * pairs.max(1)).unwrap_or(u32::MAX)).clamp(SLICE[0], SLICE[1])
}

/// The cost of a run: microseconds on a GPU, counts on the simulator.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: the quotient of two times is positive, and how often a launch runs may be rounded"
)]
fn cost(device: &Device, launch: &Prepared, slice: Duration) -> Result<f64> {
    let run = |count: usize| device.time(|| (0..count).try_for_each(|_| launch.run()));
    let each = run(1)?;
    if let Some(count) = device.simulated_cost() {
        return Ok(count as f64);
    }
    let each = run(3)?.min(each * 3).as_secs_f64().max(1e-7) / 3.0;
    let count = ((slice.as_secs_f64() / each) as usize).max(1);
    Ok(run(count)?.as_secs_f64() * 1e6 / count as f64)
}
