//! Contestants measured in turns: what a power-limited GPU can be compared by.
//!
//! Every round runs each contestant for a slice of fixed length, in an order of its own, so that none always follows the
//! same one; the first part of a slice is not timed, so that each is measured at the clock and temperature of its own load.

use std::time::{Duration, Instant};

use girih_device::{Device, Samples};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

/// Whatever ends a measurement.
pub type Failure = Box<dyn std::error::Error>;

/// A named piece of work.
pub struct Contestant<'a> {
    /// Its name in the record.
    pub name: String,
    /// How many runs a call enqueues.
    pub runs: usize,
    /// Enqueues runs on the device.
    pub call: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
}

impl<'a> Contestant<'a> {
    /// Work of which a call enqueues this many runs.
    pub fn new(
        name: impl Into<String>,
        runs: usize,
        call: impl FnMut() -> Result<(), Failure> + 'a,
    ) -> Contestant<'a> {
        Contestant { name: name.into(), runs, call: Box::new(call) }
    }
}

/// What is timed of a slice's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The device: from the start of the first run to the end of the last one.
    Device,
    /// The host: how long the calls take that enqueue runs, in batches that leave room in the stream for all their runs.
    Host,
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rounds; each contestant runs once in each.
    pub rounds: usize,
    /// Untimed start of a slice.
    pub settle: Duration,
    /// Timed rest of a slice.
    pub timed: Duration,
    /// Whose time it is.
    pub clock: Clock,
}

impl Rules {
    /// Slices of 100 ms of the device, of which the first 40 are not timed: a shorter start does not reach the clock of the load.
    pub const fn slices(rounds: usize) -> Rules {
        let (settle, timed) = (Duration::from_millis(40), Duration::from_millis(60));
        Rules { rounds, settle, timed, clock: Clock::Device }
    }
}

/// How long one run of a contestant took in each round.
#[derive(Clone, Debug)]
pub struct Times {
    /// The contestant's name.
    pub name: String,
    /// A time for each round.
    pub samples: Samples,
}

/// How often one contestant runs while the other runs once.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The mean over the rounds.
    pub mean: f64,
    /// What the mean is above with a confidence of 95 %, if rounds differ by a normal distribution; of one round, the mean.
    pub lower: f64,
}

/// Student's t, one-sided at 95 %, from two rounds on; the last one holds for more.
const STUDENT: [f64; 14] =
    [6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81, 1.80, 1.78, 1.77, 1.76];

impl Times {
    /// How fast it is beside `other`, paired round by round: above 1 if it is faster.
    pub fn speed_beside(&self, other: &Times) -> Ratio {
        let pairs = self.samples.runs().iter().zip(other.samples.runs());
        let ratios: Vec<f64> = pairs.map(|(own, other)| other.div_duration_f64(*own)).collect();
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        if ratios.len() < 2 {
            return Ratio { mean, lower: mean };
        }
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let student = STUDENT[(ratios.len() - 2).min(STUDENT.len() - 1)];
        Ratio { mean, lower: mean - student * (variance / count).sqrt() }
    }
}

/// Measures all contestants in turns.
///
/// # Errors
/// The first contestant's or the device's failure.
pub fn contest(
    device: &Device,
    rules: Rules,
    contestants: &mut [Contestant<'_>],
) -> Result<Vec<Times>, Failure> {
    let mut samples = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut rng = StdRng::seed_from_u64(0);
    for _ in 0..rules.rounds {
        order.shuffle(&mut rng);
        for &who in &order {
            let Contestant { runs, call, .. } = &mut contestants[who];
            samples[who].push(slice(device, rules, call)? / *runs as f64);
        }
    }
    let named = contestants.iter().zip(samples);
    Ok(named
        .map(|(contestant, samples)| Times {
            name: contestant.name.clone(),
            samples: samples.into_iter().map(Duration::from_secs_f64).collect(),
        })
        .collect())
}

/// Seconds of one call within a slice.
fn slice(
    device: &Device,
    rules: Rules,
    call: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    // The settling calls also tell how many calls fill the timed part.
    let (start, mut settling, mut batch) = (Instant::now(), 0, 1);
    let each = loop {
        (0..batch).try_for_each(|_| call())?;
        device.synchronize()?;
        settling += batch;
        let elapsed = start.elapsed();
        let each = elapsed.as_secs_f64() / settling as f64;
        let Some(left) = rules.settle.checked_sub(elapsed).filter(|left| !left.is_zero()) else { break each };
        batch = ((left.as_secs_f64() / each).ceil() as usize).clamp(1, 2 * batch);
    };
    if rules.clock == Clock::Host {
        return host(device, rules, call);
    }
    let calls = ((rules.timed.as_secs_f64() / each).round() as usize).max(1);
    let mut timer = device.timer()?;
    timer.start()?;
    (0..calls).try_for_each(|_| call())?;
    Ok(timer.stop()?.as_secs_f64() / calls as f64)
}

/// Calls of a batch. The driver lets about a thousand wait in a stream before a call waits itself.
const BATCH: u32 = 64;

/// Seconds that a call takes on the host: the median of the batches that fill the slice.
fn host(
    device: &Device,
    rules: Rules,
    call: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let (start, mut batches) = (Instant::now(), Vec::new());
    while batches.is_empty() || start.elapsed() < rules.timed {
        let begun = Instant::now();
        (0..BATCH).try_for_each(|_| call())?;
        batches.push(begun.elapsed().as_secs_f64() / f64::from(BATCH));
        device.synchronize()?;
    }
    batches.sort_by(f64::total_cmp);
    Ok(batches[batches.len() / 2])
}
