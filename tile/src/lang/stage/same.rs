//! What differs in a loop's body when it is built, and when it is built again.

use crate::ir::{Difference, Func, OpId, RegionId, difference};

/// What differs first, as one operation and the other; `None` if the regions are the same but for the numbers of their own values.
pub(super) fn changes(func: &Func, first: RegionId, second: RegionId) -> Option<String> {
    let name = |op: Option<OpId>| op.map_or_else(|| "nothing".into(), |op| describe(func, op));
    Some(match difference(func, first, second)? {
        Difference::Arguments => "other arguments".into(),
        Difference::Operands(op) => format!("{} of one value and then of another", describe(func, op)),
        Difference::Operation(a, b) => format!("{} and then {}", name(a), name(b)),
        Difference::End => "one value at its end and then another".into(),
    })
}

fn describe(func: &Func, op: OpId) -> String {
    let op = func.op(op);
    let kind = op.kind.word();
    let ty = op.results.first().map(|&value| format!(" : {}", func.ty(value))).unwrap_or_default();
    let site = op.site.map(|site| format!(" at {site}")).unwrap_or_default();
    format!("`{kind}{ty}`{site}")
}
