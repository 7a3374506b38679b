//! `mma.sp`, compared with dense products: matrices of which half of the elements are stored, with metadata as the
//! ISA's text and figures have it ("Sparse matrix storage", "Matrix Fragments for sparse mma.m16n8k16 with .f16 and
//! .bf16 types" and so on).

use crate::common::{load, map, module, per_thread};
use girih_sim::Error;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A shape with its types, and how many selectors it has.
#[derive(Clone, Copy, Debug)]
struct Shape {
    a: &'static str,
    b: &'static str,
    d: &'static str,
    k: usize,
    selectors: u32,
}

const fn shape(a: &'static str, b: &'static str, d: &'static str, k: usize, selectors: u32) -> Shape {
    Shape { a, b, d, k, selectors }
}

/// Every type and shape, with the selectors that the text names.
const SHAPES: &[Shape] = &[
    shape("f16", "f16", "f32", 16, 4),
    shape("f16", "f16", "f16", 16, 4),
    shape("f16", "f16", "f32", 32, 2),
    shape("f16", "f16", "f16", 32, 2),
    shape("bf16", "bf16", "f32", 16, 4),
    shape("bf16", "bf16", "f32", 32, 2),
    shape("tf32", "tf32", "f32", 8, 4),
    shape("tf32", "tf32", "f32", 16, 2),
    shape("e4m3", "e4m3", "f32", 64, 1),
    shape("e4m3", "e5m2", "f32", 64, 1),
    shape("e5m2", "e4m3", "f32", 64, 1),
    shape("e5m2", "e5m2", "f32", 64, 1),
    shape("s8", "s8", "s32", 32, 2),
    shape("u8", "s8", "s32", 32, 2),
    shape("s8", "u8", "satfinite.s32", 64, 1),
    shape("u8", "u8", "s32", 64, 1),
    shape("s4", "s4", "s32", 64, 2),
    shape("u4", "s4", "satfinite.s32", 64, 2),
    shape("s4", "u4", "s32", 128, 1),
    shape("u4", "u4", "s32", 128, 1),
];

fn bits(ty: &str) -> usize {
    match ty {
        "tf32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" => 4,
        _ => 8,
    }
}

fn value(random: &mut Random, ty: &str) -> i64 {
    match ty {
        "u8" => random.below(256) as i64,
        "s8" => random.below(256) as i64 - 128,
        "u4" => random.below(16) as i64,
        "s4" => random.below(16) as i64 - 8,
        _ => random.below(9) as i64 - 4,
    }
}

fn encode(ty: &str, x: i64) -> u32 {
    let (magnitude, sign) = (x.unsigned_abs() as usize, u32::from(x < 0));
    match ty {
        "f16" => half::f16::from_f64(x as f64).to_bits().into(),
        "bf16" => half::bf16::from_f64(x as f64).to_bits().into(),
        "tf32" => (x as f32).to_bits(),
        "e4m3" => [0, 0x38, 0x40, 0x44, 0x48][magnitude] | sign << 7,
        "e5m2" => [0, 0x3c, 0x40, 0x42, 0x44][magnitude] | sign << 7,
        "s4" | "u4" => (x & 15) as u32,
        _ => (x & 0xff) as u32,
    }
}

/// Elements of a chunk, and how many of them in a row are one for the metadata.
fn chunk(ty: &str) -> (usize, usize) {
    match ty {
        "tf32" => (2, 1),
        "s4" | "u4" => (8, 2),
        _ => (4, 1),
    }
}

/// The whole of A, its stored elements by rows, and the metadata of each chunk of each row.
struct Sparse {
    dense: Vec<Vec<i64>>,
    packed: Vec<Vec<i64>>,
    metadata: Vec<Vec<u32>>,
}

fn sparse(random: &mut Random, ty: &'static str, k: usize, ordered: bool) -> Sparse {
    let (chunk, unit) = chunk(ty);
    let (mut dense, mut packed, mut metadata) = (vec![vec![0; k]; 16], vec![vec![]; 16], vec![vec![]; 16]);
    for row in 0..16 {
        for c in 0..k / chunk {
            let parts = chunk / unit;
            let mut there: Vec<usize> = if parts == 2 {
                vec![random.below(2) as usize]
            } else {
                let first = random.below(4) as usize;
                vec![first, (first + 1 + random.below(3) as usize) % 4]
            };
            if ordered {
                there.sort_unstable();
            }
            metadata[row].push(match &there[..] {
                // A tf32 element is two halves: 0 and 1, or 2 and 3.
                [0] => 0b0100,
                [_] => 0b1110,
                pair => (pair[0] | pair[1] << 2) as u32,
            });
            for part in there {
                for i in 0..unit {
                    let x = value(random, ty);
                    dense[row][c * chunk + part * unit + i] = x;
                    packed[row].push(x);
                }
            }
        }
    }
    Sparse { dense, packed, metadata }
}

/// Where the figures have the bits of a chunk: the lane and the first bit. Figures of 16 columns of metadata a thread (16
/// and 32 bits) show rows g and g + 8 in the halves of a thread's word; those of 4 and 8 bits in two threads.
fn metadata_place(ty: &str, k: usize, row: usize, c: usize, selector: usize) -> (usize, usize) {
    let (g, below) = (row % 8, row / 8);
    match (ty, k) {
        ("f16" | "bf16", 16) | ("tf32", 8) => (4 * g + selector, 16 * below + 4 * c),
        ("f16" | "bf16", 32) | ("tf32", 16) => {
            let (thread, c) = if c < 4 { (0, c) } else { (1, c - 4) };
            (4 * g + 2 * selector + thread, 16 * below + 4 * c)
        }
        ("s8" | "u8", 32) | ("s4" | "u4", 64) => (4 * g + 2 * selector + below, 4 * c),
        _ => {
            // The second figure of these has the further columns, in the threads after.
            let (first, c) = if c < 8 { (0, c) } else { (2, c - 8) };
            (4 * g + first + below, 4 * c)
        }
    }
}

/// Row and number, among those that are there in a row, of element `i` of A in lane `t`: `firstcol` of the text is that of the
/// elements of a register, which are half of the columns from there on.
fn a_place(ty: &str, k: usize, t: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (t >> 2, t % 4);
    let low = |yes: bool| if yes { group } else { group + 8 };
    let (row, firstcol, columns) = match (ty, k) {
        ("f16" | "bf16", 16) => (low(i < 2), thread * 4, 4),
        ("f16" | "bf16", _) => (low(matches!(i, 0 | 1 | 4 | 5)), thread * 4 + if i < 4 { 0 } else { 16 }, 4),
        ("tf32", 8) => (low(i == 0), thread * 2, 2),
        ("tf32", _) => (low(i == 0 || i == 2), thread * 2 + if i < 2 { 0 } else { 8 }, 2),
        ("s4" | "u4", 64) => (low(i < 8), thread * 16, 16),
        ("s4" | "u4", _) => {
            (low(i < 8 || (16..24).contains(&i)), thread * 16 + if i < 16 { 0 } else { 64 }, 16)
        }
        (_, 32) => (low(i < 4), thread * 8, 8),
        _ => (low(i < 4 || (8..12).contains(&i)), thread * 8 + if i < 8 { 0 } else { 32 }, 8),
    };
    (row, firstcol / 2 + i % (columns / 2))
}

/// Words of elements in a lane's order.
fn words(elements: &[u32], bits: usize) -> Vec<u32> {
    let per = 32 / bits;
    let word = |chunk: &[u32]| chunk.iter().enumerate().fold(0, |word, (i, x)| word | x << (i * bits));
    elements.chunks(per).map(word).collect()
}

struct Product {
    text: String,
    input: Vec<u32>,
    want: Vec<u32>,
    sums: usize,
}

fn product(random: &mut Random, shape: Shape, selector: usize, ordered: bool) -> Product {
    let Shape { a: a_ty, b: b_ty, d, k, .. } = shape;
    let a = sparse(random, a_ty, k, ordered);
    let b: Vec<Vec<i64>> = (0..8).map(|_| (0..k).map(|_| value(random, b_ty)).collect()).collect();
    let saturate = d.starts_with("satfinite");
    let c: Vec<Vec<i64>> = (0..16)
        .map(|_| {
            (0..8).map(|_| if saturate { i32::MAX.into() } else { random.below(40) as i64 - 20 }).collect()
        })
        .collect();
    let mut metadata = [0u32; 32];
    // Threads that are not selected have invalid metadata.
    let mut given = [false; 32];
    for (row, chunks) in a.metadata.iter().enumerate() {
        for (i, &bits) in chunks.iter().enumerate() {
            let (lane, from) = metadata_place(a_ty, k, row, i, selector);
            metadata[lane] |= bits << from;
            given[lane] = true;
        }
    }
    metadata.iter_mut().zip(given).filter(|(_, given)| !given).for_each(|(word, _)| *word = 0xffff_0000);
    let half = d == "f16";
    let sums = if half { 2 } else { 4 };
    let place = |t: usize, i: usize| (if i < 2 { t >> 2 } else { (t >> 2) + 8 }, t % 4 * 2 + (i & 1));
    let number = |x: i64| match d {
        "f32" => (x as f32).to_bits(),
        "f16" => encode("f16", x),
        _ => x as i32 as u32,
    };
    let fragment = |of: &dyn Fn(usize, usize) -> i64, t: usize| {
        let elements: Vec<u32> = (0..4).map(|i| number(of(place(t, i).0, place(t, i).1))).collect();
        words(&elements, if half { 16 } else { 32 })
    };
    let (mut input, mut want) = (Vec::new(), Vec::new());
    let sum = |row: usize, column: usize| {
        let product: i64 = (0..k).map(|l| a.dense[row][l] * b[column][l]).sum();
        let sum = c[row][column] + product;
        if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }
    };
    for t in 0..32 {
        let count = 16 * k / 2 / 32;
        let elements: Vec<u32> = (0..count)
            .map(|i| a_place(a_ty, k, t, i))
            .map(|(row, at)| encode(a_ty, a.packed[row][at]))
            .collect();
        let a_words = words(&elements, bits(a_ty));
        // As many registers as A has: each four times as far along K as its elements.
        let per = 32 / bits(b_ty);
        let elements: Vec<u32> = (0..8 * k / 32)
            .map(|i| (t % 4) * per + i % per + i / per * 4 * per)
            .map(|l| encode(b_ty, b[t / 4][l]))
            .collect();
        let b_words = words(&elements, bits(b_ty));
        assert_eq!(a_words.len(), b_words.len());
        input.extend([a_words, b_words, fragment(&|i, j| c[i][j], t), vec![metadata[t]]].concat());
        want.extend(fragment(&sum, t));
    }
    let registers = input.len() / 32;
    let n = (registers - sums - 1) / 2;
    let list =
        |from: usize, n: usize| (from..from + n).map(|i| format!("%a{i}")).collect::<Vec<_>>().join(", ");
    let variant = if ordered { "sp::ordered_metadata" } else { "sp" };
    let (types, sum_ty) = d.split_once('.').map_or((String::new(), d), |(s, d)| (format!(".{s}"), d));
    let results: Vec<String> = (0..sums).map(|i| format!("%d{i}")).collect();
    let text = format!(
        "mma.{variant}.sync.aligned.m16n8k{k}.row.col{types}.{sum_ty}.{a_ty}.{b_ty}.{sum_ty} {{{}}}, {{{}}}, {{{}}}, {{{}}}, %a{}, {selector};\n",
        results.join(", "),
        list(0, n),
        list(n, n),
        list(2 * n, sums),
        registers - 1
    );
    Product { text, input, want, sums }
}

#[test]
fn every_shape_is_the_dense_product() {
    let mut random = Random(5);
    for &shape in SHAPES {
        for selector in 0..shape.selectors as usize {
            for round in 0..6 {
                let Product { text, input, want, sums } =
                    product(&mut random, shape, selector, round % 2 == 0);
                let got = map(&per_thread(input.len() / 32, sums, &text), 32, &input, 32 * sums)
                    .unwrap_or_else(|e| panic!("{shape:?} {selector}: {e}"));
                assert_eq!(got, want, "{shape:?} selector {selector}");
            }
        }
    }
}

/// Invalid metadata of a selected thread is reported with the thread; that of other threads is not looked at.
#[test]
fn metadata_that_says_nothing_is_told() {
    let mut random = Random(6);
    for &shape in SHAPES {
        for ordered in [false, true] {
            let selector = random.below(shape.selectors.into()) as usize;
            let Product { text, input, sums, .. } = product(&mut random, shape, selector, true);
            let text = if ordered { text } else { text.replace("sp::ordered_metadata", "sp") };
            let each = input.len() / 32;
            let (row, chunks) = (random.below(16) as usize, shape.k / chunk(shape.a).0);
            let (lane, from) =
                metadata_place(shape.a, shape.k, row, random.below(chunks as u64) as usize, selector);
            for bits in 0..16u32 {
                let (low, high) = (bits & 3, bits >> 2);
                let fine = match shape.a {
                    "tf32" => bits == 0b0100 || bits == 0b1110,
                    _ => low != high && (!ordered || low < high),
                };
                let mut changed = input.clone();
                let word = &mut changed[lane * each + each - 1];
                *word = *word & !(15 << from) | bits << from;
                match map(&per_thread(each, sums, &text), 32, &changed, 32 * sums) {
                    Ok(_) => assert!(fine, "{shape:?} {ordered} {bits:04b}"),
                    Err(Error::BadValue { at, what: "sparse metadata", .. }) => {
                        assert!(!fine, "{shape:?} {ordered} {bits:04b}");
                        assert_eq!(at.thread, [lane as u32, 0, 0]);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// Elements that are not stored are not multiplied: a NaN of B that would meet one has no effect.
#[test]
fn what_is_not_there_is_no_product() {
    let word = |t: usize| {
        // A is 1 at column 0 of each row, B is a NaN in column 1 of K.
        let a = if t.is_multiple_of(4) { 0x3c00 } else { 0 };
        let b = if t.is_multiple_of(4) { 0x7e00_3c00 } else { 0 };
        [a, a, b, 0, 0, 0, 0, 0, 0x8888_8888]
    };
    let input: Vec<u32> = (0..32).flat_map(word).collect();
    let text =
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%a2, %a3},
                {%a4, %a5, %a6, %a7}, %a8, 0;";
    let got = map(&per_thread(9, 4, text), 32, &input, 128).unwrap();
    assert!(got.iter().all(|&x| x == 1f32.to_bits()), "{got:x?}");
}

/// Undefined metadata of a selected thread decides where products go; that of other threads does not.
#[test]
fn undefined_metadata_is_told() {
    let run = |defined: &str| {
        let text = format!(
            ".reg .b32 %m; and.b32 %r0, %i, 3; setp.eq.u32 %p0, %r0, {defined}; @%p0 mov.b32 %m, 0x44444444;
             mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%d0, %d1, %d2, %d3}}, {{%a0, %a1}}, {{%a2, %a3}},
             {{%a4, %a5, %a6, %a7}}, %m, 2;"
        );
        map(&per_thread(8, 4, &text), 32, &[0; 256], 128)
    };
    assert!(run("2").is_ok(), "{:?}", run("2"));
    assert_eq!(run("1").unwrap_err().kind(), "uninitialised-register");
}

/// Messages name the selectors that there are.
#[test]
fn selectors_that_are_not_there_are_refused() {
    for &shape in SHAPES {
        let Product { text, .. } = product(&mut Random(1), shape, 0, true);
        let text = text.replace(", 0;", &format!(", {};", shape.selectors));
        let text = module(&format!(".visible .entry k() {{ .reg .b32 %a<40>, %d<4>; {text} ret; }}"));
        let error = load(&text).unwrap_err().to_string();
        let accepted = match shape.selectors {
            1 => "0: all threads".to_string(),
            n => format!("0 to {}", n - 1),
        };
        assert!(error.contains(&accepted), "{error}");
    }
    for (text, told) in [
        (
            "m16n8k32.row.col.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%a2, %a3}, {%d0, %d1, %d2, %d3}, %a8, 0",
            "shape",
        ),
        (
            "m16n8k64.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%a4, %a5, %a6, %a7}, {%d0, %d1}, %a8, 0",
            "sums",
        ),
        (
            "m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%a2, %a3}, {%d0, %d1, %d2, %d3}",
            "6 operands",
        ),
    ] {
        let text = module(&format!(
            ".visible .entry k() {{ .reg .b32 %a<40>, %d<4>; mma.sp.sync.aligned.{text}; ret; }}"
        ));
        let error = load(&text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
