//! Products of groups of rows.

use girih_device::Device;
use girih_kernels::gemm::{
    Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Output, Problem, Reduction, check,
    check_groups, choose,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Data, Failure, padded, variants, verify_dtype};

/// By every kernel, in every layout and dtype, with a B for each group and with one for all. One order of C has odd pitches.
#[test]
fn every_layout_order_and_dtype() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (seed, problem) in variants([150, 24, 48]).into_iter().enumerate() {
        let seed = seed as u64;
        let stride = [None, Some(0), Some(24 * 49 * 2)][seed as usize % 3];
        let odd = (seed / 2 + seed) % 2 == 1;
        let problem = if odd { padded(problem, 1).grouped(4, stride) } else { problem.grouped(5, stride) };
        verify_dtype(&gemms, &device, &problem?, Data::Random, seed)?;
    }
    Ok(())
}

/// Many groups, one group, none, and no sums.
#[test]
fn any_number_of_groups_and_of_terms() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (seed, (groups, mnk)) in
        [(300, [200, 40, 16]), (1, [70, 24, 40]), (3, [40, 24, 0]), (2, [0, 8, 8]), (2, [8, 0, 8])]
            .into_iter()
            .enumerate()
    {
        for order in [Order::Row, Order::Column] {
            let problem =
                Problem::new(DType::Bf16, mnk, Layout::Tt)?.with_order(order).grouped(groups, None)?;
            verify_dtype(&gemms, &device, &problem, Data::Random, seed as u64)?;
        }
    }
    let (none, offset) = (device.zeros::<bf16>(0)?, device.zeros::<u32>(1)?);
    let problem = Problem::new(DType::Bf16, [0, 24, 16], Layout::Tn)?.grouped(0, None)?;
    let gemm = gemms.get(&problem, KernelKind::Sm90)?;
    assert!(gemm.prepare(&none, &none, &none, &[("offsets", Given::from(&offset))])?.is_none());
    Ok(())
}

/// A matrix and a column lie as C does, which may be updated in place, and each group has a row of its own.
#[test]
fn epilogues_read_what_each_group_has() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let bf16s = |values: Vec<f32>| device.upload(&values.into_iter().map(bf16::from_f32).collect::<Vec<_>>());
    for (order, kind) in [Order::Row, Order::Column]
        .into_iter()
        .flat_map(|o| [KernelKind::Sm80, KernelKind::Sm90].map(|k| (o, k)))
    {
        let problem =
            Problem::new(DType::Bf16, [8, 16, 8], Layout::Tn)?.with_order(order).grouped(2, Some(0))?;
        let (a, b) = (bf16s(vec![1.0; 64])?, bf16s(vec![0.5; 128])?);
        let epilogue = Epilogue::new()
            .scale("alpha")
            .plus(Input::column("column", DType::F32))
            .plus(Input::row("row", DType::Bf16))
            .plus_scaled("beta", Input::matrix("before", DType::Bf16));
        let gemm = gemms.fused(&problem, kind, &epilogue)?;
        let column = device.upload(&(0..8u16).map(f32::from).collect::<Vec<_>>())?;
        let (row, c) = (bf16s([[16.0; 16], [32.0; 16]].concat())?, bf16s(vec![1.0; 128])?);
        let offsets = device.upload(&[0u32, 3, 8])?;
        let run = |row: Given<'_>, column: Given<'_>, offsets: Given<'_>| {
            let (alpha, beta, before) = (Given::from(2.0), Given::from(64.0), Given::from(&c));
            let given = [
                ("alpha", alpha),
                ("column", column),
                ("row", row),
                ("beta", beta),
                ("before", before),
                ("offsets", offsets),
            ];
            gemm.run_with(&a, &b, &c, &given)
        };
        run(Given::from(&row).for_each(16), Given::from(&column), Given::from(&offsets))?;
        let expected = |x: usize| bf16::from_f32(8.0 + x as f32 + if x < 3 { 16.0 } else { 32.0 } + 64.0);
        let found = c.download()?;
        for (i, x) in found.iter().enumerate() {
            let row = if order == Order::Row { i / 16 } else { i % 8 };
            assert_eq!(*x, expected(row), "{order} by {kind:?}: row {row}");
        }
        let told = run(Given::from(&row), Given::from(&column).for_each(1), Given::from(&offsets))
            .expect_err("refused");
        assert!(
            told.to_string().contains("which only a row has that is another one for each group"),
            "{told}"
        );
        let told = run(Given::from(&row).for_each(17), Given::from(&column), Given::from(&offsets))
            .expect_err("refused");
        assert!(told.to_string().contains("33 elements or more"), "{told}");
        let told = run(Given::from(&row), Given::from(&column), Given::from(&column)).expect_err("refused");
        assert!(
            told.to_string().contains(
                "`offsets`: 8 elements of f32, but accepted are: a buffer of 3 elements of u32 or more"
            ),
            "{told}"
        );
    }
    Ok(())
}

/// What is written stays within C, whatever the offsets are.
#[test]
fn offsets_may_be_anything() -> Result<(), Failure> {
    let device =
        Device::open_sim(girih_device::SimOptions { races: false, ..girih_device::SimOptions::checked() })?;
    let gemms = Gemms::new(&device);
    let problem = Problem::new(DType::Bf16, [70, 40, 32], Layout::Tn)?
        .with_pitches(None, None, Some(48))?
        .grouped(4, Some(0))?;
    let (a, b) = (device.upload(&vec![bf16::ONE; 70 * 32])?, device.upload(&vec![bf16::ONE; 40 * 32])?);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        for offsets in [[u32::MAX, 0, 70, 7, 90], [60, 10, 1 << 31, 3, u32::MAX], [0, 70, 0, 70, 0]] {
            let whole = device.alloc::<bf16>(72 * 48)?;
            whole.fill_bytes(0xff)?;
            let c = whole.slice(48..)?;
            let given = device.upload(&offsets)?;
            gemms.get(&problem, kind)?.run_with(&a, &b, &c, &[("offsets", Given::from(&given))])?;
            for (i, x) in whole.download()?.iter().enumerate() {
                let inside = (48..71 * 48).contains(&i) && i % 48 < 40;
                assert!(
                    x.is_nan() || inside && *x == bf16::from_f32(32.0),
                    "{offsets:?}: element {i} is {x}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn groups_are_refused_with_what_would_be_accepted() -> Result<(), Failure> {
    let problem = Problem::new(DType::F32, [4, 6, 8], Layout::Tn)?;
    let told = |groups, stride| problem.grouped(groups, stride).expect_err("refused").to_string();
    assert_eq!(told(1025, None), "groups = 1025: 0 to 1024 elements are accepted");
    assert_eq!(told(2, Some(-1)), "stride of B = -1: 0 to 274877906944 elements are accepted");
    let grouped = problem.grouped(2, None)?;
    assert_eq!(
        (grouped.groups(), grouped.batches(), grouped.b().to_string()),
        (Some(2), 1, "(6,8,2):(8,1,48)".into())
    );
    assert_eq!(grouped.batched(2, [None; 3])?.groups(), None);
    let (a, b, c) = ([0f32; 32], [0f32; 96], [0f32; 24]);
    let told = check(&grouped, &a, &b, &c, None).expect_err("no offsets").to_string();
    assert!(told.contains("3 offsets, by `check_groups`"), "{told}");
    let told = check_groups(&grouped, &[0, 4], [&a, &b], &c, None).expect_err("too few").to_string();
    assert_eq!(told, "`offsets`: 2 offsets, but accepted are: 3");
    let device = checked();
    let config = choose(&problem, KernelKind::Simt, 132)?;
    let told =
        Gemms::new(&device).configured(&grouped, config, &Epilogue::new()).expect_err("another kernel");
    assert_eq!(
        told.to_string(),
        "the configuration's products are those of matrices at strides: the problem takes those of groups of rows"
    );
    let sums = Epilogue::new().reduce(Output::row("sums", Reduction::Sum));
    let halves = Problem::new(DType::Bf16, [4, 8, 8], Layout::Tn)?.grouped(2, None)?;
    for (problem, kind) in [(grouped, KernelKind::Simt), (halves, KernelKind::Sm90)] {
        let told =
            Gemms::new(&device).fused(&problem, kind, &sums).expect_err("outputs besides C").to_string();
        assert!(
            told.contains("an epilogue that is gated or has outputs besides C: Single, Strided or Pointers"),
            "{told}"
        );
    }
    let gemm = Gemms::new(&device).get(&grouped, KernelKind::Simt)?;
    let (a, b, c) = (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?);
    let told = gemm.run(&a, &b, &c).expect_err("no offsets").to_string();
    assert_eq!(told, "`offsets`: nothing, but accepted are: a buffer of 3 elements of u32 or more");
    Ok(())
}
