//! The rows of `rows.toml` on a GPU, girih beside its peers; `benches/records/README.md` says how they are measured.
//!
//! Every row is appended to the file that `GIRIH_RECORD` names as soon as it is measured, and rows that stand there are not measured
//! again. The rows are measured by a process of its own: a kernel that fails, or never ends, takes no other row with it.
#![allow(missing_docs, reason = "a binary")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use clap::Parser;
use girih_peers::contest::Failure;
use girih_peers::gpu;
use girih_peers::measure::{Bench, Effort, Trial};
use girih_peers::record::{Machine, given, known, read};
use girih_peers::rows::{Row, drawn, parse, rows};
use girih_peers::summary::Summary;
use girih_peers::table::Table;
use girih_peers::tuned::tuned;
use serde_json::{Value, json};

/// Measures the rows of rows.toml.
#[derive(Parser)]
struct Args {
    /// Rows whose names contain one of these texts; after `=`, whose name is the text.
    #[arg(long)]
    only: Vec<String>,
    /// Rows of the geometric mean alone.
    #[arg(long)]
    frozen: bool,
    /// Rows of this many operations, or moved bytes, at least.
    #[arg(long, default_value_t = 0.0)]
    least: f64,
    /// Seconds after which no row is begun; GIRIH_SECONDS, if there is no such argument.
    #[arg(long)]
    seconds: Option<u64>,
    /// Rounds of the last contest.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Measures this many configurations of girih against each other, instead of the rows.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "40")]
    sweep: Option<usize>,
    /// In a sweep, the configurations whose lines contain every part, between `&`, of one of these texts, instead of the likeliest.
    #[arg(long, requires = "sweep")]
    config: Vec<String>,
    /// A file of rows to read instead of rows.toml.
    #[arg(long)]
    rows: Option<PathBuf>,
    /// Rows drawn at random, instead of rows.toml: a seed, and how many of those that `--only` names. Each is measured briefly.
    #[arg(long, num_args = 2, value_names = ["SEED", "COUNT"], conflicts_with = "rows")]
    random: Option<Vec<u64>>,
    /// Prints the table of a record and measures nothing.
    #[arg(long)]
    table: Option<PathBuf>,
    /// Prints that table as BENCHMARKS.md.
    #[arg(long, requires = "table")]
    markdown: bool,
    /// Prints what the sweeps of a record have found as lines of kernels/records, and measures nothing.
    #[arg(long)]
    tuned: Option<PathBuf>,
    /// Prints the rows' names and measures nothing.
    #[arg(long)]
    list: bool,
    /// What cargo says to benches.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Says to the process that measures that it is that one, and how many seconds it has.
const WORKER: &str = "GIRIH_ROWS_WORKER";
/// Exit codes: rows are left for the next call; the device has failed, and the process that measures must begin anew.
const LEFT: u8 = 3;
const AGAIN: u8 = 4;

fn main() -> Result<ExitCode, Failure> {
    let args = Args::parse();
    let rows = match (&args.rows, args.random.as_deref()) {
        (_, Some(&[seed, count])) => drawn(seed, usize::try_from(count)?, |row| args.wants(row)),
        (Some(file), _) => parse(&fs::read_to_string(given(file))?)?,
        (None, _) => rows()?,
    };
    if args.list {
        rows.iter().for_each(|row| println!("{}{}", if row.frozen { "" } else { "  " }, row.name));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(record) = &args.table {
        let (records, name) =
            (read(&given(record))?, record.file_name().unwrap_or_default().to_string_lossy());
        match args.markdown {
            true => print!("{}", Table::new(&rows, &records).markdown(&name)),
            false => print!("{}", args.table_of(&rows, &records)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(sweeps) = &args.tuned {
        tuned(&rows, &read(&given(sweeps))?)?.iter().for_each(|record| println!("{record}"));
        return Ok(ExitCode::SUCCESS);
    }
    let seconds = args.seconds.or_else(|| env::var("GIRIH_SECONDS").ok()?.parse().ok());
    let path = env::var_os("GIRIH_RECORD").map(|path| given(Path::new(&path)));
    match (env::var(WORKER), path) {
        (Ok(seconds), Some(path)) => work(&args, rows, seconds.parse().ok(), &path),
        (_, path) => supervise(&args, &rows, seconds, path),
    }
}

/// Starts the process that measures, again after each failure of the device, and prints the table.
fn supervise(
    args: &Args,
    rows: &[Row],
    seconds: Option<u64>,
    path: Option<PathBuf>,
) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let path = path.unwrap_or_else(|| env::temp_dir().join(format!("gpu_rows-{}.jsonl", process::id())));
    println!("records: {}", path.display());
    let code = loop {
        let before = known(&path)?.len();
        let mut worker = Command::new(env::current_exe()?);
        let left = seconds.map(|seconds| seconds.saturating_sub(begun.elapsed().as_secs()));
        let left = left.map_or(String::new(), |left| left.to_string());
        worker.args(env::args_os().skip(1)).env(WORKER, left).env("GIRIH_RECORD", &path);
        match worker.status()?.code() {
            Some(code @ 0..=3) => break code as u8,
            code if known(&path)?.len() == before => {
                println!("the process that measures ended ({code:?}) without a record");
                break 1;
            }
            code => println!("the process that measures ended ({code:?}), and is started again"),
        }
    };
    let records = known(&path)?;
    if args.random.is_some() || records.iter().any(|record| record.get("row").is_some()) {
        print!("{}", args.table_of(rows, &records));
    }
    Ok(ExitCode::from(code))
}

/// The name of what is under way, and when it must be done.
type UnderWay = Arc<Mutex<Option<(String, Instant)>>>;

/// Measures what the arguments ask for and the record does not have.
fn work(args: &Args, rows: Vec<Row>, seconds: Option<u64>, path: &Path) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let Some(device) = gpu() else { return Ok(ExitCode::SUCCESS) };
    println!("{}", device.name());
    let (machine, sweeps, random) = (Machine::of(&device), args.sweep.is_some(), args.random.is_some());
    let key = if sweeps { "sweep" } else { "row" };
    let wanted: Vec<Row> = rows.iter().filter(|row| args.wants(row)).cloned().collect();
    let known = known(path)?;
    // A sweep that one configuration has stopped is begun again without it.
    let blamed = |record: &Value| record["blamed"].as_str().filter(|_| sweeps).map(String::from);
    // A sweep has the choice beside the peer too, as briefly as other rows drawn at random are measured.
    let is_of =
        |record: &Value, row: &Row| record[key] == *row.name || random && record["sweep"] == *row.name;
    let done = |row: &Row| known.iter().any(|record| is_of(record, row) && blamed(record).is_none());
    let effort = if random { Effort::brief(args.rounds) } else { Effort::full(args.rounds) };
    let mut bench = Bench::new(device, rows, effort);
    bench.configs.clone_from(&args.config);
    bench.most = args.sweep.unwrap_or(bench.most);
    bench.blamed = known.iter().filter_map(blamed).collect();
    let limit = Duration::from_secs(90);
    let under_way = watch(machine.clone(), path.to_path_buf(), key, bench.trial().clone());
    let wanted: Vec<Row> = wanted.into_iter().filter(|row| !done(row)).collect();
    if random && !sweeps {
        bench.prepare(&wanted);
    }
    let (mut left, mut bad) = (0, 0);
    for row in &wanted {
        if seconds.is_some_and(|seconds| begun.elapsed().as_secs() >= seconds) {
            left += 1;
            continue;
        }
        let started = Instant::now();
        *under_way.lock().unwrap_or_else(PoisonError::into_inner) = Some((row.name.clone(), started + limit));
        let measured =
            catch_unwind(AssertUnwindSafe(|| if sweeps { bench.sweep(row) } else { bench.row(row) }));
        *under_way.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let failed = |why: String| json!({key: row.name, "failed": why});
        let mut record = match measured {
            Ok(Ok(record)) => record,
            Ok(Err(error)) => failed(error.to_string()),
            Err(_) => failed(String::from("a panic")),
        };
        if let Some((config, _)) = bench.trial().under_way() {
            record["blamed"] = config.into();
        }
        record["seconds"] = started.elapsed().as_secs_f64().into();
        bad +=
            u32::from(["failed", "girih_wrong", "peer_wrong"].iter().any(|field| record[field].is_string()));
        println!("{}", told(&record));
        machine.append(path, record)?;
        if bench.device.synchronize().is_err() {
            process::exit(AGAIN.into());
        }
    }
    println!("{left} rows left, {bad} failed");
    Ok(ExitCode::from(if left > 0 { LEFT } else { u8::from(bad > 0) }))
}

/// How long a configuration may take when it runs for the first time.
const TRIAL: Duration = Duration::from_secs(20);

/// Ends the process when a row or a configuration is late, since nothing can end a kernel that runs forever. The record says what it was.
fn watch(machine: Machine, path: PathBuf, key: &'static str, trial: Trial) -> UnderWay {
    let under_way = UnderWay::default();
    let watched = under_way.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let row = watched.lock().unwrap_or_else(PoisonError::into_inner);
            let config = trial.under_way().filter(|(_, time)| *time > TRIAL).map(|(config, _)| config);
            if let Some((name, _)) = row.as_ref().filter(|(_, end)| config.is_some() || Instant::now() > *end)
            {
                println!("{name} did not end in time: {config:?}");
                let record = json!({key: name, "failed": "did not end in time", "blamed": config});
                let _ = machine.append(&path, record);
                process::abort();
            }
        }
    });
    under_way
}

impl Args {
    fn wants(&self, row: &Row) -> bool {
        let named = |text: &String| match text.strip_prefix('=') {
            Some(name) => row.name == name,
            None => row.name.contains(text.as_str()),
        };
        let counts = (row.frozen || !self.frozen) && row.work.amount() >= self.least;
        counts && (self.only.is_empty() || self.only.iter().any(named))
    }

    /// What records say of the rows.
    fn table_of(&self, rows: &[Row], records: &[Value]) -> String {
        match self.random {
            Some(_) => Summary::new(rows, records).to_string(),
            None => Table::new(rows, records).text(),
        }
    }
}

/// A line or a few about a record.
fn told(record: &Value) -> String {
    let text = |field: &str| match &record[field] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or(String::new(), |number| format!("{number:.3}")),
        _ => String::from("-"),
    };
    if record.get("finalists").is_none() {
        let mut line = format!("{}: ratio {}", text("row"), text("ratio"));
        let fields =
            ["girih_us", "peer_us", "config", "peer", "girih_missing", "peer_missing", "girih_wrong"];
        for field in fields.into_iter().chain(["peer_wrong", "failed", "seconds"]) {
            if record.get(field).is_some() {
                line += &format!(", {field} {}", text(field));
            }
        }
        return line;
    }
    let head = format!(
        "sweep {}: {} us by {} ({} s)",
        text("sweep"),
        text("peer_us"),
        text("peer"),
        text("seconds")
    );
    let list = |field: &str| record[field].as_array().cloned().unwrap_or_default();
    let line = |one: &Value| {
        let number = |field: &str| one[field].as_f64().map_or(String::from("-"), |x| format!("{x:.3}"));
        let chosen = if one["config"] == record["chosen"] { " (girih's choice)" } else { "" };
        format!(
            "\n  {:>10} us {:>6} {}{chosen}",
            number("us"),
            number("ratio"),
            one["config"].as_str().unwrap_or("-")
        )
    };
    let lines = list("finalists").iter().map(line).collect::<String>();
    head + &lines + "\n  in short slices:" + &list("configs").iter().map(line).collect::<String>()
}
