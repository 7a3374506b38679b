//! Special registers.

use girih_ptx::Special;

use crate::lanes::WARP;

use super::block::Context;

/// The value of a special register in a lane; those that differ from run to run on hardware are 0.
pub(super) fn value(cx: &Context<'_>, special: Special, warp: u32, lane: u32) -> u64 {
    use Special as S;
    let launch = cx.machine.launch;
    let [x, y, _] = launch.block;
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
        S::TotalSmemSize => cx.machine.shared as u32,
        S::WarpSize => WARP as u32,
        _ => 0,
    };
    value.into()
}
