//! Batches of products.

use girih_codegen::gemm::{Batch, Schedule};
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, Given, Input, KernelKind, Layout, Order, Problem, choose,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{Data, Failure, batch, padded, variants, verify_dtype};

/// By every kernel, in every layout and dtype, with matrices that are apart, between one another, and the same for all products. One order of
/// C has odd pitches.
#[test]
fn every_layout_order_and_dtype() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (seed, problem) in variants([40, 24, 48]).into_iter().enumerate() {
        let how = [seed as i64 % 3, seed as i64 / 3 % 3, seed as i64 / 2 % 3];
        let odd = (seed / 2 + seed) % 2 == 1;
        let problem = if odd { batch(padded(problem, 1), 2, how) } else { batch(problem, 3, how) };
        verify_dtype(&gemms, &device, &problem, Data::Random, seed as u64)?;
    }
    Ok(())
}

/// Nothing is launched for a batch of no products, whose buffers may be empty.
#[test]
fn batches_may_be_empty() -> Result<(), Failure> {
    let device = checked();
    let none = device.zeros::<bf16>(0)?;
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let problem = Problem::new(DType::Bf16, [40, 24, 16], Layout::Tn)?.batched(0, [None; 3])?;
        let gemm = Gemms::new(&device).get(&problem, kind)?;
        gemm.run(&none, &none, &none)?;
        assert!(gemm.prepare(&none, &none, &none, &[])?.is_none());
    }
    Ok(())
}

/// An input of an epilogue is the same for all products, or each product has its own; it may be C, which is updated in place.
#[test]
fn epilogues_read_what_each_product_has() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let bf16s =
        |values: &[f32]| device.upload(&values.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
    for (order, kind) in
        [(Order::Row, KernelKind::Sm80), (Order::Row, KernelKind::Sm90), (Order::Column, KernelKind::Sm90)]
    {
        let problem =
            Problem::new(DType::Bf16, [8, 16, 8], Layout::Tn)?.with_order(order).batched(2, [None; 3])?;
        let (a, b) = (bf16s(&[1.0; 128])?, bf16s(&[0.5; 256])?);
        let epilogue = Epilogue::new()
            .plus(Input::column("column", DType::F32))
            .plus(Input::row("row", DType::Bf16))
            .plus_scaled("beta", Input::matrix("before", DType::Bf16));
        let gemm = gemms.fused(&problem, kind, &epilogue)?;
        let columns = device.upload(&[[100f32; 8], [200f32; 8]].concat())?;
        let (row, c) = (bf16s(&[8.0; 16])?, bf16s(&[[1.0; 128], [2.0; 128]].concat())?);
        gemm.run_with(
            &a,
            &b,
            &c,
            &[
                ("column", Given::from(&columns).for_each(8)),
                ("row", Given::from(&row)),
                ("beta", Given::from(16.0)),
                ("before", Given::from(&c).for_each(128)),
            ],
        )?;
        let expected = [
            [bf16::from_f32(100.0 + 4.0 + 8.0 + 16.0); 128],
            [bf16::from_f32(200.0 + 4.0 + 8.0 + 32.0); 128],
        ];
        assert_eq!(c.download()?, expected.concat(), "{order} by {kind:?}");
        let refused = |given: Given<'_>, text: &str| {
            let all = [
                ("column", given),
                ("row", Given::from(&row)),
                ("beta", Given::from(16.0)),
                ("before", Given::from(&c).for_each(128)),
            ];
            let told = gemm.run_with(&a, &b, &c, &all).expect_err("refused").to_string();
            assert!(told.contains(text), "{told}");
        };
        refused(Given::from(&columns).for_each(9), "16 elements, but accepted are: 17 elements or more");
        refused(Given::from(&columns).for_each(-1), "a stride of -1");
        let same = [
            ("column", Given::from(&columns)),
            ("row", Given::from(&row)),
            ("beta", Given::from(1.0)),
            ("before", Given::from(&c)),
        ];
        let told = gemm.run_with(&a, &b, &c, &same).expect_err("all products read the first C").to_string();
        assert!(told.contains("have 256 bytes in common"), "{told}");
    }
    Ok(())
}

/// Blocks that share tiles have a workspace for the tiles of all products.
#[test]
fn products_of_a_batch_share_k() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::Bf16, [72, 40, 512], Layout::Tn)?.batched(3, [None, Some(0), None])?;
    let (a, b) = (device.upload(&vec![bf16::ONE; 3 * 72 * 512])?, device.upload(&vec![bf16::ONE; 40 * 512])?);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let schedule = Schedule::SplitK { parts: 3, cluster: 1 };
        let config = GemmConfig { schedule, ..choose(&problem, kind, 132)? };
        let c = device.zeros::<bf16>(3 * 72 * 40)?;
        Gemms::new(&device).configured(&problem, config, &Epilogue::new())?.run(&a, &b, &c)?;
        assert_eq!(c.download()?, vec![bf16::from_f32(512.0); 3 * 72 * 40], "{kind:?}");
        let single = GemmConfig { batch: Batch::Single, ..config };
        let told = Gemms::new(&device).configured(&problem, single, &Epilogue::new()).expect_err("refused");
        assert_eq!(
            told.to_string(),
            "the configuration's products are one: the problem takes 3, those of a batch"
        );
    }
    Ok(())
}

#[test]
fn batches_are_refused_with_what_would_be_accepted() -> Result<(), Failure> {
    let problem = Problem::new(DType::F32, [4, 6, 8], Layout::Tn)?;
    let told = |count, strides| problem.batched(count, strides).expect_err("refused").to_string();
    let [begin, end] =
        ["whose products have elements in common, at (", "): strides with which they have none are accepted"];
    for stride in [23, 0] {
        let told = told(2, [None, None, Some(stride)]);
        assert!(
            told.starts_with(&format!("C is (4,6,2):(6,1,{stride}), {begin}")) && told.ends_with(end),
            "{told}"
        );
    }
    assert_eq!(told(-1, [None; 3]), "batches = -1: 0 to 1048576 elements are accepted");
    assert_eq!(told(2, [Some(-1), None, None]), "stride of A = -1: 0 to 274877906944 elements are accepted");
    for (ld, stride, count, accepted) in [
        (12, 6, 2, true),
        (12, 6, 3, false),
        (18, 6, 3, true),
        (12, 5, 2, false),
        (12, 42, 9, true),
        (12, 41, 9, false),
    ] {
        let found = problem.with_pitches(None, None, Some(ld))?.batched(count, [None, None, Some(stride)]);
        assert_eq!(found.is_ok(), accepted, "{ld} {stride} {count}");
    }
    // The pitch may come later.
    let between = problem.with_pitches(None, None, Some(12))?.batched(2, [None, None, Some(6)])?;
    assert!(between.with_pitches(None, None, Some(11)).is_err());
    Ok(())
}

/// A mode of one element has no stride, and a matrix without elements has none at all: any number is accepted there, and what is computed does
/// not depend on it.
#[test]
fn strides_of_single_elements_do_not_count() -> Result<(), Failure> {
    let wild = [0, 1, 1 << 31, -1, 1 << 41, i64::MIN];
    for layout in Layout::ALL {
        for mnk in [[1, 6, 8], [6, 1, 8], [6, 8, 1], [1, 1, 1], [0, 4, 4], [4, 0, 4], [4, 4, 0]] {
            let tight = Problem::new(DType::F32, mnk, layout)?;
            for order in [Order::Row, Order::Column] {
                let tight = tight.with_order(order);
                let matrices = [tight.a(), tight.b(), tight.c()];
                for ld in wild {
                    for (i, matrix) in matrices.iter().enumerate() {
                        let mut pitches = [None; 3];
                        pitches[i] = Some(ld);
                        let row = matrix.extents()[matrix.contiguous()];
                        let counts = matrix.extents()[1 - matrix.contiguous()] > 1 && row > 0;
                        let found = tight.with_pitches(pitches[0], pitches[1], pitches[2]);
                        match counts {
                            false => assert_eq!(found?, tight, "{matrix}: {ld}"),
                            true => {
                                assert_eq!(found.is_ok(), (row..=1 << 30).contains(&ld), "{matrix}: {ld}")
                            }
                        }
                    }
                    assert_eq!(tight.batched(1, [Some(ld); 3])?, tight);
                    assert_eq!(tight.grouped(1, Some(ld))?, tight.grouped(1, None)?);
                }
            }
        }
    }
    // A row of a long batch, the transpose of a column, and a residual of one row, which may be C itself.
    let device = checked();
    let problem = Problem::new(DType::F32, [1, 6, 8], Layout::Tn)?.with_pitches(Some(1), None, Some(-5))?;
    let epilogue = Epilogue::new().plus(Input::matrix("residual", DType::F32));
    let gemm = Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?;
    let (a, b, c) = (device.upload(&[1f32; 8])?, device.upload(&[2f32; 48])?, device.upload(&[4f32; 6])?);
    let residual = Given::pitched(&c, 1 << 40).for_each(-7);
    gemm.run_with(&a, &b, &c, &[("residual", residual)])?;
    assert_eq!(c.download()?, [20.0; 6]);
    Ok(())
}

/// Batches of C are refused if and only if two coordinates have one element, and matrices that are woven into each other are not.
#[test]
fn products_are_apart_as_enumeration_says() -> Result<(), Failure> {
    let (mut apart, mut woven) = (0, 0);
    for (m, n, count) in (1..=4).flat_map(|m| (1..=4).flat_map(move |n| (2..=3).map(move |l| (m, n, l)))) {
        let problem = Problem::new(DType::F32, [m, n, 1], Layout::Tn)?;
        for (ld, stride) in (n..=3 * n + 2).flat_map(|ld| (0..=20).map(move |stride| (ld, stride))) {
            let pitched = problem.with_pitches(None, None, Some(ld))?;
            let c = pitched.c();
            let mut all = std::collections::BTreeSet::new();
            let elements = (0..m).flat_map(|x| (0..n).flat_map(move |y| (0..count).map(move |l| (x, y, l))));
            let is_apart = elements.into_iter().all(|(x, y, l)| all.insert(c.offset(x, y) + l * stride));
            let found = pitched.batched(count, [None, None, Some(stride)]);
            assert_eq!(found.is_ok(), is_apart, "{c} {count} {stride}");
            apart += i32::from(is_apart);
            woven += i32::from(is_apart && stride < c.span());
        }
    }
    assert!(apart > 1000 && woven > 100, "{apart} {woven}");
    // The rows of one product lie between those of the other, but not all of them between two rows.
    let problem = Problem::new(DType::F32, [3, 8, 8], Layout::Tn)?.with_pitches(None, None, Some(32))?;
    let problem = problem.batched(2, [None, None, Some(40)])?;
    let device = checked();
    let (a, b, c) = (device.upload(&[1f32; 48])?, device.upload(&[1f32; 128])?, device.zeros::<f32>(112)?);
    Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c)?;
    let (m, found) = (problem.c(), c.download()?);
    let own: Vec<usize> = (0..2)
        .flat_map(|l| (0..3).flat_map(move |x| (0..8).map(move |y| m.offset_in(x, y, l) as usize)))
        .collect();
    assert!((0..112).all(|i| found[i] == if own.contains(&i) { 8.0 } else { 0.0 }));
    Ok(())
}

/// Views of one buffer are taken if they have no element in common, and refused with such a byte if they have.
#[test]
fn views_of_one_buffer_are_told_apart() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    // A is columns 0 to 4 of rows of 12, C columns `from` to `from + 4` of the same rows.
    for from in 0..=8 {
        let problem = Problem::new(DType::F32, [5, 4, 4], Layout::Tn)?
            .with_pitches(Some(12), None, Some(12))?
            .with_alignments(None, None, Some(4))?;
        let all = device.upload(&[1f32; 64])?;
        let b = device.upload(&[2f32; 16])?;
        let ran = gemms.get(&problem, KernelKind::Simt)?.run(&all, &b, &all.slice(from..)?);
        assert_eq!(ran.is_ok(), from >= 4, "{from}");
        match ran {
            Ok(()) => {
                let found = all.download()?;
                let written = |i: usize| i < 60 && (from..from + 4).contains(&(i % 12));
                assert!((0..64).all(|i| found[i] == if written(i) { 8.0 } else { 1.0 }), "{from}: {found:?}");
            }
            Err(error) => assert!(error.to_string().contains("such as the byte at"), "{error}"),
        }
    }
    Ok(())
}
