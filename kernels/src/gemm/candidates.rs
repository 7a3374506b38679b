//! The configurations that a tuner measures for a problem: those that the generator accepts, without those that cannot be among the fastest.

use girih_codegen::atom::{MmaAtom, MmaKind};
use girih_codegen::builder::MAX_SHARED;
use girih_codegen::gemm::{GemmConfig, Mainloop, Major, Schedule, Store, WarpSpecialized};
use girih_layout::Lay;
use girih_tensor::DType;

use super::choose::{
    LEAST_STAGES, MOST_STAGES, PROMOTION, Way, Work, by_rules, cost, mixed_candidates, promoted, registers,
    simt, sm80, sm90_of_groups, taken,
};
use super::{KernelKind, Problem};
use crate::launch::widest;
use girih_device::sizes::size;

/// Rows, how many warpgroups share them, and how many such teams take tiles in alternation.
const ROWS: [[i64; 3]; 8] =
    [[64, 1, 1], [128, 1, 1], [128, 2, 1], [192, 3, 1], [256, 2, 1], [64, 1, 2], [128, 1, 2], [64, 1, 3]];
const COLUMNS: [i64; 16] = [8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 256];
/// Bytes of a tile along K.
const DEPTHS: [i64; 2] = [128, 256];
/// Blocks that share a tile, and those of a cluster.
const PARTS: [(i64, i64); 23] = [
    (2, 1),
    (3, 1),
    (4, 1),
    (6, 1),
    (8, 1),
    (16, 1),
    (32, 1),
    (66, 1),
    (132, 1),
    (2, 2),
    (16, 2),
    (32, 2),
    (66, 2),
    (132, 2),
    (4, 4),
    (8, 4),
    (28, 4),
    (60, 4),
    (120, 4),
    (8, 8),
    (24, 8),
    (56, 8),
    (120, 8),
];
/// Blocks that load tiles of B together.
const MULTICASTS: [i64; 3] = [1, 2, 4];
/// Tiles of a group of a raster.
const GROUPS: [i64; 2] = [8, 4];
/// The most rows of C for which its columns may be those of the tiles' rows: more fill the rows of a tile themselves.
const SWAPPED: i64 = 256;
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
    if problem.mixed_input().is_some() {
        return mixed_candidates(problem).into_iter().take(most).collect();
    }
    if problem.dtype() == DType::F32 {
        return of_f32(problem).take(most).collect();
    }
    if problem.groups().is_some() {
        return sm90_of_groups(problem, multiprocessors).take(most).collect();
    }
    let timed = timed(problem, multiprocessors);
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

/// All configurations that [`candidates`] are taken from, each with and without an early beginning, the likeliest first.
pub fn configurations(problem: &Problem, multiprocessors: u32) -> Vec<GemmConfig> {
    if problem.dtype() == DType::F32 {
        return of_f32(problem).collect();
    }
    if problem.mixed_input().is_some() {
        return mixed_candidates(problem);
    }
    let both = |(config, _)| [false, true].map(|programmatic| GemmConfig { programmatic, ..config });
    timed(problem, multiprocessors).into_iter().flat_map(both).collect()
}

/// The configurations and the microseconds that each is expected to take, in the order of these.
fn timed(problem: &Problem, multiprocessors: u32) -> Vec<(GemmConfig, f64)> {
    let Ok(usual) = by_rules(problem, KernelKind::Sm90, multiprocessors.into()) else { return Vec::new() };
    let majors = if problem.mnk()[0] <= SWAPPED { &[Major::K, Major::Mn][..] } else { &[Major::K] };
    let mut timed: Vec<(GemmConfig, f64)> = Vec::new();
    for (oriented, _) in majors.iter().map(|&major| problem.oriented(major)) {
        let (work, [m, n, _]) = (Work::of(&oriented), oriented.mnk());
        for [rows, consumers, teams] in ROWS {
            for [columns, depth] in
                COLUMNS.into_iter().flat_map(|columns| DEPTHS.map(|depth| [columns, depth]))
            {
                // Some block has a tile for each team.
                let tiles = ((m + rows - 1) / rows).saturating_mul((n + columns - 1) / columns);
                if tiles.saturating_mul(oriented.batches()) <= (teams - 1) * i64::from(multiprocessors) {
                    continue;
                }
                let configs = of_tile(&usual, &oriented, [rows, columns, depth], [consumers, teams]);
                timed.extend(configs.into_iter().filter_map(|config| {
                    let time = cost(&work, &Way::of(&config)?, multiprocessors).total();
                    Some((config, time))
                }));
            }
        }
    }
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed
}

/// Configurations of [`KernelKind::Sm80`] for a problem, the default first, that a tuner measures for devices without `wgmma`, or in addition to it.
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
    if problem.groups().is_some() {
        return sm80(problem).take(1).collect();
    }
    sm80(problem).flat_map(grouped).collect()
}

/// The configuration with each group of tiles.
fn grouped(config: GemmConfig) -> [GemmConfig; 2] {
    GROUPS.map(|group| GemmConfig { schedule: Schedule::Raster { group }, ..config })
}

/// The configurations of f32, in groups of tiles of each size.
fn of_f32(problem: &Problem) -> impl Iterator<Item = GemmConfig> {
    simt(problem).flat_map(grouped)
}

/// The teams that take tiles in alternation.
fn teams(config: &GemmConfig) -> i64 {
    config.mainloop.warp_specialized().map_or(1, |parts| parts.teams)
}

/// The configuration in a line: tile, warpgroups, stages, schedule, store, and the unusual options.
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

/// All configurations of a tile, whose depth is in bytes, for a problem with C's contiguous mode as the kernel stores it.
fn of_tile(
    usual: &GemmConfig,
    problem: &Problem,
    [rows, columns, depth]: [i64; 3],
    [consumers, teams]: [i64; 2],
) -> Vec<GemmConfig> {
    let dtype = problem.dtype();
    let Some(MmaAtom { c_type, product, .. }) = usual.mainloop.warp_specialized().map(|parts| parts.atom)
    else {
        return Vec::new();
    };
    let majors = taken(problem.dtype(), [problem.a().major(), problem.b().major()]);
    // A swizzled row of elements that are contiguous along N is as long as one along K.
    let narrow = majors[1] == Major::Mn && columns % (128 * 8 / i64::from(dtype.bits())) != 0;
    let atom_columns = if problem.promotes() { promoted(columns) } else { columns };
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, atom_columns, [c_type, dtype, dtype], majors, product);
    // Where atoms share a tile's columns, each has whole rows of the swizzle through which C is stored.
    let parted = atom_columns < columns && atom_columns % 64 != 0;
    let atoms = Lay::strided([consumers, 1], [i64::from(consumers > 1), 0]);
    let (Ok(atom), Ok(atoms), false) = (atom, atoms, narrow || parted) else { return Vec::new() };
    let registers = registers(teams * rows * columns, size(teams * consumers));
    let tile = [rows, columns, depth * 8 / i64::from(dtype.bits())];
    // A kilobyte holds the barriers of the pipeline. Each team holds its own part of C.
    let room = |held: i64| (MAX_SHARED - 1024 - teams * held) / ((rows + columns) * depth);
    let mut out = Vec::new();
    for schedule in schedules(problem, tile) {
        let stores = stores(problem, schedule, [rows, columns], 64 * consumers);
        // Parts of C that come in turns make room for stages, where these are few. Turns take no time of a team that multiplies meanwhile.
        let enough = stores.iter().position(|(_, held)| teams == 1 && room(*held) > LEAST_STAGES);
        for (store, held) in stores.into_iter().take(enough.map_or(usize::MAX, |enough| enough + 1)) {
            // As many as fit, or as many as leave room for a second block on the SM.
            let halves = (MAX_SHARED / 2 - 2048 - teams * held) / ((rows + columns) * depth);
            let mut stages = vec![room(held).min(MOST_STAGES), halves.min(MOST_STAGES)];
            stages.sort_unstable();
            stages.dedup();
            stages.retain(|stages| *stages >= LEAST_STAGES);
            // Only blocks that have rows of C load something.
            let stacked = MULTICASTS.into_iter().filter(|by| *by == 1 || problem.mnk()[0] > (by - 1) * rows);
            let both = stages.into_iter().flat_map(|stages| stacked.clone().map(move |by| (stages, by)));
            out.extend(both.map(|(stages, multicast)| GemmConfig {
                tile,
                mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
                    atom,
                    atoms,
                    teams,
                    stages,
                    registers,
                    multicast,
                    mma_promotion_interval: if problem.promotes() { PROMOTION } else { 0 },
                    mixed_input: None,
                    block_scales: problem.block_scales(),
                }),
                schedule,
                store,
                c_major: problem.c().major(),
                ..*usual
            }));
        }
    }
    out.retain(|config| config.check().is_ok());
    out
}

/// The schedules that make sense for a tile.
fn schedules(problem: &Problem, tile: [i64; 3]) -> Vec<Schedule> {
    let mut out = vec![
        Schedule::Persistent { alternate: true },
        Schedule::StreamK { alternate: true },
        Schedule::Raster { group: 8 },
    ];
    let along_k = (problem.mnk()[2] + tile[2] - 1) / tile[2];
    // Each part has some tiles along K, so that its pipeline fills.
    let parts = PARTS.into_iter().filter(|(parts, _)| along_k / parts >= 4);
    out.extend(parts.map(|(parts, cluster)| Schedule::SplitK { parts, cluster }));
    out
}

/// How a tile of C can be stored, and the bytes of shared memory that this takes.
fn stores(problem: &Problem, schedule: Schedule, [rows, columns]: [i64; 2], unit: i64) -> Vec<(Store, i64)> {
    let (c, element) = (problem.c(), i64::from(problem.output().bits()) / 8);
    // Elements that a line of C begins and ends with a multiple of, up to the alignment that TMA needs.
    let line = 16 / element;
    let whole = widest(&[line, 2, 1], &[c.ld(), c.extents()[c.contiguous()], c.alignment() / element]);
    let direct = Store::Direct { vector: if c.contiguous() == 1 { whole.min(2) } else { 1 } };
    if let Schedule::SplitK { cluster: 2.., .. } = schedule {
        // The blocks of a cluster exchange their sums in shared memory.
        return vec![(direct, rows * columns * 4)];
    }
    // Shared memory holds rows of C of whole swizzles, or pairs of 8 columns; narrower tiles are stored from registers.
    if columns * if c.contiguous() == 1 { element } else { 2 } % 32 != 0 {
        return vec![(direct, 0)];
    }
    let staged = |tile, stages| match whole {
        _ if whole == line => Store::Tma { tile, stages },
        vector => Store::Coalesced { tile, vector },
    };
    // All of the tile, or some rows, or some columns of these. The TMA copies of one iteration read while the next one is written.
    let by_maps = whole == line;
    let share = |shares: i64| ([unit, columns / shares], if by_maps { 2 } else { 1 });
    let turns = if by_maps { [share(4), share(8)] } else { [share(2), share(4)] };
    let mut parts = vec![([rows, columns], 1), ([unit, columns], 1)];
    parts.extend(turns.into_iter().filter(|(tile, _)| tile[1] * element % 64 == 0));
    parts.dedup();
    let bytes = |[rows, columns]: [i64; 2], turns: i64| turns * rows * columns * element;
    parts.into_iter().map(|(tile, turns)| (staged(tile, turns), bytes(tile, turns))).collect()
}
