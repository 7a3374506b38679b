//! The configuration of a warp-specialised mainloop.

use girih_layout::{Composed, Lay};
use girih_tensor::DType;

use super::scaling::{BlockScales, Scaling};
use crate::atom::{GmmaLayout, MmaAtom, MmaKind};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::{GemmError, narrow};
use crate::sizes::{is_bijective, static_size};
use crate::sync::OrderedSequence;
use crate::tiled::mma::Operand;
use crate::{Error, Pipeline, TiledMma};

/// The threads of a warpgroup, and the rows of C that it computes by one instruction.
pub(in crate::gemm) const WARPGROUP: i64 = 128;
pub(super) const WARP: i64 = 32;
pub(in crate::gemm) const ROWS: i64 = 64;
/// The blocks of a cluster for which every GPU with clusters has room.
pub(in crate::gemm) const CLUSTERS: [i64; 4] = [1, 2, 4, 8];
/// The registers of an SM, and those that `ptxas` wants for an instruction beside its accumulators.
const REGISTERS: i64 = 65536;
const OF_INSTRUCTION: i64 = 26;

/// A warp-specialised mainloop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpSpecialized {
    /// A warpgroup's atom that takes A and B from shared memory, or A from registers where there is a [`MixedInput`]. Its majors say which
    /// modes of A and B are contiguous.
    pub atom: MmaAtom,
    /// (AtomM,1) -> the consuming warpgroup, of those that have a tile of C together: a team.
    pub atoms: Lay,
    /// The teams that take a block's tiles in alternation: 1, or more where blocks are persistent. With 1 team, all consumers have each tile together
    /// (CUTLASS's `KernelTmaWarpSpecializedCooperative`). With more, one team multiplies while the others store what they have multiplied
    /// (`KernelTmaWarpSpecializedPingpong`): for tiles with a short K, of which the stores take a good part of the time.
    pub teams: i64,
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// Registers of the producer's threads and of the consumers'.
    pub registers: [u32; 2],
    /// The blocks of a cluster, 1, 2, 4 or 8, which have tiles of C one below the other: each of them brings a part of the tile of B, by a
    /// multicast to all (CuTe's `ClusterShape` of `(multicast,1,1)`). 1 is no cluster.
    pub multicast: i64,
    /// The instructions along K after which the accumulators of 8-bit floats, of which `wgmma` keeps few bits, are added to f32 accumulators of the
    /// threads' own (CUTLASS's `mma_promotion_interval`): a divisor of those of a tile. 0 is never.
    pub mma_promotion_interval: i64,
    /// How A is laid out in memory, if it is narrower there than the atom takes it.
    pub mixed_input: Option<MixedInput>,
    /// The scales of A and B, if they are 8-bit floats in blocks with a scale each.
    pub block_scales: Option<BlockScales>,
}

/// An A of few bits with scales, which the consumers convert to the atom's dtype in registers (CUTLASS's mixed-input mainloop with
/// `ElementScale`; the atom is one of `wgmma` with A in registers).
///
/// No number is rounded when it is converted; NaN of e4m3 becomes 480 in its sign. The products of a tile along K are summed up as `wgmma` does it, and this sum is multiplied
/// by the scale of its row and group and added to the sum of the tiles before with one rounding to f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MixedInput {
    /// A's dtype in memory, one of [`MixedInput::DTYPES`].
    pub dtype: DType,
    /// The dtype of the scales, one of [`MixedInput::SCALES`].
    pub scale: DType,
    /// The elements along K that share a scale: a multiple of the tile's K.
    pub group: i64,
}

impl MixedInput {
    /// The dtypes of A in memory that are converted.
    pub const DTYPES: [DType; 2] = [DType::S8, DType::E4m3];
    /// The dtypes of scales.
    pub const SCALES: [DType; 2] = [DType::F32, DType::Bf16];
}

impl WarpSpecialized {
    /// The consumers' tiled MMA.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for an arrangement of atoms that is no bijection.
    pub fn mma(&self) -> Result<TiledMma, Error> {
        TiledMma::new(self.atom, self.atoms)
    }

    /// How many warpgroups multiply a tile together.
    pub(in crate::gemm) fn consumers(&self) -> Result<i64, Error> {
        static_size("atoms", &self.atoms)
    }

    /// How many warpgroups multiply, in all teams.
    pub(in crate::gemm) fn consumers_of_all(&self) -> Result<i64, Error> {
        Ok(self.teams.saturating_mul(self.consumers()?))
    }

    /// The rows of C that the warpgroups of a team compute by one instruction.
    pub(in crate::gemm) fn rows(&self) -> Result<i64, Error> {
        Ok(ROWS * self.consumers()?)
    }

    /// The threads of a block, in the producer's warpgroup and the consumers'.
    ///
    /// # Errors
    /// [`Error::NotStatic`]; [`Error::Wide`] for more than 32 bits hold.
    pub fn threads(&self) -> Result<u32, Error> {
        narrow("threads", WARPGROUP.saturating_mul(self.consumers_of_all()?.saturating_add(1)))
    }

    /// The dtype of A, B or C in memory; that of C is the dtype of the accumulators.
    pub fn dtype(&self, operand: Operand) -> DType {
        match (operand, &self.mixed_input) {
            (Operand::A, Some(mixed)) => mixed.dtype,
            _ => self.atom.dtype(operand),
        }
    }

    /// The scales of an operand, if it has some.
    pub(in crate::gemm) fn scales(&self, operand: Operand) -> Option<Scaling> {
        match (operand, &self.mixed_input, &self.block_scales) {
            (Operand::A, Some(MixedInput { scale, group, .. }), _) => {
                Some(Scaling { dtype: *scale, rows: 1, group: *group })
            }
            (Operand::A | Operand::B, None, Some(BlockScales { granularity })) => {
                let rows = granularity[operand as usize];
                Some(Scaling { dtype: BlockScales::DTYPE, rows, group: granularity[2] })
            }
            _ => None,
        }
    }

    /// The bytes that come into a stage.
    pub(super) fn stage_bytes(&self, tile: [i64; 3]) -> Result<i64, Error> {
        self.bytes(tile, Scaling::boxed)
    }

    /// The bytes of A and B in a stage, and of as many scales of each.
    fn bytes(&self, tile: [i64; 3], scales: fn(&Scaling, i64) -> i64) -> Result<i64, Error> {
        [Operand::A, Operand::B].into_iter().try_fold(0, |sum, operand| {
            let x = tile[operand as usize];
            let of_scales = self.scales(operand).map_or(0, |own| scales(&own, x) * own.element());
            Ok(sum + x * tile[2] * element_bytes("atom", self.dtype(operand))? + of_scales)
        })
    }

    /// Whether the threads that multiply read of a stage themselves.
    pub(super) fn reads_stages(&self) -> bool {
        self.mixed_input.is_some() || self.block_scales.is_some()
    }

    /// The threads that release a stage: one of each warpgroup of a team, or one of each warp where the threads themselves read of it.
    pub(super) fn releasing(&self) -> Result<i64, Error> {
        let warps = if self.reads_stages() { WARPGROUP / WARP } else { 1 };
        Ok(self.consumers()? * warps * self.multicast)
    }

    /// A stage's tile of A or B, (BlockX,BlockK).
    pub(super) fn shared(&self, operand: Operand, extents: [i64; 2]) -> Result<Composed, Error> {
        let (major, dtype) = (self.atom.majors[operand as usize], self.dtype(operand));
        GmmaLayout::select(major, dtype, extents).tile(dtype, extents)
    }

    /// Whether the products of some instructions are summed up apart, before they are added to the accumulators.
    pub(super) fn has_partial_sums(&self) -> bool {
        self.mma_promotion_interval > 0 || self.mixed_input.is_some()
    }

    /// The bytes of the mbarriers by which teams alternate.
    fn bytes_of_turns(&self) -> i64 {
        if self.teams > 1 { OrderedSequence::barrier_bytes(self.teams) } else { 0 }
    }

    /// Whether the producer gives registers to the consumers. In a block of two warpgroups each thread has all registers that it can name.
    pub(super) fn hands_registers_on(&self) -> Result<bool, Error> {
        Ok(self.consumers_of_all()? > 1)
    }

    /// The mainloop with an atom of this many columns.
    pub(in crate::gemm) fn with_columns(&self, columns: i64) -> Result<WarpSpecialized, Error> {
        let MmaAtom { kind, c_type, a_type, b_type, majors, product, .. } = self.atom;
        let atom = MmaAtom::wgmma(kind, columns, [c_type, a_type, b_type], majors, product)?;
        Ok(WarpSpecialized { atom, ..*self })
    }

    /// Checks that `blocks` blocks can share the columns of a tile, and that there is shared memory for the accumulators of a tile.
    pub(in crate::gemm) fn check_share(&self, tile: [i64; 3], blocks: i64) -> Result<(), Error> {
        let ([m, n, _], [_, columns, _]) = (tile, self.atom.shape_mnk);
        if n != columns || n % (8 * blocks) != 0 || self.with_columns(n / blocks).is_err() {
            return Err(GemmError::ClusterColumns { n, cluster: blocks, unit: 8 * blocks }.into());
        }
        self.check_shared(tile, m * n * element_bytes("atom", self.atom.c_type)?)
    }

    /// Checks the conditions that the mainloop relies on.
    pub(in crate::gemm) fn check(&self, tile: [i64; 3]) -> Result<(), Error> {
        let atom = &self.atom;
        self.check_mixed_input(tile)?;
        self.check_block_scales(tile)?;
        let element = element_bytes("atom", self.dtype(Operand::A))?;
        if atom.kind != (if self.mixed_input.is_some() { MmaKind::WgmmaRs } else { MmaKind::WgmmaSs })
            || !matches!(atom.c_type, DType::F32 | DType::F16 | DType::S32)
            || atom.c_type == DType::F16 && atom.a_type != DType::F16
            || atom.a_type.bits() != atom.b_type.bits()
        {
            let with = "a warp-specialised mainloop";
            let accepted = "warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and \
                            accumulators of f32, s32, or of f16 for f16";
            return Err(GemmError::Atom { atom: atom.name(), with, accepted }.into());
        }
        if self.atoms.rank() != 2
            || !is_bijective("atoms", &self.atoms)?
            || static_size("atoms", &self.atoms.mode(1)?)? != 1
            || !(1..=4).contains(&self.consumers()?)
        {
            let accepted = "(AtomM,1) of 1 to 4 warpgroups along M";
            return Err(GemmError::Atoms { atoms: self.atoms.to_string(), accepted }.into());
        }
        let teams = 4 / self.consumers()?;
        if !(1..=teams).contains(&self.teams) {
            let with = format!("{} warpgroups each, of which at most 4 multiply", self.consumers()?);
            return Err(GemmError::Teams { teams: self.teams, with, most: teams }.into());
        }
        // A stage is released when the products of the next stage have been issued, so that two stages are the least.
        if !(2..=16).contains(&self.stages) {
            return Err(GemmError::Stages { stages: self.stages, least: 2, most: 16 }.into());
        }
        let units = [self.rows()?, atom.shape_mnk[1], 128 / element];
        for (mode, name) in ["M", "N", "K"].into_iter().enumerate() {
            let (unit, tile) = (units[mode], tile[mode]);
            if tile < unit || tile % unit != 0 || tile > 1024 {
                return Err(GemmError::Tile { mode: name, extent: tile, unit, most: 1024 }.into());
            }
        }
        let [_, n, k] = tile;
        // What a block brings lies in shared memory as the tile does.
        let layout = |n: i64| GmmaLayout::select(atom.majors[1], atom.b_type, [n, k]);
        let blocks = self.multicast.max(1);
        let parted = || n % (8 * blocks) == 0 && layout(n / blocks) == layout(n);
        if !CLUSTERS.contains(&self.multicast) || blocks > 1 && !parted() {
            return Err(GemmError::Multicast { multicast: self.multicast, columns: n }.into());
        }
        let (interval, instructions) = (self.mma_promotion_interval, k / atom.shape_mnk[2]);
        let floats = atom.a_type.bits() == 8 && atom.c_type == DType::F32;
        let promotes = interval > 0 && instructions % interval == 0 && floats;
        if interval != 0 && !promotes {
            return Err(GemmError::PromotionInterval { interval, mmas: instructions }.into());
        }
        self.check_registers(tile)?;
        self.check_shared(tile, 0)
    }

    /// Checks that A can be converted and scaled.
    fn check_mixed_input(&self, [_, _, k]: [i64; 3]) -> Result<(), Error> {
        let Some(MixedInput { dtype, scale, group }) = self.mixed_input else { return Ok(()) };
        if !MixedInput::DTYPES.contains(&dtype) {
            return Err(GemmError::MixedInput { dtype, accepted: &MixedInput::DTYPES }.into());
        }
        if !MixedInput::SCALES.contains(&scale) {
            return Err(GemmError::MixedScale { dtype: scale, accepted: &MixedInput::SCALES }.into());
        }
        if self.atom.a_type != DType::Bf16 {
            let (atom, with) = (self.atom.name(), "a mixed input");
            return Err(GemmError::Atom { atom, with, accepted: "atoms of bf16" }.into());
        }
        if group < 1 || group % k.max(1) != 0 {
            return Err(GemmError::ScaleGroup { group, k }.into());
        }
        Ok(())
    }

    /// Checks that the accumulators between two promotions have a scale for each row and column.
    fn check_block_scales(&self, [m, n, k]: [i64; 3]) -> Result<(), Error> {
        let Some(BlockScales { granularity: [rows, columns, group] }) = self.block_scales else {
            return Ok(());
        };
        if self.mma_promotion_interval == 0 {
            return Err(GemmError::BlockScales { atom: self.atom.name() }.into());
        }
        let fits = |rows: i64, tile: i64| {
            let whole = tile % rows.max(1) == 0 && matches!(tile / rows.max(1), 1 | 2 | 4);
            BlockScales::ROWS.contains(&rows) && (rows == 1 || whole || rows % tile.max(1) == 0)
        };
        if !fits(rows, m) || !fits(columns, n) || group < 1 || group % k.max(1) != 0 {
            let granularity = [rows, columns, group];
            return Err(GemmError::Granularity { granularity, tile: [m, n, k] }.into());
        }
        Ok(())
    }

    /// The registers of the scales that a thread has for the accumulators of an atom.
    fn scales_of_atom(&self) -> i64 {
        let Some(BlockScales { granularity: [rows, columns, _] }) = self.block_scales else { return 0 };
        // A thread's sums lie in two rows, and in two of eight columns.
        let of = |rows: i64, own: i64| if rows == 1 { own } else { 1 };
        of(rows, 2) + of(columns, self.atom.shape_mnk[1] / 4)
    }

    /// Checks that there are enough registers.
    fn check_registers(&self, [m, n, k]: [i64; 3]) -> Result<(), Error> {
        let [producer, consumer] = self.registers.map(i64::from);
        let consumers = self.consumers_of_all()?;
        // A block has the registers that its threads begin with, and warpgroups wait for what others give back.
        let most = REGISTERS / (WARPGROUP * (1 + consumers)) / 8 * 8 * (1 + consumers);
        if producer + consumers * consumer > most {
            return Err(GemmError::Registers { producer, consumer, consumers, most }.into());
        }
        // One instruction has no more registers than threads begin with.
        let (begin, bits) = (most / (1 + consumers), i64::from(self.atom.c_type.bits()));
        let columns = (begin - OF_INSTRUCTION) * 32 * WARPGROUP / (ROWS * bits) / 8 * 8;
        if self.atom.shape_mnk[1] > columns {
            let (atom, warpgroups) = (self.atom.name(), consumers);
            return Err(GemmError::AtomColumns { atom, warpgroups, most: columns }.into());
        }
        let partial = if self.has_partial_sums() { ROWS * self.atom.shape_mnk[1] / WARPGROUP } else { 0 };
        // A's values of a row of atoms, as they come from memory and as they are multiplied.
        let own = match &self.mixed_input {
            Some(mixed) => {
                let bits = i64::from(mixed.dtype.bits() + self.atom.a_type.bits());
                ROWS * k * bits / (WARPGROUP * 32)
            }
            None => 0,
        };
        let accumulators = m * n / (WARPGROUP * self.consumers()?) + partial + own + self.scales_of_atom();
        if accumulators + 24 > consumer {
            let (registers, most) = (accumulators, consumer - 24);
            return Err(GemmError::Accumulators { m, n, registers, most }.into());
        }
        Ok(())
    }

    /// Checks that there is enough shared memory for the stages and `more` bytes.
    pub(in crate::gemm) fn check_shared(&self, tile: [i64; 3], more: i64) -> Result<(), Error> {
        let stage = self.bytes(tile, Scaling::pitch)?;
        let barriers = Pipeline::barrier_bytes(self.stages) + self.bytes_of_turns();
        let bytes = self.stages * stage + more + barriers;
        if bytes > MAX_SHARED {
            return Err(GemmError::SharedMemory { bytes, most: MAX_SHARED }.into());
        }
        Ok(())
    }
}
