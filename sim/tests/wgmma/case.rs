//! One product: its kernel, its operands, and the expected result.

use std::fmt::Write;

use girih_sim::{Error, Memory, Options};

use super::place::Place;
use super::values::{Random, bits, encode, is_integer, put, value};
use crate::common::{download, launch, module, shape, u32_arg, u64_arg, upload};

/// One product.
pub(crate) struct Case {
    pub(crate) a: &'static str,
    pub(crate) b: &'static str,
    pub(crate) d: &'static str,
    pub(crate) n: usize,
    /// A in shared memory, or in registers.
    pub(crate) left: Option<Place>,
    pub(crate) right: Place,
    pub(crate) negate: [bool; 2],
    pub(crate) accumulate: bool,
}

/// Bytes of shared memory.
pub(crate) const SPACE: usize = 96 << 10;

impl Case {
    pub(crate) fn k(&self) -> usize {
        256 / bits(self.a)
    }

    pub(crate) fn registers(&self) -> usize {
        if self.d == "f16" { self.n / 4 } else { self.n / 2 }
    }

    pub(crate) fn instruction(&self) -> String {
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
    pub(crate) fn kernel(&self, body: &str) -> String {
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

    /// Runs the body on random matrices; returns the results and the expected ones.
    pub(crate) fn run(
        &self,
        random: &mut Random,
        body: &str,
        options: &Options,
    ) -> Result<(Vec<u32>, Vec<u32>), Error> {
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
    pub(crate) fn fragments(&self, a: &[Vec<i64>]) -> Vec<u32> {
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
    pub(crate) fn accumulators(&self, d: &[i64]) -> Vec<u32> {
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

    pub(crate) fn check(&self, random: &mut Random, seed: u64) {
        let body = format!(
            "wgmma.fence.sync.aligned;\n{}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
            self.instruction()
        );
        let options = Options { seed, ..Options::checked() };
        let (found, wanted) = self.run(random, &body, &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, wanted, "{} A {:?} B {:?}", self.instruction(), self.left, self.right);
    }
}
