//! Functions, rounding, shared operations, and misuse.

use girih_codegen::scalar::Rounding;
use girih_codegen::{Builder, Cond, Error, Expr, Scalar};
use girih_ptx::Special;
use girih_tensor::{DType, Space};

use super::Value::{self, F32, S32};
use super::{converted, run};

#[test]
fn floats_round_to_integers_as_asked() {
    let inputs: Vec<Value> =
        [-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.7, 1e10, -1e10, f32::NAN].map(F32).to_vec();
    let modes = [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up];
    let found = run(&inputs, |_, scalars| {
        Ok(scalars.iter().flat_map(|x| modes.map(|mode| x.rounded_to(DType::S32, mode))).collect())
    });
    let wanted: Vec<u64> = inputs
        .iter()
        .flat_map(|x| {
            let x = x.number();
            [x.round_ties_even(), x.trunc(), x.floor(), x.ceil()].map(|x| S32(x as i32).bits())
        })
        .collect();
    assert_eq!(found, wanted);
}

/// Roots and reciprocals are correctly rounded; approximated functions are close.
#[test]
fn functions_are_those_of_their_names() {
    let inputs: Vec<Value> = [0.1f32, 0.5, 1.0, 1.7, 2.0, 3.0, 10.0].map(F32).to_vec();
    type Function = (fn(&Scalar) -> Scalar, fn(f64) -> f64, f64);
    let functions: [Function; 12] = [
        (Scalar::sqrt, f64::sqrt, 0.0),
        (Scalar::recip, f64::recip, 0.0),
        (Scalar::recip_approx, f64::recip, 1e-6),
        (Scalar::recip_ftz, f64::recip, 1e-6),
        (Scalar::rsqrt, |x| x.sqrt().recip(), 1e-6),
        (Scalar::exp2, f64::exp2, 1e-6),
        (Scalar::exp2_ftz, f64::exp2, 1e-6),
        (Scalar::log2, f64::log2, 1e-6),
        (Scalar::sin, f64::sin, 1e-6),
        (Scalar::cos, f64::cos, 1e-6),
        (Scalar::tanh, f64::tanh, 1e-3),
        (|x| x.maximum(f64::NAN), |_| f64::NAN, 0.0),
    ];
    for (scalar, host, error) in functions {
        let found = run(&inputs, |_, scalars| Ok(scalars.iter().map(scalar).collect()));
        for (x, bits) in inputs.iter().zip(found) {
            let (found, wanted) = (Value::of_bits(DType::F32, bits).number(), host(x.number()));
            let exact = wanted as f32 as f64;
            let near = (found - wanted).abs() <= error * wanted.abs().max(1.0) || found == exact;
            assert!(near || found.is_nan() && wanted.is_nan(), "of {x:?}: {found}, not {wanted}");
        }
    }
    for dtype in [DType::F16, DType::Bf16] {
        let found = run(&[converted(F32(0.75), dtype).unwrap()], |_, x| {
            Ok(vec![x[0].exp2(), x[0].sqrt(), 1.0 / &x[0]])
        });
        let wanted = [0.75f64.exp2(), 0.75f64.sqrt(), 1.0 / 0.75]
            .map(|x| converted(F32(x as f32), dtype).unwrap().bits());
        assert_eq!(found, wanted, "{dtype}");
    }
}

/// A sum of finite numbers beyond the largest one is the largest one, and one between two numbers is that nearer to 0; infinities stay.
#[test]
fn sums_are_rounded_towards_zero() {
    let (most, infinity) = (f32::MAX, f32::INFINITY);
    // Of x, y and z the sum of x y and z.
    let cases: [([f32; 3], f32); 8] = [
        ([most, 2.0, most], most),
        ([-most, 1.0, -1e32], -most),
        ([1.0, -1.0, f32::MIN], f32::MIN),
        ([3.0, 1.0, -infinity], -infinity),
        ([most, 2.0, infinity], infinity),
        ([1.0, 1.0, f32::EPSILON * 0.75], 1.0),
        ([-1.0, 1.0, -f32::EPSILON * 1.75], -1.0 - f32::EPSILON),
        ([0.5, 8.0, 1.5], 5.5),
    ];
    let inputs: Vec<Value> = cases.iter().flat_map(|(x, _)| x.map(F32)).collect();
    let found = run(&inputs, |_, x| Ok(x.chunks(3).map(|x| x[0].mul_add_to_zero(&x[1], &x[2])).collect()));
    let wanted: Vec<u64> = cases.iter().map(|(_, sum)| F32(*sum).bits()).collect();
    assert_eq!(found, wanted);
}

/// An operation that two expressions share is written once, and outside of loops that do not change it.
#[test]
fn what_is_shared_is_computed_once_and_outside() {
    let mut b = Builder::new("k", 80, 32);
    let (to, thread) = (b.pointer("to", 4), b.special(Special::TidX));
    let x = Scalar::index(&thread, DType::S32).to(DType::F32);
    let mut power = x.clone();
    // Without sharing, the expression would have 2^200 operations.
    for _ in 0..200 {
        power = &power * &power;
    }
    b.for_range(&Expr::from(4), |b, i| {
        let value = &power + Scalar::index(i, DType::S32).to(DType::F32);
        let reg = b.scalar(&value)?;
        b.store(Space::Gmem, &(&to + &(i * 4)), &[reg], &Cond::Always)
    })
    .unwrap();
    let text = b.finish().unwrap().into_module().to_string();
    let (outside, inside) = text.split_once("$loop").unwrap();
    assert_eq!((outside.matches("mul.rn.f32").count(), inside.matches("mul.rn.f32").count()), (200, 0));
    assert_eq!(inside.matches("add.rn.f32").count(), 1);
}

/// An operation that does not fit is refused where its register is asked for, with the line that wrote the operation.
#[test]
fn misuse_is_told_with_its_line() {
    let mut b = Builder::new("k", 80, 32);
    let (x, h) = (Scalar::new(DType::F32, 1.0), Scalar::new(DType::F16, 1.0));
    let mut deep = b.hold(&x).unwrap();
    for _ in 0..2000 {
        deep = deep + 1.0;
    }
    let line = line!() + 2;
    let wrong = [
        (&x + &h, "Add of f32 and f16"),
        (&x & &x, "And of f32"),
        (Scalar::new(DType::S32, 0.5), "0.5 as s32"),
        (Scalar::new(DType::U32, -1.0), "-1 as u32"),
        (Scalar::new(DType::F64, 1.0).exp2(), "Exp2 of f64"),
        (Scalar::new(DType::E4m3, 1.0), "a scalar of e4m3"),
        (Scalar::new(DType::S32, 1.0) << Scalar::new(DType::S32, 1.0), "Shl by s32"),
        (x.to(DType::F64).to(DType::Bf16), "f64 as bf16"),
        (deep, "1000 operations inside one another"),
    ];
    for (i, (scalar, what)) in wrong.iter().enumerate() {
        // A scalar that is computed from it is refused with the same error.
        let error = b.scalar(&(scalar.to(DType::F32).min(2.0) * 3.0)).unwrap_err();
        let Error::Scalar { site, what: found, .. } = &error else { panic!("{error}") };
        assert_eq!(found, what);
        assert!(site.file.ends_with("functions.rs") && (i == 8 || site.line == line + i as u32), "{error}");
    }
    let error = b.cond(&x.less(&h)).unwrap_err();
    assert!(error.to_string().contains("Lt of f32 and f16"), "{error}");
    let reg = b.reg(girih_ptx::Type::F32);
    assert!(b.scalar_in(&reg, DType::F64).is_err());
    assert!(b.index_of(&x).is_err());
}

/// A conversion that leaves the bits as they are has the same register, which may be written later.
#[test]
fn what_a_register_held_is_not_what_it_holds() {
    let mut b = Builder::new("k", 80, 32);
    let reg = b.reg(girih_ptx::Type::B32);
    b.ptx("mov.b32 %0, 7;", &[&reg]).unwrap();
    let x = b.scalar_in(&reg, DType::S32).unwrap();
    let (same, more) = (x.to(DType::U32), x.to(DType::U32) + 1.0);
    let [held, kept] = [b.scalar(&same).unwrap(), b.scalar(&more).unwrap()];
    assert_eq!(held, reg);
    b.ptx("mov.b32 %0, 9;", &[&reg]).unwrap();
    for stale in [&x, &same, &same.to(DType::S32), &(&same * 2)] {
        let found = b.scalar(stale);
        assert!(matches!(found, Err(Error::Stale { .. })), "{found:?}");
    }
    // A computed value stays in a register of its own.
    assert_eq!(b.scalar(&more).unwrap(), kept);
}

/// The depth of a condition counts too.
#[test]
fn conditions_count_as_operations() {
    let mut b = Builder::new("k", 80, 32);
    let zero = Scalar::new(DType::S32, 0.0);
    let mut x = b.hold(&zero).unwrap();
    for _ in 0..100_000 {
        x = zero.select(&Cond::not(Cond::all([x.less(0), x.less(1)])), 1);
    }
    let error = b.scalar(&x).unwrap_err().to_string();
    assert!(error.contains("1000 operations inside one another"), "{error}");
}

#[test]
fn scalars_of_another_kernel_are_refused() {
    let mut other = Builder::new("other", 80, 32);
    let registers = other.regs(girih_ptx::Type::F32, 50);
    let foreign: Vec<Scalar> =
        registers.iter().map(|reg| other.scalar_in(reg, DType::F32).unwrap()).collect();
    let mut b = Builder::new("k", 80, 32);
    let last = foreign.last().unwrap();
    let found = [b.scalar(last), b.scalar(&(last + 1.0)), b.cond(&last.less(0.0))];
    assert!(found.iter().all(|found| matches!(found, Err(Error::OtherBuilder { .. }))), "{found:?}");
    // Both builders have a register of that number.
    let mine = b.reg(girih_ptx::Type::F32);
    let mine = b.scalar_in(&mine, DType::F32).unwrap();
    for mixed in [foreign[0].clone(), &mine + &foreign[0], mine.select(&foreign[0].less(0.0), 1.0)] {
        let found = b.scalar(&mixed);
        assert!(matches!(found, Err(Error::OtherBuilder { .. })), "{found:?}");
    }
}

/// Indices of another builder are refused too, whether or not this builder has a register of that number.
#[test]
fn indices_of_another_kernel_are_refused() {
    let mut other = Builder::new("other", 80, 32);
    let thread = other.special(girih_ptx::Special::TidX);
    let mut b = Builder::new("k", 80, 32);
    let mine = b.special(girih_ptx::Special::Laneid);
    for foreign in [thread.clone(), &(&thread * 3) + 1, &thread + &mine, thread.rem(4).unwrap()] {
        let found = [
            b.value(&foreign, girih_codegen::Width::W32),
            b.scalar(&Scalar::index(&foreign, DType::S32)),
            b.cond(&Cond::less(&foreign, &girih_codegen::Expr::from(2))),
        ];
        assert!(found.iter().all(|found| matches!(found, Err(Error::OtherBuilder { .. }))), "{found:?}");
    }
    assert!(b.value(&mine, girih_codegen::Width::W32).is_ok());
}

/// Conditions are ordered the same way by every builder that writes the same kernel.
#[test]
fn kernels_are_the_same_text_each_time() {
    let text = || {
        let mut b = Builder::new("k", 80, 32);
        let registers = b.regs(girih_ptx::Type::Pred, 6);
        let mut all = Vec::new();
        for reg in &registers {
            b.ptx("setp.eq.u32 %0, 1, 2;", &[reg]).unwrap();
            all.push(b.cond_in(reg).unwrap());
        }
        let values = b.regs(girih_ptx::Type::F32, 6);
        for reg in &values {
            b.ptx("mov.f32 %0, 0f00000000;", &[reg]).unwrap();
            all.push(b.scalar_in(reg, DType::F32).unwrap().less(1.0));
        }
        b.cond(&Cond::all(all)).unwrap();
        b.finish().unwrap().module().to_string()
    };
    let first = text();
    assert!((0..10).all(|_| text() == first));
}
