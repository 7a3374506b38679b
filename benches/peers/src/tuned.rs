//! What sweeps have found, as the records that girih comes with.

use girih_device::Record;
use girih_kernels::gemm::choose::Plan;
use girih_kernels::gemm::{Problem, Records, record_key, record_mnk};
use serde_json::Value;

use crate::contest::Failure;
use crate::operands::problem;
use crate::rows::{Product, Row, Work};

/// The records of the products for which the last contest of a sweep was won from girih's choice, by a configuration of a [`Plan`]; of several sweeps
/// of a row, of the last one that was. They go into `kernels/records/`, each in the place of a line with the same problem.
///
/// # Errors
/// A sweep of a GPU of which girih comes with no records.
pub fn tuned(rows: &[Row], sweeps: &[Value]) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for sweep in sweeps {
        let Some(row) = rows.iter().find(|row| sweep["sweep"] == *row.name) else { continue };
        let Some(record) = found(row, sweep)? else { continue };
        records.retain(|other| other.problem != record.problem);
        records.push(record);
    }
    Ok(records)
}

/// What a sweep of a row has found.
fn found(row: &Row, sweep: &Value) -> Result<Option<Record>, Failure> {
    let Some(problem) = product(row).and_then(|product| problem(product).ok()) else { return Ok(None) };
    let Some((plan, times)) = faster(&problem, sweep) else { return Ok(None) };
    let text = |field: &str| sweep[field].as_str().unwrap_or_default().to_string();
    let gpu = text("gpu") + ", ";
    let mut known = Records::shipped()?.iter().map(|record| &record.machine);
    let machine = known.find(|machine| machine.starts_with(&gpu));
    let machine =
        machine.ok_or_else(|| format!("girih comes with no records of {gpu}on which a sweep was made"))?;
    let record = Record {
        machine: machine.clone(),
        driver: text("driver"),
        date: text("date"),
        problem: record_key(&problem),
        config: plan.to_string(),
        micros: times[0],
        chosen_micros: times[1],
    };
    Ok(record_mnk(&record).is_some().then_some(record))
}

/// The product of a row whose time is that of its kernel alone.
fn product(row: &Row) -> Option<&Product> {
    match &row.work {
        Work::Product(product) if !product.fused && product.kernel.is_none() => Some(product),
        _ => None,
    }
}

/// The plan of the fastest configuration of the last contest, and its microseconds and those of girih's choice, which are more.
fn faster(problem: &Problem, sweep: &Value) -> Option<(Plan, [f64; 2])> {
    let finalists = sweep["finalists"].as_array()?;
    let micros = |entry: &Value| entry["us"].as_f64();
    let usual = micros(finalists.iter().find(|entry| entry["config"] == sweep["chosen"])?)?;
    let planned = finalists.iter().filter_map(|entry| {
        let plan: Plan = entry["plan"].as_str()?.parse().ok()?;
        plan.config(problem).is_ok().then_some((plan, micros(entry)?))
    });
    let (plan, micros) = planned.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (micros < usual).then_some((plan, [micros, usual]))
}
