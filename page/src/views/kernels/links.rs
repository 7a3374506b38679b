//! Where the places of a finding are in a record.

use girih_sim::{Finding, Site};
use serde::Serialize;

use super::record::Record;

/// A place of a finding: its line, and its step if the block is the one that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Link {
    pub(super) line: u32,
    pub(super) block: [u32; 3],
    pub(super) warp: usize,
    pub(super) lane: u32,
    /// The step among the warp's own.
    pub(super) step: Option<usize>,
}

/// The places of a finding, the one where it was made first.
pub(super) fn of(record: &Record, finding: &Finding) -> Vec<Link> {
    let mut made = None;
    let mut links = Vec::new();
    for Site { place, block, thread } in finding.error.sites() {
        let [x, y, _] = record.threads;
        let thread = thread[0] + x * (thread[1] + y * thread[2]);
        let (warp, lane) = ((thread / 32) as usize, thread % 32);
        let here = *block == record.block && *place.kernel == *record.kernel;
        let step = if here { record.find(warp, place.line, made) } else { None };
        // The other access came before.
        made = made.or_else(|| step.and_then(|step| record.warps[warp].get(step).copied()));
        links.push(Link { line: place.line, block: *block, warp, lane, step });
    }
    links
}
