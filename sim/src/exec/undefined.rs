//! Undefined values that pass through memory.

use crate::lanes::Reg;
use crate::op::Transfer;
use crate::shadow::Who;
use crate::{Access, Error, Space};

use super::bounds::{local_place, place_of, shared_place};
use super::context::Context;
use super::registers::{Origin, Source};
use super::warp::Warp;

/// The bits of those of up to eight bytes that a mask of bytes names.
pub(super) fn spread_bytes(bytes: u16) -> u64 {
    (0..8).filter(|i| bytes >> i & 1 == 1).fold(0, |bits, i| bits | 0xff << (8 * i))
}

/// The bytes that have at least one of these bits, as a mask of bytes.
fn bytes_of(bits: u64) -> u16 {
    (0..8).filter(|i| bits >> (8 * i) & 0xff != 0).fold(0, |bytes, i| bytes | 1 << i)
}

impl Context<'_> {
    /// Records that a copy has written bytes of global memory into shared memory, of which some are uninitialised.
    pub(super) fn note_missing(&mut self, who: Who, at: usize, (address, bytes): (u64, u32), missing: u16) {
        let padding = missing != u16::MAX >> (16 - bytes);
        let origin = Origin { source: Source::Memory { who, space: Space::Global, address, bytes }, padding };
        let places = (0..16).filter(|i| missing >> i & 1 == 1);
        self.origins.extend(places.map(|i| (at + i, origin)));
    }

    /// Where the undefined bytes of shared memory come from that a thread reads at a place.
    pub(super) fn origin(&self, who: Who, at: usize, missing: u16) -> Origin {
        let first = at + missing.trailing_zeros() as usize;
        let address = self.shared_address(at);
        let bytes = 16 - missing.leading_zeros();
        let source = Source::Memory { who, space: Space::Shared, address, bytes };
        self.origins.get(&first).copied().unwrap_or(Origin { source, padding: false })
    }
}

impl Warp {
    /// Marks the registers of a load as undefined in a lane, as some of the loaded bytes have no value.
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
        // Compilers copy structures as vectors of single bytes too. So a byte may be padding if one of the eight bytes
        // around it has a value.
        // has a value.
        let beside = bytes == 1 && count > 1 && self.eight_missing(cx, who, space, address & !7) != 0xff;
        let Some(undefined) = &mut self.undefined else { return };
        let whole = u16::MAX >> (16 - bytes);
        let all = u16::MAX >> (16 - total);
        for (i, reg) in transfer.regs.iter().take(count as usize).enumerate() {
            let Some(reg) = *reg else { continue };
            let lost = missing >> (i as u32 * bytes) & whole;
            // A missing part of an element may be padding. So may be whole elements among others with a value: in
            // global memory, of the same access.
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

    /// Which of eight bytes have no value, a bit for each.
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

    /// The undefined bytes that a lane's store writes, a bit for each, and where the first of them comes from. In
    /// global memory undefined bytes are an error, except for padding that is copied along with a structure.
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
                // The bytes count as written from now on, so that there is one finding.
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

    /// Marks bytes that a store of undefined values has written as bytes without a value.
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

    /// Marks the undefined bytes of half `h` of a register, which `stmatrix` has stored to shared memory for a lane, as
    /// bytes without a value.
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
