//! Findings of the simulator, with the lines and the operations of the tile program.

use std::sync::Arc;

use crate::error::Error;
use crate::facts::Index;
use crate::ir::{End, Func, Kind, Op, OpId, Padding, Value, follow};

/// The error of a launch of a program's kernel. A finding is told with the operation to which the instruction belongs.
pub(super) fn told(error: Arc<girih_device::Error>, func: &Func) -> Error {
    let Some((kind, places)) = error.finding() else { return Error::Device(error) };
    let mut words = Vec::new();
    for (nth, place) in places.iter().enumerate() {
        let ops = at(func, place);
        let Some(op) = best(func, &ops, kind) else { continue };
        let site = func.op(op).site.map(|site| format!("{site}: ")).unwrap_or_default();
        let what = describe(func, func.op(op), kind);
        words.push(if nth == 0 { format!("{site}{what}") } else { format!("  against {site}{what}") });
        if nth == 0 && kind.starts_with("uninitialised") {
            words.extend(paddings(func, op));
        }
    }
    if words.is_empty() {
        words.push(format!("the kernel `{}`", func.name));
    }
    Error::Finding { words: words.join("\n"), error }
}

/// The operations that are written at a place.
fn at(func: &Func, place: &girih_ptx::Site) -> Vec<OpId> {
    let mut found = Vec::new();
    func.walk(func.body(), &mut |id, op| {
        if op.site.is_some_and(|site| site.is(place)) {
            found.push(id);
        }
    });
    found
}

/// The operation among several at one place that a finding is most likely of.
fn best(func: &Func, ops: &[OpId], kind: &str) -> Option<OpId> {
    let rank = |id: &&OpId| match &func.op(**id).kind {
        Kind::Assert(_) | Kind::For if kind == "trap" => 0,
        other if other.array().is_some() => 1,
        Kind::Mma => 2,
        other if !other.is_pure() => 3,
        _ => 4,
    };
    ops.iter().min_by_key(rank).copied()
}

fn describe(func: &Func, op: &Op, kind: &str) -> String {
    let named = |what: &str| match op.kind.array() {
        Some(array) => format!("{what} `{}`", func.param_of(array).1.name),
        None => what.to_string(),
    };
    match &op.kind {
        Kind::Assert(message) if kind == "trap" => format!("assertion failed: {message}"),
        Kind::For if kind == "trap" => {
            "a loop in steps of 0 or fewer: steps of 1 or more are accepted".to_string()
        }
        Kind::Load(_) => named("a load of"),
        Kind::Store(_) => named("a store to"),
        Kind::Gather(_) => named("a gather of"),
        Kind::Scatter(_) => named("a scatter to"),
        Kind::Atomic { .. } => named("an atomic operation on"),
        Kind::Mma => "a product of tiles".into(),
        Kind::For | Kind::Loop => "a loop".into(),
        Kind::If => "a branch".into(),
        Kind::Reduce { .. } => "a reduction".into(),
        Kind::Scan { .. } => "a scan".into(),
        Kind::Assert(_) => "an assertion".into(),
        Kind::Print(_) => "`printf!`".into(),
        other => format!("`{}`", other.word()),
    }
}

/// The loads without padding that an operation's operands come from.
fn paddings(func: &Func, op: OpId) -> Vec<String> {
    let mut open: Vec<Value> = func.op(op).operands.clone();
    let mut found = Vec::new();
    let index = Index::new(func);
    // The values that a region passes on become results and arguments of its operation. The loop is not determined.
    let passed = |id: OpId| {
        let mut all = Vec::new();
        for &region in &func.op(id).regions {
            all.extend_from_slice(func.region(region).end.values());
            func.walk(region, &mut |_, op| {
                for &inner in &op.regions {
                    if let End::Continue(_, values) | End::Break(_, values) = &func.region(inner).end {
                        all.extend_from_slice(values);
                    }
                }
            });
        }
        all
    };
    if let Kind::Load(_) = func.op(op).kind {
        open.extend_from_slice(&func.op(op).results);
    }
    follow(open, |value, open| {
        let Some(id) = index.source(value) else { return };
        let from = func.op(id);
        open.extend_from_slice(&from.operands);
        open.extend(passed(id));
        if let Kind::Load(view) = &from.kind
            && view.check
            && view.padding == Padding::Undetermined
        {
            let site = from.site.map(|site| format!("{site}: ")).unwrap_or_default();
            let text = format!(
                "  {site}what this load has beyond the end of `{}` is undetermined padding: `.padding(Padding::Zero)` is accepted, or \
                 another value that changes nothing",
                func.param_of(view.array).1.name
            );
            if !found.contains(&text) {
                found.push(text);
            }
        }
    });
    found
}
