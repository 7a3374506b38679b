//! TiledCopy: a copy atom spread over threads and values (CuTe's `make_tiled_copy`).

use girih_layout::{Int, Lay, Shape, Stride, Tile, Tiler, Tiles, lay};
use girih_tensor::{Engine, Slice, Tensor};

use crate::atom::CopyAtom;
use crate::expr::Expr;
use crate::{Error, engine};

/// `n:1`
pub(crate) fn extent(n: i64) -> Result<Lay, Error> {
    Ok(Lay::leaf(Int::fixed(n), Stride::Int(Int::fixed(1)))?)
}

/// `<n0:1,n1:1,...>`
pub(crate) fn shape_tiler(extents: &[i64]) -> Result<Tiler, Error> {
    let tiles = extents.iter().map(|&n| extent(n).map(Tile::Lay)).collect::<Result<Vec<_>, _>>()?;
    Ok(Tiler::Modes(Tiles::new(&tiles)?))
}

/// A constant layout's size.
pub(crate) fn static_size(what: &'static str, lay: &Lay) -> Result<i64, Error> {
    lay.size()?.get().ok_or_else(|| Error::NotStatic { what, layout: lay.to_string() })
}

/// Whether a constant layout is a bijection onto the indices below its size.
pub(crate) fn is_bijective(what: &'static str, lay: &Lay) -> Result<bool, Error> {
    Ok(static_size(what, &lay.right_inverse()?)? == static_size(what, lay)?)
}

/// A copy by several threads, each with several values of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiledCopy {
    /// The instruction.
    pub atom: CopyAtom,
    /// (Thr,Val) -> index in the tile.
    pub tv: Lay,
    /// The tile's extents.
    pub tile: [i64; 2],
}

impl TiledCopy {
    /// Threads arranged as `threads` (a layout from the tile's thread coordinate to the thread's number), each with
    /// a block of values arranged as `values`.
    ///
    /// # Errors
    /// [`Error::Layout`] if the two do not multiply, [`Error::Mismatch`] if they are not matrices.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{TiledCopy, atom::UNIVERSAL_COPY_128};
    /// use girih_layout::lay;
    ///
    /// // 32 x 4 threads, each with 8 values along the rows: a tile of 32 x 32.
    /// let copy = TiledCopy::new(UNIVERSAL_COPY_128, &lay!("(32,4):(4,1)"), &lay!("(1,8):(8,1)"))?;
    /// assert_eq!(copy.tile, [32, 32]);
    /// assert_eq!(copy.tv.to_string(), "((4,32),8):((256,1),32)");
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn new(atom: CopyAtom, threads: &Lay, values: &Lay) -> Result<TiledCopy, Error> {
        if threads.rank() != 2 || values.rank() != 2 {
            return Err(Error::Mismatch {
                what: "TiledCopy",
                layout: threads.to_string(),
                with: values.to_string(),
                accepted: "a thread layout and a value layout of rank 2",
            });
        }
        let layout_mn = threads.raked_product(values)?; // (M,N) -> (thr,val)
        let thr = static_size("TiledCopy", threads)?;
        let val = static_size("TiledCopy", values)?;
        let shape = Shape::flat(&[Int::fixed(thr), Int::fixed(val)])?;
        let tv = layout_mn.right_inverse()?.composition(&Lay::left(&shape)?)?; // (Thr,Val) -> index in (M,N)
        let size = |i: usize| static_size("TiledCopy", &layout_mn.mode(i)?);
        Ok(TiledCopy { atom, tv, tile: [size(0)?, size(1)?] })
    }

    /// The layout seen by thread and value: `((Thr,Val),(RestM,RestN,...))` (CuTe's `tidfrg_S` and `tidfrg_D`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the tile does not divide the layout's first two modes.
    pub fn thrfrg(&self, layout: &Lay) -> Result<Lay, Error> {
        for (i, &tile) in self.tile.iter().enumerate() {
            if static_size("partition", &layout.mode(i)?)? % tile != 0 {
                return Err(Error::Mismatch {
                    what: "partition",
                    layout: layout.to_string(),
                    with: format!("the copy's tile ({},{})", self.tile[0], self.tile[1]),
                    accepted: "extents that the tile divides",
                });
            }
        }
        let tiled = layout.zipped_divide(&shape_tiler(&self.tile)?)?; // ((TileM,TileN),(RestM,RestN,...))
        Ok(tiled.composition_by(&[Tile::Lay(self.tv), Tile::All])?) // ((Thr,Val),(RestM,RestN,...))
    }

    /// `(Thr,Val) -> index` in a tile of these extents, what the copy repeats there among the values.
    ///
    /// # Errors
    /// As [`TiledCopy::thrfrg`].
    pub fn tv_of(&self, extents: [i64; 2]) -> Result<Lay, Error> {
        let tile = Lay::left(&Shape::flat(&extents.map(Int::fixed))?)?;
        let frg = self.thrfrg(&tile)?; // ((Thr,Val),(RestM,RestN))
        let (thr, val) = (frg.mode(0)?.mode(0)?, frg.mode(0)?.mode(1)?);
        Ok(Lay::concat(&[thr, Lay::concat(&[val, frg.mode(1)?])?])?) // (Thr,(Val,(RestM,RestN)))
    }

    /// What `thread` copies of a tensor whose first two modes the tile divides: `(Val,RestM,RestN,...)`
    /// (CuTe's `partition_S` and `partition_D`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the tile does not divide the tensor's first two modes.
    pub fn partition<E: Engine<Index = Expr>>(
        &self,
        tensor: &Tensor<E>,
        thread: &Expr,
    ) -> Result<Tensor<E>, Error> {
        let tv = Tensor::new(tensor.engine().clone(), self.thrfrg(tensor.layout())?); // ((Thr,Val),(RestM,RestN,...))
        let mine = Slice::tuple([Slice::tuple([Slice::At(thread.clone()), Slice::All]), Slice::All]);
        engine::unpack_rest(&tv.slice(&mine)?) // (Val,RestM,RestN,...)
    }

    /// How many threads take part.
    ///
    /// # Errors
    /// None for a value made by [`TiledCopy::new`].
    pub fn threads(&self) -> Result<i64, Error> {
        static_size("TiledCopy", &self.tv.mode(0)?)
    }
}

/// Threads over an `extents` tile whose mode `contiguous` has stride 1 in memory: each takes `vector` elements along
/// it, neighbours take neighbouring vectors (full sectors), the rest of the threads the other mode.
///
/// # Errors
/// [`Error::Mismatch`] if the vectors of a row do not divide the threads, or the threads' rows the tile.
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
    let along = (row / vector).min(threads);
    if threads % along != 0 || rows % (threads / along) != 0 || (row / vector) % along != 0 {
        return Err(mismatch(
            "vectors of a row that divide the threads, and rows of threads that divide the tile",
        ));
    }
    let across = threads / along;
    let by_mode = |x: i64, y: i64| if contiguous == 1 { [y, x] } else { [x, y] };
    let layout = |shape: [i64; 2], stride: [i64; 2]| {
        let text = format!("({},{}):({},{})", shape[0], shape[1], stride[0], stride[1]);
        Lay::parse(&text)
    };
    let thr = layout(by_mode(along, across), by_mode(1, along))?; // (ThrM,ThrN) -> thread
    let val = layout(by_mode(vector, 1), by_mode(1, vector))?; // (ValM,ValN) -> value
    TiledCopy::new(atom, &thr, &val)
}

/// The layout with one value.
pub(crate) const ONE: Lay = lay!("1:0");
