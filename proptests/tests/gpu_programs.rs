//! The simulator against a GPU: random programs over the instruction families, every result compared. Skips with one
//! line where there is no GPU.
//!
//! With `GIRIH_RECORD=FILE` a line of JSON about the run is added to the file.

use std::collections::BTreeMap;
use std::io::Write;

use girih_device::{Device, Error, Fault, Select, SimOptions};
use girih_proptests::differential::{LANES, Outcome, Programs, Tally};

const SEED: u64 = 2026;
/// How often every instruction comes, with other operands each time.
const ROUNDS: usize = 8;
/// Programs that the driver's compiler may get wrong: those that agree when it compiles without optimisation.
const MISCOMPILED: usize = 2;
/// More where it folds `set` into what reads the result, and takes the 1.0 of one type for that of another or for an integer.
const FOLDED_SETS: usize = 12;
/// Differences of one instruction that are printed.
const SHOWN: u64 = 3;

#[test]
fn the_simulator_is_the_gpu() {
    let gpu = match Device::open(Select::Cuda(0)) {
        Ok(gpu) => gpu,
        Err(error) => {
            // The harness swallows what eprintln! writes.
            writeln!(std::io::stderr(), "skipped: no CUDA device: {error}").unwrap();
            return;
        }
    };
    let simulator = Device::open_sim(SimOptions::default()).unwrap();
    let mut programs = Programs::of(&simulator, SEED);
    let count = programs.round() * ROUNDS;
    let (mut tally, mut failures) = (Tally::default(), BTreeMap::<String, u64>::new());
    for program in programs.by_ref().take(count) {
        let outcome = Outcome::of(&program, &simulator, &gpu);
        tally.add(&program, &outcome);
        match outcome {
            Outcome::Agrees => {}
            Outcome::Differs(found) => {
                for (difference, alone) in found {
                    let seen = failures.entry(difference.instruction.clone()).or_default();
                    *seen += 1;
                    if *seen <= SHOWN {
                        let alone = if alone { "alone too" } else { "NOT ALONE" };
                        println!("(simulator against GPU; {alone}) {difference}");
                    }
                }
            }
            Outcome::Optimized(found, least) => {
                for difference in &found {
                    println!("(simulator against GPU; only when optimised) {difference}");
                }
                println!("the least program that behaves so:\n{}", least.module());
            }
            Outcome::One(error) | Outcome::Other(error) => {
                println!("program {} failed: {error}\n{}", program.number, program.module());
                if matches!(error, Error::KernelFailed { .. }) || error.fault() == Fault::Target {
                    break;
                }
            }
        }
    }
    let record = record(&programs, &tally, &gpu);
    println!("{record}");
    if let Some(path) = std::env::var_os("GIRIH_RECORD") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{record}").unwrap();
    }
    assert!(tally.differing.is_empty() && tally.failed == 0, "differs: {:?}", tally.differing);
    assert_eq!(tally.programs, count as u64);
    // What the driver's compiler gets wrong is told, and is no excuse for many.
    let folds = |program: &&Vec<String>| program.iter().any(|instruction| instruction.starts_with("set."));
    let folded = tally.optimized.values().filter(folds).count();
    let other = tally.optimized.len() - folded;
    assert!(other <= MISCOMPILED && folded <= FOLDED_SETS, "only when optimised: {:?}", tally.optimized);
}

fn record(programs: &Programs, tally: &Tally, gpu: &Device) -> serde_json::Value {
    serde_json::json!({
        "what": "simulator against GPU, random programs",
        "seed": SEED,
        "programs": tally.programs,
        "failed": tally.failed,
        "lanes": LANES,
        "steps": tally.steps.values().sum::<u64>(),
        "instructions": tally.steps.len(),
        "not_in_simulator": programs.refused().len(),
        "forms_by_opcode": programs.covered(),
        "differing": tally.differing,
        "differing_when_optimised": tally.optimized,
        "gpu": gpu.name(),
        "cuda": gpu.limits().driver_version.map(|version| version.to_string()),
    })
}
