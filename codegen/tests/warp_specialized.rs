//! The warp-specialised GEMM on the simulator with every check on, and the simulator's reports when one of its parts is missing.
#![expect(clippy::unwrap_used, reason = "tests")]

mod misuse;
mod parts;
mod problem;

use expect_test::{ExpectFile, expect, expect_file};
use girih_codegen::atom::Major;
use girih_codegen::gemm::{
    BlockScales, Epilogue, GemmConfig, Input, MixedInput, Schedule, Store, WarpSpecialized, generate,
};
use girih_layout::lay;
use girih_tensor::DType;

pub(crate) use parts::{needs_every_part, needs_every_part_with};
use problem::rows;
pub(crate) use problem::{config, run, turns, with};

pub(crate) const TN_BF16: &str = "SM90_64x64x16_F32BF16BF16_SS";

/// The cases are every type, both majors, tiles of several warpgroups and of several rows for each, and problems that end anywhere.
#[test]
fn products_are_exact() {
    let (one, two, three) = (lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"), lay!("(3,1):(1,0)"));
    let base = config(TN_BF16, [128, 64, 64], two, DType::Bf16);
    let wide = with(base, |w| WarpSpecialized { atoms: three, registers: [32, 160], ..w });
    let wide = rows(GemmConfig { tile: [192, 64, 64], ..wide }, 192);
    let short = with(base, |w| WarpSpecialized { stages: 2, ..w });
    let single = with(base, |w| WarpSpecialized { atoms: one, ..w });
    let mut cases = vec![
        (base, vec![[200, 136, 150], [1, 8, 1], [128, 64, 64], [129, 72, 65], [64, 200, 1000]]),
        (GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..short }, vec![[200, 136, 150]]),
        (GemmConfig { tile: [256, 64, 128], ..short }, vec![[300, 136, 200]]),
        (rows(GemmConfig { tile: [256, 64, 64], ..base }, 256), vec![[300, 136, 200]]),
        (GemmConfig { tile: [128, 192, 64], ..base }, vec![[130, 200, 70]]),
        (GemmConfig { c_type: DType::F32, ..base }, vec![[200, 132, 70]]),
        (GemmConfig { c_type: DType::F16, ..base }, vec![[200, 136, 70]]),
        (rows(GemmConfig { tile: [64, 64, 64], ..single }, 64), vec![[100, 80, 70]]),
        (wide, vec![[300, 80, 70]]),
        // Rows of C in shared memory as narrow as 32 bytes.
        (
            config("SM90_64x96x16_F32BF16BF16_SS<K,MN>", [128, 96, 64], two, DType::Bf16),
            vec![[200, 136, 150]],
        ),
        (config("SM90_64x144x16_F32BF16BF16_SS", [128, 144, 64], two, DType::Bf16), vec![[200, 168, 150]]),
        (GemmConfig { c_major: Major::Mn, ..base }, vec![[200, 136, 150], [8, 1, 70], [136, 3, 70]]),
        (GemmConfig { c_major: Major::Mn, c_type: DType::F32, ..base }, vec![[132, 70, 70]]),
        (GemmConfig { c_type: DType::E4m3, ..base }, vec![[200, 144, 70]]),
        (GemmConfig { c_type: DType::E5m2, tile: [128, 128, 64], ..base }, vec![[200, 144, 70]]),
        (GemmConfig { c_major: Major::Mn, c_type: DType::E4m3, ..base }, vec![[144, 70, 70]]),
        (
            GemmConfig { c_type: DType::E5m2, store: Store::Direct { vector: 16 }, ..base },
            vec![[200, 144, 70]],
        ),
        (
            GemmConfig { c_type: DType::E4m3, store: Store::Direct { vector: 1 }, ..base },
            vec![[201, 131, 70]],
        ),
        (rows(GemmConfig { c_major: Major::Mn, tile: [256, 64, 64], ..base }, 256), vec![[304, 130, 200]]),
        (GemmConfig { c_major: Major::Mn, store: Store::Direct { vector: 1 }, ..base }, vec![[201, 131, 70]]),
    ];
    // Turns along both modes, of fewer columns than an atom has, and of several atoms.
    let wide = config("SM90_64x128x16_F32BF16BF16_SS", [256, 128, 64], two, DType::F32);
    cases.extend([
        (turns(wide, [128, 32], 2), vec![[300, 196, 200]]),
        (turns(wide, [256, 64], 1), vec![[300, 196, 70]]),
        (turns(GemmConfig { c_type: DType::Bf16, ..wide }, [128, 32], 4), vec![[300, 200, 70]]),
        (turns(GemmConfig { c_major: Major::Mn, ..wide }, [128, 32], 2), vec![[300, 131, 70]]),
        (turns(GemmConfig { tile: [128, 256, 64], ..base }, [128, 128], 2), vec![[200, 264, 70]]),
    ]);
    // Sums that begin anew: in tiles of several atoms along M and N, and several times in a tile.
    let bytes = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], two, DType::F32);
    let promoted = |interval| with(bytes, |w| WarpSpecialized { mma_promotion_interval: interval, ..w });
    cases.extend([
        (promoted(4), vec![[200, 136, 300], [5, 4, 1], [128, 64, 128]]),
        (rows(GemmConfig { tile: [256, 128, 128], ..promoted(4) }, 128), vec![[300, 136, 300]]),
        (GemmConfig { tile: [128, 64, 256], ..promoted(4) }, vec![[130, 132, 600]]),
        (promoted(1), vec![[130, 72, 300]]),
    ]);
    for (name, k, c_type) in [
        ("SM90_64x64x16_F32F16F16_SS", 64, DType::F16),
        ("SM90_64x64x16_F32BF16BF16_SS<MN,K>", 64, DType::Bf16),
        ("SM90_64x64x16_F32BF16BF16_SS<K,MN>", 64, DType::Bf16),
        ("SM90_64x64x16_F32F16F16_SS<MN,MN>", 128, DType::F16),
        ("SM90_64x64x8_F32TF32TF32_SS_TN", 32, DType::F32),
        ("SM90_64x64x32_F32E4M3E4M3_SS_TN", 128, DType::Bf16),
        ("SM90_64x64x32_F32E5M2E4M3_SS_TN", 128, DType::F16),
        ("SM90_64x64x32_S32S8S8_SS_TN", 128, DType::S32),
        ("SM90_64x64x32_S32S8S8_SS_TN", 128, DType::F32),
    ] {
        cases.push((config(name, [128, 64, k], two, c_type), vec![[200, 136, 150], [70, 16, 3 * k]]));
    }
    for (config, problems) in &cases {
        let kernel = generate(config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, &mnk) in (0..).zip(problems) {
            let result = run(config, &kernel, kernel.kernel.module(), mnk, 3, seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// A of 8 bits is converted in registers and scaled: tiles of several atoms along M and N, several tiles to a group, every schedule and
/// store, clusters, and problems that end anywhere.
#[test]
fn mixed_inputs_are_exact() {
    let (one, two) = (lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"));
    let mixed = |config: GemmConfig, dtype, scale, group| {
        with(config, |w| WarpSpecialized { mixed_input: Some(MixedInput { dtype, scale, group }), ..w })
    };
    let base = config("SM90_64x32x16_F32BF16BF16_RS", [128, 32, 128], two, DType::Bf16);
    let base = GemmConfig { c_type: DType::F32, ..base };
    let s8 = mixed(base, DType::S8, DType::Bf16, 128);
    let single = with(s8, |w| WarpSpecialized { atoms: one, ..w });
    let columns = config("SM90_64x32x16_F32BF16BF16_RS<K,MN>", [128, 32, 128], two, DType::F32);
    for config in [
        s8,
        mixed(base, DType::E4m3, DType::F32, 128),
        mixed(base, DType::S8, DType::F32, 256),
        rows(GemmConfig { tile: [64, 32, 128], c_major: Major::Mn, ..single }, 64),
        rows(GemmConfig { tile: [128, 64, 128], ..single }, 64),
        GemmConfig { tile: [256, 64, 128], ..s8 },
        mixed(GemmConfig { tile: [128, 32, 256], ..base }, DType::S8, DType::Bf16, 256),
        mixed(columns, DType::S8, DType::Bf16, 128),
        with(s8, |w| WarpSpecialized { multicast: 2, ..w }),
        GemmConfig { schedule: Schedule::Raster { group: 2 }, store: Store::Direct { vector: 4 }, ..s8 },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..s8 },
        GemmConfig {
            schedule: Schedule::SplitK { parts: 2, cluster: 2 },
            store: Store::Direct { vector: 4 },
            ..s8
        },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, mnk) in (0..).zip([[200, 68, 400], [132, 4, 257], [1, 36, 130]]) {
            let mnk = if config.c_major == Major::Mn { [(mnk[0] + 3) / 4 * 4, mnk[1], mnk[2]] } else { mnk };
            let mnk =
                if config.mixed_input().unwrap().group == 256 { [mnk[0], mnk[1], 3 * mnk[2]] } else { mnk };
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 4).unwrap();
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// Sums of blocks are scaled where they are promoted: a scale for each row and for as many as a block has, of both operands, in tiles of
/// fewer rows than a block and of several blocks, several tiles to a group, every schedule and store, clusters, and problems that end anywhere.
#[test]
fn block_scales_are_exact() {
    let two = lay!("(2,1):(1,0)");
    let scaled = |config: GemmConfig, granularity| {
        let block_scales = Some(BlockScales { granularity });
        with(config, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w })
    };
    let base = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], two, DType::F32);
    let rows_by_blocks = scaled(base, [1, 128, 128]);
    let wide = config("SM90_64x128x32_F32E5M2E5M2_SS_TN", [128, 256, 128], two, DType::F32);
    let wide = turns(wide, [128, 64], 2);
    let one = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), ..w });
    for config in [
        rows_by_blocks,
        scaled(base, [128, 1, 128]),
        scaled(base, [1, 1, 128]),
        scaled(base, [128, 128, 256]),
        scaled(wide, [1, 128, 128]),
        scaled(GemmConfig { tile: [256, 64, 128], ..base }, [128, 1, 128]),
        scaled(rows(GemmConfig { tile: [64, 64, 128], c_major: Major::Mn, ..one }, 64), [128, 1, 128]),
        scaled(
            GemmConfig { tile: [128, 64, 256], ..with(base, |w| WarpSpecialized { stages: 2, ..w }) },
            [1, 128, 256],
        ),
        with(rows_by_blocks, |w| WarpSpecialized { mma_promotion_interval: 2, ..w }),
        with(rows_by_blocks, |w| WarpSpecialized { multicast: 2, ..w }),
        GemmConfig {
            schedule: Schedule::Raster { group: 2 },
            store: Store::Direct { vector: 4 },
            ..rows_by_blocks
        },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..rows_by_blocks },
        GemmConfig {
            schedule: Schedule::SplitK { parts: 2, cluster: 2 },
            store: Store::Direct { vector: 4 },
            ..rows_by_blocks
        },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, mnk) in (0..).zip([[200, 136, 400], [260, 300, 257], [4, 36, 130]]) {
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 4).unwrap();
            let mnk = if config.tile[2] == 256 { [mnk[0], mnk[1], 3 * mnk[2]] } else { mnk };
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// Blocks of a cluster bring tiles of B together, also where some of the blocks have no rows of C.
#[test]
fn tiles_are_multicast() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let by = |config, multicast| with(config, |w| WarpSpecialized { multicast, ..w });
    let columns =
        config("SM90_64x128x16_F32BF16BF16_SS<K,MN>", [128, 128, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let deep = with(base, |w| WarpSpecialized { stages: 2, ..w });
    for config in [
        by(base, 2),
        by(GemmConfig { schedule: Schedule::Raster { group: 2 }, ..base }, 4),
        by(GemmConfig { c_major: Major::Mn, programmatic: true, ..base }, 8),
        by(columns, 2),
        by(GemmConfig { tile: [128, 64, 128], ..deep }, 2),
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap();
        let size = config.mainloop.warp_specialized().unwrap().multicast;
        for mnk in [[456, 136, 150], [72, 200, 450]] {
            // Clusters on six multiprocessors, or as many as there are tiles.
            let blocks = i64::from(kernel.blocks([mnk[0], mnk[1], 1], 6.max(size as u32)).unwrap());
            assert_eq!(blocks % size, 0);
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks, 1);
            result.unwrap_or_else(|e| panic!("{mnk:?}, {config:?}: {e}"));
        }
    }
}

/// With any number of blocks in the grid, every tile is computed once.
#[test]
fn any_number_of_blocks_covers_the_tiles() {
    let config = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let kernel = generate(&config, &Epilogue::new()).unwrap();
    for blocks in [1, 2, 5, 9, 10, 12] {
        run(&config, &kernel, kernel.kernel.module(), [300, 192, 64], blocks, 0).unwrap();
    }
}

/// Every schedule and every store goes with the mainloop.
#[test]
fn schedules_and_stores_combine() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let (raster, direct) = (Schedule::Raster { group: 2 }, Store::Direct { vector: 8 });
    let eight = Schedule::SplitK { parts: 8, cluster: 4 };
    let narrow = Store::Direct { vector: 4 };
    let unaligned = GemmConfig { store: Store::Direct { vector: 1 }, c_type: DType::F32, ..base };
    let tall = GemmConfig { tile: [256, 64, 64], ..base };
    let integers = config("SM90_64x64x32_S32S8S8_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::S32);
    for config in [
        GemmConfig { store: direct, ..base },
        GemmConfig { schedule: raster, ..base },
        GemmConfig { schedule: raster, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: direct, ..tall },
        GemmConfig { schedule: eight, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 3, cluster: 1 }, store: direct, ..base },
        unaligned,
        GemmConfig { programmatic: true, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: narrow, ..integers },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..integers },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap();
        for mnk in [[300, 136, 150], [70, 200, 450]] {
            // K has to have a tile for each part.
            let mnk = [mnk[0], mnk[1], if config.schedule == eight { 64 * 7 + mnk[2] } else { mnk[2] }];
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 3).unwrap();
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), 1);
            result.unwrap_or_else(|e| panic!("{mnk:?}, {config:?}: {e}"));
        }
    }
}

/// Blocks share out tiles along K, whole ones and parts, in windows and in a row.
#[test]
fn blocks_go_through_pieces_of_tiles() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let base = GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..base };
    let single = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), stages: 2, ..w });
    let coalesced = Store::Coalesced { tile: [128, 64], vector: 2 };
    let integers = config("SM90_64x64x32_S32S8S8_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::S32);
    let plus = || Epilogue::new().plus(Input::matrix("x", DType::Bf16));
    for (config, epilogue) in [
        (base, Epilogue::new()),
        (rows(GemmConfig { tile: [256, 64, 64], ..base }, 128), plus()),
        (rows(GemmConfig { tile: [64, 64, 64], ..single }, 64), Epilogue::new()),
        (GemmConfig { store: coalesced, c_major: Major::Mn, programmatic: true, ..base }, plus()),
        (
            GemmConfig { schedule: base.schedule, store: Store::Direct { vector: 4 }, ..integers },
            Epilogue::new(),
        ),
    ] {
        let kernel = generate(&config, &epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (mnk, blocks) in
            [([200, 136, 500], 7), ([300, 136, 320], 4), ([64, 64, 700], 3), ([70, 64, 64], 2)]
        {
            for seed in 0..2 {
                let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks, seed);
                result.unwrap_or_else(|e| panic!("{mnk:?}, {blocks} blocks, seed {seed}, {config:?}: {e}"));
            }
        }
    }
}

/// A C that tensor maps do not describe goes through shared memory too.
#[test]
fn any_c_goes_through_shared_memory() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let single = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), ..w });
    let wide = config("SM90_64x192x16_F32BF16BF16_SS", [128, 192, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let coalesced = |config: GemmConfig, rows, vector| {
        let store = Store::Coalesced { tile: [rows, config.tile[1]], vector };
        GemmConfig { store, ..config }
    };
    let parts = |config, tile| GemmConfig { store: Store::Coalesced { tile, vector: 1 }, ..config };
    let transposed = |config| GemmConfig { c_major: Major::Mn, ..config };
    let split = |config| GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..config };
    let f32s = GemmConfig { c_type: DType::F32, ..base };
    let plus = || Epilogue::new().plus(Input::matrix("x", DType::Bf16));
    for (config, mnk, epilogue) in [
        (coalesced(base, 128, 1), [131, 129, 150], Epilogue::new()),
        (coalesced(base, 128, 1), [131, 129, 150], plus()),
        (coalesced(base, 128, 2), [131, 130, 150], plus()),
        (coalesced(GemmConfig { tile: [256, 64, 64], ..base }, 128, 1), [257, 65, 70], Epilogue::new()),
        (coalesced(GemmConfig { tile: [64, 64, 64], ..single }, 64, 4), [100, 68, 70], Epilogue::new()),
        (coalesced(wide, 128, 1), [200, 193, 70], Epilogue::new()),
        (coalesced(f32s, 128, 1), [131, 67, 70], plus()),
        (transposed(coalesced(base, 128, 1)), [131, 67, 70], Epilogue::new()),
        (transposed(coalesced(base, 128, 2)), [134, 67, 70], plus()),
        (transposed(coalesced(f32s, 128, 1)), [131, 67, 70], Epilogue::new()),
        (parts(wide, [128, 96]), [200, 193, 70], Epilogue::new()),
        (parts(wide, [128, 32]), [200, 193, 70], plus()),
        (split(coalesced(base, 128, 1)), [131, 129, 150], plus()),
    ] {
        let kernel = generate(&config, &epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        let blocks = kernel.blocks([mnk[0], mnk[1], 1], 3).unwrap();
        let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), 1);
        result.unwrap_or_else(|e| panic!("{mnk:?}, {epilogue:?}, {config:?}: {e}"));
    }
}

/// Where an epilogue reads matrices, wide tiles are stored piece by piece, in the smaller pieces the more matrices it reads.
#[test]
fn pieces_of_epilogues_cover_the_tile() {
    let base = config("SM90_64x192x16_F32BF16BF16_SS", [128, 192, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let tall = rows(
        GemmConfig { tile: [256, 64, 64], ..config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::F32) },
        128,
    );
    let parts = turns(GemmConfig { c_type: DType::F32, ..base }, [128, 48], 2);
    for (inputs, config) in [0, 1, 2, 3, 4, 5, 6, 2, 6].into_iter().zip([
        base,
        base,
        GemmConfig { c_type: DType::F32, ..base },
        tall,
        base,
        base,
        base,
        parts,
        parts,
    ]) {
        let input =
            |i: i32| Input::matrix(format!("x{i}"), if i % 2 == 0 { DType::Bf16 } else { DType::F32 });
        let epilogue = (0..inputs).fold(Epilogue::new(), |epilogue, i| epilogue.plus(input(i)));
        let kernel = generate(&config, &epilogue).unwrap();
        let result = run(&config, &kernel, kernel.kernel.module(), [200, 264, 20], 2, 0);
        result.unwrap_or_else(|e| panic!("{epilogue:?}, {config:?}: {e}"));
    }
}

// Blocks have three tiles, and tiles take four stages' worth of K, so that all stages are used again.

/// The golden modules are as they are shipped; ptxas assembles them.
#[test]
fn modules_are_these() {
    let two = lay!("(2,1):(1,0)");
    let tn = config("SM90_64x256x16_F32BF16BF16_SS", [128, 256, 64], two, DType::Bf16);
    let nt = config("SM90_64x128x16_F32F16F16_SS<MN,MN>", [128, 128, 64], two, DType::F16);
    let high = config("SM90_64x192x16_F32BF16BF16_SS", [256, 192, 64], two, DType::Bf16);
    let check = |config: GemmConfig, golden: ExpectFile| {
        golden.assert_eq(&generate(&config, &Epilogue::new()).unwrap().kernel.module().to_string());
    };
    check(tn, expect_file!["../testdata/golden/gemm_sm90_bf16_tn.ptx"]);
    let nt = with(nt, |w| WarpSpecialized { stages: 5, ..w });
    check(nt, expect_file!["../testdata/golden/gemm_sm90_f16_nt.ptx"]);
    let high = with(high, |w| WarpSpecialized { registers: [24, 240], ..w });
    check(high, expect_file!["../testdata/golden/gemm_sm90_bf16_256x192.ptx"]);
    let integers = config("SM90_64x256x32_S32S8S8_SS_TN", [128, 256, 128], two, DType::S32);
    check(turns(integers, [128, 64], 2), expect_file!["../testdata/golden/gemm_sm90_s8_tn.ptx"]);
    let floats = config("SM90_64x128x32_F32E4M3E4M3_SS_TN", [128, 256, 128], two, DType::Bf16);
    let block_scales = Some(BlockScales { granularity: [1, 128, 128] });
    let floats = with(floats, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w });
    check(turns(floats, [128, 64], 2), expect_file!["../testdata/golden/gemm_sm90_e4m3_scaled.ptx"]);
}
