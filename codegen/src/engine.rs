//! Symbolic engines: where a generated kernel's tensors live.

mod gmem;
mod rmem;
mod smem;

use girih_layout::{Int, Lay, Stride};
use girih_tensor::{DType, Engine, Error, Index, Slice, Tensor};

use crate::expr::Expr;

pub use gmem::Gmem;
pub use rmem::Rmem;
pub(crate) use rmem::per_register;
pub use smem::Smem;

/// The most elements of a step, more than the elements of any address space.
const FARTHEST: i128 = 1 << 48;

impl Index for Expr {
    fn zero() -> Expr {
        Expr::from(0)
    }

    fn advanced(&self, digit: &Expr, scale: &Int) -> Result<Expr, Error> {
        if digit.as_constant() == Some(0) {
            return Ok(self.clone());
        }
        let coefficients = digit.terms().iter().map(|term| term.coefficient).chain([digit.constant()]);
        let most = coefficients.map(|c| i128::from(c).abs() * i128::from(scale.coefficient()).abs()).max();
        if most.is_some_and(|most| most > FARTHEST) {
            return Err(Error::Index(format!(
                "{digit} * {scale} is beyond any memory: up to 2^48 elements are accepted"
            )));
        }
        let step = match scale.get() {
            Some(scale) => digit * scale,
            None => digit * &Expr::from_int(scale),
        };
        Ok(self + &step)
    }

    fn div_rem(&self, by: &Int) -> Result<(Expr, Expr), Error> {
        let by = by
            .get()
            .ok_or_else(|| Error::Index(format!("({self}) / {by}: the divisor must be a constant")))?;
        let arithmetic = |e: crate::Error| Error::Index(e.to_string());
        Ok((self.div(by).map_err(arithmetic)?, self.rem(by).map_err(arithmetic)?))
    }

    fn check(&self, mode: &Lay) -> Result<(), Error> {
        match self.as_constant() {
            Some(value) => value.check(mode),
            None => Ok(()),
        }
    }

    fn known_range(&self) -> Option<(i64, i64)> {
        Some(self.range())
    }
}

fn advanced(offset: &Expr, steps: &[(Expr, Stride)]) -> Result<Expr, Error> {
    let mut offset = offset.clone();
    for (digit, stride) in steps {
        let Stride::Int(by) = stride else {
            return Err(Error::Stride {
                stride: stride.to_string(),
                layout: String::from("an array in memory"),
            });
        };
        offset = offset.advanced(digit, by)?;
    }
    Ok(offset)
}

/// Bytes of an element.
pub(crate) fn element_bytes(what: &'static str, dtype: DType) -> Result<i64, crate::Error> {
    dtype.bytes_of(1).ok_or(crate::Error::PartOfByte { what, dtype })
}

/// The offset in bytes at which element `offset` begins.
fn byte_offset(dtype: DType, offset: &Expr) -> Result<Expr, crate::Error> {
    if let Some(bytes) = dtype.bytes_of(1) {
        return Ok(offset * bytes);
    }
    let per_byte = 8 / i64::from(dtype.bits());
    if offset.multiple() % per_byte != 0 {
        return Err(crate::Error::Mismatch {
            what: "address",
            layout: offset.to_string(),
            with: format!("{dtype}, {per_byte} elements in a byte"),
            accepted: "offsets that are known to be whole bytes",
        });
    }
    offset.div(per_byte)
}

/// An engine whose values have addresses.
pub trait Memory: Engine<Index = Expr> {
    /// The element type.
    fn dtype(&self) -> DType;

    /// The address in bytes of the engine's first element.
    ///
    /// # Errors
    /// [`crate::Error::Arithmetic`] if a swizzled offset can be negative, [`crate::Error::Mismatch`] if an element
    /// smaller than a byte may begin inside a byte.
    fn address(&self) -> Result<Expr, crate::Error>;
}

/// The coordinates of a tensor's values, as expressions over registers.
pub type Counting = girih_tensor::Counting<Expr>;

/// The engine at value `index` (1-D) of a partitioned tensor.
///
/// # Errors
/// Those of [`Tensor::slice`].
pub(crate) fn at<E: Engine<Index = Expr>>(tensor: &Tensor<E>, index: i64) -> Result<E, Error> {
    Values::of(tensor.engine(), *tensor.layout()).at(index)
}

/// The values of an engine under a layout, by their 1-D coordinates.
pub(crate) struct Values<'e, E> {
    engine: &'e E,
    layout: Lay,
    /// The extents and strides of the leaves, and the extents' product, where all extents are known.
    leaves: Option<(Vec<(i64, Stride)>, i64)>,
}

impl<'e, E: Engine<Index = Expr>> Values<'e, E> {
    pub(crate) fn of(engine: &'e E, layout: Lay) -> Values<'e, E> {
        let leaf = |i| {
            let (extent, stride) = layout.flat_leaf(i);
            extent.get().filter(|&extent| extent > 0).map(|extent| (extent, stride))
        };
        let leaves: Option<Vec<_>> = (0..layout.leaf_count()).map(leaf).collect();
        let counted = |leaves: Vec<(i64, Stride)>| {
            let size = leaves.iter().try_fold(1i64, |size, (extent, _)| size.checked_mul(*extent))?;
            Some((leaves, size))
        };
        Values { engine, layout, leaves: leaves.and_then(counted) }
    }

    /// The engine at value `index`.
    pub(crate) fn at(&self, index: i64) -> Result<E, Error> {
        match &self.leaves {
            Some((leaves, size)) if (0..*size).contains(&index) => {
                let mut rest = index;
                let step = |(extent, stride): &(i64, Stride)| {
                    let digit = rest % extent;
                    rest /= extent;
                    (Expr::from(digit), *stride)
                };
                self.engine.advance(&leaves.iter().map(step).collect::<Vec<_>>())
            }
            _ => {
                let tensor = Tensor::new(self.engine.clone(), self.layout);
                Ok(tensor.slice(Slice::At(Expr::from(index)))?.into_engine())
            }
        }
    }
}

/// `(X,(R0,R1,...))` becomes `(X,R0,R1,...)`.
pub(crate) fn unpack_rest<E: Engine>(tensor: &Tensor<E>) -> Result<Tensor<E>, crate::Error> {
    let layout = unpacked(&tensor.layout().mode(0)?, &tensor.layout().mode(1)?)?;
    Ok(Tensor::new(tensor.engine().clone(), layout))
}

/// `X` and `(R0,R1,...)` become `(X,R0,R1,...)`.
pub(crate) fn unpacked(first: &Lay, rest: &Lay) -> Result<Lay, crate::Error> {
    let mut modes = vec![*first];
    for i in 0..rest.rank() {
        modes.push(rest.mode(i)?);
    }
    Ok(Lay::concat(&modes)?)
}
