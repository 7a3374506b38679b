//! What a run over many programs comes to.

use std::collections::BTreeMap;

use girih_device::{Device, Error};

use super::run::{Difference, differences, run};
use super::{Program, Step};

/// What came of one program on two devices.
#[derive(Debug)]
pub enum Outcome {
    /// All results agree.
    Agrees,
    /// Steps differ; each with whether it does so alone, in a program of its own.
    Differs(Vec<(Difference, bool)>),
    /// The first device refused or failed it.
    One(Error),
    /// The second did.
    Other(Error),
}

impl Outcome {
    /// Runs a program on both, and every step that differs alone.
    pub fn of(program: &Program, one: &Device, other: &Device) -> Outcome {
        let first = match run(one, program) {
            Ok(columns) => columns,
            Err(error) => return Outcome::One(error),
        };
        let second = match run(other, program) {
            Ok(columns) => columns,
            Err(error) => return Outcome::Other(error),
        };
        let found = differences(program, &first, &second);
        if found.is_empty() {
            return Outcome::Agrees;
        }
        let alone = |difference: &Difference| {
            let alone = program.alone(difference.step, &second);
            match (run(one, &alone), run(other, &alone)) {
                (Ok(first), Ok(second)) => !differences(&alone, &first, &second).is_empty(),
                _ => false,
            }
        };
        Outcome::Differs(
            found
                .into_iter()
                .map(|d| {
                    let alone = alone(&d);
                    (d, alone)
                })
                .collect(),
        )
    }
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
    /// Programs that one of the devices refused or failed.
    pub failed: u64,
}

impl Tally {
    /// Adds a program and what came of it.
    pub fn add(&mut self, program: &Program, outcome: &Outcome) {
        match outcome {
            Outcome::One(_) | Outcome::Other(_) => self.failed += 1,
            Outcome::Agrees | Outcome::Differs(_) => {
                self.programs += 1;
                for Step { instruction, .. } in &program.steps {
                    *self.steps.entry(instruction.clone()).or_default() += 1;
                }
            }
        }
        if let Outcome::Differs(found) = outcome {
            for (Difference { instruction, .. }, _) in found {
                *self.differing.entry(instruction.clone()).or_default() += 1;
            }
        }
    }
}
