//! The configuration of a warp-specialised mainloop.

use girih_layout::{Composed, Lay};
use girih_tensor::DType;

use crate::atom::{GmmaLayout, MmaAtom, MmaKind};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::config::refuse;
use crate::sizes::{is_bijective, static_size};
use crate::tiled::mma::Operand;
use crate::{Error, Pipeline, TiledMma};

/// The threads of a warpgroup, and the rows of C that it computes by one instruction.
pub(in crate::gemm) const WARPGROUP: i64 = 128;
pub(super) const WARP: i64 = 32;
pub(in crate::gemm) const ROWS: i64 = 64;
/// The blocks of a cluster for which every GPU with clusters has room.
pub(in crate::gemm) const CLUSTERS: [i64; 4] = [1, 2, 4, 8];
/// The registers of a multiprocessor.
const REGISTERS: i64 = 65536;

/// A warp-specialised mainloop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpecialized {
    /// A warpgroup's atom that takes A and B from shared memory, or A from registers where there is a [`MixedInput`]. Its majors say which
    /// modes of A and B are contiguous.
    pub atom: MmaAtom,
    /// (AtomM,1) -> the consuming warpgroup.
    pub atoms: Lay,
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// Registers of the producer's threads and of the consumers'.
    pub registers: [u32; 2],
    /// The blocks of a cluster, 1, 2, 4 or 8, which have tiles of C one below the other: each of them brings a part of the tile of B, by a
    /// multicast to all (CuTe's `ClusterShape` of `(multicast,1,1)`). 1 is no cluster.
    pub multicast: i64,
    /// The instructions along K after which the sums of 8-bit floats, of which `wgmma` keeps few bits, are added to f32 sums of the
    /// threads' own (CUTLASS's `mma_promotion_interval`): a divisor of those of a tile. 0 is never.
    pub mma_promotion_interval: i64,
    /// How A lies in memory, if it is narrower there than the atom takes it.
    pub mixed_input: Option<MixedInput>,
}

/// An A of few bits with scales, which the consumers convert to the atom's dtype in registers (CUTLASS's mixed-input mainloop with
/// `ElementScale`; the atom is one of `wgmma` with A in registers).
///
/// No number is rounded when it is converted. The products of a tile along K are summed up as `wgmma` does it, and this sum is multiplied
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

    /// How many warpgroups multiply.
    pub(in crate::gemm) fn consumers(&self) -> Result<i64, Error> {
        static_size("atoms", &self.atoms)
    }

    /// The rows of C that all these warpgroups compute by one instruction.
    pub(in crate::gemm) fn rows(&self) -> Result<i64, Error> {
        Ok(ROWS * self.consumers()?)
    }

    /// The threads of a block, in the producer's warpgroup and the consumers'.
    ///
    /// # Errors
    /// [`Error::NotStatic`]; [`Error::Config`] for more than a block has.
    pub fn threads(&self) -> Result<u32, Error> {
        narrow("threads", WARPGROUP * (1 + self.consumers()?))
    }

    /// The dtype of A, B or C in memory; that of C is the dtype of the sums.
    pub fn dtype(&self, operand: Operand) -> DType {
        match (operand, &self.mixed_input) {
            (Operand::A, Some(mixed)) => mixed.dtype,
            _ => self.atom.dtype(operand),
        }
    }

    /// The bytes that come into a stage.
    pub(super) fn stage_bytes(&self, tile: [i64; 3]) -> Result<i64, Error> {
        let [m, n, k] = tile;
        let [a, b] = [Operand::A, Operand::B].map(|operand| element_bytes("atom", self.dtype(operand)));
        let scales = match &self.mixed_input {
            Some(mixed) => m * element_bytes("scale", mixed.scale)?,
            None => 0,
        };
        Ok(m * k * a? + n * k * b? + scales)
    }

    /// The threads that release a stage: one of each warpgroup, or one of each warp where the threads themselves read A.
    pub(super) fn releasing(&self) -> Result<i64, Error> {
        let warps = if self.mixed_input.is_some() { WARPGROUP / WARP } else { 1 };
        Ok(self.consumers()? * warps * self.multicast)
    }

    /// A stage's tile of A or B, (BlockX,BlockK).
    pub(super) fn shared(&self, operand: Operand, extents: [i64; 2]) -> Result<Composed, Error> {
        let (major, dtype) = (self.atom.majors[operand as usize], self.dtype(operand));
        GmmaLayout::select(major, dtype, extents).tile(dtype, extents)
    }

    /// Whether the products of some instructions are summed up apart, before they are added to the sums.
    pub(super) fn has_partial_sums(&self) -> bool {
        self.mma_promotion_interval > 0 || self.mixed_input.is_some()
    }

    /// Whether the producer gives registers to the consumers. In a block of two warpgroups each thread has all registers that it can name.
    pub(super) fn hands_registers_on(&self) -> Result<bool, Error> {
        Ok(self.consumers()? > 1)
    }

    /// The mainloop with an atom of so many columns.
    pub(in crate::gemm) fn with_columns(&self, columns: i64) -> Result<WarpSpecialized, Error> {
        let MmaAtom { kind, c_type, a_type, b_type, majors, product, .. } = self.atom;
        let atom = MmaAtom::wgmma(kind, columns, [c_type, a_type, b_type], majors, product)?;
        Ok(WarpSpecialized { atom, ..*self })
    }

    /// Checks that `blocks` blocks can share the columns of a tile, and that there is shared memory for the sums of a tile.
    pub(in crate::gemm) fn check_share(&self, tile: [i64; 3], blocks: i64) -> Result<(), Error> {
        let ([m, n, _], [_, columns, _]) = (tile, self.atom.shape_mnk);
        if n != columns || n % (8 * blocks) != 0 || self.with_columns(n / blocks).is_err() {
            let accepted =
                format!("the columns of one atom, a multiple of {} that a cluster can share", 8 * blocks);
            return refuse("tile N", n.to_string(), &accepted);
        }
        self.check_shared(tile, m * n * element_bytes("atom", self.atom.c_type)?)
    }

    /// Checks the conditions that the mainloop relies on.
    pub(in crate::gemm) fn check(&self, tile: [i64; 3]) -> Result<(), Error> {
        let atom = &self.atom;
        self.check_mixed_input(tile)?;
        let element = element_bytes("atom", self.dtype(Operand::A))?;
        if atom.kind != (if self.mixed_input.is_some() { MmaKind::WgmmaRs } else { MmaKind::WgmmaSs })
            || !matches!(atom.c_type, DType::F32 | DType::S32)
            || atom.a_type.bits() != atom.b_type.bits()
        {
            let accepted = "a warpgroup's atom with B in shared memory, A in registers if there is a mixed input and else in \
                            shared memory, and accumulators of f32 or s32";
            return refuse("atom", atom.name(), accepted);
        }
        if self.atoms.rank() != 2
            || !is_bijective("atoms", &self.atoms)?
            || static_size("atoms", &self.atoms.mode(1)?)? != 1
            || !(1..=4).contains(&self.consumers()?)
        {
            return refuse("atoms", self.atoms.to_string(), "1 to 4 warpgroups along M: (AtomM,1)");
        }
        // A stage is released when the products of the next stage have been issued, so that two stages are the least.
        if !(2..=16).contains(&self.stages) {
            return refuse("stages", self.stages.to_string(), "2 to 16");
        }
        let units = [self.rows()?, atom.shape_mnk[1], 128 / element];
        for (mode, name) in ["tile M", "tile N", "tile K"].into_iter().enumerate() {
            let (unit, tile) = (units[mode], tile[mode]);
            if tile < unit || tile % unit != 0 || tile > 1024 {
                return refuse(
                    name,
                    tile.to_string(),
                    &format!("a positive multiple of {unit}, at most 1024"),
                );
            }
        }
        let [_, n, k] = tile;
        // What a block brings lies in shared memory as the tile does.
        let layout = |n: i64| GmmaLayout::select(atom.majors[1], atom.b_type, [n, k]);
        let blocks = self.multicast.max(1);
        let parted = n % (8 * blocks) == 0 && layout(n / blocks) == layout(n);
        if !CLUSTERS.contains(&self.multicast) || blocks > 1 && !parted {
            let accepted =
                format!("1, 2, 4 or 8 blocks, of which each has whole swizzles of the {n} columns");
            return refuse("multicast", self.multicast.to_string(), &accepted);
        }
        let (interval, instructions) = (self.mma_promotion_interval, k / atom.shape_mnk[2]);
        let floats = atom.a_type.bits() == 8 && atom.c_type == DType::F32;
        let promotes = interval > 0 && instructions % interval == 0 && floats;
        if interval != 0 && !promotes {
            let accepted = format!("0, or of 8-bit floats a divisor of the {instructions} along K in a tile");
            return refuse("mma_promotion_interval", interval.to_string(), &accepted);
        }
        self.check_registers(tile)?;
        self.check_shared(tile, 0)
    }

    /// Checks that A can be converted and scaled.
    fn check_mixed_input(&self, [_, _, k]: [i64; 3]) -> Result<(), Error> {
        let Some(MixedInput { dtype, scale, group }) = self.mixed_input else { return Ok(()) };
        let names = |dtypes: &[DType]| dtypes.iter().map(DType::to_string).collect::<Vec<_>>().join(", ");
        if !MixedInput::DTYPES.contains(&dtype) {
            return refuse("mixed input", dtype.to_string(), &names(&MixedInput::DTYPES));
        }
        if !MixedInput::SCALES.contains(&scale) {
            return refuse("scale", scale.to_string(), &names(&MixedInput::SCALES));
        }
        if self.atom.a_type != DType::Bf16 {
            return refuse("atom", self.atom.name(), "products of bf16 for a mixed input");
        }
        if group < 1 || group % k.max(1) != 0 {
            return refuse("group", group.to_string(), &format!("a multiple of the {k} of a tile along K"));
        }
        Ok(())
    }

    /// Checks that there are enough registers.
    fn check_registers(&self, [m, n, k]: [i64; 3]) -> Result<(), Error> {
        let [producer, consumer] = self.registers.map(i64::from);
        let consumers = self.consumers()?;
        // A block has the registers that its threads begin with, and warpgroups wait for what others give back.
        let most = REGISTERS / (WARPGROUP * (1 + consumers)) / 8 * 8 * (1 + consumers);
        if producer + consumers * consumer > most {
            let accepted = format!("at most {most} for a thread of each warpgroup together");
            return refuse("registers", format!("{producer} and {consumers} x {consumer}"), &accepted);
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
        let accumulators = m * n / (WARPGROUP * consumers) + partial + own;
        if accumulators + 24 > consumer {
            let accepted = format!("at most {} accumulators in {consumer} registers", consumer - 24);
            return refuse("tile (M,N)", format!("({m},{n})"), &accepted);
        }
        Ok(())
    }

    /// Checks that there is enough shared memory for the stages and `more` bytes.
    pub(in crate::gemm) fn check_shared(&self, tile: [i64; 3], more: i64) -> Result<(), Error> {
        let bytes = self.stages * self.stage_bytes(tile)? + more + Pipeline::barrier_bytes(self.stages);
        if bytes > MAX_SHARED {
            let accepted = format!("stages and rows of C of at most {MAX_SHARED} bytes together");
            return refuse("shared memory", format!("{bytes} bytes"), &accepted);
        }
        Ok(())
    }
}
