//! Records as a table, for a terminal and for `BENCHMARKS.md`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::roof::Roof;
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

    /// The rows in columns, those without a record left out.
    pub fn text(&self) -> String {
        let lines: Vec<[String; 8]> =
            self.rows.iter().filter_map(|(row, record)| line(row, record.as_ref()?)).collect();
        let head = HEAD.map(String::from);
        let widths: [usize; 8] = std::array::from_fn(|i| {
            [&head].into_iter().chain(&lines).map(|line| line[i].chars().count()).max().unwrap_or(0)
        });
        let mut out = String::new();
        for line in [&head].into_iter().chain(&lines) {
            for (i, (cell, width)) in line.iter().zip(widths).enumerate() {
                let _ = if i == 0 || i == 7 {
                    write!(out, "{cell:<width$}  ")
                } else {
                    write!(out, "{cell:>width$}  ")
                };
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        out + &self.mean().to_string()
    }
}

const HEAD: [&str; 8] = ["row", "girih us", "rate", "peer us", "girih/peer", "bar", "roof", ""];

impl std::fmt::Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Mean { ratio, measured, missing } = self;
        writeln!(
            f,
            "geometric mean of the frozen list: {ratio:.3} over {measured} rows, {missing} rows missing"
        )
    }
}

/// girih's speed beside the peer's, if both are right.
fn ratio(record: &Value) -> Option<f64> {
    if record.get("girih_wrong").or(record.get("peer_wrong")).is_some() {
        return None;
    }
    record["ratio"].as_f64()
}

fn line(row: &Row, record: &Value) -> Option<[String; 8]> {
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
        roof.map_or(String::from("-"), |(roof, us)| format!("{:.0} %", 1e8 * roof.seconds(&row.work) / us));
    let reached = ratio(record).map_or("", |ratio| if ratio >= row.bar { "reached" } else { "" });
    let said = ["failed", "girih_wrong", "peer_wrong", "girih_missing", "peer_missing"].into_iter().find_map(
        |field| {
            let why = record[field].as_str()?;
            let why: String = why.chars().take(80).collect();
            Some(format!("{}: {why}", field.replace('_', " ")))
        },
    );
    Some([
        row.name.clone(),
        number("girih_us", 2),
        rate,
        number("peer_us", 2),
        speed,
        format!("{:.2}", row.bar),
        roof,
        said.unwrap_or_else(|| reached.into()),
    ])
}
