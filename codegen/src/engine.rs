//! Symbolic engines: where a generated kernel's tensors live.

use std::rc::Rc;

use girih_layout::{F2Matrix, Int, Lay, Stride, Swizzle};
use girih_ptx::Type;
use girih_tensor::{DType, Engine, Error, Index, Slice, Space, Tensor};

use crate::builder::{Builder, Reg, SHARED_ALIGN};
use crate::expr::Expr;

/// Elements that a step may go at the most: more than any address space has.
const FARTHEST: i128 = 1 << 48;

/// Where tensor copies put a tile, in bytes.
const TENSOR_ALIGN: i128 = 128;

impl Index for Expr {
    fn zero() -> Expr {
        Expr::from(0)
    }

    fn advanced(&self, digit: &Expr, scale: &Int) -> Result<Expr, Error> {
        let coefficients = digit.terms().iter().map(|term| term.coefficient).chain([digit.constant()]);
        let most = coefficients.map(|c| i128::from(c).abs() * i128::from(scale.coefficient()).abs()).max();
        if most.is_some_and(|most| most > FARTHEST) {
            return Err(Error::Index(format!(
                "{digit} * {scale} is beyond any memory: up to 2^48 is accepted"
            )));
        }
        Ok(self + &(digit * &Expr::from_int(scale)))
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
    dtype.bytes_of(1).ok_or_else(|| crate::Error::Config {
        what,
        value: dtype.to_string(),
        accepted: String::from("a dtype of whole bytes"),
    })
}

/// Where element `offset` begins, in bytes.
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

    /// The address in bytes of the element it stands at.
    ///
    /// # Errors
    /// [`crate::Error::Arithmetic`] if a swizzled offset can be negative, [`crate::Error::Mismatch`] if an element
    /// smaller than a byte may begin inside one.
    fn address(&self) -> Result<Expr, crate::Error>;
}

/// An array in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gmem {
    pointer: Expr,
    dtype: DType,
    offset: Expr,
}

impl Gmem {
    /// The array of `dtype` at `pointer` (bytes; see [`Builder::pointer`]).
    pub fn new(pointer: Expr, dtype: DType) -> Gmem {
        Gmem { pointer, dtype, offset: Expr::from(0) }
    }

    /// The offset in elements that it stands at.
    pub(crate) fn offset(&self) -> &Expr {
        &self.offset
    }
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
        Ok(Gmem { offset: advanced(&self.offset, steps)?, ..self.clone() })
    }
}

/// An array in shared memory, its elements' offsets swizzled or, more generally, mapped linearly over F2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smem {
    base: Expr,
    dtype: DType,
    offset: Expr,
    moved: Moved,
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
        Smem { base, dtype, offset: Expr::from(0), moved: Moved::Swizzle(swizzle) }
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
        Ok(Smem { base, dtype, offset: Expr::from(0), moved })
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
}

/// The coordinates of a tensor's values, as expressions over registers.
pub type Counting = girih_tensor::Counting<Expr>;

/// A thread's registers, each holding one or several values. Registers have no addresses: a tensor of them can be cut at
/// constant coordinates only.
#[derive(Clone, Debug)]
pub struct Rmem {
    regs: Vec<Reg>,
    dtype: DType,
    values: usize,
    /// The number of the value it stands at.
    offset: i64,
}

impl Engine for Rmem {
    type Index = Expr;
    fn space(&self) -> Space {
        Space::Rmem
    }
    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Rmem, Error> {
        let moved = advanced(&Expr::from(self.offset), steps)?;
        let offset = moved
            .as_constant()
            .ok_or_else(|| Error::Index(format!("register {moved}: registers need constant coordinates")))?;
        Ok(Rmem { offset, ..self.clone() })
    }
}

/// Values of `dtype` in one register.
pub(crate) fn per_register(dtype: DType) -> usize {
    (32 / dtype.bits() as usize).max(1)
}

/// Values that a fragment may have, far more than the registers of any thread hold.
const MOST_VALUES: usize = 1 << 16;

impl Rmem {
    /// Registers for `values` values of `dtype`: one for each of 32 or 64 bits; of smaller ones as many as fit share a
    /// 32-bit register, the first in the lowest bits. Floats of 32 and 64 bits have registers of their type, all others
    /// untyped ones.
    pub fn new(builder: &mut Builder, dtype: DType, values: usize) -> Rmem {
        let ty = match dtype {
            DType::F32 => Type::F32,
            DType::F64 => Type::F64,
            _ if dtype.bits() == 64 => Type::B64,
            _ => Type::B32,
        };
        Rmem { regs: builder.regs(ty, values.div_ceil(per_register(dtype))), dtype, values, offset: 0 }
    }

    /// The values of `dtype` in these registers, which are all full.
    pub(crate) fn of(regs: Vec<Reg>, dtype: DType) -> Rmem {
        let values = regs.len() * per_register(dtype);
        Rmem { regs, dtype, values, offset: 0 }
    }

    /// Registers for the values of a tensor in memory, compact, in the tensor's shape (CuTe's `make_fragment_like`).
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a symbolic shape.
    pub fn like<E: Memory>(builder: &mut Builder, tensor: &Tensor<E>) -> Result<Tensor<Rmem>, crate::Error> {
        Rmem::tensor(builder, tensor.engine().dtype(), Lay::left(tensor.layout().shape())?)
    }

    /// Registers for the values of `dtype` that `layout` has (CuTe's `make_tensor<T>(layout)`).
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a symbolic layout, [`crate::Error::Mismatch`] for one that no registers hold.
    pub fn tensor(builder: &mut Builder, dtype: DType, layout: Lay) -> Result<Tensor<Rmem>, crate::Error> {
        let not_static = || crate::Error::NotStatic { what: "a fragment", layout: layout.to_string() };
        let values = layout.cosize()?.get().and_then(|n| usize::try_from(n).ok()).ok_or_else(not_static)?;
        if values > MOST_VALUES {
            return Err(crate::Error::Mismatch {
                what: "a fragment",
                layout: layout.to_string(),
                with: String::from("the registers of a thread"),
                accepted: "a layout of at most 65536 values",
            });
        }
        let engine = Rmem::new(builder, dtype, values);
        engine.clear_holes(builder, &layout)?;
        Ok(Tensor::new(engine, layout))
    }

    /// Clears the registers that hold values which `layout` does not name: the others are written into them.
    fn clear_holes(&self, builder: &mut Builder, layout: &Lay) -> Result<(), crate::Error> {
        let per = self.per_register();
        if per == 1 || layout.size()?.get() == Some(self.values as i64) {
            return Ok(());
        }
        let mut named = vec![false; self.values];
        for index in layout.filter().indices()? {
            if let Some(named) = usize::try_from(index).ok().and_then(|index| named.get_mut(index)) {
                *named = true;
            }
        }
        for (reg, named) in self.regs.iter().zip(named.chunks(per)) {
            if named.contains(&true) && named.contains(&false) {
                let operands = vec![girih_ptx::Operand::from(reg), girih_ptx::Operand::Int(0)];
                builder.inst(girih_ptx::Opcode::Mov, &[Type::B32.into()], operands);
            }
        }
        Ok(())
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of the value that it stands at.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Values in one register.
    pub fn per_register(&self) -> usize {
        per_register(self.dtype)
    }

    /// Checks that there is the value that it stands at.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let inside = usize::try_from(self.offset).is_ok_and(|offset| offset < self.values);
        if inside { Ok(()) } else { Err(Error::Beyond { index: self.offset, len: self.values }) }
    }

    /// How many values register `register` holds: of the last one perhaps fewer than fit.
    pub(crate) fn values_in(&self, register: i64) -> i64 {
        let per = self.per_register() as i64;
        per.min(self.values as i64 - register * per)
    }

    /// The register that holds value `index`.
    pub fn reg(&self, index: usize) -> Option<&Reg> {
        self.regs.get(index / self.per_register())
    }

    /// All of them.
    pub fn regs(&self) -> &[Reg] {
        &self.regs
    }
}

/// The engine at value `index` (1-D) of a partitioned tensor.
///
/// # Errors
/// Those of [`Tensor::slice`].
pub(crate) fn at<E: Engine<Index = Expr>>(tensor: &Tensor<E>, index: i64) -> Result<E, Error> {
    Ok(tensor.slice(&Slice::At(Expr::from(index)))?.into_engine())
}

/// `(X,(R0,R1,...))` becomes `(X,R0,R1,...)`.
pub(crate) fn unpack_rest<E: Engine>(tensor: &Tensor<E>) -> Result<Tensor<E>, crate::Error> {
    let layout = tensor.layout();
    let rest = layout.mode(1)?;
    let mut modes = vec![layout.mode(0)?];
    for i in 0..rest.rank() {
        modes.push(rest.mode(i)?);
    }
    Ok(Tensor::new(tensor.engine().clone(), Lay::concat(&modes)?))
}
