//! `girih tune gemm` records the fastest configuration, and `girih gemm` follows the record.

use girih_device::{Device, Select};
use girih_kernels::gemm::{KernelKind, Layout, Problem, Records, choose, record};
use girih_tensor::DType;

use super::{folder, girih_in, json, succeeds, text};

/// The simulator counts: it has no times, and nothing is recorded as one.
#[test]
fn the_simulator_counts_and_records_no_times() {
    let folder = folder();
    let problem = "--m 64 --n 64 --k 256";
    let out = succeeds(folder.path(), &format!("tune gemm {problem} --most 3 --no-check"));
    assert!(
        out.starts_with("3 configurations\n") && out.contains(" counts  ") && !out.contains(" us"),
        "{out}"
    );
    // Each is told as soon as it is measured.
    let told =
        |nth: usize| out.lines().nth(nth).is_some_and(|line| line.starts_with(&format!("{nth:>4} of 3  ")));
    assert!((1..=3).all(told), "{out}");
    // Counts are the same each time.
    assert_eq!(out, succeeds(folder.path(), &format!("tune gemm {problem} --most 3 --no-check")));
    let report = json(folder.path(), &format!("tune gemm {problem} --most 1 --no-check --json"));
    assert_eq!(report["unit"], "counts");
    let output = girih_in(folder.path(), &format!("tune gemm {problem} --most 1 -o records"));
    let error = text(&output.stderr);
    assert!(
        error.starts_with("error: records: a record holds times, of which the simulator has none"),
        "{error}"
    );
    assert!(
        output.status.code() == Some(3)
            && output.stdout.is_empty()
            && !folder.path().join("records").exists()
    );
    for line in [
        "tune attention --queries 64 --heads 1 --most 1 --no-check",
        "tune attention decode --heads 1 --keys 130 --no-check",
    ] {
        let out = succeeds(folder.path(), line);
        assert!(out.contains(" counts") && !out.contains(" us"), "{out}");
    }
}

#[test]
fn a_record_is_followed() -> Result<(), Box<dyn std::error::Error>> {
    let folder = folder();
    let problem = Problem::new(DType::Bf16, [64, 64, 256], Layout::Tn)?;
    let device = Device::open(Select::Sim)?;
    let config = choose(&problem, KernelKind::Sm90, device.limits().multiprocessors)?;
    let mut records = Records::new(device.limits());
    records.insert(record(&problem, &config, device.limits(), "2026-11-28", [1.0, 2.0])?)?;
    std::fs::write(folder.path().join("records"), records.to_string())?;
    let line = "gemm --m 64 --n 64 --k 256 --kernel sm90 --records records --json";
    assert_eq!(json(folder.path(), line)["passed"], true);
    Ok(())
}

/// Records of another machine or version are refused before anything is measured, and what is not recorded stays in the file.
#[test]
fn foreign_records_are_refused() {
    let folder = folder();
    let path = folder.path().join("records");
    for (content, wanted) in
        [("girih gemm records, version 0\n", "measure again"), ("", "girih gemm records")]
    {
        std::fs::write(&path, content).expect("written");
        let output = girih_in(folder.path(), "gemm --m 64 --n 64 --k 64 --records records");
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.starts_with("error: records: ") && error.contains(wanted),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("there"), content);
    }
    let missing = text(&girih_in(folder.path(), "gemm --records nothing").stderr);
    assert!(missing.starts_with("error: cannot read nothing"), "{missing}");
    let scalar = text(&girih_in(folder.path(), "tune gemm --dtype f64").stderr);
    assert!(scalar.starts_with("error: ") && scalar.contains("f64"), "{scalar}");
}
