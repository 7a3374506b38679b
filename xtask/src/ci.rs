//! The one gate.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::{
    builds, changed, ptxas, readme,
    shell::{Error, check, command, output, sh, target_dir},
    words,
};

/// `-- -D warnings` as `cargo clippy` hands it to its compiler. If that way changes, the documentation takes longer.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Every check, cheapest first. Of the tests all, or those downstream of what has changed since a commit.
pub(crate) fn run(since: Option<&str>) -> Result<(), Error> {
    sh("cargo fmt --all --check")?;
    words::run()?;
    // The cases of typed layouts are generated, and take long to check.
    sh(
        "cargo clippy --workspace --exclude girih-typed-cases --all-targets --features girih/cudarc --locked -- -D warnings",
    )?;
    // `cargo test` does not build them.
    sh("cargo clippy --workspace --test gpu* --features girih/cudarc --locked -- -D warnings")?;
    // Tests leave a core idle now and then: the other checks compile meanwhile.
    let tests = readme::test_commands()?;
    for test in &tests {
        sh(&format!("{test} --no-run"))?;
    }
    builds::run(false)?;
    thread::scope(|scope| {
        let beside = scope.spawn(gently_beside_tests);
        tests
            .iter()
            .try_for_each(|test| since.map_or_else(|| sh(test), |since| changed::test(since, test)))?;
        beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    println!("--- the gate is green");
    Ok(())
}

/// The checks beside the tests in a process that gives way to the tests: it goes on where they leave a core idle, so that both
/// end together.
fn gently_beside_tests() -> Result<(), Error> {
    match env::current_exe() {
        Ok(own) if cfg!(unix) => {
            check("xtask beside-tests", Command::new("nice").arg(own).arg("beside-tests"))
        }
        _ => beside_tests(),
    }
}

/// First what builds elsewhere, since the tests take a moment to find that they are built.
pub(crate) fn beside_tests() -> Result<(), Error> {
    layout_alone()?;
    deny()?;
    ptxas::run()?;
    // xtask brings the features of what both depend on: most has been checked with them. Typed layouts are checked without std.
    sh(
        "cargo clippy --package girih-device --package girih-typed --package xtask --no-default-features --locked -- -D warnings",
    )?;
    docs()
}

/// The documentation, by Clippy's compiler and with the features of an example: what it must know of the libraries, Clippy
/// has found out.
fn docs() -> Result<(), Error> {
    let line = "cargo doc --workspace --exclude girih-python --no-deps --lib --bins --example right --features girih/cudarc --locked";
    let mut docs = command(line);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    let sysroot = output(&mut command("rustc --print sysroot"), "rustc --print sysroot")?;
    let driver = Path::new(sysroot.trim()).join("bin/clippy-driver");
    if driver.is_file() {
        docs.env("RUSTC_WORKSPACE_WRAPPER", driver).env("CLIPPY_ARGS", CLIPPY_ARGS);
    }
    check(line, &mut docs)
}

/// girih-layout as a user links it: what is packaged, in a program without std, alloc or a runtime.
fn layout_alone() -> Result<(), Error> {
    sh("cargo package --package girih-layout --locked --allow-dirty --no-verify")?;
    let packaged = target_dir().join("package");
    let name = concat!("girih-layout-", env!("CARGO_PKG_VERSION"));
    let unpack = format!("tar -xzf {name}.crate");
    check(&unpack, command(&unpack).current_dir(&packaged))?;
    // The package in the place of the path that the program names.
    let instead = format!("paths=[{:?}]", packaged.join(name));
    let program = "cargo run --locked --manifest-path layout/no-std/Cargo.toml --config";
    check(program, command(program).arg(instead).env("CARGO_TARGET_DIR", target_dir().join("no-std")))
}

/// Building cargo-deny takes longer than the whole gate, so it runs only where it is installed.
fn deny() -> Result<(), Error> {
    let probe = command("cargo deny --version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if probe.is_ok_and(|status| status.success()) {
        // Advisories are left out: they change without the tree, and want the network.
        return sh("cargo deny --workspace check bans licenses sources");
    }
    println!("--- cargo deny: SKIPPED (not installed; `cargo install cargo-deny --locked`)");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::PathBuf};

    use crate::shell::root;

    /// A library that says so has no unit tests, which would never run.
    #[test]
    fn libraries_without_a_test_target_have_no_unit_tests() {
        let packages = fs::read_dir(root()).expect("the root").map(|entry| entry.expect("an entry").path());
        let of_lib = |text: &str| {
            text.split("\n[").any(|section| section.starts_with("lib]") && section.contains("\ntest = false"))
        };
        let untested =
            |path: &PathBuf| fs::read_to_string(path.join("Cargo.toml")).is_ok_and(|text| of_lib(&text));
        let untested: Vec<_> = packages.chain([root().into()]).filter(untested).collect();
        assert!(untested.len() >= 4, "{untested:?}");
        let mut folders: Vec<_> = untested.iter().map(|package| package.join("src")).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).expect("a source file");
                    assert!(!text.lines().any(|line| line.trim() == "#[test]"), "{}", path.display());
                }
            }
        }
    }

    /// The files of `tests/` are modules of its `main.rs`; what is forgotten there would never be compiled.
    #[test]
    fn every_test_file_is_compiled() {
        let packages = fs::read_dir(root()).expect("the root").map(|entry| entry.expect("an entry").path());
        let packages: Vec<_> = packages.filter(|path| path.join("tests/main.rs").is_file()).collect();
        assert!(packages.len() >= 7, "{packages:?}");
        for package in packages {
            let text = |file: &str| fs::read_to_string(package.join(file)).expect(file);
            let after =
                |line: &str, start, end| Some(line.strip_prefix(start)?.strip_suffix(end)?.to_string());
            let (manifest, main) = (text("Cargo.toml"), text("tests/main.rs"));
            let targets = manifest.lines().filter_map(|line| after(line, "name = \"", "\""));
            let modules = main.lines().filter_map(|line| after(line, "mod ", ";"));
            let known: BTreeSet<_> = targets.chain(modules).chain(["main".to_string()]).collect();
            for entry in fs::read_dir(package.join("tests")).expect("tests") {
                let path = entry.expect("an entry").path();
                let name = path.file_stem().expect("a name").to_string_lossy();
                let source = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").is_file();
                assert!(!source || known.contains(&*name), "{} is in no test target", path.display());
            }
        }
    }
}
