//! Clusters whose blocks read one another's shared memory.

use girih_device::{Arg, Device, Error, LaunchConfig};

use super::kernel;

/// Every block puts its number into its shared memory. Then block `r` of a cluster of `n` blocks reads the number of block
/// `r + 1 mod n` of its cluster, and writes that number and `n` to `out`.
const NEIGHBOURS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry neighbours(.param .u64 out) {
  .shared .b32 mine;
  .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d0, [out]; cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
  mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank;
  mov.u32 %r6, mine; st.shared.u32 [%r6], %r3;
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  add.u32 %r7, %r4, 1; rem.u32 %r7, %r7, %r5;
  mapa.shared::cluster.u32 %r8, %r6, %r7;
  ld.shared::cluster.u32 %r9, [%r8];
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  mul.wide.u32 %d1, %r3, 8; add.s64 %d2, %d0, %d1;
  st.global.v2.u32 [%d2], {%r9, %r5};
  ret;
}";

/// In clusters of every portable shape, each block reads the number of its neighbour.
pub fn neighbours_agree(device: &Device) {
    let neighbours = kernel(device, NEIGHBOURS, "neighbours");
    let grid = [8u32, 4, 1];
    let shapes = [[1, 1, 1], [2, 1, 1], [1, 2, 1], [4, 2, 1], [8, 1, 1], [2, 4, 1]];
    for cluster in shapes.map(Some).into_iter().chain([None]) {
        let out = device.alloc::<u32>(64).unwrap();
        let config = LaunchConfig::new(grid, [1, 1, 1]);
        let config = cluster.map_or(config, |cluster| config.with_cluster(cluster));
        // SAFETY: each of 32 blocks writes two words.
        unsafe { neighbours.launch(&config, &[Arg::from(&out)]) }.unwrap();
        let [cx, cy, _] = cluster.unwrap_or([1; 3]);
        let wanted = (0..32).flat_map(|block| {
            let (x, y) = (block % 8, block / 8);
            let rank = (x % cx + y % cy * cx + 1) % (cx * cy);
            let (x, y) = (x / cx * cx + rank % cx, y / cy * cy + rank / cx);
            [x + 8 * y, cx * cy]
        });
        assert_eq!(out.download().unwrap(), wanted.collect::<Vec<_>>(), "{cluster:?}");
    }
}

/// Clusters that no launch can have are refused before the kernel runs.
pub fn clusters_are_refused(device: &Device) {
    let neighbours = kernel(device, NEIGHBOURS, "neighbours");
    let out = device.alloc::<u32>(64).unwrap();
    for (cluster, accepted) in [
        ([0, 1, 1], "1 to 16 blocks"),
        ([8, 4, 1], "1 to 16 blocks"),
        ([u32::MAX; 3], "1 to 16 blocks"),
        ([3, 1, 1], "extents that divide the grid's"),
        ([1, 1, 2], "extents that divide the grid's"),
    ] {
        let config = LaunchConfig::new([8, 4, 1], [1, 1, 1]).with_cluster(cluster);
        // SAFETY: refused.
        let error = unsafe { neighbours.launch(&config, &[Arg::from(&out)]) }.unwrap_err();
        assert!(matches!(error, Error::ClusterShape { .. }), "{error}");
        assert!(error.to_string().contains(accepted), "{error}");
    }
}

/// Each block adds the numbers that its two neighbours had before, once the launches before have ended.
const STEP: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry step(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<12>; .reg .b64 %d<8>;
  griddepcontrol.launch_dependents;
  ld.param.u64 %d0, [from]; cvta.to.global.u64 %d0, %d0; ld.param.u64 %d1, [to]; cvta.to.global.u64 %d1, %d1;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; add.u32 %r2, %r0, 1; rem.u32 %r2, %r2, %r1;
  mul.wide.u32 %d2, %r0, 4; mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d0, %d2; add.s64 %d5, %d0, %d3; add.s64 %d6, %d1, %d2;
  griddepcontrol.wait;
  ld.global.u32 %r3, [%d4]; ld.global.u32 %r4, [%d5]; add.u32 %r5, %r3, %r4; st.global.u32 [%d6], %r5;
  ret;
}";

/// Launches that may begin before the launch before has ended see what it wrote.
pub fn programmatic_launches_wait(device: &Device) {
    const BLOCKS: usize = 1000;
    let step = kernel(device, STEP, "step");
    let config = LaunchConfig::new([BLOCKS as u32, 1, 1], [1, 1, 1]).programmatic();
    let mut host: Vec<u32> = (0..BLOCKS as u32).collect();
    let pair = [device.upload(&host).unwrap(), device.zeros::<u32>(BLOCKS).unwrap()];
    for turn in 0..24 {
        let (from, to) = (&pair[turn % 2], &pair[1 - turn % 2]);
        // SAFETY: both buffers have a number for each block.
        unsafe { step.launch(&config, &[Arg::from(from), Arg::from(to)]) }.unwrap();
        host = (0..BLOCKS).map(|i| host[i].wrapping_add(host[(i + 1) % BLOCKS])).collect();
    }
    assert_eq!(pair[0].download().unwrap(), host);
    let neighbours = kernel(device, NEIGHBOURS, "neighbours");
    let config = LaunchConfig::new([8, 4, 1], [1, 1, 1]).programmatic();
    // SAFETY: refused.
    let error = unsafe { neighbours.launch(&config, &[Arg::from(&pair[0])]) }.unwrap_err();
    assert!(matches!(error, Error::Programmatic { .. }), "{error}");
}
