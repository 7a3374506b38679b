//! Modules without one of the instructions by which threads wait for one another.

use girih_ptx::{Inst, Item, Module, Opcode, Statement, Word};

fn synchronises(statement: &Statement) -> bool {
    let Statement::Inst(Inst { opcode, modifiers, .. }) = statement else { return false };
    let waits = modifiers.contains(&Word::WaitGroup.into())
        || *opcode == Opcode::Wgmma && modifiers.contains(&Word::Fence.into());
    matches!(opcode, Opcode::Mbarrier | Opcode::Bar | Opcode::Fence) || waits
}

/// The module without its `index`th synchronising instruction; a wait goes with its branch.
pub(crate) fn without(module: &Module, index: usize) -> Option<(Module, String)> {
    let mut module = module.clone();
    for item in &mut module.items {
        let Item::Kernel(kernel) = item else { continue };
        let mut places = (0..kernel.body.len()).filter(|&i| synchronises(&kernel.body[i]));
        let at = places.nth(index)?;
        let Statement::Inst(inst) = kernel.body.remove(at) else { return None };
        if inst.modifiers.contains(&Word::TryWait.into()) {
            kernel.body.remove(at);
        }
        let mut text = inst.opcode.to_string();
        inst.modifiers.iter().for_each(|m| text += &format!(".{m}"));
        return Some((module, text));
    }
    None
}
