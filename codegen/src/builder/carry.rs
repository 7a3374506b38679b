//! Loop-carried scalars, and scalars that a condition yields.

use std::cell::RefCell;
use std::panic::Location;

use girih_ptx::{Opcode, Operand};

use super::{Builder, Cond, Reg};
use crate::Error;
use crate::expr::Expr;
use crate::scalar::{Scalar, lower};

impl Builder {
    /// Runs `body` for each value of `0..count`, with the scalars that the previous iteration returned; the first iteration gets `initial`. Returns
    /// the scalars of the last iteration, or `initial` if `count` is 0.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a body that returns scalars of other dtypes; those of `body`, [`Builder::value`] and
    /// [`Builder::scalar`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Expr, Scalar};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let [sum, last] = [DType::F32, DType::S32].map(|dtype| Scalar::new(dtype, 0.0));
    /// let [sum, last] = b.fold_range(&Expr::from(10), [sum, last], |_, i, [sum, _]| {
    ///     let i = Scalar::index(i, DType::S32);
    ///     Ok([sum + i.to(DType::F32), i])
    /// })?;
    /// b.scalar(&(sum + last.to(DType::F32)))?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_range<const N: usize>(
        &mut self,
        count: &Expr,
        initial: [Scalar; N],
        body: impl FnOnce(&mut Builder, &Expr, [Scalar; N]) -> Result<[Scalar; N], Error>,
    ) -> Result<[Scalar; N], Error> {
        let site = Location::caller();
        let regs = initial.each_ref().map(|scalar| self.reg(lower::register(scalar.dtype())));
        self.on_behalf(site, |b| b.assign(&regs, &initial))?;
        self.for_range(count, |b, index| {
            let depth = b.depth();
            let carried = std::array::from_fn(|k: usize| b.leaf(&regs[k], depth, initial[k].dtype()));
            let next = body(b, index, carried)?;
            check("fold_range", &initial, &next)?;
            b.on_behalf(site, |b| b.assign(&regs, &next))
        })?;
        let depth = self.depth();
        Ok(std::array::from_fn(|k| self.leaf(&regs[k], depth, initial[k].dtype())))
    }

    /// The scalars that `then` returns if `cond` holds, and that `otherwise` returns if not.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the two closures return scalars of different dtypes; the errors of the closures, of [`Builder::value`]
    /// and of [`Builder::scalar`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Scalar};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let x = b.hold(&Scalar::new(DType::F32, 2.0))?;
    /// let [root] = b.if_else_scalars(
    ///     &x.greater(0.0),
    ///     |_| Ok([x.sqrt()]),
    ///     |_| Ok([Scalar::new(DType::F32, 0.0)]),
    /// )?;
    /// b.scalar(&root)?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn if_else_scalars<const N: usize>(
        &mut self,
        cond: &Cond,
        then: impl FnOnce(&mut Builder) -> Result<[Scalar; N], Error>,
        otherwise: impl FnOnce(&mut Builder) -> Result<[Scalar; N], Error>,
    ) -> Result<[Scalar; N], Error> {
        match cond {
            Cond::Never => return otherwise(self),
            Cond::Always => return then(self),
            _ => {}
        }
        let site = Location::caller();
        let results: RefCell<Option<([Scalar; N], [Reg; N])>> = RefCell::new(None);
        self.if_else(
            cond,
            |b| {
                let values = then(b)?;
                let regs = values.each_ref().map(|scalar| b.reg(lower::register(scalar.dtype())));
                b.on_behalf(site, |b| b.assign(&regs, &values))?;
                *results.borrow_mut() = Some((values, regs));
                Ok(())
            },
            |b| {
                let values = otherwise(b)?;
                let known = results.borrow();
                let Some((first, regs)) = known.as_ref() else { return Ok(()) };
                check("if_else_scalars", first, &values)?;
                b.on_behalf(site, |b| b.assign(regs, &values))
            },
        )?;
        let depth = self.depth();
        match results.into_inner() {
            Some((values, regs)) => {
                Ok(std::array::from_fn(|k| self.leaf(&regs[k], depth, values[k].dtype())))
            }
            // This does not happen, since both closures have been run.
            None => Err(Error::OutOfScope { expr: String::from("a result of a condition") }),
        }
    }

    /// Writes scalars to registers in parallel: a scalar may depend on the previous value of another register.
    #[track_caller]
    fn assign<const N: usize>(&mut self, regs: &[Reg; N], scalars: &[Scalar; N]) -> Result<(), Error> {
        let mut values = Vec::new();
        for scalar in scalars {
            values.push(self.scalar_operand(scalar)?.0);
        }
        let mut moves = Vec::new();
        for (k, (reg, value)) in regs.iter().zip(values).enumerate() {
            let ty = lower::moved(lower::register(scalars[k].dtype()));
            // An earlier move of this loop overwrites the value, so a copy is made first.
            let value = if regs[..k].iter().any(|earlier| Operand::from(earlier) == value) {
                let copy = self.reg(reg.ty);
                let operands = vec![Operand::from(&copy), value];
                self.inst(Opcode::Mov, &[ty.into()], operands);
                Operand::from(&copy)
            } else {
                value
            };
            if value != Operand::from(reg) {
                moves.push((ty, vec![Operand::from(reg), value]));
            }
        }
        for (ty, operands) in moves {
            self.inst(Opcode::Mov, &[ty.into()], operands);
        }
        Ok(())
    }
}

fn check<const N: usize>(what: &'static str, first: &[Scalar; N], second: &[Scalar; N]) -> Result<(), Error> {
    let names = |scalars: &[Scalar; N]| scalars.each_ref().map(|scalar| scalar.dtype().name()).join(", ");
    if names(first) == names(second) {
        return Ok(());
    }
    Err(Error::Mismatch {
        what,
        layout: names(second),
        with: names(first),
        accepted: "scalars of the same dtypes",
    })
}
