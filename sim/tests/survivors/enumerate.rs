//! Finds the mutations of a text from its statements.

use std::ops::Range;

/// A changed text.
pub(crate) struct Mutant {
    /// Line, what was done, and to which instruction.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Instructions each of which is taken away in turn.
const REMOVED: [&str; 14] = [
    "mbarrier.try_wait",
    "mbarrier.arrive",
    "fence.",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "bar.sync",
    "bar.arrive",
    "bar.red",
    "bar.warp.sync",
    "barrier.cluster",
    "wgmma.fence",
    "wgmma.commit_group",
    "wgmma.wait_group",
    "setmaxnreg",
];

/// A statement: where it stands, with its guard and without its semicolon.
struct Statement {
    line: usize,
    range: Range<usize>,
}

/// All statements that end in a semicolon, without the labels in front of them. Statements that no path reaches, from a
/// branch without a guard up to the next label, are left out.
fn statements(text: &str) -> Vec<Statement> {
    let (mut found, mut offset, mut reached) = (Vec::new(), 0, true);
    for (i, whole) in text.split_inclusive('\n').enumerate() {
        let code = whole.split("//").next().unwrap();
        let mut start = 0;
        reached |= code.trim_start().split_once(':').is_some_and(|(name, _)| is_name(name));
        while let Some(length) = code[start..].find(';') {
            let piece = &code[start..start + length];
            let label = piece.find(": ").filter(|&at| is_name(piece[..at].trim()));
            let skip = label.map_or(0, |at| at + 2);
            let from = start + skip + (piece[skip..].len() - piece[skip..].trim_start().len());
            let end = start + length;
            if reached {
                found.push(Statement { line: i + 1, range: offset + from..offset + end });
            }
            reached &= !code[from..end].starts_with("bra");
            start += length + 1;
        }
        offset += whole.len();
    }
    found
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Every single mutation.
pub(crate) fn mutants(text: &str) -> Vec<Mutant> {
    let statements = statements(text);
    let code = |at: usize| code_of(text, &statements[at]);
    let amounts: Vec<&str> = (0..statements.len())
        .map(code)
        .filter(|code| code.starts_with("setmaxnreg"))
        .filter_map(last)
        .collect();
    let mut mutants: Vec<Mutant> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let code = code(at);
        let name = code.split_whitespace().next().unwrap_or_default();
        let mut add = |what: &str, by: &str| {
            let Range { start, end } = statement.range;
            // Without the semicolon, too, if nothing is left of the statement.
            let rest = &text[if by.is_empty() { end + 1 } else { end }..];
            let whole = format!("{}{by}{rest}", &text[..start]);
            let name = format!("{}: {what} {name}", statement.line);
            let again = mutants.iter().filter(|mutant| mutant.name.starts_with(&name)).count();
            let name = if again == 0 { name } else { format!("{name} ({})", again + 1) };
            mutants.push(Mutant { name, text: whole });
        };
        let own = &text[statement.range.clone()];
        let with = |by: &str| format!("{}{by}", own.strip_suffix(last(own).unwrap()).unwrap());
        let branch =
            name == "bra" && at > 0 && code_of(text, &statements[at - 1]).starts_with("mbarrier.try_wait");
        if branch || REMOVED.iter().any(|removed| code.starts_with(removed)) {
            add("removed", "");
        }
        if name.contains("expect_tx")
            && let Some(bytes) = last(code).and_then(|bytes| bytes.parse::<u32>().ok())
        {
            add("16 bytes more", &with(&(bytes + 16).to_string()));
            add("16 bytes less", &with(&(bytes - 16).to_string()));
        }
        if name.contains("wait_group")
            && let Some(groups) = last(code).and_then(|groups| groups.parse::<u32>().ok())
        {
            add("one group more", &with(&(groups + 1).to_string()));
        }
        if name.starts_with("setmaxnreg") {
            let other = amounts.iter().find(|amount| Some(**amount) != last(code));
            add("other amount", &with(other.unwrap()));
        }
    }
    mutants
}

/// A statement without its guard.
fn code_of<'t>(text: &'t str, statement: &Statement) -> &'t str {
    let code = &text[statement.range.clone()];
    if code.starts_with('@') { code.split_once(' ').map_or("", |(_, code)| code) } else { code }
}

/// The last operand.
fn last(code: &str) -> Option<&str> {
    code.rsplit([',', ' ']).next().map(str::trim).filter(|operand| !operand.is_empty())
}
