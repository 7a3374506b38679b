//! The errors that commands make themselves. The errors of the libraries are passed on unchanged.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use girih_tensor::DType;

use crate::names::{did_you_mean, did_you_mean_of, near};

/// What the dtypes of A and B, and those of C, are called.
const INPUTS: [&str; 10] = ["f32", "tf32", "f64", "f16", "bf16", "e4m3", "fp8", "e5m2", "s8", "int8"];
const OUTPUTS: [&str; 9] = ["f32", "f64", "f16", "bf16", "e4m3", "fp8", "e5m2", "s32", "int32"];

/// The most characters that are quoted of what is wrong with a file.
const QUOTED: usize = 200;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file does not begin as an `.npy` file does.
    #[error("{} is not an .npy file: {source}", .path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What is wrong with its header.
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
    /// No GEMM takes elements of the file's type.
    #[error("{} holds {descr}: '<f4', '<f8', '<f2', '|i1', '<u2' or '|V2' (the bits of bf16) and '|u1' or '|V1' (the bits of 8-bit floats) are accepted", .path.display())]
    ElementType {
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
    /// An argument cannot be read.
    #[error("`{text}`: expected {expected}")]
    Argument {
        /// The argument.
        text: String,
        /// What would be accepted.
        expected: String,
    },
    /// The layout library refuses its operands.
    #[error(transparent)]
    Layout(Box<girih_layout::Error>),
    /// The generator refuses its operands.
    #[error(transparent)]
    Codegen(Box<girih_codegen::Error>),
    /// A line of a file of launches cannot be read.
    #[error("{}, line {line}: {message}", .file.display())]
    Launches {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A name that is no dtype.
    #[error("{source}{}", did_you_mean(.near))]
    UnknownDType {
        /// What the library says, with all dtypes.
        source: Box<girih_tensor::Error>,
        /// The dtypes whose names are most like it.
        near: Vec<String>,
    },
    /// There is no program over tiles with this name.
    #[error("there is no program {name}{or_file}{}", did_you_mean_of(.near, "girih list kernels tile"))]
    UnknownProgram {
        /// The name.
        name: String,
        /// That there is no such file either, where one would do.
        or_file: &'static str,
        /// The names that are most like this name.
        near: Vec<String>,
    },
    /// A file of records can't be used.
    #[error("{}: {message}", .path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A result is wrong, or something was found in a run.
    #[error("{0}")]
    Wrong(String),
    /// No kernel multiplies the dtype.
    #[error("no kernel multiplies `{0}`: f32, tf32, f64, f16, bf16, e4m3 or fp8, e5m2, and s8 or int8 are accepted{near}", near = did_you_mean(&near(.0, INPUTS.into_iter())))]
    InputDType(String),
    /// No kernel stores the dtype.
    #[error("no kernel stores `{0}`: f32, f64, f16, bf16, e4m3 or fp8, e5m2, and s32 or int32 are accepted{near}", near = did_you_mean(&near(.0, OUTPUTS.into_iter())))]
    OutputDType(String),
    /// Machine code is asked for, and there is no assembler.
    #[error(
        "machine code is made by NVIDIA's assembler, and there is no `ptxas` in PATH: install the CUDA toolkit, or let GIRIH_PTXAS name one"
    )]
    NoAssembler,
    /// No atom has the name.
    #[error("there is no atom `{name}`{}", did_you_mean_of(.near, "girih list atoms"))]
    UnknownAtom {
        /// The name.
        name: String,
        /// The names that are most like this name.
        near: Vec<String>,
    },
    /// Nothing that a list has is called so.
    #[error("none of the {what} has `{part}` in its name{}", did_you_mean_of(.near, &format!("girih list {what}")))]
    NothingListed {
        /// What the names have to have in them.
        part: String,
        /// What is listed.
        what: &'static str,
        /// The names that are most like it.
        near: Vec<String>,
    },
    /// The size of a layout that is to be drawn is not known.
    #[error("the size of {layout} is not known: layouts without symbols are drawn")]
    Unknown {
        /// The layout.
        layout: String,
    },
    /// A layout, or the shape of a tile, of a rank that has no picture.
    #[error("{drawn} has rank {rank}: {accepted}")]
    Undrawn {
        /// The layout or the shape.
        drawn: String,
        /// Its rank.
        rank: usize,
        /// What is drawn.
        accepted: &'static str,
    },
    /// A picture would have too many cells.
    #[error("{rows} x {columns} cells are too many for a picture: up to {most} are drawn")]
    TooLarge {
        /// Rows.
        rows: i64,
        /// Columns.
        columns: i64,
        /// The most.
        most: i64,
    },
    /// Threads have too many values for a picture.
    #[error(
        "{threads} threads with {values} values each are too many for a picture: up to {most} values are drawn"
    )]
    TooManyOwners {
        /// Threads.
        threads: i64,
        /// Values of each.
        values: i64,
        /// The most values of all threads.
        most: i64,
    },
    /// A value of a thread is not in the tile.
    #[error("value {value} of thread {thread} is element {at}, outside of the tile of {rows} x {columns}")]
    OutsideTile {
        /// The thread.
        thread: i64,
        /// The value.
        value: i64,
        /// The index of the value.
        at: i64,
        /// Rows of the tile.
        rows: i64,
        /// Columns of the tile.
        columns: i64,
    },
    /// A tile has too many modes.
    #[error("a tile of {extents:?} is not a matrix: tiles of one or two modes are drawn")]
    NoMatrix {
        /// The extents of the tile.
        extents: Vec<i64>,
    },
    /// A file, or the chosen kernel of the file, is not PTX.
    #[error("{}: {message}", .file.display())]
    Ptx {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the line quoted.
        message: String,
    },
    /// A file has no program over tiles.
    #[error("{}: {message}", .file.display())]
    Program {
        /// The file.
        file: PathBuf,
        /// What is wrong, and in which line.
        message: String,
    },
    /// No kernel was named, and the file does not have exactly one kernel.
    #[error("--kernel must name a kernel of {}, which has: {}", .file.display(), list(.kernels))]
    KernelNeeded {
        /// The file.
        file: PathBuf,
        /// The kernels of the file.
        kernels: Vec<String>,
    },
    /// Several kernels have the name, without C++'s mangling.
    #[error("several kernels are called {name}: name one of {}", list(.kernels))]
    KernelAmbiguous {
        /// The name.
        name: String,
        /// The kernels, as the file names them.
        kernels: Vec<String>,
    },
    /// No tensor map can describe the array.
    #[error("{} holds {descr}: a tensor map takes C-order arrays of u8, u16, u32, s32, u64, s64, f16, f32 and f64, or of the type that the argument names", .path.display())]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// The dtype of the file as numpy writes it.
        descr: String,
    },
    /// The array of a file is not a matrix.
    #[error("{} has the shape {}: a matrix has two dimensions", .path.display(), Shape(.shape))]
    Rank {
        /// The file.
        path: PathBuf,
        /// The shape of the array.
        shape: Vec<u64>,
    },
    /// A file ends before the last element of its array.
    #[error("{} is cut short: its shape {} needs {needed} bytes of elements, {found} are there", .path.display(), Shape(.shape))]
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
    /// `--dtype` and a file contradict each other.
    #[error("--dtype is {flag}, but {} holds {file} ({descr}): leave --dtype out, or convert the file", .path.display())]
    DTypeFlag {
        /// What `--dtype` says.
        flag: DType,
        /// The file.
        path: PathBuf,
        /// What the file holds.
        file: DType,
        /// The dtype of the file as numpy writes it.
        descr: String,
    },
    /// The files' dtypes differ.
    #[error("{} holds {}, {} holds {}: both must hold the same dtype", .a.0.display(), .a.1, .b.0.display(), .b.1)]
    DTypes {
        /// A's file and dtype.
        a: (PathBuf, DType),
        /// B's file and dtype, as for A.
        b: (PathBuf, DType),
    },
    /// The files' extents along K differ.
    #[error(
        "K differs: {} read as {} has K = {}, {} read as {} has K = {}; --layout says how the files are read",
        .a.0.display(), .a.1, .a.2, .b.0.display(), .b.1, .b.2
    )]
    Inner {
        /// A's file, how the file is read, and K of A.
        a: (PathBuf, &'static str, i64),
        /// B's file, how the file is read, and K of B.
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
    /// A record of times was asked of the simulator.
    #[error("{}: a record holds times, of which the simulator has none: a GPU is accepted (--device cuda), or no file", .0.display())]
    NoTimes(PathBuf),
    /// The arrays, and what they are copied to and compared with, are larger than a memory.
    #[error(
        "the arrays take {needed} bytes, {device} has {available}: smaller extents or pitches are accepted"
    )]
    Memory {
        /// Bytes of all that is in the memory at once.
        needed: u64,
        /// The device's name, or `this machine`.
        device: String,
        /// The bytes of the device's memory, or those of this machine that may be taken.
        available: u64,
    },
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Read { path: path.into(), source }
    }

    /// Of the header of an `.npy` file: that it can't be read, or that it is none. Of a long header, the beginning is quoted.
    pub(crate) fn header(path: &Path) -> impl FnOnce(io::Error) -> Error {
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

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Write { path: path.into(), source }
    }
}

impl From<girih_layout::Error> for Error {
    fn from(error: girih_layout::Error) -> Error {
        Error::Layout(Box::new(error))
    }
}

impl From<girih_codegen::Error> for Error {
    fn from(error: girih_codegen::Error) -> Error {
        Error::Codegen(Box::new(error))
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
