//! Problems whose operands have scales.

use girih_codegen::Operand;
use girih_codegen::gemm::{BlockScales, MixedInput};
use girih_tensor::DType;

use super::{BLOCKS, GROUP, Problem, is_promoted};
use crate::Error;

impl Problem {
    /// The same with a B, the weights, of numbers of 8 bits with scales: element `(n,k)` of B is that number times scale `(n, k / group)`. The
    /// scales are a matrix of N x groups in which the scales of a group follow each other, and the groups begin
    /// [`Problem::pitch_of_scales`] apart. A launch gives it as `"scales"`, along with the inputs of the epilogue ([`Gemm::run_with`](crate::gemm::Gemm::run_with)). A
    /// and the products are of bf16. Kernels of sm_90 compute this, where A may be contiguous along any mode, and B along K alone.
    ///
    /// The numbers become bf16 without being rounded, the products of a group are summed up as `wgmma` sums products of bf16, and each of
    /// these accumulators is scaled in f32 where it is added to the others, with one rounding.
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
    /// `ceil(N / 128)` x groups. A launch gives them as `"scales_a"` and `"scales_b"`, along with the inputs of the epilogue
    /// ([`Gemm::run_with`](crate::gemm::Gemm::run_with)). This is how DeepSeek's models quantise activations and weights. Kernels of sm_90 compute
    /// it, in every layout.
    ///
    /// Accumulators are promoted: those of the 128 products of a block are multiplied by the product of both scales, and added to the others with one
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

    /// How the weights are laid out in memory, if they have scales.
    pub fn mixed_input(&self) -> Option<&MixedInput> {
        self.mixed.as_ref().map(|(_, mixed)| mixed)
    }

    /// The dtype of an operand's scales, the rows and the elements of K that share one, if the operand has scales.
    pub(in crate::gemm) fn scaling(&self, operand: Operand) -> Option<(DType, [i64; 2])> {
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

    /// How many elements the scales of all groups of an operand are, with what is between the groups: 0 where C is empty. Where K is 0, there
    /// is one group.
    pub(in crate::gemm) fn scales(&self, operand: Operand) -> i64 {
        let ([m, n, k], scaling) = (self.mnk(), self.scaling(operand));
        let Some((_, [rows, group])) = scaling.filter(|_| m > 0 && n > 0) else { return 0 };
        ((k - 1).max(0) / group) * self.pitch_of_scales(operand) + self.scales_of_group(operand, rows)
    }

    /// Which operand has scales.
    pub(in crate::gemm) fn scaled(&self) -> Option<Operand> {
        self.mixed.map(|(operand, _)| operand)
    }
}
