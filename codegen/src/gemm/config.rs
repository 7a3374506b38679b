//! What a GEMM module is specialised by.

use girih_layout::{Lay, Tile};
use girih_tensor::DType;

use crate::atom::MmaAtom;
use crate::tiled_mma::{Operand, TiledMma};
use crate::{Error, tiled_copy::static_size};

/// Which of an operand's two modes is contiguous in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// K: the strides of A are `(ld,1)`.
    K,
    /// M for A, N for B: the strides of A are `(1,ld)`.
    Mn,
}

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
        TiledMma { atom: self.atom, atoms: self.atoms, permutation: self.permutation }
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
        self.tile[2] / (self.atom.shape_mnk[2] * self.k_atoms)
    }

    /// Checks what the generator relies on.
    ///
    /// # Errors
    /// [`Error::Config`] naming the field and what would be accepted.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |what, value: String, accepted: &str| {
            Err(Error::Config { what, value, accepted: accepted.into() })
        };
        let threads = self.mma().threads()?;
        if !(32..=1024).contains(&threads) || threads % 32 != 0 {
            return fail("threads", threads.to_string(), "whole warps, at most 1024 threads");
        }
        if static_size("GemmConfig", &self.atoms)? != self.atoms.cosize()?.get().unwrap_or(0) {
            return fail("atoms", self.atoms.to_string(), "a bijective (AtomM,AtomN) layout");
        }
        for (mode, name) in ["tile M", "tile N", "tile K"].into_iter().enumerate() {
            let side =
                if mode == 2 { self.k_atoms } else { static_size("GemmConfig", &self.atoms.mode(mode)?)? };
            let unit = self.atom.shape_mnk[mode] * side;
            if unit < 1 || self.tile[mode] < unit || self.tile[mode] % unit != 0 {
                return fail(name, self.tile[mode].to_string(), &format!("a positive multiple of {unit}"));
            }
        }
        if self.k_blocks() < 2 || self.k_blocks() % 2 != 0 {
            return fail("tile K", self.tile[2].to_string(), "an even number of k-blocks, at least two");
        }
        if !(2..=16).contains(&self.stages) {
            return fail("stages", self.stages.to_string(), "2 to 16");
        }
        if !(1..=2).contains(&self.fragments) {
            return fail("fragments", self.fragments.to_string(), "1 or 2");
        }
        if self.raster < 1 {
            return fail("raster", self.raster.to_string(), "at least 1");
        }
        Ok(())
    }
}
