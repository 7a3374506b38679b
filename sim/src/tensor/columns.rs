//! The columns of pixels that im2col copies move (PTX ISA, "Im2col mode").
//!
//! The map's box contains the pixels that the first element of a filter may see. A column begins at the pixel that the
//! coordinates give, and goes through the box in steps of the element strides, the innermost dimension first, and then
//! from image to image. The instruction's offsets, which are those of an element of the filter, are added to the
//! coordinates of each pixel. Pixels that are then outside of the tensor are treated as in tiles.

use girih_ptx::{Columns, TensorMap};

use super::{Misuse, address};

/// Checks that all columns are inside of the tensor, as stores demand.
pub(super) fn check_inside(columns: &Columns) -> Result<(), Misuse> {
    let corners = [
        ("the lower corner of the map of a store", columns.lower.iter().min(), 0..=i32::MAX, "0 or more"),
        ("the upper corner of the map of a store", columns.upper.iter().max(), i32::MIN..=0, "0 or less"),
    ];
    for (what, corner, inside, accepted) in corners {
        if let Some(&corner) = corner.filter(|corner| !inside.contains(corner)) {
            let accepted = format!("{accepted}, as a signed number: only loads go outside of the tensor");
            return Err(Misuse { what, value: i64::from(corner).cast_unsigned(), accepted });
        }
    }
    Ok(())
}

/// The global addresses of the pixels of a column, in order; `None` for pixels outside of the tensor.
pub(super) fn pixels(
    map: &TensorMap,
    columns: &Columns,
    coordinates: &[i32],
    offsets: &[u64],
) -> Result<Vec<Option<u64>>, Misuse> {
    let tiled = map.tiled();
    let last = map.rank() - 1;
    let ranges: Vec<_> = (1..last).filter_map(|i| columns.range(i - 1, tiled.dims[i])).collect();
    for (range, &at) in ranges.iter().zip(&coordinates[1..]) {
        if !range.contains(&at.into()) {
            let accepted = format!("{} to {}, in the map's box of pixels", range.start, range.end - 1);
            return Err(Misuse {
                what: "a coordinate of the first pixel",
                value: i64::from(at).cast_unsigned(),
                accepted,
            });
        }
    }
    let most = (1 << Columns::bits(ranges.len())) - 1;
    if let Some(&value) = offsets.iter().find(|&&offset| offset > most) {
        return Err(Misuse { what: "an offset of the pixels", value, accepted: format!("0 to {most}") });
    }
    let mut at: Vec<i64> = coordinates.iter().map(|&at| at.into()).collect();
    let mut pixels = Vec::with_capacity(usize::try_from(map.moved(1)).unwrap_or_default());
    for _ in 0..map.moved(1) {
        let mut place = at.clone();
        place[1..].iter_mut().zip(offsets).for_each(|(place, &offset)| *place += offset as i64);
        pixels.push(address(map, &place));
        let mut images = 1;
        for (i, range) in ranges.iter().enumerate() {
            at[i + 1] += i64::from(tiled.element_strides[i + 1]);
            if at[i + 1] < range.end {
                images = 0;
                break;
            }
            at[i + 1] = range.start;
        }
        at[last] += images;
    }
    Ok(pixels)
}
