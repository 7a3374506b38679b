//! Rearrangements: reshapes, parts, concatenation, order, bytes. Where each thread has what it needs, registers get
//! new names; else elements go through shared memory.

use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Cond, Expr, Reg};
use girih_layout::Swizzle;
use girih_tensor::{DType, Space};

use super::Lowering;
use super::memory::{Move, widest};
use crate::error::Result;
use crate::fit;
use crate::ir::{Dims, Kind, Op, OpId, Value};
use crate::place::access::{Vectors, WIDEST};
use crate::place::{Halves, extents, halves};

/// The most bytes of shared memory that elements go through at once.
pub(super) const WINDOW: i64 = 128 << 10;

/// The most elements of an access.
const VECTOR: i64 = 16;

/// A tile in shared memory, and how threads hold its elements.
#[derive(Clone)]
pub(super) struct Piece<'a> {
    pub(super) dtype: DType,
    pub(super) dist: &'a Dist,
    /// Where elements are, in elements.
    pub(super) line: Line,
    /// The elements that count.
    pub(super) part: Part,
    /// Applied to the number of an element on the line.
    pub(super) swizzle: Swizzle,
    /// How a thread's elements are accessed, if it is not in the widest vectors that there are.
    pub(super) vectors: Option<&'a Vectors>,
}

impl<'a> Piece<'a> {
    pub(super) fn new(dtype: DType, dist: &'a Dist, line: Line) -> Piece<'a> {
        Piece { dtype, dist, line, part: Part::All, swizzle: Swizzle::NONE, vectors: None }
    }

    /// A tile at strides, in elements.
    pub(super) fn at(dtype: DType, dist: &'a Dist, dims: &Dims, strides: &[i64]) -> Piece<'a> {
        Piece::new(dtype, dist, Line { extents: extents(dims), base: 0, strides: strides.to_vec() })
    }

    /// Bytes up to the last element's end.
    pub(super) fn end(&self) -> i64 {
        let last: Vec<i64> = self.line.extents.iter().map(|n| n - 1).collect();
        (self.line.at(&last).max(self.line.base) + 1) * self.dtype.bytes()
    }
}

/// Which elements of a piece count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All.
    All,
    /// Those in a box.
    In(Vec<i64>, Vec<i64>),
    /// Those outside of a box.
    Except(Vec<i64>, Vec<i64>),
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
        let regs = self.rearranged(&pieces, &Piece::new(ty.dtype, self.plan.dist(result), line))?;
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
        let second_half = self.bit_is_set(bit)?;
        let chosen = first.iter().zip(&second).map(|((_, first), (_, second))| {
            self.select(pieces[0].0.dtype, &second_half, &pieces[1].1[*second], &pieces[0].1[*first])
        });
        chosen.collect::<Result<Vec<Reg>>>().map(Some)
    }

    /// The registers of a result from pieces that are in the same shared memory.
    pub(super) fn rearranged(
        &mut self,
        pieces: &[(Piece<'_>, Vec<Reg>)],
        to: &Piece<'_>,
    ) -> Result<Vec<Reg>> {
        let alike = |(piece, _): &(Piece<'_>, _)| {
            piece.dtype.bytes() == to.dtype.bytes() && !matches!(piece.part, Part::Except(..))
        };
        let operands: Vec<(&Dist, &Line)> =
            pieces.iter().map(|(piece, _)| (piece.dist, &piece.line)).collect();
        if pieces.iter().all(alike)
            && let Some(names) = to.dist.renamed(&to.line, &operands)
        {
            let regs = names.into_iter().map(|(piece, value)| {
                let (piece, regs) = &pieces[piece];
                self.recast(piece.dtype, to.dtype, &regs[value])
            });
            return Ok(regs.collect());
        }
        // Of a piece of which a box counts, no more stands there than the result takes.
        let whole = pieces.iter().filter(|(piece, _)| !matches!(piece.part, Part::In(..)));
        let end = whole.map(|(piece, _)| piece.end()).fold(to.end(), i64::max);
        let mut got = Vec::new();
        // What does not fit goes part by part.
        for from in (0..end).step_by(fit::size(WINDOW)) {
            let window = (end > WINDOW).then_some(from);
            got = self.through(pieces, to, [end.min(WINDOW), 16], window, &got)?;
        }
        Ok(got)
    }

    /// Elements through shared memory of a size and an alignment.
    pub(super) fn through(
        &mut self,
        pieces: &[(Piece<'_>, Vec<Reg>)],
        to: &Piece<'_>,
        [bytes, align]: [i64; 2],
        window: Option<i64>,
        before: &[Reg],
    ) -> Result<Vec<Reg>> {
        let base = self.scratch(bytes, align)?;
        for (piece, regs) in pieces {
            self.put_piece(piece, regs, &base, window)?;
        }
        self.meet();
        self.take_piece(to, &base, window, before)
    }

    /// Puts elements into shared memory, each by one thread; of all only those whose bytes are in the window from a byte on.
    pub(super) fn put_piece(
        &mut self,
        piece: &Piece<'_>,
        regs: &[Reg],
        base: &Expr,
        window: Option<i64>,
    ) -> Result {
        let own = piece.dist.owner(&self.thread)?;
        let runs = self.runs_of(piece, base)?;
        self.access(&Space::Smem.into(), piece.dtype, &runs, &Move::Store(regs), |low, value| {
            let (address, counts) = low.address_in(piece, base, value, window)?;
            Ok((address, Cond::all([own.clone(), counts])))
        })?;
        Ok(())
    }

    /// Takes elements out of shared memory; from a window those whose bytes are there. The others are what they were before, if there
    /// was anything, or undetermined.
    pub(super) fn take_piece(
        &mut self,
        piece: &Piece<'_>,
        base: &Expr,
        window: Option<i64>,
        before: &[Reg],
    ) -> Result<Vec<Reg>> {
        let runs = self.runs_of(piece, base)?;
        let what = Move::LoadOver(None, before);
        let at = |low: &mut Self, value: usize| low.address_in(piece, base, value, window);
        self.access(&Space::Smem.into(), piece.dtype, &runs, &what, at)
    }

    /// The address of a thread's value, less the beginning of a window, and where the value counts and is in the window.
    pub(super) fn address_in(
        &mut self,
        piece: &Piece<'_>,
        base: &Expr,
        value: usize,
        window: Option<i64>,
    ) -> Result<(Expr, Cond)> {
        let Piece { dist, line, .. } = piece;
        let rank = line.extents.len();
        let (origin, offset) = (self.origin(dist, rank)?, dist.offset(value, rank));
        let mut number = &on_line(&origin, line) + (line.at(&offset) - line.base);
        if piece.swizzle != Swizzle::NONE {
            number = number.swizzle(&piece.swizzle)?;
        }
        let at = &number * piece.dtype.bytes();
        let counts = Cond::all([counts(dist, &origin, &offset, line, &piece.part), in_window(&at, window)]);
        Ok((&(base + &at) + -window.unwrap_or(0), counts))
    }

    /// The values that are accessed together: neighbours in memory, all of which count or none.
    fn runs_of(&mut self, piece: &Piece<'_>, base: &Expr) -> Result<Vec<Vec<usize>>> {
        if let Some(vectors) = piece.vectors {
            return Ok(vectors.iter().map(<[usize]>::to_vec).collect());
        }
        let (line, size) = (&piece.line, piece.dtype.bytes());
        let rows = (0..line.extents.len()).filter(|&mode| line.strides[mode] == 1);
        let row = rows.max_by_key(|&mode| (line.extents[mode] > 1, mode));
        let bounds = match &piece.part {
            Part::All => vec![&line.extents],
            Part::In(start, end) | Part::Except(start, end) => vec![&line.extents, start, end],
        };
        let cut = |vector: i64| row.is_some_and(|mode| bounds.iter().all(|at| at[mode] % vector == 0));
        widest(piece.dist, line.extents.len(), row, WIDEST / size, |vector, run| {
            let (address, _) = self.address_in(piece, base, run[0], None)?;
            Ok(cut(vector) && address.multiple() % (vector * size) == 0)
        })
    }
}

/// Where a thread's first value is on a line.
pub(super) fn on_line(origin: &[Expr], line: &Line) -> Expr {
    let moves = origin.iter().zip(&line.strides);
    moves.fold(Expr::from(line.base), |at, (origin, &stride)| &at + &(origin * stride))
}

/// Where a byte is in the window from a byte on.
pub(super) fn in_window(at: &Expr, from: Option<i64>) -> Cond {
    let Some(from) = from else { return Cond::Always };
    Cond::all([Cond::less(&Expr::from(from - 1), at), Cond::less(at, &Expr::from(from + WINDOW))])
}

/// Where a value is an element that counts.
pub(super) fn counts(dist: &Dist, origin: &[Expr], offset: &[i64], line: &Line, part: &Part) -> Cond {
    let below =
        |mode: usize, end: i64| super::reduce::inside(&origin[mode], dist.reach(mode), offset[mode], end);
    let from = |mode: usize, start: i64| match start - offset[mode] {
        left if left <= 0 => Cond::Always,
        left if left > dist.reach(mode) => Cond::Never,
        left => Cond::less(&Expr::from(left - 1), &origin[mode]),
    };
    let within = |start: &[i64], end: &[i64]| {
        Cond::all((0..offset.len()).flat_map(|mode| [from(mode, start[mode]), below(mode, end[mode])]))
    };
    let real = Cond::all((0..offset.len()).map(|mode| below(mode, line.extents[mode])));
    match part {
        Part::All => real,
        Part::In(start, end) => within(start, end),
        Part::Except(start, end) => Cond::all([real, Cond::not(within(start, end))]),
    }
}
