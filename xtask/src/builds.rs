//! What the gate's builds cost, measured so that the machine does not matter: the size of what the compiler writes for each package. A generic
//! function that is compiled for many types shows here, and so does a package that is built twice.
//!
//! The sizes are compared with those of the file, above which they may be by a twentieth.

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path};

use serde_json::Value;

use crate::shell::{Error, at, command, output, root};

const FILE: &str = "xtask/builds.txt";
const HEADER: &str = "# What the tests' build makes: KiB of each package's libraries, and of its programs and tests. `cargo xtask builds` compares,\n\
                      # `cargo xtask builds --update` writes.\n";
/// Growth in KiB that counts for nothing, since a small package grows by a twentieth with every function.
const LEAST: u64 = 64;

/// Compares the sizes of what the tests' build makes with the file, or writes the file.
pub(crate) fn run(update: bool) -> Result<(), Error> {
    if !is_comparable() {
        println!("--- builds: SKIPPED (`.ci/run` sets the profile that they are compared in)");
        return Ok(());
    }
    let line = "cargo test --workspace --no-run --locked --message-format=json-render-diagnostics";
    println!("--- {line}");
    let found = sizes(&output(&mut command(line), line)?, line)?;
    let file = root().join(FILE);
    if update {
        return fs::write(&file, text(&found)).map_err(at(&file));
    }
    let recorded = parsed(&fs::read_to_string(&file).map_err(at(&file))?);
    let grown = grown(&recorded, &found);
    if grown.is_empty() { Ok(()) } else { Err(Error::Builds { grown }) }
}

/// Sizes depend on debug information, incremental compilation and the platform.
fn is_comparable() -> bool {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
        && is("CARGO_PROFILE_DEV_DEBUG", "false")
        && is("CARGO_INCREMENTAL", "0")
}

/// The KiB of each package's files, of which cargo's messages say where they are.
fn sizes(messages: &str, line: &str) -> Result<BTreeMap<String, u64>, Error> {
    let mut bytes = BTreeMap::<String, u64>::new();
    for message in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value =
            serde_json::from_str(message).map_err(|source| Error::Json { command: line.into(), source })?;
        let manifest = message["manifest_path"].as_str().map(Path::new);
        let folder = manifest.and_then(Path::parent).and_then(|folder| folder.strip_prefix(root()).ok());
        let (Some(folder), Some(files)) = (folder, message["filenames"].as_array()) else { continue };
        let package = if folder.as_os_str().is_empty() { "." } else { folder.to_str().unwrap_or(".") };
        for file in files.iter().filter_map(Value::as_str).map(Path::new) {
            let kind = match file.extension() {
                None => "programs",
                Some(end) if end == "rlib" => "library",
                Some(_) => continue,
            };
            *bytes.entry(format!("{package} {kind}")).or_default() +=
                file.metadata().map_err(at(file))?.len();
        }
    }
    Ok(bytes.into_iter().map(|(name, bytes)| (name, bytes.div_ceil(1024))).collect())
}

fn text(sizes: &BTreeMap<String, u64>) -> String {
    sizes.iter().fold(HEADER.to_string(), |mut text, (name, size)| {
        let _ = writeln!(text, "{name} {size}");
        text
    })
}

fn parsed(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, size) = line.rsplit_once(' ')?;
        Some((name.to_string(), size.parse().ok()?))
    };
    lines.filter_map(pair).collect()
}

/// The sizes that are more than a twentieth above the file's, and those that the file does not have, each with a line.
fn grown(recorded: &BTreeMap<String, u64>, found: &BTreeMap<String, u64>) -> String {
    let mut grown = String::new();
    let all = [("all packages", recorded.values().sum(), found.values().sum())];
    let each =
        found.iter().map(|(name, &size)| (name.as_str(), recorded.get(name).copied().unwrap_or(0), size));
    for (name, before, now) in each.chain(all) {
        if now > before + (before / 20).max(LEAST) {
            let _ = writeln!(grown, "{name}: {now} KiB, {before} before");
        }
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
        list.iter().map(|(name, size)| (name.to_string(), *size)).collect()
    }

    #[test]
    fn the_file_is_what_it_is_written_as() {
        let sizes = of(&[("tile library", 28000), ("tile programs", 70000)]);
        assert_eq!(parsed(&text(&sizes)), sizes);
        let own = fs::read_to_string(root().join(FILE)).expect(FILE);
        assert_eq!(text(&parsed(&own)), own);
    }

    #[test]
    fn more_than_a_twentieth_is_growth() {
        let before = of(&[("a library", 10_000), ("b library", 100)]);
        let grown_to = |a, b| grown(&before, &of(&[("a library", a), ("b library", b)]));
        assert_eq!([grown_to(10_500, 100), grown_to(10_000, 164), grown_to(5_000, 10)], ["", "", ""]);
        assert_eq!(grown_to(10_501, 100), "a library: 10501 KiB, 10000 before\n");
        assert_eq!(grown_to(10_000, 165), "b library: 165 KiB, 100 before\n");
        assert_eq!(grown(&before, &of(&[("c library", 65)])), "c library: 65 KiB, 0 before\n");
        let many = |size| (0..20).map(|i| (format!("{i} library"), size)).collect::<BTreeMap<_, _>>();
        assert_eq!(grown(&many(1000), &many(1060)), "all packages: 21200 KiB, 20000 before\n");
    }

    #[test]
    fn libraries_and_programs_are_counted() {
        let message = |file: &Path| {
            let manifest = root().join("tile/Cargo.toml").display().to_string();
            let file = file.display().to_string();
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":{manifest:?},\"filenames\":[{file:?}]}}\n"
            )
        };
        let (program, missing) = (root().join("LICENSE-MIT"), root().join("target/none.rlib"));
        let licence = fs::metadata(&program).expect("a file").len().div_ceil(1024);
        assert_eq!(sizes(&message(&program), "cargo").expect("sizes"), of(&[("tile programs", licence)]));
        assert!(sizes(&message(&missing), "cargo").is_err());
        // Other files, and messages of other kinds, are not counted.
        assert_eq!(sizes(&message(&root().join("Cargo.toml")), "cargo").expect("sizes"), of(&[]));
        assert_eq!(sizes("{\"reason\":\"build-finished\"}\n", "cargo").expect("sizes"), of(&[]));
    }
}
