//! Operands of `wgmma` in shared memory: layout atoms and matrix descriptors (PTX ISA, "Shared Memory Matrix Layout",
//! "Matrix Descriptor Format"; CuTe's `GMMA::Layout_K_SW128_Atom` and `make_gmma_desc`).
//!
//! A unit is 16 bytes, which are `T` elements. A matrix is in rows of `W` units, eight rows to a swizzle's period. With strides
//! SBO and LBO, which the descriptor holds, row `r` and column `c` along K are at
//!
//! | major | place in elements |
//! |---|---|
//! | K | `(r % 8) W T + (r / 8) SBO + c % T + (c / T) s`, where `s` is `LBO` without a swizzle, `T` with one |
//! | MN, no swizzle | `r % T + (r / T) SBO + (c % 8) T + (c / 8) LBO` |
//! | MN | `r % (W T) + (r / (W T)) LBO + (c % 8) W T + (c / 8) SBO` |

use girih_layout::{Composed, Int, IntTuple, Lay, Shape, Stride, Strides, Swizzle};
use girih_tensor::DType;

use super::Major;
use crate::Error;

/// How the 16-byte units of a matrix in shared memory are exchanged: within rows of 16, 32, 64 or 128 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GmmaSwizzle {
    /// Nothing is exchanged in rows of 16 bytes (CuTe's `INTER`).
    Inter,
    /// `Swizzle<1,4,3>` of bytes.
    Sw32,
    /// `Swizzle<2,4,3>` of bytes.
    Sw64,
    /// `Swizzle<3,4,3>` of bytes.
    Sw128,
}

/// The rows of a swizzle's period.
const ROWS: i64 = 8;

/// The elements in a unit of 16 bytes.
fn unit(dtype: DType) -> i64 {
    128 / i64::from(dtype.bits())
}

impl GmmaSwizzle {
    /// All four swizzles, the narrowest first.
    pub const ALL: [GmmaSwizzle; 4] =
        [GmmaSwizzle::Inter, GmmaSwizzle::Sw32, GmmaSwizzle::Sw64, GmmaSwizzle::Sw128];

    /// The number of bits that the swizzle changes.
    const fn bits(self) -> u32 {
        self as u32
    }

    /// Units of 16 bytes in a row.
    const fn units(self) -> i64 {
        1 << self.bits()
    }

    /// The number of bytes after which the pattern repeats; the address of a matrix must be a multiple of this number.
    pub const fn period(self) -> i64 {
        128 << self.bits()
    }

    /// The swizzle's code in a descriptor.
    const fn code(self) -> u64 {
        match self {
            GmmaSwizzle::Inter => 0,
            GmmaSwizzle::Sw32 => 3,
            GmmaSwizzle::Sw64 => 2,
            GmmaSwizzle::Sw128 => 1,
        }
    }

    /// The swizzle of offsets in elements of `dtype`; `None` for [`GmmaSwizzle::Inter`].
    ///
    /// # Errors
    /// There are none for a dtype of at most 128 bits.
    pub fn swizzle(self, dtype: DType) -> Result<Option<Swizzle>, Error> {
        match self {
            GmmaSwizzle::Inter => Ok(None),
            _ => Ok(Some(Swizzle::new(self.bits(), unit(dtype).trailing_zeros(), 3)?)),
        }
    }
}

/// A layout that `wgmma` and TMA know, for a matrix of any size in whole atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GmmaLayout {
    /// The contiguous mode.
    pub major: Major,
    /// The exchange of units.
    pub swizzle: GmmaSwizzle,
}

impl GmmaLayout {
    /// All eight layouts.
    ///
    /// ```
    /// use girih_codegen::atom::GmmaLayout;
    /// let names: Vec<String> = GmmaLayout::all().map(|layout| layout.name()).collect();
    /// assert_eq!(names[..2], ["Layout_K_INTER_Atom", "Layout_K_SW32_Atom"]);
    /// ```
    pub fn all() -> impl Iterator<Item = GmmaLayout> {
        let majors = [Major::K, Major::Mn].into_iter();
        majors
            .flat_map(|major| GmmaSwizzle::ALL.into_iter().map(move |swizzle| GmmaLayout { major, swizzle }))
    }

    /// CuTe's name.
    pub fn name(&self) -> String {
        let major = if self.major == Major::K { "K" } else { "MN" };
        let swizzle = ["INTER", "SW32", "SW64", "SW128"][self.swizzle as usize];
        format!("Layout_{major}_{swizzle}_Atom")
    }

    /// The atom, (MN,K) -> element: eight rows of 16, 32, 64 or 128 bytes.
    ///
    /// # Errors
    /// There are none for a dtype of at most 128 bits.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, Major};
    /// use girih_tensor::DType;
    ///
    /// let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 };
    /// assert_eq!(layout.atom(DType::Bf16)?.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn atom(&self, dtype: DType) -> Result<Composed, Error> {
        let row = self.swizzle.units() * unit(dtype);
        let (shape, stride) =
            if self.major == Major::K { ([ROWS, row], [row, 1]) } else { ([row, ROWS], [1, row]) };
        let shape = Shape::flat(&shape.map(Int::fixed))?;
        let layout = Lay::new(&shape, &Strides::flat(&stride.map(|s| Stride::Int(Int::fixed(s))))?)?;
        let swizzle = match self.swizzle.swizzle(dtype)? {
            Some(swizzle) => swizzle,
            None => Swizzle::new(0, unit(dtype).trailing_zeros(), 3)?,
        };
        Ok(Composed::new(swizzle, 0, layout))
    }

    /// The atom repeated over `extents` of MN and K, first along the mode that is not contiguous, so that a TMA copy's box is as
    /// wide as the swizzle and as high as the tile (CuTe's `tile_to_shape`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the atom does not divide the extents.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, Major};
    /// use girih_tensor::DType;
    ///
    /// let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 };
    /// let tile = layout.tile(DType::Bf16, [128, 64])?;
    /// assert_eq!(tile.layout().to_string(), "((8,16),(64,1)):((64,512),(1,0))");
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn tile(&self, dtype: DType, extents: [i64; 2]) -> Result<Composed, Error> {
        let atom = self.atom(dtype)?;
        let shape = Shape::flat(&extents.map(Int::fixed))?;
        let divides = atom
            .layout()
            .shape()
            .leaves()
            .zip(extents)
            .all(|(tile, extent)| extent > 0 && tile.get().is_some_and(|tile| extent % tile == 0));
        if !divides {
            return Err(Error::Mismatch {
                what: "GmmaLayout",
                layout: shape.to_string(),
                with: format!("{} {}", self.name(), atom.layout()),
                accepted: "extents that the atom divides",
            });
        }
        let order = if self.major == Major::K { [0, 1] } else { [1, 0] };
        let order = IntTuple::flat(&order.map(Int::fixed))?;
        let layout = atom.layout().tile_to_shape(&shape, Some(&order))?;
        Ok(Composed::new(atom.swizzle(), 0, layout))
    }

    /// The layout with the widest swizzle whose rows divide a tile of these extents (CUTLASS's `ss_smem_selector`).
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, Major};
    /// use girih_tensor::DType;
    ///
    /// // Rows of 96 elements of 2 bytes are three rows of 64 bytes.
    /// assert_eq!(GmmaLayout::select(Major::K, DType::Bf16, [64, 96]).swizzle, GmmaSwizzle::Sw64);
    /// assert_eq!(GmmaLayout::select(Major::Mn, DType::Bf16, [64, 96]).swizzle, GmmaSwizzle::Sw128);
    /// ```
    pub fn select(major: Major, dtype: DType, [x, k]: [i64; 2]) -> GmmaLayout {
        let row = if major == Major::K { k } else { x };
        let divides = |swizzle: &GmmaSwizzle| row % (swizzle.units() * unit(dtype)) == 0;
        let swizzle = GmmaSwizzle::ALL.into_iter().rev().find(divides).unwrap_or(GmmaSwizzle::Inter);
        GmmaLayout { major, swizzle }
    }
}

/// The fields of a matrix descriptor other than the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GmmaDesc {
    /// The exchange of units.
    pub swizzle: GmmaSwizzle,
    /// The leading dimension's byte offset.
    pub lbo: i64,
    /// The stride dimension's byte offset.
    pub sbo: i64,
}

impl GmmaDesc {
    /// The 64 bits of the descriptor of a matrix at address 0. For another address, its bits 4 to 17 go into the lowest 14 bits.
    ///
    /// ```
    /// use girih_codegen::atom::{GmmaDesc, GmmaSwizzle};
    /// let desc = GmmaDesc { swizzle: GmmaSwizzle::Sw128, lbo: 16, sbo: 1024 };
    /// assert_eq!(desc.bits(), 1 << 62 | 64 << 32 | 1 << 16);
    /// ```
    pub const fn bits(&self) -> u64 {
        self.swizzle.code() << 62
            | ((self.sbo as u64 >> 4) & 0x3fff) << 32
            | ((self.lbo as u64 >> 4) & 0x3fff) << 16
    }
}

/// The descriptor of an instruction's operand, (MN,K) -> element of `dtype`, whose offsets `swizzle` exchanges
/// (CuTe's `make_gmma_desc`).
///
/// # Errors
/// [`Error::Mismatch`] if the layout is not canonical; the message names the first element that is elsewhere.
///
/// # Examples
/// ```
/// use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, Major, make_gmma_desc};
/// use girih_tensor::DType;
///
/// let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw64 };
/// let tile = layout.tile(DType::F16, [64, 32])?;
/// let operand = girih_layout::lay!("((8,8),16):((32,256),1)");
/// let desc = make_gmma_desc(Major::K, &operand, Some(&tile.swizzle()), DType::F16)?;
/// assert_eq!((desc.swizzle, desc.sbo), (GmmaSwizzle::Sw64, 512));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn make_gmma_desc(
    major: Major,
    layout: &Lay,
    swizzle: Option<&Swizzle>,
    dtype: DType,
) -> Result<GmmaDesc, Error> {
    let mismatch = |with: String| Error::Mismatch {
        what: "make_gmma_desc",
        layout: layout.to_string(),
        with,
        accepted: "an operand (MN,K) of 16 or 32 bytes along K, rows of eight in a canonical layout: a tile of \
                   `GmmaLayout`",
    };
    let known = GmmaSwizzle::ALL
        .into_iter()
        .find(|known| known.swizzle(dtype).is_ok_and(|s| s.as_ref() == swizzle.filter(|s| s.bits() > 0)));
    let kind = known.ok_or_else(|| mismatch(format!("a swizzle of wgmma's for {dtype}")))?;
    if layout.rank() != 2 || major == Major::Mn && dtype.bits() != 16 {
        return Err(mismatch(format!("{major:?}-major {dtype}: only 16 bits have another order than K")));
    }
    let extent = |mode: usize| -> Result<i64, Error> {
        layout.mode(mode)?.size()?.get().ok_or_else(|| mismatch(String::from("a layout of constants")))
    };
    let [rows, columns] = [extent(0)?, extent(1)?];
    let at = |r: i64, c: i64| Ok::<i64, Error>(layout.at(r + c * rows)?);
    let (t, row) = (unit(dtype), kind.units() * unit(dtype));
    // A stride over which no element steps is 0.
    let step = |r: i64, c: i64| if r < rows && c < columns { at(r, c) } else { Ok(0) };
    let (lbo, sbo) = match (major, kind) {
        (Major::K, GmmaSwizzle::Inter) => (step(0, t)?, step(ROWS, 0)?),
        (Major::K, _) => (t, step(ROWS, 0)?),
        (Major::Mn, GmmaSwizzle::Inter) => (step(0, ROWS)?, step(t, 0)?),
        (Major::Mn, _) => (step(row, 0)?, step(0, ROWS)?),
    };
    let place = |r: i64, c: i64| match (major, kind) {
        (Major::K, _) => r % ROWS * row + r / ROWS * sbo + c % t + c / t * lbo,
        (Major::Mn, GmmaSwizzle::Inter) => r % t + r / t * sbo + c % ROWS * t + c / ROWS * lbo,
        (Major::Mn, _) => r % row + r / row * lbo + c % ROWS * row + c / ROWS * sbo,
    };
    for (r, c) in (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))) {
        let (found, canonical) = (at(r, c)?, place(r, c));
        if found != canonical {
            let text = format!("{kind:?} {major:?}-major: ({r},{c}) is at {found}, canonical is {canonical}");
            return Err(mismatch(text));
        }
    }
    let bytes = |stride: i64| dtype.bytes_of(stride).filter(|b| (0..1 << 18).contains(b) && b % 16 == 0);
    match (bytes(lbo), bytes(sbo)) {
        (Some(lbo), Some(sbo)) => Ok(GmmaDesc { swizzle: kind, lbo, sbo }),
        _ => Err(mismatch(format!("strides {lbo} and {sbo}, multiples of 16 bytes below 256 KiB"))),
    }
}
