//! The reference check is checked itself: it finds every single wrong element.

use float8::F8E4M3;
use girih_kernels::gemm::{Layout, Problem, check};
use girih_tensor::{DType, Element};

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

/// Sums of integers are exact, also where 32 bits do not hold them.
#[test]
fn the_judge_finds_integers_that_are_wrong_by_one() -> Result<(), Failure> {
    for k in [3, 1 << 18] {
        let problem = Problem::new(DType::S8, [1, 2, k], Layout::Tn)?;
        let (a, b) = (vec![-128i8; k as usize], vec![-128i8; 2 * k as usize]);
        let sum = (k << 14) as i32;
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
