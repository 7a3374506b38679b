//! Sorting by a bitonic network. Each step compares elements whose positions differ in one bit: in a thread's registers, in lanes whose
//! numbers differ in a bit, or, through shared memory, in warps. Positions break ties, so that the order is stable and padding, whose
//! positions are beyond all others, comes last. Keys of 32 bits and positions are one number of 64 bits. What is sorted along, and elements
//! that are not their own keys, are picked by the positions at the end.

use girih_codegen::plan::{Digit, Dist, Leaf, Line};
use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Type, Word};
use girih_tensor::DType;

use super::combine::Tuple;
use super::element::{NanAt, key_dtype, key_range};
use super::reduce::{LANE_BITS, batch, inside};
use super::shape::{Part, Piece, WINDOW, counts, in_window, on_line};
use super::words::{m, of};
use super::{Lowering, register};
use crate::error::Result;
use crate::fit;
use crate::ir::Op;

/// What an element carries while it is sorted: the dtypes of its registers, the key first.
struct Carried {
    dtypes: Vec<DType>,
    /// Whether the position comes second, and breaks ties.
    position: bool,
}

/// A bit of positions along the axis.
#[derive(Clone, Copy)]
enum Place {
    /// Values that are this far apart.
    Value(usize),
    /// A bit of the thread's number.
    Thread(usize),
}

impl Lowering<'_> {
    /// Lowers a [`Kind::Sort`](crate::ir::Kind::Sort).
    pub(super) fn sort(&mut self, op: &Op, axis: usize, descending: bool) -> Result {
        let plan = self.plan;
        let own = plan.dist(op.operands[0]);
        let dims = plan.func.ty(op.operands[0]).dims;
        let extents = crate::place::extents(&dims);
        let line = Line::row_major(&extents);
        let dtypes: Vec<DType> = op.operands.iter().map(|&value| plan.func.ty(value).dtype).collect();
        // Keys of integers are the elements, and equal ones need no order unless something follows them.
        let alone = !dtypes[0].is_float() && dtypes.len() == 1;
        let sortable = sortable(own, &extents, axis);
        let moved = |low: &mut Self, regs, dtype, [from, to]: [&Dist; 2]| match from == to {
            true => Ok(regs),
            false => low.rearranged(
                &[(Piece::new(dtype, from, line.clone()), regs)],
                &Piece::new(dtype, to, line.clone()),
            ),
        };
        let regs = self.regs(op.operands[0])?;
        let regs = moved(self, regs, dtypes[0], [own, &sortable])?;
        let sorted = self.sorted(&regs, dtypes[0], alone, &sortable, &extents, axis, descending)?;
        let dtype = if alone { dtypes[0] } else { DType::S32 };
        let sorted = moved(self, sorted, dtype, [&sortable, own])?;
        if alone {
            return self.hold_regs(op.results[0], sorted);
        }
        let most = sortable.padded(extents.len())[axis] - 1;
        let positions: Vec<Expr> = sorted.iter().map(|reg| self.b.var(reg, 0, most, 1)).collect();
        for (i, &dtype) in dtypes.iter().enumerate() {
            let regs = self.regs(op.operands[i])?;
            let regs = self.picked(&Piece::new(dtype, own, line.clone()), &regs, axis, &positions)?;
            self.hold_regs(op.results[i], regs)?;
        }
        Ok(())
    }

    /// The elements at these positions along an axis, for each value of a piece.
    fn picked(
        &mut self,
        piece: &Piece<'_>,
        regs: &[Reg],
        axis: usize,
        positions: &[Expr],
    ) -> Result<Vec<Reg>> {
        let Piece { dist, line, dtype, .. } = piece;
        let (rank, end) = (line.extents.len(), piece.end());
        let origin = self.origin(dist, rank)?;
        let mut first = origin.clone();
        first[axis] = Expr::from(0);
        let start = on_line(&first, line);
        let mut picked: Vec<Reg> = Vec::new();
        // What shared memory does not hold goes part by part.
        for from in (0..end).step_by(fit::size(WINDOW)) {
            let window = (end > WINDOW).then_some(from);
            let base = self.scratch(end.min(WINDOW), 16)?;
            self.put_piece(piece, regs, &base, window)?;
            self.meet();
            for (value, position) in positions.iter().enumerate() {
                let mut offset = dist.offset(value, rank);
                let counts = counts(dist, &origin, &offset, line, &Part::All);
                offset[axis] = 0;
                let at = &(&(&start + line.at(&offset)) + &(position * line.strides[axis])) * dtype.bytes();
                let cond = Cond::all([counts, in_window(&at, window)]);
                let got =
                    self.take(*dtype, &(&(&base + &at) + -window.unwrap_or(0)), 1, &cond)?.swap_remove(0);
                match picked.get(value) {
                    Some(before) => picked[value] = self.select(*dtype, &cond, &got, &before.clone())?,
                    None => picked.push(got),
                }
            }
        }
        Ok(picked)
    }

    /// Elements in order, or where they stood if they are not `alone`, in a distribution whose digits along the axis are bits.
    #[expect(clippy::too_many_arguments, reason = "elements, where they lie, and their order")]
    fn sorted(
        &mut self,
        regs: &[Reg],
        dtype: DType,
        alone: bool,
        dist: &Dist,
        extents: &[i64],
        axis: usize,
        descending: bool,
    ) -> Result<Vec<Reg>> {
        let key = key_dtype(dtype);
        let packed = !alone && key == DType::S32;
        let carried = Carried {
            dtypes: match (alone, packed) {
                (true, _) => vec![key],
                (_, true) => vec![DType::S64],
                _ => vec![key, DType::S32],
            },
            position: !alone && !packed,
        };
        let origin = self.origin(dist, extents.len())?.swap_remove(axis);
        let mut elements: Vec<Tuple> = Vec::new();
        for (value, reg) in regs.iter().enumerate() {
            let offset = dist.offset(value, extents.len())[axis];
            let rank = self.key(dtype, reg, descending, NanAt::Last)?;
            let inside = inside(&origin, dist.reach(axis), offset, extents[axis]);
            let last = if inside == Cond::Always {
                rank.clone()
            } else {
                self.bits(key, key_range(dtype).1.cast_unsigned())?
            };
            let rank = self.select(key, &inside, &rank, &last)?;
            if alone {
                elements.push(vec![rank]);
                continue;
            }
            let position = self.b.value(&(&origin + offset), Width::W32)?;
            elements.push(if packed {
                // The key above, the position below.
                vec![self.b.join(Type::S64, [&position, &rank])]
            } else {
                vec![rank, position]
            });
        }

        let places: Vec<Place> = dist
            .digits(axis)
            .into_iter()
            .map(|digit| match digit {
                Digit::Values { leaf, .. } => Place::Value(dist.stride(leaf)),
                Digit::Bit { bit, .. } => Place::Thread(bit),
            })
            .collect();
        for size in 0..places.len() {
            for step in (0..=size).rev() {
                let up = places.get(size + 1).copied();
                elements = match places[step] {
                    Place::Value(stride) => self.exchange_values(&carried, elements, stride, up)?,
                    Place::Thread(bit) => self.exchange_threads(&carried, elements, dist, bit, up)?,
                };
            }
        }

        let mut results = Vec::new();
        for tuple in elements {
            results.push(match (alone, packed) {
                (true, _) => self.of_key(dtype, &tuple[0], descending),
                (_, true) => {
                    let [position, _] = self.b.split(Type::S32, &tuple[0]);
                    position
                }
                _ => self.copy(DType::S32, &tuple[1]),
            });
        }
        Ok(results)
    }

    /// Whether `right` comes before `left`.
    fn comes_first(&mut self, carried: &Carried, right: &[Reg], left: &[Reg]) -> Reg {
        let ty = register(carried.dtypes[0]);
        let less = self.setp(Word::Lt, ty, &right[0], &left[0]);
        if !carried.position {
            return less;
        }
        let equal = self.setp(Word::Eq, ty, &right[0], &left[0]);
        let sooner = self.setp(Word::Lt, Type::S32, &right[1], &left[1]);
        let tie = self.make(Type::Pred, Opcode::And, m![Type::Pred], of([&equal, &sooner]));
        self.make(Type::Pred, Opcode::Or, m![Type::Pred], of([&less, &tie]))
    }

    /// Whether the bit of the position is set that turns the order round; `None` where no order is turned.
    fn turned(&self, up: Option<Place>, value: usize) -> Result<Cond> {
        Ok(match up {
            None => Cond::Never,
            Some(Place::Value(stride)) if value / stride % 2 == 1 => Cond::Always,
            Some(Place::Value(_)) => Cond::Never,
            Some(Place::Thread(bit)) => self.bit_is_set(bit)?,
        })
    }

    /// A predicate, the other way round where `cond` holds.
    fn flipped(&mut self, flag: Reg, cond: &Cond) -> Result<Reg> {
        Ok(match cond {
            Cond::Never => flag,
            Cond::Always => self.make(Type::Pred, Opcode::Not, m![Type::Pred], of([&flag])),
            cond => {
                let cond = self.b.cond(cond)?;
                self.make(Type::Pred, Opcode::Xor, m![Type::Pred], of([&flag, &cond]))
            }
        })
    }

    /// Orders pairs of a thread's values that are `stride` apart.
    fn exchange_values(
        &mut self,
        carried: &Carried,
        mut elements: Vec<Tuple>,
        stride: usize,
        up: Option<Place>,
    ) -> Result<Vec<Tuple>> {
        for low in 0..elements.len() {
            if low / stride % 2 == 1 {
                continue;
            }
            let (left, right) = (elements[low].clone(), elements[low + stride].clone());
            let turned = self.turned(up, low)?;
            let swap = self.comes_first(carried, &right, &left);
            let swap = self.flipped(swap, &turned)?;
            for (i, &dtype) in carried.dtypes.iter().enumerate() {
                elements[low][i] = self.selp(dtype, &swap, &right[i], &left[i]);
                elements[low + stride][i] = self.selp(dtype, &swap, &left[i], &right[i]);
            }
        }
        Ok(elements)
    }

    /// Orders pairs of elements of threads whose numbers differ in a bit.
    fn exchange_threads(
        &mut self,
        carried: &Carried,
        elements: Vec<Tuple>,
        dist: &Dist,
        bit: usize,
        up: Option<Place>,
    ) -> Result<Vec<Tuple>> {
        let others = if bit < LANE_BITS {
            elements.iter().map(|tuple| self.butterfly(tuple, bit)).collect()
        } else {
            self.of_warps(carried, &elements, dist, bit)?
        };
        let upper = self.bit_is_set(bit)?;
        let mut ordered = Vec::new();
        for (value, (own, other)) in elements.into_iter().zip(others).enumerate() {
            let turned = self.turned(up, value)?;
            // The lower one takes the other where that comes first, the upper one where it does not.
            let take = self.comes_first(carried, &other, &own);
            let take = self.flipped(take, &upper)?;
            let take = self.flipped(take, &turned)?;
            let all = carried.dtypes.iter().enumerate();
            ordered.push(all.map(|(i, &dtype)| self.selp(dtype, &take, &other[i], &own[i])).collect());
        }
        Ok(ordered)
    }

    /// The elements of the threads whose numbers differ in a bit, through shared memory.
    fn of_warps(
        &mut self,
        carried: &Carried,
        elements: &[Tuple],
        dist: &Dist,
        bit: usize,
    ) -> Result<Vec<Tuple>> {
        let (threads, own) = (dist.threads(), self.thread.clone());
        let partner = own.xor(&Expr::from(1 << bit))?;
        let mut others = Vec::new();
        for batch in elements.chunks(batch(&carried.dtypes, dist)) {
            let at = [Expr::from(0), own.clone()];
            let through = self.put_tuples(&carried.dtypes, batch, at, [threads; 2], &Cond::Always)?;
            for place in 0..batch.len() {
                others.push(through.read(self, place, &partner)?);
            }
        }
        Ok(others)
    }
}

/// The distribution itself if positions along the axis are bits, from 0 to a power of two; else one that has them.
fn sortable(dist: &Dist, extents: &[i64], axis: usize) -> Dist {
    let digits = dist.digits(axis);
    let bits = digits.iter().enumerate().all(|(i, digit)| {
        digit.scale() == 1 << i && !matches!(digit, Digit::Values { extent, .. } if *extent != 2)
    });
    if bits {
        return dist.clone();
    }
    let rounded = extents[axis].cast_unsigned().next_power_of_two() as i64;
    let mut padded = extents.to_vec();
    padded[axis] = rounded;
    let mut order = vec![axis];
    order.extend((0..extents.len()).rev().filter(|&mode| mode != axis));
    // As many neighbours as a thread has values are its own.
    let own = (padded.iter().product::<i64>() / dist.threads()).clamp(1, rounded);
    let mut free = Dist::blocked(&padded, &order, 1 << own.ilog2(), dist.threads());
    // Values come in order of scale, as bits of positions.
    free.vals.sort_by_key(|leaf: &Leaf| (leaf.mode != axis, leaf.mode, leaf.scale));
    free
}
