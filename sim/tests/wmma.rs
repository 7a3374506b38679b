//! `wmma` in every shape, type and layout, from global and shared memory, on small whole numbers; `mma.m8n8k4` of f16.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, launch, map, module, per_thread, shape, u64_arg, upload};
use girih_sim::{Error, Memory, Options};
use half::{bf16, f16};

/// A matrix's elements as bits in memory, `bits` each, the first in the lowest.
fn packed(values: &[u64], bits: u32) -> Vec<u32> {
    if bits == 64 {
        return values.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    }
    let word = |part: &[u64]| part.iter().rev().fold(0, |word, &x| word << bits | x) as u32;
    values.chunks(32 / bits as usize).map(word).collect()
}

/// Whole numbers from 0 to `below - 1`.
fn whole(count: usize, below: u64, salt: u64) -> Vec<i64> {
    (1..=count as u64)
        .map(|i| (((i * 7919 + salt * 104_729) * (i + 31)) >> 5) % below)
        .map(|x| x as i64)
        .collect()
}

/// The bits of a number in a type.
fn bits_of(ty: &str, x: i64) -> u64 {
    match ty {
        "f16" => f16::from_f64(x as f64).to_bits().into(),
        "bf16" => bf16::from_f64(x as f64).to_bits().into(),
        "tf32" | "f32" => (x as f32).to_bits().into(),
        "f64" => (x as f64).to_bits(),
        "s32" => (x as u32).into(),
        "u8" | "s8" => (x as u8).into(),
        "u4" | "s4" => x as u64 & 15,
        _ => x as u64 & 1,
    }
}

fn bits(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "u4" | "s4" => 4,
        "u8" | "s8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// The number of registers of a fragment with this many elements; factors of f16 have eight.
fn registers(ty: &str, elements: usize, factor: bool) -> usize {
    if ty == "f64" {
        elements / 32
    } else if ty == "f16" && factor {
        8
    } else {
        elements * bits(ty) as usize / 32 / 32
    }
}

/// Rows, columns, and the number of products in each sum.
type Shape = (usize, usize, usize);

struct Case {
    shape: Shape,
    factors: &'static str,
    c: &'static str,
    d: &'static str,
    layouts: [&'static str; 3],
    /// Elements between lines beyond those of a line.
    extra: usize,
    tail: &'static str,
}

impl Case {
    fn list(prefix: &str, count: usize) -> String {
        let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// Loads A, B and C, multiplies and stores D.
    fn text(&self) -> String {
        let Case { shape: (m, n, k), factors, c, d, layouts: [la, lb, lc], extra, tail } = *self;
        let shape = format!("m{m}n{n}k{k}");
        let [ra, rb] = [m * k, n * k].map(|elements| registers(factors, elements, true));
        let [rc, rd] = [c, d].map(|ty| registers(ty, m * n, false));
        let pitch = |by_rows: bool, rows: usize, columns: usize| extra + if by_rows { columns } else { rows };
        let [pa, pb] = [pitch(la == "row", m, k), pitch(lb == "row", k, n)];
        let pc = pitch(lc == "row", m, n);
        let (wide, factor) = (if factors == "f64" { "b64" } else { "b32" }, Self::list);
        let op = match factors {
            "b1" => ".xor.popc",
            _ => "",
        };
        let types =
            if factors == "f16" { format!(".{d}.{c}") } else { format!(".{d}.{factors}.{factors}.{c}") };
        module(&format!(
            ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
             .reg .{wide} %a<8>, %b<8>, %c<8>, %d<8>; .reg .b64 %p<4>; .reg .b32 %s<3>;
             ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
             mov.u32 %s0, {pa}; mov.u32 %s1, {pb}; mov.u32 %s2, {pc};
             wmma.load.a.sync.aligned.{la}.{shape}.global.{factors} {}, [%p0], %s0;
             wmma.load.b.sync.aligned.{lb}.{shape}.{factors} {}, [%p1], %s1;
             wmma.load.c.sync.aligned.{lc}.{shape}.global.{c} {}, [%p2], %s2;
             wmma.mma{op}.sync.aligned.{la}.{lb}.{shape}{types}{tail} {}, {}, {}, {};
             wmma.store.d.sync.aligned.{lc}.{shape}.global.{d} [%p3], {}, %s2;
             ret; }}",
            factor("a", ra),
            factor("b", rb),
            factor("c", rc),
            factor("d", rd),
            factor("a", ra),
            factor("b", rb),
            factor("c", rc),
            factor("d", rd),
        ))
    }

    /// The numbers in the order of memory, with the extra elements between lines.
    fn stored(&self, values: &[i64], (rows, columns): (usize, usize), layout: &str, ty: &str) -> Vec<u32> {
        let (lines, width) = if layout == "row" { (rows, columns) } else { (columns, rows) };
        let at = |line, i| if layout == "row" { line * columns + i } else { i * columns + line };
        let element = |line, i| if i < width { bits_of(ty, values[at(line, i)]) } else { 0 };
        let pitch = width + self.extra;
        let all: Vec<u64> = (0..lines * pitch).map(|e| element(e / pitch, e % pitch)).collect();
        packed(&all, bits(ty))
    }

    fn run(&self) -> Result<(), Error> {
        let (m, n, k) = self.shape;
        let (below, zero) = match self.factors {
            "b1" => (2, 0),
            "u4" | "u8" => (16, 0),
            _ => (7, 3),
        };
        let a: Vec<i64> = whole(m * k, below, 1).iter().map(|x| x - zero).collect();
        let b: Vec<i64> = whole(k * n, below, 2).iter().map(|x| x - zero).collect();
        let c: Vec<i64> = whole(m * n, 20, 3).iter().map(|x| x - 10).collect();
        let product = |x: i64, y: i64| if self.factors == "b1" { x ^ y } else { x * y };
        let sum = |e: usize| (0..k).map(|i| product(a[e / n * k + i], b[i * n + e % n])).sum::<i64>() + c[e];
        let want: Vec<i64> = (0..m * n).map(sum).collect();
        let [la, lb, lc] = self.layouts;
        let memory = Memory::new();
        let want = self.stored(&want, (m, n), lc, self.d);
        let out = upload(&memory, &vec![0; want.len()]);
        let mut shape = shape(1, 32);
        for words in [
            self.stored(&a, (m, k), la, self.factors),
            self.stored(&b, (k, n), lb, self.factors),
            self.stored(&c, (m, n), lc, self.c),
        ] {
            shape.args.push(u64_arg(upload(&memory, &words)));
        }
        shape.args.push(u64_arg(out));
        launch(&self.text(), &memory, &shape, &Options::checked())?;
        assert_eq!(download(&memory, out, want.len()), want, "{}", self.text());
        Ok(())
    }
}

const LAYOUTS: [&str; 2] = ["row", "col"];

#[test]
fn every_shape_type_and_layout_is_right() {
    let whole_bytes = [(16, 16, 16), (8, 32, 16), (32, 8, 16)];
    let mut families: Vec<(Shape, &str, &str, &str)> = Vec::new();
    for shape in whole_bytes {
        families.extend([
            (shape, "f16", "f16", "f16"),
            (shape, "f16", "f16", "f32"),
            (shape, "f16", "f32", "f16"),
            (shape, "f16", "f32", "f32"),
            (shape, "bf16", "f32", "f32"),
            (shape, "u8", "s32", "s32"),
            (shape, "s8", "s32", "s32"),
        ]);
    }
    families.extend([((16, 16, 8), "tf32", "f32", "f32"), ((8, 8, 4), "f64", "f64", "f64")]);
    let mut count = 0;
    for (shape, factors, c, d) in families {
        for layouts in 0..8 {
            let layouts = [0, 1, 2].map(|bit| LAYOUTS[layouts >> bit & 1]);
            let extra = if factors == "f64" { 2 } else { 16 };
            Case { shape, factors, c, d, layouts, extra, tail: "" }.run().unwrap();
            count += 1;
        }
    }
    for (shape, factors) in [((8, 8, 32), "u4"), ((8, 8, 32), "s4"), ((8, 8, 128), "b1")] {
        for lc in LAYOUTS {
            let layouts = ["row", "col", lc];
            Case { shape, factors, c: "s32", d: "s32", layouts, extra: 128, tail: "" }.run().unwrap();
            count += 1;
        }
    }
    assert_eq!(count, 23 * 8 + 6);
}

#[test]
fn what_is_not_aligned_or_not_the_same_is_told() {
    let case = |extra| Case {
        shape: (16, 16, 16),
        factors: "f16",
        c: "f32",
        d: "f32",
        layouts: ["row", "row", "row"],
        extra,
        tail: "",
    };
    let found = case(4).run();
    assert!(matches!(&found, Err(Error::BadValue { what: "stride of the matrix", .. })), "{found:?}");
    let run = |text: &str| {
        let memory = Memory::new();
        let mut shape = shape(1, 32);
        shape.args = vec![u64_arg(upload(&memory, &[0; 512])); 3];
        shape.args.push(u64_arg(upload(&memory, &[0; 512])));
        launch(text, &memory, &shape, &Options::checked())
    };
    let text = case(0).text();
    assert!(run(&text).is_ok());
    let off = run(&text.replace("[%p0]", "[%p0+4]"));
    assert!(matches!(off, Err(Error::Misaligned { .. })), "{off:?}");
    let beyond = run(&text.replace("[%p1]", "[%p1+2048]"));
    assert!(matches!(beyond, Err(Error::OutOfBounds { .. })), "{beyond:?}");
    let each = run(&text.replace("mov.u32 %s0, 16;", "mov.u32 %s0, %laneid;"));
    assert!(matches!(each, Err(Error::BadValue { .. })), "{each:?}");
    // Lanes that stay away.
    let some = run(&text
        .replace("wmma.load.a", "setp.lt.u32 %q, %s0, 1; @%q wmma.load.a")
        .replace(".reg .b64 %p<4>;", ".reg .b64 %p<4>; .reg .pred %q;"));
    assert!(matches!(some, Err(Error::UninitialisedRegister { .. })), "{some:?}");
}

/// Sums of integers wrap, or are clamped with `.satfinite`.
#[test]
fn sums_are_clamped_when_asked() {
    let body = |tail: &str| {
        per_thread(
            1,
            1,
            &format!(
                "mov.b32 %r0, 0x7f7f7f7f;
                 wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32{tail} {{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}},
                 {{%r0, %r0}}, {{%r0, %r0}}, {{%a0, %a0, %a0, %a0, %a0, %a0, %a0, %a0}};"
            ),
        )
    };
    let start = [0x7fff_0000u32; 32];
    let sum = 0x7fff_0000u32.wrapping_add(16 * 127 * 127);
    assert_eq!(map(&body(""), 32, &start, 32).unwrap(), [sum; 32]);
    assert_eq!(map(&body(".satfinite"), 32, &start, 32).unwrap(), [0x7fff_ffff; 32]);
}

/// The places of A, B and C of `mma.m8n8k4`, from the ISA's text: the lanes 0 to 3 and 16 to 19 are the first quad pair.
mod quad {
    pub(crate) fn pair(lane: usize) -> usize {
        [[0..4, 16..20], [4..8, 20..24], [8..12, 24..28], [12..16, 28..32]]
            .iter()
            .position(|lanes| lanes.iter().any(|lanes| lanes.contains(&lane)))
            .unwrap()
    }
    pub(crate) fn a(lane: usize, i: usize, by_rows: bool) -> (usize, usize) {
        match (by_rows, lane < 16) {
            (true, true) => (lane % 4, i),
            (true, false) => (lane % 4 + 4, i),
            (false, true) => (i % 4, lane % 4),
            (false, false) => (i % 4 + 4, lane % 4),
        }
    }
    pub(crate) fn b(lane: usize, i: usize, by_rows: bool) -> (usize, usize) {
        match (by_rows, lane < 16) {
            (true, true) => (lane % 4, i),
            (true, false) => (lane % 4, i + 4),
            (false, true) => (i, lane % 4),
            (false, false) => (i, lane % 4 + 4),
        }
    }
    pub(crate) fn c(lane: usize, i: usize, half: bool) -> (usize, usize) {
        if half {
            return (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i);
        }
        let x = (lane & 0b1) + (i & 0b10);
        (if lane < 16 { x } else { x + 4 }, (i & 0b100) + (lane & 0b10) + (i & 0b1))
    }
}

#[test]
fn quad_pairs_multiply_on_their_own() {
    for case in 0..12 {
        let (ra, rb) = (case & 1 == 0, case & 2 == 0);
        let (half_d, half_c) = [(false, false), (false, true), (true, true)][case / 4];
        let number = |salt: u64| {
            move |pair: usize, row: usize, column: usize| {
                whole(4 * 64, 9, salt)[pair * 64 + row * 8 + column] - 4
            }
        };
        let (a, b, c) = (number(1), number(2), number(3));
        let word = |low: i64, high: i64| packed(&[bits_of("f16", low), bits_of("f16", high)], 16)[0];
        let mut input = Vec::new();
        for lane in 0..32 {
            let q = quad::pair(lane);
            let a: Vec<i64> = (0..4).map(|i| quad::a(lane, i, ra)).map(|(row, k)| a(q, row, k)).collect();
            let b: Vec<i64> =
                (0..4).map(|i| quad::b(lane, i, rb)).map(|(k, column)| b(q, k, column)).collect();
            let c: Vec<i64> =
                (0..8).map(|i| quad::c(lane, i, half_c)).map(|(row, column)| c(q, row, column)).collect();
            input.extend([word(a[0], a[1]), word(a[2], a[3]), word(b[0], b[1]), word(b[2], b[3])]);
            match half_c {
                true => input.extend(c.chunks(2).map(|pair| word(pair[0], pair[1])).chain([0; 4])),
                false => input.extend(c.iter().map(|&x| bits_of("f32", x) as u32)),
            }
        }
        let list = |name: &str, from: usize, half: bool| {
            let names: Vec<String> =
                (from..from + if half { 4 } else { 8 }).map(|i| format!("%{name}{i}")).collect();
            names.join(", ")
        };
        let layout = |by_rows| if by_rows { "row" } else { "col" };
        let ty = |half| if half { "f16" } else { "f32" };
        let zeros: String = (0..8).map(|i| format!("mov.b32 %d{i}, 0; ")).collect();
        let text = per_thread(
            12,
            8,
            &format!(
                "{zeros} mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{} {{{}}}, {{%a0, %a1}}, {{%a2, %a3}}, {{{}}};",
                layout(ra),
                layout(rb),
                ty(half_d),
                ty(half_c),
                list("d", 0, half_d),
                list("a", 4, half_c),
            ),
        );
        let got = map(&text, 32, &input, 32 * 8).unwrap();
        for (lane, got) in got.chunks(8).enumerate() {
            let q = quad::pair(lane);
            let value = |i: usize| {
                let (row, column) = quad::c(lane, i, half_d);
                (0..4).map(|k| a(q, row, k) * b(q, k, column)).sum::<i64>() + c(q, row, column)
            };
            let want: Vec<u32> = match half_d {
                true => (0..4).map(|r| word(value(2 * r), value(2 * r + 1))).chain([0; 4]).collect(),
                false => (0..8).map(|i| bits_of("f32", value(i)) as u32).collect(),
            };
            assert_eq!(got, want, "case {case}, lane {lane}");
        }
    }
}
