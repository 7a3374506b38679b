//! What is to be multiplied.

use girih_codegen::Operand;
use girih_codegen::gemm::{
    Batch, BlockScales, Epilogue, MAX_BATCHES, MAX_EXTENT, MAX_GROUPS, MAX_STRIDE, Major, MixedInput, outputs,
};
use girih_tensor::DType;

use super::matrix::{ALIGNMENT, Matrix};
use crate::Error;

/// Which modes of A and B are contiguous, as BLAS and CuTe name it: the first letter `t` means that A is K-contiguous,
/// `n` that it is M-contiguous; the second letter `n` means that B is K-contiguous, `t` that it is N-contiguous.
///
/// torch's `a @ b.T` on row-major tensors is `tn`, its `a @ b` is `tt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A and B K-contiguous.
    Tn,
    /// A K-contiguous, B N-contiguous.
    Tt,
    /// A M-contiguous, B K-contiguous.
    Nn,
    /// A M-contiguous, B N-contiguous.
    Nt,
}

impl Layout {
    /// The four layouts.
    pub const ALL: [Layout; 4] = [Layout::Tn, Layout::Tt, Layout::Nn, Layout::Nt];

    /// The two letters of a layout.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Tn => "tn",
            Layout::Tt => "tt",
            Layout::Nn => "nn",
            Layout::Nt => "nt",
        }
    }

    /// The contiguous modes of A and B.
    pub const fn majors(self) -> [Major; 2] {
        match self {
            Layout::Tn => [Major::K, Major::K],
            Layout::Tt => [Major::K, Major::Mn],
            Layout::Nn => [Major::Mn, Major::K],
            Layout::Nt => [Major::Mn, Major::Mn],
        }
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Layout {
    type Err = Error;
    fn from_str(text: &str) -> Result<Layout, Error> {
        let unknown = || Error::Unknown {
            what: "layout",
            text: text.into(),
            accepted: "tn, tt, nn and nt are accepted",
        };
        Layout::ALL.into_iter().find(|l| l.name() == text).ok_or_else(unknown)
    }
}

/// Whether C's rows or columns are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows: strides `(ldc,1)`.
    Row,
    /// Columns: strides `(1,ldc)`.
    Column,
}

impl std::str::FromStr for Order {
    type Err = Error;
    fn from_str(text: &str) -> Result<Order, Error> {
        match text {
            "row" => Ok(Order::Row),
            "column" => Ok(Order::Column),
            _ => Err(Error::Unknown {
                what: "order",
                text: text.into(),
                accepted: "row and column are accepted",
            }),
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Order::Row { "row" } else { "column" })
    }
}

/// The dtypes that there are products of. For products of tf32, A and B are f32 in memory, and are rounded to the nearest tf32 on their
/// way to the tensor cores.
pub const INPUTS: [DType; 8] =
    [DType::F32, DType::Tf32, DType::F64, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2, DType::S8];

/// The dtype of the sums of products of a dtype.
pub(super) const fn sums(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        DType::S8 => DType::S32,
        _ => DType::F32,
    }
}

/// The elements of K that share a scale.
pub(super) const GROUP: i64 = 128;

/// The rows of A and of B that share a scale, where blocks have scales.
pub(super) const BLOCKS: [i64; 2] = [1, 128];

/// Whether sums of the dtype can be promoted: `wgmma` keeps few bits of sums of 8-bit floats.
pub(super) const fn is_promoted(dtype: DType) -> bool {
    matches!(dtype, DType::E4m3 | DType::E5m2)
}

/// A matrix product: extents, dtype and strides.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem};
/// use girih_tensor::DType;
///
/// let p = Problem::new(DType::Bf16, [128, 256, 64], Layout::Tn)?;
/// assert_eq!((p.a().to_string().as_str(), p.c().to_string().as_str()), ("(128,64):(64,1)", "(128,256):(256,1)"));
/// assert!(p.with_pitches(Some(63), None, None).is_err());
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    dtype: DType,
    output: DType,
    sums: DType,
    fast: bool,
    fused: bool,
    reduces: bool,
    gated: bool,
    invariant: bool,
    /// How an operand, A or B, lies in memory, if it has scales.
    mixed: Option<(Operand, MixedInput)>,
    /// The rows of A and of B that share a scale, if blocks have scales.
    blocks: Option<[i64; 2]>,
    /// The mode of C along which groups follow each other.
    grouped: Option<usize>,
    a: Matrix,
    b: Matrix,
    c: Matrix,
}

impl Problem {
    /// `C[m,n] = sum_k A[m,k] * B[k,n]` with tight pitches and row-major C.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than [`INPUTS`], [`Error::Extent`] unless each of M, N, K is in
    /// `0..=`[`MAX_EXTENT`].
    pub fn new(dtype: DType, mnk: [i64; 3], layout: Layout) -> Result<Problem, Error> {
        if !INPUTS.contains(&dtype) {
            let accepted = "f32, tf32, f64, f16, bf16, e4m3, e5m2 and s8 are accepted";
            return Err(Error::Kernel { kernel: "gemm", dtype: dtype.name(), accepted });
        }
        for (what, value) in ["M", "N", "K"].into_iter().zip(mnk) {
            check_extent(what, value, 0)?;
        }
        let [m, n, k] = mnk;
        let [a, b] = layout.majors().map(|major| usize::from(major == Major::K));
        Ok(Problem {
            dtype,
            output: match dtype {
                // Sums of numbers of 8 bits have no place in 8 bits.
                DType::E4m3 | DType::E5m2 => DType::Bf16,
                DType::Tf32 | DType::S8 => sums(dtype),
                same => same,
            },
            sums: sums(dtype),
            fast: false,
            fused: false,
            reduces: false,
            gated: false,
            invariant: false,
            mixed: None,
            blocks: None,
            grouped: None,
            a: Matrix::tight([m, k], a),
            b: Matrix::tight([n, k], b),
            c: Matrix::tight([m, n], 1),
        })
    }

    /// The same with C in another order, its pitch tight.
    pub fn with_order(self, order: Order) -> Problem {
        let tight = Matrix::tight(self.c.extents, usize::from(order == Order::Row));
        let Matrix { extents, contiguous, ld, .. } = tight;
        Problem { c: Matrix { extents, contiguous, ld, ..self.c }, ..self }
    }

    /// The same with other leading strides, in elements.
    ///
    /// # Errors
    /// [`Error::LeadingStride`] for one shorter than a row, [`Error::Extent`] for one above [`MAX_EXTENT`]; [`Error::BatchStride`] for
    /// matrices of C in a batch that have elements in common.
    pub fn with_pitches(
        self,
        lda: Option<i64>,
        ldb: Option<i64>,
        ldc: Option<i64>,
    ) -> Result<Problem, Error> {
        let with = |matrix: Matrix, ld: Option<i64>, what: &'static str, name: &'static str| {
            let Some(ld) = ld else { return Ok(matrix) };
            let row = matrix.extents[matrix.contiguous];
            if ld < row {
                return Err(Error::LeadingStride { what, value: ld, matrix: name, row });
            }
            check_extent(what, ld, 1)?;
            Ok(Matrix { ld, ..matrix })
        };
        let a = with(self.a, lda, "lda", "A")?;
        let (b, c) = (with(self.b, ldb, "ldb", "B")?, with(self.c, ldc, "ldc", "C")?);
        Problem { a, b, c, ..self }.checked_batch()
    }

    /// As many products as `count`, whose matrices are `strides` elements apart, those of A, of B and of C: CuTe's mode L. Matrices
    /// without a stride follow each other without a gap. All products have the same A, or B, where its stride is 0. The pitches are those of each
    /// matrix.
    ///
    /// # Errors
    /// [`Error::Extent`] for a count above [`MAX_BATCHES`], or a stride above [`MAX_STRIDE`]; [`Error::BatchStride`] for matrices of C that
    /// have elements in common.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// // Two matrices of 2 x 3 times one of 3 x 2.
    /// let problem = Problem::new(DType::F32, [2, 2, 3], Layout::Tn)?.batched(2, [None, Some(0), None])?;
    /// assert_eq!((problem.a().to_string(), problem.b().batch_stride()), ("(2,3,2):(3,1,6)".into(), 0));
    /// let device = Device::open(Select::Sim)?;
    /// let a = device.upload(&[[1f32; 6], [2f32; 6]].concat())?;
    /// let (b, c) = (device.upload(&[1f32; 6])?, device.zeros::<f32>(8)?);
    /// Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c)?;
    /// assert_eq!(c.download()?, [3.0, 3.0, 3.0, 3.0, 6.0, 6.0, 6.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batched(self, count: i64, strides: [Option<i64>; 3]) -> Result<Problem, Error> {
        check_within("batches", count, 0, MAX_BATCHES)?;
        let [a, b, c] = strides;
        let with = |matrix: Matrix, stride| Matrix { batches: count, stride, by_pointers: false, ..matrix };
        let [a, b, c] = [with(self.a, a), with(self.b, b), with(self.c, c)];
        Problem { a, b, c, grouped: None, ..self }.checked_batch()
    }

    /// As many products as `count`, of which each A, B and C lies at an address of its own (`cublasGemmBatchedEx`). A launch is given the
    /// buffers of each operand ([`Gemm::run_pointers`](super::Gemm::run_pointers)), of which several products may have the same A or B. Their
    /// addresses are multiples of 16 bytes, or of what [`Problem::with_alignments`] says, and the pitches are those of each matrix.
    ///
    /// Of an epilogue's inputs, a matrix is given in the same way, and may be C; a row or a column as of a batch at strides
    /// ([`Problem::batched`]), as are the outputs besides C.
    ///
    /// # Errors
    /// [`Error::Extent`] for a count above [`MAX_BATCHES`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// // Two matrices of 2 x 3 times one of 3 x 2.
    /// let problem = Problem::new(DType::F32, [2, 2, 3], Layout::Tn)?.by_pointers(2)?;
    /// let device = Device::open(Select::Sim)?;
    /// let (a, b) = ([device.upload(&[1f32; 6])?, device.upload(&[2f32; 6])?], device.upload(&[3f32; 6])?);
    /// let c = [device.zeros::<f32>(4)?, device.zeros::<f32>(4)?];
    /// let [all_a, all_b, all_c] = [device.pointers(&a)?, device.pointers([&b, &b])?, device.pointers(&c)?];
    /// Gemms::new(&device).get(&problem, KernelKind::Simt)?.run_pointers(&all_a, &all_b, &all_c, &[])?;
    /// assert_eq!((c[0].download()?, c[1].download()?), (vec![9.0; 4], vec![18.0; 4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_pointers(self, count: i64) -> Result<Problem, Error> {
        check_within("batches", count, 0, MAX_BATCHES)?;
        let [a, b, c] = [self.a, self.b, self.c].map(|matrix| Matrix {
            batches: count,
            stride: None,
            by_pointers: true,
            ..matrix
        });
        Ok(Problem { a, b, c, grouped: None, ..self })
    }

    /// How many products there are, if their matrices lie at addresses of their own ([`Problem::by_pointers`]).
    pub fn pointers(&self) -> Option<i64> {
        self.c.by_pointers.then_some(self.c.batches)
    }

    /// As many products as groups, as a mixture of experts has them: the rows of A and C follow each other group by group, and M is how many
    /// rows there are of all groups. Each group has a B of its own; these are `stride` elements apart, without a gap if there is no stride,
    /// and all groups have the same where it is 0.
    ///
    /// A launch gives as `"offsets"`, beside the inputs of the epilogue ([`Gemm::run_with`](super::Gemm::run_with)), a buffer of u32 that
    /// has one more than there are groups: group `g` has the rows from the `g`-th of them to the next one. They are read when the kernel
    /// runs, so that a kernel before it may compute them. Rows of C that no group has are left as they are, and nothing outside of C is
    /// written, whatever the offsets are.
    ///
    /// Of an epilogue's inputs, a row is that of all groups, or each group has its own ([`Given::for_each`](super::Given::for_each)); matrices
    /// and columns lie as C does.
    ///
    /// # Errors
    /// [`Error::Extent`] for a count above [`MAX_GROUPS`], or a stride above [`MAX_STRIDE`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, Given, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// // The first row times one matrix, no row times another one, and three rows times a third one.
    /// let problem = Problem::new(DType::F32, [4, 2, 3], Layout::Tn)?.grouped(3, None)?;
    /// let device = Device::open(Select::Sim)?;
    /// let a = device.upload(&[1f32; 12])?;
    /// let b = device.upload(&[[1f32; 6], [2.0; 6], [3.0; 6]].concat())?;
    /// let (c, offsets) = (device.zeros::<f32>(8)?, device.upload(&[0u32, 1, 1, 4])?);
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
    /// gemm.run_with(&a, &b, &c, &[("offsets", Given::from(&offsets))])?;
    /// assert_eq!(c.download()?, [3.0, 3.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grouped(self, groups: i64, stride: Option<i64>) -> Result<Problem, Error> {
        check_within("groups", groups, 0, MAX_GROUPS)?;
        let one = |matrix: Matrix| Matrix { batches: 1, stride: None, by_pointers: false, ..matrix };
        let b = Matrix { batches: groups, stride, ..one(self.b) };
        Problem { a: one(self.a), b, c: one(self.c), grouped: Some(0), ..self }.checked_batch()
    }

    /// How many groups there are, if the products are those of groups.
    pub fn groups(&self) -> Option<i64> {
        self.grouped.map(|mode| [self.b, self.a][mode].batches)
    }

    /// How many products there are: those of a batch, or of groups.
    pub(super) fn products(&self) -> i64 {
        self.groups().unwrap_or(self.c.batches)
    }

    /// Which products a kernel for this problem computes.
    pub(super) fn batch(&self) -> Batch {
        match self.grouped {
            Some(mode) => Batch::Grouped { mode },
            None if self.c.by_pointers => Batch::Pointers,
            None if self.c.batches == 1 => Batch::Single,
            None => Batch::Strided,
        }
    }

    /// The problem, if the strides of a batch are within the limits, and no two products have an element of C in common.
    fn checked_batch(self) -> Result<Problem, Error> {
        let matrices = [("stride of A", self.a), ("stride of B", self.b), ("stride of C", self.c)];
        for (what, matrix) in matrices.into_iter().filter(|(_, matrix)| matrix.batches > 1) {
            check_within(what, matrix.batch_stride(), 0, MAX_STRIDE)?;
        }
        if self.c.is_apart() { Ok(self) } else { Err(Error::BatchStride { c: self.c.to_string() }) }
    }

    /// How many products of equal extents there are.
    pub fn batches(&self) -> i64 {
        self.c.batches
    }

    /// The same with matrices that begin at multiples of so many bytes, where that is not 16: a slice of a buffer may begin at any
    /// element, and a matrix of someone else's anywhere. A kernel that is chosen for such a problem takes such addresses, and takes them
    /// for no other problem if wider loads need more.
    ///
    /// # Errors
    /// [`Error::Alignment`] for what is no power of two, or less than an element.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let (a, b) = (device.upload(&[1f32; 17])?.slice(1..)?, device.upload(&[2f32; 16])?);
    /// let c = device.zeros::<f32>(16)?;
    /// let problem = Problem::new(DType::F32, [4, 4, 4], Layout::Nt)?;
    /// let refused = Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c);
    /// assert!(refused.is_err_and(|error| error.to_string().contains("A begins at")));
    /// let problem = problem.with_alignments(Some(4), None, None)?;
    /// Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c)?;
    /// assert_eq!(c.download()?, [8.0; 16]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_alignments(self, a: Option<i64>, b: Option<i64>, c: Option<i64>) -> Result<Problem, Error> {
        let with = |matrix: Matrix, bytes: Option<i64>, name: &'static str, dtype: DType| {
            let Some(bytes) = bytes else { return Ok(matrix) };
            let least = i64::from(dtype.bits() / 8);
            if bytes < least || bytes.count_ones() != 1 {
                return Err(Error::Alignment { matrix: name, bytes, least });
            }
            Ok(Matrix { alignment: bytes.min(ALIGNMENT), ..matrix })
        };
        Ok(Problem {
            a: with(self.a, a, "A", self.dtype_of(Operand::A))?,
            b: with(self.b, b, "B", self.dtype_of(Operand::B))?,
            c: with(self.c, c, "C", self.output)?,
            ..self
        })
    }

    /// The same with a B, the weights, of numbers of 8 bits with scales: element `(n,k)` of B is that number times scale `(n, k / group)`. The
    /// scales are a matrix of N x groups in which the scales of a group follow each other, and the groups begin
    /// [`Problem::pitch_of_scales`] apart. A launch gives it as `"scales"`, beside the inputs of the epilogue ([`Gemm::run_with`](super::Gemm::run_with)). A
    /// and the products are of bf16. Kernels of sm_90 compute this, where A may be contiguous along any mode, and B along K alone.
    ///
    /// The numbers become bf16 without being rounded, the products of a group are summed up as `wgmma` sums products of bf16, and each of
    /// these sums is scaled in f32 where it is added to the others, with one rounding.
    ///
    /// # Errors
    /// [`Error::Kernel`] for products of another dtype than bf16, and for numbers or scales that are not those of
    /// [`MixedInput::DTYPES`] and [`MixedInput::SCALES`]; [`Error::Group`] for groups of another size than 128.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, Given, KernelKind, Layout, MixedInput, Problem};
    /// use girih_tensor::DType;
    /// use half::bf16;
    ///
    /// let weights = MixedInput { dtype: DType::S8, scale: DType::F32, group: 128 };
    /// let problem = Problem::new(DType::Bf16, [8, 16, 256], Layout::Tn)?.with_mixed_input(weights)?;
    /// let device = Device::open(Select::Sim)?;
    /// let (a, b) = (device.upload(&vec![bf16::ONE; 8 * 256])?, device.upload(&vec![3i8; 16 * 256])?);
    /// // The scales of the 16 rows for the first 128 of K, and for the other 128.
    /// let scales = device.upload(&[[0.5f32; 16], [2.0; 16]].concat())?;
    /// let c = device.zeros::<bf16>(8 * 16)?;
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Sm90)?;
    /// gemm.run_with(&a, &b, &c, &[("scales", Given::from(&scales))])?;
    /// assert_eq!(c.download()?, [bf16::from_f32(128.0 * 1.5 + 128.0 * 6.0); 128]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_mixed_input(self, mixed: MixedInput) -> Result<Problem, Error> {
        let refused = |dtype: DType, accepted| {
            Err(Error::Kernel { kernel: "gemm of mixed inputs", dtype: dtype.name(), accepted })
        };
        if self.dtype != DType::Bf16 {
            return refused(self.dtype, "an A of bf16 is accepted");
        }
        if !MixedInput::DTYPES.contains(&mixed.dtype) {
            return refused(mixed.dtype, "a B of s8 or e4m3 is accepted");
        }
        if !MixedInput::SCALES.contains(&mixed.scale) {
            return refused(mixed.scale, "scales of f32 or bf16 are accepted");
        }
        if mixed.group != GROUP {
            return Err(Error::Group { group: mixed.group, accepted: GROUP });
        }
        Ok(Problem { mixed: Some((Operand::B, mixed)), ..self })
    }

    /// The same with 8-bit floats in blocks, each of which has a scale in f32: element `(m,k)` of A is its number times scale `(m, k / 128)` of
    /// A, element `(n,k)` of B its number times scale `(n / 128, k / 128)` of B. The scales of A are a matrix of M x groups in which the
    /// scales of a group follow each other, and the groups begin [`Problem::pitch_of_scales`] apart, and those of B are such a matrix of
    /// `ceil(N / 128)` x groups. A launch gives them as `"scales_a"` and `"scales_b"`, beside the inputs of the epilogue
    /// ([`Gemm::run_with`](super::Gemm::run_with)). This is how DeepSeek's models quantise activations and weights. Kernels of sm_90 compute
    /// it, in every layout.
    ///
    /// Sums are promoted: those of the 128 products of a block are multiplied by the product of both scales, and added to the others with one
    /// rounding to f32.
    ///
    /// # Errors
    /// [`Error::Kernel`] for other dtypes than e4m3 and e5m2.
    ///
    /// # Examples
    /// ```
    /// use float8::F8E4M3;
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, Given, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    /// use half::bf16;
    ///
    /// let problem = Problem::new(DType::E4m3, [8, 16, 256], Layout::Tn)?.with_block_scales()?;
    /// let device = Device::open(Select::Sim)?;
    /// let ones = |len: usize| device.upload(&vec![F8E4M3::from_f32(1.0); len]);
    /// let (a, b, c) = (ones(8 * 256)?, ones(16 * 256)?, device.zeros::<bf16>(8 * 16)?);
    /// // The scales of the 8 rows of A for the first 128 of K, and for the other 128; those of the one block of B begin 4 elements apart.
    /// let of_a = device.upload(&[[0.5f32; 8], [2.0; 8]].concat())?;
    /// let of_b = device.upload(&[1f32, 0.0, 0.0, 0.0, 3.0])?;
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Sm90)?;
    /// gemm.run_with(&a, &b, &c, &[("scales_a", Given::from(&of_a)), ("scales_b", Given::from(&of_b))])?;
    /// assert_eq!(c.download()?, [bf16::from_f32(128.0 * 0.5 + 128.0 * 6.0); 128]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_block_scales(self) -> Result<Problem, Error> {
        if !is_promoted(self.dtype) {
            let (kernel, dtype) = ("gemm of blocks with scales", self.dtype.name());
            return Err(Error::Kernel { kernel, dtype, accepted: "e4m3 and e5m2 are accepted" });
        }
        Ok(Problem { blocks: Some(BLOCKS), fast: false, ..self })
    }

    /// The scales of A and B, if blocks of them have scales, in the orientation of this problem.
    pub fn block_scales(&self) -> Option<BlockScales> {
        self.blocks.map(|[a, b]| BlockScales { granularity: [a, b, GROUP] })
    }

    /// How the weights lie in memory, if they have scales.
    pub fn mixed_input(&self) -> Option<&MixedInput> {
        self.mixed.as_ref().map(|(_, mixed)| mixed)
    }

    /// The dtype of an operand's scales, the rows and the elements of K that share one, if the operand has scales.
    pub(super) fn scaling(&self, operand: Operand) -> Option<(DType, [i64; 2])> {
        match (operand, &self.mixed, self.blocks) {
            (Operand::C, ..) | (_, None, None) => None,
            (_, Some((scaled, mixed)), _) => (*scaled == operand).then_some((mixed.scale, [1, mixed.group])),
            (_, None, Some(rows)) => Some((BlockScales::DTYPE, [rows[operand as usize], GROUP])),
        }
    }

    /// The scales of a group of an operand.
    fn scales_of_group(&self, operand: Operand, rows: i64) -> i64 {
        let extent = [self.a, self.b][usize::from(operand == Operand::B)].extents[0];
        (extent + rows - 1) / rows
    }

    /// The number of elements from the scales of a group of A or B to those of the next: as many as a group has, rounded up to whole 16 bytes. It
    /// is 0 without scales.
    pub fn pitch_of_scales(&self, operand: Operand) -> i64 {
        let Some((dtype, [rows, _])) = self.scaling(operand) else { return 0 };
        let line = 128 / i64::from(dtype.bits());
        (self.scales_of_group(operand, rows) + line - 1) / line * line
    }

    /// How many elements the scales of all groups of an operand are, with what lies between the groups: 0 where C is empty. Where K is 0, there
    /// is one group.
    pub(super) fn scales(&self, operand: Operand) -> i64 {
        let ([m, n, k], scaling) = (self.mnk(), self.scaling(operand));
        let Some((_, [rows, group])) = scaling.filter(|_| m > 0 && n > 0) else { return 0 };
        ((k - 1).max(0) / group) * self.pitch_of_scales(operand) + self.scales_of_group(operand, rows)
    }

    /// Which operand has scales.
    pub(super) fn scaled(&self) -> Option<Operand> {
        self.mixed.map(|(operand, _)| operand)
    }

    /// The same with a C of another element type.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another one than [`Problem::outputs`].
    pub fn with_output(self, dtype: DType) -> Result<Problem, Error> {
        if !self.outputs().contains(&dtype) {
            let accepted = match self.sums() {
                DType::F64 => "a C of f64 or f32 is accepted",
                DType::S32 => "a C of s32, f32, f16, bf16, e4m3 or e5m2 is accepted",
                _ => "a C of f32, f16, bf16, e4m3 or e5m2 is accepted",
            };
            return Err(Error::Kernel { kernel: "gemm", dtype: dtype.name(), accepted });
        }
        Ok(Problem { output: dtype, ..self })
    }

    /// The same with sums of 8-bit floats as `wgmma` makes them, which is fast and keeps few bits of them (cuBLASLt's
    /// `CUBLASLT_MATMUL_DESC_FAST_ACCUM`). Otherwise every 128 products are added to sums of f32. Other dtypes, and blocks with scales, have one kind of sums.
    #[must_use]
    pub fn with_fast_accumulation(self, fast: bool) -> Problem {
        Problem { fast: fast && is_promoted(self.dtype) && self.blocks.is_none(), ..self }
    }

    /// Whether sums are promoted to f32 again and again: those of 8-bit floats, unless [`Problem::with_fast_accumulation`] is asked for.
    pub fn promotes(&self) -> bool {
        is_promoted(self.dtype) && !self.fast
    }

    /// The same with an epilogue, for which a kernel needs registers beside the sums.
    #[must_use]
    pub fn with_epilogue(self, epilogue: &Epilogue) -> Problem {
        Problem { fused: !epilogue.is_empty(), reduces: !epilogue.outputs().is_empty(), ..self }
    }

    /// Whether an epilogue computes something of the sums ([`Problem::with_epilogue`]).
    pub fn is_fused(&self) -> bool {
        self.fused
    }

    /// The same with a C of M x N/2, each column of which an epilogue makes of two neighbouring columns of the product
    /// ([`Epilogue::gated`]): columns 2j of B are those of the gate and columns 2j+1 those of the other projection. Who has the two projections
    /// as matrices of their own puts their columns (of a B that is contiguous along K, its rows of K elements) one after the other in turn, once,
    /// as weights are loaded. C is tight; [`Problem::with_pitches`] gives it another pitch.
    ///
    /// # Errors
    /// [`Error::Gated`] for an odd N, or a C whose columns are contiguous.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Activation, Epilogue, Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    /// use half::bf16;
    ///
    /// // 2 rows, 3 pairs of columns and a K of 8: gates of 8 * 0.25, and 8 * 0.5 beside each.
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::Bf16, [2, 6, 8], Layout::Tn)?.gated()?;
    /// let weights: Vec<bf16> = (0..6 * 8).map(|i| bf16::from_f32(if i / 8 % 2 == 0 { 0.25 } else { 0.5 })).collect();
    /// let (a, b, c) = (device.upload(&[bf16::ONE; 16])?, device.upload(&weights)?, device.zeros::<bf16>(6)?);
    /// let reglu = Epilogue::new().gated(Activation::Relu);
    /// Gemms::new(&device).fused(&problem, KernelKind::Sm80, &reglu)?.run(&a, &b, &c)?;
    /// assert_eq!(c.download()?, [bf16::from_f32(8.0); 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gated(self) -> Result<Problem, Error> {
        let [m, n, _] = self.mnk();
        let refused = |found: String, accepted| Err(Error::Gated { found, accepted });
        if n % 2 != 0 {
            return refused(format!("an N of {n}"), "an even N, since two columns make one of C");
        }
        if self.c.major() != Major::K {
            return refused(String::from("a column-major C"), "a row-major C");
        }
        let Matrix { extents, contiguous, ld, .. } = Matrix::tight([m, n / 2], 1);
        let c = Matrix { extents, contiguous, ld, ..self.c };
        Ok(Problem { c, gated: true, ..self })
    }

    /// Whether C has half as many columns as the product ([`Problem::gated`]).
    pub fn is_gated(&self) -> bool {
        self.gated
    }

    /// Whether an epilogue has outputs besides C ([`Problem::with_epilogue`]).
    pub fn reduces(&self) -> bool {
        self.reduces
    }

    /// The same with rows of C that have the same bits whatever M, the other rows and their place among them are, and however many
    /// products a batch has. Its kernels sum up along K in one order, by instructions of one shape, and by one block for each tile; their
    /// tile depends on N alone. Otherwise tiles and the blocks that share K depend on M, and blocks with several tiles go through K
    /// forwards and backwards in turn.
    ///
    /// Rows are the same for one dtype, layout, N and K, and one [`KernelKind`](super::KernelKind), on one kind of GPU. In groups
    /// ([`Problem::grouped`]) they are the same whatever the groups are.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let gemms = Gemms::new(&device);
    /// let row: Vec<f32> = (0..9).map(|i| 1.0 / (i + 3) as f32).collect();
    /// let b = device.upload(&[row.clone(), row.clone()].concat())?;
    /// let product = |m: i64| -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    ///     let problem = Problem::new(DType::F32, [m, 2, 9], Layout::Tn)?.with_invariant(true);
    ///     let c = device.zeros::<f32>(2 * m as usize)?;
    ///     gemms.get(&problem, KernelKind::Simt)?.run(&device.upload(&row.repeat(m as usize))?, &b, &c)?;
    ///     Ok(c.download()?)
    /// };
    /// assert_eq!(product(1)?, product(70)?[138..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_invariant(self, invariant: bool) -> Problem {
        Problem { invariant, ..self }
    }

    /// Whether a row of C has the same bits whatever the other rows are ([`Problem::with_invariant`]).
    pub fn is_invariant(&self) -> bool {
        self.invariant
    }

    /// The element types that C may have.
    pub fn outputs(&self) -> &'static [DType] {
        outputs(self.sums())
    }

    /// The same with sums of another type, CuTe's accumulators. Those of f16 may be f16, which keeps 11 bits of each sum and becomes infinite
    /// beyond 65504; every other dtype has one type of sums.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another type than the dtype's own, or f16 of f16.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    /// use half::f16;
    ///
    /// let problem = Problem::new(DType::F16, [4, 8, 4096], Layout::Tn)?;
    /// let device = Device::open(Select::Sim)?;
    /// let (a, b) = (device.upload(&vec![f16::ONE; 4 * 4096])?, device.upload(&vec![f16::from_f32(1.25); 8 * 4096])?);
    /// let c = device.zeros::<f16>(4 * 8)?;
    /// let gemms = Gemms::new(&device);
    /// for (sums, most) in [(DType::F32, 0.0), (DType::F16, 300.0)] {
    ///     gemms.get(&problem.with_sums(sums)?, KernelKind::Sm80)?.run(&a, &b, &c)?;
    ///     assert!(c.download()?.iter().all(|x| (x.to_f32() - 5120.0).abs() <= most));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_sums(self, sums: DType) -> Result<Problem, Error> {
        let own = self::sums(self.dtype);
        if sums != own && (self.dtype, sums) != (DType::F16, DType::F16) {
            let accepted = "f32 is accepted, and of f16 f16 too; of f64 f64, of s8 s32";
            return Err(Error::Kernel { kernel: "gemm with such sums", dtype: sums.name(), accepted });
        }
        Ok(Problem { sums, ..self })
    }

    /// The type of the sums: f64 for f64, s32 for s8, else f32, if it is not another one by [`Problem::with_sums`].
    pub fn sums(&self) -> DType {
        self.sums
    }

    /// The type of the numbers that are multiplied.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Element type of A and B in memory: that of the numbers that are multiplied, but f32 for tf32.
    pub fn input(&self) -> DType {
        if self.dtype == DType::Tf32 { DType::F32 } else { self.dtype }
    }

    /// Element type of A, B or C in memory.
    pub fn dtype_of(&self, operand: Operand) -> DType {
        match (operand, &self.mixed) {
            (Operand::C, _) => self.output,
            (_, Some((scaled, mixed))) if *scaled == operand => mixed.dtype,
            _ => self.input(),
        }
    }

    /// Element type of C: that of A and B, but bf16 for floats of 8 bits and s32 for s8, unless [`Problem::with_output`] says another one.
    pub fn output(&self) -> DType {
        self.output
    }

    /// M x K.
    pub fn a(&self) -> Matrix {
        self.a
    }

    /// N x K.
    pub fn b(&self) -> Matrix {
        self.b
    }

    /// M x N.
    pub fn c(&self) -> Matrix {
        self.c
    }

    /// M, N, K.
    pub fn mnk(&self) -> [i64; 3] {
        [self.a.extents[0], self.b.extents[0], self.a.extents[1]]
    }

    /// How many multiplications and additions the products take together.
    pub fn flops(&self) -> f64 {
        self.mnk().into_iter().fold(2.0 * self.batches() as f64, |product, x| product * x as f64)
    }

    /// The same product of an A and a B that lie elsewhere, or have another K.
    pub(super) fn with_operands(self, [a, b]: [Matrix; 2]) -> Problem {
        Problem { a, b, ..self }
    }

    /// The same product with a C whose rows ([`Major::K`]) or columns ([`Major::Mn`]) are contiguous, as a kernel computes it
    /// ([`GemmConfig::c_major`](super::GemmConfig::c_major)), and whether A and B changed places for it: `C^T = B^T * A^T`.
    pub fn oriented(&self, c_major: Major) -> (Problem, bool) {
        if self.c.major() == c_major {
            return (*self, false);
        }
        let [m, n] = self.c.extents;
        (
            Problem {
                a: self.b,
                b: self.a,
                mixed: self.mixed.map(|(operand, mixed)| {
                    (if operand == Operand::A { Operand::B } else { Operand::A }, mixed)
                }),
                blocks: self.blocks.map(|[a, b]| [b, a]),
                grouped: self.grouped.map(|mode| 1 - mode),
                c: Matrix { extents: [n, m], contiguous: 1 - self.c.contiguous, ..self.c },
                ..*self
            },
            true,
        )
    }
}

fn check_extent(what: &'static str, value: i64, least: i64) -> Result<(), Error> {
    check_within(what, value, least, MAX_EXTENT)
}

fn check_within(what: &'static str, value: i64, least: i64, most: i64) -> Result<(), Error> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Error::Extent { what, value, least, most }) }
}
