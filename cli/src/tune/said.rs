//! The output of a contest: lines during the contest, or one JSON object at its end.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::CommandResult;
use crate::output::say;
use crate::run::Session;

/// The lines that have been printed, or the object that is printed at the end.
pub(super) struct Said {
    json: bool,
    left_out: Vec<Value>,
    facts: Map<String, Value>,
}

impl Said {
    pub(super) fn new(json: bool) -> Said {
        Said { json, left_out: Vec::new(), facts: Map::new() }
    }

    /// A line for people alone.
    pub(super) fn line(&self, text: &str) {
        if !self.json {
            say(text);
        }
    }

    /// Reports a candidate that is left out, and the reason.
    pub(super) fn left_out(&mut self, what: &str, why: &str) {
        self.line(&format!("left out: {what}: {why}"));
        self.left_out.push(json!({ "what": what, "why": why }));
    }

    /// Reports the fastest candidate, its cost and the cost of `usual`, which is the name of the configuration of a launch without a record.
    pub(super) fn fastest(&mut self, described: &str, [best, cost]: [f64; 2], [unit, usual]: [&str; 2]) {
        let share = best / cost;
        self.line(&format!(
            "fastest {best:.2} {unit}, {share:.3} of the {usual}'s {cost:.2} {unit}: {described}"
        ));
        self.facts.insert("fastest".into(), described.into());
        self.facts.insert("cost".into(), best.into());
        self.facts.insert("usual_cost".into(), cost.into());
        self.facts.insert("unit".into(), unit.into());
    }

    /// The file that has the record.
    pub(super) fn recorded(&mut self, path: &Path) {
        self.line(&format!("recorded in {}", path.display()));
        self.facts.insert("recorded".into(), path.display().to_string().into());
    }

    pub(super) fn finish(mut self, session: &Session) -> CommandResult {
        if self.json {
            self.facts.insert("device".into(), serde_json::to_value(session.report())?);
            self.facts.insert("left_out".into(), self.left_out.into());
            say(&Value::Object(self.facts).to_string());
        }
        Ok(ExitCode::SUCCESS)
    }
}
