//! Warp instructions a second of one core: plain arithmetic, and a loop over shared memory, with and without checks.
//!
//! `cargo run --release -p girih-sim --example speed`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use std::time::Instant;

use girih_sim::{Launch, Memory, Options, Program, run};

fn kernel(body: &str) -> Program {
    let text = format!(
        ".version 8.0 .target sm_90 .address_size 64
         .visible .entry k(.param .u64 out) {{
         .shared .align 16 .b8 s[4096];
         .reg .b32 %i, %n, %m, %x, %r<20>; .reg .f32 %f<20>; .reg .b64 %p, %o; .reg .pred %p0;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %n, 0; mov.u32 %m, s; mad.lo.u32 %m, %i, 4, %m;
         xor.b32 %x, %i, 1; mov.u32 %r0, s; mad.lo.u32 %x, %x, 4, %r0;
         mov.u32 %r1, %i; mov.u32 %r2, 7; cvt.rn.f32.u32 %f1, %i; mov.f32 %f2, 0f3f800000;
         L: {body}
         add.u32 %n, %n, 1; setp.lt.u32 %p0, %n, 2000; @%p0 bra L;
         mul.wide.u32 %o, %i, 4; add.s64 %o, %p, %o; cvt.rzi.u32.f32 %r9, %f1; add.u32 %r1, %r1, %r9; st.global.u32 [%o], %r1;
         ret; }}"
    );
    Program::load(&girih_ptx::Module::parse(&text).unwrap()).unwrap()
}

fn main() {
    let alu = "add.u32 %r1, %r1, %r2; mul.lo.u32 %r3, %r1, 3; xor.b32 %r4, %r3, %r1; shl.b32 %r5, %r4, 3;
        mad.lo.u32 %r1, %r5, %r3, %r4; fma.rn.f32 %f1, %f1, %f2, %f2; add.f32 %f3, %f1, %f2; mul.f32 %f1, %f3, %f2;
        and.b32 %r6, %r1, 255; sub.u32 %r1, %r1, %r6;";
    let shared = "st.shared.u32 [%m], %r1; bar.warp.sync -1; ld.shared.u32 %r3, [%x]; bar.warp.sync -1; add.u32 %r1, %r3, 1;";
    for (name, body) in [("arithmetic", alu), ("shared memory", shared)] {
        let program = kernel(body);
        for (how, checked) in [("plain", false), ("checked", true)] {
            let options = if checked { Options::checked() } else { Options::default() };
            let options = Options { threads: Some(1), ..options };
            let mut best = 0f64;
            for _ in 0..7 {
                let memory = Memory::new();
                let out = memory.alloc(4096).unwrap();
                let launch = Launch {
                    grid: [1; 3],
                    block: [128, 1, 1],
                    args: vec![out.to_le_bytes().into()],
                    ..Launch::default()
                };
                let start = Instant::now();
                let report = run(program.kernel("k").unwrap(), &memory, &launch, &options).unwrap();
                best = best.max(report.instructions as f64 / start.elapsed().as_secs_f64() / 1e6);
            }
            println!("{name}, {how}: {best:.2} M warp instructions/s");
        }
    }
}
