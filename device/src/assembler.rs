//! NVIDIA's assembler `ptxas`, if it is installed.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use girih_ptx as ptx;

use crate::{Error, Optimization};

/// NVIDIA's assembler `ptxas`, which compiles PTX to the machine code of one architecture (a cubin) without a GPU. It comes with the CUDA
/// toolkit; girih does not need it.
///
/// # Examples
/// ```
/// use girih_device::{Assembler, Optimization};
/// # let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
/// let module = girih_ptx::Module::parse(text)?;
/// if let Some(assembler) = Assembler::find("ptxas") {
///     let built = assembler.assemble(&module, 90, Optimization::Full)?;
///     assert!(built.code.starts_with(b"\x7fELF"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assembler {
    path: PathBuf,
}

/// The result of assembling a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The machine code: an ELF file, which NVIDIA calls a cubin.
    pub code: Vec<u8>,
    /// The assembler's log: registers, spills, warnings.
    pub log: String,
}

impl Assembler {
    /// The program of this path, or of this name in the folders of `PATH`; `None` if there is no such file.
    pub fn find(program: impl AsRef<Path>) -> Option<Assembler> {
        let program = program.as_ref();
        let folders = env::var_os("PATH").unwrap_or_default();
        // As in a shell, a name alone is not searched for in the current folder.
        let here = (program.components().count() > 1).then(|| program.to_path_buf());
        let file = [program.as_os_str(), env::consts::EXE_SUFFIX.as_ref()].into_iter().collect::<OsString>();
        let named = env::split_paths(&folders).map(|folder| folder.join(&file));
        let path = here.into_iter().chain(named).find(|path| path.is_file())?;
        Some(Assembler { path })
    }

    /// The assembler that the environment variable `GIRIH_PTXAS` names, by its path or as a program in `PATH`; `None` without the variable. If it is
    /// set, [`Device::load`](crate::Device::load) compiles modules with this assembler instead of the driver's compiler.
    ///
    /// # Errors
    /// [`Error::NoAssembler`] if there is no such program.
    pub fn from_env() -> Result<Option<Assembler>, Error> {
        let Some(program) = env::var_os("GIRIH_PTXAS").filter(|program| !program.is_empty()) else {
            return Ok(None);
        };
        let path = PathBuf::from(program);
        let missing = || Error::NoAssembler { path: path.clone(), reason: "there is no such program".into() };
        Assembler::find(&path).map(Some).ok_or_else(missing)
    }

    /// The program's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compiles a module for the architecture `sm`, 90 for instance. A module whose target is specific to an architecture or a family (`sm_90a`) is
    /// compiled for that target.
    ///
    /// # Errors
    /// [`Error::NoAssembler`] if the program does not run; [`Error::Jit`] with its log if it refuses the module.
    pub fn assemble(
        &self,
        module: &impl AsRef<ptx::Module>,
        sm: u32,
        optimization: Optimization,
    ) -> Result<Assembled, Error> {
        let module = module.as_ref();
        self.compile(&module.to_string(), &target(module, sm), optimization)
    }

    pub(crate) fn compile(
        &self,
        text: &str,
        target: &str,
        optimization: Optimization,
    ) -> Result<Assembled, Error> {
        // Other users must not write the file that is read back: the folder is its owner's alone, and its name is random.
        let folder =
            tempfile::Builder::new().prefix("girih-").tempdir().map_err(|error| self.failed(&error))?;
        self.run(text, target, optimization, &folder.path().join("code.cubin"))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::NoAssembler { path: self.path.clone(), reason: error.to_string() }
    }

    fn run(
        &self,
        text: &str,
        target: &str,
        optimization: Optimization,
        output: &Path,
    ) -> Result<Assembled, Error> {
        let failed = |error: io::Error| self.failed(&error);
        let mut command = Command::new(&self.path);
        command.args([
            "--verbose",
            "--gpu-name",
            target,
            "--opt-level",
            level(optimization),
            "--output-file",
        ]);
        command.arg(output).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        // An assembler that has refused its arguments reads nothing; its log says why.
        let _ = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
        let done = child.wait_with_output().map_err(failed)?;
        let log =
            [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        if !done.status.success() {
            let line = first_line(&log, text);
            return Err(Error::Jit {
                compiler: "ptxas",
                code: done.status.to_string(),
                log: log.trim_end().into(),
                line,
            });
        }
        Ok(Assembled { code: fs::read(output).map_err(failed)?, log: log.trim_end().into() })
    }
}

/// The target, `--gpu-name`, of a module on a device of the architecture `sm`.
pub(crate) fn target(module: &ptx::Module, sm: u32) -> String {
    match module.target {
        ptx::Target { sm, suffix: Some(suffix) } => format!("sm_{sm}{suffix}"),
        ptx::Target { suffix: None, .. } => format!("sm_{sm}"),
    }
}

/// The value of `--opt-level`. 3 is the highest.
fn level(optimization: Optimization) -> &'static str {
    match optimization {
        Optimization::None => "0",
        Optimization::Full => "3",
    }
}

/// The first line number that an error in the log names (`..., line 12; error : ...`), from 1, with that line of `ptx`.
pub(crate) fn first_line(log: &str, ptx: &str) -> Option<(usize, String)> {
    let number = log.lines().find_map(|line| {
        let digits = line.split_once("line ")?.1;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<usize>().ok()
    })?;
    Some((number, ptx.lines().nth(number.checked_sub(1)?)?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_compiled_for_the_device_unless_it_names_one() {
        let target = |sm, suffix, device| {
            let text = format!(".version 8.0 .target sm_{sm}{suffix} .address_size 64");
            ptx::Module::parse(&text).map(|module| super::target(&module, device))
        };
        assert_eq!(target(80, "", 90), Ok("sm_90".into()));
        assert_eq!(target(90, "a", 90), Ok("sm_90a".into()));
        assert_eq!(target(100, "f", 103), Ok("sm_100f".into()));
    }

    #[test]
    fn a_program_that_is_not_there_is_none() {
        assert!(Assembler::find("no-such-assembler").is_none());
        assert!(Assembler::find("/no/such/assembler").is_none());
        assert!(Assembler::find(env::temp_dir()).is_none(), "a folder is no program");
    }

    #[test]
    fn an_error_points_at_its_line() {
        let ptx = ".version 8.0\n.target sm_80\n  bad.u32 %r0;\n";
        let log = "ptxas application ptx input, line 3; error   : Not a name of any known instruction: 'bad'";
        assert_eq!(first_line(log, ptx), Some((3, "  bad.u32 %r0;".into())));
        for log in ["", "ptxas fatal : aborted", "line ; error", "line 0; error", "line 99; error"] {
            assert_eq!(first_line(log, ptx), None, "{log}");
        }
    }
}
