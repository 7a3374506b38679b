//! The engine of tensors in global memory.

use std::rc::Rc;

use girih_layout::{Int, Lay, Shape, Stride};
use girih_tensor::{DType, Engine, Error, Index as _, Part, Space, Tensor};

use super::{Memory, advanced, byte_offset};
use crate::builder::{Builder, Cond, Width};
use crate::error::BuilderError;
use crate::expr::Expr;

/// The bytes of the widest access of one thread.
const WIDEST: i64 = 16;

/// An array in global memory. An array that was made with its extents ([`Gmem::vector`], [`Gmem::matrix`], [`Gmem::bounded`]) knows the
/// coordinate at which it is: copies, fills, reads and writes of its tensors stay inside the extents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gmem {
    pointer: Expr,
    dtype: DType,
    offset: Expr,
    bounds: Option<Rc<Bounds>>,
    /// The coordinate at which the array begins, with an entry for each extent.
    coordinate: Vec<Expr>,
    part: Option<Rc<Part<Expr>>>,
}

/// The array of a tensor whose layout names coordinates.
#[derive(Debug, PartialEq, Eq)]
struct Bounds {
    /// The distance of neighbours along each mode, in elements.
    strides: Vec<Expr>,
    extents: Vec<Expr>,
}

impl Gmem {
    /// The array of `dtype` at `pointer` (bytes; see [`Builder::pointer`]).
    pub fn new(pointer: Expr, dtype: DType) -> Gmem {
        Gmem { pointer, dtype, offset: Expr::from(0), bounds: None, coordinate: Vec::new(), part: None }
    }

    /// The tensor of `dtype` at `pointer` (bytes) with `layout`. The tensor carries its coordinates: however it is tiled and partitioned,
    /// copies of its parts leave out what is outside of the layout's shape, by predicates (CuTe guide, "Predication"). The tensor's
    /// own layout becomes the identity of the shape, and the engine keeps the strides.
    ///
    /// # Errors
    /// [`crate::Error::Mismatch`] for a layout with nested modes, or strides that are not integers.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::copy;
    /// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
    /// use girih_codegen::{Builder, Gmem, Rmem};
    /// use girih_layout::{lay, tiler};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// // Blocks of 32 threads take four values each of 1000.
    /// let mut b = Builder::new("k", 80, 32);
    /// let (pointer, block) = (b.pointer("x", 16), b.special(Special::CtaidX));
    /// let x = Gmem::bounded(pointer, DType::F32, &lay!("1000:1"))?;
    /// let tile = x.local_tile(&tiler!("<128>"), block)?; // 128
    /// let mine = tile.tv_partition(&lay!("(32,4):(4,1)"), &b.special(Special::TidX))?; // 4
    /// let values = Rmem::like(&mut b, &mine)?;
    /// copy(&mut b, AUTO_VECTORIZING_COPY, &mine, &values)?;
    /// assert!(b.finish()?.module().to_string().contains("@%p0 ld.global.v4"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn bounded(pointer: Expr, dtype: DType, layout: &Lay) -> Result<Tensor<Gmem>, crate::Error> {
        let refused = || crate::Error::Mismatch {
            what: "a bounded tensor",
            layout: layout.to_string(),
            with: String::from("extents"),
            accepted: "a layout of flat modes with integer strides, as (m,n):(ld,1)",
        };
        if layout.rank() != layout.leaf_count() {
            return Err(refused());
        }
        let (mut strides, mut extents) = (Vec::new(), Vec::new());
        for leaf in 0..layout.leaf_count() {
            let (extent, stride) = layout.flat_leaf(leaf);
            let Stride::Int(stride) = stride else { return Err(refused()) };
            strides.push(Expr::from_int(&stride));
            extents.push(Expr::from_int(&extent));
        }
        let engine = Gmem::new(pointer, dtype).within(extents, strides);
        Ok(Tensor::new(engine, Lay::identity(layout.shape())?))
    }

    /// As [`Gmem::bounded`], for extents and strides that the kernel computes or loads. The layout has the largest extents that are possible.
    ///
    /// # Errors
    /// [`crate::Error::Layout`] for extents that may be larger than a layout's.
    pub(crate) fn computed(
        pointer: Expr,
        dtype: DType,
        extents: Vec<Expr>,
        strides: Vec<Expr>,
    ) -> Result<Tensor<Gmem>, crate::Error> {
        let most: Vec<Int> = extents.iter().map(|extent| Int::fixed(extent.range().1)).collect();
        let layout = Lay::identity(&Shape::flat(&most)?)?;
        Ok(Tensor::new(Gmem::new(pointer, dtype).within(extents, strides), layout))
    }

    fn within(self, extents: Vec<Expr>, strides: Vec<Expr>) -> Gmem {
        let coordinate = vec![Expr::from(0); extents.len()];
        Gmem { bounds: Some(Rc::new(Bounds { strides, extents })), coordinate, ..self }
    }

    /// The vector of `len` values of `dtype`, one after another, at a pointer parameter `name`. The vector carries its coordinates as
    /// [`Gmem::bounded`] says. The pointer is aligned to as many bytes as `len` values are known to be a multiple of, from one value
    /// up to 16 bytes.
    ///
    /// # Errors
    /// Those of [`Gmem::bounded`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::read;
    /// use girih_codegen::{Builder, Gmem};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// // Each block has the row that a list of indices names.
    /// let mut b = Builder::new("k", 80, 32);
    /// let (rows, block) = (b.symbol("rows", |n| n.at_least(1))?, b.special(Special::CtaidX));
    /// let index = Gmem::vector(&mut b, "index", DType::U32, rows)?; // rows
    /// let row = read(&mut b, &index.slice(block)?)?;
    /// assert_eq!(b.index_of(&row[0])?.range(), (0, u32::MAX.into()));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn vector(
        builder: &mut Builder,
        name: &str,
        dtype: DType,
        len: impl Into<Int>,
    ) -> Result<Tensor<Gmem>, crate::Error> {
        let len = len.into();
        let pointer = builder.pointer(name, alignment(dtype, row_bits(dtype, &len)));
        Gmem::bounded(pointer, dtype, &Lay::leaf(len, Int::fixed(1).into())?)
    }

    /// The row-major matrix of `dtype` at a pointer parameter `name`, whose rows are `pitch` elements apart. The matrix carries its
    /// coordinates as [`Gmem::bounded`] says. Its rows begin at multiples of as many bytes as `pitch` elements are known to be a multiple
    /// of, up to 16, so that the known divisor of `pitch` decides how wide the accesses of rows can be.
    ///
    /// # Errors
    /// [`BuilderError::Pitch`] for rows that are not known to begin at whole bytes; those of [`Gmem::bounded`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Gmem};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let shape = b.symbols(["rows", "columns"], |n| n.at_least(1))?;
    /// let pitch = b.symbol("pitch", |n| n.divisible_by(8))?;
    /// let x = Gmem::matrix(&mut b, "x", DType::F16, shape, pitch)?;
    /// assert_eq!(x.layout().rank(), 2);
    /// let accepted = b.finish()?.params()[3].fact.as_ref().map(|fact| fact.multiple);
    /// assert_eq!(accepted, Some(16));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix(
        builder: &mut Builder,
        name: &str,
        dtype: DType,
        shape: [impl Into<Int>; 2],
        pitch: impl Into<Int>,
    ) -> Result<Tensor<Gmem>, crate::Error> {
        let (shape, pitch): ([Int; 2], Int) = (shape.map(Into::into), pitch.into());
        let bits = row_bits(dtype, &pitch);
        if bits % 8 != 0 {
            let multiple = 8 / dtype.bits();
            return Err(BuilderError::Pitch { dtype, pitch: pitch.to_string(), multiple }.into());
        }
        let pointer = builder.pointer(name, alignment(dtype, bits));
        Gmem::bounded(pointer, dtype, &Lay::strided(shape, [pitch, Int::fixed(1)])?)
    }

    /// The condition that the element at which the array begins is inside the extents; it always holds for an array without extents.
    pub fn inside(&self) -> Cond {
        let Some(bounds) = &self.bounds else { return Cond::Always };
        let within = |(at, extent)| Cond::all([Cond::less(&Expr::from(-1), at), Cond::less(at, extent)]);
        Cond::all(self.coordinate.iter().zip(&bounds.extents).map(within))
    }

    /// The coordinate at which the array begins and the extents, if the array has extents.
    pub(crate) fn coordinate(&self) -> Option<(&[Expr], &[Expr])> {
        self.bounds.as_ref().map(|bounds| (&self.coordinate[..], &bounds.extents[..]))
    }

    /// The same array, with the same extents and coordinates, this many elements further in memory.
    pub(crate) fn further(&self, elements: &Expr) -> Gmem {
        Gmem { offset: &self.offset + elements, ..self.clone() }
    }

    /// The same array, with the address and the row, the first coordinate, at which it is as variables of the builder's scope. What is at a
    /// distance from there then takes no registers outside of the scope.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(crate) fn anchored(&self, b: &mut Builder) -> Result<Gmem, crate::Error> {
        let mut here = |expr: &Expr, width| -> Result<Expr, crate::Error> {
            if expr.as_constant().is_some() {
                return Ok(expr.clone());
            }
            let (reg, (lower, upper)) = (b.value(expr, width)?, expr.range());
            Ok(b.var(&reg, lower, upper, expr.multiple()))
        };
        let mut moved =
            Gmem { pointer: here(&self.address()?, Width::W64)?, offset: Expr::from(0), ..self.clone() };
        if let Some(row) = moved.coordinate.first_mut() {
            *row = here(row, Width::W32)?;
        }
        Ok(moved)
    }

    /// The same array, with the same extents and coordinates, at another pointer (bytes).
    pub(crate) fn at_pointer(&self, pointer: Expr) -> Gmem {
        Gmem { pointer, ..self.clone() }
    }

    /// The array that is at the same coordinate, but at an address of its own (bytes).
    pub(crate) fn at_address(&self, address: Expr) -> Gmem {
        Gmem { pointer: address, offset: Expr::from(0), ..self.clone() }
    }

    /// The part of a bounded array that has `extent` elements along a mode, the first of them `before` elements after `origin`. The part
    /// is at `origin`, and coordinates are counted from the first element on.
    pub(crate) fn part_of(&self, mode: usize, [origin, before, extent]: [&Expr; 3]) -> Gmem {
        let Some(bounds) = &self.bounds else { return self.clone() };
        let (mut extents, strides) = (bounds.extents.clone(), bounds.strides.clone());
        let step = strides.get(mode).map_or(Expr::from(0), |stride| origin * stride);
        let mut coordinate = self.coordinate.clone();
        for (whole, at) in extents.iter_mut().zip(&mut coordinate).skip(mode).take(1) {
            (*whole, *at) = (extent.clone(), &*at - before);
        }
        Gmem { bounds: Some(Rc::new(Bounds { strides, extents })), coordinate, ..self.further(&step) }
    }

    /// The offset in elements at which the array begins.
    pub(crate) fn offset(&self) -> &Expr {
        &self.offset
    }

    /// How many elements a step along a stride of the tensor's layout goes, if that number is known.
    pub(crate) fn distance(&self, stride: &Stride) -> Option<i64> {
        match (stride, &self.bounds) {
            (Stride::Int(stride), _) => stride.get(),
            (Stride::Basis { scale, mode }, Some(bounds)) => {
                scale.get()?.checked_mul(bounds.strides.get(mode.only()?)?.as_constant()?)
            }
            _ => None,
        }
    }
}

/// The number that the bits of `pitch` values are known to be a multiple of.
fn row_bits(dtype: DType, pitch: &Int) -> i64 {
    Expr::from_int(pitch).multiple().checked_mul(dtype.bits().into()).unwrap_or(8 * WIDEST)
}

/// The alignment in bytes of rows whose sizes are multiples of `bits` bits.
fn alignment(dtype: DType, bits: i64) -> i64 {
    (num_integer::gcd(bits, 8 * WIDEST) / 8).max(dtype.bytes_of(1).unwrap_or(1))
}

impl Memory for Gmem {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn address(&self) -> Result<Expr, crate::Error> {
        Ok(&self.pointer + &byte_offset(self.dtype, &self.offset)?)
    }
}

impl Engine for Gmem {
    type Index = Expr;
    fn space(&self) -> Space {
        Space::Gmem
    }
    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Gmem, Error> {
        let Some(bounds) = &self.bounds else {
            return Ok(Gmem { offset: advanced(&self.offset, steps)?, ..self.clone() });
        };
        let mut moved = self.clone();
        for (digit, stride) in steps {
            if matches!(stride, Stride::Int(zero) if zero.get() == Some(0)) {
                continue;
            }
            let along = match stride {
                Stride::Basis { scale, mode } => mode.only().map(|mode| (mode, scale)),
                _ => None,
            };
            let Some((mode, scale, by)) =
                along.and_then(|(mode, scale)| Some((mode, scale, bounds.strides.get(mode)?)))
            else {
                let layout = format!("a matrix of {} modes", bounds.strides.len());
                return Err(Error::Stride { stride: stride.to_string(), layout });
            };
            let step = Expr::from(0).advanced(digit, scale)?;
            moved.offset = match by.as_constant() {
                Some(by) => moved.offset.advanced(&step, &Int::fixed(by))?,
                None => &moved.offset + &(&step * by),
            };
            moved.coordinate[mode] = &moved.coordinate[mode] + &step;
        }
        Ok(moved)
    }
    fn with_part(self, part: impl FnOnce() -> Option<Part<Expr>>) -> Gmem {
        Gmem { part: part().map(Rc::new), ..self }
    }
    fn part(&self) -> Option<&Part<Expr>> {
        self.part.as_deref()
    }
}
