//! Products by multiply-adds: a thread computes its elements of the result, with all of K.

use girih_codegen::algorithm::element::convert_element;
use girih_codegen::plan::Dist;
use girih_codegen::{Expr, Reg};
use girih_ptx::{Opcode, Operand, Word};
use girih_tensor::DType;

use super::stage::{Staged, Staging};
use crate::error::Result;
use crate::fit;
use crate::ir::{OpId, Rounding};
use crate::lower::words::{m, of};
use crate::lower::{Lowering, register};
use crate::place::product::{sliced, whole};

/// The most elements along K that a thread reads at once.
const DEEP: i64 = 4;
/// The most multiply-adds that are written one after the other.
const UNROLLED: i64 = 1024;

/// Where a thread finds what it needs of an operand.
enum Side {
    /// In its registers, all of K.
    Held(Vec<Reg>),
    /// In shared memory; the distribution of one element along K.
    Staged(Staged, Dist),
}

/// The dtype that products of a dtype are computed in.
fn computed(sum: DType) -> DType {
    match sum {
        DType::F16 => DType::F32,
        sum => sum,
    }
}

impl Lowering<'_> {
    /// A product by multiply-adds of each thread.
    pub(super) fn multiply_add(&mut self, id: OpId) -> Result {
        let plan = self.plan;
        let op = plan.func.op(id);
        let (a, result) = (plan.func.ty(op.operands[0]), plan.func.ty(op.results[0]));
        let rank = result.dims.rank();
        let sums = plan.dist(op.results[0]);
        let k = i64::from(a.dims[rank - 1]);
        let dtype = computed(result.dtype);

        let held = plan.in_registers(id);
        let staged = (0..2).filter(|&i| !held[i]);
        let staged: Vec<_> = staged.map(|i| Staging::plain(plan, op.operands[i])).collect();
        let mut staged = self.stage(&staged)?.into_iter();
        let mut sides = Vec::new();
        for (i, held) in held.into_iter().enumerate() {
            let one = if held { None } else { staged.next() };
            sides.push(match one {
                Some(one) => Side::Staged(one, sums.slice(rank - 1 - i)),
                None => Side::Held(self.regs(op.operands[i])?),
            });
        }

        let mut initial = Vec::new();
        for reg in self.regs(op.operands[2])? {
            initial.push(convert_element(&mut self.b, result.dtype, dtype, Rounding::Nearest, &reg)?);
        }
        let totals = self.b.regs(register(dtype), initial.len());
        self.b.move_all(&totals, &initial)?;

        let places: Vec<[usize; 2]> = (0..sums.size())
            .map(|value| [sliced(sums, rank - 1, value), sliced(sums, rank - 2, value)])
            .collect();
        let loops =
            sides.iter().all(|side| matches!(side, Side::Staged(..))) && k * totals.len() as i64 > UNROLLED;
        let mut start = 0;
        if loops && k / DEEP > 1 {
            let stop = k / DEEP * DEEP;
            let counter = self.b.reg(register(DType::S32));
            let zero = self.bits(DType::S32, 0)?;
            self.b.move_all(std::slice::from_ref(&counter), &[zero])?;
            let again = self.b.open_repeat();
            let number = self.copy(DType::S32, &counter);
            let at = self.b.var(&number, 0, stop - DEEP, DEEP);
            self.multiply_part(id, &sides, &at, DEEP, &places, &totals)?;
            let next = vec![Operand::from(&counter), Operand::from(&counter), Operand::Int(DEEP)];
            self.b.inst(Opcode::Add, m![register(DType::S32)], next);
            let more = self.setp(Word::Lt, register(DType::S32), &counter, Operand::Int(stop));
            let more = self.b.cond_in(&more)?;
            self.b.again(&again, &more, true)?;
            self.b.close_block(again)?;
            start = stop;
        }
        while start < k {
            let left = k - start;
            let deep = DEEP.min(1 << left.ilog2());
            self.multiply_part(id, &sides, &Expr::from(start), deep, &places, &totals)?;
            start += deep;
        }

        let mut regs = Vec::new();
        for total in &totals {
            regs.push(convert_element(&mut self.b, dtype, result.dtype, Rounding::Nearest, total)?);
        }
        self.hold_regs(op.results[0], regs)
    }

    /// Adds the products of `deep` elements along K from `at` on. `places` are the numbers of the left and the right factor of each sum.
    fn multiply_part(
        &mut self,
        id: OpId,
        sides: &[Side],
        at: &Expr,
        deep: i64,
        places: &[[usize; 2]],
        totals: &[Reg],
    ) -> Result {
        let plan = self.plan;
        let op = plan.func.op(id);
        let sum = computed(plan.func.ty(op.results[0]).dtype);
        let mut parts: Vec<Vec<Reg>> = Vec::new();
        for (i, side) in sides.iter().enumerate() {
            let ty = plan.func.ty(op.operands[i]);
            let along = ty.dims.rank() - 1 - i;
            let regs = match side {
                Side::Held(regs) => {
                    let rows = regs.len() / ty.dims[along] as usize;
                    let first = fit::size(at.as_constant().unwrap_or_default()) * rows;
                    regs[first..first + rows * fit::size(deep)].to_vec()
                }
                Side::Staged(staged, dist) => {
                    let part = whole(dist.clone(), along, 1, deep);
                    let dims = ty.dims.with(along, fit::word(deep));
                    self.staged_part(staged, &(at * staged.strides[along]), dims, &part)?
                }
            };
            let factor = if sum == DType::S32 { ty.dtype } else { sum };
            let mut converted = Vec::new();
            for reg in regs {
                converted.push(match ty.dtype {
                    DType::Tf32 => reg,
                    dtype => convert_element(&mut self.b, dtype, factor, Rounding::Nearest, &reg)?,
                });
            }
            parts.push(converted);
        }
        let ty = register(sum);
        for step in 0..fit::size(deep) {
            let [rows, columns] = [0, 1].map(|i| parts[i].len() / fit::size(deep));
            for ([left, right], total) in places.iter().zip(totals) {
                let (left, right) = (&parts[0][step * rows + left], &parts[1][step * columns + right]);
                let operands = of([total, left, right, total]);
                match sum {
                    DType::S32 => self.b.inst(Opcode::Mad, m![Word::Lo, ty], operands),
                    _ => self.b.inst(Opcode::Fma, m![Word::Rn, ty], operands),
                }
            }
        }
        Ok(())
    }
}
