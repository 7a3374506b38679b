//! Teams of warpgroups that take a block's tiles by turns, on the simulator with every check on.

use expect_test::{expect, expect_file};
use girih_codegen::atom::Major;
use girih_codegen::gemm::{
    BlockScales, Epilogue, GemmConfig, Input, MixedInput, Schedule, Store, WarpSpecialized, generate,
};
use girih_codegen::{Builder, Cond, Expr, PipelineState, Stage, Width};
use girih_layout::{Lay, lay};
use girih_ptx::Special;
use girih_sim::Memory;
use girih_tensor::{DType, Space};

use crate::simulator::{addresses, block, checked, download};
use crate::warp_specialized::{config, needs_every_part, run, turns, with};

const BF16: &str = "SM90_64x64x16_F32BF16BF16_SS";

/// Two teams of a warpgroup, each of which stores all its rows at once.
pub(crate) fn two_teams(atom: &str, tile: [i64; 3], c_type: DType) -> GemmConfig {
    let config = with(config(atom, tile, lay!("(1,1):(0,0)"), c_type), |w| WarpSpecialized { teams: 2, ..w });
    turns(config, [tile[0], tile[1]], 1)
}

fn verify(config: &GemmConfig, epilogue: &Epilogue, problems: &[[i64; 3]], grid: i64) {
    let kernel = generate(config, epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    for (seed, &mnk) in (0..).zip(problems) {
        let result = run(config, &kernel, kernel.kernel.module(), mnk, grid, seed);
        result.unwrap_or_else(|e| panic!("{mnk:?}, {grid} blocks, seed {seed}, {config:?}: {e}"));
    }
}

/// Blocks have no tile, one, or some more, as many as there are teams, or not; tiles have fewer tiles along K than there are stages, as many,
/// one more, or several times as many.
#[test]
fn any_number_of_tiles_is_shared_out() {
    let two = two_teams(BF16, [64, 64, 64], DType::Bf16);
    let teams = |teams, registers, atoms| with(two, |w| WarpSpecialized { teams, registers, atoms, ..w });
    let one = lay!("(1,1):(0,0)");
    let pairs = teams(2, [24, 112], lay!("(2,1):(1,0)"));
    for config in [
        two,
        with(two, |w| WarpSpecialized { stages: 2, ..w }),
        with(two, |w| WarpSpecialized { stages: 4, ..w }),
        teams(3, [32, 160], one),
        teams(4, [24, 112], one),
        turns(GemmConfig { tile: [128, 64, 64], ..pairs }, [128, 64], 1),
    ] {
        let [rows, columns, depth] = config.tile;
        let stages = config.mainloop.warp_specialized().unwrap().stages;
        for (seed, tiles) in [1, 2, 3, 4, 5, 7].into_iter().enumerate() {
            let along_k = [1, stages, stages + 1, 2 * stages - 1, 7][seed % 5];
            let mnk = [rows * tiles - 3, columns, depth * along_k];
            for grid in [1, 2, 3] {
                verify(&config, &Epilogue::new(), &[mnk], grid);
            }
        }
    }
}

#[test]
fn types_majors_and_ragged_problems_are_exact() {
    let problems = [[200, 136, 150], [1, 16, 1], [129, 80, 260]];
    for (atom, k, c_type) in [
        (BF16, 64, DType::Bf16),
        ("SM90_64x64x16_F32F16F16_SS<MN,MN>", 64, DType::F16),
        ("SM90_64x64x16_F32BF16BF16_SS<K,MN>", 128, DType::F32),
        ("SM90_64x64x8_F32TF32TF32_SS_TN", 32, DType::F32),
        ("SM90_64x64x32_F32E4M3E4M3_SS_TN", 128, DType::Bf16),
        ("SM90_64x64x32_F32E5M2E4M3_SS_TN", 128, DType::F16),
        ("SM90_64x64x32_S32S8S8_SS_TN", 128, DType::S32),
    ] {
        verify(&two_teams(atom, [64, 64, k], c_type), &Epilogue::new(), &problems, 3);
        let high = GemmConfig { c_major: Major::Mn, ..two_teams(atom, [128, 64, k], c_type) };
        verify(&high, &Epilogue::new(), &[[208, 130, 150]], 3);
    }
}

/// Sums of f16, and sums that are promoted, scaled or of a converted A.
#[test]
fn every_kind_of_sums_is_exact() {
    let halves = two_teams("SM90_64x64x16_F16F16F16_SS", [64, 64, 64], DType::F16);
    verify(&halves, &Epilogue::new(), &[[200, 136, 70]], 2);
    let bytes = two_teams("SM90_64x64x32_F32E4M3E4M3_SS_TN", [64, 64, 128], DType::F32);
    let promoted = with(bytes, |w| WarpSpecialized { mma_promotion_interval: 4, ..w });
    let block_scales = Some(BlockScales { granularity: [1, 128, 128] });
    let mixed_input = Some(MixedInput { dtype: DType::S8, scale: DType::Bf16, group: 128 });
    let converted = two_teams("SM90_64x32x16_F32BF16BF16_RS", [64, 32, 128], DType::F32);
    for config in [
        promoted,
        with(promoted, |w| WarpSpecialized { block_scales, ..w }),
        with(converted, |w| WarpSpecialized { mixed_input, ..w }),
    ] {
        verify(&config, &Epilogue::new(), &[[200, 136, 400], [4, 36, 130]], 2);
    }
}

#[test]
fn stores_and_epilogues_combine() {
    let base = two_teams(BF16, [64, 64, 64], DType::Bf16);
    let wide = two_teams("SM90_64x128x16_F32BF16BF16_SS", [128, 128, 64], DType::Bf16);
    let plus = |dtype| Epilogue::new().plus(Input::matrix("x", dtype));
    for (config, epilogue, mnk) in [
        (base, plus(DType::Bf16), [200, 136, 150]),
        (turns(base, [64, 32], 2), plus(DType::F32), [200, 136, 150]),
        (turns(wide, [64, 64], 2), Epilogue::new(), [300, 264, 70]),
        (turns(wide, [64, 128], 1), plus(DType::Bf16), [300, 264, 70]),
        (GemmConfig { store: Store::Direct { vector: 2 }, ..wide }, plus(DType::Bf16), [300, 264, 70]),
        (
            GemmConfig { store: Store::Coalesced { tile: [64, 64], vector: 1 }, ..base },
            plus(DType::Bf16),
            [131, 129, 150],
        ),
        (GemmConfig { programmatic: true, c_major: Major::Mn, ..base }, plus(DType::Bf16), [200, 136, 150]),
        (
            GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..base },
            Epilogue::new(),
            [200, 136, 150],
        ),
    ] {
        verify(&config, &epilogue, &[mnk, mnk], 2);
    }
}

/// The blocks of a cluster have tiles of the same turn, one team of each releases a stage.
#[test]
fn tiles_are_multicast_to_teams() {
    let base = two_teams(BF16, [64, 64, 64], DType::Bf16);
    let wide = two_teams("SM90_64x128x16_F32BF16BF16_SS<K,MN>", [128, 128, 64], DType::Bf16);
    for (config, multicast) in [(base, 2), (base, 4), (wide, 2)] {
        let config = with(config, |w| WarpSpecialized { multicast, ..w });
        for grid in [multicast, 2 * multicast] {
            verify(&config, &Epilogue::new(), &[[456, 136, 150], [72, 200, 450]], grid);
        }
    }
}

/// Stages that are passed over are those that are passed one by one.
#[test]
fn stages_are_passed_over() {
    const FIRST: i64 = 8;
    const OVER: i64 = 16;
    for stages in 1..=7 {
        let mut b = Builder::new("k", 80, (FIRST * OVER) as u32);
        let out = b.pointer("out", 8);
        let thread = b.special(Special::TidX);
        let (first, over) = (thread.div(OVER).unwrap(), thread.rem(OVER).unwrap());
        for (i, at_once) in [true, false].into_iter().enumerate() {
            for (j, state) in [PipelineState::new(&mut b, stages), PipelineState::behind(&mut b, stages)]
                .into_iter()
                .enumerate()
            {
                let by_one = |b: &mut Builder, count: &Expr| {
                    b.for_range(count, |b, _| {
                        state.advance(b);
                        Ok(())
                    })
                };
                by_one(&mut b, &first).unwrap();
                if at_once {
                    state.advance_by(&mut b, &over).unwrap();
                } else {
                    by_one(&mut b, &over).unwrap();
                }
                let Stage { index, phase } = state.stage(&mut b);
                let stage = [index, phase].map(|value| b.value(&value, Width::W32).unwrap());
                let place = &(&thread * 4) + (2 * i + j) as i64;
                b.store(Space::Gmem, &(&out + &(&place * 8)), &stage, &Cond::Always).unwrap();
            }
        }
        let module = b.finish().unwrap().into_module();
        let memory = Memory::new();
        let bytes = (FIRST * OVER * 4 * 8) as usize;
        let at = memory.alloc(bytes).unwrap();
        checked(&module, &memory, &block((FIRST * OVER) as u32, 0, addresses(&[at]))).unwrap();
        for (thread, found) in download(&memory, at, bytes).chunks_exact(32).enumerate() {
            assert_eq!(found[..16], found[16..], "thread {thread}, {stages} stages");
            let steps = thread as i64 / OVER + thread as i64 % OVER;
            let stage = [steps % stages, steps / stages % 2].map(|value| value as u8);
            assert_eq!([found[0], found[4]], stage, "thread {thread}, {stages} stages");
        }
    }
}

/// Without any one of its waits, arrivals, barriers and fences the kernel is reported: each block has three tiles, and tiles take more stages
/// than there are.
#[test]
fn every_part_of_turns_is_needed() {
    let config = two_teams(BF16, [64, 64, 64], DType::Bf16);
    needs_every_part(&config, [192, 128, 256], 25);
}

#[test]
fn module_is_this() {
    let config = two_teams("SM90_64x128x16_F32BF16BF16_SS", [128, 128, 64], DType::Bf16);
    let config = with(turns(config, [64, 128], 1), |w| WarpSpecialized { stages: 6, ..w });
    let module = generate(&config, &Epilogue::new()).unwrap().kernel.into_module();
    expect_file!["../testdata/golden/gemm_sm90_bf16_pingpong.ptx"].assert_eq(&module.to_string());
}

#[test]
fn misuse_is_told() {
    let good = two_teams(BF16, [64, 64, 64], DType::Bf16);
    let teams = |teams, atoms: Lay| with(good, |w| WarpSpecialized { teams, atoms, ..w });
    let (one, two) = (lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"));
    let of = |schedule| GemmConfig { schedule, ..good };
    let mut texts = String::new();
    for bad in
        [
            teams(0, one),
            teams(5, one),
            teams(3, two),
            teams(i64::MAX, two),
            teams(3, one),
            with(two_teams("SM90_64x208x16_F32BF16BF16_SS", [64, 208, 64], DType::Bf16), |w| {
                WarpSpecialized { teams: 3, registers: [32, 160], ..w }
            }),
            of(Schedule::Raster { group: 1 }),
            of(Schedule::SplitK { parts: 2, cluster: 1 }),
            of(Schedule::StreamK { alternate: true }),
            // C of both teams, beside as many stages as fit with C of one.
            GemmConfig { c_type: DType::F32, ..with(good, |w| WarpSpecialized { stages: 13, ..w }) },
        ]
    {
        texts += &format!("{}\n", generate(&bad, &Epilogue::new()).expect_err(&format!("{bad:?}")));
    }
    expect![[r#"
        teams = 0 with 1 warpgroups each, of which at most 4 multiply: 1 to 4 are accepted
        teams = 5 with 1 warpgroups each, of which at most 4 multiply: 1 to 4 are accepted
        teams = 3 with 2 warpgroups each, of which at most 4 multiply: 1 to 2 are accepted
        teams = 9223372036854775807 with 2 warpgroups each, of which at most 4 multiply: 1 to 2 are accepted
        registers = 40 for the producer and 232 for each of 3 consumers: at most 512 are accepted for a thread of each warpgroup together
        atom = SM90::GMMA::MMA_64x208x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K> with 3 warpgroups: at most 200 columns are accepted
        teams = 2 with the schedule Raster { group: 1 }, which has one tile for a block: 1 to 1 are accepted
        teams = 2 with the schedule SplitK { parts: 2, cluster: 1 }, which has one tile for a block: 1 to 1 are accepted
        teams = 2 with the schedule StreamK { alternate: true }, which has one tile for a block: 1 to 1 are accepted
        245984 bytes of shared memory for stages, barriers and C: at most 232448 are accepted
    "#]]
    .assert_eq(&texts);
}
