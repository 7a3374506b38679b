//! Online softmax with a stale row maximum.
//!
//! Softmax does not depend on the number that is subtracted from all scores of a row. Only the first KV tile of a row computes its maximum. Later
//! tiles subtract that stale maximum. A tile is redone with a new maximum if the sum of its exponentials comes near overflow. So most tiles
//! compute no maximum and do not rescale the accumulator.

use girih_layout::{Lay, lay};
use girih_ptx::{Opcode, Operand as Ptx, Type};
use girih_tensor::{DType, Slice, Tensor};

use super::consumer::Consumer;
use super::{ROWS, SHARING, WARPGROUP};
use crate::algorithm::{convert, read, transform, warpgroup_wait, write};
use crate::attention::interface::Bias;
use crate::attention::keys::{Keys, sees_all};
use crate::attention::rows::{Reference, finite_shift, is_near, over_lanes};
use crate::attention::scores::{Added, Addend, Tanh, adjust};
use crate::attention::tile::{Entry, MAX_LENGTH};
use crate::builder::{Builder, Cond};
use crate::tiled::mma::Operand;
use crate::{Counting, Error, Expr, Rmem, Scalar, Stage};

/// The bits of [`Consumer::known`]: one of the thread's two rows is far, nothing has been accumulated yet, all rows of the warpgroup are near and
/// have a maximum. Far and near rows are defined in [`rows`](crate::attention::rows).
const FAR: [i64; 2] = [1, 2];
pub(super) const EMPTY: i64 = 4;
const KNOWN: i64 = 8;
/// The largest sum of exponentials relative to a stale maximum. f16 represents smaller numbers than bf16.
const LARGEST: [f64; 2] = [32768.0, (1u64 << 60) as f64];

impl Consumer<'_> {
    /// The values of row `row` of the thread's two rows, of a fragment (FrgV,1,1) whose FrgV is (2,2,RestN): (2,RestN).
    pub(super) fn row(tensor: &Tensor<Rmem>, row: i64) -> Result<Tensor<Rmem>, Error> {
        let values = Slice::tuple([Slice::All, Slice::at(row), Slice::All]);
        Ok(tensor.slice(Slice::tuple([values, Slice::at(0), Slice::at(0)]))?)
    }

    /// The values of the thread's two rows.
    pub(super) fn of_rows(&self, b: &mut Builder, tensor: &Tensor<Rmem>) -> Result<[Scalar; 2], Error> {
        let values = read(b, tensor)?;
        Ok([0, 1].map(|row: usize| values[row].clone()))
    }

    /// Computes the exponentials of the scores of the keys from `base + at` on, and adds them to the row sums. If the row maximum changes, the
    /// accumulators are rescaled. `again` is the place of Q and K, to recompute the scores.
    pub(super) fn powers_of_scores(
        &self,
        b: &mut Builder,
        entry: &Entry,
        complete: &Keys,
        [base, at]: [&Expr; 2],
        again: (&Stage, &Stage),
    ) -> Result<(), Error> {
        let [_, keys] = self.parts.config().tile;
        let key = &(base + at);
        self.change_scores(b, entry, [base, at])?;
        let known = b.var(&self.known, 0, KNOWN, 1);
        let fast = Cond::all([sees_all(complete, key, keys), Cond::less(&Expr::from(KNOWN - 1), &known)]);
        let done = b.open_block();
        let slow = b.open_block();
        b.leave(&slow, &Cond::not(fast), true)?;
        // All rows are near, so that these references are shifts.
        let most = self.of_rows(b, &self.most)?;
        let sums = self.exponentiate(b, &most)?;
        let largest = LARGEST[usize::from(self.parts.config().dtype == DType::Bf16)];
        let exceeds = Cond::any(sums.each_ref().map(|sum| sum.greater(largest)));
        // The MMAs are those of all four warps.
        let exceeds = b.named_barrier_or(&self.meeting, WARPGROUP as u32, &exceeds)?;
        let agreed = b.open_block();
        b.leave(&agreed, &exceeds, true)?;
        let before = self.of_rows(b, &self.total)?;
        write(b, &self.total, &[0, 1].map(|row: usize| &before[row] + &sums[row]))?;
        b.leave(&done, &Cond::Always, true)?;
        b.close_block(agreed)?;
        self.issue_scores(b, again.0, again.1)?;
        warpgroup_wait(b, 0);
        self.change_scores(b, entry, [base, at])?;
        b.close_block(slow)?;
        self.find_most(b, entry, key)?;
        b.close_block(done)
    }

    /// `p = 2^(Scale * score - most)`, and the sum of the thread's exponentials in each of its rows.
    fn exponentiate(&self, b: &mut Builder, most: &[Scalar; 2]) -> Result<[Scalar; 2], Error> {
        let scale = &self.parts.interface.scale;
        let less = [b.hold(&-&most[0])?, b.hold(&-&most[1])?];
        for (row, less) in (0..).zip(&less) {
            let row = Consumer::row(&self.scores, row)?; // (2,RestN)
            transform(b, &[&row], &row, |_, x| Ok(x[0].mul_add(scale, less).exp2_ftz()))?;
        }
        let mut sums = Vec::new();
        for row in 0..2 {
            // Two partial sums for each row, so that additions do not wait for one another.
            let powers = read(b, &Consumer::row(&self.scores, row)?)?;
            let mut parts = [b.hold(&(&powers[0] + &powers[2]))?, b.hold(&(&powers[1] + &powers[3]))?];
            for pair in powers[4..].chunks(2) {
                for (part, power) in parts.iter_mut().zip(pair) {
                    *part = b.hold(&(&*part + power))?;
                }
            }
            let [first, second] = parts;
            sums.push(b.hold(&(first + second))?);
        }
        convert(b, &self.as_powers()?, &self.powers)?;
        Ok([sums.swap_remove(0), sums.swap_remove(0)])
    }

    /// The scores in the order in which the MMAs take exponentials, (FrgV,1,RestKeys): the values of an atom of C of eight columns, two atoms at a time.
    fn as_powers(&self) -> Result<Tensor<Rmem>, Error> {
        let [_, keys] = self.parts.config().tile;
        let values =
            Lay::concat(&[lay!("(2,2,2):(1,2,4)"), Lay::UNIT, Lay::strided([keys / 16], [8])?.mode(0)?])?;
        Ok(Tensor::new(self.scores.engine().clone(), values))
    }

    /// The references of the exponentials of the thread's two rows.
    pub(super) fn references(&self, b: &mut Builder) -> Result<[Reference; 2], Error> {
        let (most, known) = (self.of_rows(b, &self.most)?, b.scalar_in(&self.known, DType::U32)?);
        let of = |row: usize| {
            let is_far = (&known & FAR[row] as f64).differs(0.0);
            Reference { number: most[row].clone(), is_far }
        };
        Ok([of(0), of(1)])
    }

    /// Finds the maximum of the visible scores of each row, and computes exponentials relative to it.
    fn find_most(&self, b: &mut Builder, entry: &Entry, key: &Expr) -> Result<(), Error> {
        self.mask(b, entry, key)?;
        let shifts = self.raise(b)?;
        // Later tiles cannot use the maximum of a far row without its origin, nor that of a row that has seen no key.
        let far = b.scalar_in(&self.known, DType::U32)?;
        let [first, second] = self.of_rows(b, &self.most)?.map(|number| number.equals(f64::NEG_INFINITY));
        let unknown = Cond::any([far.differs(0.0), first, second]);
        let unknown = b.named_barrier_or(&self.meeting, WARPGROUP as u32, &unknown)?;
        self.know(b, &far.select(&unknown, KNOWN as f64))?;
        let sums = self.exponentiate(b, &shifts)?;
        let total = self.of_rows(b, &self.total)?;
        write(b, &self.total, &[0, 1].map(|row: usize| &total[row] + &sums[row]))
    }

    fn know(&self, b: &mut Builder, known: &Scalar) -> Result<(), Error> {
        let known = b.scalar(known)?;
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![Ptx::from(&self.known), Ptx::from(&known)]);
        Ok(())
    }

    /// Updates the row maxima and returns the numbers that are subtracted from the scaled scores of the two rows. The scores of far rows are reduced
    /// by their origins first. Accumulators relative to old maxima are rescaled.
    fn raise(&self, b: &mut Builder) -> Result<[Scalar; 2], Error> {
        let (before, scale) = (self.of_rows(b, &self.most)?, &self.parts.interface.scale);
        let highest = [self.highest(b, 0)?, self.highest(b, 1)?];
        // The shifts of rows that are near and stay near. The general step takes longer, and is rarely needed.
        let mut shifts = Vec::new();
        for (before, highest) in before.iter().zip(&highest) {
            shifts.push(b.hold(&before.max(&(highest * scale)))?);
        }
        let finite = [b.hold(&finite_shift(&shifts[0]))?, b.hold(&finite_shift(&shifts[1]))?];
        // A finite maximum times the scale may be infinite.
        let leaves = |row: usize| {
            Cond::all([Cond::not(is_near(&shifts[row])), highest[row].differs(f64::NEG_INFINITY)])
        };
        let is_empty = b.scalar_in(&self.known, DType::U32)?.equals(EMPTY as f64);
        let one_leaves = Cond::any([leaves(0), leaves(1)]);
        let keep = |b: &mut Builder| {
            self.know(b, &Scalar::new(DType::U32, 0.0))?;
            write(b, &self.most, &shifts)?;
            Ok(finite.clone())
        };
        // One branch skips the rescale for the first tile of near rows, the common case here.
        b.if_else_scalars(&Cond::all([is_empty, Cond::not(one_leaves.clone())]), keep, |b| {
            let are_far = (&b.scalar_in(&self.known, DType::U32)? & (FAR[0] + FAR[1]) as f64).differs(0.0);
            b.if_else_scalars(
                &Cond::any([are_far, one_leaves.clone()]),
                |b| self.raise_far(b, &highest),
                |b| {
                    let factors = [0, 1].map(|row: usize| (&before[row] - &finite[row]).exp2_ftz());
                    self.rescale(b, &factors)?;
                    keep(b)
                },
            )
        })
    }

    /// As [`Self::raise`], if a row is far or becomes so.
    fn raise_far(&self, b: &mut Builder, highest: &[Scalar; 2]) -> Result<[Scalar; 2], Error> {
        let scale = &self.parts.interface.scale;
        // Read again, so that it is computed only if a row is far.
        let before = self.references(b)?;
        let [first, second] =
            [before[0].raised(b, &highest[0], scale)?, before[1].raised(b, &highest[1], scale)?];
        for (row, reference) in (0..).zip([&first, &second]) {
            let origin = b.hold(&reference.origin())?;
            let row = Consumer::row(&self.scores, row)?; // (2,RestN)
            transform(b, &[&row], &row, |_, x| Ok(&x[0] - &origin))?;
        }
        self.rescale(b, &[first.factor(&before[0], scale), second.factor(&before[1], scale)])?;
        let shifts = [b.hold(&first.finite_shift())?, b.hold(&second.finite_shift())?];
        let bit = |row: &Reference, bit: i64| Scalar::new(DType::U32, bit as f64).select(&row.is_far, 0.0);
        self.know(b, &(bit(&first, FAR[0]) + bit(&second, FAR[1])))?;
        write(b, &self.most, &[first.number, second.number])?;
        Ok(shifts)
    }

    /// Multiplies the row sums and the accumulators of the two rows by factors. This is in each branch of [`Self::raise`], so that the factors are
    /// not live along with the exponentials.
    fn rescale(&self, b: &mut Builder, factors: &[Scalar; 2]) -> Result<(), Error> {
        let total = self.of_rows(b, &self.total)?;
        for (row, factor) in factors.iter().enumerate() {
            let factor = b.hold(factor)?;
            let row = Consumer::row(&self.sums, row as i64)?; // (2,RestN)
            transform(b, &[&row], &row, |_, x| Ok(&x[0] * &factor))?;
        }
        write(b, &self.total, &[0, 1].map(|row: usize| &total[row] * &factors[row]))
    }

    /// The largest score of row `row` of the thread's two rows.
    fn highest(&self, b: &mut Builder, row: i64) -> Result<Scalar, Error> {
        let scores = read(b, &Consumer::row(&self.scores, row)?)?; // (2,RestN)
        let mut parts = [scores[0].clone(), scores[1].clone()];
        for pair in scores[2..].chunks(2) {
            for (part, score) in parts.iter_mut().zip(pair) {
                *part = b.hold(&part.max(score))?;
            }
        }
        let of_row = b.hold(&parts[0].max(&parts[1]))?;
        over_lanes(b, &SHARING, of_row, |x, y| x.max(y))
    }

    /// Sets the scores of keys that a row does not see to negative infinity.
    fn mask(&self, b: &mut Builder, entry: &Entry, key: &Expr) -> Result<(), Error> {
        let interface = self.parts.interface;
        let [_, keys] = interface.config.tile;
        let (rows, columns) = self.coordinates(b)?;
        let first = &entry.row + &(&self.number * ROWS);
        for row in 0..2 {
            let at = b.bounded(&(&first + &rows[row as usize]), 2 * MAX_LENGTH)?;
            let seen = Keys::of(b, interface, entry, &at, &(&at + 1))?;
            // The range of visible columns, relative to the thread's first column.
            let mut among = |end: &Expr| -> Result<Expr, Error> {
                let from = b.bounded(&end.maximum(key), MAX_LENGTH)?;
                b.bounded(&(&from - key).minimum(&Expr::from(keys)), keys)
            };
            let (begin, end) = (among(&seen.begin)?, among(&seen.end)?);
            let row = Consumer::row(&self.scores, row)?; // (2,RestN)
            let mut column = columns.iter();
            transform(b, &[&row], &row, |_, x| {
                let Some(column) = column.next() else { return Ok(x[0].clone()) };
                let sees = Cond::all([Cond::less(column, &end), Cond::not(Cond::less(column, &begin))]);
                Ok(x[0].select(&sees, f64::NEG_INFINITY))
            })?;
        }
        Ok(())
    }

    /// The rows of the thread among the 64 of the warpgroup, and the columns of the values of a row, as variables of this scope, so that values
    /// derived from them are not live elsewhere.
    pub(super) fn coordinates(&self, b: &mut Builder) -> Result<([Expr; 2], Vec<Expr>), Error> {
        let [_, keys] = self.parts.config().tile;
        let thread = b.bounded(&self.thread, WARPGROUP - 1)?;
        let identity = Tensor::new(
            Counting::new(2),
            Lay::identity(&girih_layout::Shape::flat(&[ROWS, keys].map(girih_layout::Int::fixed))?)?,
        );
        let mine = self.parts.qk.get_slice(&thread)?.partition(Operand::C, &identity)?; // (FrgV,1,1)
        let at = |values: [i64; 3]| -> Result<Vec<Expr>, Error> {
            let values = Slice::tuple(values.map(Slice::at));
            let one = mine.slice(Slice::tuple([values, Slice::at(0), Slice::at(0)]))?;
            Ok(one.engine().coordinate().to_vec())
        };
        let rows = [at([0, 0, 0])?.swap_remove(0), at([0, 1, 0])?.swap_remove(0)];
        let mut columns = Vec::new();
        for atom in 0..keys / 8 {
            for value in 0..2 {
                columns.push(at([value, 0, atom])?.swap_remove(1));
            }
        }
        Ok((rows, columns))
    }

    /// Applies the score modifiers: soft cap and additive bias.
    fn change_scores(&self, b: &mut Builder, entry: &Entry, at: [&Expr; 2]) -> Result<(), Error> {
        let interface = self.parts.interface;
        let added = interface.bias.as_ref().map(|bias| self.added(b, bias, entry, at)).transpose()?;
        adjust(b, interface.inner_scale.as_ref().map(Tanh::Approximate), added.as_ref(), &self.scores)
    }

    /// The addend of the scores of the keys from `base + at` on, derived from variables of this scope.
    fn added(
        &self,
        b: &mut Builder,
        bias: &Bias,
        entry: &Entry,
        [base, at]: [&Expr; 2],
    ) -> Result<Added, Error> {
        let [_, keys] = self.parts.config().tile;
        let thread = b.bounded(&self.thread, WARPGROUP - 1)?;
        let number = b.bounded(&self.number, self.parts.ring.warpgroups - 1)?;
        let first = &entry.row + &(&number * ROWS);
        let mine = self.parts.qk.get_slice(&thread)?;
        Addend::new(b, bias, entry, [&first, base])?.of_tile(b, [ROWS, keys], &mine, &at.div(keys)?)
    }
}
