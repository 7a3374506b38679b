//! 8-bit floats: every pattern, against the definitions of the formats.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{self, sweep};
use half::f16;

fn all16() -> Vec<u32> {
    (0..1 << 16).collect()
}

fn canonical16(bits: u16, nan: bool) -> u32 {
    if nan { 0x7fff } else { bits.into() }
}

/// The value of an 8-bit float, from the definition of the formats: sign, exponent, significand.
fn byte(e5m2: bool, bits: u8) -> f64 {
    let (width, bias) = if e5m2 { (2, 15) } else { (3, 7) };
    let (exponent, fraction) = (i32::from(bits & 0x7f) >> width, f64::from(bits & ((1 << width) - 1)));
    let scale = f64::from(1 << width);
    let magnitude = match (e5m2, bits & 0x7f) {
        (false, 0x7f) | (true, 0x7d..=0x7f) => f64::NAN,
        (true, 0x7c) => f64::INFINITY,
        _ if exponent == 0 => fraction / scale * 2f64.powi(1 - bias),
        _ => (1.0 + fraction / scale) * 2f64.powi(exponent - bias),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

/// The bits of the nearest value, ties to the even one; beyond the largest it is that.
fn nearest(e5m2: bool, x: f64) -> u32 {
    if x.is_nan() {
        return 0x7f;
    }
    let finite = (0..0x80u8).filter(|&bits| byte(e5m2, bits).is_finite());
    let best = finite.min_by(|&a, &b| {
        let distance = |bits| (byte(e5m2, bits) - x.abs().min(1e6)).abs();
        distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))
    });
    u32::from(best.unwrap()) | u32::from(x.is_sign_negative()) << 7
}

#[test]
fn eight_bit_floats_widen_exactly() {
    for (e5m2, name) in [(false, "e4m3x2"), (true, "e5m2x2")] {
        for relu in ["", ".relu"] {
            let text = format!("cvt.u16.u32 %h0, %a0; cvt.rn{relu}.f16x2.{name} %d0, %h0;");
            let got = sweep(&text, &all16());
            for (x, got) in got.into_iter().enumerate() {
                for (bits, got) in [(x as u8, got as u16), ((x >> 8) as u8, (got >> 16) as u16)] {
                    let value = byte(e5m2, bits);
                    let value = if !relu.is_empty() && value <= 0.0 { 0.0 } else { value };
                    let want = canonical16(f16::from_f64(value).to_bits(), value.is_nan());
                    assert_eq!(u32::from(got), want, "{name}{relu} {bits:#x}");
                }
            }
        }
    }
}

#[test]
fn eight_bit_floats_round_to_nearest_and_saturate() {
    let zero = |x: f64, relu: bool| if relu && x <= 0.0 { 0.0 } else { x };
    for (e5m2, name) in [(false, "e4m3x2"), (true, "e5m2x2")] {
        let mut inputs: Vec<u32> = Vec::new();
        for bits in 0..=255u8 {
            let (a, b) = (byte(e5m2, bits), byte(e5m2, bits.wrapping_add(1)));
            for x in [a as f32, ((a + b) / 2.0) as f32] {
                inputs.extend([x, x.next_up(), x.next_down()].map(f32::to_bits));
            }
        }
        inputs
            .extend([464.0f32, 465.0, 480.0, 61440.0, 65536.0, 1e30, f32::INFINITY, -1e30].map(f32::to_bits));
        inputs.resize(inputs.len().next_multiple_of(1024), 0);
        for relu in ["", ".relu"] {
            // The first source is upper.
            let text = format!(
                "mov.b32 %f0, %a0; mov.f32 %f1, 0f3F800000; cvt.rn.satfinite{relu}.{name}.f32 %h0, %f0, %f1;
                 cvt.u32.u16 %d0, %h0;"
            );
            for (&x, got) in inputs.iter().zip(sweep(&text, &inputs)) {
                let x = f64::from(f32::from_bits(x));
                assert_eq!(got >> 8, nearest(e5m2, zero(x, !relu.is_empty())), "{name}{relu} {x:e}");
                assert_eq!(got & 255, nearest(e5m2, 1.0));
            }
            let text = format!(
                "mov.b32 %d1, 0; cvt.u16.u32 %h1, %a0; mov.b32 %r5, {{%h1, 0}}; cvt.rn.satfinite{relu}.{name}.f16x2 %h0, %r5;
                 cvt.u32.u16 %d0, %h0;"
            );
            for (x, got) in (0..=u16::MAX).zip(sweep(&text, &all16())) {
                let x = f16::from_bits(x).to_f64();
                assert_eq!(got, nearest(e5m2, zero(x, !relu.is_empty())), "{name}{relu} of f16 {x:e}");
            }
        }
    }
    for op in ["cvt.rn.e4m3x2.f32 %h0, %f0, %f1;", "cvt.rz.satfinite.e4m3x2.f32 %h0, %f0, %f1;"] {
        let found = common::load(&common::per_thread(0, 0, op));
        assert!(matches!(found, Err(girih_sim::Error::Unsupported { .. })), "{op}: {found:?}");
    }
}
