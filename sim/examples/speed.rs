//! Processor time of a warp instruction, on one core: kinds of code, with and without checks.
//!
//! `cargo run --release -p girih-sim --example speed [KIND..]`, with `SPEED=plain` or `SPEED=checked` of that alone; every line has the least of several runs, in nanoseconds.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use girih_ptx::{Module, TensorElement, TensorSwizzle, Tiled};
use girih_sim::{Launch, Memory, Options, Program, run};

const INTEGER: &str = "add.u32 %r1, %r1, %r2; mul.lo.u32 %r3, %r1, 3; xor.b32 %r4, %r3, %r1; shl.b32 %r5, %r4, 3;
    mad.lo.u32 %r1, %r5, %r3, %r4; and.b32 %r6, %r1, 255; sub.u32 %r1, %r1, %r6; cvt.u64.u32 %l1, %r1; add.u64 %l2, %l2, %l1;";
const FLOAT: &str =
    "fma.rn.f32 %f1, %f1, %f2, %f2; add.f32 %f3, %f1, %f2; mul.f32 %f1, %f3, %f2; sub.f32 %f4, %f1, %f3;
    max.f32 %f1, %f1, %f4; fma.rn.f32 %f1, %f4, %f2, %f1;";
const PREDICATED: &str = "setp.lt.u32 %p1, %r1, %n; @%p1 add.u32 %r1, %r1, %r2; selp.b32 %r3, %r1, %r2, %p1;
    setp.gt.s32 %p2, %r3, 5; @!%p2 xor.b32 %r3, %r3, %r1; mov.u32 %r4, %r3;";
const DIVERGENT: &str =
    "and.b32 %r3, %i, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra A; add.u32 %r1, %r1, 3; mul.lo.u32 %r1, %r1, 5;
    bra B; A: sub.u32 %r1, %r1, 1; xor.b32 %r1, %r1, %n; B: add.u32 %r1, %r1, %r2;";
const SHARED: &str = "st.shared.u32 [%m], %r1; bar.warp.sync -1; ld.shared.u32 %r3, [%x]; bar.warp.sync -1; add.u32 %r1, %r3, 1;";
const TILE: &str = "bar.sync 0; st.shared.v4.u32 [%t], {%r1, %r2, %r1, %r2}; bar.sync 0; ld.shared.u32 %r3, [%m];
    ld.shared.u32 %r4, [%m+512]; ld.shared.u32 %r5, [s+64]; ld.shared.v2.u32 {%r6, %r7}, [%t+8]; add.u32 %r1, %r3, %r4;";
const GLOBAL: &str = "ld.global.u32 %r3, [%o]; add.u32 %r3, %r3, %r2; st.global.u32 [%o+512], %r3; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%q];
    add.u32 %r1, %r4, %r7;";
const MATRIX: &str = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%t];
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f4, %f5, %f6, %f7}, {%r4, %r5, %r6, %r7}, {%r4, %r5}, {%f4, %f5, %f6, %f7};";
const BROADCAST: &str = "ld.global.u32 %r3, [%p+4096]; ld.shared.u32 %r4, [s]; ld.global.nc.u32 %r5, [%p+6144]; add.u32 %r1, %r3, %r4;";
const ATOMIC: &str = "atom.shared.add.u32 %r3, [%m], 1; red.global.add.u32 [%o], 1;";
const BYTES: &str =
    "st.shared.u8 [%m], %r1; ld.shared.u8 %r3, [%m]; ld.global.s8 %r4, [%o]; add.u32 %r1, %r3, %r4;";
const CODE: [(&str, &str); 11] = [
    ("integer", INTEGER),
    ("float", FLOAT),
    ("predicated", PREDICATED),
    ("divergent", DIVERGENT),
    ("shared", SHARED),
    ("tile", TILE),
    ("global", GLOBAL),
    ("matrix", MATRIX),
    ("broadcast", BROADCAST),
    ("atomic", ATOMIC),
    ("bytes", BYTES),
];

fn code(body: &str) -> Program {
    let text = format!(
        ".version 8.0 .target sm_90 .address_size 64
         .visible .entry k(.param .u64 out) {{
         .shared .align 16 .b8 s[4096];
         .reg .b32 %i, %n, %m, %x, %t, %r<20>; .reg .f32 %f<20>; .reg .b64 %p, %o, %q, %l<4>; .reg .pred %p<4>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %n, 0; mov.u32 %m, s; mad.lo.u32 %t, %i, 16, %m; mad.lo.u32 %m, %i, 4, %m;
         xor.b32 %x, %i, 1; mov.u32 %r0, s; mad.lo.u32 %x, %x, 4, %r0; mul.wide.u32 %o, %i, 4; add.s64 %o, %p, %o;
         mul.wide.u32 %q, %i, 16; add.s64 %q, %p, %q; add.s64 %q, %q, 1024; mov.u64 %l2, 0;
         mov.f32 %f4, 0f00000000; mov.f32 %f5, %f4; mov.f32 %f6, %f4; mov.f32 %f7, %f4;
         st.shared.v4.f32 [%t], {{%f4, %f5, %f6, %f7}}; bar.sync 0;
         mov.u32 %r1, %i; mov.u32 %r2, 7; cvt.rn.f32.u32 %f1, %i; mov.f32 %f2, 0f3f800000;
         L: {body}
         add.u32 %n, %n, 1; setp.lt.u32 %p0, %n, 2000; @%p0 bra L;
         cvt.rzi.u32.f32 %r9, %f1; cvt.rzi.u32.f32 %r10, %f4; add.u32 %r9, %r9, %r10; add.u32 %r1, %r1, %r9; st.global.u32 [%o], %r1; st.global.u64 [%q], %l2;
         ret; }}"
    );
    Program::load(&Module::parse(&text).unwrap()).unwrap()
}

/// Processor time of this thread, nanoseconds.
fn time() -> f64 {
    // Linux counts it up when the thread gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// The least time of an instruction.
fn least(program: &Program, name: &str, options: &Options, prepare: impl Fn() -> (Memory, Launch)) -> f64 {
    let run = |_| {
        let (memory, launch) = prepare();
        let start = time();
        let report = run(program.kernel(name).unwrap(), &memory, &launch, options).unwrap();
        (time() - start) / report.instructions as f64
    };
    (0..5).map(run).fold(f64::MAX, f64::min)
}

fn loops() -> (Memory, Launch) {
    let memory = Memory::new();
    let out = memory.alloc(8192).unwrap();
    memory.fill(out, 0, 8192).unwrap();
    let args = vec![out.to_le_bytes().into()];
    (memory, Launch { grid: [1; 3], block: [128, 1, 1], args, ..Launch::default() })
}

/// The kernel `sim/tests/ptx/best-128x256.ptx` for a cube of this side.
fn wgmma(side: usize) -> (Memory, Launch) {
    let memory = Memory::new();
    let upload = |bytes: &[u8]| {
        let address = memory.alloc(bytes.len()).unwrap();
        memory.write(address, bytes).unwrap();
        address
    };
    let map = |seed: usize, rows: u32| {
        let numbers = (0..side * side).map(|i| 0x3f80u16 ^ ((i * seed) as u16 & 0x807f));
        let address = upload(&numbers.flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        let tiled = Tiled::new(TensorElement::Bf16, &[side as u64; 2], &[64, rows]);
        tiled.with_swizzle(TensorSwizzle::B128).at(address).unwrap().to_bytes().to_vec()
    };
    let (rows, tiles) = (side / 128, side / 128 * (side / 256));
    let order = (0..tiles).map(|i| (i % rows) as u32 | ((i / rows) as u32) << 16);
    let order = upload(&order.flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let [steps, count] = [side / 64, tiles].map(|n| (n as u32).to_le_bytes().to_vec());
    let args = vec![map(3, 128), map(5, 256), map(7, 64), order.to_le_bytes().into(), steps, count];
    let (grid, block) = ([tiles as u32, 1, 1], [384, 1, 1]);
    (memory, Launch { grid, block, dynamic_shared: 213_056, args, ..Launch::default() })
}

fn main() {
    let kinds: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| kinds.is_empty() || kinds.iter().any(|kind| kind == name);
    let only = std::env::var("SPEED").ok();
    let one = |options| Options { threads: Some(1), ..options };
    for (how, options) in [("plain", one(Options::default())), ("checked", one(Options::checked()))] {
        if only.as_ref().is_some_and(|only| only != how) {
            continue;
        }
        for (name, body) in CODE.iter().filter(|(name, _)| wanted(name)) {
            println!("{name} {how} {:.2}", least(&code(body), "k", &options, loops));
        }
        if wanted("wgmma") {
            let text = include_str!("../tests/ptx/best-128x256.ptx");
            let program = Program::load(&Module::parse(text).unwrap()).unwrap();
            println!("wgmma {how} {:.2}", least(&program, "gemm", &options, || wgmma(512)));
        }
    }
}
