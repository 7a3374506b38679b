//! Configurations: those that are chosen by facts, and odd ones.

use girih_codegen::atom::{
    SM80_16X8X8_F32TF32TF32F32_TN, SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN,
    SM80_16X8X32_S32S8S8S32_TN, SM90_16X8X4_F64F64F64F64_TN, UNIVERSAL_FMA_F32,
};
use girih_codegen::gemm::{Batch, GemmConfig, Mainloop, Major, Multistage, Schedule, Source, Store};
use girih_layout::{Lay, Tile, lay};
use girih_tensor::DType;

/// The contiguous modes of both operands, by BLAS's letters: K is contiguous for `t` first and for `n` second.
pub(crate) const LAYOUTS: [(&str, Major, Major); 4] = [
    ("tn", Major::K, Major::K),
    ("tt", Major::K, Major::Mn),
    ("nn", Major::Mn, Major::K),
    ("nt", Major::Mn, Major::Mn),
];

/// f32 on the CUDA cores, 4 x 4 blocks of C a thread.
pub(crate) fn simt(a: Major, b: Major) -> GemmConfig {
    const FOURS: Lay = lay!("(16,4,2):(4,1,64)");
    let source = |major| Source { major, vector: 4 };
    GemmConfig {
        name: "gemm_simt_f32",
        tile: [128, 128, 32],
        mainloop: Mainloop::Multistage(Multistage {
            atom: UNIVERSAL_FMA_F32,
            atoms: lay!("(((2,2),4),(8,2)):(((1,16),64),(2,32))"),
            permutation: [Tile::Lay(FOURS), Tile::Lay(FOURS)],
            k_atoms: 1,
            fragments: if a == Major::K || b == Major::K { 2 } else { 1 },
            stages: 2,
            min_blocks: 1,
            a: source(a),
            b: source(b),
        }),
        schedule: Schedule::Raster { group: 8 },
        batch: Batch::Single,
        store: Store::Direct { vector: 1 },
        c_type: DType::F32,
        c_major: Major::K,
        programmatic: false,
    }
}

/// 16-bit floats, tf32, s8 or f64 by `mma.sync`.
pub(crate) fn sm80(dtype: DType, a: Major, b: Major) -> GemmConfig {
    let (name, atom) = match dtype {
        DType::F16 => ("gemm_sm80_f16", SM80_16X8X16_F32F16F16F32_TN),
        DType::Tf32 => ("gemm_sm80_tf32", SM80_16X8X8_F32TF32TF32F32_TN),
        DType::S8 => ("gemm_sm80_s8", SM80_16X8X32_S32S8S8S32_TN),
        DType::F64 => ("gemm_sm90_f64", SM90_16X8X4_F64F64F64F64_TN),
        _ => ("gemm_sm80_bf16", SM80_16X8X16_F32BF16BF16F32_TN),
    };
    let bytes = i64::from(dtype.bits() / 8);
    GemmConfig {
        name,
        tile: [128, 128, (64 / bytes).max(16)],
        mainloop: Mainloop::Multistage(Multistage {
            atom,
            atoms: if dtype == DType::F64 { lay!("(2,4):(1,2)") } else { lay!("(2,2):(1,2)") },
            permutation: [Tile::All, Tile::All],
            k_atoms: 1,
            fragments: 2,
            stages: 4,
            min_blocks: 1,
            a: Source { major: a, vector: 16 / bytes },
            b: Source { major: b, vector: 16 / bytes },
        }),
        schedule: Schedule::Raster { group: 8 },
        batch: Batch::Single,
        store: Store::Direct { vector: 2 },
        c_type: if matches!(dtype, DType::Tf32 | DType::S8) { atom.c_type } else { dtype },
        c_major: Major::K,
        programmatic: false,
    }
}

/// The configuration's mainloop.
pub(crate) fn multistage(config: &GemmConfig) -> &Multistage {
    config.mainloop.multistage().unwrap()
}

/// The configuration with another mainloop.
pub(crate) fn with(config: GemmConfig, change: impl FnOnce(Multistage) -> Multistage) -> GemmConfig {
    config.with_mainloop(Mainloop::Multistage(change(*multistage(&config))))
}

fn with_vector(config: GemmConfig, vector: i64) -> GemmConfig {
    let source = |s: Source| Source { vector, ..s };
    with(config, |m| Multistage { a: source(m.a), b: source(m.b), ..m })
}

/// A configuration for any pitch: no asynchronous copy is aligned to it, so that elements pass through registers.
pub(crate) fn unaligned(a: Major, b: Major) -> GemmConfig {
    let store = Store::Direct { vector: 1 };
    GemmConfig { tile: [64, 64, 32], store, ..with_vector(sm80(DType::Bf16, a, b), 1) }
}

/// A configuration with loads of less than 16 bytes, as it is chosen: f32 in tiles half as deep, 16-bit floats by eight warps.
fn narrow(config: GemmConfig, vector: i64) -> GemmConfig {
    if config.atom().a_type == DType::F32 {
        let narrower = |source: Source| Source { vector: vector.min(source.vector), ..source };
        let config = with(config, |m| Multistage { a: narrower(m.a), b: narrower(m.b), ..m });
        return GemmConfig { tile: [128, 128, 16], ..with(config, |m| Multistage { stages: 4, ..m }) };
    }
    with(with_vector(config, vector), |m| Multistage { atoms: lay!("(2,4):(1,2)"), ..m })
}

/// The configurations that facts choose, for every layout and alignment, without those that differ only in C's vectors or the dtype.
pub(crate) fn chosen() -> Vec<GemmConfig> {
    let mut out = vec![sm80(DType::S8, Major::K, Major::K)];
    for (_, a, b) in LAYOUTS {
        out.push(simt(a, b));
        out.extend([2, 1].map(|vector| narrow(simt(a, b), vector)));
        out.push(sm80(DType::Bf16, a, b));
        out.extend([4, 2].map(|vector| narrow(sm80(DType::Bf16, a, b), vector)));
        out.extend([DType::Tf32, DType::F64].map(|dtype| sm80(dtype, a, b)));
        out.push(unaligned(a, b));
    }
    out
}

/// Other tiles, arrangements, stages, k-blocks and schedules than those that are chosen.
pub(crate) fn odd() -> Vec<GemmConfig> {
    let (k, mn) = (Major::K, Major::Mn);
    let one_warp = |m: Multistage| Multistage { atoms: lay!("(1,1):(1,1)"), stages: 2, ..m };
    let one = |config| {
        let config = with(config, one_warp);
        GemmConfig { tile: [16, 16, 32], schedule: Schedule::Raster { group: 1 }, ..config }
    };
    let fma = with(simt(k, k), |m| Multistage {
        atoms: lay!("(8,4):(1,8)"),
        permutation: [Tile::All, Tile::All],
        k_atoms: 4,
        ..m
    });
    let fma = GemmConfig { tile: [8, 4, 32], ..fma };
    let two_k = with(sm80(DType::F16, k, mn), |m| Multistage { atoms: lay!("(1,4):(1,1)"), k_atoms: 2, ..m });
    let three = with(sm80(DType::Bf16, mn, k), |m| Multistage { fragments: 1, stages: 3, ..m });
    let permuted = with(simt(mn, mn), |m| Multistage {
        permutation: [Tile::Lay(lay!("(16,4):(4,1)")), Tile::All],
        k_atoms: 2,
        fragments: 2,
        stages: 5,
        ..m
    });
    // A tile twice as high, of which vectors along K are transposed.
    let high = with(simt(k, k), |m| Multistage {
        permutation: [Tile::Lay(lay!("(16,4,4):(4,1,64)")), m.permutation[1]],
        stages: 4,
        ..m
    });
    let wide = GemmConfig { c_type: DType::F32, tile: [64, 64, 32], ..sm80(DType::Bf16, k, k) };
    vec![
        // One atom of 16 x 8 x 16 along M and K, and two along N, which is what one `ldmatrix` delivers.
        one(sm80(DType::Bf16, k, k)),
        one(sm80(DType::F16, mn, mn)),
        // One multiply-add a thread.
        fma,
        GemmConfig { tile: [16, 4, 32], ..fma },
        GemmConfig { tile: [32, 64, 64], ..two_k },
        GemmConfig { tile: [64, 32, 64], ..three },
        GemmConfig { tile: [64, 64, 16], ..permuted },
        GemmConfig { tile: [256, 128, 16], ..high },
        GemmConfig { schedule: Schedule::Raster { group: 3 }, ..wide },
        GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..wide },
    ]
}
