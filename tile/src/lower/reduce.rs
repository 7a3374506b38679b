//! Reductions: over a thread's registers, then over lanes by xor shuffles, then over warps through shared memory.

use girih_codegen::plan::{Digit, Dist};
use girih_codegen::{Cond, Expr, Reg};
use girih_tensor::DType;

use super::Lowering;
use super::combine::{Rule, Tuple};
use crate::error::Result;
use crate::fit;
use crate::ir::{Dims, Kind, Op, Value};
use crate::place::access::WIDEST;

/// Number of lanes' bits.
pub(super) const LANE_BITS: usize = 5;
/// The most bytes of shared memory that tuples go through at once, if one of each thread fits.
const BATCH: i64 = 64 << 10;
/// From this number of bits on, lanes share what is to be read of other warps, and combine it by xor shuffles.
const SHARED_READING: usize = 4;

impl Lowering<'_> {
    /// Lowers a [`Kind::Reduce`].
    pub(super) fn reduce(&mut self, op: &Op) -> Result {
        let Kind::Reduce { axis, combine, identity } = &op.kind else { return Ok(()) };
        let axis = usize::from(*axis);
        let [rule, in_a_row] = self.rules(op, axis, *combine, identity);
        let lines = self.lines(op, axis)?;
        let dist = &lines.dist;

        // Where the order matters, values further apart than threads are combined after what lies between them.
        let near = dist.digits(axis).into_iter().map_while(|digit| match digit {
            Digit::Values { extent, .. } => Some(extent),
            Digit::Bit { .. } => None,
        });
        let near: i64 = near.product();
        let mut partial = Vec::new();
        let mut columns = Vec::new();
        for column in dist.columns(axis) {
            let first = partial.len();
            let ordered =
                |(_, a): &(usize, i64), (_, b): &(usize, i64)| rule.commutes() || a / near == b / near;
            for run in column.chunk_by(ordered) {
                let mut tuples = Vec::new();
                for &(value, offset) in run {
                    if offset < lines.extent {
                        tuples.push(self.element(&lines, &in_a_row, value, true)?);
                    }
                }
                if !tuples.is_empty() {
                    let tuple = self.combine_tree(&in_a_row, tuples)?;
                    partial.push(self.keyed(&rule, tuple)?);
                }
            }
            columns.push(first..partial.len());
        }

        let bits: Vec<usize> = dist
            .digits(axis)
            .into_iter()
            .filter_map(|digit| if let Digit::Bit { bit, .. } = digit { Some(bit) } else { None })
            .collect();
        let (lanes, warps): (Vec<usize>, Vec<usize>) = bits.into_iter().partition(|&bit| bit < LANE_BITS);
        for tuple in &mut partial {
            *tuple = self.combine_lanes(&rule, std::mem::take(tuple), &lanes)?;
        }
        if !warps.is_empty() {
            partial = self.combine_warps(&rule, dist, &lanes, &warps, &partial)?;
        }

        let mut results = Vec::new();
        for column in columns {
            let tuple = self.combine_tree(&rule, partial[column].to_vec())?;
            results.push(self.finish(&rule, &tuple)?);
        }
        self.hold_tuples(&op.results, results)
    }

    /// Says which registers hold values: the elements of tuples.
    pub(super) fn hold_tuples(&mut self, values: &[Value], tuples: Vec<Tuple>) -> Result {
        for (at, &value) in values.iter().enumerate() {
            self.hold_regs(value, tuples.iter().map(|tuple| tuple[at].clone()).collect())?;
        }
        Ok(())
    }

    /// The operands of a reduction or a scan along an axis.
    pub(super) fn lines(&mut self, op: &Op, axis: usize) -> Result<Lines> {
        let (dims, dist) = (self.plan.func.ty(op.operands[0]).dims, self.plan.dist(op.operands[0]).clone());
        let operands = op.operands.iter().map(|&value| self.regs(value)).collect::<Result<_, _>>()?;
        let origin = self.origin(&dist, dims.rank())?.swap_remove(axis);
        Ok(Lines { dist, dims, axis, extent: i64::from(dims[axis]), origin, operands })
    }

    /// A thread's value as what is combined; what changes nothing if it is `padding` that would come in.
    pub(super) fn element(
        &mut self,
        lines: &Lines,
        rule: &Rule,
        value: usize,
        padding: bool,
    ) -> Result<Tuple> {
        let Lines { dist, dims, axis, extent, origin, operands } = lines;
        let offset = dist.offset(value, dims.rank())[*axis];
        let inside = match padding {
            _ if self.branches(rule) => self.inside(dist, value, dims)?,
            true => inside(origin, dist.reach(*axis), offset, *extent),
            false => Cond::Always,
        };
        let element: Tuple = operands.iter().map(|regs| regs[value].clone()).collect();
        let tuple = self.prepare(rule, &element, &(origin + offset))?;
        if inside == Cond::Always {
            return Ok(tuple);
        }
        let identity = self.identity(rule)?;
        self.select_all(rule, &inside, &tuple, &identity)
    }

    /// Combines what warps hold whose threads' numbers differ in the bits `warps`, after the lanes `lanes` hold the same.
    fn combine_warps(
        &mut self,
        rule: &Rule,
        dist: &Dist,
        lanes: &[usize],
        warps: &[usize],
        partial: &[Tuple],
    ) -> Result<Vec<Tuple>> {
        let slots = 1usize << warps.len();
        let moves = |bit: &usize| dist.bits[*bit].is_some() && !lanes.contains(bit);
        let alone = !(0..LANE_BITS.min(dist.bits.len())).any(|bit| moves(&bit));
        let mut results = Vec::new();
        for batch in partial.chunks(batch(&rule.dtypes, dist)) {
            let through = self.through_warps(&rule.dtypes, dist, [lanes, warps], batch)?;
            for place in 0..batch.len() {
                results.push(if alone && warps.len() >= SHARED_READING {
                    let lane = self.thread.rem(slots as i64)?;
                    let tuple = through.read(self, place, &lane)?;
                    self.combine_lanes(rule, tuple, &(0..warps.len()).collect::<Vec<_>>())?
                } else {
                    let all = through.read_all(self, place)?;
                    self.combine_tree(rule, all)?
                });
            }
        }
        Ok(results)
    }

    /// Puts a tuple of each warp of a group, whose threads' numbers differ in the bits `warps`, into shared memory. The threads that differ
    /// in the bits `same` hold the same.
    pub(super) fn through_warps(
        &mut self,
        dtypes: &[DType],
        dist: &Dist,
        [same, warps]: [&[usize]; 2],
        tuples: &[Tuple],
    ) -> Result<Through> {
        let others: Vec<usize> = (0..dist.bits.len())
            .filter(|bit| dist.bits[*bit].is_some() && !same.contains(bit) && !warps.contains(bit))
            .collect();
        let (slots, groups) = (1i64 << warps.len(), 1i64 << others.len());
        // Lanes that read vectors of groups a power of two apart would meet in the same banks.
        let narrowest = dtypes.iter().map(|&dtype| dtype.bytes()).min().unwrap_or(WIDEST);
        let apart = others.iter().any(|&bit| bit < LANE_BITS) && slots * narrowest > WIDEST;
        let pitch = if apart { slots + WIDEST / narrowest } else { slots };
        let (group, slot) = (self.weigh(&others, pitch)?, self.weigh(warps, 1)?);
        let copies = dist.copies() | same.iter().map(|bit| 1i64 << bit).sum::<i64>();
        let writes = Cond::less(&self.thread.and(copies)?, &Expr::from(1));
        self.put_tuples(dtypes, tuples, [group, slot], [slots, groups * pitch], &writes)
    }

    /// Puts a thread's tuples into shared memory, where `writes` holds: into a slot of the thread's group, which has `slots` of `size` in all.
    pub(super) fn put_tuples(
        &mut self,
        dtypes: &[DType],
        tuples: &[Tuple],
        [group, slot]: [Expr; 2],
        [slots, size]: [i64; 2],
        writes: &Cond,
    ) -> Result<Through> {
        let mut starts = Vec::new();
        let mut end = 0;
        for &dtype in dtypes {
            end = (end + 15) / 16 * 16;
            starts.push(end);
            end += tuples.len() as i64 * size * dtype.bytes();
        }
        let base = self.scratch(end, 16)?;
        let through = Through { dtypes: dtypes.to_vec(), starts, base, group, slots, size };
        for (place, tuple) in tuples.iter().enumerate() {
            for (i, reg) in tuple.iter().enumerate() {
                let at = through.address(i, place, &slot);
                self.put(dtypes[i], &at, std::slice::from_ref(reg), writes)?;
            }
        }
        self.meet();
        Ok(through)
    }
}

/// What is combined along an axis.
pub(super) struct Lines {
    pub(super) dist: Dist,
    pub(super) dims: Dims,
    axis: usize,
    pub(super) extent: i64,
    /// The thread's own coordinate along the axis.
    pub(super) origin: Expr,
    operands: Vec<Vec<Reg>>,
}

/// How many tuples of each thread go through shared memory at once.
pub(super) fn batch(dtypes: &[DType], dist: &Dist) -> usize {
    let width: i64 = dtypes.iter().map(|&dtype| dtype.bytes()).sum();
    fit::size((BATCH / (width * dist.threads())).max(1))
}

/// Tuples of warps in shared memory.
pub(super) struct Through {
    dtypes: Vec<DType>,
    /// Where the elements of each operand begin.
    starts: Vec<i64>,
    base: Expr,
    /// The first slot of the thread's group.
    group: Expr,
    slots: i64,
    /// Slots of all groups.
    size: i64,
}

impl Through {
    fn address(&self, operand: usize, place: usize, slot: &Expr) -> Expr {
        let size = self.dtypes[operand].bytes();
        let first = self.starts[operand] + place as i64 * self.size * size;
        &(&self.base + first) + &(&(&self.group + slot) * size)
    }

    /// The tuple in a slot of the thread's group.
    pub(super) fn read(&self, lowering: &mut Lowering<'_>, place: usize, slot: &Expr) -> Result<Tuple> {
        let mut tuple = Vec::new();
        for (i, &dtype) in self.dtypes.iter().enumerate() {
            let at = self.address(i, place, slot);
            tuple.extend(lowering.take(dtype, &at, 1, &Cond::Always)?);
        }
        Ok(tuple)
    }

    /// The tuples of all slots of the thread's group.
    pub(super) fn read_all(&self, lowering: &mut Lowering<'_>, place: usize) -> Result<Vec<Tuple>> {
        let mut tuples: Vec<Tuple> = vec![Vec::new(); fit::size(self.slots)];
        for (i, &dtype) in self.dtypes.iter().enumerate() {
            let vector = self.slots.min(WIDEST / dtype.bytes());
            for first in (0..self.slots).step_by(fit::size(vector)) {
                let at = self.address(i, place, &Expr::from(first));
                let regs = lowering.take(dtype, &at, fit::size(vector), &Cond::Always)?;
                regs.into_iter().enumerate().for_each(|(k, reg)| tuples[fit::size(first) + k].push(reg));
            }
        }
        Ok(tuples)
    }
}

/// Where a value is the tile's along an axis: its coordinate is `origin + offset`, and `origin` is at most `reach`.
pub(super) fn inside(origin: &Expr, reach: i64, offset: i64, extent: i64) -> Cond {
    match extent - offset {
        left if left > reach => Cond::Always,
        left if left <= 0 => Cond::Never,
        left => Cond::less(origin, &Expr::from(left)),
    }
}
