//! Errors of tile programs.
//!
//! # Examples
//! ```
//! use girih_tile::error::{Error, Fault};
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn sums(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let sum = x.tiles([8]).load((0,)) + x.tiles([16]).load((0,));
//!     y.tiles_mut([16]).store((0,), sum);
//! }
//!
//! // All that is wrong is told at once, each with its place.
//! let Err(Error::Build(found)) = sums::ir() else { unreachable!("8 and 16 do not broadcast") };
//! assert!(matches!(found[0].fault, Fault::Broadcast { axis: 0, extents: [8, 16], .. }));
//! assert!(found[0].site.line > 0);
//! ```

mod fault;
#[cfg(feature = "launch")]
mod launch;

use std::fmt;

pub use fault::Fault;
pub(crate) use fault::ensure;
#[cfg(feature = "launch")]
pub use launch::{LaunchError, Warning, Warnings};

/// A place in the source of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Site {
    /// The place of the caller.
    #[track_caller]
    pub fn caller() -> Site {
        Site::from(std::panic::Location::caller())
    }

    /// Whether a place in a kernel is this one.
    pub(crate) fn is(&self, place: &girih_ptx::Site) -> bool {
        (self.file, self.line, self.column) == (&*place.file, place.line, place.column)
    }
}

impl From<&'static std::panic::Location<'static>> for Site {
    fn from(at: &'static std::panic::Location<'static>) -> Site {
        Site { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl From<Site> for girih_codegen::Line {
    fn from(Site { file, line, column }: Site) -> girih_codegen::Line {
        girih_codegen::Line { file, line, column }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A fault at its place, with the helpers through which the kernel came there, the innermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Where.
    pub site: Site,
    /// What.
    pub fault: Fault,
    /// The helper functions on the way, each with the place of its call.
    pub stack: Vec<(&'static str, Site)>,
}

impl Diagnostic {
    /// A fault of an operation, which is at no place of the source if the program was made without one.
    pub(crate) fn at(site: Option<Site>, fault: Fault) -> Diagnostic {
        let site = site.unwrap_or(Site { file: "kernel", line: 0, column: 0 });
        Diagnostic { site, fault, stack: Vec::new() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.site, self.fault)?;
        self.stack.iter().try_for_each(|(name, site)| write!(f, "\n  in `{name}`, called at {site}"))
    }
}

/// A result whose error is that of tile programs.
pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a tile program does not become a kernel, or does not run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is wrong; all that was found.
    #[error("{}", list(.0))]
    Build(Vec<Diagnostic>),
    /// No placement fits the device.
    #[error("placement: {0}")]
    Place(Box<Fault>),
    /// An operation that the device does not have, at its place.
    #[error("lowering: {0}")]
    Lower(Box<Diagnostic>),
    /// A plan whose parts do not go together, by a fault of girih.
    #[error("lowering contradicts itself (a fault of girih): {0}")]
    Contradiction(String),
    /// Code generation refused.
    #[error(transparent)]
    Codegen(#[from] girih_codegen::Error),
    /// A text that is no tile program.
    #[error("line {line}: {message}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what is accepted.
        message: String,
    },
    /// A launch, or an array for one, that is refused.
    #[cfg(feature = "launch")]
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The simulator found something wrong in the kernel of a launch.
    #[cfg(feature = "launch")]
    #[error("{words}\n  {error}")]
    Finding {
        /// The user's operation and its place, and what is wrong as far as the program says it.
        words: String,
        /// The finding, with the instruction and the thread.
        error: std::sync::Arc<girih_device::Error>,
    },
    /// The device refused.
    #[cfg(feature = "launch")]
    #[error("{0}")]
    Device(std::sync::Arc<girih_device::Error>),
    /// A program that breaks a rule of the representation: an operation, and the rule.
    #[error("verification: {0}")]
    Verify(String),
}

impl From<girih_layout::Error> for Error {
    fn from(error: girih_layout::Error) -> Error {
        Error::Codegen(error.into())
    }
}

#[cfg(feature = "launch")]
impl From<girih_device::Error> for Error {
    fn from(error: girih_device::Error) -> Error {
        Error::Device(std::sync::Arc::new(error))
    }
}

fn list(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}
