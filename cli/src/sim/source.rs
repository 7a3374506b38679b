//! The PTX file, and the kernel that is chosen from the file.

use std::path::Path;

use girih_ptx::Module;

use crate::Error;

/// A file's module, and the kernel that was chosen.
pub(crate) struct Source {
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
            (Some(name), _) => name.into(),
            (None, [only]) => only.clone(),
            (None, _) => return Err(Error::KernelNeeded { file: file.into(), kernels }),
        };
        match refused().find(|refused| *refused.name == *kernel) {
            Some(refused) => Err(refuse(&refused.error)),
            None => Ok(Source { module, kernel }),
        }
    }
}
