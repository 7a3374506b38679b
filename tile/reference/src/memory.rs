//! Arrays, and loads and stores of tiles.

use girih_tensor::DType;

use super::tile::{Tile, coordinates};
use super::{Block, Result, decided, failed};
use girih_tile::dtype::{Category, category};
use girih_tile::exact::float;
use girih_tile::exact::{integer, mask};
use girih_tile::ir::{Array, ArrayId, Op, Padding, Rounding, Type, View};

/// An array in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayData {
    /// The dtype of its elements.
    pub dtype: DType,
    /// Extents, in elements.
    pub extents: Vec<i64>,
    /// Strides, in elements.
    pub strides: Vec<i64>,
    /// The memory, from the element at coordinate 0 on, little-endian; of elements smaller than a byte the first in the lowest bits.
    pub bytes: Vec<u8>,
}

impl ArrayData {
    /// A dense row-major array of elements, each as the dtype's bits.
    pub fn dense(dtype: DType, extents: &[i64], bits: &[u64]) -> ArrayData {
        let (width, per) = (dtype.bytes() as usize, per_byte(dtype));
        let bytes = match per {
            1 => bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(width)).collect(),
            _ => vec![0; bits.len().div_ceil(per)],
        };
        let mut array = ArrayData { dtype, extents: vec![bits.len() as i64], strides: vec![1], bytes };
        for (at, &bits) in (0..).zip(bits).filter(|_| per > 1) {
            array.write(&[at], bits);
        }
        let bytes = array.bytes;
        ArrayData { dtype, extents: extents.to_vec(), strides: row_major(extents), bytes }
    }

    /// The bytes of an element, and its first bit there.
    fn place(&self, at: &[i64]) -> Option<(std::ops::Range<usize>, u32)> {
        let element: i64 = at.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
        let (element, per, width) =
            (usize::try_from(element).ok()?, per_byte(self.dtype), self.dtype.bytes() as usize);
        let first = (element / per).checked_mul(width)?;
        let bit = u32::try_from(element % per).ok()? * self.dtype.bits();
        (first + width <= self.bytes.len()).then(|| (first..first + width, bit))
    }

    /// The bits of the element at a coordinate; `None` outside of the memory.
    pub fn read(&self, at: &[i64]) -> Option<u64> {
        let mut word = [0; 8];
        let (place, bit) = self.place(at)?;
        let bytes = self.bytes.get(place)?;
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word) >> bit & mask(self.dtype);
        Some(if self.dtype == DType::Bool { u64::from(bits != 0) } else { bits })
    }

    /// Writes the element at a coordinate; `None` outside of the memory.
    pub fn write(&mut self, at: &[i64], bits: u64) -> Option<()> {
        let (place, bit) = self.place(at)?;
        let bits = match per_byte(self.dtype) {
            1 => bits,
            _ => u64::from(self.bytes[place.start]) & !(mask(self.dtype) << bit) | bits << bit,
        };
        let width = place.len();
        self.bytes[place].copy_from_slice(&bits.to_le_bytes()[..width]);
        Some(())
    }

    /// The bits of all elements, row-major; `None` if some are outside of the memory.
    pub fn elements(&self) -> Option<Vec<u64>> {
        let extents: Option<Vec<u32>> = self.extents.iter().map(|&n| u32::try_from(n).ok()).collect();
        let (mut all, mut place) = (Some(Vec::new()), Vec::new());
        coordinates(&extents?, |at| {
            place.clear();
            place.extend(at.iter().map(|&i| i64::from(i)));
            match (&mut all, self.read(&place)) {
                (Some(list), Some(bits)) => list.push(bits),
                _ => all = None,
            }
        });
        all
    }
}

/// How many elements a byte holds, if they are smaller; else 1.
fn per_byte(dtype: DType) -> usize {
    (8 / dtype.bits()).max(1) as usize
}

/// The strides of a dense row-major array.
pub fn row_major(extents: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis] * extents[axis].max(1);
    }
    strides
}

/// A part of a parameter: which parameter, the coordinate there of the part's element 0, and the coordinates that are inside, from the
/// least on.
pub(super) struct Part {
    pub(super) param: usize,
    pub(super) start: Vec<i64>,
    pub(super) low: Vec<i64>,
    pub(super) extents: Vec<i64>,
}

impl Part {
    /// The coordinate in the parameter of one in the part; `None` outside of the part, where an access that checks no bounds must not be.
    pub(super) fn inside(&self, mut at: Vec<i64>, check: bool) -> Result<Option<Vec<i64>>> {
        let within =
            at.iter().zip(self.low.iter().zip(&self.extents)).all(|(i, (low, n))| (*low..*n).contains(i));
        if !within && !check {
            let extents = &self.extents;
            return failed(format!(
                "element {at:?} outside of {extents:?} by an access that checks no bounds"
            ));
        }
        if !within {
            return Ok(None);
        }
        at.iter_mut().zip(&self.start).for_each(|(i, start)| *i += start);
        Ok(Some(at))
    }
}

impl Block<'_> {
    /// What an array is a part of.
    pub(super) fn part(&self, array: ArrayId) -> Result<Part> {
        match &self.func.arrays()[array.index()] {
            Array::Param(_) => {
                let data = &self.arrays[array.index()];
                let start = vec![0; data.extents.len()];
                Ok(Part { param: array.index(), low: start.clone(), start, extents: data.extents.clone() })
            }
            Array::Slice { of, axis, start, stop } => {
                let mut part = self.part(*of)?;
                let axis = usize::from(*axis);
                let (start, stop) =
                    (self.whole(*start, "the start of a part")?, self.whole(*stop, "the end of a part")?);
                part.extents[axis] = (stop.min(part.extents[axis]) - start).clamp(0, i32::MAX.into());
                part.low[axis] = (part.low[axis] - start).max(0);
                part.start[axis] += start;
                Ok(part)
            }
        }
    }

    /// Calls `f` with the block, the position in the tile and, where it is inside of the array, the coordinate of each element of a
    /// tile in its parameter.
    fn window(
        &mut self,
        view: &View,
        index: &[i64],
        mut f: impl FnMut(&mut Self, &Part, usize, Option<Vec<i64>>) -> Result,
    ) -> Result {
        let part = self.part(view.array)?;
        let mut places = Vec::new();
        coordinates(&view.tile, |at| {
            let steps = view.steps.iter().map(|&step| i64::from(step));
            places.push(
                index
                    .iter()
                    .zip(steps)
                    .zip(at)
                    .map(|((i, step), &p)| i.saturating_mul(step).saturating_add(p.into()))
                    .collect(),
            );
        });
        for (i, at) in places.into_iter().enumerate() {
            f(self, &part, i, part.inside(at, view.check)?)?;
        }
        Ok(())
    }

    /// Loads a tile.
    pub(super) fn load(&mut self, view: &View, op: &Op) -> Result<Tile> {
        let index = self.index(&op.operands)?;
        let result = self.func.ty(op.results[0]);
        let outside = padding(view.padding, result)?;
        let mut elements = Vec::new();
        self.window(view, &index, |block, part, _, at| {
            elements.push(match at {
                None => outside,
                Some(at) => (block.read(part.param, &at)?, false),
            });
            Ok(())
        })?;
        Ok(Tile::of(result, elements))
    }

    /// Stores a tile.
    pub(super) fn store(&mut self, view: &View, op: &Op) -> Result {
        let value = self.get(op.operands[0])?;
        let index = self.index(&op.operands[1..])?;
        self.window(view, &index, |block, part, i, at| match at {
            None => Ok(()),
            Some(at) => block.write(part.param, &at, value.at(i)),
        })
    }

    fn index(&self, operands: &[girih_tile::ir::Value]) -> Result<Vec<i64>> {
        operands.iter().map(|&value| self.whole(value, "an index")).collect()
    }

    pub(super) fn read(&self, param: usize, at: &[i64]) -> Result<u64> {
        let data = &self.arrays[param];
        data.read(at)
            .map_or_else(|| failed(format!("element {at:?} of array {param} is outside of its memory")), Ok)
    }

    pub(super) fn write(&mut self, param: usize, at: &[i64], (bits, poison): (u64, bool)) -> Result {
        if poison {
            return failed(format!(
                "element {at:?} of array {param} would get an undetermined value: padding that is used, or a quotient by 0"
            ));
        }
        match self.arrays[param].write(at, bits) {
            Some(()) => Ok(()),
            None => failed(format!("element {at:?} of array {param} is outside of its memory")),
        }
    }

    /// The number of an integer scalar that decides something.
    pub(super) fn whole(&self, value: girih_tile::ir::Value, what: &str) -> Result<i64> {
        let tile = self.get(value)?;
        Ok(i64::try_from(integer(tile.ty.dtype, decided(tile.at(0), what)?)).unwrap_or(i64::MAX))
    }
}

fn padding(padding: Padding, ty: Type) -> Result<(u64, bool)> {
    let Some(x) = padding.number() else { return Ok((0, true)) };
    if category(ty.dtype) == Category::Float {
        return Ok((float::encode(ty.dtype, x, Rounding::Nearest) & mask(ty.dtype), false));
    }
    if padding != Padding::Zero {
        let dtype = ty.dtype;
        return failed(format!("padding of {dtype} by {padding:?}; zero and undetermined are accepted"));
    }
    Ok((0, false))
}
