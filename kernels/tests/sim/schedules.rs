//! Configurations of the caller's choice on the simulator, with every check enabled.

use girih_codegen::atom::{MmaAtom, UNIVERSAL_FMA_F32};
use girih_codegen::gemm::{GemmConfig, Mainloop, Multistage, Schedule};
use girih_device::{Device, SimOptions};
use girih_kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Problem, choose};
use girih_layout::{Tile, lay};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Failure, fused, padded, split_k};

#[test]
fn blocks_share_tiles() -> Result<(), Failure> {
    let device = checked();
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [67, 33, 70], Layout::Tt)?.with_order(order);
        split_k::verify(&device, &padded(f32s, 1), 2)?;
        let bf16s = Problem::new(DType::Bf16, [136, 72, 400], Layout::Tn)?.with_order(order);
        split_k::verify(&device, &bf16s, 3)?;
        let doubles = Problem::new(DType::F64, [67, 33, 70], Layout::Tt)?.with_order(order);
        split_k::verify(&device, &padded(doubles, 1), 2)?;
        let integers = Problem::new(DType::S8, [136, 80, 800], Layout::Tn)?.with_order(order);
        split_k::verify(&device, &integers, 3)?;
        let bytes = Problem::new(DType::E4m3, [136, 80, 800], Layout::Tn)?.with_order(order);
        split_k::verify(&device, &bytes, 3)?;
    }
    Ok(())
}

/// On as many multiprocessors as do not have a whole number of tiles each. K of 0 is a tile of zeros.
#[test]
fn blocks_share_out_tiles_evenly() -> Result<(), Failure> {
    let device = Device::open_sim(SimOptions { multiprocessors: Some(7), ..SimOptions::checked() })?;
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [140, 133, 100], Layout::Tt)?.with_order(order);
        split_k::verify_stream(&device, &padded(f32s, 1))?;
        let bf16s = Problem::new(DType::Bf16, [392, 72, 400], Layout::Tn)?.with_order(order);
        split_k::verify_stream(&device, &bf16s)?;
        let bytes = Problem::new(DType::E4m3, [136, 80, 1000], Layout::Tn)?.with_order(order);
        split_k::verify_stream(&device, &bytes)?;
        for none in [[5, 7, 0], [0, 5, 7]] {
            split_k::verify_stream(&device, &Problem::new(DType::Bf16, none, Layout::Tn)?.with_order(order))?;
        }
    }
    Ok(())
}

/// By every kernel, with inputs that are read beside the sums of other parts, stored directly and by tensor copies.
#[test]
fn every_epilogue_after_the_last_part() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let split = Some(Schedule::SplitK { parts: 2, cluster: 1 });
    let problem = Problem::new(DType::Bf16, [136, 72, 200], Layout::Tn)?;
    fused::verify_all::<bf16>(&gemms, &device, &problem, &[KernelKind::Sm80, KernelKind::Sm90], split)
}

/// The epilogue sees the sums of all parts, and runs once.
#[test]
fn epilogues_come_after_the_last_part() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::F32, [5, 8, 100], Layout::Tn)?;
    let config = GemmConfig {
        schedule: Schedule::SplitK { parts: 4, cluster: 1 },
        ..choose(&problem, KernelKind::Simt, 132)?
    };
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
    // Of f32, what would be transposed when it is loaded may be copied before, and only that.
    let along_k = Problem::new(DType::F32, [64, 64, 64], Layout::Nt)?;
    let swapped = gemms.configured(&along_k, good, &Epilogue::new()).expect_err("refused").to_string();
    let narrow = other(Problem::new(DType::Bf16, [64, 64, 64], Layout::Tn)?)?;
    let error =
        |config| gemms.configured(&problem, config, &Epilogue::new()).expect_err("refused").to_string();
    let told = [swapped, error(narrow), error(GemmConfig { c_type: DType::F16, ..good })];
    assert_eq!(
        told,
        [
            "the configuration's contiguous modes of A and B are [K, K]: the problem takes [Mn, Mn]",
            "the configuration's dtypes are bf16 and bf16 to bf16: the problem takes f32 and f32 to f32",
            "the configuration's dtypes are f32 and f32 to f16: the problem takes f32 and f32 to f32",
        ]
    );
    let parts = GemmConfig { schedule: Schedule::SplitK { parts: 5, cluster: 1 }, ..good };
    assert_eq!(
        error(parts),
        "the configuration's parts of K are 5: the problem takes at most 4, since K has as many tiles"
    );
    // An atom whose threads have the same sums: they would write beyond the workspace.
    let twice = MmaAtom {
        threads: lay!("2:1"),
        a: lay!("(2,1):(0,0)"),
        b: lay!("(2,1):(0,0)"),
        c: lay!("(2,1):(0,0)"),
        ..UNIVERSAL_FMA_F32
    };
    let mainloop = Multistage {
        atom: twice,
        atoms: lay!("(16,8):(8,1)"),
        permutation: [Tile::All, Tile::All],
        ..*good.mainloop.multistage().ok_or("SIMT")?
    };
    let twice = GemmConfig {
        tile: [64, 64, 16],
        schedule: Schedule::SplitK { parts: 2, cluster: 1 },
        ..good.with_mainloop(Mainloop::Multistage(mainloop))
    };
    let told = error(twice);
    assert!(told.contains("8192 accumulators for the 4096 elements of a tile"), "{told}");
    Ok(())
}
