//! The finite set of configurations. Each one follows from a few facts about the problem, and the facts have finitely many values.

use girih_codegen::atom::{
    MmaAtom, SM80_8X8X4_F64F64F64F64_TN, SM80_16X8X8_F32TF32TF32F32_TN, SM80_16X8X16_F16F16F16F16_TN,
    SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN, SM80_16X8X32_S32S8S8S32_TN,
    SM89_16X8X32_F32E4M3E4M3F32_TN, SM89_16X8X32_F32E5M2E5M2F32_TN, SM90_16X8X4_F64F64F64F64_TN,
    UNIVERSAL_FMA_F32,
};
use girih_codegen::constant;
use girih_codegen::gemm::{
    Batch, BlockScales, GemmConfig, Mainloop, Major, Multistage, Schedule, Source, Store, outputs,
};
use girih_codegen::{Operand, TiledMma};
use girih_layout::{Int, Lay, Shape, Tile, lay};
use girih_tensor::DType;

use super::plan::WarpSpecializedFacts;
use super::{forwards, mixed, plans, several};
use crate::gemm::Problem;
use crate::gemm::problem::{BLOCKS, GROUP, is_promoted};
use crate::gemm::records::Kind;

/// Elements that one load may take: up to 16 bytes. Loads of f32 transpose what is contiguous along K.
pub(super) const fn loads(dtype: DType, major: Major) -> &'static [i64] {
    match dtype.bits() {
        32 if matches!((dtype, major), (DType::F32, Major::K)) => &[4, 1],
        64 => &[2, 1],
        32 => &[4, 2, 1],
        16 => &[8, 4, 2, 1],
        _ => &[16, 8, 4, 2, 1],
    }
}
/// Elements of C that one store may take: as many as a thread has side by side in a row. A vector of accumulators of single threads would be in
/// registers of the same banks as the vectors of B by which they are multiplied, so that every product would wait.
pub(super) const STORES_SIMT: [i64; 1] = [1];
pub(super) const STORES_SM80: [i64; 2] = [2, 1];
/// The same where TMA copies do not store C. More than 4 bytes of bf16 are hardly faster.
pub(super) const STORES_SM90: [i64; 2] = [2, 1];
/// The same of groups, which TMA copies do not store.
pub(super) const fn stores_of_groups(output: DType) -> [i64; 3] {
    [128 / output.bits() as i64, 2, 1]
}
pub(super) const MAJORS: [Major; 2] = [Major::K, Major::Mn];

/// The products that kernels compute.
const BATCHES: [Batch; 5] =
    [Batch::Single, Batch::Strided, Batch::Pointers, Batch::Grouped { mode: 0 }, Batch::Grouped { mode: 1 }];

/// A dtype that tensor cores multiply.
pub(super) struct Input {
    dtype: DType,
    /// The dtype of its accumulators.
    pub(super) sums: DType,
    /// The atom of a warp. That of a warpgroup follows from the dtype.
    warp: MmaAtom,
    /// The atom of a warp on sm_90, where warpgroups do not multiply the dtype.
    sm90: Option<MmaAtom>,
    /// The names of the kernels, the second one's for sm_90.
    names: [&'static str; 2],
}

static TENSOR: [Input; 8] = [
    Input {
        dtype: DType::F64,
        sums: DType::F64,
        warp: SM80_8X8X4_F64F64F64F64_TN,
        sm90: Some(SM90_16X8X4_F64F64F64F64_TN),
        names: ["gemm_sm80_f64", "gemm_sm90_f64"],
    },
    Input {
        dtype: DType::S8,
        sums: DType::S32,
        warp: SM80_16X8X32_S32S8S8S32_TN,
        sm90: None,
        names: ["gemm_sm80_s8", "gemm_sm90_s8"],
    },
    Input {
        dtype: DType::Tf32,
        sums: DType::F32,
        warp: SM80_16X8X8_F32TF32TF32F32_TN,
        sm90: None,
        names: ["gemm_sm80_tf32", "gemm_sm90_tf32"],
    },
    Input {
        dtype: DType::F16,
        sums: DType::F32,
        warp: SM80_16X8X16_F32F16F16F32_TN,
        sm90: None,
        names: ["gemm_sm80_f16", "gemm_sm90_f16"],
    },
    Input {
        dtype: DType::F16,
        sums: DType::F16,
        warp: SM80_16X8X16_F16F16F16F16_TN,
        sm90: None,
        names: ["gemm_sm80_f16_sums_f16", "gemm_sm90_f16_sums_f16"],
    },
    Input {
        dtype: DType::Bf16,
        sums: DType::F32,
        warp: SM80_16X8X16_F32BF16BF16F32_TN,
        sm90: None,
        names: ["gemm_sm80_bf16", "gemm_sm90_bf16"],
    },
    Input {
        dtype: DType::E4m3,
        sums: DType::F32,
        warp: SM89_16X8X32_F32E4M3E4M3F32_TN,
        sm90: None,
        names: ["gemm_sm89_e4m3", "gemm_sm90_e4m3"],
    },
    Input {
        dtype: DType::E5m2,
        sums: DType::F32,
        warp: SM89_16X8X32_F32E5M2E5M2F32_TN,
        sm90: None,
        names: ["gemm_sm89_e5m2", "gemm_sm90_e5m2"],
    },
];

impl Input {
    /// The name of the kernels by warpgroups.
    pub(super) const fn name_of_warpgroups(&self) -> &'static str {
        self.names[1]
    }

    /// The atom of a warp by which sm_90 multiplies the dtype, with the kernel's name, if it is not a warpgroup's.
    pub(super) fn of_warps(&self) -> Option<(MmaAtom, &'static str)> {
        self.sm90.map(|atom| (atom, self.names[1]))
    }
}

/// What tensor cores need to know of a problem's dtype and accumulators, if they multiply it.
pub(super) fn tensor(problem: &Problem) -> Option<&'static Input> {
    TENSOR.iter().find(|input| (input.dtype, input.sums) == (problem.dtype(), problem.sums()))
}

/// Every configuration that [`choose`](super::choose) may return, each once.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::F16, [1000, 200, 300], Layout::Nt)?;
/// let config = choose(&problem, KernelKind::Sm80, 132)?;
/// assert!(choose::all().any(|known| known == config));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn all() -> impl Iterator<Item = GemmConfig> {
    let mut all = Vec::new();
    for batch in BATCHES {
        let mut add = |config| all.push(several(config, batch));
        let multistage = |types, stores| multistage(types, stores).filter(|facts| facts.takes(batch));
        for facts in multistage([DType::F32; 2], &STORES_SIMT) {
            facts.fused_or_not(|facts| several(facts.simt(), batch)).for_each(&mut add);
        }
        for input in &TENSOR {
            for facts in multistage([input.dtype, input.sums], &STORES_SM80) {
                let large = MultistageFacts { large: true, ..facts };
                let usual = facts.fused_or_not(|facts| facts.sm80(input));
                usual.chain(large.takes_large(batch).then(|| large.sm80(input))).for_each(&mut add);
                if let Some(atom) = input.sm90 {
                    add(facts.doubles(atom, input.names[1]));
                }
            }
            let by_warpgroups = input.sm90.is_none().then(|| warp_specialized(input, batch));
            for facts in by_warpgroups.into_iter().flatten() {
                // None fails: the compiler has judged the atoms below.
                let Ok(config) = facts.config(input) else { continue };
                add(config);
                if batch.grouped().is_none() && plans::INVARIANT.contains(&facts.plan) {
                    add(forwards(config));
                }
            }
        }
    }
    all.extend(mixed::all());
    all.into_iter()
}

fn multistage([dtype, sums]: [DType; 2], stores: &'static [i64]) -> impl Iterator<Item = MultistageFacts> {
    let sources = move || {
        MAJORS
            .into_iter()
            .flat_map(move |major| loads(dtype, major).iter().map(move |&vector| Source { major, vector }))
    };
    let pairs = sources().flat_map(move |a| sources().map(move |b| (a, b)));
    pairs.flat_map(move |(a, b)| {
        let stored =
            stores.iter().flat_map(move |&store| outputs(sums).iter().map(move |&output| (store, output)));
        stored.map(move |(store, output)| MultistageFacts {
            dtype,
            a,
            b,
            store,
            output,
            fused: false,
            large: false,
        })
    })
}

/// Whether accumulators are promoted, and the scales of blocks, in both orientations of a problem. The products of a batch have no scales.
fn ways(dtype: DType, batch: Batch) -> impl Iterator<Item = (bool, Option<BlockScales>)> {
    let [a, b] = BLOCKS;
    let scaled = [[a, b], [b, a]].map(|[a, b]| Some(BlockScales { granularity: [a, b, GROUP] }));
    let scaled = scaled.into_iter().filter(move |_| batch == Batch::Single);
    let promoted = [None].into_iter().chain(scaled).map(|scales| (true, scales));
    [(false, None)].into_iter().chain(promoted.filter(move |_| is_promoted(dtype)))
}

fn warp_specialized(input: &'static Input, batch: Batch) -> impl Iterator<Item = WarpSpecializedFacts> {
    let dtype = input.dtype;
    let majors = MAJORS.into_iter().flat_map(|a| MAJORS.map(|b| [a, b]));
    let facts = majors.filter(move |&majors| taken(dtype, majors) == majors).flat_map(move |majors| {
        let stores = move |output| -> Vec<Option<i64>> {
            match batch {
                Batch::Grouped { .. } => stores_of_groups(output).map(Some).to_vec(),
                // A tensor map has one address.
                Batch::Pointers => Vec::new(),
                Batch::Single | Batch::Strided => [None].into_iter().chain(STORES_SM90.map(Some)).collect(),
            }
        };
        let stored = outputs(input.sums)
            .iter()
            .flat_map(move |&output| stores(output).into_iter().map(move |store| (output, store)));
        let stored = stored.flat_map(move |stored| ways(dtype, batch).map(move |way| (stored, way)));
        stored.flat_map(move |((output, store), (promotes, scales))| {
            // Records count for single products whose C is stored by tensor copies.
            let recorded = batch == Batch::Single && store.is_none() && scales.is_none();
            let kind = Kind { bits: [dtype.bits(), output.bits()], promotes };
            let named = plans::named(recorded.then_some(kind));
            let grouped = batch.grouped().into_iter().flat_map(plans::grouped);
            named.filter(move |_| batch.grouped().is_none()).chain(grouped).map(move |plan| {
                WarpSpecializedFacts {
                    dtype,
                    sums: input.sums,
                    majors,
                    output,
                    store,
                    promotes,
                    scales,
                    fused: false,
                    reduces: false,
                    batch,
                    plan,
                }
            })
        })
    });
    facts.filter(|facts| facts.is_distinct() && facts.fits(input))
}

/// What a multistage kernel relies on.
#[derive(Clone, Copy)]
pub(super) struct MultistageFacts {
    /// A's and B's elements.
    pub(super) dtype: DType,
    pub(super) a: Source,
    pub(super) b: Source,
    /// Elements that divide N and C's pitch.
    pub(super) store: i64,
    /// C's elements.
    pub(super) output: DType,
    /// Whether something is computed of the accumulators ([`Problem::is_fused`]).
    pub(super) fused: bool,
    /// Whether a block has shared memory for a large tile ([`LARGE_SHARED`]), and there are tiles enough.
    pub(super) large: bool,
}

/// Each thread owns 4 x 4 blocks of C, so that M- and N-contiguous operands are read in 16-byte vectors.
const FOURS: Lay = lay!("(16,4,2):(4,1,64)");
/// A warp is 4 x 8 threads. Of each two neighbours, and of each two pairs, two read the same: so 16 threads read 128 bytes at once.
const SIMT_ATOMS: Lay = lay!("(((2,2),4),(8,2)):(((1,16),64),(2,32))");
/// The same of a tile twice as high.
const FOUR_FOURS: Lay = lay!("(16,4,4):(4,1,64)");
const FOUR_WARPS: Lay = lay!("(2,2):(1,2)");
const EIGHT_WARPS: Lay = lay!("(2,4):(1,2)");
/// Rows and columns of a tile of eight warps, and the bytes of its four stages.
pub(super) const LARGE: [i64; 2] = [128, 256];
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: a constant of 18 bits"
)]
pub(super) const LARGE_SHARED: u32 = (4 * (LARGE[0] + LARGE[1]) * 2 * ROW_SM80) as u32;
const EIGHT_TALL: Lay = lay!("(4,2):(1,4)");
/// Bytes of a tile along K, for atoms of warps.
pub(super) const ROW_SM80: i64 = 64;
/// Rows and columns of a tile, and elements along K.
const WIDE: [i64; 3] = [128, 128, 32];
const SHALLOW: [i64; 3] = [128, 128, 16];
const NARROW: [i64; 3] = [64, 64, 32];
/// The bits of the widest load.
const WIDEST_BITS: i64 = 128;
/// Of f64.
const DOUBLES: [i64; 3] = [128, 128, 16];
/// The same of groups.
const DOUBLES_OF_GROUPS: [i64; 3] = [64, 128, 16];

/// A tile of f32 on the CUDA cores, and how far ahead its threads load.
#[derive(Clone, Copy)]
struct Simt {
    tile: [i64; 3],
    stages: i64,
    fragments: usize,
    min_blocks: u32,
}

/// Where ptxas has no registers to choose from, the values of a product are in the same bank, and products take up to twice as long: loads
/// that transpose leave room for the first [`TRANSPOSING`] alone. Two blocks on an SM hide each other's waits; a tile twice as high
/// reads less of shared memory for each product. The first is chosen, or [`TWO_BLOCKS`] where nothing is transposed and there is no
/// epilogue, for which threads of two blocks have no registers (339 us and 356 us for 2048^3 on an H200). The others are for tuners.
const SIMT: [Simt; 5] = [
    Simt { tile: SHALLOW, stages: 4, fragments: 2, min_blocks: 1 },
    Simt { tile: [256, 128, 16], stages: 4, fragments: 2, min_blocks: 1 },
    Simt { tile: SHALLOW, stages: 4, fragments: 2, min_blocks: 2 },
    Simt { tile: WIDE, stages: 2, fragments: 2, min_blocks: 2 },
    Simt { tile: [256, 128, 32], stages: 4, fragments: 2, min_blocks: 1 },
];
const TRANSPOSING: usize = 2;
/// The tile of which two blocks run on an SM.
const TWO_BLOCKS: usize = 2;
/// For loads that have many addresses.
const NARROW_LOADS: Simt = Simt { tile: SHALLOW, stages: 4, fragments: 1, min_blocks: 1 };

/// A tile of 16-bit floats by warps of tensor cores, with the bytes of its rows along K, for copies of 16 bytes.
#[derive(Clone, Copy)]
struct Warps {
    tile: [i64; 2],
    row: i64,
    atoms: Lay,
    stages: i64,
    min_blocks: u32,
}

impl Warps {
    const fn new(tile: [i64; 2], row: i64, stages: i64) -> Warps {
        let atoms = match tile {
            LARGE => EIGHT_WARPS,
            [256, 128] => EIGHT_TALL,
            _ => FOUR_WARPS,
        };
        Warps { tile, row, atoms, stages, min_blocks: 1 }
    }
}

/// Those that tuners measure beside the one that is chosen. GPUs of sm_86 and sm_89 have shared memory for no more than 99 KB
/// of stages.
const WARPS: [Warps; 12] = [
    Warps::new(LARGE, 64, 4),
    Warps::new(LARGE, 64, 3),
    Warps::new(LARGE, 128, 3),
    Warps::new(LARGE, 128, 4),
    Warps::new([256, 128], 128, 3),
    Warps::new([256, 128], 128, 4),
    Warps::new([256, 128], 64, 3),
    Warps::new([256, 128], 64, 4),
    Warps::new([128, 128], 128, 3),
    Warps::new([128, 128], 128, 4),
    Warps::new([128, 128], 64, 3),
    Warps { min_blocks: 2, ..Warps::new([128, 128], 64, 4) },
];

/// The configuration with registers for addresses that a thread reads from memory: warps of tensor cores whose loads are narrow, or whose accumulators are
/// promoted, are eight.
pub(super) fn beside_pointers(config: GemmConfig) -> GemmConfig {
    by_eight_warps(config, is_promoted(config.atom().a_type))
}

/// The configuration with registers for a thread's place among groups: eight warps where loads are narrow, one block on an SM, and for
/// f64 tiles of half of the rows.
pub(super) fn beside_groups(config: GemmConfig) -> GemmConfig {
    let config = by_eight_warps(config, false);
    let Mainloop::Multistage(mut parts) = config.mainloop else { return config };
    parts.min_blocks = 1;
    let tile = if parts.atom.a_type == DType::F64 { DOUBLES_OF_GROUPS } else { config.tile };
    GemmConfig { tile, ..config.with_mainloop(Mainloop::Multistage(parts)) }
}

/// The configuration with eight warps of tensor cores, which do not load fragments ahead, if loads are narrow or in any case. With loads of one or
/// two elements of 8 bits, tiles have half of the rows or columns that these loads bring.
fn by_eight_warps(config: GemmConfig, in_any_case: bool) -> GemmConfig {
    let Mainloop::Multistage(mut parts) = config.mainloop else { return config };
    let (mut tile, bits) = (config.tile, i64::from(parts.atom.a_type.bits()));
    let [a, b] = [parts.a, parts.b];
    let least = a.vector.min(b.vector);
    if parts.atom != UNIVERSAL_FMA_F32 && (least * bits < WIDEST_BITS || in_any_case) {
        (parts.atoms, parts.fragments) = (EIGHT_WARPS, 1);
        if bits == 8 && least <= 2 {
            let halved = usize::from(b.vector < a.vector || a.vector == b.vector && b.major == Major::Mn);
            parts.atoms = [EIGHT_WARPS, EIGHT_TALL][halved];
            tile[halved] /= 2;
        }
    }
    GemmConfig { tile, ..config.with_mainloop(Mainloop::Multistage(parts)) }
}

impl MultistageFacts {
    /// Whether the kernel can rely on this where it computes such products: groups begin at any element.
    fn takes(&self, batch: Batch) -> bool {
        let single = |source: Source| source.major == Major::K || source.vector == 1;
        match batch {
            Batch::Single | Batch::Strided | Batch::Pointers => true,
            Batch::Grouped { mode: 0 } => single(self.a),
            Batch::Grouped { .. } => single(self.b) && self.store == 1,
        }
    }

    /// Whether the kernel of such products has a large tile, if that fits: of 16-bit floats that copies of 16 bytes bring, where nothing but a
    /// vector of the accumulators is stored.
    fn takes_large(&self, batch: Batch) -> bool {
        let single = matches!(batch, Batch::Single | Batch::Strided);
        single && self.large && self.dtype.bits() == 16 && self.loads_at_least(16) && self.stores_sums()
    }

    /// Whether accumulators are stored as elements like those of A and B, several at once.
    fn stores_sums(&self) -> bool {
        self.output == self.dtype && self.store > 1 && !self.fused
    }

    /// Whether loads of A and of B take this many bytes.
    fn loads_at_least(&self, bytes: i64) -> bool {
        self.a.vector.min(self.b.vector) * i64::from(self.dtype.bits()) / 8 >= bytes
    }

    /// The configurations without and with an epilogue, one if they are the same.
    fn fused_or_not(
        self,
        config: impl Fn(MultistageFacts) -> GemmConfig,
    ) -> impl Iterator<Item = GemmConfig> {
        let [alone, fused] = [false, true].map(|fused| config(MultistageFacts { fused, ..self }));
        [alone].into_iter().chain((fused != alone).then_some(fused))
    }

    pub(super) fn simt(&self) -> GemmConfig {
        // Narrower loads are more loads, and each has an address and a predicate. Loads that transpose have few addresses.
        let few = [self.a, self.b].iter().all(|source| source.major == Major::K || source.vector == 4);
        let two_blocks = few && !self.transposes() && !self.fused;
        self.simt_of(match () {
            () if two_blocks => SIMT[TWO_BLOCKS],
            () if few => SIMT[0],
            () => NARROW_LOADS,
        })
    }

    /// Whether A or B of f32 are transposed on their way to shared memory.
    fn transposes(&self) -> bool {
        [self.a, self.b].iter().any(|source| source.major == Major::K)
    }

    /// The configurations of f32 that a tuner measures.
    pub(super) fn all_simt(self) -> impl Iterator<Item = GemmConfig> {
        let count = if self.transposes() { TRANSPOSING } else { SIMT.len() };
        SIMT.into_iter().take(count).map(move |simt| self.simt_of(simt))
    }

    fn simt_of(&self, simt: Simt) -> GemmConfig {
        let (a, b) = (self.a, self.b);
        let Simt { tile, stages, fragments, min_blocks } = simt;
        let fours = |extent: i64| if extent == WIDE[1] { FOURS } else { FOUR_FOURS };
        GemmConfig {
            name: "gemm_simt_f32",
            tile,
            mainloop: Mainloop::Multistage(Multistage {
                atom: UNIVERSAL_FMA_F32,
                atoms: SIMT_ATOMS,
                permutation: [tile[0], tile[1]].map(|extent| Tile::Lay(fours(extent))),
                k_atoms: 1,
                fragments,
                stages,
                min_blocks,
                a,
                b,
            }),
            schedule: Schedule::Raster { group: 8 },
            batch: Batch::Single,
            store: Store::Direct { vector: self.store },
            c_type: self.output,
            c_major: Major::K,
            programmatic: false,
        }
    }

    /// f64 by an atom of warps. A product takes so long that each warp's loads hide behind those of another one.
    pub(super) fn doubles(&self, atom: MmaAtom, name: &'static str) -> GemmConfig {
        GemmConfig {
            name,
            tile: DOUBLES,
            mainloop: Mainloop::Multistage(Multistage {
                atom,
                atoms: EIGHT_WARPS,
                permutation: [Tile::All, Tile::All],
                k_atoms: 1,
                fragments: 2,
                stages: 4,
                min_blocks: 1,
                a: self.a,
                b: self.b,
            }),
            schedule: Schedule::Raster { group: 8 },
            batch: Batch::Single,
            store: Store::Direct { vector: self.store },
            c_type: self.output,
            c_major: Major::K,
            programmatic: false,
        }
    }

    /// The configurations of warps that a tuner measures, the usual one first.
    pub(super) fn all_sm80(self, input: &'static Input) -> impl Iterator<Item = GemmConfig> {
        let fragments = WARPS.into_iter().flat_map(|warps| [1, 2].map(|fragments| (warps, fragments)));
        let usual = self.sm80(input);
        let more = fragments.filter_map(move |(warps, fragments)| self.warps(input, warps, fragments));
        [usual].into_iter().chain(more)
    }

    /// The configuration with a tile of 16-bit floats, if copies take 16 bytes.
    fn warps(&self, input: &Input, warps: Warps, fragments: usize) -> Option<GemmConfig> {
        (self.dtype.bits() == 16 && self.loads_at_least(16)).then(|| self.by_tile(input, warps, fragments))
    }

    fn by_tile(&self, input: &Input, warps: Warps, fragments: usize) -> GemmConfig {
        let usual = MultistageFacts { large: false, ..*self }.sm80(input);
        let Mainloop::Multistage(mainloop) = usual.mainloop else { return usual };
        let Warps { tile: [m, n], row, atoms, stages, min_blocks } = warps;
        let mainloop = Multistage { atoms, stages, min_blocks, fragments, ..mainloop };
        let schedule = Schedule::Raster { group: 4 };
        let tile = [m, n, row / 2];
        GemmConfig { tile, schedule, ..usual.with_mainloop(Mainloop::Multistage(mainloop)) }
    }

    pub(super) fn sm80(&self, input: &Input) -> GemmConfig {
        if self.dtype == DType::F64 {
            return self.doubles(input.warp, input.names[0]);
        }
        if self.takes_large(Batch::Single) {
            return self.by_tile(input, Warps::new(LARGE, 2 * ROW_SM80, 4), 2);
        }
        let (a, b) = (self.a, self.b);
        let bytes = i64::from(self.dtype.bits() / 8);
        // Without asynchronous copies every element passes through a register of its own: a smaller tile leaves room. So do elements
        // of 8 bits that do not lie along K, on their way from shared memory.
        let along_k = a.major == Major::K && b.major == Major::K;
        let wide = if bytes == 1 { self.loads_at_least(16) && along_k } else { self.loads_at_least(4) };
        let [tile_m, tile_n, _] = if wide { WIDE } else { NARROW };
        // Longer tiles, in as many stages as 99 KB of a GPU of sm_89 have room for, where there are registers for their addresses. Where vectors
        // do not lie along K they gain nothing.
        let deep = bytes == 2 && self.loads_at_least(16) && along_k && self.stores_sums();
        let (row, stages, group) = if deep { (2 * ROW_SM80, 3, 4) } else { (ROW_SM80, 4, 8) };
        GemmConfig {
            name: input.names[0],
            tile: [tile_m, tile_n, row / bytes],
            mainloop: Mainloop::Multistage(Multistage {
                atom: input.warp,
                // Narrower copies are more copies, and each has an address and a predicate: of copies of 4 bytes twice the threads take their
                // share, and with copies of 8 bytes fragments are not loaded ahead.
                atoms: if wide && !self.loads_at_least(8) || !wide && bytes == 1 {
                    EIGHT_WARPS
                } else {
                    FOUR_WARPS
                },
                permutation: [Tile::All, Tile::All],
                k_atoms: 1,
                fragments: if wide && self.loads_at_least(8) && !self.loads_at_least(16) { 1 } else { 2 },
                stages,
                min_blocks: 1,
                a,
                b,
            }),
            schedule: Schedule::Raster { group },
            batch: Batch::Single,
            store: Store::Direct { vector: self.store },
            c_type: self.output,
            c_major: Major::K,
            programmatic: false,
        }
    }
}

/// A configuration of warps of tensor cores by twice the threads, or with half the tile, where a thread has more accumulators than leave registers for
/// what an epilogue reduces.
pub(super) fn spread(mut config: GemmConfig) -> GemmConfig {
    let Mainloop::Multistage(parts) = &mut config.mainloop else { return config };
    if parts.atom.c_type == DType::F64 && config.tile == DOUBLES {
        config.tile[1] /= 2;
    } else if config.tile[..2] == WIDE[..2] && parts.atoms == FOUR_WARPS {
        parts.atoms = EIGHT_WARPS;
    }
    config
}

/// The contiguous modes of what `wgmma` multiplies, where A and B have these: of 16 bits the same, of others K.
pub(in crate::gemm) const fn taken(dtype: DType, majors: [Major; 2]) -> [Major; 2] {
    if dtype.bits() == 16 { majors } else { [Major::K; 2] }
}

/// Judges the tiled MMA of every configuration: an atom that does not exist, or a tile of C that is not made of whole atoms, does not
/// compile.
const _: () = {
    let fours = [Tile::Lay(FOURS), Tile::Lay(FOURS), Tile::All];
    judge(UNIVERSAL_FMA_F32, SIMT_ATOMS, fours, [WIDE[0], WIDE[1]]);
    let high = [Tile::Lay(FOUR_FOURS), Tile::Lay(FOURS), Tile::All];
    judge(UNIVERSAL_FMA_F32, SIMT_ATOMS, high, [2 * WIDE[0], WIDE[1]]);
    let mut row = 0;
    while row < TENSOR.len() {
        let Input { warp, sm90, .. } = TENSOR[row];
        if let Some(atom) = sm90 {
            judge(warp, EIGHT_WARPS, [Tile::All; 3], [DOUBLES[0], DOUBLES[1]]);
            judge(atom, EIGHT_WARPS, [Tile::All; 3], [DOUBLES[0], DOUBLES[1]]);
            judge(warp, EIGHT_WARPS, [Tile::All; 3], [DOUBLES_OF_GROUPS[0], DOUBLES_OF_GROUPS[1]]);
            judge(atom, EIGHT_WARPS, [Tile::All; 3], [DOUBLES_OF_GROUPS[0], DOUBLES_OF_GROUPS[1]]);
            row += 1;
            continue;
        }
        let mut i = 0;
        while i < WARPS.len() {
            judge(warp, WARPS[i].atoms, [Tile::All; 3], WARPS[i].tile);
            i += 1;
        }
        judge(warp, FOUR_WARPS, [Tile::All; 3], [WIDE[0], WIDE[1]]);
        judge(warp, EIGHT_WARPS, [Tile::All; 3], [WIDE[0], WIDE[1]]);
        judge(warp, FOUR_WARPS, [Tile::All; 3], [NARROW[0], NARROW[1]]);
        judge(warp, EIGHT_WARPS, [Tile::All; 3], [NARROW[0], NARROW[1]]);
        row += 1;
    }
};

/// The same of the plans of warpgroups. The accumulators of all dtypes are
/// laid out alike.
const _: () = {
    let mut i = 0;
    while i < plans::TILES.len() {
        let plan = &plans::TILES[i];
        match plan.mma([DType::Bf16, DType::F32], [Major::K; 2], false) {
            Ok((atom, atoms)) => judge(atom, atoms, [Tile::All; 3], plan.tile),
            Err(refusal) => refusal.stop(),
        }
        let mut row = 0;
        while row < TENSOR.len() {
            let Input { dtype, sums, sm90, .. } = TENSOR[row];
            if sm90.is_none()
                && let Err(refusal) = plan.mma([dtype, sums], [Major::K; 2], is_promoted(dtype))
            {
                refusal.stop();
            }
            row += 1;
        }
        i += 1;
    }
};

/// Stops the compiler if a tile of C is not whole atoms.
const fn judge(atom: MmaAtom, atoms: Lay, permutation: [Tile; 3], [m, n]: [i64; 2]) {
    let Ok(shape) = Shape::flat(&[Int::fixed(m), Int::fixed(n)]) else { panic!("two modes") };
    let Ok(tile) = Lay::left(&shape) else { panic!("a compact layout") };
    let mma: TiledMma = match constant::tiled_mma(atom, atoms) {
        Ok(mma) => mma.with_permutation(permutation),
        Err(refusal) => refusal.stop(),
    };
    if let Err(refusal) = constant::thrfrg(&mma, Operand::C, &tile) {
        refusal.stop();
    }
}
