//! The rows of the file, files that are refused, and rows drawn at random.

use std::collections::HashSet;
use std::sync::LazyLock;

use girih_codegen::gemm::generate;
use girih_kernels::gemm::{Epilogue, GemmConfig, KernelKind, Layout, Problem, candidates, described};
use girih_peers::rows::{Error, Peer, Product, Work, drawn, parse, rows};
use girih_tensor::DType;

/// The list that the geometric mean is taken over, as it was decided: M, N, K with the layouts, and what differs from bf16.
fn decided() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |what: &str, mnk: [i64; 3], more: &str| {
        let [m, n, k] = mnk;
        out.push(format!("{what} {m}x{n}x{k}{more}"));
    };
    for side in [512, 1000, 1024, 1536, 8448, 16384] {
        add("bf16 tn", [side; 3], "");
    }
    for (side, layouts) in
        [(2048, &["tn", "tt"][..]), (4096, &["tn", "tt", "nn", "nt"]), (8192, &["tn", "tt"])]
    {
        layouts.iter().for_each(|layout| add(&format!("bf16 {layout}"), [side; 3], ""));
    }
    for mnk in [[5120, 2560, 1720], [128, 128, 65536], [4095, 4097, 4099], [4096, 4096, 127]] {
        add("bf16 tn", mnk, "");
    }
    add("bf16 tn", [4095, 4097, 4099], " ld 4104,4104,4104");
    for m in [16, 64, 128, 256] {
        for [n, k] in [[4096, 4096], [28672, 4096], [4096, 14336], [14336, 4096], [28672, 8192]] {
            add("bf16 tn", [m, n, k], "");
        }
    }
    for m in [1024, 4096] {
        add("bf16 tn", [m, 28672, 4096], "");
        add("bf16 tn", [m, 4096, 14336], "");
    }
    add("bf16 tn 64 x", [512; 3], "");
    for side in [2048, 4096] {
        ["f16 tn", "f32 nt", "f32 tn"].iter().for_each(|what| add(what, [side; 3], ""));
    }
    for side in [2048, 8192] {
        ["tf32 tn", "e4m3 fast tn", "e4m3 tn", "s8 tn"].iter().for_each(|what| add(what, [side; 3], ""));
    }
    add("f64 tn", [4096; 3], "");
    out
}

#[test]
fn the_frozen_list_is_the_one_that_was_decided() {
    let rows = rows().unwrap();
    let mut frozen: Vec<String> = rows.iter().filter(|row| row.frozen).map(|row| row.name.clone()).collect();
    let mut decided = decided();
    frozen.sort();
    decided.sort();
    assert_eq!(frozen, decided);
    assert_eq!(frozen.len(), 59);
}

#[test]
fn every_row_has_a_bar_and_work() {
    for row in rows().unwrap() {
        assert!((0.5..=3.0).contains(&row.bar), "{}", row.name);
        assert!(row.work.amount() > 1e6, "{}", row.name);
    }
}

fn product(name: &str) -> Product {
    let rows = rows().expect("the repository's rows");
    let row = rows.into_iter().find(|row| row.name == name).expect(name);
    let Work::Product(product) = row.work else { panic!("{name}") };
    product
}

#[test]
fn a_product_is_what_its_line_says() {
    let all = product("f32 nt 4096x4096x4096");
    assert_eq!((all.dtype, all.output, all.layout), (DType::F32, DType::F32, Layout::Nt));
    assert_eq!((all.extents(), all.pitches(), all.batch), ([4096; 3], [4096; 3], 1));
    assert_eq!(product("bf16 tn 16x28672x4096").pitches(), [4096, 4096, 28672]);
    assert_eq!(product("bf16 tn 4095x4097x4099 ld 4104,4104,4104").pitches(), [4104; 3]);
    let outputs = ["e4m3 tn 2048x2048x2048", "s8 tn 2048x2048x2048", "tf32 tn 2048x2048x2048"];
    assert_eq!(outputs.map(|name| product(name).output), [DType::Bf16, DType::S32, DType::F32]);
    let flops = |name| product(name).flops();
    assert_eq!(flops("bf16 tn 64 x 512x512x512"), 64.0 * 2.0 * 512f64.powi(3));
    assert_eq!(flops("bf16 tn 8 groups of 8192x4096x4096"), 2.0 * 8192.0 * 4096.0 * 4096.0);
    assert_eq!(product("bf16 tn 8 groups of 8192x4096x4096").extents(), [1024, 4096, 4096]);
    assert_eq!(product("bf16 tn 16x28672x4096").bytes(), 2.0 * (16.0 * 4096.0 + 28672.0 * (4096.0 + 16.0)));
    assert_eq!(product("bf16 tn 4096x4096x4096 by sm80").kernel, Some(KernelKind::Sm80));
    assert!(product("e4m3 fast tn 2048x2048x2048").fast && !product("e4m3 tn 2048x2048x2048").fast);
}

#[test]
fn a_movement_reads_and_writes_every_byte() {
    let rows = rows().unwrap();
    let of = |name: &str| rows.iter().find(|row| row.name == name).expect(name).clone();
    assert_eq!(of("permute bf16 16384x16384 by 1,0").work.amount(), 4.0 * 16384.0 * 16384.0);
    assert_eq!(of("copy f32 268435456").peer, Peer::DeviceToDevice);
}

#[test]
fn a_file_that_says_something_else_is_refused() {
    let with = |frozen: &str, more: &str| parse(&format!("frozen = [{frozen}]\nmore = [{more}]"));
    let row = "{ mnk = [1, 2, 3], bar = 1.0 }";
    assert_eq!(with(row, "").unwrap()[0].name, "bf16 tn 1x2x3");
    assert!(matches!(with(row, row), Err(Error::Twice(name)) if name == "bf16 tn 1x2x3"));
    assert!(matches!(with("{ mnk = [1, 2, 3] }", ""), Err(Error::Toml(_))));
    assert!(matches!(with("{ mnk = [1, 2, 3], bar = 1.0, lb = 3 }", ""), Err(Error::Toml(_))));
    let field = |row: &str| match with(row, "") {
        Err(Error::Field { field, .. }) => field,
        other => panic!("{row}: {other:?}"),
    };
    assert_eq!(field("{ mnk = [1, 2, 3], bar = 1.0, dtype = \"int9\" }"), "dtype");
    assert_eq!(field("{ mnk = [1, 2, 3], bar = 1.0, layout = \"ttt\" }"), "layout");
    assert_eq!(field("{ mnk = [1, 2, 3], bar = 1.0, epilogue = \"tanh\" }"), "epilogue");
    assert_eq!(field("{ mnk = [1, 2, 3], bar = 1.0, kernel = \"sm100\" }"), "kernel");
    assert_eq!(field("{ shape = [1, 2, 3], bar = 1.0 }"), "op");
    assert_eq!(field("{ op = \"permute\", shape = [4, 5], order = [1, 1], bar = 1.0 }"), "order");
    let other = "{ kernel = \"sm80\", mnk = [1, 2, 3], peer = \"bf16 tn 1x2x4\", bar = 1.0 }";
    assert!(matches!(with(row, other), Err(Error::NoPeer { peer, .. }) if peer == "bf16 tn 1x2x4"));
}

#[test]
fn rows_drawn_at_random_are_those_of_their_seed() {
    let rows = drawn(5, 300, |_| true);
    assert_eq!(rows.len(), 300);
    assert_eq!(drawn(5, 40, |_| true), rows[..40]);
    assert_ne!(drawn(6, 40, |_| true), rows[..40]);
    let only = drawn(5, 20, |row| row.name.starts_with("bf16 nt"));
    assert!(only.len() == 20 && only.iter().all(|row| row.name.starts_with("bf16 nt")));
    assert!(drawn(5, 2, |_| false).is_empty());
    let names: HashSet<&str> = rows.iter().map(|row| &*row.name).collect();
    assert_eq!(names.len(), 300);
    let mut multiples = [0; 3];
    for row in &rows {
        let Work::Product(product) = &row.work else { panic!("{}", row.name) };
        assert!(product.mnk.iter().all(|extent| (1..200_064).contains(extent)), "{}", row.name);
        assert!(product.bytes() <= 2e9 && product.flops() <= 4e12, "{}", row.name);
        let all = |by: i64| product.mnk.iter().all(|extent| extent % by == 0);
        multiples[if all(64) { 0 } else { 1 + usize::from(!all(8)) }] += 1;
    }
    // A third each, and a few more or less.
    assert!(multiples.iter().all(|count| (70..130).contains(count)), "{multiples:?}");
}

/// The rows of `wgmma`, and what a tuner would try for each.
static TUNED: LazyLock<Vec<(String, Vec<GemmConfig>)>> = LazyLock::new(|| {
    let mut out = Vec::new();
    for row in rows().expect("the repository's rows") {
        let Work::Product(product) = &row.work else { continue };
        let plain = product.batch == 1 && !product.fused && product.weights.is_none();
        if plain && !matches!(product.dtype, DType::F32 | DType::F64) {
            let [lda, ldb, ldc] = product.pitches().map(Some);
            let problem = Problem::new(product.dtype, product.mnk, product.layout);
            let problem = problem.and_then(|problem| problem.with_pitches(lda, ldb, ldc)).expect(&row.name);
            let problem = problem.with_fast_accumulation(product.fast);
            out.push((row.name, candidates(&problem, 132, 24)));
        }
    }
    out
});

#[test]
fn a_tuner_has_many_configurations_for_every_row() {
    assert!(TUNED.len() > 45);
    for (row, found) in &*TUNED {
        assert!((6..=24).contains(&found.len()), "{row}: {}", found.len());
        for (i, config) in found.iter().enumerate() {
            assert!(config.check().is_ok() && !found[..i].contains(config), "{row}: {config:?}");
        }
    }
}

#[test]
fn all_that_a_tuner_tries_can_be_generated() {
    let mut known: Vec<&GemmConfig> = Vec::new();
    for config in TUNED.iter().flat_map(|(_, found)| found) {
        if !known.contains(&config) {
            known.push(config);
        }
    }
    assert!(known.len() > 200, "{}", known.len());
    // Every seventh meets every tile, schedule and store with others.
    for config in known.iter().step_by(7) {
        let generated = generate(config, &Epilogue::new());
        assert!(generated.is_ok(), "{}: {:?}", described(config), generated.err());
    }
}
