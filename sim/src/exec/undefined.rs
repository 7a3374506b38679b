//! Undefined values on their way through memory.

use crate::lanes::Reg;
use crate::op::Transfer;
use crate::shadow::Who;
use crate::{Access, Error, Space};

use super::access::{local_place, place_of, shared_place};
use super::context::Context;
use super::registers::{Origin, Source};
use super::warp::Warp;

/// The bits of bytes, of up to eight.
pub(super) fn spread_bytes(bytes: u16) -> u64 {
    (0..8).filter(|i| bytes >> i & 1 == 1).fold(0, |bits, i| bits | 0xff << (8 * i))
}

/// The bytes that have any of some bits.
fn bytes_of(bits: u64) -> u16 {
    (0..8).filter(|i| bits >> (8 * i) & 0xff != 0).fold(0, |bytes, i| bytes | 1 << i)
}

impl Context<'_> {
    /// A copy has brought bytes of global memory of which some have no value.
    pub(super) fn note_missing(&mut self, who: Who, at: usize, (address, bytes): (u64, u32), missing: u16) {
        let padding = missing != u16::MAX >> (16 - bytes);
        let origin = Origin { source: Source::Memory { who, space: Space::Global, address, bytes }, padding };
        let places = (0..16).filter(|i| missing >> i & 1 == 1);
        self.origins.extend(places.map(|i| (at + i, origin)));
    }

    /// Where undefined bytes of shared memory come from, which someone reads.
    pub(super) fn origin(&self, who: Who, at: usize, missing: u16) -> Origin {
        let first = at + missing.trailing_zeros() as usize;
        let address = self.shared_address(at);
        let bytes = 16 - missing.leading_zeros();
        let source = Source::Memory { who, space: Space::Shared, address, bytes };
        self.origins.get(&first).copied().unwrap_or(Origin { source, padding: false })
    }
}

impl Warp {
    /// A lane has loaded bytes of which nothing has written some.
    #[cold]
    pub(super) fn load_undefined(
        &mut self,
        cx: &Context<'_>,
        transfer: &Transfer,
        (who, space, address): (Who, Space, u64),
        missing: u16,
    ) {
        let Transfer { bytes, count, signed, .. } = *transfer;
        let total = bytes * count;
        let first = missing.trailing_zeros() as usize;
        let kept = match space {
            Space::Shared | Space::Cluster => shared_place(cx, who, Access::Read, (space, address), total)
                .ok()
                .and_then(|at| cx.origins.get(&(at + first))),
            Space::Local => local_place(self, cx, who, address, total)
                .and_then(|at| self.local_origins.get(&(at + first))),
            _ => None,
        };
        let kept = kept.copied();
        // Compilers copy structures byte by byte too: are there neighbours?
        let beside = bytes == 1 && count > 1 && self.eight_missing(cx, who, space, address & !7) != 0xff;
        let Some(undefined) = &mut self.undefined else { return };
        let whole = u16::MAX >> (16 - bytes);
        let all = u16::MAX >> (16 - total);
        for (i, reg) in transfer.regs.iter().take(count as usize).enumerate() {
            let Some(reg) = *reg else { continue };
            let lost = missing >> (i as u32 * bytes) & whole;
            // Padding is a part of an element, or in global memory perhaps an element of several.
            let padding = lost != whole || beside || space == Space::Global && missing != all;
            let source = Source::Memory { who, space, address, bytes: total };
            let origin = kept.unwrap_or(Origin { source, padding });
            let mut bits = spread_bytes(lost);
            if signed && lost >> (bytes - 1) & 1 == 1 && bytes < 8 {
                bits |= u64::MAX << (8 * bytes);
            }
            undefined.set(reg, who.lane as usize, bits, origin);
        }
    }

    /// Which of eight bytes nothing has written.
    fn eight_missing(&self, cx: &Context<'_>, who: Who, space: Space, address: u64) -> u16 {
        match space {
            Space::Shared | Space::Cluster => {
                let at = shared_place(cx, who, Access::Read, (space, address), 8).ok();
                at.zip(cx.shadow.as_ref()).map_or(0xff, |(at, shadow)| shadow.missing(at, 8))
            }
            Space::Local => {
                let written =
                    local_place(self, cx, who, address, 8).and_then(|at| self.local_written.get(at..at + 8));
                let bit = |(i, written): (usize, &bool)| u16::from(!written) << i;
                written.map_or(0xff, |written| written.iter().enumerate().map(bit).sum())
            }
            Space::Global | Space::Generic => {
                let allocation = &cx.machine.view.allocations[cx.last];
                allocation.offset(address, 8).map_or(0xff, |offset| allocation.missing(offset, 8))
            }
            Space::Param => 0xff,
        }
    }

    /// What a lane's store writes of undefined bytes, and where the first of them comes from. In global memory that is an
    /// error, but for the padding of what is copied as it is.
    #[cold]
    pub(super) fn stored_undefined(
        &self,
        cx: &Context<'_>,
        transfer: &Transfer,
        (who, space, address): (Who, Space, u64),
    ) -> Result<Option<(u16, Origin)>, Error> {
        let Some(undefined) = &self.undefined else { return Ok(None) };
        let (mut missing, mut first) = (0, None);
        let global = matches!(space, Space::Global | Space::Generic);
        let keep = u16::MAX >> (16 - transfer.bytes);
        for (i, reg) in transfer.regs.iter().take(transfer.count as usize).enumerate() {
            let Some(reg) = *reg else { continue };
            let lost = bytes_of(undefined.bits(reg, who.lane as usize)) & keep;
            if lost == 0 {
                continue;
            }
            let origin = undefined.origin(reg);
            if global && !origin.padding {
                // Told once: it counts as written then.
                cx.note(self.undefined_register(cx, reg, 1 << who.lane, who.source))?;
                continue;
            }
            missing |= lost << (i as u32 * transfer.bytes);
            first = first.or(Some(origin));
        }
        if global && missing != 0 {
            cx.note(Error::Padding { at: cx.at(who), address, bytes: missing.count_ones() })?;
        }
        Ok(first.map(|origin| (missing, origin)))
    }

    /// Undefined bytes have been stored.
    #[cold]
    pub(super) fn store_undefined(
        &mut self,
        cx: &mut Context<'_>,
        (who, space, address): (Who, Space, u64),
        missing: u16,
        origin: Origin,
    ) -> Result<(), Error> {
        let bytes = 16 - missing.leading_zeros();
        let places = |at: usize| (0..16).filter(move |i| missing >> i & 1 == 1).map(move |i| at + i);
        match space {
            Space::Shared | Space::Cluster => {
                let at = shared_place(cx, who, Access::Write, (space, address), bytes)?;
                if let Some(shadow) = &mut cx.shadow {
                    shadow.forget(at, missing);
                }
                cx.origins.extend(places(at).map(|at| (at, origin)));
            }
            Space::Local => {
                if let Some(at) = local_place(self, cx, who, address, bytes) {
                    for at in places(at) {
                        if let Some(written) = self.local_written.get_mut(at) {
                            *written = false;
                        }
                        self.local_origins.insert(at, origin);
                    }
                }
            }
            Space::Global | Space::Generic => {
                let offset = place_of(cx, who, Access::Write, address, bytes.into())?;
                cx.machine.view.allocations[cx.last].unmark(offset, missing);
            }
            Space::Param => {}
        }
        Ok(())
    }

    /// A lane has stored half `h` of a register to shared memory by `stmatrix`.
    #[cold]
    pub(super) fn store_element(&self, cx: &mut Context<'_>, reg: Reg, (lane, h): (usize, usize), at: usize) {
        let Some(undefined) = &self.undefined else { return };
        let missing = bytes_of(undefined.bits(reg, lane) >> (16 * h) & 0xffff);
        if missing == 0 {
            return;
        }
        if let Some(shadow) = &mut cx.shadow {
            shadow.forget(at, missing);
        }
        let origin = undefined.origin(reg);
        cx.origins.extend((0..2).filter(|i| missing >> i & 1 == 1).map(|i| (at + i, origin)));
    }
}
