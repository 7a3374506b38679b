//! [`Site`]: one engine type for tensors in any memory, so that algorithms are compiled once.

use girih_layout::{Lay, Stride};
use girih_tensor::{DType, Engine, Part, Space, Tensor};

use crate::{Counting, Error, Expr, Gmem, Memory, Rmem, Smem, engine};

/// The engine of a tensor, or the place of one of its values.
#[derive(Clone, Debug)]
pub enum Site {
    /// In global memory.
    Gmem(Gmem),
    /// In shared memory.
    Smem(Smem),
    /// In registers.
    Rmem(Rmem),
    /// In no memory: the value is a coordinate.
    Counting(Counting),
}

/// An engine of a kernel's tensors.
pub trait Data: Engine<Index = Expr> + Into<Site> {}

impl<E: Engine<Index = Expr> + Into<Site>> Data for E {}

impl From<Gmem> for Site {
    fn from(engine: Gmem) -> Site {
        Site::Gmem(engine)
    }
}

impl From<Smem> for Site {
    fn from(engine: Smem) -> Site {
        Site::Smem(engine)
    }
}

impl From<Rmem> for Site {
    fn from(engine: Rmem) -> Site {
        Site::Rmem(engine)
    }
}

impl From<Counting> for Site {
    fn from(engine: Counting) -> Site {
        Site::Counting(engine)
    }
}

/// An engine of any kind, so that an algorithm is compiled once and not once for each engine.
impl Engine for Site {
    type Index = Expr;

    fn space(&self) -> Space {
        Site::space(self)
    }

    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Site, girih_tensor::Error> {
        Ok(match self {
            Site::Gmem(engine) => Site::Gmem(engine.advance(steps)?),
            Site::Smem(engine) => Site::Smem(engine.advance(steps)?),
            Site::Rmem(engine) => Site::Rmem(engine.advance(steps)?),
            Site::Counting(engine) => Site::Counting(engine.advance(steps)?),
        })
    }

    fn with_part(self, part: impl FnOnce() -> Option<Part<Expr>>) -> Site {
        match self {
            Site::Gmem(engine) => Site::Gmem(engine.with_part(part)),
            Site::Smem(engine) => Site::Smem(engine.with_part(part)),
            Site::Rmem(engine) => Site::Rmem(engine.with_part(part)),
            Site::Counting(engine) => Site::Counting(engine.with_part(part)),
        }
    }

    fn part(&self) -> Option<&Part<Expr>> {
        match self {
            Site::Gmem(engine) => engine.part(),
            Site::Smem(engine) => engine.part(),
            Site::Rmem(engine) => engine.part(),
            Site::Counting(engine) => engine.part(),
        }
    }
}

impl Site {
    /// The engine of a tensor: the place of its first value.
    pub(super) fn of<E: Data>(tensor: &Tensor<E>) -> Site {
        tensor.engine().clone().into()
    }

    /// The tensor with an engine of any kind.
    pub(super) fn tensor<E: Data>(tensor: &Tensor<E>) -> Tensor<Site> {
        Tensor::new(Site::of(tensor), *tensor.layout())
    }

    /// The registers that the value is in.
    pub(super) fn rmem(&self) -> Option<&Rmem> {
        if let Site::Rmem(rmem) = self { Some(rmem) } else { None }
    }

    /// The element type; coordinates have none.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Site::Gmem(array) => Some(array.dtype()),
            Site::Smem(array) => Some(array.dtype()),
            Site::Rmem(array) => Some(array.dtype()),
            Site::Counting(_) => None,
        }
    }

    /// The memory that the value is in.
    pub fn space(&self) -> Space {
        match self {
            Site::Gmem(_) => Space::Gmem,
            Site::Smem(array) => array.space(),
            Site::Rmem(_) => Space::Rmem,
            Site::Counting(_) => Space::Counting,
        }
    }

    /// The element's offset in its array, before a swizzle, and the number of elements that the swizzle keeps contiguous. `None` for registers and
    /// coordinates.
    pub(super) fn offset(&self) -> Option<(Expr, i64)> {
        match self {
            Site::Gmem(array) => Some((array.offset().clone(), i64::MAX)),
            Site::Smem(array) => Some((array.offset().clone(), array.together())),
            Site::Rmem(_) | Site::Counting(_) => None,
        }
    }

    /// The address in bytes; `None` for a value without address.
    pub(super) fn address(&self) -> Result<Option<Expr>, Error> {
        match self {
            Site::Gmem(array) => array.address().map(Some),
            Site::Smem(array) => array.address().map(Some),
            Site::Rmem(_) | Site::Counting(_) => Ok(None),
        }
    }
}

/// The values of a tensor in colexicographic order.
pub(super) fn values(what: &'static str, tensor: &Tensor<Site>) -> Result<Vec<Site>, Error> {
    every_value(what, tensor, 1)
}

/// The values of a fragment in colexicographic order.
pub(super) fn fragment_values(what: &'static str, fragment: &Tensor<Rmem>) -> Result<Vec<Rmem>, Error> {
    Ok(values(what, &Site::tensor(fragment))?.iter().filter_map(Site::rmem).cloned().collect())
}

/// Every `every`-th value of a tensor in colexicographic order, from the first on. A layout that reaches past its registers is refused.
pub(super) fn every_value(what: &'static str, tensor: &Tensor<Site>, every: i64) -> Result<Vec<Site>, Error> {
    let count = crate::sizes::static_size(what, tensor.layout())?;
    let values = engine::Values::of(tensor.engine(), *tensor.layout());
    let value = |i| {
        let value = values.at(i)?;
        value.rmem().map_or(Ok(()), Rmem::check)?;
        Ok(value)
    };
    (0..count).step_by(every as usize).map(value).collect()
}

/// The distance in elements of one step along a mode of this stride, if it is known.
pub(super) fn distance(site: &Site, stride: &Stride) -> Option<i64> {
    match (site, stride) {
        (Site::Gmem(array), stride) => array.distance(stride),
        (_, Stride::Int(stride)) => stride.get(),
        _ => None,
    }
}

/// The values of a tensor in memory by increasing address: the leaves of the smallest strides vary fastest, and leaves of stride 0 or of unknown
/// stride slowest.
pub(super) fn memory_order(site: &Site, layout: &Lay) -> Result<Vec<i64>, Error> {
    let numbers = Lay::left(layout.shape())?;
    let distance = |leaf: usize| {
        let distance = distance(site, &layout.flat_leaf(leaf).1);
        distance.filter(|&stride| stride != 0).map_or(u64::MAX, i64::unsigned_abs)
    };
    let mut leaves: Vec<usize> = (0..layout.leaf_count()).collect();
    leaves.sort_by_key(|&leaf| distance(leaf));
    let leaf = |i: usize| Lay::leaf(numbers.flat_leaf(i).0, numbers.flat_leaf(i).1);
    let order = Lay::concat(&leaves.into_iter().map(leaf).collect::<Result<Vec<_>, _>>()?)?;
    let count = crate::sizes::static_size("copy", layout)?;
    (0..count).map(|i| Ok(order.at(i)?)).collect()
}
