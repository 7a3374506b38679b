//! Histograms: counters in shared memory.

use girih_codegen::{Cond, Expr, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::words::{immediate, integer, m};
use super::{Lowering, bytes};
use crate::error::Error;
use crate::ir::{Kind, OpId};

impl Lowering<'_> {
    /// Lowers a [`Kind::Histogram`].
    pub(super) fn histogram(&mut self, id: OpId) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let Kind::Histogram = op.kind else { return Ok(()) };
        let (source, result) = (op.operands[0], op.results[0]);
        let (ty, bins) = (plan.func.ty(source), i64::from(plan.func.ty(result).dims[0]));
        let size = bytes(DType::S32);
        let base = self.scratch(bins * size, 16)?;
        let threads = i64::from(plan.threads);
        let zero = self.bits(DType::S32, 0)?;
        for first in (0..bins).step_by(threads as usize) {
            let bin = &self.thread + first;
            let cond = Cond::less(&bin, &Expr::from(bins));
            self.put(DType::S32, &(&base + &(&bin * size)), std::slice::from_ref(&zero), &cond)?;
        }
        self.meet();

        let dist = plan.dist(source);
        let alone = self.first_replica(dist)?;
        let number = integer(ty.dtype);
        for (value, reg) in self.regs(source)?.iter().enumerate() {
            let inside = self.inside(dist, value, &ty.dims)?;
            let counted = Cond::all([alone.clone(), inside]);
            if counted == Cond::Never {
                continue;
            }
            // As an unsigned number, a negative one is beyond all bins.
            let unsigned = if number == Type::S64 || number == Type::U64 { Type::U64 } else { Type::U32 };
            let own = self.setp(Word::Lt, unsigned, reg, immediate(DType::S64, bins as u64));
            let own = self.b.cond_in(&own)?;
            let bin = match unsigned {
                Type::U64 => {
                    self.make(Type::U32, Opcode::Cvt, m![Type::U32, Type::U64], vec![Operand::from(reg)])
                }
                _ => reg.clone(),
            };
            let start = self.b.value(&base, Width::W32)?;
            let scaled = vec![Operand::from(&bin), Operand::Int(size), Operand::from(&start)];
            let address = self.make(Type::U32, Opcode::Mad, m![Word::Lo, Type::U32], scaled);
            let to = Operand::Address(girih_ptx::Address {
                base: Some(address.to_string().into()),
                offset: 0,
                coordinates: Vec::new(),
            });
            let cond = Cond::all([counted, own]);
            self.b.inst_if(
                &cond,
                Opcode::Red,
                m![Word::Shared, Word::Add, Type::U32],
                vec![to, Operand::Int(1)],
            )?;
        }
        self.meet();

        let to = plan.dist(result);
        let origin = self.origin(to, 1)?;
        let mut regs = Vec::new();
        for value in 0..to.size() {
            let at = &origin[0] + to.offset(value, 1)[0];
            let cond = Cond::less(&at, &Expr::from(bins));
            regs.extend(self.take(DType::S32, &(&base + &(&at * size)), 1, &cond)?);
        }
        self.hold_regs(result, regs)
    }
}
