//! When two results of an instruction agree.

use girih_proptests::differential::{Agree, Class};
use girih_ptx::Type;

#[test]
fn bits_nans_and_bounds_are_told_apart() {
    let (one, next, nan, other) = (0x3f80_0000, 0x3f80_0001, 0x7fff_ffff, 0x7fc0_0000);
    let near = |relative| Agree::Near { ty: Type::F32, relative, absolute: 0.0 };
    assert!(Agree::Bits.holds(Class::B32, one, one) && !Agree::Bits.holds(Class::B32, nan, other));
    assert!(Agree::Nan(Type::F32).holds(Class::B32, nan, other));
    assert!(!Agree::Nan(Type::F32).holds(Class::B32, one, next));
    assert!(!Agree::Nan(Type::F32).holds(Class::B32, one, nan));
    assert!(near(1e-6).holds(Class::B32, one, next) && !near(1e-8).holds(Class::B32, one, next));
    assert!(!near(1e-6).holds(Class::B32, one, nan) && near(0.0).holds(Class::B32, 0, 1 << 31));
    assert!(Agree::Masked(0xfff0).holds(Class::B16, 0x1231, 0x1232));
    // Pairs are compared part by part: NaN in one does not excuse the other.
    assert!(Agree::Nan(Type::F16x2).holds(Class::B32, 0x7fff_3c00, 0x7e00_3c00));
    assert!(!Agree::Nan(Type::F16x2).holds(Class::B32, 0x7fff_3c00, 0x7e00_3c01));
}

/// How far apart two numbers are shows where each of them is.
#[test]
fn sixteen_bits_are_read_as_numbers() {
    let within =
        |relative, absolute, a, b| Agree::Near { ty: Type::F16, relative, absolute }.holds(Class::B16, a, b);
    let known = [(0, 0.0), (0x3c00, 1.0), (0xc000, -2.0), (1, f64::powi(2.0, -24)), (0x7bff, 65504.0)];
    for (a, x) in known {
        for (b, y) in known {
            let distance = f64::abs(x - y);
            assert!(within(0.0, distance, a, b), "{x} {y}");
            assert!(a == b || !within(0.0, distance.next_down(), a, b), "{x} {y}");
        }
    }
    // A share of the greater magnitude: all of it is the distance to 0, and half as much again that from -2 to 1.
    assert!(within(1.0, 0.0, 0x3c00, 0) && !within(1f64.next_down(), 0.0, 0x3c00, 0));
    assert!(within(1.5, 0.0, 0xc000, 0x3c00) && !within(1.5f64.next_down(), 0.0, 0xc000, 0x3c00));
    // Infinity is farther from every number than all numbers are from each other, and from NaN no bound leads to a number.
    let (infinity, nan) = (0x7c00, 0x7c01);
    for (bits, _) in known {
        assert!(!within(0.0, f64::MAX, infinity, bits) && within(0.0, f64::INFINITY, infinity, bits));
        assert!(!within(0.0, f64::INFINITY, nan, bits));
    }
    assert!(within(0.0, 0.0, nan, 0xfe00) && !within(0.0, f64::INFINITY, nan, infinity));
}
