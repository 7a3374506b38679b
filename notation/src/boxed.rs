//! Tensor maps as arguments: `tensormap:16x64,128B,bf16:in:A.npy`.

use std::path::Path;

use girih_ptx::{OobFill, TensorElement, TensorMap, TensorSwizzle, Tiled};
use npyz::TypeChar;

use crate::Error;
use crate::array::Array;

/// The box of an array that instructions move, and how instructions move the box.
#[derive(Clone, Debug)]
pub(crate) struct Boxed {
    /// The elements of the box along each dimension, in the order of the array's dimensions.
    extents: Vec<u32>,
    swizzle: TensorSwizzle,
    fill: OobFill,
    /// The type of the elements, if the type is not the one that the file says.
    element: Option<TensorElement>,
}

const ELEMENTS: [(&str, TensorElement); 4] = [
    ("bf16", TensorElement::Bf16),
    ("tf32", TensorElement::Tf32),
    ("tf32.ftz", TensorElement::Tf32Ftz),
    ("f32.ftz", TensorElement::F32Ftz),
];

impl Boxed {
    /// Parses a text such as `16x64,128B,nan,bf16`. The result is `None` if a part of the text cannot be read.
    pub(crate) fn parse(text: &str) -> Option<Boxed> {
        let mut parts = text.split(',');
        let extents = parts.next()?.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (swizzle, fill) = (TensorSwizzle::None, OobFill::Zero);
        let mut boxed = Boxed { extents, swizzle, fill, element: None };
        for part in parts {
            match part {
                "32B" => boxed.swizzle = TensorSwizzle::B32,
                "64B" => boxed.swizzle = TensorSwizzle::B64,
                "128B" => boxed.swizzle = TensorSwizzle::B128,
                "nan" => boxed.fill = OobFill::Nan,
                name => boxed.element = Some(ELEMENTS.iter().find(|(element, _)| *element == name)?.1),
            }
        }
        Some(boxed)
    }

    /// The map of an array at an address. The map's dimensions are the array's in the opposite order, with the contiguous dimension first.
    pub(crate) fn map(&self, path: &Path, array: &Array, address: u64) -> Result<TensorMap, Error> {
        let (Some(element), false) = (self.element.or_else(|| element(array)), array.fortran) else {
            return Err(Error::NoTensor { path: path.into(), descr: array.element.to_string() });
        };
        let dims: Vec<u64> = array.shape.iter().rev().copied().collect();
        let extents: Vec<u32> = self.extents.iter().rev().copied().collect();
        let tiled = Tiled::new(element, &dims, &extents).with_swizzle(self.swizzle).with_fill(self.fill);
        if u64::from(element.bytes()) * array.shape.iter().product::<u64>() != array.bytes.len() as u64 {
            return Err(Error::NoTensor { path: path.into(), descr: array.element.to_string() });
        }
        Ok(tiled.at(address)?)
    }
}

/// The type that a tensor map has for the elements of an array.
fn element(array: &Array) -> Option<TensorElement> {
    Some(match (array.element.type_char(), array.element.size_field()) {
        (TypeChar::Uint, 1) => TensorElement::U8,
        (TypeChar::Uint, 2) => TensorElement::U16,
        (TypeChar::Uint, 4) => TensorElement::U32,
        (TypeChar::Uint, 8) => TensorElement::U64,
        (TypeChar::Int, 4) => TensorElement::S32,
        (TypeChar::Int, 8) => TensorElement::S64,
        (TypeChar::Float, 2) => TensorElement::F16,
        (TypeChar::Float, 4) => TensorElement::F32,
        (TypeChar::Float, 8) => TensorElement::F64,
        _ => return None,
    })
}
