//! Registers.

use girih_layout::{Lay, Stride};
use girih_ptx::Type;
use girih_tensor::{DType, Engine, Error, Space, Tensor};

use super::{Memory, advanced};
use crate::builder::{Builder, Reg};
use crate::expr::Expr;

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
