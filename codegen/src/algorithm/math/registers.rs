//! Functions of elements in registers.

use std::cell::{Cell, RefCell};

use girih_ptx::Opcode;
use girih_tensor::DType;

use super::emit::Emit;
use super::{computed_in, expand, expands};
use crate::algorithm::element::{self, Each, How, Rounding, constant, convert_element, moved, of, recast};
use crate::builder::{Builder, Cond, Reg};
use crate::scalar::register;
use crate::{AlgorithmError, Error};

/// A function of elements in registers of `dtype`, by its instructions or, where no instruction [gives it](expands), by arithmetic.
///
/// # Errors
/// [`AlgorithmError::Function`] for another number of operands or a dtype that the function does not take; as [`element::apply`].
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::element::{Each, How, constant};
/// use girih_codegen::algorithm::math::compute;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 90, 32);
/// let x = constant(&mut b, DType::F64, DType::F64.encode(0.5))?;
/// compute(&mut b, Each::Erf, How::default(), DType::F64, &[&x])?;
/// assert!(b.finish()?.module().to_string().contains("fma.rn.f64"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn compute(b: &mut Builder, op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Reg, Error> {
    let refused = |accepted: String| {
        Error::from(AlgorithmError::Function {
            function: op.row().name,
            operands: args.len(),
            dtype,
            accepted,
        })
    };
    if args.len() != op.arity() {
        return Err(refused(format!("{} operands", op.arity())));
    }
    if !expands(op, dtype, how.rounding) {
        let value = element::apply(b, op, how, dtype, args)?;
        return value.ok_or_else(|| refused(String::from("dtypes that the function takes")));
    }
    written(b, computed_in(dtype), |registers| {
        let args: Vec<usize> = args.iter().map(|&reg| registers.keep(dtype, reg.clone())).collect();
        expand(registers, op, how, &args)
    })
}

/// The register of a value that is computed in `dtype`.
pub(super) fn written(
    b: &mut Builder,
    dtype: DType,
    write: impl FnOnce(&Registers<'_>) -> usize,
) -> Result<Reg, Error> {
    let (values, error) = Default::default();
    let registers = Registers { b: RefCell::new(b), dtype, values, error };
    let (_, result) = registers.at(write(&registers));
    registers.error.take().map_or(Ok(result), Err)
}

/// Writes instructions on registers. A value is its number in a list.
pub(super) struct Registers<'b> {
    b: RefCell<&'b mut Builder>,
    dtype: DType,
    values: RefCell<Vec<(DType, Reg)>>,
    /// The first error.
    error: Cell<Option<Error>>,
}

impl Registers<'_> {
    pub(super) fn keep(&self, dtype: DType, reg: Reg) -> usize {
        let mut values = self.values.borrow_mut();
        values.push((dtype, reg));
        values.len() - 1
    }

    fn at(&self, value: usize) -> (DType, Reg) {
        self.values.borrow()[value].clone()
    }

    /// What is written, as a value; a register of the dtype after an error.
    fn made(&self, dtype: DType, write: impl FnOnce(&mut Builder) -> Result<Reg, Error>) -> usize {
        let made = write(&mut self.b.borrow_mut());
        let reg = made.unwrap_or_else(|error| {
            self.error.set(self.error.take().or(Some(error)));
            self.b.borrow_mut().reg(register(dtype))
        });
        self.keep(dtype, reg)
    }
}

impl Emit for Registers<'_> {
    type Value = usize;

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn dtype_of(&self, value: usize) -> DType {
        self.at(value).0
    }

    fn float(&self, dtype: DType, x: f64) -> usize {
        self.made(dtype, |b| constant(b, dtype, dtype.encode(x)))
    }

    fn integer(&self, dtype: DType, n: i128) -> usize {
        if dtype.is_float() {
            return self.float(dtype, n as f64);
        }
        self.made(dtype, |b| constant(b, dtype, n as u64 & u64::MAX >> (64 - dtype.bits())))
    }

    fn apply(&self, op: Each, how: How, args: &[usize], result: DType) -> usize {
        let regs: Vec<(DType, Reg)> = args.iter().map(|&value| self.at(value)).collect();
        let dtype = regs.last().map_or(self.dtype, |(dtype, _)| *dtype);
        self.made(result, |b| {
            compute(b, op, how, dtype, &regs.iter().map(|(_, reg)| reg).collect::<Vec<_>>())
        })
    }

    fn cast(&self, value: usize, to: DType, rounding: Rounding) -> usize {
        let (from, reg) = self.at(value);
        self.made(to, |b| convert_element(b, from, to, rounding, &reg))
    }

    fn bitcast(&self, value: usize, to: DType) -> usize {
        let (from, reg) = self.at(value);
        self.made(to, |b| Ok(recast(b, from, to, &reg)))
    }

    /// Each thread goes on until its own value is none any more.
    fn while_any(
        &self,
        value: usize,
        over: impl Fn(usize) -> usize,
        next: impl Fn(usize, usize) -> usize,
    ) -> usize {
        let (dtype, initial) = self.at(value);
        let result = self.made(dtype, |b| Ok(element::copy(b, dtype, &initial)));
        let (_, reg) = self.at(result);
        let block = self.b.borrow_mut().open_repeat();
        let written = (|| {
            let is_over = over(result);
            let done = self.b.borrow_mut().cond_in(&self.at(is_over).1)?;
            self.b.borrow_mut().leave(&block, &Cond::not(done), false)?;
            let (_, next) = self.at(next(result, is_over));
            let mut b = self.b.borrow_mut();
            let operands = of([&reg, &next]);
            b.inst(Opcode::Mov, &[moved(dtype).into()], operands);
            b.again(&block, &Cond::Always, false)
        })();
        let closed = self.b.borrow_mut().close_block(block);
        if let Err(error) = written.and(closed) {
            self.error.set(self.error.take().or(Some(error)));
        }
        result
    }
}
