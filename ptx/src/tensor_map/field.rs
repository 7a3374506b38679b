//! Tensor maps that a kernel makes, field by field (PTX ISA, "tensormap.replace").

use super::{
    MAGIC, TENSOR_MAP_BYTES, TENSOR_MAP_RANK, TensorElement, bounds, check_address, multiple, refused,
};
use crate::Error;

/// A field of a tensor map, as `tensormap.replace` names it. A field of one dimension has the dimension's ordinal, 0
/// being the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorField {
    /// `.global_address`: the address of the first element, a multiple of 16.
    Address,
    /// `.rank`: one less than the number of dimensions.
    Rank,
    /// `.box_dim`: elements of the box, 1 to 256.
    Extent(usize),
    /// `.global_dim`: elements of the tensor, at least 1.
    Dim(usize),
    /// `.global_stride`: bytes between elements of the dimension after this one, a multiple of 16.
    Stride(usize),
    /// `.element_stride`: 1 to 8.
    ElementStride(usize),
    /// `.elemtype`, by the numbers of the PTX ISA, which are not the driver's. A map of tf32 cannot become one of another type.
    Element,
    /// `.interleave_layout`
    Interleave,
    /// `.swizzle_mode`
    Swizzle,
    /// `.fill_mode`
    Fill,
}

/// The element types by the numbers of `tensormap.replace`.
const ELEMENTS: [TensorElement; 13] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::S32,
    TensorElement::U64,
    TensorElement::S64,
    TensorElement::F16,
    TensorElement::F32,
    TensorElement::F32Ftz,
    TensorElement::F64,
    TensorElement::Bf16,
    TensorElement::Tf32,
    TensorElement::Tf32Ftz,
];

impl TensorField {
    /// Puts a field into the simulator's encoding of a tensor map. Bytes that are all zero begin a new map. Whether the
    /// fields go together is checked when the map is [read](super::TensorMap::from_bytes).
    ///
    /// ```
    /// use girih_ptx::{TensorElement, TensorField, TensorMap, Tiled};
    /// let mut bytes = [0; 128];
    /// for (field, value) in [
    ///     (TensorField::Address, 0x100),
    ///     (TensorField::Element, 7),
    ///     (TensorField::Dim(0), 24),
    ///     (TensorField::Extent(0), 8),
    ///     (TensorField::ElementStride(0), 1),
    /// ] {
    ///     field.replace(&mut bytes, value)?;
    /// }
    /// let map = Tiled::new(TensorElement::F32, &[24], &[8]).at(0x100)?;
    /// assert_eq!(TensorMap::from_bytes(&bytes)?, map);
    /// assert!(TensorField::Extent(0).replace(&mut bytes, 257).is_err());
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TensorMap`] for a value or an ordinal that no map has; [`Error::NotATensorMap`] if the bytes are not a
    /// tensor map.
    pub fn replace(self, bytes: &mut [u8; TENSOR_MAP_BYTES], value: u64) -> Result<(), Error> {
        if *bytes == [0; TENSOR_MAP_BYTES] {
            bytes[..8].copy_from_slice(&MAGIC);
            bytes[RANK] = 1;
        }
        if bytes[..8] != MAGIC {
            return Err(Error::NotATensorMap { why: "they don't start as one, and are not zeros" });
        }
        // `tensormap.replace` has no form for im2col maps.
        bounds("the mode", bytes[MODE].into(), 0..=0)?;
        let ordinal = |i: usize, most: usize| bounds("the ordinal", i as u64, 0..=most as u64 - 1);
        match self {
            TensorField::Address => {
                check_address(value)?;
                put(bytes, 8, &value.to_le_bytes());
            }
            TensorField::Rank => {
                bounds("the rank less one", value, 0..=TENSOR_MAP_RANK as u64 - 1)?;
                bytes[RANK] = value as u8 + 1;
                // Clears the fields of the dimensions that the map has no longer.
                for i in value as usize + 1..TENSOR_MAP_RANK {
                    (bytes[EXTENTS + i], bytes[STEPS + i]) = (0, 0);
                    put(bytes, DIMS + 8 * i, &[0; 8]);
                    put(bytes, STRIDES + 8 * (i - 1), &[0; 8]);
                }
            }
            TensorField::Extent(i) => {
                ordinal(i, TENSOR_MAP_RANK)?;
                bounds(&format!("extents[{i}]"), value, 1..=256)?;
                bytes[EXTENTS + i] = (value - 1) as u8;
            }
            TensorField::Dim(i) => {
                ordinal(i, TENSOR_MAP_RANK)?;
                bounds(&format!("dims[{i}]"), value, 1..=1 << 32)?;
                put(bytes, DIMS + 8 * i, &value.to_le_bytes());
            }
            TensorField::Stride(i) => {
                ordinal(i, TENSOR_MAP_RANK - 1)?;
                bounds(&format!("strides[{i}]"), value, 0..=(1 << 40) - 1)?;
                multiple(&format!("strides[{i}]"), value, 16)?;
                put(bytes, STRIDES + 8 * i, &value.to_le_bytes());
            }
            TensorField::ElementStride(i) => {
                ordinal(i, TENSOR_MAP_RANK)?;
                bounds(&format!("element_strides[{i}]"), value, 1..=8)?;
                bytes[STEPS + i] = value as u8;
            }
            TensorField::Element => {
                let element = usize::try_from(value).ok().and_then(|i| ELEMENTS.get(i));
                let element = *element.ok_or_else(|| refused("the element type", value, "0 to 12"))?;
                // The driver encodes tf32 in a second place too, which the instruction leaves as it is: on an H200,
                // loads of f32 by such a map round to tf32, and loads of other types are illegal instructions.
                if TensorElement::decode(bytes[16]).is_some_and(is_tf32) && !is_tf32(element) {
                    let accepted = "11 or 12: a map of tf32 stays one on a GPU";
                    return Err(refused("the element type", value, accepted));
                }
                bytes[16] = element as u8;
            }
            TensorField::Interleave => {
                bounds("the interleave", value, 0..=2)?;
                bytes[18] = value as u8;
            }
            TensorField::Swizzle => {
                bounds("the swizzle", value, 0..=3)?;
                bytes[19] = value as u8;
            }
            TensorField::Fill => {
                bounds("the fill", value, 0..=1)?;
                bytes[21] = value as u8;
            }
        }
        Ok(())
    }
}

fn is_tf32(element: TensorElement) -> bool {
    matches!(element, TensorElement::Tf32 | TensorElement::Tf32Ftz)
}

/// The offsets of fields in the encoding, in bytes.
const RANK: usize = 17;
const EXTENTS: usize = 22;
const STEPS: usize = 27;
const DIMS: usize = 32;
const STRIDES: usize = 72;
const MODE: usize = 104;

fn put(bytes: &mut [u8; TENSOR_MAP_BYTES], at: usize, value: &[u8; 8]) {
    bytes[at..at + 8].copy_from_slice(value);
}
