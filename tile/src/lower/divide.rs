//! Quotients of many f32 by one. The reciprocal is computed once, and each quotient takes four instructions instead of a division.
//!
//! ```text
//! y = RN(1/c)    d = RD(1/c)    h = RN((1 - c*d) * y)    d + h is 1/c but for 2^-46 of it, and h >= 0 keeps the sign of zeros
//! q = RN(x*d + RN(x*h))                                  within one unit of x/c in the last place
//! r = c*q - x                                            exact
//! RN(q - r*y) = RN(x/c)                                  P. Markstein, Computation of elementary functions on the IBM RS/6000, 1990
//! ```
//!
//! The last line holds where nothing overflows or loses bits below the least exponent: c from 2^-20 to 2^20, and x zero or |x| from 2^-100
//! to 2^100. A warp with another c or x divides by `div.rn`.
//!
//! Of quotients that need not be exact (`div.full`, two units in the last place), `x RN(1/c)` is within one and a half where 1/c is a normal number.

use std::collections::HashSet;

use girih_codegen::{Cond, Error, Expr, Reg};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Lowering;
use super::each::direction;
use super::words::{Words, m, of};
use crate::facts::Bound;
use crate::ir::{Kind, Op, OpId, Padding, Rounding, Value};

/// The fewest quotients by one number for which its reciprocal pays.
const FEWEST: usize = 8;
/// Quotients that one vote judges. Their numerators stay in registers until then.
const JUDGED: usize = 16;

/// The bits of 2^exponent as an f32.
const fn power(exponent: i64) -> i64 {
    (exponent + 127) << 23
}

impl Lowering<'_> {
    /// Whether quotients of this value may be judged by a branch: all threads take the same way, and all its elements are determined.
    pub(super) fn is_judged(&mut self, value: Value) -> bool {
        let plan = self.plan;
        let dims = plan.func.ty(value).dims;
        let whole =
            plan.dist(value).padded(dims.rank()).iter().zip(dims.iter()).all(|(&n, &m)| n == i64::from(m));
        if !self.alike || !whole {
            return false;
        }
        if self.open.is_none() {
            self.open = Some(self.undetermined());
        }
        self.open.as_ref().is_some_and(|open| !open.contains(&value))
    }

    /// The values of which elements may come from outside of an array.
    fn undetermined(&self) -> HashSet<Value> {
        let func = &self.plan.func;
        let checked = |id: OpId| {
            let bounds = self.bounds.access(id);
            bounds.is_empty() || bounds.iter().any(|of| of.low == Bound::Kernel || of.high == Bound::Kernel)
        };
        let outside = |id: OpId, op: &Op| match &op.kind {
            // What lies outside of a tile that products take from shared memory is zero.
            Kind::Load(_) if self.plan.products.loads.contains_key(&id) => false,
            Kind::Load(view) => view.padding == Padding::Undetermined && view.check && checked(id),
            Kind::Gather(at) => at.check,
            _ => false,
        };
        let mut found: HashSet<Value> = HashSet::new();
        loop {
            let before = found.len();
            func.walk(func.body(), &mut |id, op| {
                let ends = op.regions.iter().flat_map(|&region| func.region(region).end.values());
                if outside(id, op) || op.operands.iter().chain(ends).any(|value| found.contains(value)) {
                    found.extend(&op.results);
                    found.extend(op.regions.iter().flat_map(|&region| &func.region(region).args));
                }
            });
            if found.len() == before {
                return found;
            }
        }
    }
}

impl Words<'_> {
    /// The quotients of f32 by f32, rounded to nearest or to two units in the last place: of each pair, its first by its second.
    pub(crate) fn quotients(
        &mut self,
        pairs: &[(&Reg, &Reg)],
        rounding: Rounding,
    ) -> Result<Vec<Reg>, Error> {
        let mut quotients: Vec<Option<Reg>> = vec![None; pairs.len()];
        for first in 0..pairs.len() {
            let (_, divisor) = pairs[first];
            let open = |at: &usize| quotients[*at].is_none() && pairs[*at].1 == divisor;
            let places: Vec<usize> = (first..pairs.len()).filter(open).collect();
            if places.first() != Some(&first) {
                continue;
            }
            let mut numerators: Vec<Reg> = Vec::new();
            for &at in &places {
                if !numerators.contains(pairs[at].0) {
                    numerators.push(pairs[at].0.clone());
                }
            }
            let values = match rounding {
                _ if numerators.len() < FEWEST => {
                    let divide = |x| self.divide(rounding, x, divisor);
                    numerators.iter().map(divide).collect()
                }
                Rounding::Full => self.products_by(&numerators, divisor)?,
                _ => self.quotients_by(&numerators, divisor)?,
            };
            for at in places {
                let same = numerators.iter().position(|numerator| numerator == pairs[at].0);
                quotients[at] = same.map(|same| values[same].clone());
            }
        }
        Ok(quotients.into_iter().flatten().collect())
    }

    /// An instruction on f32 that rounds to nearest.
    fn f32(&mut self, opcode: Opcode, inputs: Vec<Operand>) -> Reg {
        self.make(Type::F32, opcode, m![Word::Rn, Type::F32], inputs)
    }

    fn divide(&mut self, rounding: Rounding, x: &Reg, divisor: &Reg) -> Reg {
        self.make(Type::F32, Opcode::Div, m![direction(rounding), Type::F32], of([x, divisor]))
    }

    /// Whether bits, as an unsigned number, are neither of these two nor between them. As such numbers the bits of positive floats are ordered,
    /// and those of negative ones are above.
    fn outside(&mut self, bits: &Reg, least: i64, most: i64) -> Reg {
        let inputs = vec![Operand::from(bits), Operand::Int(-least)];
        let above = self.make(Type::U32, Opcode::Add, m![Type::U32], inputs);
        self.setp(Word::Gt, Type::U32, &above, Operand::Int(most - least))
    }

    /// Products with the reciprocal of a divisor.
    fn products_by(&mut self, numerators: &[Reg], divisor: &Reg) -> Result<Vec<Reg>, Error> {
        let y = self.f32(Opcode::Rcp, of([divisor]));
        let size = self.make(Type::F32, Opcode::Abs, m![Type::F32], of([divisor]));
        let bits = self.recast(DType::F32, DType::U32, &size);
        let unfit = self.outside(&bits, power(-126), power(126));
        let values: Vec<Reg> = numerators.iter().map(|x| self.f32(Opcode::Mul, of([x, &y]))).collect();
        self.else_divide(unfit, (&values, numerators), divisor, Rounding::Full)?;
        Ok(values)
    }

    /// In a warp with a thread in which quotients are unfit, divides.
    fn else_divide(
        &mut self,
        unfit: Reg,
        (values, numerators): (&[Reg], &[Reg]),
        divisor: &Reg,
        rounding: Rounding,
    ) -> Result<(), Error> {
        let unfit = self.b.cond_in(&unfit)?;
        let unfit = self.b.vote_any(&unfit)?;
        let block = self.b.open_block();
        self.b.leave(&block, &Cond::not(unfit), true)?;
        // A loop, since what is seldom done must not take the place of what is near it in the instruction cache.
        self.b.move_all(values, numerators)?;
        let count = Expr::from(values.len() as i64);
        self.b.for_range(&count, |b, _| {
            let quotient = Words { b }.divide(rounding, &values[0], divisor);
            let next: Vec<Reg> = values[1..].iter().cloned().chain([quotient]).collect();
            b.move_all(values, &next)
        })?;
        self.b.close_block(block)
    }

    fn quotients_by(&mut self, numerators: &[Reg], divisor: &Reg) -> Result<Vec<Reg>, Error> {
        let one = Operand::F32(1f32.to_bits());
        let y = self.f32(Opcode::Rcp, of([divisor]));
        let minus = self.make(Type::F32, Opcode::Neg, m![Type::F32], of([divisor]));
        let d = self.make(Type::F32, Opcode::Rcp, m![Word::Rm, Type::F32], of([divisor]));
        let rest = self.f32(Opcode::Fma, vec![Operand::from(&minus), Operand::from(&d), one]);
        let h = self.f32(Opcode::Mul, of([&rest, &y]));
        let minus_y = self.make(Type::F32, Opcode::Neg, m![Type::F32], of([&y]));
        let bits = self.recast(DType::F32, DType::U32, divisor);
        let unfit = self.outside(&bits, power(-20), power(20));
        let mut quotients = Vec::with_capacity(numerators.len());
        for numerators in numerators.chunks(JUDGED) {
            let (mut least, mut most): (Option<Reg>, Option<Reg>) = (None, None);
            let mut values = Vec::with_capacity(numerators.len());
            for x in numerators {
                let xh = self.f32(Opcode::Mul, of([x, &h]));
                let q = self.f32(Opcode::Fma, of([x, &d, &xh]));
                let minus_x = self.make(Type::F32, Opcode::Neg, m![Type::F32], of([x]));
                let r = self.f32(Opcode::Fma, of([divisor, &q, &minus_x]));
                values.push(self.f32(Opcode::Fma, of([&r, &minus_y, &q])));
                let size = self.make(Type::F32, Opcode::Abs, m![Type::F32], of([x]));
                most = Some(match most {
                    Some(most) => self.make(Type::F32, Opcode::Max, m![Type::F32], of([&most, &size])),
                    None => size,
                });
                // Twice the bits less one: no sign, and zero is the greatest number.
                let bits = self.recast(DType::F32, DType::U32, x);
                let twice = vec![Operand::from(&bits), Operand::Int(2), Operand::Int(-1)];
                let twice = self.make(Type::U32, Opcode::Mad, m![Word::Lo, Type::U32], twice);
                least = Some(match least {
                    Some(least) => self.make(Type::U32, Opcode::Min, m![Type::U32], of([&least, &twice])),
                    None => twice,
                });
            }
            let mut unfit = unfit.clone();
            let or = |low: &mut Self, a: &Reg, b: &Reg| {
                low.make(Type::Pred, Opcode::Or, m![Type::Pred], of([a, b]))
            };
            if let (Some(least), Some(most)) = (least, most) {
                let small = self.setp(Word::Lt, Type::U32, &least, Operand::Int(2 * power(-100) - 1));
                let bits = self.recast(DType::F32, DType::U32, &most);
                let great = self.setp(Word::Gt, Type::U32, &bits, Operand::Int(power(100)));
                unfit = or(self, &unfit, &small);
                unfit = or(self, &unfit, &great);
            }
            self.else_divide(unfit, (&values, numerators), divisor, Rounding::Nearest)?;
            quotients.extend(values);
        }
        Ok(quotients)
    }
}
