//! Tiled copies from thread and value layouts, from layouts of memory, and from other tiled copies.
#![expect(
    clippy::result_large_err,
    reason = "an error in a constant holds the layout that does not fit; the results are as large"
)]

use girih_layout::{Int, Lay, MAX_LEAVES, Shape, Stride, Tile, Tiles};

use super::TiledCopy;
use crate::atom::CopyAtom;
use crate::misfit::{self, Fit, Misfit, Subject, Word, known, tri, words};
use crate::sizes::{extent, static_size};
use crate::{Error, Operand, TiledMma};

impl TiledCopy {
    /// A copy by threads arranged as `threads` (a layout from the tile's thread coordinate to the thread's index), each with
    /// a block of values of `bits` bits arranged as `values` (CuTe's `make_tiled_copy`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if `threads` and `values` differ in rank, if one of them is no bijection onto the numbers from 0 on, or if
    /// the atom does not divide them; [`Error::NotStatic`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{TiledCopy, atom::UNIVERSAL_COPY_128};
    /// use girih_layout::lay;
    ///
    /// // 32 x 4 threads, each with 8 halves along the rows: a tile of 32 x 32.
    /// let copy = TiledCopy::new(UNIVERSAL_COPY_128, 16, &lay!("(32,4):(4,1)"), &lay!("(1,8):(8,1)"))?;
    /// assert_eq!(copy.extents()?, [32, 32]);
    /// assert_eq!(copy.tv.to_string(), "((4,32),8):((256,1),32)");
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn new(atom: CopyAtom, bits: u32, threads: &Lay, values: &Lay) -> Result<TiledCopy, Error> {
        Ok(TiledCopy::judged_new(atom, bits, threads, values)?)
    }

    pub(crate) const fn judged_new(atom: CopyAtom, bits: u32, threads: &Lay, values: &Lay) -> Fit<TiledCopy> {
        if threads.rank() != values.rank() {
            return Err(Misfit::Mismatch {
                what: "TiledCopy",
                operand: Subject::Lay(*threads),
                with: words(&[Word::Lay(values)]),
                accepted: "a thread layout and a value layout of the same rank",
            });
        }
        tri!(numbered(threads, "the threads' numbers"));
        tri!(numbered(values, "the values' numbers"));
        let layout_mn = known!(tri!(modes(threads)).raked_product(&tri!(modes(values)))); // (M,N) -> (thr,val)
        let thr = tri!(misfit::size("TiledCopy", threads));
        let val = tri!(misfit::size("TiledCopy", values));
        let shape = known!(Shape::flat(&[Int::fixed(thr), Int::fixed(val)]));
        let tv = known!(known!(layout_mn.right_inverse()).composition(&known!(Lay::left(&shape)))); // (Thr,Val) -> index in (M,N)
        let mut tiles = [Tile::All; MAX_LEAVES];
        let (rank, mut mode) = (layout_mn.rank(), 0);
        while mode < rank {
            let size = tri!(misfit::size("TiledCopy", &known!(layout_mn.mode(mode))));
            tiles[mode] = Tile::Lay(tri!(misfit::extent(size)));
            mode += 1;
        }
        TiledCopy::judged(atom, bits, &tv, known!(Tiles::new(tiles.split_at(rank).0)))
    }

    /// A copy of data that is in memory as `data`, coordinate -> address, says, by the threads and values of `tv`,
    /// `(Thr,Val) -> address`. The tile consists of the coordinates that `tv` reaches (CuTe's `make_cotiled_copy`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if `tv` has addresses that the data does not have, or the atom does not divide `tv`;
    /// [`Error::NotStatic`]; those of the algebra for data that has no left inverse.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{TiledCopy, atom::UNIVERSAL_COPY_128};
    /// use girih_layout::lay;
    ///
    /// // 32 threads take 8 neighbouring halves each of rows of 64: half of the first 8 rows.
    /// let copy = TiledCopy::cotiled(UNIVERSAL_COPY_128, 16, &lay!("(32,8):(8,1)"), &lay!("(8,64):(64,1)"))?;
    /// assert_eq!(copy.extents()?, [4, 64]);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn cotiled(atom: CopyAtom, bits: u32, tv: &Lay, data: &Lay) -> Result<TiledCopy, Error> {
        let coordinates = data.left_inverse()?; // address -> index of the coordinate
        let outside = || Error::Mismatch {
            what: "cotiled copy",
            layout: tv.to_string(),
            with: data.to_string(),
            accepted: "threads and values whose addresses are the data's",
        };
        if tv.max_index()? > data.max_index()? || tv.min_index()? < 0 {
            return Err(outside());
        }
        let in_data = coordinates.composition(tv).map_err(|_| outside())?; // (Thr,Val) -> index of the coordinate
        // The inverse maps an address between those of the data to the coordinate of another address.
        for i in 0..static_size("cotiled copy", tv)? {
            let coordinate = in_data.at(i)?;
            if coordinate >= static_size("cotiled copy", data)? || data.at(coordinate)? != tv.at(i)? {
                return Err(outside());
            }
        }
        let sizes =
            (0..data.rank()).map(|mode| Ok(data.mode(mode)?.size()?)).collect::<Result<Vec<_>, Error>>()?;
        let shape = Shape::flat(&sizes)?;
        let mut tiles = Vec::new();
        for mode in 0..sizes.len() {
            let along =
                |i: usize| if i == mode { Stride::Int(Int::fixed(1)) } else { Stride::Int(Int::fixed(0)) };
            let leaves = sizes.iter().enumerate().map(|(i, &size)| Lay::leaf(size, along(i)));
            let digit = Lay::concat(&leaves.collect::<Result<Vec<_>, _>>()?)?;
            tiles.push(Tile::Lay(digit.composition(&in_data)?.filter()));
        }
        let tiler = Tiles::new(&tiles)?;
        let tile = Lay::left(&shape)?.composition_by(&tiles)?; // tile's index -> index of the coordinate
        let tv = tile.left_inverse()?.composition(&in_data)?;
        TiledCopy::from_tv(atom, bits, &tv, tiler)
    }

    /// A copy whose registers are the fragments of an MMA's operand, of values of `bits` bits (CuTe's `make_tiled_copy_A`,
    /// `_B`, `_C`). [`ThrCopy::retile_d`](super::ThrCopy::retile_d) brings such a fragment into the order of the copy.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the atom does not divide the fragments of a tile.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::atom::{SM75_U32X4_LDSM_N, SM80_16X8X16_F32BF16BF16F32_TN};
    /// use girih_codegen::{Operand, TiledCopy, TiledMma};
    /// use girih_layout::lay;
    ///
    /// // Two by two warps: A's tile is 32 x 16, of which each warp takes half by one ldmatrix.
    /// let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,4)"))?;
    /// let copy = TiledCopy::of_mma(SM75_U32X4_LDSM_N, 16, &mma, Operand::A)?;
    /// assert_eq!((copy.threads()?, copy.extents()?), (128, vec![32, 16]));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn of_mma(atom: CopyAtom, bits: u32, mma: &TiledMma, operand: Operand) -> Result<TiledCopy, Error> {
        let sizes = mma.tile_size_mnk()?;
        let tiles = operand.modes().map(|mode| extent(sizes[mode]).map(Tile::Lay));
        let tiles = tiles.into_iter().collect::<Result<Vec<_>, _>>()?;
        TiledCopy::from_tv(atom, bits, &mma.layout_tv(operand)?, Tiles::new(&tiles)?)
    }

    /// A copy with another atom whose registers are this copy's source (CuTe's `make_tiled_copy_S`).
    ///
    /// # Errors
    /// As [`TiledCopy::from_tv`].
    pub fn like_s(&self, atom: CopyAtom) -> Result<TiledCopy, Error> {
        TiledCopy::from_tv(atom, self.bits, &self.layout_s_tv(&self.extents()?)?, self.tiler)
    }

    /// A copy with another atom whose registers are this copy's destination (CuTe's `make_tiled_copy_D`).
    ///
    /// # Errors
    /// As [`TiledCopy::from_tv`].
    pub fn like_d(&self, atom: CopyAtom) -> Result<TiledCopy, Error> {
        TiledCopy::from_tv(atom, self.bits, &self.layout_d_tv(&self.extents()?)?, self.tiler)
    }
}

/// A leaf as a layout of one mode.
const fn modes(layout: &Lay) -> Fit<Lay> {
    Ok(if layout.is_leaf() { known!(Lay::concat(&[*layout])) } else { *layout })
}

/// Refuses a layout whose indices are not the numbers from 0 to below its size.
const fn numbered(layout: &Lay, with: &'static str) -> Fit<()> {
    if tri!(misfit::is_bijective("TiledCopy", layout)) {
        return Ok(());
    }
    Err(Misfit::Mismatch {
        what: "TiledCopy",
        operand: Subject::Lay(*layout),
        with: words(&[Word::Text(with)]),
        accepted: "a bijection onto the numbers from 0 to below its size",
    })
}
