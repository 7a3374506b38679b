//! Arithmetic against Rust's own and against formulas of the ISA, edge cases included.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{map, per_thread};

/// A comparison by name, with its meaning.
type Comparison<T> = (&'static str, fn(T, T) -> bool);

const EDGES: [u32; 16] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
];

/// All pairs of edges: (a, b) as input words.
fn pairs() -> Vec<(u32, u32)> {
    EDGES.iter().flat_map(|&a| EDGES.iter().map(move |&b| (a, b))).collect()
}

/// Runs an instruction on all pairs of 32-bit edges; operands %a0 and %a1, result %d0.
fn binary(instruction: &str, want: &dyn Fn(u32, u32) -> u32) {
    let pairs = pairs();
    let input: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let got = map(&per_thread(2, 1, instruction), pairs.len() as u32, &input, pairs.len()).unwrap();
    for (&(a, b), got) in pairs.iter().zip(got) {
        assert_eq!(got, want(a, b), "{instruction} of {a:#x}, {b:#x}");
    }
}

#[test]
fn integers_wrap_divide_and_compare_as_the_isa_says() {
    let s = |x: u32| x as i32;
    binary("add.u32 %d0, %a0, %a1;", &|a, b| a.wrapping_add(b));
    binary("sub.s32 %d0, %a0, %a1;", &|a, b| a.wrapping_sub(b));
    binary("add.sat.s32 %d0, %a0, %a1;", &|a, b| s(a).saturating_add(s(b)) as u32);
    binary("sub.sat.s32 %d0, %a0, %a1;", &|a, b| s(a).saturating_sub(s(b)) as u32);
    binary("mul.lo.s32 %d0, %a0, %a1;", &|a, b| a.wrapping_mul(b));
    binary("mul.hi.u32 %d0, %a0, %a1;", &|a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    binary("mul.hi.s32 %d0, %a0, %a1;", &|a, b| ((i64::from(s(a)) * i64::from(s(b))) >> 32) as u32);
    binary("mad.lo.u32 %d0, %a0, %a1, %a1;", &|a, b| a.wrapping_mul(b).wrapping_add(b));
    binary("mad.hi.u32 %d0, %a0, %a1, %a1;", &|a, b| {
        (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(b)
    });
    binary("div.u32 %d0, %a0, %a1;", &|a, b| a.checked_div(b).unwrap_or(u32::MAX));
    binary("rem.u32 %d0, %a0, %a1;", &|a, b| a.checked_rem(b).unwrap_or(u32::MAX));
    binary("div.s32 %d0, %a0, %a1;", &|a, b| if b == 0 { u32::MAX } else { s(a).wrapping_div(s(b)) as u32 });
    binary("rem.s32 %d0, %a0, %a1;", &|a, b| if b == 0 { u32::MAX } else { s(a).wrapping_rem(s(b)) as u32 });
    binary("min.u32 %d0, %a0, %a1;", &u32::min);
    binary("max.u32 %d0, %a0, %a1;", &u32::max);
    binary("min.s32 %d0, %a0, %a1;", &|a, b| s(a).min(s(b)) as u32);
    binary("max.s32 %d0, %a0, %a1;", &|a, b| s(a).max(s(b)) as u32);
    binary("and.b32 %d0, %a0, %a1;", &|a, b| a & b);
    binary("or.b32 %d0, %a0, %a1;", &|a, b| a | b);
    binary("xor.b32 %d0, %a0, %a1;", &|a, b| a ^ b);
    binary("not.b32 %d0, %a0;", &|a, _| !a);
    binary("neg.s32 %d0, %a0;", &|a, _| a.wrapping_neg());
    binary("abs.s32 %d0, %a0;", &|a, _| s(a).wrapping_abs() as u32);
    // A shift by 32 or more shifts everything out; a signed one leaves the sign.
    binary("shl.b32 %d0, %a0, %a1;", &|a, b| a.checked_shl(b).unwrap_or(0));
    binary("shr.u32 %d0, %a0, %a1;", &|a, b| a.checked_shr(b).unwrap_or(0));
    binary("shr.b32 %d0, %a0, %a1;", &|a, b| a.checked_shr(b).unwrap_or(0));
    binary("shr.s32 %d0, %a0, %a1;", &|a, b| (s(a) >> b.min(31)) as u32);
    binary("cvt.u16.u32 %h0, %a0; shl.b16 %h1, %h0, %a1; cvt.u32.u16 %d0, %h1;", &|a, b| {
        u32::from((a as u16).checked_shl(b).unwrap_or(0))
    });
    binary("cvt.u16.u32 %h0, %a0; shr.s16 %h1, %h0, %a1; cvt.s32.s16 %d0, %h1;", &|a, b| {
        i32::from(a as i16 >> b.min(15)) as u32
    });
}

#[test]
fn wide_products_and_64_bits() {
    let s = |x: u32| i64::from(x as i32);
    let fold = |x: u64| (x ^ x >> 32) as u32;
    let folded = |text: &str| {
        format!("{text} shr.u64 %rd9, %rd0, 32; xor.b64 %rd9, %rd9, %rd0; cvt.u32.u64 %d0, %rd9;")
    };
    binary(&folded("mul.wide.u32 %rd0, %a0, %a1;"), &|a, b| fold(u64::from(a) * u64::from(b)));
    binary(&folded("mul.wide.s32 %rd0, %a0, %a1;"), &|a, b| fold((s(a) * s(b)) as u64));
    let join = "mov.b64 %rd1, {%a0, %a1}; mov.b64 %rd2, {%a1, %a0};";
    let (lo, hi) = (
        |a: u32, b: u32| u64::from(a) | u64::from(b) << 32,
        |a: u32, b: u32| u64::from(b) | u64::from(a) << 32,
    );
    let wide = |op: &str, want: fn(u64, u64) -> u64| {
        binary(&folded(&format!("{join} {op} %rd0, %rd1, %rd2;")), &move |a, b| {
            fold(want(lo(a, b), hi(a, b)))
        });
    };
    wide("add.u64", u64::wrapping_add);
    wide("mul.lo.u64", u64::wrapping_mul);
    wide("mul.hi.u64", |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    wide("mul.hi.s64", |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64);
    wide("div.s64", |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 });
    wide("rem.u64", |a, b| a.checked_rem(b).unwrap_or(u64::MAX));
    wide("max.s64", |a, b| (a as i64).max(b as i64) as u64);
    binary(&folded("mov.b64 %rd1, {%a0, %a0}; shl.b64 %rd0, %rd1, %a1;"), &move |a, b| {
        fold(lo(a, a).checked_shl(b).unwrap_or(0))
    });
    binary(&folded("mov.b64 %rd1, {%a0, %a0}; shr.s64 %rd0, %rd1, %a1;"), &move |a, b| {
        fold((lo(a, a) as i64 >> b.min(63)) as u64)
    });
    binary(&folded("mov.b64 %rd1, {%a1, %a1}; mad.wide.s32 %rd0, %a0, %a1, %rd1;"), &move |a, b| {
        fold((s(a) * s(b)).wrapping_add(lo(b, b) as i64) as u64)
    });
}

#[test]
fn comparisons_and_predicates() {
    let unsigned: [Comparison<u32>; 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (op, want) in unsigned {
        let text = |ty: &str| format!("setp.{op}.{ty} %p0, %a0, %a1; selp.b32 %d0, 1, 0, %p0;");
        binary(&text("u32"), &|a, b| want(a, b).into());
        // Flipping the sign bit turns the signed order into the unsigned one.
        binary(&text("s32"), &|a, b| want(a ^ 1 << 31, b ^ 1 << 31).into());
    }
    // Two destinations and a third predicate, which is one of the destinations.
    for (op, want) in
        [("and", (|t, c| t & c) as fn(bool, bool) -> bool), ("or", |t, c| t | c), ("xor", |t, c| t ^ c)]
    {
        let text = format!(
            "setp.lt.u32 %p1, %a0, 100; setp.gt.{op}.u32 %p1|%p2, %a0, %a1, !%p1;
             selp.b32 %d0, 1, 0, %p1; @%p2 or.b32 %d0, %d0, 2;"
        );
        binary(&text, &|a, b| {
            let (t, c) = (a > b, a >= 100);
            u32::from(want(t, c)) | u32::from(want(!t, c)) << 1
        });
    }
    let floats = [0.0f32, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN];
    let ops: [Comparison<f32>; 10] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a < b || b < a),
        ("lt", |a, b| a < b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| a.partial_cmp(&b).is_none_or(|o| o.is_eq())),
        ("neu", |a, b| a.partial_cmp(&b).is_none_or(|o| o.is_ne())),
        ("ltu", |a, b| a.partial_cmp(&b).is_none_or(|o| o.is_lt())),
        ("gtu", |a, b| a.partial_cmp(&b).is_none_or(|o| o.is_gt())),
        ("num", |a, b| a.partial_cmp(&b).is_some()),
        ("nan", |a, b| a.partial_cmp(&b).is_none()),
    ];
    let cases: Vec<(f32, f32)> = floats.iter().flat_map(|&a| floats.iter().map(move |&b| (a, b))).collect();
    let input: Vec<u32> = cases.iter().flat_map(|(a, b)| [a.to_bits(), b.to_bits()]).collect();
    for (op, want) in ops {
        let text = format!("setp.{op}.f32 %p0, %a0, %a1; selp.b32 %d0, 1, 0, %p0;");
        let got = map(&per_thread(2, 1, &text), cases.len() as u32, &input, cases.len()).unwrap();
        for (&(a, b), got) in cases.iter().zip(got) {
            assert_eq!(got == 1, want(a, b), "{op} {a} {b}");
        }
    }
}

/// A float operation on all pairs of special and ordinary values; NaN results are 0x7fffffff.
fn float(instruction: &str, want: &dyn Fn(f32, f32) -> f32) {
    let values = [
        0x0000_0000,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x0000_0001,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x4049_0fdb,
        0x3eaa_aaab,
        0x4b80_0001,
        0x3300_0000u32,
    ];
    let cases: Vec<(u32, u32)> = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).collect();
    let input: Vec<u32> = cases.iter().flat_map(|&(a, b)| [a, b]).collect();
    let got = map(&per_thread(2, 1, instruction), cases.len() as u32, &input, cases.len()).unwrap();
    for (&(a, b), got) in cases.iter().zip(got) {
        let want = want(f32::from_bits(a), f32::from_bits(b));
        let want = if want.is_nan() { 0x7fff_ffff } else { want.to_bits() };
        assert_eq!(got, want, "{instruction} {a:#x} {b:#x}: {got:#x}, not {want:#x}");
    }
}

#[test]
fn floats_round_once_and_order_zeros() {
    float("add.f32 %d0, %a0, %a1;", &|a, b| a + b);
    float("sub.rn.f32 %d0, %a0, %a1;", &|a, b| a - b);
    float("mul.f32 %d0, %a0, %a1;", &|a, b| a * b);
    float("div.rn.f32 %d0, %a0, %a1;", &|a, b| a / b);
    float("fma.rn.f32 %d0, %a0, %a1, %a1;", &|a, b| a.mul_add(b, b));
    float("rcp.rn.f32 %d0, %a0;", &|a, _| 1.0 / a);
    float("sqrt.rn.f32 %d0, %a0;", &|a, _| a.sqrt());
    float("neg.f32 %d0, %a0;", &|a, _| -a);
    float("abs.f32 %d0, %a0;", &|a, _| a.abs());
    let less = |a: f32, b: f32| a < b || (a == b && a.is_sign_negative());
    let number = |a: f32, b: f32, first: bool| {
        if a.is_nan() {
            b
        } else if b.is_nan() || first {
            a
        } else {
            b
        }
    };
    float("min.f32 %d0, %a0, %a1;", &|a, b| number(a, b, less(a, b)));
    float("max.f32 %d0, %a0, %a1;", &|a, b| number(a, b, !less(a, b)));
    let nan = |a: f32, b: f32, x: f32| if a.is_nan() || b.is_nan() { f32::NAN } else { x };
    float("min.NaN.f32 %d0, %a0, %a1;", &|a, b| nan(a, b, number(a, b, less(a, b))));
    let flush = |a: f32| if a.is_subnormal() { 0f32.copysign(a) } else { a };
    float("mul.ftz.f32 %d0, %a0, %a1;", &|a, b| flush(flush(a) * flush(b)));
    float("add.sat.f32 %d0, %a0, %a1;", &|a, b| if a + b > 0.0 { (a + b).min(1.0) } else { 0.0 });
    let close = |instruction: &str, x: f32, want: f32| {
        let got = map(&per_thread(1, 1, instruction), 1, &[x.to_bits()], 1).unwrap()[0];
        assert!((f32::from_bits(got) / want - 1.0).abs() < 1e-6, "{instruction} {x}");
    };
    close("ex2.approx.f32 %d0, %a0;", 3.5, 2f32.powf(3.5));
    close("lg2.approx.f32 %d0, %a0;", 10.0, 10f32.log2());
    close("rsqrt.approx.f32 %d0, %a0;", 7.0, 1.0 / 7f32.sqrt());
    close("div.approx.f32 %d0, %a0, 0f40400000;", 7.0, 7.0 / 3.0);
}

/// Directed rounding brackets the exact result: down <= exact <= up, neighbours or equal, and zero is the inner one.
#[test]
fn directed_rounding_brackets_the_result() {
    let text = |op: &str| {
        ["rm", "rp", "rz", "rn"].iter().enumerate().fold(String::new(), |t, (i, mode)| {
            t + &op.replace("RND", mode).replace("DST", &format!("%d{i}"))
        })
    };
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Magnitudes near one another, where sums are inexact.
        state & 0x807f_ffff | (120 + (state >> 23 & 15)) << 23
    };
    let input: Vec<u32> = (0..3 * 512).map(|_| next()).collect();
    let ops = [
        "add.RND.f32 DST, %a0, %a1;",
        "sub.RND.f32 DST, %a0, %a1;",
        "mul.RND.f32 DST, %a0, %a1;",
        "fma.RND.f32 DST, %a0, %a1, %a2;",
    ];
    for op in ops {
        let got = map(&per_thread(3, 4, &text(op)), 512, &input, 4 * 512).unwrap();
        for (x, r) in input.chunks_exact(3).zip(got.chunks_exact(4)) {
            let [a, b, c] = [0, 1, 2].map(|i| f64::from(f32::from_bits(x[i])));
            let [down, up, zero, near] = [0, 1, 2, 3].map(|i| f64::from(f32::from_bits(r[i])));
            // Exact in f64 for these exponents, but for the fused sum, which is within half a unit of f64.
            let exact = match op.get(..3) {
                Some("add") => a + b,
                Some("sub") => a - b,
                Some("mul") => a * b,
                _ => a.mul_add(b, c),
            };
            assert!(down <= exact && exact <= up, "{op}: {down} {exact} {up}");
            let neighbour = (down as f32).next_up();
            assert!(down == up || f64::from(neighbour) == up, "{op}: {down} {up}");
            assert_eq!(zero, if exact < 0.0 { up } else { down }, "{op}");
            assert!(near == down || near == up);
        }
    }
}

/// The sign of an exact zero: negative rounding down, unless both terms are +0; else negative only if both are -0.
#[test]
fn exact_zeros_have_the_sign_of_their_mode() {
    let (zero, minus, one, minus_one) = (0u32, 1u32 << 31, 0x3f80_0000u32, 0xbf80_0000u32);
    let cases =
        [(one, minus_one), (minus_one, one), (zero, minus), (minus, zero), (zero, zero), (minus, minus)];
    let input: Vec<u32> = cases.iter().flat_map(|&(a, b)| [a, b]).collect();
    for (op, mode) in
        [("add", "rm"), ("add", "rn"), ("add", "rz"), ("add", "rp"), ("fma", "rm"), ("fma", "rp")]
    {
        let one = if op == "fma" { "0f3f800000, " } else { "" };
        let text = format!("{op}.{mode}.f32 %d0, %a0, {one}%a1;");
        let got = map(&per_thread(2, 1, &text), cases.len() as u32, &input, cases.len()).unwrap();
        for (&(a, b), got) in cases.iter().zip(got) {
            let positive = if mode == "rm" { a == zero && b == zero } else { a != minus || b != minus };
            assert_eq!(got, if positive { zero } else { minus }, "{text} {a:#x} {b:#x}");
        }
    }
}

/// Bit instructions against their definitions bit by bit.
#[test]
fn bits_are_counted_moved_and_chosen() {
    binary("popc.b32 %d0, %a0;", &|a, _| (0..32).map(|i| a >> i & 1).sum());
    binary("clz.b32 %d0, %a0;", &|a, _| (0..32).rev().take_while(|i| a >> i & 1 == 0).count() as u32);
    binary("brev.b32 %d0, %a0;", &|a, _| (0..32).fold(0, |d, i| d | (a >> i & 1) << (31 - i)));
    binary("mov.b64 %rd0, {%a0, %a1}; popc.b64 %d0, %rd0;", &|a, b| a.count_ones() + b.count_ones());
    binary("lop3.b32 %d0, %a0, %a1, 0x0ff00ff0, 0xca;", &|a, b| a & b | !a & 0x0ff0_0ff0);
    binary("prmt.b32 %d0, %a0, %a1, 0x9a04;", &|a, b| {
        let sign = |x: u32| if x & 0x80 != 0 { 0xff } else { 0 };
        b & 0xff | (a & 0xff) << 8 | sign(a >> 16) << 16 | sign(a >> 8) << 24
    });
    binary("shf.l.wrap.b32 %d0, %a0, %a1, 37;", &|a, b| b << 5 | a >> 27);
    binary("shf.l.clamp.b32 %d0, %a0, %a1, 37;", &|a, _| a);
    binary("shf.r.wrap.b32 %d0, %a0, %a1, 3;", &|a, b| b << 29 | a >> 3);
    binary("shf.r.clamp.b32 %d0, %a0, %a1, 99;", &|_, b| b);
    for (position, len) in
        [(0u32, 0u32), (0, 32), (3, 5), (28, 8), (31, 1), (32, 4), (0, 40), (255, 255), (7, 255)]
    {
        let (p, l) = ((position & 255) as usize, (len & 255) as usize);
        let bit = |x: u32, i: usize| if i < 32 { x >> i & 1 } else { 0 };
        let field = move |a: u32, fill: u32| {
            let bits = (0..32).map(|i| if i < l && p + i < 32 { bit(a, p + i) } else { fill });
            bits.enumerate().fold(0, |d, (i, b)| d | b << i)
        };
        binary(&format!("bfe.u32 %d0, %a0, {position}, {len};"), &move |a, _| field(a, 0));
        binary(&format!("bfe.s32 %d0, %a0, {position}, {len};"), &move |a, _| {
            field(a, if l == 0 { 0 } else { bit(a, (p + l - 1).min(31)) })
        });
        binary(&format!("bfi.b32 %d0, %a0, %a1, {position}, {len};"), &move |a, b| {
            (0..32).fold(0, |d, i| d | if i >= p && i < p + l { bit(a, i - p) } else { bit(b, i) } << i)
        });
    }
}
