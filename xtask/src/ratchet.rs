//! The ratchet: what the kernels that can be chosen need of a GPU, which may only become less.
//!
//! The example `configurations` of girih-kernels writes the modules. Each is assembled as a golden module is, and refused for what a
//! golden module is refused for. Its registers, shared memory and instructions are compared with those of the file, in which each
//! module has a line.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{
    ptxas, sass,
    shell::{Error, at, check, command, root, target_dir},
};

const FILE: &str = "kernels/testdata/ratchet.txt";
const HEADER: &str = "# Modules of configurations that can be chosen, as ptxas assembles them: registers of a thread, bytes of shared memory\n\
                      # of a block, instructions. `cargo xtask ratchet` compares, `cargo xtask ratchet --update` writes.\n";

/// What a module needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    registers: u64,
    /// Bytes, static and dynamic.
    shared: u64,
    instructions: u64,
}

impl Needs {
    fn each(self) -> [u64; 3] {
        [self.registers, self.shared, self.instructions]
    }

    /// The line of a file.
    fn line(self, name: &str) -> String {
        let [registers, shared, instructions] = self.each();
        format!("{name} {registers} {shared} {instructions}")
    }
}

/// Assembles the modules, and compares what they need with the file, or writes the file.
pub(crate) fn run(update: bool) -> Result<(), Error> {
    let Some(tools) = ptxas::tools()? else { return Ok(()) };
    let (folder, known) = (target_dir().join("ratchet"), target_dir().join("ratchet-known"));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    for folder in [&folder, &known] {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    let line = "cargo run --package girih-kernels --example configurations --";
    check(line, command(line).arg(&folder))?;
    let found = assemble_all(&Assembler { tools, known }, &modules(&folder)?)?;
    let file = root().join(FILE);
    if update {
        println!("--- {FILE}: {} modules", found.len());
        return fs::write(&file, write(&found)).map_err(at(&file));
    }
    let stored = read(&fs::read_to_string(&file).map_err(at(&file))?);
    let (worse, better) = compare(&stored, &found);
    print!("{better}");
    if worse.is_empty() { Ok(()) } else { Err(Error::Ratchet { worse }) }
}

/// The modules in a folder, in the order of their names.
fn modules(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        modules.push(entry.map_err(at(folder))?.path());
    }
    modules.sort();
    Ok(modules)
}

/// What each module needs, by its name; several are assembled at once.
fn assemble_all(assembler: &Assembler, modules: &[PathBuf]) -> Result<BTreeMap<String, Needs>, Error> {
    println!("--- ptxas: {} modules", modules.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        while let Some(path) = modules.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push(assembler.needs(path).map(|needs| (name(path), needs)));
        }
        own
    };
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let results = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect::<Vec<_>>()
    });
    let (mut found, mut refused) = (BTreeMap::new(), String::new());
    for result in results {
        match result? {
            (name, Ok(needs)) => drop(found.insert(name, needs)),
            (name, Err(against)) => refused += &format!("{name}\n    {against}\n"),
        }
    }
    if refused.is_empty() { Ok(found) } else { Err(Error::Refused { refused }) }
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// ptxas, and what it said of modules before: a folder with the line and the text of each module that was not refused.
struct Assembler {
    tools: PathBuf,
    known: PathBuf,
}

impl Assembler {
    /// What a module needs, or what ptxas says against it.
    fn needs(&self, path: &Path) -> Result<Result<Needs, String>, Error> {
        let (name, text) = (name(path), fs::read_to_string(path).map_err(at(path))?);
        let known = self.known.join(&name);
        let modified = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        if modified(&known) > modified(&self.tools.join("ptxas")) {
            let seen = fs::read_to_string(&known).unwrap_or_default();
            let needs = seen.split_once('\n').filter(|(_, seen)| *seen == text).map(|(line, _)| read(line));
            if let Some(needs) = needs.and_then(|mut lines| lines.remove(&name)) {
                return Ok(Ok(needs));
            }
        }
        let needs = self.assembled(path, &text)?;
        if let Ok(needs) = needs {
            fs::write(&known, needs.line(&name) + "\n" + &text).map_err(at(&known))?;
        }
        Ok(needs)
    }

    fn assembled(&self, path: &Path, text: &str) -> Result<Result<Needs, String>, Error> {
        let cubin = path.with_extension("cubin");
        let assembled = ptxas::assemble(&self.tools, path, &cubin)?;
        if !assembled.against.is_empty() {
            return Ok(Err(assembled.against.join("\n    ")));
        }
        let code = sass::disassemble(&self.tools, &cubin)?;
        let (registers, fixed) =
            (before(&assembled.log, " registers"), before(&assembled.log, " bytes smem"));
        Ok(match (registers, before(text, " bytes of dynamic shared memory")) {
            (Some(registers), Some(dynamic)) => {
                let shared = fixed.unwrap_or(0) + dynamic;
                Ok(Needs { registers, shared, instructions: sass::instructions(&code).count() as u64 })
            }
            _ => Err(String::from("ptxas tells no registers, or the module no shared memory")),
        })
    }
}

/// The number that is before `words` where they come first.
fn before(text: &str, words: &str) -> Option<u64> {
    let (text, _) = text.split_once(words)?;
    text.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn write(needs: &BTreeMap<String, Needs>) -> String {
    let mut text = String::from(HEADER);
    for (name, needs) in needs {
        let _ = writeln!(text, "{}", needs.line(name));
    }
    text
}

fn read(text: &str) -> BTreeMap<String, Needs> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, registers, shared, instructions] = words[..] else { return None };
        let needs = Needs {
            registers: registers.parse().ok()?,
            shared: shared.parse().ok()?,
            instructions: instructions.parse().ok()?,
        };
        Some((name.to_string(), needs))
    };
    text.lines().filter(|text| !text.starts_with('#')).filter_map(line).collect()
}

/// What is worse than in the file, or not in both; and what is better.
fn compare(stored: &BTreeMap<String, Needs>, found: &BTreeMap<String, Needs>) -> (String, String) {
    let (mut worse, mut better) = (String::new(), String::new());
    for (name, new) in found {
        let Some(old) = stored.get(name) else {
            let _ = writeln!(worse, "{name}: not in the file");
            continue;
        };
        for (what, (old, new)) in ["registers", "bytes of shared memory", "instructions"]
            .into_iter()
            .zip(old.each().into_iter().zip(new.each()))
        {
            if old != new {
                let list = if new > old { &mut worse } else { &mut better };
                let _ = writeln!(list, "{name}: {new} {what}, {old} in the file");
            }
        }
    }
    for name in stored.keys().filter(|name| !found.contains_key(*name)) {
        let _ = writeln!(worse, "{name}: in the file, and not written any more");
    }
    if !better.is_empty() {
        better += "--- better than the file: `cargo xtask ratchet --update` keeps it so\n";
    }
    (worse, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: &[&str]) -> BTreeMap<String, Needs> {
        read(&lines.join("\n"))
    }

    #[test]
    fn the_file_is_read_as_it_is_written() {
        let needs = file(&["a 168 213064 1000", "# comment", "b 255 0 7"]);
        assert_eq!(needs.len(), 2);
        assert_eq!(needs["a"], Needs { registers: 168, shared: 213_064, instructions: 1000 });
        assert_eq!(read(&write(&needs)), needs);
    }

    #[test]
    fn more_is_worse_and_less_is_better() {
        let stored = file(&["a 10 20 30", "b 1 1 1", "gone 1 1 1"]);
        assert_eq!(compare(&stored, &stored), (String::new(), String::new()));
        let (worse, better) = compare(&stored, &file(&["a 11 20 29", "b 1 1 1", "new 1 1 1"]));
        assert_eq!(
            worse,
            "a: 11 registers, 10 in the file\nnew: not in the file\ngone: in the file, and not written any more\n"
        );
        assert!(better.starts_with("a: 29 instructions, 30 in the file\n---"), "{better}");
    }

    #[test]
    fn numbers_are_those_before_the_words() {
        let log = "ptxas info    : Used 40 registers, used 1 barriers, 32768 bytes smem, 400 bytes cmem[0]";
        assert_eq!(before(log, " registers"), Some(40));
        assert_eq!(before(log, " bytes smem"), Some(32768));
        assert_eq!(before(log, " bytes of dynamic shared memory"), None);
    }
}
