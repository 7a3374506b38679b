//! The statements of a scope, and the claims that are made between them.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

use girih_ptx::{Claim, Module, Name, Notes, Site, Statement};

/// A line of the program that writes a kernel, such as a user's. Unlike [`Site`] it is copied without an allocation.
///
/// # Examples
/// ```
/// use girih_codegen::Line;
///
/// let here = Line::from(std::panic::Location::caller());
/// assert!(here.line > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&'static Location<'static>> for Line {
    fn from(at: &'static Location<'static>) -> Line {
        Line { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl From<Line> for Site {
    fn from(at: Line) -> Site {
        Site { file: at.file.into(), line: at.line, column: at.column }
    }
}

/// Statements in order, the line of the program that wrote each, and the claims, each with the number of statements before it.
#[derive(Default)]
pub(super) struct Body {
    statements: Vec<Statement>,
    sites: Vec<Option<Line>>,
    claims: Vec<(usize, Claim)>,
    /// The predicated statements whose results are undefined in threads that do not execute them.
    undefined: Vec<usize>,
}

impl Body {
    pub(super) fn push(&mut self, statement: Statement, site: Option<Line>) {
        self.statements.push(statement);
        self.sites.push(site);
    }

    /// Adds a claim after the last statement.
    pub(super) fn claim(&mut self, claim: Claim) {
        self.claims.push((self.statements.len(), claim));
    }

    /// Notes that the results of the last statement are undefined in threads that do not execute it.
    pub(super) fn leaves_undefined(&mut self) {
        self.undefined.extend(self.statements.len().checked_sub(1));
    }

    pub(super) fn extend(&mut self, other: Body) {
        let before = self.statements.len();
        self.statements.extend(other.statements);
        self.sites.extend(other.sites);
        self.claims.extend(other.claims.into_iter().map(|(behind, claim)| (before + behind, claim)));
        self.undefined.extend(other.undefined.into_iter().map(|at| before + at));
    }

    /// The body in which the statement that `before` returns is in front of each statement with a site.
    pub(super) fn with_each(self, mut before: impl FnMut(Line) -> Option<Statement>) -> Body {
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
            if self.undefined.binary_search(&i).is_ok() {
                body.leaves_undefined();
            }
        }
        let end = body.statements.len();
        claimed(&mut body, end);
        body
    }

    /// The statements, and their sites and claims.
    pub(super) fn into_parts(self) -> (Vec<Statement>, Known) {
        (self.statements, Known { sites: self.sites, claims: self.claims, undefined: self.undefined })
    }
}

/// The sites and claims of a kernel's statements.
pub(super) struct Known {
    sites: Vec<Option<Line>>,
    claims: Vec<(usize, Claim)>,
    undefined: Vec<usize>,
}

impl Known {
    /// The sites and claims by lines of the text of `module`, whose kernel `name` has the statements.
    pub(super) fn by_lines(self, module: &Module, name: &Name) -> Notes {
        let (text, lines) = module.text_with_lines(name);
        // A claim in front of every statement has no line.
        let line = |behind: usize| if behind == 0 { 0 } else { lines.get(behind).copied().unwrap_or(0) };
        let claims = self.claims.into_iter().map(|(behind, claim)| Claim { line: line(behind), ..claim });
        let mut files = HashMap::<&str, Arc<str>>::new();
        let sites = self.sites.iter().enumerate().filter_map(|(i, site)| {
            let site = (*site)?;
            // Sites in one file share the file's name.
            let file = files.entry(site.file).or_insert_with(|| site.file.into()).clone();
            Some((line(i + 1), Site { file, line: site.line, column: site.column }))
        });
        let undefined = self.undefined.iter().map(|at| line(at + 1)).collect();
        Notes::new(&text, claims.collect(), sites.collect()).with_undefined(undefined)
    }
}
