//! Where an access is, and whether it may be there: bounds, alignment, the variable that its address is made from, the owner of
//! local memory.

use crate::lanes::WARP;
use crate::op::Address;
use crate::shadow::Who;
use crate::space::{LOCAL_STRIDE, RANK_SHIFT, SHARED_BASE};
use crate::{Access, Error, Nearest, Space};

use super::context::Context;
use super::warp::Warp;

/// Bytes of an mbarrier.
const MBARRIER: u32 = 8;

/// Whether an address is a multiple of this power of two.
#[inline]
pub(super) fn aligned(address: u64, bytes: u32) -> bool {
    address & u64::from(bytes - 1) == 0
}

impl Warp {
    /// Checks that an access stays within the variable that its address is made from.
    #[inline]
    pub(super) fn check_within(
        &self,
        cx: &Context<'_>,
        operand: &Address,
        (who, access, space, address): (Who, Access, Space, u64),
        bytes: u32,
    ) -> Result<(), Error> {
        let Some(variable) =
            (operand.within as usize).checked_sub(1).and_then(|i| cx.machine.kernel.code.variables.get(i))
        else {
            return Ok(());
        };
        let (own, at, first, size) = match space {
            Space::Shared | Space::Cluster => {
                (Space::Shared, address & ((1 << RANK_SHIFT) - 1), SHARED_BASE, cx.machine.shared as u64)
            }
            Space::Local => (Space::Local, address & (LOCAL_STRIDE - 1), 0, cx.machine.kernel.local.into()),
            _ => return Ok(()),
        };
        let frame = cx.machine.kernel.code.stack.filter(|_| variable.framed);
        let begin =
            frame.map_or(0, |[frame, _]| self.regs.get(frame, who.lane as usize)) & (LOCAL_STRIDE - 1);
        let begin = begin + variable.at;
        let inside = |base: u64, size: u64| {
            let offset = at.wrapping_sub(base);
            offset <= size && u64::from(bytes) <= size - offset
        };
        // An access outside of all variables is reported as out of bounds, and not here.
        if own != variable.space || inside(begin, variable.bytes) || !inside(first, size) {
            return Ok(());
        }
        let nearest = Nearest::region(begin, variable.bytes, at, bytes.into());
        let (at, variable) = (cx.at(who), variable.name.clone());
        cx.note(Error::Overrun { at, access, space: own, address, bytes, variable, nearest })
    }

    /// As [`Warp::check_within`], for an operand in shared memory whose address may be generic.
    pub(super) fn check_shared(
        &self,
        cx: &Context<'_>,
        operand: &Address,
        (who, access): (Who, Access),
        bytes: u32,
    ) -> Result<(), Error> {
        if operand.within == 0 {
            return Ok(());
        }
        let address = self.address(operand, who.lane as usize);
        self.check_within(cx, operand, (who, access, Space::Cluster, address), bytes)
    }

    /// Checks that an mbarrier is within the variable that its address is made from.
    pub(super) fn check_mbarrier(&self, cx: &Context<'_>, operand: &Address, who: Who) -> Result<(), Error> {
        self.check_shared(cx, operand, (who, Access::Write), MBARRIER)
    }

    /// Where bytes of a lane's local memory are in the warp's.
    #[inline]
    pub(super) fn local_at(
        &self,
        cx: &Context<'_>,
        who: Who,
        access: Access,
        address: u64,
        bytes: u32,
    ) -> Result<std::ops::Range<usize>, Error> {
        let size = cx.machine.kernel.local as usize;
        let address = self.own_local(cx, who, access, address, bytes)?;
        let at = inside(cx, who, access, Space::Local, address, bytes, size)? + who.lane as usize * size;
        Ok(at..at + bytes as usize)
    }

    /// The address within the thread's own local memory, of an address that may have been generic.
    #[inline]
    fn own_local(
        &self,
        cx: &Context<'_>,
        who: Who,
        access: Access,
        address: u64,
        bytes: u32,
    ) -> Result<u64, Error> {
        let thread = u64::from(self.place * WARP as u32 + who.lane) + 1;
        let owner = address / LOCAL_STRIDE;
        if owner != 0 && owner != thread && owner <= u64::from(cx.machine.warps()) * WARP as u64 {
            let owner = cx.thread_of(owner as u32 - 1);
            cx.note(Error::ForeignLocal { at: cx.at(who), access, bytes, owner })?;
        }
        Ok(if owner == 0 { address } else { address % LOCAL_STRIDE })
    }
}

/// Where bytes of a lane's local memory begin in the warp's, for an access that has been checked.
pub(super) fn local_place(
    warp: &Warp,
    cx: &Context<'_>,
    who: Who,
    address: u64,
    bytes: u32,
) -> Option<usize> {
    warp.local_at(cx, who, Access::Read, address, bytes).ok().map(|range| range.start)
}

/// The place of an access in the cluster's shared memory.
#[inline]
pub(super) fn shared_place(
    cx: &Context<'_>,
    who: Who,
    access: Access,
    (space, address): (Space, u64),
    bytes: u32,
) -> Result<usize, Error> {
    match space {
        Space::Cluster => cx.cluster_at(who, access, address, bytes),
        _ => cx.shared_at(who, access, address, bytes),
    }
}

/// The offset of a global access in its allocation, which becomes `cx.last`. Bytes that are read must have a value.
pub(super) fn global_at(
    cx: &mut Context<'_>,
    who: Who,
    access: Access,
    address: u64,
    bytes: u64,
) -> Result<usize, Error> {
    let offset = place_of(cx, who, access, address, bytes)?;
    if access == Access::Read {
        has_value(cx, who, address, offset, bytes)?;
    }
    Ok(offset)
}

/// The offset of a global access in its allocation, which becomes `cx.last`. Constant memory is not written.
#[inline]
pub(super) fn place_of(
    cx: &mut Context<'_>,
    who: Who,
    access: Access,
    address: u64,
    bytes: u64,
) -> Result<usize, Error> {
    let view = &cx.machine.view;
    let last = view.allocations.get(cx.last).and_then(|last| last.offset(address, bytes));
    let Some((index, offset)) = last.map(|offset| (cx.last, offset)).or_else(|| view.find(address, bytes))
    else {
        let nearest = view.nearest(address, bytes);
        let (at, space, bytes) = (cx.at(who), Space::Global, bytes as u32);
        return Err(Error::OutOfBounds { at, access, space, address, bytes, nearest });
    };
    cx.last = index;
    if access == Access::Write && view.allocations[index].constant {
        return Err(Error::ConstantWrite { at: cx.at(who), address, bytes: bytes as u32 });
    }
    Ok(offset)
}

/// Checks that bytes of the allocation `cx.last`, which are about to be read, have been written, if that is to be
/// checked.
#[inline]
pub(super) fn has_value(
    cx: &Context<'_>,
    who: Who,
    address: u64,
    offset: usize,
    bytes: u64,
) -> Result<(), Error> {
    let machine = cx.machine;
    if machine.options.uninitialised && !machine.view.allocations[cx.last].has_value(offset, bytes as usize) {
        let (at, space, bytes) = (cx.at(who), Space::Global, bytes as u32);
        cx.note(Error::UninitialisedMemory { at, space, address, bytes, used: None })?;
    }
    Ok(())
}

/// The offset of an access to a space of `size` bytes that begins at 0.
#[inline]
pub(super) fn inside(
    cx: &Context<'_>,
    who: Who,
    access: Access,
    space: Space,
    address: u64,
    bytes: u32,
    size: usize,
) -> Result<usize, Error> {
    let len = size as u64;
    if address <= len && u64::from(bytes) <= len - address {
        return Ok(address as usize);
    }
    let nearest = if len == 0 { Nearest::None } else { Nearest::region(0, len, address, bytes.into()) };
    Err(Error::OutOfBounds { at: cx.at(who), access, space, address, bytes, nearest })
}

#[cold]
pub(super) fn misaligned(
    cx: &Context<'_>,
    who: Who,
    access: Access,
    space: Space,
    address: u64,
    alignment: u32,
) -> Error {
    Error::Misaligned { at: cx.at(who), access, space, address, alignment }
}
