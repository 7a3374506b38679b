//! What a GEMM module is specialised by.

use girih_layout::{Lay, Tile, lay};
use girih_tensor::DType;

use crate::Error;
use crate::atom::{Major, MmaAtom, MmaKind};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::tiled_copy::{is_bijective, static_size};
use crate::tiled_mma::{Operand, TiledMma};

/// The largest extent of a block's tile.
const MAX_TILE: i64 = 1024;
/// Accumulators that a thread may hold: no thread has more than 255 registers.
const MAX_ACCUMULATORS: i64 = 240;

/// The facts about A or B that a module relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The contiguous mode.
    pub major: Major,
    /// Elements that a thread loads at once: pointer and pitch are multiples of their size.
    pub vector: i64,
}

/// A GEMM kernel's configuration and facts; no size and no pitch is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// The atom.
    pub atom: MmaAtom,
    /// (AtomM,AtomN) -> the atom's number in the block.
    pub atoms: Lay,
    /// The order of M's and N's coordinates in the tile.
    pub permutation: [Tile; 2],
    /// BlockM, BlockN, BlockK in elements.
    pub tile: [i64; 3],
    /// Atoms along K whose fragments are loaded together.
    pub k_atoms: i64,
    /// Register fragments in flight: 1, or 2 to load the next k-block's while this one multiplies.
    pub fragments: usize,
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// Rows of block tiles that are walked column by column, for the L2 cache.
    pub raster: i64,
    /// Resident blocks per multiprocessor that registers are limited for.
    pub min_blocks: u32,
    /// Facts about A.
    pub a: Source,
    /// Facts about B.
    pub b: Source,
    /// C's element type.
    pub c_type: DType,
    /// Elements of C that a thread stores at once: N, pointer and pitch are multiples.
    pub c_vector: i64,
}

impl GemmConfig {
    /// The tiled MMA.
    pub fn mma(&self) -> TiledMma {
        let [m, n] = self.permutation;
        TiledMma { atom: self.atom, atoms: self.atoms, permutation: [m, n, Tile::All] }
    }

    /// The facts about A or B.
    pub(crate) fn source(&self, operand: Operand) -> Source {
        if operand == Operand::A { self.a } else { self.b }
    }

    /// The operand's tile: its extents in its own two modes.
    pub(crate) fn extents(&self, operand: Operand) -> [i64; 2] {
        operand.modes().map(|mode| self.tile[mode])
    }

    /// Steps along K in a tile.
    pub fn k_blocks(&self) -> i64 {
        let step = self.atom.shape_mnk[2].saturating_mul(self.k_atoms);
        self.tile[2].checked_div(step).unwrap_or(0)
    }

    /// Checks what the generator relies on.
    ///
    /// # Errors
    /// [`Error::Config`] naming the field and what would be accepted.
    pub fn check(&self) -> Result<(), Error> {
        let threads = self.mma().threads()?;
        if !(32..=1024).contains(&threads) || threads % 32 != 0 {
            return fail("threads", threads.to_string(), "whole warps, at most 1024 threads");
        }
        self.check_types()?;
        if self.atoms.rank() != 2 || !is_bijective("GemmConfig", &self.atoms)? {
            return fail("atoms", self.atoms.to_string(), "a bijective (AtomM,AtomN) layout");
        }
        if !(2..=16).contains(&self.stages) {
            return fail("stages", self.stages.to_string(), "2 to 16");
        }
        if !(1..=2).contains(&self.fragments) {
            return fail("fragments", self.fragments.to_string(), "1 or 2");
        }
        self.check_tile()?;
        // A group of rows has at most 2^31 tiles, whatever N is.
        if !(1..=2 * self.tile[1]).contains(&self.raster) {
            return fail("raster", self.raster.to_string(), &format!("1 to {}", 2 * self.tile[1]));
        }
        let widest = 16 / element_bytes("c_type", self.c_type)?;
        if !(1..=widest).contains(&self.c_vector) || self.c_vector.count_ones() != 1 {
            return fail("c_vector", self.c_vector.to_string(), &format!("a power of two, at most {widest}"));
        }
        Ok(())
    }

    /// Bytes of an element of A or B.
    pub(crate) fn element(&self) -> Result<i64, Error> {
        element_bytes("atom", self.atom.a_type)
    }

    /// Whether the loads, the fragments and the epilogue have a way for the types.
    fn check_types(&self) -> Result<(), Error> {
        let (atom, out) = (&self.atom, self.c_type);
        let taken = matches!(atom.kind, MmaKind::Fma | MmaKind::Mma) && atom.threads != lay!("(4,2):(1,16)");
        let inputs =
            matches!(atom.a_type, DType::F32 | DType::F16 | DType::Bf16) && atom.a_type == atom.b_type;
        if !taken || !inputs || atom.c_type != DType::F32 {
            return fail("atom", self.atom.name(), "f32, f16 or bf16 with an f32 accumulator");
        }
        if !matches!(out, DType::F32 | DType::F16 | DType::Bf16) {
            return fail("c_type", out.to_string(), "f32, f16 or bf16");
        }
        Ok(())
    }

    /// Whether the tile divides into atoms, and fits registers and shared memory.
    fn check_tile(&self) -> Result<(), Error> {
        for (mode, name) in ["tile M", "tile N", "tile K"].into_iter().enumerate() {
            let side =
                if mode == 2 { self.k_atoms } else { static_size("GemmConfig", &self.atoms.mode(mode)?)? };
            let unit = self.atom.shape_mnk[mode].saturating_mul(side);
            if unit < 1 || !(unit..=MAX_TILE).contains(&self.tile[mode]) || self.tile[mode] % unit != 0 {
                let accepted = format!("a positive multiple of {unit}, at most {MAX_TILE}");
                return fail(name, self.tile[mode].to_string(), &accepted);
            }
        }
        let [m, n, k] = self.tile;
        let threads = self.mma().threads()?;
        if m * n / threads > MAX_ACCUMULATORS {
            let accepted = format!("at most {MAX_ACCUMULATORS} accumulators for each of {threads} threads");
            return fail("tile (M,N)", format!("({m},{n})"), &accepted);
        }
        if self.k_blocks() < 2 || self.k_blocks() % 2 != 0 {
            return fail("tile K", self.tile[2].to_string(), "an even number of k-blocks, at least two");
        }
        let bytes = (m + n) * k * self.stages * self.element()?;
        if bytes > MAX_SHARED {
            let accepted = format!("stages of at most {MAX_SHARED} bytes of shared memory together");
            return fail("shared memory", format!("{bytes} bytes"), &accepted);
        }
        Ok(())
    }
}

fn fail(what: &'static str, value: String, accepted: &str) -> Result<(), Error> {
    Err(Error::Config { what, value, accepted: accepted.into() })
}
