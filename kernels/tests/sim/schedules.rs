//! Configurations of the caller's choice on the simulator, with every check enabled.

use girih_codegen::gemm::{GemmConfig, Schedule};
use girih_kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Problem, choose};
use girih_tensor::DType;

use crate::checked;
use crate::common::{Failure, padded, split_k};

#[test]
fn blocks_share_tiles() -> Result<(), Failure> {
    let device = checked();
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [67, 33, 70], Layout::Tt)?.with_order(order);
        split_k::verify(&device, &padded(f32s, 1), 2)?;
        let bf16s = Problem::new(DType::Bf16, [136, 72, 200], Layout::Tn)?.with_order(order);
        split_k::verify(&device, &bf16s, 3)?;
    }
    Ok(())
}

/// The epilogue sees the sums of all parts, and runs once.
#[test]
fn epilogues_come_after_the_last_part() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::F32, [5, 8, 100], Layout::Tn)?;
    let config =
        GemmConfig { schedule: Schedule::SplitK { parts: 4 }, ..choose(&problem, KernelKind::Simt, 132)? };
    let epilogue = Epilogue::new().plus(Input::row("bias", DType::F32)).map("square", |x| x * x);
    let gemm = Gemms::new(&device).configured(&problem, config, &epilogue)?;
    let (a, b, c) = (device.upload(&[1f32; 500])?, device.upload(&[0.5f32; 800])?, device.zeros::<f32>(40)?);
    let bias = device.upload(&[-48f32; 8])?;
    gemm.run_with(&a, &b, &c, &[("bias", Given::from(&bias))])?;
    assert_eq!(c.download()?, [4.0; 40]);
    Ok(())
}

/// A configuration for other matrices would read outside of them.
#[test]
fn configurations_must_fit() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let problem = Problem::new(DType::F32, [64, 64, 64], Layout::Tn)?;
    let good = choose(&problem, KernelKind::Simt, 132)?;
    let other = |problem: Problem| choose(&problem, KernelKind::for_dtype(problem.dtype()), 132);
    let swapped = other(Problem::new(DType::F32, [64, 64, 64], Layout::Nt)?)?;
    let narrow = other(Problem::new(DType::Bf16, [64, 64, 64], Layout::Tn)?)?;
    let error =
        |config| gemms.configured(&problem, config, &Epilogue::new()).expect_err("refused").to_string();
    let told = [error(swapped), error(narrow), error(GemmConfig { c_type: DType::F16, ..good })];
    assert_eq!(
        told,
        [
            "the configuration's contiguous modes of A and B are [Mn, Mn]: those of the problem are accepted, [K, K]",
            "the configuration's dtypes are bf16 and bf16 to bf16: those of the problem are accepted, f32 and f32 to f32",
            "the configuration's dtypes are f32 and f32 to f16: those of the problem are accepted, f32 and f32 to f32",
        ]
    );
    // K has fewer tiles than parts: the launch is refused, by the fact that the kernel states.
    let parts = GemmConfig { schedule: Schedule::SplitK { parts: 3 }, ..good };
    let gemm = gemms.configured(&problem, parts, &Epilogue::new())?;
    let (a, b, c) = (device.zeros::<f32>(4096)?, device.zeros::<f32>(4096)?, device.zeros::<f32>(4096)?);
    let error = gemm.run(&a, &b, &c).expect_err("too few tiles").to_string();
    assert!(error.contains("parameter `k` = 64: the kernel takes values from 65"), "{error}");
    Ok(())
}
