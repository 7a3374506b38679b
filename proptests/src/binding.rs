//! The law of symbols, over every operation of the command line's table: an operation on symbols, its result then bound to numbers, is the
//! operation on the numbers, or one of the two is an error that the other's definition explains.
//!
//! Operands are random ([`operands`]), and so are the facts. A result is judged by what it means ([`judge`]): as a function over its
//! domain, or as the value that it is.

use std::collections::BTreeMap;
use std::fmt;

use girih_layout::{Error, Fact, Symbol};
use girih_notation::ops::{self, Op, OpError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Map, Value};

pub mod judge;
mod make;
pub mod operands;

use judge::{Answer, Verdict};
use operands::{Bindings, Operand};

/// The symbols that operands are made of.
pub const SYMBOLS: usize = 3;

/// An operation with operands and what is known of their symbols.
pub struct Case {
    /// The operation.
    pub op: &'static Op,
    /// The operands by name.
    pub operands: Vec<(&'static str, Operand)>,
    /// The symbols.
    pub facts: [Symbol; SYMBOLS],
}

impl Case {
    fn args(&self, values: Option<Bindings>) -> Result<Map<String, Value>, Error> {
        let mut args = Map::new();
        for (name, operand) in &self.operands {
            let operand = match values {
                Some(values) => operand.bound(&self.facts, values)?,
                None => operand.clone(),
            };
            args.insert((*name).to_owned(), operand.value());
        }
        Ok(args)
    }

    /// The operation on the symbols, under facts.
    fn on_symbols(&self, facts: &[Symbol; SYMBOLS]) -> Result<Value, OpError> {
        ops::evaluate_with(self.op.name, &self.args(None)?, facts)
    }

    /// The law for one binding.
    fn judge(&self, answer: &Result<Value, OpError>, values: Bindings) -> Verdict {
        let Ok(args) = self.args(Some(values)) else { return Verdict::Skipped };
        let known = ops::evaluate(self.op.name, &args);
        let degenerate = self.operands.iter().any(|(_, operand)| operand.degenerates(&self.facts, values));
        judge::judge(self.op.name, answer, &known, &args, &self.facts, values, degenerate)
    }

    /// An error must not name another operation than the one that was called.
    fn misnamed(&self, answer: &Result<Value, OpError>) -> Option<String> {
        let Err(OpError::Layout { source }) = answer else { return None };
        let named = source.op()?;
        let other = ops::find(named).is_some() && !judge::names(self.op.name, named);
        other.then(|| format!("names {named}: {source}"))
    }

    /// An error that advises a fact must go away, or give way to another one, when the fact is declared.
    fn advice(&self, answer: &Result<Value, OpError>) -> Option<String> {
        let Err(OpError::Layout { source: Error::NeedsFact { symbol, fact, .. }, .. }) = answer else {
            return None;
        };
        let mut facts = self.facts;
        let known = facts.iter_mut().find(|known| **known == *symbol)?;
        let with = match *fact {
            Fact::DivisibleBy(n) => known.divisible_by(n),
            Fact::AtLeast(n) => known.at_least(n),
            Fact::AtMost(n) => known.at_most(n),
        };
        if operands::admissible(with, 1).is_empty() {
            return Some(format!("advises {symbol} = {fact}, which contradicts what is known"));
        }
        *known = with;
        match (answer, &self.on_symbols(&facts)) {
            (Err(OpError::Layout { source: before, .. }), Err(OpError::Layout { source: after, .. }))
                if before == after =>
            {
                Some(format!("with {symbol} = {fact} says: {after}"))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands: Vec<_> = self.operands.iter().map(|(_, operand)| operand.text()).collect();
        write!(f, "{}({})", self.op.name, operands.join(", "))?;
        self.facts
            .iter()
            .filter(|s| operands.iter().any(|o| o.contains(&s.to_string())))
            .try_for_each(|s| write!(f, " {s:?}"))
    }
}

/// What came of an operation.
#[derive(Clone, Default, Debug)]
pub struct Counts {
    /// Answered, and right for the numbers.
    pub right: u64,
    /// Open on symbols: a fact is missing.
    pub open: u64,
    /// Refused, on symbols and on numbers.
    pub refused: u64,
    /// Empty, or too large to enumerate.
    pub skipped: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// The shortest of the wrong cases, and what is wrong with it.
    pub worst: Option<String>,
}

impl Counts {
    pub(crate) fn fail(&mut self, message: String) {
        self.wrong += 1;
        if self.worst.as_ref().is_none_or(|worst| worst.len() > message.len()) {
            self.worst = Some(message);
        }
    }
}

/// The counts of all operations.
#[derive(Clone, Default, Debug)]
pub struct Report(pub BTreeMap<&'static str, Counts>);

impl Report {
    /// The wrong answers.
    pub fn wrong(&self) -> u64 {
        self.0.values().map(|counts| counts.wrong).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| operation | right | open | refused | skipped | wrong |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for (name, Counts { right, open, refused, skipped, wrong, .. }) in &self.0 {
            writeln!(f, "| {name} | {right} | {open} | {refused} | {skipped} | {wrong} |")?;
        }
        self.0
            .values()
            .filter_map(|counts| counts.worst.as_ref())
            .try_for_each(|worst| writeln!(f, "{worst}"))
    }
}

/// Runs `count` cases of an operation, each with a few bindings.
///
/// # Panics
/// For an operation with a parameter of which no operand can be made: it needs a generator in [`operands`].
pub fn run(op: &'static Op, count: u64, seed: u64) -> Counts {
    const BINDINGS: usize = 4;
    let (mut rng, mut counts) = (StdRng::seed_from_u64(seed), Counts::default());
    for _ in 0..count {
        let case = operands::case(op, &mut rng);
        let answer = case.on_symbols(&case.facts);
        if let Some(message) = case.advice(&answer).or_else(|| case.misnamed(&answer)) {
            counts.fail(format!("{case}: {message}"));
        }
        for binding in 0..BINDINGS {
            let values = operands::bindings(&case.facts, binding, &mut rng);
            match case.judge(&answer, values) {
                Verdict::Right => counts.right += 1,
                Verdict::Open => counts.open += 1,
                Verdict::Refused => counts.refused += 1,
                Verdict::Skipped => counts.skipped += 1,
                Verdict::Wrong(why) => counts.fail(format!("{case} at {values:?}: {why}")),
            }
        }
    }
    counts
}

/// Runs `count` cases, over all operations in turns.
///
/// # Panics
/// As [`run`].
pub fn run_all(count: u64, seed: u64) -> Report {
    let each = count.div_ceil(ops::all().count() as u64);
    Report(ops::all().map(|op| (op.name, run(op, each, seed))).collect())
}

/// The text of an answer, for messages.
fn shown(answer: &Result<Value, OpError>) -> String {
    match answer {
        Ok(value) => Answer::text(value),
        Err(error) => format!("error: {error}"),
    }
}
