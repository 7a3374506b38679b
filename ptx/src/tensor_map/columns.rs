//! Columns of pixels: the boxes of im2col copies (PTX ISA, "Im2col mode"; CUDA driver API, `cuTensorMapEncodeIm2col`).

use super::bounds;
use crate::Error;

/// The most pixels of a column.
pub(super) const PIXELS: u64 = 1024;
/// Bytes that columns take in the simulator's encoding of a tensor map.
pub(super) const BYTES: usize = 16;

/// The bounding box of the pixels at which a filter starts. Along each dimension of pixels, the innermost first, the
/// box goes from `lower` to the tensor's last pixel plus `upper`. A column goes from pixel to pixel of this box, in
/// steps of the element strides, and then on to the next image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Columns {
    /// The first coordinate of the box; negative for a border before the tensor.
    pub lower: Vec<i32>,
    /// The last coordinate of the box, less the coordinate of the tensor's last pixel.
    pub upper: Vec<i32>,
}

impl Columns {
    /// The coordinates that columns go through along dimension `i` of pixels, along which the tensor has `dim` pixels;
    /// `None` beyond the dimensions of pixels.
    pub fn range(&self, i: usize, dim: u64) -> Option<std::ops::Range<i64>> {
        Some(i64::from(*self.lower.get(i)?)..dim as i64 + i64::from(*self.upper.get(i)?))
    }

    /// The bits that each corner coordinate and each offset may have in a tensor of `pixels` dimensions of pixels.
    pub fn bits(pixels: usize) -> u32 {
        match pixels {
            1 => 16,
            2 => 8,
            _ => 5,
        }
    }

    pub(super) fn check(&self, dims: &[u64]) -> Result<(), Error> {
        bounds("the rank", dims.len() as u64, 3..=5)?;
        let pixels = dims.len() - 2;
        let half = 1i64 << (Self::bits(pixels) - 1);
        for (name, corner) in [("lower", &self.lower), ("upper", &self.upper)] {
            let count = pixels as u64;
            bounds(&format!("the number of {name} corners"), corner.len() as u64, count..=count)?;
            if let Some(i) = corner.iter().position(|&c| !(-half..half).contains(&c.into())) {
                let accepted = format!("{} to {} as a signed number", -half, half - 1);
                return Err(super::refused(&format!("{name}[{i}]"), i64::from(corner[i]) as u64, &accepted));
            }
        }
        for i in 0..pixels {
            let range = self.range(i, dims[i + 1]).unwrap_or_default();
            if range.is_empty() {
                let accepted = format!(
                    "one above {} as a signed number, for a pixel at least",
                    range.start - dims[i + 1] as i64
                );
                return Err(super::refused(
                    &format!("upper[{i}]"),
                    i64::from(self.upper[i]) as u64,
                    &accepted,
                ));
            }
        }
        Ok(())
    }

    pub(super) fn to_bytes(&self, pixels: u32) -> Vec<u8> {
        let corner = |corner: &[i32]| {
            super::padded(corner).take(3).flat_map(|c: i32| (c as i16).to_le_bytes()).collect::<Vec<u8>>()
        };
        let mut bytes = vec![1, 0];
        bytes.extend((pixels as u16).to_le_bytes());
        bytes.extend(corner(&self.lower));
        bytes.extend(corner(&self.upper));
        bytes
    }

    /// The columns, and the pixels of a column; `None` if the map is not one for im2col copies.
    pub(super) fn decode(bytes: &[u8], rank: usize) -> Option<(Columns, u32)> {
        let half = |at: usize| [bytes[at], bytes[at + 1]];
        let pixels = rank.saturating_sub(2).min(3);
        let corner = |at: usize| (0..pixels).map(|i| i16::from_le_bytes(half(at + 2 * i)).into()).collect();
        (bytes[0] == 1).then(|| {
            let columns = Columns { lower: corner(4), upper: corner(10) };
            (columns, u16::from_le_bytes(half(2)).into())
        })
    }
}
