//! The source of loaded code: text and notes of a module, and the level of optimisation.

use std::hash::{DefaultHasher, Hash, Hasher};

use girih_ptx as ptx;

/// How far a GPU's driver optimises a module that it compiles. The simulator runs every text as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// Not at all (the driver's level 0): every instruction is translated by itself. If the results differ from those of
    /// [`Optimization::Full`], the compiler is at fault, or the program relies on something that the PTX ISA does not promise.
    None,
    /// The driver's default (its level 4).
    #[default]
    Full,
}

/// The source of loaded code: a text, the notes on it, and how far the compiler optimises.
pub(crate) struct Source {
    text: String,
    notes: ptx::Notes,
    optimization: Optimization,
}

impl Source {
    pub(crate) fn new(module: &ptx::Module, optimization: Optimization) -> Source {
        Source { text: module.to_string(), notes: module.notes.clone(), optimization }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn optimization(&self) -> Optimization {
        self.optimization
    }

    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.text, self.optimization).hash(&mut hasher);
        hasher.finish()
    }

    /// Whether the code of this source is also the code of another source, whose module is `module`.
    pub(crate) fn serves(&self, other: &Source, module: &ptx::Module) -> bool {
        self.optimization == other.optimization
            && self.text == other.text
            && same_notes(&self.notes, &other.notes, module, &self.text)
    }
}

/// Whether two notes say the same of a module. Notes matter to loaded code: the simulator checks the claims and reports the lines
/// of Rust, and a launch checks the facts about its parameters.
fn same_notes(a: &ptx::Notes, b: &ptx::Notes, module: &ptx::Module, text: &str) -> bool {
    let launches = |item: &ptx::Item| match item {
        ptx::Item::Kernel(kernel) => a.launch(&kernel.name) == b.launch(&kernel.name),
        _ => true,
    };
    a.is_empty() == b.is_empty()
        && a.are_of(text) == b.are_of(text)
        && a.claims() == b.claims()
        && module.items.iter().all(launches)
        && (1..=u32::MAX).zip(text.lines()).all(|(line, _)| {
            a.site(line) == b.site(line) && a.leaves_undefined(line) == b.leaves_undefined(line)
        })
}
