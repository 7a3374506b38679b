//! Fuzzing with libFuzzer and the address sanitizer: every target of `fuzz/`, for a while each.

use std::process::Command;

use crate::shell::{Error, check, command, root};

/// A target, and what it starts from beside its corpus.
const TARGETS: [(&str, &[&str]); 4] = [
    ("parse", &["fuzz/seeds/parse"]),
    ("algebra", &["fuzz/seeds/algebra"]),
    ("ptx_parse", &["fuzz/seeds/ptx_parse", "ptx/testdata", "sim/tests/foreign"]),
    ("sim_load", &["fuzz/seeds/sim_load"]),
];

/// Runs all targets, or the one of this name, for this many seconds each.
pub(crate) fn run(only: Option<&str>, seconds: u32) -> Result<(), Error> {
    let installed = command("cargo fuzz --version").output().is_ok_and(|output| output.status.success());
    if !installed {
        return Err(Error::NoCargoFuzz);
    }
    for (target, seeds) in TARGETS.iter().filter(|(target, _)| only.is_none_or(|only| only == *target)) {
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(root().join(&corpus)).map_err(crate::shell::at(&root().join(&corpus)))?;
        let seeds: Vec<&str> = seeds.iter().copied().filter(|seeds| root().join(seeds).exists()).collect();
        let line =
            format!("cargo fuzz run {target} {corpus} {} -- -max_total_time={seconds}", seeds.join(" "));
        check(&line, nightly(&mut command(&line)))?;
    }
    Ok(())
}

/// The sanitizer's flags are unstable; the toolchain at hand takes them like a nightly one.
fn nightly(command: &mut Command) -> &mut Command {
    command.env("RUSTC_BOOTSTRAP", "1")
}
