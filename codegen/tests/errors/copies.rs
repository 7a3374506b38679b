//! Copies, `wgmma` and attention kernels that cannot be built.

use girih_codegen::atom::{CopyAtom, Major, MmaAtom, MmaKind, Product, Reduction, Transfer};
use girih_codegen::attention::decode::{self, DecodeConfig, DecodeFeatures};
use girih_codegen::attention::{self, AttentionConfig, Multistage, Ring};
use girih_codegen::copy::{CopyConfig, Extent, Gather, Through, Walk, generate};
use girih_codegen::{AttentionError, CopyError, Error, WgmmaError};
use girih_tensor::DType;

use super::complete;
use crate::copy::{bulk, line, mode, rows, side, transpose};
use crate::{attention as ring, attention_multistage as multistage, decode as decoding};

#[test]
fn every_error_of_copies_is_provoked() {
    let four = || rows(DType::U32, 4, 4);
    let kernels = [
        CopyConfig { dtype: DType::S4, ..line() },
        CopyConfig { modes: vec![mode(256, Extent::Multiple(4)), mode(0, Extent::Multiple(1))], ..four() },
        CopyConfig { dst: side(&[0, 0], 1, 4), ..four() },
        CopyConfig { src: side(&[1, 0], 1, 4), ..four() },
        CopyConfig { gather: Some(Gather { mode: 0, index: DType::U32 }), ..four() },
        CopyConfig { through: Through::Bulk { stages: 1 }, ..bulk() },
        CopyConfig { walk: Walk { band: 3, persistent: false }, ..transpose() },
        CopyConfig { threads: 2048, ..line() },
    ];
    let kernels = kernels.map(|config| match generate(&config) {
        Err(error) => error,
        Ok(_) => panic!("{config:?}"),
    });
    let others = [
        CopyAtom::bulk(Transfer::Multicast, 128).map(drop),
        CopyAtom::bulk_reduce(Reduction::And, DType::F32, 128).map(drop),
        CopyAtom::tma(Transfer::Load, 6, 128).map(drop),
        CopyAtom::bulk(Transfer::Load, 64).map(drop),
        line().tiles(&[i64::MAX]).map(drop),
    ];
    let others = others.map(|found| found.err().unwrap_or_else(|| panic!("not refused")));
    complete("copy", CopyError::KINDS, kernels.into_iter().chain(others));
}

#[test]
fn every_error_of_wgmma_is_provoked() {
    use DType::{F16, F32, S8, S32};
    use MmaKind::{Mma, WgmmaRs, WgmmaSs};
    let (k, halves) = ([Major::K; 2], [F32, F16, F16]);
    let provoked = [
        (Mma, 64, halves, k, Product::Multiply),
        (WgmmaSs, 64, [F32, F16, S8], k, Product::Multiply),
        (WgmmaSs, -8, halves, k, Product::Multiply),
        (WgmmaSs, 40, [S32, S8, S8], k, Product::Multiply),
        (WgmmaRs, 64, halves, [Major::Mn, Major::K], Product::Multiply),
        (WgmmaSs, 64, halves, k, Product::Saturate),
    ];
    let provoked = provoked.map(|(kind, n, types, majors, product)| {
        MmaAtom::wgmma(kind, n, types, majors, product).err().unwrap_or_else(|| panic!("{kind:?} {n}"))
    });
    complete("wgmma", WgmmaError::KINDS, provoked);
}

#[test]
fn every_error_of_attention_is_provoked() {
    let good = multistage::config(DType::Bf16, 64, [32, 32], multistage::LSE);
    let small = ring::SMALL;
    let of_ring = |change: fn(Ring) -> Ring| ring::with(small, change);
    let attend = [
        AttentionConfig { dtype: DType::F64, ..good },
        AttentionConfig { head_dim: 48, ..good },
        AttentionConfig { value_dim: Some(96), ..good },
        AttentionConfig { tile: [48, 32], ..good },
        AttentionConfig { tile: [32, 24], ..good },
        AttentionConfig { head_dim: 256, tile: [128, 64], ..good },
        multistage::with(good, |m| Multistage { warps: 3, ..m }),
        multistage::with(good, |m| Multistage { stages: 1, ..m }),
        multistage::with(good, |m| Multistage { vector: 3, ..m }),
        AttentionConfig { dtype: DType::F32, ..small },
        AttentionConfig { head_dim: 48, ..small },
        AttentionConfig { tile: [64, 16], ..small },
        AttentionConfig { tile: [128, 24], ..small },
        of_ring(|r| Ring { warpgroups: 5, ..r }),
        of_ring(|r| Ring { buffers: 3, ..r }),
        of_ring(|r| Ring { stages: 0, ..r }),
        of_ring(|r| Ring { stages: 1000, ..r }),
        of_ring(|r| Ring { registers: [40, 248], ..r }),
    ];
    let attend = attend.map(|config| attention::generate(&config).map(drop));
    let config = decoding::CONFIG;
    let decode = [
        DecodeConfig { dtype: DType::F32, ..config },
        DecodeConfig { cache: DType::F16, ..config },
        DecodeConfig { head_dim: 96, ..config },
        DecodeConfig { rows: [8, 4], ..config },
        DecodeConfig { page: Some(48), ..config },
        DecodeConfig { stages: 1, ..config },
        DecodeConfig { head_dim: 256, stages: 4, ..config },
    ];
    let decode = decode.map(|config| decode::generate(&config).map(drop));
    let whole = DecodeConfig { features: DecodeFeatures { parts: false, ..config.features }, ..config };
    let combine = decode::generate_sum(&whole, "combine").map(drop);
    let all = attend.into_iter().chain(decode).chain([combine]);
    let errors: Vec<Error> = all.map(|found| found.err().unwrap_or_else(|| panic!("not refused"))).collect();
    complete("attention", AttentionError::KINDS, errors);
}
