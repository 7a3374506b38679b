//! The cache of checked launches, keyed by the facts on which their checks depend.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use girih_codegen::QuickMap;
use girih_device::{Device, Kind};

use super::Launch;
use super::entry::Entry;
use super::words::{Words, hash};
use crate::error::Result;
use crate::hints::Hints;

/// Launches that are kept, of each kind of device. When there are more, all are forgotten; those of a simulator keep the simulator alive.
const MOST: [usize; 2] = [1024, 16];

/// The key of a launch's checks and of a prepared launch: all but addresses and the values of scalars.
struct Call<W> {
    kernel: TypeId,
    words: W,
}

/// A call as it is kept.
type Kept = (Call<Box<[u64]>>, Arc<Entry>);

impl Call<Words> {
    fn is(&self, (kept, _): &Kept) -> bool {
        self.kernel == kept.kernel && *self.words.as_slice() == *kept.words
    }
}

type Memo = RwLock<QuickMap<u64, Kept>>;

fn memo(kind: Kind) -> (&'static Memo, usize) {
    static MEMOS: OnceLock<[Memo; 2]> = OnceLock::new();
    let at = usize::from(kind == Kind::Sim);
    (&MEMOS.get_or_init(Default::default)[at], MOST[at])
}

impl Launch<'_> {
    fn call(&self, device: &Device) -> Call<Words> {
        let mut words = Words::default();
        words.push(device.sequence_number());
        let is_hinted = self.hints != Hints::default();
        words.push(
            u64::from(self.programmatic) | u64::from(self.grid.is_some()) << 1 | u64::from(is_hinted) << 2,
        );
        self.grid.iter().flatten().for_each(|&n| words.push(n.into()));
        words.extend(&self.constants.0);
        if is_hinted {
            self.hints.resolve(device.limits().sm).hash(&mut words);
        }
        words.push(self.arrays.len() as u64);
        for of in self.arrays.iter() {
            let (extents, strides) = (of.array.extents(), of.array.strides());
            // Vectors have at most 16 bytes.
            let aligned = u64::from(of.array.bytes().start.trailing_zeros().min(4));
            words.push(
                of.array.dtype() as u64
                    | u64::from(of.mutable) << 8
                    | aligned << 16
                    | (extents.len() as u64) << 32,
            );
            extents.iter().chain(strides).for_each(|&n| words.push(n as u64));
        }
        self.scalars.iter().for_each(|&(dtype, _)| words.push(dtype as u64));
        Call { kernel: self.kernel, words }
    }

    /// The launch as it was checked and prepared before, or now.
    pub(super) fn entry(&self, device: &Device) -> Result<Arc<Entry>> {
        let call = self.call(device);
        let key = {
            let mut hasher = Words::default();
            call.kernel.hash(&mut hasher);
            hasher.finish() ^ hash(call.words.as_slice())
        };
        let (memo, most) = memo(device.kind());
        {
            let memo = memo.read().unwrap_or_else(PoisonError::into_inner);
            let found = memo.get(&key);
            if let Some((_, entry)) = found.filter(|kept| call.is(kept)) {
                let entry = entry.clone();
                drop(memo);
                if entry.is_to_be_compared() {
                    self.program()?;
                }
                entry.check(self, device)?;
                return Ok(entry);
            }
        }
        let entry = Arc::new(Entry::new(self, device)?);
        let Call { kernel, words } = call;
        let kept = (Call { kernel, words: words.as_slice().into() }, entry.clone());
        let forgotten = {
            let mut memo = memo.write().unwrap_or_else(PoisonError::into_inner);
            let forgotten = if memo.len() >= most { std::mem::take(&mut *memo) } else { QuickMap::default() };
            memo.insert(key, kept);
            forgotten
        };
        // The drop may wait for launches.
        drop(forgotten);
        Ok(entry)
    }
}
