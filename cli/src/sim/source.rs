//! The PTX file, and the kernel that is chosen from the file.

use std::path::Path;

use girih_ptx::Module;

use crate::Error;

/// The one of these kernels that has a name: as it is in the file, or as the source has it (`saxpy` for
/// `_Z5saxpyifPf`). A name that none has stays as it is, so that loading the kernel refuses it.
pub(super) fn named(name: &str, kernels: &[String]) -> Result<String, Error> {
    if kernels.iter().any(|kernel| kernel == name) {
        return Ok(name.into());
    }
    let mut found = kernels.iter().filter(|kernel| girih_sim::is_named(kernel, name));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.clone()),
        (None, _) => Ok(name.into()),
        (Some(_), Some(_)) => {
            let all = kernels.iter().filter(|kernel| girih_sim::is_named(kernel, name));
            Err(Error::KernelAmbiguous { name: name.into(), kernels: all.cloned().collect() })
        }
    }
}

/// A file's module, and the kernel that was chosen.
pub(crate) struct Source {
    /// The text of the file.
    pub(crate) text: String,
    /// The kernels and functions of the file that could be parsed.
    pub(crate) module: Module,
    /// The kernel's name.
    pub(crate) kernel: String,
}

impl Source {
    /// Reads a file and chooses its only kernel, or the kernel of this name. Errors in other kernels are ignored.
    pub(crate) fn read(file: &Path, kernel: Option<&str>) -> Result<Source, Error> {
        let text = std::fs::read_to_string(file).map_err(Error::read(file))?;
        let refuse =
            |error: &girih_ptx::Error| Error::Ptx { file: file.into(), message: error.quoting(&text) };
        let (module, refused) = Module::parse_each(&text).map_err(|error| refuse(&error))?;
        let refused = || refused.iter().filter(|refused| refused.kernel);
        let mut kernels: Vec<String> =
            module.kernels().iter().map(|kernel| kernel.name.to_string()).collect();
        kernels.extend(refused().map(|refused| refused.name.to_string()));
        let kernel = match (kernel, &kernels[..]) {
            (Some(name), _) => named(name, &kernels)?,
            (None, [only]) => only.clone(),
            (None, _) => return Err(Error::KernelNeeded { file: file.into(), kernels }),
        };
        match refused().find(|refused| *refused.name == *kernel) {
            Some(refused) => Err(refuse(&refused.error)),
            None => Ok(Source { module, kernel, text }),
        }
    }
}
