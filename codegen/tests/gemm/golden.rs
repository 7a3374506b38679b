//! Whole modules as text, for reading and for ptxas: the gate assembles every file of `testdata/golden`.

use expect_test::{ExpectFile, expect_file};
use girih_codegen::gemm::{
    Epilogue, GemmConfig, Input, Mainloop, Major, MixedInput, Multistage, Schedule, Store, WarpSpecialized,
    generate,
};
use girih_layout::{Lay, Tile, lay};
use girih_ptx::{Item, Module, Statement};
use girih_tensor::DType;

use super::configs::{chosen, odd, simt, sm80, unaligned, with};
use crate::warp_specialized::config as wgmma;

/// A configuration whose kernel is small enough to read: 2 x 2 blocks of 2 x 2 values a thread, 256 threads.
fn small_simt(a: Major, b: Major) -> GemmConfig {
    const TWOS: Lay = lay!("(16,2,2):(2,1,32)");
    let permutation = [Tile::Lay(TWOS), Tile::Lay(TWOS)];
    let config = with(simt(a, b), |m| Multistage { permutation, k_atoms: 2, ..m });
    GemmConfig { tile: [64, 64, 16], ..config }
}

fn small_sm80(dtype: DType, a: Major, b: Major) -> GemmConfig {
    GemmConfig { tile: [64, 64, 32], ..sm80(dtype, a, b) }
}

fn check(config: &GemmConfig, golden: ExpectFile) {
    golden.assert_eq(&generate(config, &Epilogue::new()).unwrap().kernel.module().to_string());
}

#[test]
fn simt_f32() {
    let (k, mn) = (Major::K, Major::Mn);
    check(&small_simt(k, k), expect_file!["../../testdata/golden/gemm_simt_f32_tn.ptx"]);
    check(&small_simt(mn, mn), expect_file!["../../testdata/golden/gemm_simt_f32_nt.ptx"]);
}

#[test]
fn sm80_bf16() {
    let (k, mn) = (Major::K, Major::Mn);
    check(&small_sm80(DType::Bf16, k, k), expect_file!["../../testdata/golden/gemm_sm80_bf16_tn.ptx"]);
    check(&small_sm80(DType::Bf16, mn, mn), expect_file!["../../testdata/golden/gemm_sm80_bf16_nt.ptx"]);
}

#[test]
fn sm80_f16() {
    let (k, mn) = (Major::K, Major::Mn);
    check(&small_sm80(DType::F16, k, mn), expect_file!["../../testdata/golden/gemm_sm80_f16_tt.ptx"]);
    check(&small_sm80(DType::F16, mn, k), expect_file!["../../testdata/golden/gemm_sm80_f16_nn.ptx"]);
}

/// Fragments of f32 are rounded to tf32 on their way.
#[test]
fn sm80_tf32() {
    let config = GemmConfig { tile: [64, 64, 16], ..sm80(DType::Tf32, Major::K, Major::Mn) };
    check(&config, expect_file!["../../testdata/golden/gemm_sm80_tf32_tt.ptx"]);
}

#[test]
fn sm90_f64() {
    check(&sm80(DType::F64, Major::K, Major::K), expect_file!["../../testdata/golden/gemm_sm90_f64_tn.ptx"]);
}

#[test]
fn sm80_unaligned() {
    let config = with(unaligned(Major::Mn, Major::K), |m| Multistage { stages: 2, ..m });
    check(&config, expect_file!["../../testdata/golden/gemm_sm80_bf16_unaligned.ptx"]);
}

/// The widest tile of `wgmma`, whose epilogue reads a bias and a residual: a linear layer of a network.
#[test]
fn sm90_bf16_linear() {
    let config = wgmma("SM90_64x256x16_F32BF16BF16_SS", [128, 256, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let (bias, residual) = (Input::row("bias", DType::Bf16), Input::matrix("residual", DType::Bf16));
    let epilogue = Epilogue::new().plus(bias).gelu().plus(residual);
    expect_file!["../../testdata/golden/gemm_sm90_bf16_linear.ptx"]
        .assert_eq(&generate(&config, &epilogue).unwrap().kernel.module().to_string());
}

/// Blocks that share the widest tile, whose sums they read beside their own.
#[test]
fn sm90_bf16_split_k() {
    let config = wgmma("SM90_64x256x16_F32BF16BF16_SS", [128, 256, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let config = GemmConfig { schedule: Schedule::SplitK { parts: 4, cluster: 1 }, ..config };
    check(&config, expect_file!["../../testdata/golden/gemm_sm90_bf16_split_k.ptx"]);
}

/// Blocks of clusters that share a long K, for few tokens: the columns of C are contiguous.
#[test]
fn sm90_bf16_clusters() {
    let config = wgmma("SM90_64x16x16_F32BF16BF16_SS", [64, 16, 64], lay!("(1,1):(0,0)"), DType::Bf16);
    let config = GemmConfig {
        schedule: Schedule::SplitK { parts: 4, cluster: 2 },
        store: Store::Direct { vector: 1 },
        c_major: Major::Mn,
        programmatic: true,
        ..config
    };
    check(&config, expect_file!["../../testdata/golden/gemm_sm90_bf16_clusters.ptx"]);
}

/// Weights of 8 bits for few tokens: A is converted in registers, and the columns of C are contiguous.
#[test]
fn sm90_mixed() {
    let mixed = |dtype, n: i64, scale, atoms, store| {
        let atom = format!("SM90_64x{n}x16_F32BF16BF16_RS");
        let config = wgmma(&atom, [128, n, 128], atoms, DType::Bf16);
        let with_scales = WarpSpecialized {
            stages: 6,
            mixed_input: Some(MixedInput { dtype, scale, group: 128 }),
            ..*config.mainloop.warp_specialized().unwrap()
        };
        let config = config.with_mainloop(Mainloop::WarpSpecialized(with_scales));
        GemmConfig { c_major: Major::Mn, store, ..config }
    };
    let s8 =
        mixed(DType::S8, 16, DType::Bf16, lay!("(2,1):(1,0)"), Store::Tma { tile: [128, 16], stages: 1 });
    check(&s8, expect_file!["../../testdata/golden/gemm_sm90_s8_bf16.ptx"]);
    let e4m3 = mixed(DType::E4m3, 64, DType::F32, lay!("(1,1):(0,0)"), Store::Direct { vector: 1 });
    check(&e4m3, expect_file!["../../testdata/golden/gemm_sm90_e4m3_bf16.ptx"]);
}

/// Removes comments, which the parser skips.
fn drop_comments(module: &mut Module) {
    for item in &mut module.items {
        if let Item::Kernel(kernel) = item {
            kernel.body.retain(|statement| !matches!(statement, Statement::Comment(_)));
        }
    }
}

/// The same configuration gives the same bytes, and the text is the module.
#[test]
fn emission_is_deterministic_and_parses_back() {
    for config in chosen().into_iter().chain(odd()) {
        let (mut module, again) = (
            generate(&config, &Epilogue::new()).unwrap().kernel.into_module(),
            generate(&config, &Epilogue::new()).unwrap().kernel.into_module(),
        );
        let text = module.to_string();
        assert_eq!(text, again.to_string(), "{config:?}");
        let parsed = Module::parse(&text).unwrap();
        drop_comments(&mut module);
        assert!(parsed == module, "{config:?}: the text parses to another module");
        assert_eq!(parsed.verify(), Ok(()), "{config:?}");
    }
}
