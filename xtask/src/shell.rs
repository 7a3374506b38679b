//! Running commands at the repository's root.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("can't run `{command}`: {source}")]
    Start { command: String, source: io::Error },
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("`{command}` printed no JSON: {source}")]
    Json { command: String, source: serde_json::Error },
    #[error(
        "README.md shows no `{wanted}` in a fenced block; a reader must find the command that the gate runs"
    )]
    Readme { wanted: &'static str },
    #[error(
        "builds grow by more than a twentieth (`cargo xtask builds --update`, if that is meant):\n{grown}"
    )]
    Builds { grown: String },
    #[error("ptxas is needed here (CI is set) and tools/get-ptx-tools.sh could not provide it")]
    NoPtxas,
    #[error("no golden PTX module (**/testdata/golden/*.ptx): the gate would check nothing")]
    NoGoldens,
    #[error("{count} of {total} golden modules are refused:\n{findings}")]
    Goldens { count: usize, total: usize, findings: String },
    #[error("ptxas objects to kernels that can be chosen:\n{refused}")]
    Refused { refused: String },
    #[error(
        "kernels need more than before, or are others than before (`cargo xtask ratchet --update`, if that is meant):\n{worse}"
    )]
    Ratchet { worse: String },
    #[error(
        "imports go in a circle; move the item that closes it to the file where it belongs (families: ARCHITECTURE.md):\n{circles}"
    )]
    Imports { circles: String },
    #[error("words that texts do not use (xtask/words.txt):\n{found}")]
    Words { found: String },
    #[error(
        "public modules without an example that runs (a fenced block of Rust in their documentation):\n{modules}"
    )]
    NoExample { modules: String },
    #[error("packages lack what a registry or its readers ask for (or say `publish = false`):\n{faults}")]
    Package { faults: String },
    #[error("CHANGELOG.md has no section `## [{version}]`: what is under Unreleased belongs there")]
    NoChanges { version: &'static str },
    #[error("there is no Chromium in PATH: `apt-get install chromium` gets it, or let CHROMIUM name one")]
    NoChromium,
    #[error("`cargo fuzz` is not installed: `cargo install cargo-fuzz` gets it")]
    NoCargoFuzz,
    #[error("the package {package} builds no executable `{name}`")]
    NoExecutable { package: String, name: String },
}

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The build directory, the user's choice respected.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Runs on a machine that must not skip anything?
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// A command at the root, from its words.
pub(crate) fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or("true");
    // `cargo xtask` sets CARGO to the toolchain that it runs with.
    let program = if program == "cargo" {
        env::var("CARGO").unwrap_or_else(|_| "cargo".into())
    } else {
        program.into()
    };
    let mut command = Command::new(program);
    command.args(words).current_dir(root());
    command
}

/// Runs a command line, its output shown, and expects success.
pub(crate) fn sh(line: &str) -> Result<(), Error> {
    check(line, &mut command(line))
}

/// Runs a prepared command under the name `line`.
pub(crate) fn check(line: &str, command: &mut Command) -> Result<(), Error> {
    println!("--- {line}");
    let status = command.status().map_err(|source| Error::Start { command: line.into(), source })?;
    if status.success() { Ok(()) } else { Err(Error::Failed { command: line.into(), status }) }
}

/// Standard output of a prepared command, named `line`, that must succeed.
pub(crate) fn output(command: &mut Command, line: &str) -> Result<String, Error> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| Error::Start { command: line.into(), source })?;
    if !output.status.success() {
        return Err(Error::Failed { command: line.into(), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Adds the path to an error of the file system.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::File { path, source }
}
