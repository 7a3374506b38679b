//! Copies by many configurations beside the driver's own copy of as many bytes, measured in turns: which of them is the fastest.
//!
//! Every configuration's result is compared at samples before it is timed. For each problem a first contest is of tiles and threads, a second one
//! is of orders and caches around the best, and a last one, in longer slices, is of the fastest and the default. With `GIRIH_RECORD=FILE` the
//! last contests are appended as JSON lines.
#![allow(missing_docs, reason = "a binary")]

use std::{
    env,
    time::{Duration, Instant},
};

use clap::Parser;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::copy::{Caching, Copy, Problem, Tuning, tuned};
use girih_layout::Lay;
use girih_peers::{
    contest::{Clock, Contestant, Failure, Rules, contest},
    gpu,
    record::{record, save},
};
use girih_tensor::{DType, Element};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::{Value, json};

const FIRST: Rules = Rules {
    rounds: 3,
    settle: Duration::from_millis(2),
    timed: Duration::from_millis(8),
    clock: Clock::Device,
};
const LAST: Rules = Rules::slices(5);

/// Different values; more than the L2 cache holds, and a prime number of them.
const POOL: usize = 16_777_213;

/// The samples of the destination that are compared, and the elements of each.
const SAMPLES: usize = 32;
const SAMPLE: usize = 2048;

/// Measures copies by many configurations.
#[derive(Parser)]
struct Args {
    /// Problems whose names contain one of these texts.
    only: Vec<String>,
    /// Seconds after which no problem is begun; GIRIH_SECONDS, if there is no such argument.
    #[arg(long)]
    seconds: Option<u64>,
    /// What cargo says to benches.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let Some(device) = gpu() else { return Ok(()) };
    println!("{}", device.name());
    let (mut of_words, mut of_halves) = (Bench::<u32>::new(&device)?, None);
    let (begun, seconds) =
        (Instant::now(), args.seconds.or_else(|| env::var("GIRIH_SECONDS").ok()?.parse().ok()));
    let mut records = Vec::new();
    for task in tasks()? {
        if seconds.is_some_and(|seconds| begun.elapsed().as_secs() >= seconds) {
            println!("left: {}", task.name);
            continue;
        }
        if !args.only.is_empty() && !args.only.iter().any(|part| task.name.contains(part.as_str())) {
            continue;
        }
        records.extend(match task.problem.dtype() {
            DType::U32 => of_words.measure(&task)?,
            _ => {
                if of_halves.is_none() {
                    of_halves = Some(Bench::<u16>::new(&device)?);
                }
                of_halves.as_mut().map_or(Ok(None), |bench| bench.measure(&task))?
            }
        });
    }
    save(&device, records)
}

/// A problem, and the numbers that are tried.
struct Task {
    name: &'static str,
    problem: Problem,
    /// The element of the source that comes to a place of the destination, which is dense.
    source_of: Box<dyn Fn(usize) -> usize>,
    rows: Vec<u32>,
    first: Vec<Tuning>,
    /// What is tried around the best of the first.
    around: fn(&Tuning) -> Vec<Tuning>,
}

/// A permutation of the modes of a tensor whose last mode is contiguous: mode `order[i]` becomes mode i.
fn permute(name: &'static str, dtype: DType, shape: &[i64], order: &[usize]) -> Result<Task, Failure> {
    let strides =
        |shape: &[i64]| -> Vec<i64> { (0..shape.len()).map(|i| shape[i + 1..].iter().product()).collect() };
    let extents: Vec<i64> = order.iter().map(|&mode| shape[mode]).collect();
    let from: Vec<i64> = order.iter().map(|&mode| strides(shape)[mode]).collect();
    let problem = Problem::strided(dtype, &extents, &from, &strides(&extents))?;
    let source_of = move |mut at: usize| {
        let digit = |(extent, stride): (&i64, &i64)| {
            let digit = at % *extent as usize;
            at /= *extent as usize;
            digit * *stride as usize
        };
        extents.iter().zip(&from).rev().map(digit).sum()
    };
    Ok(Task { name, problem, source_of: Box::new(source_of), rows: Vec::new(), first: staged(), around })
}

fn tasks() -> Result<Vec<Task>, Failure> {
    let n = 16_384;
    let (words, halves) = (DType::U32, DType::U16);
    let direct = |name, dtype, shape: &[i64], order: &[usize]| -> Result<Task, Failure> {
        Ok(Task { first: lines(), ..permute(name, dtype, shape, order)? })
    };
    let (count, row) = (1i64 << 22, 32);
    let mut rows: Vec<u32> = (0..count as u32).collect();
    rows.shuffle(&mut StdRng::seed_from_u64(0));
    let table = Lay::row_major([count, row])?;
    let order = rows.clone();
    let gather = Task {
        name: "gather of 128 bytes",
        problem: Problem::gather(words, &table, &table, 0, DType::U32)?,
        source_of: Box::new(move |at| order[at / 32] as usize * 32 + at % 32),
        rows,
        first: lines(),
        around,
    };
    let odd = Task {
        name: "rows of 4097 halves to 4104",
        problem: Problem::strided(halves, &[4097, 65_536], &[1, 4097], &[1, 4104])?,
        source_of: Box::new(|at| at / 4104 * 4097 + (at % 4104).min(4096)),
        rows: Vec::new(),
        first: tiles(),
        around: some_around,
    };
    let brief = |task: Task| Task { first: tiles(), around: some_around, ..task };
    Ok(vec![
        Task { first: [lines(), walks(), bulks()].concat(), ..permute("copy", words, &[1 << 28], &[0])? },
        permute("transpose of words", words, &[n, n], &[1, 0])?,
        permute("transpose of halves", halves, &[n, n], &[1, 0])?,
        direct("permute (0,2,1,3) of halves", halves, &[32, 4096, 32, 128], &[0, 2, 1, 3])?,
        gather,
        brief(permute("permute (3,2,1,0) of words", words, &[64, 32, 128, 1024], &[3, 2, 1, 0])?),
        brief(permute("permute (0,3,1,2) of halves", halves, &[64, 128, 128, 256], &[0, 3, 1, 2])?),
        brief(permute("3 channels of halves last", halves, &[512, 3, 224 * 224], &[0, 2, 1])?),
        odd,
    ])
}

/// Threads, and bytes of each thread in flight.
fn lines() -> Vec<Tuning> {
    let mut all = Vec::new();
    for threads in [128, 256, 512, 1024] {
        for bytes in [16, 32, 64, 128] {
            for caching in [Caching::Normal, Caching::Once, Caching::Streaming] {
                all.push(Tuning { threads, tile: threads * bytes, caching, ..Tuning::default() });
            }
        }
    }
    all
}

/// Blocks that go on with other tiles.
fn walks() -> Vec<Tuning> {
    let mut all = Vec::new();
    for (threads, blocks) in
        [(256, 2), (256, 4), (256, 8), (512, 1), (512, 2), (512, 4), (1024, 1), (1024, 2)]
    {
        for bytes in [32, 64] {
            for caching in [Caching::Normal, Caching::Once] {
                all.push(Tuning {
                    threads,
                    tile: threads * bytes,
                    blocks: Some(blocks),
                    caching,
                    ..Tuning::default()
                });
            }
        }
    }
    all
}

/// Bulk copies: bytes of each, how many a block has in flight, blocks of a multiprocessor.
fn bulks() -> Vec<Tuning> {
    let mut all = Vec::new();
    for tile in [4 << 10, 8 << 10, 16 << 10, 32 << 10] {
        for (stages, blocks) in
            [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2), (6, 1), (6, 2), (8, 1), (3, 4)]
        {
            if stages * tile * blocks <= 220 << 10 {
                all.push(Tuning {
                    threads: 32,
                    tile,
                    blocks: Some(blocks),
                    bulk: Some(stages),
                    ..Tuning::default()
                });
            }
        }
    }
    all
}

/// Bytes of rows of a tile on both sides, and threads.
fn staged() -> Vec<Tuning> {
    let mut all = Vec::new();
    let rows = [[64, 64], [128, 128], [256, 256], [512, 512], [128, 256], [256, 128], [256, 512], [512, 256]];
    for rows in rows {
        for threads in [128, 256, 512, 1024] {
            // A tile of so many bytes in rows is larger by as many elements as a row has.
            all.push(Tuning { threads, rows, tile: 1 << 10, ..Tuning::default() });
        }
    }
    for (threads, blocks) in [(256, 2), (256, 4), (256, 6), (512, 2), (512, 3)] {
        all.push(Tuning { threads, tile: 1 << 10, blocks: Some(blocks), ..Tuning::default() });
    }
    all
}

/// Bytes of tiles, and threads.
fn tiles() -> Vec<Tuning> {
    let mut all = Vec::new();
    for tile in [8 << 10, 16 << 10, 32 << 10] {
        for threads in [128, 256, 512] {
            all.push(Tuning { threads, tile, ..Tuning::default() });
        }
    }
    all
}

/// Other orders and caches of the same tile.
fn around(best: &Tuning) -> Vec<Tuning> {
    orders(
        best,
        &[1, 2, 4, 8, 16, 32, 64],
        &[Caching::Normal, Caching::Once, Caching::Streaming, Caching::EvictFirst],
    )
}

/// Fewer of them.
fn some_around(best: &Tuning) -> Vec<Tuning> {
    orders(best, &[1, 8, 32], &[Caching::Normal, Caching::Streaming])
}

fn orders(best: &Tuning, bands: &[i64], cachings: &[Caching]) -> Vec<Tuning> {
    let of_band = |&band: &i64| cachings.iter().map(move |&caching| Tuning { band, caching, ..*best });
    bands.iter().flat_map(of_band).collect()
}

struct Bench<'a, T: Pod> {
    device: &'a Device,
    pool: Vec<T>,
    pooled: Buffer<T>,
    /// The source, the destination, and the driver's destination, as long as they fit the problem.
    memory: Option<[Buffer<T>; 3]>,
}

/// How fast beside the driver's copy, and by which numbers.
type Ranked = (f64, Tuning);

impl<'a, T: Element + Pod> Bench<'a, T> {
    fn new(device: &'a Device) -> Result<Bench<'a, T>, Failure> {
        let mut rng = StdRng::seed_from_u64(1);
        let pool: Vec<T> = (0..POOL).map(|_| T::from_f64(f64::from(rng.random::<u32>()))).collect();
        Ok(Bench { device, pooled: device.upload(&pool)?, pool, memory: None })
    }

    fn measure(&mut self, task: &Task) -> Result<Option<Value>, Failure> {
        let bytes = task.problem.bytes() / 2;
        println!("\n{}: {:.3} GB read and written", task.name, 2e-9 * bytes as f64);
        let elements = bytes as usize / size_of::<T>();
        let room = elements + elements / 512 + 4096;
        if self.memory.as_ref().is_none_or(|[source, ..]| source.len() != room) {
            self.memory = None;
            let [source, ours, theirs] =
                [self.device.alloc(room)?, self.device.alloc(room)?, self.device.alloc(room)?];
            let mut done = 0;
            while done < room {
                let some = POOL.min(room - done);
                source.slice(done..done + some)?.copy_from(&self.pooled.slice(..some)?)?;
                done += some;
            }
            self.memory = Some([source, ours, theirs]);
        }
        let Some([source, ours, theirs]) = &self.memory else { return Ok(None) };
        let index = self.device.upload(&task.rows)?;
        let run = |copy: &Copy| -> Result<(), Failure> {
            Ok(if task.rows.is_empty() { copy.run(ours, source) } else { copy.gather(ours, source, &index) }?)
        };
        let (from, to) = (source.slice(..elements)?, theirs.slice(..elements)?);
        let race = |tunings: &[Tuning], rules: Rules| -> Result<(Vec<Ranked>, Value), Failure> {
            let last = rules.rounds == LAST.rounds;
            let (mut copies, mut known) = (Vec::new(), Vec::new());
            for tuning in tunings {
                let chosen = tuned(&task.problem, [16, 16], tuning)?;
                if known.contains(&chosen) {
                    continue;
                }
                known.push(chosen.clone());
                // More shared memory than a block can have, for example.
                match Copy::configured(self.device, &task.problem, chosen).map_err(Failure::from).and_then(
                    |copy| {
                        ours.fill_bytes(0xff)?;
                        run(&copy)?;
                        self.check(task, ours)?;
                        Ok(copy)
                    },
                ) {
                    Ok(copy) => copies.push((*tuning, copy)),
                    Err(error) => println!("  refused {}: {error}", text(tuning)),
                }
            }
            let contestant = |(tuning, copy)| Contestant::new(text(tuning), 1, move || run(copy));
            let mut all: Vec<Contestant<'_>> =
                copies.iter().map(|(tuning, copy)| contestant((tuning, copy))).collect();
            all.push(Contestant::new("device-to-device", 1, || Ok(to.copy_from(&from)?)));
            let times = contest(self.device, rules, &mut all)?;
            let Some((peer, times)) = times.split_last() else { return Ok((Vec::new(), Value::Null)) };
            let mut ranked: Vec<(f64, usize)> =
                times.iter().enumerate().map(|(i, own)| (own.speed_beside(peer).mean, i)).collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            let rate = |times: &girih_peers::contest::Times| {
                2e-9 * bytes as f64 / times.samples.median().as_secs_f64()
            };
            println!("  device-to-device {:.0} GB/s", rate(peer));
            for &(ratio, i) in ranked.iter().take(8) {
                println!("  {ratio:.4} {:5.0} GB/s  {}", rate(&times[i]), text(&copies[i].0));
            }
            let value = ranked.first().filter(|_| last).map_or(Value::Null, |&(_, i)| {
                let what = json!({"op": task.name, "tuning": text(&copies[i].0)});
                record(what, "GB/s", 2.0 * bytes as f64, 1e9, &times[i], peer)
            });
            Ok((ranked.into_iter().map(|(ratio, i)| (ratio, copies[i].0)).collect(), value))
        };
        let first = race(&task.first, FIRST)?.0;
        let mut second = Vec::new();
        for (_, best) in first.iter().take(2) {
            second.extend((task.around)(best));
        }
        let mut last: Vec<Tuning> =
            race(&second, FIRST)?.0.iter().take(3).map(|(_, tuning)| *tuning).collect();
        last.extend(first.iter().take(2).map(|(_, tuning)| *tuning));
        last.push(Tuning::default());
        Ok(Some(race(&last, LAST)?.1))
    }

    /// Compares samples of the destination.
    fn check(&self, task: &Task, found: &Buffer<T>) -> Result<(), Failure> {
        let len =
            task.problem.modes().iter().map(|mode| (mode.extent - 1) * mode.dst).sum::<i64>() as usize + 1;
        for i in 0..SAMPLES {
            let start = (len - SAMPLE) * i / (SAMPLES - 1);
            for (at, found) in (start..).zip(found.slice(start..start + SAMPLE)?.download()?) {
                let wanted = self.pool[(task.source_of)(at) % POOL];
                // Between rows there is what was there before.
                if found != wanted && !is_untouched(found) {
                    return Err(format!("element {at} is {found:?}, not {wanted:?}").into());
                }
            }
        }
        Ok(())
    }
}

/// Whether an element has the bytes that the destination is filled with.
fn is_untouched<T: Element>(element: T) -> bool {
    element.to_f64() == (2f64.powi(T::DTYPE.bits() as i32) - 1.0)
}

fn text(tuning: &Tuning) -> String {
    let Tuning { threads, tile, rows, band, blocks, caching, bulk } = tuning;
    let walk = blocks.map_or_else(String::new, |blocks| format!(", {blocks} blocks"));
    let bulk = bulk.map_or_else(String::new, |stages| format!(", {stages} bulk copies"));
    format!("{threads} threads, {tile} bytes, rows {rows:?}, band {band}, {caching:?}{walk}{bulk}")
}
