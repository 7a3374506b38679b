//! Values: bits of elements, of which some may be poison.

use std::rc::Rc;

use girih_tensor::DType;

use girih_tile::ir::{Dims, Type};

/// A value: the bits of each element, row-major, in the low bits of a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Dtype and shape.
    pub ty: Type,
    /// Elements.
    pub bits: Rc<[u64]>,
    /// Which elements are undetermined; `None` of them if absent.
    pub poison: Option<Rc<[bool]>>,
}

impl Tile {
    /// A value without poison.
    pub fn new(ty: Type, bits: Vec<u64>) -> Tile {
        Tile { ty, bits: bits.into(), poison: None }
    }

    /// A value of elements, each with whether it is poison.
    pub fn of(ty: Type, elements: impl IntoIterator<Item = (u64, bool)>) -> Tile {
        let (bits, poison): (Vec<u64>, Vec<bool>) = elements.into_iter().unzip();
        let poison = poison.contains(&true).then(|| poison.into());
        Tile { ty, bits: bits.into(), poison }
    }

    /// A scalar.
    pub fn scalar(dtype: DType, bits: u64) -> Tile {
        Tile::new(Type::scalar(dtype), vec![bits])
    }

    /// An element and whether it is poison.
    pub fn at(&self, i: usize) -> (u64, bool) {
        (self.bits[i], self.poison.as_ref().is_some_and(|poison| poison[i]))
    }

    /// The elements, each with whether it is poison.
    pub fn elements(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        (0..self.bits.len()).map(|i| self.at(i))
    }

    /// The same elements in another type of the same size.
    pub fn with(&self, ty: Type) -> Tile {
        Tile { ty, ..self.clone() }
    }
}

/// Calls `f` with the coordinate of each element, row-major.
pub(super) fn coordinates(dims: &[u32], mut f: impl FnMut(&[u32])) {
    let mut at = vec![0; dims.len()];
    if dims.contains(&0) {
        return;
    }
    loop {
        f(&at);
        let Some(axis) = (0..dims.len()).rev().find(|&axis| at[axis] + 1 < dims[axis]) else { return };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}

/// The position of a coordinate, row-major.
pub(super) fn position(dims: &[u32], at: &[u32]) -> usize {
    dims.iter().zip(at).fold(0, |sum, (&n, &i)| sum * n as usize + i as usize)
}

/// The lines of a shape along an axis: first elements, extent, and the distance of neighbours.
pub(super) fn lines(dims: Dims, axis: usize) -> (Vec<usize>, usize, usize) {
    let extent = dims[axis] as usize;
    let step: usize = dims[axis + 1..].iter().map(|&n| n as usize).product();
    let outer: usize = dims[..axis].iter().map(|&n| n as usize).product();
    let firsts = (0..outer).flat_map(|o| (0..step).map(move |i| o * extent * step + i)).collect();
    (firsts, extent, step)
}
