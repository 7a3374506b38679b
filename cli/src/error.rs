//! The errors of commands. Errors of the libraries are passed on unchanged.

use std::io;
use std::path::{Path, PathBuf};

use girih_device::ShortMemory;
use girih_notation::Extents;
use girih_notation::names::{did_you_mean, did_you_mean_of, near};
use girih_tensor::DType;

/// The names of the dtypes of A and B, and of the dtypes of C.
const INPUTS: [&str; 10] = ["f32", "tf32", "f64", "f16", "bf16", "e4m3", "fp8", "e5m2", "s8", "int8"];
const OUTPUTS: [&str; 9] = ["f32", "f64", "f16", "bf16", "e4m3", "fp8", "e5m2", "s32", "int32"];

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// No GEMM takes elements of the file's type.
    #[error("{} holds {descr}: '<f4', '<f8', '<f2', '|i1', '<u2' or '|V2' (the bits of bf16) and '|u1' or '|V1' (the bits of 8-bit floats) are accepted", .path.display())]
    ElementType {
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
        /// The accepted value.
        expected: String,
    },
    /// A line of a file of launches cannot be read.
    #[error("{}, line {line}: {message}", .file.display())]
    Launches {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        message: String,
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
        /// The reason.
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
    /// Nothing that a list has is called so.
    #[error("none of the {what} has `{part}` in its name{}", did_you_mean_of(.near, &format!("girih list {what}")))]
    NothingListed {
        /// The required part of the names.
        part: String,
        /// The kind of entries.
        what: &'static str,
        /// The names that are most like it.
        near: Vec<String>,
    },
    /// A file, or the chosen kernel of the file, is not PTX.
    #[error("{}: {message}", .file.display())]
    Ptx {
        /// The file.
        file: PathBuf,
        /// The error, with the line quoted.
        message: String,
    },
    /// A file has no program over tiles.
    #[error("{}: {message}", .file.display())]
    Program {
        /// The file.
        file: PathBuf,
        /// The error, and its line.
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
    /// The array of a file is not a matrix.
    #[error("{} has the shape {}: a matrix has two dimensions", .path.display(), Extents(.shape))]
    Rank {
        /// The file.
        path: PathBuf,
        /// The shape of the array.
        shape: Vec<u64>,
    },
    /// `--dtype` and a file contradict each other.
    #[error("--dtype is {flag}, but {} holds {file} ({descr}): leave --dtype out, or convert the file", .path.display())]
    DTypeFlag {
        /// The dtype of `--dtype`.
        flag: DType,
        /// The file.
        path: PathBuf,
        /// The dtype of the file.
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
        /// The value of the argument.
        flag: i64,
        /// The file.
        path: PathBuf,
        /// The value of the file.
        file: i64,
    },
    /// A record of times was asked of the simulator.
    #[error("{}: a record holds times, of which the simulator has none: a GPU is accepted (--device cuda), or no file", .0.display())]
    NoTimes(PathBuf),
    /// The arrays, and what they are copied to and compared with, are larger than a memory.
    #[error(transparent)]
    Memory(#[from] ShortMemory),
    /// A name in a text does not exist, or a file of an array cannot be read.
    #[error(transparent)]
    Notation(#[from] girih_notation::Error),
    /// Something has no picture.
    #[error(transparent)]
    Picture(#[from] girih_picture::Error),
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Error {
        |source| girih_notation::Error::read(path)(source).into()
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Write { path: path.into(), source }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
