//! The boxes that TMA copies move: which bytes of shared memory correspond to which bytes of global memory.
//!
//! The elements of a box are in shared memory in the order of their coordinates, the innermost first. Without a swizzle
//! the elements are packed. With a swizzle every innermost row takes the swizzle's whole width, and each 16 bytes are
//! where the swizzle of their shared address puts them. Dimension `i` of the box has `moved(i)` elements, of which the
//! `j`-th has coordinate `start + j * element stride` (in the innermost dimension `start + j`). An element whose
//! coordinates are not all inside the tensor is not in global memory: loads fill it, and stores skip it (PTX ISA,
//! "Tiled Mode"; CUDA driver API, `cuTensorMapEncodeTiled`).
//!
//! Cases that these texts leave open were measured on an H100 and an H200: the rows of narrow boxes, the alignment of the innermost coordinate, the
//! NaN of the fill, the rounding of tf32. So was this, which the texts don't mention: a store or a reduction accepts no negative coordinates, and no
//! columns with a corner outside of the tensor. It writes whole units of 16 bytes: if a row ends inside a unit, the bytes after the row's end are
//! overwritten by elements of the box.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod columns;

use girih_ptx::{OobFill, TENSOR_MAP_RANK, TensorElement, TensorMap};

/// The alignment of a box in shared memory, in bytes.
const SHARED_ALIGN: u64 = 128;
/// The alignment of the innermost coordinate, in bytes; a store writes units of this size.
const UNIT: u64 = 16;

/// A part of a box whose bytes are contiguous in shared memory and, if the part is inside the tensor, in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Global address of the first byte; `None` if the run is outside of the tensor.
    pub(crate) global: Option<u64>,
    /// Shared address of the first byte.
    pub(crate) shared: u64,
    /// The size in bytes, which is that of whole elements.
    pub(crate) bytes: u32,
}

/// The direction in which a box is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Into shared memory.
    Load,
    /// Into the tensor, whose elements are overwritten or combined with those of the box.
    Store,
}

/// An operand that the hardware does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misuse {
    pub(crate) what: &'static str,
    pub(crate) value: u64,
    pub(crate) accepted: String,
}

/// The runs of a box in the order of the box's elements. The box starts at `coordinates` of the tensor, the innermost
/// first, and at the shared address `shared`. An im2col copy has `offsets`, of which a store has none.
pub(crate) fn runs(
    map: &TensorMap,
    coordinates: &[i32],
    offsets: Option<&[u64]>,
    shared: u64,
    direction: Direction,
) -> Result<Vec<Run>, Misuse> {
    check(map, coordinates, shared, direction)?;
    let tiled = map.tiled();
    let size = u64::from(tiled.element.bytes());
    let row_bytes = u64::from(map.moved(0)) * size;
    let pitch = tiled.swizzle.span().map_or(row_bytes, u64::from);
    // A row of the box may be divided in shared memory at multiples of this.
    let chunk = tiled.swizzle.span().map_or(row_bytes, |_| 16);
    let unit = if direction == Direction::Store { UNIT } else { 1 };
    let tensor_row = (tiled.dims[0] * size).next_multiple_of(unit);
    let (inside_from, inside_to) = inside(i64::from(coordinates[0]) * size as i64, tensor_row, row_bytes);
    let starts = match (&tiled.columns, offsets) {
        (None, None) => rows(map, coordinates),
        (Some(columns), Some(offsets)) => columns::pixels(map, columns, coordinates, offsets)?,
        (columns, _) => {
            let accepted =
                if columns.is_some() { "1, .im2col, as the map's" } else { "0, .tile, as the map's" };
            let value = offsets.is_some().into();
            return Err(Misuse { what: "the instruction's mode", value, accepted: accepted.into() });
        }
    };
    let parts = usize::try_from(row_bytes / chunk + 2).unwrap_or_default();
    let mut runs = Vec::with_capacity(starts.len() * parts);
    for (global, row) in starts.into_iter().zip(0..) {
        let start = shared.wrapping_add(row * pitch);
        let mut x = 0;
        while x < row_bytes {
            let ends = [(x / chunk + 1) * chunk, row_bytes, inside_from, inside_to];
            let end = ends.into_iter().filter(|&end| end > x).min().unwrap_or(row_bytes);
            let within = (inside_from..inside_to).contains(&x);
            runs.push(Run {
                global: global.filter(|_| within).map(|global| global.wrapping_add(x)),
                shared: tiled.swizzle.apply(start.wrapping_add(x)),
                bytes: u32::try_from(end - x).unwrap_or(u32::MAX),
            });
            x = end;
        }
    }
    Ok(runs)
}

fn check(map: &TensorMap, coordinates: &[i32], shared: u64, direction: Direction) -> Result<(), Misuse> {
    let (rank, dims) = (map.rank() as u64, coordinates.len() as u64);
    if rank != dims {
        let accepted = format!("{dims}, the dimensions of the instruction");
        return Err(Misuse { what: "the tensor map's rank", value: rank, accepted });
    }
    if !shared.is_multiple_of(SHARED_ALIGN) {
        let accepted = format!("a multiple of {SHARED_ALIGN}");
        return Err(Misuse { what: "the shared address of the box", value: shared, accepted });
    }
    let element = u64::from(map.tiled().element.bytes());
    let each = UNIT / element;
    if i64::from(coordinates[0]).rem_euclid(each.cast_signed()) != 0 {
        let accepted = format!("a multiple of {each}, {UNIT} bytes of elements");
        let value = i64::from(coordinates[0]).cast_unsigned();
        return Err(Misuse { what: "the innermost coordinate", value, accepted });
    }
    if let Some(&negative) = coordinates.iter().find(|&&c| direction == Direction::Store && c < 0) {
        let accepted = "0 or more: only loads may begin before the tensor".into();
        let value = i64::from(negative).cast_unsigned();
        return Err(Misuse { what: "a coordinate of the store", value, accepted });
    }
    match &map.tiled().columns {
        Some(columns) if direction == Direction::Store => columns::check_inside(columns),
        _ => Ok(()),
    }
}

/// The part of a box's row that is inside the tensor, in bytes of the row; `start` is where the box begins in the
/// tensor's row.
fn inside(start: i64, tensor_row: u64, row_bytes: u64) -> (u64, u64) {
    let clamp = |byte: i64| byte.saturating_sub(start).clamp(0, row_bytes as i64).cast_unsigned();
    (clamp(0), clamp(tensor_row as i64))
}

/// The global addresses of the first elements of the box's rows, even where the innermost coordinate is outside of the
/// tensor; `None` for rows with another coordinate outside.
fn rows(map: &TensorMap, coordinates: &[i32]) -> Vec<Option<u64>> {
    let count = (1..map.rank()).map(|i| u64::from(map.moved(i))).product::<u64>();
    let mut at = [0; TENSOR_MAP_RANK];
    let mut rows = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    for _ in 0..count {
        let mut place = [0; TENSOR_MAP_RANK];
        for (i, &start) in coordinates.iter().enumerate() {
            let step = if i == 0 { 0 } else { at[i] as i64 * i64::from(map.tiled().element_strides[i]) };
            place[i] = i64::from(start) + step;
        }
        rows.push(address(map, &place[..coordinates.len()]));
        next(map, &mut at);
    }
    rows
}

/// The global address of an element; `None` if a coordinate other than the innermost is outside of the tensor.
fn address(map: &TensorMap, place: &[i64]) -> Option<u64> {
    let tiled = map.tiled();
    let innermost = place[0] * i64::from(tiled.element.bytes());
    let mut address = map.address().wrapping_add_signed(innermost);
    for (i, &coordinate) in place.iter().enumerate().skip(1) {
        let coordinate = u64::try_from(coordinate).ok()?;
        if coordinate >= tiled.dims[i] {
            return None;
        }
        address = address.wrapping_add(coordinate.wrapping_mul(tiled.strides[i - 1]));
    }
    Some(address)
}

/// Moves on to the next row of the box.
fn next(map: &TensorMap, at: &mut [u64; TENSOR_MAP_RANK]) {
    for (i, place) in at.iter_mut().enumerate().take(map.rank()).skip(1) {
        *place += 1;
        if *place < u64::from(map.moved(i)) {
            return;
        }
        *place = 0;
    }
}

/// Fills the bytes of a run that is outside of the tensor.
pub(crate) fn fill(map: &TensorMap, bytes: &mut [u8]) {
    match map.tiled().fill {
        OobFill::Zero => bytes.fill(0),
        OobFill::Nan => bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = [0xf7, 0x7f][i % 2]),
    }
}

/// How a load converts the elements that are inside of the tensor, if it does.
pub(crate) fn conversion(map: &TensorMap) -> Option<fn(&mut [u8])> {
    matches!(map.tiled().element, TensorElement::Tf32 | TensorElement::Tf32Ftz).then_some(round_each)
}

fn round_each(bytes: &mut [u8]) {
    for element in bytes.chunks_exact_mut(4) {
        let mut word = [0; 4];
        word.copy_from_slice(element);
        element.copy_from_slice(&round_tf32(u32::from_le_bytes(word)).to_le_bytes());
    }
}

/// Rounds to the nearest tf32, ties to even, including subnormal numbers. All NaNs become the same NaN.
fn round_tf32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    let even = bits >> 13 & 1;
    bits.wrapping_add(0xfff + even) & !0x1fff
}
