//! Whether every public module of a library has an example that runs.
//!
//! What is read is the text. A module's documentation is that of its file and of the private modules below it, whose items it
//! offers; an example is a fenced block of Rust in it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Error, at, root};

/// The folders of the packages whose modules are looked at: the libraries.
const LIBRARIES: [&str; 14] = [
    ".",
    "codegen",
    "conformance",
    "device",
    "kernels",
    "layout",
    "notation",
    "picture",
    "programs",
    "ptx",
    "sim",
    "tensor",
    "tile",
    "typed",
];

/// Refuses public modules without an example.
pub(crate) fn run() -> Result<(), Error> {
    let without = without()?;
    if without.is_empty() { Ok(()) } else { Err(Error::NoExample { modules: without.join("\n") }) }
}

/// The files of public modules that have no example.
fn without() -> Result<Vec<String>, Error> {
    let mut without = Vec::new();
    for library in LIBRARIES {
        let src = root().join(library).join("src");
        count(&src.join("lib.rs"), &src, true, &mut without)?;
    }
    Ok(without)
}

/// How many examples a module's documentation has. `below` is the folder of the module's own modules.
fn count(file: &Path, below: &Path, public: bool, without: &mut Vec<String>) -> Result<usize, Error> {
    let text = fs::read_to_string(file).map_err(at(file))?;
    let mut examples = in_text(&text);
    for (name, is_offered) in modules(&text) {
        let folder = below.join(name);
        let files = [below.join(format!("{name}.rs")), folder.join("mod.rs")];
        // A module without a file of its own stands in the text.
        let Some(child) = files.into_iter().find(|file| file.is_file()) else { continue };
        let found = count(&child, &folder, public && is_offered, without)?;
        if !(public && is_offered) {
            examples += found;
        }
    }
    if public && examples == 0 {
        let file = PathBuf::from(file);
        without.push(file.strip_prefix(root()).unwrap_or(&file).display().to_string());
    }
    Ok(examples)
}

/// The modules that a file declares, each with whether it is public and documented. Tests are none.
fn modules(text: &str) -> Vec<(&str, bool)> {
    let (mut modules, mut is_hidden) = (Vec::new(), false);
    for line in text.lines() {
        let declared = line.strip_suffix(';').and_then(|line| {
            let (visible, name) = line.split_once("mod ")?;
            (visible.is_empty() || visible.starts_with("pub")).then_some((name, visible == "pub "))
        });
        match declared {
            Some((name, is_public)) if name != "tests" => modules.push((name, is_public && !is_hidden)),
            _ => {}
        }
        is_hidden = line == "#[doc(hidden)]";
    }
    modules
}

/// The fenced blocks of Rust in the documentation of a file.
fn in_text(text: &str) -> usize {
    let (mut examples, mut is_open) = (0, false);
    for line in text.lines().map(str::trim_start) {
        let documentation = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(words) = documentation.and_then(|line| line.trim_start().strip_prefix("```")) else {
            continue;
        };
        let runs =
            |word: &str| matches!(word.trim(), "" | "rust" | "no_run" | "should_panic" | "compile_fail");
        examples += usize::from(!is_open && words.split(',').all(runs));
        is_open = !is_open;
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_public_module_has_an_example() -> Result<(), Error> {
        run()
    }

    #[test]
    fn examples_are_blocks_of_rust() {
        let one = "/// ```\n/// assert!(true);\n/// ```\n";
        let three = format!("{one}    //! ```should_panic\n    //! ```\n/// ```text\n/// ```\n{one}");
        for (text, count) in
            [(one, 1), (&*three, 3), ("/// ```ignore\n/// ```\n", 0), ("// ```\n// ```\n", 0)]
        {
            assert_eq!(in_text(text), count, "{text}");
        }
    }

    #[test]
    fn modules_are_declarations() {
        let text = "mod a;\npub mod b;\npub(crate) mod c;\nmod tests;\nmod d { }\n// mod e;\n#[doc(hidden)]\npub mod f;\n";
        assert_eq!(modules(text), [("a", false), ("b", true), ("c", false), ("f", false)]);
    }
}
