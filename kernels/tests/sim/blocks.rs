//! 8-bit floats in blocks with scales.

use float8::F8E4M3;
use girih_codegen::gemm::Major;
use girih_device::Device;
use girih_kernels::Error;
use girih_kernels::gemm::{
    Gemms, Given, KernelKind, Layout, Order, Problem, Records, candidates, choose, record,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Failure, blocks, padded};

#[test]
fn ragged_products_of_every_kind() -> Result<(), Failure> {
    let device = checked();
    for mnk in [[1, 1, 1], [17, 33, 130], [140, 300, 260], [300, 70, 140], [5, 0, 7], [5, 7, 0]] {
        for problem in blocks::variants(mnk)? {
            blocks::verify(&device, &problem, None).map_err(|e| format!("{problem:?}: {e}"))?;
        }
    }
    for problem in blocks::variants([70, 50, 200])? {
        blocks::verify(&device, &padded(problem, 3), None).map_err(|e| format!("{problem:?}: {e}"))?;
    }
    Ok(())
}

/// Few rows, whose kernels compute the transpose, and tiles of one and of two blocks of B.
#[test]
fn tiles_of_every_size() -> Result<(), Failure> {
    let device = checked();
    for mnk in [[8, 264, 1100], [60, 1030, 300], [260, 520, 150], [1400, 1100, 140]] {
        let problem = Problem::new(DType::E4m3, mnk, Layout::Tn)?.with_block_scales()?;
        blocks::verify(&device, &problem, None).map_err(|e| format!("{problem:?}: {e}"))?;
    }
    Ok(())
}

/// Sums of blocks are promoted, whatever is said of fast sums, and tiles along K are no longer than blocks.
#[test]
fn scaled_sums_are_promoted() -> Result<(), Failure> {
    for (mnk, order) in [[4096; 3], [16, 4096, 4096], [4096, 64, 4096]]
        .into_iter()
        .flat_map(|mnk| [Order::Row, Order::Column].map(|order| (mnk, order)))
    {
        let problem = Problem::new(DType::E4m3, mnk, Layout::Tn)?.with_order(order);
        let scaled = problem.with_block_scales()?.with_fast_accumulation(true);
        assert!(scaled.promotes());
        assert_eq!(KernelKind::for_problem(&scaled, 90), KernelKind::Sm90);
        let config = choose(&scaled, KernelKind::Sm90, 132)?;
        let turned = (order == Order::Row) != (config.c_major == Major::K);
        let granularity = config.block_scales().ok_or("scales")?.granularity;
        assert_eq!((config.tile[2], granularity), (128, if turned { [128, 1, 128] } else { [1, 128, 128] }));
    }
    let large = Problem::new(DType::E4m3, [8192; 3], Layout::Tn)?.with_block_scales()?;
    assert_eq!(choose(&large, KernelKind::Sm90, 132)?.tile, [128, 256, 128]);
    assert!(candidates(&large, 132, 24).iter().all(|config| config.block_scales().is_some()));
    Ok(())
}

/// What was measured for products without scales says nothing about those of blocks.
#[test]
fn records_tell_blocks_apart() -> Result<(), Failure> {
    let device = checked();
    let plain = Problem::new(DType::E4m3, [160, 64, 256], Layout::Tn)?;
    let mut records = Records::new(device.limits());
    let config = candidates(&plain, device.limits().multiprocessors, 24)[3];
    records.insert(record(&plain, &config, device.limits(), "2026-11-23", [2.5, 2.9])?)?;
    assert!(records.config(&plain)?.is_some() && records.config(&plain.with_block_scales()?)?.is_none());
    Ok(())
}

#[test]
fn misuse_is_told() -> Result<(), Failure> {
    let device = Device::open(girih_device::Select::Sim)?;
    let problem = Problem::new(DType::E4m3, [16, 32, 256], Layout::Tn)?.with_block_scales()?;
    let mut texts = Vec::new();
    let mut refused = |error: Error| texts.push(error.to_string());
    refused(Problem::new(DType::Bf16, [16; 3], Layout::Tn)?.with_block_scales().expect_err("of 16 bits"));
    refused(choose(&problem, KernelKind::Sm80, 132).expect_err("by warps"));
    let gemms = Gemms::new(&device);
    refused(gemms.get(&problem.batched(2, [None; 3])?, KernelKind::Sm90).expect_err("a batch"));
    let plain = Problem::new(DType::E4m3, [16, 32, 256], Layout::Tn)?;
    let other = choose(&plain, KernelKind::Sm90, 132)?;
    refused(gemms.configured(&problem, other, &Default::default()).expect_err("no scales"));
    let gemm = gemms.get(&problem, KernelKind::Sm90)?;
    let (a, b) = (device.zeros::<F8E4M3>(16 * 256)?, device.zeros::<F8E4M3>(32 * 256)?);
    let (c, of_a, of_b) = (device.zeros::<bf16>(16 * 32)?, device.zeros::<f32>(32)?, device.zeros::<f32>(5)?);
    let given = |name, value| [("scales_a", Given::from(&of_a)), (name, value)];
    refused(gemm.run(&a, &b, &c).expect_err("nothing"));
    refused(gemm.run_with(&a, &b, &c, &given("scales", Given::from(&of_b))).expect_err("another name"));
    refused(gemm.run_with(&a, &b, &c, &given("scales_b", Given::from(0.5))).expect_err("a number"));
    let few = of_b.slice(1..)?;
    refused(gemm.run_with(&a, &b, &c, &given("scales_b", Given::from(&few))).expect_err("too few"));
    gemm.run_with(&a, &b, &c, &given("scales_b", Given::from(&of_b)))?;
    expect_test::expect![[r#"
        kernel gemm of blocks with scales does not take bf16: e4m3 and e5m2 are accepted
        kernel sm80 does not take e4m3: sm90 takes blocks with scales
        batch = Strided with block scales: Single is accepted
        the configuration's scales are None: the problem takes Some(BlockScales { granularity: [128, 1, 128] })
        `scales_b`: nothing, but accepted are: a buffer of 5 elements of f32 or more
        `scales`: no input of the epilogue, but accepted are: each of these once: []
        `scales_b`: a number, but accepted are: a buffer of 5 elements of f32 or more
        `scales_b`: 4 elements of f32, but accepted are: a buffer of 5 elements of f32 or more
    "#]]
        .assert_eq(&texts.iter().map(|text| format!("{text}\n")).collect::<String>());
    Ok(())
}
