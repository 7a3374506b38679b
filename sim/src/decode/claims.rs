//! Turns the notes of a kernel's generator into operations after the lines that the notes are about: claims of the values of registers, and
//! predicated loads that leave registers undefined.

use crate::Error;
use crate::lanes::Reg;
use crate::op::{Guard, Op};

use super::Decoder;

impl Decoder<'_> {
    /// After an instruction that leaves its results undefined where its predicate is false, makes them so.
    pub(super) fn left_undefined(&mut self, line: u32) {
        let Some(source) = self.code.sources.last().filter(|_| self.notes.leaves_undefined(line)) else {
            return;
        };
        let regs: Box<[Reg]> = source.writes.as_slice().into();
        let number = self.code.sources.len() as u32 - 1;
        let mut own = self.code.insts.iter().rev().take_while(|inst| inst.source == number);
        self.guard = match own.find_map(|inst| (inst.guard != Guard::Same).then_some(inst.guard)) {
            Some(Guard::If(slot)) => Guard::Unless(slot),
            Some(Guard::Unless(slot)) => Guard::If(slot),
            _ => return,
        };
        self.emit(Op::Undefined(regs));
        self.flush();
    }

    /// Emits the claims about lines up to this one.
    pub(super) fn claimed(&mut self, line: u32) -> Result<(), Error> {
        while let Some((claim, rest)) = self.claims.split_first().filter(|(claim, _)| claim.line <= line) {
            self.claims = rest;
            self.place.line = claim.line;
            self.place.origin = None;
            self.place.instruction = claim.register.clone();
            let Some(reg) = self.any_register(&claim.register)? else {
                return Err(self.undeclared(&claim.register, "register"));
            };
            self.emit(Op::Claim(Box::new((claim.clone(), reg))));
            self.flush();
        }
        Ok(())
    }
}
