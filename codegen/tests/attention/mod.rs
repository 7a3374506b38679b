//! Attention by a ring of warpgroups, on the simulator with every check on.

mod modules;
mod parts;
mod problem;

use girih_codegen::attention::{AttentionConfig, Features, Form, Ring, generate};
use girih_tensor::DType;

use problem::{Problem, run};

/// Two warpgroups, small tiles of keys.
pub(crate) const SMALL: AttentionConfig = AttentionConfig {
    name: "attention",
    form: Form::Ring(Ring { warpgroups: 2, stages: 2, buffers: 2, registers: [24, 240] }),
    dtype: DType::Bf16,
    head_dim: 32,
    value_dim: None,
    tile: [128, 16],
    features: Features {
        left: false,
        right: false,
        packed: false,
        softcap: false,
        bias: None,
        lse: true,
        sinks: false,
    },
};

/// Three warpgroups, and one of everything else.
const TIGHT: Ring = Ring { warpgroups: 3, stages: 1, buffers: 1, registers: [32, 160] };

const WINDOW: Features = Features { left: true, right: true, ..SMALL.features };

fn ring(config: AttentionConfig, ring: Ring) -> AttentionConfig {
    AttentionConfig { form: Form::Ring(ring), tile: [64 * ring.warpgroups, config.tile[1]], ..config }
}

pub(crate) fn with(config: AttentionConfig, change: impl FnOnce(Ring) -> Ring) -> AttentionConfig {
    let Form::Ring(before) = config.form else { panic!("{config:?}") };
    ring(config, change(before))
}

fn features(change: impl FnOnce(Features) -> Features) -> AttentionConfig {
    AttentionConfig { features: change(SMALL.features), ..SMALL }
}

fn verify(config: &AttentionConfig, problems: &[Problem]) {
    let kernel = generate(config).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    for (seed, problem) in (0..).zip(problems) {
        let result = run(config, &kernel, kernel.kernel.module(), problem, (seed, None));
        result.unwrap_or_else(|e| panic!("{e}: {problem:?}, {config:?}"));
    }
}

/// Tiles have no tile of keys before them, one, or more than there are stages; the last tiles of queries and of keys are ragged. Blocks have several
/// tiles or none.
#[test]
fn any_lengths_are_right() {
    let of = |lengths, blocks| Problem { sequences: vec![lengths; 2], blocks, ..Problem::default() };
    let groups = Problem { heads: [4, 2], ..of([70, 40], 3) };
    let narrow = Problem { columns: Some(24), ..of([65, 33], 1) };
    let problems = [
        of([1, 1], 3),
        of([64, 16], 1),
        of([65, 33], 1),
        of([300, 100], 2),
        of([129, 0], 1),
        of([1, 310], 1),
        groups,
        narrow,
    ];
    verify(&SMALL, &problems);
}

#[test]
fn all_shapes_of_tiles_are_right() {
    let with = |warpgroups, registers, [stages, buffers]: [i64; 2], head_dim, keys| {
        let config = AttentionConfig { head_dim, tile: [0, keys], ..SMALL };
        ring(config, Ring { warpgroups, stages, buffers, registers })
    };
    for config in [
        with(3, [32, 160], [2, 2], 64, 48),
        with(4, [24, 112], [3, 1], 32, 32),
        with(2, [24, 240], [2, 1], 128, 80),
        AttentionConfig { dtype: DType::F16, ..with(2, [24, 240], [1, 2], 96, 64) },
    ] {
        let scale = 1.0 / config.head_dim as f32;
        verify(&config, &[Problem { sequences: vec![[330, 140]], scale, ..Problem::default() }]);
    }
}

/// The windows lie before, across and after the tiles; rows see no key at either end, nor in several tiles of keys before the first that they see.
/// Warpgroups see other tiles of keys than their neighbours, at both ends.
#[test]
fn masks_are_exact() {
    let of = |window, lengths, to_the_end| Problem {
        sequences: vec![lengths],
        window,
        to_the_end,
        ..Problem::default()
    };
    let causal = features(|f| Features { right: true, ..f });
    verify(
        &causal,
        &[of([0, 0], [200, 200], false), of([0, 0], [200, 90], true), of([0, 7], [90, 200], true)],
    );
    verify(&features(|f| Features { left: true, ..f }), &[of([3, 0], [260, 130], false)]);
    let window = AttentionConfig { features: WINDOW, ..SMALL };
    for config in [with(window, |ring| Ring { stages: 3, ..ring }), ring(window, TIGHT)] {
        verify(
            &config,
            &[of([40, 0], [300, 300], true), of([0, 0], [200, 100], false), of([33, 70], [270, 210], false)],
        );
    }
}

/// What stands after a sequence is another's, and not a number; lengths are 0 among others.
#[test]
fn packed_sequences_do_not_leak() {
    let sequences = vec![[100, 70], [3, 40], [1, 1], [0, 30], [140, 5], [64, 64], [7, 0]];
    for (right, buffers) in [(false, 1), (true, 2)] {
        let config =
            with(features(|f| Features { packed: true, right, ..f }), |ring| Ring { buffers, ..ring });
        verify(
            &config,
            &[1, 3, 5].map(|poisoned| Problem {
                sequences: sequences.clone(),
                heads: [2, 1],
                to_the_end: right,
                poisoned: Some(poisoned),
                blocks: 2,
                ..Problem::default()
            }),
        );
    }
}

/// A bias of negative infinity hides keys, and all keys of a row.
#[test]
fn scores_are_changed() {
    let hidden = |which: usize, [_, _, query, key]: [usize; 4]| {
        (which == 3 && (query % 5 == 3 || query % 5 == 2 && key > 40)).then_some(f64::NEG_INFINITY)
    };
    for (softcap, bias) in [(true, None), (false, Some(DType::Bf16)), (true, Some(DType::Bf16))] {
        let config = features(|f| Features { softcap, bias, right: true, ..f });
        verify(
            &config,
            &[Problem {
                sequences: vec![[70, 150]],
                to_the_end: true,
                special: hidden,
                ..Problem::default()
            }],
        );
    }
}

/// Scores that are far apart: later powers exceed what relates to the first maximum. Or they are all the same.
#[test]
fn maxima_that_rise_are_found_again() {
    for dtype in [DType::Bf16, DType::F16] {
        let of = |scale| Problem { sequences: vec![[130, 200]], scale, ..Problem::default() };
        verify(&AttentionConfig { dtype, ..SMALL }, &[of(3.0), of(2f32.powi(-64))]);
    }
}

/// What is infinite or not a number in a head of K stays with the queries that see it.
#[test]
fn infinities_stay_where_they_are() {
    fn special(which: usize, [_, head, key, column]: [usize; 4]) -> Option<f64> {
        match (which, head, key, column) {
            (1, 1, 30, 0) | (1, 2, 77, 5) => Some(f64::INFINITY),
            (1, 1, 90, 3) => Some(f64::NAN),
            _ => None,
        }
    }
    let config = features(|f| Features { right: true, ..f });
    let problem =
        Problem { sequences: vec![[100, 100]], heads: [3, 3], blocks: 2, special, ..Problem::default() };
    verify(&config, &[problem]);
}

/// Problems of everything at once, by random schedules in which now and then a warp falls behind: a few, or as many as `GIRIH_CASES` says.
#[test]
fn random_problems_are_right() {
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    for case in 0..cases {
        let mut state: u64 = case;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let [left, right, packed] = [(); 3].map(|()| below(2) == 0);
        let [softcap, biased, of_f16, short] = [(); 4].map(|()| below(4) == 0);
        let dtype = if of_f16 { DType::F16 } else { DType::Bf16 };
        let bias = biased.then_some(DType::Bf16);
        let features = Features { left, right, packed, softcap, bias, lse: true, sinks: false };
        let warpgroups = 2 + below(3) as i64;
        let registers = [[24, 240], [32, 160], [24, 112]][warpgroups as usize - 2];
        let (stages, buffers) = (1 + below(3) as i64, 1 + below(2) as i64);
        let tile = [0, 16 + 16 * below(3) as i64];
        let config = AttentionConfig { dtype, features, tile, ..SMALL };
        let config = ring(config, Ring { warpgroups, stages, buffers, registers });
        let keys = if short { 20 } else { 220 };
        let count = 1 + below(3);
        let sequences: Vec<_> = (0..count).map(|_| [1 + below(280) as u32, below(keys) as u32]).collect();
        let of_keys = 1 + below(2) as u32;
        let problem = Problem {
            poisoned: (packed && sequences.len() > 1).then(|| below(sequences.len() as u64) as usize),
            sequences,
            heads: [of_keys * (1 + below(2) as u32), of_keys],
            to_the_end: below(2) == 0,
            window: [below(150) as u32, below(50) as u32],
            scale: [0.125, 0.125, 1.0, 8.0][below(4) as usize],
            blocks: 1 + below(2) as usize,
            ..Problem::default()
        };
        let kernel = generate(&config).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        let slow = (below(2) == 0).then(|| below(4 * (warpgroups as u64 + 1)) as u32);
        let result = run(&config, &kernel, kernel.kernel.module(), &problem, (below(5), slow));
        result.unwrap_or_else(|e| panic!("{e}: case {case}, {slow:?}, {problem:?}, {config:?}"));
    }
}

#[test]
fn misuse_is_told() {
    let ring = |change: fn(Ring) -> Ring| with(SMALL, change);
    let mut texts = String::new();
    for bad in [
        AttentionConfig { dtype: DType::F32, ..SMALL },
        ring(|ring| Ring { warpgroups: 1, ..ring }),
        AttentionConfig { tile: [64, 16], ..SMALL },
        AttentionConfig { tile: [128, 24], ..SMALL },
        AttentionConfig { head_dim: 40, ..SMALL },
        AttentionConfig { head_dim: 512, ..SMALL },
        AttentionConfig { value_dim: Some(64), ..SMALL },
        ring(|ring| Ring { buffers: 3, ..ring }),
        ring(|ring| Ring { stages: 0, ..ring }),
        ring(|ring| Ring { stages: 200, ..ring }),
        ring(|ring| Ring { registers: [40, 240], ..ring }),
    ] {
        texts += &format!("{}\n", generate(&bad).expect_err(&format!("{bad:?}")));
    }
    expect_test::expect![[r#"
        dtype = f32: f16, bf16 are accepted
        warpgroups = 1: 2 to 4 are accepted
        a tile of 64 queries: 128, 64 for each warpgroup, are accepted
        a tile of 24 keys: multiples of 16 from 16 to 256 are accepted
        head dim = 40: multiples of 32 up to 512 are accepted
        value dim = 512: multiples of 32 up to 256 are accepted
        value dim = 64: multiples of 32 up to 32 are accepted
        buffers = 3 of Q: 1 and 2 are accepted
        stages = 0 of keys and values: 1 or more are accepted
        432448 bytes of shared memory for tiles and barriers: at most 232448 are accepted
        registers = 40 for the producer and 240 for each of 2 warpgroups: at most 504 are accepted for a thread of each warpgroup together
    "#]]
    .assert_eq(&texts);
}
