//! What the shadow finds, as an error of a place in the kernel and a thread.

use crate::error::Other;
use crate::lanes::WARP;
use crate::shadow::{Conflict, Finding, Kind, Stamp, Touch, Who};
use crate::{Access, Error, Site, Space};

use super::context::Context;

impl Context<'_> {
    /// Before an access to global memory: whether it races with an earlier one, and what it publishes.
    pub(super) fn check_global(
        &mut self,
        who: Who,
        address: u64,
        bytes: u64,
        touch: Touch,
    ) -> Result<(), Error> {
        let (Some(shadow), Some(global)) = (&mut self.shadow, &self.machine.global) else { return Ok(()) };
        if let Err(conflict) = shadow.global(global, who, address, bytes, touch) {
            return Err(self.conflict(who, touch, conflict));
        }
        if let Touch::Strong(kind, order) = touch
            && kind != Kind::Read
        {
            shadow.publish(global, who, address, kind, order);
        }
        Ok(())
    }

    /// After a strong access to global memory: what it learns.
    pub(super) fn learn_global(&mut self, who: Who, address: u64, touch: Touch) {
        let (Some(shadow), Some(global)) = (&mut self.shadow, &self.machine.global) else { return };
        if let Touch::Strong(kind, order) = touch
            && kind != Kind::Write
        {
            shadow.learn(global, who, address, order);
        }
    }

    #[cold]
    fn conflict(&self, who: Who, touch: Touch, conflict: Conflict) -> Error {
        let reads = matches!(touch, Touch::Read | Touch::Strong(Kind::Read, _));
        let access = if reads { Access::Read } else { Access::Write };
        let (source, thread) = conflict.other.origin();
        let cluster = self.clusterid(conflict.other.cluster.into());
        let at = *self.site_in(cluster, source, thread);
        let other = Box::new(Other { access: conflict.access, at });
        let (at, space, address) = (self.at(who), Space::Global, conflict.address);
        Error::Race { at, access, space, address, other }
    }

    /// An instruction and a thread of the cluster, for a message.
    pub(crate) fn site(&self, source: u32, thread: u32) -> Box<Site> {
        self.site_in(self.cluster, source, thread)
    }

    fn site_in(&self, cluster: [u32; 3], source: u32, thread: u32) -> Box<Site> {
        let [x, y, _] = self.machine.launch.block;
        let threads = self.machine.warps() * WARP as u32;
        let (rank, thread) = (thread / threads, thread % threads);
        let thread = [thread % x, thread / x % y, thread / x / y];
        let block = self.ctaid_in(cluster, rank);
        Box::new(Site { place: self.machine.kernel.place(source), block, thread })
    }

    pub(crate) fn at(&self, who: Who) -> Box<Site> {
        self.site(who.source, who.warp * WARP as u32 + who.lane)
    }

    /// Turns a finding into an error of this place.
    #[cold]
    pub(crate) fn found(
        &self,
        who: Who,
        access: Access,
        offset: usize,
        bytes: u32,
        finding: Finding,
    ) -> Error {
        let at = self.at(who);
        let address = self.shared_address(offset);
        let other = |access: Access, stamp: Stamp| {
            let (source, thread) = self.shadow.as_ref().map_or((0, 0), |shadow| shadow.origin(stamp));
            Box::new(Other { access, at: *self.site(source, thread) })
        };
        match finding {
            Finding::Unwritten => Error::UninitialisedMemory { at, space: Space::Shared, address, bytes },
            Finding::InFlight(stamp) => {
                Error::InFlight { at, access, address, copy: other(Access::Write, stamp) }
            }
            Finding::BeingRead(stamp) => {
                Error::InFlight { at, access, address, copy: other(Access::Read, stamp) }
            }
            Finding::Mbarrier => Error::MbarrierAccess { at, access, address },
            Finding::Race { offset, access: earlier, other: stamp } => {
                let address = address.max(self.shared_address(offset));
                Error::Race { at, access, space: Space::Shared, address, other: other(earlier, stamp) }
            }
            Finding::Unfenced { offset, other: stamp } => {
                let address = address.max(self.shared_address(offset));
                Error::Unfenced { at, access, address, other: other(Access::Write, stamp) }
            }
        }
    }
}
