//! `atom`, `red`, `fence`: atomic operations of lanes, and fences.

use std::sync::atomic::{self, Ordering::SeqCst};

use crate::Nearest;
use crate::error::Awaited;
use crate::lanes::{Reg, lanes_of};
use crate::op::{Atomic, AtomicWide};
use crate::shadow::{Kind, Order, Scope, Touch, Who, Window};
use crate::space::resolve;
use crate::{Access, Error, Space};

use super::access::{count_touched, from_bytes, touch};
use super::bounds::{aligned, global_at, has_value, misaligned, shared_place};
use super::context::Context;
use super::warp::Warp;

impl Warp {
    /// Updates memory lane by lane, in an order that the ISA leaves open.
    pub(super) fn atomic(
        &mut self,
        cx: &mut Context<'_>,
        atomic: &Atomic,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        let total = atomic.bytes * atomic.b.len() as u32;
        if cx.machine.options.counts {
            self.count(&mut cx.report, atomic.space, &atomic.address, total, mask);
        }
        let mut touched = 0;
        for lane in lanes_of(mask) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(atomic.space, self.address(&atomic.address, lane));
            touched |= touch(space);
            if atomic.space == Space::Generic && atomic.b.len() > 1 && space == Space::Cluster {
                cx.note(Error::VectorInShared { at: cx.at(who), address })?;
                continue;
            }
            if !aligned(address, total) {
                return Err(misaligned(cx, who, Access::Write, space, address, total));
            }
            self.check_within(cx, &atomic.address, (who, Access::Write, space, address), total)?;
            let c = atomic.c.map_or(0, |reg| self.regs.get(reg, lane));
            for (i, (&b, &d)) in atomic.b.iter().zip(&atomic.d).enumerate() {
                let address = address.wrapping_add(i as u64 * u64::from(atomic.bytes));
                let b = self.regs.get(b, lane);
                let old = update(cx, atomic, who, space, address, (b, c))?;
                // An attempt that changes nothing (such as a failing compare-and-swap) is nothing that others could
                // wait for.
                let keep = u64::MAX >> (64 - 8 * atomic.bytes);
                let changes = ((atomic.update)(old, b, c) ^ old) & keep != 0;
                if changes {
                    cx.changes += 1;
                    cx.wrote(address, old & keep, (atomic.update)(old, b, c) & keep);
                } else {
                    cx.looks += 1;
                    self.look = Some((cx.steps, who, Awaited::Value { space, address, value: old & keep }));
                }
                if let Some(d) = d {
                    self.regs.set(d, lane, old);
                }
            }
        }
        count_touched(cx, touched);
        Ok(())
    }

    /// `atom` of 16 bytes.
    pub(super) fn atomic_wide(
        &mut self,
        cx: &mut Context<'_>,
        atomic: &AtomicWide,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        if cx.machine.options.counts {
            self.count(&mut cx.report, atomic.space, &atomic.address, 16, mask);
        }
        let mut touched = 0;
        for lane in lanes_of(mask) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(atomic.space, self.address(&atomic.address, lane));
            touched |= touch(space);
            if !address.is_multiple_of(16) {
                return Err(misaligned(cx, who, Access::Write, space, address, 16));
            }
            self.check_within(cx, &atomic.address, (who, Access::Write, space, address), 16)?;
            let value = |regs: [Reg; 2]| regs.map(|reg| self.regs.get(reg, lane));
            let (b, c) = (value(atomic.b), atomic.c.map(value));
            let new = |old: [u64; 2]| match c {
                None => b,
                Some(c) if old == b => c,
                Some(_) => old,
            };
            let old = exchange(cx, who, (space, address), atomic.order, &new)?;
            if new(old) == old {
                cx.looks += 1;
                self.look = Some((cx.steps, who, Awaited::Value { space, address, value: old[0] }));
            } else {
                cx.changes += 1;
                for (half, (before, after)) in old.into_iter().zip(new(old)).enumerate() {
                    cx.wrote(address + 8 * half as u64, before, after);
                }
            }
            for (reg, half) in atomic.d.into_iter().zip(old) {
                self.regs.set(reg, lane, half);
            }
        }
        count_touched(cx, touched);
        Ok(())
    }

    pub(super) fn fence(&self, cx: &mut Context<'_>, mask: u32, scope: Scope, sequential: bool) {
        atomic::fence(SeqCst);
        if let Some(shadow) = &mut cx.shadow {
            shadow.fence(self.index as usize, mask, scope, sequential);
        }
    }

    /// `fence.proxy.async`, of these windows.
    pub(super) fn fence_proxy(&self, cx: &mut Context<'_>, mask: u32, windows: &[Window]) {
        if let Some(shadow) = &mut cx.shadow {
            shadow.fence_proxy(self.index as usize, mask, windows);
        }
    }

    /// `fence.mbarrier_init`: a fence in the scope of the cluster, after which all proxies know the mbarriers that
    /// these lanes have initialised.
    pub(super) fn fence_mbarriers(&self, cx: &mut Context<'_>, mask: u32) {
        self.fence(cx, mask, Scope::Cluster, false);
        if let Some(shadow) = &mut cx.shadow {
            shadow.fence_mbarriers(self.index as usize, mask);
        }
    }
}

/// Updates 16 bytes and returns the old ones. The two halves of global memory need no lock, as a kernel with such an
/// atomic runs its clusters on one worker.
fn exchange(
    cx: &mut Context<'_>,
    who: Who,
    (space, address): (Space, u64),
    order: Order,
    new: &dyn Fn([u64; 2]) -> [u64; 2],
) -> Result<[u64; 2], Error> {
    let touch = Touch::Strong(Kind::Update, order);
    match space {
        Space::Shared | Space::Cluster => {
            let at = shared_place(cx, who, Access::Write, (space, address), 16)?;
            if let Some(shadow) = &mut cx.shadow {
                let found = shadow.strong(who, at, 16, Kind::Update, order);
                cx.checked(who, Access::Write, at, 16, found)?;
            }
            let halves = [at, at + 8];
            let old = halves.map(|at| from_bytes(&cx.shared[at..at + 8]) as u64);
            for (at, value) in halves.into_iter().zip(new(old)) {
                cx.shared[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            Ok(old)
        }
        Space::Global | Space::Generic => {
            let offset = global_at(cx, who, Access::Write, address, 16)?;
            has_value(cx, who, address, offset, 16)?;
            cx.check_global(who, (address, 16), touch, None)?;
            let allocation = &cx.machine.view.allocations[cx.last];
            let old = [offset, offset + 8].map(|at| allocation.update(at, 8, |old| old));
            for (at, value) in [offset, offset + 8].into_iter().zip(new(old)) {
                allocation.update(at, 8, |_| value);
            }
            cx.learn_global(who, (address, 16), touch);
            Ok(old)
        }
        Space::Param | Space::Local => {
            let (at, access, nearest) = (cx.at(who), Access::Write, Nearest::None);
            Err(Error::OutOfBounds { at, access, space, address, bytes: 16, nearest })
        }
    }
}

/// Updates one element; returns its old value.
fn update(
    cx: &mut Context<'_>,
    atomic: &Atomic,
    who: Who,
    space: Space,
    address: u64,
    (b, c): (u64, u64),
) -> Result<u64, Error> {
    let bytes = atomic.bytes;
    match space {
        Space::Shared | Space::Cluster => {
            let at = shared_place(cx, who, Access::Write, (space, address), bytes)?;
            if let Some(shadow) = &mut cx.shadow {
                let found = shadow.strong(who, at, bytes as usize, Kind::Update, atomic.order);
                cx.checked(who, Access::Write, at, bytes as usize, found)?;
            }
            let place = &mut cx.shared[at..at + bytes as usize];
            let mut word = [0; 8];
            word[..place.len()].copy_from_slice(place);
            let old = u64::from_le_bytes(word);
            place.copy_from_slice(&(atomic.update)(old, b, c).to_le_bytes()[..bytes as usize]);
            Ok(old)
        }
        Space::Global | Space::Generic => {
            let offset = global_at(cx, who, Access::Write, address, bytes.into())?;
            has_value(cx, who, address, offset, bytes.into())?;
            let touch = Touch::Strong(Kind::Update, atomic.order);
            cx.check_global(who, (address, bytes.into()), touch, None)?;
            let allocation = &cx.machine.view.allocations[cx.last];
            let old = allocation.update(offset, bytes, |old| (atomic.global)(old, b, c));
            cx.learn_global(who, (address, bytes.into()), touch);
            Ok(old)
        }
        Space::Param | Space::Local => {
            let (at, access, nearest) = (cx.at(who), Access::Write, Nearest::None);
            Err(Error::OutOfBounds { at, access, space, address, bytes, nearest })
        }
    }
}
