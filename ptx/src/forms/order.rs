//! The order of modifiers that the assembler leaves open.

use crate::{Modifier, Opcode, Word};

/// The modifiers in the order in which the table has them: `atom` and `red` are written with the memory order, the
/// scope, the state space and the operation in any order, `atom.add.acq_rel.cta.u32` and `atom.global.gpu.acq_rel.add.u32`.
pub fn ordered(opcode: Opcode, modifiers: &[Modifier]) -> Vec<Modifier> {
    let mut ordered = modifiers.to_vec();
    if matches!(opcode, Opcode::Atom | Opcode::Red) {
        ordered.sort_by_key(|&modifier| match modifier {
            Modifier::Word(word) => rank(word),
            Modifier::Type(_) => 9,
        });
    }
    ordered
}

fn rank(word: Word) -> u32 {
    match word {
        Word::Async => 0,
        Word::Relaxed | Word::Acquire | Word::Release | Word::AcqRel | Word::Mmio => 1,
        Word::Cta | Word::Cluster | Word::Gpu | Word::Sys => 2,
        Word::Global | Word::Shared | Word::SharedCta | Word::SharedCluster => 3,
        Word::MbarrierCompleteTxBytes => 4,
        Word::Noftz => 6,
        Word::L2CacheHint => 7,
        Word::V2 | Word::V4 | Word::V8 => 8,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms;

    /// Every form of `atom` and `red` is in the order already.
    #[test]
    fn the_table_is_in_order() {
        let mut count = 0;
        for form in forms::all().filter(|form| matches!(form.opcode, Opcode::Atom | Opcode::Red)) {
            let first: Vec<Modifier> = form.slots.iter().map(|slot| slot.choices.modifiers()[0]).collect();
            assert_eq!(ordered(form.opcode, &first), first, "{form}");
            let backwards: Vec<Modifier> = first.iter().rev().copied().collect();
            assert_eq!(ordered(form.opcode, &backwards), first, "{form}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }
}
