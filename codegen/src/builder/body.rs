//! The statements of a scope, and the claims that are made between them.

use std::collections::HashMap;
use std::panic::Location;

use girih_ptx::{Claim, Item, Module, Name, Notes, Site, Statement};

/// Statements in order, the line of the program that wrote each, and the claims, each with the number of statements before it.
#[derive(Default)]
pub(super) struct Body {
    statements: Vec<Statement>,
    sites: Vec<Option<&'static Location<'static>>>,
    claims: Vec<(usize, Claim)>,
}

/// The beginning of a marker's comment; no other comment begins so.
const MARKER: &str = "girih: behind statement ";

impl Body {
    pub(super) fn push(&mut self, statement: Statement, site: Option<&'static Location<'static>>) {
        self.statements.push(statement);
        self.sites.push(site);
    }

    /// Adds a claim behind the last statement.
    pub(super) fn claim(&mut self, claim: Claim) {
        self.claims.push((self.statements.len(), claim));
    }

    pub(super) fn extend(&mut self, other: Body) {
        let before = self.statements.len();
        self.statements.extend(other.statements);
        self.sites.extend(other.sites);
        self.claims.extend(other.claims.into_iter().map(|(behind, claim)| (before + behind, claim)));
    }

    /// The body in which the statement that `before` returns stands in front of each statement with a site.
    pub(super) fn with_each(
        self,
        mut before: impl FnMut(&'static Location<'static>) -> Option<Statement>,
    ) -> Body {
        let mut body = Body::default();
        let mut claims = self.claims.into_iter().peekable();
        let mut claimed = |body: &mut Body, behind: usize| {
            while let Some((_, claim)) = claims.next_if(|(at, _)| *at <= behind) {
                body.claim(claim);
            }
        };
        for (i, (statement, site)) in self.statements.into_iter().zip(self.sites).enumerate() {
            claimed(&mut body, i);
            if let Some(more) = site.and_then(&mut before) {
                body.push(more, None);
            }
            body.push(statement, site);
        }
        let end = body.statements.len();
        claimed(&mut body, end);
        body
    }

    /// The statements, and their sites and claims.
    pub(super) fn into_parts(self) -> (Vec<Statement>, Known) {
        (self.statements, Known { sites: self.sites, claims: self.claims })
    }
}

/// The sites and claims of a kernel's statements.
pub(super) struct Known {
    sites: Vec<Option<&'static Location<'static>>>,
    claims: Vec<(usize, Claim)>,
}

impl Known {
    /// The sites and claims by lines of the text of `module`, whose kernel `name` has the statements.
    pub(super) fn by_lines(self, module: &Module, name: &Name) -> Notes {
        let (text, lines) = lines_behind(module, name);
        let line = |behind: usize| lines.get(&behind).copied().unwrap_or(0);
        let claims = self.claims.into_iter().map(|(behind, claim)| Claim { line: line(behind), ..claim });
        let mut files = HashMap::new();
        let sites = self.sites.iter().enumerate().filter_map(|(i, site)| {
            let mut site = Site::from((*site)?);
            // Sites in one file share the file's name.
            site.file = files.entry(site.file.clone()).or_insert(site.file).clone();
            Some((line(i + 1), site))
        });
        Notes::new(&text, claims.collect(), sites.collect())
    }
}

/// The text of a module, and for every `n` the line of that text on which the `n`-th statement of kernel `name` ends, counted from
/// 1. To find the lines, a copy of the module gets a marker behind each statement.
fn lines_behind(module: &Module, name: &Name) -> (String, HashMap<usize, u32>) {
    let mut marked = module.clone();
    for item in &mut marked.items {
        let Item::Kernel(kernel) = item else { continue };
        if kernel.name == *name {
            let marker = |behind: usize| Statement::Comment(format!("{MARKER}{behind}").into());
            let statements = std::mem::take(&mut kernel.body).into_iter();
            kernel.body =
                statements.enumerate().flat_map(|(i, statement)| [statement, marker(i + 1)]).collect();
        }
    }
    let (mut text, mut lines, mut line) = (String::new(), HashMap::new(), 0);
    for of_marked in marked.to_string().split_inclusive('\n') {
        match of_marked.split_once(MARKER).and_then(|(_, number)| number.trim().parse().ok()) {
            Some(number) => drop(lines.insert(number, line)),
            None => {
                line += 1;
                text.push_str(of_marked);
            }
        }
    }
    (text, lines)
}
