//! Operands: the registers that sources are read from and destinations written to.

use std::ops::RangeInclusive;
use std::sync::Arc;

use girih_ptx::{Operand, Special, Type};

use super::Decoder;
use super::scope::{From, Named, Placed, file};
use crate::Error;
use crate::lanes::{Args, File, LaneFn, Reg, lanes, predicates};
use crate::op::Op;

impl Decoder<'_> {
    /// Emits a lane function.
    pub(super) fn lanes(&mut self, run: LaneFn, d: Reg, sources: &[Reg]) {
        let slot = |i: usize| sources.get(i).map_or(0, |r| r.slot);
        self.emit(Op::Lanes(run, Args { d: d.slot, a: slot(0), b: slot(1), c: slot(2), e: slot(3) }));
    }

    /// `d = f(sources)` where operand 0 is the destination and the others are sources of these types.
    pub(super) fn simple(
        &mut self,
        run: LaneFn,
        ops: &[Operand],
        d: Type,
        types: &[Type],
    ) -> Result<(), Error> {
        self.arity(ops, types.len() + 1..=types.len() + 1)?;
        let mut sources = Vec::with_capacity(types.len());
        for (i, &ty) in types.iter().enumerate() {
            sources.push(self.source(ops, i + 1, ty)?);
        }
        let d = self.destination(ops, 0, d)?;
        self.lanes(run, d, &sources);
        Ok(())
    }

    pub(super) fn arity(&self, ops: &[Operand], accepted: RangeInclusive<usize>) -> Result<(), Error> {
        if accepted.contains(&ops.len()) {
            return Ok(());
        }
        let (low, high) = accepted.into_inner();
        let expected =
            if low == high { format!("{low} operands") } else { format!("{low} to {high} operands") };
        Err(Error::Operand {
            place: Box::new(self.place.clone()),
            index: ops.len(),
            expected: format!("one of {expected}"),
            found: format!("{} operands", ops.len()),
        })
    }

    /// A new register without a name.
    pub(super) fn temporary(&mut self, file: File) -> Reg {
        let next = match file {
            File::Pred => &mut self.code.pred,
            File::W32 => &mut self.code.w32,
            File::W64 => &mut self.code.w64,
        };
        *next += 1;
        Reg { file, slot: *next - 1 }
    }

    /// The register that holds a constant.
    pub(super) fn constant(&mut self, file: File, value: u64) -> Reg {
        let value = match file {
            File::Pred => value & 1,
            File::W32 => value & 0xffff_ffff,
            File::W64 => value,
        };
        if let Some(&reg) = self.constants.get(&(file, value)) {
            return reg;
        }
        let reg = self.temporary(file);
        self.constants.insert((file, value), reg);
        self.code.constants.push((reg, value));
        reg
    }

    /// The register that holds the address of a variable.
    pub(super) fn placed(&mut self, file: File, placed: Placed, offset: i64) -> Reg {
        let address = placed.at.wrapping_add_signed(offset);
        match (placed.from, self.code.stack) {
            (From::Zero, _) => return self.constant(file, address),
            (From::Frame, Some([frame, _])) => {
                let (offset, sum) = (self.constant(File::W64, address), self.temporary(File::W64));
                self.lanes(lanes!(u64: |a: u64, b: u64| a.wrapping_add(b)), sum, &[frame, offset]);
                return if file == File::W64 {
                    sum
                } else {
                    self.through(file, lanes!(u32: |a: u64| a as u32), sum)
                };
            }
            _ => {}
        }
        if let Some(&reg) = self.shared_addresses.get(&(file, address)) {
            return reg;
        }
        let reg = self.temporary(file);
        self.shared_addresses.insert((file, address), reg);
        self.code.shared_addresses.push((reg, address));
        reg
    }

    pub(super) fn special(&mut self, special: Special, file: File) -> Result<Reg, Error> {
        use Special as S;
        match special {
            S::Clock | S::Clock64 | S::Globaltimer | S::GlobaltimerLo => {
                let reg = self.temporary(file);
                self.emit(Op::Clock(reg));
                return Ok(reg);
            }
            S::ClockHi | S::GlobaltimerHi => {
                let whole = self.temporary(File::W64);
                self.emit(Op::Clock(whole));
                return Ok(self.through(file, lanes!(u32: |a: u64| (a >> 32) as u32), whole));
            }
            _ => {}
        }
        if let Some(&reg) = self.specials.get(&(file, special)) {
            return Ok(reg);
        }
        let reg = self.temporary(file);
        self.specials.insert((file, special), reg);
        self.code.specials.push((reg, special));
        Ok(reg)
    }

    /// A declared register of this file.
    pub(super) fn register(&mut self, name: &Arc<str>, wanted: File) -> Result<Reg, Error> {
        match self.any_register(name)? {
            Some(reg) if reg.file == wanted => Ok(reg),
            Some(reg) => Err(self.wrong(name, &file_text(wanted), &file_text(reg.file))),
            None => Err(self.undeclared(name, "register")),
        }
    }

    /// A declared register, numbered at its first use; `None` if the name is not a register's.
    pub(super) fn any_register(&mut self, name: &Arc<str>) -> Result<Option<Reg>, Error> {
        let ty = match self.scopes.find(name) {
            Some(Named::Register(reg)) => return Ok(Some(reg)),
            Some(Named::Declared(ty)) => ty,
            Some(_) => return Ok(None),
            None => return Ok(None),
        };
        let Some(file) = file(ty) else {
            return Err(self.unsupported(&format!("registers of type .{ty}")));
        };
        let reg = self.temporary(file);
        self.scopes.number(name.clone(), Named::Register(reg));
        self.code.names.push((reg, name.clone(), ty));
        Ok(Some(reg))
    }

    /// The halves of a declared 128-bit register, the low one first; `None` if operand `index` is not the name of such a
    /// register.
    fn halves(&mut self, ops: &[Operand], index: usize) -> Option<[Reg; 2]> {
        let Some(Operand::Name(name)) = ops.get(index) else { return None };
        match self.scopes.find(name) {
            Some(Named::Wide(halves)) => Some(halves),
            Some(Named::Declared(Type::B128)) => {
                let halves = [self.temporary(File::W64), self.temporary(File::W64)];
                self.scopes.number(name.clone(), Named::Wide(halves));
                for (reg, half) in halves.into_iter().zip(["low", "high"]) {
                    self.code.names.push((reg, format!("{name}.{half}").into(), Type::B64));
                }
                Some(halves)
            }
            _ => None,
        }
    }

    /// The registers that operand `index`, a source of 128 bits, is read from.
    pub(super) fn source_halves(&mut self, ops: &[Operand], index: usize) -> Result<[Reg; 2], Error> {
        let halves = self.halves(ops, index).ok_or_else(|| self.operand(ops, index, "a 128-bit register"))?;
        self.reads.extend(halves);
        Ok(halves)
    }

    /// The registers that operand `index`, a destination of 128 bits, is written to.
    pub(super) fn destination_halves(&mut self, ops: &[Operand], index: usize) -> Result<[Reg; 2], Error> {
        if matches!(ops.get(index), Some(Operand::Sink)) {
            return Ok([self.temporary(File::W64), self.temporary(File::W64)]);
        }
        let halves = self.halves(ops, index).ok_or_else(|| self.operand(ops, index, "a 128-bit register"))?;
        self.writes.extend(halves);
        Ok(halves)
    }

    /// The register that operand `index`, a source of this type, is read from.
    pub(super) fn source(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        let wanted = file(ty).ok_or_else(|| self.unsupported(&format!("type .{ty}")))?;
        let Some(operand) = ops.get(index) else {
            return Err(self.operand(ops, index, &file_text(wanted)));
        };
        match operand {
            Operand::Name(name) => {
                if let Some(reg) = self.any_register(name)? {
                    if reg.file != wanted {
                        return Err(self.operand(ops, index, &file_text(wanted)));
                    }
                    self.reads.push(reg);
                    return Ok(reg);
                }
                let placed = self.address_of(name)?;
                Ok(self.placed(wanted, placed, 0))
            }
            Operand::Offset(name, offset) => {
                let placed = self.address_of(name)?;
                Ok(self.placed(wanted, placed, *offset))
            }
            Operand::Not(name) if wanted == File::Pred => {
                let reg = self.register(name, File::Pred)?;
                self.reads.push(reg);
                let negated = self.temporary(File::Pred);
                self.lanes(predicates!(|a| !a), negated, &[reg]);
                Ok(negated)
            }
            Operand::Special(special) if self.takes_special || *special == Special::WarpSize => {
                self.special(*special, wanted)
            }
            Operand::Special(_) => Err(self.operand(
                ops,
                index,
                &format!("{}; only mov and cvt take special ones", file_text(wanted)),
            )),
            &Operand::Int(value) => Ok(self.constant(wanted, value as u64)),
            &Operand::F32(bits) => {
                let value =
                    if ty == Type::F64 { f64::from(f32::from_bits(bits)).to_bits() } else { bits.into() };
                Ok(self.constant(wanted, value))
            }
            &Operand::F64(bits) => {
                let narrow = wanted == File::W32;
                let value = if narrow { (f64::from_bits(bits) as f32).to_bits().into() } else { bits };
                Ok(self.constant(wanted, value))
            }
            _ => Err(self.operand(ops, index, &file_text(wanted))),
        }
    }

    /// The register that operand `index`, a destination of this type, is written to.
    pub(super) fn destination(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        let wanted = file(ty).ok_or_else(|| self.unsupported(&format!("type .{ty}")))?;
        match ops.get(index) {
            Some(Operand::Name(name)) => self.destination_name(name, wanted),
            Some(Operand::Sink) => Ok(self.temporary(wanted)),
            _ => Err(self.operand(ops, index, &file_text(wanted))),
        }
    }

    pub(super) fn destination_name(&mut self, name: &Arc<str>, wanted: File) -> Result<Reg, Error> {
        if &**name == "_" {
            return Ok(self.temporary(wanted));
        }
        let reg = self.register(name, wanted)?;
        self.writes.push(reg);
        Ok(reg)
    }

    pub(super) fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { place: Box::new(self.place.clone()), what: what.into() }
    }

    pub(super) fn undeclared(&self, name: &str, expected: &'static str) -> Error {
        Error::Undeclared { place: Box::new(self.place.clone()), name: name.into(), expected }
    }

    pub(super) fn wrong(&self, name: &str, expected: &str, found: &str) -> Error {
        Error::Operand {
            place: Box::new(self.place.clone()),
            index: 0,
            expected: format!("`{name}` as {expected}"),
            found: found.into(),
        }
    }

    pub(super) fn operand(&self, ops: &[Operand], index: usize, expected: &str) -> Error {
        let found = ops.get(index).map_or_else(|| "nothing".into(), |operand| format!("`{operand}`"));
        Error::Operand { place: Box::new(self.place.clone()), index, expected: expected.into(), found }
    }
}

fn file_text(file: File) -> String {
    match file {
        File::Pred => "a predicate",
        File::W32 => "a register of at most 32 bits",
        File::W64 => "a 64-bit register",
    }
    .into()
}
