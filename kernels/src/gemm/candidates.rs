//! Configurations that a tuner measures for a problem: what the generator accepts, without what cannot be among the fastest.

use girih_codegen::gemm::{GemmConfig, Mainloop, Major, Schedule};
use girih_tensor::DType;

use super::Problem;
use super::choose::{expected, fitting, tuned, wide};

/// Tiles of a group of a raster.
const GROUPS: [i64; 2] = [8, 4];
/// A kernel that takes more microseconds does not gain by beginning before the one before it has ended.
const LONG: f64 = 60.0;
/// How many of the likeliest configurations are measured with and without an early beginning.
const EARLY: usize = 6;
/// The most configurations that have the same rows and columns.
const ALIKE: usize = 3;
/// A configuration that is expected to take this many times as long as the fastest is not measured.
const HOPELESS: f64 = 2.5;

/// Warp-specialised configurations for `problem` on a device of this many SMs, at most `most`, the likeliest first. There are none
/// where `wgmma` does not take the elements: f64. Of f32, configurations for the CUDA cores.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem, candidates};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [4096; 3], Layout::Tn)?;
/// let found = candidates(&problem, 132, 24);
/// assert!(found.len() == 24 && found.iter().all(|config| config.check().is_ok()));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn candidates(problem: &Problem, multiprocessors: u32, most: usize) -> Vec<GemmConfig> {
    let mut all = match listed(problem, multiprocessors) {
        Listed::Timed(timed) => return likeliest(problem, timed, most),
        Listed::Other(all) => all,
    };
    all.truncate(most);
    all
}

/// All configurations that [`candidates`] are taken from, each with and without an early beginning, the likeliest first.
pub fn configurations(problem: &Problem, multiprocessors: u32) -> Vec<GemmConfig> {
    let both = |(config, _)| [false, true].map(|programmatic| GemmConfig { programmatic, ..config });
    match listed(problem, multiprocessors) {
        Listed::Timed(timed) => timed.into_iter().flat_map(both).collect(),
        Listed::Other(all) => all,
    }
}

/// What a tuner may measure.
enum Listed {
    /// With the microseconds that each is expected to take, in the order of these.
    Timed(Vec<(GemmConfig, f64)>),
    /// In the order of the choice.
    Other(Vec<GemmConfig>),
}

fn listed(problem: &Problem, multiprocessors: u32) -> Listed {
    match () {
        () if problem.dtype() == DType::F32 => Listed::Other(portable(problem)),
        () if problem.groups().is_some() => Listed::Other(fitting(problem, multiprocessors)),
        () if problem.mixed_input().is_some() => Listed::Other(wide(problem, multiprocessors)),
        () => {
            let all = wide(problem, multiprocessors).into_iter();
            let timed =
                all.filter_map(|config| Some((config, expected(problem, &config, multiprocessors)?.total())));
            let mut timed: Vec<_> = timed.collect();
            timed.sort_by(|a, b| a.1.total_cmp(&b.1));
            Listed::Timed(timed)
        }
    }
}

/// At most `most` of those that are expected to take the least time, of different tiles.
fn likeliest(problem: &Problem, timed: Vec<(GemmConfig, f64)>, most: usize) -> Vec<GemmConfig> {
    let least = timed.first().map_or(0.0, |(_, time)| *time);
    let [m, n, k] = problem.mnk();
    // With a long K, what counts is how K is shared.
    let long_k = k > 64 * m.max(n);
    let mut out: Vec<GemmConfig> = Vec::new();
    for (config, time) in timed {
        let same = |other: &&GemmConfig| {
            let shape =
                |config: &GemmConfig| ([config.tile[0], config.tile[1]], config.c_major, teams(config));
            shape(other) == shape(&config)
        };
        let alike = if long_k { 4 * ALIKE } else { ALIKE };
        if out.len() < most && out.iter().filter(same).count() < alike && time <= HOPELESS * least {
            out.push(GemmConfig { programmatic: least < LONG, ..config });
        }
    }
    // Whether a kernel gains by beginning early no model tells.
    let first: Vec<GemmConfig> = out.iter().take(EARLY).copied().collect();
    out.truncate(most.saturating_sub(first.len()));
    out.extend(first.into_iter().map(|config| GemmConfig { programmatic: !config.programmatic, ..config }));
    out
}

/// Configurations of [`KernelKind::Sm80`](super::KernelKind::Sm80) for a problem that a tuner measures for devices without `wgmma`, or beside it, the usual
/// one first.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem, portable};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [4096; 3], Layout::Tt)?;
/// let found = portable(&problem);
/// assert!(found.len() > 24 && found.iter().all(|config| config.check().is_ok()));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn portable(problem: &Problem) -> Vec<GemmConfig> {
    let all = tuned(problem).into_iter();
    if problem.groups().is_some() { all.take(1).collect() } else { all.flat_map(grouped).collect() }
}

/// The configuration with each group of tiles.
fn grouped(config: GemmConfig) -> [GemmConfig; 2] {
    GROUPS.map(|group| GemmConfig { schedule: Schedule::Raster { group }, ..config })
}

/// The teams that take tiles in alternation.
fn teams(config: &GemmConfig) -> i64 {
    config.mainloop.warp_specialized().map_or(1, |parts| parts.teams)
}

/// What a configuration is in a line: tile, warpgroups, stages, schedule, store, and what is unusual.
pub fn described(config: &GemmConfig) -> String {
    let [m, n, k] = config.tile;
    let parts = match &config.mainloop {
        Mainloop::WarpSpecialized(parts) => {
            let consumers = i64::from(parts.threads().unwrap_or(0)) / 128 - 1;
            let teams = if parts.teams > 1 { format!(" in {} teams", parts.teams) } else { String::new() };
            format!("{consumers} consumers{teams}, {} stages, multicast {}", parts.stages, parts.multicast)
        }
        Mainloop::Multistage(parts) => {
            format!("{} stages, {} fragments, {} blocks", parts.stages, parts.fragments, parts.min_blocks)
        }
    };
    let swapped = if config.c_major == Major::Mn { ", columns of C" } else { "" };
    let early = if config.programmatic { ", programmatic" } else { "" };
    format!("{} {m}x{n}x{k}, {parts}, {:?}, {:?}{swapped}{early}", config.name, config.schedule, config.store)
}
