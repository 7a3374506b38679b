//! `girih tune gemm` records the fastest configuration, and `girih gemm` follows the record.

use std::process::Command;

use super::{folder, girih_in, json, succeeds, text};

/// The day in UTC, as the system tells it.
fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output().expect("date starts");
    text(&output.stdout).trim().into()
}

#[test]
fn a_record_is_written_and_followed() {
    let folder = folder();
    let problem = "--m 64 --n 64 --k 256";
    let before = today();
    let out = succeeds(folder.path(), &format!("tune gemm {problem} --most 3 --no-check -o records"));
    assert!(out.starts_with("3 configurations\n") && out.contains("recorded in"), "{out}");
    let records = std::fs::read_to_string(folder.path().join("records")).expect("written");
    let [head, record] = *records.lines().collect::<Vec<_>>() else { panic!("{records}") };
    assert!(head.starts_with("girih gemm records, version 2"), "{head}");
    let fields: Vec<&str> = record.split('\t').collect();
    let [_, _, day, _, config, fastest, chosen] = fields[..] else { panic!("{record}") };
    assert!([before, today()].contains(&day.to_string()), "{day}");
    let [fastest, chosen] = [fastest, chosen].map(|us| us.parse::<f64>().expect("microseconds"));
    assert!(fastest <= chosen && out.contains(&format!("us: {config}\n")), "{out}");
    // A second record joins the first.
    succeeds(folder.path(), "tune gemm --m 64 --n 64 --k 320 --most 1 --no-check -o records");
    let both = std::fs::read_to_string(folder.path().join("records")).expect("written");
    assert!(both.lines().count() == 3 && both.contains(record), "{both}");
    let report = json(folder.path(), &format!("gemm {problem} --kernel sm90 --records records --json"));
    assert_eq!(report["passed"], true);
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
        for line in [
            "tune gemm --m 64 --n 64 --k 64 --most 1 -o records",
            "gemm --m 64 --n 64 --k 64 --records records",
        ] {
            let output = girih_in(folder.path(), line);
            let error = text(&output.stderr);
            assert!(
                !output.status.success() && error.starts_with("error: records: ") && error.contains(wanted),
                "{line}: {error}"
            );
        }
        assert_eq!(std::fs::read_to_string(&path).expect("there"), content);
    }
    let missing = text(&girih_in(folder.path(), "gemm --records nothing").stderr);
    assert!(missing.starts_with("error: cannot read nothing"), "{missing}");
    let scalar = text(&girih_in(folder.path(), "tune gemm --dtype f64").stderr);
    assert!(scalar.starts_with("error: ") && scalar.contains("f64"), "{scalar}");
}
