//! Loads whose races do no harm on any GPU, by how their values are used.
//!
//! - A load *guards* an atomic at the same address if its value decides only which way the thread goes (`if (*p > x)
//!   atomicMin(p, x)`), or what a compare-and-swap at that address compares with and puts there. A stale value makes the
//!   thread do an atomic in vain.
//! - A load is *updated* if its value goes to stores alone, one of them to the same address. A lane that does none of
//!   these stores discards the value, as where compilers let many lanes load what one of them stores.

use std::collections::{HashMap, HashSet};

use crate::Space;
use crate::lanes::{File, Reg};
use crate::op::{Address, Guard, Op, Transfer};
use crate::program::Code;

/// Where a value ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As the guard of an instruction, or of a branch.
    Guard,
    /// As an operand of a compare-and-swap, of this instruction.
    Swap(usize),
    /// In memory, by this store.
    Store(usize),
}

pub(super) fn mark(code: &mut Code) {
    // Paths go through functions, which are not followed here.
    if !code.functions.is_empty() {
        return;
    }
    let (mut atomics, mut stores) = (Vec::new(), Vec::new());
    for (at, inst) in code.insts.iter().enumerate() {
        match &inst.op {
            Op::Atomic(atomic) => atomics.push((at, atomic.address)),
            Op::Store(store) if store.strong.is_none() && is_shared(store.space) => {
                stores.push((at, store.address));
            }
            _ => {}
        }
    }
    let candidates: Vec<usize> = (0..code.insts.len())
        .filter(|&at| {
            weak_load(code, at).is_some_and(|load| {
                let meets = |(_, address): &(usize, Address)| is_same(&load.address, address);
                atomics.iter().any(meets) || stores.iter().any(meets)
            })
        })
        .collect();
    if candidates.is_empty() {
        return;
    }
    let (readers, writers) = (readers(code), writers(code));
    let fixed =
        |address: &Address| address.base.is_none_or(|base| writers.get(&base).is_none_or(|&n| n <= 1));
    for at in candidates {
        let Some(uses) = uses(code, &readers, at) else { continue };
        let Some(load) = weak_load(code, at).filter(|load| fixed(&load.address)) else { continue };
        let (source, shape) = (code.insts[at].source, (load.bytes, load.count));
        let meets = |to: usize| match &code.insts[to].op {
            Op::Atomic(atomic) => {
                is_same(&load.address, &atomic.address) && shape == (atomic.bytes, atomic.b.len() as u32)
            }
            Op::Store(store) => is_same(&load.address, &store.address) && shape == (store.bytes, store.count),
            _ => false,
        };
        let guards = |of: &Use| match *of {
            Use::Guard => true,
            Use::Swap(swap) => meets(swap),
            Use::Store(_) => false,
        };
        let guards = uses.iter().all(guards) && atomics.iter().any(|&(atomic, _)| meets(atomic));
        let stores: Option<Vec<usize>> =
            uses.iter().map(|of| if let Use::Store(store) = *of { Some(store) } else { None }).collect();
        let stores = stores.filter(|stores| stores.iter().any(|&store| meets(store)));
        if guards && !uses.is_empty() {
            code.sources[source as usize].guards = true;
            continue;
        }
        let Some(stores) = stores else { continue };
        code.sources[source as usize].updated = true;
        for store in stores {
            let store = code.insts[store].source as usize;
            code.sources[store].updates.push(source);
        }
    }
}

fn is_shared(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic | Space::Shared | Space::Cluster)
}

fn weak_load(code: &Code, at: usize) -> Option<&Transfer> {
    match &code.insts[at].op {
        Op::Load(load) if load.strong.is_none() && !load.constant && is_shared(load.space) => Some(load),
        _ => None,
    }
}

/// Whether two addresses are the same as long as nothing writes their register in between.
fn is_same(one: &Address, other: &Address) -> bool {
    (one.base, one.offset) == (other.base, other.offset)
}

/// For each register, the first operations of the instructions that read it or have it as their guard.
fn readers(code: &Code) -> HashMap<Reg, Vec<usize>> {
    let mut readers: HashMap<Reg, Vec<usize>> = HashMap::new();
    for (at, inst) in code.insts.iter().enumerate().filter(|(_, inst)| inst.guard != Guard::Same) {
        let source = &code.sources[inst.source as usize];
        for reg in source.reads.iter().copied().chain(guard(inst.guard)) {
            readers.entry(reg).or_default().push(at);
        }
    }
    readers
}

/// For each register, how many instructions write it.
fn writers(code: &Code) -> HashMap<Reg, usize> {
    let mut writers = HashMap::new();
    for reg in code.sources.iter().flat_map(|source| &source.writes) {
        *writers.entry(*reg).or_default() += 1;
    }
    writers
}

fn guard(guard: Guard) -> Option<Reg> {
    match guard {
        Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
        Guard::Always | Guard::Same => None,
    }
}

/// Where the value of a load ends after instructions that only compute; `None` if it may end elsewhere.
fn uses(code: &Code, readers: &HashMap<Reg, Vec<usize>>, load: usize) -> Option<Vec<Use>> {
    let mut rest = code.sources[code.insts[load].source as usize].writes.clone();
    let mut seen: HashSet<Reg> = rest.iter().copied().collect();
    let mut uses = Vec::new();
    while let Some(reg) = rest.pop() {
        for &at in readers.get(&reg).into_iter().flatten() {
            let inst = &code.insts[at];
            let source = &code.sources[inst.source as usize];
            if guard(inst.guard) == Some(reg) {
                uses.push(Use::Guard);
                // The result of a guarded instruction depends on the guard.
                if matches!(inst.op, Op::Lanes(..)) {
                    rest.extend(source.writes.iter().copied().filter(|&reg| seen.insert(reg)));
                }
            }
            if !source.reads.contains(&reg) {
                continue;
            }
            match &inst.op {
                Op::Lanes(..) => {
                    let only = code.insts[at..].iter().take_while(|next| next.source == inst.source);
                    if !only.into_iter().all(|inst| matches!(inst.op, Op::Lanes(..))) {
                        return None;
                    }
                    rest.extend(source.writes.iter().copied().filter(|&reg| seen.insert(reg)));
                }
                Op::Store(store) if store.address.base != Some(reg) => uses.push(Use::Store(at)),
                Op::Atomic(atomic) if atomic.c.is_some() && atomic.address.base != Some(reg) => {
                    uses.push(Use::Swap(at));
                }
                _ => return None,
            }
        }
    }
    Some(uses)
}
