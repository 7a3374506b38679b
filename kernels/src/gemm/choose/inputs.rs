//! How dtypes are multiplied, and how wide loads and stores may be.

use girih_codegen::atom::{
    MmaAtom, SM80_8X8X4_F64F64F64F64_TN, SM80_16X8X8_F32TF32TF32F32_TN, SM80_16X8X16_F16F16F16F16_TN,
    SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN, SM80_16X8X32_S32S8S8S32_TN,
    SM89_16X8X32_F32E4M3E4M3F32_TN, SM89_16X8X32_F32E5M2E5M2F32_TN, SM90_16X8X4_F64F64F64F64_TN,
    UNIVERSAL_FMA_F32,
};
use girih_codegen::gemm::Major;
use girih_tensor::DType;

use crate::gemm::repitch::between;
use crate::gemm::{Matrix, Problem};
use crate::launch::widest;

/// Elements that one load may take: up to 16 bytes. Loads of f32 transpose what is contiguous along K.
pub(super) const fn loads(dtype: DType, major: Major) -> &'static [i64] {
    match dtype.bits() {
        32 if matches!((dtype, major), (DType::F32, Major::K)) => &[4, 1],
        64 => &[2, 1],
        32 => &[4, 2, 1],
        16 => &[8, 4, 2, 1],
        _ => &[16, 8, 4, 2, 1],
    }
}
/// Elements of C that one store of a multistage kernel may take: as many as a thread has side by side in a row. A vector of accumulators of single threads
/// would be in registers of the same banks as the vectors of B by which they are multiplied, so that every product would wait.
pub(super) const fn stores(dtype: DType) -> &'static [i64] {
    if matches!(dtype, DType::F32) { &[1] } else { &[2, 1] }
}
/// The same of warpgroups where TMA copies do not store C. More than 4 bytes of bf16 are hardly faster.
pub(super) const STORES_SM90: [i64; 2] = [2, 1];
/// The same of groups, which TMA copies do not store.
pub(super) const fn stores_of_groups(output: DType) -> [i64; 3] {
    [128 / output.bits() as i64, 2, 1]
}
pub(super) const MAJORS: [Major; 2] = [Major::K, Major::Mn];

/// A dtype of A and B, and how it is multiplied.
pub(super) struct Input {
    pub(super) dtype: DType,
    /// The dtype of its accumulators.
    pub(super) sums: DType,
    /// The atom of a thread or of a warp on every device. That of a warpgroup follows from the dtype.
    pub(super) atom: MmaAtom,
    /// What multiplies the dtype on sm_90.
    pub(super) sm90: Sm90,
    /// The names of the kernels, the second one's for sm_90.
    pub(super) names: [&'static str; 2],
}

/// What multiplies a dtype on sm_90.
#[derive(Clone, Copy)]
pub(super) enum Sm90 {
    /// The same as elsewhere.
    Same,
    /// A larger atom of a warp.
    Warps(&'static MmaAtom),
    Warpgroups,
}

pub(super) static INPUTS: [Input; 9] = {
    use DType::{Bf16, E4m3, E5m2, F16, F32, F64, S8, S32, Tf32};
    let threads = Input::new([F32, F32], UNIVERSAL_FMA_F32, ["gemm_simt_f32"; 2]);
    let names = ["gemm_sm80_f64", "gemm_sm90_f64"];
    let doubles = Input::new([F64, F64], SM80_8X8X4_F64F64F64F64_TN, names);
    let names = ["gemm_sm80_f16_sums_f16", "gemm_sm90_f16_sums_f16"];
    let halves = Input::new([F16, F16], SM80_16X8X16_F16F16F16F16_TN, names);
    [
        Input { sm90: Sm90::Same, ..threads },
        Input { sm90: Sm90::Warps(&SM90_16X8X4_F64F64F64F64_TN), ..doubles },
        Input::new([S8, S32], SM80_16X8X32_S32S8S8S32_TN, ["gemm_sm80_s8", "gemm_sm90_s8"]),
        Input::new([Tf32, F32], SM80_16X8X8_F32TF32TF32F32_TN, ["gemm_sm80_tf32", "gemm_sm90_tf32"]),
        Input::new([F16, F32], SM80_16X8X16_F32F16F16F32_TN, ["gemm_sm80_f16", "gemm_sm90_f16"]),
        halves,
        Input::new([Bf16, F32], SM80_16X8X16_F32BF16BF16F32_TN, ["gemm_sm80_bf16", "gemm_sm90_bf16"]),
        Input::new([E4m3, F32], SM89_16X8X32_F32E4M3E4M3F32_TN, ["gemm_sm89_e4m3", "gemm_sm90_e4m3"]),
        Input::new([E5m2, F32], SM89_16X8X32_F32E5M2E5M2F32_TN, ["gemm_sm89_e5m2", "gemm_sm90_e5m2"]),
    ]
};

impl Input {
    const fn new([dtype, sums]: [DType; 2], atom: MmaAtom, names: [&'static str; 2]) -> Input {
        Input { dtype, sums, atom, sm90: Sm90::Warpgroups, names }
    }

    /// Whether warpgroups multiply the dtype on sm_90.
    pub(super) fn is_of_warpgroups(&self) -> bool {
        matches!(self.sm90, Sm90::Warpgroups)
    }

    /// How a problem's dtype is multiplied.
    pub(super) fn of(problem: &Problem) -> Option<&'static Input> {
        INPUTS.iter().find(|input| (input.dtype, input.sums) == (problem.dtype(), problem.sums()))
    }
}

/// How many elements the address of a matrix is a multiple of.
pub(super) fn aligned(matrix: &Matrix, dtype: DType) -> i64 {
    matrix.alignment() * 8 / i64::from(dtype.bits())
}

/// The widest of `stores` that C's rows are aligned to.
pub(super) fn stored(problem: &Problem, stores: &[i64]) -> i64 {
    let c = problem.c();
    let anywhere = i64::from(problem.batch().grouped() == Some(c.contiguous()));
    let line = c.extents()[c.contiguous()];
    widest(stores, &[c.ld(), line, aligned(&c, problem.output()), between(&c), anywhere])
}
