//! `girih attention decode` on the simulator, as a user types the commands.

use std::path::Path;

use girih_ptx::Module;
use half::bf16;

use crate::attention::{load, numbers, save};
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
        let (check, plan) = (&report["check"], &report["kernel"]);
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

/// Writes the bits of an even number of bf16, and returns their values.
fn halves(path: &Path, shape: &[usize], values: &[f32]) -> Vec<f64> {
    let bits: Vec<[u8; 2]> = values.iter().map(|&x| bf16::from_f32(x).to_le_bytes()).collect();
    let words: Vec<[u8; 4]> =
        bits.chunks(2).map(|pair| [pair[0][0], pair[0][1], pair[1][0], pair[1][1]]).collect();
    save(path, "<u2", shape, &words);
    values.iter().map(|&x| bf16::from_f32(x).to_f64()).collect()
}

/// The files of a cache in pages are read, and O and the logarithms are written: what f64 makes of the same numbers.
#[test]
fn files_are_decoded() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    const DIM: usize = 8;
    let q = halves(&at("q.npy"), &[2, 1, 2, DIM], &numbers(2 * 2 * DIM, 1));
    let k = halves(&at("k.npy"), &[4, 16, 1, DIM], &numbers(64 * DIM, 2));
    let v = halves(&at("v.npy"), &[4, 16, 1, DIM], &numbers(64 * DIM, 3));
    let (lengths, table) = ([40usize, 5], [[3usize, 0, 2], [1, 9, 9]]);
    let integers = |all: &[usize]| all.iter().map(|&x| (x as i32).to_le_bytes()).collect::<Vec<_>>();
    save(&at("lengths.npy"), "<i4", &[2], &integers(&lengths));
    save(&at("table.npy"), "<i4", &[2, 3], &integers(table.as_flattened()));
    let line = "attention decode --q q.npy --k k.npy --v v.npy --lengths lengths.npy --table table.npy";
    let report = json(folder.path(), &format!("{line} -o o.npy --lse-output lse.npy --parts 2 --json"));
    assert_eq!((&report["passed"], &report["problem"]["capacity"]), (&true.into(), &48.into()), "{report}");
    assert_eq!(report["written"].as_array().map(Vec::len), Some(2));
    let (lse, o) = (load(&at("lse.npy")), std::fs::read(at("o.npy")).expect("read"));
    let o = &o[o.len() - 2 * 2 * 2 * DIM..];
    for (sequence, head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let row = (sequence * 2 + head) * DIM;
        let place = |key: usize| (table[sequence][key / 16] * 16 + key % 16) * DIM;
        let score =
            |key: usize| (0..DIM).map(|i| q[row + i] * k[place(key) + i]).sum::<f64>() / (DIM as f64).sqrt();
        let powers: Vec<f64> = (0..lengths[sequence]).map(|key| score(key).exp()).collect();
        let sum: f64 = powers.iter().sum();
        assert!((f64::from(lse[sequence * 2 + head]) - sum.ln()).abs() < 1e-4);
        for i in 0..DIM {
            let wanted: f64 = powers.iter().enumerate().map(|(key, p)| p * v[place(key) + i] / sum).sum();
            let found = bf16::from_le_bytes([o[2 * (row + i)], o[2 * (row + i) + 1]]).to_f64();
            assert!((found - wanted).abs() < 1e-2, "{sequence} {head} {i}: {found}, not {wanted}");
        }
    }
    // In one piece, with the heads before the keys, for all keys that there is room for.
    halves(&at("whole.npy"), &[2, 1, 20, DIM], &numbers(40 * DIM, 4));
    let whole = "attention decode --q q.npy --k whole.npy --v whole.npy --order bhsd --json";
    assert_eq!(json(folder.path(), whole)["problem"]["keys"], serde_json::json!([20, 20]));
    save(&at("wrong.npy"), "<i4", &[2, 3], &integers(&[3, 0, 4, 1, 9, 9]));
    let other = "attention decode --q q.npy --k k.npy --v v.npy";
    for (line, wanted) in [
        (String::from(other), "k.npy: 4 sequences`: expected 2, as q.npy has, or the file of the pages"),
        (
            line.replace("table.npy", "wrong.npy"),
            "wrong.npy: page 4 of sequence 0`: expected pages from 0 to 3",
        ),
        (line.replace("table.npy", "lengths.npy"), "lengths.npy: [2]`: expected the pages of 2 sequences"),
        (line.replace("v.npy", "whole.npy"), "expected equal extents, with the last axis of q.npy"),
        (line.replace("--lengths lengths.npy", ""), "page 9 of sequence 1"),
        (format!("{line} --cache e4m3"), "'|u1'"),
        (format!("{line} --heads 2"), "cannot be used with"),
        (String::from("attention decode --table table.npy"), "--q <Q.npy>"),
    ] {
        let output = girih_in(folder.path(), &line);
        let error = text(&output.stderr);
        assert!(!output.status.success() && error.contains(wanted), "{line}: {error}");
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
        ("--heads 8 --kv-heads 3", "divisors of 8 are accepted"),
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

/// What is printed, explained and tuned are the kernels that run.
#[test]
fn kernels_are_printed_and_explained() {
    let folder = folder();
    let words = "attention decode --batch 2 --keys 8192 --heads 4 --kv-heads 1";
    let printed = succeeds(folder.path(), &format!("emit {words}"));
    Module::parse(&printed).expect("PTX").verify().expect("valid PTX");
    assert!(printed.contains(".entry attention_decode(") && printed.contains("// grid: ["), "{printed}");
    let sum = succeeds(folder.path(), &format!("emit {words} --sum"));
    assert!(sum.contains(".entry attention_decode_sum(") && sum.contains("// grid: [1, 4, 2]"), "{sum}");
    let told = text(&girih_in(folder.path(), &format!("emit {words} --parts 1 --sum")).stderr);
    assert!(told.contains("expected several parts"), "{told}");
    let report = json(folder.path(), &format!("explain {words} --json"));
    let parts = report["plan"]["parts"].as_u64().expect("a number");
    let why = report["reasons"].as_array().expect("reasons").iter().find(|reason| reason["what"] == "parts");
    let why = why.and_then(|reason| reason["why"].as_str()).expect("parts");
    assert!(parts > 1 && why.starts_with(&format!("up to {parts} for 128 tiles")), "{why}");
    assert_eq!(report["bytes"], 2 * 2 * 8192 * 64 * 2);
    let few = json(folder.path(), &format!("explain {words} --multiprocessors 4 --json"));
    assert!(few["plan"]["parts"].as_u64() < Some(parts), "{few}");
    assert!(succeeds(folder.path(), &format!("explain {words}")).contains("roofline"));
    let tuned = succeeds(folder.path(), "tune attention decode --heads 1 --keys 130 --no-check");
    assert!(tuned.starts_with("3 configurations\n") && tuned.contains("fastest "), "{tuned}");
}
