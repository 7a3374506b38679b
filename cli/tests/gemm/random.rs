//! What is reported of products of random matrices, as text and as JSON.

use super::{folder, girih_in, json, succeeds, text};

/// The strides of A (M,K) and B (N,K) for the letters of the layout, and the strides of C for its order.
fn strides(layout: &str, order: &str, [m, n, k]: [i64; 3], pads: [i64; 3]) -> [[i64; 2]; 3] {
    let of = |contiguous_second: bool, [x, y]: [i64; 2], pad: i64| {
        if contiguous_second { [y + pad, 1] } else { [1, x + pad] }
    };
    [
        of(layout.starts_with('t'), [m, k], pads[0]),
        of(layout.ends_with('n'), [n, k], pads[1]),
        of(order == "row", [m, n], pads[2]),
    ]
}

#[test]
fn every_layout_order_and_dtype_passes_and_says_its_strides() {
    let folder = folder();
    let mnk = [33, 17, 40];
    for (i, layout) in ["tn", "tt", "nn", "nt"].into_iter().enumerate() {
        for (j, order) in ["row", "column"].into_iter().enumerate() {
            let dtype = ["f32", "f16", "bf16"][(i + 2 * j) % 3];
            let kernel = if dtype == "f32" { "simt" } else { "sm90" };
            for pads in [[0, 0, 0], [3, 8, 1]] {
                let tight = strides(layout, order, mnk, pads);
                let ld = tight.map(|[x, y]| x.max(y));
                let report = json(
                    folder.path(),
                    &format!(
                        "gemm --m 33 --n 17 --k 40 --layout {layout} --order {order} --dtype {dtype} --seed {i} \
                         --kernel {kernel} --lda {} --ldb {} --ldc {} --json",
                        ld[0], ld[1], ld[2]
                    ),
                );
                assert_eq!(report["passed"], true, "{report}");
                let problem = &report["problem"];
                for (matrix, stride) in ["a", "b", "c"].into_iter().zip(tight) {
                    assert_eq!(problem[matrix]["stride"], serde_json::json!(stride), "{matrix} of {report}");
                }
                assert_eq!(problem["a"]["shape"], serde_json::json!([33, 40]));
                assert_eq!(problem["b"]["shape"], serde_json::json!([17, 40]));
                assert_eq!(problem["layout"], layout);
                assert_eq!(problem["kernel"], kernel);
                // Tensor maps take a pitch of whole 16 bytes; with another pitch A or B is copied.
                for (matrix, ld) in ["a", "b"].into_iter().zip(ld) {
                    let copied = !problem[matrix]["copied"].is_null();
                    assert_eq!(copied, dtype != "f32" && ld % 8 != 0, "{matrix} of {report}");
                }
            }
        }
    }
}

/// Every dtype by the kernel that is fastest for it, with the C that is the default and with another one.
#[test]
fn every_dtype_of_operands_and_products_passes() {
    let folder = folder();
    for (arguments, dtype, output, kernel) in [
        ("--dtype f32 --out bf16", "f32", "bf16", "simt"),
        ("--dtype tf32", "tf32", "f32", "sm90"),
        ("--dtype tf32 --out fp8", "tf32", "e4m3", "sm90"),
        ("--dtype tf32 --layout nt", "tf32", "f32", "sm80"),
        ("--dtype f64", "f64", "f64", "sm90"),
        ("--dtype f64 --kernel sm80 --out f32", "f64", "f32", "sm80"),
        ("--out f32", "bf16", "f32", "sm90"),
        ("--invariant", "bf16", "bf16", "sm90"),
        ("--dtype f16 --out e5m2", "f16", "e5m2", "sm90"),
        ("--dtype f16 --sums f16", "f16", "f16", "sm90"),
        ("--dtype fp8", "e4m3", "bf16", "sm90"),
        ("--dtype e4m3 --fast-accumulation --out e4m3", "e4m3", "e4m3", "sm90"),
        ("--dtype e5m2 --layout tt --out f16", "e5m2", "f16", "sm80"),
        ("--dtype int8", "s8", "s32", "sm90"),
        ("--dtype s8 --out bf16 --order column --ldc 64", "s8", "bf16", "sm90"),
        ("--dtype s8 --lda 65 --layout nn --out int32", "s8", "s32", "sm80"),
    ] {
        let report = json(folder.path(), &format!("gemm --m 48 --n 32 --k 160 {arguments} --json"));
        let problem = &report["problem"];
        assert_eq!(report["passed"], true, "{report}");
        let found = [&problem["dtype"], &problem["output"], &problem["kernel"]];
        assert_eq!(found, [dtype, output, kernel], "{arguments}");
        // Sums of integers that stay integers are exact.
        if output == "s32" {
            assert_eq!(report["check"]["relative_error"], 0.0, "{arguments}");
        }
    }
    let out = succeeds(folder.path(), "gemm --m 48 --n 32 --k 160 --dtype int8");
    assert!(out.contains("M=48 N=32 K=160, s8 to s32, tn, by sm90"), "{out}");
    let out = succeeds(folder.path(), "gemm --m 48 --n 32 --k 160 --dtype f16 --sums f16");
    assert!(out.contains("M=48 N=32 K=160, f16 with sums of f16, tn, by sm90"), "{out}");
}

#[test]
fn the_object_says_what_ran() {
    let report = json(folder().path(), "gemm --m 128 --n 128 --k 128 --kernel sm80 --json");
    assert_eq!(report["device"]["kind"], "sim");
    assert_eq!(report["problem"]["dtype"], "bf16");
    assert_eq!(report["check"]["compared"], 128 * 128);
    assert_eq!(report["check"]["elements"], 128 * 128);
    assert_eq!(report["check"]["padding_written"], 0);
    let error = report["check"]["relative_error"].as_f64().expect("a number");
    // Most of the error is the rounding of the output: at most half of 2^-8, and on average no less than a tenth of that.
    assert!(error > 1e-4 && error < 4e-3, "{error}");
    assert_eq!(report["time"]["runs"], 1);
    assert!(report["time"]["median_s"].as_f64().is_some_and(|t| t > 0.0));
    assert!(report["tflops"].is_null() && report["kernel"]["registers"].is_null());
    // 128 x 128 x 128 takes at least this many instructions of 16 x 8 x 16.
    let executed = &report["kernel"]["executed"];
    assert_eq!(executed["blocks"], 1);
    assert!(executed["mma"].as_u64().is_some_and(|n| n >= 8 * 16 * 8), "{executed}");
    let names: Vec<_> = report["kernel"]["partitions"].as_array().expect("a list").iter().collect();
    assert!(names.iter().any(|p| p["name"] == "TV of C"), "{names:?}");
}

/// The simulator is an sm_90, on which numbers of 16 bits are multiplied by `wgmma`, whatever the sizes are.
#[test]
fn the_fastest_kernel_is_the_default() {
    let report = json(folder().path(), "gemm --m 64 --n 64 --k 64 --json");
    assert_eq!((&report["problem"]["kernel"], &report["passed"]), (&"sm90".into(), &true.into()));
    let executed = &report["kernel"]["executed"];
    // A block has four warps at least, and there are four steps along K.
    let wgmma = executed["wgmma"].as_u64().unwrap_or(0);
    assert!(executed["mma"] == 0 && wgmma >= 4 * 4 && wgmma.is_multiple_of(16), "{executed}");
    for (arguments, kernel) in [
        ("--m 64 --n 63 --k 64", "sm90"),
        // Warps load rows that tensor maps do not describe as they are, where copies take longer than they gain.
        ("--m 64 --n 64 --k 63", "sm80"),
        ("--m 64 --n 64 --k 63 --lda 64 --ldb 64", "sm90"),
        ("--m 63 --n 64 --k 64 --order column", "sm90"),
        ("--m 64 --n 64 --k 0", "sm90"),
        ("--m 64 --n 64 --k 64 --dtype f32", "simt"),
    ] {
        let report = json(folder().path(), &format!("gemm --json {arguments}"));
        assert_eq!(report["problem"]["kernel"], kernel, "{arguments}");
    }
}

#[test]
fn the_text_says_the_same() {
    let out = succeeds(
        folder().path(),
        "gemm --m 17 --n 33 --k 5 --layout nt --order column --ldc 20 --dtype f16 --kernel sm90",
    );
    for line in [
        "C = A * B, M=17 N=33 K=5, f16, nt, by sm90",
        "(17,5):(1,17)   random, seed 0   copied to (17,5):(1,64)",
        "(33,5):(1,33)   random, seed 0   copied to (33,5):(1,64)",
        "(17,33):(1,20)",
        "C^T = B^T * A^T",
        "x16_F32F16F16_SS<GMMA::Major::MN, GMMA::Major::MN>",
        "561 of 561 compared",
    ] {
        assert!(out.contains(line), "no {line:?} in\n{out}");
    }
    assert_eq!(out.lines().last(), Some("PASSED"));
}

/// The first command of the README ends with what to do next, and does not give the simulation's time out as the kernel's.
#[test]
fn the_first_output_ends_with_a_next_step() {
    let out = succeeds(folder().path(), "gemm --no-check");
    let (report, next) = out.split_once("PASSED\n").expect("it passes");
    assert!(next.trim().starts_with("next: ") && next.contains("docs/tile/1-hello.md"), "{next}");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    for page in next.split_whitespace().filter(|word| word.ends_with(".md")) {
        assert!(root.join(page).is_file(), "{page}");
    }
    assert!(!report.contains("\ntime ") && report.contains("says nothing about a GPU's speed"), "{report}");
    // Who asks for sizes has read that.
    assert!(succeeds(folder().path(), "gemm --m 16 --n 16 --k 16").ends_with("PASSED\n"));
}

#[test]
fn a_seed_says_the_data_and_checks_do_not_change_them() {
    let folder = folder();
    let product = |arguments: &str| {
        succeeds(folder.path(), &format!("gemm --m 9 --n 9 --k 9 {arguments} -o c.npy"));
        std::fs::read(folder.path().join("c.npy")).expect("written")
    };
    let first = product("--seed 1");
    assert_eq!(product("--seed 1"), first);
    assert_eq!(product("--seed 1 --no-check"), first);
    assert_ne!(product("--seed 2"), first);
}

#[test]
fn empty_products_are_fine() {
    for mnk in ["--m 0 --n 5 --k 7", "--m 5 --n 0 --k 7", "--m 5 --n 7 --k 0"] {
        let report = json(folder().path(), &format!("gemm {mnk} --json"));
        assert_eq!(report["passed"], true, "{report}");
        assert_eq!(report["check"]["compared"], report["check"]["elements"]);
    }
}

#[test]
fn copies_are_compared_whole() {
    for (arguments, elements) in [
        ("(3,37):(37,1) --dtype f32", 111),
        ("(5,37):(40,1) (5,37):(64,1) --dtype f16", 185),
        ("(64,64):(64,1) (64,64):(1,64)", 4096),
        ("(5,7,11):(77,11,1) (5,7,11):(1,5,35) --dtype u8", 385),
        ("(4,6):(1,4) (2,2,6):(1,2,4) --dtype f64", 24),
        ("(4,6):(0,1) (4,6):(6,1) --dtype s32", 24),
        ("(30,31):(31,1) (32,32):(32,1) --at (1,0) --fill -1.5", 1024),
        ("(1000,3):(3,1) (70,3):(3,1) --gather 0 --dtype s16", 210),
        ("1:1", 1),
    ] {
        let report = json(folder().path(), &format!("copy {arguments} --json"));
        assert_eq!((&report["passed"], &report["elements"]), (&true.into(), &elements.into()), "{report}");
    }
    let out = succeeds(folder().path(), "copy (5,37):(40,1) (5,37):(37,1) --dtype f32");
    assert!(out.contains("f32, (5,37):(40,1) to (5,37):(37,1)"), "{out}");
    assert!(out.contains("0 of 185 elements differ") && out.ends_with("PASSED\n"), "{out}");
}

#[test]
fn the_help_spells_the_layouts_out() {
    let help = text(&girih_in(folder().path(), "gemm --help").stdout);
    for words in
        ["t: A is K-contiguous", "n: A is M-contiguous", "n: B is K-contiguous", "t: B is N-contiguous"]
    {
        assert!(help.contains(words), "{help}");
    }
    assert!(help.contains("`a @ b.T` is tn, its `a @ b` is tt"), "{help}");
}

#[test]
fn products_of_groups_are_checked_and_reported() {
    let folder = folder();
    let report = json(folder.path(), "gemm --m 100 --n 24 --k 17 --groups 5 --ldc 25 --json");
    assert_eq!((&report["passed"], &report["problem"]["groups"]), (&true.into(), &5.into()), "{report}");
    assert_eq!(report["check"]["compared"], 100 * 24);
    assert_eq!(report["problem"]["b"]["layout"], "(24,17,5):(17,1,408)");
    let out = succeeds(folder.path(), "gemm --m 40 --n 24 --k 16 --groups 3 --stride-b 0 --kernel sm80");
    assert!(out.contains("C = A * B, M=40 N=24 K=16 in 3 groups of rows, bf16, tn, by sm80"), "{out}");
    let ptx = succeeds(folder.path(), "emit gemm --groups 2 --kernel sm90");
    assert!(
        ptx.contains("grid: at most as many blocks as the tiles of all groups together, of 384 threads"),
        "{ptx}"
    );
}

#[test]
fn products_of_a_batch_are_checked_and_reported() {
    let folder = folder();
    let arguments = "gemm --m 40 --n 24 --k 17 --batch 3 --stride-b 0 --ldc 72 --stride-c 24 --json";
    let report = json(folder.path(), arguments);
    assert_eq!((&report["passed"], &report["problem"]["batch"]), (&true.into(), &3.into()), "{report}");
    assert_eq!(report["check"]["compared"], 3 * 40 * 24);
    let layouts = ["a", "b", "c"].map(|matrix| report["problem"][matrix]["layout"].as_str().expect("text"));
    assert_eq!(layouts, ["(40,17,3):(17,1,680)", "(24,17,3):(17,1,0)", "(40,24,3):(72,1,24)"]);
    let out = succeeds(folder.path(), "gemm --m 40 --n 24 --k 16 --batch 2 --dtype f32");
    assert!(out.contains("C = A * B, M=40 N=24 K=16 L=2, f32, tn, by simt"), "{out}");
    let ptx = succeeds(folder.path(), "emit gemm --batch 2 --kernel sm90");
    assert!(ptx.contains(" * L blocks"), "{ptx}");
}

/// Each matrix in a buffer of its own, also where it has no elements.
#[test]
fn products_by_pointers_are_checked_and_reported() {
    let folder = folder();
    for (arguments, kernel, elements) in [
        ("--m 40 --n 24 --k 17 --ldc 27", "sm80", 3 * 40 * 24),
        ("--m 40 --n 24 --k 0 --dtype f32 --order column", "simt", 3 * 40 * 24),
        ("--m 0 --n 24 --k 8 --dtype f64", "sm90", 0),
    ] {
        let report = json(folder.path(), &format!("gemm --batch 3 --pointers {arguments} --json"));
        let problem = &report["problem"];
        assert_eq!((&report["passed"], &problem["batch"]), (&true.into(), &3.into()), "{report}");
        assert_eq!((&problem["kernel"], &report["check"]["compared"]), (&kernel.into(), &elements.into()));
        assert!(problem["c"]["layout"].as_str().is_some_and(|c| c.ends_with(" at 3 addresses")), "{report}");
    }
    let why = succeeds(folder.path(), "explain gemm --batch 64 --pointers");
    assert!(why.contains("those of 64 products stand in memory"), "{why}");
    let ptx = succeeds(folder.path(), "emit gemm --batch 2 --pointers");
    assert!(ptx.contains("ld.global.u64") && ptx.contains(" * L blocks"), "{ptx}");
}
