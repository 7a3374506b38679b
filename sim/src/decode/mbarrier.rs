//! `mbarrier`, `cp.async.mbarrier.arrive` (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").

use girih_ptx::{Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::lanes::lanes;
use crate::op::{Mbarrier, MbarrierAction as Action, Op};
use crate::{Error, Space};

const SPACES: &[(Word, Space)] =
    &[(Word::Shared, Space::Shared), (Word::SharedCta, Space::Shared), (Word::SharedCluster, Space::Cluster)];

/// The `mbarrier` instructions, without their further modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Init,
    Inval,
    Arrive,
    Drop,
    Expect,
    Complete,
    Test,
    Try,
    PendingCount,
}

const FAMILIES: &[(Word, Family)] = &[
    (Word::Init, Family::Init),
    (Word::Inval, Family::Inval),
    (Word::Arrive, Family::Arrive),
    (Word::ArriveDrop, Family::Drop),
    (Word::ExpectTx, Family::Expect),
    (Word::CompleteTx, Family::Complete),
    (Word::TestWait, Family::Test),
    (Word::TryWait, Family::Try),
    (Word::PendingCount, Family::PendingCount),
];

impl Decoder<'_> {
    pub(super) fn mbarrier(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let family = words.pick(FAMILIES).ok_or_else(|| self.unsupported("an mbarrier of this operation"))?;
        if family == Family::PendingCount {
            words.ty();
            return self.simple(lanes!(u32: |a: u64| (a & 0xf_ffff) as u32), ops, Type::B32, &[Type::B64]);
        }
        let no_complete = words.take(Word::NoComplete);
        let expect = words.take(Word::ExpectTx);
        let parity = words.take(Word::Parity);
        let relaxed = words.take(Word::Relaxed);
        words.skip(&[Word::Release, Word::Acquire]);
        // Without a scope it is `.cta` by the ISA's text. But libraries leave it out at other blocks' mbarriers, so it
        // is taken as the widest.
        let scope = self.scope(words);
        let space = words.pick(SPACES).unwrap_or(Space::Generic);
        if words.ty() != Some(Type::B64) {
            return Err(self.unsupported("an mbarrier of another type than .b64"));
        }
        match family {
            Family::Init => self.at_mbarrier(Action::Init, space, ops, 2..=2, Type::U32),
            Family::Inval => self.at_mbarrier(Action::Inval, space, ops, 1..=1, Type::U32),
            Family::Expect | Family::Complete => {
                let complete = family == Family::Complete;
                self.at_mbarrier(Action::Transact { complete }, space, ops, 2..=2, Type::U32)
            }
            Family::Arrive | Family::Drop => {
                let drop = family == Family::Drop;
                let action =
                    Action::Arrive { drop, no_complete, expect, release: (!relaxed).then_some(scope) };
                let least = 2 + usize::from(no_complete || expect);
                self.arity(ops, least..=3)?;
                let state = match &ops[0] {
                    Operand::Sink => None,
                    _ => Some(self.destination(ops, 0, Type::B64)?),
                };
                self.mbarrier_op(action, space, ops, Type::U32, state)
            }
            Family::Test | Family::Try | Family::PendingCount => {
                let suspend = family == Family::Try;
                let action = Action::Wait { suspend, parity, acquire: (!relaxed).then_some(scope) };
                self.arity(ops, 3..=3 + usize::from(suspend))?;
                if suspend && ops.len() == 4 {
                    // The time limit is ignored: how long a wait takes is up to the scheduler.
                    self.source(ops, 3, Type::U32)?;
                }
                let state = Some(self.destination(ops, 0, Type::Pred)?);
                let ty = if parity { Type::U32 } else { Type::B64 };
                self.mbarrier_op(action, space, ops, ty, state)
            }
        }
    }

    /// Emits an instruction whose first operand is the address of the mbarrier.
    fn at_mbarrier(
        &mut self,
        action: Action,
        space: Space,
        ops: &[Operand],
        arity: std::ops::RangeInclusive<usize>,
        ty: Type,
    ) -> Result<(), Error> {
        self.arity(ops, arity)?;
        let mut all = vec![Operand::Sink];
        all.extend_from_slice(ops);
        self.mbarrier_op(action, space, &all, ty, None)
    }

    /// Emits an instruction whose second operand is the address, and whose third, if any, is a value of this type.
    fn mbarrier_op(
        &mut self,
        action: Action,
        space: Space,
        ops: &[Operand],
        ty: Type,
        state: Option<crate::lanes::Reg>,
    ) -> Result<(), Error> {
        let address = self.address(ops, 1)?;
        let operand = if ops.len() > 2 { Some(self.source(ops, 2, ty)?) } else { None };
        self.touches(Space::Shared, 8);
        self.emit(Op::Mbarrier(Box::new(Mbarrier { action, space, address, operand, state })));
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`.
    pub(super) fn copy_arrive(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if !words.take(Word::Arrive) {
            return Err(self.unsupported("a cp.async.mbarrier that is not .arrive"));
        }
        let counted = !words.take(Word::Noinc);
        words.skip(&[Word::Shared, Word::SharedCta]);
        if words.ty() != Some(Type::B64) {
            return Err(self.unsupported("an mbarrier of another type than .b64"));
        }
        self.arity(ops, 1..=1)?;
        let address = self.address(ops, 0)?;
        self.touches(Space::Shared, 8);
        self.emit(Op::CopyArrive { address, counted });
        Ok(())
    }
}
