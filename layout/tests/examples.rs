//! Every public type, trait and function has an example, which the documentation's tests run.

use std::fs;
use std::path::Path;

use super::SOURCES;

/// The items of a file that have documentation without an example.
fn without_example(source: &str) -> Vec<&str> {
    let (mut bare, mut has_example, mut in_attribute) = (Vec::new(), false, false);
    // Whether the line is in a macro's rows, which declare methods, and whether it is documented.
    let (mut in_rows, mut documented) = (false, false);
    for whole in source.lines() {
        let line = whole.trim_start();
        let opens = |name: &str| name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
        in_rows = whole != "}" && (in_rows || whole.strip_suffix("! {").is_some_and(opens));
        documented |= line.starts_with("///");
        if line.starts_with("///") || line.starts_with("#[") || in_attribute {
            in_attribute = (in_attribute || line.starts_with("#[")) && !line.ends_with(']');
            has_example |= line.contains("```") || line == "#[doc(hidden)]";
            continue;
        }
        let declared = line.strip_prefix("pub const ").or(line.strip_prefix("pub ")).unwrap_or_default();
        let (kind, name) = declared.split_once(' ').unwrap_or_default();
        if ["fn", "struct", "enum", "trait", "type"].contains(&kind) && !name.starts_with('$') && !has_example
        {
            bare.push(name);
        } else if in_rows && documented && !has_example && line.starts_with(|c: char| c.is_ascii_lowercase())
        {
            bare.push(line);
        }
        (has_example, documented) = (false, false);
    }
    bare
}

#[test]
fn every_public_item_has_an_example() {
    let mut bare = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCES)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).expect("a source");
                let items = without_example(&source).into_iter();
                bare.extend(items.map(|item| format!("{}: {item}", path.display())));
            }
        }
    }
    assert!(bare.is_empty(), "without an example:\n{}", bare.join("\n"));
}

#[test]
fn the_check_sees_what_is_missing() {
    let source =
        "/// Says.\npub const fn a() {}\n/// ```\n/// b()\n/// ```\npub fn b() {}\npub(crate) fn c() {}\n";
    assert_eq!(without_example(source), ["a() {}"]);
    let rows = "rows! {\n    /// Says.\n    a(x: i64);\n    /// ```\n    /// b()\n    /// ```\n    b();\n}\n";
    assert_eq!(without_example(rows), ["a(x: i64);"]);
}
