//! Shared memory.

use std::rc::Rc;

use girih_layout::{F2Matrix, Lay, Stride, Swizzle};
use girih_tensor::{DType, Engine, Error, Part, Space, Tensor};

use super::{Memory, advanced, byte_offset};
use crate::builder::{Builder, SHARED_ALIGN};
use crate::expr::Expr;

/// Where tensor copies put a tile, in bytes.
const TENSOR_ALIGN: i128 = 128;

/// An array in shared memory, its elements' offsets swizzled or, more generally, mapped linearly over F2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smem {
    base: Expr,
    dtype: DType,
    offset: Expr,
    moved: Moved,
    part: Option<Rc<Part<Expr>>>,
}

/// Where an element of shared memory lies, given its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Moved {
    Swizzle(Option<Swizzle>),
    /// What is no swizzle.
    Map(Rc<F2Matrix>),
}

impl Smem {
    /// The array of `dtype` at `base` (bytes), which must be aligned to the swizzle's period.
    pub fn new(base: Expr, dtype: DType, swizzle: Option<Swizzle>) -> Smem {
        Smem { base, dtype, offset: Expr::from(0), moved: Moved::Swizzle(swizzle), part: None }
    }

    /// The array of `dtype` at `base` (bytes) whose element at offset `x` lies where `map` says, for every `2^inputs`
    /// elements alike; `base` must be aligned to as many. What [`plan::best_map`](crate::plan::best_map) finds. A map that
    /// acts as a swizzle is that swizzle.
    ///
    /// # Errors
    /// [`crate::Error::Layout`] for a map that is not onto the indices below `2^inputs`.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Smem};
    /// use girih_layout::F2Matrix;
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// // Bit 2 of the offset toggles bits 0 and 1.
    /// let shared = Smem::mapped(b.alloc_shared(1024, 1024)?, DType::F32, &F2Matrix::of_columns(&[1, 2, 7])?)?;
    /// assert!(shared.swizzle().is_none() && shared.map().is_some());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn mapped(base: Expr, dtype: DType, map: &F2Matrix) -> Result<Smem, crate::Error> {
        map.inverse()?;
        let moved = match map.swizzle() {
            Some(swizzle) => Moved::Swizzle(Some(swizzle)),
            None => Moved::Map(Rc::new(*map)),
        };
        Ok(Smem { base, dtype, offset: Expr::from(0), moved, part: None })
    }

    /// The tensor of `dtype` at `base` (bytes) that lies as `layout` says, whose strides may be F2 columns
    /// (`(8,8):(^1,^9)`): its engine maps the offsets of a layout with integer strides. Other layouts are as they are.
    ///
    /// # Errors
    /// [`crate::Error::Layout`] for columns that are no bijection, or beside extents that are no powers of two.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Smem};
    /// use girih_layout::{Swizzle, lay};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let tile = Smem::tensor(b.alloc_shared(128, 128)?, DType::F16, &lay!("(8,8):(^9,^1)"))?;
    /// assert_eq!(tile.layout(), &lay!("(8,8):(8,1)"));
    /// assert_eq!(tile.engine().swizzle(), Some(&Swizzle::new(3, 0, 3)?));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn tensor(base: Expr, dtype: DType, layout: &Lay) -> Result<Tensor<Smem>, crate::Error> {
        if !has_columns(layout) {
            return Ok(Tensor::new(Smem::new(base, dtype, None), *layout));
        }
        let map = F2Matrix::of_layout(layout)?;
        map.inverse()?;
        let places = places(map.columns());
        let plain: Vec<u64> = places.iter().map(|place| 1 << place).collect();
        let mut moved = vec![0; places.len()];
        for (&place, &column) in places.iter().zip(map.columns()) {
            moved[place] = column;
        }
        let engine = Smem::mapped(base, dtype, &F2Matrix::of_columns(&moved)?)?;
        Ok(Tensor::new(engine, F2Matrix::of_columns(&plain)?.layout(layout.shape())?))
    }

    /// A tensor of `dtype` in shared memory that nothing else has, at a multiple of 128 bytes at least. `swizzle` moves its
    /// elements' offsets; a layout whose strides are F2 columns has a map of its own ([`Smem::tensor`]) and no swizzle beside it.
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a layout with symbols, [`crate::Error::Layout`] for one whose offsets are not 0 or more,
    /// [`crate::Error::Mismatch`] for a swizzle beside F2 columns, [`crate::Error::Config`] for more than is left of the memory.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Smem};
    /// use girih_layout::{Swizzle, lay};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let swizzle = Swizzle::new(3, 3, 3)?;
    /// let tile = Smem::alloc(&mut b, DType::F16, Some(swizzle), &lay!("(64,64):(64,1)"))?;
    /// assert_eq!(tile.layout(), &lay!("(64,64):(64,1)"));
    /// assert_eq!(b.finish()?.shared_bytes(), 8192);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn alloc(
        builder: &mut Builder,
        dtype: DType,
        swizzle: Option<Swizzle>,
        layout: &Lay,
    ) -> Result<Tensor<Smem>, crate::Error> {
        let elements = layout.cosize()?.get().map(i128::from).ok_or_else(|| crate::Error::NotStatic {
            what: "a tensor in shared memory",
            layout: layout.to_string(),
        })?;
        // What the offsets are moved in, in elements.
        let period = match swizzle {
            Some(swizzle) if has_columns(layout) => {
                return Err(crate::Error::Mismatch {
                    what: "a tensor in shared memory",
                    layout: layout.to_string(),
                    with: swizzle.to_string(),
                    accepted: "F2 columns or a swizzle, not both",
                });
            }
            Some(swizzle) => swizzle.period().into(),
            None if has_columns(layout) => elements,
            None => 1,
        };
        let bytes_of = |elements: i128| (elements * i128::from(dtype.bits()) + 7) / 8;
        let bytes = bytes_of((elements + period - 1) / period * period);
        let align = bytes_of(period).clamp(TENSOR_ALIGN, SHARED_ALIGN.into()) as u64;
        let base = builder.alloc_bytes(bytes, align.next_power_of_two() as i64)?;
        match swizzle {
            Some(_) => Ok(Tensor::new(Smem::new(base, dtype, swizzle), *layout)),
            None => Smem::tensor(base, dtype, layout),
        }
    }

    /// The offset in elements that it stands at, before the swizzle.
    pub(crate) fn offset(&self) -> &Expr {
        &self.offset
    }

    /// The address in bytes before the swizzle: what instructions take that swizzle by themselves.
    pub(crate) fn linear_address(&self) -> Result<Expr, crate::Error> {
        if let Moved::Map(map) = &self.moved {
            return Err(crate::Error::Mismatch {
                what: "an instruction that swizzles addresses",
                layout: format!("shared memory under the F2 map {map:?}"),
                with: self.dtype.to_string(),
                accepted: "shared memory with a swizzle or none",
            });
        }
        Ok(&self.base + &byte_offset(self.dtype, &self.offset)?)
    }

    /// The address in bytes of the array's first element.
    pub(crate) fn base(&self) -> &Expr {
        &self.base
    }

    /// The swizzle of element offsets; `None` where there is none, and where a [`Smem::map`] moves them.
    pub fn swizzle(&self) -> Option<&Swizzle> {
        match &self.moved {
            Moved::Swizzle(swizzle) => swizzle.as_ref(),
            Moved::Map(_) => None,
        }
    }

    /// The map of element offsets that is no swizzle.
    pub fn map(&self) -> Option<&F2Matrix> {
        match &self.moved {
            Moved::Swizzle(_) => None,
            Moved::Map(map) => Some(map),
        }
    }

    /// How many elements stay next to each other, in their order, wherever they lie.
    pub(crate) fn together(&self) -> i64 {
        match &self.moved {
            Moved::Swizzle(Some(swizzle)) if swizzle.bits() > 0 => 1 << swizzle.base(),
            Moved::Swizzle(_) => i64::MAX,
            Moved::Map(map) => {
                let stays = |&bit: &usize| {
                    let others = map.columns().iter().enumerate().filter(|(from, _)| *from != bit);
                    map.columns()[bit] == 1 << bit
                        && others.fold(0, |all, (_, column)| all | column) >> bit & 1 == 0
                };
                1 << (0..map.inputs() as usize).take_while(stays).count()
            }
        }
    }

    /// Where the `count` elements from here on lie if they fill an aligned block of as many: its address, and what number
    /// an element's number in the block has to be exclusive-ored with.
    pub(crate) fn block(&self, count: i64) -> Result<Option<(Expr, Expr)>, crate::Error> {
        let map = match &self.moved {
            Moved::Swizzle(None) => return Ok(None),
            Moved::Swizzle(Some(swizzle)) => F2Matrix::of_swizzle(*swizzle, swizzle.period().ilog2())?,
            Moved::Map(map) => **map,
        };
        let inside = count - 1;
        let fixed = |bit: usize| map.columns().get(bit).is_none_or(|&column| column == 1 << bit);
        let bits = inside.count_ones() as usize;
        if count & inside != 0 || self.offset.multiple() % count != 0 || !(0..bits).all(fixed) {
            return Ok(None);
        }
        let masked = |mask: i64| -> Result<Expr, crate::Error> {
            let columns: Vec<u64> = map.columns().iter().map(|column| column & mask as u64).collect();
            self.offset.linear(&F2Matrix::of_columns(&columns)?)
        };
        let start = &self.base + &byte_offset(self.dtype, &masked(i64::MAX & !inside)?)?;
        Ok(Some((start, masked(inside)?.and(inside)?)))
    }
}

fn has_columns(layout: &Lay) -> bool {
    (0..layout.leaf_count()).any(|leaf| matches!(layout.flat_leaf(leaf).1, Stride::F2(_)))
}

/// For each column of a bijection a bit of its own: the column's if it is one bit, else the highest that is left of it.
fn places(columns: &[u64]) -> Vec<usize> {
    let mut left: u64 = (1 << columns.len()) - 1;
    let single = columns.iter().filter(|column| column.is_power_of_two());
    left &= !single.fold(0, |all, column| all | column);
    let place = |&column: &u64| {
        if column.is_power_of_two() {
            return column.trailing_zeros() as usize;
        }
        let own = if left & column == 0 { left } else { left & column };
        let place = own.checked_ilog2().unwrap_or(0) as usize;
        left &= !(1 << place);
        place
    };
    columns.iter().map(place).collect()
}

impl Memory for Smem {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn address(&self) -> Result<Expr, crate::Error> {
        let offset = match &self.moved {
            Moved::Swizzle(Some(swizzle)) => self.offset.swizzle(swizzle)?,
            Moved::Swizzle(None) => self.offset.clone(),
            Moved::Map(map) => self.offset.linear(map)?,
        };
        Ok(&self.base + &byte_offset(self.dtype, &offset)?)
    }
}

impl Engine for Smem {
    type Index = Expr;
    fn space(&self) -> Space {
        Space::Smem
    }
    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Smem, Error> {
        Ok(Smem { offset: advanced(&self.offset, steps)?, ..self.clone() })
    }
    fn with_part(self, part: impl FnOnce() -> Option<Part<Expr>>) -> Smem {
        Smem { part: part().map(Rc::new), ..self }
    }
    fn part(&self) -> Option<&Part<Expr>> {
        self.part.as_deref()
    }
}
