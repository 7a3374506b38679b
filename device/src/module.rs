//! Loaded modules and their kernels.

use std::{fmt, sync::Arc};

use girih_ptx::{self as ptx, KernelInfo, Target};

use crate::{Device, Error, Optimization, Resources, backend::Entry, stream::Loaded};

/// A module compiled for a device ([`Device::load`]). Clones, and modules that were loaded from the same text, are handles of the
/// same code. The code is unloaded after its last launch when no module, kernel, launch or graph of the code is left.
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
        device.sequence.refuse_in_capture("Device::load")?;
        Ok(Module {
            device: device.clone(),
            loaded: device.modules.load(device.backend(), module, optimization)?,
        })
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
        self.device.sequence.refuse_in_capture("Module::kernel")?;
        let (entry, info) = (self.loaded.entry(kernel)?, kernel.info.clone());
        self.loaded.used_in(&self.device.sequence);
        Ok(Kernel { device: self.device.clone(), loaded: self.loaded.clone(), entry, info })
    }

    /// The signatures of the module's kernels, in order.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = &KernelInfo> {
        self.loaded.kernels.iter().map(|kernel| &*kernel.info)
    }

    /// The log of the compiler: registers, spills, warnings. It is empty on the simulator, and where the driver found the code in
    /// its cache on disk.
    pub fn log(&self) -> &str {
        self.loaded.code.log()
    }
}

impl Device {
    /// Compiles a module, or a kernel of girih-codegen, for the device: with the driver's compiler on a GPU, with the
    /// simulator's decoder otherwise.
    ///
    /// Modules with the same text and the same [notes](girih_ptx::Notes) are compiled once, and share their code: as long as a
    /// module, a kernel, a launch or a graph of the first one is left, to load a second one takes only the time to print and to
    /// compare the text. This is true of all clones and streams of the device and of all threads; threads that load the same
    /// module at the same time wait for one of them to compile it. A device that is opened again shares no code with the first,
    /// since the contexts that the two were opened on may be destroyed at different times.
    ///
    /// What was built ahead of time and [provided](Device::provide) is not compiled.
    ///
    /// Between processes the driver keeps compiled code itself, in a cache on disk, which the environment variables
    /// `CUDA_CACHE_PATH`, `CUDA_CACHE_MAXSIZE` and `CUDA_CACHE_DISABLE` control (CUDA Programming Guide, "CUDA Environment
    /// Variables"), and which a new driver begins anew.
    ///
    /// Where the environment variable `GIRIH_PTXAS` names NVIDIA's assembler ([`Assembler::from_env`](crate::Assembler::from_env)), a
    /// GPU's modules are compiled by the assembler, and girih keeps what it makes of them on disk: in the folder that `GIRIH_CACHE`
    /// names, or else in `girih` in the platform's folder of caches (`~/.cache/girih` on Linux), at most 256 MiB, of which the least
    /// recently used goes first. An empty `GIRIH_CACHE` keeps nothing. The key is the text, the architecture, the optimisation, and the
    /// file, size and time of the assembler; an entry that is damaged is built again. A program that reads its modules from a folder that
    /// was filled before compiles nothing.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; [`Error::NoAssembler`] if `GIRIH_PTXAS` names none; [`Error::UntrustedCache`] if somebody else can
    /// write in the folder of built code; [`Error::WrongTarget`] when the device can't run the module's `.target`;
    /// [`Error::Jit`] with the compiler's log and the PTX line that the log names; [`Error::Sim`] naming an instruction that
    /// the simulator does not know.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// # let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
    /// let module = girih_ptx::Module::parse(text)?;
    /// let device = Device::open(Select::Sim)?;
    /// let first = device.load(&module)?;
    /// let again = device.new_stream()?.load(&module)?; // the same code, for another stream
    /// # assert_eq!(first.kernels().len(), again.kernels().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self, module: &impl AsRef<ptx::Module>) -> Result<Module, Error> {
        self.load_with(module, Optimization::Full)
    }

    /// As [`load`](Device::load), with a choice of how far the driver's compiler optimises. Modules that are optimised
    /// differently are different code.
    ///
    /// # Errors
    /// As [`load`](Device::load).
    pub fn load_with(
        &self,
        module: &impl AsRef<ptx::Module>,
        optimization: Optimization,
    ) -> Result<Module, Error> {
        Module::load(self, module.as_ref(), optimization)
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
