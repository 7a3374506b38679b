//! The memory in which blocks that share a tile hand their sums to one another.

use std::sync::{Arc, Mutex, PoisonError};

use girih_device::{Buffer, Device};

use crate::Error;

/// What blocks that share a tile hand to one another: their sums, and whose turn it is to add.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) sums: Buffer<u8>,
    pub(super) turns: Buffer<u8>,
}

impl Workspace {
    /// Makes the workspace what a launch expects, after one that has stopped halfway: counters that it left behind would let a later block
    /// take itself for the last one.
    pub(super) fn reset(&self) -> Result<(), Error> {
        Ok(self.turns.fill_bytes(0)?)
    }

    /// Whether sums and turns of so many bytes have room.
    fn holds(&self, [sums, turns]: [usize; 2]) -> bool {
        self.sums.len() >= sums && self.turns.len() >= turns
    }
}

/// The workspace of all GEMMs of a set. Their launches follow each other in one stream, and each leaves the counters as it found them.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<Option<Arc<Workspace>>>);

impl Shared {
    /// A workspace that has room for sums and turns of so many bytes: the one that is held, or a larger one in its place, which those
    /// keep that have it; none where there are no turns.
    pub(super) fn of(&self, device: &Device, bytes: [u64; 2]) -> Result<Option<Arc<Workspace>>, Error> {
        if bytes[1] == 0 {
            return Ok(None);
        }
        let [mut sums, mut turns] = bytes.map(|bytes| bytes as usize);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = &*held {
            if workspace.holds([sums, turns]) {
                return Ok(Some(workspace.clone()));
            }
            (sums, turns) = (sums.max(workspace.sums.len()), turns.max(workspace.turns.len()));
        }
        let workspace = Arc::new(Workspace { sums: device.zeros(sums)?, turns: device.zeros(turns)? });
        *held = Some(workspace.clone());
        Ok(Some(workspace))
    }
}
