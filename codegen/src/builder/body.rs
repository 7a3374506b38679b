//! The statements of a scope, and what is claimed between them.

use std::collections::BTreeMap;

use girih_ptx::{Claim, Item, Module, Name, Notes, Statement};

/// Statements in order, and what is claimed of registers: behind how many statements.
#[derive(Default)]
pub(super) struct Body {
    statements: Vec<Statement>,
    claims: Vec<(usize, Claim)>,
}

/// What a marker's comment begins with; nobody else writes such a comment where claims are looked for.
const MARKER: &str = "girih-claims-behind-statement ";

impl Body {
    pub(super) fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Something is claimed behind the last statement.
    pub(super) fn claim(&mut self, claim: Claim) {
        self.claims.push((self.statements.len(), claim));
    }

    pub(super) fn extend(&mut self, other: Body) {
        let before = self.statements.len();
        self.statements.extend(other.statements);
        self.claims.extend(other.claims.into_iter().map(|(behind, claim)| (before + behind, claim)));
    }

    pub(super) fn into_parts(self) -> (Vec<Statement>, Claims) {
        (self.statements, Claims(self.claims))
    }
}

/// What is claimed behind so many statements of a kernel.
pub(super) struct Claims(Vec<(usize, Claim)>);

impl Claims {
    /// The claims by lines of the text of `module`, whose kernel `name` has them.
    pub(super) fn by_lines(mut self, module: &Module, name: &Name) -> Notes {
        self.0.sort_by_key(|(behind, _)| *behind);
        let lines = lines_behind(module, name, self.0.iter().map(|(behind, _)| *behind));
        let line = |behind: usize| lines.get(&behind).copied().unwrap_or(0);
        let claims = self.0.into_iter().map(|(behind, claim)| Claim { line: line(behind), ..claim });
        Notes::new(&module.to_string(), claims.collect())
    }
}

/// On which line of a module's text the statement stands that so many others of a kernel's are in front of: comments are put
/// behind them, and looked for in the text.
fn lines_behind(module: &Module, name: &Name, behind: impl Iterator<Item = usize>) -> BTreeMap<usize, u32> {
    let mut lines: BTreeMap<usize, u32> = behind.map(|behind| (behind, 0)).collect();
    let mut marked = module.clone();
    let kernels = marked.items.iter_mut().filter_map(|item| match item {
        Item::Kernel(kernel) if kernel.name == *name => Some(&mut kernel.body),
        _ => None,
    });
    for body in kernels {
        for &behind in lines.keys().rev() {
            body.insert(behind.min(body.len()), Statement::Comment(format!("{MARKER}{behind}").into()));
        }
    }
    let mut line = 0;
    for text in marked.to_string().lines() {
        match text.split_once(MARKER).and_then(|(_, number)| number.trim().parse().ok()) {
            Some(number) => drop(lines.insert(number, line)),
            None => line += 1,
        }
    }
    lines
}
