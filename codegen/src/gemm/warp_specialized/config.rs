//! What a warp-specialised GEMM module is specialised by.

use girih_layout::{Composed, Lay, lay};
use girih_tensor::DType;

use crate::atom::{GmmaLayout, GmmaSwizzle, Major, MmaAtom, MmaKind, SM90_U32X4_STSM_N, UNIVERSAL_COPY_64};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::tiled_copy::{is_bijective, static_size};
use crate::tiled_mma::Operand;
use crate::{Error, Pipeline, TiledCopy, TiledMma};

/// Threads of a warpgroup, and rows of C that it has in one instruction.
const WARPGROUP: i64 = 128;
pub(super) const ROWS: i64 = 64;
/// Registers of a multiprocessor.
const REGISTERS: i64 = 65536;

/// A kernel's configuration; no size and no pitch is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpecializedConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// A warpgroup's atom that takes A and B from shared memory. Its majors say which modes of A and B are contiguous.
    pub atom: MmaAtom,
    /// (AtomM,1) -> the consuming warpgroup.
    pub atoms: Lay,
    /// BlockM, BlockN, BlockK in elements.
    pub tile: [i64; 3],
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// Rows of C in shared memory, of the tile's: a warpgroup stores its part in turns if that is not all of them.
    pub rows_c: i64,
    /// Whether every second tile of a block goes through K backwards: it begins with what the last ones left in the L2
    /// cache. Which tiles do depends on the grid, and with that the order of
    /// their sums.
    pub alternate: bool,
    /// Registers of the producer's threads and of the consumers'.
    pub registers: [u32; 2],
    /// C's element type.
    pub c_type: DType,
}

impl WarpSpecializedConfig {
    /// The consumers' tiled MMA.
    pub fn mma(&self) -> Result<TiledMma, Error> {
        TiledMma::new(self.atom, self.atoms)
    }

    /// How many warpgroups multiply.
    pub(super) fn consumers(&self) -> Result<i64, Error> {
        static_size("WarpSpecializedConfig", &self.atoms)
    }

    /// Threads of a block: the producer's warpgroup and the consumers'.
    pub(super) fn threads(&self) -> Result<u32, Error> {
        narrow("threads", WARPGROUP * (1 + self.consumers()?))
    }

    /// Bytes that come into a stage.
    pub(super) fn stage_bytes(&self) -> Result<i64, Error> {
        let [m, n, k] = self.tile;
        Ok((m + n) * k * element_bytes("atom", self.atom.a_type)?)
    }

    /// A stage's tile of A or B, (BlockX,BlockK).
    pub(super) fn shared(&self, operand: Operand) -> Result<Composed, Error> {
        let layout = GmmaLayout { major: self.atom.majors[operand as usize], swizzle: GmmaSwizzle::Sw128 };
        layout.tile(self.atom.dtype(operand), operand.modes().map(|mode| self.tile[mode]))
    }

    /// A warpgroup's rows of C in shared memory, (64,BlockN), as a tensor copy takes them.
    pub(super) fn shared_c(&self) -> Result<Composed, Error> {
        let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 };
        layout.tile(self.c_type, [ROWS, self.tile[1]])
    }

    /// The copy of those from a warpgroup's registers.
    pub(super) fn store_c(&self) -> Result<TiledCopy, Error> {
        let bits = self.c_type.bits();
        let atom = if bits == 16 { SM90_U32X4_STSM_N } else { UNIVERSAL_COPY_64 };
        TiledCopy::of_mma(atom, bits, &TiledMma::new(self.atom, lay!("(1,1):(0,0)"))?, Operand::C)
    }

    /// Checks what the generator relies on.
    ///
    /// # Errors
    /// [`Error::Config`] naming the field and what would be accepted.
    pub(super) fn check(&self) -> Result<(), Error> {
        let atom = &self.atom;
        let element = element_bytes("atom", atom.a_type)?;
        if atom.kind != MmaKind::WgmmaSs
            || atom.c_type != DType::F32
            || atom.a_type.bits() != atom.b_type.bits()
        {
            let accepted = "a warpgroup's atom with A and B in shared memory and an f32 accumulator";
            return fail("atom", atom.name(), accepted);
        }
        if !matches!(self.c_type, DType::F32 | DType::F16 | DType::Bf16) {
            return fail("c_type", self.c_type.to_string(), "f32, f16 or bf16");
        }
        if self.atoms.rank() != 2
            || !is_bijective("atoms", &self.atoms)?
            || static_size("atoms", &self.atoms.mode(1)?)? != 1
            || !(1..=4).contains(&self.consumers()?)
        {
            return fail("atoms", self.atoms.to_string(), "1 to 4 warpgroups along M: (AtomM,1)");
        }
        // A stage is released when the next one's products have been issued.
        if !(2..=16).contains(&self.stages) {
            return fail("stages", self.stages.to_string(), "2 to 16");
        }
        let units = [ROWS * self.consumers()?, atom.shape_mnk[1], 128 / element];
        for (mode, name) in ["tile M", "tile N", "tile K"].into_iter().enumerate() {
            let (unit, tile) = (units[mode], self.tile[mode]);
            if tile < unit || tile % unit != 0 || tile > 1024 {
                return fail(name, tile.to_string(), &format!("a positive multiple of {unit}, at most 1024"));
            }
        }
        if self.rows_c < units[0] || self.rows_c % units[0] != 0 || self.tile[0] % self.rows_c != 0 {
            let accepted = format!("multiples of {} that divide {}", units[0], self.tile[0]);
            return fail("rows_c", self.rows_c.to_string(), &accepted);
        }
        self.check_resources()
    }

    /// Whether the producer hands registers on: in a block of two warpgroups, each thread has all that it can name.
    pub(super) fn hands_registers_on(&self) -> Result<bool, Error> {
        Ok(self.consumers()? > 1)
    }

    /// Bytes of shared memory in which C's rows are gathered.
    pub(super) fn shared_bytes_c(&self) -> Result<i64, Error> {
        Ok(self.rows_c * self.tile[1] * element_bytes("c_type", self.c_type)?)
    }

    /// Whether registers and shared memory are enough.
    fn check_resources(&self) -> Result<(), Error> {
        let [producer, consumer] = self.registers.map(i64::from);
        let consumers = self.consumers()?;
        let most = REGISTERS / WARPGROUP;
        if producer + consumers * consumer > most {
            let accepted = format!("at most {most} for a thread of each warpgroup together");
            return fail("registers", format!("{producer} and {consumers} x {consumer}"), &accepted);
        }
        let accumulators = self.tile[0] * self.tile[1] / (WARPGROUP * consumers);
        if accumulators + 24 > consumer {
            let accepted = format!("at most {} accumulators in {consumer} registers", consumer - 24);
            return fail("tile (M,N)", format!("({},{})", self.tile[0], self.tile[1]), &accepted);
        }
        let bytes =
            self.stages * self.stage_bytes()? + self.shared_bytes_c()? + Pipeline::barrier_bytes(self.stages);
        if bytes > MAX_SHARED {
            let accepted = format!("stages and rows of C of at most {MAX_SHARED} bytes together");
            return fail("shared memory", format!("{bytes} bytes"), &accepted);
        }
        Ok(())
    }
}

fn fail(what: &'static str, value: String, accepted: &str) -> Result<(), Error> {
    Err(Error::Config { what, value, accepted: accepted.into() })
}
