//! Rounding modes and the modifiers of 16-bit and packed arithmetic, against the host's exact comparisons and the ISA's
//! definitions.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, launch, map, per_thread, shape, u64_arg, upload};
use girih_sim::{Launch, Memory, Options};
use half::f16;

/// Runs an instruction on each case; operands %a0 to %a3 and results %d0, %d1, a 64-bit number in two of them.
fn run(instruction: &str, cases: &[Vec<u32>], outputs: usize) -> Vec<Vec<u32>> {
    let (inputs, input) = (cases[0].len(), cases.concat());
    let text = per_thread(inputs, outputs, instruction);
    let got = map(&text, cases.len() as u32, &input, cases.len() * outputs).unwrap();
    got.chunks(outputs).map(<[u32]>::to_vec).collect()
}

fn words(x: f64) -> [u32; 2] {
    [x.to_bits() as u32, (x.to_bits() >> 32) as u32]
}

const NUMBERS: [f64; 9] = [0.1, 1.0, 3.0, -7.7, 1e300, 1e-300, 4.9e-324, 2.5, -1e-160];

/// What an operation gives in two opposite modes.
type Bracket = Vec<(f64, f64)>;

/// A 64-bit operation on all pairs, rounded down and up.
fn bracket(operation: &str, sources: &str) -> Bracket {
    let cases: Vec<Vec<u32>> =
        NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| [words(a), words(b)].concat())).collect();
    let [down, up] = ["rm", "rp"].map(|mode| {
        let text = format!(
            "{{ .reg .f64 %x, %y, %z; mov.b64 %x, {{%a0, %a1}}; mov.b64 %y, {{%a2, %a3}};
             {operation}.{mode}.f64 %z, {sources}; mov.b64 {{%d0, %d1}}, %z; }}"
        );
        run(&text, &cases, 2)
    });
    let number = |words: &[u32]| f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
    down.iter().zip(up).map(|(down, up)| (number(down), number(&up))).collect()
}

#[test]
fn doubles_are_bracketed_by_their_neighbours() {
    let pairs: Vec<(f64, f64)> = NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))).collect();
    let check = |operation: &str, sources: &str, nearest: fn(f64, f64) -> f64| {
        let mut inexact = 0;
        for (&(a, b), (down, up)) in pairs.iter().zip(bracket(operation, sources)) {
            let nearest = nearest(a, b);
            assert!(
                down == up && down == nearest || down.next_up() == up,
                "{operation} {a:e} {b:e}: {down:e} {up:e}"
            );
            assert!(nearest.is_nan() || down <= nearest && nearest <= up, "{operation} {a:e} {b:e}");
            inexact += usize::from(down != up);
        }
        assert!(inexact > 20, "{operation}: {inexact}");
    };
    check("add", "%x, %y", |a, b| a + b);
    check("sub", "%x, %y", |a, b| a - b);
    check("mul", "%x, %y", |a, b| a * b);
    check("div", "%x, %y", |a, b| a / b);
    check("fma", "%x, %y, %x", |a, b| a.mul_add(b, a));
    check("rcp", "%x", |a, _| 1.0 / a);
}

#[test]
fn singles_divide_and_take_roots_in_every_direction() {
    let values = [1.0f32, 3.0, 10.0, 0.7, 1e30, 1e-38];
    let cases: Vec<Vec<u32>> =
        values.iter().flat_map(|a| values.map(|b| vec![a.to_bits(), b.to_bits()])).collect();
    for (operation, sources) in [("div", "%a0, %a1"), ("rcp", "%a0"), ("sqrt", "%a0")] {
        let [down, up] =
            ["rm", "rp"].map(|mode| run(&format!("{operation}.{mode}.f32 %d0, {sources};"), &cases, 1));
        for ((case, down), up) in cases.iter().zip(down).zip(up) {
            let [a, b] = [case[0], case[1]].map(|bits| f64::from(f32::from_bits(bits)));
            // In f64, within 2^-53 of the exact result: enough to tell on which side of it an f32 is.
            let exact = match operation {
                "div" => a / b,
                "rcp" => 1.0 / a,
                _ => a.sqrt(),
            };
            let [down, up] = [down[0], up[0]].map(f32::from_bits);
            assert!(
                f64::from(down) <= exact && exact <= f64::from(up),
                "{operation} {a} {b}: {down:e} {up:e}"
            );
            assert!(down == up || down.next_up() == up, "{operation} {a} {b}: {down:e} {up:e}");
        }
    }
}

#[test]
fn halves_are_flushed_saturated_and_rectified() {
    let bits = |x: f32| u32::from(f16::from_f32(x).to_bits());
    let tiny = 0x0001u32;
    let one = |instruction: &str, a: u32, b: u32| {
        let text = format!(
            "{{ .reg .b16 %x, %y, %z; cvt.u16.u32 %x, %a0; cvt.u16.u32 %y, %a1; {instruction}; cvt.u32.u16 %d0, %z; }}"
        );
        run(&text, &[vec![a, b]], 1)[0][0]
    };
    assert_eq!(one("add.f16 %z, %x, %y", tiny, tiny), 2);
    assert_eq!(one("add.ftz.f16 %z, %x, %y", tiny, tiny), 0);
    // The smallest normal number halved is subnormal.
    assert_eq!(one("mul.ftz.f16 %z, %x, %y", 0x8400, bits(0.5)), 0x8000);
    assert_eq!(one("add.sat.f16 %z, %x, %y", bits(0.75), bits(0.75)), bits(1.0));
    assert_eq!(one("sub.sat.f16 %z, %x, %y", bits(0.25), bits(0.75)), 0);
    assert_eq!(one("fma.rn.sat.f16 %z, %x, %y, %y", 0x7e00, bits(1.0)), 0);
    assert_eq!(one("fma.rn.relu.f16 %z, %x, %y, %y", bits(-3.0), bits(1.0)), 0);
    assert_eq!(one("fma.rn.relu.f16 %z, %x, %y, %y", bits(3.0), bits(1.0)), bits(4.0));
    assert_eq!(one("min.ftz.f16 %z, %x, %y", 0x8001, bits(1.0)), 0x8000);
}

/// As on an H200: a number that is too small is flushed even if rounding would make it the smallest normal number.
#[test]
fn flushing_comes_before_rounding_to_a_subnormal() {
    let one = |instruction: &str, a: u32, b: u32| run(instruction, &[vec![a, b]], 1)[0][0];
    let (almost_1, least) = (0x3f7f_ffff, 0x0080_0000);
    assert_eq!(one("mul.rn.f32 %d0, %a0, %a1;", almost_1, least), least);
    assert_eq!(one("mul.rn.ftz.f32 %d0, %a0, %a1;", almost_1, least), 0);
    assert_eq!(one("fma.rn.ftz.f32 %d0, %a0, %a1, 0f00000000;", almost_1, least), 0);
    assert_eq!(one("mul.rp.ftz.f32 %d0, %a0, %a1;", 0x3eff_ffff, 0x00ff_ffff), 0);
    assert_eq!(one("div.rp.ftz.f32 %d0, %a0, %a1;", 0x4000_0000, 0x7f00_0001), 0);
    assert_eq!(one("mul.rn.ftz.f32 %d0, %a0, %a1;", 0x3f80_0000, least), least);
    assert_eq!(one("mul.ftz.f16x2 %d0, %a0, %a1;", 0x0400_0400, 0x3bff_3c00), 0x0000_0400);
}

/// As on an H200.
#[test]
fn nans_keep_what_the_hardware_keeps_of_them() {
    let one = |instruction: &str, a: u32| run(instruction, &[vec![a]], 1)[0][0];
    assert_eq!(one("cvt.rna.tf32.f32 %d0, %a0;", 0xffaa_da92), 0xffaa_c000);
    assert_eq!(one("cvt.rn.tf32.f32 %d0, %a0;", 0xffff_fffe), 0x7fff_e000);
    assert_eq!(one("cvt.f32.f32 %d0, %a0;", 0xffa7_942a), 0xffa7_942a);
    let wide = "{ .reg .f64 %x; mov.b64 %x, {0, %a0};";
    assert_eq!(one(&format!("{wide} cvt.rn.f32.f64 %d0, %x; }}"), 0xfff6_d264), 0xfff6_9320);
    assert_eq!(
        one(
            &format!("{wide} .reg .f64 %y; rcp.approx.ftz.f64 %y, %x; mov.b64 {{_, %d0}}, %y; }}"),
            0xfff0_0000
        ),
        0x8000_0000
    );
}

#[test]
fn extrema_of_magnitudes_have_the_product_of_the_signs() {
    let f = |x: f32| x.to_bits();
    let cases = [vec![f(-2.0), f(3.0)], vec![f(-2.0), f(-3.0)], vec![f(2.0), f(3.0)]];
    let got = |instruction: &str| -> Vec<f32> {
        run(instruction, &cases, 1).iter().map(|words| f32::from_bits(words[0])).collect()
    };
    assert_eq!(got("min.xorsign.abs.f32 %d0, %a0, %a1;"), [-2.0, 2.0, 2.0]);
    assert_eq!(got("max.xorsign.abs.f32 %d0, %a0, %a1;"), [-3.0, 3.0, 3.0]);
}

#[test]
fn packed_integers_keep_their_halves_apart() {
    let one = |instruction: &str, a: u32, b: u32| {
        run(&format!("{instruction} %d0, %a0, %a1;"), &[vec![a, b]], 1)[0][0]
    };
    assert_eq!(one("add.u16x2", 0x0001_ffff, 0x0001_0001), 0x0002_0000);
    assert_eq!(one("min.s16x2", 0xffff_0001, 0x0001_8000), 0xffff_8000);
    assert_eq!(one("min.u16x2", 0xffff_0001, 0x0001_8000), 0x0001_0001);
    assert_eq!(one("max.relu.s16x2", 0xffff_8000, 0xfffe_0007), 0x0000_0007);
    assert_eq!(one("min.relu.s32", 5, 0xffff_fff0), 0);
    assert_eq!(one("max.relu.s32", 5, 0xffff_fff0), 5);
    // (2^31 - 1)^2 >> 32 is 2^30 - 1; with 2^31 - 1 more it is too much.
    assert_eq!(run("mad.hi.sat.s32 %d0, %a0, %a0, %a0;", &[vec![0x7fff_ffff]], 1)[0][0], 0x7fff_ffff);
}

/// `fma.oob` is 0 where a factor is the NaN that tensor copies fill with, with either sign, as on an H200; else it is `fma`.
#[test]
fn products_with_what_lies_outside_are_zero() {
    let bits: [u32; 9] = [0, 0x8000, 0x3c00, 0xbc00, 0x7ff7, 0xfff7, 0x7fff, 0x7c00, 0x4248];
    let cases: Vec<Vec<u32>> = (bits.iter().flat_map(|&a| bits.iter().map(move |&b| (a, b))))
        .flat_map(|(a, b)| bits.iter().map(move |&c| vec![a, b, c]))
        .collect();
    for ty in ["f16", "bf16"] {
        for relu in ["", ".relu"] {
            let text = format!(
                "cvt.u16.u32 %h0, %a0; cvt.u16.u32 %h1, %a1; cvt.u16.u32 %h2, %a2;
                 fma.rn.oob{relu}.{ty} %h3, %h0, %h1, %h2; cvt.u32.u16 %d0, %h3;
                 fma.rn{relu}.{ty} %h3, %h0, %h1, %h2; cvt.u32.u16 %d1, %h3;"
            );
            for (case, got) in cases.iter().zip(run(&text, &cases, 2)) {
                let outside = case[..2].iter().any(|x| x & 0x7fff == 0x7ff7);
                assert_eq!(got[0], if outside { 0 } else { got[1] }, "{ty} {relu} {case:x?}");
            }
        }
    }
}

/// `min` and `max` of magnitudes of 16-bit floats, with the sign of the product.
#[test]
fn halves_are_compared_by_magnitude() {
    let numbers =
        [0.0f32, -0.0, 1.0, -1.5, 250.0, f32::INFINITY, -6e-8].map(|x| u32::from(f16::from_f32(x).to_bits()));
    let cases: Vec<Vec<u32>> = numbers.iter().flat_map(|&a| numbers.map(|b| vec![a, b])).collect();
    let text = "prmt.b32 %r0, %a0, %a1, 0x5410; prmt.b32 %r1, %a1, %a0, 0x5410;
                min.xorsign.abs.f16x2 %d0, %r0, %r1; max.NaN.xorsign.abs.bf16x2 %d1, %r0, %r1;";
    for (case, got) in cases.iter().zip(run(text, &cases, 2)) {
        // Magnitudes of both formats have the order of their bits.
        let (a, b) = (case[0] & 0x7fff, case[1] & 0x7fff);
        let sign = (case[0] ^ case[1]) & 0x8000;
        let both = |half: u32| half << 16 | half;
        assert_eq!(got, [both(a.min(b) | sign), both(a.max(b) | sign)], "{case:x?}");
    }
    // A NaN loses but with `.NaN`, and has no sign.
    let cases = [vec![0x7fff, 0xbc00], vec![0xbc00, 0xffff], vec![0x7fff, 0xffff]];
    let text = "cvt.u16.u32 %h0, %a0; cvt.u16.u32 %h1, %a1; max.xorsign.abs.f16 %h2, %h0, %h1;
                max.NaN.xorsign.abs.f16 %h3, %h0, %h1; cvt.u32.u16 %d0, %h2; cvt.u32.u16 %d1, %h3;";
    assert_eq!(run(text, &cases, 2), [[0xbc00, 0x7fff], [0x3c00, 0x7fff], [0x7fff, 0x7fff]]);
}

/// Sums that are the middle between two f32 when they are rounded to f64, and some that are not.
#[test]
fn fused_products_are_rounded_once() {
    let mut state = 1u64;
    let mut below = |n: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32 % n
    };
    let mut cases = Vec::new();
    for i in 0..1250 * 1024 {
        // A product just beside half a unit of what it is added to, or anything.
        let (near, far) = (0x3f80_0000 + below(4), 0x3f80_0000 - below(4));
        let unit = below(280) as i32 - 149;
        let half = (f64::from(unit - 1).exp2() * f64::from(f32::from_bits(near))) as f32;
        let c = f64::from(unit).exp2() * f64::from(0x0080_0000 + below(0x0080_0000));
        let any = i / 32 % 4 == 0;
        let sign = below(2) << 31;
        let abc = [half.to_bits() ^ sign, far, (c as f32).to_bits()];
        cases.extend(abc.map(|bits| if any { below(u32::MAX) } else { bits }));
    }
    let text = per_thread(3, 1, "fma.rn.f32 %d0, %a0, %a1, %a2;").replace(
        "mov.u32 %i, %tid.x;",
        "mov.u32 %i, %ctaid.x; mov.u32 %r0, %tid.x; mad.lo.u32 %i, %i, 1024, %r0;",
    );
    let memory = Memory::new();
    let (out, from) = (upload(&memory, &vec![0; cases.len() / 3]), upload(&memory, &cases));
    let shape = Launch { args: vec![u64_arg(out), u64_arg(from)], ..shape(1250, 1024) };
    launch(&text, &memory, &shape, &Options::default()).unwrap();
    let mut rare = 0;
    for (case, found) in cases.chunks_exact(3).zip(download(&memory, out, cases.len() / 3)) {
        let [a, b, c] = [0, 1, 2].map(|i| f32::from_bits(case[i]));
        let sum = f64::from(a) * f64::from(b) + f64::from(c);
        let fused = a.mul_add(b, c);
        let wanted = if fused.is_nan() { 0x7fff_ffff } else { fused.to_bits() };
        rare += u32::from((sum as f32).to_bits() != wanted && !fused.is_nan());
        assert_eq!(found, wanted, "{a:e} * {b:e} + {c:e}");
    }
    assert!(rare > 1000, "only {rare} of the sums are rounded twice otherwise");
}
