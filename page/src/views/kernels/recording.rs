//! A recording: one page that replays a launch without a server. Its script is the page's own, and answers are the server's, kept as JSON.

use std::sync::Arc;

use girih_notation::LineReport;
use girih_sim::{Memory, Observer, Profile, Verdict};
use serde_json::{Map, Value, json};

use super::recorder::Recorder;
use super::state::State;
use super::timeline::timeline;
use super::{Answer, Run};
use crate::Fault;
use crate::files;
use crate::views::colours;

/// What the warps of a block of a launch do, for a page that replays the launch without a server.
///
/// ```
/// use std::sync::Arc;
///
/// use girih_page::Recording;
/// use girih_sim::{Launch, Memory, Options, Profile, Program, judge};
///
/// let text = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
/// let program = Program::load(&girih_ptx::Module::parse(text)?)?;
/// let memory = Arc::new(Memory::new());
/// let (recording, profile) = (Recording::of([0, 0, 0], memory.clone()), Profile::default());
/// let options = Options {
///     observer: Some(recording.observer()),
///     profile: Some(profile.clone()),
///     threads: Some(1),
///     ..Options::checked()
/// };
/// let launch = Launch { grid: [1; 3], block: [32, 1, 1], ..Launch::default() };
/// let verdict = judge(program.kernel("k")?, &memory, &launch, &options)?;
/// let page = recording.html(text, &profile, &verdict).map_err(|fault| fault.message)?;
/// assert!(page.starts_with("<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recording(Arc<Recorder>);

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recording")
    }
}

impl Recording {
    /// A recording of this block of the first kernel that runs, and of the arrays in memory to which its arguments point.
    pub fn of(block: [u32; 3], memory: Arc<Memory>) -> Recording {
        Recording(Arc::new(Recorder::new(block, Some(memory))))
    }

    /// The observer of the launch. The launch has to run on one thread, [`Options::threads`](girih_sim::Options::threads), as the work of
    /// one is executed again by another.
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.0.clone()
    }

    /// The page, after the launch of a kernel of this PTX. It takes what was recorded.
    ///
    /// # Errors
    /// [`Fault`] of the kind `"no_block"` if the launch has no such block.
    pub fn html(&self, text: &str, profile: &Profile, verdict: &Verdict) -> Result<String, Fault> {
        let record = self.0.take();
        if record.steps.is_empty() {
            return Err(Fault::new(
                "no_block",
                "the launch has executed nothing of the block that is recorded",
            ));
        }
        html(&Run {
            id: String::new(),
            text: text.into(),
            lines: profile.lines(&record.kernel).iter().map(LineReport::from).collect(),
            record,
            findings: verdict.findings.clone(),
            seeds: verdict.seeds.clone(),
        })
    }
}

/// The page of a run.
pub(super) fn html(run: &Run) -> Result<String, Fault> {
    let record = &run.record;
    let warps: Vec<Value> =
        (0..record.warps.len()).map(|warp| steps(run, warp)).collect::<Result<_, Fault>>()?;
    let answers = json!({
        "palettes": colours::palettes(),
        "run": Answer::of(run),
        "beside": timeline(record, true),
        "order": timeline(record, false),
        "warps": warps,
    });
    Ok(files::recorded(&record.kernel, &answers))
}

/// The states after each step of a warp: of each, the fields that differ from those of the step before, and the registers that do.
fn steps(run: &Run, warp: usize) -> Result<Value, Fault> {
    let mut last = Map::new();
    let mut all = Vec::new();
    for step in 0..run.record.warps[warp].len() {
        let state = State::of(&run.record, warp, step, step.checked_sub(1));
        let Value::Object(mut now) = serde_json::to_value(state)? else { continue };
        // These follow from the place in the list.
        now.remove("warp");
        now.remove("step");
        let told = |(name, value): &(&String, &Value)| *name == "values" || last.get(*name) != Some(*value);
        all.push(Value::Object(
            now.iter().filter(told).map(|(name, value)| (name.clone(), value.clone())).collect(),
        ));
        last = now;
    }
    Ok(Value::Array(all))
}
