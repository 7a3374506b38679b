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

/// How far a GPU's driver optimises a module that it compiles. The simulator runs the text as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// Not at all (the driver's level 0): every instruction by itself. Where this gives another result than
    /// [`Optimization::Full`], the compiler is at fault, or the program relies on what the PTX ISA leaves open.
    None,
    /// As far as the driver goes by itself (its level 4).
    #[default]
    Full,
}

/// Loaded code, unloaded behind its last launch. All modules of a device that were loaded from the same source share it.
pub(crate) struct Loaded {
    source: Source,
    code: Arc<dyn Code>,
    kernels: Box<[Known]>,
    /// The sequences that kernels of it are launched into.
    used: Mutex<Vec<Arc<Sequence>>>,
}

/// A kernel of loaded code.
struct Known {
    info: Arc<KernelInfo>,
    /// What launches it, from the first time on that someone asks for it.
    entry: Mutex<Option<Arc<dyn Entry>>>,
}

impl Loaded {
    pub(crate) fn load(device: &Device, module: &ptx::Module, source: Source) -> Result<Loaded, Error> {
        let code = device.backend().load(module, source.optimization())?;
        let known = |info| Known { info: Arc::new(info), entry: Mutex::default() };
        let kernels = module.kernels().into_iter().map(known).collect();
        Ok(Loaded { source, code, kernels, used: Mutex::default() })
    }

    /// What it was loaded from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// What launches a kernel. It is one for all handles of the kernel, since the driver keeps with its function what the function
    /// is allowed.
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
            // Streams that only this keeps, and that have nothing left to do, are let go.
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

/// Code that nobody can launch any more, and the sequences in which launches of it may still run.
pub(crate) struct Unused {
    code: Arc<dyn Code>,
    used: Vec<Arc<Sequence>>,
}

impl Unused {
    /// Lets go of it behind the last launch.
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

/// A module compiled for a device. Clones, and modules that were loaded from the same text, are handles of the same code, which
/// is unloaded behind its last launch when no module, kernel, launch or graph of it is left.
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
    /// [`Error::NoSuchKernel`] with the names that there are; [`Error::NotCaptured`] in a capture.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let Some(kernel) = self.loaded.kernels.iter().find(|kernel| &*kernel.info.name == name) else {
            let available = self.kernels().map(|info| info.name.to_string()).collect();
            return Err(Error::NoSuchKernel { kernel: name.into(), available });
        };
        // The driver may load a kernel only now.
        self.device.refuse_in_capture("Module::kernel")?;
        let (entry, info) = (self.loaded.entry(kernel)?, kernel.info.clone());
        self.loaded.used_in(&self.device.sequence);
        Ok(Kernel { device: self.device.clone(), loaded: self.loaded.clone(), entry, info })
    }

    /// The signatures of the module's kernels, in order.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = &KernelInfo> {
        self.loaded.kernels.iter().map(|kernel| &*kernel.info)
    }

    /// What the driver's compiler said: registers, spills, warnings. Empty on the simulator.
    pub fn log(&self) -> &str {
        self.loaded.code.log()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kernels().map(|info| &info.name)).finish()
    }
}

/// A kernel ready to be launched; [`Kernel::launch`] is in the module of launches. Clones are handles of the same kernel.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) device: Device,
    // Dropped before the entry, whose code must not be unloaded while a launch of it runs.
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) entry: Arc<dyn Entry>,
    pub(crate) info: Arc<KernelInfo>,
}

impl Kernel {
    /// Its signature, from the PTX.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// The device that it is launched on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The same kernel, launched into another stream of its device.
    ///
    /// # Errors
    /// [`Error::ForeignKernel`] for another GPU or simulator than the kernel was loaded on.
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

    /// What a launch takes of the device.
    pub fn resources(&self) -> Resources {
        self.entry.resources()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({} on {:?})", self.info.name, self.device)
    }
}

/// What a kernel takes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of a thread; none on the simulator.
    pub registers: Option<u32>,
    /// Bytes of a thread's local memory, spilled registers included; none on the simulator.
    pub local_bytes: Option<u32>,
    /// Bytes of the spill stores and loads that the compiler reports; none on the simulator or without a report.
    pub spill_bytes: Option<u32>,
    /// Bytes of shared memory that the kernel declares, dynamic part excluded.
    pub static_shared: u32,
    /// Most threads of a block.
    pub max_threads: u32,
    /// Instructions in the PTX text, not the machine's.
    pub instructions: usize,
}

/// PTX ISA, ".target": plain targets run on newer devices as well, `a` on one architecture, `f` within a family.
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
