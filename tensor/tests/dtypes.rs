//! Element types: names, sizes, rounding.

use girih_tensor::{DType, Element, Error};
use half::{bf16, f16};

#[test]
fn names_are_read_back() {
    for dtype in DType::ALL {
        assert_eq!(dtype.to_string().parse(), Ok(dtype));
        assert_eq!(dtype.bits(), 8 * dtype.bytes());
    }
    for text in ["", "F32", "f64", "bf16 "] {
        assert_eq!(text.parse::<DType>(), Err(Error::UnknownDType(text.into())));
    }
    let message = "fp4".parse::<DType>().unwrap_err().to_string();
    assert_eq!(message, "unknown dtype `fp4`: f32, f16 and bf16 are accepted");
}

/// Every element survives; between two neighbours the nearer one is taken, in the middle the even one.
fn rounds<T: Element>(of_bits: fn(u16) -> T, bits: fn(T) -> u16, greatest: u16) {
    for low in 0..greatest {
        for sign in [0, 0x8000] {
            let (a, b) = (of_bits(sign | low), of_bits(sign | (low + 1)));
            assert_eq!(bits(T::from_f64(a.to_f64())), sign | low);
            let middle = (a.to_f64() + b.to_f64()) / 2.0;
            let even = sign | (low + low % 2);
            let (towards_a, towards_b) =
                (middle + (a.to_f64() - middle) * 1e-12, middle + (b.to_f64() - middle) * 1e-12);
            assert_eq!(bits(T::from_f64(middle)), even, "{middle:e}, between {low:#x} and the next");
            assert_eq!(bits(T::from_f64(towards_a)), sign | low, "{towards_a:e}");
            assert_eq!(bits(T::from_f64(towards_b)), sign | (low + 1), "{towards_b:e}");
        }
    }
}

#[test]
fn halves_round_to_nearest_even() {
    rounds(f16::from_bits, f16::to_bits, f16::MAX.to_bits());
    rounds(bf16::from_bits, bf16::to_bits, bf16::MAX.to_bits());
}

#[test]
fn out_of_range_and_nan() {
    assert_eq!((f16::from_f64(1e6), bf16::from_f64(-1e39)), (f16::INFINITY, bf16::NEG_INFINITY));
    assert_eq!(f32::from_f64(1e39), f32::INFINITY);
    assert!(<f16 as Element>::from_f64(f64::NAN).is_nan() && <bf16 as Element>::from_f64(f64::NAN).is_nan());
}

/// The unit roundoff is half the gap above 1.
#[test]
fn epsilon_is_half_the_gap_above_one() {
    let gap = |next: f64| (next - 1.0) / 2.0;
    assert_eq!(DType::F32.epsilon(), gap(f64::from(1f32.next_up())));
    assert_eq!(DType::F16.epsilon(), gap(f16::from_bits(f16::ONE.to_bits() + 1).to_f64()));
    assert_eq!(DType::Bf16.epsilon(), gap(bf16::from_bits(bf16::ONE.to_bits() + 1).to_f64()));
}
