//! The module of a program that is a product is the one that `kernels` has of the same configuration.

use std::collections::BTreeMap;

use expect_test::expect;
use girih_codegen::gemm::{Batch, Epilogue, GemmConfig, Major, Schedule, Store, generate};
use girih_kernels::gemm::choose;
use girih_tensor::DType;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Array, Func, Known};
use girih_tile::prelude::bf16;
use girih_tile::product;

use super::programs::{plain, relu};
use super::written::{Asked, program};

/// Configurations that this test looks at, of all that there are: as many as `GIRIH_CASES` says, or all of them with `GIRIH_CASES=all`, which takes six minutes.
const SAMPLE: usize = 40;

/// The module of a configuration of the kernel layer, under the program's name.
fn expected(config: &GemmConfig) -> String {
    let named = GemmConfig { name: "tiles", ..*config };
    generate(&named, &Epilogue::new()).unwrap().kernel.module().to_string()
}

#[test]
fn modules_of_every_configuration_are_those_of_kernels() {
    let all: Vec<GemmConfig> = choose::all().collect();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut written = Vec::new();
    for (i, config) in all.iter().enumerate() {
        match program(config, i) {
            Ok(func) => written.push((config, func)),
            Err(why) => *refused.entry(why).or_default() += 1,
        }
    }
    let refused: Vec<String> = refused.iter().map(|(why, count)| format!("{count}: {why}")).collect();
    expect![[r#"
        37155 of 42896
        5741: an array of addresses is no argument of a program
    "#]]
    .assert_eq(&format!("{} of {}\n{}\n", written.len(), all.len(), refused.join("\n")));
    let cases = std::env::var("GIRIH_CASES").unwrap_or_default();
    let sample = if cases == "all" { written.len() } else { cases.parse().unwrap_or(SAMPLE) };
    // As many of each kind.
    let mut kinds: BTreeMap<String, Vec<(&GemmConfig, Func)>> = BTreeMap::new();
    for (config, func) in written {
        let columns = config.block_scales().map(|_| Asked::of(config).tile[1]);
        let kind = format!("{:?} {columns:?} {:?}", config.batch, config.mixed_input());
        kinds.entry(kind).or_default().push((config, func));
    }
    let each = (sample / kinds.len()).max(1);
    for (config, func) in kinds.values().flat_map(|of| of.iter().step_by((of.len() / each).max(1))) {
        let sm = if config.loads_by_maps() { 90 } else { config.atom().sm.max(89) };
        let found =
            product::find(func, sm, Some(**config)).unwrap_or_else(|why| panic!("{why}\n{config:?}\n{func}"));
        let own = found.kernel.kernel.module().to_string();
        assert!(own == expected(config), "{config:?}\n{func}");
    }
}

/// A configuration that does not fit the program is refused by what it asks for.
#[test]
fn a_configuration_that_does_not_fit_is_refused() {
    let of = |pick: &dyn Fn(&GemmConfig) -> bool| choose::all().find(|config| pick(config)).unwrap();
    let is_plain = |config: &GemmConfig| {
        config.name == "gemm_sm90_bf16"
            && config.tile == [128, 256, 64]
            && config.batch == Batch::Single
            && config.majors() == [Major::K; 2]
            && config.c_type == DType::Bf16
            && matches!(config.store, Store::Tma { .. })
            && matches!(config.schedule, Schedule::Persistent { .. })
    };
    let config = of(&is_plain);
    let func = program(&config, 0).unwrap();
    let refusal = |other: GemmConfig| product::find(&func, 90, Some(other)).unwrap_err().to_string();
    assert!(product::find(&func, 90, Some(config)).is_ok());
    let alike = |other: &GemmConfig| other.tile == config.tile && other.batch == config.batch;
    let f16 = of(&|other| alike(other) && other.name == "gemm_sm90_f16" && other.majors() == config.majors());
    let turned = |other: &GemmConfig| alike(other) && other.majors() == [Major::K, Major::Mn];
    let turned = of(&|other| other.name == config.name && turned(other) && other.c_type == config.c_type);
    let wrong = [
        (GemmConfig { tile: [128, 128, 64], ..config }, "tile"),
        (f16, "f16"),
        (turned, "contiguous modes of A and B"),
        (GemmConfig { batch: Batch::Pointers, ..config }, "batch"),
    ];
    for (other, what) in wrong {
        let why = refusal(other);
        assert!(why.contains(what), "{why}");
    }
    assert!(product::find(&func, 80, Some(config)).unwrap_err().to_string().contains("sm_90 is accepted"));
    // An array that begins anywhere has no tensor map.
    let facts = func.arrays().iter().map(|array| {
        let Array::Param(param) = array else { panic!("a parameter") };
        ArrayFacts { extents: param.extents.clone(), strides: param.strides.clone(), align: 2 }
    });
    let anywhere = func.with_facts(&Facts { arrays: facts.collect(), scalars: Vec::new() });
    let why = product::find(&anywhere, 90, Some(config)).unwrap_err().to_string();
    assert!(why.contains("loads") && why.contains("2 bytes"), "{why}");
}

/// Instructions of a module by opcode and modifiers, of those that move data.
fn movements(module: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for word in module.split_whitespace() {
        let word = word.trim_end_matches(';');
        let moves = [
            "ld.global",
            "st.global",
            "ld.shared",
            "st.shared",
            "cp.async",
            "stmatrix",
            "ldmatrix",
            "red.",
            "atom.",
        ];
        if moves.iter().any(|begin| word.starts_with(begin)) {
            *found.entry(word.to_string()).or_default() += 1;
        }
    }
    found
}

/// A bias, a residual and ReLU add no movements of data but those of the two operands: the residual comes by tensor copies to where C is staged,
/// and is read from there; the bias is loaded.
#[test]
fn an_epilogue_moves_its_operands_alone() {
    let aligned = |rank: usize| ArrayFacts {
        extents: vec![Known::MultipleOf(8); rank],
        strides: [vec![Known::MultipleOf(8); rank - 1], vec![Known::Is(1)]].concat(),
        align: 16,
    };
    let module = |func: Func, ranks: &[usize]| {
        let arrays = ranks.iter().map(|&rank| aligned(rank)).collect();
        let func = func.with_facts(&Facts { arrays, scalars: Vec::new() });
        let found = product::find(&func, 90, None).unwrap();
        assert_eq!(found.config.tile, [128, 256, 64]);
        (found.config, movements(&found.kernel.kernel.module().to_string()))
    };
    let (config, alone) = module(plain::<bf16, f32, bf16, 128, 256, 64>::ir().unwrap(), &[2, 2, 2]);
    let (fused, with) = module(relu::<128, 256, 64>::ir().unwrap(), &[2, 2, 1, 2, 2]);
    assert_eq!(GemmConfig { name: config.name, ..fused }, config);
    let added: Vec<(&String, usize)> = with
        .iter()
        .map(|(word, count)| (word, count - alone.get(word).copied().unwrap_or(0).min(*count)))
        .filter(|(_, count)| *count > 0)
        .collect();
    // The warps that bring the residual read the order of tiles too.
    let text = added.iter().map(|(word, count)| format!("{count} {word}\n")).collect::<String>();
    expect![[r#"
        4 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
        32 ld.global.b32
        2 ld.global.v2.u32
        16 ldmatrix.sync.aligned.m8n8.x4.shared.b16
    "#]]
    .assert_eq(&text);
    let kept = |(word, count): (&String, &usize)| {
        with.get(word).is_some_and(|more| more >= count) || word.contains("wait")
    };
    assert!(alone.iter().all(kept), "{alone:?} {with:?}");
}
