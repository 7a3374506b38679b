//! The simulator's counts in reports.

use girih_sim::Report;
use serde::{Serialize, Serializer};

/// The counts of a launch, as a map from names to counts. The warnings are left out: a report counts those of all executions.
pub(crate) struct Counts(pub(crate) Report);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let told = self.0.counts().filter(|(name, _)| *name != "warnings");
        serializer.collect_map(told.map(|(name, count)| match name {
            "instructions" => ("warp_instructions", count),
            other => (other, count),
        }))
    }
}
