//! Which configurations are chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use girih_codegen::gemm::{Epilogue, GemmConfig, Schedule, generate};
use girih_kernels::gemm::choose::Hardware;
use girih_kernels::gemm::{INPUTS, KernelKind, Layout, MixedInput, Order, Problem, choose, described};
use girih_tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::common::Failure;

/// A product of random extents, of which a third are multiples of 64, a third of 8, and a third anything.
fn any_extents(rng: &mut StdRng) -> [i64; 3] {
    [0; 3].map(|_| {
        let extent = rng.random_range(0.0..(200_000f64).ln()).exp();
        let unit = [1.0, 8.0, 64.0][rng.random_range(0..3)];
        ((extent / unit).ceil() * unit) as i64
    })
}

/// More work is expected to take longer, and no kernel is expected to be faster than memory and tensor cores are.
#[test]
fn more_work_is_expected_to_take_longer() -> Result<(), Failure> {
    let mut rng = StdRng::seed_from_u64(0);
    let time = |mnk, batches| -> Result<f64, Failure> {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?.batched(batches, [None; 3])?;
        Ok(choose::least(&problem, 132, 1)[0].1.total())
    };
    for _ in 0..500 {
        // Of whole sectors: what is aligned better may take less.
        let [m, n, k] = any_extents(&mut rng).map(|extent| (extent.min(20_000) + 15) / 16 * 16);
        let one = time([m, n, k], 1)?;
        for more in
            [time([2 * m, n, k], 1)?, time([m, 2 * n, k], 1)?, time([m, n, 2 * k], 1)?, time([m, n, k], 2)?]
        {
            assert!(more > 0.98 * one, "{m}x{n}x{k}: {one} and {more} us");
        }
        // 4096 operations a cycle of each SM, and 4.8 TB/s.
        let (products, bytes) = (2.0 * (m * n * k) as f64, 2.0 * (m * k + n * k + m * n) as f64);
        let roof = (products / (4096.0 * 132.0 * 1750.0)).max(bytes / 4.8e6);
        assert!(one > 0.9 * roof, "{m}x{n}x{k}: {one} us, and no less than {roof} us");
    }
    Ok(())
}

/// What is chosen is what is expected to take the least time, and all SMs share a K that is long.
#[test]
fn the_least_time_is_chosen() -> Result<(), Failure> {
    for mnk in [[64, 64, 11_200], [24, 24, 100_328], [80, 5024, 143_296], [11_520, 256, 22_272]] {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        let config = choose(&problem, KernelKind::Sm90, 132)?;
        assert!(
            matches!(config.schedule, Schedule::StreamK { .. } | Schedule::SplitK { .. }),
            "{mnk:?}: {config:?}"
        );
        let least = choose::least(&problem, 132, 5);
        assert_eq!(least[0].0, config);
        assert!(least.windows(2).all(|pair| pair[0].1.total() <= pair[1].1.total()));
    }
    Ok(())
}

/// What is measured for 16-bit floats on one device says nothing about other dtypes and devices.
#[test]
fn measurements_count_where_they_were_made() -> Result<(), Failure> {
    let tile = |dtype, multiprocessors| -> Result<[i64; 3], Failure> {
        let problem = Problem::new(dtype, [1000; 3], Layout::Tn)?;
        Ok(choose(&problem, KernelKind::Sm90, multiprocessors)?.tile)
    };
    assert_eq!(tile(DType::F16, 132)?, [64, 160, 64]);
    assert!(tile(DType::F16, 114)?[1] != 160 && tile(DType::E4m3, 132)?[1] != 160);
    Ok(())
}

/// A larger device needs smaller tiles for all of its multiprocessors to have work.
#[test]
fn more_multiprocessors_take_no_larger_tiles() -> Result<(), Failure> {
    let tile = |mnk, multiprocessors| -> Result<[i64; 3], Failure> {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        Ok(choose(&problem, KernelKind::Sm90, multiprocessors)?.tile)
    };
    let area =
        |mnk, multiprocessors| Ok::<_, Failure>(tile(mnk, multiprocessors)?[..2].iter().product::<i64>());
    for n in [128, 1000, 4096] {
        let areas = [1, 16, 132, 10_000].map(|multiprocessors| area([1024, n, 64], multiprocessors));
        let areas = areas.into_iter().collect::<Result<Vec<_>, _>>()?;
        assert!(areas.is_sorted_by(|x, y| x >= y) && areas[0] >= 64 * 128, "{n}: {areas:?}");
    }
    Ok(())
}

/// A configuration as text: configurations can be compared and not ordered.
fn text(config: &GemmConfig) -> String {
    format!("{config:?}")
}

/// The list, each configuration with whether it is one that its cost decides on.
static LISTED: LazyLock<BTreeMap<String, bool>> = LazyLock::new(|| {
    let mut listed = BTreeMap::new();
    for config in choose::all() {
        let before = listed.insert(text(&config), is_by_cost(&config));
        assert_eq!(before, None, "listed twice: {config:?}");
    }
    listed
});

const KINDS: [KernelKind; 3] = [KernelKind::Simt, KernelKind::Sm80, KernelKind::Sm90];

/// Problems with weights of 8 bits for each rule, of every input and output.
fn mixed() -> Result<Vec<Problem>, Failure> {
    let mut all = Vec::new();
    for (dtype, scale) in MixedInput::DTYPES.into_iter().flat_map(|d| MixedInput::SCALES.map(|s| (d, s))) {
        for (layout, order) in
            [Layout::Tn, Layout::Nn].into_iter().flat_map(|l| [Order::Row, Order::Column].map(|o| (l, o)))
        {
            for (m, n) in [16, 32, 64, 128].into_iter().flat_map(|m| [128, 4096, 8192, 20000].map(|n| (m, n)))
            {
                let problem = Problem::new(DType::Bf16, [m, n, 4096], layout)?.with_order(order);
                let problem = problem.with_mixed_input(MixedInput { dtype, scale, group: 128 })?;
                for (&output, pad) in
                    problem.outputs().iter().flat_map(|output| [0, 1, 2].map(|pad| (output, pad)))
                {
                    let ld = problem.c().ld() + pad;
                    all.push(problem.with_output(output)?.with_pitches(None, None, Some(ld))?);
                }
            }
        }
    }
    Ok(all)
}

/// Problems of groups for each plan, of every input and output.
fn grouped() -> Result<Vec<Problem>, Failure> {
    let sizes = [
        [64, 128, 8],
        [512, 384, 8],
        [512, 4096, 8],
        [1024, 4096, 64],
        [1024, 4096, 32],
        [4096, 4096, 8],
        [4096, 384, 1],
        [4096, 128, 1],
    ];
    let mut all = Vec::new();
    let tensor = INPUTS.into_iter().filter(|dtype| !matches!(dtype, DType::F32 | DType::F64));
    let operands = tensor.flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout)));
    let taken = operands.filter(|(dtype, layout)| dtype.bits() == 16 || *layout == Layout::Tn);
    for ((dtype, layout), [m, n, groups]) in taken.flat_map(|taken| sizes.map(|size| (taken, size))) {
        let problem = Problem::new(dtype, [m, n, 64], layout)?;
        let other = problem.with_sums(DType::F16).unwrap_or(problem.with_fast_accumulation(true));
        for problem in [problem, other] {
            let orders = [Order::Row, Order::Column].map(|order| problem.with_order(order));
            let outputs = problem.outputs().iter().flat_map(|output| orders.map(|problem| (output, problem)));
            for ((&output, problem), pad) in outputs.flat_map(|output| [0, 1, 2].map(|pad| (output, pad))) {
                let ld = Some(problem.c().ld() + pad);
                let problem = problem.with_output(output)?.with_pitches(None, None, ld)?;
                all.push(problem.grouped(groups, Some(0))?);
            }
        }
    }
    Ok(all)
}

/// What problems have chosen, as texts.
#[derive(Default)]
struct Chosen(BTreeSet<String>);

impl Chosen {
    /// Notes a choice, and says whether it is a new one.
    fn note(
        &mut self,
        problem: &Problem,
        kind: KernelKind,
        hardware: impl Into<Hardware>,
    ) -> Result<bool, Failure> {
        Ok(self.0.insert(text(&choose(problem, kind, hardware)?)))
    }

    /// Notes what a problem and those that differ from it in one fact choose, whose outputs, sums and products these are.
    fn visit(&mut self, problem: &Problem, kind: KernelKind, multiprocessors: u32) -> Result<(), Failure> {
        let (relu, amax) = (Epilogue::new().relu(), Epilogue::new().amax("amax"));
        // Sums of another kind, where the dtype has one.
        let other = problem.with_sums(DType::F16).unwrap_or(problem.with_fast_accumulation(true));
        let kept = problem.output();
        let kinds = [Some(*problem), Some(other).filter(|other| other != problem)];
        let all = problem
            .outputs()
            .iter()
            .flat_map(|output| kinds.into_iter().flatten().map(move |kind| (output, kind)));
        for (&output, problem) in all {
            let single = problem.with_output(output)?;
            let by_column = single.with_order(Order::Column);
            let grouped = [single, by_column].map(|problem| problem.grouped(8, Some(0)));
            // Those of warpgroups are visited for themselves, and have no tensor maps of several addresses.
            let by_warpgroups = kind == KernelKind::Sm90 && problem.dtype() != DType::F64;
            let grouped = grouped.into_iter().chain([single.by_pointers(3)]).filter(|_| !by_warpgroups);
            let several = [Ok(single), single.batched(2, [Some(0), Some(0), None])];
            for problem in several.into_iter().chain(grouped) {
                let problem = problem?;
                let fused = choose(&problem.with_epilogue(&relu), kind, multiprocessors)?;
                assert!(choose::takes_epilogues(&fused), "{problem:?}: {fused:?}");
                self.0.insert(text(&fused));
                if output == kept && problem.groups().is_none() {
                    let reducing = choose(&problem.with_epilogue(&amax), kind, multiprocessors)?;
                    assert!(choose::takes_outputs(&reducing), "{problem:?}: {reducing:?}");
                    self.0.insert(text(&reducing));
                }
                self.note(&problem, kind, multiprocessors)?;
                self.note(&problem, kind, large(&problem)?)?;
                // Which does not depend on how many multiprocessors there are.
                if multiprocessors == 132 {
                    self.note(&problem.with_invariant(true), kind, multiprocessors)?;
                }
            }
            if let (KernelKind::Sm90, Ok(scaled)) = (kind, single.with_block_scales()) {
                for scaled in [scaled, scaled.with_invariant(true)] {
                    self.note(&scaled, kind, multiprocessors)?;
                }
            }
        }
        Ok(())
    }
}

/// The problem with rows of C that are contiguous, and with others whose pitches tensor copies do not take.
fn padded(problem: &Problem) -> Result<[Problem; 3], Failure> {
    let pad = |pad| problem.with_pitches(None, None, Some(problem.c().ld() + pad));
    Ok([pad(0)?, pad(1)?, pad(2)?])
}

/// Multiprocessors that have a tile each, and shared memory for a large one.
fn large(problem: &Problem) -> Result<Hardware, Failure> {
    Ok(Hardware { shared: 227 << 10, ..Hardware::from(u32::try_from(problem.batches())?) })
}

/// Whether the time that it is expected to take decides on a configuration: of warpgroups, for single products and batches.
fn is_by_cost(config: &GemmConfig) -> bool {
    let parts = config.mainloop.warp_specialized();
    config.batch.grouped().is_none() && parts.is_some_and(|parts| parts.mixed_input.is_none())
}

/// What problems of every dtype, layout and alignment choose, and of warpgroups some of random extents.
fn chosen() -> Result<BTreeSet<String>, Failure> {
    let (mut chosen, mut rng) = (Chosen::default(), StdRng::seed_from_u64(0));
    for layout in Layout::ALL {
        for dtype in INPUTS {
            let kind = KernelKind::for_dtype(dtype);
            for [a, b, c] in (0..125).map(|i| [i / 25, i / 5 % 5, i % 5].map(|bits: i64| 64 + (1 << bits))) {
                let problem = Problem::new(dtype, [8, 8, 8], layout)?;
                let problem = problem.with_pitches(Some(a), Some(b), Some(c))?;
                chosen.visit(&problem, kind, 132)?;
                if dtype == DType::F64 {
                    chosen.visit(&problem, KernelKind::Sm90, 132)?;
                }
                // Of 16 bits, tiles are smaller where there are few rows, few columns, or a short K.
                for mnk in [[512, 8, 8], [8, 512, 8], [512; 3]] {
                    let problem = Problem::new(dtype, mnk, layout)?;
                    let [a, b, c] = [a, b, c].map(|pitch| Some(mnk[0].max(mnk[1]) - 64 + pitch));
                    if dtype.bits() == 16 {
                        chosen.visit(&problem.with_pitches(a, b, c)?, kind, 132)?;
                    }
                }
            }
            if matches!(dtype, DType::F32 | DType::F64) || (dtype.bits() != 16 && layout != Layout::Tn) {
                continue;
            }
            for order in [Order::Row, Order::Column] {
                for multiprocessors in [4, 132] {
                    let mnk = any_extents(&mut rng).map(|extent| extent.min(131_000));
                    for problem in padded(&Problem::new(dtype, mnk, layout)?.with_order(order))? {
                        chosen.visit(&problem, KernelKind::Sm90, multiprocessors)?;
                    }
                }
            }
        }
    }
    for problem in grouped()? {
        for multiprocessors in [4, 132] {
            chosen.note(&problem, KernelKind::Sm90, multiprocessors)?;
        }
    }
    for problem in mixed()? {
        for multiprocessors in [1, 4, 132] {
            for problem in [problem, problem.with_invariant(true)] {
                chosen.note(&problem, KernelKind::Sm90, multiprocessors)?;
            }
        }
    }
    Ok(chosen.0)
}

/// Problems choose no configuration but those of the list, and all that are not chosen by their cost.
#[test]
fn what_can_be_chosen_is_the_list() -> Result<(), Failure> {
    let found = chosen()?;
    assert_eq!(found.iter().find(|text| !LISTED.contains_key(*text)), None, "chosen, and not in the list");
    let mut others = LISTED.iter().filter(|(_, by_cost)| !**by_cost).map(|(text, _)| text);
    assert_eq!(others.find(|text| !found.contains(*text)), None, "in the list, and never chosen");
    Ok(())
}

/// Every configuration of one type, layout and store is expected to be within 2 % of the fastest for some product.
#[test]
fn every_plan_is_among_the_fastest() -> Result<(), Failure> {
    let mut rng = StdRng::seed_from_u64(0);
    let (mut left, mut count) = (BTreeSet::new(), 0);
    for round in 0..6000 {
        let mnk = any_extents(&mut rng).map(|extent| (extent + 7) / 8 * 8);
        let multiprocessors = [132, 132, 114, 24][round % 4];
        let least = choose::least(&Problem::new(DType::Bf16, mnk, Layout::Tn)?, multiprocessors, usize::MAX);
        if round == 0 {
            left = least.iter().map(|(config, _)| described(config)).collect();
            count = left.len();
        }
        let most = 1.02 * least[0].1.total();
        for (config, _) in least.iter().take_while(|(_, cost)| cost.total() <= most) {
            left.remove(&described(config));
        }
        if left.is_empty() {
            break;
        }
    }
    assert!(count > 100 && left.is_empty(), "of {count} never: {left:#?}");
    Ok(())
}

/// Whatever the problem, the device and the kernel are, the configuration is one of the list.
#[test]
fn random_problems_choose_from_the_list() -> Result<(), Failure> {
    let (mut rng, mut chosen) = (StdRng::seed_from_u64(0), 0);
    for _ in 0..20_000 {
        let mut extent = || match rng.random_range(0..3) {
            0 => rng.random_range(0..70),
            1 => 8 * rng.random_range(0..4000),
            _ => rng.random_range(0..=1 << 30),
        };
        let mut mnk = [extent(), extent(), extent()];
        let layout = Layout::ALL[rng.random_range(0..4)];
        let order = if rng.random() { Order::Row } else { Order::Column };
        let input = INPUTS[rng.random_range(0..INPUTS.len())];
        if input == DType::S8 {
            // Longer sums may exceed s32.
            mnk[2] = mnk[2].min(131_071);
        }
        let problem = Problem::new(input, mnk, layout)?.with_order(order);
        let outputs = problem.outputs();
        let problem = problem.with_output(outputs[rng.random_range(0..outputs.len())])?;
        let mut pitch = |ld: i64| Some(ld + [0, 1, 2, 4, 8, 24][rng.random_range(0..6)]);
        let pitches = [problem.a(), problem.b(), problem.c()].map(|matrix| pitch(matrix.ld()));
        // A row of the greatest extent has no longer pitch.
        let problem = problem.with_pitches(pitches[0], pitches[1], pitches[2]).unwrap_or(problem);
        let problem = if rng.random() {
            problem
        } else {
            problem.grouped(rng.random_range(0..=1024), None).unwrap_or(problem)
        };
        let multiprocessors = [0, 1, 2, 132, 10_000, u32::MAX][rng.random_range(0..6)];
        let hardware =
            Hardware { shared: rng.random_range(0..=227 << 10), ..Hardware::from(multiprocessors) };
        let Ok(config) = choose(&problem, KINDS[rng.random_range(0..3)], hardware) else { continue };
        assert!(LISTED.contains_key(&text(&config)), "{problem:?} on {hardware:?}: {config:?}");
        chosen += 1;
    }
    assert!(chosen > 5000, "{chosen}");
    Ok(())
}

#[test]
fn every_choice_can_be_built() -> Result<(), Failure> {
    for (i, config) in choose::all().enumerate() {
        config.check()?;
        // `cargo xtask ratchet` builds more of them: as many as have every two facts together.
        if i % 197 == 0 {
            generate(&config, &Epilogue::new()).map_err(|e| format!("{config:?}: {e}"))?;
        }
    }
    Ok(())
}
