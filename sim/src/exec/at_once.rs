//! `ld`, `st` for many lanes of a warp at once.
//!
//! The lanes are served together, in their order, up to the first lane whose access there may be something to tell of.
//! That lane and those after it are served one by one (`access.rs`), which takes longer but knows what to tell.

use crate::Space;
use crate::lanes::{Reg, Regs, WARP, lanes_of};
use crate::memory::Allocation;
use crate::op::{Address, Transfer};
use crate::shadow::{Touch, Who};
use crate::space::{LOCAL_STRIDE, SHARED_BASE, resolve};

use super::access::extended;
use super::bounds::aligned;
use super::context::Context;
use super::warp::Warp;

/// Where lanes access memory: for each lane, the place in the memory of the space.
pub(super) struct Places {
    pub(super) space: Space,
    pub(super) lanes: u32,
    pub(super) at: [usize; WARP],
}

/// A range of memory that lanes access, all at the same distance from one another or all in one place.
struct Region {
    space: Space,
    /// The address of the range's first byte for lane 0, and the difference from each lane to the next.
    base: u64,
    stride: u64,
    bytes: u64,
    /// The place of that byte for lane 0 in the storage, and the difference from each lane to the next.
    place: usize,
    step: usize,
}

/// The lanes of a mask before the first lane at which `stops` is true.
fn until(mask: u32, mut stops: impl FnMut(usize) -> bool) -> u32 {
    lanes_of(mask).find(|&lane| stops(lane)).map_or(mask, |lane| mask & ((1 << lane) - 1))
}

impl Warp {
    /// Loads weakly for the first of these lanes; returns the lanes that have been served, and the space.
    pub(super) fn load_together(
        &mut self,
        cx: &mut Context<'_>,
        load: &Transfer,
        mask: u32,
        source: u32,
    ) -> (u32, Space) {
        let bytes = load.bytes * load.count;
        let places = self.places_of(cx, (load.space, &load.address), bytes, mask);
        let served = load.strong.is_none() && !load.waits;
        let Some(mut places) = places.filter(|_| served) else { return (0, load.space) };
        let touch = if load.constant { Touch::Constant } else { Touch::Read };
        self.consent(cx, &mut places, self.who(1, source), bytes as usize, touch);
        for (i, reg) in load.regs.iter().take(load.count as usize).enumerate() {
            let (first, element) = (i * load.bytes as usize, (load.bytes, load.signed));
            let Some(reg) = *reg else { continue };
            let regs = &mut self.regs;
            match places.space {
                Space::Shared | Space::Cluster => places.load(regs, reg, first, element, &cx.shared[..]),
                Space::Local => places.load(regs, reg, first, element, &self.local[..]),
                Space::Param => places.load(regs, reg, first, element, &cx.machine.params[..]),
                Space::Global | Space::Generic => {
                    places.load(regs, reg, first, element, &cx.machine.view.allocations[cx.last].as_ref());
                }
            }
        }
        (places.lanes, places.space)
    }

    /// Stores weakly for the first of these lanes, where all values are defined; returns the lanes that have been
    /// served, and the space.
    pub(super) fn store_together(
        &mut self,
        cx: &mut Context<'_>,
        store: &Transfer,
        mask: u32,
        source: u32,
    ) -> (u32, Space) {
        let bytes = store.bytes * store.count;
        let places = self.places_of(cx, (store.space, &store.address), bytes, mask);
        let writable = |space| match space {
            Space::Param => false,
            Space::Global | Space::Generic => !cx.machine.view.allocations[cx.last].constant,
            Space::Shared | Space::Cluster | Space::Local => true,
        };
        let Some(mut places) = places.filter(|places| store.strong.is_none() && writable(places.space))
        else {
            return (0, store.space);
        };
        let touch = Touch::Write { same: false };
        self.consent(cx, &mut places, self.who(1, source), bytes as usize, touch);
        let mut changes = places.lanes != 0 && places.space == Space::Global;
        for (i, &reg) in store.regs.iter().take(store.count as usize).enumerate() {
            let (first, size, regs) = (i * store.bytes as usize, store.bytes, &self.regs);
            match places.space {
                Space::Shared | Space::Cluster => {
                    changes |= places.store(regs, reg, first, size, &mut cx.shared[..]);
                }
                Space::Global | Space::Generic => {
                    places.store(regs, reg, first, size, &mut cx.machine.view.allocations[cx.last].as_ref());
                }
                _ => drop(places.store(regs, reg, first, size, &mut self.local[..])),
            }
        }
        cx.changes += u64::from(changes);
        if changes && places.space == Space::Global {
            cx.wrote_anew();
        }
        (places.lanes, places.space)
    }

    /// Asks the checks, which record the accesses of the lanes that they consent to, and keeps in `places` only these
    /// lanes: those before the first of which there may be something to tell.
    fn consent(&mut self, cx: &mut Context<'_>, places: &mut Places, who: Who, bytes: usize, touch: Touch) {
        let (mask, at) = (places.lanes, &places.at);
        let checked = self.undefined.is_some();
        places.lanes = match (places.space, &mut cx.shadow) {
            (Space::Shared | Space::Cluster, Some(shadow)) => {
                shadow.together(who, mask, at, bytes, touch.reads_only())
            }
            (Space::Global | Space::Generic, shadow) => {
                let allocation = &cx.machine.view.allocations[cx.last];
                let known = |lane: usize| allocation.has_value(at[lane], bytes);
                let mask =
                    if checked && touch.reads_only() { until(mask, |lane| !known(lane)) } else { mask };
                match (shadow, &cx.machine.global) {
                    (Some(shadow), Some(global)) => {
                        shadow.global_together(global, who, mask, (allocation.base, at), bytes, touch)
                    }
                    _ => mask,
                }
            }
            (Space::Local, _) if checked => until(mask, |lane| {
                let written = self.local_written.get_mut(at[lane]..at[lane] + bytes).unwrap_or_default();
                if !touch.reads_only() {
                    written.fill(true);
                }
                !written.iter().all(|&written| written)
            }),
            _ => mask,
        };
    }

    /// Where lanes access `bytes` bytes. Only the lanes before the first one that is out of bounds, unaligned or in
    /// another region than the first lane are kept.
    pub(super) fn places_of(
        &self,
        cx: &mut Context<'_>,
        (space, operand): (Space, &Address),
        bytes: u32,
        mask: u32,
    ) -> Option<Places> {
        let region = self.region(cx, (space, operand), bytes, lanes_of(mask).next()?)?;
        let room = region.bytes.checked_sub(bytes.into())?;
        let mut places = Places { space: region.space, lanes: mask, at: [region.place; WARP] };
        let (mut base, mut place, mut fits) = (region.base, region.place, 0);
        for (at, address) in places.at.iter_mut().zip(self.addresses(operand)) {
            let offset = address.wrapping_sub(base);
            *at = place.wrapping_add(offset as usize);
            fits = fits >> 1 | u32::from((offset <= room) & aligned(address, bytes)) << (WARP - 1);
            (base, place) = (base.wrapping_add(region.stride), place + region.step);
        }
        places.lanes = until(mask, |lane| fits >> lane & 1 == 0);
        Some(places)
    }

    /// The memory that the address of a lane may point to: the allocation or space, or only the variable that the
    /// address is made from.
    fn region(
        &self,
        cx: &mut Context<'_>,
        (space, operand): (Space, &Address),
        bytes: u32,
        lane: usize,
    ) -> Option<Region> {
        let address = self.address(operand, lane);
        let (space, own) = resolve(space, address);
        let window = address - own;
        let whole = |bytes, base| Region { space, base, stride: 0, bytes, place: 0, step: 0 };
        let (mut region, first) = match space {
            Space::Shared | Space::Cluster => {
                let (base, place) = cx.own_shared();
                let region = whole(cx.machine.shared as u64, window.wrapping_add(base));
                (Region { place, ..region }, SHARED_BASE)
            }
            Space::Local => {
                let size = cx.machine.kernel.local;
                let region = Region { step: size as usize, ..whole(size.into(), window) };
                let thread = u64::from(self.place) * WARP as u64 + 1;
                match own / LOCAL_STRIDE {
                    0 => (region, 0),
                    _ => (Region { base: window + thread * LOCAL_STRIDE, stride: LOCAL_STRIDE, ..region }, 0),
                }
            }
            Space::Param => return Some(whole(cx.machine.params.len() as u64, window)),
            Space::Global | Space::Generic => {
                let allocation = cx.allocation(own, bytes.into())?;
                return Some(whole(allocation.bytes, allocation.base));
            }
        };
        let variable = cx.machine.kernel.code.variables.get((operand.within as usize).wrapping_sub(1));
        // Each lane has its frame at another place.
        if variable.is_some_and(|variable| variable.framed) {
            return None;
        }
        if let Some(variable) = variable
            && (variable.space == Space::Local) == (space == Space::Local)
        {
            let skipped = variable.at.checked_sub(first)?;
            region.base += skipped;
            region.place += skipped as usize;
            region.bytes = variable.bytes.min(region.bytes.checked_sub(skipped)?);
        }
        Some(region)
    }
}

/// Memory by place, which the caller has checked.
trait Bytes {
    fn get<const N: usize>(&self, at: usize) -> [u8; N];
    /// Returns whether the bytes have changed.
    fn set<const N: usize>(&mut self, at: usize, bytes: [u8; N]) -> bool;
}

impl Bytes for [u8] {
    #[inline(always)]
    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        self[at..].first_chunk().copied().unwrap_or([0; N])
    }
    #[inline(always)]
    fn set<const N: usize>(&mut self, at: usize, bytes: [u8; N]) -> bool {
        self[at..].first_chunk_mut().is_some_and(|to| std::mem::replace(to, bytes) != bytes)
    }
}

impl Bytes for &Allocation {
    #[inline(always)]
    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        self.read(at, &mut bytes);
        bytes
    }
    #[inline(always)]
    fn set<const N: usize>(&mut self, at: usize, bytes: [u8; N]) -> bool {
        self.write(at, &bytes);
        true
    }
}

impl Places {
    /// Sets a register to elements of `bytes` bytes, which are `first` bytes after each lane's place.
    fn load<M: Bytes + ?Sized>(
        &self,
        regs: &mut Regs,
        reg: Reg,
        first: usize,
        (bytes, signed): (u32, bool),
        memory: &M,
    ) {
        let at = |lane: usize| self.at[lane] + first;
        let value = |value: u64| if signed { extended(value, bytes, true) } else { value };
        match bytes {
            1 => regs.assign(reg, self.lanes, |lane| value(u8::from_le_bytes(memory.get(at(lane))).into())),
            2 => regs.assign(reg, self.lanes, |lane| value(u16::from_le_bytes(memory.get(at(lane))).into())),
            4 => regs.assign(reg, self.lanes, |lane| value(u32::from_le_bytes(memory.get(at(lane))).into())),
            _ => regs.assign(reg, self.lanes, |lane| u64::from_le_bytes(memory.get(at(lane)))),
        }
    }

    /// Sets elements of `bytes` bytes, which are `first` bytes after each lane's place, to a register; returns
    /// whether that changes something. Global memory always counts as changed.
    fn store<M: Bytes + ?Sized>(
        &self,
        regs: &Regs,
        reg: Option<Reg>,
        first: usize,
        bytes: u32,
        memory: &mut M,
    ) -> bool {
        let mut changes = false;
        for lane in lanes_of(self.lanes) {
            let (at, value) = (self.at[lane] + first, reg.map_or(0, |reg| regs.get(reg, lane)));
            changes |= match bytes {
                1 => memory.set(at, (value as u8).to_le_bytes()),
                2 => memory.set(at, (value as u16).to_le_bytes()),
                4 => memory.set(at, (value as u32).to_le_bytes()),
                _ => memory.set(at, value.to_le_bytes()),
            };
        }
        changes
    }
}
