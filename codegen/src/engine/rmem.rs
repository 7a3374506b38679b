//! The engine of tensors in registers.

use std::rc::Rc;

use girih_layout::{Lay, Stride};
use girih_ptx::Type;
use girih_tensor::{DType, Engine, Error, Part, Space, Tensor};

use super::{Memory, advanced};
use crate::builder::{Builder, Reg};
use crate::expr::Expr;

/// A thread's registers, each holding one or several values. Registers have no addresses: a tensor of them can be cut at
/// constant coordinates only.
///
/// Registers that were made for a partition ([`Rmem::like`], `partition_fragment` of tiled copies and MMAs) know which elements of the
/// tile they are for, however they are sliced and retiled. To combine such registers with registers or memory for other elements is
/// refused ([`crate::Error::Incongruent`]); [`Rmem::of_no_tile`] permits it.
#[derive(Clone, Debug)]
pub struct Rmem {
    regs: Rc<[Reg]>,
    dtype: DType,
    values: usize,
    /// The number of the value at which the engine is.
    offset: i64,
    holds: Option<Rc<Holds>>,
}

/// The elements of a tile that registers are for.
#[derive(Debug)]
struct Holds {
    /// The part of the tile that the fragment had when it was made.
    part: Part<Expr>,
    /// For each value of the registers, its number among the fragment's values; `None` for a value that the fragment does not have.
    numbers: Vec<Option<i64>>,
}

impl Engine for Rmem {
    type Index = Expr;
    fn space(&self) -> Space {
        Space::Rmem
    }
    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Rmem, Error> {
        // With constant digits, as they should be, in integers.
        let step = |offset: i64, (digit, stride): &(Expr, Stride)| match stride {
            Stride::Int(by) => offset.checked_add(digit.as_constant()?.checked_mul(by.get()?)?),
            _ => None,
        };
        if let Some(offset) = steps.iter().try_fold(self.offset, step) {
            return Ok(Rmem { offset, ..self.clone() });
        }
        let moved = advanced(&Expr::from(self.offset), steps)?;
        let offset = moved
            .as_constant()
            .ok_or_else(|| Error::Index(format!("register {moved}: registers need constant coordinates")))?;
        Ok(Rmem { offset, ..self.clone() })
    }
}

/// The number of values of `dtype` in one register.
pub(crate) fn per_register(dtype: DType) -> usize {
    (32 / dtype.bits() as usize).max(1)
}

/// The most values that a fragment may have, far more than the registers of any thread hold.
const MOST_VALUES: usize = 1 << 16;

impl Rmem {
    /// Registers for `values` values of `dtype`. A value of 32 or 64 bits has a register of its own; as many smaller values as fit share a
    /// 32-bit register, the first in the lowest bits. Floats of 32 and 64 bits have registers of their type, all other values
    /// have untyped registers.
    pub fn new(builder: &mut Builder, dtype: DType, values: usize) -> Rmem {
        let ty = match dtype {
            DType::F32 => Type::F32,
            DType::F64 => Type::F64,
            _ if dtype.bits() == 64 => Type::B64,
            _ => Type::B32,
        };
        Rmem {
            regs: builder.regs(ty, values.div_ceil(per_register(dtype))).into(),
            dtype,
            values,
            offset: 0,
            holds: None,
        }
    }

    /// The values of `dtype` in registers that exist, packed as [`Rmem::new`] packs them.
    ///
    /// # Errors
    /// [`crate::Error::Mismatch`] for registers that do not have 32 bits, or 64 bits for a dtype of 64 bits.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::copy;
    /// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
    /// use girih_codegen::{Builder, Gmem, Rmem};
    /// use girih_layout::lay;
    /// use girih_ptx::Type;
    /// use girih_tensor::{DType, Tensor};
    ///
    /// let mut b = Builder::new("k", 80, 1);
    /// let x = Tensor::new(Gmem::new(b.pointer("x", 8), DType::F16), lay!("4:1"));
    /// let regs = b.regs(Type::B32, 2);
    /// let values = Tensor::new(Rmem::of(regs, DType::F16)?, lay!("4:1"));
    /// copy(&mut b, AUTO_VECTORIZING_COPY, &x, &values)?;
    /// assert!(b.finish()?.module().to_string().contains("ld.global.v2.b32"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn of(regs: Vec<Reg>, dtype: DType) -> Result<Rmem, crate::Error> {
        let bits = dtype.bits().max(32);
        if let Some(reg) = regs.iter().find(|reg| reg.ty().bits() != Some(bits)) {
            return Err(crate::Error::Mismatch {
                what: "registers",
                layout: format!("{reg} of {}", reg.ty()),
                with: format!("values of {dtype}"),
                accepted: "registers of 32 bits, of 64 bits for a dtype of 64 bits",
            });
        }
        let values = regs.len() * per_register(dtype);
        Ok(Rmem { regs: regs.into(), dtype, values, offset: 0, holds: None })
    }

    /// Registers for the values of a tensor in memory, compact, in the tensor's shape (CuTe's `make_fragment_like`).
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a symbolic shape.
    pub fn like<E: Memory>(builder: &mut Builder, tensor: &Tensor<E>) -> Result<Tensor<Rmem>, crate::Error> {
        let fragment = Rmem::tensor(builder, tensor.engine().dtype(), Lay::left(tensor.layout().shape())?)?;
        Rmem::holding(fragment, tensor.part())
    }

    /// The fragment with the note that its values are those of `part`, in this order.
    pub(crate) fn holding(
        fragment: Tensor<Rmem>,
        part: Option<&Part<Expr>>,
    ) -> Result<Tensor<Rmem>, crate::Error> {
        let Some(part) = part else { return Ok(fragment) };
        let offsets = *fragment.layout();
        let mut numbers = vec![None; fragment.engine().values];
        for (value, register) in offsets.indices()?.enumerate() {
            if let Some(number) =
                usize::try_from(register).ok().and_then(|register| numbers.get_mut(register))
            {
                *number = Some(value as i64);
            }
        }
        let holds = Some(Rc::new(Holds { part: Part { offsets, ..part.clone() }, numbers }));
        Ok(Tensor::new(Rmem { holds, ..fragment.into_engine() }, offsets))
    }

    /// Registers for the values of `dtype` that `layout` has (CuTe's `make_tensor<T>(layout)`).
    ///
    /// # Errors
    /// [`crate::Error::NotStatic`] for a symbolic layout, [`crate::Error::Mismatch`] for more values than registers hold.
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

    /// Clears the registers that hold values which `layout` does not name, since the named values are inserted into such registers.
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

    /// The same registers without the note of the tile that they are for, so that they can be combined with others in any order.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::copy;
    /// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
    /// use girih_codegen::{Builder, Gmem, Rmem};
    /// use girih_layout::lay;
    /// use girih_ptx::Special;
    /// use girih_tensor::{DType, Tensor};
    ///
    /// // Each of 32 threads reads two neighbours and writes them 32 elements apart.
    /// let mut b = Builder::new("k", 80, 32);
    /// let thread = b.special(Special::TidX);
    /// let [x, y] = ["x", "y"].map(|name| Tensor::new(Gmem::new(b.pointer(name, 8), DType::F32), lay!("64:1")));
    /// let (pairs, apart) = (x.tv_partition(&lay!("(32,2):(2,1)"), &thread)?, y.tv_partition(&lay!("(32,2):(1,32)"), &thread)?);
    /// let values = Rmem::like(&mut b, &pairs)?;
    /// copy(&mut b, AUTO_VECTORIZING_COPY, &pairs, &values)?;
    /// assert!(copy(&mut b, AUTO_VECTORIZING_COPY, &values, &apart).is_err());
    /// let shuffled = Tensor::new(values.engine().of_no_tile(), *values.layout());
    /// copy(&mut b, AUTO_VECTORIZING_COPY, &shuffled, &apart)?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[must_use]
    pub fn of_no_tile(&self) -> Rmem {
        Rmem { holds: None, ..self.clone() }
    }

    /// The part that the fragment of these registers was made for, and the numbers in that fragment of the values of `layout`.
    pub(crate) fn held(&self, layout: &Lay) -> Option<(&Part<Expr>, Vec<i64>)> {
        let holds = self.holds.as_deref()?;
        let number = |index: i64| *holds.numbers.get(usize::try_from(self.offset + index).ok()?)?;
        let numbers = layout.indices().ok()?.map(number).collect::<Option<_>>()?;
        Some((&holds.part, numbers))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of the value at which the engine is.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The number of values.
    pub fn values(&self) -> usize {
        self.values
    }

    /// The number of values in one register.
    pub fn per_register(&self) -> usize {
        per_register(self.dtype)
    }

    /// Checks that the value at which the engine is exists.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let inside = usize::try_from(self.offset).is_ok_and(|offset| offset < self.values);
        if inside { Ok(()) } else { Err(Error::Beyond { index: self.offset, len: self.values }) }
    }

    /// The number of values in register `register`; the last register may hold fewer than fit.
    pub(crate) fn values_in(&self, register: i64) -> i64 {
        let per = self.per_register() as i64;
        per.min(self.values as i64 - register * per)
    }

    /// The register that holds value `index`.
    pub fn reg(&self, index: usize) -> Option<&Reg> {
        self.regs.get(index / self.per_register())
    }

    /// All registers.
    pub fn regs(&self) -> &[Reg] {
        &self.regs
    }
}
