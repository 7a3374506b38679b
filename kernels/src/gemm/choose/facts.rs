//! What a kernel of warpgroups relies on, and the configuration that a plan then has.

use girih_codegen::atom::{MmaAtom, MmaKind, Product};
use girih_codegen::builder::MAX_SHARED;
use girih_codegen::gemm::{
    Batch, BlockScales, GemmConfig, MAX_GROUPS, Mainloop, Major, MixedInput, Schedule, Store, WarpSpecialized,
};
use girih_tensor::DType;

use super::forms::{LARGE, ROW_SM80};
use super::inputs::{Input, STORES_SM90, stored, stores_of_groups};
use super::plan::{ATOMS, LEAST_STAGES, MOST_STAGES, Plan, ROW, promoted};
use super::space::LARGE_OF_GROUPS;
use crate::Error;
use crate::gemm::Problem;
use girih_device::sizes::size;

/// What a kernel of warpgroups relies on, in the orientation in which it computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The kernel's name.
    pub(super) name: &'static str,
    /// A's and B's elements as they are multiplied.
    pub(super) dtype: DType,
    /// The accumulators'.
    pub(super) sums: DType,
    pub(super) majors: [Major; 2],
    /// C's elements.
    pub(super) output: DType,
    /// Elements that divide C's contiguous extent and its pitch, if these are no multiples of 16 bytes, which TMA copies store.
    pub(super) store: Option<i64>,
    /// Whether accumulators are promoted ([`Problem::promotes`]).
    pub(super) promotes: bool,
    /// Whether something is computed of the accumulators ([`Problem::is_fused`]).
    pub(super) fused: bool,
    /// Whether there are outputs besides C ([`Problem::reduces`]).
    pub(super) reduces: bool,
    /// Whether two columns become one of C ([`Problem::is_gated`]).
    pub(super) gated: bool,
    /// Whether blocks go through K in one order ([`Problem::is_invariant`]).
    pub(super) invariant: bool,
    /// The scales of blocks of A and B, if these have scales. Then accumulators are promoted.
    pub(super) scales: Option<BlockScales>,
    /// How A is in memory, if it is weights with scales.
    pub(super) mixed: Option<MixedInput>,
    /// Which products the kernel computes.
    pub(super) batch: Batch,
}

/// Registers of the producer's threads and of the others', by the number of warpgroups that multiply.
const REGISTERS: [[u32; 2]; 3] = [[40, 240], [40, 232], [32, 160]];
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
/// The bytes of shared memory in which a block keeps the barriers of its pipeline, and the offsets of groups.
const BARRIERS: i64 = 1024;
const OFFSETS: i64 = 4 * (MAX_GROUPS + 1);
/// Instructions along K after which accumulators are promoted: those of 128 elements of 8 bits.
const PROMOTION: i64 = 4;

/// The contiguous modes of what `wgmma` multiplies, where A and B have these: of 16 bits the same, of others K.
pub(in crate::gemm) const fn taken(dtype: DType, majors: [Major; 2]) -> [Major; 2] {
    if dtype.bits() == 16 { majors } else { [Major::K; 2] }
}

/// The names of kernels of weights with scales.
pub(super) const fn name_of_mixed(mixed: &MixedInput) -> &'static str {
    if matches!(mixed.dtype, DType::S8) { "gemm_sm90_s8_bf16" } else { "gemm_sm90_e4m3_bf16" }
}

impl Facts {
    /// Those of a problem of which a kernel stores a C with this contiguous mode.
    ///
    /// # Errors
    /// [`Error::Kernel`] for what `wgmma` does not multiply.
    pub(super) fn of(problem: &Problem, c_major: Major) -> Result<Facts, Error> {
        let Some(input) = Input::of(problem).filter(|input| input.is_of_warpgroups()) else {
            let accepted = "tf32, f16, bf16, e4m3, e5m2 and s8 are accepted";
            return Err(Error::Kernel { kernel: "sm90", dtype: problem.dtype().name(), accepted });
        };
        let mixed = problem.mixed_input();
        if let Some(mixed) = mixed.filter(|_| problem.b().major() != Major::K) {
            let accepted = "weights that are contiguous along K are accepted: layouts tn and nn";
            return Err(Error::Kernel { kernel: "sm90", dtype: mixed.dtype.name(), accepted });
        }
        let oriented = problem.oriented(c_major).0;
        let line = WIDEST / i64::from(oriented.output().bits());
        let grouped = oriented.batch().grouped().is_some();
        Ok(Facts {
            name: mixed.map_or(input.names[1], name_of_mixed),
            dtype: oriented.dtype(),
            sums: oriented.sums(),
            majors: taken(oriented.dtype(), [oriented.a().major(), oriented.b().major()]),
            output: oriented.output(),
            store: match () {
                () if grouped => Some(stored(&oriented, &stores_of_groups(oriented.output()))),
                () if stored(&oriented, &[line]) == line => None,
                () => Some(stored(&oriented, &STORES_SM90)),
            },
            promotes: problem.promotes(),
            fused: problem.is_fused(),
            // Groups have no such epilogues, which is refused where the kernel is generated.
            reduces: (problem.reduces() || problem.is_gated()) && !grouped,
            gated: problem.is_gated(),
            invariant: problem.is_invariant(),
            scales: oriented.block_scales(),
            mixed: mixed.copied(),
            batch: oriented.batch(),
        })
    }

    /// The plan as a kernel has it: tiles of blocks with scales are no longer than these.
    pub(super) fn adapted(&self, plan: Plan) -> Plan {
        if self.scales.is_some() { Plan { depth: ROW, ..plan } } else { plan }
    }

    /// Bytes of A and B that are a stage, with their scales: of blocks, those of A and of B each begin at a multiple of 128.
    fn stage(&self, plan: &Plan) -> i64 {
        let ([rows, columns], depth) = (plan.tile, plan.depth);
        let scales = |tile: i64, shared: i64| ((4 * (tile / shared) + 127) / 128 * 128).max(128);
        match (&self.mixed, self.scales) {
            // Weights have half the bytes of the numbers that they become.
            (Some(mixed), _) => rows * depth / 2 + columns * depth + rows * i64::from(mixed.scale.bits() / 8),
            (_, Some(BlockScales { granularity: [a, b, _] })) => {
                (rows + columns) * depth + scales(rows, a) + scales(columns, b)
            }
            _ => (rows + columns) * depth,
        }
    }

    /// How C is stored if `staged` of a tile is in shared memory at once, this many times, and the bytes that this takes. Blocks of a cluster
    /// exchange their accumulators in the place of C's rows, and store from registers, and so do tiles that are narrower than what shared memory
    /// holds: rows of whole swizzles, or pairs of 8 columns.
    pub(in crate::gemm) fn store(&self, plan: &Plan, (tile, turns): ([i64; 2], i64)) -> (Store, i64) {
        let ([rows, columns], element) = (plan.tile, i64::from(self.output.bits() / 8));
        let (shares, is_narrow) =
            (plan.parts()[1] > 1, columns * if plan.columns { 2 } else { element } % 32 != 0);
        if shares || is_narrow {
            // A thread has two neighbours of a row.
            let vector = if plan.columns { 1 } else { self.store.unwrap_or(2) };
            let exchanged = if shares { rows * columns * i64::from(self.sums.bits() / 8) } else { 0 };
            return (Store::Direct { vector }, exchanged);
        }
        let store = match self.store {
            None => Store::Tma { tile, stages: turns },
            // A warpgroup stores 64 rows, of which each thread has a vector.
            Some(vector) => Store::Coalesced { tile, vector: vector.min(tile[1] / 2) },
        };
        (store, plan.teams * tile[0] * tile[1] * turns * element)
    }

    /// The stages that this many bytes of shared memory have room for beside what a store takes.
    pub(in crate::gemm) fn stages(&self, plan: &Plan, bytes: i64, held: i64) -> i64 {
        let offsets = if self.batch.grouped().is_some() { OFFSETS } else { 0 };
        ((bytes - BARRIERS - offsets - held) / self.stage(plan).max(1)).min(MOST_STAGES)
    }

    /// How C is stored, and how many stages of A and B there are: as the plan says, or as shared memory has room for. Then all of a tile of C is
    /// staged, as many rows as one instruction of each warpgroup computes, or some columns of these.
    pub(super) fn room(&self, plan: &Plan) -> (Store, i64) {
        let columns = plan.tile[1];
        let room = |staged| {
            let (store, held) = self.store(plan, staged);
            let most = self.stages(plan, MAX_SHARED, held);
            (store, plan.stages.map_or(most, |stages| if stages > most { 0 } else { stages }))
        };
        if let Some(staged) = plan.staged {
            return room(staged);
        }
        let unit = 64 * plan.warpgroups as i64;
        // A team's turns take no time of another one that multiplies meanwhile.
        if plan.teams > 1 {
            return room(([unit, columns / 4], 2));
        }
        let whole = room((plan.tile, 1));
        // A fourth stage is worth more than a store of all rows at once: 99 us instead of 115 us for 256 x 28672 x 4096.
        if whole.1 > LEAST_STAGES || self.mixed.is_some() {
            return whole;
        }
        let some = room(([unit, columns], 1));
        if some.1 > whole.1.max(LEAST_STAGES - 1) {
            return some;
        }
        let grouped = self.batch.grouped().is_some();
        // Tensor copies of one turn read while the next one is written; threads do not wait for their own copies. Rows of the widest
        // swizzle leave the most room for stages.
        let row = ROW * 8 / i64::from(self.output.bits());
        let part = room(match self.store {
            None => ([unit, if columns % row == 0 { row } else { columns / 4 }], 2),
            Some(_) => ([unit, columns / if grouped { 4 } else { 2 }], 1),
        });
        let gains = grouped && columns % 64 == 0 && part.1 > whole.1;
        if gains || whole.1 < LEAST_STAGES { part } else { whole }
    }

    /// The configuration by a plan.
    ///
    /// # Errors
    /// [`Error::Codegen`] for an atom that there is not.
    pub(super) fn config(&self, plan: &Plan) -> Result<GemmConfig, Error> {
        let [rows, columns] = plan.tile;
        let kind = if self.mixed.is_some() { MmaKind::WgmmaRs } else { MmaKind::WgmmaSs };
        let of_atom = if self.promotes { promoted(columns) } else { columns };
        let types = [self.sums, self.dtype, self.dtype];
        let atom = MmaAtom::wgmma(kind, of_atom, types, self.majors, Product::Multiply)?;
        let (store, stages) = self.room(plan);
        // Threads of all teams have registers, and a tile of their own for each team.
        let warpgroups = plan.warpgroups * size(plan.teams);
        let many = plan.teams * rows * columns >= MANY_SUMS * 128 * warpgroups as i64;
        let registers = REGISTERS[(warpgroups - 1).min(2)];
        let alternate = !self.invariant && self.batch.grouped().is_none();
        Ok(GemmConfig {
            name: self.name,
            tile: [rows, columns, plan.depth * 8 / i64::from(self.dtype.bits())],
            mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
                atom,
                atoms: ATOMS[plan.warpgroups - 1],
                teams: plan.teams,
                stages,
                registers: if many { REGISTERS_FOR_MANY } else { registers },
                multicast: plan.multicast,
                mma_promotion_interval: if self.promotes { PROMOTION } else { 0 },
                mixed_input: self.mixed,
                block_scales: self.scales,
            }),
            schedule: match plan.schedule {
                Schedule::Persistent { .. } => Schedule::Persistent { alternate },
                other => other,
            },
            batch: self.batch,
            store,
            c_type: self.output,
            c_major: plan.c_major(),
            programmatic: plan.early,
        })
    }

    /// The configuration by a plan, if shared memory has room for stages enough, ptxas has registers for it, and of groups there is no faster one
    /// of another tile.
    pub(super) fn fitting(&self, plan: &Plan) -> Option<GemmConfig> {
        let ([rows, columns], several) = (plan.tile, self.batch.grouped());
        let sums = rows * columns / (128 * plan.warpgroups as i64);
        let (wide, unaligned) = (self.output.bits() > 16, self.store.is_some());
        let along_k = |mode: usize| self.majors.get(mode) == Some(&Major::K);
        let slower = |mode| LARGE_OF_GROUPS[usize::from(along_k(mode) && !wide)].tile == plan.tile;
        // A scale for each column.
        let by_columns = self.scales.is_some_and(|scales| scales.granularity[1] == 1);
        let refused = match () {
            () if several.is_some_and(slower) => true,
            // A multicast and the addresses of a store without tensor copies.
            () if sums >= MANY && plan.multicast > 1 && unaligned => true,
            // The sums of an atom, which are promoted; conversions to other than 16 bits.
            () if sums > MANY && (self.promotes || self.output.bits() < 16) => true,
            () if unaligned && (sums >= MANY_SUMS || sums > MANY && wide) => true,
            () if by_columns && sums > SCALED => true,
            () if by_columns && sums == SCALED && (unaligned || plan.multicast > 1) => true,
            // The places of single elements in groups, beside the sums of an atom or conversions.
            () if several.is_some() && self.store == Some(1) && sums > SCALED && (self.promotes || wide) => {
                true
            }
            // Teams have been measured with floats of 16 bits, which tensor copies store.
            () if plan.teams > 1 => wide || self.dtype.bits() != 16 || unaligned || self.reduces,
            () => false,
        };
        // Both columns of a pair lie in a thread, both rows do not; half the columns are stored.
        let gates = !plan.columns && columns / 2 * i64::from(self.output.bits() / 8) % 32 == 0;
        if refused || self.gated && !gates {
            return None;
        }
        let (store, stages) = self.room(plan);
        let threads = Threads {
            tile: plan.tile,
            count: 128 * plan.warpgroups as i64,
            multicast: plan.multicast,
            schedule: plan.schedule,
            store,
            output: self.output,
            promotes: self.promotes,
            is_mixed: self.mixed.is_some(),
            is_grouped: several.is_some(),
        };
        let leaves_room =
            (!self.fused || threads.take_epilogues()) && (!self.reduces || threads.take_outputs());
        if !leaves_room || stages < LEAST_STAGES {
            return None;
        }
        self.config(plan).ok().filter(|config| config.check().is_ok())
    }
}

/// What decides whether the threads of warpgroups have registers beside their accumulators.
struct Threads {
    tile: [i64; 2],
    /// The threads that multiply a tile.
    count: i64,
    multicast: i64,
    schedule: Schedule,
    store: Store,
    output: DType,
    promotes: bool,
    is_mixed: bool,
    is_grouped: bool,
}

impl Threads {
    fn of(config: &GemmConfig) -> Option<Threads> {
        let parts = config.mainloop.warp_specialized()?;
        Some(Threads {
            tile: [config.tile[0], config.tile[1]],
            count: ((i64::from(parts.threads().ok()?) - 128) / parts.teams.max(1)).max(1),
            multicast: parts.multicast,
            schedule: config.schedule,
            store: config.store,
            output: config.c_type,
            promotes: parts.mma_promotion_interval > 0,
            is_mixed: parts.mixed_input.is_some(),
            is_grouped: config.batch.grouped().is_some(),
        })
    }

    /// The accumulators of a thread.
    fn sums(&self) -> i64 {
        self.tile[0] * self.tile[1] / self.count
    }

    fn take_epilogues(&self) -> bool {
        // Weights that become floats take registers of their own.
        if self.is_mixed {
            return self.sums() <= MIXED;
        }
        // An epilogue's addresses for several atoms, one below the other, take registers as well. In groups so do those of narrow vectors,
        // and of wide ones beside sums that are promoted.
        let (stacked, narrow) = match self.store {
            Store::Coalesced { vector, .. } => {
                (self.tile[0] > self.count / 2, vector * i64::from(self.output.bits()) < WIDEST)
            }
            Store::Direct { .. } | Store::Tma { .. } => (false, false),
        };
        let narrow = (narrow || self.promotes && self.output.bits() > 16) && self.is_grouped;
        // The next piece of a stream, which is fetched ahead, takes the last registers.
        let streams = matches!(self.schedule, Schedule::StreamK { .. });
        !streams && !stacked && self.sums() <= if narrow { MANY / 2 } else { MANY }
    }

    fn take_outputs(&self) -> bool {
        let [alone, multicast] = REDUCED;
        let most = if self.multicast > 1 { multicast } else { alone };
        // A thread has a quarter of the columns of two rows.
        !self.is_grouped && self.take_epilogues() && self.sums() + self.tile[1] / 4 <= most
    }
}

/// Whether [`choose`](crate::gemm::choose()) names a configuration for products with an epilogue too ([`Problem::with_epilogue`]): unless
/// the accumulators leave no registers for one.
///
/// [`Problem::with_epilogue`]: crate::gemm::Problem::with_epilogue
pub fn takes_epilogues(config: &GemmConfig) -> bool {
    let Mainloop::Multistage(parts) = &config.mainloop else {
        return Threads::of(config).is_some_and(|threads| threads.take_epilogues());
    };
    // Two blocks on a multiprocessor have half the registers each, and the addresses of long tiles take the last ones.
    let bits = i64::from(parts.atom.a_type.bits());
    parts.min_blocks == 1 && (bits != 16 || config.tile[2] * bits <= 8 * ROW_SM80)
}

/// Whether [`choose`](crate::gemm::choose()) names a configuration for products with an epilogue that has outputs besides C too: unless the products
/// are those of groups, or the accumulators, and what a thread has of each column, leave no registers for these. A multistage kernel gets twice the
/// threads for them ([`with_room`](super::with_room)).
pub fn takes_outputs(config: &GemmConfig) -> bool {
    match &config.mainloop {
        // The sums of large tiles leave no registers.
        Mainloop::Multistage(_) => config.batch.grouped().is_none() && config.tile[..2] != LARGE,
        Mainloop::WarpSpecialized(_) => Threads::of(config).is_some_and(|threads| threads.take_outputs()),
    }
}
