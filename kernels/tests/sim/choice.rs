//! Which configurations are chosen.

use std::collections::BTreeSet;

use girih_codegen::gemm::{Epilogue, GemmConfig, Major, generate};
use girih_kernels::gemm::choose::Hardware;
use girih_kernels::gemm::{
    INPUTS, KernelKind, Layout, MixedInput, Order, Problem, Records, choose, record_mnk,
};
use girih_tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::common::Failure;

/// The tiles that a measurement on 132 multiprocessors found fastest.
#[test]
fn tiles_are_those_that_were_fastest() -> Result<(), Failure> {
    for (mnk, wanted) in [
        ([512, 512, 512], [64, 64]),
        ([1024, 1024, 64], [128, 64]),
        ([2048, 2048, 1024], [128, 256]),
        ([4096, 4096, 1024], [128, 256]),
        ([8192, 8192, 1024], [128, 256]),
        ([4096, 28672, 1024], [128, 256]),
        ([4096, 4096, 14336], [128, 256]),
        ([16384, 16384, 1024], [256, 192]),
        ([8192, 8192, 512], [128, 128]),
        // Few rows of C are few columns of the kernel's C.
        ([16, 4096, 4096], [64, 16]),
        ([16, 14336, 4096], [128, 16]),
        ([32, 14336, 4096], [128, 32]),
        ([8448, 8448, 1024], [256, 192]),
        ([4096, 4100, 1024], [256, 176]),
        ([1536, 1536, 1536], [192, 96]),
        ([256, 14336, 1024], [256, 112]),
        ([14336, 104, 4096], [128, 128]),
        ([248, 20000, 512], [256, 176]),
        ([128, 128, 65536], [128, 64]),
    ] {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        let found = choose(&problem, KernelKind::Sm90, 132)?;
        assert_eq!(found.tile[..2], wanted, "{mnk:?}");
        let is_few = mnk[0] <= 128 && mnk[1] > 256;
        assert_eq!(found.c_major, if is_few { Major::Mn } else { Major::K }, "{mnk:?}");
    }
    // A batch has work for all multiprocessors where one of its products has not.
    let batch = Problem::new(DType::Bf16, [512; 3], Layout::Tn)?.batched(64, [None; 3])?;
    assert_eq!(choose(&batch, KernelKind::Sm90, 132)?.tile[..2], [128, 128]);
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
    assert_eq!((tile(DType::F16, 114)?[0], tile(DType::E4m3, 132)?[0]), (128, 128));
    Ok(())
}

/// A larger device needs smaller tiles for all of its multiprocessors to have work.
#[test]
fn more_multiprocessors_take_no_larger_tiles() -> Result<(), Failure> {
    let tile = |mnk, multiprocessors| -> Result<[i64; 3], Failure> {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        Ok(choose(&problem, KernelKind::Sm90, multiprocessors)?.tile)
    };
    assert_eq!(tile([1024; 3], 1)?, [128, 256, 64]);
    for n in [128, 1000, 4096] {
        assert_eq!(tile([1024, n, 64], 10_000)?, [128, 64, 64], "{n}");
    }
    Ok(())
}

/// A configuration as text: configurations can be compared and not ordered.
fn text(config: &GemmConfig) -> String {
    format!("{config:?}")
}

fn all() -> BTreeSet<String> {
    choose::all().map(|config| text(&config)).collect()
}

const KINDS: [KernelKind; 3] = [KernelKind::Simt, KernelKind::Sm80, KernelKind::Sm90];

/// Tiles of persistent blocks.
const TILES: [[i64; 2]; 8] =
    [[128, 64], [192, 96], [128, 128], [128, 192], [256, 112], [256, 176], [256, 192], [128, 256]];

/// Extents for each rule of warpgroups, and those of the records that girih comes with.
fn shapes() -> Vec<[i64; 3]> {
    // 132 tiles, one for each multiprocessor, and as many of a batch of two.
    let tiles = TILES.into_iter().flat_map(|[m, n]| [12 * m, 6 * m].map(|m| [m, 11 * n, 16]));
    let few = [16, 32, 64, 72, 128, 256].into_iter().flat_map(|few| {
        [960, 1024, 2048, 4096, 8192, 20000]
            .into_iter()
            .flat_map(move |many| [64, 1024, 4096].map(|k| [few, many, k]))
    });
    // As many tiles as teams take by turns, of a short K.
    let short = [[2560, 5120, 64], [2560, 5120, 1024]];
    let recorded = Records::shipped().into_iter().flat_map(Records::iter).filter_map(record_mnk);
    let all = tiles.into_iter().chain(few).chain(short).chain(recorded);
    all.flat_map(|[m, n, k]| [[m, n, k], [n, m, k]]).collect()
}

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

    /// Of problems that differ in extents and devices alone, those that choose what none before them does, for an output, a pitch, a batch or
    /// an epilogue.
    fn telling(problems: impl Iterator<Item = (Problem, u32)>) -> Result<Vec<(Problem, u32)>, Failure> {
        let (mut chosen, mut telling, relu) = (Chosen::default(), Vec::new(), Epilogue::new().relu());
        for (problem, multiprocessors) in problems {
            let mut asked = vec![];
            for padded in padded(&problem)? {
                asked.push(padded.with_epilogue(&relu));
                for &output in problem.outputs() {
                    asked.push(padded.with_output(output)?);
                }
            }
            for &output in problem.outputs() {
                let single = problem.with_output(output)?;
                asked.push(single.batched(2, [Some(0), Some(0), None])?);
                asked.push(single.with_fast_accumulation(true));
                asked.extend(single.with_block_scales());
            }
            let mut is_new = chosen.note(&problem, KernelKind::Sm90, large(&problem)?)?;
            for problem in asked {
                is_new |= chosen.note(&problem, KernelKind::Sm90, multiprocessors)?;
            }
            if is_new {
                telling.push((problem, multiprocessors));
            }
        }
        Ok(telling)
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

/// What problems of every dtype, layout and alignment choose. Problems of warpgroups have many extents: all of these are visited, or those
/// that tell something.
fn chosen(every_extent: bool) -> Result<BTreeSet<String>, Failure> {
    let mut chosen = Chosen::default();
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
            }
            if matches!(dtype, DType::F32 | DType::F64) || (dtype.bits() != 16 && layout != Layout::Tn) {
                continue;
            }
            for order in [Order::Row, Order::Column] {
                let problem = |mnk| Ok::<_, Failure>(Problem::new(dtype, mnk, layout)?.with_order(order));
                let problems = shapes().into_iter().map(problem).collect::<Result<Vec<_>, _>>()?;
                let problems =
                    problems.into_iter().flat_map(|problem| [4, 132].map(|count| (problem, count)));
                let problems = if every_extent { problems.collect() } else { Chosen::telling(problems)? };
                for (problem, multiprocessors) in problems {
                    for problem in padded(&problem)? {
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

/// Problems choose every configuration of the list, and no other one.
fn compare(chosen: &BTreeSet<String>, listed: &BTreeSet<String>) {
    assert_eq!(listed.len(), choose::all().count(), "configurations are listed twice");
    assert_eq!(chosen.difference(listed).next(), None, "chosen, and not in the list");
    assert_eq!(listed.difference(chosen).next(), None, "in the list, and never chosen");
}

#[test]
fn what_can_be_chosen_is_the_list() -> Result<(), Failure> {
    let (listed, mut found) = (all(), chosen(false)?);
    // What extents that tell nothing by themselves choose with another output, the others do not know.
    if !listed.is_subset(&found) {
        found = chosen(true)?;
    }
    compare(&found, &listed);
    Ok(())
}

#[test]
#[ignore = "half a minute, by the soak"]
fn what_any_extent_chooses_is_the_list() -> Result<(), Failure> {
    compare(&chosen(true)?, &all());
    Ok(())
}

/// Whatever the problem, the device and the kernel are, the configuration is one of the list.
#[test]
fn random_problems_choose_from_the_list() -> Result<(), Failure> {
    let (listed, mut rng, mut chosen) = (all(), StdRng::seed_from_u64(0), 0);
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
        assert!(listed.contains(&text(&config)), "{problem:?} on {hardware:?}: {config:?}");
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
        if i % 97 == 0 {
            generate(&config, &Epilogue::new()).map_err(|e| format!("{config:?}: {e}"))?;
        }
    }
    Ok(())
}
