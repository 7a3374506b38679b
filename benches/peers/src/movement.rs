//! A row that moves elements: girih beside the driver's own copy of as many bytes.

use std::rc::Rc;

use girih_device::{Buffer, Pod};
use girih_kernels::copy::{Copy, Problem};
use girih_layout::Lay;
use girih_tensor::{DType, Element};
use half::bf16;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::Value;

use crate::contest::Failure;
use crate::data::Pool;
use crate::measure::{Bench, Run, Side, streamed};
use crate::ours::Wrong;
use crate::product::alive;
use crate::rows::{Kind, Movement, Row};

/// The runs of the destination that are compared, and the elements of each.
const RUNS: usize = 64;
const RUN: usize = 4096;

impl Bench {
    /// Measures a row that moves elements.
    ///
    /// # Errors
    /// What neither girih nor the driver is to blame for: the device's.
    pub(crate) fn movement(&self, row: &Row, movement: &Movement) -> Result<Value, Failure> {
        match movement.dtype {
            DType::F32 => measure::<f32>(self, row, movement),
            DType::Bf16 => measure::<bf16>(self, row, movement),
            other => Err(format!("no bench moves {other}").into()),
        }
    }
}

/// A source, and a destination for each side.
struct Memory<'a, T: Pod> {
    movement: &'a Movement,
    pool: Rc<Pool<T>>,
    source: Buffer<T>,
    ours: Buffer<T>,
    theirs: Buffer<T>,
    /// The rows that a gather reads.
    rows: Vec<u32>,
    index: Buffer<u32>,
}

fn measure<T: Element + Pod>(bench: &Bench, row: &Row, movement: &Movement) -> Result<Value, Failure> {
    let (device, len) = (&bench.device, movement.elements() as usize);
    let (pool, source) = (bench.pool::<T>(movement.dtype)?, device.alloc::<T>(len)?);
    pool.fill(&source, 0)?;
    let rows = match movement.kind {
        Kind::Gather => shuffled(movement.shape[0] as u32),
        Kind::Copy | Kind::Permute => Vec::new(),
    };
    let index = device.upload(&rows)?;
    let memory =
        Memory { movement, pool, source, ours: device.alloc(len)?, theirs: device.alloc(len)?, rows, index };
    let ours = memory.girih(bench);
    alive(device, &ours)?;
    let copy: Run<'_> = Box::new(|_| Ok(memory.theirs.copy_from(&memory.source)?));
    // The driver's copy is half as slow again in a graph.
    let theirs = [Side::in_stream(device, String::from("device-to-device"), copy, 1, bench.effort.graph)?];
    let (mut record, _) = bench.duel(row, ours.as_ref().ok(), &theirs)?;
    record["peer_stream_us"] = theirs[0].streamed(device)?.into();
    match &ours {
        Ok(ours) => {
            record["girih_run_us"] = streamed(device, &ours.run, 1)?.into();
            memory.ours.fill_bytes(0xff)?;
            ours.replay()?;
            if let Err(wrong) = memory.check() {
                record["girih_wrong"] = wrong.to_string().into();
            }
        }
        Err(wrong) if wrong.is::<Wrong>() => record["girih_wrong"] = wrong.to_string().into(),
        Err(missing) => record["girih_missing"] = missing.to_string().into(),
    }
    Ok(record)
}

impl<T: Element + Pod> Memory<'_, T> {
    /// girih's side, once its result has been checked.
    fn girih(&self, bench: &Bench) -> Result<Side<'_>, Failure> {
        let device = &bench.device;
        let copy = Copy::new(device, &problem(T::DTYPE, self.movement)?)?;
        let run = move || match self.movement.kind {
            Kind::Gather => copy.gather(&self.ours, &self.source, &self.index),
            Kind::Copy | Kind::Permute => copy.run(&self.ours, &self.source),
        };
        self.ours.fill_bytes(0xff)?;
        run()?;
        self.check().map_err(|wrong| Wrong(wrong.to_string()))?;
        let run: Run<'_> = Box::new(move |_| Ok(run()?));
        Side::in_stream(device, String::from("girih"), run, 1, bench.effort.graph)
    }

    /// Compares runs of the destination, the first and the last elements among them.
    fn check(&self) -> Result<(), Failure> {
        let (run, len) = (RUN.min(self.ours.len()), self.ours.len());
        for i in 0..RUNS {
            let start = (len - run) * i / (RUNS - 1);
            let found = self.ours.slice(start..start + run)?.download()?;
            for (at, found) in (start..).zip(found) {
                let wanted = self.pool.at(0, self.source_of(at));
                if found != wanted {
                    return Err(format!("element {at} is {found:?}, not {wanted:?}").into());
                }
            }
        }
        Ok(())
    }

    /// The element of the source that comes to a place of the destination.
    fn source_of(&self, mut at: usize) -> usize {
        let Movement { shape, order, kind, .. } = self.movement;
        if *kind == Kind::Gather {
            let row = shape[1..].iter().product::<i64>() as usize;
            return self.rows[at / row] as usize * row + at % row;
        }
        let strides = row_major(shape);
        let mut source = 0;
        for &mode in order.iter().rev() {
            let extent = shape[mode] as usize;
            source += at % extent * strides[mode] as usize;
            at /= extent;
        }
        source
    }
}

/// The strides of a tensor whose last mode is contiguous.
fn row_major(shape: &[i64]) -> Vec<i64> {
    (0..shape.len()).map(|mode| shape[mode + 1..].iter().product()).collect()
}

/// What girih is asked for.
fn problem(dtype: DType, Movement { kind, shape, order, .. }: &Movement) -> Result<Problem, Failure> {
    let strides = row_major(shape);
    if *kind == Kind::Gather {
        let table = Lay::strided(shape.iter().copied(), strides)?;
        return Ok(Problem::gather(dtype, &table, &table, 0, DType::U32)?);
    }
    let ordered: Vec<i64> = order.iter().map(|&mode| shape[mode]).collect();
    let from: Vec<i64> = order.iter().map(|&mode| strides[mode]).collect();
    Ok(Problem::strided(dtype, &ordered, &from, &row_major(&ordered))?)
}

/// The numbers below `count` in a random order.
fn shuffled(count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.shuffle(&mut StdRng::seed_from_u64(0));
    numbers
}
