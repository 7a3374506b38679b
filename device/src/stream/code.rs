//! Loaded code: it is unloaded after the operations of all sequences in which it was used.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use girih_ptx::{self as ptx, KernelInfo};

use super::Sequence;
use crate::{
    Assembled, Error,
    backend::{Backend, Code, Entry},
    source::Source,
};

/// Loaded code, which all modules of a device share that were loaded from the same source. It is unloaded after its last launch.
pub(crate) struct Loaded {
    source: Source,
    pub(crate) code: Arc<dyn Code>,
    pub(crate) kernels: Box<[Known]>,
    /// The sequences into which kernels of this code are launched.
    used: Mutex<Vec<Arc<Sequence>>>,
}

/// A kernel of loaded code.
pub(crate) struct Known {
    pub(crate) info: Arc<KernelInfo>,
    /// The entry that launches the kernel, once a handle of the kernel has been made.
    entry: Mutex<Option<Arc<dyn Entry>>>,
}

impl Loaded {
    pub(crate) fn load(
        backend: &dyn Backend,
        module: &ptx::Module,
        source: Source,
        built: Option<&Assembled>,
    ) -> Result<Loaded, Error> {
        let code = backend.load(module, source.optimization(), built)?;
        let known = |info| Known { info: Arc::new(info), entry: Mutex::default() };
        let kernels = module.kernels().into_iter().map(known).collect();
        Ok(Loaded { source, code, kernels, used: Mutex::default() })
    }

    /// The source that the code was loaded from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The entry that launches a kernel. All handles of the kernel share it: the driver keeps the permitted amount of dynamic
    /// shared memory with the function, so a second entry would change the amount for the first one.
    pub(crate) fn entry(&self, kernel: &Known) -> Result<Arc<dyn Entry>, Error> {
        let mut entry = kernel.entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = &*entry {
            return Ok(entry.clone());
        }
        Ok(entry.insert(self.code.kernel(&kernel.info)?).clone())
    }

    pub(crate) fn used_in(&self, sequence: &Arc<Sequence>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.iter().any(|known| Arc::ptr_eq(known, sequence)) {
            // Sequences that nothing else keeps, and that have no operations left, need no longer be waited for.
            used.retain(|known| Arc::strong_count(known) > 1 || !known.is_idle());
            used.push(sequence.clone());
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let used = self.used.get_mut().unwrap_or_else(PoisonError::into_inner);
        Unused { code: self.code.clone(), used: mem::take(used) }.unload();
    }
}

/// Code that can't be launched any more, and the sequences in which launches of the code may still run.
pub(crate) struct Unused {
    code: Arc<dyn Code>,
    used: Vec<Arc<Sequence>>,
}

impl Unused {
    /// Unloads the code after its last launch.
    pub(crate) fn unload(mut self) {
        while let Some(sequence) = self.used.pop() {
            match sequence.settle(self) {
                Some(rest) => self = rest,
                None => return,
            }
        }
        drop(self.code);
    }
}
