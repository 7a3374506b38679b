//! Decoding kernels as text and on the simulator: every configuration is generated, some are kept, and each barrier is needed. What they
//! compute is compared in the tests of `kernels`.

use expect_test::expect_file;
use girih_codegen::attention::Scores;
use girih_codegen::attention::decode::{
    Arguments, DecodeConfig, DecodeFeatures, DecodeKernel, generate, generate_sum,
};
use girih_ptx::Module;
use girih_sim::{Error, Launch, Memory, Options, Report};
use girih_tensor::DType;

use crate::mutants::without;
use crate::simulator;
use crate::simulator::{by_name, ones, upload};

pub(crate) const CONFIG: DecodeConfig = DecodeConfig {
    name: "attention_decode",
    dtype: DType::Bf16,
    cache: DType::Bf16,
    head_dim: 64,
    rows: [8, 2],
    page: None,
    stages: 3,
    min_blocks: 2,
    features: DecodeFeatures {
        padded: false,
        left: false,
        softcap: false,
        scales: false,
        lse: true,
        sinks: false,
        parts: true,
        programmatic: false,
    },
};

/// With `DECODE_OUT=FOLDER` the modules are written there, for an assembler to judge.
#[test]
fn every_configuration_is_generated() {
    let out = std::env::var("DECODE_OUT").ok();
    let caches = [
        (DType::Bf16, DType::Bf16),
        (DType::F16, DType::F16),
        (DType::Bf16, DType::E4m3),
        (DType::F16, DType::E5m2),
    ];
    // What a multiprocessor of 228 KB holds, as `kernels` chooses.
    let resident = |head_dim, rows, bits, page| match (head_dim, rows, bits) {
        (64, _, _) => (4, 3),
        (128, 16, 8) if page != Some(16) => (4, 3),
        (128, _, 8) => (5, 2),
        (128, _, _) => (3, 2),
        (_, _, 8) => (3, 2),
        (_, 16, _) => (3, 1),
        _ => (3, 1),
    };
    for (dtype, cache) in caches {
        for head_dim in [64, 128, 256] {
            for rows in [[8, 2], [4, 16]] {
                for page in [None, Some(16), Some(128)] {
                    for all in [false, true] {
                        let (stages, min_blocks) = resident(head_dim, rows[0] * rows[1], cache.bits(), page);
                        let features = DecodeFeatures {
                            padded: all,
                            left: all,
                            softcap: all,
                            scales: all,
                            sinks: all,
                            programmatic: all,
                            ..CONFIG.features
                        };
                        let config = DecodeConfig {
                            dtype,
                            cache,
                            head_dim,
                            rows,
                            page,
                            stages,
                            min_blocks,
                            features,
                            ..CONFIG
                        };
                        let made = generate(&config).unwrap_or_else(|error| panic!("{config:?}: {error}"));
                        let sum = generate_sum(&config, "attention_decode_sum").unwrap();
                        let Some(out) = &out else { continue };
                        let page = page.unwrap_or(0);
                        let name =
                            format!("{out}/{dtype}_{cache}_{head_dim}_{}_{page}_{all}", rows[0] * rows[1]);
                        for (end, module) in [("", made.kernel.module()), ("_sum", sum.kernel.module())] {
                            std::fs::write(format!("{name}{end}.ptx"), module.to_string()).unwrap();
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn goldens() {
    let paged = DecodeConfig { page: Some(32), ..CONFIG };
    expect_file!["../testdata/golden/attention_decode_bf16_paged.ptx"]
        .assert_eq(&generate(&paged).unwrap().kernel.module().to_string());
    let scales = DecodeFeatures { scales: true, ..CONFIG.features };
    let narrow = DecodeConfig { cache: DType::E4m3, rows: [16, 4], features: scales, ..CONFIG };
    expect_file!["../testdata/golden/attention_decode_e4m3.ptx"]
        .assert_eq(&generate(&narrow).unwrap().kernel.module().to_string());
    expect_file!["../testdata/golden/attention_decode_sum.ptx"]
        .assert_eq(&generate_sum(&CONFIG, "attention_decode_sum").unwrap().kernel.module().to_string());
}

#[test]
fn configurations_that_do_not_fit_are_refused() {
    let refused = |config: DecodeConfig| generate(&config).unwrap_err().to_string();
    let all = [
        DecodeConfig { dtype: DType::F32, ..CONFIG },
        DecodeConfig { cache: DType::F16, ..CONFIG },
        DecodeConfig { head_dim: 96, ..CONFIG },
        DecodeConfig { rows: [8, 4], ..CONFIG },
        DecodeConfig { rows: [3, 5], ..CONFIG },
        DecodeConfig { page: Some(48), ..CONFIG },
        DecodeConfig { stages: 1, ..CONFIG },
        DecodeConfig { head_dim: 256, stages: 4, ..CONFIG },
    ];
    expect_test::expect![[r#"
        dtype = f32: f16, bf16 are accepted
        cache = f16 with queries of bf16: bf16, e4m3 and e5m2 are accepted
        head dim = 96: 64, 128 and 256 are accepted
        rows = [8, 4]: powers of two are accepted, whose product is 16 or 64
        rows = [3, 5]: powers of two are accepted, whose product is 16 or 64
        pages of 48 keys: powers of two from 16 to 256 are accepted
        stages = 1: 2 to 8 are accepted
        270336 bytes of shared memory for tiles and barriers: at most 231424 are accepted
    "#]]
    .assert_eq(&all.map(|config| refused(config) + "\n").concat());
    let whole = DecodeConfig { features: DecodeFeatures { parts: false, ..CONFIG.features }, ..CONFIG };
    assert!(generate_sum(&whole, "sum").is_err());
}

/// One sequence of 428 keys, so that the last tile of the second part lies where the first one did; eight heads and one head of K and V, in two parts: both kernels.
fn run(
    attend: &Module,
    sum: &Module,
    config: &DecodeConfig,
    made: &[DecodeKernel; 2],
) -> Result<[Report; 2], Error> {
    let memory = Memory::new();
    let (heads, keys, d) = (8u64, 428u64, config.head_dim as u64);
    let tensor = |len: u64| upload(&memory, &vec![0; 2 * len as usize]);
    let [q, k, v, o] = [heads * d, keys * d, keys * d, heads * d].map(tensor);
    let (lengths, lse) = (upload(&memory, &428u32.to_le_bytes()), ones(&memory, 32));
    let (partials, partial_totals) =
        (ones(&memory, 2 * 8 * 4 * config.head_dim as usize), ones(&memory, 128));
    let places = [
        ("q", q),
        ("k", k),
        ("v", v),
        ("o", o),
        ("lengths", lengths),
        ("lse", lse),
        ("partials", partials),
        ("partial_totals", partial_totals),
    ];
    let [of_rows, of_keys, columns] = [heads * d, keys * d, d].map(|stride| stride as i64);
    let arguments = Arguments {
        rows: [[of_rows, columns, of_rows]; 2],
        keys: [[columns, of_keys, of_keys]; 2],
        head_dim: columns,
        queries: 1,
        heads: [heads as i64, 1, 1],
        tiles: [1; 2],
        capacity: keys as i64,
        // Exponents are scores.
        scores: Scores { scale: std::f32::consts::LN_2, softcap: None },
        parts: 2,
        least_tiles: 1,
        ..Arguments::default()
    };
    let launch = |module: &Module, kernel: &DecodeKernel, grid| {
        let launch = Launch {
            grid,
            block: [128, 1, 1],
            dynamic_shared: kernel.kernel.shared_bytes(),
            args: simulator::bytes(&kernel.params, &arguments, |slot| by_name(slot, &places)),
            ..Launch::default()
        };
        simulator::run(module, &memory, &launch, &Options { counts: true, ..Options::checked() })
    };
    Ok([launch(attend, &made[0], [2, 1, 1])?, launch(sum, &made[1], [1, 8, 1])?])
}

/// Tiles lie in shared memory so that hardly any access of any dtype and width takes more wavefronts than its bytes do.
#[test]
fn shared_memory_has_few_conflicts() {
    for cache in [DType::Bf16, DType::E4m3] {
        for head_dim in [64, 128, 256] {
            let config = DecodeConfig { cache, head_dim, stages: 2, ..CONFIG };
            let made = [generate(&config).unwrap(), generate_sum(&config, "attention_decode_sum").unwrap()];
            let [attend, sum] = made.each_ref().map(|kernel| kernel.kernel.module());
            let [report, _] = run(attend, sum, &config, &made).unwrap();
            let (taken, least) = (report.wavefronts as f64, report.least_wavefronts as f64);
            assert!(taken < 1.1 * least, "{cache} {head_dim}: {taken} of {least}");
        }
    }
}

/// The simulator reports the kernels if any one of their barriers and waits is removed.
#[test]
fn every_barrier_and_wait_is_needed() {
    for (rows, needed) in [([8, 2], [7, 1]), ([8, 8], [4, 1])] {
        let config = DecodeConfig { rows, ..CONFIG };
        let made = [generate(&config).unwrap(), generate_sum(&config, "attention_decode_sum").unwrap()];
        let [attend, sum] = made.each_ref().map(|kernel| kernel.kernel.module());
        run(attend, sum, &config, &made).unwrap();
        let mut removed = [0; 2];
        for (which, module) in [attend, sum].into_iter().enumerate() {
            while let Some((mutant, what)) = without(module, removed[which]) {
                let modules = if which == 0 { [&mutant, sum] } else { [attend, &mutant] };
                let found = run(modules[0], modules[1], &config, &made);
                assert!(
                    found.is_err(),
                    "{rows:?}, kernel {which}: without {what}, number {}",
                    removed[which]
                );
                removed[which] += 1;
            }
        }
        assert_eq!(removed, needed, "{rows:?}");
    }
}
