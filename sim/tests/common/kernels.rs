//! Two kernels written by hand, as text.

use std::fmt::Write;

use super::module;

/// C = A B, row-major f32, tiles of 64 x 64 x 16, 16 x 16 threads of 4 x 4 results. N and K are parameters; M, N and
/// K are multiples of the tile.
pub(crate) fn simt() -> String {
    let mut k = String::from(
        ".visible .entry k(.param .u64 pc, .param .u64 pa, .param .u64 pb, .param .u32 pn, .param .u32 pk) {
  .shared .align 16 .b8 sa[4096]; .shared .align 16 .b8 sb[4096];
  .reg .b32 %n, %k, %t, %x, %y, %i, %sa, %sb, %la, %lb, %r<8>; .reg .b64 %a, %b, %c, %o, %step;
  .reg .f32 %f<16>, %u<4>, %v<4>, %w<4>; .reg .pred %p;
  ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %c, [pc]; ld.param.u32 %n, [pn]; ld.param.u32 %k, [pk];
  mov.u32 %t, %tid.x; and.b32 %x, %t, 15; shr.u32 %y, %t, 4;
  // A: row 64 ctaid.y + t / 4, column 4 (t % 4)
  shr.u32 %r0, %t, 2; mov.u32 %r1, %ctaid.y; shl.b32 %r1, %r1, 6; add.u32 %r0, %r0, %r1;
  and.b32 %r1, %t, 3; shl.b32 %r1, %r1, 2; mad.lo.u32 %r0, %r0, %k, %r1;
  mul.wide.u32 %o, %r0, 4; add.u64 %a, %a, %o;
  // B: row t / 16, column 64 ctaid.x + 4 (t % 16)
  mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 6; shl.b32 %r3, %x, 2; add.u32 %r2, %r2, %r3; mad.lo.u32 %r2, %y, %n, %r2;
  mul.wide.u32 %o, %r2, 4; add.u64 %b, %b, %o;
  mul.wide.u32 %step, %n, 64;
  mov.u32 %sa, sa; mov.u32 %sb, sb; shl.b32 %r4, %t, 4; add.u32 %la, %sa, %r4; add.u32 %lb, %sb, %r4;
  mad.lo.u32 %sa, %y, 256, %sa; mad.lo.u32 %sb, %x, 16, %sb;\n",
    );
    for i in 0..16 {
        writeln!(k, "  mov.f32 %f{i}, 0f00000000;").unwrap();
    }
    k += "  mov.u32 %i, 0;
LOOP:
  ld.global.v4.f32 {%u0, %u1, %u2, %u3}, [%a]; ld.global.v4.f32 {%v0, %v1, %v2, %v3}, [%b];
  st.shared.v4.f32 [%la], {%u0, %u1, %u2, %u3}; st.shared.v4.f32 [%lb], {%v0, %v1, %v2, %v3};
  bar.sync 0;\n";
    for step in 0..16 {
        for i in 0..4 {
            writeln!(k, "  ld.shared.f32 %w{i}, [%sa+{}];", i * 64 + step * 4).unwrap();
        }
        writeln!(k, "  ld.shared.v4.f32 {{%v0, %v1, %v2, %v3}}, [%sb+{}];", step * 256).unwrap();
        for i in 0..4 {
            for j in 0..4 {
                let d = 4 * i + j;
                writeln!(k, "  fma.rn.f32 %f{d}, %w{i}, %v{j}, %f{d};").unwrap();
            }
        }
    }
    k += "  bar.sync 0;
  add.u64 %a, %a, 64; add.u64 %b, %b, %step; add.u32 %i, %i, 16; setp.lt.u32 %p, %i, %k; @%p bra LOOP;
  mov.u32 %r0, %ctaid.y; shl.b32 %r0, %r0, 6; mad.lo.u32 %r0, %y, 4, %r0;
  mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 6; mad.lo.u32 %r1, %x, 4, %r1; mad.lo.u32 %r0, %r0, %n, %r1;
  mul.wide.u32 %o, %r0, 4; add.u64 %c, %c, %o; mul.wide.u32 %step, %n, 4;\n";
    for i in 0..4 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|j| 4 * i + j);
        writeln!(k, "  st.global.v4.f32 [%c], {{%f{a}, %f{b}, %f{c}, %f{d}}}; add.u64 %c, %c, %step;")
            .unwrap();
    }
    module(&(k + "  ret;\n}\n"))
}

/// C = A B^T, A and B row-major bf16 with K contiguous, C f32. Tiles of 64 x 64 x 32 in a ring of three stages filled
/// by cp.async; 4 warps of 32 x 32 results. Rows of a tile are 80 bytes apart, which spreads ldmatrix over the banks.
/// `N` and `K` are parameters; K is at least 64.
pub(crate) fn mma() -> String {
    let mut k = String::from(
        ".extern .shared .align 16 .b8 tiles[];
.visible .entry k(.param .u64 pc, .param .u64 pa, .param .u64 pb, .param .u32 pn, .param .u32 pk) .maxntid 128, 1, 1 {
  .reg .b32 %n, %k, %t, %lane, %wm, %wn, %i, %s, %st, %cp, %la, %lb, %r<8>, %a<8>, %b<8>; .reg .b64 %a, %b, %c, %o, %row;
  .reg .f32 %f<32>; .reg .pred %p, %q;
  ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %c, [pc]; ld.param.u32 %n, [pn]; ld.param.u32 %k, [pk];
  mov.u32 %t, %tid.x; and.b32 %lane, %t, 31; shr.u32 %r0, %t, 5; and.b32 %wm, %r0, 1; shr.u32 %wn, %r0, 1;
  // Copies: thread t has 16 bytes of rows t / 4 and t / 4 + 32, column 8 (t % 4).
  shr.u32 %r0, %t, 2; and.b32 %r1, %t, 3; mad.lo.u32 %cp, %r0, 80, 0; mad.lo.u32 %cp, %r1, 16, %cp;
  mov.u32 %r2, %ctaid.y; mad.lo.u32 %r2, %r2, 64, %r0; mul.lo.u32 %r2, %r2, %k; mad.lo.u32 %r2, %r1, 8, %r2;
  mul.wide.u32 %o, %r2, 2; add.u64 %a, %a, %o;
  mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 64, %r0; mul.lo.u32 %r2, %r2, %k; mad.lo.u32 %r2, %r1, 8, %r2;
  mul.wide.u32 %o, %r2, 2; add.u64 %b, %b, %o;
  mul.wide.u32 %row, %k, 64;
  // ldmatrix: matrices 0 to 3 are (row 8 (j % 2), k 8 (j / 2)) for A, (row 8 (j / 2), k 8 (j % 2)) for B.
  and.b32 %r0, %lane, 15; mad.lo.u32 %r0, %wm, 32, %r0; shr.u32 %r1, %lane, 4; mul.lo.u32 %la, %r0, 80;
  mad.lo.u32 %la, %r1, 16, %la;
  and.b32 %r0, %lane, 7; shr.u32 %r1, %lane, 4; mad.lo.u32 %r0, %r1, 8, %r0; mad.lo.u32 %r0, %wn, 32, %r0;
  shr.u32 %r1, %lane, 3; and.b32 %r1, %r1, 1; mul.lo.u32 %lb, %r0, 80; mad.lo.u32 %lb, %r1, 16, %lb;\n",
    );
    for i in 0..32 {
        writeln!(k, "  mov.f32 %f{i}, 0f00000000;").unwrap();
    }
    let copy = "  mov.u32 %st, tiles; mad.lo.u32 %st, %s, 10240, %st; add.u32 %st, %st, %cp;
  @%q cp.async.cg.shared.global [%st], [%a], 16; @%q cp.async.cg.shared.global [%st+5120], [%b], 16;
  add.u64 %o, %a, %row; @%q cp.async.cg.shared.global [%st+2560], [%o], 16;
  add.u64 %o, %b, %row; @%q cp.async.cg.shared.global [%st+7680], [%o], 16;
  cp.async.commit_group; add.u64 %a, %a, 64; add.u64 %b, %b, 64;\n";
    k += "  setp.eq.u32 %q, %t, %t;\n";
    for s in 0..2 {
        writeln!(k, "  mov.u32 %s, {s};").unwrap();
        k += copy;
    }
    k += "  mov.u32 %i, 0; mov.u32 %r7, 0;
LOOP:
  cp.async.wait_group 1;
  bar.sync 0;
  add.u32 %s, %r7, 2; setp.ge.u32 %p, %s, 3; @%p sub.u32 %s, %s, 3;
  add.u32 %r0, %i, 64; setp.lt.u32 %q, %r0, %k;\n";
    k += copy;
    k += "  mov.u32 %st, tiles; mad.lo.u32 %st, %r7, 10240, %st; add.u32 %r5, %st, %la; add.u32 %r6, %st, %lb;\n";
    for ks in 0..2 {
        for i in 0..2 {
            let regs: Vec<_> = (0..4).map(|j| format!("%a{}", 4 * i + j)).collect();
            let (regs, at) = (regs.join(", "), i * 16 * 80 + ks * 32);
            writeln!(k, "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{regs}}}, [%r5+{at}];").unwrap();
            let regs: Vec<_> = (0..4).map(|j| format!("%b{}", 4 * i + j)).collect();
            let (regs, at) = (regs.join(", "), 5120 + i * 16 * 80 + ks * 32);
            writeln!(k, "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{regs}}}, [%r6+{at}];").unwrap();
        }
        for i in 0..2 {
            for j in 0..4 {
                let c: Vec<_> = (0..4).map(|e| format!("%f{}", 16 * i + 4 * j + e)).collect();
                let (c, a) = (
                    c.join(", "),
                    format!("%a{0}, %a{1}, %a{2}, %a{3}", 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3),
                );
                let op = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
                writeln!(k, "  {op} {{{c}}}, {{{a}}}, {{%b{}, %b{}}}, {{{c}}};", 2 * j, 2 * j + 1).unwrap();
            }
        }
    }
    k += "  add.u32 %r7, %r7, 1; setp.eq.u32 %p, %r7, 3; selp.u32 %r7, 0, %r7, %p;
  add.u32 %i, %i, 32; setp.lt.u32 %p, %i, %k; @%p bra LOOP;
  mov.u32 %r0, %ctaid.y; mul.lo.u32 %r0, %r0, 64; mad.lo.u32 %r0, %wm, 32, %r0; shr.u32 %r1, %lane, 2; add.u32 %r0, %r0, %r1;
  mov.u32 %r2, %ctaid.x; mul.lo.u32 %r2, %r2, 64; mad.lo.u32 %r2, %wn, 32, %r2; and.b32 %r1, %lane, 3;
  mad.lo.u32 %r2, %r1, 2, %r2; mad.lo.u32 %r0, %r0, %n, %r2; mul.wide.u32 %o, %r0, 4; add.u64 %c, %c, %o;
  mul.wide.u32 %row, %n, 32;\n";
    for i in 0..2 {
        for half in 0..2 {
            for j in 0..4 {
                let f = 16 * i + 4 * j + 2 * half;
                writeln!(k, "  st.global.v2.f32 [%c+{}], {{%f{f}, %f{}}};", 32 * j, f + 1).unwrap();
            }
            k += "  add.u64 %c, %c, %row;\n";
        }
    }
    module(&(k + "  ret;\n}\n"))
}
