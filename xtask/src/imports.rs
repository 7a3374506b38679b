//! The order of a library's files: which family imports which, and that no imports go in a circle.
//!
//! A family is a folder directly below `src`, with the file of the same name, or a file that is there alone. What is
//! read is the text: `use` declarations, and paths in the code that start with `crate`, `super` or a module. A path is
//! followed through re-exports to the file that has the item; a re-export from a module's own folder is no import, since it
//! says what the module offers and not what it needs. Methods need no import, so this does not see them.

use std::fmt::Write;

use itertools::Itertools;

use crate::shell::{Error, root};

mod graph;
mod source;

use graph::{Arrows, Graph, shortest_circle};

/// What is asked of a library: no circle of families, and where a core is named, none of files but through the core.
struct Library {
    folder: &'static str,
    /// The files that every circle of files goes through; `None` where files of one family may need one another.
    core: Option<&'static [&'static str]>,
}

/// The libraries.
const LIBRARIES: [Library; 15] = [
    Library { folder: "layout", core: Some(&[]) },
    // The types of the typed layer name its operations, so that generic code needs no where clauses, and the operations
    // are functions from these types to these types.
    Library {
        folder: "typed",
        core: Some(&[
            "layouts/nat.rs",
            "layouts/int.rs",
            "layouts/list.rs",
            "layouts/modes.rs",
            "layouts/tiler.rs",
        ]),
    },
    Library { folder: "tensor", core: None },
    Library { folder: "ptx", core: None },
    Library { folder: "sim", core: None },
    Library { folder: "codegen", core: None },
    Library { folder: "device", core: None },
    Library { folder: "tile", core: None },
    Library { folder: "kernels", core: None },
    Library { folder: "picture", core: None },
    Library { folder: "notation", core: None },
    Library { folder: "conformance", core: None },
    Library { folder: "cli", core: None },
    Library { folder: "page", core: None },
    Library { folder: "python", core: None },
];

/// Prints what each family of each library needs, and refuses circles.
pub(crate) fn run() -> Result<(), Error> {
    let mut refused = String::new();
    for library in &LIBRARIES {
        let graph = graph::of(&root().join(library.folder).join("src"))?;
        println!("--- {}", library.folder);
        for (family, needs) in &families(&graph) {
            println!("{family}: {}", needs.iter().join(" "));
        }
        refused += &circle(library, &graph).unwrap_or_default();
    }
    if refused.is_empty() { Ok(()) } else { Err(Error::Imports { circles: refused }) }
}

/// What each family needs of the others.
fn families(graph: &Graph) -> Arrows<&str> {
    let mut arrows: Arrows<&str> =
        (0..graph.files.len()).map(|file| (graph.family(file), [].into())).collect();
    for (from, to) in pairs(graph) {
        let (from, to) = (graph.family(from), graph.family(to));
        if from != to {
            arrows.entry(from).or_default().insert(to);
        }
    }
    arrows
}

fn pairs(graph: &Graph) -> impl Iterator<Item = (usize, usize)> + '_ {
    graph.needs.iter().flat_map(|(&from, needs)| needs.keys().map(move |&to| (from, to)))
}

/// A circle, with the imports that close it.
fn circle(library: &Library, graph: &Graph) -> Option<String> {
    let mut out = String::new();
    if let Some(circle) = shortest_circle(&families(graph)) {
        let names = circle.iter().chain(circle.first()).join(" -> ");
        let _ = writeln!(out, "families of {}: {names}", library.folder);
        for (&from, &to) in circle.iter().circular_tuple_windows().take(circle.len()) {
            let import = pairs(graph).find(|&(a, b)| graph.family(a) == from && graph.family(b) == to);
            out += &import.map_or_else(String::new, |import| arrow(library, graph, import));
        }
        return Some(out);
    }
    let core = library.core?;
    let mut files: Arrows<usize> = Arrows::new();
    for (from, to) in pairs(graph) {
        if !core.contains(&&*graph.files[from]) && !core.contains(&&*graph.files[to]) {
            files.entry(from).or_default().insert(to);
        }
    }
    let circle = shortest_circle(&files)?;
    let names = circle.iter().chain(circle.first()).map(|&file| &graph.files[file]).join(" -> ");
    let _ = writeln!(out, "files of {}: {names}", library.folder);
    for (&from, &to) in circle.iter().circular_tuple_windows().take(circle.len()) {
        out += &arrow(library, graph, (from, to));
    }
    Some(out)
}

/// One import, as a line.
fn arrow(library: &Library, graph: &Graph, (from, to): (usize, usize)) -> String {
    let Some((line, said)) = graph.needs.get(&from).and_then(|needs| needs.get(&to)) else {
        return String::new();
    };
    let (folder, from, to) = (library.folder, &graph.files[from], &graph.files[to]);
    format!("    {folder}/src/{from}:{line} needs {to}: {said}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Library = Library { folder: "it", core: Some(&["core/list.rs"]) };

    fn found(library: &Library, files: &[(&str, &str)]) -> Option<String> {
        let texts: Vec<_> = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        circle(library, &graph::of_texts(&texts))
    }

    #[test]
    fn the_libraries_have_no_circles_but_through_the_core() {
        if let Err(error) = run() {
            panic!("{error}");
        }
    }

    #[test]
    fn a_circle_of_families_is_found_through_re_exports() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;\npub use a::one::One;\npub use b::Two;"),
            ("a/mod.rs", "pub(crate) mod one; mod other;"),
            ("a/one.rs", "pub struct One;"),
            ("a/other.rs", "//! Other.\nuse core::fmt;\nuse crate::{\n    Two,\n};\n"),
            ("b.rs", "use super::c::Three;\npub struct Two;"),
            ("c.rs", "pub struct Three;\nfn f() { crate::One::g() }"),
        ];
        let circle = "families of it: a -> b -> c -> a
    it/src/a/other.rs:4 needs b.rs: Two,
    it/src/b.rs:1 needs c.rs: use super::c::Three;
    it/src/c.rs:2 needs a/one.rs: fn f() { crate::One::g() }
";
        assert_eq!(found(&STRICT, &files).as_deref(), Some(circle));
    }

    #[test]
    fn a_circle_of_files_is_found_unless_it_goes_through_the_core() {
        let files = [
            ("core/mod.rs", "mod list; mod one; mod two; pub use one::One;"),
            ("core/list.rs", "use super::{One, two};"),
            ("core/one.rs", "use super::list;"),
            (
                "core/two.rs",
                "use super::*;\nuse self::inner::Deep;\nmod inner { use super::super::list as l; }",
            ),
        ];
        assert_eq!(found(&STRICT, &files), None);
        let mut more = files;
        more[2].1 = "use super::list;\nuse super::two::Two;\npub struct One;";
        more[3].1 = "use super::*;\npub struct Two(One);\nmod inner { fn f(_: super::super::one::One) {} }";
        let circle = "files of it: core/one.rs -> core/two.rs -> core/one.rs
    it/src/core/one.rs:2 needs core/two.rs: use super::two::Two;
    it/src/core/two.rs:3 needs core/one.rs: mod inner { fn f(_: super::super::one::One) {} }
";
        assert_eq!(found(&STRICT, &more).as_deref(), Some(circle));
        assert_eq!(found(&Library { core: None, ..STRICT }, &more), None);
    }

    #[test]
    fn comments_literals_and_tests_are_no_imports() {
        let text = r###"
//! use crate::b::B;
/* use crate::b::B; /* nested */ use crate::b::B; */
const A: &str = "use crate::b::B; \\\" crate::b::B";
const R: &str = r#"crate::b::B " crate::b::B"#;
const Q: [char; 3] = ['"', '\'', '{'];
fn f<'a>(_: &'a str) {}
#[cfg(test)]
use crate::b::B;
#[cfg(test)]
mod tests { use crate::b::B; fn f() -> crate::b::B {} }
"###;
        assert_eq!(
            found(&STRICT, &[("lib.rs", "mod a; mod b;"), ("a.rs", text), ("b.rs", "use crate::a::A;")]),
            None
        );
        let apart = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "#[cfg(all(test, feature = \"x\"))]\nmod tests;\npub struct A;"),
            ("a/tests.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&STRICT, &apart), None);
        let with = text.replace("#[cfg(test)]\nuse", "use");
        assert!(
            found(&STRICT, &[("lib.rs", "mod a; mod b;"), ("a.rs", &with), ("b.rs", "use crate::a::A;")])
                .is_some()
        );
    }
}
