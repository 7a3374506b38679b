//! The pure choice: (problem, kernel) -> configuration, one reasoned rule a line.

use girih_codegen::atom::{
    MmaAtom, MmaKind, Product, SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN,
    UNIVERSAL_FMA_F32,
};
use girih_codegen::builder::MAX_SHARED;
use girih_codegen::gemm::{
    GemmConfig, Mainloop, Major, Multistage, Schedule, Source, Store, WarpSpecialized,
};
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
    /// f16 and bf16 by `wgmma` and tensor copies, on sm_90 alone.
    Sm90,
}

impl KernelKind {
    /// The one for a dtype that every device runs.
    pub fn for_dtype(dtype: DType) -> KernelKind {
        if dtype == DType::F32 { KernelKind::Simt } else { KernelKind::Sm80 }
    }

    /// The fastest for a problem on a device of architecture `sm` (90 for sm_90).
    pub fn for_problem(problem: &Problem, sm: u32) -> KernelKind {
        let fits = problem.dtype() != DType::F32 && has_maps(problem).is_ok();
        if sm == 90 && fits { KernelKind::Sm90 } else { KernelKind::for_dtype(problem.dtype()) }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KernelKind::Simt => "simt",
            KernelKind::Sm80 => "sm80",
            KernelKind::Sm90 => "sm90",
        }
    }
}

impl std::str::FromStr for KernelKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<KernelKind, Error> {
        match text {
            "simt" => Ok(KernelKind::Simt),
            "sm80" => Ok(KernelKind::Sm80),
            "sm90" => Ok(KernelKind::Sm90),
            _ => Err(Error::Unknown {
                what: "kernel",
                text: text.into(),
                accepted: "simt, sm80 and sm90 are accepted",
            }),
        }
    }
}

/// Chooses the configuration for a problem, on a device of so many multiprocessors. The kernel computes
/// [`Problem::row_major`].
///
/// A module depends on M, N, K and pitches through facts alone: what divides the pitches and N. Which tile serves them best
/// depends on M and N. An epilogue does not matter: what it reads comes in pieces that fit the registers beside any tile's sums.
///
/// # Errors
/// [`Error::Kernel`] if the kernel does not take the dtype, [`Error::TensorMap`] if it does not take the extents or pitches.
pub fn choose(problem: &Problem, kind: KernelKind, multiprocessors: u32) -> Result<GemmConfig, Error> {
    let row_major = problem.row_major().0;
    let refused = |kernel, accepted| Err(Error::Kernel { kernel, dtype: problem.dtype().name(), accepted });
    match (kind, problem.dtype()) {
        (KernelKind::Simt, DType::F32) => Ok(simt(&row_major)),
        (KernelKind::Sm80, DType::F16 | DType::Bf16) => Ok(sm80(&row_major)),
        (KernelKind::Sm90, DType::F16 | DType::Bf16) => {
            has_maps(problem)?;
            sm90(&row_major, i64::from(multiprocessors))
        }
        (KernelKind::Simt, _) => refused("simt", "f32 is accepted; sm80 and sm90 take f16 and bf16"),
        (KernelKind::Sm80, _) => refused("sm80", "f16 and bf16 are accepted; simt takes f32"),
        (KernelKind::Sm90, _) => refused("sm90", "f16 and bf16 are accepted; simt takes f32"),
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
        tile: [128, 128, 32],
        mainloop: Mainloop::Multistage(Multistage {
            atom: UNIVERSAL_FMA_F32,
            // A warp is 4 x 8 threads: it reads 4 and 8 different rows of A and B.
            atoms: lay!("((4,4),(8,2)):((8,64),(1,32))"),
            permutation: [Tile::Lay(FOURS), Tile::Lay(FOURS)],
            // Where an operand is contiguous along K its 16-byte vectors are four k's; else one at a time is faster.
            k_atoms: if a.major == Major::K || b.major == Major::K { 4 } else { 1 },
            fragments: 1,
            stages: 2,
            min_blocks: 1,
            a,
            b,
        }),
        schedule: Schedule::Raster { group: 8 },
        store: Store::Direct { vector: widest(&[4, 2, 1], &[problem.c().ld(), problem.c().extents()[1]]) },
        c_type: problem.output(),
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
        tile,
        mainloop: Mainloop::Multistage(Multistage {
            atom,
            atoms: lay!("(2,2):(1,2)"),
            permutation: [Tile::All, Tile::All],
            k_atoms: 1,
            fragments: 2,
            stages: 4,
            min_blocks: 1,
            a,
            b,
        }),
        schedule: Schedule::Raster { group: 8 },
        // An accumulator holds two neighbours of a row.
        store: Store::Direct { vector: widest(&[2, 1], &[problem.c().ld(), problem.c().extents()[1]]) },
        c_type: problem.output(),
    }
}

/// Whether tensor maps can describe the matrices.
fn has_maps(problem: &Problem) -> Result<(), Error> {
    for (what, value) in ["M", "N", "K"].into_iter().zip(problem.mnk()) {
        if value < 1 {
            return Err(Error::TensorMap { what, value, accepted: "1 or more elements" });
        }
    }
    let line = |dtype: DType| 128 / i64::from(dtype.bits());
    let (c, inputs, output) = (problem.c(), line(problem.dtype()), line(problem.output()));
    let row = if c.contiguous() == 1 { "N" } else { "M" };
    let sizes = [
        (row, c.extents()[c.contiguous()], output),
        ("lda", problem.a().ld(), inputs),
        ("ldb", problem.b().ld(), inputs),
        ("ldc", c.ld(), output),
    ];
    for (what, value, line) in sizes {
        if value % line != 0 {
            return Err(Error::TensorMap { what, value, accepted: "elements of whole 16 bytes" });
        }
    }
    Ok(())
}

/// Tiles of rows and columns, and how long a multiprocessor takes for one (measured on an H200, the first is 100): smaller ones
/// read more for a product.
const TILES: [([i64; 2], i64); 4] = [([128, 256], 100), ([128, 192], 80), ([128, 128], 54), ([128, 64], 30)];
/// Elements of a tile along K.
const TILE_K: i64 = 64;
/// Stages with which copies stay ahead of products.
const LEAST_STAGES: i64 = 3;

/// Stages of A and B that shared memory has room for beside C's tile.
fn stages(problem: &Problem, [tile_m, tile_n]: [i64; 2]) -> i64 {
    let bytes = |dtype: DType| i64::from(dtype.bits() / 8);
    let stage = (tile_m + tile_n) * TILE_K * bytes(problem.dtype());
    // A kilobyte holds the barriers of the pipeline.
    (MAX_SHARED - 1024 - tile_m * tile_n * bytes(problem.output())) / stage
}

fn sm90(problem: &Problem, multiprocessors: i64) -> Result<GemmConfig, Error> {
    let [m, n, _] = problem.mnk();
    // Every multiprocessor takes as many turns as the last one to finish.
    let time = |[tile_m, tile_n]: [i64; 2], each: i64| {
        let tiles = ((m + tile_m - 1) / tile_m).saturating_mul((n + tile_n - 1) / tile_n);
        tiles.saturating_add(multiprocessors - 1).div_euclid(multiprocessors.max(1)).saturating_mul(each)
    };
    let fits = |(tile, _): &([i64; 2], i64)| stages(problem, *tile) >= LEAST_STAGES;
    let fastest = TILES.into_iter().filter(fits).min_by_key(|&(tile, each)| time(tile, each));
    let (tile, _) = fastest.unwrap_or(TILES[3]);
    let major = |matrix: Matrix| if matrix.contiguous() == 1 { Major::K } else { Major::Mn };
    let majors = [major(problem.a()), major(problem.b())];
    let types = [DType::F32, problem.dtype(), problem.dtype()];
    let name = if problem.dtype() == DType::F16 { "gemm_sm90_f16" } else { "gemm_sm90_bf16" };
    Ok(GemmConfig {
        name,
        tile: [tile[0], tile[1], TILE_K],
        mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
            atom: MmaAtom::wgmma(MmaKind::WgmmaSs, tile[1], types, majors, Product::Multiply)?,
            atoms: lay!("(2,1):(1,0)"),
            stages: stages(problem, tile),
            registers: [40, 232],
        }),
        schedule: Schedule::Persistent { alternate: true },
        store: Store::Tma { rows: tile[0] },
        c_type: problem.output(),
    })
}
