//! `girih gemm`, `girih copy` and `girih emit` on the simulator, as a user types the commands.

mod emit;
mod errors;
mod explain;
mod files;
pub(crate) mod matrix;
mod padding;
mod random;
mod tune;

use std::path::Path;
use std::process::{Command, Output};

/// Runs girih in `folder`.
pub(crate) fn girih_in(folder: &Path, line: &str) -> Output {
    girih(folder, line).output().expect("girih starts")
}

/// A run of girih in `folder` that has not begun.
pub(crate) fn girih(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_girih"));
    command.args(line.split_whitespace()).current_dir(folder).env("GIRIH_DEVICE", "sim");
    command
}

/// The standard output of a run that must succeed.
pub(crate) fn succeeds(folder: &Path, line: &str) -> String {
    let output = girih_in(folder, line);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "girih {line}: {:?}\n{out}{err}", output.status.code());
    assert!(err.is_empty(), "girih {line}: {err}");
    out
}

/// The JSON object that a run prints. The run must succeed.
pub(crate) fn json(folder: &Path, line: &str) -> serde_json::Value {
    let out = succeeds(folder, line);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("girih {line}: {e}\n{out}"))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}
