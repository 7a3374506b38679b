//! Records as a table, for a terminal and for `BENCHMARKS.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use girih_kernels::Roof;
use serde_json::Value;

use crate::roof::seconds;
use crate::rows::Row;

/// The rows with the last record of each, and what is known of the machine.
pub struct Table<'a> {
    rows: Vec<(&'a Row, Option<Value>)>,
}

/// A mean over the rows of the frozen list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The geometric mean of the ratios.
    pub ratio: f64,
    /// Rows that it is taken over.
    pub measured: usize,
    /// Rows of the list without a ratio.
    pub missing: usize,
}

impl<'a> Table<'a> {
    /// The rows with their last records.
    pub fn new(rows: &'a [Row], records: &[Value]) -> Table<'a> {
        let last = |row: &Row| records.iter().rev().find(|record| record["row"] == *row.name).cloned();
        Table { rows: rows.iter().map(|row| (row, last(row))).collect() }
    }

    /// The geometric mean of the frozen list, over its rows whose result is right and that have a ratio.
    pub fn mean(&self) -> Mean {
        let frozen = || self.rows.iter().filter(|(row, _)| row.frozen);
        let ratios: Vec<f64> = frozen().filter_map(|(_, record)| ratio(record.as_ref()?)).collect();
        let measured = ratios.len();
        let ratio = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / measured.max(1) as f64).exp();
        Mean { ratio, measured, missing: frozen().count() - measured }
    }

    /// The lines of the rows that have a record, below the names of the columns.
    fn lines(&self) -> Vec<[String; COLUMNS]> {
        let lines = self.rows.iter().filter_map(|(row, record)| Some(line(row, record.as_ref()?)));
        [HEAD.map(String::from)].into_iter().chain(lines).collect()
    }

    /// The rows that have a record in columns, and the mean, for a terminal.
    pub fn text(&self) -> String {
        let lines = self.lines();
        let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for line in &lines {
            for (i, cell) in line.iter().enumerate() {
                let width = width(i);
                // Words to the left, numbers to the right.
                let _ = if i == 0 || i == COLUMNS - 1 {
                    write!(out, "{cell:<width$}  ")
                } else {
                    write!(out, "{cell:>width$}  ")
                };
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        format!("{out}{}\n", self.mean())
    }

    /// `BENCHMARKS.md`, made of the record of this name in `benches/records/`.
    pub fn markdown(&self, record: &str) -> String {
        let machines = self.rows.iter().filter_map(|(_, record)| {
            let field = |field: &str| Some(record.as_ref()?[field].as_str()?.to_string());
            Some(format!("{}, driver {}, {}", field("gpu")?, field("driver")?, field("date")?))
        });
        let machines: BTreeSet<String> = machines.collect();
        let mut out = format!(
            "# Benchmarks\n\n{MADE}`benches/records/{record}`.\n\n{METHOD}\n\nMeasured on: {}.\n\n{}.\n",
            machines.into_iter().collect::<Vec<_>>().join("; "),
            self.mean()
        );
        for (i, line) in self.lines().into_iter().enumerate() {
            let cells = line.map(|cell| cell.replace('|', "\\|"));
            let _ = write!(out, "{}| {} |", if i == 0 { "\n" } else { "" }, cells.join(" | "));
            out.push('\n');
            if i == 0 {
                let _ = writeln!(out, "|---|{}---|", "---:|".repeat(COLUMNS - 2));
            }
        }
        out
    }
}

/// How `BENCHMARKS.md` says which record it is made of.
pub const MADE: &str = "Made by `cargo bench --bench gpu_rows -- --markdown --table FILE` of ";
const METHOD: &str = "Microseconds are those of a launch among others in a graph, the median of slices in turns; `stream` is a launch \
without a graph, `call` girih's call from the host. `girih/peer` is the mean of the speeds beside the peer, \
slice by slice, and what that mean is above with a confidence of 95 %. `roof` is the share of what the vendor's rates allow. The peer of \
a product is the best of cuBLASLt's heuristic list. [How rows are measured](benches/records/README.md#rows).";

const COLUMNS: usize = 11;
const HEAD: [&str; COLUMNS] =
    ["row", "girih us", "stream", "call", "rate", "peer us", "stream", "girih/peer", "bar", "roof", ""];

impl std::fmt::Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Mean { ratio, measured, missing } = self;
        write!(f, "geometric mean of the frozen list: {ratio:.3} over {measured} rows, {missing} missing")
    }
}

/// girih's speed beside the peer's, if both are right.
fn ratio(record: &Value) -> Option<f64> {
    if record.get("girih_wrong").or(record.get("peer_wrong")).is_some() {
        return None;
    }
    record["ratio"].as_f64()
}

fn line(row: &Row, record: &Value) -> [String; COLUMNS] {
    let number = |field: &str, digits: usize| match record[field].as_f64() {
        Some(value) => format!("{value:.digits$}"),
        None => String::from("-"),
    };
    let unit = record["unit"].as_str().unwrap_or_default();
    let rate = record["girih"].as_f64().map_or(String::from("-"), |rate| format!("{rate:.1} {unit}"));
    let speed = match (ratio(record), record["ratio_lower"].as_f64()) {
        (Some(ratio), Some(lower)) => format!("{ratio:.3} (> {lower:.3})"),
        _ => String::from("-"),
    };
    let roof = record["gpu"].as_str().and_then(Roof::of).zip(record["girih_us"].as_f64());
    let roof =
        roof.map_or(String::from("-"), |(roof, us)| format!("{:.0} %", 1e8 * seconds(&roof, &row.work) / us));
    let reached = ratio(record).map_or("", |ratio| if ratio >= row.bar { "reached" } else { "" });
    let said = ["failed", "girih_wrong", "peer_wrong", "girih_missing", "peer_missing"].into_iter().find_map(
        |field| {
            let why = record[field].as_str()?;
            let why: String = why.chars().take(80).collect();
            Some(format!("{}: {why}", field.replace('_', " ")))
        },
    );
    [
        row.name.clone(),
        number("girih_us", 2),
        number("girih_stream_us", 2),
        number("girih_run_us", 2),
        rate,
        number("peer_us", 2),
        number("peer_stream_us", 2),
        speed,
        format!("{:.2}", row.bar),
        roof,
        said.unwrap_or_else(|| reached.into()),
    ]
}
