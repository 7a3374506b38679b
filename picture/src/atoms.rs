//! Pictures of atoms, tiled copies and tiled MMAs.

use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_codegen::{Operand, TiledCopy, TiledMma};
use girih_layout::{Lay, Tile, Tiler};

use crate::layouts::owners;
use crate::limits::{Result, size};
use crate::{Error, Grid, Sheet};

impl Sheet {
    /// Which thread holds which elements of A, B and C in an MMA atom: A at the lower left, B at the upper right, and C where the rows of A
    /// meet the columns of B, as CuTe draws an MMA.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Layout`].
    pub fn mma(atom: &MmaAtom) -> Result<Sheet> {
        around(atom.name(), atom.shape_mnk, [atom.a, atom.b, atom.c])
    }

    /// The tiles of A, B and C that MMA atoms side by side hold, in the orders of M, N and K of a permutation. `atoms` maps
    /// (AtomM,AtomN,AtomK) to the number of the atom.
    ///
    /// # Errors
    /// Those of [`TiledMma::new`] and [`Sheet::tiled_mma`], and [`Error::Permutation`] for a permutation that is no tiler of up to three
    /// modes.
    pub fn mma_atoms(atom: MmaAtom, atoms: Lay, permutation: Option<&Tiler>) -> Result<Sheet> {
        let mut mma = TiledMma::new(atom, atoms)?;
        let mut title = format!("{} by {atoms}", mma.atom.name());
        if let Some(permutation) = permutation {
            let tiles = match permutation {
                Tiler::Modes(tiles) if tiles.len() <= 3 => tiles,
                other => return Err(Error::Permutation { permutation: other.to_string() }),
            };
            let tile = |i: usize| if i < tiles.len() { tiles.tile(i) } else { Ok(Tile::All) };
            mma = mma.with_permutation([tile(0)?, tile(1)?, tile(2)?]);
            title += &format!(" permuted by {permutation}");
        }
        Sheet::tiled_mma(title, &mma)
    }

    /// Which thread holds which elements of a block's tiles of A, B and C.
    ///
    /// # Errors
    /// [`Error::Codegen`], [`Error::TooLarge`].
    pub fn tiled_mma(title: String, mma: &TiledMma) -> Result<Sheet> {
        let [a, b, c] = Operand::ALL.map(|operand| mma.layout_tv(operand));
        around(title, mma.tile_size_mnk()?, [a?, b?, c?])
    }

    /// Which bits a copy atom moves from which thread to which thread, in cells of `unit` bits and rows of 16 bytes.
    ///
    /// # Errors
    /// [`Error::Unit`] unless `unit` divides the bits of a thread's row, [`Error::TooLarge`].
    pub fn copy(atom: &CopyAtom, unit: i64) -> Result<Sheet> {
        let piece = size(&atom.reference.mode(1)?)?.min(128);
        if unit < 1 || piece % unit != 0 {
            return Err(Error::Unit { unit, row: piece });
        }
        let side = |title: &str, bits: &Lay| -> Result<Grid> {
            let units = bits.upcast(unit)?; // (Thr,Val) -> unit
            let count = units.cosize()?.get().unwrap_or(0);
            let columns = (128 / unit).clamp(1, count.max(1));
            let title = format!("{title} {bits} (bits), {unit} bits a cell");
            Ok(owners(title, &units, [columns, count / columns])?.transposed())
        };
        let grids = [([0, 0], side("source", &atom.src)?), ([0, 1], side("destination", &atom.dst)?)];
        Ok(Sheet::new(atom.name(), grids))
    }

    /// Which thread copies which elements of a tile. A tile of one mode is one row.
    ///
    /// # Errors
    /// [`Error::NoMatrix`] for a tile of more than two modes, [`Error::Codegen`], [`Error::TooLarge`].
    pub fn tiled_copy(copy: &TiledCopy) -> Result<Sheet> {
        let extents = copy.extents()?;
        let [rows, columns] = match extents[..] {
            [columns] => [1, columns],
            [rows, columns] => [rows, columns],
            _ => return Err(Error::NoMatrix { extents }),
        };
        let (source, destination) = (copy.layout_s_tv(&extents)?, copy.layout_d_tv(&extents)?);
        let mut grids = vec![([0, 0], owners(format!("source {source}"), &source, [rows, columns])?)];
        if destination != source {
            let title = format!("destination {destination}");
            grids.push(([0, 1], owners(title, &destination, [rows, columns])?));
        }
        Ok(Sheet::new(format!("{} by {} threads", copy.atom.name(), copy.threads()?), grids))
    }
}

fn around(title: String, [m, n, k]: [i64; 3], [a, b, c]: [Lay; 3]) -> Result<Sheet> {
    let grids = [
        ([1, 0], owners(format!("A (M,K) {a}"), &a, [m, k])?),
        ([0, 1], owners(format!("B (K,N) of {b}"), &b, [n, k])?.transposed()),
        ([1, 1], owners(format!("C (M,N) {c}"), &c, [m, n])?),
    ];
    Ok(Sheet::new(title, grids))
}
