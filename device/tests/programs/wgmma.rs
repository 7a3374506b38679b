//! Products of a warpgroup with random descriptors, whose results show which elements the devices read.

use std::fmt::Write;

use girih_device::{Arg, Device, Kernel, LaunchConfig, Select};
use girih_ptx::Module;

use super::Random;

/// Bytes of shared memory, in which the matrices of all random descriptors lie.
const SPACE: usize = 224 << 10;

/// A kind of product: the types of D, A and B, the bits of an element, N, and whether A is sparse.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    d: &'static str,
    a: &'static str,
    b: &'static str,
    bits: usize,
    n: usize,
    sparse: bool,
}

const fn product(d: &'static str, a: &'static str, b: &'static str, bits: usize, n: usize) -> Product {
    Product { d, a, b, bits, n, sparse: false }
}

/// Dense products of every type, with a few shapes.
pub const PRODUCTS: &[Product] = &[
    product("f32", "f16", "f16", 16, 64),
    product("f16", "f16", "f16", 16, 24),
    product("f32", "bf16", "bf16", 16, 256),
    product("f32", "bf16", "bf16", 16, 8),
    product("f32", "tf32", "tf32", 32, 40),
    product("f32", "e4m3", "e4m3", 8, 96),
    product("f16", "e4m3", "e5m2", 8, 16),
    product("f32", "e5m2", "e4m3", 8, 200),
    product("f32", "e5m2", "e5m2", 8, 32),
    product("s32", "s8", "s8", 8, 64),
    product("satfinite.s32", "u8", "s8", 8, 48),
    product("s32", "s8", "u8", 8, 256),
    product("s32", "u8", "u8", 8, 8),
    product("s32", "b1", "b1", 1, 32),
];

/// The types of D, A and B of sparse products, and the bits of an element.
const SPARSE: [(&str, &str, &str, usize); 20] = [
    ("f32", "f16", "f16", 16),
    ("f16", "f16", "f16", 16),
    ("f32", "bf16", "bf16", 16),
    ("f32", "tf32", "tf32", 32),
    ("f32", "e4m3", "e4m3", 8),
    ("f32", "e4m3", "e5m2", 8),
    ("f32", "e5m2", "e4m3", 8),
    ("f32", "e5m2", "e5m2", 8),
    ("f16", "e4m3", "e4m3", 8),
    ("f16", "e4m3", "e5m2", 8),
    ("f16", "e5m2", "e4m3", 8),
    ("f16", "e5m2", "e5m2", 8),
    ("s32", "s8", "s8", 8),
    ("s32", "s8", "u8", 8),
    ("s32", "u8", "s8", 8),
    ("s32", "u8", "u8", 8),
    ("satfinite.s32", "s8", "s8", 8),
    ("satfinite.s32", "s8", "u8", 8),
    ("satfinite.s32", "u8", "s8", 8),
    ("satfinite.s32", "u8", "u8", 8),
];

/// Products of a sparse A: every type in several shapes, and every shape.
pub fn sparse_products() -> impl Iterator<Item = Product> {
    (0..96).map(|i| {
        let (d, a, b, bits) = SPARSE[i % SPARSE.len()];
        let n = 8 * (1 + 5 * i % 32);
        // Products of integers have fewer shapes.
        let n = if d.ends_with("s32") && n > 32 { n.next_multiple_of(16) } else { n };
        Product { sparse: true, ..product(d, a, b, bits, n) }
    })
}

/// The operands of an execution.
#[derive(Clone, Debug)]
pub struct Input {
    /// Whether A is in registers (the kernel `r*`) or in shared memory (the kernel `s*`).
    registers: bool,
    /// Whether A, and whether B, is MN-major.
    transposed: [bool; 2],
    /// For sparse products, the choice of the threads that have the metadata.
    selector: usize,
    descriptors: [u64; 2],
    accumulate: bool,
}

impl Product {
    fn words(&self) -> usize {
        if self.d == "f16" { self.n / 4 } else { self.n / 2 }
    }

    fn has_transposes(&self) -> bool {
        self.bits == 16
    }

    /// A module with a kernel for each combination of immediates.
    pub fn module(&self) -> String {
        let mut text = String::from(
            ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 mem[];\n",
        );
        for registers in [false, true] {
            for bits in 0..if self.has_transposes() { 4 } else { 1 } {
                let transposed = [bits & 1 != 0, bits & 2 != 0];
                for selector in 0..self.selectors() {
                    if !(registers && transposed[0]) {
                        self.kernel(&mut text, registers, transposed, selector);
                    }
                }
            }
        }
        text
    }

    /// The number of choices of the threads that have the metadata.
    fn selectors(&self) -> usize {
        if self.sparse && self.bits > 8 { 2 } else { 1 }
    }

    fn name(registers: bool, [a, b]: [bool; 2], selector: usize) -> String {
        format!("{}{}{}{selector}", if registers { 'r' } else { 's' }, u8::from(a), u8::from(b))
    }

    fn instruction(&self, registers: bool, [a, b]: [bool; 2], selector: usize) -> String {
        let list = |name: &str, n: usize| (0..n).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(", ");
        let left = if registers { format!("{{{}}}", list("%a", 4)) } else { "%da".into() };
        let (k, words) = (256 / self.bits, self.words());
        let popc = if self.bits == 1 { ".and.popc" } else { "" };
        let (sp, k, metadata) = match self.sparse {
            true => (".sp", 2 * k, format!(" %x0, {selector},")),
            false => ("", k, String::new()),
        };
        let mut text = format!(
            "wgmma.mma_async{sp}.sync.aligned.m64n{}k{k}.{}.{}.{}{popc} {{{}}}, {left}, %db,{metadata} %p",
            self.n,
            self.d,
            self.a,
            self.b,
            list("%d", words)
        );
        if !self.d.ends_with("s32") {
            text += ", -1, 1";
        }
        if self.has_transposes() && !registers {
            write!(text, ", {}", u8::from(a)).unwrap();
        }
        if self.has_transposes() {
            write!(text, ", {}", u8::from(b)).unwrap();
        }
        text + ";"
    }

    fn kernel(&self, text: &mut String, registers: bool, transposed: [bool; 2], selector: usize) {
        let words = self.words();
        let name = Self::name(registers, transposed, selector);
        writeln!(
            text,
            ".visible .entry {name}(.param .u64 out, .param .u64 c, .param .u64 a, .param .u64 image, .param .u64 da, .param .u64 db, .param .u32 scale) .maxntid 128
{{
  .reg .b32 %d<{words}>, %a<4>, %t, %s, %i, %x<4>; .reg .b64 %out, %c, %pa, %im, %da, %db, %o; .reg .pred %p, %q;
  ld.param.u64 %out, [out]; ld.param.u64 %c, [c]; ld.param.u64 %pa, [a]; ld.param.u64 %im, [image];
  ld.param.u64 %da, [da]; ld.param.u64 %db, [db]; ld.param.u32 %s, [scale]; setp.ne.u32 %p, %s, 0;
  mov.u32 %t, %tid.x; mov.u32 %s, mem; shl.b32 %i, %t, 4; add.u32 %s, %s, %i; mul.wide.u32 %o, %t, 16;
  add.u64 %im, %im, %o; mov.u32 %i, 0;
L: ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%im]; st.shared.v4.b32 [%s], {{%x0, %x1, %x2, %x3}};
  add.u64 %im, %im, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, {}; @%q bra L;
  mul.wide.u32 %o, %t, {}; add.u64 %out, %out, %o; add.u64 %c, %c, %o;
  mul.wide.u32 %o, %t, 16; add.u64 %pa, %pa, %o;",
            SPACE / 2048,
            4 * words
        )
        .unwrap();
        for i in 0..words {
            writeln!(text, "  ld.global.b32 %d{i}, [%c+{}];", 4 * i).unwrap();
        }
        writeln!(
            text,
            "  ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%pa]; shl.b32 %i, %t, 2; cvt.u64.u32 %o, %i; ld.param.u64 %pa, [a];
  add.u64 %pa, %pa, %o; ld.global.b32 %x0, [%pa+2048]; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;
  {}
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
            self.instruction(registers, transposed, selector)
        )
        .unwrap();
        for i in 0..words {
            writeln!(text, "  st.global.b32 [%out+{}], %d{i};", 4 * i).unwrap();
        }
        text.push_str("  ret;\n}\n");
    }

    /// A random word of elements: small numbers of floating-point types, any bits of integers.
    fn word(&self, ty: &str, random: &mut Random) -> u32 {
        let mut element = || {
            let (magnitude, sign) = (random.below(5) as usize, random.below(2) as u32);
            match ty {
                "f16" => ([0, 0x3c00, 0x4000, 0x4200, 0x4400][magnitude] | sign << 15, 16),
                "bf16" => ([0, 0x3f80, 0x4000, 0x4040, 0x4080][magnitude] | sign << 15, 16),
                "f32" => ((magnitude as f32).to_bits() | sign << 31, 32),
                // The instruction ignores the low bits.
                "tf32" => ((magnitude as f32).to_bits() | sign << 31 | random.below(1 << 13) as u32, 32),
                "e4m3" => ([0, 0x38, 0x40, 0x44, 0x48][magnitude] | sign << 7, 8),
                "e5m2" => ([0, 0x3c, 0x40, 0x42, 0x44][magnitude] | sign << 7, 8),
                _ => (random.next() as u32, 32),
            }
        };
        let (mut word, mut at) = (0, 0);
        while at < 32 {
            let (bits, width) = element();
            word |= bits << at;
            at += width;
        }
        word
    }

    /// Random operands. The leading and the stride offsets keep the matrices in shared memory.
    pub fn input(&self, random: &mut Random) -> Input {
        let registers = random.below(3) == 0;
        let mut transposed = [false; 2];
        if self.has_transposes() {
            transposed = [!registers && random.below(2) == 1, random.below(2) == 1];
        }
        let selector = random.below(self.selectors() as u64) as usize;
        let descriptors = [(64, transposed[0], false), (self.n, transposed[1], self.sparse)]
            .map(|(rows, mn, wide)| descriptor(random, rows, mn, wide));
        Input { registers, transposed, selector, descriptors, accumulate: random.below(4) > 0 }
    }

    /// Random metadata of a sparse A: valid pairs of indices in ascending order.
    fn metadata(&self, random: &mut Random) -> u32 {
        let all: &[u32] = if self.a == "tf32" { &[4, 14] } else { &[4, 8, 9, 12, 13, 14] };
        (0..8).fold(0, |bits, i| bits | all[random.below(all.len() as u64) as usize] << (4 * i))
    }

    /// The result of the product on a device. The contents of shared memory and the fragments of A and D come from the seed.
    pub fn run(&self, device: &Device, kernel: &Kernel, input: &Input, seed: u64) -> Vec<u32> {
        let mut random = Random::new(seed);
        let ty = if random.below(2) == 0 || self.bits == 16 { self.a } else { self.b };
        let mut words =
            |ty: &str, n: usize| -> Vec<u32> { (0..n).map(|_| self.word(ty, &mut random)).collect() };
        let (image, mut a) = (words(ty, SPACE / 4), words(self.a, 128 * 4));
        let c = match self.d {
            "f32" => words("f32", 128 * self.words()),
            "f16" => words("f16", 128 * self.words()),
            _ => words("s32", 128 * self.words()),
        };
        a.extend((0..128).map(|_| self.metadata(&mut random)));
        let [image, a, c] = [image, a, c].map(|words| device.upload(&words).unwrap());
        let out = device.zeros::<u32>(128 * self.words()).unwrap();
        let [da, db] = input.descriptors;
        let args = [
            Arg::from(&out),
            Arg::from(&c),
            Arg::from(&a),
            Arg::from(&image),
            Arg::from(da),
            Arg::from(db),
            Arg::from(u32::from(input.accumulate)),
        ];
        let config = LaunchConfig::new([1; 3], [128, 1, 1]).with_dynamic_shared(SPACE as u32);
        // SAFETY: the buffers have what 128 threads and the image take; descriptors stay in shared memory.
        unsafe { kernel.launch(&config, &args) }.unwrap();
        out.download().unwrap()
    }

    /// The name of the kernel for some operands.
    pub fn kernel_name(input: &Input) -> String {
        Self::name(input.registers, input.transposed, input.selector)
    }
}

/// A random descriptor: with any swizzle, with offsets that are multiples of 16 bytes, and sometimes with a base offset. A `wide`
/// matrix is twice as long along K.
fn descriptor(random: &mut Random, rows: usize, mn: bool, wide: bool) -> u64 {
    // Rows of 64 bytes along K do not fit a swizzle of 32 bytes.
    let swizzle = random.below(if wide && !mn { 3 } else { 4 });
    let width = if swizzle == 0 { 16 } else { 256 >> swizzle };
    let along_k = if wide { 3 } else { 1 };
    // The most times that the leading and the stride offset are added.
    let (leading, stride) = match (mn, swizzle) {
        (_, 0) => (along_k, rows as u64 / 8 - 1),
        (false, _) => (1, rows as u64 / 8 - 1),
        (true, _) => ((rows as u64 - 1) / (width / 2), along_k),
    };
    let space = SPACE as u64 - 8 * 1024;
    let mut offset = |times: u64| 16 * random.below(space / 3 / times.max(1) / 16);
    let (l, s) = (offset(leading), offset(stride));
    let start = 1024 + 1024 + 16 * random.below((space / 3) / 16);
    let base = if swizzle != 0 && random.below(4) == 0 { random.below(8) } else { 0 };
    start >> 4 | (l >> 4) << 16 | (s >> 4) << 32 | base << 49 | swizzle << 62
}

/// Checks that products with random descriptors have the same results on the GPU and on the simulator.
pub fn products_agree(gpu: &Device, products: impl Iterator<Item = Product>, inputs: u64) {
    let sim = Device::open(Select::Sim).unwrap();
    let mut differ = Vec::new();
    let mut random = Random::new(7);
    for product in products {
        let module = Module::parse(&product.module()).unwrap();
        let (on_gpu, on_sim) = (gpu.load(&module).unwrap(), sim.load(&module).unwrap());
        for seed in 1..=inputs {
            let input = product.input(&mut random);
            let name = Product::kernel_name(&input);
            let found = product.run(gpu, &on_gpu.kernel(&name).unwrap(), &input, seed);
            let wanted = product.run(&sim, &on_sim.kernel(&name).unwrap(), &input, seed);
            if found != wanted {
                let at = found.iter().zip(&wanted).filter(|(a, b)| a != b).count();
                differ.push(format!("{product:?} {input:x?} seed {seed}: {at} of {} words", found.len()));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}
