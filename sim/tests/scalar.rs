//! Carries, bit fields, selections: instructions that compilers emit around the common ones, from their definitions.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{map, per_thread};
use girih_sim::Error;

const EDGES: [u32; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff_8000,
    0x0123_4567,
    0x7fff_ffff,
    0x8000_0000,
    0xfedc_ba98,
    0xffff_ffff,
];

/// Runs an instruction on all triples of edges; operands `%a0` to `%a2`, result `%d0`.
fn triples(instruction: &str, want: &dyn Fn(u32, u32, u32) -> u32) {
    for &a in &EDGES {
        let cases: Vec<[u32; 3]> = EDGES.iter().flat_map(|&b| EDGES.map(|c| [a, b, c])).collect();
        let got = map(&per_thread(3, 1, instruction), cases.len() as u32, &cases.concat(), cases.len());
        for (&[a, b, c], got) in cases.iter().zip(got.unwrap_or_else(|e| panic!("{instruction}: {e}"))) {
            assert_eq!(got, want(a, b, c), "{instruction} of {a:#x}, {b:#x}, {c:#x}");
        }
    }
}

/// A number of 96 bits from three words, lowest first.
fn number(words: [u32; 3]) -> u128 {
    words.iter().rev().fold(0, |n, &w| n << 32 | u128::from(w))
}

#[test]
fn carries_make_long_numbers() {
    let limit = 1u128 << 96;
    // (a, b, c) and (c, a, b) as numbers of three words, of which each result is looked at.
    type Long = fn(u128, u128) -> u128;
    let ops: [(&str, &str, &str, Long); 2] = [
        ("add.cc.u32", "addc.cc.u32", "addc.u32", |x, y| x + y),
        ("sub.cc.s32", "subc.cc.s32", "subc.s32", |x, y| (1 << 96) + x - y),
    ];
    for (low, middle, high, op) in ops {
        for word in 0..3 {
            let text = format!(
                "{low} %r0, %a0, %a2; {middle} %r1, %a1, %a0; {high} %r2, %a2, %a1; mov.b32 %d0, %r{word};"
            );
            triples(&text, &|a, b, c| {
                ((op(number([a, b, c]), number([c, a, b])) % limit) >> (32 * word)) as u32
            });
        }
    }
    // The destination is a source too, and 64 bits.
    triples(
        "mov.b64 %rd0, {%a0, %a1}; mov.b64 %rd1, {%a2, %a0}; add.cc.u64 %rd0, %rd0, %rd1; addc.u64 %rd2, 0, 0;
         cvt.u32.u64 %d0, %rd2; shr.u64 %rd3, %rd0, 31; cvt.u32.u64 %r1, %rd3; xor.b32 %d0, %d0, %r1;",
        &|a, b, c| {
            let wide = |lo: u32, hi: u32| u64::from(lo) | u64::from(hi) << 32;
            let (sum, carry) = wide(a, b).overflowing_add(wide(c, a));
            u32::from(carry) ^ (sum >> 31) as u32
        },
    );
    let text = "mad.lo.cc.u32 %r0, %a0, %a1, %a2; madc.hi.u32 %r1, %a0, %a1, 0; add.u32 %d0, %r0, %r1;";
    triples(text, &|a, b, c| {
        let sum = u64::from(a) * u64::from(b) + u64::from(c);
        (sum as u32).wrapping_add((sum >> 32) as u32)
    });
    // A carry that nothing has set.
    let found = map(&per_thread(1, 1, "addc.u32 %d0, %a0, 0;"), 1, &[0], 1);
    match found {
        Err(Error::UninitialisedRegister { register, .. }) => assert_eq!(register, "CC.CF"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn prmt_chooses_by_mode() {
    // Bytes of {b, a} for d.b3 to d.b0 by the two low bits of the selector: PTX ISA, "prmt", the table of modes.
    let modes: [(&str, [[usize; 4]; 4]); 6] = [
        ("f4e", [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        ("b4e", [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        ("ecl", [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        ("ecr", [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        ("rc16", [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
    ];
    for (mode, table) in modes {
        triples(&format!("prmt.b32.{mode} %d0, %a0, %a1, %a2;"), &|a, b, c| {
            let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
            table[(c & 3) as usize].iter().fold(0, |d, &i| d << 8 | u32::from(bytes[i]))
        });
    }
}

#[test]
fn bits_are_found_and_extended() {
    let highest = |x: u32| (0..32).rev().find(|i| x >> i & 1 == 1).unwrap_or(u32::MAX);
    let plain = |x: u32| if x >> 31 == 1 { !x } else { x };
    triples("bfind.u32 %d0, %a0;", &|a, _, _| highest(a));
    triples("bfind.s32 %d0, %a0;", &|a, _, _| highest(plain(a)));
    let amount = |place: u32| if place == u32::MAX { place } else { 31 - place };
    triples("bfind.shiftamt.u32 %d0, %a0;", &|a, _, _| amount(highest(a)));
    triples("bfind.shiftamt.s32 %d0, %a0;", &|a, _, _| amount(highest(plain(a))));
    triples("mov.b64 %rd0, {%a0, %a1}; bfind.u64 %d0, %rd0;", &|a, b, _| match highest(b) {
        u32::MAX => highest(a),
        place => 32 + place,
    });
    let sign = |a: u32, n: u32| if n == 0 { 0 } else { a >> (n - 1) & 1 };
    let field =
        |a: u32, n: u32, fill: u32| (0..32).fold(0, |d, i| d | if i < n { a >> i & 1 } else { fill } << i);
    triples("szext.wrap.u32 %d0, %a0, %a1;", &move |a, b, _| field(a, b & 31, 0));
    triples("szext.wrap.s32 %d0, %a0, %a1;", &move |a, b, _| field(a, b & 31, sign(a, b & 31)));
    triples("szext.clamp.u32 %d0, %a0, %a1;", &move |a, b, _| field(a, b.min(32), 0));
    triples("szext.clamp.s32 %d0, %a0, %a1;", &move |a, b, _| field(a, b.min(32), sign(a, b.min(32))));
}

#[test]
fn small_products_and_differences() {
    let s24 = |x: u32| i64::from((x << 8) as i32 >> 8);
    let u24 = |x: u32| i64::from(x & 0xff_ffff);
    triples("mul24.lo.u32 %d0, %a0, %a1;", &|a, b, _| (u24(a) * u24(b)) as u32);
    triples("mul24.hi.s32 %d0, %a0, %a1;", &|a, b, _| ((s24(a) * s24(b)) >> 16) as u32);
    triples("mad24.lo.s32 %d0, %a0, %a1, %a2;", &|a, b, c| ((s24(a) * s24(b)) as u32).wrapping_add(c));
    triples("mad24.hi.u32 %d0, %a0, %a1, %a2;", &|a, b, c| {
        (((u24(a) * u24(b)) >> 16) as u32).wrapping_add(c)
    });
    triples("sad.u32 %d0, %a0, %a1, %a2;", &|a, b, c| c.wrapping_add(a.max(b) - a.min(b)));
    triples("sad.s32 %d0, %a0, %a1, %a2;", &|a, b, c| {
        c.wrapping_add((i64::from(a as i32) - i64::from(b as i32)).unsigned_abs() as u32)
    });
    for (at, bt) in [("u32", "u32"), ("u32", "s32"), ("s32", "u32"), ("s32", "s32")] {
        let byte = |x: u32, i: usize, ty: &str| {
            let byte = x.to_le_bytes()[i];
            if ty == "s32" { i64::from(byte as i8) } else { byte.into() }
        };
        triples(&format!("dp4a.{at}.{bt} %d0, %a0, %a1, %a2;"), &|a, b, c| {
            (i64::from(c) + (0..4).map(|i| byte(a, i, at) * byte(b, i, bt)).sum::<i64>()) as u32
        });
        for (half, first) in [("lo", 0), ("hi", 2)] {
            triples(&format!("dp2a.{half}.{at}.{bt} %d0, %a0, %a1, %a2;"), &|a, b, c| {
                let word = |i: u32| {
                    let word = (a >> (16 * i)) as u16;
                    if at == "s32" { i64::from(word as i16) } else { word.into() }
                };
                let sum: i64 = (0..2).map(|i| word(i as u32) * byte(b, first + i, bt)).sum();
                (i64::from(c) + sum) as u32
            });
        }
    }
}

const FLOATS: [f32; 10] =
    [0.0, -0.0, 1.0, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -1e-40, f32::MAX];

/// All pairs of floats as `%f0`, `%f1` and `%a0`, `%a1`.
fn floats(instruction: &str, want: &dyn Fn(f32, f32) -> u32) {
    let cases: Vec<(f32, f32)> = FLOATS.iter().flat_map(|&a| FLOATS.map(|b| (a, b))).collect();
    let input: Vec<u32> = cases.iter().flat_map(|(a, b)| [a.to_bits(), b.to_bits()]).collect();
    let text = format!("mov.b32 %f0, %a0; mov.b32 %f1, %a1; {instruction}");
    let got = map(&per_thread(2, 1, &text), cases.len() as u32, &input, cases.len()).unwrap();
    for (&(a, b), got) in cases.iter().zip(got) {
        assert_eq!(got, want(a, b), "{instruction} of {a:e}, {b:e}");
    }
}

#[test]
fn set_and_slct_choose() {
    triples("set.lt.u32.u32 %d0, %a0, %a1;", &|a, b, _| if a < b { u32::MAX } else { 0 });
    triples("set.ge.s32.s32 %d0, %a0, %a1;", &|a, b, _| if (a as i32) >= b as i32 { u32::MAX } else { 0 });
    triples("set.eq.f32.b32 %f0, %a0, %a1; mov.b32 %d0, %f0;", &|a, b, _| {
        f32::to_bits(f32::from(u8::from(a == b)))
    });
    triples("setp.ne.u32 %p0, %a2, 0; set.lt.and.u32.u32 %d0, %a0, %a1, !%p0;", &|a, b, c| {
        if a < b && c == 0 { u32::MAX } else { 0 }
    });
    floats("set.gtu.u32.f32 %d0, %f0, %f1;", &|a, b| {
        if a.partial_cmp(&b).is_none_or(|o| o.is_gt()) { u32::MAX } else { 0 }
    });
    triples("slct.u32.s32 %d0, %a0, %a1, %a2;", &|a, b, c| if (c as i32) < 0 { b } else { a });
    floats("slct.b32.f32 %d0, 7, 9, %f0;", &|a, _| if a >= 0.0 { 7 } else { 9 });
    floats("slct.ftz.b32.f32 %d0, 7, 9, %f0;", &|a, _| if a >= 0.0 || a.is_subnormal() { 7 } else { 9 });
}

#[test]
fn floats_are_tested_and_signed() {
    type Test = (&'static str, fn(f32) -> bool);
    let tests: [Test; 6] = [
        ("finite", |x| x - x == 0.0),
        ("infinite", |x| x.abs().to_bits() == 0x7f80_0000),
        ("number", |x| x.partial_cmp(&x).is_some()),
        ("notanumber", |x| x.partial_cmp(&x).is_none()),
        ("normal", |x| x == 0.0 || x.abs() >= f32::MIN_POSITIVE && x.abs() <= f32::MAX),
        ("subnormal", |x| x != 0.0 && x.abs() < f32::MIN_POSITIVE),
    ];
    for (test, want) in tests {
        floats(&format!("testp.{test}.f32 %p0, %f0; selp.b32 %d0, 1, 0, %p0;"), &|a, _| want(a).into());
    }
    floats("copysign.f32 %f2, %f0, %f1; mov.b32 %d0, %f2;", &|a, b| {
        a.to_bits() & 0x8000_0000 | b.to_bits() & 0x7fff_ffff
    });
}

#[test]
fn generic_addresses_tell_their_space() {
    for (address, want) in
        [("cvta.shared.u64 %rd0, s;", 2), ("cvta.local.u64 %rd0, l;", 4), ("cvta.global.u64 %rd0, %q;", 1)]
    {
        let address = address.replace("%rd0, s", "%rd0, %rd1").replace("%rd0, l", "%rd0, %rd2");
        let text = format!(
            ".shared .b32 s; .local .b32 l; mov.u64 %rd1, s; mov.u64 %rd2, l; {address} mov.b32 %d0, 0;
             isspacep.global %p0, %rd0; @%p0 or.b32 %d0, %d0, 1; isspacep.shared %p1, %rd0; @%p1 or.b32 %d0, %d0, 2;
             isspacep.local %p2, %rd0; @%p2 or.b32 %d0, %d0, 4;"
        );
        assert_eq!(map(&per_thread(0, 1, &text), 1, &[0], 1).unwrap(), [want], "{address}");
    }
}
