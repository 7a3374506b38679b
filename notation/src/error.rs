//! The errors of unknown names, and of files of arrays that cannot be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::names::{did_you_mean, did_you_mean_of};

/// The most characters that are quoted of what is wrong with a file.
const QUOTED: usize = 200;

/// A text that names nothing, or an argument of a kernel that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text cannot be read.
    #[error("`{text}`: expected {expected}")]
    Argument {
        /// The text.
        text: String,
        /// The accepted text.
        expected: String,
    },
    /// A name that is no dtype.
    #[error("{source}{}", did_you_mean(.near))]
    UnknownDType {
        /// The library's error, with all dtypes.
        source: Box<girih_tensor::Error>,
        /// The dtypes whose names are most like it.
        near: Vec<String>,
    },
    /// No atom has the name.
    #[error("there is no atom `{name}`{}", did_you_mean_of(.near, "girih list atoms"))]
    UnknownAtom {
        /// The name.
        name: String,
        /// The names that are most like this name.
        near: Vec<String>,
    },
    /// A file cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not begin as an `.npy` file does.
    #[error("{} is not an .npy file: {source}", .path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// The error in its header.
        source: io::Error,
    },
    /// The elements of a file are not little-endian.
    #[error("{} is big-endian ({descr}): little-endian files are accepted (numpy: a.astype(a.dtype.newbyteorder('<')))", .path.display())]
    BigEndian {
        /// The file.
        path: PathBuf,
        /// The dtype of the file as numpy writes it.
        descr: String,
    },
    /// The elements of a file are not of a type that a kernel's parameter can point to.
    #[error("{} holds {descr}: integers of 8 to 64 bits, '<f2', '<f4', '<f8', '|b1' and the opaque '|V1' and '|V2' are accepted", .path.display())]
    ElementOfArray {
        /// The file.
        path: PathBuf,
        /// The dtype of the file as numpy writes it.
        descr: String,
    },
    /// A file ends before the last element of its array.
    #[error("{} is cut short: its shape {} needs {needed} bytes of elements, {found} are there", .path.display(), Extents(.shape))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The shape of the array.
        shape: Vec<u64>,
        /// Bytes that the elements need.
        needed: u128,
        /// Bytes after the header.
        found: u64,
    },
    /// No tensor map can describe the array.
    #[error("{} holds {descr}: a tensor map takes C-order arrays of u8, u16, u32, s32, u64, s64, f16, f32 and f64, or of the type that the argument names", .path.display())]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// The dtype of the file as numpy writes it.
        descr: String,
    },
    /// A tensor map that there cannot be.
    #[error(transparent)]
    TensorMap(#[from] girih_ptx::Error),
    /// The simulator's memory refuses an array.
    #[error(transparent)]
    Memory(Box<girih_sim::Error>),
}

impl Error {
    /// The error for a file that cannot be read.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Read { path: path.into(), source }
    }

    /// The error for the header of an `.npy` file: that it can't be read, or that it is none. Of a long header, the beginning is quoted.
    pub fn header(path: &Path) -> impl FnOnce(io::Error) -> Error {
        use io::ErrorKind::{InvalidData, UnexpectedEof};

        move |source| match source.kind() {
            kind @ (InvalidData | UnexpectedEof) => {
                let text = source.to_string();
                let mut short: String = text.chars().take(QUOTED).collect();
                short += if short.len() < text.len() { "..." } else { "" };
                Error::NotNpy { path: path.into(), source: io::Error::new(kind, short) }
            }
            _ => Error::Read { path: path.into(), source },
        }
    }
}

impl From<girih_sim::Error> for Error {
    fn from(error: girih_sim::Error) -> Error {
        Error::Memory(Box::new(error))
    }
}

/// A shape as numpy writes it: `()`, `(3,)`, `(3, 4)`.
pub struct Extents<'a>(pub &'a [u64]);

impl fmt::Display for Extents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            extents => {
                let texts: Vec<_> = extents.iter().map(u64::to_string).collect();
                write!(f, "({})", texts.join(", "))
            }
        }
    }
}
