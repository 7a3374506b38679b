//! A and B that `wgmma` takes along K alone, and that are contiguous along the other mode.

use girih_codegen::gemm::{Epilogue, GemmConfig};
use girih_device::Pod;
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Order, Problem, check, choose, repitched};
use girih_tensor::{DType, Element};

use crate::checked;
use crate::common::{Data, Failure, batch, filled, padded, verify_dtype};

/// The dtypes whose operands `wgmma` takes along K alone.
const ALONG_K: [DType; 4] = [DType::Tf32, DType::S8, DType::E4m3, DType::E5m2];

/// Those operands are copied, and no others; the copies are contiguous along K, and their rows begin at lines of the cache.
#[test]
fn what_is_not_contiguous_along_k_is_copied() -> Result<(), Failure> {
    for dtype in ALONG_K.into_iter().chain([DType::F16, DType::Bf16]) {
        for layout in Layout::ALL {
            for order in [Order::Row, Order::Column] {
                let problem = Problem::new(dtype, [256, 512, 384], layout)?.with_order(order);
                let config = choose(&problem, KernelKind::Sm90, 132)?;
                let oriented = problem.oriented(config.c_major).0;
                let solved = repitched(&oriented, &config)?;
                for (from, to) in [(oriented.a(), solved.a()), (oriented.b(), solved.b())] {
                    let along_k = ALONG_K.contains(&dtype);
                    assert_eq!(from == to, from.contiguous() == 1 || !along_k, "{dtype} {layout}: {to}");
                    assert_eq!((to.extents(), to.contiguous() == 1 || !along_k), (from.extents(), true));
                    assert_eq!(to.ld() * i64::from(dtype.bits()) % 1024, 0, "{to}");
                }
            }
        }
    }
    Ok(())
}

/// Warps multiply what takes longer to copy than warpgroups gain: the copy counts rows, and the product rows times columns.
#[test]
fn small_products_are_multiplied_as_they_lie() -> Result<(), Failure> {
    let kind = |dtype, mnk, layout| -> Result<KernelKind, Failure> {
        Ok(KernelKind::for_problem(&Problem::new(dtype, mnk, layout)?, 90))
    };
    for dtype in ALONG_K {
        for (mnk, layout, wanted) in [
            ([512, 512, 4096], Layout::Nt, KernelKind::Sm80),
            ([512, 512, 4096], Layout::Tt, KernelKind::Sm90),
            ([2048, 2048, 64], Layout::Nt, KernelKind::Sm90),
            ([16, 8192, 8192], Layout::Nn, KernelKind::Sm90),
            ([16, 8192, 8192], Layout::Tt, KernelKind::Sm80),
            ([16, 8192, 8192], Layout::Tn, KernelKind::Sm90),
        ] {
            assert_eq!(kind(dtype, mnk, layout)?, wanted, "{dtype} {mnk:?} {layout}");
        }
        // All products of a batch have one B, which is copied once.
        let problem = Problem::new(dtype, [64, 512, 512], Layout::Tt)?;
        assert_eq!(KernelKind::for_problem(&problem.batched(8, [None; 3])?, 90), KernelKind::Sm80);
        assert_eq!(
            KernelKind::for_problem(&problem.batched(8, [None, Some(0), None])?, 90),
            KernelKind::Sm90
        );
        // Only sm_90 has warpgroups.
        let large = Problem::new(dtype, [4096; 3], Layout::Nt)?;
        assert_eq!(KernelKind::for_problem(&large, 100), KernelKind::Sm80);
    }
    Ok(())
}

/// Every dtype and layout, with extents and pitches that end within vectors, and matrices of batches that lie in every way, by turns.
#[test]
fn copies_are_multiplied() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (turn, dtype) in ALONG_K.into_iter().enumerate() {
        for (by, layout) in [Layout::Nn, Layout::Nt, Layout::Tt].into_iter().enumerate() {
            for (nth, mnk) in [[130, 72, 100], [17, 1, 33], [1, 50, 257]].into_iter().enumerate() {
                let pad = [0, 16, 3][(turn + by + nth) % 3];
                let problem = padded(Problem::new(dtype, mnk, layout)?, pad);
                verify_dtype(&gemms, &device, &problem, Data::Random, turn as u64)?;
            }
            let problem = Problem::new(dtype, [40, 24, 48], layout)?;
            let how = [[0, 0, 0], [1, 1, 1], [2, 0, 2], [0, 2, 0]];
            for how in [how[(turn + by) % 4], how[(turn + by + 2) % 4]] {
                verify_dtype(&gemms, &device, &batch(problem, 3, how), Data::Random, turn as u64)?;
            }
        }
    }
    Ok(())
}

/// The copy has the same elements, so that the products are bit for bit those of operands that are contiguous along K.
#[test]
fn the_way_through_a_copy_changes_no_bit() -> Result<(), Failure> {
    same_bits::<float8::F8E4M3>(DType::E4m3)?;
    same_bits::<f32>(DType::Tf32)
}

fn same_bits<T: Element + Pod>(dtype: DType) -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let [m, n, k] = [100, 72, 130];
    let numbers = |rows: i64, seed| filled::<T>((rows * k) as usize, Data::Random, seed);
    let turned = |rows: i64, from: &[T]| -> Vec<T> {
        (0..k * rows).map(|i| from[(i % rows * k + i / rows) as usize]).collect()
    };
    let (a, b) = (numbers(m, 1), numbers(n, 2));
    let mut found = Vec::new();
    for (layout, a, b) in [(Layout::Tn, a.clone(), b.clone()), (Layout::Nt, turned(m, &a), turned(n, &b))] {
        let problem = Problem::new(dtype, [m, n, k], layout)?.with_output(DType::F32)?;
        let gemm = gemms.get(&problem, KernelKind::Sm90)?;
        let c = device.zeros::<f32>((m * n) as usize)?;
        gemm.run(&device.upload(&a)?, &device.upload(&b)?, &c)?;
        let c = c.download()?;
        assert!(check(&problem, &a, &b, &c, None)?.passed());
        found.push(c);
    }
    assert_eq!(found[0], found[1]);
    Ok(())
}

/// Prepared launches copy anew each time, and take other buffers by the caller's names. There is a launch for each operand that is copied so.
#[test]
fn prepared_launches_copy_what_they_are_given() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (layout, passes) in [(Layout::Nn, 1), (Layout::Tt, 1), (Layout::Nt, 2)] {
        for order in [Order::Row, Order::Column] {
            let problem = Problem::new(DType::S8, [16, 32, 64], layout)?.with_order(order);
            let ones = |len: usize, x: i8| device.upload(&vec![x; len]);
            let (a, b, c) = (ones(16 * 64, 1)?, ones(32 * 64, 2)?, device.zeros::<i32>(16 * 32)?);
            let gemm = gemms.fused(&problem, KernelKind::Sm90, &Epilogue::new())?;
            let mut prepared = gemm.prepare(&a, &b, &c, &[])?.ok_or("C is not empty")?;
            assert_eq!(prepared.launches().count(), 1 + passes);
            let run = |prepared: &girih_kernels::gemm::Prepared| {
                #[expect(unsafe_code, reason = "prepared launches are run")]
                // SAFETY: the buffers hold the problem's matrices.
                unsafe {
                    prepared.run()
                }
            };
            run(&prepared)?;
            assert_eq!(c.download()?, [128; 16 * 32]);
            prepared.set("a", &ones(16 * 64, 3)?)?;
            run(&prepared)?;
            assert_eq!(c.download()?, [384; 16 * 32]);
            prepared.set("b", &ones(32 * 64, -1)?)?;
            run(&prepared)?;
            assert_eq!(c.download()?, [-192; 16 * 32]);
            // A call takes what it is given, and what was given before stays out of it.
            gemm.run(&a, &b, &c)?;
            gemm.run(&ones(16 * 64, 2)?, &b, &c)?;
            assert_eq!(c.download()?, [256; 16 * 32]);
        }
    }
    Ok(())
}

/// Large operands of f32 that are contiguous along K are copied to where vectors need not be transposed, unless rows are to be the same
/// wherever they stand; small ones are multiplied as they lie.
#[test]
fn large_operands_of_f32_are_turned() -> Result<(), Failure> {
    for (mnk, layout, wanted) in [
        ([2048; 3], Layout::Tn, [true, true]),
        ([2048; 3], Layout::Nn, [false, true]),
        ([2048; 3], Layout::Tt, [true, false]),
        ([2048; 3], Layout::Nt, [false, false]),
        ([256; 3], Layout::Tn, [false, false]),
        // B is used by few rows, and A by many columns.
        ([128, 8192, 2048], Layout::Tn, [true, false]),
        ([8192, 128, 2048], Layout::Tn, [false, true]),
    ] {
        let problem = Problem::new(DType::F32, mnk, layout)?;
        let turned = |problem: &Problem| -> Result<[bool; 2], Failure> {
            let solved = repitched(problem, &choose(problem, KernelKind::Simt, 132)?)?;
            Ok([(problem.a(), solved.a()), (problem.b(), solved.b())]
                .map(|(from, to)| from.major() != to.major()))
        };
        assert_eq!(turned(&problem)?, wanted, "{mnk:?} {layout}");
        assert_eq!(turned(&problem.with_invariant(true))?, [false; 2], "{mnk:?} {layout}");
    }
    Ok(())
}

/// A copy of either operand or of both has the same elements, so that the products are bit for bit the same.
#[test]
fn turned_operands_of_f32_change_no_bit() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let [m, n, k] = [70, 45, 100];
    let problem = Problem::new(DType::F32, [m, n, k], Layout::Tn)?;
    let problem = problem.with_pitches(Some(k + 3), Some(k + 1), None)?;
    let [a, b] = [(problem.a(), 1), (problem.b(), 2)]
        .map(|(matrix, seed)| filled::<f32>(matrix.span() as usize, Data::Random, seed));
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let mut found = Vec::new();
    for layout in [Layout::Tn, Layout::Nn, Layout::Tt, Layout::Nt] {
        // As for operands that lie so already, in rows of whole vectors.
        let like = Problem::new(DType::F32, [64; 3], layout)?;
        let config = if layout == Layout::Tn {
            choose(&problem, KernelKind::Simt, 132)?
        } else {
            choose(&like, KernelKind::Simt, 132)?
        };
        let config = GemmConfig { store: choose(&problem, KernelKind::Simt, 132)?.store, ..config };
        let gemm = match gemms.configured(&problem, config, &Epilogue::new()) {
            // What is not turned keeps its pitch, which is no multiple of four.
            Ok(gemm) => gemm,
            Err(error) => return Err(format!("{layout}: {error}").into()),
        };
        let c = device.zeros::<f32>((m * n) as usize)?;
        gemm.run(&on_a, &on_b, &c)?;
        let c = c.download()?;
        assert!(check(&problem, &a, &b, &c, None)?.passed(), "{layout}");
        found.push(c);
    }
    assert!(found.iter().all(|c| *c == found[0]));
    Ok(())
}
