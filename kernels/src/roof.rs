//! The roofline of a GPU: peak rates of memory and arithmetic.

use girih_tensor::DType;

use crate::gemm::{Matrix, Problem};

/// The rates that the vendor of a GPU states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    /// Bytes that memory reads or writes in a second.
    pub memory: f64,
}

impl Roof {
    /// Those of an H200.
    pub const H200: Roof = Roof { memory: 4.8e12 };

    /// The rates of a GPU by its name, if they are known.
    pub fn of(gpu: &str) -> Option<Roof> {
        gpu.contains("H200").then_some(Roof::H200)
    }

    /// Multiplications and additions of a type in a second, without sparsity.
    pub fn operations(&self, dtype: DType) -> f64 {
        match dtype {
            DType::F64 => 66.9e12,
            DType::F32 => 66.9e12,
            DType::Tf32 => 494.7e12,
            _ if dtype.bits() == 8 => 1978.9e12,
            _ => 989.4e12,
        }
    }

    /// The least seconds that a GEMM can take: for its products, and to read A and B and to write C once.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::Roof;
    /// use girih_kernels::gemm::{Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// // A square one is bound by its products, one of few rows by the matrix of weights.
    /// let [products, memory] = Roof::H200.gemm(&Problem::new(DType::Bf16, [8192; 3], Layout::Tn)?);
    /// assert!(products > 10.0 * memory);
    /// let [products, memory] = Roof::H200.gemm(&Problem::new(DType::Bf16, [16, 8192, 8192], Layout::Tn)?);
    /// assert!(memory > 10.0 * products);
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn gemm(&self, problem: &Problem) -> [f64; 2] {
        let bytes = |matrix: &Matrix, dtype: DType| {
            let elements = matrix.extents().iter().map(|&extent| extent as f64).product::<f64>();
            elements * matrix.different() as f64 * f64::from(dtype.bits()) / 8.0
        };
        let moved = bytes(&problem.a(), problem.input())
            + bytes(&problem.b(), problem.input())
            + bytes(&problem.c(), problem.output());
        [problem.flops() / self.operations(problem.dtype()), moved / self.memory]
    }
}
