//! `mma.sync` of integers, bits, 8-bit floats and f64: random matrices in every shape, the places of the elements from
//! the ISA's text for each shape ("Matrix Fragments for mma.m8n8k16" and so on).
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{map, per_thread};

/// groupID, threadID_in_group.
fn ids(t: usize) -> (usize, usize) {
    (t >> 2, t % 4)
}

/// Row and column of element `i` of A in lane `t`.
fn a_place(bits: u32, shape: (usize, usize), t: usize, i: usize) -> (usize, usize) {
    let (group, thread) = ids(t);
    let low = |yes: bool| if yes { group } else { group + 8 };
    match (bits, shape) {
        (8, (8, 16)) => (group, thread * 4 + i),
        (8, (16, 16)) => (low(i < 4), thread * 4 + (i & 3)),
        (8, (16, 32)) => {
            (low(i < 4 || (8..12).contains(&i)), thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
        }
        (4, (8, 32)) => (group, thread * 8 + (i & 7)),
        (4, (16, 32)) => (low(i < 8), thread * 8 + (i & 7)),
        (4, (16, 64)) => {
            (low(i < 8 || (16..24).contains(&i)), thread * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
        }
        (1, (8, 128)) => (group, thread * 32 + i),
        (1, (16, 128)) => (low(i < 32), thread * 32 + (i & 31)),
        (1, (16, 256)) => {
            (low(i < 32 || (64..96).contains(&i)), thread * 32 + (i & 31) + if i < 64 { 0 } else { 128 })
        }
        (64, (8, 4)) => (group, thread),
        (64, (16, 4)) => (low(i == 0), thread),
        (64, (16, 8)) => (low(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        (64, (16, 16)) => {
            let even = i.is_multiple_of(2);
            (low(even), if even { i * 2 + thread } else { i * 2 - 2 + thread })
        }
        _ => unreachable!("no such shape"),
    }
}

/// Row and column of element `i` of B in lane `t`.
fn b_place(bits: u32, shape: (usize, usize), t: usize, i: usize) -> (usize, usize) {
    let (group, thread) = ids(t);
    let row = match (bits, shape.1) {
        (8, 16) => thread * 4 + i,
        (8, 32) => thread * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        (4, 32) => thread * 8 + i,
        (4, 64) => thread * 8 + (i & 7) + if i < 8 { 0 } else { 32 },
        (1, 128) => thread * 32 + i,
        (1, 256) => thread * 32 + (i & 31) + if i < 32 { 0 } else { 128 },
        (64, 4) => thread,
        (64, 8) => {
            if i == 0 {
                thread
            } else {
                thread + 4
            }
        }
        (64, 16) => thread + i * 4,
        _ => unreachable!("no such shape"),
    };
    (row, group)
}

/// Row and column of element `i` of C and D in lane `t`.
fn c_place(t: usize, i: usize) -> (usize, usize) {
    let (group, thread) = ids(t);
    (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// A matrix by place, and its fragment in words: `encode` gives an element's bits.
fn fragment(
    count: usize,
    bits: u32,
    place: impl Fn(usize, usize) -> (usize, usize),
    encode: impl Fn((usize, usize)) -> u64,
) -> Vec<Vec<u32>> {
    let lane = |t| {
        let mut words = vec![0u32; (count * bits as usize).div_ceil(32)];
        for i in 0..count {
            let (x, at) = (encode(place(t, i)), i * bits as usize);
            words[at / 32] |= (x as u32) << (at % 32);
            if bits == 64 {
                words[at / 32 + 1] = (x >> 32) as u32;
            }
        }
        words
    };
    (0..32).map(lane).collect()
}

/// m and k of some shapes.
type Shapes = &'static [(usize, usize)];

/// How the bits of an element stand for a number.
type Value = fn(u64) -> i64;

/// An instruction with its types, and what a pair of elements adds to the sum.
struct Case {
    types: String,
    shape: (usize, usize),
    bits: u32,
    a: Value,
    b: Value,
    /// From random bits to the bits of an element.
    draw: fn(u64) -> u64,
    product: fn(i64, i64) -> i64,
    saturate: bool,
}

/// Small integers as C and D: bits of a number.
fn encode_sum(d_ty: &str, x: i64) -> u64 {
    match d_ty {
        "f64" => (x as f64).to_bits(),
        "f32" => (x as f32).to_bits().into(),
        _ => u64::from(x as u32),
    }
}

fn run(case: &Case, random: &mut Random, start: i64) {
    let (m, k) = case.shape;
    let d_ty = case.types.split('.').next().unwrap().to_owned();
    let a: Vec<u64> = (0..m * k).map(|_| (case.draw)(random.next())).collect();
    let b: Vec<u64> = (0..k * 8).map(|_| (case.draw)(random.next())).collect();
    let mut near = |x: i64| (x + (random.next() % 17) as i64 - 8).clamp(i32::MIN.into(), i32::MAX.into());
    let c: Vec<i64> = (0..m * 8).map(|_| near(start)).collect();
    let wide = if case.bits == 64 { 64 } else { 32 };
    let af =
        fragment(m * k / 32, case.bits, |t, i| a_place(case.bits, case.shape, t, i), |(r, l)| a[r * k + l]);
    let bf =
        fragment(8 * k / 32, case.bits, |t, i| b_place(case.bits, case.shape, t, i), |(l, j)| b[l * 8 + j]);
    let cf = fragment(m / 4, wide, c_place, |(r, j)| encode_sum(&d_ty, c[r * 8 + j]));
    let input: Vec<u32> = (0..32).flat_map(|t| [&af[t][..], &bf[t], &cf[t]].concat()).collect();
    // Registers in the order A, B, C, D; of 64 bits they are put together and taken apart.
    let step = wide as usize / 32;
    let (prefix, mut at, mut text) = (if wide == 64 { "%rd" } else { "%a" }, 0, String::new());
    let mut take = |words: usize| {
        let names = (0..words / step).map(|i| format!("{prefix}{}", at + i)).collect::<Vec<_>>().join(", ");
        at += words / step;
        format!("{{{names}}}")
    };
    let (an, bn, cn) = (take(af[0].len()), take(bf[0].len()), take(cf[0].len()));
    let sums = cf[0].len() / step;
    if wide == 64 {
        for i in 0..input.len() / 64 {
            text += &format!("mov.b64 %rd{i}, {{%a{}, %a{}}};\n", 2 * i, 2 * i + 1);
        }
    }
    let shape = format!("m{m}n8k{k}");
    let saturate = if case.saturate { ".satfinite" } else { "" };
    let d: Vec<String> =
        (0..sums).map(|i| if wide == 64 { format!("%rd{}", 16 + i) } else { format!("%d{i}") }).collect();
    text += &format!(
        "mma.sync.aligned.{shape}.row.col{saturate}.{} {{{}}}, {an}, {bn}, {cn};\n",
        case.types,
        d.join(", ")
    );
    if wide == 64 {
        for i in 0..sums {
            text += &format!("mov.b64 {{%d{}, %d{}}}, %rd{};\n", 2 * i, 2 * i + 1, 16 + i);
        }
    }
    let got = map(&per_thread(input.len() / 32, sums * step, &text), 32, &input, 32 * sums * step)
        .unwrap_or_else(|e| panic!("{shape} {}: {e}", case.types));
    for (t, i) in (0..32).flat_map(|t| (0..sums).map(move |i| (t, i))) {
        let (row, column) = c_place(t, i);
        let sum = (0..k)
            .map(|l| (case.product)((case.a)(a[row * k + l]), (case.b)(b[l * 8 + column])))
            .sum::<i64>();
        let mut want = c[row * 8 + column] + sum;
        if case.saturate {
            want = want.clamp(i32::MIN.into(), i32::MAX.into());
        }
        let word = |i: usize| u64::from(got[t * sums * step + i]);
        let got = if wide == 64 { word(2 * i) | word(2 * i + 1) << 32 } else { word(i) };
        assert_eq!(got, encode_sum(&d_ty, want), "{shape} {} lane {t} element {i}", case.types);
    }
}

fn check(case: &Case) {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..8 {
        run(case, &mut random, 0);
        if case.types.starts_with("s32") {
            run(case, &mut random, i32::MAX.into());
            run(case, &mut random, i32::MIN.into());
        }
    }
}

fn signed(x: u64, bits: u32) -> i64 {
    (x << (64 - bits)) as i64 >> (64 - bits)
}

#[test]
fn integers_are_multiplied_in_every_shape_and_signedness() {
    let value = |ty: &str| -> Value {
        match ty {
            "s8" => |x| signed(x, 8),
            "s4" => |x| signed(x, 4),
            _ => |x| x as i64,
        }
    };
    let kinds: [(u32, [&str; 2], Shapes); 2] = [
        (8, ["s8", "u8"], &[(8, 16), (16, 16), (16, 32)]),
        (4, ["s4", "u4"], &[(8, 32), (16, 32), (16, 64)]),
    ];
    for (bits, types, shapes) in kinds {
        for (a, b) in types.iter().flat_map(|a| types.iter().map(move |b| (a, b))) {
            for (&shape, saturate) in shapes.iter().flat_map(|shape| [(shape, false), (shape, true)]) {
                check(&Case {
                    types: format!("s32.{a}.{b}.s32"),
                    shape,
                    bits,
                    a: value(a),
                    b: value(b),
                    draw: if bits == 8 { |x| x & 255 } else { |x| x & 15 },
                    product: |a, b| a * b,
                    saturate,
                });
            }
        }
    }
}

#[test]
fn bits_are_combined_and_counted() {
    for shape in [(8, 128), (16, 128), (16, 256)] {
        for (op, product) in [("xor", (|a, b| a ^ b) as fn(i64, i64) -> i64), ("and", |a, b| a & b)] {
            check(&Case {
                types: format!("s32.b1.b1.s32.{op}.popc"),
                shape,
                bits: 1,
                a: |x| x as i64,
                b: |x| x as i64,
                draw: |x| x & 1,
                product,
                saturate: false,
            });
        }
    }
}

#[test]
fn doubles_are_multiplied_in_every_shape() {
    for shape in [(8, 4), (16, 4), (16, 8), (16, 16)] {
        check(&Case {
            types: "f64.f64.f64.f64".into(),
            shape,
            bits: 64,
            a: |x| f64::from_bits(x) as i64,
            b: |x| f64::from_bits(x) as i64,
            draw: |x| ((x % 2_000_001) as f64 - 1e6).to_bits(),
            product: |a, b| a * b,
            saturate: false,
        });
    }
}

/// Integers that both formats have, by their bits: -4 to 4.
#[test]
fn eight_bit_floats_are_multiplied() {
    // 1, 2, 3, 4 are 2^0, 2^1, 2^1 (1 + 1/2), 2^2.
    const E4M3: [u64; 5] = [0, 7 << 3, 8 << 3, 8 << 3 | 4, 9 << 3];
    const E5M2: [u64; 5] = [0, 15 << 2, 16 << 2, 16 << 2 | 2, 17 << 2];
    // Where both meet, an element is drawn as an index and a sign, and encoded by the type that reads it.
    fn value(table: &[u64; 5], x: u64) -> i64 {
        let magnitude = table.iter().position(|&code| code == x & 0x7f).unwrap() as i64;
        if x & 0x80 == 0 { magnitude } else { -magnitude }
    }
    check(&Case {
        types: "f32.e4m3.e4m3.f32".into(),
        shape: (16, 32),
        bits: 8,
        a: |x| value(&E4M3, x),
        b: |x| value(&E4M3, x),
        draw: |x| E4M3[(x % 5) as usize] | (x >> 8 & 1) << 7,
        product: |a, b| a * b,
        saturate: false,
    });
    check(&Case {
        types: "f32.e5m2.e5m2.f32".into(),
        shape: (16, 32),
        bits: 8,
        a: |x| value(&E5M2, x),
        b: |x| value(&E5M2, x),
        draw: |x| E5M2[(x % 5) as usize] | (x >> 8 & 1) << 7,
        product: |a, b| a * b,
        saturate: false,
    });
    // Codes of both: 0, and 2^1 of e4m3 (0x40), which is 2 in e5m2 too; 0x38 is 1 and 0.5.
    check(&Case {
        types: "f32.e4m3.e5m2.f32".into(),
        shape: (16, 32),
        bits: 8,
        a: |x| if x & 0x7f == 0 { 0 } else { 2 },
        b: |x| if x & 0x7f == 0 { 0 } else { 2 },
        draw: |x| [0, 0x40][(x & 1) as usize],
        product: |a, b| a * b,
        saturate: false,
    });
}
