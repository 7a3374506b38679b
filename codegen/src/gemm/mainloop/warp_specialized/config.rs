//! What a warp-specialised mainloop is specialised by.

use girih_layout::{Composed, Lay, lay};
use girih_tensor::DType;

use crate::atom::{GmmaLayout, GmmaSwizzle, Major, MmaAtom, MmaKind, SM90_U32X4_STSM_N, UNIVERSAL_COPY_64};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::config::refuse;
use crate::gemm::{GemmConfig, Store};
use crate::tiled::copy::{is_bijective, static_size};
use crate::tiled::mma::Operand;
use crate::{Error, Pipeline, TiledCopy, TiledMma};

/// Threads of a warpgroup, and rows of C that it has in one instruction.
pub(super) const WARPGROUP: i64 = 128;
pub(super) const ROWS: i64 = 64;
/// Registers of a multiprocessor.
const REGISTERS: i64 = 65536;

/// A warp-specialised mainloop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpecialized {
    /// A warpgroup's atom that takes A and B from shared memory. Its majors say which modes of A and B are contiguous.
    pub atom: MmaAtom,
    /// (AtomM,1) -> the consuming warpgroup.
    pub atoms: Lay,
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// Registers of the producer's threads and of the consumers'.
    pub registers: [u32; 2],
}

impl WarpSpecialized {
    /// The consumers' tiled MMA.
    pub(in crate::gemm) fn mma(&self) -> Result<TiledMma, Error> {
        TiledMma::new(self.atom, self.atoms)
    }

    /// How many warpgroups multiply.
    pub(super) fn consumers(&self) -> Result<i64, Error> {
        static_size("atoms", &self.atoms)
    }

    /// Threads of a block: the producer's warpgroup and the consumers'.
    pub(in crate::gemm) fn threads(&self) -> Result<u32, Error> {
        narrow("threads", WARPGROUP * (1 + self.consumers()?))
    }

    /// Bytes that come into a stage.
    pub(super) fn stage_bytes(&self, config: &GemmConfig) -> Result<i64, Error> {
        let [m, n, k] = config.tile;
        Ok((m + n) * k * element_bytes("atom", self.atom.a_type)?)
    }

    /// A stage's tile of A or B, (BlockX,BlockK).
    pub(super) fn shared(&self, config: &GemmConfig, operand: Operand) -> Result<Composed, Error> {
        let layout = GmmaLayout { major: self.atom.majors[operand as usize], swizzle: GmmaSwizzle::Sw128 };
        layout.tile(self.atom.dtype(operand), config.extents(operand))
    }

    /// The copy of a warpgroup's rows of C from its registers to shared memory.
    pub(super) fn store_c(&self, c_type: DType) -> Result<TiledCopy, Error> {
        let bits = c_type.bits();
        let atom = if bits == 16 { SM90_U32X4_STSM_N } else { UNIVERSAL_COPY_64 };
        TiledCopy::of_mma(atom, bits, &TiledMma::new(self.atom, lay!("(1,1):(0,0)"))?, Operand::C)
    }

    /// Whether the producer hands registers on: in a block of two warpgroups, each thread has all that it can name.
    pub(super) fn hands_registers_on(&self) -> Result<bool, Error> {
        Ok(self.consumers()? > 1)
    }

    /// Checks what the generator relies on.
    pub(in crate::gemm) fn check(&self, config: &GemmConfig) -> Result<(), Error> {
        let atom = &self.atom;
        let element = element_bytes("atom", atom.a_type)?;
        if atom.kind != MmaKind::WgmmaSs
            || atom.c_type != DType::F32
            || atom.a_type.bits() != atom.b_type.bits()
        {
            let accepted = "a warpgroup's atom with A and B in shared memory and an f32 accumulator";
            return refuse("atom", atom.name(), accepted);
        }
        if self.atoms.rank() != 2
            || !is_bijective("atoms", &self.atoms)?
            || static_size("atoms", &self.atoms.mode(1)?)? != 1
            || !(1..=4).contains(&self.consumers()?)
        {
            return refuse("atoms", self.atoms.to_string(), "1 to 4 warpgroups along M: (AtomM,1)");
        }
        // A stage is released when the next one's products have been issued.
        if !(2..=16).contains(&self.stages) {
            return refuse("stages", self.stages.to_string(), "2 to 16");
        }
        let units = [ROWS * self.consumers()?, atom.shape_mnk[1], 128 / element];
        for (mode, name) in ["tile M", "tile N", "tile K"].into_iter().enumerate() {
            let (unit, tile) = (units[mode], config.tile[mode]);
            if tile < unit || tile % unit != 0 || tile > 1024 {
                return refuse(
                    name,
                    tile.to_string(),
                    &format!("a positive multiple of {unit}, at most 1024"),
                );
            }
        }
        if let Store::Tma { rows } = config.store
            && (rows < units[0] || rows % units[0] != 0 || config.tile[0] % rows != 0)
        {
            let accepted = format!("multiples of {} that divide {}", units[0], config.tile[0]);
            return refuse("rows of the store", rows.to_string(), &accepted);
        }
        self.check_resources(config)
    }

    /// Whether registers and shared memory are enough.
    fn check_resources(&self, config: &GemmConfig) -> Result<(), Error> {
        let [producer, consumer] = self.registers.map(i64::from);
        let consumers = self.consumers()?;
        let most = REGISTERS / WARPGROUP;
        if producer + consumers * consumer > most {
            let accepted = format!("at most {most} for a thread of each warpgroup together");
            return refuse("registers", format!("{producer} and {consumers} x {consumer}"), &accepted);
        }
        let accumulators = config.tile[0] * config.tile[1] / (WARPGROUP * consumers);
        if accumulators + 24 > consumer {
            let accepted = format!("at most {} accumulators in {consumer} registers", consumer - 24);
            return refuse("tile (M,N)", format!("({},{})", config.tile[0], config.tile[1]), &accepted);
        }
        let bytes = self.stages * self.stage_bytes(config)?
            + config.shared_bytes_c()?
            + Pipeline::barrier_bytes(self.stages);
        if bytes > MAX_SHARED {
            let accepted = format!("stages and rows of C of at most {MAX_SHARED} bytes together");
            return refuse("shared memory", format!("{bytes} bytes"), &accepted);
        }
        Ok(())
    }
}

impl GemmConfig {
    /// A warpgroup's rows of C in shared memory, (64,BlockN), as a tensor copy takes them.
    pub(super) fn shared_c(&self) -> Result<Composed, Error> {
        let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 };
        layout.tile(self.c_type, [ROWS, self.tile[1]])
    }

    /// Bytes of shared memory in which C's rows are gathered.
    pub(super) fn shared_bytes_c(&self) -> Result<i64, Error> {
        let Store::Tma { rows } = self.store else { return Ok(0) };
        Ok(rows * self.tile[1] * element_bytes("c_type", self.c_type)?)
    }
}
