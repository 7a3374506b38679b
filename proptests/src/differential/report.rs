//! What a run over many programs comes to.

use std::collections::BTreeMap;

use girih_device::{Device, Error, Optimization};

use super::run::{Columns, Difference, differences, run, run_with};
use super::{Program, Step};

/// What came of one program on two devices.
#[derive(Debug)]
pub enum Outcome {
    /// All results agree.
    Agrees,
    /// Steps differ however the program is compiled; each with whether it does so alone, in a program of its own.
    Differs(Vec<(Difference, bool)>),
    /// Steps differ, and none does when the second device compiles without optimisation; with the least program that
    /// still behaves so.
    Optimized(Vec<Difference>, Program),
    /// The first device refused or failed it.
    One(Error),
    /// The second did.
    Other(Error),
}

impl Outcome {
    /// Runs a program on both; where they differ, once more without optimisation, and every step that still differs
    /// alone.
    pub fn of(program: &Program, one: &Device, other: &Device) -> Outcome {
        let first = match run(one, program) {
            Ok(columns) => columns,
            Err(error) => return Outcome::One(error),
        };
        let (second, plain) = match (run(other, program), run_with(other, program, Optimization::None)) {
            (Ok(second), Ok(plain)) => (second, plain),
            (Err(error), _) | (_, Err(error)) => return Outcome::Other(error),
        };
        let (found, plainly) = (differences(program, &first, &second), differences(program, &first, &plain));
        if found.is_empty() && plainly.is_empty() {
            return Outcome::Agrees;
        }
        if plainly.is_empty() {
            return Outcome::Optimized(found, shrunk(program, &first, one, other));
        }
        let alone = |difference: &Difference| {
            let alone = program.alone(difference.step, &plain);
            match (run(one, &alone), run_with(other, &alone, Optimization::None)) {
                (Ok(first), Ok(second)) => !differences(&alone, &first, &second).is_empty(),
                _ => false,
            }
        };
        let with_alone = |difference: Difference| {
            let alone = alone(&difference);
            (difference, alone)
        };
        Outcome::Differs(plainly.into_iter().map(with_alone).collect())
    }
}

/// The program without every step that is not needed for it to differ when optimised and to agree when not.
fn shrunk(program: &Program, columns: &Columns, one: &Device, other: &Device) -> Program {
    let still = |keep: &[bool]| {
        let less = program.of_steps(|i| keep[i], columns);
        let results = (run(one, &less), run(other, &less), run_with(other, &less, Optimization::None));
        let (Ok(first), Ok(second), Ok(plain)) = results else { return false };
        !differences(&less, &first, &second).is_empty() && differences(&less, &first, &plain).is_empty()
    };
    let mut keep = vec![true; program.steps.len()];
    for step in 0..keep.len() {
        keep[step] = false;
        keep[step] = !still(&keep);
    }
    program.of_steps(|i| keep[i], columns)
}

/// Counts over programs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs that ran on both.
    pub programs: u64,
    /// Steps of each instruction.
    pub steps: BTreeMap<String, u64>,
    /// Steps that differed, by instruction.
    pub differing: BTreeMap<String, u64>,
    /// Steps that differed only in optimised code: the instructions of the least program in which one did, by its number.
    pub optimized: BTreeMap<u64, Vec<String>>,
    /// Programs that one of the devices refused or failed.
    pub failed: u64,
}

impl Tally {
    /// Adds a program and what came of it.
    pub fn add(&mut self, program: &Program, outcome: &Outcome) {
        if let Outcome::One(_) | Outcome::Other(_) = outcome {
            self.failed += 1;
            return;
        }
        self.programs += 1;
        for Step { instruction, .. } in &program.steps {
            *self.steps.entry(instruction.clone()).or_default() += 1;
        }
        match outcome {
            Outcome::Differs(found) => {
                for (Difference { instruction, .. }, _) in found {
                    *self.differing.entry(instruction.clone()).or_default() += 1;
                }
            }
            Outcome::Optimized(_, least) => {
                let instructions = least.steps.iter().map(|step| step.instruction.clone());
                self.optimized.insert(program.number, instructions.collect());
            }
            _ => {}
        }
    }
}
