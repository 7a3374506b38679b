//! Weights of 8 bits with scales.

use girih_codegen::gemm::Major;
use girih_device::{Device, SimOptions};
use girih_kernels::Error;
use girih_kernels::gemm::{
    Gemms, Given, KernelKind, Layout, MixedInput, Problem, Records, candidates, choose, record,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Failure, mixed};

const S8: MixedInput = MixedInput { dtype: DType::S8, scale: DType::F32, group: 128 };

#[test]
fn ragged_products_of_every_kind() -> Result<(), Failure> {
    let device = checked();
    for mnk in [[1, 1, 1], [17, 33, 130], [5, 140, 300], [40, 200, 260], [5, 0, 7], [0, 5, 7], [5, 7, 0]] {
        for problem in mixed::variants(mnk)? {
            mixed::verify(&device, &problem, None).map_err(|e| format!("{problem:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Blocks of clusters share a long K where tiles are few, and many tokens take several tiles.
#[test]
fn every_tile() -> Result<(), Failure> {
    let device = checked();
    for mnk in [[8, 264, 1100], [30, 136, 2100], [60, 128, 1100], [100, 136, 1200], [260, 300, 150]] {
        for problem in mixed::variants(mnk)?.into_iter().step_by(5) {
            mixed::verify(&device, &problem, None).map_err(|e| format!("{problem:?}: {e}"))?;
        }
    }
    Ok(())
}

/// So many problems share the configurations among themselves.
const SHARES: usize = 4;

#[test]
fn blocks_share_out_some_weights_evenly() -> Result<(), Failure> {
    // Few multiprocessors take several tiles each of a small problem.
    let device = Device::open_sim(SimOptions { multiprocessors: Some(5), ..SimOptions::checked() })?;
    streams(&device, SHARES, [([60, 600, 700], 7), ([20, 340, 390], 5)])
}

#[test]
#[ignore = "takes long; `cargo xtask soak` runs it"]
fn blocks_share_out_weights_evenly() -> Result<(), Failure> {
    streams(&checked(), 1, [([60, 1100, 1100], 1), ([20, 340, 390], 1)])
}

/// Every `step`-th problem of each size, each by every `shares`-th configuration.
fn streams(device: &Device, shares: usize, problems: [([i64; 3], usize); 2]) -> Result<(), Failure> {
    let all = problems.map(|(mnk, step)| Ok::<_, Failure>(mixed::variants(mnk)?.into_iter().step_by(step)));
    let mut ran = 0;
    for (i, problem) in all.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().enumerate() {
        ran += mixed::verify_streams(device, &problem, [i % shares, shares])?;
    }
    assert!(ran > 0);
    Ok(())
}

#[test]
fn weights_are_rows_of_tiles() -> Result<(), Failure> {
    let few =
        [(1, 16), (16, 16), (17, 32), (64, 64), (100, 64)].map(|(m, columns)| ([m, 28672], [256, columns]));
    // Smaller tiles where the last turn is fuller with them, or where more blocks share a tile.
    for ([m, n], [rows, columns]) in
        few.into_iter().chain([([4096, 28672], [128, 64]), ([16, 4096], [128, 16])])
    {
        let problem = Problem::new(DType::Bf16, [m, n, 4096], Layout::Tn)?.with_mixed_input(S8)?;
        let config = choose(&problem, KernelKind::for_problem(&problem, 90), 132)?;
        assert_eq!((config.tile, config.c_major), ([rows, columns, 128], Major::Mn));
    }
    Ok(())
}

/// What was measured for weights of bf16 says nothing about weights of 8 bits.
#[test]
fn records_tell_weights_apart() -> Result<(), Failure> {
    let device = checked();
    let plain = Problem::new(DType::Bf16, [16, 64, 256], Layout::Tn)?;
    let problem = plain.with_mixed_input(S8)?;
    let mut records = Records::new(device.limits());
    for (problem, number) in [(plain, 3), (problem, 5)] {
        let config = candidates(&problem, device.limits().multiprocessors, 24)[number];
        records.insert(record(&problem, &config, device.limits(), "2026-11-23", [2.5, 2.9])?)?;
    }
    let found = records.config(&problem)?.ok_or("a record")?;
    assert!(
        found.mixed_input().is_some() && records.config(&plain)?.ok_or("a record")?.mixed_input().is_none()
    );
    mixed::verify(&device, &problem, Some(&found))
}

#[test]
fn misuse_is_told() -> Result<(), Failure> {
    let device = Device::open(girih_device::Select::Sim)?;
    let problem = Problem::new(DType::Bf16, [16, 32, 128], Layout::Tn)?;
    let mut texts = Vec::new();
    let mut refused = |error: Error| texts.push(error.to_string());
    for (dtype, scale, group) in
        [(DType::U8, DType::F32, 128), (DType::S8, DType::F16, 128), (DType::S8, DType::F32, 64)]
    {
        refused(problem.with_mixed_input(MixedInput { dtype, scale, group }).expect_err("not there"));
    }
    let halves = Problem::new(DType::F16, [16, 32, 128], Layout::Tn)?;
    refused(halves.with_mixed_input(S8).expect_err("A of f16"));
    let mixed = problem.with_mixed_input(S8)?;
    refused(choose(&mixed, KernelKind::Sm80, 132).expect_err("by warps"));
    let across = Problem::new(DType::Bf16, [16, 32, 128], Layout::Tt)?.with_mixed_input(S8)?;
    refused(choose(&across, KernelKind::Sm90, 132).expect_err("B along N"));
    let gemms = Gemms::new(&device);
    let odd = mixed.with_pitches(None, Some(129), None)?;
    refused(gemms.get(&odd, KernelKind::Sm90).expect_err("rows of 129 bytes"));
    refused(gemms.get(&mixed.batched(2, [None; 3])?, KernelKind::Sm90).expect_err("a batch"));
    let gemm = gemms.get(&mixed, KernelKind::Sm90)?;
    let (a, b) = (device.zeros::<bf16>(16 * 128)?, device.zeros::<i8>(32 * 128)?);
    let (c, scales) = (device.zeros::<bf16>(16 * 32)?, device.zeros::<f32>(36)?);
    let few = device.zeros::<f32>(31)?;
    refused(gemm.run(&a, &b, &c).expect_err("no scales"));
    refused(gemm.run(&a, &a, &c).expect_err("weights of bf16"));
    refused(gemm.run_with(&a, &b, &c, &[("scales", Given::from(&a))]).expect_err("scales of bf16"));
    refused(gemm.run_with(&a, &b, &c, &[("scales", Given::from(0.5))]).expect_err("a number"));
    refused(gemm.run_with(&a, &b, &c, &[("scales", Given::pitched(&scales, 36))]).expect_err("a pitch"));
    refused(gemm.run_with(&a, &b, &c, &[("scales", Given::from(&few))]).expect_err("too few"));
    gemm.run_with(&a, &b, &c, &[("scales", Given::from(&scales))])?;
    expect_test::expect![[r#"
        kernel gemm of mixed inputs does not take u8: a B of s8 or e4m3 is accepted
        kernel gemm of mixed inputs does not take f16: scales of f32 or bf16 are accepted
        scales of groups of 64 elements of K: groups of 128 are accepted
        kernel gemm of mixed inputs does not take f16: an A of bf16 is accepted
        kernel sm80 does not take s8: sm90 takes weights with scales
        kernel sm90 does not take s8: weights that are contiguous along K are accepted: layouts tn and nn
        B is (32,128):(129,1) at multiples of 16 bytes: where B has scales, pitches and addresses at multiples of 16 bytes are accepted
        batch = Strided with a mixed input: Single is accepted
        `scales`: nothing, but accepted are: a buffer of 32 elements of f32 or more
        the problem is s8, the buffers hold bf16
        `scales`: 2048 elements of bf16, but accepted are: a buffer of 32 elements of f32 or more
        `scales`: a number, but accepted are: a buffer of 32 elements of f32 or more
        `scales`: a pitch of 36, but accepted are: a buffer of 32 elements of f32 or more
        `scales`: 31 elements of f32, but accepted are: a buffer of 32 elements of f32 or more
    "#]]
    .assert_eq(&texts.iter().map(|text| format!("{text}\n")).collect::<String>());
    Ok(())
}
