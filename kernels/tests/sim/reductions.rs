//! Outputs of an epilogue besides C on the simulator with every check enabled, and what is refused.

use girih_codegen::gemm::{Mainloop, Schedule};
use girih_kernels::gemm::{
    Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Output, Problem, Reduction, choose,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Failure, batch, padded, reductions};

/// By all three mainloops, on ragged sizes of several tiles, with both orders of C.
#[test]
fn by_every_mainloop() -> Result<(), Failure> {
    let device = checked();
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [131, 260, 20], Layout::Tn)?.with_order(order);
        reductions::verify_all::<f32>(&device, &f32s, &[KernelKind::Simt], None)?;
        let odd = padded(Problem::new(DType::F32, [33, 7, 5], Layout::Nt)?.with_order(order), 1);
        reductions::verify_all::<f32>(&device, &odd, &[KernelKind::Simt], None)?;
        let wide = Problem::new(DType::Bf16, [264, 328, 48], Layout::Tn)?.with_order(order);
        reductions::verify_all::<bf16>(&device, &wide, &[KernelKind::Sm80, KernelKind::Sm90], None)?;
        let ragged = padded(Problem::new(DType::Bf16, [135, 71, 49], Layout::Tn)?.with_order(order), 2);
        reductions::verify_all::<bf16>(&device, &ragged, &[KernelKind::Sm80, KernelKind::Sm90], None)?;
    }
    Ok(())
}

/// Of few rows, by small tiles, by blocks of a cluster that have tiles below one another, and by blocks that share K.
#[test]
fn by_every_schedule() -> Result<(), Failure> {
    let device = checked();
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let split = Some(Schedule::SplitK { parts: 2, cluster: 1 });
        let problem = Problem::new(DType::Bf16, [136, 72, 200], Layout::Tn)?;
        reductions::verify_all::<bf16>(&device, &problem, &[kind], split)?;
        let raster = Some(Schedule::Raster { group: 2 });
        reductions::verify_all::<bf16>(&device, &problem, &[kind], raster)?;
    }
    let cut = Some(Schedule::StreamK { alternate: false });
    let problem = Problem::new(DType::Bf16, [264, 72, 600], Layout::Tn)?;
    reductions::verify_all::<bf16>(&device, &problem, &[KernelKind::Sm90], cut)?;
    for mnk in [[16, 520, 1100], [520, 16, 1100], [16, 2056, 600], [200, 200, 64]] {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        reductions::verify_all::<bf16>(&device, &problem, &[KernelKind::Sm90], None)?;
    }
    Ok(())
}

/// Each product of a batch has outputs of its own.
#[test]
fn of_batches() -> Result<(), Failure> {
    let device = checked();
    for (order, kind) in [(Order::Row, KernelKind::Sm80), (Order::Column, KernelKind::Sm90)] {
        let problem = Problem::new(DType::Bf16, [72, 136, 40], Layout::Tn)?.with_order(order);
        reductions::verify_all::<bf16>(&device, &batch(problem, 3, [0, 0, 0]), &[kind], None)?;
    }
    Ok(())
}

/// Products of f64 are reduced in f64, and those of integers in f32.
#[test]
fn of_other_sums() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let problem = Problem::new(DType::F64, [70, 130, 4], Layout::Tn)?;
    let sums = Output { dtype: DType::F64, ..Output::column("sums", Reduction::Sum) };
    let ones = |len: usize| device.upload(&vec![1f64; len]);
    let (a, b, c, out) = (ones(280)?, ones(520)?, ones(70 * 130)?, ones(70)?);
    let by = |output: Output| gemms.fused(&problem, KernelKind::Sm90, &Epilogue::new().reduce(output));
    by(sums.clone())?.run_with(&a, &b, &c, &[("sums", Given::from(&out))])?;
    assert_eq!(out.download()?, [4.0 * 130.0; 70]);
    let told = |output| by(output).expect_err("refused").to_string();
    assert!(told(Output::column("x", Reduction::Sum)).contains("a scalar, a row or a column of f64"));
    assert!(told(Output { reduction: Reduction::AbsMax, ..sums }).contains("Maximum of f64"));

    let problem = Problem::new(DType::S8, [40, 48, 32], Layout::Tn)?;
    let (a, b) = (device.upload(&[-3i8; 40 * 32])?, device.upload(&[2i8; 48 * 32])?);
    let (c, amax) = (device.zeros::<i32>(40 * 48)?, device.zeros::<f32>(1)?);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        amax.fill_bytes(0)?;
        let gemm = gemms.fused(&problem, kind, &Epilogue::new().amax("amax"))?;
        gemm.run_with(&a, &b, &c, &[("amax", Given::from(&amax))])?;
        assert_eq!((amax.download()?, c.download()?), (vec![192.0], vec![-192; 40 * 48]), "{kind:?}");
    }
    Ok(())
}

/// A NaN is the largest value, and what lies outside of C is none, whatever the nodes make of it.
#[test]
fn amax_tells_of_nan() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::F32, [5, 7, 3], Layout::Tn)?;
    let epilogue = Epilogue::new().map("x + 1", |x| x + 1.0).amax("amax");
    let gemm = Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?;
    let (a, b, c) = (device.upload(&[-1f32; 15])?, device.upload(&[1f32; 21])?, device.zeros::<f32>(35)?);
    // Elements outside of C are 1, all others -2.5.
    let scaled = device.upload(&[-3.5f32 / 3.0; 15])?;
    let amax = device.zeros::<f32>(1)?;
    gemm.run_with(&scaled, &b, &c, &[("amax", Given::from(&amax))])?;
    assert!((amax.download()?[0] - 2.5).abs() < 1e-6);
    let half = device.upload(&[-0.5f32 / 3.0; 15])?;
    gemm.run_with(&half, &b, &c, &[("amax", Given::from(&amax))])?;
    assert!((amax.download()?[0] - 0.5).abs() < 1e-6);
    let mut with_nan = vec![1f32; 21];
    with_nan[8] = f32::NAN;
    let b = device.upload(&with_nan)?;
    gemm.run_with(&a, &b, &c, &[("amax", Given::from(&amax))])?;
    assert!(amax.download()?[0].is_nan());
    Ok(())
}

#[test]
fn what_is_given_must_fit_the_outputs() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let problem = Problem::new(DType::F32, [8, 12, 4], Layout::Tn)?;
    let epilogue =
        Epilogue::new().plus(Input::row("bias", DType::F32)).reduce(Output::row("sums", Reduction::Sum));
    let gemm = gemms.fused(&problem, KernelKind::Simt, &epilogue)?;
    let (a, b, c) = (device.zeros::<f32>(32)?, device.zeros::<f32>(48)?, device.zeros::<f32>(96)?);
    let (bias, sums, short) = (device.zeros::<f32>(12)?, device.zeros::<f32>(12)?, device.zeros::<f32>(11)?);
    let (halves, of_a, of_c) = (device.zeros::<bf16>(12)?, a.slice(4..16)?, c.slice(..12)?);
    let given = |buffer| [("bias", Given::from(&bias)), ("sums", buffer)];
    gemm.run_with(&a, &b, &c, &given(Given::from(&sums)))?;
    for (buffer, text) in [
        (Given::from(&short), "`sums`: 11 elements, but accepted are: 12 elements or more"),
        (Given::from(&halves), "`sums`: a buffer of bf16, but accepted are: sum to row(sums: f32)"),
        (Given::from(1.0), "`sums`: a number of f32 or f64, but accepted are"),
        (Given::pitched(&sums, 12), "`sums`: a pitch"),
        (
            Given::from(&bias),
            "an output of the epilogue and an input or another output have 48 bytes in common",
        ),
        (Given::from(&of_a), "an output of the epilogue and A have 48 bytes in common"),
        (Given::from(&of_c), "an output of the epilogue and C have 48 bytes in common"),
    ] {
        let told = gemm.run_with(&a, &b, &c, &given(buffer)).expect_err(text).to_string();
        assert!(told.contains(text), "{told}\n{text}");
    }
    let told = gemm.run_with(&a, &b, &c, &[("bias", Given::from(&bias))]).expect_err("missing").to_string();
    assert!(told.contains("`sums`: nothing"), "{told}");
    let batched = gemms.fused(&problem.batched(2, [Some(0), Some(0), None])?, KernelKind::Simt, &epilogue)?;
    let (c, sums) = (device.zeros::<f32>(192)?, device.zeros::<f32>(24)?);
    let given = |stride| [("bias", Given::from(&bias)), ("sums", Given::from(&sums).for_each(stride))];
    batched.run_with(&a, &b, &c, &given(12))?;
    let told = batched.run_with(&a, &b, &c, &given(11)).expect_err("too near").to_string();
    assert!(told.contains("a stride of 11, but accepted are: 12 to"), "{told}");
    for refused in [
        Epilogue::new().amax("x").amax("x"),
        Epilogue::new().plus(Input::row("x", DType::F32)).amax("x"),
        Epilogue::new().reduce(Output {
            kind: girih_kernels::gemm::InputKind::Matrix,
            ..Output::scalar("x", Reduction::Sum)
        }),
    ] {
        let told = gemms.fused(&problem, KernelKind::Simt, &refused).expect_err("refused").to_string();
        assert!(told.starts_with("the output "), "{told}");
    }
    Ok(())
}

/// Teams that take tiles by turns would meet at one barrier.
#[test]
fn teams_are_refused() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, [256, 256, 64], Layout::Tn)?;
    let mut config = choose(&problem, KernelKind::Sm90, 132)?;
    let Mainloop::WarpSpecialized(parts) = &mut config.mainloop else {
        return Err("a multistage kernel".into());
    };
    (parts.teams, parts.registers) = (2, [40, 104]);
    let told = config.takes(&Epilogue::new().amax("amax")).expect_err("refused").to_string();
    assert!(told.contains("which has outputs besides C: 1 to 1 are accepted"), "{told}");
    Ok(())
}
