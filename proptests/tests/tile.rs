//! Every record of testdata/tile.jsonl and of the tile language's own, on the reference evaluator and on the simulator, judged as
//! testdata/tile-SCHEMA.md says.

use std::collections::BTreeMap;

use girih_conformance::tile::{Runner, answer};
use girih_proptests::tile_records::judge;
use girih_tile::ops::table::TABLE;
use serde_json::Value;

const VECTORS: &str = include_str!("../../testdata/tile.jsonl");
const OWN: &str = include_str!("../../tile/tests/vectors/own.jsonl");
const RECORDS: usize = 1345;

/// Counts of a run: by group, records that pass and that fail.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

fn records(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).expect("a record"))
}

fn run(records: impl Iterator<Item = Value>, runner: &Runner) -> Tally {
    let mut tally = Tally::default();
    for record in records {
        let answered = answer(&record, runner);
        let group = record["group"].as_str().unwrap_or_default().to_string();
        let count = tally.groups.entry(group).or_default();
        match judge(&record, &answered.line, answered.returned.as_deref()) {
            Ok(()) => count.0 += 1,
            Err(message) => {
                count.1 += 1;
                tally.failures.push(format!("{}: {message}", record["id"]));
            }
        }
    }
    println!("{:?}", tally.groups);
    tally
}

fn all_pass(tally: &Tally) {
    let failures = &tally.failures;
    assert!(failures.is_empty(), "{} records fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn records_hold_on_the_reference() {
    let tally = run(records(VECTORS), &Runner::Reference);
    let judged: usize = tally.groups.values().map(|(passed, failed)| passed + failed).sum();
    assert_eq!(judged, RECORDS);
    all_pass(&tally);
}

#[test]
fn own_records_hold_on_the_reference() {
    all_pass(&run(records(OWN), &Runner::Reference));
}

/// Every function of the table has a record with numbers, which the reference and a compiled kernel on the simulator both give.
#[test]
fn every_function_has_a_record_a_reference_and_a_lowering() {
    let mut missing = Vec::new();
    let runners = [("reference", Runner::Reference), ("simulator", Runner::Sim(90))];
    for row in TABLE {
        let of_row =
            records(OWN).filter(|record| record["op"] == row.name && record["expect"]["kind"] == "value");
        let of_row: Vec<Value> = of_row.collect();
        if of_row.is_empty() {
            missing.push(format!("`{}` has no record in tile/tests/vectors/own.jsonl", row.name));
        }
        for record in of_row {
            for (name, runner) in &runners {
                if let Err(message) = judge(&record, &answer(&record, runner).line, None) {
                    missing.push(format!("`{}` on the {name}, {}: {message}", row.name, record["id"]));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Compiled and run by the simulator with all its checks, records give what they give on the reference.
#[test]
fn records_hold_on_the_simulator() {
    all_pass(&run(records(VECTORS), &Runner::Sim(90)));
    all_pass(&run(records(OWN), &Runner::Sim(80)));
}

/// An answer that is not what is expected is a failure: the judge does not let everything pass.
#[test]
fn wrong_answers_are_found() {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let record = parse(
        r#"{"expect": {"kind": "value", "dtype": "f32", "shape": [2], "data": ["-0.0", 1.5], "rtol": 0, "atol": 0}, "attrs": {}}"#,
    );
    let line = |data: &str| {
        parse(&format!(r#"{{"result": {{"kind": "value", "dtype": "f32", "shape": [2], "data": {data}}}}}"#))
    };
    assert!(judge(&record, &line(r#"["-0.0", 1.5]"#), None).is_ok());
    for wrong in [r#"[0.0, 1.5]"#, r#"["-0.0", 1.5000001]"#, r#"["-0.0"]"#, r#"["-0.0", "nan"]"#] {
        assert!(judge(&record, &line(wrong), None).is_err(), "{wrong}");
    }
    assert!(judge(&record, &parse(r#"{"error": {"code": "broadcast"}}"#), None).is_err());
}
