//! What a command can refuse of its own; the libraries' errors pass through as they are.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use girih_tensor::DType;

/// An error of the commands that run or emit kernels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that can't be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that can't be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that does not begin as an `.npy` file does.
    #[error("{} is not an .npy file: {source}", .path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What is wrong with its header.
        source: io::Error,
    },
    /// Elements that are not little-endian.
    #[error("{} is big-endian ({descr}): little-endian files are accepted (numpy: a.astype(a.dtype.newbyteorder('<')))", .path.display())]
    BigEndian {
        /// The file.
        path: PathBuf,
        /// Its dtype as numpy writes it.
        descr: String,
    },
    /// Elements of a type that no kernel takes.
    #[error("{} holds {descr}: '<f4' (f32), '<f2' (f16) and '<u2' or '|V2' (the bits of bf16) are accepted", .path.display())]
    ElementType {
        /// The file.
        path: PathBuf,
        /// Its dtype as numpy writes it.
        descr: String,
    },
    /// Elements that are no numbers of a kernel's.
    #[error("{} holds {descr}: integers of 8 to 64 bits, '<f2', '<f4', '<f8', '|b1' and the opaque '|V1' and '|V2' are accepted", .path.display())]
    ElementOfArray {
        /// The file.
        path: PathBuf,
        /// Its dtype as numpy writes it.
        descr: String,
    },
    /// An argument of `girih sim` that says nothing.
    #[error("`{text}`: expected {expected}")]
    Argument {
        /// The argument.
        text: String,
        /// What would be accepted.
        expected: String,
    },
    /// A line of a file of launches that says nothing.
    #[error("{}, line {line}: {message}", .file.display())]
    Launches {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A dtype that there is no kernel for.
    #[error("no kernel takes `{0}`: f32, f16 and bf16 are accepted")]
    KernelDType(String),
    /// A name that no atom has.
    #[error("there is no atom `{name}`; like it: {}", list(.near))]
    UnknownAtom {
        /// The name.
        name: String,
        /// Names that begin like it.
        near: Vec<String>,
    },
    /// A layout whose size must be known.
    #[error("the size of {layout} is not known: layouts without symbols are drawn")]
    Unknown {
        /// The layout.
        layout: String,
    },
    /// More cells than a picture has.
    #[error("{rows} x {columns} cells are too many for a picture: up to {most} are drawn")]
    TooLarge {
        /// Rows.
        rows: i64,
        /// Columns.
        columns: i64,
        /// The most.
        most: i64,
    },
    /// A thread's value that is not in the tile.
    #[error("value {value} of thread {thread} is element {at}, outside of the tile of {rows} x {columns}")]
    OutsideTile {
        /// The thread.
        thread: i64,
        /// The value.
        value: i64,
        /// Its index.
        at: i64,
        /// Rows of the tile.
        rows: i64,
        /// Columns of the tile.
        columns: i64,
    },
    /// A tile that is no matrix.
    #[error("a tile of {extents:?} is no matrix: two modes are drawn")]
    NoMatrix {
        /// Its extents.
        extents: Vec<i64>,
    },
    /// A file that is not PTX, or a kernel of it that is not.
    #[error("{}: {message}", .file.display())]
    Ptx {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the line quoted.
        message: String,
    },
    /// A file of several kernels, or none, and no name.
    #[error("--kernel must name a kernel of {}, which has: {}", .file.display(), list(.kernels))]
    KernelNeeded {
        /// The file.
        file: PathBuf,
        /// The kernels that it has.
        kernels: Vec<String>,
    },
    /// An array that no tensor map can describe.
    #[error("{} holds {descr}: a tensor map takes C-order arrays of u8, u16, u32, s32, u64, s64, f16, f32 and f64, or of the type that it names", .path.display())]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// Its dtype as numpy writes it.
        descr: String,
    },
    /// An array that is no matrix.
    #[error("{} has the shape {}: a matrix has two dimensions", .path.display(), Shape(.shape))]
    Rank {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// A file that ends before its last element.
    #[error("{} is cut short: its shape {} needs {needed} bytes of elements, {found} are there", .path.display(), Shape(.shape))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
        /// Bytes that the elements need.
        needed: u128,
        /// Bytes after the header.
        found: u64,
    },
    /// NaN or infinity in an operand.
    #[error("{} holds {value} at element {at} of the file: finite values are accepted, or the product could not be verified", .path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The value.
        value: f64,
        /// Which element, from 0 in the file's order.
        at: usize,
    },
    /// `--dtype` and a file contradict each other.
    #[error("--dtype is {flag}, but {} holds {file} ({descr}): leave --dtype out, or convert the file", .path.display())]
    DTypeFlag {
        /// What `--dtype` says.
        flag: DType,
        /// The file.
        path: PathBuf,
        /// What the file holds.
        file: DType,
        /// As numpy writes it.
        descr: String,
    },
    /// The files' dtypes differ.
    #[error("{} holds {}, {} holds {}: both must hold the same dtype", .a.0.display(), .a.1, .b.0.display(), .b.1)]
    DTypes {
        /// A's file and dtype.
        a: (PathBuf, DType),
        /// B's.
        b: (PathBuf, DType),
    },
    /// The files' extents along K differ.
    #[error(
        "K differs: {} read as {} has K = {}, {} read as {} has K = {}; --layout says how the files are read",
        .a.0.display(), .a.1, .a.2, .b.0.display(), .b.1, .b.2
    )]
    Inner {
        /// A's file, how it is read, and its K.
        a: (PathBuf, &'static str, i64),
        /// B's.
        b: (PathBuf, &'static str, i64),
    },
    /// `--m`, `--n` or `--k` contradicts a file.
    #[error("--{name} is {flag}, but {} has {} = {file}: leave --{name} out, or give another file", .path.display(), .name.to_uppercase())]
    ExtentFlag {
        /// `m`, `n` or `k`.
        name: &'static str,
        /// What the argument says.
        flag: i64,
        /// The file.
        path: PathBuf,
        /// What the file says.
        file: i64,
    },
    /// Matrices larger than the device's memory.
    #[error(
        "the matrices take {needed} bytes, {device} has {available}: smaller extents or pitches are accepted"
    )]
    Memory {
        /// Bytes of all matrices.
        needed: u64,
        /// The device's name.
        device: String,
        /// Its bytes of memory.
        available: u64,
    },
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Read { path: path.into(), source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Write { path: path.into(), source }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A shape as numpy writes it: `()`, `(3,)`, `(3, 4)`.
struct Shape<'a>(&'a [u64]);

impl fmt::Display for Shape<'_> {
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
