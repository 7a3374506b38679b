//! What a contest has found: a line of a table, and a line of the record that `benches/records/README.md` describes.

use std::{fs::OpenOptions, io::Write as _, process::Command};

use girih_device::Device;
use serde_json::{Value, json};

use crate::contest::{Failure, Times};

/// One line of the table and of the record; `work` is in operations or bytes, `scale` what one unit of the rate is.
pub fn record(what: Value, unit: &str, work: f64, scale: f64, ours: &Times, peer: &Times) -> Value {
    let rate = |times: &Times| times.samples.rate(work) / scale;
    let micros = |times: &Times| times.samples.median().as_secs_f64() * 1e6;
    let told = |times: &Times| {
        let spread = 100.0 * times.samples.spread();
        format!("{:.1} {unit}, {:.2} us (spread {spread:.1} %)", rate(times), micros(times))
    };
    let ratio = rate(ours) / rate(peer);
    println!("{what} girih {}, {} {}: {:.1} %", told(ours), peer.name, told(peer), 100.0 * ratio);
    json!({
        "what": what, "unit": unit, "peer": peer.name,
        "girih": rate(ours), "girih_us": micros(ours), "girih_spread": ours.samples.spread(),
        "peer_rate": rate(peer), "peer_us": micros(peer), "peer_spread": peer.samples.spread(),
        "ratio": ratio,
    })
}

/// Appends the records, each with the machine's name and driver, to the file that `GIRIH_RECORD` names, if it does.
///
/// # Errors
/// The file's.
pub fn save(device: &Device, records: Vec<Value>) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GIRIH_RECORD") else { return Ok(()) };
    let (mut file, driver) = (OpenOptions::new().append(true).create(true).open(path)?, driver());
    for mut record in records {
        record["gpu"] = device.name().into();
        record["driver"] = driver.as_str().into();
        writeln!(file, "{record}")?;
    }
    Ok(())
}

/// The driver's version, as `nvidia-smi` tells it.
fn driver() -> String {
    let query =
        Command::new("nvidia-smi").args(["--query-gpu=driver_version", "--format=csv,noheader"]).output();
    let text = query.ok().and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_string()
}
