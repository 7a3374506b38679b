//! Attention by warps or threads that copy and compute alike, on the simulator with every check on, beside a reference in f64.

#![expect(clippy::unwrap_used, reason = "tests")]

mod case;

use expect_test::expect_file;
use girih_codegen::attention::{AttentionConfig, Features, Form, Multistage, generate};
use girih_sim::Options;
use girih_tensor::DType;

use case::{Case, Sequence};

use crate::mutants::without;

pub(crate) fn config(dtype: DType, head_dim: i64, tile: [i64; 2], features: Features) -> AttentionConfig {
    let vector = 128 / i64::from(dtype.bits());
    let form = Form::Multistage(Multistage { warps: 2, stages: 2, vector, min_blocks: 1 });
    AttentionConfig { name: "attention", form, dtype, head_dim, value_dim: None, tile, features }
}

pub(crate) fn with(
    config: AttentionConfig,
    change: impl FnOnce(Multistage) -> Multistage,
) -> AttentionConfig {
    let Form::Multistage(multistage) = config.form else { panic!("{config:?}") };
    AttentionConfig { form: Form::Multistage(change(multistage)), ..config }
}

fn verify(case: &Case) {
    let kernel = generate(&case.config).unwrap_or_else(|e| panic!("{:?}: {e}", case.config));
    let found = case.run(&kernel, kernel.kernel.module(), &Options::checked());
    let found = found.unwrap_or_else(|e| panic!("{case:?}: {e}"));
    case.judge(&found).unwrap_or_else(|e| panic!("{case:?}: {e}"));
}

fn alone(queries: usize, keys: usize, diagonal: i64) -> [Sequence; 1] {
    [Sequence { queries, keys, diagonal }]
}

const DTYPES: [DType; 3] = [DType::Bf16, DType::F16, DType::F32];
pub(crate) const LSE: Features = Features {
    left: false,
    right: false,
    packed: false,
    softcap: false,
    bias: None,
    lse: true,
    sinks: false,
};

#[test]
fn lengths_are_ragged() {
    for dtype in DTYPES {
        let config = config(dtype, 64, [32, 32], LSE);
        for [queries, keys] in [[1, 1], [33, 70], [64, 64], [5, 129], [40, 0]] {
            verify(&Case::new(config, &alone(queries, keys, 0)));
        }
    }
}

#[test]
fn masks_of_all_kinds() {
    for dtype in DTYPES {
        for [left, right] in [[false, true], [true, false], [true, true]] {
            let config = config(dtype, 32, [32, 16], Features { left, right, ..LSE });
            // From the top left, to the bottom right, and with queries before the first key and after the last one.
            for (queries, keys, diagonal) in
                [(70, 70, 0), (40, 75, 35), (70, 33, -37), (50, 20, 5), (40, 40, -60), (33, 40, 90)]
            {
                for [left, right] in [[0, 0], [20, 3], [7, 40]] {
                    verify(&Case { left, right, ..Case::new(config, &alone(queries, keys, diagonal)) });
                }
            }
        }
    }
}

/// What stands after the rows of a sequence is another's, and is neither read as values nor written.
#[test]
fn sequences_follow_each_other() {
    let sequence = |queries, keys, diagonal| Sequence { queries, keys, diagonal };
    let sequences = [sequence(40, 33, -7), sequence(1, 90, 89), sequence(17, 0, -17), sequence(65, 65, 0)];
    for dtype in DTYPES {
        for right in [false, true] {
            let config = config(dtype, 64, [32, 32], Features { packed: true, right, ..LSE });
            for blocks in [1, 3] {
                verify(&Case { blocks, heads: 2, by_heads: false, ..Case::new(config, &sequences) });
            }
        }
    }
}

#[test]
fn heads_share_keys() {
    for dtype in DTYPES {
        let config = config(dtype, 32, [32, 32], Features { right: true, ..LSE });
        for (heads, groups) in [(4, 2), (3, 1), (2, 2)] {
            for by_heads in [false, true] {
                let case = Case::new(config, &alone(35, 35, 0));
                verify(&Case { heads, groups, by_heads, batches: 2, ..case });
            }
        }
    }
}

/// Columns up to the head dim are zeros; rows, columns and strides are multiples of a copy's elements.
#[test]
fn columns_and_strides_are_odd() {
    for (dtype, vectors) in
        [(DType::Bf16, &[8, 4, 2, 1][..]), (DType::F16, &[4, 1]), (DType::F32, &[4, 2, 1])]
    {
        for &vector in vectors {
            for head_dim in [64, 96] {
                let config = with(config(dtype, head_dim, [32, 32], LSE), |m| Multistage { vector, ..m });
                for columns in [vector as usize, 40 + vector as usize, 56] {
                    verify(&Case { columns, padding: 1, ..Case::new(config, &alone(37, 41, 0)) });
                }
            }
        }
    }
}

#[test]
fn head_dims_warps_and_stages() {
    for dtype in DTYPES {
        for (head_dim, warps, stages) in [(32, 1, 4), (96, 2, 3), (128, 4, 2), (192, 2, 3), (256, 2, 4)] {
            let vector = 128 / i64::from(dtype.bits());
            let form = Form::Multistage(Multistage { warps, stages, vector, min_blocks: 0 });
            let tile = [16 * warps, 16];
            let config = AttentionConfig {
                name: "attention",
                form,
                dtype,
                head_dim,
                value_dim: None,
                tile,
                features: LSE,
            };
            verify(&Case::new(config, &alone(70, 90, 0)));
        }
    }
}

#[test]
fn scores_are_capped_and_added_to() {
    for dtype in DTYPES {
        for (softcap, bias) in
            [(true, None), (false, Some(DType::F32)), (true, Some(dtype)), (false, Some(dtype))]
        {
            for right in [false, true] {
                let config = config(dtype, 64, [32, 32], Features { softcap, bias, right, ..LSE });
                verify(&Case { heads: 2, batches: 2, ..Case::new(config, &alone(37, 70, 33)) });
            }
        }
    }
}

/// Scores of hundreds: references move, and powers do not overflow.
#[test]
fn rows_are_peaked() {
    for dtype in DTYPES {
        for peak in [0.0, 30.0, 1000.0] {
            let config = config(dtype, 64, [32, 16], Features { right: true, ..LSE });
            verify(&Case { peak, ..Case::new(config, &alone(40, 200, 160)) });
        }
    }
}

/// Random cases of everything at once: a few, or as many as `GIRIH_CASES` says.
#[test]
fn random_cases() {
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    for seed in 0..cases {
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15 ^ seed;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        let dtype = DTYPES[below(3)];
        let mut flag = || below(2) == 1;
        let (left, right, packed, softcap, lse, by_heads) = (flag(), flag(), flag(), flag(), flag(), flag());
        let bias = [None, Some(dtype), Some(DType::F32)][below(3)];
        let features = Features { left, right, packed, softcap, bias, lse, sinks: false };
        let warps = 1 << below(3);
        let vector = 1 << below(if dtype == DType::F32 { 3 } else { 4 });
        let form = Form::Multistage(Multistage { warps, stages: 2 + below(3) as i64, vector, min_blocks: 0 });
        let (head_dim, tile) = (32 * (1 + below(4) as i64), [16 * warps, 32 << below(2)]);
        let config =
            AttentionConfig { name: "attention", form, dtype, head_dim, value_dim: None, tile, features };
        let sequence = |below: &mut dyn FnMut(usize) -> usize| {
            let [queries, keys] = [1 + below(70), below(120)];
            let diagonal = [0, keys as i64 - queries as i64, below(200) as i64 - 100][below(3)];
            Sequence { queries, keys, diagonal }
        };
        let sequences: Vec<_> =
            (0..1 + if packed { below(3) } else { 0 }).map(|_| sequence(&mut below)).collect();
        let vector = vector as usize;
        let groups = 1 + below(2);
        verify(&Case {
            batches: 1 + below(2),
            heads: groups * (1 + below(2)),
            groups,
            columns: vector * (1 + below(head_dim as usize / vector)),
            padding: below(3),
            by_heads,
            left: below(60) as u32,
            right: below(60) as u32,
            peak: [1.0, 3.0, 40.0][below(3)],
            blocks: 1 + below(3),
            ..Case::new(config, &sequences)
        });
    }
}

/// As they are chosen, on one tile and a bit.
#[test]
fn usual_configurations() {
    for (dtype, head_dim) in [(DType::Bf16, 64), (DType::F16, 128), (DType::Bf16, 256), (DType::F32, 96)] {
        let features = Features { right: true, ..LSE };
        verify(&Case::new(usual(dtype, head_dim, features), &alone(135, 150, 15)));
    }
}

/// Eight rows of a column of vectors lie in different banks, as do the rows and columns that single threads read.
#[test]
fn banks_of_shared_memory_do_not_collide() {
    for (dtype, head_dim) in [
        (DType::Bf16, 64),
        (DType::Bf16, 96),
        (DType::F16, 128),
        (DType::Bf16, 256),
        (DType::F32, 64),
        (DType::F32, 128),
    ] {
        let config = usual(dtype, head_dim, LSE);
        let kernel = generate(&config).unwrap();
        let case = Case { blocks: 1, ..Case::new(config, &alone(config.tile[0] as usize, 128, 0)) };
        let options = Options { counts: true, ..Options::fast() };
        let report = case.run(&kernel, kernel.kernel.module(), &options).unwrap().report;
        // Of f32, weights go through shared memory too, in columns of single values.
        let most = report.least_wavefronts * if dtype == DType::F32 { 102 } else { 100 } / 100;
        assert!((1..=most).contains(&report.wavefronts), "{config:?}: {report:?}");
    }
}

/// The kernel is reported when any one of its waits and barriers is missing.
#[test]
fn every_wait_and_barrier_is_needed() {
    for (dtype, vector, needed) in [(DType::Bf16, 8, 6), (DType::Bf16, 1, 4), (DType::F32, 4, 6)] {
        for stages in [2, 3] {
            let config = with(config(dtype, 64, [32, 32], LSE), |m| Multistage { vector, stages, ..m });
            // One block takes several tiles, one of them without keys, so that shared memory is used again.
            let sequences = [alone(40, 100, 0), alone(20, 0, 0)].concat();
            let case = Case { blocks: 1, ..Case::new(config, &sequences) };
            let kernel = generate(&config).unwrap();
            let (mut removed, mut kept) = (0, Vec::new());
            for index in 0.. {
                let Some((mutant, text)) = without(kernel.kernel.module(), index) else { break };
                removed += 1;
                let caught = (0..8).find_map(|seed| {
                    let options = Options { seed, ..Options::checked() };
                    let found = case.run(&kernel, &mutant, &options).map_err(|e| e.to_string());
                    found.and_then(|found| case.judge(&found)).err()
                });
                println!("{dtype}, vectors of {vector}, {stages} stages, without {index} {text}: {caught:?}");
                if caught.is_none() {
                    kept.push(text);
                }
            }
            assert_eq!(
                (removed, kept),
                (needed, Vec::<String>::new()),
                "{dtype}, vectors of {vector}, {stages} stages"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = config(DType::Bf16, 64, [32, 32], LSE);
    let message = |config: &AttentionConfig| generate(config).unwrap_err().to_string();
    assert_eq!(
        message(&AttentionConfig { head_dim: 48, ..good }),
        "head dim = 48: multiples of 32 up to 512 are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { head_dim: 512, ..good }),
        "value dim = 512: multiples of 32 up to 256, in parts of as many columns as the head dim, 512, are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { value_dim: Some(96), ..good }),
        "value dim = 96: multiples of 32 up to 64, in parts of as many columns as the head dim, 64, are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { dtype: DType::F64, ..good }),
        "dtype = f64: bf16, f16, f32 are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { tile: [48, 32], ..good }),
        "a tile of 48 queries: multiples of 32 up to 1024 are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { tile: [32, 24], ..good }),
        "a tile of 24 keys: powers of two from 16 to 256 are accepted"
    );
    assert_eq!(
        message(&AttentionConfig { head_dim: 256, tile: [128, 64], ..good }),
        "a tile of 128 queries, 64 keys and head dim 256 for 64 threads: at most 208 scores and accumulators of a thread are accepted"
    );
    let refused = |change: fn(Multistage) -> Multistage| message(&with(good, change));
    assert_eq!(refused(|m| Multistage { warps: 3, ..m }), "warps = 3: 1, 2, 4, 8 and 16 are accepted");
    assert_eq!(refused(|m| Multistage { stages: 1, ..m }), "stages = 1: 2 to 16 are accepted");
    assert_eq!(
        refused(|m| Multistage { vector: 3, ..m }),
        "vectors of 3 elements of bf16: a power of two of 1 to 16 bytes is accepted"
    );
    assert_eq!(
        refused(|m| Multistage { vector: 16, ..m }),
        "vectors of 16 elements of bf16: a power of two of 1 to 16 bytes is accepted"
    );
    let large = AttentionConfig { head_dim: 256, tile: [32, 64], ..good };
    let large = with(large, |m| Multistage { warps: 2, stages: 8, ..m });
    assert_eq!(
        message(&large),
        "278528 bytes of shared memory for tiles and barriers: at most 232448 are accepted"
    );
}

/// A configuration of large tiles, as they are chosen.
fn usual(dtype: DType, head_dim: i64, features: Features) -> AttentionConfig {
    let (tile, warps, stages) = match (dtype, head_dim) {
        (DType::F32, _) => ([64, 32], 4, 2),
        (_, ..=128) => ([128, 64], 4, 3),
        _ => ([128, 32], 8, 2),
    };
    let vector = 128 / i64::from(dtype.bits());
    let form = Form::Multistage(Multistage { warps, stages, vector, min_blocks: 1 });
    AttentionConfig { name: "attention", form, dtype, head_dim, value_dim: None, tile, features }
}

/// The gate assembles it, too.
#[test]
fn module_is_this() {
    let config = with(config(DType::Bf16, 64, [64, 32], Features { right: true, ..LSE }), |m| Multistage {
        warps: 4,
        stages: 3,
        ..m
    });
    let module = generate(&config).unwrap().kernel.module().to_string();
    expect_file!["../../testdata/golden/attention_sm80_bf16.ptx"].assert_eq(&module);
}
