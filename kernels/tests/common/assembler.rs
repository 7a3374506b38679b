//! NVIDIA's assembler, where there is one.

use std::path::Path;
use std::process::Command;

use super::Failure;

/// What the assembler objects to in a module for an architecture such as "90a": errors, warnings, notes that instructions are serialised, spills and
/// stack frames. None where it is not found.
pub(crate) fn complaints(module: &str, arch: &str) -> Result<Option<Vec<String>>, Failure> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/ptx-tools/ptxas");
    let folder = std::env::temp_dir().join(format!("girih-kernels-{}-{:p}", std::process::id(), module));
    std::fs::create_dir_all(&folder)?;
    let (source, target) = (folder.join("kernel.ptx"), folder.join("kernel.cubin"));
    std::fs::write(&source, module)?;
    let mut ptxas = Command::new(if own.exists() { own } else { "ptxas".into() });
    let output = ptxas.args(["-v", &format!("-arch=sm_{arch}"), "-o"]).args([&target, &source]).output();
    std::fs::remove_dir_all(&folder)?;
    let Ok(output) = output else { return Ok(None) };
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let none = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
    let bad = |line: &&str| {
        let refused = ["error", "warning", "C75"].iter().any(|word| line.contains(word));
        refused || line.contains("stack frame") && !line.contains(none)
    };
    Ok(Some(log.lines().filter(bad).map(String::from).collect()))
}
