//! Kernels as PTX to begin with, each with its launch.

use serde::Serialize;

/// A kernel and its launch.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Example {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) ptx: &'static str,
    pub(super) launches: &'static str,
}

macro_rules! examples {
    ($($name:literal $about:literal $launches:literal;)*) => {
        /// The examples.
        pub(super) const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            about: $about,
            ptx: include_str!(concat!("../../../examples/", $name, ".ptx")),
            launches: $launches,
        }),*];
    };
}

examples! {
    "sum_race" "a sum whose threads do not always wait for each other: a race" "sum_race --grid 1 --block 128 --arg rand:f32:128 --arg zeros:f32:1";
    "sum" "the sum of 128 numbers through shared memory" "sum --grid 1 --block 128 --arg rand:f32:128 --arg zeros:f32:1";
    "saxpy" "a x + y, a thread for each element" "saxpy --grid 2 --block 64 --arg u32:100 --arg f32:2 --arg rand:f32:100 --arg ones:f32:100";
    "turned" "a tile turned in shared memory, with bank conflicts" "turned --grid 1 --block 32 --arg rand:f32:32x32 --arg zeros:f32:32x32";
    "ring" "two stages, a warp that loads and a warp that computes, with mbarriers" "ring --grid 1 --block 64 --arg rand:u32:768 --arg zeros:u32:32";
}
