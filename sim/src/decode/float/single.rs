//! Arithmetic of f32.

use girih_ptx::Opcode;

use super::Style;
use crate::float::exact::{self, F32_SMALL};
use crate::float::{F32, Round, canon};
use crate::lanes::{Args, LaneFn, Regs, WARP, Word, lanes};

/// A result of f32 arithmetic, from f64 to f32.
fn single_of(x: f64) -> f32 {
    canon(x as f32)
}

/// A result of f32 arithmetic with `.ftz`: the hardware decides whether a result is subnormal before it rounds it.
fn flushed_of(x: f64) -> f32 {
    if x.abs() < f64::from(f32::MIN_POSITIVE) { 0f32.copysign(x as f32) } else { single_of(x) }
}

/// `.ftz` of a rounded result in f32. Only the smallest normal number is in doubt, as a smaller result may have been
/// rounded up to it; then `exact`, the result in [`F32_SMALL`], decides.
fn unless_tiny(rounded: f32, exact: impl FnOnce() -> f64) -> f32 {
    if rounded.abs() == f32::MIN_POSITIVE { flushed_of(exact()) } else { rounded }
}

/// Gives a magnitude the sign of the product of `a` and `b`.
fn with_signs(magnitude: f32, a: f32, b: f32) -> f32 {
    let negative = a.is_sign_negative() != b.is_sign_negative();
    if magnitude.is_nan() || !negative { magnitude } else { -magnitude }
}

/// Minimum and maximum of the magnitudes, with the sign of the product (`.xorsign.abs`).
fn of_magnitudes(opcode: Opcode, nan: bool) -> Option<LaneFn> {
    macro_rules! of {
        ($nan:literal, $less:literal) => {
            lanes!(f32: |a: f32, b: f32| {
                let (x, y) = (a.abs(), b.abs());
                with_signs(extremum!(f32, x, y, $nan, $less, canon), a, b)
            })
        };
    }
    Some(match (opcode, nan) {
        (Opcode::Min, true) => of!(true, true),
        (Opcode::Min, false) => of!(false, true),
        (Opcode::Max, true) => of!(true, false),
        (Opcode::Max, false) => of!(false, false),
        _ => return None,
    })
}

/// `div.approx`: `a * (1 / b)`. For the largest `b` the reciprocal is subnormal, and so counts as zero.
fn approximate_quotient(a: f32, b: f32) -> f32 {
    const LARGE: f32 = f32::from_bits((126 + 127) << 23);
    let by = if b.abs() > LARGE { f32::INFINITY.copysign(b) } else { b };
    // An infinite `a` times that zero is NaN, as is an infinity divided by an infinity.
    canon(a / by)
}

/// `fma.rn`, with `.ftz` or without. A processor without an instruction for it takes long. But the product is exact in
/// f64, and the sum rounded to f64 rounds to the right f32 unless it is in the middle between two.
fn fused<const FTZ: bool>(regs: &mut Regs, args: &Args, mask: u32) {
    let [a, b, c] = [args.a, args.b, args.c].map(|slot| &regs.w32[slot as usize]);
    let (mut out, mut rare) = ([0; WARP], false);
    for i in 0..WARP {
        let [a, b, c] = [a[i], b[i], c[i]].map(f32::from_bits);
        let sum = f64::from(a) * f64::from(b) + f64::from(c);
        let single = sum as f32;
        rare |= (sum.to_bits() & 0x0fff_ffff == 0) & (f64::from(single) != sum);
        rare |= FTZ & (single.abs() == f32::MIN_POSITIVE);
        out[i] = canon(single).to_bits();
    }
    for i in (0..WARP).filter(|_| rare) {
        let [a, b, c] = [a[i], b[i], c[i]].map(f32::from_bits);
        let sum = canon(a.mul_add(b, c));
        let exact = || exact::fma(a.into(), b.into(), c.into(), F32_SMALL, Round::Nearest);
        out[i] = if FTZ { unless_tiny(sum, exact) } else { sum }.to_bits();
    }
    Word::write(regs, args.d, 0, mask, out);
}

pub(super) fn single(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    let round = style.round.unwrap_or(Round::Nearest);
    if round != Round::Nearest {
        return match style.ftz {
            true => in_direction!(opcode, round, f32, F32_SMALL, flushed_of),
            false => in_direction!(opcode, round, f32, F32, single_of),
        };
    }
    if style.xorsign {
        return of_magnitudes(opcode, style.nan);
    }
    if style.ftz && !style.approx {
        const R: Round = Round::Nearest;
        let run = match opcode {
            O::Mul => lanes!(f32: |a: f32, b: f32| {
                unless_tiny(canon(a * b), || exact::mul(a.into(), b.into(), F32_SMALL, R))
            }),
            O::Fma | O::Mad => fused::<true>,
            O::Div => lanes!(f32: |a: f32, b: f32| {
                unless_tiny(canon(a / b), || exact::div(a.into(), b.into(), F32_SMALL, R))
            }),
            _ => return arithmetic(opcode, style),
        };
        return Some(run);
    }
    arithmetic(opcode, style)
}

/// Arithmetic that rounds to nearest.
fn arithmetic(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    Some(match opcode {
        O::Add => lanes!(f32: |a: f32, b: f32| canon(a + b)),
        O::Sub => lanes!(f32: |a: f32, b: f32| canon(a - b)),
        O::Mul => lanes!(f32: |a: f32, b: f32| canon(a * b)),
        O::Fma | O::Mad => fused::<false>,
        O::Div if style.approx => lanes!(f32: |a: f32, b: f32| approximate_quotient(a, b)),
        O::Div => lanes!(f32: |a: f32, b: f32| canon(a / b)),
        O::Min if style.nan => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, true, true, canon)),
        O::Min => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, false, true, canon)),
        O::Max if style.nan => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, true, false, canon)),
        O::Max => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, false, false, canon)),
        O::Abs => lanes!(f32: |a: f32| canon(a.abs())),
        O::Neg => lanes!(f32: |a: f32| canon(-a)),
        O::Rcp => lanes!(f32: |a: f32| canon(1.0 / a)),
        O::Sqrt => lanes!(f32: |a: f32| canon(a.sqrt())),
        O::Rsqrt if style.approx => lanes!(f32: |a: f32| canon((1.0 / f64::from(a).sqrt()) as f32)),
        O::Ex2 if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).exp2() as f32)),
        O::Lg2 if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).log2() as f32)),
        O::Sin if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).sin() as f32)),
        O::Cos if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).cos() as f32)),
        O::Tanh if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).tanh() as f32)),
        _ => return None,
    })
}
