//! Every single mutation of the synchronisation in hand-written Hopper kernels. The checks report each mutant, or
//! `mutants.toml` gives the reason why the mutant is harmless, or why no execution of these launches can show the
//! defect.
#![expect(clippy::unwrap_used, reason = "tests")]

mod enumerate;
mod launches;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use enumerate::Mutant;
use girih_ptx::Module;
use girih_sim::{Options, Program, run};
use launches::{FILES, File};

/// The mutants that are allowed to be silent, with their reasons.
fn survivors() -> BTreeMap<String, String> {
    let (mut reason, mut all) = (String::new(), BTreeMap::new());
    let quoted = |line: &str| line.split('"').nth(1).map(String::from);
    for line in include_str!("mutants.toml").lines().map(str::trim) {
        if line.starts_with("reason") {
            reason = quoted(line).unwrap();
        } else if line.starts_with('"') {
            assert!(reason.len() > 20, "{line} has no reason");
            assert_eq!(all.insert(quoted(line).unwrap(), reason.clone()), None, "{line} is there twice");
        }
    }
    all
}

/// The result of a mutant: the output that it has left if nothing was reported, or an error.
fn outcome(file: &File, text: &str) -> Result<Vec<u8>, String> {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{}: {error}", file.name));
    let program = Program::load(&module).unwrap_or_else(|error| panic!("{}: {error}", file.name));
    let mut left = Vec::new();
    let launches = if file.has_long() { &[false, true][..] } else { &[false] };
    for (&long, seed) in launches.iter().flat_map(|long| (0..4).map(move |seed| (long, seed))) {
        let prepared = launches::prepare(file, long);
        let options = Options { seed, steps: Some(2_000_000), threads: Some(1), ..Options::checked() };
        run(&program.kernels()[0], &prepared.memory, &prepared.launch, &options)
            .map_err(|e| e.to_string())?;
        left.resize(prepared.output.1, 0);
        prepared.memory.read(prepared.output.0, &mut left).unwrap();
        if let Err(message) = prepared.verify(&left) {
            return Ok(format!("seed {seed}: {message}").into_bytes());
        }
    }
    Ok(Vec::new())
}

/// Runs mutants on all cores; returns the names of those that were not reported.
fn silent(mutants: &[(&'static File, Mutant)]) -> BTreeSet<String> {
    let (next, silent) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let work = || {
        while let Some((file, mutant)) = mutants.get(next.fetch_add(1, Relaxed)) {
            let name = format!("{} {}", file.name, mutant.name);
            if let Ok(wrong) = outcome(file, &mutant.text) {
                let wrong = String::from_utf8(wrong).unwrap();
                // A mutant that computes wrong numbers is not harmless.
                silent.lock().unwrap().insert(if wrong.is_empty() {
                    name
                } else {
                    format!("{name}: wrong numbers: {wrong}")
                });
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(work);
        }
    });
    silent.into_inner().unwrap()
}

fn compare(mutants: &[(&'static File, Mutant)]) {
    let known = survivors();
    let named: BTreeSet<String> =
        mutants.iter().map(|(file, mutant)| format!("{} {}", file.name, mutant.name)).collect();
    let found = silent(mutants);
    let new: Vec<&String> = found.iter().filter(|name| !known.contains_key(*name)).collect();
    let caught: Vec<&String> =
        known.keys().filter(|name| named.contains(*name) && !found.contains(*name)).collect();
    println!("{} mutants, {} silent", mutants.len(), found.len());
    assert!(
        new.is_empty(),
        "{} survive without a reason:\n\"{}\",",
        new.len(),
        new.iter().map(|n| n.as_str()).collect::<Vec<_>>().join("\",\n\"")
    );
    assert!(caught.is_empty(), "reported now, so take them out of mutants.toml: {caught:#?}");
}

fn all() -> Vec<(&'static File, Mutant)> {
    FILES
        .iter()
        .flat_map(|file| enumerate::mutants(file.text).into_iter().map(move |mutant| (file, mutant)))
        .collect()
}

/// The attention kernels for 64 columns, and those for products; the others when every mutant is run.
#[test]
fn the_kernels_themselves_are_right() {
    right(|name| !name.contains("attn-d128"));
}

fn right(chosen: impl Fn(&str) -> bool) {
    for file in FILES.iter().filter(|file| chosen(file.name)) {
        let wrong = outcome(file, file.text).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert!(wrong.is_empty(), "{}: {}", file.name, String::from_utf8(wrong).unwrap());
    }
}

#[test]
fn mutations_are_of_every_kind() {
    let all = all();
    let names: BTreeSet<String> =
        all.iter().map(|(file, mutant)| format!("{} {}", file.name, mutant.name)).collect();
    assert_eq!(names.len(), all.len());
    for kind in [
        "removed mbarrier.try_wait",
        "removed bra",
        "removed fence.proxy.async",
        "removed fence.mbarrier_init",
        "removed mbarrier.arrive",
        "removed mbarrier.arrive.expect_tx",
        "16 bytes more",
        "16 bytes less",
        "removed bar.sync",
        "removed bar.arrive",
        "removed barrier.cluster",
        "removed cp.async.bulk.commit_group",
        "removed cp.async.bulk.wait_group",
        "removed wgmma.fence",
        "removed wgmma.commit_group",
        "removed wgmma.wait_group",
        "one group more",
        "removed setmaxnreg",
        "other amount",
    ] {
        assert!(names.iter().any(|name| name.contains(kind)), "none is {kind}");
    }
    for name in survivors().keys() {
        assert!(names.contains(name), "no mutant {name}");
    }
}

/// One in many of each file.
#[test]
fn a_sample_is_reported() {
    let sample = all().into_iter().enumerate().filter(|(i, _)| i % 47 == 5).map(|(_, mutant)| mutant);
    compare(&sample.collect::<Vec<_>>());
}

/// `cargo xtask soak` runs it. MUTANTS chooses some by a part of their names, such as `attn-d64 ` or `small-m 112:`.
#[test]
#[ignore = "minutes"]
fn every_mutant_is_reported() {
    let chosen = std::env::var("MUTANTS").unwrap_or_default();
    let named = |(file, mutant): &(&File, Mutant)| format!("{} {}", file.name, mutant.name).contains(&chosen);
    let mutants: Vec<_> = all().into_iter().filter(named).collect();
    right(|name| mutants.iter().any(|(file, _)| file.name == name));
    compare(&mutants);
}
