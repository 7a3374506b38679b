//! Problems of several GEMMs: batches and groups.

use girih_codegen::gemm::{Batch, MAX_BATCHES, MAX_GROUPS, MAX_STRIDE};

use super::{Problem, check_within};
use crate::Error;
use crate::gemm::matrix::Matrix;

impl Problem {
    /// A batch of `count` GEMMs, whose matrices A, B and C are `strides` elements apart: CuTe's mode L. Matrices without a stride are contiguous.
    /// With a stride of 0 all GEMMs have the same A, or B. The pitches are those of each matrix.
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
        let [a, b, c] = [self.a.repeated(count, a), self.b.repeated(count, b), self.c.repeated(count, c)];
        Problem { a, b, c, grouped: None, ..self }.checked_batch()
    }

    /// A batch of `count` GEMMs, each of whose A, B and C has an address of its own (`cublasGemmBatchedEx`). A launch gets the buffers of each
    /// operand ([`Gemm::run_pointers`](crate::gemm::Gemm::run_pointers)). Several GEMMs may have the same A or B. The addresses are multiples of 16
    /// bytes, or of the alignments of [`Problem::with_alignments`]. The pitches are those of each matrix.
    ///
    /// A matrix that the epilogue reads is given in the same way, and may be C. Rows and columns are at strides, as in [`Problem::batched`], and so
    /// are the outputs other than C.
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

    /// The number of GEMMs, if their matrices are at addresses of their own ([`Problem::by_pointers`]).
    pub fn pointers(&self) -> Option<i64> {
        self.c.by_pointers.then_some(self.c.batches)
    }

    /// A grouped GEMM, as in a mixture of experts: the rows of A and C are contiguous group by group, and M is the number of rows of all groups. Each
    /// group has a B of its own. The matrices B are `stride` elements apart, contiguous without a stride, and the same for all groups if it is 0.
    ///
    /// A launch gives as `"offsets"`, along with the inputs of the epilogue ([`Gemm::run_with`](crate::gemm::Gemm::run_with)), a buffer of `groups +
    /// 1` u32: group `g` has the rows `offsets[g] .. offsets[g + 1]`. The kernel reads the offsets when it runs, so an earlier kernel may compute
    /// them. Rows of C without a group are not written, and nothing outside of C is written, for any offsets.
    ///
    /// A row that the epilogue reads is shared by all groups, or each group has its own ([`Given::for_each`](crate::gemm::Given::for_each)). Matrices
    /// and columns are laid out as C is.
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
        let [a, c] = [self.a, self.c].map(|matrix| matrix.repeated(1, None));
        Problem { a, b: self.b.repeated(groups, stride), c, grouped: Some(0), ..self }.checked_batch()
    }

    /// The number of groups of a grouped GEMM.
    pub fn groups(&self) -> Option<i64> {
        self.grouped.map(|mode| [self.b, self.a][mode].batches)
    }

    /// The number of GEMMs: of a batch, or of groups.
    pub(in crate::gemm) fn products(&self) -> i64 {
        self.groups().unwrap_or(self.c.batches)
    }

    /// The batch that a kernel for this problem computes.
    pub(in crate::gemm) fn batch(&self) -> Batch {
        match self.grouped {
            Some(mode) => Batch::Grouped { mode },
            None if self.c.by_pointers => Batch::Pointers,
            None if self.c.batches == 1 => Batch::Single,
            None => Batch::Strided,
        }
    }

    /// The problem, if the strides of a batch are within the limits, and no two GEMMs have an element of C in common.
    pub(super) fn checked_batch(self) -> Result<Problem, Error> {
        let matrices = [("stride of A", self.a), ("stride of B", self.b), ("stride of C", self.c)];
        for (what, matrix) in matrices.into_iter().filter(|(_, matrix)| matrix.batches > 1) {
            check_within(what, matrix.batch_stride(), 0, MAX_STRIDE)?;
        }
        match self.c.twice()? {
            None => Ok(self),
            Some(witness) => Err(Error::BatchStride { c: self.c.to_string(), witness }),
        }
    }

    /// The number of GEMMs of equal extents.
    pub fn batches(&self) -> i64 {
        self.c.batches
    }
}
