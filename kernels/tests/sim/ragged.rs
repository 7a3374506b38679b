//! Any shape, any pitch, any address.

use girih_codegen::gemm::{Epilogue, Mainloop};
use girih_device::Device;
use girih_kernels::gemm::{
    GemmConfig, Gemms, Given, Input, KernelKind, Layout, Matrix, Order, Problem, choose, repitched,
};
use girih_tensor::DType;
use half::bf16;
use rand::{SeedableRng, rngs::StdRng};

use crate::checked;
use crate::common::{Data, Failure, ragged, verify_dtype};

/// Every kernel that takes a problem, on problems that end anywhere, in buffers that begin anywhere. Nothing beside C is written.
#[test]
fn random_problems() -> Result<(), Failure> {
    let (device, mut rng) = (checked(), StdRng::seed_from_u64(13));
    let gemms = Gemms::new(&device);
    for seed in 0..64 {
        let problem = ragged(&mut rng, 150);
        verify_dtype(&gemms, &device, &problem, Data::Random, seed)?;
    }
    Ok(())
}

/// Copies are made of what tensor maps do not describe, and of nothing else.
#[test]
fn only_what_needs_it_is_copied() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, [512, 256, 64], Layout::Tt)?;
    let copied = |problem: Problem, kind| -> Result<[bool; 2], Failure> {
        let config = choose(&problem, kind, 132)?;
        // The kernel may compute the transpose.
        let (problem, exchanged) = problem.oriented(config.c_major);
        let solved = repitched(&problem, &config)?;
        let of = |from: Matrix, to: Matrix| {
            let same = from == to;
            assert!(same || to.ld() % 64 == 0 && to.ld() - from.extents()[from.contiguous()] < 64, "{to}");
            assert_eq!((from.extents(), from.contiguous()), (to.extents(), to.contiguous()));
            !same
        };
        assert_eq!(problem.c(), solved.c());
        let [a, b] = [of(problem.a(), solved.a()), of(problem.b(), solved.b())];
        Ok(if exchanged { [b, a] } else { [a, b] })
    };
    let by_maps = |problem| copied(problem, KernelKind::Sm90);
    assert_eq!(by_maps(problem)?, [false, false]);
    assert_eq!(by_maps(problem.with_pitches(Some(65), None, None)?)?, [true, false]);
    assert_eq!(by_maps(problem.with_pitches(Some(72), Some(260), None)?)?, [false, true]);
    assert_eq!(by_maps(problem.with_alignments(Some(8), Some(16), None)?)?, [true, false]);
    assert_eq!(by_maps(problem.with_alignments(None, Some(2), None)?)?, [false, true]);
    // Threads load what pitches and addresses allow.
    let odd = problem.with_pitches(Some(65), Some(257), None)?.with_alignments(Some(2), Some(2), None)?;
    assert_eq!(copied(odd, KernelKind::Sm80)?, [false, false]);
    Ok(())
}

/// Rows that lie in two lines of the cache each are copied where so many small tiles read them that the pass takes less than they wait.
#[test]
fn rows_between_lines_are_copied_for_many_small_tiles() -> Result<(), Failure> {
    let copied = |[m, n]: [i64; 2], [lda, ldb]: [i64; 2], tile: [i64; 2]| -> Result<[bool; 2], Failure> {
        let problem = Problem::new(DType::Bf16, [m, n, 4099], Layout::Tn)?;
        let problem = problem.with_pitches(Some(lda), Some(ldb), None)?;
        let chosen = choose(&problem, KernelKind::Sm90, 132)?;
        let config = GemmConfig { tile: [tile[0], tile[1], 64], ..chosen };
        // The kernel may compute the transpose.
        let solved = repitched(&problem.oriented(config.c_major).0, &config)?;
        Ok([solved.a(), solved.b()].map(|matrix| matrix.ld() == 4160))
    };
    let large = [4095, 4097];
    assert_eq!(copied(large, [4104; 2], [128, 128])?, [true, true]);
    assert_eq!(copied(large, [4104; 2], [256, 176])?, [false, false]);
    assert_eq!(copied(large, [4104, 4224], [128, 128])?, [true, false]);
    assert_eq!(copied([1000, 1000], [4104; 2], [128, 128])?, [false, false]);
    Ok(())
}

/// A column-major C exchanges A and B, and the messages name the caller's.
#[test]
fn addresses_are_checked_by_the_callers_names() -> Result<(), Failure> {
    let device = checked();
    let zeros = |len: usize| device.zeros::<bf16>(len);
    let (whole, odd) = (zeros(264 * 264)?, zeros(264 * 264 + 1)?.slice(1..)?);
    for (order, kind) in [(Order::Row, KernelKind::Sm80), (Order::Column, KernelKind::Sm90)] {
        let problem = Problem::new(DType::Bf16, [264, 264, 136], Layout::Tn)?.with_order(order);
        let gemm = Gemms::new(&device).get(&problem, kind)?;
        for (name, [a, b, c]) in
            [("A", [&odd, &whole, &zeros(264 * 264)?]), ("B", [&whole, &odd, &zeros(264 * 264)?])]
        {
            let told = gemm.run(a, b, c).expect_err("misaligned").to_string();
            let expected =
                format!("{name} begins at {:#x}, but the kernel takes multiples of 16 bytes", odd.address());
            assert!(told.starts_with(&expected), "{told}");
        }
        let told = gemm.run(&whole, &whole, &odd).expect_err("misaligned").to_string();
        assert!(told.starts_with("C begins at"), "{told}");
        let any = problem.with_alignments(Some(2), Some(2), None)?;
        Gemms::new(&device).get(&any, kind)?.run(&odd, &odd, &zeros(264 * 264)?)?;
    }
    let problem = Problem::new(DType::Bf16, [64; 3], Layout::Tn)?;
    for (bytes, name) in
        [([Some(3), None, None], "A"), ([None, Some(1), None], "B"), ([None, None, Some(0)], "C")]
    {
        let told = problem.with_alignments(bytes[0], bytes[1], bytes[2]).expect_err("refused").to_string();
        let bytes = bytes.into_iter().flatten().next().unwrap_or(0);
        assert_eq!(
            told,
            format!("{name} at multiples of {bytes} bytes: powers of two from 2 on are accepted")
        );
    }
    Ok(())
}

/// Nothing is launched for an empty C. Where K is 0, C is what the epilogue makes of sums of 0, whatever C held before.
#[test]
fn empty_problems_on_every_path() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let kinds =
        [(DType::F32, KernelKind::Simt), (DType::Bf16, KernelKind::Sm80), (DType::Bf16, KernelKind::Sm90)];
    for (dtype, kind) in kinds {
        for layout in Layout::ALL {
            for order in [Order::Row, Order::Column] {
                for mnk in [[0, 40, 24], [40, 0, 24], [0, 0, 0], [0, 7, 0]] {
                    let problem = Problem::new(dtype, mnk, layout)?.with_order(order);
                    match dtype {
                        DType::F32 => empty::<f32>(&device, &gemms, &problem, kind)?,
                        _ => empty::<bf16>(&device, &gemms, &problem, kind)?,
                    }
                }
                for mnk in [[40, 136, 0], [130, 8, 0]] {
                    let problem = Problem::new(dtype, mnk, layout)?.with_order(order);
                    match dtype {
                        DType::F32 => no_terms::<f32>(&device, &gemms, &problem, kind)?,
                        _ => no_terms::<bf16>(&device, &gemms, &problem, kind)?,
                    }
                }
            }
        }
    }
    Ok(())
}

/// An empty C, whose buffers may be empty too.
fn empty<T: girih_tensor::Element + girih_device::Pod>(
    device: &Device,
    gemms: &Gemms,
    problem: &Problem,
    kind: KernelKind,
) -> Result<(), Failure> {
    let [a, b] = [problem.a(), problem.b()].map(|matrix| device.zeros::<T>(matrix.span() as usize));
    let c = device.zeros::<T>(0)?;
    let gemm = gemms.get(problem, kind)?;
    let (a, b) = (a?, b?);
    gemm.run(&a, &b, &c)?;
    assert!(gemm.prepare(&a, &b, &c, &[])?.is_none(), "{problem:?} by {kind:?}");
    Ok(())
}

fn no_terms<T: girih_tensor::Element + girih_device::Pod>(
    device: &Device,
    gemms: &Gemms,
    problem: &Problem,
    kind: KernelKind,
) -> Result<(), Failure> {
    let [m, n, _] = problem.mnk();
    let (none, c) = (device.zeros::<T>(0)?, device.alloc::<T>((m * n) as usize)?);
    c.fill_bytes(0xff)?;
    let bias: Vec<T> = (0..n).map(|i| T::from_f64((i % 64) as f64)).collect();
    let bias = device.upload(&bias)?;
    let epilogue = Epilogue::new().plus(Input::row("bias", T::DTYPE).unaligned());
    let gemm = gemms.fused(problem, kind, &epilogue)?;
    if kind == KernelKind::Sm90 {
        assert!(matches!(gemm.config().mainloop, Mainloop::WarpSpecialized(_)));
    }
    gemm.run_with(&none, &none, &c, &[("bias", Given::from(&bias))])?;
    let c = c.download()?;
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let found = c[problem.c().offset(i, j) as usize].to_f64();
        assert_eq!(found, (j % 64) as f64, "({i},{j}) of {problem:?} by {kind:?}");
    }
    Ok(())
}

/// Prepared launches copy anew each time, and take other buffers by the caller's names.
#[test]
fn prepared_launches_copy_what_they_are_given() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for order in [Order::Row, Order::Column] {
        let problem = Problem::new(DType::Bf16, [8, 16, 5], Layout::Tn)?.with_order(order);
        let filled = |len: usize, x: f32| device.upload(&vec![bf16::from_f32(x); len]);
        let (a, b, c) = (filled(40, 1.0)?, filled(80, 2.0)?, filled(128, 0.0)?);
        let gemm = gemms.get(&problem, KernelKind::Sm90)?;
        let mut prepared = gemm.prepare(&a, &b, &c, &[])?.ok_or("C is not empty")?;
        assert_eq!(prepared.launches().count(), 2);
        let run = |prepared: &girih_kernels::gemm::Prepared| {
            #[expect(unsafe_code, reason = "prepared launches are run")]
            // SAFETY: the buffers hold the problem's matrices.
            unsafe {
                prepared.run()
            }
        };
        run(&prepared)?;
        assert_eq!(c.download()?, [bf16::from_f32(10.0); 128]);
        let (other_a, other_c) = (filled(40, 3.0)?, filled(128, 0.0)?);
        prepared.set("a", &other_a)?;
        prepared.set("c", &other_c)?;
        run(&prepared)?;
        assert_eq!(other_c.download()?, [bf16::from_f32(30.0); 128]);
        b.fill_bytes(0)?;
        run(&prepared)?;
        assert_eq!(other_c.download()?, [bf16::from_f32(0.0); 128]);
        assert!(prepared.set("d", &other_c).is_err());
    }
    Ok(())
}
