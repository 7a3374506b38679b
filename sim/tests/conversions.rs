//! Conversions and 16-bit arithmetic, over all 16-bit patterns where they fit, with `half` and Rust as oracles.

use crate::common::sweep;
use half::{bf16, f16};

fn all16() -> Vec<u32> {
    (0..1 << 16).collect()
}

/// f32 patterns at and around every value of a 16-bit format and every midpoint between two values, on which rounding
/// depends.
fn around(values: impl Fn(u16) -> f32) -> Vec<u32> {
    let mut out = Vec::new();
    for bits in 0..=u16::MAX {
        let (a, b) = (values(bits), values(bits.wrapping_add(1)));
        let middle = ((f64::from(a) + f64::from(b)) / 2.0) as f32;
        for x in [a, middle] {
            out.extend([x.to_bits(), x.next_up().to_bits(), x.next_down().to_bits()]);
        }
    }
    out.resize(out.len().next_multiple_of(1024), 0);
    out
}

fn canonical16(bits: u16, nan: bool) -> u32 {
    if nan { 0x7fff } else { bits.into() }
}

#[test]
fn sixteen_bit_floats_widen_exactly() {
    let want = |x: f32| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() };
    let got = sweep("cvt.u16.u32 %h0, %a0; cvt.f32.f16 %f0, %h0; mov.b32 %d0, %f0;", &all16());
    (0..=u16::MAX).for_each(|x| assert_eq!(got[x as usize], want(f16::from_bits(x).to_f32()), "{x:#x}"));
    let got = sweep("cvt.u16.u32 %h0, %a0; cvt.f32.bf16 %f0, %h0; mov.b32 %d0, %f0;", &all16());
    // bf16 is the upper half of f32, of NaNs too.
    (0..=u16::MAX).for_each(|x| assert_eq!(got[x as usize], u32::from(x) << 16, "{x:#x}"));
}

#[test]
fn f32_narrows_to_nearest_even() {
    let inputs = around(|x| f16::from_bits(x).to_f32());
    let got = sweep("mov.b32 %f0, %a0; cvt.rn.f16.f32 %h0, %f0; cvt.u32.u16 %d0, %h0;", &inputs);
    for (&x, got) in inputs.iter().zip(got) {
        let x = f32::from_bits(x);
        assert_eq!(got, canonical16(f16::from_f32(x).to_bits(), x.is_nan()), "{x:e}");
    }
    let inputs = around(|x| bf16::from_bits(x).to_f32());
    let got = sweep("mov.b32 %f0, %a0; cvt.rn.bf16.f32 %h0, %f0; cvt.u32.u16 %d0, %h0;", &inputs);
    for (&x, got) in inputs.iter().zip(got) {
        let x = f32::from_bits(x);
        assert_eq!(got, canonical16(bf16::from_f32(x).to_bits(), x.is_nan()), "{x:e}");
    }
}

#[test]
fn packed_conversions_put_the_first_source_high() {
    let inputs = around(|x| bf16::from_bits(x).to_f32());
    let got = sweep("mov.b32 %f0, %a0; mov.f32 %f1, 0f3f800000; cvt.rn.bf16x2.f32 %d0, %f0, %f1;", &inputs);
    for (&x, got) in inputs.iter().zip(got) {
        let x = f32::from_bits(x);
        assert_eq!(got, canonical16(bf16::from_f32(x).to_bits(), x.is_nan()) << 16 | 0x3f80, "{x:e}");
    }
    let got =
        sweep("mov.b32 %f0, %a0; mov.f32 %f1, 0fbf800000; cvt.rn.relu.f16x2.f32 %d0, %f1, %f0;", &inputs);
    for (&x, got) in inputs.iter().zip(got) {
        let x = f32::from_bits(x);
        let clamped = if x <= 0.0 { 0.0 } else { x };
        assert_eq!(got, canonical16(f16::from_f32(clamped).to_bits(), x.is_nan()), "{x:e}");
    }
}

/// In every mode the result is the neighbour of the exact value that the mode's definition demands, found by a search
/// among all values.
#[test]
fn directed_narrowing_gives_the_right_neighbour() {
    let inputs: Vec<u32> = around(|x| f16::from_bits(x).to_f32()).into_iter().step_by(7).collect();
    let inputs = &inputs[..inputs.len() / 1024 * 1024];
    let mut finite: Vec<f32> =
        (0..=u16::MAX).map(|x| f16::from_bits(x).to_f32()).filter(|x| x.is_finite()).collect();
    finite.sort_by(f32::total_cmp);
    let got = sweep("mov.b32 %f0, %a0; cvt.rz.f16.f32 %h0, %f0; cvt.u32.u16 %d0, %h0;", inputs);
    for (&x, got) in inputs.iter().zip(got) {
        let x = f32::from_bits(x);
        if !x.is_finite() {
            continue;
        }
        let below =
            finite.partition_point(|v| v.abs() <= x.abs() && v.is_sign_positive() || v.is_sign_negative());
        let want = finite[below - 1].copysign(x);
        assert_eq!(f16::from_bits(got as u16).to_f32(), want, "{x:e}");
    }
    // tf32: 10 bits kept; ties go away from zero.
    let inputs: Vec<u32> = (0..1 << 14).map(|i: u32| 0x3f80_0000 | i << 9 | (i & 3)).collect();
    let got = sweep("mov.b32 %f0, %a0; cvt.rna.tf32.f32 %d0, %f0;", &inputs);
    for (&x, got) in inputs.iter().zip(got) {
        assert_eq!(got, (x + 0x1000) & !0x1fff, "{x:#x}");
    }
}

#[test]
fn floats_become_integers_by_mode_saturating() {
    let mut values = vec![
        0.0f32,
        -0.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        -2.5,
        0.49999997,
        3e9,
        -3e9,
        5e9,
        1e20,
        -1e20,
        2147483648.0,
        -2147483648.0,
        127.5,
        128.0,
        -129.0,
        255.5,
        65535.5,
        1e-45,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    values.resize(1024, 7.75);
    let inputs: Vec<u32> = values.iter().map(|x| x.to_bits()).collect();
    type Rounding = (&'static str, fn(f32) -> f32);
    let modes: [Rounding; 4] =
        [("rni", f32::round_ties_even), ("rzi", f32::trunc), ("rmi", f32::floor), ("rpi", f32::ceil)];
    for (mode, round) in modes {
        let check = |ty: &str, take: &str, want: &dyn Fn(f32) -> u32| {
            let got = sweep(&format!("mov.b32 %f0, %a0; {}", take.replace("RND", mode)), &inputs);
            values
                .iter()
                .zip(got)
                .for_each(|(&x, got)| assert_eq!(got, want(round(x)), "cvt.{mode}.{ty}.f32 {x}"));
        };
        check("s32", "cvt.RND.s32.f32 %d0, %f0;", &|x| x as i32 as u32);
        check("u32", "cvt.RND.u32.f32 %d0, %f0;", &|x| x as u32);
        check("u16", "cvt.RND.u16.f32 %h0, %f0; cvt.u32.u16 %d0, %h0;", &|x| u32::from(x as u16));
        check("s8", "cvt.RND.s8.f32 %d0, %f0;", &|x| i32::from(x as i8) as u32);
        check(
            "s64",
            "cvt.RND.s64.f32 %rd0, %f0; shr.s64 %rd1, %rd0, 32; xor.b64 %rd0, %rd0, %rd1; cvt.u32.u64 %d0, %rd0;",
            &|x| {
                let v = if x.is_nan() { i64::MIN } else { x as i64 };
                (v ^ v >> 32) as u32
            },
        );
        let got =
            sweep(&format!("mov.b32 %f0, %a0; cvt.{mode}.f32.f32 %f1, %f0; mov.b32 %d0, %f1;"), &inputs);
        for (&x, got) in values.iter().zip(got) {
            assert!(f32::from_bits(got) == round(x) || x.is_nan(), "{mode} {x}");
        }
    }
}

#[test]
fn integers_become_floats_extend_truncate_and_saturate() {
    let mut inputs: Vec<u32> = (0..32)
        .flat_map(|b| {
            [
                (1u64 << b) as u32,
                ((1u64 << b) - 1) as u32,
                (1u32 << b).wrapping_neg(),
                (0x01ff_ffff_u64 << b >> 3) as u32,
            ]
        })
        .collect();
    inputs.resize(1024, 0x8000_0001);
    let check = |text: &str, want: fn(u32) -> u32| {
        let got = sweep(text, &inputs);
        inputs.iter().zip(got).for_each(|(&x, got)| assert_eq!(got, want(x), "{text} {x:#x}"));
    };
    check("cvt.rn.f32.u32 %f0, %a0; mov.b32 %d0, %f0;", |x| (x as f32).to_bits());
    check("cvt.rn.f32.s32 %f0, %a0; mov.b32 %d0, %f0;", |x| (x as i32 as f32).to_bits());
    check("cvt.rn.f16.s32 %h0, %a0; cvt.u32.u16 %d0, %h0;", |x| {
        f16::from_f64(f64::from(x as i32)).to_bits().into()
    });
    check("mov.b64 %rd0, {%a0, %a0}; cvt.rn.f32.u64 %f0, %rd0; mov.b32 %d0, %f0;", |x| {
        ((u64::from(x) << 32 | u64::from(x)) as f32).to_bits()
    });
    check("mov.b64 %rd0, {%a0, %a0}; cvt.rn.f32.s64 %f0, %rd0; mov.b32 %d0, %f0;", |x| {
        ((u64::from(x) << 32 | u64::from(x)) as i64 as f32).to_bits()
    });
    check("cvt.s64.s32 %rd0, %a0; shr.u64 %rd0, %rd0, 32; cvt.u32.u64 %d0, %rd0;", |x| {
        (x as i32 >> 31) as u32
    });
    check("cvt.u64.u32 %rd0, %a0; shr.u64 %rd0, %rd0, 32; cvt.u32.u64 %d0, %rd0;", |_| 0);
    check("cvt.s32.s8 %d0, %a0;", |x| i32::from(x as i8) as u32);
    check("cvt.u32.u8 %d0, %a0;", |x| u32::from(x as u8));
    check("cvt.sat.s8.s32 %d0, %a0;", |x| (x as i32).clamp(-128, 127) as u32);
    check("cvt.sat.u8.s32 %d0, %a0;", |x| (x as i32).clamp(0, 255) as u32);
    check("cvt.sat.s32.u32 %d0, %a0;", |x| x.min(i32::MAX as u32));
    check("mov.b32 {%h0, %h1}, %a0; mov.b32 %d0, {%h1, %h0};", |x| x.rotate_left(16));
    check(
        "cvt.f64.f32 %fd0, 0f40490fdb; mov.b64 %rd0, %fd0; cvt.rz.f32.f64 %f0, %fd0; mov.b32 %d0, %f0;",
        |_| 0x4049_0fdb,
    );
}

/// A finite f16 in units of 2^-48.
fn units(x: f16) -> i128 {
    (x.to_f64() * 2f64.powi(24)) as i128 * (1 << 24)
}

/// The f16 nearest to `exact` units, ties to even; by search, since every magnitude is one bit pattern more.
fn nearest(exact: i128) -> u16 {
    let sign = if exact < 0 { 0x8000 } else { 0 };
    let (mut low, mut high) = (0u16, 0x7c00);
    // units(high) > |exact| >= units(low), with 2^16 standing for infinity.
    let at = |bits: u16| if bits == 0x7c00 { 1i128 << 64 } else { units(f16::from_bits(bits)) };
    if exact.abs() >= at(high) {
        return sign | 0x7c00;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if at(middle) <= exact.abs() { low = middle } else { high = middle }
    }
    let (down, up) = (exact.abs() - at(low), at(high) - exact.abs());
    sign | if down < up || (down == up && low % 2 == 0) { low } else { high }
}

/// 16-bit arithmetic is the exact result rounded once, over all patterns of one operand and a spread of the other.
#[test]
fn sixteen_bit_arithmetic_rounds_once() {
    let others: [u16; 8] = [0x0001, 0x03ff, 0x3c00, 0x3555, 0xbc01, 0x7bff, 0x7c00, 0x0000];
    for other in others.map(f16::from_bits) {
        // The exact result in units of 2^-48 for finite operands, and a float that tells infinities, NaN and zeros.
        let check = |op: &str, exact: &dyn Fn(i128, i128) -> i128, float: &dyn Fn(f64, f64) -> f64| {
            let bits = other.to_bits();
            let text = format!("mov.b32 {{%h0, %h3}}, %a0; mov.b16 %h1, {bits}; {op} cvt.u32.u16 %d0, %h2;");
            let got = sweep(&text, &all16());
            for x in (0..=u16::MAX).map(f16::from_bits) {
                let rough = float(x.to_f64(), other.to_f64());
                let want = if x.is_finite() && other.is_finite() && rough != 0.0 {
                    nearest(exact(units(x), units(other))).into()
                } else {
                    canonical16(f16::from_f64(rough).to_bits(), rough.is_nan())
                };
                assert_eq!(got[x.to_bits() as usize], want, "{op} {x:?} {other:?}");
            }
        };
        check("add.f16 %h2, %h0, %h1;", &|x, y| x + y, &|x, y| x + y);
        check("sub.f16 %h2, %h0, %h1;", &|x, y| x - y, &|x, y| x - y);
        check("mul.f16 %h2, %h0, %h1;", &|x, y| (x >> 24) * (y >> 24), &|x, y| x * y);
        check("fma.rn.f16 %h2, %h0, %h0, %h1;", &|x, y| (x >> 24) * (x >> 24) + y, &|x, y| x * x + y);
    }
    let text = "mov.b32 %d0, 0x3f803f80; fma.rn.bf16x2 %d0, %a0, %d0, %d0;";
    let inputs: Vec<u32> = (0..1u32 << 16).map(|x| x | (x ^ 0x5555) << 16).collect();
    let half = |x: u32| {
        let exact = f64::from(bf16::from_bits(x as u16)) + 1.0;
        canonical16(bf16::from_f64(exact).to_bits(), exact.is_nan())
    };
    for (&x, got) in inputs.iter().zip(sweep(text, &inputs)) {
        assert_eq!(got, half(x & 0xffff) | half(x >> 16) << 16, "{x:#x}");
    }
}

/// `.satfinite`: a result that would be infinite is the largest number, and NaN is NaN; other results are as without
/// it.
#[test]
fn conversions_saturate_to_finite_values() {
    let inputs = around(|x| bf16::from_bits(x).to_f32());
    for (to, finish) in [("f16", "cvt.u32.u16 %d0, %h0;"), ("bf16", "cvt.u32.u16 %d0, %h0;")] {
        for round in ["rn", "rz"] {
            let text =
                |word: &str| format!("mov.b32 %f0, %a0; cvt.{round}{word}.{to}.f32 %h0, %f0; {finish}");
            let (plain, finite) = (sweep(&text(""), &inputs), sweep(&text(".satfinite"), &inputs));
            let (infinity, largest) = if to == "f16" { (0x7c00, 0x7bff) } else { (0x7f80, 0x7f7f) };
            for (plain, finite) in plain.into_iter().zip(finite) {
                let want = if plain & 0x7fff == infinity { plain & 0x8000 | largest } else { plain };
                assert_eq!(finite, want, "{to} {round}");
            }
        }
    }
}

/// Both 16-bit formats to each other through f64, whose roundings `half` has as oracles, and integral bf16.
#[test]
fn sixteen_bit_floats_convert_to_each_other() {
    let got = sweep("cvt.u16.u32 %h0, %a0; cvt.rn.bf16.f16 %h1, %h0; cvt.u32.u16 %d0, %h1;", &all16());
    for x in 0..=u16::MAX {
        let value = f16::from_bits(x);
        assert_eq!(
            got[x as usize],
            canonical16(bf16::from_f32(value.to_f32()).to_bits(), value.is_nan()),
            "{x:#x}"
        );
    }
    let modes = ["rn", "rz", "rm", "rp"].map(|mode| {
        sweep(&format!("cvt.u16.u32 %h0, %a0; cvt.{mode}.f16.bf16 %h1, %h0; cvt.u32.u16 %d0, %h1;"), &all16())
    });
    for x in 0..=u16::MAX {
        let value = bf16::from_bits(x);
        let [near, zero, down, up] = [0, 1, 2, 3].map(|mode| modes[mode][x as usize]);
        assert_eq!(near, canonical16(f16::from_f32(value.to_f32()).to_bits(), value.is_nan()), "{x:#x}");
        let float = |bits: u32| f16::from_bits(bits as u16).to_f32();
        if !value.is_nan() {
            let (low, high) = (float(down), float(up));
            assert!(low <= value.to_f32() && value.to_f32() <= high, "{x:#x}: {low} {high}");
            assert_eq!(zero, if value.to_f32() < 0.0 || x == 0x8000 { up } else { down }, "{x:#x}");
            assert!(low == high || float(near) == low || float(near) == high, "{x:#x}");
        }
    }
    let whole = sweep("cvt.u16.u32 %h0, %a0; cvt.rpi.bf16.bf16 %h1, %h0; cvt.u32.u16 %d0, %h1;", &all16());
    for x in 0..=u16::MAX {
        let value = bf16::from_bits(x).to_f32();
        let want = canonical16(bf16::from_f32(value.ceil()).to_bits(), value.is_nan());
        assert_eq!(whole[x as usize], want, "{x:#x}");
    }
}

/// What an H200 gives where the ISA leaves it open: the bits of a NaN of f64 in bf16, and of NaNs in saturated tf32.
#[test]
fn nans_keep_the_bits_that_hardware_keeps() {
    let high = [0x7ff7_0000u32, 0x7ff7_7fff, 0xfff7_3c00, 0xfff7_fc00, 0x7fff_bc00];
    let mut inputs = high.to_vec();
    inputs.resize(1024, 0);
    let got = sweep(
        "mov.b32 %r0, 0; mov.b64 %fd0, {%r0, %a0}; cvt.rn.bf16.f64 %h0, %fd0; cvt.u32.u16 %d0, %h0;",
        &inputs,
    );
    assert_eq!(got[..5], [0x7ff8, 0x7ffb, 0xfff9, 0xffff, 0x7ffd]);
    let got = sweep("mov.b32 %f0, %a0; cvt.rna.satfinite.tf32.f32 %d0, %f0;", &{
        let mut inputs = vec![0x7ff7_0000u32, 0x7f80_0001, 0xff80_0000, 0x7f7f_ffff, 0x3f80_1000];
        inputs.resize(1024, 0);
        inputs
    });
    assert_eq!(got[..5], [0x7ff6_e000, 0x7f7f_e000, 0xff7f_e000, 0x7f7f_e000, 0x3f80_2000]);
}
