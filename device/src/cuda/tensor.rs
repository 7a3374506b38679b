//! The driver's encoding of tensor maps.

use std::ptr;

use cudarc::driver::sys;
use girih_ptx::{Columns, TENSOR_MAP_BYTES, TENSOR_MAP_RANK, TensorMap};
use sys::{
    CUtensorMapDataType as Element, CUtensorMapFloatOOBfill as Fill, CUtensorMapInterleave as Interleave,
    CUtensorMapL2promotion as Promotion, CUtensorMapSwizzle as Swizzle,
};

use super::failed;
use crate::Error;
use crate::sizes::{size, word};

/// The driver's constants in the order of their numbers. The enumerations of `girih_ptx` have the same numbers.
const ELEMENTS: [Element; 13] = [
    Element::CU_TENSOR_MAP_DATA_TYPE_UINT8,
    Element::CU_TENSOR_MAP_DATA_TYPE_UINT16,
    Element::CU_TENSOR_MAP_DATA_TYPE_UINT32,
    Element::CU_TENSOR_MAP_DATA_TYPE_INT32,
    Element::CU_TENSOR_MAP_DATA_TYPE_UINT64,
    Element::CU_TENSOR_MAP_DATA_TYPE_INT64,
    Element::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    Element::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    Element::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    Element::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    Element::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    Element::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    Element::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
];
const SWIZZLES: [Swizzle; 4] = [
    Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
];
const PROMOTIONS: [Promotion; 4] = [
    Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
    Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
];
const FILLS: [Fill; 2] =
    [Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA];

/// Encodes a checked map.
pub(super) fn encode(map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES], Error> {
    let tiled = map.tiled();
    // The driver may read more entries of each array than the tensor has dimensions, so all arrays have the largest rank.
    let (mut dims, mut strides) = ([1; TENSOR_MAP_RANK], [0; TENSOR_MAP_RANK]);
    let (mut extents, mut steps) = ([1; TENSOR_MAP_RANK], [1; TENSOR_MAP_RANK]);
    dims.iter_mut().zip(&tiled.dims).for_each(|(to, &from)| *to = from);
    strides.iter_mut().zip(&tiled.strides).for_each(|(to, &from)| *to = from);
    extents.iter_mut().zip(&tiled.extents).for_each(|(to, &from)| *to = from);
    steps.iter_mut().zip(&tiled.element_strides).for_each(|(to, &from)| *to = from);
    if let Some(columns) = &tiled.columns {
        return encode_columns(map, columns, (dims, strides, steps));
    }
    let mut encoded = sys::CUtensorMap { opaque: [0; TENSOR_MAP_BYTES / 8] };
    // SAFETY: the map has the alignment that the driver requires. The map and the arrays, which are as long as the largest rank,
    // outlive the call. The driver encodes the address without reading the memory there.
    unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut encoded,
            ELEMENTS[tiled.element as usize],
            word(map.rank()),
            ptr::without_provenance_mut(size(map.address())),
            dims.as_ptr(),
            strides.as_ptr(),
            extents.as_ptr(),
            steps.as_ptr(),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            SWIZZLES[tiled.swizzle as usize],
            PROMOTIONS[tiled.l2_promotion as usize],
            FILLS[tiled.fill as usize],
        )
    }
    .result()
    .map_err(failed("cuTensorMapEncodeTiled"))?;
    Ok(bytes_of(&encoded))
}

/// Encodes a checked map of columns of pixels. The arrays are as long as the largest rank.
fn encode_columns(
    map: &TensorMap,
    columns: &Columns,
    (dims, strides, steps): ([u64; TENSOR_MAP_RANK], [u64; TENSOR_MAP_RANK], [u32; TENSOR_MAP_RANK]),
) -> Result<[u8; TENSOR_MAP_BYTES], Error> {
    let tiled = map.tiled();
    let (mut lower, mut upper) = ([0; TENSOR_MAP_RANK], [0; TENSOR_MAP_RANK]);
    lower.iter_mut().zip(&columns.lower).for_each(|(to, &from)| *to = from);
    upper.iter_mut().zip(&columns.upper).for_each(|(to, &from)| *to = from);
    let mut encoded = sys::CUtensorMap { opaque: [0; TENSOR_MAP_BYTES / 8] };
    // SAFETY: the map has the alignment that the driver requires. The map and the arrays, which are as long as the largest rank,
    // outlive the call. The driver encodes the address without reading the memory there.
    unsafe {
        sys::cuTensorMapEncodeIm2col(
            &mut encoded,
            ELEMENTS[tiled.element as usize],
            word(map.rank()),
            ptr::without_provenance_mut(size(map.address())),
            dims.as_ptr(),
            strides.as_ptr(),
            lower.as_ptr(),
            upper.as_ptr(),
            map.moved(0),
            map.moved(1),
            steps.as_ptr(),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            SWIZZLES[tiled.swizzle as usize],
            PROMOTIONS[tiled.l2_promotion as usize],
            FILLS[tiled.fill as usize],
        )
    }
    .result()
    .map_err(failed("cuTensorMapEncodeIm2col"))?;
    Ok(bytes_of(&encoded))
}

/// Changes an encoded map of a tensor into the map of the same tensor at another address, which must have been checked.
pub(super) fn replace_address(bytes: &mut [u8; TENSOR_MAP_BYTES], address: u64) -> Result<(), Error> {
    let mut encoded = sys::CUtensorMap { opaque: [0; TENSOR_MAP_BYTES / 8] };
    for (word, from) in encoded.opaque.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*from);
    }
    // SAFETY: the driver encoded the map, which has the alignment that the driver requires and outlives the call. The driver
    // encodes the address without reading the memory there.
    unsafe { sys::cuTensorMapReplaceAddress(&mut encoded, ptr::without_provenance_mut(size(address))) }
        .result()
        .map_err(failed("cuTensorMapReplaceAddress"))?;
    *bytes = bytes_of(&encoded);
    Ok(())
}

fn bytes_of(encoded: &sys::CUtensorMap) -> [u8; TENSOR_MAP_BYTES] {
    let mut bytes = [0; TENSOR_MAP_BYTES];
    for (to, word) in bytes.chunks_exact_mut(8).zip(encoded.opaque) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
