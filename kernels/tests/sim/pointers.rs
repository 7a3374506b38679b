//! Batches whose matrices lie at addresses of their own.

use std::collections::BTreeSet;

use girih_codegen::gemm::Batch;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::gemm::{
    Activation, Epilogue, GemmConfig, Gemms, Given, Input, KernelKind, Layout, Order, Output, Problem,
    Reduction, check, choose,
};
use girih_tensor::{DType, Element};
use half::bf16;

use crate::checked;
use crate::common::{Data, Failure, filled, poison};

/// A buffer of `len` times a number for each of the numbers.
fn constant<T: Element + Pod>(
    device: &Device,
    len: usize,
    numbers: &[f64],
) -> Result<Vec<Buffer<T>>, Failure> {
    let buffers = numbers.iter().map(|&number| device.upload(&vec![T::from_f64(number); len]));
    Ok(buffers.collect::<Result<_, _>>()?)
}

/// Products may share an A or a B, and be in any order; each matrix has a buffer of its own, outside of which nothing is read or written.
#[test]
fn matrices_lie_anywhere() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (mnk, order) in [([70, 33, 40], Order::Row), ([5, 130, 67], Order::Column), ([8, 8, 1], Order::Row)] {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tt)?.with_order(order);
        let single = problem.with_pitches(None, None, Some(problem.c().ld() + 3))?;
        let spans = [single.a(), single.b(), single.c()].map(|matrix| matrix.span() as usize);
        let of = |span: usize, seed: u64| filled::<bf16>(span, Data::Random, seed);
        let (a, b): (Vec<_>, Vec<_>) = (0..3).map(|i| (of(spans[0], i), of(spans[1], 7 + i))).unzip();
        let upload = |all: &[Vec<bf16>]| all.iter().map(|x| device.upload(x)).collect::<Result<Vec<_>, _>>();
        let (on_a, on_b) = (upload(&a)?, upload(&b)?);
        let c = constant::<bf16>(&device, spans[2], &[f64::NAN; 4])?;
        let pairs = [[2, 0], [0, 0], [1, 2], [2, 1]];
        let gemm = gemms.get(&single.by_pointers(4)?, KernelKind::Sm80)?;
        gemm.run_pointers(
            &device.pointers(pairs.map(|[i, _]| &on_a[i]))?,
            &device.pointers(pairs.map(|[_, i]| &on_b[i]))?,
            &device.pointers(c.iter().rev())?,
            &[],
        )?;
        for ([i, j], c) in pairs.into_iter().zip(c.iter().rev()) {
            let found = check(&single, &a[i], &b[j], &c.download()?, Some(poison()))?;
            assert!(found.passed(), "{mnk:?}, A {i} and B {j}: {found:?}");
        }
    }
    Ok(())
}

/// The columns of the products lie beside each other in rows of all, as heads of attention have them.
#[test]
fn rows_may_lie_between_those_of_other_products() -> Result<(), Failure> {
    let device = checked();
    let [m, n, k] = [9, 6, 5];
    let problem = Problem::new(DType::F32, [m, n, k], Layout::Tn)?.with_pitches(None, None, Some(4 * n))?;
    let problem = problem.with_alignments(None, None, Some(4))?.by_pointers(4)?;
    let a = constant::<f32>(&device, 45, &[1.0, 2.0, 3.0, 4.0])?;
    let b = device.upload(&[1f32; 30])?;
    let all = device.zeros::<f32>(9 * 24)?;
    let heads = (0..4).map(|head| all.slice(6 * head..)).collect::<Result<Vec<_>, _>>()?;
    let (on_a, on_b, on_c) = (device.pointers(&a)?, device.pointers([&b; 4])?, device.pointers(&heads)?);
    Gemms::new(&device).get(&problem, KernelKind::Simt)?.run_pointers(&on_a, &on_b, &on_c, &[])?;
    let row = (1..=4u8).flat_map(|head| [5.0 * f32::from(head); 6]);
    assert_eq!(all.download()?, row.collect::<Vec<_>>().repeat(9));
    Ok(())
}

/// Two C are refused where they have elements in common, with such a byte, wherever the one lies to the other.
#[test]
fn no_element_is_written_twice() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (order, ld) in [(Order::Row, 4), (Order::Row, 9), (Order::Column, 5), (Order::Column, 7)] {
        let problem = Problem::new(DType::F32, [3, 4, 1], Layout::Tn)?.with_order(order);
        let problem = problem.with_pitches(None, None, Some(ld))?.with_alignments(None, None, Some(4))?;
        let gemm = gemms.get(&problem.by_pointers(2)?, KernelKind::Simt)?;
        let (ones, all) = (device.upload(&[1f32; 4])?, device.zeros::<f32>(96)?);
        let on = device.pointers([&ones; 2])?;
        let elements = |begin: i64| -> BTreeSet<i64> {
            (0..3).flat_map(|x| (0..4).map(move |y| begin + problem.c().offset(x, y))).collect()
        };
        let span = problem.c().span();
        for behind in 0..span + 2 {
            let both = [20, 20 + behind].map(|begin| all.slice(begin as usize..(begin + span) as usize));
            let [first, second] = both;
            let mut both = [first?, second?];
            both.rotate_left(behind as usize % 2);
            let c = device.pointers(&both)?;
            let bytes = 4 * elements(20).intersection(&elements(20 + behind)).count();
            match gemm.run_pointers(&on, &on, &c, &[]) {
                Ok(()) => assert_eq!(bytes, 0, "{order}, {ld}: {behind} behind"),
                Err(told) => {
                    let told = told.to_string();
                    assert!(bytes > 0, "{order}, {ld}: {behind} behind: {told}");
                    assert!(
                        told.starts_with("C and another C have ") && told.contains("such as the byte at"),
                        "{told}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// A matrix is another one for each product, and may be C, which is updated in place; vectors and other outputs lie at strides.
#[test]
fn epilogues_read_what_each_product_has() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let epilogue = Epilogue::new()
        .scale("alpha")
        .plus(Input::column("column", DType::F32))
        .plus(Input::row("row", DType::F32))
        .plus_scaled("beta", Input::matrix("before", DType::Bf16))
        .plus(Input::matrix("other", DType::Bf16))
        .reduce(Output::row("sums", Reduction::Sum));
    for order in [Order::Row, Order::Column] {
        let problem = Problem::new(DType::Bf16, [8, 16, 8], Layout::Tn)?.with_order(order).by_pointers(2)?;
        let gemm = gemms.fused(&problem, KernelKind::Sm80, &epilogue)?;
        let (a, b) = (constant::<bf16>(&device, 64, &[1.0, 2.0])?, constant::<bf16>(&device, 128, &[0.5])?);
        let c = constant::<bf16>(&device, 128, &[1.0, 2.0])?;
        let other = constant::<bf16>(&device, 20 * 16, &[32.0])?;
        let columns = device.upload(&[[100f32; 8], [200f32; 8]].concat())?;
        let (rows, sums) = (device.upload(&[8f32; 16])?, device.zeros::<f32>(17 + 16)?);
        let (on_a, on_b) = (device.pointers(&a)?, device.pointers([&b[0]; 2])?);
        let (on_c, others) = (device.pointers(&c)?, device.pointers([&other[0]; 2])?);
        let again = device.pointers(&c)?;
        let given = |name: &str, value: Given<'_>| -> Result<(), girih_kernels::Error> {
            let mut all = vec![
                ("alpha", Given::from(2.0)),
                ("column", Given::from(&columns).for_each(8)),
                ("row", Given::from(&rows)),
                ("beta", Given::from(16.0)),
                ("before", Given::from(&on_c)),
                ("other", Given::pitched(&others, 20)),
                ("sums", Given::from(&sums).for_each(17)),
            ];
            all.iter_mut().filter(|(own, _)| *own == name).for_each(|(_, own)| *own = value);
            gemm.run_pointers(&on_a, &on_b, &on_c, &all)
        };
        let refused = |name: &str, value: Given<'_>, text: &str| {
            let told = given(name, value).expect_err("refused").to_string();
            assert!(told.contains(text), "{told}");
        };
        refused(
            "before",
            Given::from(&other[0]),
            "a buffer of bf16, but accepted are: matrix(before: bf16), by the addresses of 2 buffers",
        );
        refused("before", Given::from(&again), "C and an input have 256 bytes in common");
        refused("before", Given::from(&on_c).for_each(128), "a stride of 128, but accepted are: no stride");
        refused("other", Given::pitched(&others, 48), "320 elements, but accepted are");
        refused(
            "row",
            Given::from(&on_a),
            "the addresses of 2 buffers of bf16, but accepted are: row(row: f32)",
        );
        refused("sums", Given::from(&on_a), "the addresses of 2 buffers of bf16, but accepted are");
        let odd = [other[0].slice(1..)?, other[0].slice(2..)?];
        let odd = device.pointers(&odd)?;
        refused("other", Given::from(&odd), "but accepted are: multiples of");
        assert_eq!(c[0].download()?, [bf16::ONE; 128]);
        given("", Given::from(0.0))?;
        for (l, (c, value)) in
            c.iter().zip([100.0 + 8.0 + 8.0 + 16.0 + 32.0, 200.0 + 16.0 + 8.0 + 32.0 + 32.0]).enumerate()
        {
            assert_eq!(c.download()?, [bf16::from_f64(value); 128], "{order}, product {l}");
            assert_eq!(sums.download()?[17 * l..][..16], [8.0 * value as f32; 16], "{order}, product {l}");
        }
    }
    Ok(())
}

#[test]
fn pairs_of_columns_are_gated() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::Bf16, [2, 6, 8], Layout::Tn)?.gated()?.by_pointers(2)?;
    let weights: Vec<bf16> =
        (0..6 * 8).map(|i| bf16::from_f32(if i / 8 % 2 == 0 { 0.25 } else { 0.5 })).collect();
    let (a, b) = (constant::<bf16>(&device, 16, &[1.0, 2.0])?, device.upload(&weights)?);
    let c = constant::<bf16>(&device, 6, &[0.0; 2])?;
    let reglu = Epilogue::new().gated(Activation::Relu);
    Gemms::new(&device).fused(&problem, KernelKind::Sm80, &reglu)?.run_pointers(
        &device.pointers(&a)?,
        &device.pointers([&b, &b])?,
        &device.pointers(&c)?,
        &[],
    )?;
    assert_eq!(c[0].download()?, [bf16::from_f32(8.0); 6]);
    assert_eq!(c[1].download()?, [bf16::from_f32(32.0); 6]);
    Ok(())
}

/// One GEMM runs with one set of addresses after another; what is prepared or captured has its own.
#[test]
#[expect(unsafe_code, reason = "a prepared launch, and a graph")]
fn addresses_change_from_call_to_call() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::F32, [4, 4, 2], Layout::Tn)?.by_pointers(2)?;
    let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
    let (a, b) = (constant::<f32>(&device, 8, &[1.0, 2.0, 3.0])?, constant::<f32>(&device, 8, &[1.0])?);
    let c = constant::<f32>(&device, 16, &[0.0; 4])?;
    let on_b = device.pointers([&b[0]; 2])?;
    let [first, second] = [device.pointers(&a[..2])?, device.pointers(&a[1..])?];
    let [c_first, c_second] = [device.pointers(&c[..2])?, device.pointers(&c[2..])?];
    let values = || -> Result<Vec<f32>, Failure> { c.iter().map(|c| Ok(c.download()?[5])).collect() };
    for (a, c, wanted) in [
        (&first, &c_first, [2.0, 4.0, 0.0, 0.0]),
        (&second, &c_second, [2.0, 4.0, 4.0, 6.0]),
        (&second, &c_first, [4.0, 6.0, 4.0, 6.0]),
    ] {
        gemm.run_pointers(a, &on_b, c, &[])?;
        assert_eq!(values()?, wanted);
    }
    let graph = device.capture(|| gemm.run_pointers(&first, &on_b, &c_second, &[]))?;
    let mut prepared = gemm.prepare_pointers(&first, &on_b, &c_first, &[])?.ok_or("C is not empty")?;
    // SAFETY: the buffers hold the problem's matrices.
    unsafe { prepared.run() }?;
    assert_eq!(values()?, [2.0, 4.0, 4.0, 6.0]);
    prepared.set("a", &second)?;
    // SAFETY: as above.
    unsafe { prepared.run() }?;
    assert_eq!(values()?, [4.0, 6.0, 4.0, 6.0]);
    drop((first, second, prepared));
    // SAFETY: the graph keeps what its kernel uses.
    unsafe { graph.launch() }?;
    assert_eq!(values()?, [4.0, 6.0, 2.0, 4.0]);
    Ok(())
}

/// Nothing is launched for no products and for an empty C, and sums of nothing are 0.
#[test]
fn anything_may_be_empty() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let none = device.zeros::<bf16>(0)?;
    for (count, mnk) in [(0, [8, 8, 8]), (2, [0, 8, 8]), (2, [8, 0, 8])] {
        let gemm =
            gemms.get(&Problem::new(DType::Bf16, mnk, Layout::Tn)?.by_pointers(count)?, KernelKind::Sm80)?;
        let big = device.zeros::<bf16>(64)?;
        let all = device.pointers(std::iter::repeat_n(&big, count as usize))?;
        let c = device.pointers(std::iter::repeat_n(&none, count as usize))?;
        gemm.run_pointers(&all, &all, &c, &[])?;
        assert!(gemm.prepare_pointers(&all, &all, &c, &[])?.is_none());
    }
    let gemm =
        gemms.get(&Problem::new(DType::Bf16, [8, 8, 0], Layout::Tn)?.by_pointers(2)?, KernelKind::Sm80)?;
    let (all, c) = (device.pointers([&none; 2])?, constant::<bf16>(&device, 64, &[7.0; 2])?);
    gemm.run_pointers(&all, &all, &device.pointers(&c)?, &[])?;
    assert_eq!((c[0].download()?, c[1].download()?), (vec![bf16::ZERO; 64], vec![bf16::ZERO; 64]));
    Ok(())
}

#[test]
fn what_is_not_as_the_problem_says_is_refused() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let single = Problem::new(DType::Bf16, [8, 8, 8], Layout::Tn)?;
    let problem = single.by_pointers(2)?;
    let gemm = gemms.get(&problem, KernelKind::Sm80)?;
    let all = device.zeros::<bf16>(1024)?;
    let part = |at: usize| all.slice(at..at + 64);
    let (a, b, c) = (part(0)?, part(64)?, [part(128)?, part(192)?]);
    let (on_a, on_b, on_c) = (device.pointers([&a; 2])?, device.pointers([&b; 2])?, device.pointers(&c)?);
    gemm.run_pointers(&on_a, &on_b, &on_c, &[])?;
    let told = gemm.run(&a, &b, &c[0]).expect_err("buffers").to_string();
    assert_eq!(told, "`A`: a buffer, but accepted are: the addresses of 2, by `Gemm::run_pointers`");
    let told = gemms.get(&single, KernelKind::Sm80)?.run_pointers(&on_a, &on_b, &on_c, &[]);
    let told = told.expect_err("addresses").to_string();
    assert_eq!(told, "`A`: the addresses of 2 buffers, but accepted are: a buffer, by `Gemm::run`");
    let with = |a: [&Buffer<bf16>; 2], c: &[Buffer<bf16>]| -> Result<String, Failure> {
        let told = gemm.run_pointers(&device.pointers(a)?, &on_b, &device.pointers(c)?, &[]);
        Ok(told.expect_err("refused").to_string())
    };
    assert!(with([&a; 2], &[part(128)?])?.starts_with("`C`: the addresses of 1 buffers"));
    let short = all.slice(0..63)?;
    assert_eq!(with([&a, &short], &c)?, "A needs 64 elements, its buffer has 63");
    assert!(
        with([&a; 2], &[part(128)?, part(128)?])?.starts_with("C and another C have 128 bytes in common")
    );
    assert!(with([&a; 2], &[part(128)?, part(184)?])?.starts_with("C and another C have 16 bytes in common"));
    assert!(with([&a; 2], &[part(128)?, part(56)?])?.starts_with("C and A have 16 bytes in common"));
    assert!(with([&part(512)?, &part(248)?], &c)?.starts_with("C and A have 16 bytes in common"));
    let odd = part(513)?;
    let told = with([&a, &odd], &c)?;
    assert!(
        told.starts_with(&format!(
            "A begins at {:#x}, but the kernel takes multiples of 16 bytes",
            odd.address()
        )),
        "{told}"
    );
    // What the problem says is an address a multiple of, the kernel takes.
    let loose = single.with_alignments(Some(2), None, None)?.by_pointers(2)?;
    gemms.get(&loose, KernelKind::Sm80)?.run_pointers(&device.pointers([&a, &odd])?, &on_b, &on_c, &[])?;
    let told =
        gemms.configured(&loose, *gemm.config(), &Epilogue::new()).expect_err("wide loads").to_string();
    assert_eq!(
        told,
        "the configuration's loads are of 8 elements along K of A: the problem takes (8,8):(8,1) at 2 addresses at multiples of 2 bytes, without a copy"
    );
    let strided = GemmConfig { batch: Batch::Strided, ..*gemm.config() };
    let told = gemms.configured(&problem, strided, &Epilogue::new()).expect_err("strides").to_string();
    assert_eq!(
        told,
        "the configuration's products are those of matrices at strides: the problem takes those of matrices at addresses of their own"
    );
    let told = problem.by_pointers(-1).expect_err("refused").to_string();
    assert_eq!(told, "batches = -1: 0 to 1048576 elements are accepted");
    let told =
        check(&problem, &[bf16::ONE; 64], &[bf16::ONE; 64], &[bf16::ONE; 64], None).expect_err("refused");
    assert_eq!(
        told.to_string(),
        "`C`: one of 2, but accepted are: `check` of each product for `Problem::batched(1, [None; 3])`"
    );
    Ok(())
}

/// Tensor maps have one address, so that warps multiply on sm_90 too; f64 is multiplied by warps in any case.
#[test]
fn warps_multiply_from_any_addresses() -> Result<(), Failure> {
    let problem = |dtype| Problem::new(dtype, [512; 3], Layout::Tn)?.by_pointers(64);
    for (dtype, kind) in
        [(DType::Bf16, KernelKind::Sm80), (DType::F64, KernelKind::Sm90), (DType::F32, KernelKind::Simt)]
    {
        let problem = problem(dtype)?;
        assert_eq!(KernelKind::for_problem(&problem, 90), kind);
        let config = choose(&problem, kind, 132)?;
        assert_eq!((config.batch, config.loads_by_maps()), (Batch::Pointers, false));
        let reasons = choose::reasons(&problem, kind, 132)?;
        let why = |of: &str| {
            reasons.iter().find(|(what, _)| *what == of).map(|(_, why)| why.clone()).unwrap_or_default()
        };
        assert_eq!(
            why("addresses"),
            "those of 64 products stand in memory, where a block finds its tile's; A, B and C begin at multiples of 16, 16 and 16 bytes"
        );
        assert_eq!(
            why("kernel").contains("tensor maps, which have one address each"),
            kind == KernelKind::Sm80
        );
    }
    let told = choose(&problem(DType::Bf16)?, KernelKind::Sm90, 132).expect_err("refused").to_string();
    assert_eq!(
        told,
        "kernel sm90 does not take bf16: one address for all products is accepted; sm80 takes one for each"
    );
    assert_eq!(problem(DType::Bf16)?.a().to_string(), "(512,512):(512,1) at 64 addresses");
    Ok(())
}
