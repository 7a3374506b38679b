//! The choice of a configuration for scaled 8-bit weights (mixed-input GEMM). Weights are the rows of the kernel's
//! tiles, since `wgmma` takes A from registers: C's contiguous mode is the other one than where the problem itself is
//! solved.

use girih_codegen::atom::{MmaAtom, MmaKind, Product};
use girih_codegen::builder::MAX_SHARED;
use girih_codegen::gemm::{
    Batch, GemmConfig, Mainloop, Major, MixedInput, Schedule, Store, WarpSpecialized, outputs,
};
use girih_layout::Lay;
use girih_tensor::DType;

use super::configs::{MAJORS, STORES_SM90};
use super::plan::{LEAST_STAGES, MOST_STAGES, REGISTERS, takes_epilogues};
use super::plans::together;
use super::{KernelKind, forwards, stored};
use crate::Error;
use crate::gemm::Problem;
use crate::gemm::problem::GROUP;
use girih_device::sizes::size;

/// Columns of a tile, which are tokens. With more of them, ptxas has no registers for the accumulators of a tile along K beside all accumulators.
const COLUMNS: [i64; 3] = [16, 32, 64];
/// Rows of a tile, and the blocks of a cluster that share its K. The more rows there are, the less often activations are read.
const SHAPES: [(i64, i64); 4] = [(256, 1), (128, 1), (128, 2), (128, 4)];
/// The least elements of K of such a block.
const LEAST_K: i64 = 512;

/// What a kernel relies on, in the orientation in which it computes, and its tile.
#[derive(Clone, Copy, Debug)]
struct Facts {
    mixed: MixedInput,
    /// The contiguous mode of the activations.
    major: Major,
    output: DType,
    c_major: Major,
    /// Elements that divide C's contiguous extent and its pitch, if these are no multiples of 16 bytes, which TMA copies store.
    store: Option<i64>,
    /// Rows and columns of a tile, and the warpgroups that multiply.
    tile: [i64; 2],
    consumers: i64,
    /// Blocks that bring the tile of activations together, and those that share K.
    multicast: i64,
    parts: i64,
}

/// The configuration for a problem whose B has scales.
pub(super) fn choose(problem: &Problem, kind: KernelKind, multiprocessors: u32) -> Result<GemmConfig, Error> {
    let facts = facts(problem)?;
    if kind != KernelKind::Sm90 {
        let dtype = problem.mixed_input().map_or("", |mixed| mixed.dtype.name());
        return Err(Error::Kernel { kernel: kind.name(), dtype, accepted: "sm90 takes weights with scales" });
    }
    let [m, n, k] = problem.mnk();
    // The fewest columns that hold all tokens.
    let columns = COLUMNS.into_iter().find(|columns| m <= *columns && !problem.is_invariant());
    let columns = columns.unwrap_or(COLUMNS[2]);
    // The rows that a multiprocessor has to go through; blocks share K where each of them is on a multiprocessor of its own.
    let columns_of_tiles = (m + columns - 1) / columns;
    let turns = |facts: &Facts| {
        let blocks = (n + facts.tile[0] - 1) / facts.tile[0] * columns_of_tiles * facts.parts;
        let together = together(i64::from(multiprocessors), facts.parts).max(1);
        (blocks + together - 1) / together
    };
    let rows_each = |facts: &Facts| turns(facts) * facts.tile[0] / facts.parts;
    let enough = |facts: &Facts| match facts.parts {
        1 => true,
        parts => !problem.is_invariant() && turns(facts) <= 1 && k >= LEAST_K * parts,
    };
    let fits =
        |config: &GemmConfig| config.check().is_ok() && (!problem.is_fused() || takes_epilogues(config));
    let mut fitting: Vec<Facts> = SHAPES
        .into_iter()
        .map(|(rows, parts)| Facts { tile: [rows, columns], parts, ..facts })
        .filter(|facts| enough(facts) && facts.config(MOST_STAGES).is_ok_and(|config| fits(&config)))
        .collect();
    fitting.sort_by_key(|facts| (rows_each(facts), facts.parts));
    let narrow = Facts { tile: [SHAPES[1].0, columns], ..facts };
    fitting.first().unwrap_or(&narrow).config(MOST_STAGES)
}

/// Every configuration that [`choose`] may return, each once.
pub(super) fn all() -> impl Iterator<Item = GemmConfig> {
    let inputs = MixedInput::DTYPES
        .into_iter()
        .flat_map(|dtype| MixedInput::SCALES.map(|scale| MixedInput { dtype, scale, group: GROUP }));
    let places = || MAJORS.into_iter().flat_map(|major| MAJORS.map(|c_major| (major, c_major)));
    let stored = || {
        let stores = || [None].into_iter().chain(STORES_SM90.map(Some));
        outputs(DType::F32).iter().flat_map(move |&output| stores().map(move |store| (output, store)))
    };
    let tiles =
        || COLUMNS.into_iter().flat_map(|columns| SHAPES.map(|(rows, parts)| ([rows, columns], parts)));
    let facts = inputs.flat_map(move |mixed| {
        places().flat_map(move |(major, c_major)| {
            stored().flat_map(move |(output, store)| {
                tiles().map(move |(tile, parts)| Facts {
                    mixed,
                    major,
                    output,
                    c_major,
                    store,
                    tile,
                    consumers: 2,
                    multicast: 1,
                    parts,
                })
            })
        })
    });
    facts
        .filter(Facts::is_distinct)
        .filter_map(|facts| Some((facts, facts.config(MOST_STAGES).ok()?)))
        .filter(|(_, config)| config.check().is_ok())
        .flat_map(|(facts, config)| {
            let invariant = facts.parts == 1 && facts.tile[1] == COLUMNS[2];
            [config].into_iter().chain(invariant.then(|| forwards(config)))
        })
}

/// Configurations that a tuner measures, those with the fewest columns that hold all tokens first.
pub(in crate::gemm) fn candidates(problem: &Problem) -> Vec<GemmConfig> {
    let Ok(facts) = facts(problem) else { return Vec::new() };
    let m = problem.mnk()[0];
    let fewest = COLUMNS.iter().position(|columns| m <= *columns).unwrap_or(COLUMNS.len() - 1);
    let mut out = Vec::new();
    for columns in COLUMNS.into_iter().skip(fewest).take(2) {
        for (rows, consumers) in [(128, 2), (64, 1), (256, 2), (192, 3), (128, 1)] {
            for multicast in [1, 2, 4] {
                let facts = Facts { tile: [rows, columns], consumers, multicast, ..facts };
                // As many stages as fit, or as many as leave room for another block.
                let mut stages = vec![MOST_STAGES, facts.stages(MAX_SHARED / 2 - 1024)];
                stages.dedup();
                let configs = stages.into_iter().filter_map(|stages| facts.config(stages).ok());
                out.extend(configs.flat_map(|config| {
                    let raster = GemmConfig { schedule: Schedule::Raster { group: 8 }, ..config };
                    let late = GemmConfig { programmatic: !config.programmatic, ..config };
                    let stream = GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..config };
                    [config, late, raster, stream]
                }));
            }
        }
    }
    out.retain(|config| config.check().is_ok());
    let mut seen: Vec<GemmConfig> = Vec::new();
    for config in out {
        if !seen.contains(&config) {
            seen.push(config);
        }
    }
    seen
}

/// The facts of a problem, with a tile of two warpgroups and the fewest columns.
fn facts(problem: &Problem) -> Result<Facts, Error> {
    let Some(mixed) = problem.mixed_input() else {
        let (dtype, accepted) = (problem.dtype().name(), "a problem with scales is accepted");
        return Err(Error::Kernel { kernel: "gemm of mixed inputs", dtype, accepted });
    };
    if problem.b().major() != Major::K {
        let accepted = "weights that are contiguous along K are accepted: layouts tn and nn";
        return Err(Error::Kernel { kernel: "sm90", dtype: mixed.dtype.name(), accepted });
    }
    let c_major = if problem.c().major() == Major::K { Major::Mn } else { Major::K };
    let (oriented, _) = problem.oriented(c_major);
    let line = 128 / i64::from(oriented.output().bits());
    Ok(Facts {
        mixed: *mixed,
        major: oriented.b().major(),
        output: oriented.output(),
        c_major,
        store: (stored(&oriented, &[line]) != line).then(|| stored(&oriented, &STORES_SM90)),
        tile: [SHAPES[0].0, COLUMNS[0]],
        consumers: 2,
        multicast: 1,
        parts: 1,
    })
}

impl Facts {
    /// Whether no other facts about C's store give the same configuration: where C goes from registers, tensor maps do not matter.
    fn is_distinct(&self) -> bool {
        let (store, _) = self.store();
        !matches!(store, Store::Direct { .. })
            || self.store.is_none()
            || self.store == Some(1) && self.c_major == Major::K
    }

    /// How C is stored, and the bytes of shared memory that it takes.
    fn store(&self) -> (Store, i64) {
        let ([rows, columns], element) = (self.tile, i64::from(self.output.bits() / 8));
        // A thread has two neighbours of a row.
        let vector = if self.c_major == Major::K { self.store.unwrap_or(2) } else { 1 };
        if self.parts > 1 {
            // The blocks of a cluster exchange their sums in shared memory.
            return (Store::Direct { vector }, rows * columns * 4);
        }
        // Shared memory holds rows of C of whole swizzles, or pairs of 8 columns.
        if columns * if self.c_major == Major::K { element } else { 2 } % 32 != 0 {
            return (Store::Direct { vector }, 0);
        }
        let store = match self.store {
            None => Store::Tma { tile: self.tile, stages: 1 },
            Some(vector) => Store::Coalesced { tile: self.tile, vector },
        };
        (store, rows * columns * element)
    }

    /// The stages that `bytes` of shared memory have room for.
    fn stages(&self, bytes: i64) -> i64 {
        let ([rows, columns], scale) = (self.tile, i64::from(self.mixed.scale.bits() / 8));
        let stage = rows * GROUP + 2 * columns * GROUP + rows * scale;
        // A kilobyte holds the barriers of the pipeline.
        (bytes - 1024 - self.store().1) / stage
    }

    /// The configuration with at most this many stages.
    fn config(&self, most: i64) -> Result<GemmConfig, Error> {
        let Facts { mixed, tile: [rows, columns], consumers, multicast, parts, .. } = *self;
        let (types, majors) = ([DType::F32, DType::Bf16, DType::Bf16], [Major::K, self.major]);
        let stages = self.stages(MAX_SHARED).min(most).max(LEAST_STAGES);
        Ok(GemmConfig {
            name: if mixed.dtype == DType::S8 { "gemm_sm90_s8_bf16" } else { "gemm_sm90_e4m3_bf16" },
            tile: [rows, columns, GROUP],
            mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
                atom: MmaAtom::wgmma(MmaKind::WgmmaRs, columns, types, majors, Product::Multiply)?,
                atoms: Lay::strided([consumers, 1], [1, 0]).map_err(girih_codegen::Error::from)?,
                teams: 1,
                stages,
                registers: REGISTERS[size(consumers - 1)],
                multicast,
                mma_promotion_interval: 0,
                mixed_input: Some(mixed),
                block_scales: None,
            }),
            schedule: match parts {
                1 => Schedule::Persistent { alternate: true },
                _ => Schedule::SplitK { parts, cluster: parts },
            },
            batch: Batch::Single,
            store: self.store().0,
            c_type: self.output,
            c_major: self.c_major,
            programmatic: true,
        })
    }
}
