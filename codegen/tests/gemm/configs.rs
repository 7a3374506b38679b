//! Configurations: those that a choice by facts makes, and odd ones.

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN, UNIVERSAL_FMA_F32};
use girih_codegen::gemm::{GemmConfig, Major, Source};
use girih_layout::{Lay, Tile, lay};
use girih_tensor::DType;

/// Both operands' contiguous modes, by BLAS's letters: `t` first and `n` second are K.
pub(crate) const LAYOUTS: [(&str, Major, Major); 4] = [
    ("tn", Major::K, Major::K),
    ("tt", Major::K, Major::Mn),
    ("nn", Major::Mn, Major::K),
    ("nt", Major::Mn, Major::Mn),
];

/// f32 on the CUDA cores, 4 x 4 blocks of C a thread.
pub(crate) fn simt(a: Major, b: Major) -> GemmConfig {
    const FOURS: Lay = lay!("(16,4,2):(4,1,64)");
    GemmConfig {
        name: "gemm_simt_f32",
        atom: UNIVERSAL_FMA_F32,
        atoms: lay!("((4,4),(8,2)):((8,64),(1,32))"),
        permutation: [Tile::Lay(FOURS), Tile::Lay(FOURS)],
        tile: [128, 128, 32],
        k_atoms: if a == Major::K || b == Major::K { 4 } else { 1 },
        fragments: 1,
        stages: 2,
        raster: 8,
        min_blocks: 1,
        a: Source { major: a, vector: 4 },
        b: Source { major: b, vector: 4 },
        c_type: DType::F32,
        c_vector: 4,
    }
}

/// 16-bit floats by `mma.sync`.
pub(crate) fn sm80(dtype: DType, a: Major, b: Major) -> GemmConfig {
    let (name, atom) = match dtype {
        DType::F16 => ("gemm_sm80_f16", SM80_16X8X16_F32F16F16F32_TN),
        _ => ("gemm_sm80_bf16", SM80_16X8X16_F32BF16BF16F32_TN),
    };
    GemmConfig {
        name,
        atom,
        atoms: lay!("(2,2):(1,2)"),
        permutation: [Tile::All, Tile::All],
        tile: [128, 128, 32],
        k_atoms: 1,
        fragments: 2,
        stages: 4,
        raster: 8,
        min_blocks: 1,
        a: Source { major: a, vector: 8 },
        b: Source { major: b, vector: 8 },
        c_type: dtype,
        c_vector: 2,
    }
}

fn with_vector(config: GemmConfig, vector: i64) -> GemmConfig {
    let source = |s: Source| Source { vector, ..s };
    GemmConfig { a: source(config.a), b: source(config.b), ..config }
}

/// Elements that pass through registers of their own: no asynchronous copy is aligned to the pitch.
pub(crate) fn unaligned(a: Major, b: Major) -> GemmConfig {
    GemmConfig { tile: [64, 64, 32], c_vector: 1, ..with_vector(sm80(DType::Bf16, a, b), 1) }
}

/// What facts choose: every layout and alignment; what differs only in C's vectors or the dtype is left out.
pub(crate) fn chosen() -> Vec<GemmConfig> {
    let mut out = Vec::new();
    for (_, a, b) in LAYOUTS {
        out.extend([4, 2, 1].map(|vector| with_vector(simt(a, b), vector)));
        out.extend([8, 4, 2].map(|vector| with_vector(sm80(DType::Bf16, a, b), vector)));
        out.push(unaligned(a, b));
    }
    out
}

/// Other tiles, arrangements, stages and k-blocks than those that are chosen.
pub(crate) fn odd() -> Vec<GemmConfig> {
    let (k, mn) = (Major::K, Major::Mn);
    let warp = lay!("(1,1):(1,1)");
    let one = |config| GemmConfig { atoms: warp, tile: [16, 16, 32], stages: 2, raster: 1, ..config };
    let fma = GemmConfig {
        atoms: lay!("(8,4):(1,8)"),
        permutation: [Tile::All, Tile::All],
        tile: [8, 4, 32],
        k_atoms: 4,
        ..simt(k, k)
    };
    vec![
        // One atom of 16 x 8 x 16 along M and K, two along N: what one `ldmatrix` delivers.
        one(sm80(DType::Bf16, k, k)),
        one(sm80(DType::F16, mn, mn)),
        // One multiply-add a thread.
        fma,
        GemmConfig { tile: [16, 4, 32], ..fma },
        GemmConfig { atoms: lay!("(1,4):(1,1)"), tile: [32, 64, 64], k_atoms: 2, ..sm80(DType::F16, k, mn) },
        GemmConfig { fragments: 1, stages: 3, tile: [64, 32, 64], ..sm80(DType::Bf16, mn, k) },
        GemmConfig {
            permutation: [Tile::Lay(lay!("(16,4):(4,1)")), Tile::All],
            k_atoms: 2,
            fragments: 2,
            tile: [64, 64, 16],
            stages: 5,
            ..simt(mn, mn)
        },
        GemmConfig { c_type: DType::F32, raster: 3, tile: [64, 64, 32], ..sm80(DType::Bf16, k, k) },
    ]
}
