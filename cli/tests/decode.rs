//! `girih attention decode` on the simulator, as a user types the commands.

use crate::attention::save;
use crate::gemm::{folder, girih_in, json, succeeds, text};

#[test]
fn random_caches_pass() {
    let folder = folder();
    for (line, rows) in [
        ("--batch 4 --keys 300 --capacity 512 --kv-heads 2 --head-dim 128", 32),
        ("--keys 100 --heads 4 --queries 3 --pages 16 --cache e4m3 --scales head --lse", 12),
        (
            "--keys 130 --heads 2 --dtype f16 --cache e5m2 --scales tensor --order bhsd --pages 32 --parts 2",
            2,
        ),
        ("--keys 90 --heads 2 --queries 16 --window 20 --softcap 3 --scale 0.5 --dtype f16 --lse", 32),
        ("--batch 2 --keys 70 --heads 34 --kv-heads 2 --head-dim 80 --queries 2 --order bhsd", 136),
        ("--batch 2 --keys 3 --heads 2 --queries 5 --lse", 20),
    ] {
        let report = json(folder.path(), &format!("attention decode {line} --json"));
        let (check, plan) = (&report["check"], &report["plan"]);
        assert_eq!(report["passed"], true, "{line}: {report}");
        assert_eq!((&check["rows"], &check["rows_compared"]), (&rows.into(), &rows.into()), "{line}");
        let grid = plan["grid"].as_array().expect("a grid").iter().filter_map(serde_json::Value::as_u64);
        assert_eq!(plan["blocks"].as_u64(), Some(grid.product()), "{line}");
        assert_eq!(plan["grid"][0], plan["parts"], "{line}");
    }
    let out = succeeds(folder.path(), "attention decode --keys 0 --heads 2");
    assert!(out.ends_with("PASSED\n") && out.contains("0 of 1 keys") && out.contains("stages "), "{out}");
}

/// The lengths of a file are those of the sequences.
#[test]
fn lengths_are_read() {
    let folder = folder();
    let lengths = [0i32, 1, 64, 129].map(i32::to_le_bytes);
    save(&folder.path().join("lengths.npy"), "<i4", &[4], &lengths);
    let line = "attention decode --lengths lengths.npy --heads 2 --kv-heads 1 --queries 2 --pages 64 --lse";
    for (more, capacity) in [("", 129), ("--capacity 200 --parts 3", 200)] {
        let report = json(folder.path(), &format!("{line} {more} --json"));
        let (problem, check) = (&report["problem"], &report["check"]);
        assert_eq!(report["passed"], true, "{more}: {report}");
        assert_eq!((&problem["batch"], &problem["capacity"]), (&4.into(), &capacity.into()));
        assert_eq!((&problem["keys"][0], &problem["keys"][1]), (&0.into(), &129.into()));
        assert_eq!(check["rows_compared"], 16);
    }
}

#[test]
fn what_cannot_be_decoded_is_told() {
    let folder = folder();
    save(&folder.path().join("negative.npy"), "<i4", &[1], &[(-1i32).to_le_bytes()]);
    for (line, wanted) in [
        ("--keys 300 --capacity 256", "`300 keys`: expected a capacity of as many, not of 256"),
        ("--batch 0", "batches = 0: 1 to"),
        ("--queries 17", "queries = 17: 1 to 16"),
        ("--heads 8 --kv-heads 3", "a multiple of the heads of K and V"),
        ("--head-dim 68", "multiples of 8 elements"),
        ("--pages 48", "16, 32, 64, 128 and 256"),
        ("--pages 0", "page size = 0: 16 to 256"),
        ("--dtype f32", "f16 and bf16 are accepted"),
        ("--cache f16", "e4m3 and e5m2"),
        ("--scales row", "`row`: expected `tensor` or `head`"),
        ("--window -1", "left = -1: 0 to"),
        ("--softcap 0", "softcap = 0: numbers from"),
        ("--parts 0", "parts = 0: 1 to"),
        ("--keys 100000000 --batch 4", "keys = 400000000: 0 to 268435456"),
        ("--lengths none.npy", "cannot read none.npy"),
        ("--lengths negative.npy", "a number below 0"),
        ("--lengths negative.npy --keys 3", "cannot be used with"),
    ] {
        let output = girih_in(folder.path(), &format!("attention decode {line}"));
        let error = text(&output.stderr);
        assert!(!output.status.success() && error.contains(wanted), "{line}: {error}");
    }
    let output = girih_in(folder.path(), "attention --heads 2 decode");
    assert!(!output.status.success() && text(&output.stderr).contains("decode"), "{output:?}");
}
