//! ptxas judges the golden PTX modules: each must assemble for its own target without a warning, a spill, a stack frame
//! or a note that the assembler serialised or moved something (`C75xx`). Of attention by a ring of warpgroups, the order of instructions counts too.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use itertools::Itertools as _;

use crate::{
    sass,
    shell::{Error, at, check, command, in_ci, root, target_dir},
};

/// The folder of ptxas and its kin; `None` where they cannot be had and need not be.
pub(crate) fn tools() -> Result<Option<PathBuf>, Error> {
    let tools = target_dir().join("ptx-tools");
    let fetched = check("tools/get-ptx-tools.sh", command("sh tools/get-ptx-tools.sh").arg(&tools));
    match fetched {
        Ok(()) => Ok(Some(tools)),
        Err(_) if in_ci() => Err(Error::NoPtxas),
        Err(_) => {
            println!("--- ptxas: SKIPPED (tools/get-ptx-tools.sh could not fetch it)");
            Ok(None)
        }
    }
}

/// Assembles all goldens.
pub(crate) fn run() -> Result<(), Error> {
    let Some(tools) = tools()? else { return Ok(()) };
    let mut goldens = Vec::new();
    find(root(), &mut goldens)?;
    goldens.sort();
    if goldens.is_empty() {
        return Err(Error::NoGoldens);
    }
    println!("--- ptxas: {} golden modules", goldens.len());
    let mut findings = Vec::new();
    let cubin = target_dir().join("golden.cubin");
    for path in &goldens {
        let mut against = assemble(&tools, path, &cubin)?.against;
        if against.is_empty() && is_ring(path) {
            against = sass::turns(&sass::disassemble(&tools, &cubin)?);
        }
        if against.is_empty() && path.ends_with(OVERLAPS) {
            against = sass::overlap(&sass::disassemble(&tools, &cubin)?);
        }
        if !against.is_empty() {
            let name = path.strip_prefix(root()).unwrap_or(path).display();
            findings.push(format!("{name}\n    {}", against.iter().format("\n    ")));
        }
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Error::Goldens { count, total: goldens.len(), findings: findings.join("\n") }),
    }
}

/// The module of attention over tiles.
const OVERLAPS: &str = "programs/testdata/golden/attention.ptx";

/// Whether the module is attention by a ring of warpgroups.
fn is_ring(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("attention_sm90"))
}

/// Collects `**/testdata/golden/*.ptx`, build directories and hidden folders left out.
fn find(folder: &Path, goldens: &mut Vec<PathBuf>) -> Result<(), Error> {
    let golden = folder.ends_with("testdata/golden");
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().map_err(at(&path))?.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") {
                find(&path, goldens)?;
            }
        } else if golden && path.extension().is_some_and(|extension| extension == "ptx") {
            goldens.push(path);
        }
    }
    Ok(())
}

/// What ptxas says of a module.
pub(crate) struct Assembled {
    /// Against it; empty when it is clean.
    pub(crate) against: Vec<String>,
    /// Everything.
    pub(crate) log: String,
}

/// Assembles the module at `path`, for its own target, into the file `cubin`.
pub(crate) fn assemble(tools: &Path, path: &Path, cubin: &Path) -> Result<Assembled, Error> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    let Some(target) = target(&text) else {
        return Ok(Assembled { against: vec!["no .target".into()], log: String::new() });
    };
    let mut command = Command::new(tools.join("ptxas"));
    command.args(["--verbose", "--gpu-name", target, "--output-file"]).arg(cubin).arg(path);
    let output =
        command.output().map_err(|source| Error::Start { command: format!("{command:?}"), source })?;
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let failed = !output.status.success();
    let against =
        log.lines().filter(|line| failed || objectionable(line)).map(|line| line.trim().to_string());
    let against = against.chain(failed.then(|| format!("ptxas: {}", output.status))).collect();
    Ok(Assembled { against, log })
}

/// The architecture named by the module's `.target`.
fn target(text: &str) -> Option<&str> {
    let after = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    after.split([' ', '\t', ',', ';', '/']).find(|word| !word.is_empty())
}

/// Does a line of the log say that something is wrong?
fn objectionable(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    // `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
    let nonzero = words.windows(3).any(|window| {
        let [count, "bytes", what] = window else { return false };
        matches!(*what, "stack" | "spill") && *count != "0"
    });
    nonzero || line.contains("C75") || line.contains("warning")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_the_first_word_after_the_directive() {
        for (text, wanted) in [
            ("// .target sm_70\n.version 8.0\n.target sm_90a\n", Some("sm_90a")),
            ("  .target\tsm_80, texmode_independent", Some("sm_80")),
            (".version 8.0\n", None),
        ] {
            assert_eq!(target(text), wanted);
        }
    }

    #[test]
    fn clean_lines_pass_and_others_do_not() {
        for clean in [
            "ptxas info    : 0 bytes gmem",
            "ptxas info    : Compiling entry function 'copy' for 'sm_80'",
            "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
            "ptxas info    : Used 40 registers, used 1 barriers, 32768 bytes smem, 400 bytes cmem[0]",
        ] {
            assert!(!objectionable(clean), "{clean}");
        }
        for bad in [
            "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
            "    0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads",
            "    0 bytes stack frame, 0 bytes spill stores, 10 bytes spill loads",
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized",
            "ptxas info    : (C7508) setmaxnreg ignored",
            "ptxas copy.ptx, line 5; warning : something",
        ] {
            assert!(objectionable(bad), "{bad}");
        }
    }
}
