//! Element types: names, sizes, rounding.

use float8::{F8E4M3, F8E5M2};
use girih_tensor::{DType, Element, Error, F4E2M1, F8E8M0, Numbers, Round, S4, Tf32, U4};
use half::{bf16, f16};

#[test]
fn names_are_read_back() {
    for &dtype in DType::ALL {
        assert_eq!(dtype.to_string().parse(), Ok(dtype));
    }
    for text in ["", "F32", "f8", "bf16 "] {
        assert_eq!(text.parse::<DType>(), Err(Error::UnknownDType(text.into())));
    }
    let message = "fp4".parse::<DType>().unwrap_err().to_string();
    assert_eq!(
        message,
        "unknown dtype `fp4`: f64, f32, tf32, f16, bf16, e4m3, e5m2, s64, u64, s32, u32, s16, u16, s8, u8, s4, u4, b1, \
         bool, e2m1, e8m0 are accepted"
    );
}

/// A name ends in its bits, but for those of floats that name their format, and bool.
#[test]
fn sizes_are_those_of_the_names() {
    for &dtype in DType::ALL {
        let bits = match dtype {
            DType::Tf32 => 32,
            DType::E4m3 | DType::E5m2 | DType::E8m0 | DType::Bool => 8,
            DType::E2m1 => 4,
            other => other.name().trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap(),
        };
        assert_eq!(dtype.bits(), bits, "{dtype}");
        for elements in -40..40 {
            let exact = elements as f64 * f64::from(bits) / 8.0;
            assert_eq!(dtype.bytes_of(elements).map(|b| b as f64), (exact.fract() == 0.0).then_some(exact));
        }
        let greatest = dtype.bytes_of(i64::MAX - 7);
        assert_eq!(greatest.is_some(), bits <= 8, "{dtype}");
    }
}

/// Rust's element and the dtype agree on the size.
#[test]
fn elements_have_the_size_of_their_dtype() {
    fn check<T: Element>() -> DType {
        assert_eq!(size_of::<T>() as u32 * 8, T::DTYPE.bits(), "{}", T::DTYPE);
        for i in [0, 1, 2, 3, 6, 7, 8] {
            assert_eq!(T::from_f64(f64::from(i)).to_f64(), f64::from(i), "{}", T::DTYPE);
        }
        T::DTYPE
    }
    let mut seen = vec![check::<f64>(), check::<f32>(), check::<Tf32>(), check::<f16>(), check::<bf16>()];
    seen.extend([check::<F8E4M3>(), check::<F8E5M2>(), check::<i64>(), check::<u64>(), check::<i32>()]);
    seen.extend([check::<u32>(), check::<i16>(), check::<u16>(), check::<i8>(), check::<u8>()]);
    assert_eq!((size_of::<bool>(), [0.0, 1.0, -2.5].map(bool::from_f64)), (1, [false, true, true]));
    seen.extend([bool::DTYPE, F8E8M0::DTYPE]);
    assert!(DType::ALL.iter().all(|d| seen.contains(d) == (d.bits() >= 8)));
}

/// Every element survives; between two neighbours the nearer one is taken, in the middle the even one.
fn rounds<T: Element>(of_bits: fn(u32) -> T, bits: fn(T) -> u32, magnitudes: impl Iterator<Item = u32>) {
    let sign_bit = if T::DTYPE == DType::Tf32 { 1 << 31 } else { 1 << (T::DTYPE.bits() - 1) };
    let step = if T::DTYPE == DType::Tf32 { 1 << 13 } else { 1 };
    for low in magnitudes.map(|m| m * step) {
        for sign in [0, sign_bit] {
            let (a, b) = (of_bits(sign | low), of_bits(sign | (low + step)));
            assert_eq!(bits(T::from_f64(a.to_f64())), sign | low);
            let middle = (a.to_f64() + b.to_f64()) / 2.0;
            let even = sign | if low / step % 2 == 0 { low } else { low + step };
            let towards = |x: T| middle + (x.to_f64() - middle) * 1e-12;
            assert_eq!(bits(T::from_f64(middle)), even, "{middle:e}, between {low:#x} and the next");
            assert_eq!(bits(T::from_f64(towards(a))), sign | low, "{:e}", towards(a));
            assert_eq!(bits(T::from_f64(towards(b))), sign | (low + step), "{:e}", towards(b));
        }
    }
}

#[test]
fn floats_round_to_nearest_even() {
    rounds(|b| f16::from_bits(b as u16), |x| u32::from(x.to_bits()), 0..u32::from(f16::MAX.to_bits()));
    rounds(|b| bf16::from_bits(b as u16), |x| u32::from(x.to_bits()), 0..u32::from(bf16::MAX.to_bits()));
    rounds(|b| F8E4M3::from_bits(b as u8), |x| u32::from(x.to_bits()), 0..0x7e);
    rounds(|b| F8E5M2::from_bits(b as u8), |x| u32::from(x.to_bits()), 0..0x7b);
    // Every binade's beginning and end of TF32: 8 bits of exponent, 10 of significand.
    let ends = (0..255).flat_map(|e| [0, 1, 2, 511, 512, 1022, 1023].map(|s| (e << 10) + s));
    rounds(|b| Tf32::new(f32::from_bits(b)), Tf32::to_bits, ends.filter(|&m| m < (255 << 10) - 1));
}

#[test]
fn floats_beyond_their_range() {
    assert_eq!((f16::from_f64(1e6), bf16::from_f64(-1e39)), (f16::INFINITY, bf16::NEG_INFINITY));
    assert_eq!((f32::from_f64(1e39), Tf32::from_f64(-1e39).get()), (f32::INFINITY, f32::NEG_INFINITY));
    assert_eq!(Tf32::from_f64(f64::from(f32::MAX)).get(), f32::INFINITY);
    for large in [449.0, 464.0, 465.0, 57345.0, 61440.0, 1e9, f64::INFINITY] {
        assert_eq!(<F8E4M3 as Element>::from_f64(large).to_f64(), 448.0, "{large}");
        assert_eq!(<F8E4M3 as Element>::from_f64(-large).to_f64(), -448.0, "{large}");
        if large > 57344.0 {
            assert_eq!(<F8E5M2 as Element>::from_f64(large).to_f64(), 57344.0, "{large}");
            assert_eq!(<F8E5M2 as Element>::from_f64(-large).to_f64(), -57344.0, "{large}");
        }
    }
    fn nan<T: Element>() -> bool {
        T::from_f64(f64::NAN).to_f64().is_nan()
    }
    assert!(nan::<f64>() && nan::<f32>() && nan::<Tf32>() && nan::<f16>() && nan::<bf16>());
    assert!(nan::<F8E4M3>() && nan::<F8E5M2>());
}

#[test]
fn integers_round_to_nearest_even_and_saturate() {
    fn check<T: Element>(least: f64, greatest: f64) {
        let round = |v: f64| T::from_f64(v).to_f64();
        for (value, expected) in [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (2.500001, 3.0), (99.49, 99.0)] {
            assert_eq!(round(value), expected, "{} of {value}", T::DTYPE);
            assert_eq!(round(-value), (-expected).max(least), "{} of -{value}", T::DTYPE);
        }
        assert_eq!((round(f64::INFINITY), round(f64::NEG_INFINITY)), (greatest, least), "{}", T::DTYPE);
        assert_eq!((round(greatest + 1.0), round(least - 1.0)), (greatest, least), "{}", T::DTYPE);
        assert_eq!(round(f64::NAN), 0.0, "{}", T::DTYPE);
    }
    check::<i8>(-128.0, 127.0);
    check::<u8>(0.0, 255.0);
    check::<i16>(-32768.0, 32767.0);
    check::<u16>(0.0, 65535.0);
    check::<i32>(f64::from(i32::MIN), f64::from(i32::MAX));
    check::<u32>(0.0, f64::from(u32::MAX));
    check::<i64>(-(2f64.powi(63)), 2f64.powi(63));
    check::<u64>(0.0, 2f64.powi(64));
}

/// The unit roundoff is half the gap above 1.
#[test]
fn epsilon_is_half_the_gap_above_one() {
    fn gap<T: Element>() {
        // Halfway to the next number rounds to the even 1, anything more does not.
        let half = T::DTYPE.epsilon();
        assert_eq!(T::from_f64(1.0 + half).to_f64(), 1.0, "{}", T::DTYPE);
        assert_eq!(T::from_f64(1.0 + 2.0 * half).to_f64(), 1.0 + 2.0 * half, "{}", T::DTYPE);
        assert!(T::from_f64(1.0 + 1.5 * half).to_f64() == 1.0 + 2.0 * half, "{}", T::DTYPE);
    }
    gap::<f64>();
    gap::<f32>();
    gap::<Tf32>();
    gap::<f16>();
    gap::<bf16>();
    gap::<F8E4M3>();
    gap::<F8E5M2>();
    gap::<F4E2M1>();
    let floats = DType::ALL.iter().filter(|d| d.is_float());
    assert_eq!(
        floats.map(|d| d.name()).collect::<Vec<_>>().join(" "),
        "f64 f32 tf32 f16 bf16 e4m3 e5m2 e2m1 e8m0"
    );
}

/// The conversions that follow from the table, and those of `half` and `float8`: of every pattern of bits, and of the numbers between.
#[test]
fn formats_convert_as_other_implementations_do() {
    fn check<T: Element>(of_bits: fn(u64) -> T) {
        let dtype = T::DTYPE;
        let mut last: Option<f64> = None;
        for bits in 0..1u64 << dtype.bits() {
            let number = of_bits(bits).to_f64();
            let own = dtype.decode(bits);
            if number.is_nan() {
                assert!(own.is_nan(), "{dtype} {bits:#x}: {own}");
                last = None;
                continue;
            }
            assert_eq!(own.to_bits(), number.to_bits(), "{dtype} {bits:#x}");
            assert_eq!(dtype.decode(dtype.encode(number)), T::from_f64(number).to_f64(), "{dtype} {number}");
            if number.is_finite() {
                assert_eq!(dtype.encode(number), bits, "{dtype} {number}");
            }
            let middle = last.filter(|last| last.is_finite() && number.is_finite());
            for x in middle
                .into_iter()
                .flat_map(|last| [0.5, 0.5 - 1e-9, 0.5 + 1e-9].map(|t| last + (number - last) * t))
            {
                assert_eq!(dtype.decode(dtype.encode(x)), T::from_f64(x).to_f64(), "{dtype} {x:e}");
            }
            last = Some(number);
        }
        for x in
            [1e6, 1e39, 465.0, 61440.0, 65519.0, 65520.0, f64::MAX, f64::INFINITY, 1e-60, f64::from_bits(1)]
        {
            for x in [x, -x] {
                assert_eq!(
                    dtype.decode(dtype.encode(x)).to_bits(),
                    T::from_f64(x).to_f64().to_bits(),
                    "{dtype} {x:e}"
                );
            }
        }
        assert_eq!(dtype.decode(dtype.encode(f64::NAN)).is_nan(), dtype.is_float(), "{dtype}");
    }
    check(|bits| F8E4M3::from_bits(bits as u8));
    check(|bits| F8E5M2::from_bits(bits as u8));
    check(|bits| f16::from_bits(bits as u16));
    check(|bits| bf16::from_bits(bits as u16));
    check(|bits| bits as u8);
    check(|bits| bits as i8);
    check(|bits| bits as u16);
    check(|bits| bits as i16);
}

/// Every number of a small dtype is the one that its bits decode to, and the sign, the ends and the neighbours are as the table says.
#[test]
fn formats_agree_with_themselves() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.bits() <= 16) {
        for bits in 0..1u64 << dtype.bits() {
            let number = dtype.decode(bits);
            if !number.is_nan() && dtype != DType::Bool && !(dtype == DType::E5m2 && number.is_infinite()) {
                assert_eq!(dtype.encode(number), bits, "{dtype} {number}");
            }
        }
        if let Some(float) = dtype.float() {
            let numbers =
                || (0..1u64 << dtype.bits()).map(|bits| dtype.decode(bits)).filter(|x| x.is_finite());
            assert_eq!(float.greatest(), numbers().fold(f64::MIN, f64::max), "{dtype}");
            assert_eq!(float.least(), numbers().filter(|&x| x > 0.0).fold(f64::MAX, f64::min), "{dtype}");
            assert_eq!(dtype.decode(float.nan_bits()).is_nan(), float.nan, "{dtype}");
            assert_eq!(numbers().any(|x| x < 0.0), float.signed, "{dtype}");
        }
    }
    assert_eq!(DType::ALL.iter().filter(|dtype| dtype.format().numbers == Numbers::Truth).count(), 1);
}

/// A number between two neighbours becomes the one in the direction.
#[test]
fn directions_have_neighbours() {
    for float in DType::ALL.iter().filter(|dtype| dtype.bits() <= 16).filter_map(|dtype| dtype.float()) {
        let count = 1u64 << (float.exponent + float.significand);
        for bits in 0..count - 1 {
            let (a, b) = (float.decode(bits), float.decode(bits + 1));
            if !a.is_finite() || !b.is_finite() {
                continue;
            }
            for t in [1e-9, 0.5, 1.0 - 1e-9] {
                let x = a + (b - a) * t;
                let round = |x: f64, round| float.decode(float.encode(x, round));
                assert_eq!(
                    [Round::Zero, Round::Down, Round::Up].map(|way| round(x, way)),
                    [a, a, b],
                    "{x:e}"
                );
                if float.signed {
                    assert_eq!(
                        [Round::Zero, Round::Down, Round::Up].map(|way| round(-x, way)),
                        [-a, -b, -a],
                        "{x:e}"
                    );
                }
            }
        }
        let beyond = float.greatest() * 2.0;
        let ends = [Round::Zero, Round::Down, Round::Up].map(|way| float.decode(float.encode(beyond, way)));
        let over = if float.saturates { float.greatest() } else { f64::INFINITY };
        assert_eq!(ends, [float.greatest(), float.greatest(), over]);
    }
}

/// The numbers of e2m1 and e8m0 as the OCP Microscaling Formats list them, and what numbers between and beyond become.
#[test]
fn microscaling_formats() {
    let e2m1: Vec<f64> = (0..16).map(|bits| F4E2M1::from_bits(bits).to_f64()).collect();
    let positive = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    assert_eq!(e2m1[..8], positive);
    assert_eq!(e2m1[8..], positive.map(|x| -x));
    assert!(e2m1[8].is_sign_negative());
    for (x, expected) in [
        (0.25, 0.0),
        (0.75, 1.0),
        (1.25, 1.0),
        (1.75, 2.0),
        (2.5, 2.0),
        (3.5, 4.0),
        (5.0, 4.0),
        (5.1, 6.0),
        (1e9, 6.0),
    ] {
        assert_eq!(
            (F4E2M1::from_f64(x).to_f64(), F4E2M1::from_f64(-x).to_f64()),
            (expected, -expected),
            "{x}"
        );
    }
    assert_eq!(F4E2M1::from_f64(f64::NAN).to_f64(), 6.0);
    for bits in 0..255u8 {
        let number = 2f64.powi(i32::from(bits) - 127);
        assert_eq!((F8E8M0::from_bits(bits).to_f64(), F8E8M0::from_f64(number).to_bits()), (number, bits));
        let even = if bits % 2 == 0 { bits } else { bits + 1 };
        let ends = [1.5 - 1e-9, 1.5, 1.5 + 1e-9].map(|x| F8E8M0::from_f64(number * x).to_bits());
        assert_eq!(ends, [bits, even, bits + 1].map(|bits| bits.min(254)), "{bits}");
    }
    assert!(F8E8M0::from_bits(255).to_f64().is_nan() && F8E8M0::from_f64(f64::NAN).to_bits() == 255);
    assert_eq!([0.0, -0.0, -3.0, 1e-60, f64::NEG_INFINITY].map(|x| F8E8M0::from_f64(x).to_bits()), [0; 5]);
    assert_eq!([1e60, f64::INFINITY].map(|x| F8E8M0::from_f64(x).to_bits()), [254; 2]);
    assert_eq!([-9.0, -8.5, 3.5, 9.0].map(|x| S4::from_f64(x).to_f64()), [-8.0, -8.0, 4.0, 7.0]);
    assert_eq!([-1.0, 2.5, 15.5].map(|x| U4::from_f64(x).to_bits()), [0, 2, 15]);
}
