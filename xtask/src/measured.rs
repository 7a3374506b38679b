//! What the README says was measured is in the records.

use std::fs;

use serde_json::Value;

use crate::shell::root;

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect(file)
}

/// The cells of a table's rows.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// A cell of a row, found by its first cell.
fn cell<'a>(table: &'a str, row: &str, column: usize) -> &'a str {
    rows(table).find(|cells| cells[0] == row).unwrap_or_else(|| panic!("no row {row}"))[column]
}

/// Whether a cell is a number, rounded.
fn assert_rounds(told: &str, measured: &str) {
    let number = |text: &str| text.split(' ').next().and_then(|text| text.parse::<f64>().ok()).expect(text);
    let digits =
        told.split(' ').next().and_then(|text| text.split_once('.')).map_or(0, |(_, digits)| digits.len());
    // What is measured is rounded too, to a digit more.
    let off = 0.55 * 0.1f64.powi(digits as i32) + 1e-9;
    assert!((number(told) - number(measured)).abs() <= off, "{told} of the README, {measured} of the record");
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_records() {
    let readme = read("README.md");
    let (mut products, mut attention) = (0, 0);
    let record =
        readme.split("benches/records/").find_map(|rest| rest.split_once("-attention.md")).expect("a link").0;
    let record = read(&format!("benches/records/{record}-attention.md"));
    for cells in rows(&readme) {
        if let [name, girih, peer, ratio] = cells[..]
            && girih.ends_with(" us")
        {
            let name = name.replacen(' ', " tn ", 1);
            for (told, column) in [(girih, 1), (peer, 5), (ratio, 7)] {
                assert_rounds(told, cell(&read("BENCHMARKS.md"), &name, column));
            }
            products += 1;
        } else if let [name, rate, ratio, causal] = cells[..]
            && rate.ends_with(" TFLOP/s")
        {
            let (columns, tokens) = name.split_once(", ").expect(name);
            let name = format!("attention d{columns} S{tokens}");
            assert_rounds(rate, cell(&record, &name, 2));
            assert_rounds(ratio, cell(&record, &name, 3));
            assert_rounds(causal, cell(&record, &format!("{name} causal"), 3));
            attention += 1;
        }
    }
    assert!(products >= 5 && attention >= 5, "{products} {attention}");
    let mean = read("BENCHMARKS.md")
        .split_once("geometric mean of the frozen list: ")
        .expect("a mean")
        .1
        .to_string();
    let told = readme.split_once("a fixed list of 59 rows was ").expect("the mean").1;
    assert_rounds(&told[..4], &mean[..5]);
}

#[test]
fn the_programs_of_the_readme_are_those_of_the_record() {
    let mut records: Vec<_> = fs::read_dir(root().join("benches/records"))
        .expect("records")
        .map(|entry| entry.expect("a record").path())
        .filter(|path| path.to_string_lossy().ends_with("-programs.json"))
        .collect();
    records.sort();
    let record: Value =
        serde_json::from_str(&fs::read_to_string(records.last().expect("a record")).expect("text"))
            .expect("JSON");
    let told = format!("{} instructions in {} random programs", record["instructions"], record["programs"]);
    assert!(read("README.md").contains(&told), "{told}");
}
