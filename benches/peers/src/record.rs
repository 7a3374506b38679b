//! What a contest has found: a line of the record that `benches/records/README.md` describes.

use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use std::{env, fs, fs::OpenOptions, io::Write as _, process::Command};

use girih_device::Device;
use serde_json::{Value, json};

use crate::contest::{Failure, Times};
use crate::rows::Work;

/// One line of the table and of the record; `work` is in operations or bytes, `scale` what one unit of the rate is.
pub fn record(what: Value, unit: &str, work: f64, scale: f64, ours: &Times, peer: &Times) -> Value {
    let rate = |times: &Times| times.samples.rate(work) / scale;
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

pub(crate) fn micros(times: &Times) -> f64 {
    times.samples.median().as_secs_f64() * 1e6
}

/// Adds to a row's record what girih and its peer took, where they ran.
pub(crate) fn compared(record: &mut Value, work: &Work, ours: Option<&Times>, peer: Option<&Times>) {
    let (unit, scale) = work.unit();
    record["unit"] = unit.into();
    let rate = |times: &Times| times.samples.rate(work.amount()) / scale;
    if let Some(ours) = ours {
        record["girih"] = rate(ours).into();
        record["girih_us"] = micros(ours).into();
        record["girih_spread"] = ours.samples.spread().into();
    }
    if let Some(peer) = peer {
        record["peer"] = peer.name.as_str().into();
        record["peer_rate"] = rate(peer).into();
        record["peer_us"] = micros(peer).into();
        record["peer_spread"] = peer.samples.spread().into();
    }
    if let (Some(ours), Some(peer)) = (ours, peer) {
        let ratio = ours.speed_beside(peer);
        record["ratio"] = ratio.mean.into();
        record["ratio_lower"] = ratio.lower.into();
    }
}

/// The clock, power and temperature of the GPU a second after this was made, when a contest is in flight.
pub(crate) struct Clocks(JoinHandle<Value>);

impl Clocks {
    pub(crate) fn of_soon() -> Clocks {
        Clocks(thread::spawn(|| {
            thread::sleep(Duration::from_millis(500));
            let told = smi("clocks.sm,power.draw,temperature.gpu");
            let number = |i: usize| told.get(i).and_then(|text| text.parse::<f64>().ok());
            json!({"sm_mhz": number(0), "watts": number(1), "celsius": number(2)})
        }))
    }

    pub(crate) fn told(self) -> Value {
        self.0.join().unwrap_or(Value::Null)
    }
}

/// Where records come from.
#[derive(Clone, Debug)]
pub struct Machine {
    gpu: String,
    driver: String,
    date: String,
    commit: String,
}

impl Machine {
    /// The device, its driver as `nvidia-smi` tells it, today's date (`GIRIH_DATE`, or the system's), and what was built: `GIRIH_COMMIT`, what
    /// was packed with the binary, or what is checked out.
    pub fn of(device: &Device) -> Machine {
        let unknown = || String::from("unknown");
        let now = || humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let today = || now().chars().take(10).collect::<String>();
        let packed = || fs::read_to_string(env::current_exe().ok()?.parent()?.parent()?.join("commit")).ok();
        let commit = env::var("GIRIH_COMMIT").ok().or_else(packed);
        let commit = commit.or_else(|| said("git", &["describe", "--always", "--dirty"]));
        let driver = smi("driver_version").into_iter().next();
        Machine {
            gpu: device.name().into(),
            driver: driver.unwrap_or_else(unknown),
            date: env::var("GIRIH_DATE").unwrap_or_else(|_| today()),
            commit: commit.map_or_else(unknown, |commit| commit.trim().into()),
        }
    }

    /// Appends a record with what this says to a file.
    ///
    /// # Errors
    /// The file's.
    pub fn append(&self, path: &Path, mut record: Value) -> Result<(), Failure> {
        record["gpu"] = self.gpu.as_str().into();
        record["driver"] = self.driver.as_str().into();
        record["date"] = self.date.as_str().into();
        record["commit"] = self.commit.as_str().into();
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(writeln!(file, "{record}")?)
    }
}

/// Appends the records, each with the machine's name and driver, to the file that `GIRIH_RECORD` names, if it does.
///
/// # Errors
/// The file's.
pub fn save(device: &Device, records: Vec<Value>) -> Result<(), Failure> {
    let Some(path) = env::var_os("GIRIH_RECORD") else { return Ok(()) };
    let machine = Machine::of(device);
    records.into_iter().try_for_each(|record| machine.append(&given(Path::new(&path)), record))
}

/// The records of a file. A line that ends early, as a process that was killed leaves it, is left out.
///
/// # Errors
/// The file's, with its name.
pub fn read(path: &Path) -> Result<Vec<Value>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The records of a file to which records are added: none, if there is no such file yet.
///
/// # Errors
/// As [`read`].
pub fn known(path: &Path) -> Result<Vec<Value>, Failure> {
    if path.try_exists()? { read(path) } else { Ok(Vec::new()) }
}

/// A path as it was given on the command line. Cargo runs benches in the folder of their package; what it runs takes paths from the root of the
/// workspace, where the command was given, and a packed binary from the folder that it is in.
pub fn given(path: &Path) -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    package.as_deref().and_then(Path::parent).map_or_else(|| path.into(), |root| root.join(path))
}

/// What `nvidia-smi` says of the first GPU.
fn smi(query: &str) -> Vec<String> {
    let query = format!("--query-gpu={query}");
    let text = said("nvidia-smi", &[&query, "--format=csv,noheader,nounits", "--id=0"]).unwrap_or_default();
    text.lines().next().unwrap_or_default().split(',').map(|field| field.trim().to_string()).collect()
}

/// The trimmed output of a program that succeeds and says something.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}
