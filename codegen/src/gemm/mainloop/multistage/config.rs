//! The configuration of a multistage mainloop.

use girih_layout::{Lay, Tile, lay};
use girih_tensor::DType;

use super::load::TileCopies;
use crate::Error;
use crate::atom::{
    CopyOp, Major, MmaAtom, MmaKind, SM75_U16X8_LDSM_T, SM75_U32X4_LDSM_N, cp_async, universal_copy,
};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::{GemmError, narrow};
use crate::sizes::{extent, is_bijective, static_size};
use crate::tiled::copy::{TiledCopy, coalesced};
use crate::tiled::mma::{Operand, TiledMma};

/// The largest extent of a block's tile.
const MAX_TILE: i64 = 1024;
/// The elements along K that neighbouring threads copy where a copy transposes: of 4 bytes, a sector of memory.
const SECTOR: i64 = 8;
/// The most registers of a thread for accumulators, since no thread has more than 255 registers.
const MAX_ACCUMULATORS: i64 = 240;

/// The facts about A or B that a module relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The contiguous mode.
    pub major: Major,
    /// The elements that a thread loads at once: the pointer and the pitch are multiples of their size, and in a kernel of
    /// [`generate`](crate::gemm::generate) K is one too where vectors along K are transposed on their way to shared memory, as those of an
    /// atom of a thread are.
    pub vector: i64,
}

/// A multistage mainloop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multistage {
    /// The atom, of a thread or a warp.
    pub atom: MmaAtom,
    /// (AtomM,AtomN) -> the atom's index in the block.
    pub atoms: Lay,
    /// The order of M's and N's coordinates in the tile.
    pub permutation: [Tile; 2],
    /// Atoms along K whose fragments are loaded together.
    pub k_atoms: i64,
    /// Register fragments in flight: 1, or 2 to load the next k-block's fragments while this one is multiplied.
    pub fragments: usize,
    /// Tiles of A and B in shared memory.
    pub stages: i64,
    /// The resident blocks per SM for which registers are limited.
    pub min_blocks: u32,
    /// Facts about A.
    pub a: Source,
    /// Facts about B.
    pub b: Source,
}

impl Multistage {
    /// The tiled MMA. Its tile has the atoms along K whose fragments are loaded together, and along N as many as one `ldmatrix`
    /// loads.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for an arrangement of atoms that is no bijection.
    pub fn mma(&self) -> Result<TiledMma, Error> {
        let [m, mut n] = self.permutation;
        if n == Tile::All && self.uses_ldmatrix(Operand::B) {
            let atoms = static_size("atoms", &self.atoms.mode(1)?)?;
            // Four matrices of eight rows of 16 bytes are 16 rows of B by 32 bytes along K.
            n = Tile::Lay(extent((16 * atoms).max(self.atom.shape_mnk[1] * atoms))?);
        }
        let k = extent(self.atom.shape_mnk[2] * self.k_atoms)?;
        Ok(TiledMma::new(self.atom, self.atoms)?.with_permutation([m, n, Tile::Lay(k)]))
    }

    /// Threads of a block.
    ///
    /// # Errors
    /// [`Error::Mismatch`], [`Error::NotStatic`]; [`Error::Wide`] for more than 32 bits hold.
    pub fn threads(&self) -> Result<u32, Error> {
        narrow("threads", self.mma()?.threads()?)
    }

    /// The facts about A or B.
    pub fn source(&self, operand: Operand) -> Source {
        if operand == Operand::A { self.a } else { self.b }
    }

    /// The groups of atoms along K in a tile of `tile_k` elements.
    pub(super) fn k_blocks(&self, tile_k: i64) -> i64 {
        let step = self.atom.shape_mnk[2].saturating_mul(self.k_atoms);
        tile_k.checked_div(step).unwrap_or(0)
    }

    /// Whether an operand's fragments are taken by `ldmatrix`, which has them for atoms of a warp that take 32 bytes along K. Where the
    /// operand is not contiguous along K, elements have to have 16 bits.
    pub(super) fn uses_ldmatrix(&self, operand: Operand) -> bool {
        let bits = i64::from(self.atom.dtype(operand).bits());
        let of_a_warp = self.atom.kind == MmaKind::Mma && self.atom.threads.size().is_ok_and(|n| n.is(32));
        let in_order = bits == 16 || bits < 64 && self.source(operand).major == Major::K;
        of_a_warp && self.atom.shape_mnk[2] * bits == 256 && in_order
    }

    /// The copy of an operand's tile by all threads of the block, in vectors along the contiguous mode.
    pub(super) fn tile_copy(&self, operand: Operand, extents: [i64; 2]) -> Result<TiledCopy, Error> {
        let Source { major, vector } = self.source(operand);
        let contiguous = usize::from(major == Major::K);
        let element = element_bytes("atom", self.atom.dtype(operand))?;
        let threads = self.mma()?.threads()?;
        let bytes = u32::try_from(vector.saturating_mul(element)).ok();
        let asynchronous = vector == 1 || !self.transposes(operand, extents)?;
        let atom = match bytes
            .and_then(|bytes| cp_async(bytes).filter(|_| asynchronous).or_else(|| universal_copy(bytes)))
        {
            Some(atom) if vector > 0 => atom,
            _ => {
                return Err(GemmError::LoadVector { vector, bytes: element }.into());
            }
        };
        if vector == 1 && self.transposes(operand, extents)? {
            let threads = Lay::strided([threads / SECTOR, SECTOR], [SECTOR, 1])?; // (ThrX,ThrK) -> thread
            let one = Lay::strided([1, 1], [1, 1])?;
            return TiledCopy::new(*atom, self.atom.dtype(operand).bits(), &threads, &one);
        }
        coalesced(*atom, threads, extents, contiguous, vector)
    }

    /// The copies of an operand's tile. What is transposed in vectors is stored one by one.
    pub(super) fn tile_copies(&self, operand: Operand, extents: [i64; 2]) -> Result<TileCopies, Error> {
        let load = self.tile_copy(operand, extents)?;
        let element = narrow("element", element_bytes("atom", self.atom.dtype(operand))?)?;
        let through = load.atom.op == CopyOp::Universal && self.transposes(operand, extents)?;
        let store = universal_copy(element).filter(|_| through).map(|atom| TiledCopy { atom: *atom, ..load });
        Ok(TileCopies { load, store })
    }

    /// Whether the copies of an operand's tile transpose it, so that values along M or N are together in shared memory: single elements by
    /// `cp.async`, vectors through registers. A thread that multiplies alone then has neighbours along M or N in neighbouring registers,
    /// which are in different banks; with neighbours along K, the registers of all that it multiplies in a step along K are in the same bank.
    pub(in crate::gemm) fn transposes(&self, operand: Operand, [x, k]: [i64; 2]) -> Result<bool, Error> {
        let Source { major, vector } = self.source(operand);
        let rows = self.mma()?.threads()? / SECTOR;
        let divides = vector > 1 || rows > 0 && x % rows == 0 && k % SECTOR == 0;
        Ok(self.atom.kind == MmaKind::Fma && major == Major::K && divides)
    }

    /// The copy of the operand's fragments by `ldmatrix`, where the atom takes them so.
    pub(super) fn fragment_copy(&self, operand: Operand) -> Result<Option<TiledCopy>, Error> {
        if !self.uses_ldmatrix(operand) {
            return Ok(None);
        }
        let k_major = self.source(operand).major == Major::K;
        let atom = if k_major { SM75_U32X4_LDSM_N } else { SM75_U16X8_LDSM_T };
        TiledCopy::of_mma(atom, self.atom.dtype(operand).bits(), &self.mma()?, operand).map(Some)
    }

    /// Checks the conditions that the mainloop relies on.
    pub(in crate::gemm) fn check(&self, tile: [i64; 3]) -> Result<(), Error> {
        let atom = &self.atom;
        let taken = matches!(atom.kind, MmaKind::Fma | MmaKind::Mma) && atom.threads != lay!("(4,2):(1,16)");
        let sums: &[DType] = match atom.a_type {
            DType::F16 => &[DType::F32, DType::F16],
            DType::F32 | DType::Tf32 | DType::Bf16 | DType::E4m3 | DType::E5m2 => &[DType::F32],
            DType::S8 => &[DType::S32],
            DType::F64 => &[DType::F64],
            _ => &[],
        };
        if !taken || atom.a_type != atom.b_type || !sums.contains(&atom.c_type) {
            let accepted = "FMAs and warps' atoms of f32, tf32, f16, bf16, e4m3 or e5m2 with f32 accumulators, f16 with f16, s8 with s32 and f64 with f64";
            return Err(GemmError::Atom { atom: atom.name(), with: "a multistage mainloop", accepted }.into());
        }
        if self.atoms.rank() != 2 || !is_bijective("atoms", &self.atoms)? {
            let accepted = "a bijective (AtomM,AtomN) layout";
            return Err(GemmError::Atoms { atoms: self.atoms.to_string(), accepted }.into());
        }
        if !(2..=16).contains(&self.stages) {
            return Err(GemmError::Stages { stages: self.stages, least: 2, most: 16 }.into());
        }
        if !(1..=2).contains(&self.fragments) {
            return Err(GemmError::Fragments { fragments: self.fragments }.into());
        }
        self.check_tile(tile)
    }

    /// Checks that the tile divides into atoms, and fits registers and shared memory.
    fn check_tile(&self, tile: [i64; 3]) -> Result<(), Error> {
        for (mode, name) in ["M", "N", "K"].into_iter().enumerate() {
            let side = if mode == 2 { self.k_atoms } else { static_size("atoms", &self.atoms.mode(mode)?)? };
            let unit = self.atom.shape_mnk[mode].saturating_mul(side);
            let extent = tile[mode];
            if unit < 1 || !(unit..=MAX_TILE).contains(&extent) || extent % unit != 0 {
                return Err(GemmError::Tile { mode: name, extent, unit, most: MAX_TILE }.into());
            }
        }
        let [m, n, k] = tile;
        self.mma()?.thrfrg(Operand::C, &Lay::col_major([m, n])?)?;
        let threads = self.mma()?.threads()?;
        if !(32..=1024).contains(&threads) || threads % 32 != 0 {
            return Err(GemmError::Threads { threads }.into());
        }
        let registers = if self.atom.c_type == DType::F64 { 2 } else { 1 };
        let registers = m * n / threads * registers;
        if registers > MAX_ACCUMULATORS {
            return Err(GemmError::Accumulators { m, n, registers, most: MAX_ACCUMULATORS }.into());
        }
        if self.k_blocks(k) < 2 || self.k_blocks(k) % 2 != 0 {
            return Err(GemmError::KBlocks { k, blocks: self.k_blocks(k) }.into());
        }
        let bytes = (m + n) * k * self.stages * element_bytes("atom", self.atom.a_type)?;
        if bytes > MAX_SHARED {
            return Err(GemmError::SharedMemory { bytes, most: MAX_SHARED }.into());
        }
        Ok(())
    }
}
