//! Branches, exits, barriers, fences.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::scope::Named;
use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::lanes::lanes;
use crate::op::{Count, Op};
use crate::shadow::{Scope, Window};

/// The memory that a proxy fence covers.
const WINDOWS: &[(Word, Window)] =
    &[(Word::Global, Window::Global), (Word::SharedCta, Window::Cta), (Word::SharedCluster, Window::Cluster)];

impl Decoder<'_> {
    pub(super) fn control(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Bra => {
                words.take(Word::Uni);
                self.arity(ops, 1..=1)?;
                let Operand::Name(name) = &ops[0] else { return Err(self.operand(ops, 0, "a label")) };
                let Some(Named::Label(label)) = self.scopes.find(name) else {
                    return Err(self.undeclared(name, "label"));
                };
                self.emit(Op::Branch(label));
            }
            Opcode::Brx => return self.branch_table(words, ops),
            Opcode::Exit | Opcode::Ret => {
                words.take(Word::Uni);
                self.arity(ops, 0..=0)?;
                let after = self.calls.last().map(|call| call.after).filter(|_| opcode == Opcode::Ret);
                self.emit(match after {
                    Some(after) => Op::Branch(after),
                    None if self.frame.is_some() && opcode == Opcode::Ret => Op::Return,
                    None => Op::Exit,
                });
            }
            Opcode::Bar | Opcode::Barrier => return self.barrier(opcode == Opcode::Bar, words, ops),
            Opcode::Trap => self.emit(Op::Trap),
            Opcode::Alloca | Opcode::Stacksave | Opcode::Stackrestore => {
                return self.stack(opcode, words, ops);
            }
            // These have an effect only for a debugger or a profiler.
            Opcode::Brkpt => {
                self.arity(ops, 0..=0)?;
                self.emit(Op::Nothing);
            }
            Opcode::Pmevent => {
                words.take(Word::Mask);
                self.arity(ops, 1..=1)?;
                self.emit(Op::Nothing);
            }
            Opcode::Nanosleep => {
                let ty = self.last(words)?;
                self.arity(ops, 1..=1)?;
                self.source(ops, 0, ty)?;
                self.emit(Op::Nothing);
            }
            Opcode::Setmaxnreg => return self.registers(words, ops),
            Opcode::Griddepcontrol => {
                // There is no launch before or after this one, so there is nothing to wait for or to start.
                if words.pick(&[(Word::LaunchDependents, ()), (Word::Wait, ())]).is_none() {
                    return Err(self.unsupported("a griddepcontrol that is not .launch_dependents or .wait"));
                }
                self.arity(ops, 0..=0)?;
                self.emit(Op::Nothing);
            }
            _ => return self.fence(opcode, words, ops),
        }
        Ok(())
    }

    /// `alloca`, `stacksave`, `stackrestore`.
    fn stack(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let ty = self.last(words)?;
        let Some([_, top]) = self.code.stack.filter(|_| matches!(ty, Type::U32 | Type::U64)) else {
            return Err(self.unsupported(&format!("type `.{ty}` of this instruction")));
        };
        match opcode {
            Opcode::Alloca => {
                self.arity(ops, 2..=3)?;
                let align = match ops.get(2) {
                    None => 8,
                    Some(&Operand::Int(n)) if (1..=1 << 16).contains(&n) && n & (n - 1) == 0 => n as u64,
                    _ => return Err(self.operand(ops, 2, "an alignment that is a power of two")),
                };
                let bytes = self.source(ops, 1, ty)?;
                let d = self.destination(ops, 0, ty)?;
                self.emit(Op::Alloca(d, bytes, align));
            }
            Opcode::Stacksave => {
                self.arity(ops, 1..=1)?;
                let d = self.destination(ops, 0, ty)?;
                let wide = d.file == File::W64;
                self.lanes(
                    if wide { lanes!(u64: |a: u64| a) } else { lanes!(u32: |a: u64| a as u32) },
                    d,
                    &[top],
                );
            }
            _ => {
                self.arity(ops, 1..=1)?;
                let a = self.source(ops, 0, ty)?;
                let wide = a.file == File::W64;
                self.lanes(
                    if wide { lanes!(u64: |a: u64| a) } else { lanes!(u64: |a: u32| a.into()) },
                    top,
                    &[a],
                );
            }
        }
        Ok(())
    }

    fn branch_table(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if !words.take(Word::Idx) {
            return Err(self.unsupported("a brx that is not .idx"));
        }
        words.take(Word::Uni);
        self.arity(ops, 2..=2)?;
        let index = self.source(ops, 0, Type::U32)?;
        let table = match &ops[1] {
            Operand::Name(name) => match self.scopes.find(name) {
                Some(Named::Label(label)) => self.tables.get(&label).copied(),
                _ => None,
            },
            _ => None,
        };
        let table = table.ok_or_else(|| self.operand(ops, 1, "the label of a `.branchtargets`"))?;
        let mut targets = Vec::with_capacity(table.len());
        for name in table {
            let Some(Named::Label(label)) = self.scopes.find(name) else {
                return Err(self.undeclared(name, "label"));
            };
            targets.push(label);
        }
        self.emit(Op::BranchTable(index, targets));
        Ok(())
    }

    /// `setmaxnreg`.
    fn registers(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let increase = words.pick(&[(Word::Inc, true), (Word::Dec, false)]);
        let aligned = words.take(Word::Sync) && words.take(Word::Aligned) && words.ty() == Some(Type::U32);
        let Some(increase) = increase.filter(|_| aligned) else {
            return Err(self.unsupported("a setmaxnreg that is not .inc or .dec, .sync.aligned.u32"));
        };
        self.arity(ops, 1..=1)?;
        match ops[0] {
            Operand::Int(n) if (24..=256).contains(&n) && n % 8 == 0 => {
                self.emit(Op::Registers { increase, count: n as u32 })
            }
            _ => return Err(self.operand(ops, 0, "a multiple of 8 from 24 to 256")),
        }
        Ok(())
    }

    fn fence(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::Proxy) {
            if words.take(Word::TensormapGeneric) {
                return self.fence_tensormap(words, ops);
            }
            self.arity(ops, 0..=0)?;
            if words.take(Word::AsyncGeneric) {
                return self.fence_restricted(true, words);
            }
            let asynchronous = words.take(Word::Async);
            words.skip(&[Word::Alias]);
            let window = words.pick(WINDOWS);
            if !asynchronous {
                self.emit(Op::Nothing);
                return Ok(());
            }
            let windows: &[Window] = match window {
                None => &[Window::Cluster, Window::Global],
                Some(Window::Cluster) => &[Window::Cluster],
                Some(Window::Cta) => &[Window::Cta],
                Some(Window::Global) => &[Window::Global],
            };
            self.emit(Op::FenceProxy(windows));
            return Ok(());
        }
        self.arity(ops, 0..=0)?;
        if opcode == Opcode::Fence && words.take(Word::MbarrierInit) {
            words.skip(&[Word::Release, Word::Cluster]);
            self.emit(Op::FenceMbarriers);
            return Ok(());
        }
        if opcode == Opcode::Fence
            && [Word::SyncRestrictCta, Word::SyncRestrictCluster].into_iter().any(|word| words.has(word))
        {
            return self.fence_restricted(false, words);
        }
        // `membar` is the same as `fence.sc`.
        let mut sequential = true;
        if opcode == Opcode::Fence {
            sequential = words.take(Word::Sc);
            words.skip(&[Word::AcqRel, Word::Acquire, Word::Release]);
        } else {
            words.skip(&[Word::Gl]);
        }
        let scope = self.scope(words);
        self.emit(Op::Fence { scope, sequential });
        Ok(())
    }

    /// A fence with `.sync_restrict`, of shared memory; here it orders accesses to global memory too. With `proxies` it
    /// also is a fence between the proxies.
    fn fence_restricted(&mut self, proxies: bool, words: &mut Words<'_>) -> Result<(), Error> {
        let acquire = words.pick(&[(Word::Acquire, true), (Word::Release, false)]);
        let window = match acquire {
            Some(true) if words.take(Word::SyncRestrictCluster) => Window::Cluster,
            Some(false) if words.take(Word::SyncRestrictCta) => Window::Cta,
            _ => {
                let what = "a fence that is neither .acquire.sync_restrict::shared::cluster nor \
                            .release.sync_restrict::shared::cta";
                return Err(self.unsupported(what));
            }
        };
        if !words.take(Word::Cluster) {
            return Err(self.unsupported("a fence with .sync_restrict that is not .cluster"));
        }
        self.code.narrow = true;
        if proxies {
            self.emit(Op::FenceProxy(if window == Window::Cta {
                &[Window::Cta]
            } else {
                &[Window::Cluster]
            }));
        }
        self.emit(Op::Fence { scope: Scope::Cluster, sequential: false });
        Ok(())
    }

    /// `barrier`, or `bar`, which is `.aligned`.
    fn barrier(&mut self, bar: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::Warp) {
            if words.take(Word::Sync) {
                self.arity(ops, 1..=1)?;
                let mask = self.source(ops, 0, Type::B32)?;
                self.emit(Op::WarpSync(mask));
            }
            return Ok(());
        }
        if words.take(Word::Cluster) {
            return self.gate(words, ops);
        }
        words.take(Word::Cta);
        if words.take(Word::Red) {
            return self.barrier_vote(bar, words, ops);
        }
        let Some(arrive) = words.pick(&[(Word::Sync, false), (Word::Arrive, true)]) else {
            return Err(self.unsupported("a barrier that is not .sync, .arrive or .red"));
        };
        let aligned = words.take(Word::Aligned) || bar;
        self.arity(ops, if arrive { 2..=2 } else { 1..=2 })?;
        let id = self.source(ops, 0, Type::U32)?;
        let threads = if ops.len() > 1 { Some(self.source(ops, 1, Type::U32)?) } else { None };
        debug_assert_eq!(id.file, File::W32);
        self.emit(Op::Barrier { id, threads, arrive, aligned, vote: None });
        Ok(())
    }

    /// `bar.red`: a barrier whose result depends on the predicates of all threads.
    fn barrier_vote(&mut self, bar: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let counts = [(Word::Popc, Count::Number), (Word::And, Count::All), (Word::Or, Count::Any)];
        let count = words.pick(&counts);
        let count = count.ok_or_else(|| self.unsupported("a bar.red that is not .popc, .and or .or"))?;
        let aligned = words.take(Word::Aligned) || bar;
        let ty = self.last(words)?;
        if ty != if count == Count::Number { Type::U32 } else { Type::Pred } {
            return Err(self.unsupported(&format!("a bar.red of type `.{ty}`")));
        }
        self.arity(ops, 3..=4)?;
        let id = self.source(ops, 1, Type::U32)?;
        let threads = if ops.len() > 3 { Some(self.source(ops, 2, Type::U32)?) } else { None };
        let p = self.source(ops, ops.len() - 1, Type::Pred)?;
        let d = self.destination(ops, 0, ty)?;
        self.emit(Op::Barrier { id, threads, arrive: false, aligned, vote: Some((count, d, p)) });
        Ok(())
    }
}
