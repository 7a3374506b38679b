//! Cache hints of loads and stores of global memory.

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};

use super::Builder;

/// Cache hints of loads and stores (PTX ISA, "Cache Operators", "Cache Eviction Priority Hints").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Caching {
    /// The hardware's default.
    #[default]
    Normal,
    /// Loads by the path of memory that no one writes, which the first-level cache does not keep; the second-level cache is asked for 256 bytes at a
    /// time.
    Once,
    /// Loads and stores are of data that is used once (`.cs`).
    Streaming,
    /// As [`Caching::Once`], and the second-level cache evicts first what is read and written.
    EvictFirst,
}

/// The state of a builder: what is kept, and the register of the policy.
#[derive(Clone, Default)]
pub(super) struct Kept {
    caching: Caching,
    policy: Option<Operand>,
}

impl Builder {
    /// Runs `write`, whose loads and stores of global memory tell the caches what to keep. No one may write the memory that is
    /// loaded, unless caching is normal.
    pub(crate) fn cached<R>(&mut self, caching: Caching, write: impl FnOnce(&mut Builder) -> R) -> R {
        let policy = (caching == Caching::EvictFirst).then(|| {
            let reg = self.reg(Type::B64);
            let words = [Word::Fractional.into(), Word::L2EvictFirst.into(), Type::B64.into()];
            self.inst(Opcode::Createpolicy, &words, vec![Operand::from(&reg)]);
            Operand::from(&reg)
        });
        let outer = std::mem::replace(&mut self.kept, Kept { caching, policy });
        let written = write(self);
        self.kept = outer;
        written
    }

    /// The words after the space of a load or a store of global memory, and the operand after the others.
    pub(super) fn kept(&self, opcode: Opcode) -> (Vec<Modifier>, Option<Operand>) {
        let words: &[Word] = match (self.kept.caching, opcode) {
            (Caching::Normal, _) | (Caching::Once, Opcode::St) => &[],
            (Caching::Once, _) => &[Word::Nc, Word::L1NoAllocate, Word::L2Prefetch256],
            (Caching::Streaming, _) => &[Word::Cs],
            (Caching::EvictFirst, Opcode::St) => &[Word::L2CacheHint],
            (Caching::EvictFirst, _) => {
                &[Word::Nc, Word::L1NoAllocate, Word::L2CacheHint, Word::L2Prefetch256]
            }
        };
        (words.iter().map(|&word| word.into()).collect(), self.kept.policy.clone())
    }
}
