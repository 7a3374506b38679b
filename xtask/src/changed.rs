//! The tests that a change may break: those of the packages that it touches, and of the packages that depend on these.
//!
//! Everything is built, as the gate builds it, so that packages have the same features; cargo builds what is out of date. What takes the time
//! of a gate after that is running tests, and only those of these packages run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::shell::{Error, check, command, output, root};

const METADATA: &str = "cargo metadata --no-deps --format-version 1 --locked";
/// It reads the files of all packages.
const ALWAYS: &str = "xtask";

/// A package of the workspace: its folder below the root, and the packages that it needs.
#[derive(Debug)]
struct Package {
    folder: PathBuf,
    needs: BTreeSet<String>,
}

/// Runs the tests that are downstream of what differs from a commit. `line` is the gate's command, which has built them.
pub(crate) fn test(since: &str, line: &str) -> Result<(), Error> {
    let packages = packages(&json(METADATA)?);
    let changed = paths(since)?;
    let taken = downstream(&packages, &changed);
    let names: Vec<_> = taken.iter().map(String::as_str).collect();
    println!("--- {} changed files since {since}: the tests of {}", changed.len(), names.join(", "));
    let built = format!("{line} --no-run --locked --message-format=json-render-diagnostics");
    for message in lines(&output(&mut command(&built), &built)?).map(|text| parse(&built, text)) {
        let message = message?;
        let (Some(test), Some(manifest)) =
            (message["executable"].as_str(), message["manifest_path"].as_str())
        else {
            continue;
        };
        let folder = Path::new(manifest).parent().unwrap_or(root());
        let own = |name: &&String| {
            packages.get(*name).is_some_and(|package| root().join(&package.folder) == folder)
        };
        if message["profile"]["test"] == true && taken.iter().any(|name| own(&name)) {
            check(test, Command::new(test).current_dir(folder).env("CARGO_MANIFEST_DIR", folder))?;
        }
    }
    let doctests = format!("{line} --doc");
    check(&doctests, &mut command(&doctests))
}

/// The files that differ from a commit, those that git does not know yet too, below the root.
fn paths(since: &str) -> Result<Vec<PathBuf>, Error> {
    let git = |line: String| output(&mut command(&line), &line);
    let base = git(format!("git merge-base HEAD {since}"))?;
    let (known, new) = (
        git(format!("git diff --name-only {}", base.trim()))?,
        git("git ls-files --others --exclude-standard".into())?,
    );
    Ok(known.lines().chain(new.lines()).map(PathBuf::from).collect())
}

fn packages(metadata: &Value) -> BTreeMap<String, Package> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let package = |package: &Value| {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let folder = manifest.parent().unwrap_or(root());
        let needs = list(&package["dependencies"]).iter().map(|needed| text(&needed["name"])).collect();
        let folder = folder.strip_prefix(root()).unwrap_or(folder).to_path_buf();
        (text(&package["name"]), Package { folder, needs })
    };
    list(&metadata["packages"]).iter().map(package).collect()
}

/// The packages whose tests a change of these files may break. A file in no package's folder may be anybody's.
fn downstream(packages: &BTreeMap<String, Package>, changed: &[PathBuf]) -> BTreeSet<String> {
    let mut taken = BTreeSet::from([ALWAYS.to_string()]);
    for path in changed {
        let holds = |package: &Package| package.folder != Path::new("") && path.starts_with(&package.folder);
        let own = packages.iter().filter(|(_, package)| holds(package));
        match own.max_by_key(|(_, package)| package.folder.components().count()) {
            Some((name, _)) => taken.insert(name.clone()),
            None => return packages.keys().cloned().collect(),
        };
    }
    loop {
        let needs = |package: &Package| package.needs.iter().any(|needed| taken.contains(needed));
        let more = packages.iter().filter(|(name, package)| !taken.contains(*name) && needs(package));
        let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return taken;
        }
        taken.extend(more);
    }
}

fn json(line: &str) -> Result<Value, Error> {
    parse(line, &output(&mut command(line), line)?)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with('{'))
}

fn parse(command: &str, text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|source| Error::Json { command: command.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, &str, &[&str])]) -> BTreeMap<String, Package> {
        let package = |&(name, folder, needs): &(&str, &str, &[&str])| {
            let needs = needs.iter().map(|name| name.to_string()).collect();
            (name.to_string(), Package { folder: folder.into(), needs })
        };
        list.iter().map(package).collect()
    }

    #[test]
    fn tests_of_what_depends_on_a_change_run() {
        let packages = of(&[
            ("all", "", &["base", "top"]),
            ("base", "base", &[]),
            ("cases", "base/cases", &["base"]),
            ("other", "other", &[]),
            ("top", "top", &["middle"]),
            ("middle", "middle", &["base"]),
            (ALWAYS, "tasks", &[]),
        ]);
        let after = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            downstream(&packages, &paths).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(after(&[]), "xtask");
        assert_eq!(after(&["top/src/lib.rs"]), "all top xtask");
        assert_eq!(after(&["base/src/lib.rs"]), "all base cases middle top xtask");
        assert_eq!(after(&["base/cases/src/lib.rs", "other/Cargo.toml"]), "cases other xtask");
        assert_eq!(after(&["top/src/lib.rs", "Cargo.lock"]), "all base cases middle other top xtask");
    }

    #[test]
    fn the_workspace_has_packages_and_what_they_need() {
        let packages = packages(&json(METADATA).expect("metadata"));
        let kernels = packages.get("girih-kernels").expect("a package");
        assert_eq!(kernels.folder, Path::new("kernels"));
        assert!(kernels.needs.contains("girih-codegen"), "{kernels:?}");
        let broken = downstream(&packages, &["codegen/src/lib.rs".into()]);
        assert!(broken.contains("girih-proptests") && !broken.contains("girih-layout"), "{broken:?}");
    }
}
