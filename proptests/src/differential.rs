//! Random programs over the instruction families, for running them on two machines and comparing every result.
//!
//! A [`Program`] is a kernel of [`Step`]s: mostly one instruction each, with what it needs around it. It loads its
//! [inputs](Input), drawn with a preference for the edges of each type, runs the steps, some on results of earlier ones,
//! and stores every value that a step writes. So where two machines differ, the step is known, and the operands that it
//! had: [`differences`] lists the steps whose operands agree and whose results don't, and [`Program::alone`] makes a
//! program of one of them.
//!
//! [`Programs`] deals the forms of the instruction table as cards: every form of a family comes once, in up to 60 ways
//! to choose its modifiers, before any comes again. All is determined by the seed.
//!
//! ```
//! use girih_proptests::differential::{self, Programs};
//! use girih_device::{Device, Select};
//!
//! let simulator = Device::open(Select::Sim)?;
//! let program = Programs::of(&simulator, 7).next().unwrap();
//! program.module().verify()?;
//! let (one, other) = (differential::run(&simulator, &program)?, differential::run(&simulator, &program)?);
//! assert!(differential::differences(&program, &one, &other).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agree;
mod control;
mod deck;
mod draft;
mod lane;
mod memory;
mod module;
mod product;
mod report;
mod run;
mod syntax;
mod value;

use std::collections::BTreeMap;

use girih_device::Device;
use girih_ptx::{Function, Statement};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub use agree::Agree;
pub use report::{Outcome, Tally};
pub use run::{Columns, Difference, differences, run, run_with};
pub use value::{Class, Value};

use deck::{Deck, Family};
use draft::{Card, Draft};

/// Threads of a block.
pub const BLOCK: usize = 64;
/// Blocks.
pub const BLOCKS: usize = 4;
/// Threads of a program: lanes of a value.
pub const LANES: usize = BLOCK * BLOCKS;
/// Cards of a program.
const STEPS: usize = 14;

/// A register that is loaded before the first step, with its value in each thread.
#[derive(Clone, Debug)]
pub struct Input {
    /// The register.
    pub value: Value,
    /// [`LANES`] values.
    pub lanes: Vec<u64>,
}

/// Whose operands a result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The thread's own.
    Lane,
    /// Those of its warp.
    Warp,
    /// Those of its block.
    Block,
}

impl Reach {
    /// The lanes that `lane` depends on.
    pub fn lanes(self, lane: usize) -> std::ops::Range<usize> {
        let size = match self {
            Reach::Lane => 1,
            Reach::Warp => 32,
            Reach::Block => BLOCK,
        };
        lane / size * size..(lane / size + 1) * size
    }
}

/// An instruction, with what it needs around it.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is tested: opcode and modifiers.
    pub instruction: String,
    /// Whose operands the results depend on.
    pub reach: Reach,
    /// The statements.
    pub statements: Vec<Statement>,
    /// Functions that they call.
    pub functions: Vec<Function>,
    /// The values that they read.
    pub reads: Vec<Value>,
    /// The values that they write, and how those are compared.
    pub writes: Vec<(Value, Agree)>,
}

impl Step {
    /// The functions and statements as PTX.
    fn text(&self) -> String {
        let functions = self.functions.iter().map(|function| function.to_string());
        let lines: Vec<_> =
            functions.chain(self.statements.iter().map(|statement| statement.to_string())).collect();
        lines
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| !line.is_empty())
            .map(|line| format!("{line}\n"))
            .collect()
    }
}

/// A kernel of steps and its inputs.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its number in [`Programs`].
    pub number: u64,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Program {
    /// The program of this step alone, reading these columns.
    pub fn alone(&self, step: usize, columns: &Columns) -> Program {
        self.of_steps(|i| i == step, columns)
    }

    /// The program of some of its steps, which read these columns where the steps that wrote them are gone.
    pub fn of_steps(&self, keep: impl Fn(usize) -> bool, columns: &Columns) -> Program {
        let steps: Vec<Step> =
            self.steps.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, step)| step.clone()).collect();
        let written = |value: &Value| steps.iter().flat_map(|step| &step.writes).any(|(own, _)| own == value);
        let mut inputs: Vec<Input> = Vec::new();
        for value in steps.iter().flat_map(|step| &step.reads) {
            let known = written(value) || inputs.iter().any(|input| input.value == *value);
            if let (false, Some(column)) = (known, self.column(columns, value)) {
                inputs.push(Input { value: value.clone(), lanes: column.to_vec() });
            }
        }
        Program { number: self.number, inputs, steps }
    }

    /// The values of a register in every lane: an input's, or those among `columns`, a run's results.
    pub fn column<'a>(&'a self, columns: &'a Columns, value: &Value) -> Option<&'a [u64]> {
        let input = self.inputs.iter().find(|input| input.value == *value).map(|input| &input.lanes[..]);
        input.or_else(|| {
            let at = self.results().position(|(_, result)| result == value)?;
            columns.get(at).map(|lanes| &lanes[..])
        })
    }

    /// Every value that a step writes, in order, with the step's index: what is stored.
    pub fn results(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.steps
            .iter()
            .enumerate()
            .flat_map(|(i, step)| step.writes.iter().map(move |(value, _)| (i, value)))
    }
}

/// Random programs without end, determined by the seed and by what the device that it was made for can load.
pub struct Programs {
    deck: Deck,
    words: Vec<Card>,
    shuffle: StdRng,
    number: u64,
    refused: Vec<String>,
}

impl Programs {
    /// Programs of the instructions that `device` knows. Opens each in a program of its own.
    pub fn of(device: &Device, seed: u64) -> Programs {
        let cards = deck::cards();
        let mut refused = Vec::new();
        let known = |card: &Card| {
            let mut draft = Draft::new(seed, &[]);
            step(&mut draft, card);
            let alone = Program { number: 0, inputs: draft.inputs, steps: draft.steps };
            let error = device.load(&alone.module()).err();
            refused.extend(error.iter().map(|error| format!("{}: {error}", lane::bare(card.0, &card.1))));
            error.is_none()
        };
        let cards: Vec<Card> = cards.into_iter().filter(known).collect();
        let words = deck::words(&cards);
        Programs { deck: Deck::new(cards), words, shuffle: StdRng::seed_from_u64(seed), number: 0, refused }
    }

    /// The instructions that the device doesn't know, with its reasons.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// The programs in which every instruction comes once.
    pub fn round(&self) -> usize {
        self.deck.cards().len().div_ceil(STEPS)
    }

    /// The opcodes that are dealt, with the number of their cards.
    pub fn covered(&self) -> BTreeMap<&'static str, usize> {
        let mut covered = BTreeMap::new();
        for (form, _) in self.deck.cards() {
            *covered.entry(form.opcode.text()).or_insert(0) += 1;
        }
        covered
    }
}

impl Iterator for Programs {
    type Item = Program;

    fn next(&mut self) -> Option<Program> {
        let mut draft = Draft::new(self.shuffle.random(), &self.words);
        for _ in 0..STEPS {
            let card = self.deck.deal(&mut self.shuffle);
            step(&mut draft, &card);
        }
        control::step(&mut draft);
        self.number += 1;
        Some(Program { number: self.number - 1, inputs: draft.inputs, steps: draft.steps })
    }
}

fn step(draft: &mut Draft<'_>, card: &Card) {
    match deck::family(card.0.opcode) {
        Some(Family::Lane) | None => lane::step(draft, card),
        Some(Family::Access) => memory::access(draft, card),
        Some(Family::Atomic) => memory::atomic(draft, card),
        Some(Family::Matrix) => memory::matrix(draft, card),
        Some(Family::Product) => product::step(draft, card),
    }
}
