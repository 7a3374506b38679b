//! TiledCopy: a copy atom spread over threads and values (CuTe guide, "TiledCopy").
#![expect(
    clippy::result_large_err,
    reason = "an error in a constant holds the layout that does not fit; the results are as large"
)]

mod make;
mod slice;

use girih_layout::{Int, Lay, Message, Shape, Tile, Tiler, Tiles, lay};
use girih_tensor::Index;

use crate::Error;
use crate::atom::CopyAtom;
use crate::error::{check_thread, narrow};
use crate::misfit::{self, Fit, Misfit, Subject, Word, known, tri, words};
use crate::sizes::static_size;

pub use slice::ThrCopy;

/// A copy by several threads, each with several values of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiledCopy {
    /// The instruction.
    pub atom: CopyAtom,
    /// Bits of a value.
    pub bits: u32,
    /// (Thr,Val) -> index in the tile, of the atom's reference side.
    pub tv: Lay,
    /// The extents or layouts of the tile along each mode of a tensor (CuTe's `Tiler_MN`).
    pub tiler: Tiles,
}

/// Source or destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Destination,
}

impl TiledCopy {
    /// A copy of values of `bits` bits that `tv`, `(Thr,Val) -> index in the tile`, hands out, where `tiler` says what the tile takes
    /// of each mode of a tensor (CuTe's `make_tiled_copy_impl`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the atom's threads or values do not divide those of `tv`, the atom's bits are not whole values, or
    /// `tv` leaves the tile; [`Error::NotStatic`].
    pub fn from_tv(atom: CopyAtom, bits: u32, tv: &Lay, tiler: Tiles) -> Result<TiledCopy, Error> {
        Ok(TiledCopy::judged(atom, bits, tv, tiler)?)
    }

    pub(crate) const fn judged(atom: CopyAtom, bits: u32, tv: &Lay, tiler: Tiles) -> Fit<TiledCopy> {
        let copy = TiledCopy { atom, bits, tv: *tv, tiler };
        let [_, _, reference] = tri!(copy.atom_layouts());
        let mut with = values(&atom, " of values of ", bits);
        let accepted = if tv.rank() != 2 {
            "a layout (Thr,Val)"
        } else if !tri!(divides(&reference, tv, 0)) {
            "threads that the atom's threads divide"
        } else if !tri!(divides(&reference, tv, 1)) {
            "values that the atom's values divide"
        } else {
            let (mut tile, mut mode) = (1i64, 0);
            while mode < tiler.len() {
                tile = tile.saturating_mul(tri!(misfit::tile_size("TiledCopy", &tiler, mode)));
                mode += 1;
            }
            if known!(tv.min_index()) >= 0 && known!(tv.max_index()) < tile {
                return Ok(copy);
            }
            with = words(&[
                Word::Text("a tile of "),
                Word::Number(tile),
                Word::Text(" elements, "),
                Word::Tiler(&tiler),
            ]);
            "(Thr,Val) with indices inside the tile"
        };
        Err(Misfit::Mismatch { what: "TiledCopy", operand: Subject::Lay(*tv), with, accepted })
    }

    /// The atom's `(Thr,Val) -> value` of source, destination and reference. For an auto-vectorizing copy, which finds its width itself,
    /// they are of single values.
    pub(crate) const fn atom_layouts(&self) -> Fit<[Lay; 3]> {
        let CopyAtom { op, src, dst, reference, .. } = self.atom;
        if matches!(op, crate::atom::CopyOp::AutoVectorizing) {
            return Ok([lay!("(1,1):(0,0)"); 3]);
        }
        let bits = self.bits as i64;
        match (whole_values(&src, bits), whole_values(&dst, bits), whole_values(&reference, bits)) {
            (Some(src), Some(dst), Some(reference)) => Ok([src, dst, reference]),
            _ => Err(Misfit::Mismatch {
                what: "TiledCopy",
                operand: Subject::Lay(reference),
                with: values(&self.atom, ", values of ", self.bits),
                accepted: "values that the atom's pieces hold whole",
            }),
        }
    }

    /// The tile's extents, a number for each mode.
    ///
    /// # Errors
    /// There are none for a value that a constructor has made.
    pub fn extents(&self) -> Result<Vec<i64>, Error> {
        (0..self.tiler.len()).map(|mode| Ok(misfit::tile_size("TiledCopy", &self.tiler, mode)?)).collect()
    }

    /// How many threads take part.
    ///
    /// # Errors
    /// There are none for a value that a constructor has made.
    pub fn threads(&self) -> Result<i64, Error> {
        static_size("TiledCopy", &self.tv.mode(0)?)
    }

    /// The part of the copy that `thread` does (CuTe's `get_slice`).
    ///
    /// # Errors
    /// [`Error::Tensor`] for a thread that is known not to belong to the copy, [`Error::Threads`] for an index whose range is not inside of
    /// `0..threads`: the thread index of a block that has more threads than the copy. Where a condition leaves the others out,
    /// [`Builder::bounded`](crate::Builder::bounded) says so inside of it.
    pub fn get_slice<I: Index>(&self, thread: &I) -> Result<ThrCopy<I>, Error> {
        thread.check(&self.tv.mode(0)?)?;
        check_thread("TiledCopy", thread, self.threads()?)?;
        Ok(ThrCopy::new(*self, thread.clone()))
    }

    /// The source's layout by thread and value, `((Thr,(Val,RestVal)),(RestM,RestN,...))`: `Val` are the values of one instruction, and
    /// `RestVal` counts the instructions within the tile (CuTe's `tidfrg_S`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the tile does not divide the layout's first modes.
    pub fn tidfrg_s(&self, layout: &Lay) -> Result<Lay, Error> {
        Ok(self.tidfrg(Side::Source, layout)?)
    }

    /// The destination's layout by thread and value (CuTe's `tidfrg_D`).
    ///
    /// # Errors
    /// As [`TiledCopy::tidfrg_s`].
    pub fn tidfrg_d(&self, layout: &Lay) -> Result<Lay, Error> {
        Ok(self.tidfrg(Side::Destination, layout)?)
    }

    pub(crate) const fn tidfrg(&self, side: Side, layout: &Lay) -> Fit<Lay> {
        // A layout of one leaf becomes one of rank 1.
        let layout = if layout.is_leaf() { known!(Lay::concat(&[*layout])) } else { *layout };
        let mut mode = 0;
        while mode < self.tiler.len() {
            let tile = tri!(misfit::tile_size("TiledCopy", &self.tiler, mode));
            let whole = mode < layout.rank()
                && matches!(known!(known!(layout.mode(mode)).size()).is_divisible_by(tile), Some(true));
            if !whole {
                return Err(Misfit::Mismatch {
                    what: "partition",
                    operand: Subject::Lay(layout),
                    with: words(&[Word::Text("the copy's tile "), Word::Sizes(&self.tiler)]),
                    accepted: "extents that the tile divides",
                });
            }
            mode += 1;
        }
        let tiled = known!(layout.zipped_divide(&Tiler::Modes(self.tiler))); // ((TileM,TileN),(RestM,RestN,...))
        Ok(known!(tiled.composition_by(&[Tile::Lay(tri!(self.tv_of_side(side))), Tile::All])))
    }

    /// (Thr,(Val,RestVal)) -> index in the tile, for one side: `tv`, which is the reference's layout, composed with what the atom
    /// does between the reference and this side.
    const fn tv_of_side(&self, side: Side) -> Fit<Lay> {
        let [src, dst, reference] = tri!(self.atom_layouts());
        let target = if matches!(side, Side::Source) { src } else { dst };
        let threads = tri!(misfit::size("TiledCopy", &known!(reference.mode(0))));
        let values = tri!(misfit::size("TiledCopy", &known!(reference.mode(1))));
        let to_target = known!(known!(reference.right_inverse()).composition(&target)); // (Thr,Val) -> the reference's
        let atoms = known!(self.tv.zipped_divide(&tri!(misfit::shape_tiler([threads, values])))); // ((Thr,Val),(RestThr,RestVal))
        let atoms = known!(atoms.composition_by(&[Tile::Lay(to_target), Tile::All]));
        let (own, rest) = (known!(atoms.mode(0)), known!(atoms.mode(1)));
        let threads = known!(Lay::concat(&[known!(own.mode(0)), known!(rest.mode(0))])).coalesce();
        let values = [known!(own.mode(1)).coalesce(), known!(rest.mode(1)).coalesce()];
        Ok(known!(Lay::concat(&[threads, known!(Lay::concat(&values))])))
    }

    /// `(Thr,Val) -> index` of the source in a tile of these extents, where the repetitions of the copy in the tile are among the
    /// values (CuTe's `get_layoutS_TV` for the copy's own tile).
    ///
    /// # Errors
    /// As [`TiledCopy::tidfrg_s`].
    pub fn layout_s_tv(&self, extents: &[i64]) -> Result<Lay, Error> {
        self.layout_tv(Side::Source, extents)
    }

    /// `(Thr,Val) -> index` of the destination in a tile of these extents (CuTe's `get_layoutD_TV`).
    ///
    /// # Errors
    /// As [`TiledCopy::tidfrg_d`].
    pub fn layout_d_tv(&self, extents: &[i64]) -> Result<Lay, Error> {
        self.layout_tv(Side::Destination, extents)
    }

    fn layout_tv(&self, side: Side, extents: &[i64]) -> Result<Lay, Error> {
        let extents: Vec<Int> = extents.iter().map(|&n| Int::fixed(n)).collect();
        let frg = self.tidfrg(side, &Lay::left(&Shape::flat(&extents)?)?)?; // ((Thr,Val),Rest)
        let (threads, values) = (frg.mode(0)?.mode(0)?, frg.mode(0)?.mode(1)?);
        let values = Lay::concat(&[values, frg.mode(1)?])?.coalesce();
        Ok(Lay::concat(&[threads, values])?)
    }
}

/// The words for an atom and its values of `bits` bits.
const fn values(atom: &CopyAtom, of: &str, bits: u32) -> Message {
    words(&[Word::Copy(atom), Word::Text(of), Word::Number(bits as i64), Word::Text(" bits")])
}

/// Whether the size of mode `mode` of an atom's layout divides the size of that mode of the whole layout.
const fn divides(own: &Lay, all: &Lay, mode: usize) -> Fit<bool> {
    let own = tri!(misfit::size("TiledCopy", &known!(own.mode(mode))));
    let all = tri!(misfit::size("TiledCopy", &known!(all.mode(mode))));
    Ok(all % own == 0)
}

/// A side of an atom in values instead of bits. The piece of every thread must be whole values, and the bits of every value must
/// belong to one thread.
const fn whole_values(side: &Lay, bits: i64) -> Option<Lay> {
    let Ok(whole) = side.upcast(bits) else { return None };
    let (Ok(threads), Ok(all_threads)) = (whole.mode(0), side.mode(0)) else { return None };
    let (Ok(values), Ok(all_bits)) = (whole.mode(1), side.mode(1)) else { return None };
    let sizes = [known_size(&threads), known_size(&all_threads), known_size(&values), known_size(&all_bits)];
    match sizes {
        [Some(t), Some(u), Some(v), Some(b)] if t == u && v * bits == b => Some(whole),
        _ => None,
    }
}

const fn known_size(layout: &Lay) -> Option<i64> {
    match layout.size() {
        Ok(size) => size.get(),
        Err(_) => None,
    }
}

/// The copy of a tile of `extents` whose mode `contiguous` has stride 1 in memory. Each thread takes `vector` elements along this mode,
/// neighbouring threads take neighbouring vectors (full sectors), and the other threads go along the other mode.
///
/// # Errors
/// [`Error::Mismatch`] if no arrangement of the threads divides the tile.
pub(crate) fn coalesced(
    atom: CopyAtom,
    threads: i64,
    extents: [i64; 2],
    contiguous: usize,
    vector: i64,
) -> Result<TiledCopy, Error> {
    let mismatch = |accepted| Error::Mismatch {
        what: "coalesced copy",
        layout: format!("a tile of ({},{}) in vectors of {vector}", extents[0], extents[1]),
        with: format!("{threads} threads"),
        accepted,
    };
    let (row, rows) = (extents[contiguous], extents[1 - contiguous]);
    if !(1..=1024).contains(&threads) || row < 1 || rows < 1 {
        return Err(mismatch("1 to 1024 threads and positive extents"));
    }
    if vector < 1 || row % vector != 0 {
        return Err(mismatch("a contiguous extent that the vector divides"));
    }
    // The longest rows of threads that divide the vectors of a row, such that the number of these rows divides the tile's rows.
    let fits =
        |along: &i64| threads % along == 0 && (row / vector) % along == 0 && rows % (threads / along) == 0;
    let along = (1..=(row / vector).min(threads)).rev().find(fits);
    let along = along.ok_or_else(|| {
        mismatch("rows of threads that divide the vectors of a row and the rows of the tile")
    })?;
    let across = threads / along;
    let by_mode = |x: i64, y: i64| if contiguous == 1 { [y, x] } else { [x, y] };
    let thr = Lay::strided(by_mode(along, across), by_mode(1, along))?; // (ThrM,ThrN) -> thread
    let val = Lay::strided(by_mode(vector, 1), by_mode(1, vector))?; // (ValM,ValN) -> value
    TiledCopy::new(atom, atom.bits() / narrow::<u32>("vector", vector)?, &thr, &val)
}
