//! The errors of this crate.

mod algorithm;
mod attention;
mod builder;
mod copy;
mod family;
mod fault;
mod gemm;
mod sync;
mod wgmma;

pub use algorithm::AlgorithmError;
pub use attention::AttentionError;
pub use builder::BuilderError;
pub use copy::CopyError;
pub use fault::{Fault, Place};
pub use gemm::GemmError;
pub use sync::SyncError;
pub use wgmma::WgmmaError;

/// An error of `girih-codegen`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the layout algebra failed.
    #[error("{0}")]
    Layout(#[from] girih_layout::Error),
    /// A tensor operation failed.
    #[error("{0}")]
    Tensor(#[from] girih_tensor::Error),
    /// The generated module is not valid PTX, by a fault of the generator.
    #[error("the generated PTX is malformed (a fault of girih): {0}")]
    Ptx(#[from] girih_ptx::Error),
    /// PTX that a program wrote itself, or a name that it gave, is wrong.
    #[error("{site}: {error}")]
    Written {
        /// The line of the program that is to blame.
        site: girih_ptx::Site,
        /// The error.
        error: girih_ptx::Error,
    },
    /// Index arithmetic that has no rule.
    #[error("{operation} of {operand}{}: {accepted} is accepted", .by.map_or_else(String::new, |by| format!(" by {by}")))]
    Arithmetic {
        /// The operation.
        operation: &'static str,
        /// The expression.
        operand: String,
        /// The constant operand, if there is one.
        by: Option<i64>,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// Index arithmetic with numbers that no register holds.
    #[error("{expr}: coefficients and constants of at most 64 bits are accepted")]
    Beyond {
        /// The expression.
        expr: String,
    },
    /// Index arithmetic whose result would be larger than an expression may be.
    #[error(
        "{operation} of {}: {found} {what}, at most {most} are accepted; `Builder::hold_index` keeps a part in a register",
        operands.join(" and ")
    )]
    Large {
        /// The operation.
        operation: &'static str,
        /// The operands; of a large one its first factors.
        operands: Vec<String>,
        /// The quantity that is too large.
        what: &'static str,
        /// How much the result has.
        found: usize,
        /// How much is accepted.
        most: usize,
    },
    /// A scalar that cannot be computed.
    #[error("{site}: {what}: accepted are {accepted}")]
    Scalar {
        /// The line of the program that is to blame.
        site: girih_ptx::Site,
        /// The operation and its operands.
        what: String,
        /// What would be accepted.
        accepted: String,
    },
    /// An index expression, a scalar or a condition over registers of another kernel.
    #[error(
        "these registers belong to another kernel's builder, not to that of `{kernel}`: compute with them where they were made"
    )]
    OtherBuilder {
        /// The kernel that is being written.
        kernel: String,
    },
    /// A symbol of a layout is not bound to a kernel parameter.
    #[error("symbol s{symbol} is not bound: `Builder::symbol` declares parameters and returns their symbols")]
    UnboundSymbol {
        /// The symbol's id.
        symbol: u8,
    },
    /// A symbol that has the id of a parameter's symbol, but other facts.
    #[error(
        "{expr} is not the symbol {known} of a parameter: the one that `Builder::symbol` returned is accepted, with the facts \
         that it had there"
    )]
    OtherSymbol {
        /// The symbol in the expression.
        expr: String,
        /// The symbol of the parameter.
        known: String,
    },
    /// An expression names a register of a loop or a condition that has ended.
    #[error(
        "{expr} has a register of a scope that has ended: compute with it inside the loop or the condition"
    )]
    OutOfScope {
        /// The expression.
        expr: String,
    },
    /// An expression names a register that has been written since the expression was made.
    #[error(
        "{expr} has a register that has been written since: call `Builder::var` again for what it holds now"
    )]
    Stale {
        /// The expression.
        expr: String,
    },
    /// A loop writes a register that it reads as a variable from outside.
    #[error(
        "`{instruction}` in a loop writes {register}, which the loop reads as a variable that was declared outside of it: \
         call `Builder::var` inside the loop"
    )]
    Overwritten {
        /// The register.
        register: String,
        /// The instruction that writes the register.
        instruction: String,
    },
    /// An instruction writes a register in which the builder keeps the value of an expression.
    #[error(
        "`{instruction}` writes {register}, in which the value of an expression is kept: write a register of your own, from \
         `Builder::reg`"
    )]
    Computed {
        /// The register.
        register: String,
        /// The instruction that writes the register.
        instruction: String,
    },
    /// A layout must be static here.
    #[error("{what} needs a layout of constants, this one is {layout}")]
    NotStatic {
        /// The operation that needs a static layout.
        what: &'static str,
        /// The layout.
        layout: String,
    },
    /// A layout does not fit an atom or a tile.
    #[error("{what}: {layout} does not fit {with}: {accepted}")]
    Mismatch {
        /// The operation.
        what: &'static str,
        /// The layout or shape that does not fit.
        layout: String,
        /// The layout or shape that it should fit.
        with: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// A thread index that may be beyond the threads of a tiled copy or a tiled MMA.
    #[error(
        "{what} of {threads} threads: the thread index {index} is in {}..={}: accepted are indices that are known to be in 0..={} \
         (inside of a condition by `Builder::bounded`)",
        range.0, range.1, threads - 1
    )]
    Threads {
        /// The operation.
        what: &'static str,
        /// The threads that take part.
        threads: i64,
        /// The thread index.
        index: String,
        /// The least and the greatest value of the index that are known.
        range: (i64, i64),
    },
    /// Values that are combined are not the same elements of a tile.
    #[error("{0}")]
    Incongruent(Box<Incongruence>),
    /// A property of a partition was to be proved, and does not hold.
    #[error("{0}")]
    Refuted(Box<Fault>),
    /// Registers that no load or store takes.
    #[error(
        "no access of {space:?} takes registers of types {registers:?}: 1, 2 or 4 of one size, global or shared memory are accepted"
    )]
    Access {
        /// The memory.
        space: girih_tensor::Space,
        /// The registers' types.
        registers: Vec<girih_ptx::Type>,
    },
    /// An operand of inline PTX that was not given.
    #[error("inline PTX names operand {name}, {given} operands were given: %0 to %{} are accepted", given.saturating_sub(1))]
    InlineOperand {
        /// The operand as written.
        name: String,
        /// Operands given.
        given: usize,
    },
    /// A kernel, or a part of one, that the builder and the algorithms do not write.
    #[error("{0}")]
    Builder(#[from] BuilderError),
    /// A function or a combination of elements that does not exist.
    #[error("{0}")]
    Algorithm(#[from] AlgorithmError),
    /// A synchronisation that PTX does not have.
    #[error("{0}")]
    Sync(#[from] SyncError),
    /// Parameters that `wgmma` does not have.
    #[error("{0}")]
    Wgmma(#[from] WgmmaError),
    /// A bulk copy that PTX does not have, or a copy kernel that cannot be built.
    #[error("{0}")]
    Copy(#[from] CopyError),
    /// A GEMM that cannot be built or computed.
    #[error("{0}")]
    Gemm(#[from] GemmError),
    /// An attention kernel that cannot be built.
    #[error("{0}")]
    Attention(#[from] AttentionError),
    /// A dtype whose elements are parts of a byte.
    #[error("{what} of {dtype}: a dtype of whole bytes is accepted")]
    PartOfByte {
        /// The object with this dtype.
        what: &'static str,
        /// The dtype.
        dtype: girih_tensor::DType,
    },
    /// A number that 32 bits do not hold.
    #[error("{what} = {value}: a number of 32 bits is accepted")]
    Wide {
        /// The number's name.
        what: &'static str,
        /// The number.
        value: i64,
    },
    /// The generator contradicts itself, by a fault of its own.
    #[error("the generator contradicts itself (a fault of girih): {0}")]
    Generator(&'static str),
}

/// A value that is one element of a tile in one part, and another element in the other part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what}: value {value} of thread {thread} is element {} of the tile in {}, but element {} in {} (counted from value 0 of \
     thread 0): accepted are {accepted}",
    elements[0], parts[0], elements[1], parts[1]
)]
pub struct Incongruence {
    /// The operation.
    pub what: &'static str,
    /// The parts, each with its layout `(Thr,Val)` -> coordinate in the tile.
    pub parts: [String; 2],
    /// The thread.
    pub thread: i64,
    /// The value's index among the thread's.
    pub value: i64,
    /// The element in the first part, and in the second.
    pub elements: [String; 2],
    /// What would be accepted.
    pub accepted: &'static str,
}

/// Writes what `Display` writes, so that `fn main() -> Result<(), Error>` reads well.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Checks that `thread` is one of `threads` threads, as far as its range is known.
pub(crate) fn check_thread<I: girih_tensor::Index>(
    what: &'static str,
    thread: &I,
    threads: i64,
) -> Result<(), Error> {
    match thread.known_range() {
        Some(range) if range.0 < 0 || range.1 >= threads => {
            Err(Error::Threads { what, threads, index: thread.to_string(), range })
        }
        _ => Ok(()),
    }
}

/// `value` in a narrower type.
pub(crate) fn narrow<T: TryFrom<i64>>(what: &'static str, value: i64) -> Result<T, Error> {
    T::try_from(value).map_err(|_| Error::Wide { what, value })
}
