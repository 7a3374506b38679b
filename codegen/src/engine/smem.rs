//! The engine of tensors in shared memory.

use std::rc::Rc;

use girih_layout::{F2Matrix, Lay, Stride, Swizzle};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Engine, Error, Part, Space, Tensor};

use super::{Memory, advanced, byte_offset};
use crate::builder::{Builder, SHARED_ALIGN, Width};
use crate::error::BuilderError;
use crate::expr::Expr;

/// The alignment in bytes of a tile that TMA copies read or write.
const TENSOR_ALIGN: i128 = 128;

/// An array in shared memory whose elements' offsets may be swizzled or, more generally, mapped linearly over F2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smem {
    base: Expr,
    dtype: DType,
    offset: Expr,
    moved: Moved,
    part: Option<Rc<Part<Expr>>>,
    /// Whether the address is one in the cluster's shared memory.
    of_cluster: bool,
}

/// The function that moves the offsets of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Moved {
    Swizzle(Option<Swizzle>),
    /// A map that is no swizzle.
    Map(Rc<F2Matrix>),
}

impl Smem {
    /// The array of `dtype` at `base` (bytes), which must be aligned to the swizzle's period.
    pub fn new(base: Expr, dtype: DType, swizzle: Option<Swizzle>) -> Smem {
        let moved = Moved::Swizzle(swizzle);
        Smem { base, dtype, offset: Expr::from(0), moved, part: None, of_cluster: false }
    }

    /// The array of `dtype` at `base` (bytes) whose element at offset `x` is at offset `map(x)`. The map moves the elements of each
    /// block of `2^inputs` elements alike, and `base` must be aligned to such a block. [`plan::best_map`](crate::plan::best_map) finds
    /// maps. A map that acts as a swizzle becomes that swizzle.
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
        Ok(Smem { base, dtype, offset: Expr::from(0), moved, part: None, of_cluster: false })
    }

    /// The tensor of `dtype` at `base` (bytes) with `layout`, whose strides may be F2 columns (`(8,8):(^1,^9)`). In place of F2 columns
    /// the tensor gets a layout with integer strides and an engine that maps its offsets; other layouts stay as they are.
    ///
    /// # Errors
    /// [`crate::Error::Layout`] for F2 columns that are no bijection, or whose extents are no powers of two.
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

    /// Allocates a tensor of `dtype` in shared memory, at a multiple of 128 bytes at least. `swizzle` moves the offsets of its elements;
    /// a layout whose strides are F2 columns has a map of its own ([`Smem::tensor`]) and takes no swizzle.
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a layout with symbols, [`crate::Error::Layout`] for a layout with negative offsets,
    /// [`crate::Error::Mismatch`] for a swizzle and F2 columns, [`BuilderError::SharedMemory`] for a tensor larger than the memory that is left.
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
        // The size in elements of the blocks within which offsets are moved.
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

    /// The array that is at the same address in the block `rank` of the cluster, in distributed shared memory (`mapa`; CUDA's
    /// `cluster_group::map_shared_rank`). Loads, stores and atomic operations take it. The array's base must be aligned as the base of
    /// this one is known to be, which is so for every address that the block's own allocator gives.
    ///
    /// # Errors
    /// [`BuilderError::Target`] below sm_90; as [`Builder::value`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::copy;
    /// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
    /// use girih_codegen::{Builder, Expr, Rmem, Smem};
    /// use girih_layout::lay;
    /// use girih_tensor::{DType, Tensor};
    ///
    /// let mut b = Builder::new("k", 90, 32);
    /// b.cluster([2, 1, 1]);
    /// let own = Smem::alloc(&mut b, DType::F32, None, &lay!("4:1"))?;
    /// // ... each block writes its own array ...
    /// b.cluster_sync();
    /// let other = Tensor::new(own.engine().of_block(&mut b, &Expr::from(1))?, *own.layout());
    /// let values = Rmem::like(&mut b, &other)?;
    /// copy(&mut b, AUTO_VECTORIZING_COPY, &other, &values)?;
    /// b.cluster_sync();
    /// assert!(b.finish()?.module().to_string().contains("ld.shared::cluster.v4.f32"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn of_block(&self, b: &mut Builder, rank: &Expr) -> Result<Smem, crate::Error> {
        if b.sm() < 90 {
            let what = "distributed shared memory";
            return Err(BuilderError::Target { what, sm: b.sm(), least: 90 }.into());
        }
        let own = b.value(&self.base, Width::W32)?;
        let rank = b.operand(rank, Width::W32)?;
        let there = b.reg(Type::U32);
        let modifiers = [Word::SharedCluster.into(), Type::U32.into()];
        b.inst(Opcode::Mapa, &modifiers, vec![Operand::from(&there), Operand::from(&own), rank]);
        // The shared memories of the blocks are far more apart than any alignment.
        let base = b.var(&there, 0, u32::MAX.into(), self.base.multiple().clamp(1, SHARED_ALIGN));
        Ok(Smem { base, of_cluster: true, ..self.clone() })
    }

    /// The offset in elements at which the array begins, before the swizzle.
    pub(crate) fn offset(&self) -> &Expr {
        &self.offset
    }

    /// The address in bytes before the swizzle, for instructions that apply the swizzle themselves.
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

    /// The swizzle of element offsets; `None` if the array has no swizzle, or a [`Smem::map`] moves its offsets.
    pub fn swizzle(&self) -> Option<&Swizzle> {
        match &self.moved {
            Moved::Swizzle(swizzle) => swizzle.as_ref(),
            Moved::Map(_) => None,
        }
    }

    /// The map of element offsets, if the array has one that is no swizzle.
    pub fn map(&self) -> Option<&F2Matrix> {
        match &self.moved {
            Moved::Swizzle(_) => None,
            Moved::Map(map) => Some(map),
        }
    }

    /// How many consecutive elements of an aligned block stay next to each other, in their order.
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

    /// Where the next `count` elements are, if they fill an aligned block of that size: the address of the block, and the expression
    /// with which the number of an element in the block has to be exclusive-ored.
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

/// Assigns each column of a bijection a bit of its own: a column of one bit gets that bit, any other column its highest free bit.
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
        if self.of_cluster { Space::Dsmem } else { Space::Smem }
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
