//! Uses: the operands of operations, and the readers of values.

use std::collections::{BTreeSet, HashMap};

use crate::ir::{Func, Op, OpId, RegionId, Value};

/// The values that an operation reads, also within its regions.
pub(crate) fn needs(func: &Func, op: &Op, out: &mut Vec<Value>) {
    out.extend(func.reads(op));
    for &region in &op.regions {
        let data = func.region(region);
        data.ops.iter().for_each(|&id| needs(func, func.op(id), out));
        out.extend(data.end.values());
    }
}

/// The operations of which `takes` holds that values come from, as far as all on the way are such.
pub(crate) fn sources(func: &Func, of: &[Value], takes: impl Fn(OpId) -> bool) -> BTreeSet<OpId> {
    let (mut found, mut work) = (BTreeSet::new(), of.to_vec());
    while let Some(value) = work.pop() {
        if let Some(id) = func.maker(value)
            && takes(id)
            && found.insert(id)
        {
            needs(func, func.op(id), &mut work);
        }
    }
    found
}

/// The results among operations' that depend on some values.
pub(super) fn dependent(func: &Func, ops: &[OpId], on: impl IntoIterator<Item = Value>) -> BTreeSet<Value> {
    let mut found: BTreeSet<Value> = on.into_iter().collect();
    for &id in ops {
        let (op, mut read) = (func.op(id), Vec::new());
        needs(func, op, &mut read);
        if read.iter().any(|value| found.contains(value)) {
            found.extend(&op.results);
        }
    }
    found
}

/// The operations that read each value, as often as they do; `None` for the end of a region.
pub(crate) fn readers(func: &Func) -> HashMap<Value, Vec<Option<OpId>>> {
    fn region(func: &Func, id: RegionId, readers: &mut HashMap<Value, Vec<Option<OpId>>>) {
        let data = func.region(id);
        for &id in &data.ops {
            let op = func.op(id);
            op.operands.iter().for_each(|&value| readers.entry(value).or_default().push(Some(id)));
            op.regions.iter().for_each(|&inner| region(func, inner, readers));
        }
        data.end.values().iter().for_each(|&value| readers.entry(value).or_default().push(None));
    }
    let mut all = HashMap::new();
    region(func, func.body(), &mut all);
    all
}
