//! Caches of different sizes, read in different numbers of parts, and the costs by which the number is chosen.

use girih_device::Device;
use girih_kernels::attention::decode::{Costs, Decode, DecodeProblem, choose};
use girih_peers::contest::{Contestant, Failure, Rules, contest};
use girih_tensor::DType;
use half::bf16;
use rand::{SeedableRng, rngs::StdRng};

use super::{Args, CALLS, COLD, Pool, Tensors, check, launch};

/// Numbers of parts, from which those are measured that a problem can use.
const PARTS: [i64; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
/// The most blocks that are measured for each multiprocessor: more have less to do than they cost.
const MOST_BLOCKS: i64 = 16;

/// How long a problem took in different numbers of parts.
struct Swept {
    pub(super) problem: DecodeProblem,
    /// Parts, and seconds.
    times: Vec<(i64, f64)>,
}

/// What the choices of some costs take beside the best ones: the mean over the problems, and the most.
fn lost(all: &[Swept], costs: &Costs, multiprocessors: u32) -> [f64; 2] {
    let lost = all.iter().filter_map(|swept| Some(swept.chosen(costs, multiprocessors)?.1));
    let (sum, most) = lost.fold((0.0, 0f64), |(sum, most), lost| (sum + lost, most.max(lost)));
    [sum / all.len() as f64, most]
}

/// The costs whose choices are best, of all costs in small steps.
fn fitted(all: &[Swept], multiprocessors: u32) -> Costs {
    let (mut best, mut least) = (Costs::OWN, lost(all, &Costs::OWN, multiprocessors));
    for (block, sum, alone) in (0..=24)
        .flat_map(|block| (0..=40).flat_map(move |sum| (0..=12).map(move |alone| (block, sum, alone))))
    {
        let costs = Costs {
            block: 0.25 * f64::from(block),
            sum: 0.5 * f64::from(sum),
            alone: 0.6 + f64::from(alone) / 30.0,
        };
        let found = lost(all, &costs, multiprocessors);
        // Nothing is changed for less than what a measurement is uncertain by.
        if found[0] < least[0] - 1e-3 {
            (best, least) = (costs, found);
        }
    }
    best
}

/// Measures numbers of parts.
pub(super) fn sweep(device: &Device, args: &Args) -> Result<(), Failure> {
    let multiprocessors = device.limits().multiprocessors;
    let mut all = Vec::new();
    for (batch, keys) in [8192, 32768].into_iter().flat_map(|keys| [1, 4, 16, 64].map(|batch| (batch, keys)))
    {
        let name = format!("batch {batch}, {keys} keys");
        if !args.only.is_empty() && !args.only.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let problem = DecodeProblem::new(DType::Bf16, [batch, 1], [64, 8], 128, keys)?;
        let swept = swept(device, problem.clone(), args.rounds.unwrap_or(2))?;
        println!("{name}");
        let best = swept.best().map_or(1.0, |best| best.1);
        for (parts, time) in &swept.times {
            let estimate = Costs::OWN.time(&problem, multiprocessors, *parts);
            println!(
                "  {parts:>4} parts  {:>9.2} us  {:>6.3} of the best  estimate {estimate:.1}",
                1e6 * time,
                time / best
            );
        }
        all.push(swept);
    }
    for (name, costs) in [("now", Costs::OWN), ("fitted", fitted(&all, multiprocessors))] {
        let [mean, most] = lost(&all, &costs, multiprocessors);
        println!("{name}: {costs:?}, choices take {mean:.4} of the best on average, {most:.4} at most");
        let chosen = all.iter().filter_map(|swept| swept.chosen(&costs, multiprocessors));
        println!("  parts {:?}", chosen.map(|chosen| chosen.0).collect::<Vec<_>>());
    }
    Ok(())
}

/// Measures a problem in different numbers of parts.
fn swept(device: &Device, problem: DecodeProblem, rounds: usize) -> Result<Swept, Failure> {
    let ([batches, _], [_, groups]) = (problem.sequences(), problem.heads());
    let bytes = 4 * batches * groups * problem.capacity() * problem.head_dim();
    let turns = (COLD / bytes).clamp(1, 32) as usize;
    let mut rng = StdRng::seed_from_u64(1);
    let pool = Pool::new(device, &mut rng)?;
    let tensors = |_| Tensors::new(device, &problem, (&pool, &pool), &mut rng);
    let all: Vec<Tensors<bf16>> = (0..turns).map(tensors).collect::<Result<_, _>>()?;
    let most = MOST_BLOCKS * i64::from(device.limits().multiprocessors) / (batches * groups);
    let most = most.min(problem.capacity() / 128);
    let own = choose(&problem, device.limits(), None)?.parts;
    let mut parts: Vec<i64> = PARTS.into_iter().filter(|parts| *parts <= most.max(1)).chain([own]).collect();
    parts.sort_unstable();
    parts.dedup();
    let plan = |parts: &i64| -> Result<Decode, Failure> {
        let mut plan = choose(&problem, device.limits(), Some(*parts))?;
        // So that sequences have as many parts as are asked for.
        plan.least_tiles = 1;
        Ok(Decode::planned(device, &problem, plan)?)
    };
    let decodes: Vec<Decode> = parts.iter().map(plan).collect::<Result<_, Failure>>()?;
    let calls = CALLS.max(turns);
    let mut graphs = Vec::new();
    for decode in &decodes {
        check(&all[0], [&decodes[0], decode])?;
        graphs.push(device.capture(|| (0..calls).try_for_each(|call| all[call % turns].run(decode)))?);
    }
    let contestants = graphs.iter().zip(&parts);
    let mut contestants: Vec<Contestant<'_>> = contestants
        .map(|(graph, parts)| Contestant::new(parts.to_string(), calls, move || Ok(launch(graph)?)))
        .collect();
    let times = contest(device, Rules::slices(rounds), &mut contestants)?;
    let seconds = times.iter().map(|times| times.samples.median().as_secs_f64());
    Ok(Swept { problem, times: parts.iter().copied().zip(seconds).collect() })
}

impl Swept {
    /// Which number of parts some costs choose among those that were measured, and the time of that beside the least time.
    fn chosen(&self, costs: &Costs, multiprocessors: u32) -> Option<(i64, f64)> {
        let estimate = |time: &&(i64, f64)| costs.time(&self.problem, multiprocessors, time.0);
        let chosen = self.times.iter().min_by(|a, b| estimate(a).total_cmp(&estimate(b)))?;
        Some((chosen.0, chosen.1 / self.best()?.1))
    }

    fn best(&self) -> Option<&(i64, f64)> {
        self.times.iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
