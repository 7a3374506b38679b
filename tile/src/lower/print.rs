//! Printing and assertions.

use girih_codegen::plan::{Dist, primes};
use girih_codegen::{Cond, Expr, Scalar};
use girih_ptx::{Opcode, Type};

use super::Lowering;
use super::words::{m, of};
use crate::error::Error;
use crate::ir::{Dims, OpId};

/// The most elements of a tile that are printed.
const ELEMENTS: u64 = 1024;
/// The most values of one call of `vprintf` (CUDA C++ Programming Guide, "Formatted Output").
const VALUES: usize = 32;

/// Text with at most one conversion in it, and the operand that the conversion is of.
struct Piece {
    text: String,
    operand: Option<usize>,
}

/// A format cut behind each conversion.
fn pieces(format: &str) -> Vec<Piece> {
    let (mut found, mut text, mut operand) = (Vec::new(), String::new(), 0);
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        text.push(c);
        if c != '%' {
            continue;
        }
        if let Some(c) = chars.next_if_eq(&'%') {
            text.push(c);
            continue;
        }
        for c in chars.by_ref() {
            text.push(c);
            if c.is_ascii_alphabetic() && c != 'l' {
                break;
            }
        }
        found.push(Piece { text: std::mem::take(&mut text), operand: Some(operand) });
        operand += 1;
    }
    if !text.is_empty() {
        found.push(Piece { text, operand: None });
    }
    found
}

/// Every thread holds all elements, row-major.
fn whole(dims: &Dims, threads: i64) -> Dist {
    let mut dist = Dist::scalar(threads);
    for (mode, &extent) in dims.iter().enumerate().rev() {
        let mut scale = 1;
        for p in primes(extent.into()) {
            dist.vals.push(girih_codegen::plan::Leaf { extent: p, mode, scale });
            scale *= p;
        }
    }
    dist
}

impl Lowering<'_> {
    /// Lowers [`Kind::Print`](crate::ir::Kind::Print): one thread prints; of a tile it prints the elements in brackets, row-major.
    pub(crate) fn print(&mut self, id: OpId, format: &str) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let mut operands = Vec::new();
        for &value in &op.operands {
            let ty = plan.func.ty(value);
            if ty.dims.size() > ELEMENTS {
                return Err(
                    self.unsupported(id, &format!("tiles of at most {ELEMENTS} elements are printed"))
                );
            }
            let regs = self.regs(value)?;
            let all = whole(&ty.dims, plan.threads.into());
            let regs = self.redistribute(ty.dtype, &ty.dims, plan.dist(value), &regs, &all)?;
            operands.push((ty, regs));
        }
        let first = Cond::less(&self.thread, &Expr::from(1));
        let around = self.b.open_block();
        self.b.leave(&around, &Cond::not(first), false)?;
        let (mut text, mut values): (String, Vec<Scalar>) = (String::new(), Vec::new());
        for piece in pieces(format) {
            let Some((ty, regs)) = piece.operand.map(|at| &operands[at]) else {
                text += &piece.text;
                continue;
            };
            let at = piece.text.rfind('%').unwrap_or(0);
            let (before, conversion) = piece.text.split_at(at);
            text += before;
            let tile = ty.dims.rank() > 0;
            for (i, reg) in regs.iter().enumerate() {
                text += match (tile, i) {
                    (false, _) => "",
                    (true, 0) => "[",
                    (true, _) => ", ",
                };
                text += conversion;
                values.push(self.b.scalar_in(reg, ty.dtype)?);
                if values.len() == VALUES {
                    self.b.printf(&std::mem::take(&mut text), &values.iter().collect::<Vec<_>>())?;
                    values.clear();
                }
            }
            if tile {
                text += "]";
            }
        }
        if !text.is_empty() {
            self.b.printf(&text, &values.iter().collect::<Vec<_>>())?;
        }
        Ok(self.b.close_block(around)?)
    }

    /// Lowers [`Kind::Assert`](crate::ir::Kind::Assert): a thread with an element that is false prints the message and traps.
    pub(crate) fn assert(&mut self, id: OpId, message: &str) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let value = op.operands[0];
        let (dist, dims) = (plan.dist(value), plan.func.ty(value).dims);
        let padded = self.is_padded(dist, &dims);
        let mut all = None;
        for (at, reg) in self.regs(value)?.into_iter().enumerate() {
            let mut holds = reg;
            if padded {
                let inside = self.inside(dist, at, &dims)?;
                let outside = self.b.cond(&Cond::not(inside))?;
                holds = self.make(Type::Pred, Opcode::Or, m![Type::Pred], of([&holds, &outside]));
            }
            all = Some(match all {
                None => holds,
                Some(all) => self.make(Type::Pred, Opcode::And, m![Type::Pred], of([&all, &holds])),
            });
        }
        let Some(all) = all else { return Ok(()) };
        let holds = self.b.cond_in(&all)?;
        let around = self.b.open_block();
        self.b.leave(&around, &holds, false)?;
        let site = op.site.map(|site| format!("{site}: ")).unwrap_or_default();
        let text = format!("{site}assertion failed: {message}\n").replace('%', "%%").replace('\0', " ");
        self.b.printf(&text, &[])?;
        self.b.ptx("trap;", &[])?;
        Ok(self.b.close_block(around)?)
    }
}
