//! Rearrangements: reshapes, parts, concatenation, order, bytes.

use girih_codegen::algorithm::distributed::{Part, Piece, rearrange};
use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Cond, Expr, Reg};
use girih_tensor::DType;

use super::Lowering;
use crate::error::Result;
use crate::ir::{Dims, Kind, Op, OpId, Value};
use crate::place::{Halves, extents, halves};

/// The most elements of an access.
const VECTOR: i64 = 16;

/// A tile at strides in shared memory, in elements.
pub(super) fn piece_at<'a>(dtype: DType, dist: &'a Dist, dims: &Dims, strides: &[i64]) -> Piece<'a> {
    Piece::new(dtype, dist, Line { extents: extents(dims), base: 0, strides: strides.to_vec() })
}

impl<'a> Lowering<'a> {
    /// An operand as a piece, and its registers.
    fn piece(&mut self, value: Value, line: &Line, part: Part) -> Result<(Piece<'a>, Vec<Reg>)> {
        let piece = Piece::new(self.plan.func.ty(value).dtype, self.plan.dist(value), line.clone());
        Ok((Piece { part, ..piece }, self.regs(value)?))
    }

    /// Lowers a [`Kind::Reshape`], [`Kind::Extract`], [`Kind::Insert`], [`Kind::Cat`], [`Kind::Flip`], [`Kind::Pack`] or
    /// [`Kind::Unpack`].
    pub(super) fn reshape(&mut self, id: OpId, op: &Op) -> Result {
        let result = op.results[0];
        let ty = self.plan.func.ty(result);
        let to = extents(&ty.dims);
        let operand = |i: usize| extents(&self.plan.func.ty(op.operands[i]).dims);
        let mut line = Line::row_major(&to);
        let pieces = match &op.kind {
            Kind::Extract(start) => {
                let from = operand(0);
                let mut whole = Line::row_major(&from);
                let start: Vec<i64> = start.iter().map(|&n| i64::from(n)).collect();
                let end = start.iter().zip(&to).map(|(start, n)| start + n).collect();
                // What is before the part is nowhere, but for what a vector begins with.
                let first = whole.at(&start);
                whole.base = first % VECTOR - first;
                line = Line { extents: to, base: first % VECTOR, strides: whole.strides.clone() };
                let part = if line.extents == from { Part::All } else { Part::In(start, end) };
                vec![self.piece(op.operands[0], &whole, part)?]
            }
            Kind::Insert(start) => {
                let part = operand(1);
                let start: Vec<i64> = start.iter().map(|&n| i64::from(n)).collect();
                let end = start.iter().zip(&part).map(|(start, n)| start + n).collect();
                let inner = Line { extents: part, base: line.at(&start), strides: line.strides.clone() };
                let outer = self.piece(op.operands[0], &line, Part::Except(start, end))?;
                vec![outer, self.piece(op.operands[1], &inner, Part::All)?]
            }
            Kind::Cat(axis) => {
                let axis = usize::from(*axis);
                let parts = [operand(0), operand(1)];
                let first = Line { extents: parts[0].clone(), ..line.clone() };
                let base = parts[0][axis] * line.strides[axis];
                let second = Line { extents: parts[1].clone(), base, strides: line.strides.clone() };
                let first = self.piece(op.operands[0], &first, Part::All)?;
                let pieces = [first, self.piece(op.operands[1], &second, Part::All)?];
                if let Some(regs) = self.chosen(id, axis, &pieces)? {
                    return self.hold_regs(result, regs);
                }
                pieces.into()
            }
            Kind::Flip(axis) => {
                let axis = usize::from(*axis);
                let mut turned = line.clone();
                turned.base = (to[axis] - 1) * line.strides[axis];
                turned.strides[axis] = -line.strides[axis];
                vec![self.piece(op.operands[0], &turned, Part::All)?]
            }
            _ => {
                let line = Line::row_major(&operand(0));
                vec![self.piece(op.operands[0], &line, Part::All)?]
            }
        };
        let regs = rearrange(self, &pieces, &Piece::new(ty.dtype, self.plan.dist(result), line))?;
        self.hold_regs(result, regs)
    }

    /// The registers of a [`Kind::Cat`] of which each thread has elements of one operand alone, and holds those of both.
    fn chosen(
        &mut self,
        id: OpId,
        axis: usize,
        pieces: &[(Piece<'_>, Vec<Reg>); 2],
    ) -> Result<Option<Vec<Reg>>> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let Some(Halves { dist, bit: Some(bit) }) = halves(&plan.func, op, axis, plan.dist(op.results[0]))
        else {
            return Ok(None);
        };
        let names = |(piece, _): &(Piece<'_>, _)| dist.renamed(&piece.line, &[(piece.dist, &piece.line)]);
        let [Some(first), Some(second)] = pieces.each_ref().map(names) else { return Ok(None) };
        let second_half = Cond::less(&Expr::from(0), &self.thread.div(1 << bit)?.rem(2)?);
        let chosen = first.iter().zip(&second).map(|((_, first), (_, second))| {
            self.select(pieces[0].0.dtype, &second_half, &pieces[1].1[*second], &pieces[0].1[*first])
        });
        chosen.collect::<Result<Vec<Reg>>>().map(Some)
    }
}
