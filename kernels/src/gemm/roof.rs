//! The roofline of a GEMM.

use girih_codegen::Roof;
use girih_tensor::DType;

use super::{Matrix, Problem};

/// The least seconds that a GEMM can take: for its products, and to read A and B and to write C once.
///
/// # Examples
/// ```
/// use girih_kernels::Roof;
/// use girih_kernels::gemm::{Layout, Problem, least_seconds};
/// use girih_tensor::DType;
///
/// // A square one is bound by its products, one of few rows by the matrix of weights.
/// let [products, memory] = least_seconds(&Roof::H200, &Problem::new(DType::Bf16, [8192; 3], Layout::Tn)?);
/// assert!(products > 10.0 * memory);
/// let [products, memory] = least_seconds(&Roof::H200, &Problem::new(DType::Bf16, [16, 8192, 8192], Layout::Tn)?);
/// assert!(memory > 10.0 * products);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn least_seconds(roof: &Roof, problem: &Problem) -> [f64; 2] {
    let bytes = |matrix: &Matrix, dtype: DType| {
        let elements = matrix.extents().iter().map(|&extent| extent as f64).product::<f64>();
        elements * matrix.different() as f64 * f64::from(dtype.bits()) / 8.0
    };
    let moved = bytes(&problem.a(), problem.input())
        + bytes(&problem.b(), problem.input())
        + bytes(&problem.c(), problem.output());
    [problem.flops() / roof.operations(problem.dtype()), moved / roof.memory]
}
