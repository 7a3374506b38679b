//! Plans of warp-specialised kernels: a tile, and how the tiles are shared out.

use girih_codegen::atom::{MmaAtom, MmaKind, Product};
use girih_codegen::builder::MAX_SHARED;
use girih_codegen::constant::{self, Refusal};
use girih_codegen::gemm::{
    Batch, BlockScales, GemmConfig, MAX_GROUPS, Mainloop, Major, Schedule, Store, WarpSpecialized,
};
use girih_layout::{Lay, lay};
use girih_tensor::DType;

use super::configs::{Input, LARGE, ROW_SM80};
use super::cost::Way;
use super::plans::LARGE_OF_GROUPS;
use crate::Error;
use girih_device::sizes::size;

/// The tile of a warp-specialised kernel, and how its work is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Plan {
    /// Rows and columns of the tile.
    pub(super) tile: [i64; 2],
    /// Bytes of the tile along K: one or two rows of the widest swizzle.
    depth: i64,
    /// The warpgroups that multiply a tile, 1 to 3.
    warpgroups: usize,
    /// The teams of this many warpgroups that take a block's tiles in alternation.
    pub(super) teams: i64,
    /// The blocks that bring tiles of B together.
    multicast: i64,
    /// The blocks that share a tile's K, and those of them that are a cluster.
    parts: i64,
    cluster: i64,
    /// Whether blocks share out the tiles along K evenly.
    stream: bool,
    /// Whether the columns of C are contiguous, and not its rows.
    pub(super) columns: bool,
    /// Whether the kernel may begin before the one before it has ended.
    early: bool,
}

/// Bytes of a tile along K: the widest swizzle.
const ROW: i64 = 128;
/// With fewer stages copies do not stay ahead of products, and with more nothing becomes faster.
pub(in crate::gemm) const LEAST_STAGES: i64 = 3;
pub(in crate::gemm) const MOST_STAGES: i64 = 12;
/// The warpgroups that multiply: (AtomM,1) -> warpgroup.
const ATOMS: [Lay; 3] = [lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"), lay!("(3,1):(1,0)")];
/// Registers of the producer's threads and of the others', by the number of warpgroups that multiply.
pub(super) const REGISTERS: [[u32; 2]; 3] = [[40, 240], [40, 232], [32, 160]];
/// The accumulators of a thread beside which there are registers for any epilogue.
const MANY: i64 = 128;
/// The same beside weights of 8 bits that become floats.
const MIXED: i64 = 32;
/// The accumulators of a thread beside which there are registers for a scale for each column.
const SCALED: i64 = 64;
/// The same where the accumulators alone take as many registers as these.
const MANY_SUMS: i64 = 192;
const REGISTERS_FOR_MANY: [u32; 2] = [24, 240];
/// The registers of a thread for accumulators, and for what it has of each of its columns, beside which there are registers for outputs besides C:
/// of one block alone, and with a multicast.
const REDUCED: [i64; 2] = [96, 80];
/// The bits of the widest store.
const WIDEST: i64 = 128;
/// The bytes of shared memory in which a block keeps the offsets of groups.
const OFFSETS: i64 = 4 * (MAX_GROUPS + 1);

/// Instructions along K after which accumulators are promoted: those of 128 elements of 8 bits.
pub(in crate::gemm) const PROMOTION: i64 = 4;
/// The most columns of an atom whose accumulators are promoted: there are registers for these accumulators beside all accumulators of the tile.
const PROMOTED: i64 = 192;

/// The columns of an atom whose accumulators are promoted.
pub(in crate::gemm) const fn promoted(columns: i64) -> i64 {
    if columns > PROMOTED { columns / 2 } else { columns }
}

/// The registers of the producer's threads and of the others', where this many warpgroups multiply a tile of this many elements.
pub(in crate::gemm) const fn registers(tile: i64, warpgroups: usize) -> [u32; 2] {
    let sums = tile / (128 * warpgroups as i64);
    if sums >= MANY_SUMS { REGISTERS_FOR_MANY } else { REGISTERS[warpgroups - 1] }
}

impl Plan {
    /// Persistent blocks, for a C with contiguous rows.
    pub(super) const fn new(tile: [i64; 2], warpgroups: usize) -> Plan {
        Plan {
            tile,
            depth: ROW,
            warpgroups,
            teams: 1,
            multicast: 1,
            parts: 1,
            cluster: 1,
            stream: false,
            columns: false,
            early: false,
        }
    }

    /// With blocks that bring tiles of B together.
    pub(super) const fn multicast(self, multicast: i64) -> Plan {
        Plan { multicast, ..self }
    }

    /// With teams that take tiles in alternation, so that one stores its tile while another one multiplies.
    pub(super) const fn teams(self, teams: i64) -> Plan {
        Plan { teams, ..self }
    }

    /// With `parts` blocks that share the K of a tile, as one cluster.
    pub(super) const fn split(self, parts: i64) -> Plan {
        Plan { parts, cluster: parts, ..self }
    }

    /// With `parts` blocks that share the K of a tile, in clusters of `cluster`.
    pub(super) const fn clusters(self, parts: i64, cluster: i64) -> Plan {
        Plan { parts, cluster, ..self }
    }

    /// With persistent blocks that have as much to do each: tiles that would leave some of them without work are cut along K.
    pub(super) const fn stream(self) -> Plan {
        Plan { stream: true, ..self }
    }

    /// With tiles twice as long along K.
    pub(super) const fn deep(self) -> Plan {
        Plan { depth: 2 * ROW, ..self }
    }

    /// For a C with contiguous columns.
    pub(super) const fn of_columns(self) -> Plan {
        Plan { columns: true, ..self }
    }

    /// With kernels that begin before the kernel before them has ended.
    pub(super) const fn early(self) -> Plan {
        Plan { early: true, ..self }
    }

    /// The contiguous mode of C.
    pub(super) const fn c_major(&self) -> Major {
        if self.columns { Major::Mn } else { Major::K }
    }

    /// The plan's tiled MMA: its atom, and the arrangement of the atoms.
    #[expect(clippy::result_large_err, reason = "constants have no heap")]
    pub(super) const fn mma(
        &self,
        [dtype, sums]: [DType; 2],
        majors: [Major; 2],
        promotes: bool,
    ) -> Result<(MmaAtom, Lay), Refusal> {
        let types = [sums, dtype, dtype];
        let columns = if promotes { promoted(self.tile[1]) } else { self.tile[1] };
        match constant::wgmma(MmaKind::WgmmaSs, columns, types, majors, Product::Multiply) {
            Ok(atom) => Ok((atom, ATOMS[self.warpgroups - 1])),
            Err(refusal) => Err(refusal),
        }
    }
}

/// What a warp-specialised kernel relies on, in the orientation in which the kernel computes, and its plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpSpecializedFacts {
    /// A's and B's elements.
    pub(super) dtype: DType,
    /// The accumulators'.
    pub(super) sums: DType,
    pub(super) majors: [Major; 2],
    /// C's elements.
    pub(super) output: DType,
    /// Elements that divide C's contiguous extent and its pitch, if these are no multiples of 16 bytes, which TMA copies store.
    pub(super) store: Option<i64>,
    /// Whether accumulators are promoted ([`Problem::promotes`]).
    ///
    /// [`Problem::promotes`]: crate::gemm::Problem::promotes
    pub(super) promotes: bool,
    /// Whether something is computed of the accumulators ([`Problem::is_fused`]).
    ///
    /// [`Problem::is_fused`]: crate::gemm::Problem::is_fused
    pub(super) fused: bool,
    /// Whether there are outputs besides C ([`Problem::reduces`]).
    ///
    /// [`Problem::reduces`]: crate::gemm::Problem::reduces
    pub(super) reduces: bool,
    /// The scales of blocks of A and B, if these have scales. Then accumulators are promoted.
    pub(super) scales: Option<BlockScales>,
    /// Which products the kernel computes.
    pub(super) batch: Batch,
    pub(super) plan: Plan,
}

/// Whether [`choose`](crate::gemm::choose()) names a configuration for products with an epilogue too ([`Problem::with_epilogue`]): unless
/// the accumulators leave no registers for one.
///
/// [`Problem::with_epilogue`]: crate::gemm::Problem::with_epilogue
pub fn takes_epilogues(config: &GemmConfig) -> bool {
    let parts = match &config.mainloop {
        Mainloop::WarpSpecialized(parts) => parts,
        // Two blocks on a multiprocessor have half the registers each, and the addresses of long tiles take the last ones.
        Mainloop::Multistage(parts) => {
            let bits = i64::from(parts.atom.a_type.bits());
            return parts.min_blocks == 1 && (bits != 16 || config.tile[2] * bits <= 8 * ROW_SM80);
        }
    };
    let threads = (i64::from(parts.threads().unwrap_or(0)) - 128) / parts.teams.max(1);
    let sums = config.tile[0] * config.tile[1] / threads.max(1);
    // Weights that become floats take registers of their own.
    if parts.mixed_input.is_some() {
        return sums <= MIXED;
    }
    // The next piece of a stream, which is fetched ahead, takes the last registers.
    if let Schedule::StreamK { .. } = config.schedule {
        return false;
    }
    // An epilogue's addresses for several atoms, one below the other, take registers as well.
    let stacked = config.tile[0] > threads / 2 && matches!(config.store, Store::Coalesced { .. });
    // So do those of narrow vectors in groups, and of wide ones beside sums that are promoted.
    let narrow = match config.store {
        Store::Coalesced { vector, .. } => vector * i64::from(config.c_type.bits()) < WIDEST,
        _ => false,
    };
    let promoted = parts.mma_promotion_interval > 0 && config.c_type.bits() > 16;
    let narrow = (narrow || promoted) && config.batch.grouped().is_some();
    sums <= if narrow { MANY / 2 } else { MANY } && !stacked
}

/// Whether [`choose`](crate::gemm::choose()) names a configuration for products with an epilogue that has outputs besides C too: unless the
/// products are those of groups, or the accumulators, and what a thread has of each column, leave no registers for these. A multistage kernel gets twice the threads for them
/// ([`with_room`](super::with_room)).
pub fn takes_outputs(config: &GemmConfig) -> bool {
    if config.batch.grouped().is_some() {
        return false;
    }
    // The sums of large tiles leave no registers.
    let Mainloop::WarpSpecialized(parts) = &config.mainloop else { return config.tile[..2] != LARGE };
    let ([rows, columns, _], threads) = (config.tile, i64::from(parts.threads().unwrap_or(0)) - 128);
    let [alone, multicast] = REDUCED;
    let most = if parts.multicast > 1 { multicast } else { alone };
    // A thread has a quarter of the columns of two rows.
    takes_epilogues(config) && rows * columns / threads.max(1) + columns / 4 <= most
}

impl WarpSpecializedFacts {
    /// How C is stored, and the bytes of shared memory that it takes: all of a tile, as many rows as one instruction of each warpgroup
    /// computes, or some columns of these. Blocks of a cluster exchange their accumulators in the place of C's rows, and store from registers.
    fn stores(&self) -> [(Store, i64); 3] {
        let ([rows, columns], element) = (self.plan.tile, i64::from(self.output.bits() / 8));
        if self.plan.cluster > 1 {
            let sums = i64::from(self.sums.bits() / 8);
            // A thread has two neighbours of a row.
            let vector = if self.plan.columns { 1 } else { self.store.unwrap_or(2) };
            return [(Store::Direct { vector }, rows * columns * sums); 3];
        }
        if self.is_narrow() {
            let vector = if self.plan.columns { 1 } else { self.store.unwrap_or(2) };
            return [(Store::Direct { vector }, 0); 3];
        }
        let unit = 64 * self.plan.warpgroups as i64;
        let [whole, some] = [[rows, columns], [unit, columns]].map(|tile| (tile, 1));
        // Tensor copies of one turn read while the next one is written; threads do not wait for their own copies. Rows of the widest
        // swizzle leave the most room for stages.
        let row = if columns % (ROW / element) == 0 { ROW / element } else { columns / 4 };
        let parts = match self.batch {
            _ if self.store.is_none() => ([unit, row], 2),
            Batch::Grouped { .. } => ([unit, columns / 4], 1),
            Batch::Single | Batch::Strided | Batch::Pointers => ([unit, columns / 2], 1),
        };
        // A team's turns take no time of another one that multiplies meanwhile.
        let stores = if self.plan.teams > 1 { [([unit, columns / 4], 2); 3] } else { [whole, some, parts] };
        stores.map(|(tile, stages)| {
            let store = match self.store {
                None => Store::Tma { tile, stages },
                // A warpgroup stores 64 rows, of which each thread has a vector.
                Some(vector) => Store::Coalesced { tile, vector: vector.min(tile[1] / 2) },
            };
            (store, self.plan.teams * tile[0] * tile[1] * stages * element)
        })
    }

    /// Whether a tile of C is narrower than what shared memory holds, rows of whole swizzles or pairs of 8 columns, and is stored from registers.
    fn is_narrow(&self) -> bool {
        let unit = if self.plan.columns { 2 } else { i64::from(self.output.bits() / 8) };
        self.plan.tile[1] * unit % 32 != 0
    }

    /// Whether no other facts about C's store give the same configuration: a cluster stores from registers in any case, and a narrow tile.
    pub(super) fn is_distinct(&self) -> bool {
        self.plan.cluster == 1 && !self.is_narrow()
            || self.store.is_none()
            || self.store == Some(1) && !self.plan.columns
    }

    /// How C is stored, and how many stages of A and B shared memory has room for beside that.
    fn room(&self) -> (Store, i64) {
        let [rows, columns] = self.plan.tile;
        let stage = (rows + columns) * self.depth() + self.scales_of_stage();
        // A kilobyte holds the barriers of the pipeline.
        let others = 1024 + if self.batch.grouped().is_some() { OFFSETS } else { 0 };
        let room =
            |(store, bytes): (Store, i64)| (store, ((MAX_SHARED - others - bytes) / stage).min(MOST_STAGES));
        let [whole, rows, part] = self.stores().map(room);
        // A fourth stage is worth more than a store of all rows at once: 99 us instead of 115 us for 256 x 28672 x 4096.
        let either = match self.batch {
            _ if whole.1 > LEAST_STAGES => whole,
            _ if rows.1 > whole.1 => rows,
            Batch::Grouped { .. } if columns % 64 == 0 && part.1 > whole.1 => part,
            _ => whole,
        };
        if either.1 >= LEAST_STAGES { either } else { part }
    }

    /// How the kernel computes, as far as its time depends on it.
    pub(super) fn way(&self) -> Way {
        let Plan { tile: [rows, columns], teams, multicast, early, .. } = self.plan;
        let (store, stages) = self.room();
        Way {
            tile: [rows, columns, self.depth()],
            teams,
            stages,
            multicast,
            schedule: self.schedule(),
            direct: matches!(store, Store::Direct { .. }),
            early,
        }
    }

    /// The order of tiles, and how blocks share them.
    fn schedule(&self) -> Schedule {
        match (self.plan.parts, self.plan.cluster) {
            (1, _) if self.plan.stream => Schedule::StreamK { alternate: true },
            (1, _) => Schedule::Persistent { alternate: self.batch.grouped().is_none() },
            (parts, cluster) => Schedule::SplitK { parts, cluster },
        }
    }

    /// Bytes of a tile along K. Blocks with scales are no longer.
    fn depth(&self) -> i64 {
        if self.scales.is_some() { ROW } else { self.plan.depth }
    }

    /// Bytes of the scales of a stage, of which those of A and of B each begin at a multiple of 128.
    fn scales_of_stage(&self) -> i64 {
        let Some(BlockScales { granularity: [rows, columns, _] }) = self.scales else { return 0 };
        let bytes = |tile: i64, shared: i64| (4 * (tile / shared) + 127) / 128 * 128;
        bytes(self.plan.tile[0], rows).max(128) + bytes(self.plan.tile[1], columns).max(128)
    }

    /// Whether the kernel runs as [`WarpSpecializedFacts::runs`] says, and there is no faster one of another tile for the same groups.
    pub(super) fn fits(&self, input: &Input) -> bool {
        let wide = self.output.bits() > 16;
        let major = self.batch.grouped().and_then(|mode| self.majors.get(mode));
        let other = major.map(|major| LARGE_OF_GROUPS[usize::from(*major == Major::K && !wide)].tile);
        other != Some(self.plan.tile) && self.runs(input)
    }

    /// Whether shared memory has room for stages enough, and the TMA copies of B can be parted.
    pub(super) fn runs(&self, input: &Input) -> bool {
        let [rows, columns] = self.plan.tile;
        let sums = rows * columns / (128 * self.plan.warpgroups as i64);
        // What ptxas has no registers for beside so many sums: a multicast and the addresses of a store without tensor copies; the sums
        // of an atom, which are promoted; conversions to other than 16 bits.
        let multicasts = sums >= MANY && self.plan.multicast > 1 && self.store.is_some();
        let many = sums > MANY && (self.promotes || self.output.bits() < 16);
        let wide = self.output.bits() > 16;
        let most = self.store.is_some() && (sums >= MANY_SUMS || sums > MANY && wide);
        // A scale for each column.
        let by_columns = self.scales.is_some_and(|scales| scales.granularity[1] == 1);
        let more = self.store.is_some() || self.plan.multicast > 1;
        let scaled = by_columns && (sums > SCALED || sums == SCALED && more);
        // The places of single elements in groups, beside the sums of an atom or conversions.
        let single = self.batch.grouped().is_some() && self.store == Some(1);
        let single = single && sums > SCALED && (self.promotes || wide);
        // Teams have been measured with floats of 16 bits, which tensor copies store.
        let as_teams = !wide && self.dtype.bits() == 16 && self.store.is_none() && !self.reduces;
        let alone = self.plan.teams > 1 && !as_teams;
        !(multicasts || many || most || scaled || single || alone)
            && self.room().1 >= LEAST_STAGES
            && self.config(input).is_ok_and(|config| {
                config.check().is_ok()
                    && (!self.fused || takes_epilogues(&config))
                    && (!self.reduces || takes_outputs(&config))
            })
    }

    /// The configuration.
    pub(super) fn config(&self, input: &Input) -> Result<GemmConfig, Error> {
        let Plan { tile: [rows, columns], warpgroups, teams, multicast, early, .. } = self.plan;
        let (atom, atoms) = self
            .plan
            .mma([self.dtype, self.sums], self.majors, self.promotes)
            .map_err(girih_codegen::Error::from)?;
        let (store, stages) = self.room();
        // Threads of all teams have registers, and a tile of their own for each team.
        let registers = registers(teams * rows * columns, size(teams) * warpgroups);
        Ok(GemmConfig {
            name: input.name_of_warpgroups(),
            tile: [rows, columns, self.depth() * 8 / i64::from(self.dtype.bits())],
            mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
                atom,
                atoms,
                teams,
                stages,
                registers,
                multicast,
                mma_promotion_interval: if self.promotes { PROMOTION } else { 0 },
                mixed_input: None,
                block_scales: self.scales,
            }),
            schedule: self.schedule(),
            batch: self.batch,
            store,
            c_type: self.output,
            c_major: self.plan.c_major(),
            programmatic: early,
        })
    }
}
