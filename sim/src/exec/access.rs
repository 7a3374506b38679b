//! `ld`, `st`: the lanes' accesses to parameters, shared, global and local memory.

use std::sync::atomic::{self, Ordering::SeqCst};

use crate::error::Awaited;
use crate::lanes::{File, Reg, WARP, lanes_of};
use crate::op::{Address, Transfer};
use crate::shadow::{Kind, Order, Touch, Who};
use crate::space::resolve;
use crate::{Access, Error, Nearest, Space};

use super::bounds::{aligned, global_at, inside, misaligned, place_of, shared_place};
use super::context::Context;
use super::warp::Warp;

/// Up to 16 little-endian bytes.
#[inline]
pub(super) fn from_bytes(bytes: &[u8]) -> u128 {
    match *bytes {
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]).into(),
        _ => {
            let mut all = [0; 16];
            if let Some(to) = all.get_mut(..bytes.len()) {
                to.copy_from_slice(bytes);
            }
            u128::from_le_bytes(all)
        }
    }
}

/// The low bytes of a value, extended to 64 bits by the sign or by zeros.
#[inline]
pub(super) fn extended(value: u64, bytes: u32, signed: bool) -> u64 {
    let unused = 64 - bytes * 8;
    let value = value << unused;
    if signed { ((value as i64) >> unused) as u64 } else { value >> unused }
}

impl Warp {
    /// A lane's address.
    #[inline]
    pub(super) fn address(&self, address: &Address, lane: usize) -> u64 {
        let base = address.base.map_or(0, |reg| self.regs.get(reg, lane));
        base.wrapping_add_signed(address.offset)
    }

    /// The addresses of all lanes.
    #[inline]
    pub(super) fn addresses(&self, address: &Address) -> [u64; WARP] {
        let mut addresses = match address.base {
            Some(Reg { file: File::W64, slot }) => self.regs.w64[slot as usize],
            Some(Reg { file: File::W32, slot }) => self.regs.w32[slot as usize].map(u64::from),
            _ => [0; WARP],
        };
        addresses.iter_mut().for_each(|at| *at = at.wrapping_add_signed(address.offset));
        addresses
    }

    pub(super) fn load(
        &mut self,
        cx: &mut Context<'_>,
        transfer: &Transfer,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        let Transfer { bytes, count, signed, .. } = *transfer;
        let total = bytes * count;
        if cx.machine.options.counts {
            self.count(&mut cx.report, transfer.space, &transfer.address, total, mask);
        }
        let (served, space) = self.load_together(cx, transfer, mask, source);
        let mut touched = if served == 0 { 0 } else { touch(space) };
        let touches = match transfer.strong {
            Some(order) => Touch::Strong(Kind::Read, order),
            None if transfer.constant => Touch::Constant,
            None => Touch::Read,
        };
        for lane in lanes_of(mask & !served) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(transfer.space, self.address(&transfer.address, lane));
            touched |= touch(space);
            if !aligned(address, total) {
                return Err(misaligned(cx, who, Access::Read, space, address, total));
            }
            self.check_within(cx, &transfer.address, (who, Access::Read, space, address), total)?;
            let (mut value, missing) = self.read_any(cx, who, (space, address), total, touches)?;
            if missing != 0 {
                self.load_undefined(cx, transfer, (who, space, address), missing);
            }
            if transfer.strong.is_some() || transfer.waits {
                self.look = Some((cx.steps, who, Awaited::Value { space, address, value: value as u64 }));
            }
            for reg in &transfer.regs[..count as usize] {
                if let Some(reg) = reg {
                    self.regs.set(*reg, lane, extended(value as u64, bytes, signed));
                }
                value = value.checked_shr(bytes * 8).unwrap_or(0);
            }
        }
        cx.looks += u64::from(transfer.strong.is_some() || transfer.waits);
        if transfer.strong.is_some_and(|order| order.acquire) {
            atomic::fence(SeqCst);
        }
        count_touched(cx, touched);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        cx: &mut Context<'_>,
        transfer: &Transfer,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        let Transfer { bytes, count, .. } = *transfer;
        let total = bytes * count;
        let keep = u64::MAX >> (64 - bytes * 8);
        if cx.machine.options.counts {
            self.count(&mut cx.report, transfer.space, &transfer.address, total, mask);
        }
        if transfer.strong.is_some_and(|order| order.release) {
            atomic::fence(SeqCst);
        }
        let updates = &cx.machine.kernel.code.sources[source as usize].updates;
        if !updates.is_empty() && cx.machine.options.races {
            cx.use_loaded(self.index, mask, updates)?;
        }
        let data = transfer.regs.iter().flatten();
        let passes = data.fold(0, |lanes, &reg| lanes | self.undefined_lanes(reg)) & mask != 0;
        let together = if passes { 0 } else { mask };
        let (served, space) = self.store_together(cx, transfer, together, source);
        let mut touched = if served == 0 { 0 } else { touch(space) };
        for lane in lanes_of(mask & !served) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(transfer.space, self.address(&transfer.address, lane));
            touched |= touch(space);
            if !aligned(address, total) {
                return Err(misaligned(cx, who, Access::Write, space, address, total));
            }
            self.check_within(cx, &transfer.address, (who, Access::Write, space, address), total)?;
            let mut value = 0u128;
            for (i, reg) in transfer.regs[..count as usize].iter().enumerate() {
                let element = reg.map_or(0, |reg| self.regs.get(reg, lane)) & keep;
                value |= u128::from(element) << (i as u32 * bytes * 8);
            }
            let data = value.to_le_bytes();
            let data = &data[..total as usize];
            let undefined =
                if passes { self.stored_undefined(cx, transfer, (who, space, address))? } else { None };
            self.write(cx, who, (space, address), data, transfer.strong)?;
            if let Some((missing, origin)) = undefined {
                self.store_undefined(cx, (who, space, address), missing, origin)?;
            }
        }
        count_touched(cx, touched);
        Ok(())
    }

    /// Reads up to 16 bytes from an aligned address in any space but generic. Uninitialised bytes are a finding.
    pub(super) fn read(
        &self,
        cx: &mut Context<'_>,
        who: Who,
        (space, address): (Space, u64),
        bytes: u32,
        touch: Touch,
    ) -> Result<u128, Error> {
        match self.read_any(cx, who, (space, address), bytes, touch)? {
            (value, 0) => Ok(value),
            (value, _) => {
                cx.note(Error::UninitialisedMemory { at: cx.at(who), space, address, bytes, used: None })?;
                Ok(value)
            }
        }
    }

    /// As [`Warp::read`], but returns a mask of the uninitialised bytes, one bit a byte.
    #[inline]
    pub(super) fn read_any(
        &self,
        cx: &mut Context<'_>,
        who: Who,
        (space, address): (Space, u64),
        bytes: u32,
        touch: Touch,
    ) -> Result<(u128, u16), Error> {
        match space {
            Space::Shared | Space::Cluster => read_shared(cx, who, (space, address), bytes, touch),
            Space::Global | Space::Generic => {
                let mut out = [0; 16];
                let missing = touch_global(cx, who, address, &mut out[..bytes as usize], touch)?;
                cx.learn_global(who, (address, bytes.into()), touch);
                Ok((u128::from_le_bytes(out), missing))
            }
            Space::Param => {
                let at = inside(cx, who, Access::Read, space, address, bytes, cx.machine.params.len())?;
                Ok((from_bytes(&cx.machine.params[at..at + bytes as usize]), 0))
            }
            Space::Local => self.read_local(cx, who, address, bytes),
        }
    }

    /// Writes up to 16 bytes to an aligned address in any space but generic.
    #[inline]
    pub(super) fn write(
        &mut self,
        cx: &mut Context<'_>,
        who: Who,
        (space, address): (Space, u64),
        data: &[u8],
        strong: Option<Order>,
    ) -> Result<(), Error> {
        let bytes = data.len() as u32;
        match space {
            Space::Shared | Space::Cluster => {
                let at = shared_place(cx, who, Access::Write, (space, address), bytes)?;
                let same = cx.shared[at..at + data.len()] == *data;
                cx.changes += u64::from(!same);
                if let Some(shadow) = &mut cx.shadow {
                    let found = match strong {
                        None => shadow.write(who, at, data.len(), same),
                        Some(order) => shadow.strong(who, at, data.len(), Kind::Write, order),
                    };
                    cx.checked(who, Access::Write, at, data.len(), found)?;
                }
                cx.shared[at..at + data.len()].copy_from_slice(data);
                Ok(())
            }
            Space::Global | Space::Generic => {
                cx.changes += 1;
                write_global(cx, who, address, data, strong)
            }
            Space::Param => {
                let (at, access, nearest) = (cx.at(who), Access::Write, Nearest::None);
                Err(Error::OutOfBounds { at, access, space, address, bytes, nearest })
            }
            Space::Local => self.write_local(cx, who, address, data),
        }
    }

    fn read_local(&self, cx: &Context<'_>, who: Who, address: u64, bytes: u32) -> Result<(u128, u16), Error> {
        let range = self.local_at(cx, who, Access::Read, address, bytes)?;
        let written = self.local_written.get(range.clone()).unwrap_or_default();
        let missing =
            written.iter().enumerate().fold(0, |missing, (i, written)| missing | u16::from(!written) << i);
        Ok((from_bytes(&self.local[range]), missing))
    }

    fn write_local(&mut self, cx: &Context<'_>, who: Who, address: u64, data: &[u8]) -> Result<(), Error> {
        let range = self.local_at(cx, who, Access::Write, address, data.len() as u32)?;
        if let Some(written) = self.local_written.get_mut(range.clone()) {
            written.fill(true);
        }
        self.local[range].copy_from_slice(data);
        Ok(())
    }
}

#[inline]
fn read_shared(
    cx: &mut Context<'_>,
    who: Who,
    (space, address): (Space, u64),
    bytes: u32,
    touch: Touch,
) -> Result<(u128, u16), Error> {
    let at = shared_place(cx, who, Access::Read, (space, address), bytes)?;
    let mut missing = 0;
    if let Some(shadow) = &mut cx.shadow {
        let found = match touch {
            Touch::Strong(kind, order) => shadow.strong(who, at, bytes as usize, kind, order),
            _ => shadow.read(who, at, bytes as usize),
        };
        cx.checked(who, Access::Read, at, bytes as usize, found)?;
        if !matches!(touch, Touch::Strong(Kind::Write | Kind::Update, _)) {
            missing = cx.shadow.as_ref().map_or(0, |shadow| shadow.missing(at, bytes as usize));
        }
    }
    Ok((from_bytes(&cx.shared[at..at + bytes as usize]), missing))
}

/// Reads up to 16 bytes of global memory by a weak access. Returns a mask of the uninitialised bytes, one bit a byte.
pub(super) fn read_global(
    cx: &mut Context<'_>,
    who: Who,
    address: u64,
    out: &mut [u8],
) -> Result<u16, Error> {
    touch_global(cx, who, address, out, Touch::Read)
}

#[inline]
fn touch_global(
    cx: &mut Context<'_>,
    who: Who,
    address: u64,
    out: &mut [u8],
    touch: Touch,
) -> Result<u16, Error> {
    let offset = place_of(cx, who, Access::Read, address, out.len() as u64)?;
    cx.check_global(who, (address, out.len() as u64), touch, None)?;
    cx.machine.view.allocations[cx.last].read(offset, out);
    Ok(missing(cx, offset, out.len()))
}

/// The mask of the uninitialised bytes among up to 16 bytes of the allocation `cx.last`, one bit a byte. It is 0 if that is not checked.
pub(super) fn missing(cx: &Context<'_>, offset: usize, bytes: usize) -> u16 {
    match cx.machine.options.uninitialised {
        true => cx.machine.view.allocations[cx.last].missing(offset, bytes),
        false => 0,
    }
}

#[inline]
fn write_global(
    cx: &mut Context<'_>,
    who: Who,
    address: u64,
    data: &[u8],
    strong: Option<Order>,
) -> Result<(), Error> {
    let offset = global_at(cx, who, Access::Write, address, data.len() as u64)?;
    let word = |bytes: &[u8]| from_bytes(bytes) as u64;
    match strong {
        Some(_) if data.len() <= 8 => {
            let mut there = [0; 8];
            cx.machine.view.allocations[cx.last].read(offset, &mut there[..data.len()]);
            cx.wrote(address, word(&there[..data.len()]), word(data));
        }
        _ => cx.wrote_anew(),
    }
    if cx.machine.global.is_some() {
        let touch = strong.map_or_else(
            || {
                let mut there = [0; 16];
                cx.machine.view.allocations[cx.last].read(offset, &mut there[..data.len()]);
                Touch::Write { same: there[..data.len()] == *data }
            },
            |order| Touch::Strong(Kind::Write, order),
        );
        cx.check_global(who, (address, data.len() as u64), touch, None)?;
    }
    cx.machine.view.allocations[cx.last].write(offset, data);
    Ok(())
}

const GLOBAL: u8 = 1;
const SHARED: u8 = 2;

pub(super) fn touch(space: Space) -> u8 {
    match space {
        Space::Global | Space::Generic => GLOBAL,
        Space::Shared | Space::Cluster => SHARED,
        Space::Param | Space::Local => 0,
    }
}

pub(super) fn count_touched(cx: &mut Context<'_>, touched: u8) {
    cx.report.global += u64::from(touched & GLOBAL != 0);
    cx.report.shared += u64::from(touched & SHARED != 0);
}
