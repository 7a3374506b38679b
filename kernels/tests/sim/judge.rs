//! The reference check is checked itself: it finds every single wrong element.

use float8::F8E4M3;
use girih_kernels::gemm::{Layout, MAX_K_OF_S8, Problem, check};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

use crate::common::{Data, Failure, filled};

/// A, B and their correct product, rounded once, with NaN between the rows of C.
fn right(problem: &Problem) -> [Vec<f32>; 3] {
    let values =
        |span: i64, step: i64| (0..span).map(|i| ((i * step) % 17 - 8) as f32 / 8.0).collect::<Vec<_>>();
    let (a, b) = (values(problem.a().span(), 5), values(problem.b().span(), 7));
    let mut c = vec![f32::NAN; (problem.c().span() + 3) as usize];
    let [m, n, k] = problem.mnk();
    for (x, y) in (0..m).flat_map(|x| (0..n).map(move |y| (x, y))) {
        let product = |i| {
            f64::from(a[problem.a().offset(x, i) as usize]) * f64::from(b[problem.b().offset(y, i) as usize])
        };
        c[problem.c().offset(x, y) as usize] = (0..k).map(product).sum::<f64>() as f32;
    }
    [a, b, c]
}

/// Sums of 8-bit floats that are promoted may not lose what fast ones may.
#[test]
fn the_judge_finds_sums_that_were_not_promoted() -> Result<(), Failure> {
    let problem = Problem::new(DType::E4m3, [1, 1, 4096], Layout::Tn)?.with_output(DType::F32)?;
    let (ones, fast) = ([F8E4M3::ONE; 4096], problem.with_fast_accumulation(true));
    let passed =
        |problem: &Problem, c: f32| check(problem, &ones, &ones, &[c], None).map(|found| found.passed());
    for (lost, promoted) in [(0.0, true), (8.0, true), (80.0, false)] {
        assert_eq!(passed(&problem, 4096.0 - lost)?, promoted, "{lost}");
        assert!(passed(&fast, 4096.0 - lost)?, "{lost}");
    }
    assert!(!passed(&fast, 3500.0)?);
    Ok(())
}

/// Sums of 8-bit floats may lose much, but no more than a tile along K.
#[test]
fn the_judge_finds_missing_products_of_bytes() -> Result<(), Failure> {
    for k in [256, 1024, 4096] {
        let problem = Problem::new(DType::E4m3, [8, 8, k], Layout::Tn)?.with_output(DType::F32)?;
        let (a, b) = (
            filled::<F8E4M3>(8 * k as usize, Data::Random, 1),
            filled::<F8E4M3>(8 * k as usize, Data::Random, 2),
        );
        let product = |until: i64| -> Vec<f32> {
            let sum = |x: i64, y: i64| {
                let products = |i: i64| a[(x * k + i) as usize].to_f64() * b[(y * k + i) as usize].to_f64();
                (0..until).map(products).sum::<f64>() as f32
            };
            (0..64).map(|at| sum(at / 8, at % 8)).collect()
        };
        assert!(check(&problem, &a, &b, &product(k), None)?.passed(), "{k}");
        assert!(!check(&problem, &a, &b, &product(k - 128), None)?.passed(), "{k} without the last tile");
        assert!(!check(&problem, &a, &b, &[0f32; 64], None)?.passed(), "{k}: nothing");
    }
    Ok(())
}

/// Sums of integers are exact, and no K is accepted with which 32 bits may not hold them.
#[test]
fn the_judge_finds_integers_that_are_wrong_by_one() -> Result<(), Failure> {
    let refused =
        Problem::new(DType::S8, [1, 2, MAX_K_OF_S8 + 1], Layout::Tn).expect_err("may wrap").to_string();
    assert_eq!(
        refused,
        "K = 131072 of s8: a sum of products can exceed s32 from K = 131072 on, so 0 to 131071 are accepted"
    );
    assert!(Problem::new(DType::S8, [1, 2, 8], Layout::Tn)?.sized([1, 2, MAX_K_OF_S8 + 1]).is_err());
    for k in [3, MAX_K_OF_S8] {
        let problem = Problem::new(DType::S8, [1, 2, k], Layout::Tn)?;
        let (a, b) = (vec![-128i8; k as usize], vec![-128i8; 2 * k as usize]);
        let sum = i32::try_from(k << 14)?;
        let passed = |c: [i32; 2]| check(&problem, &a, &b, &c, None).map(|found| found.passed());
        assert!(passed([sum; 2])?);
        assert!(!passed([sum, sum.wrapping_add(1)])? && !passed([sum.wrapping_sub(1), sum])?);
    }
    Ok(())
}

/// Products of tf32 are those of the nearest tf32 numbers: what cuts bits off instead of rounding is found. Where two are as near,
/// either will do.
#[test]
fn the_judge_finds_operands_that_are_not_rounded() -> Result<(), Failure> {
    let problem = Problem::new(DType::Tf32, [1, 1, 3], Layout::Tn)?;
    let ulp = f32::from_bits(1.0f32.to_bits() + (1 << 13)) - 1.0;
    let passed =
        |a: [f32; 3], c: f32| check(&problem, &a, &[1f32; 3], &[c], None).map(|found| found.passed());
    for (element, nearest, other) in [
        (1.0 + 0.4 * ulp, 1.0, 1.0 + ulp),
        (1.0 + 0.6 * ulp, 1.0 + ulp, 1.0),
        (-3.0 - 1.9 * ulp, -3.0 - 2.0 * ulp, -3.0),
    ] {
        assert!(passed([element; 3], 3.0 * nearest)?, "{element}");
        assert!(!passed([element; 3], 3.0 * other)?, "{element}");
        assert!(!passed([element; 3], 3.0 * element)?, "{element}");
    }
    let half = 1.0 + 0.5 * ulp;
    assert!(passed([half; 3], 3.0)? && passed([half; 3], 3.0 + 3.0 * ulp)?);
    assert!(!passed([half; 3], 3.0 + 4.0 * ulp)?);
    Ok(())
}

/// One wrong element is found wherever it is, in every layout.
#[test]
fn the_judge_finds_each_wrong_element() -> Result<(), Failure> {
    for layout in Layout::ALL {
        let problem = Problem::new(DType::F32, [5, 7, 600], layout)?.with_pitches(None, None, Some(9))?;
        let [a, b, c] = right(&problem);
        let judge = |c: &[f32]| check(&problem, &a, &b, c, Some(f32::NAN)).map(|found| found.passed());
        assert!(judge(&c)?);
        for at in 0..c.len() {
            let mut wrong = c.clone();
            // A wrong element of C is off by a product of 1/64. An element of the padding is wrong once it is written.
            wrong[at] = if c[at].is_nan() { 0.0 } else { c[at] + 1.0 / 64.0 };
            assert!(!judge(&wrong)?, "{layout}: element {at}");
            if !c[at].is_nan() {
                wrong[at] = f32::NAN;
                assert!(!judge(&wrong)?, "{layout}: NaN at {at}");
            }
        }
        let message = check(&problem, &a[1..], &b, &c, None).expect_err("A is cut short").to_string();
        assert_eq!(message, format!("A needs 3000 elements, its buffer has {}", a.len() - 1));
    }
    Ok(())
}

/// What is rounded to infinity by definition is right where C is infinite, and nothing else is.
fn overflow<T: Element, C: Element>(
    problem: &Problem,
    x: f64,
    cases: &[(f64, f64, bool)],
) -> Result<(), Failure> {
    let a = vec![T::from_f64(x); 4];
    for &(factor, c, passes) in cases {
        // The first two factors are 1, so that the sum is that of the others and 2 x.
        let b = [1.0, 1.0, factor, factor].map(T::from_f64);
        let found = check(problem, &a, &b, &[C::from_f64(c)], None)?;
        assert_eq!(found.passed(), passes, "{problem:?}: {x} by {factor} is {c}: {found:?}");
    }
    Ok(())
}

#[test]
fn sums_that_round_to_infinity_are_right() -> Result<(), Failure> {
    let infinity = f64::INFINITY;
    let of = |dtype, output| Problem::new(dtype, [1, 1, 4], Layout::Tn)?.with_output(output);
    let f16 = of(DType::F16, DType::F16)?;
    let cases = [
        (1.0, infinity, true),
        (1.0, 65504.0, true),
        (1.0, -infinity, false),
        (1.0, f64::NAN, false),
        (0.5, infinity, false),
    ];
    // 4 * 16384 = 65536 is a step beyond the greatest number, and 3 * 16384 is not.
    overflow::<f16, f16>(&f16, 16384.0, &cases)?;
    overflow::<f16, f16>(&f16.with_sums(DType::F16)?, 16384.0, &cases)?;
    overflow::<f16, f16>(
        &f16,
        -16384.0,
        &[(1.0, -infinity, true), (1.0, infinity, false), (0.5, -infinity, false)],
    )?;
    // 65504 by itself is the greatest number, and no sum that is lost in f32 is near.
    overflow::<f16, f16>(&f16, 32752.0, &[(0.0, 65504.0, true), (0.0, infinity, false)])?;
    let wide = [
        (1.0, infinity, true),
        (1.0, -infinity, false),
        (0.0, infinity, false),
        (-1.0, 0.0, true),
        (-1.0, 1.0, false),
    ];
    overflow::<f32, f32>(&of(DType::F32, DType::F32)?, 1.5e38, &wide)?;
    overflow::<f32, f32>(&of(DType::Tf32, DType::F32)?, 1.5e38, &wide[..3])?;
    overflow::<bf16, bf16>(&of(DType::Bf16, DType::Bf16)?, 1.5e38, &wide[..3])?;
    overflow::<f64, f64>(&of(DType::F64, DType::F64)?, 0.8e308, &wide[..3])?;
    // 8-bit floats saturate.
    overflow::<f16, F8E4M3>(
        &of(DType::F16, DType::E4m3)?,
        300.0,
        &[(1.0, 448.0, true), (1.0, 240.0, false)],
    )?;
    Ok(())
}

/// NaN and infinity in A and B are so in C where the sum is, and nowhere else.
#[test]
fn numbers_that_are_none_go_where_they_belong() -> Result<(), Failure> {
    let problem = Problem::new(DType::F32, [2, 1, 2], Layout::Tn)?;
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    for (a, c, passes) in [
        ([1.0, nan, 1.0, 2.0], [nan, 3.0], true),
        ([1.0, nan, 1.0, 2.0], [nan, nan], false),
        ([1.0, nan, 1.0, 2.0], [3.0, 3.0], false),
        ([1.0, infinity, 1.0, 2.0], [infinity, 3.0], true),
        ([1.0, infinity, 1.0, 2.0], [f32::MAX, 3.0], false),
        ([1.0, infinity, 1.0, 2.0], [nan, 3.0], false),
        ([1.0, infinity, 1.0, 2.0], [infinity, infinity], false),
        ([-infinity, infinity, 1.0, 2.0], [nan, 3.0], true),
        ([-infinity, infinity, 1.0, 2.0], [infinity, 3.0], false),
    ] {
        let found = check(&problem, &a, &[1f32; 2], &c, None)?;
        assert_eq!(found.passed(), passes, "{a:?}: {c:?}: {found:?}");
        let found = check(&Problem::new(DType::Tf32, [2, 1, 2], Layout::Tn)?, &a, &[1f32; 2], &c, None)?;
        assert_eq!(found.passed(), passes, "tf32 {a:?}: {c:?}: {found:?}");
    }
    Ok(())
}
