//! Tensor maps that a kernel writes itself: their fields, their copies, and the fences between the writes and the
//! TMA copies that read the maps (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy", "fence.proxy.tensormap").

use girih_ptx::TENSOR_MAP_BYTES;

use crate::error::Other;
use crate::lanes::lanes_of;
use crate::op::{Address, MapCopy, MapReplace};
use crate::shadow::{Lack, Scope, Touch, Who};
use crate::space::resolve;
use crate::{Access, Error, Space};

use super::access::{count_touched, touch};
use super::bounds::misaligned;
use super::context::Context;
use super::warp::Warp;

/// Bytes that a tensor map's address is a multiple of.
pub(super) const MAP_ALIGN: u32 = 64;
/// Bytes of each access to a map.
const PART: usize = 16;

impl Warp {
    /// `tensormap.replace`, by each lane in turn. The whole map is read and written, though the instruction changes one
    /// field.
    pub(super) fn replace_map(
        &mut self,
        cx: &mut Context<'_>,
        replace: &MapReplace,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(replace.space, self.address(&replace.address, lane));
            check_place(cx, who, (space, address), &[Space::Global, Space::Shared])?;
            let mut bytes = self.read_map(cx, who, (space, address))?;
            let value = self.regs.get(replace.value, lane);
            if let Err(why) = replace.field.replace(&mut bytes, value) {
                return Err(Error::TensorMap { at: cx.at(who), why: Box::new(why) });
            }
            self.write_map(cx, who, (space, address), &bytes)?;
            count_touched(cx, touch(space));
        }
        Ok(())
    }

    /// `tensormap.cp_fenceproxy`: a copy that the lanes make as one, followed by a release.
    pub(super) fn copy_map(
        &mut self,
        cx: &mut Context<'_>,
        copy: &MapCopy,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        let who = self.who(active, source);
        let at = |address: &Address, lane| self.address(address, lane);
        let first = [&copy.to, &copy.from].map(|address| at(address, who.lane as usize));
        for lane in lanes_of(active) {
            for (address, first) in [&copy.to, &copy.from].into_iter().zip(first) {
                let value = at(address, lane);
                if value != first {
                    let (at, what) = (cx.at(Who { lane: lane as u32, ..who }), "address of the tensor map");
                    let accepted = format!("{first:#x}, as in the other lanes");
                    return Err(Error::BadValue { at, what, value, accepted });
                }
            }
        }
        let [to, from] = [resolve(Space::Global, first[0]), resolve(Space::Shared, first[1])];
        check_place(cx, who, to, &[Space::Global])?;
        check_place(cx, who, from, &[Space::Shared])?;
        self.align_lanes(cx, active);
        let bytes = self.read_map(cx, who, from)?;
        self.write_map(cx, who, to, &bytes)?;
        self.release_maps(cx, active, copy.scope);
        self.align_lanes(cx, active);
        count_touched(cx, touch(Space::Global) | touch(Space::Shared));
        Ok(())
    }

    /// Orders the lanes at an instruction that they execute as one.
    fn align_lanes(&self, cx: &mut Context<'_>, active: u32) {
        if let Some(shadow) = &mut cx.shadow {
            shadow.sync_lanes(self.index as usize, active, 0);
        }
    }

    pub(super) fn release_maps(&self, cx: &mut Context<'_>, active: u32, scope: Scope) {
        if let Some(shadow) = &mut cx.shadow {
            shadow.release_maps(self.index as usize, active, scope);
        }
    }

    /// The part of `fence.proxy.tensormap::generic.acquire` that other fences do not have.
    pub(super) fn acquire_map(
        &self,
        cx: &mut Context<'_>,
        (map, scope): (&Address, Scope),
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (space, address) = resolve(Space::Generic, self.address(map, lane));
            if matches!(space, Space::Global | Space::Generic) {
                check_place(cx, who, (Space::Global, address), &[Space::Global])?;
                if let (Some(shadow), Some(global)) = (&mut cx.shadow, &cx.machine.global) {
                    shadow.acquire_map(global, who, address, scope);
                }
            }
        }
        Ok(())
    }

    fn read_map(
        &self,
        cx: &mut Context<'_>,
        who: Who,
        (space, address): (Space, u64),
    ) -> Result<[u8; TENSOR_MAP_BYTES], Error> {
        let mut bytes = [0; TENSOR_MAP_BYTES];
        for (part, address) in bytes.chunks_exact_mut(PART).zip((address..).step_by(PART)) {
            let value = self.read(cx, who, (space, address), PART as u32, Touch::Read)?;
            part.copy_from_slice(&value.to_le_bytes());
        }
        Ok(bytes)
    }

    fn write_map(
        &mut self,
        cx: &mut Context<'_>,
        who: Who,
        (space, address): (Space, u64),
        bytes: &[u8; TENSOR_MAP_BYTES],
    ) -> Result<(), Error> {
        for (part, address) in bytes.chunks_exact(PART).zip((address..).step_by(PART)) {
            self.write(cx, who, (space, address), part, None)?;
        }
        Ok(())
    }
}

/// Checks that a tensor map may be at this address, of these spaces.
fn check_place(
    cx: &Context<'_>,
    who: Who,
    (space, address): (Space, u64),
    accepted: &[Space],
) -> Result<(), Error> {
    // The space to which a generic address leads.
    let space = match space {
        Space::Generic => Space::Global,
        Space::Cluster => Space::Shared,
        space => space,
    };
    if !accepted.contains(&space) {
        let accepted: Vec<String> = accepted.iter().map(|space| space.to_string()).collect();
        let accepted = format!("in {} memory", accepted.join(" or "));
        let what = "address of the tensor map";
        return Err(Error::BadValue { at: cx.at(who), what, value: address, accepted });
    }
    if !address.is_multiple_of(MAP_ALIGN.into()) {
        return Err(misaligned(cx, who, Access::Write, space, address, MAP_ALIGN));
    }
    Ok(())
}

impl Context<'_> {
    /// Checks that a TMA copy, which reads the map at a global address, sees what the kernel has written there.
    pub(super) fn check_map(&self, who: Who, address: u64) -> Result<(), Error> {
        let (Some(shadow), Some(global)) = (&self.shadow, &self.machine.global) else { return Ok(()) };
        match shadow.check_map(global, who, address) {
            Ok(()) => Ok(()),
            Err((lack, write)) => {
                let lacks = match lack {
                    Lack::Acquire => "fence.proxy.tensormap::generic.acquire",
                    Lack::Release => "fence.proxy.tensormap::generic.release",
                };
                let other = Box::new(Other { access: Access::Write, at: *self.site_of(write) });
                self.note(Error::MapUnfenced { at: self.at(who), address, lacks, other })
            }
        }
    }
}
