//! What rows are measured with: a device, its peer, data, and graphs of many launches.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use girih_device::{Device, Graph, Pod};
use girih_kernels::gemm::Gemms;
use girih_tensor::{DType, Element};
use serde_json::{Value, json};

use crate::contest::{Contestant, Failure, Rules, contest};
use crate::cublas::CublasLt;
use crate::data::Pool;
use crate::record::{Clocks, compared};
use crate::rows::{Row, Work};

/// A device with what all rows need on it.
pub struct Bench {
    /// The device.
    pub device: Device,
    /// All rows: some are the peers of others.
    pub rows: Vec<Row>,
    /// How long and how often.
    pub effort: Effort,
    /// girih's kernels that are loaded.
    pub(crate) gemms: Gemms,
    /// The peer, or why there is none.
    pub(crate) cublas: Result<Rc<CublasLt>, String>,
    pools: RefCell<HashMap<DType, Rc<dyn Any>>>,
    /// The configuration that runs for the first time.
    trial: Trial,
    /// Configurations that have stopped the device: they are not tried again.
    pub blamed: Vec<String>,
    /// What a sweep measures instead of the likeliest configurations: those whose lines contain every part, between `&`, of one of these
    /// texts.
    pub configs: Vec<String>,
    /// The most configurations of a sweep.
    pub most: usize,
}

/// What runs for the first time, and since when, for a thread that watches.
#[derive(Clone, Debug, Default)]
pub struct Trial(Arc<Mutex<Option<(String, Instant)>>>);

impl Trial {
    /// Says what runs from now on, or that it has ended well.
    pub(crate) fn set(&self, what: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = what.map(|what| (what, Instant::now()));
    }

    /// What runs, and for how long.
    pub fn under_way(&self) -> Option<(String, Duration)> {
        let trial = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trial.map(|(what, since)| (what, since.elapsed()))
    }
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Values in each pool of random ones.
    pub pool: usize,
    /// Bytes that the sets of operands have together, which are more than the L2 cache holds.
    pub cold: i64,
    /// How long a graph's launches take.
    pub graph: Duration,
    /// Algorithms of the peer's list against each other.
    pub ranking: Rules,
    /// Finalists against girih.
    pub last: Rules,
    /// Configurations of a sweep against each other.
    pub sweep: Rules,
    /// The most multiplications of a check of a product.
    pub check: i64,
}

impl Effort {
    /// What numbers to quote are measured with.
    pub const fn full(rounds: usize) -> Effort {
        let short = Rules {
            rounds: 1,
            settle: Duration::from_millis(10),
            timed: Duration::from_millis(30),
            ..Rules::slices(1)
        };
        Effort {
            pool: 4_194_301,
            cold: 256 << 20,
            graph: Duration::from_millis(20),
            ranking: Rules::slices(1),
            last: Rules::slices(rounds),
            sweep: short,
            check: 1 << 26,
        }
    }

    /// What many rows are measured with in a few minutes.
    pub fn brief(rounds: usize) -> Effort {
        let rules = |rounds, settle, timed| Rules {
            rounds,
            settle: Duration::from_millis(settle),
            timed: Duration::from_millis(timed),
            ..Rules::slices(rounds)
        };
        Effort {
            graph: Duration::from_millis(5),
            ranking: rules(1, 15, 25),
            last: rules(rounds, 20, 30),
            sweep: rules(2, 3, 8),
            check: 1 << 20,
            ..Effort::full(rounds)
        }
    }
}

/// One run of the work, on operands of which there are several sets.
pub(crate) type Run<'a> = Box<dyn Fn(usize) -> Result<(), Failure> + 'a>;

/// Work, and many launches of it, which go through the sets of operands in turn.
pub(crate) struct Side<'a> {
    pub(crate) name: String,
    pub(crate) run: Run<'a>,
    sets: usize,
    /// The launches, unless they are made one after the other.
    graph: Option<Graph>,
    launches: usize,
}

/// The most launches of a graph.
const LAUNCHES: usize = 2000;

impl<'a> Side<'a> {
    /// Runs the work a few times, and captures as many launches as take `length`.
    pub(crate) fn new(
        device: &Device,
        name: String,
        run: Run<'a>,
        sets: usize,
        length: Duration,
    ) -> Result<Side<'a>, Failure> {
        let side = Side::in_stream(device, name, run, sets, length)?;
        let graph = device.capture(|| side.launch())?;
        Ok(Side { graph: Some(graph), ..side })
    }

    /// The same without a graph, for work that takes so long that launches cost nothing.
    pub(crate) fn in_stream(
        device: &Device,
        name: String,
        run: Run<'a>,
        sets: usize,
        length: Duration,
    ) -> Result<Side<'a>, Failure> {
        // The first run loads code, which must not happen in a capture.
        run(0)?;
        device.synchronize()?;
        let some = |count: usize| -> Result<f64, Failure> {
            let time = device.time(|| (0..count).try_for_each(|i| run(i % sets)))?;
            Ok((time.as_secs_f64() / count as f64).max(1e-7))
        };
        let mut each = some(3)?;
        if each < 1e-3 {
            each = some(((2e-3 / each) as usize).clamp(3, 200))?;
        }
        let fill = ((length.as_secs_f64() / each) as usize).clamp(1, LAUNCHES);
        let launches = fill.div_ceil(sets) * sets;
        Ok(Side { name, run, sets, graph: None, launches })
    }

    /// Launches the work as often as the graph does.
    fn launch(&self) -> Result<(), Failure> {
        (0..self.launches).try_for_each(|i| (self.run)(i % self.sets))
    }

    /// The same by another name.
    pub(crate) fn named(self, name: String) -> Side<'a> {
        Side { name, ..self }
    }

    /// Replays the graph once, or makes its launches.
    #[allow(unsafe_code, reason = "a replay launches kernels")]
    pub(crate) fn replay(&self) -> Result<(), Failure> {
        let Some(graph) = &self.graph else { return self.launch() };
        // SAFETY: the buffers of all launches outlive this side, and nothing else runs.
        Ok(unsafe { graph.launch() }?)
    }

    pub(crate) fn contestant(&self) -> Contestant<'_> {
        Contestant::new(self.name.clone(), self.launches, || self.replay())
    }

    /// Microseconds of a launch among others in the stream, without a graph: what the host costs shows where it is more than the
    /// device's time.
    pub(crate) fn streamed(&self, device: &Device) -> Result<f64, Failure> {
        streamed(device, &self.run, self.sets)
    }
}

/// Microseconds of a run among others in the stream.
pub(crate) fn streamed(device: &Device, run: &Run<'_>, sets: usize) -> Result<f64, Failure> {
    let some = |count: usize| -> Result<f64, Failure> {
        let time = device.time(|| (0..count).try_for_each(|i| run(i % sets)))?;
        Ok(time.as_secs_f64() / count as f64)
    };
    let each = some(3)?.max(1e-7);
    Ok(1e6 * some(((5e-3 / each) as usize).clamp(3, 1000))?)
}

impl Bench {
    /// Opens the peer, if there is one.
    pub fn new(device: Device, rows: Vec<Row>, effort: Effort) -> Bench {
        let cublas = CublasLt::open(&device).map_err(|error| error.to_string());
        let (pools, trial, gemms) = (RefCell::default(), Trial::default(), Gemms::new(&device));
        let (blamed, configs, most) = (Vec::new(), Vec::new(), 40);
        Bench { device, rows, effort, gemms, cublas, pools, trial, blamed, configs, most }
    }

    /// What runs for the first time now.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// Random values, for elements of a type in memory that are multiplied as `dtype`.
    pub(crate) fn pool<T: Element + Pod>(&self, dtype: DType) -> Result<Rc<Pool<T>>, Failure> {
        let known = self.pools.borrow().get(&dtype).cloned();
        if let Some(pool) = known.and_then(|pool| pool.downcast::<Pool<T>>().ok()) {
            return Ok(pool);
        }
        let pool = Rc::new(Pool::new(&self.device, dtype, self.effort.pool)?);
        self.pools.borrow_mut().insert(dtype, pool.clone());
        Ok(pool)
    }
}

/// Rounds of a side that has nobody beside it.
const ALONE: usize = 3;

impl Bench {
    /// The last contest: what is recorded of girih, if it has a side, and of the best of its peers, and which of them that is.
    pub(crate) fn duel(
        &self,
        row: &Row,
        ours: Option<&Side<'_>>,
        theirs: &[Side<'_>],
    ) -> Result<(Value, Option<usize>), Failure> {
        let both = ours.is_some() && !theirs.is_empty();
        let mut contestants: Vec<Contestant<'_>> =
            ours.into_iter().chain(theirs).map(Side::contestant).collect();
        let rounds = if both { self.effort.last.rounds } else { ALONE };
        let clocks = both.then(Clocks::of_soon);
        let mut times = contest(&self.device, Rules { rounds, ..self.effort.last }, &mut contestants)?;
        drop(contestants);
        let clocks = Value::from(clocks.map(Clocks::told));
        let mut record = json!({"row": row.name, "frozen": row.frozen, "bar": row.bar, "clocks": clocks});
        let girih = ours.map(|_| times.remove(0));
        let best = (0..times.len()).min_by_key(|&i| times[i].samples.median());
        compared(&mut record, &row.work, girih.as_ref(), best.map(|best| &times[best]));
        Ok((record, best))
    }

    /// Measures a row: what girih and its peer take, or why one of them has nothing to measure.
    ///
    /// # Errors
    /// What neither of them is to blame for: the device's.
    pub fn row(&self, row: &Row) -> Result<Value, Failure> {
        match &row.work {
            Work::Product(product) => self.product(row, product),
            Work::Movement(movement) => self.movement(row, movement),
        }
    }

    /// Measures configurations of girih for a row against each other, and the best ones against the peer.
    ///
    /// # Errors
    /// What has no configurations; the device's.
    pub fn sweep(&self, row: &Row) -> Result<Value, Failure> {
        match &row.work {
            Work::Product(product) => self.product_sweep(row, product),
            Work::Movement(_) => Err("movements have no configurations".into()),
        }
    }
}
