//! TMA copies: the tensor map and the boxes for a tile follow from the layouts of both sides (CuTe's `make_tma_copy`).

use girih_layout::{Int, Lay, Shape, Stride, Swizzle, Symbol, Tile, Tiles, lay};
use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
use girih_tensor::{DType, Tensor};

use crate::algorithm::CopyWith;
use crate::atom::{CopyAtom, Transfer, tensor_element, tensor_swizzle};
use crate::sizes::{extent, static_size};
use crate::{Counting, Error, Expr, Smem, TiledCopy};

/// The most dimensions of a tensor map, and the most elements of a box along one of them.
const RANK: usize = 5;
const BOX: i64 = 256;
/// The number of bytes of which a box's rows are a multiple.
const LINE: i64 = 16;
/// The number of bytes of which a box's address in shared memory is a multiple.
const ALIGN: i64 = 128;

/// A TMA copy of tiles: the boxes that one thread moves, and what the tensor map says.
///
/// The tensor in global memory has one mode for each dimension of the map, in any order; shapes and strides may be
/// symbolic until [`TmaCopy::tiled`].
///
/// A store writes whole units of 16 bytes: where the tensor's contiguous mode ends inside a unit, a GPU overwrites the bytes after its end, as the
/// simulator does. [`TmaCopy::tiled`] therefore refuses to store such a tensor; loads take any extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaCopy {
    copy: TiledCopy,
    global: Lay,
    element: TensorElement,
    /// The modes of the tensor in the order of the map's dimensions, and the box along each.
    dims: Vec<usize>,
    extents: Vec<u32>,
    swizzle: TensorSwizzle,
    /// Whether the copy writes global memory.
    stores: bool,
}

impl TmaCopy {
    /// The copy between a tensor of `dtype` and its tiles. The tensor is in global memory as `global` says, a tile in shared memory
    /// as `swizzle` after `shared` says. The stride of a mode of one element does not count: it may be any number. A box is the longest contiguous piece of a tile in shared memory that is a box of the
    /// tensor; [`TmaCopy::copy`] repeats the box over the tile.
    ///
    /// # Errors
    /// [`Error::Mismatch`] where no tensor map can say this: a tensor of more than 5 modes or without one of stride 1 or of one element, tiles
    /// with holes in shared memory or whose first elements do not follow the tensor's contiguous mode in whole 16 bytes,
    /// another swizzle than those of 32, 64 and 128 bytes; [`Error::NotStatic`] for symbolic tiles.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{TmaCopy, atom::Transfer};
    /// use girih_layout::{Swizzle, lay};
    /// use girih_ptx::TensorSwizzle;
    /// use girih_tensor::{DType, Tensor};
    ///
    /// // Tiles of 128 x 64 of a row-major matrix, rows of 128 bytes in shared memory with the swizzle of 128 bytes.
    /// let matrix = lay!("(1000,4096):(4096,1)");
    /// let tma = TmaCopy::new(Transfer::Load, DType::Bf16, &matrix, &lay!("(128,64):(64,1)"), Swizzle::new(3, 3, 3)?)?;
    /// let tiled = tma.tiled()?;
    /// assert_eq!((&tiled.dims[..], &tiled.extents[..], &tiled.strides[..]), (&[4096, 1000][..], &[64, 128][..], &[8192][..]));
    /// assert_eq!(tiled.swizzle, TensorSwizzle::B128);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        transfer: Transfer,
        dtype: DType,
        global: &Lay,
        shared: &Lay,
        swizzle: Swizzle,
    ) -> Result<TmaCopy, Error> {
        let mismatch = |accepted| Error::Mismatch {
            what: "tensor copy",
            layout: global.to_string(),
            with: format!("{swizzle} o {shared} of {dtype}"),
            accepted,
        };
        let element = tensor_element(dtype).ok_or_else(|| mismatch("elements of 1 to 8 whole bytes"))?;
        if matches!(transfer, Transfer::Reduce(op) if op.ty(dtype).is_none()) {
            return Err(mismatch(
                "a dtype that the reduction combines: `CopyAtom::bulk_reduce` has the same",
            ));
        }
        let bytes = i64::from(element.bytes());
        let global = if global.is_leaf() { Lay::concat(&[*global])? } else { *global };
        let shared = if shared.is_leaf() { Lay::concat(&[*shared])? } else { *shared };
        let rank = global.rank();
        if rank > RANK || global.leaf_count() != rank || shared.rank() != rank {
            return Err(mismatch("1 to 5 modes of one extent and stride each, and a tile with as many"));
        }
        // A mode of one element has no stride. Where all others have one above 1, its own may be taken for 1.
        let steps = |mode: &usize| !global.flat_leaf(*mode).0.is(1);
        let follows = |mode: &usize| matches!(global.flat_leaf(*mode).1, Stride::Int(d) if d.is(1));
        let contiguous = (0..rank).find(|mode| steps(mode) && follows(mode));
        let contiguous = contiguous.or_else(|| (0..rank).find(|mode| !steps(mode)));
        let contiguous = contiguous.ok_or_else(|| mismatch("a tensor with a mode of stride 1"))?;
        let span = tensor_swizzle(swizzle, bytes)
            .ok_or_else(|| mismatch("swizzles of 32, 64 or 128 bytes, or none"))?;
        let size = static_size("tensor copy", &shared)?;
        let order = shared.right_inverse()?; // shared memory's index -> index in the tile
        if static_size("tensor copy", &order)? != size {
            return Err(mismatch("tiles without holes in shared memory"));
        }
        let pieces = counted(shared.shape())?.composition(&order)?; // shared memory's index -> coordinate
        let piece = largest_box(&pieces, contiguous, bytes, span.span()).ok_or_else(|| {
            mismatch(
                "tiles whose first elements in shared memory follow the contiguous mode in whole 16 bytes",
            )
        })?;
        let mut dims: Vec<usize> = piece.iter().map(|(mode, _)| *mode).collect();
        dims.extend((0..rank).filter(|mode| !piece.iter().any(|(known, _)| known == mode)));
        let box_size: i64 = piece.iter().map(|(_, extent)| extent).product();
        let mut extents: Vec<u32> = piece.iter().map(|&(_, extent)| extent as u32).collect();
        extents.resize(rank, 1);
        let row = piece.first().map_or(0, |(_, row)| row * bytes);
        if span.span().is_some_and(|span| row != i64::from(span)) {
            return Err(mismatch("rows in shared memory that are as long as the swizzle, which pads others"));
        }
        if box_size < size && box_size * bytes % ALIGN != 0 {
            return Err(mismatch("boxes of whole 128 bytes where a tile takes several"));
        }
        let bits = dtype.bits();
        let atom = CopyAtom::tma(transfer, rank as u32, box_size * i64::from(bits))?;
        let tiles =
            (0..rank).map(|mode| Ok(Tile::Lay(extent(static_size("tensor copy", &shared.mode(mode)?)?)?)));
        let tiles = Tiles::new(&tiles.collect::<Result<Vec<_>, Error>>()?)?;
        let copy = TiledCopy::from_tv(atom, bits, &Lay::concat(&[lay!("1:0"), order])?, tiles)?;
        let stores = matches!(transfer, Transfer::Store | Transfer::Reduce(_));
        Ok(TmaCopy { copy, global, element, dims, extents, swizzle: span, stores })
    }

    /// The coordinates of the whole tensor, which a TMA copy takes in the place of global memory (CuTe's `get_tma_tensor`).
    ///
    /// # Errors
    /// Those of [`Lay::identity`].
    pub fn tma_tensor(&self) -> Result<Tensor<Counting>, Error> {
        Ok(Tensor::new(Counting::new(self.global.rank()), Lay::identity(self.global.shape())?))
    }

    /// The copy of the boxes of a tile by one thread. Its source and destination are the tensor's coordinates (an identity tensor
    /// of the tensor's shape) and shared memory.
    pub fn copy(&self) -> &TiledCopy {
        &self.copy
    }

    /// The boxes of a tile: of the coordinates `global`, and of shared memory (CuTe's `tma_partition`). Both are (Box,RestX,RestY,...), and modes
    /// after the tile's, such as tiles along K and stages, are kept.
    ///
    /// # Errors
    /// As [`ThrCopy::partition_s`](crate::ThrCopy::partition_s).
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Smem, TmaCopy, atom::Transfer};
    /// use girih_layout::{Swizzle, lay, tiler};
    /// use girih_tensor::{DType, Slice};
    ///
    /// let mut b = Builder::new("k", 90, 128);
    /// let swizzle = Swizzle::new(3, 3, 3)?;
    /// let stages = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &lay!("(128,64,4):(64,1,8192)"))?;
    /// let tma = TmaCopy::new(Transfer::Load, DType::Bf16, &lay!("(1024,512):(512,1)"), &lay!("(128,64):(64,1)"), swizzle)?;
    /// let tiles = tma.tma_tensor()?.local_tile(&tiler!("<128,64>"), (Slice::at(3), Slice::All))?; // (BlockX,BlockK,k)
    /// let (global, shared) = tma.partition(&tiles, &stages)?; // (Box,1,1,k) and (Box,1,1,Stage)
    /// assert_eq!((global.layout().rank(), shared.layout().mode(3)?), (4, lay!("4:8192")));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn partition(
        &self,
        global: &Tensor<Counting>,
        shared: &Tensor<Smem>,
    ) -> Result<(Tensor<Counting>, Tensor<Smem>), Error> {
        let one = self.copy.get_slice(&Expr::from(0))?;
        match self.stores {
            true => Ok((one.partition_d(global)?, one.partition_s(shared)?)),
            false => Ok((one.partition_s(global)?, one.partition_d(shared)?)),
        }
    }

    /// The modes of the tensor in the order of the map's dimensions, the innermost first, and the elements of a box along each.
    pub fn boxes(&self) -> impl ExactSizeIterator<Item = (usize, u32)> {
        self.dims.iter().copied().zip(self.extents.iter().copied())
    }

    /// The instruction with the address of the tensor map; loads also need an mbarrier.
    pub fn with(&self, map: &Expr) -> CopyWith {
        CopyWith::from(&self.copy).tensor(map, &self.dims, self.swizzle)
    }

    /// The copy with a symbol's value put into the tensor's shape and strides.
    ///
    /// # Errors
    /// [`Error::Layout`] if the symbol cannot have the value.
    pub fn bind(&self, symbol: Symbol, value: i64) -> Result<TmaCopy, Error> {
        Ok(TmaCopy { global: self.global.bind(symbol, value)?, ..self.clone() })
    }

    /// The fields of the tensor map without the address: dimensions innermost first, strides in bytes.
    ///
    /// # Errors
    /// [`Error::NotStatic`] if symbols of the tensor have no values yet; [`Error::Mismatch`] for a copy that stores and a contiguous mode of no
    /// whole 16 bytes.
    pub fn tiled(&self) -> Result<Tiled, Error> {
        let not_static = || Error::NotStatic { what: "a tensor map", layout: self.global.to_string() };
        let number = |int: Int| int.get().and_then(|n| u64::try_from(n).ok()).ok_or_else(not_static);
        let (mut dims, mut strides) = (Vec::new(), Vec::new());
        for (i, &mode) in self.dims.iter().enumerate() {
            let (extent, stride) = self.global.flat_leaf(mode);
            dims.push(number(extent)?);
            if i > 0 && extent.is(1) {
                // A mode of one element has no stride, but the map's field is a multiple of 16 bytes.
                strides.push(LINE.unsigned_abs());
            } else if i > 0 {
                strides.push(number(stride.int().ok_or_else(not_static)?)? * u64::from(self.element.bytes()));
            }
        }
        if self.stores && (dims[0] * u64::from(self.element.bytes())) % LINE.unsigned_abs() != 0 {
            let accepted = "a contiguous mode of whole 16 bytes, since stores write units of 16 bytes, and overwrite what is behind the end of another";
            let with = format!("stores of {:?}", self.element);
            return Err(Error::Mismatch {
                what: "tensor copy",
                layout: self.global.to_string(),
                with,
                accepted,
            });
        }
        let tiled = Tiled::new(self.element, &dims, &self.extents);
        Ok(tiled.with_strides(&strides).with_swizzle(self.swizzle))
    }
}

/// The layout that maps each coordinate to its positions in the modes of the shape, where a nested mode counts leftmost first.
fn counted(shape: &Shape) -> Result<Lay, Error> {
    let modes = (0..shape.rank()).map(|mode| shape.mode(mode)).collect::<Result<Vec<_>, _>>()?;
    let sizes = modes.iter().map(Shape::size).collect::<Result<Vec<_>, _>>()?;
    let counts =
        modes.iter().map(|mode| Ok(Tile::Lay(Lay::left(mode)?))).collect::<Result<Vec<_>, Error>>()?;
    Ok(Lay::identity(&Shape::flat(&sizes)?)?.composition_by(&counts)?)
}

/// The modes along which a box goes, with the box's extents: the longest beginning of `pieces` that goes along each mode once.
fn largest_box(pieces: &Lay, contiguous: usize, bytes: i64, span: Option<u32>) -> Option<Vec<(usize, i64)>> {
    let mut found: Vec<(usize, i64)> = Vec::new();
    for leaf in 0..pieces.leaf_count() {
        let (shape, stride) = pieces.flat_leaf(leaf);
        let (n, Stride::Basis { scale, mode }) = (shape.get()?, stride) else {
            // A mode of one element.
            if shape.is(1) {
                continue;
            }
            return None;
        };
        if n == 1 {
            continue;
        }
        let mode = mode.only()?;
        let first = found.is_empty();
        if !scale.is(1) || found.iter().any(|(known, _)| *known == mode) || first && mode != contiguous {
            break;
        }
        let most = if first { span.map_or(BOX, |span| i64::from(span) / bytes).min(BOX) } else { BOX };
        let along = (1..=most.min(n)).rev().find(|along| n % along == 0)?;
        found.push((mode, along));
        if along < n {
            break;
        }
    }
    let (_, row) = found.first()?;
    (row * bytes % LINE == 0).then_some(found)
}
