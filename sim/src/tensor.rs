//! The boxes that bulk tensor copies move: which bytes of shared memory belong to which bytes of global memory.
//!
//! The elements of a box lie in shared memory in order of their coordinates, the innermost first. Without a swizzle
//! they are packed; with one, every innermost row takes the swizzle's whole width, and each 16 bytes go where the
//! swizzle of their shared address puts them. Dimension `i` of the box has `moved(i)` elements, the `j`-th of them at
//! coordinate `start + j * element stride` (the innermost: `start + j`). An element whose coordinates are not all
//! inside the tensor is not in global memory: loads fill it, stores leave it out (PTX ISA, "Tiled Mode"; CUDA driver
//! API, `cuTensorMapEncodeTiled`).
//!
//! What the texts leave open was looked up on an H100 and an H200: the rows of narrow boxes, the alignment of the innermost
//! coordinate, the NaN, the rounding of tf32. And what they don't tell: a store (a reduction too) takes no negative
//! coordinates and no columns of which a corner is outside the tensor, and it writes whole 16 bytes, so that rows which end
//! elsewhere have what the box holds behind their end.

mod columns;

use girih_ptx::{OobFill, TENSOR_MAP_RANK, TensorElement, TensorMap};

/// Bytes that an address in shared memory is a multiple of.
const SHARED_ALIGN: u64 = 128;
/// Bytes that the innermost coordinate is a multiple of, and that a store writes together.
const UNIT: u64 = 16;

/// A piece of a box: bytes that follow one another in shared and, if they are inside the tensor, in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Global address of the first byte; `None` outside of the tensor.
    pub(crate) global: Option<u64>,
    /// Shared address of the first byte.
    pub(crate) shared: u64,
    /// Whole elements.
    pub(crate) bytes: u32,
}

/// Which way a box goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Into shared memory.
    Load,
    /// Into the tensor, with or without what is there.
    Store,
}

/// An operand that the hardware does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misuse {
    pub(crate) what: &'static str,
    pub(crate) value: u64,
    pub(crate) accepted: String,
}

/// The runs of the box that starts at `coordinates` (innermost first) of a tensor and at `shared`, an address in
/// shared memory, in the order of the box's elements. An im2col copy has `offsets`, none of a store.
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
    // Where pieces of a row may part in shared memory.
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
    let mut runs = Vec::with_capacity(starts.len() * (row_bytes / chunk + 2) as usize);
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
                bytes: (end - x) as u32,
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
    if coordinates[0].rem_euclid(each as i32) != 0 {
        let accepted = format!("a multiple of {each}, {UNIT} bytes of elements");
        let value = i64::from(coordinates[0]) as u64;
        return Err(Misuse { what: "the innermost coordinate", value, accepted });
    }
    if let Some(&negative) = coordinates.iter().find(|&&c| direction == Direction::Store && c < 0) {
        let accepted = "0 or more: only loads may begin before the tensor".into();
        let value = i64::from(negative) as u64;
        return Err(Misuse { what: "a coordinate of the store", value, accepted });
    }
    match &map.tiled().columns {
        Some(columns) if direction == Direction::Store => columns::check_inside(columns),
        _ => Ok(()),
    }
}

/// The part of a box's row, in bytes of it, that is inside a row of the tensor; `start` is where in that the box begins.
fn inside(start: i64, tensor_row: u64, row_bytes: u64) -> (u64, u64) {
    let clamp = |byte: i64| byte.saturating_sub(start).clamp(0, row_bytes as i64) as u64;
    (clamp(0), clamp(tensor_row as i64))
}

/// The global addresses of the first elements of the box's rows, or where those would be; `None` if an outer coordinate
/// is outside.
fn rows(map: &TensorMap, coordinates: &[i32]) -> Vec<Option<u64>> {
    let count = (1..map.rank()).map(|i| u64::from(map.moved(i))).product::<u64>();
    let mut at = [0; TENSOR_MAP_RANK];
    let mut rows = Vec::with_capacity(count as usize);
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

/// The global address of an element, `None` if a coordinate but the innermost is outside.
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

/// The next row's place in the box.
fn next(map: &TensorMap, at: &mut [u64; TENSOR_MAP_RANK]) {
    for (i, place) in at.iter_mut().enumerate().take(map.rank()).skip(1) {
        *place += 1;
        if *place < u64::from(map.moved(i)) {
            return;
        }
        *place = 0;
    }
}

/// What a run outside of the tensor reads as.
pub(crate) fn fill(map: &TensorMap, bytes: &mut [u8]) {
    match map.tiled().fill {
        OobFill::Zero => bytes.fill(0),
        OobFill::Nan => bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = [0xf7, 0x7f][i % 2]),
    }
}

/// What a load does to the elements inside of the tensor, if anything.
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

/// To the nearest tf32, ties to even; subnormals too. NaNs become one.
fn round_tf32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    let even = bits >> 13 & 1;
    bits.wrapping_add(0xfff + even) & !0x1fff
}
