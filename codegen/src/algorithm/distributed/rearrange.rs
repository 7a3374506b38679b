//! Rearrangements of tiles by a linear order of their elements ([`Line`]). If each thread has its elements already, registers are relabelled; else
//! elements go through shared memory.

use girih_layout::Swizzle;
use girih_tensor::{DType, Space};

use super::access::{Move, access, widest};
use super::{Group, inside_along};
use crate::Expr;
use crate::algorithm::element::recast;
use crate::builder::{Cond, Reg};
use crate::plan::{Dist, Line, Vectors, WIDEST};

/// The largest window of shared memory in bytes. Larger tiles are moved window by window.
pub(super) const WINDOW: i64 = 128 << 10;

/// A tile in shared memory, with the linear order of its elements and their distribution over threads.
#[derive(Clone)]
pub struct Piece<'a> {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Which thread has which elements.
    pub dist: &'a Dist,
    /// The linear order of the elements, by which they are in memory.
    pub line: Line,
    /// The elements that are moved.
    pub part: Part,
    /// The swizzle of an element's linear index.
    pub swizzle: Swizzle,
    /// The vectors of a thread's elements, if they are not the widest possible ones.
    pub vectors: Option<&'a Vectors>,
}

impl<'a> Piece<'a> {
    /// All elements of a tile, without a swizzle, in the widest vectors.
    pub fn new(dtype: DType, dist: &'a Dist, line: Line) -> Piece<'a> {
        Piece { dtype, dist, line, part: Part::All, swizzle: Swizzle::NONE, vectors: None }
    }

    /// The end of the last element, in bytes.
    pub fn end(&self) -> i64 {
        let last: Vec<i64> = self.line.extents.iter().map(|n| n - 1).collect();
        (self.line.at(&last).max(self.line.base) + 1) * self.dtype.bytes()
    }
}

/// The elements of a piece that are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All.
    All,
    /// Those in a box, from the first coordinate up to the second one, exclusive.
    In(Vec<i64>, Vec<i64>),
    /// Those outside of a box.
    Except(Vec<i64>, Vec<i64>),
}

/// The registers of `to` from pieces in the same linear order.
///
/// # Errors
/// Those of the group and of [`access()`].
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::distributed::{Group, Piece, ThreadBlock, rearrange};
/// use girih_codegen::plan::{Dist, Line};
/// use girih_tensor::DType;
///
/// // 128 threads have 8 neighbours of 1024 each, and are to have them in reverse order.
/// let dist = Dist::blocked(&[1024], &[0], 8, 128);
/// let mut b = Builder::new("reverse", 90, 128);
/// let regs = b.regs(girih_ptx::Type::B16, 8);
/// let mut block = ThreadBlock::new(&mut b);
/// let reversed = Line { extents: vec![1024], base: 1023, strides: vec![-1] };
/// let from = Piece::new(DType::F16, &dist, reversed);
/// let to = Piece::new(DType::F16, &dist, Line::row_major(&[1024]));
/// assert_eq!(rearrange(&mut block, &[(from, regs)], &to)?.len(), 8);
/// assert_eq!(b.finish()?.shared_bytes(), 2048);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn rearrange<G: Group>(
    group: &mut G,
    pieces: &[(Piece<'_>, Vec<Reg>)],
    to: &Piece<'_>,
) -> Result<Vec<Reg>, G::Error> {
    let alike = |(piece, _): &(Piece<'_>, _)| {
        piece.dtype.bytes() == to.dtype.bytes() && !matches!(piece.part, Part::Except(..))
    };
    let operands: Vec<(&Dist, &Line)> = pieces.iter().map(|(piece, _)| (piece.dist, &piece.line)).collect();
    if pieces.iter().all(alike)
        && let Some(names) = to.dist.renamed(&to.line, &operands)
    {
        let regs = names.into_iter().map(|(piece, value)| {
            let (piece, regs) = &pieces[piece];
            recast(group.builder(), piece.dtype, to.dtype, &regs[value])
        });
        return Ok(regs.collect());
    }
    // Of a piece with a box, shared memory holds only the elements that the result reads.
    let whole = pieces.iter().filter(|(piece, _)| !matches!(piece.part, Part::In(..)));
    let end = whole.map(|(piece, _)| piece.end()).fold(to.end(), i64::max);
    let mut got = Vec::new();
    // Elements beyond the window are handled window by window.
    for from in (0..end).step_by(WINDOW as usize) {
        let window = (end > WINDOW).then_some(from);
        got = through(group, pieces, to, [end.min(WINDOW), 16], window, &got)?;
    }
    Ok(got)
}

/// Moves elements through shared memory of this size and alignment in bytes.
///
/// # Errors
/// As [`rearrange`].
pub fn through<G: Group>(
    group: &mut G,
    pieces: &[(Piece<'_>, Vec<Reg>)],
    to: &Piece<'_>,
    [bytes, align]: [i64; 2],
    window: Option<i64>,
    before: &[Reg],
) -> Result<Vec<Reg>, G::Error> {
    let base = group.scratch(bytes, align)?;
    for (piece, regs) in pieces {
        put(group, piece, regs, &base, window)?;
    }
    group.sync();
    take(group, to, &base, window, before)
}

/// Stores elements to shared memory, each by one thread, and of all only those whose bytes are in the window that begins at a byte.
///
/// # Errors
/// As [`rearrange`].
pub fn put<G: Group>(
    group: &mut G,
    piece: &Piece<'_>,
    regs: &[Reg],
    base: &Expr,
    window: Option<i64>,
) -> Result<(), G::Error> {
    let own = piece.dist.owner(&group.thread())?;
    let runs = runs_of(group, piece, base)?;
    access(group, &Space::Smem.into(), piece.dtype, &runs, &Move::Store(regs), |group, value| {
        let (address, counts) = address_in(group, piece, base, value, window)?;
        Ok((address, Cond::all([own.clone(), counts])))
    })?;
    Ok(())
}

/// Loads elements from shared memory, and of a window those whose bytes are there. The other registers keep their values, if there are any, or are
/// undetermined.
///
/// # Errors
/// As [`rearrange`].
pub fn take<G: Group>(
    group: &mut G,
    piece: &Piece<'_>,
    base: &Expr,
    window: Option<i64>,
    before: &[Reg],
) -> Result<Vec<Reg>, G::Error> {
    let runs = runs_of(group, piece, base)?;
    let what = Move::LoadOver(None, before);
    let at = |group: &mut G, value: usize| address_in(group, piece, base, value, window);
    access(group, &Space::Smem.into(), piece.dtype, &runs, &what, at)
}

/// The address of a thread's value relative to the window, and the condition that the value is moved and inside the window.
pub fn address_in<G: Group>(
    group: &mut G,
    piece: &Piece<'_>,
    base: &Expr,
    value: usize,
    window: Option<i64>,
) -> Result<(Expr, Cond), G::Error> {
    let Piece { dist, line, .. } = piece;
    let rank = line.extents.len();
    let (origin, offset) = (group.origin(dist, rank)?, dist.offset(value, rank));
    let mut number = &on_line(&origin, line) + (line.at(&offset) - line.base);
    if piece.swizzle != Swizzle::NONE {
        number = number.swizzle(&piece.swizzle)?;
    }
    let at = &number * piece.dtype.bytes();
    let counts = Cond::all([counts(dist, &origin, &offset, line, &piece.part), in_window(&at, window)]);
    Ok((&(base + &at) + -window.unwrap_or(0), counts))
}

/// The values that are accessed together: contiguous in memory, and all moved or none.
fn runs_of<G: Group>(group: &mut G, piece: &Piece<'_>, base: &Expr) -> Result<Vec<Vec<usize>>, G::Error> {
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
        let (address, _) = address_in(group, piece, base, run[0], None)?;
        Ok(cut(vector) && address.multiple() % (vector * size) == 0)
    })
}

/// The linear index of a thread's first value.
pub(super) fn on_line(origin: &[Expr], line: &Line) -> Expr {
    let moves = origin.iter().zip(&line.strides);
    moves.fold(Expr::from(line.base), |at, (origin, &stride)| &at + &(origin * stride))
}

/// The condition that a byte is in the window that begins at a byte.
pub(super) fn in_window(at: &Expr, from: Option<i64>) -> Cond {
    let Some(from) = from else { return Cond::Always };
    Cond::all([Cond::less(&Expr::from(from - 1), at), Cond::less(at, &Expr::from(from + WINDOW))])
}

/// The condition that a value is moved.
pub(super) fn counts(dist: &Dist, origin: &[Expr], offset: &[i64], line: &Line, part: &Part) -> Cond {
    let below = |mode: usize, end: i64| inside_along(&origin[mode], dist.reach(mode), offset[mode], end);
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
