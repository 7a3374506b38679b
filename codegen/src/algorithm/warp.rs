//! Copies that the lanes of a warp make together: `ldmatrix`, `stmatrix`, `movmatrix`, shuffles.

use girih_ptx::{Opcode, Operand, Special, Type, Word};

use super::copy::{Move, line, whole_registers};
use crate::Error;
use crate::atom::CopyOp;
use crate::builder::{Builder, Cond, Width};
use crate::expr::Expr;

pub(super) fn emit(b: &mut Builder, copy: &Move<'_>) -> Result<(), Error> {
    let all: Vec<i64> = (0..copy.source.len() as i64).collect();
    if copy.predicates.of(&all) != Some(Cond::Always) {
        return Err(copy.refused("no predicates, since all lanes execute the instruction together"));
    }
    let ([from, to], count) = copy.instructions()?;
    let modifiers = copy.with.atom.modifiers();
    for i in 0..count {
        let (source, target) = (&copy.source[i * from..(i + 1) * from], &copy.target[i * to..(i + 1) * to]);
        let registers = || copy.refused("fragments that are whole registers");
        let rows = || copy.refused(copy.with.atom.takes());
        match copy.with.atom.op {
            CopyOp::Ldmatrix { .. } => {
                let regs = whole_registers(target).ok_or_else(registers)?;
                let row = line(source, copy.bits)?.ok_or_else(rows)?;
                let address = b.address(&row, Width::W32)?;
                b.inst(Opcode::Ldmatrix, &modifiers, vec![Operand::Vector(regs), address]);
            }
            CopyOp::Stmatrix { .. } => {
                let regs = whole_registers(source).ok_or_else(registers)?;
                let row = line(target, copy.bits)?.ok_or_else(rows)?;
                let address = b.address(&row, Width::W32)?;
                b.inst(Opcode::Stmatrix, &modifiers, vec![address, Operand::Vector(regs)]);
            }
            _ => {
                let from = whole_registers(source).ok_or_else(registers)?;
                let to = whole_registers(target).ok_or_else(registers)?;
                if let CopyOp::Shuffle { xor } = copy.with.atom.op {
                    transpose(b, i64::from(xor), &from, &to)?;
                } else {
                    b.inst(Opcode::Movmatrix, &modifiers, vec![to[0].clone(), from[0].clone()]);
                }
            }
        }
    }
    Ok(())
}

/// Each lane keeps one register and gives the other to the lane whose number differs in the bit `xor`.
fn transpose(b: &mut Builder, xor: i64, from: &[Operand], to: &[Operand]) -> Result<(), Error> {
    let lane = b.special(Special::Laneid);
    let bit = lane.and(xor)?;
    let upper = b.cond(&Cond::less(&Expr::from(0), &bit))?;
    let [give, low, high] = [(); 3].map(|()| b.reg(Type::B32));
    let select = |b: &mut Builder, out: &crate::Reg, yes: Operand, no: Operand| {
        let operands = vec![Operand::from(out), yes, no, Operand::from(&upper)];
        b.inst(Opcode::Selp, &[Type::B32.into()], operands);
    };
    select(b, &give, from[0].clone(), from[1].clone());
    let got = b.shuffle(Type::B32, Word::Bfly, &give, &Operand::Int(xor), 31);
    // The results go through new registers, since the target may be the source.
    select(b, &low, Operand::from(&got), from[0].clone());
    select(b, &high, from[1].clone(), Operand::from(&got));
    for (to, value) in to.iter().zip([&low, &high]) {
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![to.clone(), Operand::from(value)]);
    }
    Ok(())
}
