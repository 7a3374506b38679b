//! Which file of a crate needs which: the imports, followed through re-exports to the file that has the item.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque, btree_map::Entry},
    fs,
    path::{Path, PathBuf},
};

use super::source::{self, Mention, Source};
use crate::shell::{Error, at};

/// The files of a crate and what each needs of the others.
pub(super) struct Graph {
    /// Paths below `src`, with `/` between folders.
    pub(super) files: Vec<String>,
    /// From a file to a file, with the first line that needs it and what is there.
    pub(super) needs: BTreeMap<usize, BTreeMap<usize, (usize, String)>>,
}

type Module = Vec<String>;

/// Of every module: its file, what it brings into scope, and what its file declares.
struct Scopes {
    file: BTreeMap<Module, usize>,
    names: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
    globs: BTreeMap<Module, Vec<Vec<String>>>,
    declared: Vec<BTreeSet<String>>,
}

/// The graph of the sources below `src`.
pub(super) fn of(src: &Path) -> Result<Graph, Error> {
    let (mut texts, mut folders) = (Vec::new(), vec![src.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            let path: PathBuf = entry.map_err(at(&folder))?.path();
            // Every file in `src/bin` is a crate of its own.
            if path.is_dir() && path != src.join("bin") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let below = path.strip_prefix(src).unwrap_or(&path);
                let name: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                texts.push((name.join("/"), fs::read_to_string(&path).map_err(at(&path))?));
            }
        }
    }
    texts.retain(|(name, _)| name != "main.rs");
    texts.sort();
    Ok(of_texts(&texts))
}

/// The graph of files given by name and text.
pub(super) fn of_texts(texts: &[(String, String)]) -> Graph {
    let mut scopes = Scopes {
        file: BTreeMap::new(),
        names: BTreeMap::new(),
        globs: BTreeMap::new(),
        declared: Vec::new(),
    };
    let mut sources: Vec<Source> = Vec::new();
    for (i, (name, text)) in texts.iter().enumerate() {
        let module = module(name);
        let source = source::read(text, &module);
        scopes.file.insert(module, i);
        scopes.file.extend(source.inline.iter().map(|inner| (inner.clone(), i)));
        scopes.declared.push(source.declared.iter().cloned().collect());
        sources.push(source);
    }
    for used in sources.iter().flat_map(|source| &source.uses) {
        let Some(path) = scopes.absolute(&used.mention) else { continue };
        let module = used.mention.module.clone();
        if used.name == "*" {
            scopes.globs.entry(module).or_default().push(path);
        } else {
            scopes.names.entry(module).or_default().insert(used.name.clone(), path);
        }
    }
    let of_tests: Vec<&Module> = sources.iter().flat_map(|source| &source.of_tests).collect();
    let mut needs: BTreeMap<usize, BTreeMap<usize, (usize, String)>> = BTreeMap::new();
    for (from, source) in sources.iter().enumerate() {
        let own = module(&texts[from].0);
        if of_tests.iter().any(|tests| own.starts_with(tests)) {
            continue;
        }
        // What a module passes on from its own folder says nothing of what it needs.
        let passed_on = |path: &[String]| path.len() > own.len() && path.starts_with(&own);
        let used = source.uses.iter().filter_map(|used| {
            let path = scopes.absolute(&used.mention)?;
            (!used.is_public || !passed_on(&path)).then_some((path, used.mention.line))
        });
        let said = source.paths.iter().filter_map(|mention| {
            let first = mention.path.first()?;
            let is_local = matches!(&**first, "crate" | "self" | "super")
                || scopes.names.get(&mention.module).is_some_and(|names| names.contains_key(first))
                || scopes.file.contains_key(&[&*mention.module, std::slice::from_ref(first)].concat());
            is_local.then(|| scopes.absolute(mention).map(|path| (path, mention.line)))?
        });
        for (path, line) in used.chain(said) {
            let Some(to) = scopes.resolve(&path, 0) else { continue };
            if to != from {
                let said = texts[from].1.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
                needs.entry(from).or_default().entry(to).or_insert_with(|| (line, said.to_string()));
            }
        }
    }
    Graph { files: texts.iter().map(|(name, _)| name.clone()).collect(), needs }
}

/// The module that a file below `src` holds.
fn module(name: &str) -> Module {
    let name = name.trim_end_matches(".rs");
    let mut parts: Module = name.split('/').map(String::from).collect();
    if parts.last().is_some_and(|last| last == "mod") || name == "lib" {
        parts.pop();
    }
    parts
}

impl Scopes {
    /// The path from the crate's root, or nothing for another crate's.
    fn absolute(&self, mention: &Mention) -> Option<Vec<String>> {
        let Mention { module, path, .. } = mention;
        let mut base = module.clone();
        let mut rest = &path[..];
        match path.first().map(String::as_str)? {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                let inner = [&**module, &[first.to_string()]].concat();
                let is_named = self.names.get(module).is_some_and(|names| names.contains_key(first));
                if !self.file.contains_key(&inner) && !is_named {
                    return None;
                }
            }
        }
        Some([&*base, rest].concat())
    }

    /// The file that has the item of a path from the root.
    fn resolve(&self, path: &[String], passed: usize) -> Option<usize> {
        // Two names may stand for each other, where one is a module and the other is not.
        if passed > 16 {
            return None;
        }
        let mut module = Module::new();
        for (i, part) in path.iter().enumerate() {
            let inner = [&*module, std::slice::from_ref(part)].concat();
            let is_last = i + 1 == path.len();
            let named = self.names.get(&module).and_then(|names| names.get(part));
            if self.file.contains_key(&inner) && !(is_last && named.is_some()) {
                module = inner;
                continue;
            }
            if let Some(target) = named.filter(|target| **target != path[..=i]) {
                return self.resolve(&[target, &path[i + 1..]].concat(), passed + 1);
            }
            let own = self.file.get(&module).copied();
            if own.is_some_and(|file| self.declared[file].contains(part)) {
                return own;
            }
            let globs = self.globs.get(&module).into_iter().flatten();
            let through_glob = globs.filter(|target| **target != module).find_map(|target| {
                let file = self.resolve(&[target, &path[i..]].concat(), passed + 1)?;
                self.declared[file].contains(part).then_some(file)
            });
            return through_glob.or(own);
        }
        self.file.get(&module).copied()
    }
}

impl Graph {
    /// A file's family: the folder below `src` that it is in, or itself where it is in none. `gemm.rs` and the files of
    /// `gemm/` are one family.
    pub(super) fn family(&self, file: usize) -> &str {
        let name = &self.files[file];
        name.split_once('/').map_or(name.trim_end_matches(".rs"), |(folder, _)| folder)
    }
}

/// What each node needs, the nodes being files or families.
pub(super) type Arrows<T> = BTreeMap<T, BTreeSet<T>>;

/// A shortest circle, as its nodes in order.
pub(super) fn shortest_circle<T: Ord + Copy>(arrows: &Arrows<T>) -> Option<Vec<T>> {
    arrows.keys().filter_map(|&start| circle_through(start, arrows)).min_by_key(Vec::len)
}

fn circle_through<T: Ord + Copy>(start: T, arrows: &Arrows<T>) -> Option<Vec<T>> {
    let mut before: BTreeMap<T, T> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &next in arrows.get(&node).into_iter().flatten() {
            if next == start {
                let mut circle = vec![node];
                while let Some(&earlier) = circle.last().and_then(|last| before.get(last)) {
                    circle.push(earlier);
                }
                circle.reverse();
                return Some(circle);
            }
            if let Entry::Vacant(slot) = before.entry(next) {
                slot.insert(node);
                queue.push_back(next);
            }
        }
    }
    None
}
