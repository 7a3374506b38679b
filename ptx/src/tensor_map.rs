//! Tensor maps: the description of a tensor in global memory, and of the box of it that a TMA copy moves.
//!
//! A map describes `rank` dimensions, innermost first. Dimension 0 is contiguous; the others have strides in bytes.
//! An instruction moves one box of the tensor, whose first element has the instruction's coordinates; elements of the
//! box outside the tensor read as zero or NaN and are not written (PTX ISA, "Tensor"; CUDA driver API,
//! `cuTensorMapEncodeTiled`).
//!
//! A [`Tiled`] is the description without an address; [`Tiled::at`] checks the description and gives a [`TensorMap`]. A
//! GPU gets the driver's encoding of a map; [`TensorMap::to_bytes`] is the encoding that girih's simulator reads. Both
//! are 128 bytes, passed as `.param .align 64 .b8 map[128]` or put into global or constant memory.

mod choices;
mod columns;
mod field;

use crate::Error;

pub use choices::{Interleave, L2Promotion, OobFill, TensorElement, TensorSwizzle};
pub use columns::Columns;
pub use field::TensorField;

/// Bytes of an encoded tensor map.
pub const TENSOR_MAP_BYTES: usize = 128;
/// The most dimensions of a tensor map.
pub const TENSOR_MAP_RANK: usize = 5;
/// The most bytes that a box may take in shared memory: all the shared memory of an SM of Hopper.
const BOX_LIMIT: u64 = 228 << 10;

/// A tensor's shape and the box of it that an instruction moves: everything of a tensor map but the address.
///
/// ```
/// use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
/// // A row-major 100 x 72 matrix of bf16, read in boxes of 16 rows of 64 elements.
/// let tiled = Tiled::new(TensorElement::Bf16, &[72, 100], &[64, 16]).with_swizzle(TensorSwizzle::B128);
/// assert_eq!(tiled.strides, [144]);
/// let map = tiled.at(0x1000)?;
/// assert_eq!(map.box_bytes(), 16 * 128);
/// # Ok::<(), girih_ptx::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiled {
    /// Type of the elements.
    pub element: TensorElement,
    /// Elements along each dimension, innermost first; 1 to 2^32 each.
    pub dims: Vec<u64>,
    /// Bytes from an element to the next along dimensions 1 and up; multiples of 16 below 2^40.
    pub strides: Vec<u64>,
    /// Elements of the box along each dimension, 1 to 256 each.
    pub extents: Vec<u32>,
    /// Along each dimension, the step from one moved element of the box to the next, 1 to 8. The step of dimension 0
    /// has no effect.
    pub element_strides: Vec<u32>,
    /// Must be [`Interleave::None`].
    pub interleave: Interleave,
    /// How the box is laid out in shared memory.
    pub swizzle: TensorSwizzle,
    /// A hint for the cache.
    pub l2_promotion: L2Promotion,
    /// The value of elements outside of the tensor.
    pub fill: OobFill,
    /// For im2col copies, where columns of pixels begin and end; [`extents`](Tiled::extents) then are the channels of a
    /// pixel and the pixels of a column.
    pub columns: Option<Columns>,
}

impl Tiled {
    /// A packed tensor: dimension `i + 1` goes on where dimension `i` ends. Every element of the box is moved, with no
    /// swizzle and zeros outside of the tensor.
    pub fn new(element: TensorElement, dims: &[u64], extents: &[u32]) -> Tiled {
        let mut strides = Vec::new();
        let mut stride = u64::from(element.bytes());
        for &dim in dims.iter().take(dims.len().saturating_sub(1)) {
            stride = stride.saturating_mul(dim);
            strides.push(stride);
        }
        Tiled {
            element,
            dims: dims.into(),
            strides,
            extents: extents.into(),
            element_strides: vec![1; dims.len()],
            ..Tiled::default()
        }
    }

    /// A packed tensor for im2col copies, with columns of `pixels` pixels of `channels` channels. The tensor's
    /// dimensions are the channels, one to three dimensions of pixels, and the images.
    ///
    /// ```
    /// use girih_ptx::{Columns, TensorElement, Tiled};
    /// // Two images of 10 x 8 pixels of 64 channels, seen by a 3 x 3 filter with a border of one pixel.
    /// let columns = Columns { lower: vec![-1, -1], upper: vec![-1, -1] };
    /// let map = Tiled::im2col(TensorElement::F16, &[64, 8, 10, 2], [64, 32], columns).at(0x1000)?;
    /// assert_eq!(map.box_bytes(), 32 * 128);
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn im2col(
        element: TensorElement,
        dims: &[u64],
        [channels, pixels]: [u32; 2],
        columns: Columns,
    ) -> Tiled {
        Tiled { columns: Some(columns), ..Tiled::new(element, dims, &[channels, pixels]) }
    }

    /// The same with other strides, in bytes, of dimensions 1 and up.
    pub fn with_strides(self, strides: &[u64]) -> Tiled {
        Tiled { strides: strides.into(), ..self }
    }

    /// The same with other [`element_strides`](Tiled::element_strides).
    pub fn with_element_strides(self, element_strides: &[u32]) -> Tiled {
        Tiled { element_strides: element_strides.into(), ..self }
    }

    /// The same with another swizzle.
    pub fn with_swizzle(self, swizzle: TensorSwizzle) -> Tiled {
        Tiled { swizzle, ..self }
    }

    /// The same with another hint for the cache.
    pub fn with_l2_promotion(self, l2_promotion: L2Promotion) -> Tiled {
        Tiled { l2_promotion, ..self }
    }

    /// The same with another value of elements outside of the tensor.
    pub fn with_fill(self, fill: OobFill) -> Tiled {
        Tiled { fill, ..self }
    }

    /// The tensor map of the tensor at a global address.
    ///
    /// # Errors
    /// [`Error::TensorMap`] for the first field that `cuTensorMapEncodeTiled`, or with columns `cuTensorMapEncodeIm2col`, does
    /// not accept on Hopper.
    pub fn at(&self, address: u64) -> Result<TensorMap, Error> {
        self.check(address)?;
        Ok(TensorMap { address, tiled: self.clone() })
    }

    /// Bytes from the start of the tensor's first element to the end of its last; `None` if the number overflows 64
    /// bits, or if a dimension has no stride.
    pub fn tensor_bytes(&self) -> Option<u64> {
        let mut last = self.dims.first()?.checked_mul(self.element.bytes().into())?;
        for (i, dim) in self.dims.iter().enumerate().skip(1) {
            last = last.checked_add(dim.checked_sub(1)?.checked_mul(*self.strides.get(i - 1)?)?)?;
        }
        Some(last)
    }

    fn check(&self, address: u64) -> Result<(), Error> {
        let rank = self.dims.len();
        bounds("the rank", rank as u64, 1..=TENSOR_MAP_RANK as u64)?;
        for (field, len, expected) in [
            ("the number of strides", self.strides.len(), rank - 1),
            (
                "the number of extents of the box",
                self.extents.len(),
                self.columns.as_ref().map_or(rank, |_| 2),
            ),
            ("the number of element strides", self.element_strides.len(), rank),
        ] {
            bounds(field, len as u64, expected as u64..=expected as u64)?;
        }
        if self.interleave != Interleave::None {
            let accepted = "0, which is none: interleaved layouts are not supported";
            return Err(refused("the interleave", self.interleave as u64, accepted));
        }
        check_address(address)?;
        for (i, &dim) in self.dims.iter().enumerate() {
            bounds(&format!("dims[{i}]"), dim, 1..=1 << 32)?;
        }
        for (i, &stride) in self.strides.iter().enumerate() {
            bounds(&format!("strides[{i}]"), stride, 0..=(1 << 40) - 1)?;
            multiple(&format!("strides[{i}]"), stride, 16)?;
        }
        for (i, &extent) in self.extents.iter().enumerate() {
            let most = if i == 1 && self.columns.is_some() { columns::PIXELS } else { 256 };
            bounds(&format!("extents[{i}]"), extent.into(), 1..=most)?;
        }
        if let Some(columns) = &self.columns {
            columns.check(&self.dims)?;
        }
        for (i, &stride) in self.element_strides.iter().enumerate() {
            bounds(&format!("element_strides[{i}]"), stride.into(), 1..=8)?;
        }
        let row = u64::from(self.extents[0] * self.element.bytes());
        multiple("the size of extents[0] in bytes", row, 16)?;
        if let Some(span) = self.swizzle.span() {
            bounds("the size of extents[0] in bytes, with this swizzle,", row, 16..=span.into())?;
        }
        if self.fill == OobFill::Nan && !self.element.is_float() {
            let accepted = "0, which is zero: these elements are integers, which have no NaN";
            return Err(refused("the fill", self.fill as u64, accepted));
        }
        bounds("the box's bytes in shared memory", self.shared_bytes(), 1..=BOX_LIMIT)
    }

    /// Elements that an instruction moves along dimension `i`.
    fn moved(&self, i: usize) -> u32 {
        match self.extents.get(i) {
            None => 1,
            Some(&extent) if i == 0 || self.columns.is_some() => extent,
            Some(&extent) => extent.div_ceil(self.element_strides[i]),
        }
    }

    /// Bytes that the box takes in shared memory, the padding of narrow rows included.
    fn shared_bytes(&self) -> u64 {
        let row = self.swizzle.span().unwrap_or(self.extents[0] * self.element.bytes());
        (1..self.dims.len()).map(|i| u64::from(self.moved(i))).product::<u64>() * u64::from(row)
    }
}

fn refused(field: &str, value: u64, accepted: &str) -> Error {
    Error::TensorMap { field: field.into(), value, accepted: accepted.into() }
}

fn bounds(field: &str, value: u64, accepted: std::ops::RangeInclusive<u64>) -> Result<(), Error> {
    if accepted.contains(&value) {
        return Ok(());
    }
    let (low, high) = accepted.into_inner();
    let accepted = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    Err(refused(field, value, &accepted))
}

fn multiple(field: &str, value: u64, of: u64) -> Result<(), Error> {
    if value.is_multiple_of(of) { Ok(()) } else { Err(refused(field, value, &format!("a multiple of {of}"))) }
}

/// Refuses an address at which no tensor can begin.
fn check_address(address: u64) -> Result<(), Error> {
    bounds("the global address", address, 0..=(1 << 57) - 16)?;
    multiple("the global address", address, 16)
}

/// A checked tensor map: a [`Tiled`] at a global address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    address: u64,
    tiled: Tiled,
}

/// The bytes that [`TensorMap::to_bytes`] starts with.
const MAGIC: [u8; 8] = *b"girih\0TM";

impl TensorMap {
    /// The global address of the tensor's first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Makes it the map of the same tensor at another address. When this fails, the map stays as it was.
    ///
    /// # Errors
    /// [`Error::TensorMap`] for an address that is no multiple of 16, or that has more than 57 bits.
    ///
    /// # Examples
    /// ```
    /// use girih_ptx::{TensorElement, Tiled};
    /// let tiled = Tiled::new(TensorElement::F32, &[64, 8], &[64, 8]);
    /// let mut map = tiled.at(0x100)?;
    /// map.set_address(0x200)?;
    /// assert_eq!(map, tiled.at(0x200)?);
    /// assert!(map.set_address(0x208).is_err());
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn set_address(&mut self, address: u64) -> Result<(), Error> {
        check_address(address)?;
        self.address = address;
        Ok(())
    }

    /// The description without the address.
    pub fn tiled(&self) -> &Tiled {
        &self.tiled
    }

    /// The number of dimensions, 1 to 5.
    pub fn rank(&self) -> usize {
        self.tiled.dims.len()
    }

    /// Elements that an instruction moves along dimension `i`; 1 beyond the dimensions of the box. Where there are no
    /// columns, element strides thin out every dimension but the innermost.
    pub fn moved(&self, i: usize) -> u32 {
        self.tiled.moved(i)
    }

    /// Bytes that the box takes in shared memory: [`box_bytes`](TensorMap::box_bytes) and the padding of rows that are
    /// narrower than the swizzle.
    pub fn shared_bytes(&self) -> u64 {
        self.tiled.shared_bytes()
    }

    /// Bytes that an instruction moves, elements outside of the tensor included: the number by which the copy changes
    /// an mbarrier's transaction count. The padding of rows that are narrower than the swizzle does not count.
    pub fn box_bytes(&self) -> u64 {
        (0..self.rank()).map(|i| u64::from(self.moved(i))).product::<u64>()
            * u64::from(self.tiled.element.bytes())
    }

    /// The simulator's encoding: a magic number, then the fields.
    pub fn to_bytes(&self) -> [u8; TENSOR_MAP_BYTES] {
        let tiled = &self.tiled;
        let mut bytes = Vec::with_capacity(TENSOR_MAP_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.address.to_le_bytes());
        bytes.extend([tiled.element as u8, self.rank() as u8, tiled.interleave as u8, tiled.swizzle as u8]);
        bytes.extend([tiled.l2_promotion as u8, tiled.fill as u8]);
        // By the check, extents are in 1..=256, so that one less fits a byte, and element strides in 1..=8.
        let boxed = if tiled.columns.is_some() { &tiled.extents[..1] } else { &tiled.extents };
        bytes.extend(padded(boxed).map(|extent| extent.saturating_sub(1) as u8));
        bytes.extend(padded(&tiled.element_strides).map(|stride| stride as u8));
        bytes.extend(padded(&tiled.dims).flat_map(|dim| dim.to_le_bytes()));
        bytes.extend(padded(&tiled.strides).flat_map(|stride| stride.to_le_bytes()).take(32));
        if let Some(columns) = &tiled.columns {
            bytes.extend(columns.to_bytes(tiled.extents[1]));
        }
        bytes.resize(TENSOR_MAP_BYTES, 0);
        let mut all = [0; TENSOR_MAP_BYTES];
        all.copy_from_slice(&bytes);
        all
    }

    /// Reads [`to_bytes`](TensorMap::to_bytes).
    ///
    /// # Errors
    /// [`Error::NotATensorMap`] if the bytes are not such an encoding; [`Error::TensorMap`] if a field has a value that
    /// no map has.
    ///
    /// ```
    /// use girih_ptx::{TensorElement, TensorMap, Tiled};
    /// let map = Tiled::new(TensorElement::F32, &[8, 8], &[8, 4]).at(0x100)?;
    /// assert_eq!(TensorMap::from_bytes(&map.to_bytes())?, map);
    /// assert!(TensorMap::from_bytes(&[0; 128]).is_err());
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<TensorMap, Error> {
        let mut at = 0;
        let mut take = |n: usize| {
            at += n;
            &bytes[at - n..at]
        };
        if take(8) != MAGIC {
            return Err(Error::NotATensorMap { why: "they don't start as one" });
        }
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        let address = word(take(8));
        let [element, rank, interleave, swizzle, l2_promotion, fill] = [(); 6].map(|()| take(1)[0]);
        let rank = usize::from(rank);
        bounds("the rank", rank as u64, 1..=TENSOR_MAP_RANK as u64)?;
        let mut extents: Vec<u32> = take(5)[..rank].iter().map(|&extent| u32::from(extent) + 1).collect();
        let element_strides = take(5)[..rank].iter().map(|&stride| stride.into()).collect();
        let dims = take(40).chunks_exact(8).take(rank).map(word).collect();
        let strides = take(32).chunks_exact(8).take(rank - 1).map(word).collect();
        let columns = Columns::decode(take(columns::BYTES), rank).map(|(columns, pixels)| {
            extents.truncate(1);
            extents.push(pixels);
            columns
        });
        let choice = |field, value: u8| refused(field, value.into(), "one that the encoding has");
        let tiled = Tiled {
            element: TensorElement::decode(element).ok_or_else(|| choice("the element type", element))?,
            dims,
            strides,
            extents,
            element_strides,
            interleave: Interleave::decode(interleave).ok_or_else(|| choice("the interleave", interleave))?,
            swizzle: TensorSwizzle::decode(swizzle).ok_or_else(|| choice("the swizzle", swizzle))?,
            l2_promotion: L2Promotion::decode(l2_promotion)
                .ok_or_else(|| choice("the L2 promotion", l2_promotion))?,
            fill: OobFill::decode(fill).ok_or_else(|| choice("the fill", fill))?,
            columns,
        };
        let map = tiled.at(address)?;
        if map.to_bytes() != *bytes {
            return Err(Error::NotATensorMap { why: "bytes that it leaves zero are not" });
        }
        Ok(map)
    }
}

/// The values, filled up with zeros to five numbers.
fn padded<T: Copy + Default>(values: &[T]) -> impl Iterator<Item = T> {
    values.iter().copied().chain(std::iter::repeat(T::default())).take(TENSOR_MAP_RANK)
}
