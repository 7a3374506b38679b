//! Where the elements of an array are in its buffer: strides, offsets and bytes.

use std::ops::Range;

use girih_layout::Lay;
use girih_tensor::DType;

use super::LaunchError;
use crate::error::{Error, Result};

/// The strides of an array whose last axis is contiguous, each axis behind the next one.
pub(super) fn row_major(extents: &[usize]) -> Result<Vec<usize>> {
    let (mut strides, mut size) = (vec![1; extents.len()], 1usize);
    for axis in (0..extents.len()).rev() {
        strides[axis] = size;
        size = size.checked_mul(extents[axis].max(1)).ok_or_else(|| outside(0, extents, &[], 0))?;
    }
    Ok(strides)
}

/// The bytes of this many elements.
pub(super) fn bytes_of(dtype: DType, elements: usize) -> usize {
    match dtype.bits() {
        bits @ 0..8 => elements.div_ceil(8 / bits as usize),
        bits => elements * (bits / 8) as usize,
    }
}

/// The addresses of an array's elements, from the first byte to behind the last one.
pub(super) fn bytes_from(first: u64, dtype: DType, extents: &[usize], strides: &[usize]) -> Range<u64> {
    first..first + bytes_of(dtype, reach(extents, strides).unwrap_or(0)) as u64
}

/// Checks that an array is in memory of `len` elements, and that elements smaller than a byte fill whole bytes along the last axis.
pub(super) fn check_place(
    dtype: DType,
    len: usize,
    offset: usize,
    extents: &[usize],
    strides: &[usize],
) -> Result {
    if let Some(axis) = extents.iter().position(|&n| i32::try_from(n).is_err()) {
        return Err(LaunchError::Extent { axis, extent: extents[axis] }.into());
    }
    if let (Some((extent, _)), Some((stride, slower))) = (extents.split_last(), strides.split_last())
        && dtype.bits() < 8
    {
        let odd = |n: &usize| !n.is_multiple_of((8 / dtype.bits()) as usize);
        let one = *stride == 1 || *extent == 0;
        if !one || odd(&offset) || odd(extent) || slower.iter().any(odd) {
            let (extents, strides) = (extents.to_vec(), strides.to_vec());
            return Err(LaunchError::Pairs { dtype, offset, extents, strides }.into());
        }
    }
    let reach = reach(extents, strides).and_then(|reach| reach.checked_add(offset));
    if reach.is_none_or(|end| end > len) { Err(outside(offset, extents, strides, len)) } else { Ok(()) }
}

fn outside(offset: usize, extents: &[usize], strides: &[usize], elements: usize) -> Error {
    let (extents, strides) = (extents.to_vec(), strides.to_vec());
    LaunchError::Outside { offset, extents, strides, elements }.into()
}

/// Elements from the first to behind the last.
fn reach(extents: &[usize], strides: &[usize]) -> Option<usize> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents
        .iter()
        .zip(strides)
        .try_fold(1usize, |reach, (&extent, &stride)| reach.checked_add((extent - 1).checked_mul(stride)?))
}

/// As [`reach`], where numbers hold it.
pub(super) fn known_reach(extents: &[usize], strides: &[usize]) -> Result<usize> {
    reach(extents, strides).ok_or_else(|| outside(0, extents, strides, 0))
}

/// The distances of an array's elements from the first one, row-major.
pub(super) fn places(extents: &[usize], strides: &[usize]) -> impl Iterator<Item = usize> {
    let size = extents.iter().product();
    let (mut next, mut place) = (vec![0; extents.len()], 0usize);
    (0..size).map(move |_| {
        let now = place;
        for (axis, (&extent, &stride)) in extents.iter().zip(strides).enumerate().rev() {
            next[axis] += 1;
            place = place.wrapping_add(stride);
            if next[axis] < extent {
                break;
            }
            next[axis] = 0;
            place = place.wrapping_sub(extent.wrapping_mul(stride));
        }
        now
    })
}

/// Whether no two coordinates name one element.
pub(crate) fn is_injective(extents: &[usize], strides: &[usize]) -> bool {
    let mut axes: Vec<(usize, usize)> =
        strides.iter().copied().zip(extents.iter().copied()).filter(|&(_, extent)| extent != 1).collect();
    if axes.iter().any(|&(_, extent)| extent == 0) {
        return true;
    }
    axes.sort_unstable();
    // Axes that go beyond what the smaller ones reach, as nearly all do.
    let chain = axes.iter().try_fold(1usize, |reach, &(stride, extent)| {
        (stride >= reach).then(|| (extent - 1).checked_mul(stride)?.checked_add(reach)).flatten()
    });
    if chain.is_some() {
        return true;
    }
    let list = |pick: fn(&(usize, usize)) -> usize| {
        axes.iter().map(|axis| pick(axis).to_string()).collect::<Vec<_>>().join(",")
    };
    let text = format!("({}):({})", list(|axis| axis.1), list(|axis| axis.0));
    text.parse::<Lay>().is_ok_and(|lay| lay.is_injective() == Ok(true))
}
