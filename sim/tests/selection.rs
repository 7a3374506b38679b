//! `set`, `setp`, `lop3` with predicates and `cnot`, against the ISA's definitions: all pairs of numbers of every kind.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{map, per_thread};
use half::{bf16, f16};

/// Zeros, subnormal, small and large numbers, infinities and a NaN, as bits of a format with these exponent bits.
fn numbers(format: &str) -> Vec<u32> {
    let of = |x: f32| match format {
        "f16" => f16::from_f32(x).to_bits().into(),
        "bf16" => bf16::from_f32(x).to_bits().into(),
        _ => x.to_bits(),
    };
    let mut all = [0.0, -0.0, 1.0, -1.0, 1.5, 3.0, -250.0, f32::INFINITY, f32::NEG_INFINITY].map(of).to_vec();
    all.extend([of(f32::NAN), 1, of(-0.0) | 1]);
    all
}

fn value(format: &str, bits: u32) -> f32 {
    match format {
        "f16" => f16::from_bits(bits as u16).to_f32(),
        "bf16" => bf16::from_bits(bits as u16).to_f32(),
        _ => f32::from_bits(bits),
    }
}

/// The ISA's table of comparisons.
fn holds(compare: &str, a: f32, b: f32) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match compare {
        "eq" => a == b,
        "ne" => !unordered && a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        "equ" => unordered || a == b,
        "neu" => a != b,
        "ltu" => unordered || a < b,
        "leu" => unordered || a <= b,
        "gtu" => unordered || a > b,
        "geu" => unordered || a >= b,
        "num" => !unordered,
        _ => unordered,
    }
}

const COMPARES: [&str; 14] =
    ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

fn joined(logic: &str, holds: bool, third: bool) -> bool {
    match logic {
        "" => holds,
        "and" => holds & third,
        "or" => holds | third,
        _ => holds ^ third,
    }
}

/// Every pair of numbers of a format, with both values of a third operand.
fn cases(format: &str) -> Vec<[u32; 3]> {
    let all = numbers(format);
    let pair = |&a: &u32| all.iter().flat_map(move |&b| [[a, b, 0], [a, b, 1]]).collect::<Vec<_>>();
    all.iter().flat_map(pair).collect()
}

/// The results of `body`, which finds a case in `%a0`, `%a1` and the predicate `%p0`.
fn run(cases: &[[u32; 3]], body: &str) -> Vec<u32> {
    let text = per_thread(3, 1, &format!("setp.ne.u32 %p0, %a2, 0; {body}"));
    map(&text, cases.len() as u32, &cases.concat(), cases.len()).unwrap()
}

#[test]
fn set_gives_one_or_all_ones_in_every_type() {
    for (from, sources) in [("f16", "%h0, %h1"), ("bf16", "%h0, %h1"), ("f32", "%f0, %f1")] {
        let cases = cases(from);
        let tos: &[(&str, u32)] = match from {
            "f16" => &[("f16", 0x3c00), ("bf16", 0x3f80), ("u16", 0xffff), ("s32", u32::MAX)],
            "bf16" => &[("bf16", 0x3f80), ("s16", 0xffff), ("u32", u32::MAX)],
            _ => &[("f16", 0x3c00), ("bf16", 0x3f80), ("f32", 0x3f80_0000), ("u32", u32::MAX)],
        };
        for (i, compare) in COMPARES.iter().enumerate() {
            let logic = ["", "and", "or", "xor"][i % 4];
            let (to, one) = tos[i % tos.len()];
            let joint = if logic.is_empty() {
                [String::new(), String::new()]
            } else {
                [format!(".{logic}"), ", %p0".into()]
            };
            let wide = matches!(to, "u32" | "s32" | "f32");
            let (d, take) = if wide { ("%d0", "") } else { ("%h2", "cvt.u32.u16 %d0, %h2;") };
            let d = if to == "f32" { "%f2" } else { d };
            let take = if to == "f32" { "mov.b32 %d0, %f2;" } else { take };
            let got = run(
                &cases,
                &format!(
                    "cvt.u16.u32 %h0, %a0; cvt.u16.u32 %h1, %a1; mov.b32 %f0, %a0; mov.b32 %f1, %a1;
                     set.{compare}{}.{to}.{from} {d}, {sources}{}; {take}",
                    joint[0], joint[1]
                ),
            );
            for (&[a, b, c], got) in cases.iter().zip(got) {
                let holds = joined(logic, holds(compare, value(from, a), value(from, b)), c == 1);
                assert_eq!(
                    got,
                    if holds { one } else { 0 },
                    "{compare} {logic} {to} {from} {a:#x} {b:#x} {c}"
                );
            }
        }
    }
}

#[test]
fn pairs_of_halves_are_joined_with_the_predicate_each() {
    for format in ["f16", "bf16"] {
        let cases = cases(format);
        for (compare, logic) in COMPARES.iter().zip(["and", "or", "xor"].iter().cycle()) {
            // The low halves are a and b, the high ones b and a.
            let pair = "prmt.b32 %r0, %a0, %a1, 0x5410; prmt.b32 %r1, %a1, %a0, 0x5410;";
            let setp = format!(
                "{pair} setp.{compare}.{logic}.{format}x2 %p1|%p2, %r0, %r1, %p0;
                 selp.u32 %d0, 1, 0, %p1; @%p2 add.u32 %d0, %d0, 2;"
            );
            let set = format!(
                "{pair} set.{compare}.{logic}.u32.{format}x2 %d0, %r0, %r1, %p0; and.b32 %d0, %d0, 0x20001;
                 shr.u32 %r2, %d0, 16; or.b32 %d0, %d0, %r2; and.b32 %d0, %d0, 3;"
            );
            let one = format!(
                "cvt.u16.u32 %h0, %a0; cvt.u16.u32 %h1, %a1; setp.{compare}.{logic}.{format} %p1, %h0, %h1, !%p0;
                 selp.u32 %d0, 1, 0, %p1;"
            );
            let got = [run(&cases, &setp), run(&cases, &set), run(&cases, &one)];
            for (i, &[a, b, c]) in cases.iter().enumerate() {
                let (x, y) = (value(format, a), value(format, b));
                let [low, high] = [(x, y), (y, x)].map(|(x, y)| joined(logic, holds(compare, x, y), c == 1));
                let want = u32::from(low) | u32::from(high) << 1;
                let single = joined(logic, holds(compare, x, y), c == 0);
                let found = [got[0][i], got[1][i], got[2][i]];
                assert_eq!(
                    found,
                    [want, want, single.into()],
                    "{compare} {logic} {format} {a:#x} {b:#x} {c}"
                );
            }
        }
    }
}

#[test]
fn lop3_tells_whether_its_result_is_other_than_zero() {
    let all = [0, 1, 0x8000_0000, 0x5555_5555, 0xaaaa_aaaa, u32::MAX];
    let cases: Vec<[u32; 3]> =
        all.iter().flat_map(|&a| all.iter().flat_map(move |&b| [[a, b, 0], [a, b, 1]])).collect();
    for (table, f) in [(0xc0u32, (|a, b| a & b) as fn(u32, u32) -> u32), (0x3c, |a, b| a ^ b)] {
        for logic in ["and", "or"] {
            let got = run(
                &cases,
                &format!(
                    "lop3.{logic}.b32 %d0|%p1, %a0, %a1, %a2, {table}, %p0; and.b32 %d0, %d0, 0x55555555;
                     lop3.{logic}.b32 _|%p2, %a0, %a1, %a2, {table}, !%p0;
                     @%p1 or.b32 %d0, %d0, 2; @%p2 or.b32 %d0, %d0, 8;"
                ),
            );
            for (&[a, b, c], got) in cases.iter().zip(got) {
                let result = f(a, b);
                let p = joined(logic, result != 0, c == 1);
                let q = joined(logic, result != 0, c == 0);
                let want = result & 0x5555_5555 | u32::from(p) << 1 | u32::from(q) << 3;
                assert_eq!(got, want, "{logic} {table:#x} {a:#x} {b:#x} {c}");
            }
        }
    }
}

#[test]
fn cnot_is_one_where_all_bits_are_zero() {
    let cases = [[0, 0, 0], [1, 0, 0], [0x1_0000, 0, 0], [u32::MAX, 0, 0]];
    let got = run(
        &cases,
        "cnot.b32 %d0, %a0; cvt.u16.u32 %h0, %a0; cnot.b16 %h1, %h0; cvt.u32.u16 %r0, %h1;
         mov.b64 %rd0, {%r0, %a0}; cnot.b64 %rd1, %rd0; cvt.u32.u64 %r1, %rd1;
         mad.lo.u32 %d0, %r0, 2, %d0; mad.lo.u32 %d0, %r1, 4, %d0;",
    );
    assert_eq!(got, [3, 0, 2, 0]);
}
