//! `wgmma`: every type, shape and shared-memory layout against sums of products, with the places of elements from the
//! ISA's figures ("WGMMA .m64nNk16 register fragment layout for matrix A", ..., "Canonical Layouts").
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fmt::Write;

use common::{download, launch, module, shape, u32_arg, u64_arg, upload};
use girih_sim::{Error, Memory, Options};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Element types of A and B, and those of D that go with them.
const TYPES: &[(&str, &str, &[&str])] = &[
    ("f16", "f16", &["f32", "f16"]),
    ("bf16", "bf16", &["f32"]),
    ("tf32", "tf32", &["f32"]),
    ("e4m3", "e4m3", &["f32", "f16"]),
    ("e4m3", "e5m2", &["f32", "f16"]),
    ("e5m2", "e4m3", &["f32", "f16"]),
    ("e5m2", "e5m2", &["f32", "f16"]),
    ("s8", "s8", &["s32", "satfinite.s32"]),
    ("s8", "u8", &["s32", "satfinite.s32"]),
    ("u8", "s8", &["s32", "satfinite.s32"]),
    ("u8", "u8", &["s32", "satfinite.s32"]),
    ("b1", "b1", &["s32"]),
];

fn bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "tf32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

fn is_integer(ty: &str) -> bool {
    matches!(ty, "s8" | "u8" | "b1")
}

/// A value whose sums of products with its like are exact in every accumulator.
fn value(random: &mut Random, ty: &str) -> i64 {
    match ty {
        "b1" => random.below(2) as i64,
        "s8" => random.below(256) as i64 - 128,
        "u8" => random.below(256) as i64,
        _ => random.below(9) as i64 - 4,
    }
}

/// The bits of a value.
fn encode(ty: &str, x: i64) -> u32 {
    let magnitude = x.unsigned_abs() as usize;
    match ty {
        "f16" => half::f16::from_f64(x as f64).to_bits().into(),
        "bf16" => half::bf16::from_f64(x as f64).to_bits().into(),
        // The low bits are not read.
        "tf32" => (x as f32).to_bits() | 0x1234 & 0x1fff,
        "e4m3" => [0, 0x38, 0x40, 0x44, 0x48][magnitude] | u32::from(x < 0) << 7,
        "e5m2" => [0, 0x3c, 0x40, 0x42, 0x44][magnitude] | u32::from(x < 0) << 7,
        _ => (x & 0xff) as u32,
    }
}

/// Puts element `index` (of `bits(ty)` bits) into bytes from `at` on.
fn put(memory: &mut [u8], at: usize, ty: &str, x: i64) {
    let word = encode(ty, x).to_le_bytes();
    memory[at..at + bits(ty) / 8].copy_from_slice(&word[..bits(ty) / 8]);
}

/// How a matrix lies in shared memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The mode that is contiguous is not K.
    mn: bool,
    /// 0, 32, 64, 128.
    width: usize,
    /// Offset of the first element, without the swizzle; and leading and stride byte offsets.
    start: usize,
    leading: usize,
    stride: usize,
}

/// The first byte of shared memory that kernels see.
const BASE: usize = 1024;

impl Place {
    /// The canonical layouts: the offset of row `i` (of M or N) and column `k` of K, in bytes; T elements are 16 bytes.
    /// Of bits, the byte.
    fn offset(&self, i: usize, k: usize, bits: usize) -> usize {
        let t = 128 / bits;
        let size = |elements: usize| elements * bits / 8;
        let (l, s) = (self.leading, self.stride);
        let w = self.width;
        let linear = match (self.mn, w) {
            // ((8,m),(T,2)):((T,SBO),(1,LBO))
            (false, 0) => i % 8 * 16 + i / 8 * s + size(k % t) + k / t * l,
            // ((8,m),(T,2)):((8T,SBO),(1,T)) and so on
            (false, _) => i % 8 * w + i / 8 * s + size(k % t) + k / t * 16,
            // ((T,1,m),(8,k)):((1,T,SBO),(T,LBO))
            (true, 0) => size(i % t) + i / t * s + k % 8 * 16 + k / 8 * l,
            // ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)) and so on
            (true, _) => {
                let c = w / 16;
                size(i % t) + i / t % c * 16 + i / (t * c) * l + k % 8 * w + k / 8 * s
            }
        };
        // Swizzle<B,4,3>
        let address = BASE + self.start + linear;
        let swizzled = match w {
            0 => address,
            _ => {
                let mask = w / 16 - 1;
                (address & !0x70) | ((address >> 4 & 7) ^ (address >> 7 & mask)) << 4
            }
        };
        swizzled - BASE
    }

    fn descriptor(&self) -> u64 {
        let field = |bytes: usize| (bytes >> 4 & 0x3fff) as u64;
        let swizzle = match self.width {
            0 => 0u64,
            w => (256 / w).ilog2().into(),
        };
        field(BASE + self.start) | field(self.leading) << 16 | field(self.stride) << 32 | swizzle << 62
    }

    /// A random place for `rows` x 32 bytes in `space` bytes from `from` on, with no two elements in one byte.
    fn random(
        random: &mut Random,
        rows: usize,
        bits: usize,
        mn: bool,
        width: usize,
        from: usize,
        space: usize,
    ) -> Place {
        let k = 256 / bits;
        for _ in 0..10_000 {
            let unit = if width == 0 { 16 } else { 8 * width };
            let mut bytes = || unit * random.below((space / unit) as u64 / 2) as usize;
            let (leading, stride) = (bytes(), bytes());
            let mut start = from.next_multiple_of(unit) + bytes() / 2 / unit * unit;
            // Further along K in a row that holds more of it.
            if width > 32 && !mn {
                start += 32 * random.below(width as u64 / 32) as usize;
            }
            let place = Place { mn, width, start, leading, stride };
            let chunks = (0..rows).flat_map(|i| (0..k).map(move |k| (i, k)));
            let mut used: Vec<usize> = chunks.map(|(i, k)| place.offset(i, k, bits)).collect();
            used.sort_unstable();
            used.dedup();
            let fits = used.last().is_some_and(|&last| last + 4 <= from + space);
            if fits && used.len() == rows * 32 / (bits / 8).max(1) {
                return place;
            }
        }
        // Dense: rows of 32 bytes, or 8 rows of K.
        let (leading, stride) = match (mn, width) {
            (false, 0) => (rows * 16, 128),
            (false, w) => (16, 8 * w),
            (true, 0) => (rows * 16, 128),
            (true, w) => (16 * w, 8 * w),
        };
        Place { mn, width, start: from.next_multiple_of(1024), leading, stride }
    }
}

/// One product.
struct Case {
    a: &'static str,
    b: &'static str,
    d: &'static str,
    n: usize,
    /// A in shared memory, or in registers.
    left: Option<Place>,
    right: Place,
    negate: [bool; 2],
    accumulate: bool,
}

/// Bytes of shared memory.
const SPACE: usize = 96 << 10;

impl Case {
    fn k(&self) -> usize {
        256 / bits(self.a)
    }

    fn registers(&self) -> usize {
        if self.d == "f16" { self.n / 4 } else { self.n / 2 }
    }

    fn instruction(&self) -> String {
        let list = |name: &str, n: usize| (0..n).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(", ");
        let a = if self.left.is_some() { "%da".into() } else { format!("{{{}}}", list("%a", 4)) };
        let pop = if self.a == "b1" { ".and.popc" } else { "" };
        let mut text = format!(
            "wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}{pop} {{{}}}, {a}, %db, %p",
            self.n,
            self.k(),
            self.d,
            self.a,
            self.b,
            list("%d", self.registers())
        );
        if !is_integer(self.a) {
            for negate in self.negate {
                text += if negate { ", -1" } else { ", 1" };
            }
        }
        if bits(self.a) == 16 {
            for place in self.left.iter().chain([&self.right]) {
                text += if place.mn { ", 1" } else { ", 0" };
            }
        }
        text + ";"
    }

    /// Parameters: results, initial D, A's fragments, shared memory's image, descriptors, scale-d.
    fn kernel(&self, body: &str) -> String {
        let mut k = String::from(
            ".extern .shared .align 1024 .b8 mem[];
.visible .entry k(.param .u64 out, .param .u64 c, .param .u64 a, .param .u64 image, .param .u64 da, .param .u64 db,
                  .param .u32 scale) {
  .reg .b32 %d<128>, %a<4>, %t, %s, %i, %x<4>; .reg .b64 %out, %c, %pa, %im, %da, %db, %o; .reg .pred %p, %q;
  ld.param.u64 %out, [out]; ld.param.u64 %c, [c]; ld.param.u64 %pa, [a]; ld.param.u64 %im, [image];
  ld.param.u64 %da, [da]; ld.param.u64 %db, [db]; ld.param.u32 %s, [scale]; setp.ne.u32 %p, %s, 0;
  mov.u32 %t, %tid.x; mov.u32 %s, mem; shl.b32 %i, %t, 4; add.u32 %s, %s, %i; mul.wide.u32 %o, %t, 16;
  add.u64 %im, %im, %o; mov.u32 %i, 0;
L: ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%im]; st.shared.v4.b32 [%s], {%x0, %x1, %x2, %x3};
  add.u64 %im, %im, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; ",
        );
        writeln!(k, "setp.lt.u32 %q, %i, {}; @%q bra L;", SPACE / 2048).unwrap();
        let words = self.registers();
        writeln!(k, "mul.wide.u32 %o, %t, {}; add.u64 %out, %out, %o; add.u64 %c, %c, %o;", 4 * words)
            .unwrap();
        k += "mul.wide.u32 %o, %t, 16; add.u64 %pa, %pa, %o;\n";
        for i in 0..words {
            writeln!(k, "ld.global.b32 %d{i}, [%c+{}];", 4 * i).unwrap();
        }
        k += "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%pa]; fence.proxy.async; bar.sync 0;\n";
        k += body;
        for i in 0..words {
            write!(k, "\nst.global.b32 [%out+{}], %d{i};", 4 * i).unwrap();
        }
        module(&(k + "\nret;\n}\n")).replace("sm_90", "sm_90a").replace("8.0", "8.4")
    }

    /// Runs the body on random matrices; results and what they should be.
    fn run(&self, random: &mut Random, body: &str, options: &Options) -> Result<(Vec<u32>, Vec<u32>), Error> {
        let (k, n) = (self.k(), self.n);
        let a: Vec<Vec<i64>> = (0..64).map(|_| (0..k).map(|_| value(random, self.a)).collect()).collect();
        let b: Vec<Vec<i64>> = (0..n).map(|_| (0..k).map(|_| value(random, self.b)).collect()).collect();
        // Elements that belong to no matrix are small, too.
        let mut image: Vec<u8> = (0..SPACE).map(|_| random.next() as u8 & 0x03).collect();
        for (ty, matrix, place) in
            [(self.a, &a, self.left.as_ref()), (self.b, &b, Some(&self.right))].into_iter()
        {
            let Some(place) = place else { continue };
            for (i, row) in matrix.iter().enumerate() {
                for (k, &x) in row.iter().enumerate() {
                    let at = place.offset(i, k, bits(ty));
                    if ty == "b1" {
                        image[at] = image[at] & !(1 << (k % 8)) | (x as u8) << (k % 8);
                    } else {
                        put(&mut image, at, ty, x);
                    }
                }
            }
        }
        let fragments = self.fragments(&a);
        let large = self.d.starts_with("satfinite");
        let c: Vec<i64> =
            (0..64 * n)
                .map(|_| {
                    if large {
                        random.pick(&[i32::MAX, i32::MIN]).into()
                    } else {
                        random.below(64) as i64 - 32
                    }
                })
                .collect();
        let d: Vec<i64> = (0..64 * n)
            .map(|at| {
                let sum: i64 = (0..k).map(|k| a[at / n][k] * b[at % n][k]).sum();
                let sign = if self.negate[0] != self.negate[1] && !is_integer(self.a) { -1 } else { 1 };
                let d = sign * sum + if self.accumulate { c[at] } else { 0 };
                if large { d.clamp(i32::MIN.into(), i32::MAX.into()) } else { d }
            })
            .collect();
        let memory = Memory::new();
        let words: Vec<u32> =
            image.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        let count = 128 * self.registers();
        let out = upload(&memory, &vec![0; count]);
        let mut config = shape(1, 128);
        config.dynamic_shared = SPACE as u32;
        config.args = vec![
            u64_arg(out),
            u64_arg(upload(&memory, &self.accumulators(&c))),
            u64_arg(upload(&memory, &fragments)),
            u64_arg(upload(&memory, &words)),
            u64_arg(self.left.map_or(0, |place| place.descriptor())),
            u64_arg(self.right.descriptor()),
            u32_arg(self.accumulate.into()),
        ];
        launch(&self.kernel(body), &memory, &config, options)?;
        Ok((download(&memory, out, count), self.accumulators(&d)))
    }

    /// The registers of A: rows by groups of four lanes, columns by what fits a register.
    fn fragments(&self, a: &[Vec<i64>]) -> Vec<u32> {
        let per = 32 / bits(self.a);
        let mut words = Vec::new();
        for thread in 0..128 {
            let (warp, group, quad) = (thread / 32, thread % 32 / 4, thread % 4);
            for register in 0..4 {
                let row = 16 * warp + group + if register % 2 == 1 { 8 } else { 0 };
                let first = quad * per + if register >= 2 { 4 * per } else { 0 };
                let word = (0..per).fold(0, |word, h| {
                    let bits = bits(self.a);
                    word | (encode(self.a, a[row][first + h]) & (u32::MAX >> (32 - bits))) << (bits * h)
                });
                words.push(word);
            }
        }
        words
    }

    /// The registers of D, by the ISA's formulas: row = 16 warp + group (+ 8 if bit 1 of i), col = quad * 2 + bit 0 of i + 8
    /// (i / 4) for the i-th element of a thread.
    fn accumulators(&self, d: &[i64]) -> Vec<u32> {
        let mut words = Vec::new();
        for thread in 0..128 {
            let (warp, group, quad) = (thread / 32, thread % 32 / 4, thread % 4);
            let element = |i: usize| {
                let row = 16 * warp + group + if i & 2 != 0 { 8 } else { 0 };
                d[row * self.n + quad * 2 + (i & 1) + 8 * (i / 4)]
            };
            let elements: Vec<i64> = (0..self.n / 2).map(element).collect();
            match self.d {
                "f32" => words.extend(elements.iter().map(|&x| (x as f32).to_bits())),
                "f16" => words.extend(elements.chunks_exact(2).map(|pair| {
                    let [low, high] =
                        [0, 1].map(|h| u32::from(half::f16::from_f64(pair[h] as f64).to_bits()));
                    low | high << 16
                })),
                _ => words.extend(elements.iter().map(|&x| x as i32 as u32)),
            }
        }
        words
    }

    fn check(&self, random: &mut Random, seed: u64) {
        let body = format!(
            "wgmma.fence.sync.aligned;\n{}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
            self.instruction()
        );
        let options = Options { seed, ..Options::checked() };
        let (found, wanted) = self.run(random, &body, &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, wanted, "{} A {:?} B {:?}", self.instruction(), self.left, self.right);
    }
}

fn case(random: &mut Random, types: (&'static str, &'static str), d: &'static str, n: usize) -> Case {
    let (a, b) = types;
    let mn = |random: &mut Random| bits(a) == 16 && random.flip();
    let width = |random: &mut Random| random.pick(&[0, 32, 64, 128]);
    let (a_mn, a_width, b_mn, b_width) = (mn(random), width(random), mn(random), width(random));
    let shared = random.below(3) > 0;
    Case {
        a,
        b,
        d,
        n,
        left: shared.then(|| Place::random(random, 64, bits(a), a_mn, a_width, 0, 32 << 10)),
        right: Place::random(random, n, bits(b), b_mn, b_width, 32 << 10, 64 << 10),
        negate: [random.flip(), random.flip()],
        accumulate: random.below(4) > 0,
    }
}

/// Every type with every N that it has.
#[test]
fn every_shape() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for &(a, b, sums) in TYPES {
        for &d in sums {
            for n in (8..=256).step_by(8) {
                if is_integer(a) && n > 32 && n % 16 != 0 {
                    continue;
                }
                case(&mut random, (a, b), d, n).check(&mut random, n as u64 / 8 % 3);
            }
        }
    }
}

/// Every pair of layouts that each type has, at several places each.
#[test]
fn every_layout() {
    let mut random = Random(0x0fed_cba9_8765_4321);
    for &(a, b, sums) in TYPES {
        let majors: &[bool] = if bits(a) == 16 { &[false, true] } else { &[false] };
        let sides = || majors.iter().flat_map(|&mn| [0, 32, 64, 128].map(|width| (mn, width)));
        for (a_mn, a_width) in sides() {
            for (b_mn, b_width) in sides() {
                let n = random.pick(&[8, 16, 64, 96]);
                let left = Place::random(&mut random, 64, bits(a), a_mn, a_width, 0, 32 << 10);
                let right = Place::random(&mut random, n, bits(b), b_mn, b_width, 32 << 10, 64 << 10);
                let (left, negate) = (Some(left), [false, true]);
                Case { a, b, d: sums[0], n, left, right, negate, accumulate: true }.check(&mut random, 0);
            }
        }
    }
}

/// A small product of bf16 with A in shared memory, or in registers.
fn small(in_registers: bool) -> Case {
    let place = |start| Place { mn: false, width: 128, start, leading: 16, stride: 1024 };
    Case {
        a: "bf16",
        b: "bf16",
        d: "f32",
        n: 16,
        left: (!in_registers).then(|| place(0)),
        right: place(32 << 10),
        negate: [false; 2],
        accumulate: true,
    }
}

/// Runs a body in which `wgmma` stands for the product and F, C, W for fence, commit and wait.
fn outcome(case: &Case, body: &str) -> Result<(), Error> {
    let body = body
        .replace("WGMMA", &case.instruction())
        .replace("F;", "wgmma.fence.sync.aligned;")
        .replace("C;", "wgmma.commit_group.sync.aligned;")
        .replace("W ", "wgmma.wait_group.sync.aligned ");
    let seeds = [0, 1, 2, 3];
    let mut outcomes = seeds.map(|seed| {
        let options = Options { seed, ..Options::checked() };
        case.run(&mut Random(0x1111_2222_3333_4444), &body, &options).map(|_| ())
    });
    for other in &outcomes[1..] {
        assert_eq!(other.is_ok(), outcomes[0].is_ok(), "{body}");
    }
    std::mem::replace(&mut outcomes[0], Ok(()))
}

#[test]
fn registers_in_flight_are_left_alone() {
    for case in [small(false), small(true)] {
        outcome(&case, "F; WGMMA C; W 0;").unwrap();
        outcome(&case, "F; WGMMA C; F; WGMMA C; W 1; W 0;").unwrap();
        let flight = |body: &str| match outcome(&case, body) {
            Err(Error::WgmmaInFlight { register, wgmma, .. }) => {
                assert!(wgmma.place.instruction.starts_with("wgmma.mma_async"), "{wgmma}");
                register
            }
            other => panic!("{body}: {other:?}"),
        };
        assert_eq!(flight("F; WGMMA C;"), "%d0");
        assert_eq!(flight("F; WGMMA W 0;"), "%d0");
        assert_eq!(flight("F; WGMMA C; W 1;"), "%d0");
        assert_eq!(flight("F; WGMMA C; WGMMA W 0;"), "%d0");
        assert_eq!(flight("F; WGMMA C; mov.b32 %d3, 0; W 0;"), "%d3");
        assert_eq!(flight("F; WGMMA C; mov.b32 %t, %d5; W 0;"), "%d5");
    }
    let touch = "F; WGMMA C; mov.b32 %a2, 0; W 0;";
    outcome(&small(false), touch).unwrap();
    assert!(matches!(outcome(&small(true), touch), Err(Error::WgmmaInFlight { .. })));
}

#[test]
fn a_fence_comes_between_other_accesses_and_the_next() {
    for case in [small(false), small(true)] {
        let unfenced = |body: &str| match outcome(&case, body) {
            Err(Error::WgmmaUnfenced { register, .. }) => register,
            other => panic!("{body}: {other:?}"),
        };
        assert_eq!(unfenced("WGMMA C; W 0;"), "its registers");
        assert_eq!(unfenced("F; mov.b32 %d1, 0; WGMMA C; W 0;"), "%d1");
        assert_eq!(unfenced("F; WGMMA C; W 0; mov.b32 %t, %d2; WGMMA C; W 0;"), "%d2");
        outcome(&case, "F; WGMMA C; W 0; mov.b32 %t, %d2; F; WGMMA C; W 0;").unwrap();
        // Products of one shape follow one another without; those of different shapes don't.
        outcome(&case, "F; WGMMA WGMMA C; WGMMA C; W 0;").unwrap();
        let narrow = Case { n: 8, ..small(case.left.is_none()) }.instruction();
        assert_eq!(unfenced(&format!("F; WGMMA {narrow} C; W 0;")), "%d0");
        outcome(&case, &format!("F; WGMMA C; W 0; F; {narrow} C; W 0;")).unwrap();
    }
    let touch = "F; mov.b32 %a1, 0; WGMMA C; W 0;";
    outcome(&small(false), touch).unwrap();
    assert!(matches!(outcome(&small(true), touch), Err(Error::WgmmaUnfenced { .. })));
}

#[test]
fn accumulators_are_read_if_scale_d_says_so() {
    let fresh = small(false).instruction().replace("%d", "%e");
    let body = |scale| {
        format!(
            "{{ .reg .b32 %e<8>; .reg .pred %s; setp.eq.u32 %s, 1, {scale}; F; {} C; W 0; }}",
            fresh.replace("%eb", "%db").replace("%ea", "%da").replace("%p", "%s")
        )
    };
    outcome(&small(false), &body(0)).unwrap();
    let error = outcome(&small(false), &body(1)).unwrap_err();
    assert!(matches!(error, Error::UninitialisedRegister { .. }), "{error}");
}

#[test]
fn the_warps_of_a_warpgroup_agree() {
    let case = small(false);
    let error = outcome(&case, "F; setp.ne.u32 %q, %t, 77; @%q WGMMA C; W 0;").unwrap_err();
    assert!(matches!(error, Error::Divergent { active, .. } if active == !(1 << 13)), "{error}");
    for (register, what) in [("%da", "the descriptor of A"), ("%db", "the descriptor of B")] {
        let other =
            format!("setp.ge.u32 %q, %t, 96; @%q add.u64 {register}, {register}, 2; F; WGMMA C; W 0;");
        let error = outcome(&case, &other).unwrap_err();
        assert!(matches!(error, Error::Warpgroup { what: found, .. } if found == what), "{error}");
        let lanes =
            format!("setp.ge.u32 %q, %t, 100; @%q add.u64 {register}, {register}, 2; F; WGMMA C; W 0;");
        let error = outcome(&case, &lanes).unwrap_err();
        assert!(matches!(error, Error::BadValue { what: found, .. } if found == what), "{error}");
    }
    let error = outcome(&case, "setp.lt.u32 %p, %t, 32; F; WGMMA C; W 0;").unwrap_err();
    assert!(matches!(error, Error::Warpgroup { what: "scale-d", value: 0, expected: 1, .. }), "{error}");
    let error =
        outcome(&case, "F; setp.lt.u32 %q, %t, 64; @%q bra M; WGMMA C; W 0; bra N; M: WGMMA C; W 0; N:");
    assert!(matches!(error, Err(Error::Warpgroup { what: "the instruction", .. })), "{error:?}");
}

#[test]
fn descriptors_stay_in_shared_memory() {
    let mut case = small(false);
    case.right.start = SPACE - 2048;
    let (body, mut random) = ("wgmma.fence.sync.aligned;\nWGMMA", Random(1));
    let body = body.replace("WGMMA", &format!("add.u64 %db, %db, 64; {}", case.instruction()));
    let error = case.run(&mut random, &body, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::OutOfBounds { .. }), "{error}");
}

/// The first to wait needs all four; a warp that stays away is told, whether it has exited or waits for something else.
#[test]
fn a_warpgroup_needs_all_its_warps() {
    let case = small(false);
    let error = outcome(&case, "setp.ge.u32 %q, %t, 96; @%q bra N; F; WGMMA C; W 0; N:").unwrap_err();
    assert!(matches!(error, Error::WarpgroupIncomplete { warp: 3, .. }), "{error}");
    let error =
        outcome(&case, "setp.lt.u32 %q, %t, 32; @%q bra N; F; WGMMA C; W 0; N: bar.sync 0;").unwrap_err();
    assert!(matches!(error, Error::Deadlock { .. }), "{error}");
    assert!(error.to_string().contains("the same wgmma in warp 0 of its warpgroup"), "{error}");
    let threads = case.kernel(&format!("wgmma.fence.sync.aligned;\n{}", case.instruction()));
    let program = common::load(&threads).unwrap();
    let mut config = shape(1, 96);
    config.dynamic_shared = SPACE as u32;
    let memory = Memory::new();
    let some = upload(&memory, &vec![0; SPACE / 4]);
    let descriptor = u64_arg(case.right.descriptor());
    config.args = [vec![u64_arg(some); 4], vec![descriptor.clone(), descriptor, u32_arg(0)]].concat();
    let error =
        girih_sim::run(program.kernel("k").unwrap(), &memory, &config, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::BadValue { value: 96, .. }), "{error}");
}

/// What an operation reads is not written before its end: neither by the warp itself, nor by others that don't know of it.
#[test]
fn shared_memory_is_left_alone_while_it_is_read() {
    let case = small(false);
    let store = "mov.u32 %x0, mem; setp.eq.u32 %q, %t, 0; @%q st.shared.b32 [%x0+32768], %t;";
    let error = outcome(&case, &format!("F; WGMMA C; {store} W 0;")).unwrap_err();
    assert!(matches!(error, Error::InFlight { .. }), "{error}");
    outcome(&case, &format!("F; WGMMA C; W 0; {store}")).unwrap();
    // Without a fence of the proxies the writes before are not seen.
    let error = outcome(&case, &format!("{store} bar.sync 0; F; WGMMA C; W 0;")).unwrap_err();
    assert!(matches!(error, Error::Unfenced { .. }), "{error}");
    outcome(&case, &format!("{store} fence.proxy.async; bar.sync 0; F; WGMMA C; W 0;")).unwrap();
    // Written by one warp, read by all: a barrier too.
    let error = outcome(&case, &format!("{store} fence.proxy.async; F; WGMMA C; W 0;")).unwrap_err();
    assert!(matches!(error, Error::Race { .. } | Error::InFlight { .. }), "{error}");
}
