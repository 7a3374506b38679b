//! `ld`, `st`, `cp.async`, `cvta`: instructions whose operands are addresses.

use girih_ptx::{self as ptx, Opcode, Operand, Type, Word};

use super::scope::{From, Named};
use super::words::Words;
use super::{Decoder, File};
use crate::lanes::{Reg, lanes};
use crate::op::{Address, Copy, Op, Transfer};
use crate::shadow::{Manner, Order, Scope};
use crate::space::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::{Error, Space};

/// The scopes. As all threads are of one launch, and so of one device, `.sys` is the same as `.gpu`.
pub(super) const SCOPES: &[(Word, Scope)] = &[
    (Word::Cta, Scope::Cta),
    (Word::Cluster, Scope::Cluster),
    (Word::Gpu, Scope::Gpu),
    (Word::Sys, Scope::Gpu),
];

/// The manner of the orders below; the scope and the size of an element are set for each instruction.
const MANNER: Manner = Manner { scope: Scope::Gpu, bytes: 0, bulk: false, volatile: false };
const RELAXED: Order = Order { acquire: false, release: false, manner: MANNER };
const VOLATILE: Order = Order { manner: Manner { volatile: true, ..MANNER }, ..RELAXED };
const ACQUIRE: Order = Order { acquire: true, ..RELAXED };
const RELEASE: Order = Order { release: true, ..RELAXED };

/// The orders of loads and stores.
const ORDERS: &[(Word, Option<Order>)] = &[
    (Word::Weak, None),
    (Word::Volatile, Some(VOLATILE)),
    (Word::Relaxed, Some(RELAXED)),
    (Word::Acquire, Some(ACQUIRE)),
    (Word::Release, Some(RELEASE)),
];

/// The orders of atomics.
pub(super) const ATOMIC_ORDERS: &[(Word, Order)] = &[
    (Word::Relaxed, RELAXED),
    (Word::Acquire, ACQUIRE),
    (Word::Release, RELEASE),
    (Word::AcqRel, Order { acquire: true, ..RELEASE }),
];

/// Cache operators and hints, which do not change any result.
const CACHES: &[Word] = &[
    Word::Ca,
    Word::Cg,
    Word::Cs,
    Word::Lu,
    Word::Cv,
    Word::Wb,
    Word::Wt,
    Word::L1NoAllocate,
    Word::L1EvictFirst,
    Word::L1EvictLast,
    Word::L1EvictNormal,
    Word::L1EvictUnchanged,
    Word::L2EvictFirst,
    Word::L2EvictLast,
    Word::L2EvictNormal,
    Word::L2Prefetch64,
    Word::L2Prefetch128,
    Word::L2Prefetch256,
];

/// The spaces in which `wmma` matrices and tensor maps may be.
pub(super) const SHARED_OR_GLOBAL: &[(Word, Space)] =
    &[(Word::Global, Space::Global), (Word::Shared, Space::Shared), (Word::SharedCta, Space::Shared)];

const SPACES: &[(Word, Space)] = &[
    (Word::Param, Space::Param),
    (Word::ParamEntry, Space::Param),
    (Word::ParamFunc, Space::Param),
    (Word::Shared, Space::Shared),
    (Word::SharedCta, Space::Shared),
    (Word::SharedCluster, Space::Cluster),
    (Word::Global, Space::Global),
    // Constant memory is treated as a part of global memory, which programs do not write.
    (Word::Const, Space::Global),
    (Word::Local, Space::Local),
];

impl Decoder<'_> {
    pub(super) fn memory(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Ld => self.transfer(words, ops, true),
            Opcode::St if words.take(Word::Async) => self.store_async(false, words, ops),
            Opcode::St => self.transfer(words, ops, false),
            Opcode::Cp => self.copy(words, ops),
            Opcode::Cvta => self.cvta(words, ops),
            Opcode::Createpolicy => self.policy(words, ops),
            _ => self.cache(opcode, words, ops),
        }
    }

    /// `createpolicy`: a policy is only used as a hint, so that its value does not matter.
    fn policy(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let kinds = [(Word::Fractional, 1..=2), (Word::Range, 4..=4), (Word::Cvt, 2..=2)];
        let Some((_, arity)) = kinds.into_iter().find(|(word, _)| words.take(*word)) else {
            return Err(self.unsupported("a createpolicy that is not .fractional, .range or .cvt"));
        };
        words.skip(&[Word::Global, Word::L2]);
        words.skip(&[Word::L2EvictLast, Word::L2EvictNormal, Word::L2EvictFirst, Word::L2EvictUnchanged]);
        if words.ty() != Some(Type::B64) {
            return Err(self.unsupported("a createpolicy of another type than .b64"));
        }
        self.arity(ops, arity)?;
        let d = self.destination(ops, 0, Type::B64)?;
        let nothing = self.constant(File::W64, 0);
        self.lanes(lanes!(u64: |a: u64| a), d, &[nothing]);
        Ok(())
    }

    /// `prefetch`, `prefetchu`, `discard`, `applypriority`: hints, which have no effect here.
    fn cache(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        words.skip(&[Word::Param, Word::Const, Word::Tensormap]);
        words.skip(&[Word::Global, Word::Local, Word::L1, Word::L2, Word::L2EvictLast, Word::L2EvictNormal]);
        let sized = matches!(opcode, Opcode::Discard | Opcode::Applypriority);
        self.arity(ops, if sized { 2..=2 } else { 1..=1 })?;
        if sized && ops[1] != Operand::Int(128) {
            return Err(self.operand(ops, 1, "128"));
        }
        self.address(ops, 0)?;
        self.emit(Op::Nothing);
        Ok(())
    }

    fn transfer(&mut self, words: &mut Words<'_>, ops: &[Operand], load: bool) -> Result<(), Error> {
        let mmio = words.take(Word::Mmio);
        let strong = words.pick(ORDERS).flatten();
        if mmio && strong != Some(RELAXED) {
            return Err(self.unsupported("an access that is .mmio but not .relaxed"));
        }
        if strong == Some(if load { RELEASE } else { ACQUIRE }) {
            return Err(self.unsupported("a load with .release or a store with .acquire"));
        }
        let scope = self.scope(words);
        if !load && words.take(Word::Const) {
            return Err(self.unsupported("a store to constant memory"));
        }
        let space = words.pick(SPACES).unwrap_or(Space::Generic);
        words.skip(CACHES);
        let constant = load && words.take(Word::Nc);
        words.skip(CACHES);
        let hint = words.take(Word::L2CacheHint);
        words.skip(CACHES);
        if words.has(Word::V8) || words.has(Word::V4) && words.last_type().and_then(Type::bytes) == Some(8) {
            return Err(self.unsupported("an access of 32 bytes, which needs sm_100; 16 are the most before"));
        }
        let count = words.pick(&[(Word::V2, 2), (Word::V4, 4)]).unwrap_or(1);
        let ty = words.ty().ok_or_else(|| self.unsupported("this modifier; a vector or type must follow"))?;
        // One element of 16 bytes has two registers of 8 bytes.
        let (ty, count, wide) =
            if ty == Type::B128 && count == 1 { (Type::B64, 2, true) } else { (ty, count, false) };
        let bytes = ty.bytes().filter(|&b| b <= 8 && b * count <= 16);
        let bytes = bytes.ok_or_else(|| {
            self.unsupported("an access of over 16 bytes, or of elements without a size or over 8 bytes")
        })?;
        self.arity(ops, 2..=2 + usize::from(hint))?;
        let (data, place) = if load { (0, 1) } else { (1, 0) };
        let argument = space == Space::Param && self.is_local(&ops[place]);
        let space = if argument { Space::Local } else { space };
        let mut regs = [None; 4];
        match &ops[data] {
            _ if wide => {
                let halves = match load {
                    true => self.destination_halves(ops, data)?,
                    false => self.source_halves(ops, data)?,
                };
                regs[..2].copy_from_slice(&halves.map(Some));
            }
            Operand::Vector(elements) if elements.len() == count as usize => {
                for (i, reg) in regs.iter_mut().take(elements.len()).enumerate() {
                    *reg = self.element(elements, i, ty, load)?;
                }
            }
            Operand::Vector(_) => return Err(self.operand(ops, data, &format!("a vector of {count}"))),
            _ if count > 1 => return Err(self.operand(ops, data, &format!("a vector of {count}"))),
            _ => regs[0] = self.element(ops, data, ty, load)?,
        }
        if !load && space == Space::Param {
            return Err(self.operand(ops, 0, "an argument of a call: a kernel's parameters are not written"));
        }
        let address = self.address(ops, place)?;
        self.touches(space, bytes * count);
        self.code.communicates |= strong.is_some() && matches!(space, Space::Global | Space::Generic);
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
        let strong = strong
            .map(|order| Order { manner: Manner { scope, bytes: bytes as u8, ..order.manner }, ..order });
        let waits = false;
        let transfer =
            Box::new(Transfer { space, address, bytes, count, signed, regs, strong, constant, waits });
        self.emit(if load { Op::Load(transfer) } else { Op::Store(transfer) });
        Ok(())
    }

    /// The scope that the modifiers name, or the widest if they name none.
    pub(super) fn scope(&mut self, words: &mut Words<'_>) -> Scope {
        let scope = words.pick(SCOPES).unwrap_or_default();
        self.code.narrow |= scope != Scope::Gpu;
        scope
    }

    /// Whether an address operand names a variable in local memory, as the arguments of calls do.
    fn is_local(&self, operand: &Operand) -> bool {
        let Operand::Address(ptx::Address { base: Some(name), .. }) = operand else { return false };
        self.local_place(name).is_some()
    }

    /// The place and the bytes of a variable in local memory.
    pub(super) fn local_place(&self, name: &str) -> Option<(Address, u64)> {
        let (base, at, bytes) = match self.scopes.find(name)? {
            Named::Local(at, bytes) => (None, at, bytes),
            Named::Stack(at, bytes) => (self.code.stack.map(|[frame, _]| frame), at, bytes),
            _ => return None,
        };
        Some((Address { base, offset: at as i64, within: 0 }, bytes))
    }

    /// A register of a load or store, which may be wider than the type.
    fn element(&mut self, ops: &[Operand], index: usize, ty: Type, load: bool) -> Result<Option<Reg>, Error> {
        match &ops[index] {
            Operand::Sink if load => Ok(None),
            Operand::Name(name) => match self.any_register(name)? {
                Some(reg) if reg.file != File::Pred && (reg.file == File::W64 || ty.bytes() <= Some(4)) => {
                    if load {
                        self.writes.push(reg)
                    } else {
                        self.reads.push(reg)
                    }
                    Ok(Some(reg))
                }
                None if !load => self.source(ops, index, ty).map(Some),
                _ => Err(self.operand(ops, index, &format!("a register of at least the size of .{ty}"))),
            },
            _ if !load => self.source(ops, index, ty).map(Some),
            _ => Err(self.operand(ops, index, &format!("a register of at least the size of .{ty}"))),
        }
    }

    /// Makes the shadow's cells of shared memory no wider than this access.
    pub(super) fn touches(&mut self, space: Space, bytes: u32) {
        if matches!(space, Space::Shared | Space::Cluster | Space::Generic) {
            self.code.granule = self.code.granule.min(bytes.ilog2());
        }
    }

    pub(super) fn address(&mut self, ops: &[Operand], index: usize) -> Result<Address, Error> {
        let Some(Operand::Address(ptx::Address { base, offset, coordinates })) = ops.get(index) else {
            return Err(self.operand(ops, index, "an address `[base+offset]`"));
        };
        if !coordinates.is_empty() {
            return Err(self.operand(ops, index, "an address without coordinates"));
        }
        let Some(base) = base else { return Ok(Address { base: None, offset: *offset, within: 0 }) };
        match self.any_register(base)? {
            Some(reg) if reg.file != File::Pred => {
                self.reads.push(reg);
                Ok(Address { base: Some(reg), offset: *offset, within: 0 })
            }
            Some(_) => Err(self.operand(ops, index, "an address in a 32- or 64-bit register")),
            None => {
                let placed = self.address_of(base)?;
                let at = (placed.at as i64).wrapping_add(*offset);
                let within = placed.variable;
                Ok(match (placed.from, self.code.stack) {
                    (From::Shared, _) => {
                        Address { base: Some(self.placed(File::W32, placed, 0)), offset: *offset, within }
                    }
                    (From::Frame, Some([frame, _])) => Address { base: Some(frame), offset: at, within },
                    _ => Address { base: None, offset: at, within },
                })
            }
        }
    }

    fn copy(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let reduce = words.take(Word::Reduce);
        if !words.take(Word::Async) {
            return Ok(());
        }
        if words.take(Word::Bulk) {
            return self.bulk(reduce, words, ops);
        }
        if words.take(Word::Mbarrier) {
            return self.copy_arrive(words, ops);
        }
        if words.take(Word::CommitGroup) {
            self.arity(ops, 0..=0)?;
            self.emit(Op::CopyCommit);
            return Ok(());
        }
        if words.take(Word::WaitAll) {
            self.arity(ops, 0..=0)?;
            self.emit(Op::CopyWait(None));
            return Ok(());
        }
        if words.take(Word::WaitGroup) {
            self.arity(ops, 1..=1)?;
            let pending = if let Operand::Int(n) = ops[0] { u32::try_from(n).ok() } else { None };
            let pending = pending.ok_or_else(|| self.operand(ops, 0, "a number of groups"))?;
            self.emit(Op::CopyWait(Some(pending)));
            return Ok(());
        }
        let Some(cg) = words.pick(&[(Word::Ca, false), (Word::Cg, true)]) else { return Ok(()) };
        if words.pick(&[(Word::Shared, ()), (Word::SharedCta, ())]).is_none() || !words.take(Word::Global) {
            return Ok(());
        }
        let hint = words.take(Word::L2CacheHint);
        words.skip(&[Word::L2Prefetch64, Word::L2Prefetch128, Word::L2Prefetch256]);
        let most = 4 + usize::from(hint);
        self.arity(ops, 3..=most)?;
        let sizes: &[i64] = if cg { &[16] } else { &[4, 8, 16] };
        let bytes = match ops[2] {
            Operand::Int(n) if sizes.contains(&n) => n as u32,
            _ => return Err(self.operand(ops, 2, if cg { "16" } else { "4, 8 or 16" })),
        };
        let (mut source, mut ignore) = (None, None);
        if ops.len() > 3 && !(hint && ops.len() == 4) {
            let predicate = match &ops[3] {
                Operand::Name(name) => self.any_register(name)?.is_some_and(|reg| reg.file == File::Pred),
                operand => matches!(operand, Operand::Not(_)),
            };
            if predicate {
                ignore = Some(self.source(ops, 3, Type::Pred)?);
            } else {
                source = Some(self.source(ops, 3, Type::U32)?);
            }
        }
        let (to, from) = (self.address(ops, 0)?, self.address(ops, 1)?);
        self.touches(Space::Shared, bytes);
        self.emit(Op::Copy(Box::new(Copy { to, from, bytes, source, ignore })));
        Ok(())
    }

    /// The register with the generic address of the thread's local memory.
    fn local_window(&mut self) -> Reg {
        if let Some(reg) = self.code.local_window {
            return reg;
        }
        let reg = self.temporary(File::W64);
        self.code.local_window = Some(reg);
        reg
    }

    fn cvta(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let to = words.take(Word::To);
        let windows = [
            (Word::Global, 0),
            (Word::Const, 0),
            (Word::Shared, SHARED_WINDOW),
            (Word::SharedCta, SHARED_WINDOW),
            (Word::SharedCluster, SHARED_WINDOW),
            (Word::Local, LOCAL_WINDOW),
            (Word::Param, PARAM_WINDOW),
            (Word::ParamEntry, PARAM_WINDOW),
        ];
        let window = words.pick(&windows).ok_or_else(|| self.unsupported("a cvta of this state space"))?;
        if words.ty() != Some(Type::U64) {
            return Err(self.unsupported("a cvta of another type than .u64"));
        }
        self.arity(ops, 2..=2)?;
        let a = self.source(ops, 1, Type::U64)?;
        let d = self.destination(ops, 0, Type::U64)?;
        // The local memory of each thread has generic addresses of its own.
        let window = match window {
            LOCAL_WINDOW => self.local_window(),
            window => self.constant(File::W64, window),
        };
        let run = match to {
            true => lanes!(u64: |a: u64, b: u64| a.wrapping_sub(b)),
            false => lanes!(u64: |a: u64, b: u64| a.wrapping_add(b)),
        };
        self.lanes(run, d, &[a, window]);
        Ok(())
    }
}
