//! Elements that change places: reshapes, parts, concatenation, order, bytes. Where each thread has what it needs, registers get new
//! names; else elements go through shared memory.

use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Cond, Expr, Reg};
use girih_tensor::DType;

use super::Lowering;
use crate::error::Error;
use crate::fit;
use crate::ir::{Kind, OpId, Type, Value};
use crate::place::{Halves, halves};

/// The most bytes of shared memory that elements go through at once.
pub(super) const WINDOW: i64 = 128 << 10;

/// The most elements of an access.
const VECTOR: i64 = 16;

/// Elements, and their bytes in a line.
pub(super) struct Piece<'a> {
    pub(super) regs: Vec<Reg>,
    pub(super) dtype: DType,
    pub(super) dist: &'a Dist,
    /// In bytes.
    pub(super) line: Line,
    /// The box, from one coordinate to before another, whose elements count, or of which the others count.
    pub(super) part: Part,
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

fn extents(ty: Type) -> Vec<i64> {
    ty.dims.iter().map(|&n| i64::from(n)).collect()
}

pub(super) fn scaled(line: &Line, by: i64) -> Line {
    Line {
        extents: line.extents.clone(),
        base: line.base * by,
        strides: line.strides.iter().map(|stride| stride * by).collect(),
    }
}

impl<'a> Lowering<'a> {
    /// An operand as a piece in a line that counts elements.
    fn piece(&mut self, value: Value, line: &Line, part: Part) -> Result<Piece<'a>, Error> {
        let plan = self.plan;
        let dtype = plan.func.ty(value).dtype;
        let regs = self.regs(value)?;
        Ok(Piece { regs, dtype, dist: plan.dist(value), line: scaled(line, dtype.bytes()), part })
    }

    /// Lowers a [`Kind::Reshape`], [`Kind::Extract`], [`Kind::Insert`], [`Kind::Cat`], [`Kind::Flip`], [`Kind::Pack`] or
    /// [`Kind::Unpack`].
    pub(super) fn reshape(&mut self, id: OpId) -> Result<(), Error> {
        let op = self.plan.func.op(id);
        let result = op.results[0];
        let ty = self.plan.func.ty(result);
        let to = extents(ty);
        let operand = |i: usize| extents(self.plan.func.ty(op.operands[i]));
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
        let regs = self.rearranged(&pieces, ty.dtype, self.plan.dist(result), &line)?;
        self.hold_regs(result, regs)
    }

    /// The registers of a [`Kind::Cat`] of which each thread has elements of one operand alone, and holds those of both.
    fn chosen(&mut self, id: OpId, axis: usize, pieces: &[Piece<'_>; 2]) -> Result<Option<Vec<Reg>>, Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let Some(Halves { dist, bit: Some(bit) }) = halves(&plan.func, op, axis, plan.dist(op.results[0]))
        else {
            return Ok(None);
        };
        let names = |piece: &Piece<'_>| dist.renamed(&piece.line, &[(piece.dist, &piece.line)]);
        let [Some(first), Some(second)] = pieces.each_ref().map(names) else { return Ok(None) };
        let second_half = self.bit_is_set(bit)?;
        let chosen = first.iter().zip(&second).map(|((_, first), (_, second))| {
            let [first, second] = [&pieces[0].regs[*first], &pieces[1].regs[*second]];
            self.select(pieces[0].dtype, &second_half, second, first)
        });
        chosen.collect::<Result<Vec<Reg>, Error>>().map(Some)
    }

    /// The registers of a result whose elements stand in a line of elements, from pieces in the same line.
    pub(super) fn rearranged(
        &mut self,
        pieces: &[Piece<'_>],
        dtype: DType,
        dist: &Dist,
        line: &Line,
    ) -> Result<Vec<Reg>, Error> {
        let line = scaled(line, dtype.bytes());
        let same = pieces.iter().all(|piece| piece.dtype.bytes() == dtype.bytes());
        if same && pieces.iter().all(|piece| !matches!(piece.part, Part::Except(..))) {
            let operands: Vec<(&Dist, &Line)> =
                pieces.iter().map(|piece| (piece.dist, &piece.line)).collect();
            if let Some(names) = dist.renamed(&line, &operands) {
                let regs = names.into_iter().map(|(piece, value)| {
                    let piece = &pieces[piece];
                    self.recast(piece.dtype, dtype, &piece.regs[value])
                });
                return Ok(regs.collect());
            }
        }
        let cells =
            |line: &Line| line.at(&line.extents.iter().map(|n| n - 1).collect::<Vec<_>>()).max(line.base);
        // Of a piece of which a box counts, no more stands there than the result takes.
        let whole = pieces.iter().filter(|piece| !matches!(piece.part, Part::In(..)));
        let end = whole.map(|piece| cells(&piece.line) + piece.dtype.bytes()).max().unwrap_or(0);
        let end = end.max(cells(&line) + dtype.bytes());
        if end <= WINDOW {
            let base = self.scratch(end, 16)?;
            for piece in pieces {
                self.put_piece(piece, &base, None)?;
            }
            self.meet();
            return self.take_line(dtype, dist, &line, &base, None);
        }
        // What does not fit goes part by part.
        let mut regs: Vec<Reg> = Vec::new();
        for from in (0..end).step_by(fit::size(WINDOW)) {
            let base = self.scratch(WINDOW, 16)?;
            for piece in pieces {
                self.put_piece(piece, &base, Some(from))?;
            }
            self.meet();
            let before = (from > 0).then_some(&regs[..]);
            regs = self.take_line(dtype, dist, &line, &base, Some((from, before)))?;
        }
        Ok(regs)
    }

    /// Puts elements into shared memory; of all only those whose bytes are in the window from a byte on.
    pub(super) fn put_piece(
        &mut self,
        piece: &Piece<'_>,
        base: &Expr,
        window: Option<i64>,
    ) -> Result<(), Error> {
        let dist = piece.dist;
        let rank = piece.line.extents.len();
        let vector = vector(dist, &piece.line, piece.dtype.bytes(), &piece.part);
        let origin = self.origin(dist, rank)?;
        let first = dist.owner(&self.thread)?;
        let start = on_line(&origin, &piece.line);
        for value in (0..dist.size()).step_by(vector) {
            let offset = dist.offset(value, rank);
            let at = &start + (piece.line.at(&offset) - piece.line.base);
            let counts = counts(dist, &origin, &offset, &piece.line, &piece.part);
            let cond = Cond::all([first.clone(), counts, in_window(&at, window)]);
            if cond == Cond::Never {
                continue;
            }
            let at = &(base + &at) + -window.unwrap_or(0);
            self.put(piece.dtype, &at, &piece.regs[value..value + vector], &cond)?;
        }
        Ok(())
    }

    /// Takes elements out of shared memory; from a window those whose bytes are there, and the others are what they were before.
    fn take_line(
        &mut self,
        dtype: DType,
        dist: &Dist,
        line: &Line,
        base: &Expr,
        window: Option<(i64, Option<&[Reg]>)>,
    ) -> Result<Vec<Reg>, Error> {
        let rank = line.extents.len();
        let vector = vector(dist, line, dtype.bytes(), &Part::All);
        let origin = self.origin(dist, rank)?;
        let start = on_line(&origin, line);
        let from = window.map(|(from, _)| from);
        let mut regs = Vec::new();
        for value in (0..dist.size()).step_by(vector) {
            let offset = dist.offset(value, rank);
            let at = &start + (line.at(&offset) - line.base);
            let cond = Cond::all([counts(dist, &origin, &offset, line, &Part::All), in_window(&at, from)]);
            let mut got = self.take(dtype, &(&(base + &at) + -from.unwrap_or(0)), vector, &cond)?;
            if let Some((_, Some(before))) = window {
                for (reg, before) in got.iter_mut().zip(&before[value..]) {
                    *reg = self.select(dtype, &cond, reg, before)?;
                }
            }
            regs.extend(got);
        }
        Ok(regs)
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

/// How many values of a thread are one access: neighbours in memory, all of which count or none.
fn vector(dist: &Dist, line: &Line, bytes: i64, part: &Part) -> usize {
    let mut count = 1;
    for (at, leaf) in dist.vals.iter().enumerate() {
        let next = count * leaf.extent;
        if leaf.extent != 2 || next * bytes > 16 {
            break;
        }
        let contiguous = |leaf: &girih_codegen::plan::Leaf, scale: i64| {
            leaf.mode == dist.vals[0].mode && leaf.scale == scale && line.strides[leaf.mode] == bytes
        };
        let mode = leaf.mode;
        let whole = next * bytes;
        let others = dist.vals[at + 1..].iter().map(|leaf| (leaf.mode, leaf.scale));
        let aligned = |(other, scale): (usize, i64)| {
            (scale * line.strides[other]) % whole == 0 && (other != mode || scale % next == 0)
        };
        let cut = |bounds: &[i64]| bounds[mode] % next == 0;
        let kept = match part {
            Part::All => true,
            Part::In(start, end) | Part::Except(start, end) => cut(start) && cut(end),
        };
        let fits = contiguous(leaf, count)
            && dist.bits.iter().flatten().copied().chain(others).all(aligned)
            && line.base % whole == 0
            && line.extents[mode] % next == 0
            && kept;
        if !fits {
            break;
        }
        count = next;
    }
    fit::size(count)
}
