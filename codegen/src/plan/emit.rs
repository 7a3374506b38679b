//! Emits the instructions of a conversion between fragments.

use std::collections::BTreeMap;

use girih_layout::{Lay, Stride};
use girih_ptx::{Modifier, Opcode, Operand as Ptx, Type, Word};

use super::convert::{Conversion, LANES, Means, Round};
use crate::builder::{Builder, Reg, Width};
use crate::{Error, Expr};

impl Conversion {
    /// Bytes of shared memory that [`Conversion::emit`] needs for each warp.
    pub fn scratch_bytes(&self) -> u32 {
        match self.means() {
            Means::Shared => (LANES * self.values * self.bits as usize / 8) as u32,
            _ => 0,
        }
    }

    /// Emits the conversion of a lane's registers, 32 bits each, and returns the registers that hold the values after it. All lanes
    /// of the warp must execute the conversion together.
    ///
    /// `lane` is the lane index. `scratch` is the address in bytes of [`Conversion::scratch_bytes`] bytes of shared memory that no other warp uses.
    /// It is needed if the conversion goes through shared memory.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a wrong number of registers, and if scratch is needed and missing; [`Error::OutOfScope`].
    pub fn emit(
        &self,
        b: &mut Builder,
        lane: &Expr,
        registers: &[Reg],
        scratch: Option<&Expr>,
    ) -> Result<Vec<Reg>, Error> {
        let mismatch = |with: String, accepted| Error::Mismatch {
            what: "Conversion::emit",
            layout: self.src.to_string(),
            with,
            accepted,
        };
        if registers.len() != self.values / self.packed {
            let with = format!("{} registers", registers.len());
            return Err(mismatch(with, "a register for as many values as it holds"));
        }
        let Some(rounds) = &self.rounds else {
            let accepted = "shared memory: these values go through it";
            let scratch = scratch.ok_or_else(|| mismatch(String::from("no scratch"), accepted))?;
            return self.through(b, lane, registers, scratch);
        };
        let whole: Vec<Reg> =
            self.order.chunks(self.packed).map(|order| self.gather(b, registers, order)).collect();
        let mut lanes = Lanes { lane: b.value(lane, Width::W32)?, b, masks: BTreeMap::new() };
        let mut out: Vec<Option<Reg>> = vec![None; whole.len()];
        for round in rounds {
            let given = lanes.choose(&whole, &round.give);
            let taken = if round.stays() { given } else { lanes.shuffle(round, &given) };
            for (register, at) in out.iter_mut().enumerate() {
                let mask = mask_of(|lane| round.put[lane] == Some(register));
                *at = match at.take() {
                    kept if mask == 0 => kept,
                    None => Some(taken.clone()),
                    Some(kept) => Some(lanes.select(mask, &taken, &kept)),
                };
            }
        }
        // Every lane receives every register, since the moves are a bijection.
        Ok(out.into_iter().zip(whole).map(|(register, whole)| register.unwrap_or(whole)).collect())
    }

    /// One register with the values of the indices `order`, in this order.
    fn gather(&self, b: &mut Builder, registers: &[Reg], order: &[usize]) -> Reg {
        let first = &registers[order[0] / self.packed];
        if order[0].is_multiple_of(self.packed) && order.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            return first.clone();
        }
        let bytes = self.bits as usize / 8;
        let mut sources: Vec<usize> = Vec::new();
        for source in order.iter().map(|value| value / self.packed) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        // The first `prmt` takes bytes from two registers, and each further one adds bytes of one more register.
        let further = if sources.len() == 1 { &sources } else { &sources[1..] };
        let mut gathered = first.clone();
        for (step, &source) in further.iter().enumerate() {
            let byte = |i: usize| {
                let value = order[i / bytes];
                let own = value % self.packed * bytes + i % bytes;
                match value / self.packed {
                    from if from == source => 4 + own,
                    _ if step == 0 => own,
                    _ => i,
                }
            };
            let selector = (0..4).fold(0, |selector, i| selector | (byte(i) as i64) << (4 * i));
            let operands = [Ptx::from(&gathered), Ptx::from(&registers[source]), Ptx::Int(selector)];
            gathered = b.compute(Opcode::Prmt, operands);
        }
        gathered
    }

    /// Converts through shared memory, where every value is at its index in the tile.
    fn through(
        &self,
        b: &mut Builder,
        lane: &Expr,
        registers: &[Reg],
        scratch: &Expr,
    ) -> Result<Vec<Reg>, Error> {
        let bytes = self.bits / 8;
        let ty = match bytes {
            1 => Type::U8,
            2 => Type::U16,
            _ => Type::U32,
        };
        let access: [Modifier; 2] = [Word::Shared.into(), ty.into()];
        let address = |b: &mut Builder, tv: &Lay, value: usize| {
            b.address(&(scratch + &(&index(tv, lane, value)? * bytes)), Width::W32)
        };
        let shift = |value: usize| (value % self.packed) as i64 * self.bits;
        b.inst(Opcode::Bar, &[Word::Warp.into(), Word::Sync.into()], vec![Ptx::Int(-1)]);
        for value in 0..self.values {
            let mut part = registers[value / self.packed].clone();
            if shift(value) > 0 {
                part = b.compute(Opcode::Shr, [Ptx::from(&part), Ptx::Int(shift(value))]);
            }
            let to = address(b, &self.src, value)?;
            b.inst(Opcode::St, &access, vec![to, Ptx::from(&part)]);
        }
        b.inst(Opcode::Bar, &[Word::Warp.into(), Word::Sync.into()], vec![Ptx::Int(-1)]);
        let mut out: Vec<Reg> = Vec::new();
        for value in 0..self.values {
            let part = b.reg(Type::B32);
            let from = address(b, &self.dst, value)?;
            b.inst(Opcode::Ld, &access, vec![Ptx::from(&part), from]);
            match out.pop_if(|_| shift(value) > 0) {
                None => out.push(part),
                Some(low) => {
                    let high = b.compute(Opcode::Shl, [Ptx::from(&part), Ptx::Int(shift(value))]);
                    out.push(b.compute(Opcode::Or, [Ptx::from(&low), Ptx::from(&high)]));
                }
            }
        }
        Ok(out)
    }
}

impl Builder {
    /// A new register with the result of an instruction on 32 bits.
    fn compute<const N: usize>(&mut self, opcode: Opcode, operands: [Ptx; N]) -> Reg {
        let result = self.reg(Type::B32);
        let operands = std::iter::once(Ptx::from(&result)).chain(operands).collect();
        self.inst(opcode, &[Type::B32.into()], operands);
        result
    }
}

/// The index in the tile of a lane's value, `tv(lane, value)`.
fn index(tv: &Lay, lane: &Expr, value: usize) -> Result<Expr, Error> {
    let mut index = Expr::from(tv.at((LANES * value) as i64)?);
    let lanes = tv.mode(0)?;
    let mut before = 1;
    for leaf in 0..lanes.leaf_count() {
        let (Some(extent), Stride::Int(stride)) = (lanes.flat_leaf(leaf).0.get(), lanes.flat_leaf(leaf).1)
        else {
            return Err(Error::NotStatic { what: "Conversion::emit", layout: tv.to_string() });
        };
        index = &index + &(&lane.div(before)?.rem(extent)? * stride.get().unwrap_or(0));
        before *= extent;
    }
    Ok(index)
}

/// The lanes for which `lane` is true, as the bits of a mask.
fn mask_of(lane: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).filter(|&i| lane(i)).fold(0, |mask, i| mask | 1 << i)
}

/// Emits instructions whose operands differ between the lanes of a warp.
struct Lanes<'a> {
    b: &'a mut Builder,
    lane: Reg,
    /// For each set of lanes, the predicate that is true in its lanes.
    masks: BTreeMap<u32, Reg>,
}

impl Lanes<'_> {
    /// `yes` in the lanes of `mask`, `no` in the others.
    fn select(&mut self, mask: u32, yes: &Reg, no: &Reg) -> Reg {
        if mask == u32::MAX || yes == no {
            return yes.clone();
        }
        let inside = self.inside(mask);
        self.b.compute(Opcode::Selp, [Ptx::from(yes), Ptx::from(no), Ptx::from(&inside)])
    }

    fn inside(&mut self, mask: u32) -> Reg {
        if let Some(known) = self.masks.get(&mask) {
            return known.clone();
        }
        let lanes = self.b.compute(Opcode::Mov, [Ptx::Int(mask.into())]);
        let lanes = self.b.compute(Opcode::Shr, [Ptx::from(&lanes), Ptx::from(&self.lane)]);
        let bit = self.b.compute(Opcode::And, [Ptx::from(&lanes), Ptx::Int(1)]);
        let inside = self.b.reg(Type::Pred);
        let operands = vec![Ptx::from(&inside), Ptx::from(&bit), Ptx::Int(0)];
        self.b.inst(Opcode::Setp, &[Word::Ne.into(), Type::U32.into()], operands);
        self.masks.insert(mask, inside.clone());
        inside
    }

    /// The register that each lane sends, which is `registers[give[lane]]`.
    fn choose(&mut self, registers: &[Reg], give: &[usize; LANES]) -> Reg {
        let mut chosen = registers[give[0]].clone();
        for (register, value) in registers.iter().enumerate() {
            let mask = mask_of(|lane| give[lane] == register);
            if mask != 0 && register != give[0] {
                chosen = self.select(mask, value, &chosen);
            }
        }
        chosen
    }

    fn shuffle(&mut self, round: &Round, given: &Reg) -> Reg {
        let (how, from) = match round.butterfly() {
            Some(xor) => (Word::Bfly, Ptx::Int(xor as i64)),
            None => (Word::Idx, Ptx::from(&self.from(round))),
        };
        self.b.shuffle(Type::B32, how, given, &from, 31)
    }

    /// The lane that each lane receives from, bit by bit.
    fn from(&mut self, round: &Round) -> Reg {
        let mut from = self.b.compute(Opcode::Mov, [Ptx::Int(0)]);
        for bit in 0..5 {
            let inside = self.inside(mask_of(|lane| round.from[lane] >> bit & 1 == 1));
            let with = self.b.compute(Opcode::Or, [Ptx::from(&from), Ptx::Int(1 << bit)]);
            from = self.b.compute(Opcode::Selp, [Ptx::from(&with), Ptx::from(&from), Ptx::from(&inside)]);
        }
        from
    }
}
