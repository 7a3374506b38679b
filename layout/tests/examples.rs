//! Every public type and function of the run-time layer has an example, which the documentation's tests run.

use std::fs;
use std::path::Path;

/// The items of a file that have documentation without an example.
fn without_example(source: &str) -> Vec<&str> {
    let (mut bare, mut has_example) = (Vec::new(), false);
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("///") || line.starts_with("#[") {
            has_example |= line.contains("```") || line == "#[doc(hidden)]";
            continue;
        }
        let declared = line.strip_prefix("pub const ").or(line.strip_prefix("pub ")).unwrap_or_default();
        let (kind, name) = declared.split_once(' ').unwrap_or_default();
        // Rows of a macro are documented by what they stand for.
        if ["fn", "struct", "enum"].contains(&kind) && !name.starts_with('$') && !has_example {
            bare.push(name);
        }
        has_example = false;
    }
    bare
}

#[test]
fn every_public_item_has_an_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut bare = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source");
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            bare.extend(without_example(&source).into_iter().map(|item| format!("{file}: {item}")));
        }
    }
    assert!(bare.is_empty(), "without an example:\n{}", bare.join("\n"));
}

#[test]
fn the_check_sees_what_is_missing() {
    let source =
        "/// Says.\npub const fn a() {}\n/// ```\n/// b()\n/// ```\npub fn b() {}\npub(crate) fn c() {}\n";
    assert_eq!(without_example(source), ["a() {}"]);
}
