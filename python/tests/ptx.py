"""Kernels for the tests, and their broken twins."""

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

# out[i] = a * x[i] + y[i]; without the guard, the last threads go past the end.
SAXPY = (
    HEAD
    + """.visible .entry saxpy(.param .u64 out, .param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y];
  ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra DONE;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
  ld.global.f32 %f2, [%rd2]; ld.global.f32 %f3, [%rd3];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd1], %f4;
DONE:
  ret;
}
"""
)
UNGUARDED = SAXPY.replace("@%p bra DONE;", "")

# Each thread reads what its neighbour wrote to shared memory.
SWAP = (
    HEAD
    + """.visible .entry swap(.param .u64 out) {
  .shared .b32 tile[64];
  .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.u32 [%r2], %r0;
  bar.sync 0;
  xor.b32 %r3, %r0, 1;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd2, %r0, 4; add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r5;
  ret;
}
"""
)
RACE = SWAP.replace("bar.sync 0;", "")
