//! Decoding beside the device's own copies of as many bytes as K and V have, measured in turns: the part of the copy rate at which K and V are
//! read. A copy reads half of these bytes and writes as many. Several caches take turns, so that none is in the L2 cache.
//!
//! With `--parts`, `--stages` and `--blocks` other plans run too. With `--sweep` caches of different sizes are read in different numbers of parts, and
//! the costs by which the number is chosen are compared with what was measured. With `GIRIH_RECORD=FILE` the results are appended as JSON lines.
#![allow(missing_docs, reason = "a binary")]

mod sweep;

use std::cell::Cell;

use clap::Parser;
use girih_device::{Buffer, Device, Graph, Pod};
use girih_kernels::attention::decode::{
    CacheOrder, Decode, DecodeArgs, DecodeConfig, DecodePlan, DecodeProblem, ScalesOf, choose,
};
use girih_peers::{
    contest::{Contestant, Failure, Rules, contest},
    gpu,
    record::{record, save},
};
use girih_tensor::{DType, Element};
use half::bf16;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::{Value, json};
use sweep::sweep;

/// Different values; a prime number of them.
const POOL: usize = 4_194_301;
/// How far rows may be apart that are added up in other parts, of values below 1.
const NEAR: f64 = 0.02;
/// The bytes of all caches together, far more than an L2 cache has.
const COLD: i64 = 1 << 30;
/// The calls of a graph.
const CALLS: usize = 16;

/// Measures decoding.
#[derive(Parser)]
struct Args {
    /// Problems whose names contain one of these texts.
    only: Vec<String>,
    /// Numbers of parts that run besides the one that is chosen.
    #[arg(long, value_delimiter = ',')]
    parts: Vec<i64>,
    /// Numbers of stages that run besides the one that is chosen.
    #[arg(long, value_delimiter = ',')]
    stages: Vec<i64>,
    /// Numbers of blocks a multiprocessor, for which registers are limited, that run besides the one that is chosen.
    #[arg(long, value_delimiter = ',')]
    blocks: Vec<u32>,
    /// Measure numbers of parts for 1 to 64 sequences of 8192 and 32768 keys instead, and say which costs choose best among them.
    #[arg(long, conflicts_with_all = ["parts", "stages", "blocks"])]
    sweep: bool,
    /// Rounds [default: 5, of a sweep 2].
    #[arg(long)]
    rounds: Option<usize>,
    /// What cargo says to benches.
    #[arg(long, hide = true)]
    bench: bool,
}

fn problems() -> Result<Vec<(String, DecodeProblem)>, Failure> {
    use CacheOrder::{HeadsFirst, KeysFirst};
    let new = |sequences, heads, head_dim, keys| -> Result<DecodeProblem, Failure> {
        Ok(DecodeProblem::new(DType::Bf16, sequences, heads, head_dim, keys)?)
    };
    let pages = |p: &DecodeProblem, size: i64| p.sequences()[0] * ((p.capacity() + size - 1) / size);
    let mut all = Vec::new();
    for (batch, keys) in [(64, 8192), (1, 8192), (1, 65_536), (8, 65_536), (64, 65_536)] {
        let name = format!("batch {batch}, {keys} keys, 64 of 8 heads, 128");
        let p = new([batch, 1], [64, 8], 128, keys)?;
        all.push((name.clone(), p.clone()));
        all.push((format!("{name}, heads first"), p.clone().contiguous(HeadsFirst)?));
        for size in [16, 64] {
            all.push((
                format!("{name}, pages of {size}"),
                p.clone().paged(size, pages(&p, size), KeysFirst)?,
            ));
        }
        let narrow = p.clone().with_cache(DType::E4m3, Some(ScalesOf::Head))?;
        all.push((format!("{name}, e4m3"), narrow.clone()));
        all.push((format!("{name}, e4m3, pages of 64"), narrow.paged(64, pages(&p, 64), KeysFirst)?));
    }
    all.push((String::from("batch 64, 8192 keys, 32 of 4 heads, 128"), new([64, 1], [32, 4], 128, 8192)?));
    all.push((String::from("batch 32, 8192 keys, 16 of 16 heads, 128"), new([32, 1], [16, 16], 128, 8192)?));
    all.push((String::from("batch 64, 8192 keys, 16 of 1 head, 128"), new([64, 1], [16, 1], 128, 8192)?));
    all.push((
        String::from("batch 64, 4 queries, 8192 keys, 64 of 8 heads, 128"),
        new([64, 4], [64, 8], 128, 8192)?,
    ));
    all.push((String::from("batch 64, 8192 keys, 64 of 8 heads, 64"), new([64, 1], [64, 8], 64, 8192)?));
    all.push((String::from("batch 64, 8192 keys, 32 of 8 heads, 96"), new([64, 1], [32, 8], 96, 8192)?));
    all.push((String::from("batch 64, 8192 keys, 32 of 4 heads, 256"), new([64, 1], [32, 4], 256, 8192)?));
    let narrow = new([64, 1], [64, 8], 64, 8192)?.with_cache(DType::E4m3, None)?;
    all.push((String::from("batch 64, 8192 keys, 64 of 8 heads, 64, e4m3"), narrow));
    Ok(all)
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let Some(device) = gpu() else { return Ok(()) };
    println!("{}", device.name());
    if args.sweep {
        return sweep(&device, &args);
    }
    let mut records = Vec::new();
    for (name, problem) in problems()? {
        if !args.only.is_empty() && !args.only.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        records.extend(match problem.cache() {
            DType::E4m3 => measure::<float8::F8E4M3>(&device, &name, &problem, &args)?,
            _ => measure::<bf16>(&device, &name, &problem, &args)?,
        });
    }
    save(&device, records)
}

/// Random values, over and over.
struct Pool<T: Pod>(Buffer<T>);

impl<T: Element + Pod> Pool<T> {
    fn new(device: &Device, rng: &mut StdRng) -> Result<Pool<T>, Failure> {
        let pool: Vec<T> = (0..POOL).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect();
        Ok(Pool(device.upload(&pool)?))
    }

    /// A buffer of so many of them.
    fn fill(&self, device: &Device, len: i64) -> Result<Buffer<T>, Failure> {
        let buffer = device.alloc(len as usize)?;
        for done in (0..len as usize).step_by(POOL) {
            let some = POOL.min(len as usize - done);
            buffer.slice(done..done + some)?.copy_from(&self.0.slice(..some)?)?;
        }
        Ok(buffer)
    }
}

/// A cache with what else a call takes.
struct Tensors<C: Pod> {
    q: Buffer<bf16>,
    kv: [Buffer<C>; 2],
    lengths: Buffer<u32>,
    table: Option<Buffer<u32>>,
    scales: Option<[Buffer<f32>; 2]>,
    o: Buffer<bf16>,
}

impl<C: Element + Pod> Tensors<C> {
    fn new(
        device: &Device,
        problem: &DecodeProblem,
        pools: (&Pool<bf16>, &Pool<C>),
        rng: &mut StdRng,
    ) -> Result<Tensors<C>, Failure> {
        let ([q_len, o_len], [k_len, v_len]) = (problem.row_spans(), problem.key_spans());
        let q = pools.0.fill(device, q_len)?;
        let kv = [pools.1.fill(device, k_len)?, pools.1.fill(device, v_len)?];
        let lengths = vec![problem.capacity() as u32; problem.sequences()[0] as usize];
        let mut pages: Vec<u32> = (0..problem.table_entries() as u32).collect();
        pages.shuffle(rng);
        let table = problem.pages().map(|_| device.upload(&pages)).transpose()?;
        let ones = vec![1f32; problem.scales_len() as usize];
        let scales = match problem.scales_len() {
            0 => None,
            _ => Some([device.upload(&ones)?, device.upload(&ones)?]),
        };
        Ok(Tensors {
            q,
            kv,
            lengths: device.upload(&lengths)?,
            table,
            scales,
            o: device.alloc(o_len as usize)?,
        })
    }

    fn run(&self, decode: &Decode) -> Result<(), girih_kernels::Error> {
        decode.run(&DecodeArgs {
            q: &self.q,
            kv: [&self.kv[0], &self.kv[1]],
            lengths: &self.lengths,
            table: self.table.as_ref(),
            scales: self.scales.as_ref().map(|[k, v]| [k, v]),
            o: &self.o,
            given: &[],
        })
    }
}

/// The chosen plan, and the others that are asked for.
fn plans(
    device: &Device,
    problem: &DecodeProblem,
    own: &DecodePlan,
    args: &Args,
) -> Result<Vec<DecodePlan>, Failure> {
    let parts = [own.parts].into_iter().chain(args.parts.iter().copied());
    let stages = [own.config.stages].into_iter().chain(args.stages.iter().copied());
    let blocks = [own.config.min_blocks].into_iter().chain(args.blocks.iter().copied());
    let mut all: Vec<DecodePlan> = Vec::new();
    for parts in parts {
        for (stages, min_blocks) in
            stages.clone().flat_map(|stages| blocks.clone().map(move |blocks| (stages, blocks)))
        {
            let mut plan = choose(problem, device.limits(), Some(parts))?;
            plan.config = DecodeConfig { stages, min_blocks, ..plan.config };
            if !all.contains(&plan) {
                all.push(plan);
            }
        }
    }
    Ok(all)
}

fn text(plan: &DecodePlan) -> String {
    let DecodeConfig { stages, min_blocks, .. } = plan.config;
    format!("{} parts, {stages} stages, {min_blocks} blocks a multiprocessor", plan.parts)
}

/// Compares what is computed in different numbers of parts.
fn check<C: Element + Pod>(tensors: &Tensors<C>, decodes: [&Decode; 2]) -> Result<(), Failure> {
    let mut results = Vec::new();
    for decode in decodes {
        tensors.o.fill_bytes(0xff)?;
        tensors.run(decode)?;
        results.push(tensors.o.download()?);
    }
    for (i, (one, other)) in results[0].iter().zip(&results[1]).enumerate() {
        let near = (one.to_f64() - other.to_f64()).abs() < NEAR;
        if !near {
            return Err(format!("element {i} is {one} or {other}").into());
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the launch of a graph")]
fn launch(graph: &Graph) -> Result<(), girih_device::Error> {
    // SAFETY: the calls in the graph are safe ones, whose buffers live as long as the graph, and do not share what they write.
    unsafe { graph.launch() }
}

fn measure<C: Element + Pod>(
    device: &Device,
    name: &str,
    problem: &DecodeProblem,
    args: &Args,
) -> Result<Option<Value>, Failure> {
    let element = i64::from(problem.cache().bits()) / 8;
    let ([batches, _], [_, groups]) = (problem.sequences(), problem.heads());
    let bytes = 2 * batches * groups * problem.capacity() * problem.head_dim() * element;
    let turns = (COLD / bytes).clamp(1, 32) as usize;
    let mut rng = StdRng::seed_from_u64(1);
    let pools = (&Pool::new(device, &mut rng)?, &Pool::new(device, &mut rng)?);
    let tensors = |_| Tensors::new(device, problem, pools, &mut rng);
    let all: Vec<Tensors<C>> = (0..turns).map(tensors).collect::<Result<_, _>>()?;
    let calls = CALLS.max(turns);
    let own = choose(problem, device.limits(), None)?;
    let mut decodes = Vec::new();
    for plan in plans(device, problem, &own, args)? {
        let text = text(&plan);
        // More shared memory than a block can have, for example.
        match Decode::planned(device, problem, plan) {
            Ok(decode) => decodes.push(decode),
            Err(error) => println!("  refused {text}: {error}"),
        }
    }
    if decodes.is_empty() {
        return Ok(None);
    }
    let other = choose(problem, device.limits(), Some(if own.parts == 1 { 2 } else { 1 }))?;
    check(&all[0], [&decodes[0], &Decode::planned(device, problem, other)?])?;
    println!("\n{name}: {:.3} GB, rows {:?}, {}", 1e-9 * bytes as f64, own.config.rows, text(&own));
    let graph_of = |work: &dyn Fn(usize) -> Result<(), girih_kernels::Error>| -> Result<Graph, Failure> {
        work(0)?;
        device.synchronize()?;
        Ok(device.capture(|| (0..calls).try_for_each(|call| work(call % turns)))?)
    };
    let mut graphs = Vec::new();
    for decode in &decodes {
        graphs.push(graph_of(&|turn| all[turn].run(decode))?);
    }
    // A half of the caches is copied to the other.
    let copies = graph_of(&|turn| Ok(all[turn].kv[0].copy_from(&all[turn].kv[1])?))?;
    let mut contestants: Vec<Contestant<'_>> = graphs
        .iter()
        .zip(&decodes)
        .map(|(graph, decode)| Contestant::new(text(decode.plan()), calls, move || Ok(launch(graph)?)))
        .collect();
    contestants.push(Contestant::new("device-to-device", calls, || Ok(launch(&copies)?)));
    let times = contest(device, Rules::slices(args.rounds.unwrap_or(5)), &mut contestants)?;
    let Some((peer, times)) = times.split_last() else { return Ok(None) };
    let chosen = Cell::new(Value::Null);
    for (number, own) in times.iter().enumerate() {
        let what = json!({"op": "decode", "name": name, "plan": own.name});
        let found = record(what, "GB/s", bytes as f64, 1e9, own, peer);
        if number == 0 {
            chosen.set(found);
        }
    }
    Ok(Some(chosen.into_inner()))
}
