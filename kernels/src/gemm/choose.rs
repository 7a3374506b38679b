//! The pure choice: (problem, kernel) -> configuration, one reasoned rule a line.

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN, UNIVERSAL_FMA_F32};
use girih_codegen::gemm::{GemmConfig, Major, Source};
use girih_layout::{Lay, Tile, lay};
use girih_tensor::DType;

use super::{Matrix, Problem};
use crate::Error;
use crate::launch::widest;

/// Which family of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// f32 on the CUDA cores.
    Simt,
    /// f16 and bf16 by `mma.sync` and `cp.async`.
    Sm80,
}

impl KernelKind {
    /// The one for a dtype.
    pub fn for_dtype(dtype: DType) -> KernelKind {
        if dtype == DType::F32 { KernelKind::Simt } else { KernelKind::Sm80 }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KernelKind::Simt => "simt",
            KernelKind::Sm80 => "sm80",
        }
    }
}

impl std::str::FromStr for KernelKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<KernelKind, Error> {
        match text {
            "simt" => Ok(KernelKind::Simt),
            "sm80" => Ok(KernelKind::Sm80),
            _ => Err(Error::Unknown {
                what: "kernel",
                text: text.into(),
                accepted: "simt and sm80 are accepted",
            }),
        }
    }
}

/// Chooses the configuration for a problem with row-major C.
///
/// Nothing in it depends on M, N, K or a pitch but through facts: what divides the pitches and N.
///
/// # Errors
/// [`Error::Kernel`] if the kernel does not take the dtype.
pub fn choose(problem: &Problem, kind: KernelKind) -> Result<GemmConfig, Error> {
    match (kind, problem.dtype()) {
        (KernelKind::Simt, DType::F32) => Ok(simt(problem)),
        (KernelKind::Sm80, DType::F16 | DType::Bf16) => Ok(sm80(problem)),
        (KernelKind::Simt, dtype) => Err(Error::Kernel {
            kernel: "simt",
            dtype: dtype.name(),
            accepted: "f32 is accepted; sm80 takes f16 and bf16",
        }),
        (KernelKind::Sm80, dtype) => Err(Error::Kernel {
            kernel: "sm80",
            dtype: dtype.name(),
            accepted: "f16 and bf16 are accepted; simt takes f32",
        }),
    }
}

/// The widest loads that a matrix's pitch is aligned to; 16 bytes at most.
fn source(matrix: &Matrix, dtype: DType) -> Source {
    let widths: &[i64] = if dtype == DType::F32 { &[4, 2, 1] } else { &[8, 4, 2, 1] };
    let major = if matrix.contiguous() == 1 { Major::K } else { Major::Mn };
    Source { major, vector: widest(widths, &[matrix.ld()]) }
}

fn simt(problem: &Problem) -> GemmConfig {
    // Each thread owns 4 x 4 blocks of C, so that M- and N-contiguous operands are read in 16-byte vectors.
    const FOURS: Lay = lay!("(16,4,2):(4,1,64)");
    let (a, b) = (source(&problem.a(), DType::F32), source(&problem.b(), DType::F32));
    GemmConfig {
        name: "gemm_simt_f32",
        atom: UNIVERSAL_FMA_F32,
        // A warp is 4 x 8 threads: it reads 4 and 8 different rows of A and B.
        atoms: lay!("((4,4),(8,2)):((8,64),(1,32))"),
        permutation: [Tile::Lay(FOURS), Tile::Lay(FOURS)],
        tile: [128, 128, 32],
        // Where an operand is contiguous along K its 16-byte vectors are four k's; else one at a time is faster.
        k_atoms: if a.major == Major::K || b.major == Major::K { 4 } else { 1 },
        fragments: 1,
        stages: 2,
        raster: 8,
        min_blocks: 1,
        a,
        b,
        c_type: DType::F32,
        c_vector: widest(&[4, 2, 1], &[problem.c().ld(), problem.c().extents()[1]]),
    }
}

fn sm80(problem: &Problem) -> GemmConfig {
    let (name, atom) = match problem.dtype() {
        DType::F16 => ("gemm_sm80_f16", SM80_16X8X16_F32F16F16F32_TN),
        _ => ("gemm_sm80_bf16", SM80_16X8X16_F32BF16BF16F32_TN),
    };
    let (a, b) = (source(&problem.a(), problem.dtype()), source(&problem.b(), problem.dtype()));
    // Without asynchronous copies every element passes through a register of its own: a smaller tile leaves room.
    let tile = if a.vector == 1 || b.vector == 1 { [64, 64, 32] } else { [128, 128, 32] };
    GemmConfig {
        name,
        atom,
        atoms: lay!("(2,2):(1,2)"),
        permutation: [Tile::All, Tile::All],
        tile,
        k_atoms: 1,
        fragments: 2,
        stages: 4,
        raster: 8,
        min_blocks: 1,
        a,
        b,
        c_type: problem.dtype(),
        // An accumulator holds two neighbours of a row.
        c_vector: widest(&[2, 1], &[problem.c().ld(), problem.c().extents()[1]]),
    }
}
