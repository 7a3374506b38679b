//! What must hold before a version is published, beside the gate.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

use crate::{
    examples,
    shell::{Error, at, check, command, output, root, sh, target_dir},
};

/// The package whose binary is distributed, and what it is built from.
const DISTRIBUTED: &str = "girih-cli";
/// What crates.io and a reader of it need to know of a package.
const DESCRIBED: [&str; 7] =
    ["description", "license", "repository", "readme", "rust_version", "keywords", "categories"];

/// Packs every package that is published and builds it from its archive, checks their documentation and the promise of their version,
/// and collects the licences of what the binary is built from. Nothing is published.
pub(crate) fn run() -> Result<(), Error> {
    let metadata = metadata("cargo metadata --no-deps --format-version 1 --locked")?;
    let packages = published(&metadata);
    let faults = faults(&metadata, &packages);
    if !faults.is_empty() {
        return Err(Error::Package { faults: faults.join("\n") });
    }
    let version = env!("CARGO_PKG_VERSION");
    let changes = root().join("CHANGELOG.md");
    if !fs::read_to_string(&changes).map_err(at(&changes))?.contains(&format!("\n## [{version}]")) {
        return Err(Error::NoChanges { version });
    }
    examples::run()?;
    let named: String = packages.iter().fold(String::new(), |all, name| all + " --package " + name);
    let docs = format!("cargo doc{named} --no-deps --lib --document-private-items --locked");
    check(&docs, command(&docs).env("RUSTDOCFLAGS", "-D warnings"))?;
    semver(&named, version)?;
    licences()?;
    // Packages that need one another are built from one another's archives. Cargo keeps what it has unpacked of an archive by the
    // folder in which the archive lay and by the version: each commit has a folder of its own, or yesterday's sources would be built.
    let commit = output(&mut command("git rev-parse HEAD"), "git rev-parse HEAD")?;
    let archives = target_dir().join("archives");
    if archives.exists() {
        fs::remove_dir_all(&archives).map_err(at(&archives))?;
    }
    let package = format!("cargo package{named} --locked");
    check(&package, command(&package).arg("--target-dir").arg(archives.join(commit.trim())))
}

fn metadata(line: &str) -> Result<Value, Error> {
    let text = output(&mut command(line), line)?;
    serde_json::from_str(&text).map_err(|source| Error::Json { command: line.into(), source })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The packages that may be published. A package that may not says `publish = false`.
fn published(metadata: &Value) -> BTreeSet<&str> {
    let may =
        |package: &&Value| package["publish"].as_array().is_none_or(|registries| !registries.is_empty());
    list(metadata, "packages").iter().filter(may).map(|package| text(package, "name")).collect()
}

/// What a package lacks: words about itself, docs.rs's options, and a version of each dependency, which is published too.
fn faults(metadata: &Value, published: &BTreeSet<&str>) -> Vec<String> {
    let mut faults = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        if !published.contains(name) {
            continue;
        }
        let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let missing = DESCRIBED.into_iter().filter(|key| is_empty(&package[*key]));
        faults.extend(missing.map(|key| format!("{name} has no `{}`", key.replace('_', "-"))));
        if text(package, "readme").starts_with("..") {
            faults.push(format!(
                "{name} has no README of its own: links of another folder's lead nowhere in a registry"
            ));
        }
        if package["metadata"]["docs"]["rs"]["all-features"] != true {
            faults.push(format!("{name} has no `all-features = true` in `[package.metadata.docs.rs]`"));
        }
        for dependency in list(package, "dependencies").iter().filter(|needed| needed["kind"].is_null()) {
            let of = text(dependency, "name");
            if dependency["path"].is_string() && !published.contains(of) {
                faults.push(format!("{name} needs {of}, which is not published"));
            }
            if text(dependency, "req") == "*" {
                faults.push(format!("{name} says of no version that it needs of {of}"));
            }
        }
    }
    faults
}

/// Compares the public interface with that of the last version, where there is one and cargo-semver-checks is installed.
fn semver(named: &str, version: &str) -> Result<(), Error> {
    let tags = "git tag --list v* --sort=-version:refname";
    let tags = output(&mut command(tags), tags)?;
    let Some(baseline) = tags.lines().find(|tag| tag.strip_prefix('v') != Some(version)) else {
        println!("--- cargo semver-checks: SKIPPED (no tag of an earlier version)");
        return Ok(());
    };
    let probe = command("cargo semver-checks --version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if probe.is_ok_and(|status| status.success()) {
        return sh(&format!("cargo semver-checks{named} --baseline-rev {baseline}"));
    }
    println!(
        "--- cargo semver-checks: SKIPPED (not installed; `cargo install cargo-semver-checks --locked`)"
    );
    Ok(())
}

/// Writes the licences of what the binary is built from: the binary is distributed with this file.
pub(crate) fn licences() -> Result<(), Error> {
    let to = target_dir().join("dist/THIRD-PARTY.txt");
    let host = output(&mut command("rustc --print host-tuple"), "rustc --print host-tuple")?;
    let line = format!("cargo metadata --format-version 1 --locked --filter-platform {}", host.trim());
    let metadata = metadata(&line)?;
    let packages: BTreeMap<&str, &Value> =
        list(&metadata, "packages").iter().map(|package| (text(package, "id"), package)).collect();
    let mut out = format!(
        "What the `girih` binary is built from beside girih itself, for {}: each package with its licence.\n",
        host.trim()
    );
    for id in needed(&metadata, &packages) {
        let package = packages[id];
        let _ = write!(
            out,
            "\n{}\n{} {}\n{}\n{}\n",
            "=".repeat(80),
            text(package, "name"),
            text(package, "version"),
            text(package, "license"),
            text(package, "repository"),
        );
        let texts = texts(Path::new(text(package, "manifest_path")))?;
        if texts.is_empty() {
            out += "\nIts package has no text of the licence.\n";
        }
        for file in texts {
            let _ = write!(out, "\n{}", fs::read_to_string(&file).map_err(at(&file))?);
        }
    }
    let folder = to.parent().unwrap_or(root());
    fs::create_dir_all(folder).map_err(at(folder))?;
    fs::write(&to, out).map_err(at(&to))?;
    println!("--- {}", to.strip_prefix(root()).unwrap_or(&to).display());
    Ok(())
}

/// The packages of others that are linked into the binary, by name.
fn needed<'a>(metadata: &'a Value, packages: &BTreeMap<&str, &'a Value>) -> Vec<&'a str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let first = packages.iter().filter(|(_, package)| text(package, "name") == DISTRIBUTED);
    let (mut open, mut seen): (Vec<&str>, BTreeSet<&str>) =
        (first.map(|(id, _)| *id).collect(), BTreeSet::new());
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(id).filter(|_| seen.insert(id)) else { continue };
        let linked = |needs: &&Value| list(needs, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
        open.extend(list(node, "deps").iter().filter(linked).map(|needs| text(needs, "pkg")));
    }
    let mut of_others: Vec<&str> = packages
        .iter()
        .filter(|(id, package)| seen.contains(*id) && !package["source"].is_null())
        .map(|(_, package)| text(package, "id"))
        .collect();
    of_others.sort_by_key(|id| (text(packages[id], "name"), text(packages[id], "version")));
    of_others
}

/// The files beside a manifest that are texts of licences.
fn texts(manifest: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = manifest.parent().unwrap_or(manifest);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file()
            && ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|start| name.starts_with(start))
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler that the gate uses is the oldest one that the packages promise to work with.
    #[test]
    fn the_gate_runs_with_the_oldest_compiler() {
        let text = |file: &str| fs::read_to_string(root().join(file)).expect(file);
        let quoted = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).expect("the key");
            line.split('"').nth(1).expect("a value").to_string()
        };
        let promised = quoted(&text("Cargo.toml"), "rust-version");
        let used = quoted(&text("rust-toolchain.toml"), "channel");
        assert!(used == promised || used.strip_suffix(".0") == Some(&promised), "{used} is not {promised}");
    }

    #[test]
    fn packages_say_what_a_registry_asks() -> Result<(), Error> {
        let metadata = metadata("cargo metadata --no-deps --format-version 1 --offline")?;
        let published = published(&metadata);
        assert!(published.contains("girih") && !published.contains("xtask"), "{published:?}");
        assert_eq!(faults(&metadata, &published), [""; 0]);
        Ok(())
    }

    #[test]
    fn what_is_missing_is_told() {
        let package = serde_json::json!({
            "name": "a", "publish": null, "license": "MIT", "readme": "../README.md", "keywords": [], "dependencies": [
                { "name": "b", "kind": null, "path": "/b", "req": "*" },
                { "name": "c", "kind": "dev", "path": "/c", "req": "*" },
            ],
        });
        let metadata = serde_json::json!({ "packages": [package, { "name": "b", "publish": [] }] });
        let published = published(&metadata);
        let told = faults(&metadata, &published).join("; ");
        assert_eq!(
            told,
            "a has no `description`; a has no `repository`; a has no `rust-version`; a has no `keywords`; a has no `categories`; \
             a has no README of its own: links of another folder's lead nowhere in a registry; a has no `all-features = true` in `[package.metadata.docs.rs]`; a needs b, which is not \
             published; a says of no version that it needs of b"
        );
    }
}
