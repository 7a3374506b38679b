//! The rows of `benches/rows.toml`: what is measured, beside which peer, and the speed that it must reach.

use girih_codegen::gemm::Major;
use girih_kernels::gemm::{KernelKind, Layout};
use girih_tensor::DType;
use serde::Deserialize;

/// The file, as it stands beside the benches.
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
    #[error("rows.toml: {0} stands there twice")]
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
    /// As they lie.
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
        rows * k * bytes(self.dtype)
            + all as f64 * n * k * bytes(self.weights.unwrap_or(self.dtype))
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    frozen: Vec<Entry>,
    more: Vec<Entry>,
}

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    bar: f64,
    #[serde(default = "gemm")]
    op: String,
    dtype: Option<String>,
    out: Option<String>,
    mnk: Option<[i64; 3]>,
    layout: Option<String>,
    ld: Option<[i64; 3]>,
    batch: Option<i64>,
    #[serde(default)]
    fast: bool,
    epilogue: Option<String>,
    weights: Option<String>,
    kernel: Option<String>,
    shape: Option<Vec<i64>>,
    order: Option<Vec<usize>>,
    peer: Option<String>,
}

fn gemm() -> String {
    String::from("gemm")
}

fn refuse<T>(field: &'static str, value: impl ToString, accepted: &'static str) -> Result<T, Error> {
    Err(Error::Field { field, value: value.to_string(), accepted })
}

fn dtype(field: &'static str, text: Option<&str>, otherwise: DType) -> Result<DType, Error> {
    let Some(text) = text else { return Ok(otherwise) };
    text.parse().or_else(|_| refuse(field, text, "a dtype's name is accepted"))
}

impl Entry {
    fn row(self, frozen: bool) -> Result<Row, Error> {
        let work = match &*self.op {
            "gemm" | "grouped" => Work::Product(self.product()?),
            _ => Work::Movement(self.movement()?),
        };
        let peer = match self.peer.as_deref() {
            None | Some("cublaslt") => Peer::CublasLt,
            Some("device-to-device") => Peer::DeviceToDevice,
            Some(row) => Peer::Row(row.into()),
        };
        Ok(Row { name: work.to_string(), frozen, work, peer, bar: self.bar })
    }

    fn product(&self) -> Result<Product, Error> {
        let (Some(mnk), None, None) = (self.mnk, &self.shape, &self.order) else {
            return refuse("op", &self.op, "a product has mnk, and neither shape nor order");
        };
        let input = dtype("dtype", self.dtype.as_deref(), DType::Bf16)?;
        let usual = match input {
            DType::E4m3 | DType::E5m2 => DType::Bf16,
            DType::S8 => DType::S32,
            DType::Tf32 => DType::F32,
            other => other,
        };
        let fused = match self.epilogue.as_deref() {
            None => false,
            Some("gelu bias residual") => true,
            Some(other) => return refuse("epilogue", other, "\"gelu bias residual\" is accepted"),
        };
        let weights = self.weights.as_deref();
        Ok(Product {
            dtype: input,
            output: dtype("out", self.out.as_deref(), usual)?,
            mnk,
            layout: layout(self.layout.as_deref().unwrap_or("tn"))?,
            ld: self.ld,
            batch: self.batch.unwrap_or(1),
            grouped: self.op == "grouped",
            fast: self.fast,
            fused,
            weights: weights.map(|text| dtype("weights", Some(text), input)).transpose()?,
            kernel: self.kernel.as_deref().map(kernel).transpose()?,
        })
    }

    fn movement(&self) -> Result<Movement, Error> {
        let (Some(shape), None) = (&self.shape, self.mnk) else {
            return refuse("op", &self.op, "a movement has a shape, and no mnk");
        };
        let order = self.order.clone().unwrap_or_else(|| (0..shape.len()).collect());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.iter().ne((0..shape.len()).collect::<Vec<_>>().iter()) {
            return refuse("order", format!("{order:?}"), "each mode of the shape once is accepted");
        }
        let kind = match &*self.op {
            "copy" => Kind::Copy,
            "transpose" | "permute" => Kind::Permute,
            "gather" => Kind::Gather,
            other => return refuse("op", other, "gemm, grouped, copy, transpose, permute, gather"),
        };
        let dtype = dtype("dtype", self.dtype.as_deref(), DType::Bf16)?;
        Ok(Movement { kind, dtype, shape: shape.clone(), order })
    }
}

fn layout(text: &str) -> Result<Layout, Error> {
    text.parse().or_else(|_| refuse("layout", text, "tn, tt, nn and nt are accepted"))
}

fn kernel(text: &str) -> Result<KernelKind, Error> {
    text.parse().or_else(|_| refuse("kernel", text, "simt, sm80 and sm90 are accepted"))
}

/// Numbers with something between them.
fn joined<T: ToString>(numbers: &[T], by: &str) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(by)
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Product(product) => product.fmt(f),
            Work::Movement(movement) => movement.fmt(f),
        }
    }
}

impl std::fmt::Display for Product {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dtype = self.dtype;
        write!(f, "{dtype}")?;
        match self.weights {
            Some(weights) => write!(f, " x {weights}")?,
            None if self.fast => write!(f, " fast")?,
            None => {}
        }
        write!(f, " {} ", self.layout)?;
        match (self.grouped, self.batch) {
            (true, groups) => write!(f, "{groups} groups of ")?,
            (false, 1) => {}
            (false, batch) => write!(f, "{batch} x ")?,
        }
        write!(f, "{}", joined(&self.mnk, "x"))?;
        if let Some(ld) = &self.ld {
            write!(f, " ld {}", joined(ld, ","))?;
        }
        if self.fused {
            write!(f, " gelu bias residual")?;
        }
        match self.kernel {
            Some(kernel) => write!(f, " by {}", kernel.name()),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Movement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Copy => "copy",
            Kind::Permute => "permute",
            Kind::Gather => "gather",
        };
        write!(f, "{kind} {} {}", self.dtype, joined(&self.shape, "x"))?;
        match self.kind {
            Kind::Permute => write!(f, " by {}", joined(&self.order, ",")),
            Kind::Copy | Kind::Gather => Ok(()),
        }
    }
}
