//! The workspace: partial accumulators of blocks that share a tile, and partial results of reductions.

use std::sync::{Arc, Mutex, PoisonError};

use girih_device::{Buffer, Device};

use crate::Error;
use girih_device::sizes::size;

/// The memory by which blocks exchange results: the accumulators of blocks that share a tile, and the partial results of outputs other than C; each
/// with the counters of the blocks that have stored theirs.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) sums: Arc<Buffer<u8>>,
    pub(super) turns: Arc<Buffer<u8>>,
    pub(super) reductions: Vec<[Arc<Buffer<u8>>; 2]>,
}

impl Workspace {
    /// The counters.
    pub(super) fn counters(&self) -> Vec<Arc<Buffer<u8>>> {
        let of_outputs = self.reductions.iter().map(|[_, turns]| turns);
        [&self.turns].into_iter().chain(of_outputs).cloned().collect()
    }

    /// Whether accumulators and semaphores of this many bytes have room.
    fn holds(&self, [sums, turns]: [usize; 2]) -> bool {
        self.sums.len() >= sums && self.turns.len() >= turns
    }
}

/// The workspace of all GEMMs of a set. Their launches follow each other in one stream, and each leaves the counters as it found them.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<Option<Arc<Workspace>>>);

impl Shared {
    /// A workspace that has room for accumulators and semaphores of this many bytes: the one that is held, or a larger one in its place, which those
    /// keep that have it; `None` if there are no semaphores. A GEMM with outputs other than C, of which tiles leave `reductions`, has a workspace of
    /// its own.
    pub(super) fn of(
        &self,
        device: &Device,
        bytes: [u64; 2],
        reductions: &[[u64; 2]],
    ) -> Result<Option<Arc<Workspace>>, Error> {
        if !reductions.is_empty() {
            let zeros = |bytes: u64| device.zeros(size(bytes)).map(Arc::new);
            let pair = |[left, turns]: &[u64; 2]| Ok([zeros(*left)?, zeros(*turns)?]);
            let reductions = reductions.iter().map(pair).collect::<Result<_, Error>>()?;
            let [sums, turns] = [zeros(bytes[0])?, zeros(bytes[1])?];
            return Ok(Some(Arc::new(Workspace { sums, turns, reductions })));
        }
        if bytes[1] == 0 {
            return Ok(None);
        }
        let [mut sums, mut turns] = bytes.map(size);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = &*held {
            if workspace.holds([sums, turns]) {
                return Ok(Some(workspace.clone()));
            }
            (sums, turns) = (sums.max(workspace.sums.len()), turns.max(workspace.turns.len()));
        }
        let workspace = Arc::new(Workspace {
            sums: Arc::new(device.zeros(sums)?),
            turns: Arc::new(device.zeros(turns)?),
            reductions: Vec::new(),
        });
        *held = Some(workspace.clone());
        Ok(Some(workspace))
    }
}
