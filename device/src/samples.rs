//! Times of repeated runs.

use std::fmt;
use std::time::{Duration, Instant};

use crate::{Device, Error, Kind};

/// The most untimed runs before the timed runs, unless they take longer than `WARM`.
const WARM_UPS: usize = 10;
const WARM: Duration = Duration::from_millis(500);
/// The least and the greatest number of timed runs. Once the least number has run, no run begins after the time `ENOUGH`.
const TIMED: [usize; 2] = [10, 50];
const ENOUGH: Duration = Duration::from_secs(2);

/// The times that runs of the same work took.
///
/// ```
/// use std::time::Duration;
/// use girih_device::Samples;
///
/// let samples: Samples = [5, 3, 4].map(Duration::from_millis).into_iter().collect();
/// assert_eq!((samples.median(), samples.spread()), (Duration::from_millis(4), 0.5));
/// assert_eq!(samples.rate(8.0), 2000.0);
/// assert_eq!(samples.to_string(), "4.000ms, the median of 3 runs of 3.000ms to 5.000ms");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    runs: Vec<Duration>,
    sorted: Vec<Duration>,
}

impl Samples {
    /// The times in the order of the runs.
    pub fn runs(&self) -> &[Duration] {
        &self.runs
    }

    fn at(&self, index: usize) -> Duration {
        self.sorted.get(index).copied().unwrap_or_default()
    }

    /// The median: of an even number of runs, the longer of the two times in the middle; of no run, zero.
    pub fn median(&self) -> Duration {
        self.at(self.sorted.len() / 2)
    }

    /// The shortest time.
    pub fn min(&self) -> Duration {
        self.at(0)
    }

    /// The longest time.
    pub fn max(&self) -> Duration {
        self.at(self.sorted.len().saturating_sub(1))
    }

    /// The longest time minus the shortest time, as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.max() - self.min()).as_secs_f64() / self.median().as_secs_f64()
    }

    /// The units of work in a second, if a run of the median time does `work` units.
    pub fn rate(&self, work: f64) -> f64 {
        work / self.median().as_secs_f64()
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(runs: I) -> Samples {
        let runs: Vec<Duration> = runs.into_iter().collect();
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        Samples { runs, sorted }
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, min, max) = (self.median(), self.min(), self.max());
        match self.runs.len() {
            1 => write!(f, "{median:.3?}"),
            runs => write!(f, "{median:.3?}, the median of {runs} runs of {min:.3?} to {max:.3?}"),
        }
    }
}

impl Device {
    /// Measures how long the operations take that `work` puts into the device's sequence. On a GPU, up to 10 runs that are not timed
    /// (within half a second) come before 10 to 50 runs that are timed (within two seconds, where 10 runs do not take longer). On the
    /// simulator, whose time is that of the host, there is one run.
    ///
    /// # Errors
    /// `work`'s own, or the timer's.
    ///
    /// ```
    /// use girih_device::{Device, Error, Select};
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let buffer = device.alloc::<u8>(1 << 16)?;
    /// let samples = device.measure(|| buffer.fill_bytes(1))?;
    /// println!("{samples}: {:.1} GB/s", samples.rate(65536.0) / 1e9);
    /// assert_eq!(samples.runs().len(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn measure<E: From<Error>>(&self, mut work: impl FnMut() -> Result<(), E>) -> Result<Samples, E> {
        self.measured(&mut work)
    }

    /// Compiled once for all that is measured.
    fn measured<E: From<Error>>(&self, work: &mut dyn FnMut() -> Result<(), E>) -> Result<Samples, E> {
        if self.kind() == Kind::Sim {
            return Ok(Samples::from_iter([self.time(work)?]));
        }
        let begun = Instant::now();
        for _ in 0..WARM_UPS {
            work()?;
            self.synchronize()?;
            if begun.elapsed() > WARM {
                break;
            }
        }
        let (mut timer, mut runs, begun) = (self.timer()?, Vec::new(), Instant::now());
        while runs.len() < TIMED[0] || (runs.len() < TIMED[1] && begun.elapsed() < ENOUGH) {
            timer.start()?;
            work()?;
            runs.push(timer.stop()?);
        }
        Ok(runs.into_iter().collect())
    }
}
