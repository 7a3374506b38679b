//! Cooperative launches, whose blocks wait for one another.

use girih_device::{Arg, Device, Error, LaunchConfig};

use super::kernel;

/// In each round every block writes a multiple of its sum, waits for all blocks as `grid.sync()` of cooperative groups does, in the
/// workspace of the launch, and adds the number that the next block has written to its sum.
const ROUNDS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds(.param .u64 data, .param .u64 out, .param .u32 rounds) {
  .reg .b64 %data, %out, %w, %i; .reg .b32 %b, %n, %r, %rounds, %s, %x, %y, %old, %next; .reg .pred %p, %first;
  ld.param.u64 %data, [data]; ld.param.u64 %out, [out]; ld.param.u32 %rounds, [rounds];
  mov.u32 %b, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %r, 0; add.u32 %s, %b, 1;
  mov.u32 %x, %envreg1; mov.u32 %y, %envreg2; mov.b64 %w, {%y, %x};
  add.u32 %next, %b, 1; rem.u32 %next, %next, %n; mov.u32 %x, %tid.x; setp.ne.u32 %first, %x, 0;
ROUND:
  mad.lo.u32 %x, %r, %n, %b; mul.wide.u32 %i, %x, 4; add.s64 %i, %i, %data; mul.lo.u32 %y, %s, %x;
  @!%first st.global.u32 [%i], %y;
  bar.sync 0; @%first bra SYNCED;
  // Every other block adds one; the first block adds as much as is missing to the highest bit.
  mov.u32 %x, 1; setp.ne.u32 %p, %b, 0; @%p bra ADD; sub.u32 %x, 0x80000001, %n;
ADD: fence.acq_rel.gpu; atom.add.gpu.u32 %old, [%w+4], %x;
WAIT: ld.acquire.gpu.u32 %x, [%w+4]; xor.b32 %x, %x, %old; setp.ge.s32 %p, %x, 0; @%p bra WAIT;
SYNCED: bar.sync 0;
  mad.lo.u32 %x, %r, %n, %next; mul.wide.u32 %i, %x, 4; add.s64 %i, %i, %data;
  ld.global.u32 %y, [%i]; add.u32 %s, %s, %y;
  add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %rounds; @%p bra ROUND;
  mul.wide.u32 %i, %b, 4; add.s64 %i, %i, %out; @!%first st.global.u32 [%i], %s; ret;
}";

/// The sums agree with the host in grids of several sizes, up to `most` blocks.
pub fn grids_agree(device: &Device, most: u32) {
    let kernel = kernel(device, ROUNDS, "rounds");
    for (blocks, threads, rounds) in [(1, 32, 3), (2, 64, 9), (13, 32, 5), (most, 96, 4)] {
        let (data, out) = (
            device.zeros::<u32>((blocks * rounds) as usize).unwrap(),
            device.zeros::<u32>(blocks as usize).unwrap(),
        );
        let config = LaunchConfig::new([blocks, 1, 1], [threads, 1, 1]).cooperative();
        // SAFETY: each block writes its word of every round, and its result.
        unsafe { kernel.launch(&config, &[Arg::from(&data), Arg::from(&out), Arg::from(rounds)]) }.unwrap();
        let mut sums: Vec<u32> = (1..=blocks).collect();
        for round in 0..rounds {
            let written: Vec<u32> = (0..)
                .zip(&sums)
                .map(|(block, sum): (u32, _)| sum.wrapping_mul(round * blocks + block))
                .collect();
            for (block, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add(written[(block + 1) % blocks as usize]);
            }
        }
        assert_eq!(out.download().unwrap(), sums, "{blocks} blocks");
    }
}

/// A cooperative grid with more blocks than can run at a time is refused: its blocks would wait for one another for ever.
pub fn grids_are_refused(device: &Device) {
    let kernel = kernel(device, ROUNDS, "rounds");
    let blocks = 1 << 20;
    let (data, out) = (device.zeros::<u32>(blocks).unwrap(), device.zeros::<u32>(blocks).unwrap());
    let config = LaunchConfig::new([blocks as u32, 1, 1], [32, 1, 1]).cooperative();
    // SAFETY: refused.
    let error =
        unsafe { kernel.launch(&config, &[Arg::from(&data), Arg::from(&out), Arg::from(1u32)]) }.unwrap_err();
    assert!(matches!(error, Error::Driver { .. } | Error::Sim(_)), "{error:?}");
}
