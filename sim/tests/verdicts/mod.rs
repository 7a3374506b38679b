//! Kernels of NVRTC and Triton, right and broken, and what the checks must report: nothing of a right kernel, whose
//! results the host computes again, and an error of the defect's kind for each broken twin.
#![expect(clippy::unwrap_used, reason = "tests")]

mod blocks;
mod bulk;
mod clusters;
mod copies;
mod grids;
mod handoffs;
mod manifest;
mod setup;
mod stages;
mod triton;
mod warps;

use std::collections::BTreeSet;

use girih_ptx::Module;
use girih_sim::{Program, Severity};
use manifest::{Case, Entry, Expected, WRONG_TODAY};
use setup::Verdict;

/// Every case, by family.
fn cases() -> Vec<Case> {
    [
        blocks::cases(),
        warps::cases(),
        grids::cases(),
        copies::cases(),
        bulk::cases(),
        clusters::cases(),
        handoffs::cases(),
        stages::cases(),
        triton::cases(),
    ]
    .concat()
}

fn text(file: &str) -> String {
    let path = format!("{}/tests/verdicts/ptx/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What is wrong with the verdict on each entry of a case, by the name under which [`WRONG_TODAY`] would have it.
fn judge(case: &Case) -> Vec<(String, String)> {
    let text = text(case.file);
    let mut wrong = Vec::new();
    for Entry { name, entry, expected, patch } in case.entries() {
        let verdict =
            Module::parse(&patch.apply(&text)).map_err(|error| error.to_string()).and_then(|module| {
                // Each entry has a module of its own, since the module's variables keep what is written to them.
                let program = Program::load(&alone(&module, &entry)).map_err(|error| error.to_string())?;
                setup::run(&program, &entry, case).map_err(|error| error.to_string())
            });
        if let Err(message) = named(case, &expected, &verdict) {
            wrong.push((name.clone(), message));
        }
        if let Err(message) = agrees(&expected, verdict) {
            wrong.push((name, message));
        }
    }
    wrong
}

/// A defect of a CUDA kernel is reported with lines of the kernel's source.
fn named(case: &Case, expected: &Expected, verdict: &Result<Verdict, String>) -> Result<(), String> {
    let Ok(verdict) = verdict else { return Ok(()) };
    let mut errors = verdict.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let source = format!("{}.cu:", case.file);
    match expected {
        Expected::Broken(_) if !case.file.starts_with("triton") => {
            match errors.find(|finding| !finding.to_string().contains(&source)) {
                Some(finding) => Err(format!("no line of {source} {finding}")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// A module with only one of its kernels.
fn alone(module: &Module, entry: &str) -> Module {
    let mut module = module.clone();
    module.items.retain(|item| !matches!(item, girih_ptx::Item::Kernel(kernel) if *kernel.name != *entry));
    module
}

fn agrees(expected: &Expected, verdict: Result<Verdict, String>) -> Result<(), String> {
    let verdict = verdict.map_err(|error| format!("cannot run: {error}"))?;
    let of = |severity| verdict.findings.iter().filter(move |finding| finding.severity == severity);
    let Some(first) = of(Severity::Error).next() else {
        return match expected {
            Expected::Broken(_) => Err("silence".into()),
            Expected::Warned(kind) if !of(Severity::Warning).any(|finding| finding.error.kind() == *kind) => {
                Err(format!("no warning {kind}"))
            }
            Expected::Right if of(Severity::Warning).next().is_some() => {
                Err(format!("a warning: {}", of(Severity::Warning).next().unwrap()))
            }
            _ => verdict.numbers.map_err(|message| format!("wrong numbers: {message}")),
        };
    };
    match expected {
        Expected::Broken(kinds) if of(Severity::Error).any(|error| kinds.contains(&error.error.kind())) => {
            Ok(())
        }
        Expected::Broken(kinds) => Err(format!("{}, not {kinds:?}: {first}", first.error.kind())),
        _ => Err(format!("false alarm: {first}")),
    }
}

/// All verdicts are as the manifest expects, except for those that the manifest calls wrong today; and those are wrong.
#[test]
fn verdicts_are_right() {
    let wrong: Vec<(String, String)> = cases().iter().flat_map(judge).collect();
    let known: BTreeSet<&str> = WRONG_TODAY.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
    let new: Vec<String> = wrong
        .iter()
        .filter(|(name, _)| !known.contains(name.as_str()))
        .map(|(n, m)| format!("{n}: {m}"))
        .collect();
    let mended: Vec<_> = known.difference(&found).collect();
    assert!(new.is_empty(), "{} wrong verdicts:\n{}", new.len(), new.join("\n"));
    assert!(mended.is_empty(), "right now, so take them out of WRONG_TODAY: {mended:?}");
}

/// Each file's entries are those of the cases, and there are as many as the documents say.
#[test]
fn every_entry_has_a_verdict() {
    let cases = cases();
    let (mut right, mut broken) = (0, 0);
    for case in &cases {
        let text = text(case.file);
        let names = text.split(".entry ").skip(1).map(|rest| rest.split('(').next().unwrap().to_string());
        let there: BTreeSet<String> = names.collect();
        let named: BTreeSet<String> = cases
            .iter()
            .filter(|other| other.file == case.file)
            .flat_map(|other| other.entries())
            .map(|entry| entry.entry)
            .collect();
        assert_eq!(there, named, "{}", case.file);
        for entry in case.entries() {
            match entry.expected {
                Expected::Right | Expected::Warned(_) => right += 1,
                Expected::Broken(_) => broken += 1,
            }
        }
    }
    println!("{right} right, {broken} broken");
    let readme = include_str!("../../../README.md");
    let told = format!("{right} right kernels and {broken} broken twins");
    assert!(readme.contains(&told), "the README does not say: {told}");
    for (name, _) in WRONG_TODAY {
        assert!(cases.iter().flat_map(Case::entries).any(|entry| entry.name == *name), "no entry {name}");
    }
}
