//! The errors of this crate.

use girih_tensor::DType;

/// The dtypes that the kernels compute.
pub const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

impl Error {
    /// That `kernel` computes [`DTYPES`], and `dtype` is none of them.
    pub fn unsupported(kernel: &'static str, dtype: DType) -> Error {
        Error::Kernel { kernel, dtype: dtype.name(), accepted: "f32, f16 and bf16 are accepted" }
    }
}

/// An error of `girih-kernels`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Generating the kernel failed.
    #[error("{0}")]
    Codegen(#[from] girih_codegen::Error),
    /// The device refused or failed.
    #[error("{0}")]
    Device(#[from] girih_device::Error),
    /// An operation of the layout algebra failed.
    #[error("{0}")]
    Layout(#[from] girih_layout::Error),
    /// A tensor operation failed.
    #[error("{0}")]
    Tensor(#[from] girih_tensor::Error),
    /// An extent or pitch outside what the kernels take.
    #[error("{what} = {value}: {least} to {most} elements are accepted")]
    Extent {
        /// `M`, `lda`, ...
        what: &'static str,
        /// The value of that extent or pitch.
        value: i64,
        /// The least accepted.
        least: i64,
        /// The greatest accepted.
        most: i64,
    },
    /// A K with which a sum of products of integers may be more than the accumulator holds.
    #[error("K = {k} of s8: a sum of products can exceed s32 from K = {} on, so 0 to {most} are accepted", most + 1)]
    Wraps {
        /// K.
        k: i64,
        /// The greatest accepted.
        most: i64,
    },
    /// A kernel would write memory that it also reads.
    #[error(
        "{written} and {read} have {bytes} bytes in common{witness}: buffers or slices without a common part are accepted"
    )]
    Overlap {
        /// The matrix that is written.
        written: &'static str,
        /// The matrix that is read.
        read: &'static str,
        /// How many bytes there are from the first to the last that both reach.
        bytes: u64,
        /// A byte that is an element's of both, with the coordinates of the two; empty where nothing but these bytes is known.
        witness: String,
    },
    /// A layout that no copy takes.
    #[error("{which} {layout}: layouts of known extents and of known strides are accepted")]
    CopyLayout {
        /// `src` or `dst`.
        which: &'static str,
        /// The layout.
        layout: String,
    },
    /// Layouts whose coordinates do not correspond.
    #[error(
        "src {src} and dst {dst}: shapes of one size are accepted whose extents divide one another, as (4,6) and (2,2,6)"
    )]
    CopyShapes {
        /// The shape of the source.
        src: String,
        /// The shape of the destination.
        dst: String,
    },
    /// Layouts of which one is no part of the other.
    #[error(
        "src {src} at {low} of dst {dst}: as many modes on both sides are accepted, each of one extent where the source has less, from 0 on and \
         inside of the destination"
    )]
    CopyPad {
        /// The shape of the source.
        src: String,
        /// The shape of the destination.
        dst: String,
        /// Where the source begins.
        low: String,
    },
    /// A mode along which no copy gathers.
    #[error(
        "a gather along mode {mode} of src {src} and dst {dst} by {index}: a mode of one extent on both sides, with up to 2^32 - 1 positions (2^31 for s32) and \
         a stride below 2^32 in the source, and s32, u32 and s64 are accepted"
    )]
    CopyGather {
        /// The mode.
        mode: usize,
        /// The layout of the source.
        src: String,
        /// The layout of the destination.
        dst: String,
        /// The type of the indices.
        index: &'static str,
    },
    /// A destination that would be written twice at one element.
    #[error(
        "dst {dst} has one element, {element}, at {first} and at {second}: layouts without such coordinates are accepted"
    )]
    Alias {
        /// The layout of the destination.
        dst: String,
        /// A coordinate.
        first: String,
        /// Another coordinate.
        second: String,
        /// The element that both have.
        element: String,
    },
    /// A leading stride that is shorter than a row.
    #[error(
        "{what} = {value} is too small: rows of {matrix} hold {row} elements, at least {row} are accepted"
    )]
    LeadingStride {
        /// `lda`, `ldb` or `ldc`.
        what: &'static str,
        /// The value of that extent or pitch.
        value: i64,
        /// The matrix.
        matrix: &'static str,
        /// Elements of a contiguous row or column.
        row: i64,
    },
    /// A kernel that does not compute this dtype.
    #[error("kernel {kernel} does not take {dtype}: {accepted}")]
    Kernel {
        /// The kernel.
        kernel: &'static str,
        /// The dtype.
        dtype: &'static str,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// Elements along K that cannot share a scale.
    #[error("scales of groups of {group} elements of K: groups of {accepted} are accepted")]
    Group {
        /// The elements of a group.
        group: i64,
        /// The elements of a group that are accepted.
        accepted: i64,
    },
    /// An operand of a mixed product that a kernel does not take as it is laid out.
    #[error(
        "{matrix} is {layout} at multiples of {alignment} bytes: where B has scales, pitches and addresses at multiples of 16 bytes \
         are accepted"
    )]
    Mixed {
        /// The matrix.
        matrix: &'static str,
        /// Its layout.
        layout: String,
        /// The bytes of which its address is a multiple.
        alignment: i64,
    },
    /// Heads of keys that do not serve as many heads of queries each.
    #[error("{heads} heads of queries with {kv_heads} of keys and values: divisors of {heads} are accepted")]
    Heads {
        /// Heads of queries.
        heads: i64,
        /// Heads of keys and values.
        kv_heads: i64,
    },
    /// A problem that a family of kernels does not take.
    #[error("kernel {kernel} does not take the {what} {found}; accepted are: {accepted}")]
    Misfit {
        /// The family.
        kernel: &'static str,
        /// `dtype`, `strides`, ...
        what: &'static str,
        /// What the problem has.
        found: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A factor of scores that is not positive, or so small or large that f32 would not represent what kernels make of it.
    #[error("{what} = {value}: numbers from 2^-60 to 2^60 are accepted")]
    Number {
        /// The factor.
        what: &'static str,
        /// The number.
        value: f32,
    },
    /// A tensor that is written, whose coordinates may have elements in common.
    #[error("{tensor} is {layout}: strides are accepted with which no two coordinates have one element")]
    Shared {
        /// The tensor.
        tensor: &'static str,
        /// Its layout.
        layout: String,
    },
    /// Products of a batch that would write the same elements.
    #[error(
        "C is {c}, whose products have elements in common, at {witness}: strides with which they have none are accepted"
    )]
    BatchStride {
        /// The layout of C.
        c: String,
        /// Two coordinates of one element.
        witness: String,
    },
    /// What the address of a matrix is said to be a multiple of.
    #[error("{matrix} at multiples of {bytes} bytes: powers of two from {least} on are accepted")]
    Alignment {
        /// The matrix.
        matrix: &'static str,
        /// The bytes.
        bytes: i64,
        /// The bytes of an element.
        least: i64,
    },
    /// A buffer that begins where the kernel cannot read or write it.
    #[error(
        "{matrix} begins at {address:#x}, but the kernel takes multiples of {needed} bytes: \
         a problem that says what divides the address is accepted (`Problem::with_alignments` of a GEMM, `Problem::with_alignment` of attention)"
    )]
    Address {
        /// The matrix.
        matrix: &'static str,
        /// The address of the buffer.
        address: u64,
        /// The bytes that must divide the address.
        needed: i64,
    },
    /// A text that names none of the choices.
    #[error("unknown {what} `{text}`: {accepted}")]
    Unknown {
        /// What the text was to name.
        what: &'static str,
        /// The text.
        text: String,
        /// The choices.
        accepted: &'static str,
    },
    /// A buffer smaller than the matrix it is to hold.
    #[error("{matrix} needs {needed} elements, its buffer has {len}")]
    BufferTooSmall {
        /// The matrix.
        matrix: &'static str,
        /// Elements from the first to the last that the problem names.
        needed: i64,
        /// How many elements the buffer has.
        len: usize,
    },
    /// A buffer of another dtype than the problem's.
    #[error("the problem is {problem}, the buffers hold {buffer}")]
    DType {
        /// The problem's dtype.
        problem: &'static str,
        /// The dtype of the buffers.
        buffer: &'static str,
    },
    /// What is given for an input of an epilogue is not what the input is.
    #[error("`{name}`: {found}, but accepted are: {accepted}")]
    Input {
        /// The name that it was given by.
        name: String,
        /// What was found.
        found: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A product with gated pairs of columns that cannot be computed so.
    #[error("gated pairs of columns: {found}, but accepted is {accepted}")]
    Gated {
        /// What was asked for.
        found: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// A configuration that does not multiply the problem's matrices.
    #[error("the configuration's {what} are {found}: the problem takes {accepted}")]
    Configuration {
        /// What does not fit.
        what: &'static str,
        /// What the configuration has.
        found: String,
        /// What the problem has.
        accepted: String,
    },
    /// A record of what was measured that does not count here.
    #[error("{found}; accepted: {accepted}")]
    Record {
        /// The record, or what is in its place.
        found: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A field of a record's problem or plan that is not what it may be.
    #[error("the field `{field}` of a record is {found}; accepted: {accepted}")]
    Field {
        /// The field's name, or the word that has none.
        field: String,
        /// What is found.
        found: String,
        /// What would be accepted.
        accepted: String,
    },
    /// Two epilogues that have the same key and compute different things.
    #[error(
        "the epilogue `{key}` is not the one that is loaded by this key: a key that names all that a node's function \
         depends on is accepted"
    )]
    EpilogueKey {
        /// The key.
        key: String,
    },
    /// More block tiles than a grid can have.
    #[error("{tiles} tiles of {tile} are more than a grid's {most} blocks: smaller extents are accepted")]
    Grid {
        /// Tiles that the problem needs.
        tiles: i64,
        /// The tile.
        tile: String,
        /// Most blocks.
        most: i64,
    },
}

/// The message that `Display` writes, so that `fn main() -> Result<(), Error>` reads well.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
