//! Accesses by index tiles: gathers, scatters, and what atomic operations have in common with them.

use girih_codegen::algorithm::distributed::{Move, Piece, access, singles, through};
use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Lowering;
use super::memory::{ArrayAt, Touch, global};
use super::span::Spans;
use super::words::m;
use crate::error::Result;
use crate::ir::{Dims, Indexed, Op, Order, Value};
use crate::place::access::constant;

/// The elements that an access by index tiles goes to.
pub(super) struct Places<'t> {
    pub(super) array: ArrayAt,
    pub(super) dist: &'t Dist,
    pub(super) dims: Dims,
    /// Registers of the indices, by axis.
    indices: Vec<(DType, Vec<Reg>)>,
    mask: Option<Vec<Reg>>,
    pub(super) check: bool,
    /// Whether threads hold elements that the tile does not have.
    pub(super) padded: bool,
}

impl Places<'_> {
    /// Whether the values of a run have the same indices but for one axis: the same registers.
    pub(super) fn alike(&self, axis: usize, run: &[usize]) -> bool {
        let mut others = self.indices.iter().enumerate().filter(|(at, _)| *at != axis);
        others.all(|(_, (_, regs))| run.iter().all(|&value| regs[value] == regs[run[0]]))
    }
}

impl Lowering<'_> {
    /// Reads indices and mask of an access off its operands, and returns the operands after them.
    pub(super) fn places<'t>(
        &mut self,
        at: &Indexed,
        operands: &'t [Value],
    ) -> Result<(Places<'t>, &'t [Value])>
    where
        Self: 't,
    {
        let array = self.array_at(at.array)?;
        let rank = array.extents.len();
        let mut indices = Vec::new();
        for &value in &operands[..rank] {
            indices.push((self.plan.func.ty(value).dtype, self.regs(value)?));
        }
        let mask = if at.masked { Some(self.regs(operands[rank])?) } else { None };
        let dist = self.plan.dist(operands[0]);
        let dims = self.plan.func.ty(operands[0]).dims;
        let padded = self.is_padded(dist, &dims);
        let places = Places { array, dist, dims, indices, mask, check: at.check, padded };
        Ok((places, &operands[rank + usize::from(at.masked)..]))
    }

    /// The address of a thread's element, and the condition that it is accessed. Along the axis of `spans` the index counts.
    pub(super) fn place(
        &mut self,
        places: &Places<'_>,
        spans: Option<&Spans>,
        value: usize,
    ) -> Result<(Expr, Cond)> {
        let mut conds = Vec::new();
        if places.padded {
            conds.push(self.inside(places.dist, value, &places.dims)?);
        }
        if let Some(mask) = &places.mask {
            conds.push(self.b.cond_in(&mask[value])?);
        }
        let mut offset = Expr::from(0);
        for axis in 0..places.indices.len() {
            let index = match spans {
                Some(spans) if spans.axis == axis => self.counted(places, spans, value, &mut conds)?,
                _ => self.coordinate(places, axis, value, &mut conds)?,
            };
            offset = &offset + &(&index * &places.array.strides[axis]);
        }
        let address = &places.array.pointer + &(&offset * places.array.dtype.bytes());
        Ok((address, Cond::all(conds)))
    }

    /// The coordinate along an axis of a thread's element; what must hold so that it is in the array is added to conditions.
    fn coordinate(
        &mut self,
        places: &Places<'_>,
        axis: usize,
        value: usize,
        conds: &mut Vec<Cond>,
    ) -> Result<Expr> {
        let (dtype, regs) = &places.indices[axis];
        let (extent, low, reg) = (&places.array.extents[axis], &places.array.lows[axis], &regs[value]);
        if dtype.bits() == 64 {
            if places.check {
                // As an unsigned number, what is negative is beyond the array too.
                let extent = self.b.value(extent, Width::W64)?;
                let inside = self.setp(Word::Lt, Type::U64, reg, &extent);
                conds.push(self.b.cond_in(&inside)?);
                if low.as_constant() != Some(0) {
                    let low = self.b.value(low, Width::W64)?;
                    let inside = self.setp(Word::Ge, Type::S64, reg, &low);
                    conds.push(self.b.cond_in(&inside)?);
                }
            }
            // An index that is in the array has 31 bits, and another one's address is not used.
            let low = self.make(Type::U32, Opcode::Cvt, m![Type::U32, Type::S64], vec![Operand::from(reg)]);
            let inputs = vec![Operand::from(&low), Operand::Int(i64::from(i32::MAX))];
            let low = self.make(Type::U32, Opcode::And, m![Type::B32], inputs);
            return Ok(self.b.var(&low, 0, i64::from(i32::MAX), 1));
        }
        let index = self.index_in(reg, *dtype);
        if places.check {
            conds.push(Cond::less(&(low + -1), &index));
            conds.push(Cond::less(&index, extent));
        }
        Ok(index)
    }

    /// The low 32 bits of a coordinate, which are all of one that is in the array.
    pub(super) fn index_word(&mut self, places: &Places<'_>, axis: usize, value: usize) -> Reg {
        let (dtype, regs) = &places.indices[axis];
        match dtype.bits() {
            64 => {
                let inputs = vec![Operand::from(&regs[value])];
                self.make(Type::U32, Opcode::Cvt, m![Type::U32, Type::S64], inputs)
            }
            _ => regs[value].clone(),
        }
    }

    /// Lowers [`Kind::Gather`].
    pub(crate) fn gather(&mut self, op: &Op, at: &Indexed) -> Result {
        let result = op.results[0];
        let (places, rest) = self.places(at, &op.operands)?;
        let dtype = places.array.dtype;
        let mut way = global(at.order, at.scope);
        if at.order == Order::Weak && !places.array.mutable {
            way.words.push(Word::Nc.into());
        }
        let padding = rest.first().copied();
        let constant = padding.and_then(|value| constant(&self.plan.func, value));
        let others = match (padding, constant) {
            (Some(value), None) => Some(self.regs(value)?),
            _ => None,
        };
        self.touch(at.array, false, Touch::Any);
        let dist = self.plan.dist(result);
        let spans = match at.order {
            Order::Weak if !at.masked => self.spans(&places, &op.operands[..places.array.extents.len()])?,
            _ => None,
        };
        let alone = self.is_read_once(at.order, dist);
        let own = if alone { dist.owner(&self.thread)? } else { Cond::Always };
        let what = Move::LoadOver(Some(constant.unwrap_or(0)), others.as_deref().unwrap_or_default());
        // In vectors, or element by element.
        let gathered = |low: &mut Self, spans: Option<&Spans>| {
            let runs = spans.map_or_else(|| singles(dist.size()), |spans| spans.runs.clone());
            access(low, &way, dtype, &runs, &what, |low: &mut Self, value| {
                let (address, cond) = low.place(&places, spans, value)?;
                Ok((address, Cond::all([own.clone(), cond])))
            })
        };
        if let Some(whole) = spans.as_ref().and_then(|spans| spans.whole.clone()) {
            // Vectors where all of the tile is inside, and elements elsewhere.
            let regs = self.b.regs(super::register(dtype), dist.size());
            self.either_of(&regs, whole, |low| gathered(low, spans.as_ref()), |low| gathered(low, None))?;
            return self.hold_regs(result, regs);
        }
        let mut regs = gathered(self, spans.as_ref())?;
        if alone {
            regs = self.spread(dtype, dist, &places.dims, &regs)?;
        } else if at.order == Order::Acquire {
            self.meet_idle();
        }
        self.hold_regs(result, regs)
    }

    /// Whether an element is read by one of the threads that hold it: of what others store at the time, two reads differ, and threads must
    /// not.
    pub(super) fn is_read_once(&self, order: Order, dist: &Dist) -> bool {
        order != Order::Weak && dist.is_replicated()
    }

    /// The value of the first of the threads with copies of an element, in all of them. It contains a barrier.
    pub(super) fn spread(
        &mut self,
        dtype: DType,
        dist: &Dist,
        dims: &Dims,
        regs: &[Reg],
    ) -> Result<Vec<Reg>> {
        let piece = Piece::new(dtype, dist, Line::row_major(&crate::place::extents(dims)));
        through(self, &[(piece.clone(), regs.to_vec())], &piece, [piece.end(), 16], None, &[])
    }

    /// Lowers [`Kind::Scatter`]. Two elements of a tile may go to one place, where one of them stays: the stores are atomic ones.
    pub(crate) fn scatter(&mut self, op: &Op, at: &Indexed) -> Result {
        let source = op.operands[0];
        if at.order == Order::Release {
            self.meet_idle();
        }
        let regs = self.regs(source)?;
        let (places, _) = self.places(at, &op.operands[1..])?;
        self.touch(at.array, true, Touch::Any);
        let way = match at.order {
            Order::Weak => global(Order::Relaxed, Some(crate::ir::Scope::Block)),
            order => global(order, at.scope),
        };
        let own = places.dist.owner(&self.thread)?;
        let runs = singles(regs.len());
        access(self, &way, places.array.dtype, &runs, &Move::Store(&regs), |low, value| {
            let (address, cond) = low.place(&places, None, value)?;
            Ok((address, Cond::all([own.clone(), cond])))
        })?;
        Ok(())
    }
}
