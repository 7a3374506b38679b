//! Machine code that was built ahead of time.

use std::{fmt, sync::Arc};

use girih_ptx as ptx;

use crate::{Assembled, Assembler, Device, Error, Kind, Optimization, assembler::target, parts};

/// The first bytes of every bundle: what the file is, and the version of its format.
const MAGIC: &[u8] = b"girih bundle 1\n\0";

/// Modules and the machine code that NVIDIA's assembler has made of them, ahead of time: a program that has a bundle of its modules
/// compiles nothing on a GPU. `girih emit --bundle` writes one to a file, [`include_kernel!`](crate::include_kernel) makes it a part of a
/// program, and [`Device::provide`] gives it to a device.
///
/// # Examples
/// ```
/// use girih_device::{Assembler, Bundle, Device, Select};
/// # let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
/// let module = girih_ptx::Module::parse(text)?;
/// let device = Device::open(Select::Sim)?;
/// if let Some(assembler) = Assembler::find("ptxas") {
///     // One for each architecture on which the program is to run.
///     let bundles = [80, 90].map(|sm| Bundle::assemble(&assembler, sm, [&module]));
///     for bundle in bundles {
///         device.provide(&bundle?);
///     }
/// }
/// let kernel = device.load(&module)?.kernel("k")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Bundle {
    modules: Vec<Built>,
}

/// A module of a bundle.
#[derive(Clone, PartialEq, Eq)]
struct Built {
    /// The target of the code: `sm_90a`.
    target: String,
    /// The module's PTX.
    text: String,
    assembled: Arc<Assembled>,
}

impl Bundle {
    /// Compiles modules, or kernels of girih-codegen, for the architecture `sm`, 90 for instance.
    ///
    /// # Errors
    /// [`Error::NoAssembler`] if the assembler does not run; [`Error::Jit`] with its log if it refuses a module.
    pub fn assemble<'a, M: AsRef<ptx::Module> + 'a>(
        assembler: &Assembler,
        sm: u32,
        modules: impl IntoIterator<Item = &'a M>,
    ) -> Result<Bundle, Error> {
        let built = |module: &'a M| -> Result<Built, Error> {
            let module = module.as_ref();
            let assembled = Arc::new(assembler.assemble(module, sm, Optimization::Full)?);
            Ok(Built { target: target(module, sm), text: module.to_string(), assembled })
        };
        Ok(Bundle { modules: modules.into_iter().map(built).collect::<Result<_, _>>()? })
    }

    /// For each module, what its code is for (`sm_90a`), and its PTX.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.modules.iter().map(|module| (&*module.target, &*module.text))
    }

    /// The assembler's log of each module: registers, spills, warnings.
    pub fn logs(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(|module| module.assembled.log.as_str())
    }

    /// The bundle as a file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = self.modules.iter().flat_map(|Built { target, text, assembled }| {
            [target.as_bytes(), text.as_bytes(), assembled.log.as_bytes(), &assembled.code]
        });
        parts::encode(MAGIC, &parts.collect::<Vec<_>>())
    }

    /// The bundle of which a file has the bytes.
    ///
    /// # Errors
    /// [`Error::NoBundle`] for bytes that are not those of [`to_bytes`](Bundle::to_bytes): of another file, or damaged.
    ///
    /// # Safety
    /// The bytes come from [`to_bytes`](Bundle::to_bytes), or from `girih emit --bundle`. Who writes a bundle chooses what a GPU runs in the
    /// place of each module's text.
    #[allow(unsafe_code, reason = "what the code does cannot be checked")]
    pub unsafe fn from_bytes(bytes: &[u8]) -> Result<Bundle, Error> {
        let none = || Error::NoBundle { bytes: bytes.len() };
        let parts = parts::decode(MAGIC, bytes).ok_or_else(none)?;
        let (modules, []) = parts.as_chunks::<4>() else { return Err(none()) };
        let text = |part: &[u8]| String::from_utf8(part.to_vec()).map_err(|_| none());
        let built = |&[target, ptx, log, code]: &[&[u8]; 4]| -> Result<Built, Error> {
            let assembled = Arc::new(Assembled { code: code.to_vec(), log: text(log)? });
            Ok(Built { target: text(target)?, text: text(ptx)?, assembled })
        };
        Ok(Bundle { modules: modules.iter().map(built).collect::<Result<_, _>>()? })
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.modules.iter().map(|module| &module.target)).finish()
    }
}

/// Makes a file that `girih emit --bundle` wrote a part of the program, as a [`Bundle`] for [`Device::provide`]. The path is that of
/// [`include_bytes!`]: beside the source file that names it. The file is trusted as the source of the program is.
///
/// The result is that of [`Bundle::from_bytes`].
///
/// # Examples
/// ```no_run
/// # macro_rules! include_kernel { ($file:expr) => { girih_device::include_kernel!("lib.rs") } }
/// use girih_device::{Device, Select};
///
/// // girih emit gemm --dtype bf16 --kernel sm90 --bundle -o gemm.bundle
/// let device = Device::open(Select::Auto)?;
/// device.provide(&include_kernel!("gemm.bundle")?);
/// # Ok::<(), girih_device::Error>(())
/// ```
#[macro_export]
macro_rules! include_kernel {
    ($file:expr $(,)?) => {{
        #[allow(unsafe_code, reason = "the file is a source of the program")]
        fn included(bytes: &[u8]) -> ::core::result::Result<$crate::Bundle, $crate::Error> {
            // SAFETY: a file among the sources of a program is what the program's author put there.
            unsafe { $crate::Bundle::from_bytes(bytes) }
        }
        included(::core::include_bytes!($file))
    }};
}

impl Device {
    /// Lets [`load`](Device::load) take the code of a bundle for the modules that are in it, for this device and all its streams, instead of
    /// compiling them; returns how many of its modules have code that this device runs. Modules with the same text that are loaded
    /// already stay as they are, and so does what is loaded with [`Optimization::None`]. The simulator runs every text as it is written.
    pub fn provide(&self, bundle: &Bundle) -> usize {
        let sm = self.limits().sm;
        let used =
            bundle.modules.iter().filter(|module| self.kind() == Kind::Cuda && runs(&module.target, sm));
        used.map(|module| self.modules.provide(&module.text, &module.assembled)).count()
    }
}

/// Whether code for a target such as `sm_90a` runs on the architecture `sm`: that of a plain one also on newer ones of the same generation
/// (PTX ISA, ".target"; CUDA Programming Guide, "Binary Compatibility").
fn runs(target: &str, sm: u32) -> bool {
    let number = target.strip_prefix("sm_").unwrap_or_default();
    let plain = number.trim_end_matches(['a', 'f']);
    let Ok(of) = plain.parse::<u32>() else { return false };
    if plain == number { of / 10 == sm / 10 && of <= sm } else { of == sm }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> Bundle {
        let built = |target: &str, text: &str, code: &[u8]| Built {
            target: target.into(),
            text: text.into(),
            assembled: Arc::new(Assembled { code: code.into(), log: format!("log of {text}") }),
        };
        Bundle { modules: vec![built("sm_80", "first", b"\x7fELF"), built("sm_90a", "second", b"")] }
    }

    #[allow(unsafe_code, reason = "the tests load no code")]
    fn read(bytes: &[u8]) -> Result<Bundle, Error> {
        // SAFETY: no code is loaded.
        unsafe { Bundle::from_bytes(bytes) }
    }

    #[test]
    fn a_bundle_is_read_as_it_is_written() -> Result<(), Error> {
        let empty = Bundle { modules: Vec::new() };
        assert_eq!(read(&empty.to_bytes())?, empty);
        let bytes = bundle().to_bytes();
        assert_eq!(read(&bytes)?, bundle());
        assert!(read(&bytes)?.modules().eq([("sm_80", "first"), ("sm_90a", "second")]));
        assert_eq!(read(&bytes)?.logs().collect::<Vec<_>>(), ["log of first", "log of second"]);
        let [short, other] = [&bytes[..bytes.len() - 1], b"\x7fELF"].map(read);
        for (found, bytes) in [(short, bytes.len() - 1), (other, 4)] {
            assert!(matches!(found, Err(Error::NoBundle { bytes: of }) if of == bytes), "{found:?}");
        }
        // Whole, but not of modules.
        for parts in [&[&b"one part"[..]][..], &[b"\xff", b"", b"", b""]] {
            assert!(matches!(read(&parts::encode(MAGIC, parts)), Err(Error::NoBundle { .. })));
        }
        Ok(())
    }

    #[test]
    fn code_runs_on_its_generation_or_on_its_architecture() {
        for (target, on) in [
            ("sm_80", &[80, 86, 89][..]),
            ("sm_86", &[86, 89]),
            ("sm_90", &[90]),
            ("sm_90a", &[90]),
            ("90", &[]),
        ] {
            let found: Vec<_> =
                [75, 80, 86, 89, 90, 100].into_iter().filter(|&sm| runs(target, sm)).collect();
            assert_eq!(found, on, "{target}");
        }
    }
}
