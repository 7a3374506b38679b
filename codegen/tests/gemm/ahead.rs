//! Inputs of C's shape that are read ahead, on the simulator with every check on: each part of their way is needed.

use girih_codegen::atom::Major;
use girih_codegen::gemm::{
    Arguments, Batch, Epilogue, GemmConfig, Input, Schedule, Store, WarpSpecialized, generate,
};
use girih_layout::lay;
use girih_tensor::DType;

use crate::teams::two_teams;
use crate::warp_specialized::{config, needs_every_part_with, run, turns, with};

const BF16: &str = "SM90_64x64x16_F32BF16BF16_SS";

fn plus(dtype: DType) -> Epilogue {
    Epilogue::new().plus(Input::matrix("x", dtype))
}

fn base() -> GemmConfig {
    config(BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16)
}

/// The names of the inputs that tensor maps describe.
fn mapped(config: &GemmConfig, epilogue: &Epilogue) -> Vec<String> {
    let kernel = generate(config, epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let names = kernel.inputs.iter().map(|input| input.name.clone());
    names.filter(|name| kernel.params.is_mapped(name)).collect()
}

/// Whole tiles and parts of them, of one place or of several, both orders, other dtypes, single blocks, clusters and teams.
#[test]
fn what_is_read_ahead_is_added() {
    let base = base();
    let wide = config("SM90_64x192x16_F32BF16BF16_SS", [128, 192, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let f32s = GemmConfig { c_type: DType::F32, ..base };
    let columns = |config| GemmConfig { c_major: Major::Mn, ..config };
    let multicast = |config, multicast| with(config, |w| WarpSpecialized { multicast, ..w });
    let three = config(BF16, [192, 64, 64], lay!("(3,1):(1,0)"), DType::Bf16);
    let three = with(three, |w| WarpSpecialized { registers: [32, 160], ..w });
    let teams = two_teams(BF16, [64, 64, 64], DType::Bf16);
    for (config, mnk) in [
        (base, [200, 136, 150]),
        (turns(GemmConfig { tile: [256, 64, 64], ..base }, [128, 64], 1), [300, 136, 200]),
        (turns(GemmConfig { tile: [256, 64, 64], ..base }, [256, 32], 2), [300, 136, 200]),
        (turns(wide, [128, 48], 2), [300, 200, 70]),
        (turns(wide, [128, 48], 4), [300, 200, 70]),
        (columns(base), [200, 136, 150]),
        (columns(turns(wide, [128, 96], 1)), [304, 201, 70]),
        (f32s, [200, 132, 70]),
        (columns(turns(f32s, [128, 16], 2)), [204, 131, 70]),
        (turns(three, [192, 64], 1), [400, 136, 70]),
        (GemmConfig { schedule: Schedule::Raster { group: 2 }, programmatic: true, ..base }, [300, 136, 150]),
        (multicast(base, 2), [456, 136, 150]),
        (teams, [200, 136, 150]),
        (turns(teams, [64, 16], 2), [330, 136, 150]),
        (with(teams, |w| WarpSpecialized { teams: 3, registers: [32, 160], ..w }), [500, 136, 70]),
        (multicast(teams, 2), [456, 136, 150]),
    ] {
        let epilogue = plus(config.c_type);
        assert_eq!(mapped(&config, &epilogue), ["x"], "{config:?}");
        let kernel = generate(&config, &epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        let blocks = kernel.blocks([mnk[0], mnk[1], 1], 2).unwrap_or_else(|e| panic!("{e}"));
        for seed in 0..2 {
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// Of several inputs the first one that can be is read ahead, beside those that are not.
#[test]
fn one_input_is_read_ahead() {
    let base = base();
    let epilogue =
        plus(DType::F32).plus(Input::matrix("y", DType::Bf16)).plus(Input::matrix("z", DType::Bf16));
    assert_eq!(mapped(&base, &epilogue), ["y"]);
    let kernel = generate(&base, &epilogue).unwrap_or_else(|e| panic!("{e}"));
    run(&base, &kernel, kernel.kernel.module(), [200, 136, 150], 2, 1).unwrap_or_else(|e| panic!("{e}"));
}

/// Blocks that store parts of what they multiply, inputs that tensor maps do not describe, and others than C's dtype.
#[test]
fn what_cannot_be_is_not_read_ahead() {
    let base = base();
    let unaligned = Epilogue::new().plus(Input::matrix("x", DType::Bf16).unaligned());
    let four = with(two_teams(BF16, [64, 64, 64], DType::Bf16), |w| WarpSpecialized {
        teams: 4,
        registers: [24, 112],
        ..w
    });
    for (config, epilogue) in [
        (base, Epilogue::new()),
        (base, unaligned),
        (base, plus(DType::F32)),
        (base, Epilogue::new().plus(Input::row("x", DType::Bf16))),
        (GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..base }, plus(DType::Bf16)),
        (GemmConfig { schedule: Schedule::StreamK { alternate: false }, ..base }, plus(DType::Bf16)),
        (GemmConfig { store: Store::Direct { vector: 2 }, ..base }, plus(DType::Bf16)),
        (GemmConfig { store: Store::Coalesced { tile: [128, 64], vector: 8 }, ..base }, plus(DType::Bf16)),
        (GemmConfig { batch: Batch::Strided, ..base }, plus(DType::Bf16)),
        (four, plus(DType::Bf16)),
    ] {
        assert_eq!(mapped(&config, &epilogue), [""; 0], "{config:?} {epilogue:?}");
    }
}

/// A pitch that tensor maps do not take is refused.
#[test]
fn pitches_are_whole_vectors() {
    let kernel = generate(&base(), &plus(DType::Bf16)).unwrap_or_else(|e| panic!("{e}"));
    let with = |ahead| {
        let (mnk, pitches) = ([200, 136, 150], [152, 152, 136]);
        kernel.params.values(&Arguments { mnk, pitches, ahead, ..Arguments::default() })
    };
    assert!(with(144).is_ok());
    let error = with(140).expect_err("no multiple of 8").to_string();
    assert!(error.contains("pitch of an input = 140 of a tensor map: multiples of 8"), "{error}");
}

// Blocks have three tiles, and tiles take more stages than there are, so that all places are used again.

#[test]
fn every_part_of_what_is_read_ahead_is_needed() {
    needs_every_part_with(&base(), &plus(DType::Bf16), [384, 128, 256], 26);
    needs_every_part_with(&turns(base(), [128, 16], 2), &plus(DType::Bf16), [384, 128, 256], 47);
}
