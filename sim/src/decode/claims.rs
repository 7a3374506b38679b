//! Claims of the values of registers become operations, placed after the line that each claim is about.

use crate::Error;
use crate::op::Op;

use super::Decoder;

impl Decoder<'_> {
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
