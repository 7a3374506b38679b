//! The verdict that is expected of each entry.

use super::setup::{Check, Setup};

/// The verdict on an entry.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// No error, and the host's numbers.
    Right,
    /// Right, but for a warning of this kind.
    Warned(&'static str),
    /// An error, of one of these kinds.
    Broken(&'static [&'static str]),
}

/// A file's kernel and its broken twins under one launch.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) file: &'static str,
    /// Tells launches of one file apart; empty for most.
    pub(crate) label: &'static str,
    pub(crate) prepare: fn(&mut Setup) -> Check,
    right: Expected,
    twins: Vec<(&'static str, Expected)>,
    patches: Vec<(&'static str, Patch, Expected)>,
}

/// A change of a file's text: of the `nth` place that has `from`, from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patch {
    from: &'static str,
    nth: usize,
    to: &'static str,
}

impl Patch {
    pub(crate) fn apply(&self, text: &str) -> String {
        if self.from.is_empty() {
            return text.into();
        }
        let found = text.match_indices(self.from).nth(self.nth);
        let (at, _) = found.unwrap_or_else(|| panic!("place {} of {}", self.nth, self.from));
        format!("{}{}{}", &text[..at], self.to, &text[at + self.from.len()..])
    }
}

/// What has a verdict.
pub(crate) struct Entry {
    /// Its name in [`WRONG_TODAY`].
    pub(crate) name: String,
    /// Its name in the file.
    pub(crate) entry: String,
    pub(crate) expected: Expected,
    pub(crate) patch: Patch,
}

impl Case {
    /// A file whose kernel of the same name is right under the launch that `prepare` makes.
    pub(crate) fn new(file: &'static str, prepare: fn(&mut Setup) -> Check) -> Case {
        Case { file, label: "", prepare, right: Expected::Right, twins: Vec::new(), patches: Vec::new() }
    }

    /// Another launch of the file, under which the kernel itself is broken.
    pub(crate) fn misused(
        file: &'static str,
        label: &'static str,
        kinds: &'static [&'static str],
        prepare: fn(&mut Setup) -> Check,
    ) -> Case {
        Case { file, label, prepare, right: Expected::Broken(kinds), twins: Vec::new(), patches: Vec::new() }
    }

    /// Another launch of the file, under which the kernel itself is right.
    pub(crate) fn also(file: &'static str, label: &'static str, prepare: fn(&mut Setup) -> Check) -> Case {
        Case { label, ..Case::new(file, prepare) }
    }

    /// A defect that is found as one of these kinds.
    pub(crate) fn broken(mut self, twin: &'static str, kinds: &'static [&'static str]) -> Case {
        self.twins.push((twin, Expected::Broken(kinds)));
        self
    }

    /// A twin that is right but for a warning.
    pub(crate) fn warned(mut self, twin: &'static str, kind: &'static str) -> Case {
        self.twins.push((twin, Expected::Warned(kind)));
        self
    }

    /// The kernel itself is right but for a warning.
    pub(crate) fn but(mut self, kind: &'static str) -> Case {
        self.right = Expected::Warned(kind);
        self
    }

    /// A twin by a change of the kernel's text.
    pub(crate) fn patched(
        mut self,
        twin: &'static str,
        (from, nth, to): (&'static str, usize, &'static str),
        kinds: &'static [&'static str],
    ) -> Case {
        self.patches.push((twin, Patch { from, nth, to }, Expected::Broken(kinds)));
        self
    }

    /// The kernel itself, its twins, its patches.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let label = if self.label.is_empty() { String::new() } else { format!("@{}", self.label) };
        let new = |suffix: &str, entry: String, patch, expected: &Expected| {
            let name = format!("{}{suffix}{label}", self.file);
            Entry { name, entry, patch, expected: expected.clone() }
        };
        let own = new("", self.file.into(), Patch::default(), &self.right);
        let twins = self.twins.iter().map(|(twin, expected)| {
            new(&format!("__{twin}"), format!("{}__{twin}", self.file), Patch::default(), expected)
        });
        let patches = self
            .patches
            .iter()
            .map(|(twin, patch, expected)| new(&format!("~{twin}"), self.file.into(), *patch, expected));
        std::iter::once(own).chain(twins).chain(patches).collect()
    }
}

/// Accesses that nothing orders, or that come before what they need is there.
pub(crate) const UNORDERED: &[&str] =
    &["race", "in-flight", "uninitialised-memory", "uninitialised-register"];
/// Waits without an end.
pub(crate) const STUCK: &[&str] = &["deadlock", "livelock", "step-limit"];

/// Verdicts that are wrong today, and why. An entry whose verdict is right must go: the list only shrinks.
pub(crate) const WRONG_TODAY: &[(&str, &str)] = &[];
