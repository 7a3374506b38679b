//! Tiled copies and MMAs, and their partitions, as Rust constants: operands that do not fit are compile errors.
//!
//! The functions check as [`TiledMma`] and [`TiledCopy`] do when a program runs, and refuse in the same words, but allocate nothing.
//! [`constant!`](crate::constant!) takes the results of these functions, or stops the compiler with the text; `cargo check` shows it.
//!
//! ```
//! use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_CP_ASYNC_CACHEGLOBAL_16};
//! use girih_codegen::constant::Place;
//! use girih_codegen::{Operand, TiledCopy, TiledMma, constant};
//! use girih_layout::{Lay, lay};
//!
//! // Tiles of 64 x 32 halves, four warps.
//! const GMEM: Lay = lay!("(64,32):(1024,1)");
//! const SMEM: Lay = lay!("(64,32):(40,1)");
//! const LOAD: TiledCopy =
//!     constant!(constant::tiled_copy(SM80_CP_ASYNC_CACHEGLOBAL_16, 16, &lay!("(32,4):(4,1)"), &lay!("(1,8):(8,1)")));
//! const _: () = constant!(constant::copy(&LOAD, Place::gmem(GMEM, 16), Place::smem(SMEM, 16)));
//! const MMA: TiledMma = constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,0)")));
//! const A: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &SMEM)); // ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK)))
//! assert_eq!(A, MMA.thrfrg(Operand::A, &SMEM)?);
//! # Ok::<(), girih_codegen::Error>(())
//! ```
//!
//! A tile of 24 rows does not fit two warps of 16 along M; the message is
//! `thrfrg: (24,32):(32,1) does not fit SM80_16x8x16_F32BF16BF16F32_TN of 2 atoms of 16 in mode 0: extents that the atoms divide`:
//! ```compile_fail
//! # use girih_codegen::{Operand, TiledMma, atom::SM80_16X8X16_F32BF16BF16F32_TN, constant};
//! # use girih_layout::{Lay, lay};
//! const MMA: TiledMma = constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,0)")));
//! const A: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &lay!("(24,32):(32,1)")));
//! ```
#![expect(
    clippy::result_large_err,
    reason = "an error in a constant holds the layout that does not fit; the results are as large"
)]

use std::fmt;

use girih_layout::{Lay, Message, Stride};
use girih_tensor::{DType, Space};

use crate::atom::{CopyAtom, CopyOp, Major, MmaAtom, MmaKind, NoAtom, Product, Transfer};
use crate::misfit::{self, Fit, Misfit, Subject, Word, known, tri, words};
use crate::tiled::copy::Side;
use crate::{Error, Operand, TiledCopy, TiledMma};

/// The value of a `Result` of [`constant`](mod@crate::constant)'s functions in a constant. An `Err` does not compile, and its text is
/// the message.
///
/// ```
/// use girih_codegen::{TiledMma, atom::SM80_8X8X4_F64F64F64F64_TN, constant};
/// use girih_layout::lay;
/// const MMA: TiledMma = constant!(constant::tiled_mma(SM80_8X8X4_F64F64F64F64_TN, lay!("(2,2):(1,2)")));
/// assert_eq!(MMA.threads()?, 128);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[macro_export]
macro_rules! constant {
    ($judged:expr) => {
        const {
            match $judged {
                Ok(value) => value,
                Err(refusal) => $crate::constant::Refusal::stop(&refusal),
            }
        }
    };
}

/// The reason why operands do not fit, without a heap. It becomes the [`Error`] that the function for run time returns.
#[derive(Clone, Copy)]
pub struct Refusal(Misfit);

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({self})")
    }
}

impl Refusal {
    /// Ends the evaluation of a constant with the text.
    #[doc(hidden)]
    pub const fn stop(&self) -> ! {
        self.0.message().stop()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message: Message = self.0.message();
        f.write_str(message.as_str())
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        refusal.0.into()
    }
}

/// A result that [`constant!`](crate::constant!) takes.
type Judged<T> = Result<T, Refusal>;

const fn judged<T: Copy>(fit: Fit<T>) -> Judged<T> {
    match fit {
        Ok(value) => Ok(value),
        Err(misfit) => Err(Refusal(misfit)),
    }
}

/// [`MmaAtom::wgmma`] in constants.
///
/// # Errors
/// Those of [`MmaAtom::wgmma`].
pub const fn wgmma(
    kind: MmaKind,
    n: i64,
    types: [DType; 3],
    majors: [Major; 2],
    product: Product,
) -> Judged<MmaAtom> {
    match MmaAtom::judged_wgmma(kind, n, types, majors, product) {
        Ok(atom) => Ok(atom),
        Err(NoAtom::Layout(error)) => Err(Refusal(Misfit::Layout(error))),
        Err(NoAtom::Wgmma(error)) => Err(Refusal(Misfit::Wgmma(error))),
    }
}

/// [`TiledMma::new`] in constants.
///
/// # Errors
/// Those of [`TiledMma::new`].
pub const fn tiled_mma(atom: MmaAtom, atoms: Lay) -> Judged<TiledMma> {
    judged(TiledMma::judged(atom, atoms))
}

/// [`TiledMma::thrfrg`] in constants.
///
/// # Errors
/// Those of [`TiledMma::thrfrg`].
pub const fn thrfrg(mma: &TiledMma, operand: Operand, layout: &Lay) -> Judged<Lay> {
    judged(mma.judged_thrfrg(operand, layout))
}

/// [`TiledCopy::new`] in constants.
///
/// # Errors
/// Those of [`TiledCopy::new`].
pub const fn tiled_copy(atom: CopyAtom, bits: u32, threads: &Lay, values: &Lay) -> Judged<TiledCopy> {
    judged(TiledCopy::judged_new(atom, bits, threads, values))
}

/// [`TiledCopy::tidfrg_s`] in constants.
///
/// # Errors
/// Those of [`TiledCopy::tidfrg_s`].
pub const fn tidfrg_s(copy: &TiledCopy, layout: &Lay) -> Judged<Lay> {
    judged(copy.tidfrg(Side::Source, layout))
}

/// [`TiledCopy::tidfrg_d`] in constants.
///
/// # Errors
/// Those of [`TiledCopy::tidfrg_d`].
pub const fn tidfrg_d(copy: &TiledCopy, layout: &Lay) -> Judged<Lay> {
    judged(copy.tidfrg(Side::Destination, layout))
}

/// One side of a copy: a tensor in memory, or each thread's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The arrangement of the values of all threads, in elements; registers have none.
    pub layout: Option<Lay>,
    /// The number of bytes of which the address of the first value is a multiple.
    pub align: i64,
}

impl Place {
    /// Each thread's registers.
    pub const REGISTERS: Place = Place { space: Space::Rmem, layout: None, align: 1 };

    /// A tensor in global memory that begins at a multiple of `align` bytes.
    pub const fn gmem(layout: Lay, align: i64) -> Place {
        Place { space: Space::Gmem, layout: Some(layout), align }
    }

    /// A tensor in shared memory that begins at a multiple of `align` bytes.
    pub const fn smem(layout: Lay, align: i64) -> Place {
        Place { space: Space::Smem, layout: Some(layout), align }
    }
}

/// Checks that [`algorithm::copy`](crate::algorithm::copy) by `copy` can move the whole of `source` to `target`: the atom copies between
/// the two memories, the copy's tile divides both tensors, and the values that an instruction takes of memory are together in order and
/// begin at a multiple of their size.
///
/// # Errors
/// The text of [`Error::Mismatch`] of the copy or of [`TiledCopy::tidfrg_s`].
///
/// ```
/// use girih_codegen::atom::{SM80_CP_ASYNC_CACHEGLOBAL_16, UNIVERSAL_COPY_128};
/// use girih_codegen::constant::{copy, tiled_copy, Place};
/// use girih_layout::lay;
///
/// let (threads, values) = (lay!("(32,4):(4,1)"), lay!("(1,8):(8,1)"));
/// let universal = tiled_copy(UNIVERSAL_COPY_128, 16, &threads, &values)?;
/// assert!(copy(&universal, Place::gmem(lay!("(32,32):(64,1)"), 16), Place::REGISTERS).is_ok());
/// // Rows of 33 elements do not begin at whole vectors of 16 bytes.
/// assert!(copy(&universal, Place::gmem(lay!("(32,32):(33,1)"), 16), Place::REGISTERS).is_err());
/// // `cp.async` does not copy from global memory to registers.
/// let asynchronous = tiled_copy(SM80_CP_ASYNC_CACHEGLOBAL_16, 16, &threads, &values)?;
/// assert!(copy(&asynchronous, Place::gmem(lay!("(32,32):(64,1)"), 16), Place::REGISTERS).is_err());
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub const fn copy(copy: &TiledCopy, source: Place, target: Place) -> Judged<()> {
    judged(judge_copy(copy, &source, &target))
}

const fn judge_copy(copy: &TiledCopy, source: &Place, target: &Place) -> Fit<()> {
    let accepted = if !goes(copy.atom.spaces(), [source.space, target.space]) {
        "the spaces that the atom copies between; of a tensor copy, its coordinates"
    } else if tri!(lies(copy, Side::Source, source)) && tri!(lies(copy, Side::Destination, target)) {
        return Ok(());
    } else {
        copy.atom.takes()
    };
    let [from, to] = copy.atom.spaces();
    let with = words(&[
        Word::Copy(&copy.atom),
        Word::Text(", from "),
        Word::Space(from),
        Word::Text(" to "),
        Word::Space(to),
    ]);
    let (source, target) = (side(source), side(target));
    let sides = [Word::Text(source.as_str()), Word::Text(" to "), Word::Text(target.as_str())];
    Err(Misfit::Mismatch { what: "copy", operand: Subject::Text(words(&sides)), with, accepted })
}

const fn side(place: &Place) -> Message {
    let space = Word::Space(Some(place.space));
    match &place.layout {
        Some(layout) => words(&[space, Word::Text(" "), Word::Lay(layout)]),
        None => words(&[space]),
    }
}

const fn goes(accepted: [Option<Space>; 2], spaces: [Space; 2]) -> bool {
    let mut side = 0;
    while side < 2 {
        let fits = match accepted[side] {
            Some(space) => space as u8 == spaces[side] as u8,
            None => matches!(spaces[side], Space::Gmem | Space::Smem | Space::Rmem),
        };
        if !fits {
            return false;
        }
        side += 1;
    }
    true
}

/// Whether the values that each instruction takes on a side are together, aligned; an error if the tile does not divide the tensor.
const fn lies(copy: &TiledCopy, side: Side, place: &Place) -> Fit<bool> {
    let Some(layout) = &place.layout else { return Ok(true) };
    let parts = tri!(copy.tidfrg(side, layout)); // ((Thr,(Val,RestVal)),(RestM,RestN,...))
    if matches!(copy.atom.op, CopyOp::AutoVectorizing | CopyOp::Tma { .. } | CopyOp::Bulk(Transfer::Prefetch))
    {
        // These copies find their own width, or use coordinates.
        return Ok(true);
    }
    let tv = known!(parts.mode(0));
    let taken = known!(known!(tv.mode(1)).mode(0)); // Val
    let width = tri!(misfit::size("copy", &taken));
    let together = taken.coalesce();
    let in_order = width == 1 || (together.is_leaf() && stride_divides(together.flat_leaf(0).1, 1, true));
    let bits = copy.bits as i64;
    // The number of bits of which the position of an instruction's first value must be a multiple.
    let begins = match copy.atom.op {
        CopyOp::Bulk(_) | CopyOp::BulkReduce { .. } => 16 * 8,
        _ => width * bits,
    };
    if !in_order || begins % 8 != 0 || begins % bits != 0 || place.align % (begins / 8) != 0 {
        return Ok(false);
    }
    let begin = known!(tv.mode(0)).leaf_count();
    let end = begin + taken.leaf_count();
    let mut leaf = 0;
    while leaf < parts.leaf_count() {
        let (extent, stride) = parts.flat_leaf(leaf);
        let own = begin <= leaf && leaf < end;
        if !own && !extent.is(1) && !stride_divides(stride, begins / bits, false) {
            return Ok(false);
        }
        leaf += 1;
    }
    Ok(true)
}

/// Whether a stride is a multiple of `n`, or `n` itself.
const fn stride_divides(stride: Stride, n: i64, itself: bool) -> bool {
    match stride {
        Stride::Int(d) if itself => d.is(n),
        Stride::Int(d) => matches!(d.is_divisible_by(n), Some(true)),
        _ => false,
    }
}
