//! The choice of a decode configuration and of the number of splits of the keys.

use girih_codegen::attention::decode::{DecodeConfig, DecodeFeatures, KEYS, MAX_PARTS, MAX_TILES};
use girih_device::Limits;

use super::problem::DecodeProblem;
use crate::Error;
use crate::attention::problem::check_within;
use girih_device::sizes::{wide, word};

/// The most tiles of a split, so that blocks of sequences that are longer than others are not left alone at the end.
const MOST_TILES: i64 = 128;
/// The least tiles of a split, where sequences fill the SMs by themselves, and where they do not.
const LEAST_TILES: [i64; 2] = [32, 2];
/// The least tiles of keys and values in shared memory: one is read while another one comes.
const LEAST_STAGES: i64 = 2;
/// The most blocks along the third axis of a grid.
const MAX_Z: i64 = (1 << 16) - 1;

/// The cost model by which the number of splits is chosen. The unit is the time that an SM needs for a tile of 64 keys when all SMs share the memory.
///
/// # Examples
/// ```
/// use girih_kernels::attention::decode::{Costs, DecodeProblem};
/// use girih_tensor::DType;
///
/// // Eight blocks leave most of 132 multiprocessors without work.
/// let problem = DecodeProblem::new(DType::Bf16, [1, 1], [64, 8], 128, 8192)?;
/// let time = |parts| Costs::OWN.time(&problem, 132, parts);
/// assert!(time(16) < time(1));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The cost of a block in addition to its tiles, in tiles: until its first tile has been loaded, and from its last tile to its stores.
    pub block: f64,
    /// The cost of the second kernel, in tiles of an SM.
    pub sum: f64,
    /// The share of the time of a tile, where all SMs share the memory, that an SM with several blocks needs by itself. A single
    /// block has too little in flight to be faster.
    pub alone: f64,
}

impl Costs {
    /// Those by which [`choose`] chooses: estimates, which `gpu_decode --sweep` compares with measurements.
    pub const OWN: Costs = Costs { block: 1.0, sum: 2.0, alone: 0.95 };

    /// The time of a problem whose sequences are all as long as the cache allows, if each is cut into `parts` splits of one tile or more. SMs share
    /// the memory, but no one is faster than it is by itself.
    pub fn time(&self, problem: &DecodeProblem, multiprocessors: u32, parts: i64) -> f64 {
        let multiprocessors = i64::from(multiprocessors);
        let work = ceil(ceil(keys_seen(problem), KEYS), parts) as f64 + self.block;
        let all = blocks(problem) * parts;
        let together = all as f64 / multiprocessors as f64 * work;
        let alone = match ceil(all, multiprocessors) {
            1 => work,
            several => several as f64 * work * self.alone,
        };
        together.max(alone) + if parts > 1 { self.sum } else { 0.0 }
    }
}

/// How a problem is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodePlan {
    /// The configuration of both kernels.
    pub config: DecodeConfig,
    /// The most splits of a sequence.
    pub parts: i64,
    /// The least tiles of 64 keys of a split, of a sequence that has several: sequences that are far shorter than the capacity have fewer splits.
    pub least_tiles: i64,
    /// The tiles of query heads and the tiles of queries of a head of K and V.
    pub tiles: [i64; 2],
    /// The grid of the first kernel.
    pub grid: [u32; 3],
}

impl DecodePlan {
    /// The floats of the workspace: rows, and of each a maximum and a sum of exponentials.
    pub fn workspace(&self, problem: &DecodeProblem) -> [i64; 2] {
        if self.parts == 1 {
            return [0; 2];
        }
        let rows = self.parts * problem.row_extents().into_iter().product::<i64>();
        [rows * self.config.head_dim, 2 * rows]
    }

    /// Checks that a plan of a configuration that can be built computes a problem on a device of architecture `sm`.
    pub(super) fn accepts(&self, problem: &DecodeProblem, sm: u32) -> Result<(), Error> {
        let refuse =
            |what, found: String, accepted: String| Err(Error::Configuration { what, found, accepted });
        let DecodePlan { config, parts, least_tiles, .. } = *self;
        check_within("parts", parts, 1, MAX_PARTS)?;
        check_within("least tiles", least_tiles, 1, MAX_TILES)?;
        if config.head_dim < problem.head_dim() {
            return refuse("columns", config.head_dim.to_string(), format!("{} or more", problem.head_dim()));
        }
        let of_problem = features(problem, config.head_dim, parts, sm);
        let features = DecodeFeatures {
            // Kernels that could do without are accepted, and those that could do with a programmatic launch.
            padded: of_problem.padded || config.features.padded,
            programmatic: of_problem.programmatic && config.features.programmatic,
            ..of_problem
        };
        let wanted = DecodeConfig { features, ..of(problem, config) };
        if config != wanted {
            return refuse("facts", format!("{config:?}"), format!("{wanted:?}"));
        }
        let (tiles, grid) = grid(problem, config.rows, parts)?;
        if (self.tiles, self.grid) != (tiles, grid) {
            let found = format!("{:?} in a grid of {:?}", self.tiles, self.grid);
            return refuse("tiles of rows", found, format!("{tiles:?} in a grid of {grid:?}"));
        }
        Ok(())
    }
}

/// The features that kernels must have.
fn features(problem: &DecodeProblem, head_dim: i64, parts: i64, sm: u32) -> DecodeFeatures {
    DecodeFeatures {
        padded: head_dim != problem.head_dim(),
        left: problem.attention().mask().left().is_some(),
        softcap: problem.attention().softcap().is_some(),
        scales: problem.scales.is_some(),
        lse: problem.attention().lse(),
        sinks: problem.attention().sinks(),
        parts: parts > 1,
        programmatic: parts > 1 && sm >= 90,
    }
}

/// The same configuration with a problem's dtypes and pages.
fn of(problem: &DecodeProblem, config: DecodeConfig) -> DecodeConfig {
    let page = problem.pages.map(|pages| pages.size);
    DecodeConfig { dtype: problem.dtype(), cache: problem.cache, page, ..config }
}

/// The tiles of query heads and of queries, and the grid of the first kernel.
fn grid(problem: &DecodeProblem, rows: [i64; 2], parts: i64) -> Result<([i64; 2], [u32; 3]), Error> {
    let tiles = [ceil(of_group(problem), rows[0]), ceil(problem.sequences()[1], rows[1])];
    let z = tiles[0] * tiles[1] * problem.sequences()[0];
    if z > MAX_Z {
        return Err(Error::Grid { tiles: z, tile: format!("{rows:?} heads and queries"), most: MAX_Z });
    }
    Ok((tiles, [word(parts), word(problem.heads()[1]), word(z)]))
}

/// Chooses for a device of these limits. `parts` says into how many splits sequences are cut, if that is not to follow from the problem.
///
/// # Errors
/// [`Error::Grid`] for more tiles of rows than a grid has; [`Error::Extent`] for splits that are not accepted; [`Error::Misfit`] for heads of which two
/// tiles of keys and values do not fit the shared memory of a block.
pub fn choose(problem: &DecodeProblem, limits: &Limits, parts: Option<i64>) -> Result<DecodePlan, Error> {
    let rows = rows(of_group(problem), problem.sequences()[1]);
    let (tiles, [_, groups, z]) = grid(problem, rows, 1)?;
    let head_dim = [64, 128, 256].into_iter().find(|d| *d >= problem.head_dim()).unwrap_or(256);
    let least_tiles = LEAST_TILES[usize::from(blocks(problem) < i64::from(limits.multiprocessors))];
    let parts = match parts {
        Some(parts) => check_within("parts", parts, 1, MAX_PARTS).map(|()| parts)?,
        None => cut(problem, limits.multiprocessors),
    };
    let config = DecodeConfig {
        name: "attention_decode",
        dtype: problem.dtype(),
        cache: problem.cache,
        head_dim,
        rows,
        page: None,
        stages: LEAST_STAGES,
        min_blocks: 1,
        features: features(problem, head_dim, parts, limits.sm),
    };
    let config = resident(of(problem, config), limits)?;
    Ok(DecodePlan { config, parts, least_tiles, tiles, grid: [word(parts), groups, z] })
}

fn ceil(value: i64, by: i64) -> i64 {
    (value + by - 1) / by
}

/// The query heads that share a head of K and V.
fn of_group(problem: &DecodeProblem) -> i64 {
    let [heads, groups] = problem.heads();
    heads / groups
}

/// The heads and queries of a tile of rows: 16 rows if they are enough, since the warps then share the work on keys.
fn rows(group: i64, queries: i64) -> [i64; 2] {
    let heads = wide(group).next_power_of_two() as i64;
    if heads <= 16 && queries <= 16 / heads {
        return [heads, 16 / heads];
    }
    let heads = heads.min(64);
    // No more queries than there are: other heads take their places.
    let queries = (wide(queries).next_power_of_two() as i64).min(64 / heads);
    [64 / queries, queries]
}

/// The most keys that a row sees.
fn keys_seen(problem: &DecodeProblem) -> i64 {
    let window = problem
        .attention()
        .mask()
        .left()
        .map_or(problem.capacity(), |left| left + problem.sequences()[1] + KEYS);
    window.min(problem.capacity())
}

/// The blocks of the first kernel for each split.
fn blocks(problem: &DecodeProblem) -> i64 {
    let rows = rows(of_group(problem), problem.sequences()[1]);
    ceil(of_group(problem), rows[0])
        * ceil(problem.sequences()[1], rows[1])
        * problem.heads()[1]
        * problem.sequences()[0]
}

/// Into how many splits the keys of each sequence are cut, which minimises the time if all sequences are equally long.
fn cut(problem: &DecodeProblem, multiprocessors: u32) -> i64 {
    let tiles = ceil(keys_seen(problem), KEYS);
    let time = |parts: &i64| Costs::OWN.time(problem, multiprocessors, *parts);
    let least = ceil(tiles, MOST_TILES).clamp(1, MAX_PARTS);
    let most = (tiles / LEAST_TILES[1]).clamp(least, MAX_PARTS);
    (least..=most).min_by(|a, b| time(a).total_cmp(&time(b))).unwrap_or(least)
}

/// The blocks of an SM and the stages of each, so that much is in flight.
fn resident(config: DecodeConfig, limits: &Limits) -> Result<DecodeConfig, Error> {
    let of_bits = |bits: u32| i64::from(bits) / 8;
    let stage = 2 * KEYS * config.head_dim * of_bits(config.cache.bits());
    let queries = config.tile_rows() * config.head_dim * of_bits(config.dtype.bits());
    let fits = |blocks: i64| {
        // A kilobyte of each block is the system's.
        let own = i64::from(limits.shared_per_multiprocessor) / blocks - 1024;
        (own.min(limits.shared_per_block_optin.into()) - queries) / stage
    };
    // More blocks have fewer registers: three leave 168 to a thread. Groups of a tile in pages of their own take some more.
    let is_grouped = config.page.is_some_and(|page| page < KEYS);
    let wanted = match (config.head_dim, config.tile_rows()) {
        (64, _) => [3, 2, 1],
        (128, 16) if config.cache.bits() == 8 && !is_grouped => [3, 2, 1],
        (256, _) if config.cache.bits() == 16 => [1, 1, 1],
        _ => [2, 1, 1],
    };
    let blocks = wanted.into_iter().find(|blocks| fits(*blocks) >= 3).unwrap_or(1);
    let stages = fits(blocks).min(6);
    if stages < LEAST_STAGES {
        let (shared, head_dim) = (limits.shared_per_block_optin, config.head_dim.to_string());
        let accepted = format!("those of which {LEAST_STAGES} tiles fit the {shared} bytes that a block has");
        return Err(Error::Misfit {
            kernel: "attention decode",
            what: "head dim",
            found: head_dim,
            accepted,
        });
    }
    Ok(DecodeConfig { stages, min_blocks: word(blocks), ..config })
}
