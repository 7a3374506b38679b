//! Options of a GEMM: outputs, dtype of the accumulator, room for an epilogue, batch invariance.

use girih_codegen::gemm::{Epilogue, Major, outputs};
use girih_tensor::DType;

use super::{Problem, is_promoted, sums};
use crate::Error;
use crate::gemm::matrix::Matrix;

impl Problem {
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

    /// The same with accumulators of 8-bit floats as `wgmma` makes them, which is fast and keeps few bits of them (cuBLASLt's
    /// `CUBLASLT_MATMUL_DESC_FAST_ACCUM`). Otherwise every 128 products are added to accumulators of f32. Other dtypes, and blocks with scales, have one kind of accumulators.
    #[must_use]
    pub fn with_fast_accumulation(self, fast: bool) -> Problem {
        Problem { fast: fast && is_promoted(self.dtype) && self.blocks.is_none(), ..self }
    }

    /// Whether accumulators are promoted to f32 again and again: those of 8-bit floats, unless [`Problem::with_fast_accumulation`] is asked for.
    pub fn promotes(&self) -> bool {
        is_promoted(self.dtype) && !self.fast
    }

    /// The same with an epilogue, for which a kernel needs registers in addition to the accumulators.
    #[must_use]
    pub fn with_epilogue(self, epilogue: &Epilogue) -> Problem {
        Problem { fused: !epilogue.is_empty(), reduces: !epilogue.outputs().is_empty(), ..self }
    }

    /// Whether an epilogue computes something of the accumulators ([`Problem::with_epilogue`]).
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

    /// Whether an epilogue has outputs other than C ([`Problem::with_epilogue`]).
    pub fn reduces(&self) -> bool {
        self.reduces
    }

    /// The same with rows of C that have the same bits whatever M, the other rows and their place among them are, and however many
    /// products a batch has. Its kernels sum up along K in one order, by instructions of one shape, and by one block for each tile; their
    /// tile depends on N alone. Otherwise tiles and the blocks that share K depend on M, and blocks with several tiles go through K
    /// forwards and backwards in turn.
    ///
    /// Rows are the same for one dtype, layout, N and K, and one [`KernelKind`](crate::gemm::KernelKind), on one kind of GPU. In groups
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

    /// The same with accumulators of another type, CuTe's accumulators. Those of f16 may be f16, which keeps 11 bits of each sum and becomes infinite
    /// beyond 65504; every other dtype has one type of accumulators.
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

    /// The type of the accumulators: f64 for f64, s32 for s8, else f32, if it is not another one by [`Problem::with_sums`].
    pub fn sums(&self) -> DType {
        self.sums
    }
}
