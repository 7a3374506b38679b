//! The rows of `benches/rows.toml`: what is measured, beside which peer, and the speed that it must reach.

mod file;
mod name;
mod random;

use girih_codegen::gemm::Major;
use girih_kernels::gemm::{KernelKind, Layout};
use girih_tensor::DType;

use file::File;
pub use random::drawn;

/// The file, as it is beside the benches.
const FILE: &str = include_str!("../../rows.toml");

/// Why a file of rows can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No TOML, or a field that no row has.
    #[error("rows.toml: {0}")]
    Toml(#[from] toml::de::Error),
    /// A field whose value is none of the accepted ones.
    #[error("rows.toml: {field} = {value} of a row: {accepted}")]
    Field {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// Two rows of one name.
    #[error("rows.toml: {0} is there twice")]
    Twice(String),
    /// A peer that is no row.
    #[error("rows.toml: the peer {peer} of {row} is no row")]
    NoPeer {
        /// The row.
        row: String,
        /// Its peer.
        peer: String,
    },
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the row measures, which no other row does.
    pub name: String,
    /// Whether the geometric mean is taken over it, among others.
    pub frozen: bool,
    /// What is done.
    pub work: Work,
    /// What it is measured beside.
    pub peer: Peer,
    /// The speed beside the peer that it must reach.
    pub bar: f64,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Matrix products.
    Product(Product),
    /// Bytes that are moved and not changed.
    Movement(Movement),
}

/// What a row is measured beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The best algorithm of the heuristic's list.
    CublasLt,
    /// The driver's copy of as many bytes.
    DeviceToDevice,
    /// girih itself, in the row of this name.
    Row(String),
}

/// `C = A B`, or several of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Of A, and of B unless [`weights`](Product::weights) says otherwise.
    pub dtype: DType,
    /// Of C.
    pub output: DType,
    /// M, N, K.
    pub mnk: [i64; 3],
    /// Which modes of A and B are contiguous.
    pub layout: Layout,
    /// The pitches of A, B and C in elements, unless they are tight.
    pub ld: Option<[i64; 3]>,
    /// How many products there are.
    pub batch: i64,
    /// Whether M is divided unevenly among the products.
    pub grouped: bool,
    /// Whether sums of 8-bit floats may be kept in fewer bits.
    pub fast: bool,
    /// What else C is made of: C = gelu(A B + residual + bias).
    pub fused: bool,
    /// How B is stored, if not as A.
    pub weights: Option<DType>,
    /// The kernel, if not the fastest.
    pub kernel: Option<KernelKind>,
    /// The tile, if the kernel is one of the tile language.
    pub tile: Option<[i64; 3]>,
}

/// How elements are moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// Which of them.
    pub kind: Kind,
    /// Of the elements.
    pub dtype: DType,
    /// The source's shape, whose last mode is contiguous.
    pub shape: Vec<i64>,
    /// Mode `order[i]` of the source becomes mode i.
    pub order: Vec<usize>,
}

/// A kind of movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As they are.
    Copy,
    /// With modes in another order.
    Permute,
    /// Rows in random order.
    Gather,
}

impl Product {
    /// M, N, K of each product of the batch; of groups, on average.
    pub fn extents(&self) -> [i64; 3] {
        let [m, n, k] = self.mnk;
        [if self.grouped { m / self.batch } else { m }, n, k]
    }

    /// The pitches of A, B and C in elements.
    pub fn pitches(&self) -> [i64; 3] {
        let [m, n, k] = self.extents();
        let [a, b] = self.layout.majors().map(|major| major == Major::K);
        self.ld.unwrap_or([if a { k } else { m }, if b { k } else { n }, n])
    }

    /// How many multiplications and additions it takes together.
    pub fn flops(&self) -> f64 {
        let batch = if self.grouped { 1 } else { self.batch };
        self.mnk.into_iter().fold(2.0 * batch as f64, |product, extent| product * extent as f64)
    }

    /// The bytes of A, B and C, each once.
    pub fn bytes(&self) -> f64 {
        let [m, n, k] = self.mnk.map(|extent| extent as f64);
        let bytes = |dtype: DType| f64::from(dtype.bits()) / 8.0;
        // Groups share the rows of A and of C, and each has a B of its own.
        let (rows, all) = if self.grouped { (m, self.batch) } else { (m * self.batch as f64, self.batch) };
        let residual = if self.fused { 2.0 } else { 1.0 };
        // A scale of bf16 for 128 weights.
        let scales = if self.weights.is_some() { bytes(DType::Bf16) / 128.0 } else { 0.0 };
        rows * k * bytes(self.dtype)
            + all as f64 * n * k * (bytes(self.weights.unwrap_or(self.dtype)) + scales)
            + rows * n * bytes(self.output) * residual
    }
}

impl Movement {
    /// How many elements.
    pub fn elements(&self) -> i64 {
        self.shape.iter().product()
    }

    /// The bytes that are read and written together.
    pub fn bytes(&self) -> f64 {
        self.elements() as f64 * f64::from(self.dtype.bits()) / 4.0
    }
}

impl Work {
    /// Operations of a product, bytes of a movement: what a rate counts.
    pub fn amount(&self) -> f64 {
        match self {
            Work::Product(product) => product.flops(),
            Work::Movement(movement) => movement.bytes(),
        }
    }

    /// The unit of a rate, and how much of the amount it is.
    pub fn unit(&self) -> (&'static str, f64) {
        match self {
            Work::Product(_) => ("TFLOP/s", 1e12),
            Work::Movement(_) => ("GB/s", 1e9),
        }
    }
}

/// The rows of the repository.
///
/// # Errors
/// As [`parse`].
pub fn rows() -> Result<Vec<Row>, Error> {
    parse(FILE)
}

/// The rows of a file, those of the mean first.
///
/// # Errors
/// [`Error::Toml`], [`Error::Field`], [`Error::Twice`], [`Error::NoPeer`].
pub fn parse(text: &str) -> Result<Vec<Row>, Error> {
    let file: File = toml::from_str(text)?;
    let frozen = file.frozen.into_iter().map(|entry| (true, entry));
    let all = frozen.chain(file.more.into_iter().map(|entry| (false, entry)));
    let rows = all.map(|(frozen, entry)| entry.row(frozen)).collect::<Result<Vec<Row>, Error>>()?;
    for (i, row) in rows.iter().enumerate() {
        if rows[..i].iter().any(|other| other.name == row.name) {
            return Err(Error::Twice(row.name.clone()));
        }
        if let Peer::Row(peer) = &row.peer
            && !rows.iter().any(|other| other.name == *peer)
        {
            return Err(Error::NoPeer { row: row.name.clone(), peer: peer.clone() });
        }
    }
    Ok(rows)
}
