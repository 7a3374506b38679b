//! The source lines of instructions (PTX ISA, "Debugging Directives").

use std::collections::HashMap;
use std::sync::Arc;

use girih_ptx::{Inlined, Item, Loc, Module, SourceFile, SourcePlace};

use crate::Origin;

/// The deepest inlining of functions in one another that is followed.
const DEPTH: usize = 64;

/// The source files of a module, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<u32, Arc<str>>);

impl Files {
    pub(super) fn of(module: &Module) -> Files {
        let files = module.items.iter().filter_map(|item| match item {
            Item::File(SourceFile { index, name }) => Some((*index, name.clone())),
            _ => None,
        });
        Files(files.collect())
    }
}

/// For each source place that the `.loc` directives of a body have named: where the code of that place is inlined.
#[derive(Debug, Default)]
pub(super) struct Lines(HashMap<SourcePlace, Inlined>);

impl Lines {
    /// The source line of the statements after a `.loc`; `None` where the compiler gives none.
    pub(super) fn origin(&mut self, files: &Files, loc: &Loc) -> Option<Arc<Origin>> {
        match &loc.inlined {
            Some(inlined) => self.0.insert(loc.at, inlined.clone()),
            None => self.0.remove(&loc.at),
        };
        self.of(files, loc.at, DEPTH).filter(|origin| origin.line > 0).map(Arc::new)
    }

    /// The source place `at`, with the place where it is inlined. An outer place that is inlined itself has been named
    /// by a `.loc` of its own.
    fn of(&self, files: &Files, at: SourcePlace, depth: usize) -> Option<Origin> {
        let inlined = self.0.get(&at).filter(|_| depth > 0).and_then(|Inlined { function, at }| {
            Some((function.clone(), Arc::new(self.of(files, *at, depth - 1)?)))
        });
        let file = files.0.get(&at.file)?.clone();
        Some(Origin { file, line: at.line, column: at.column, inlined })
    }
}
