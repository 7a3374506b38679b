//! Special registers.

use girih_ptx::Special;

use crate::lanes::WARP;
use crate::memory::WORKSPACE;

use super::context::Context;

/// The value of a special register in a lane. Registers whose value on hardware differs from run to run are 0.
pub(super) fn value(cx: &Context<'_>, special: Special, warp: u32, lane: u32) -> u64 {
    use Special as S;
    let launch = cx.machine.launch;
    let [x, y, _] = launch.block;
    let (cluster, place) = (cx.machine.cluster, cx.place_in_cluster(cx.rank as u32));
    let thread = warp * WARP as u32 + lane;
    let value = match special {
        S::TidX => thread % x,
        S::TidY => thread / x % y,
        S::TidZ => thread / x / y,
        S::NtidX => x,
        S::NtidY => y,
        S::NtidZ => launch.block[2],
        S::CtaidX => cx.block[0],
        S::CtaidY => cx.block[1],
        S::CtaidZ => cx.block[2],
        S::NctaidX => launch.grid[0],
        S::NctaidY => launch.grid[1],
        S::NctaidZ => launch.grid[2],
        S::Laneid => lane,
        S::Warpid => warp,
        S::Nwarpid => 64,
        S::Nsmid => 1,
        S::LanemaskEq => 1 << lane,
        S::LanemaskLt => (1 << lane) - 1,
        S::LanemaskLe => u32::MAX >> (31 - lane),
        S::LanemaskGe => u32::MAX << lane,
        S::LanemaskGt => !(u32::MAX >> (31 - lane)),
        S::DynamicSmemSize => launch.dynamic_shared,
        S::ClusteridX => cx.cluster[0],
        S::ClusteridY => cx.cluster[1],
        S::ClusteridZ => cx.cluster[2],
        S::NclusteridX => launch.grid[0] / cluster[0],
        S::NclusteridY => launch.grid[1] / cluster[1],
        S::NclusteridZ => launch.grid[2] / cluster[2],
        S::ClusterCtaidX => place[0],
        S::ClusterCtaidY => place[1],
        S::ClusterCtaidZ => place[2],
        S::ClusterNctaidX => cluster[0],
        S::ClusterNctaidY => cluster[1],
        S::ClusterNctaidZ => cluster[2],
        S::ClusterCtarank => cx.rank as u32,
        S::ClusterNctarank => cx.machine.ranks(),
        S::IsExplicitCluster => cx.machine.explicit.into(),
        S::TotalSmemSize => cx.machine.shared as u32,
        // The system reserves 1024 bytes in addition.
        S::AggrSmemSize => cx.machine.shared as u32 + 1024,
        S::WarpSize => WARP as u32,
        S::Envreg1 if launch.cooperative => (WORKSPACE >> 32) as u32,
        S::Envreg2 if launch.cooperative => WORKSPACE as u32,
        _ => 0,
    };
    value.into()
}
