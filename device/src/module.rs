//! Loaded modules and their kernels.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
};

use girih_ptx::{self as ptx, KernelInfo, Target};

use crate::{
    Device, Error,
    backend::{Code, Entry},
    cache::Source,
    stream::Sequence,
};

/// How far a GPU's driver optimises a module that it compiles. The simulator runs every text as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// Not at all (the driver's level 0): every instruction is translated by itself. If the results differ from those of
    /// [`Optimization::Full`], the compiler is at fault, or the program relies on something that the PTX ISA does not promise.
    None,
    /// As far as the driver goes by default (its level 4).
    #[default]
    Full,
}

/// Loaded code, which all modules of a device share that were loaded from the same source. It is unloaded behind its last launch.
pub(crate) struct Loaded {
    source: Source,
    code: Arc<dyn Code>,
    kernels: Box<[Known]>,
    /// The sequences into which kernels of this code are launched.
    used: Mutex<Vec<Arc<Sequence>>>,
}

/// A kernel of loaded code.
struct Known {
    info: Arc<KernelInfo>,
    /// The entry that launches the kernel, once a handle of the kernel has been made.
    entry: Mutex<Option<Arc<dyn Entry>>>,
}

impl Loaded {
    pub(crate) fn load(device: &Device, module: &ptx::Module, source: Source) -> Result<Loaded, Error> {
        let code = device.backend().load(module, source.optimization())?;
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
    fn entry(&self, kernel: &Known) -> Result<Arc<dyn Entry>, Error> {
        let mut entry = kernel.entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = &*entry {
            return Ok(entry.clone());
        }
        Ok(entry.insert(self.code.kernel(&kernel.info)?).clone())
    }

    fn used_in(&self, sequence: &Arc<Sequence>) {
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
    /// Unloads the code behind its last launch.
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

/// A module compiled for a device ([`Device::load`]). Clones, and modules that were loaded from the same text, are handles of the
/// same code. The code is unloaded behind its last launch when no module, kernel, launch or graph of the code is left.
#[derive(Clone)]
pub struct Module {
    device: Device,
    pub(crate) loaded: Arc<Loaded>,
}

impl Module {
    pub(crate) fn load(
        device: &Device,
        module: &ptx::Module,
        optimization: Optimization,
    ) -> Result<Module, Error> {
        check_target(module.target, device.limits().sm)?;
        device.refuse_in_capture("Device::load")?;
        Ok(Module { device: device.clone(), loaded: device.modules.load(device, module, optimization)? })
    }

    /// A kernel of the module.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] with the names of the module's kernels; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let Some(kernel) = self.loaded.kernels.iter().find(|kernel| &*kernel.info.name == name) else {
            let available = self.kernels().map(|info| info.name.to_string()).collect();
            return Err(Error::NoSuchKernel { kernel: name.into(), available });
        };
        // The driver may load the kernel only now, which no graph can hold.
        self.device.refuse_in_capture("Module::kernel")?;
        let (entry, info) = (self.loaded.entry(kernel)?, kernel.info.clone());
        self.loaded.used_in(&self.device.sequence);
        Ok(Kernel { device: self.device.clone(), loaded: self.loaded.clone(), entry, info })
    }

    /// The signatures of the module's kernels, in order.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = &KernelInfo> {
        self.loaded.kernels.iter().map(|kernel| &*kernel.info)
    }

    /// The log of the driver's compiler: registers, spills, warnings. It is empty on the simulator, and where the driver found
    /// the code in its cache on disk.
    pub fn log(&self) -> &str {
        self.loaded.code.log()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kernels().map(|info| &info.name)).finish()
    }
}

/// A kernel of a loaded module, to be launched into one stream of its device. Clones are handles of the same kernel.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) device: Device,
    // This is dropped before the entry: it waits for the launches, and the entry may be the last to keep the code loaded.
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) entry: Arc<dyn Entry>,
    pub(crate) info: Arc<KernelInfo>,
}

impl Kernel {
    /// The kernel's signature, which comes from the PTX and the module's notes.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// The device into whose stream the kernel is launched.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The same kernel for launches into another stream of its device.
    ///
    /// # Errors
    /// [`Error::ForeignKernel`] for a stream of another GPU or simulator than the kernel was loaded on.
    ///
    /// ```
    /// # use girih_device::{Device, LaunchConfig, Select};
    /// # let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
    /// # let module = girih_ptx::Module::parse(text)?;
    /// let device = Device::open(Select::Sim)?;
    /// let kernel = device.load(&module)?.kernel("k")?;
    /// let beside = kernel.on(&device.new_stream()?)?;
    /// // SAFETY: the kernel does nothing.
    /// unsafe { beside.launch(&LaunchConfig::linear(32, 32), &[])? };
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on(&self, stream: &Device) -> Result<Kernel, Error> {
        if !stream.is_same(&self.device) {
            return Err(Error::ForeignKernel { kernel: self.info.name.to_string() });
        }
        self.loaded.used_in(&stream.sequence);
        Ok(Kernel { device: stream.clone(), ..self.clone() })
    }

    /// The resources of the device that a launch of the kernel takes.
    pub fn resources(&self) -> Resources {
        self.entry.resources()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({} on {:?})", self.info.name, self.device)
    }
}

/// The resources of a device that a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of a thread; none on the simulator.
    pub registers: Option<u32>,
    /// Bytes of a thread's local memory, spilled registers included; none on the simulator.
    pub local_bytes: Option<u32>,
    /// Bytes of the spill stores and loads that the compiler reports; none on the simulator or without a report.
    pub spill_bytes: Option<u32>,
    /// Bytes of shared memory that the kernel declares, without dynamic shared memory.
    pub static_shared: u32,
    /// The most threads that a block may have.
    pub max_threads: u32,
    /// The number of instructions in the PTX text. The GPU's code has other instructions.
    pub instructions: usize,
}

/// Checks whether a device runs modules of a target (PTX ISA, ".target"): plain targets run on newer devices as well, targets
/// with `a` on one architecture, targets with `f` on a family of architectures.
fn check_target(module: Target, device: u32) -> Result<(), Error> {
    let Target { sm, suffix } = module;
    let (runs, rule) = match suffix {
        None => (device >= sm, "a plain target runs on its own architecture and newer ones"),
        Some('f') => (device >= sm && device / 10 == sm / 10, "an `f` target runs on its family only"),
        Some(_) => (device == sm, "an `a` target runs on exactly its architecture"),
    };
    if runs {
        return Ok(());
    }
    let suffix = suffix.map_or_else(String::new, String::from);
    Err(Error::WrongTarget { module: format!("sm_{sm}{suffix}"), device: format!("sm_{device}"), rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_runs_where_the_isa_says() {
        let runs = |sm, suffix, device| check_target(Target { sm, suffix }, device).is_ok();
        for sm in [80, 86, 89, 90, 100, 103, 120] {
            for device in [80, 86, 89, 90, 100, 103, 120] {
                assert_eq!(runs(sm, None, device), sm <= device);
                assert_eq!(runs(sm, Some('a'), device), sm == device);
            }
        }
    }

    #[test]
    fn a_family_target_runs_on_its_family_from_its_member_on() {
        for (sm, device, wanted) in [
            (100, 100, true),
            (100, 103, true),
            (103, 100, false),
            (103, 103, true),
            (100, 120, false),
            (120, 121, true),
            (120, 100, false),
            (100, 90, false),
        ] {
            let target = Target { sm, suffix: Some('f') };
            assert_eq!(check_target(target, device).is_ok(), wanted, "sm_{sm}f on sm_{device}");
        }
    }

    #[test]
    fn a_wrong_target_says_what_it_needs() {
        let error = check_target(Target { sm: 90, suffix: Some('a') }, 100).map_err(|e| e.to_string());
        let wanted =
            "the module is for sm_90a, the device is sm_100: an `a` target runs on exactly its architecture";
        assert_eq!(error, Err(wanted.to_string()));
    }
}
