//! The table of a record, and records that were cut off.

use std::fs;
use std::path::Path;

use girih_peers::record::{given, known, read};
use girih_peers::rows::{drawn, rows};
use girih_peers::summary::Summary;
use girih_peers::table::{MADE, Mean, Table};
use serde_json::{Value, json};

fn of(row: &str, us: f64, ratio: f64) -> Value {
    json!({
        "row": row, "unit": "TFLOP/s", "girih": 100.0, "girih_us": us, "peer_us": us * ratio, "ratio": ratio,
        "ratio_lower": ratio - 0.01, "gpu": "NVIDIA H200",
    })
}

#[test]
fn the_mean_is_taken_over_right_rows_of_the_frozen_list() {
    let rows = rows().unwrap();
    let mut wrong = of("bf16 tn 2048x2048x2048", 30.0, 9.0);
    wrong["girih_wrong"] = "element (0, 0) is NaN".into();
    let records = [
        of("bf16 tn 512x512x512", 4.0, 2.0),
        of("bf16 tn 1024x1024x1024", 6.0, 0.1),
        of("bf16 tn 1024x1024x1024", 6.0, 0.5),
        of("f64 tn 2048x2048x2048", 100.0, 8.0),
        json!({"row": "tf32 tn 2048x2048x2048", "girih_missing": "no tf32", "peer_us": 50.0}),
        json!({"what": {"op": "launch"}, "ratio": 5.0}),
        wrong,
    ];
    let table = Table::new(&rows, &records);
    let Mean { ratio, measured, missing } = table.mean();
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    assert_eq!((measured, missing), (2, 57));
    let text = table.text();
    let line = |name: &str| {
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    assert!(line("bf16 tn 512x512x512 ").ends_with("reached"), "{text}");
    assert!(
        line("bf16 tn 1024").contains("0.500 (> 0.490)") && !line("bf16 tn 1024").contains("reached"),
        "{text}"
    );
    // 2 * 512^3 operations at 989.4 TFLOP/s take 0.27 us; 3 * 512 * 512 elements of 2 bytes at 4.8 TB/s take 0.33 us.
    assert!(line("bf16 tn 512x512x512 ").contains(" 8 % "), "{text}");
    assert!(line("tf32").ends_with("girih missing: no tf32"), "{text}");
    assert!(line("bf16 tn 2048").ends_with("girih wrong: element (0, 0) is NaN"), "{text}");
    assert!(line("geometric mean").ends_with("1.000 over 2 rows, 57 missing"), "{text}");
}

#[test]
fn a_record_that_was_cut_off_is_read_up_to_there() {
    let path = std::env::temp_dir().join(format!("girih-records-{}.jsonl", std::process::id()));
    // There is nothing to read, but records can be added to it.
    let missing = read(&path).expect_err("no such file").to_string();
    assert!(missing.starts_with(&path.display().to_string()), "{missing}");
    assert_eq!(known(&path).unwrap(), Vec::<Value>::new());
    fs::write(&path, "{\"row\":\"a\"}\n{\"row\":\"b\"}\n{\"row\":\"c").unwrap();
    let found = read(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(found.unwrap(), [json!({"row": "a"}), json!({"row": "b"})]);
}

#[test]
fn a_table_in_markdown_has_a_line_for_each_row_and_the_same_cells_in_each() {
    let rows = rows().unwrap();
    let mut failed = json!({"row": "s8 tn 2048x2048x2048", "failed": "a | b"});
    failed["driver"] = "580".into();
    let records = [of("bf16 tn 512x512x512", 4.0, 1.25), failed];
    let text = Table::new(&rows, &records).markdown("some.jsonl");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 4, "{text}");
    for line in &lines {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 12, "{line}");
    }
    assert!(
        lines[2].contains("| bf16 tn 512x512x512 | 4.00 |") && lines[2].ends_with("| reached |"),
        "{text}"
    );
    assert!(lines[3].ends_with("| failed: a \\| b |"), "{text}");
    assert!(
        text.contains("of `benches/records/some.jsonl`.") && text.contains("list: 1.250 over 1 rows"),
        "{text}"
    );
}

/// Without a record there is no such file.
#[test]
fn the_benchmarks_of_the_repository_are_those_of_their_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(text) = fs::read_to_string(root.join("BENCHMARKS.md")) else { return };
    let made =
        text.lines().find_map(|line| line.strip_prefix(MADE)).expect("a line that says what it is made of");
    let record = made.trim_matches(['`', '.']);
    let (records, rows) = (read(&root.join(record)).unwrap(), rows().unwrap());
    assert!(!records.is_empty(), "{record}");
    let name = record.rsplit('/').next().unwrap_or_default();
    assert_eq!(
        text,
        Table::new(&rows, &records).markdown(name),
        "made anew by the command that the file names"
    );
}

/// Cargo runs this test in the folder of its package, as it runs benches; a path that was given at the root of the workspace is found.
#[test]
fn paths_are_those_of_the_root() {
    let named = std::path::Path::new("benches/records/README.md");
    assert!(!named.exists() && given(named).exists());
    let whole = given(named).canonicalize().unwrap();
    assert_eq!(given(&whole), whole);
}

#[test]
fn a_summary_judges_the_choice() {
    let rows = drawn(1, 5, |_| true);
    let name = |i: usize| rows[i].name.as_str();
    let entry = |config: &str, us: f64, ratio: f64| json!({"config": config, "us": us, "ratio": ratio});
    let swept = |row: &str, all: &[Value]| json!({"sweep": row, "chosen": "usual", "finalists": all});
    let mut wrong = of(name(3), 1.0, 9.0);
    wrong["girih_wrong"] = "element (0, 0) is NaN".into();
    let records = [
        of(name(0), 3.0, 0.1),
        of(name(0), 3.0, 2.0),
        // The best of a sweep is another one, and is the choice.
        swept(name(1), &[entry("other", 10.0, 1.0), entry("usual", 12.0, 0.5)]),
        swept(name(2), &[entry("other", 10.0, 3.0), entry("usual", 8.0, 1.0)]),
        wrong,
        of("bf16 tn 512x512x512", 1.0, 5.0),
    ];
    let summary = Summary::new(&rows, &records);
    assert!((summary.mean() - 1.0).abs() < 1e-12, "{}", summary.mean());
    let [mean, worst] = summary.regret().unwrap();
    assert!((mean - 0.1).abs() < 1e-12 && (worst - 0.2).abs() < 1e-12, "{mean} {worst}");
    let text = summary.to_string();
    for line in [
        "3 rows beside the peer: geometric mean 1.000, 67 % at 0.97 or more",
        "2 rows swept: mean regret 10.0 %, greatest 20.0 %",
        "0 rows without a peer, 1 failed, 1 not measured",
        &format!("  0.500 of the peer: {}", name(1)),
        &format!("  regret 20.0 %: {}, best other", name(1)),
        &format!("  failed: {}: element (0, 0) is NaN", name(3)),
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(Summary::new(&rows, &[]).regret().is_none());
}
