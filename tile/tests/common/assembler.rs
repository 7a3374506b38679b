//! NVIDIA's assembler, where there is one.

use std::path::PathBuf;
use std::process::Command;

/// What the assembler objects to in a kernel for an architecture such as "90a": errors, warnings, notes that instructions are serialised, spills.
/// None where it is not found.
pub(crate) fn complaints(kernel: &str, arch: &str) -> Option<Vec<String>> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/ptx-tools/ptxas");
    let ptxas = if own.exists() { own } else { PathBuf::from("ptxas") };
    let folder = std::env::temp_dir().join(format!("girih-tile-{}-{:p}", std::process::id(), kernel));
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("kernel.ptx");
    std::fs::write(&source, kernel).unwrap();
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch=sm_{arch}"), "-o"])
        .arg(folder.join("kernel.cubin"))
        .arg(&source)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    let output = output.ok()?;
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if std::env::var("GIRIH_PTXAS").is_ok() {
        println!("{log}");
    }
    let nonzero = |line: &str| {
        line.split(", ").any(|part| {
            (part.contains("stack") || part.contains("spill")) && !part.trim_start().starts_with("0 bytes")
        })
    };
    let bad = |line: &&str| {
        line.contains("C75")
            || line.contains("error")
            || line.contains("warning")
            || line.contains("bytes stack") && nonzero(line)
    };
    Some(log.lines().filter(bad).map(str::to_string).collect())
}
