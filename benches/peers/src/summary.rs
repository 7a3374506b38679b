//! What rows that nothing was tuned by say of the choice of configurations.

use std::fmt;

use serde_json::Value;

use crate::rows::Row;

/// The rows that have a record, of a contest with the peer or of a sweep.
pub struct Summary {
    rows: Vec<Judged>,
    missing: usize,
    failed: Vec<String>,
}

/// A row with what was measured of it.
struct Judged {
    name: String,
    /// The choice's speed beside the peer, if there is a peer.
    ratio: Option<f64>,
    /// Of a sweep: how much longer the choice takes than the best configuration, as a share, and that configuration.
    regret: Option<(f64, String)>,
}

/// Rows that are named one by one.
const WORST: usize = 10;
/// The speed beside the peer that most rows must reach.
const LEVEL: f64 = 0.97;

impl Summary {
    /// The rows with their last records.
    pub fn new(rows: &[Row], records: &[Value]) -> Summary {
        let mut summary = Summary { rows: Vec::new(), missing: 0, failed: Vec::new() };
        for row in rows {
            let of_row = |record: &&Value| record["row"] == *row.name || record["sweep"] == *row.name;
            match records.iter().rev().find(of_row) {
                None => summary.missing += 1,
                Some(record) => match wrong(record) {
                    Some(why) => summary.failed.push(format!("{}: {why}", row.name)),
                    None => summary.rows.push(judged(row, record)),
                },
            }
        }
        summary
    }

    /// The geometric mean of the choice's speeds beside the peer.
    pub fn mean(&self) -> f64 {
        let ratios: Vec<f64> = self.rows.iter().filter_map(|row| row.ratio).collect();
        (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
    }

    /// The mean and the greatest regret of the rows that were swept.
    pub fn regret(&self) -> Option<[f64; 2]> {
        let all: Vec<f64> = self.rows.iter().filter_map(|row| Some(row.regret.as_ref()?.0)).collect();
        let worst = all.iter().copied().reduce(f64::max)?;
        Some([all.iter().sum::<f64>() / all.len() as f64, worst])
    }
}

/// Why a record counts for nothing.
fn wrong(record: &Value) -> Option<String> {
    // A sweep lists the configurations that failed.
    let fields = ["failed", "girih_wrong", "peer_wrong", "girih_missing"];
    fields.into_iter().find_map(|field| record[field].as_str().map(String::from))
}

fn judged(row: &Row, record: &Value) -> Judged {
    let name = row.name.clone();
    let Some(finalists) = record["finalists"].as_array() else {
        return Judged { name, ratio: record["ratio"].as_f64(), regret: None };
    };
    let us = |entry: &Value| entry["us"].as_f64().unwrap_or(f64::INFINITY);
    let usual = finalists.iter().find(|entry| entry["config"] == record["chosen"]);
    let best = finalists.iter().min_by(|a, b| us(a).total_cmp(&us(b)));
    let regret = usual.zip(best).map(|(usual, best)| {
        (us(usual) / us(best) - 1.0, best["config"].as_str().unwrap_or_default().to_string())
    });
    Judged { name, ratio: usual.and_then(|usual| usual["ratio"].as_f64()), regret }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut beside: Vec<(f64, &Judged)> =
            self.rows.iter().filter_map(|row| Some((row.ratio?, row))).collect();
        beside.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reached = beside.iter().filter(|(ratio, _)| *ratio >= LEVEL).count();
        let share = 100.0 * reached as f64 / beside.len().max(1) as f64;
        writeln!(
            f,
            "{} rows beside the peer: geometric mean {:.3}, {share:.0} % at {LEVEL} or more",
            beside.len(),
            self.mean(),
        )?;
        let mut swept: Vec<(f64, &str, &Judged)> = Vec::new();
        swept.extend(self.rows.iter().filter_map(|row| {
            let (regret, best) = row.regret.as_ref()?;
            Some((*regret, best.as_str(), row))
        }));
        swept.sort_by(|a, b| b.0.total_cmp(&a.0));
        if let Some([mean, worst]) = self.regret().map(|both| both.map(|share| 100.0 * share)) {
            writeln!(f, "{} rows swept: mean regret {mean:.1} %, greatest {worst:.1} %", swept.len())?;
        }
        let alone = self.rows.iter().filter(|row| row.ratio.is_none()).count();
        writeln!(
            f,
            "{alone} rows without a peer, {} failed, {} not measured",
            self.failed.len(),
            self.missing
        )?;
        for (ratio, row) in beside.iter().take(WORST) {
            writeln!(f, "  {ratio:.3} of the peer: {}", row.name)?;
        }
        for (regret, best, row) in swept.iter().take(WORST) {
            writeln!(f, "  regret {:.1} %: {}, best {best}", 100.0 * regret, row.name)?;
        }
        self.failed.iter().try_for_each(|why| writeln!(f, "  failed: {why}"))
    }
}
