//! The table of forms against the assembler: every form assembles with what it says it needs, and not with less.
//! And the printer: what is printed assembles to what was parsed.
//!
//! Runs where there is a `ptxas`: named by `GIRIH_PTXAS` or in the target folder's `ptx-tools`; says SKIPPED elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::instances::{DECLARATIONS, fillings, instance, needs};
use crate::orders::disordered;
use girih_ptx::forms::{self, Needs};
use girih_ptx::{Inst, Module, Target};

fn ptxas() -> Option<PathBuf> {
    // Where the gate puts it, beside the folder that cargo gives to tests.
    let fetched = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ptx-tools").join("ptxas");
    let path = std::env::var_os("GIRIH_PTXAS").map_or_else(fetched, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("SKIPPED: no ptxas at {} (GIRIH_PTXAS names another)", path.display());
    None
}

/// Assembles one instruction a line; the errors by line of `lines`, `usize::MAX` for those without one.
fn assemble(ptxas: &Path, version: (u8, u8), target: Target, lines: &[String]) -> BTreeMap<usize, String> {
    let mut all = BTreeMap::new();
    // The assembler takes more than twice as long for a kernel twice as long.
    const TOGETHER: usize = 300;
    for (first, lines) in (0..).step_by(TOGETHER).zip(lines.chunks(TOGETHER)) {
        let (mut lines, mut errors) = (lines.to_vec(), BTreeMap::new());
        // A fatal error hides the lines after it: they are assembled again without its line.
        while let Some(line) = assemble_once(ptxas, version, target, &lines, &mut errors) {
            lines[line].clear();
        }
        all.extend(errors.into_iter().map(|(line, error)| (line.saturating_add(first), error)));
    }
    all
}

/// Adds the errors; the line of a fatal one.
fn assemble_once(
    ptxas: &Path,
    version: (u8, u8),
    target: Target,
    lines: &[String],
    errors: &mut BTreeMap<usize, String>,
) -> Option<usize> {
    let (major, minor) = version;
    let wide = if version < (8, 3) { "" } else { ".reg .b128 %q<64>;" };
    // Returning first leaves no code to generate: only the syntax is judged.
    let header = format!(
        ".version {major}.{minor}\n.target {target}\n.address_size 64\n\
         .entry k(.param .b64 parameter[8])\n{{\n{DECLARATIONS}{wide} ret;\nTABLE: .branchtargets END;\n"
    );
    let text = format!("{header}{}\nEND:\nret;\n}}\n", lines.join("\n"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("forms");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{:?}-{target}-{major}.{minor}.ptx", std::thread::current().id()));
    std::fs::write(&path, &text).unwrap();
    let output = Command::new(ptxas)
        .args(["-O0", "--compile-only", "-arch", &target.to_string(), "-o", "/dev/null"])
        .arg(&path)
        .output()
        .unwrap();
    let mut fatal = None;
    for message in String::from_utf8_lossy(&output.stderr).lines() {
        let is_fatal = message.contains("fatal ");
        if message.contains("aborted") || !is_fatal && !message.contains("error ") {
            continue;
        }
        let number =
            message.split("line ").nth(1).and_then(|rest| rest.split(';').next()?.parse::<usize>().ok());
        let line = number.and_then(|number| number.checked_sub(header.lines().count() + 1));
        errors.entry(line.unwrap_or(usize::MAX)).or_insert_with(|| message.to_string());
        if is_fatal {
            fatal = line.filter(|&line| line < lines.len());
        }
    }
    fatal
}

/// Every form in every filling, by what it needs.
fn batches() -> BTreeMap<(u32, bool, (u8, u8)), Vec<String>> {
    let mut batches: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for form in forms::all() {
        for (i, filled) in fillings(form, 200).into_iter().enumerate() {
            let Needs { version, sm, specific } = needs(form, &filled);
            // The oldest that this ptxas assembles for.
            let (sm, version) = (sm.max(75), version.max((6, 3)));
            let batch = batches.entry((sm, specific, version)).or_default();
            for optional in [false, true] {
                let line = format!("{};", instance(form, &filled, optional, i));
                if batch.last() != Some(&line) {
                    batch.push(line);
                }
            }
        }
    }
    batches
}

#[test]
fn every_form_assembles_with_what_it_needs() {
    let Some(ptxas) = ptxas() else { return };
    let mut wrong = Vec::new();
    let mut count = 0;
    for ((sm, specific, version), lines) in batches() {
        let target = Target { sm, suffix: specific.then_some('a') };
        count += lines.len();
        for (line, error) in assemble(&ptxas, version, target, &lines) {
            wrong.push(format!("{target} {version:?} {}: {error}", lines.get(line).map_or("", |line| line)));
        }
    }
    assert!(count > 10_000, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_form_assembles_with_less() {
    let Some(ptxas) = ptxas() else { return };
    let mut wrong = Vec::new();
    for ((sm, specific, version), lines) in batches() {
        let lesser = match (sm, specific) {
            (sm, true) => Some(sm),
            (90, _) => Some(89),
            (89, _) => Some(86),
            (86, _) => Some(80),
            (80, _) => Some(75),
            _ => None,
        };
        let mut check = |version, target: Target| {
            let errors = assemble(&ptxas, version, target, &lines);
            let passed =
                lines.iter().enumerate().filter(|(i, line)| !errors.contains_key(i) && !is_lax(line));
            wrong.extend(
                passed.map(|(_, line)| format!("{target} {version:?} {line}: accepted; line 0; error")),
            );
        };
        if let Some(sm) = lesser {
            let target = Target { sm, suffix: None };
            check(version.max(target.version()), target);
        }
        let target = Target { sm, suffix: specific.then_some('a') };
        let before = VERSIONS.iter().rev().find(|&&older| older < version && older >= target.version());
        if let Some(&before) = before {
            check(before, target);
        }
    }
    assert!(wrong.is_empty(), "{} of the lines:\n{}", wrong.len(), wrong.join("\n"));
}

/// PTX ISA versions that this ptxas takes.
const VERSIONS: &[(u8, u8)] = &[
    (6, 3),
    (6, 4),
    (6, 5),
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
    (9, 0),
];

/// What the assembler takes with an older version than the PTX ISA names: the `::cta` of `cp.async` (7.8) and a drop
/// of an arrival without its state (7.1).
fn is_lax(line: &str) -> bool {
    line.starts_with("cp.async.c") && line.contains(".shared::cta")
        || line.starts_with("mbarrier.arrive_drop") && line.contains(" _,")
}

/// The machine code of each function of an object, by the names of its sections: `.text.` and the function's.
fn code(object: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |at: usize, bytes: usize| {
        object[at..at + bytes].iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte))
    };
    // The ELF header: where the sections' headers are, their size and number, and which section holds their names.
    let (table, size, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let header = |i: usize| table + i * size;
    let contents =
        |i: usize| number(header(i) + 24, 8)..number(header(i) + 24, 8) + number(header(i) + 32, 8);
    let name = |i: usize| {
        let start = contents(names).start + number(header(i), 4);
        let bytes = object[start..].split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let sections = (0..count).map(|i| (name(i), i)).filter(|(name, _)| name.starts_with(".text."));
    sections.map(|(name, i)| (name, object[contents(i)].to_vec())).collect()
}

#[test]
fn what_is_printed_assembles_to_the_same_code() {
    let Some(ptxas) = ptxas() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("same");
    let assemble = |text: &str, target: Target| {
        std::fs::create_dir_all(&folder).unwrap();
        let (source, object) = (folder.join("module.ptx"), folder.join("module.cubin"));
        std::fs::write(&source, text).unwrap();
        let mut command = Command::new(&ptxas);
        command.arg("-arch").arg(target.to_string()).arg(&source).arg("-o").arg(&object);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        code(&std::fs::read(object).unwrap())
    };
    let mut functions = 0;
    for folder in ["testdata", "../sim/tests/foreign"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let module = Module::parse(&text).unwrap();
            let (original, printed) =
                (assemble(&text, module.target), assemble(&module.to_string(), module.target));
            assert_eq!(original.keys().collect::<Vec<_>>(), printed.keys().collect::<Vec<_>>());
            for (name, code) in &original {
                assert!(code == &printed[name], "{}: {name}", path.display());
            }
            functions += original.len();
        }
    }
    assert!(functions > 80, "{functions}");
}

/// The orders of modifiers that are accepted are those that assemble.
#[test]
fn orders_are_those_of_the_assembler() {
    let Some(ptxas) = ptxas() else { return };
    let mut batches: BTreeMap<_, Vec<Inst>> = BTreeMap::new();
    for form in forms::all() {
        for filled in fillings(form, 4) {
            let Needs { version, sm, specific } = needs(form, &filled);
            let batch = batches.entry((sm.max(75), specific, version.max((6, 3)))).or_default();
            batch.extend(disordered(form, &filled));
        }
    }
    let (mut wrong, mut accepted, mut refused) = (Vec::new(), 0, 0);
    for ((sm, specific, version), insts) in batches {
        let target = Target { sm, suffix: specific.then_some('a') };
        let (good, bad): (Vec<Inst>, Vec<Inst>) =
            insts.into_iter().partition(|inst| forms::check(inst).is_ok());
        let lines = |insts: &[Inst]| insts.iter().map(|inst| format!("{inst};")).collect::<Vec<_>>();
        for (line, error) in assemble(&ptxas, version, target, &lines(&good)) {
            wrong.push(format!("{};: {error}", good.get(line).map_or(String::new(), Inst::to_string)));
        }
        let errors = assemble(&ptxas, version, target, &lines(&bad));
        let assembled = bad.iter().enumerate().filter(|(line, _)| !errors.contains_key(line));
        wrong.extend(assembled.map(|(_, inst)| format!("{inst};: refused, and error : assembles")));
        (accepted, refused) = (accepted + good.len(), refused + bad.len());
    }
    assert!(accepted > 5000 && refused > 2000, "{accepted} {refused}");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), accepted + refused, wrong.join("\n"));
}
