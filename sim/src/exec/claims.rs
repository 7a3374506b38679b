//! What the program that wrote a kernel claims of its registers.

use girih_ptx::Claim;

use crate::Error;
use crate::lanes::{File, Reg};

use super::context::Context;
use super::lanes;
use super::warp::Warp;

impl Warp {
    /// What is claimed of a register has to hold in every lane. It is no instruction, so it is not counted.
    pub(super) fn claimed(
        &self,
        cx: &mut Context<'_>,
        (claim, reg): &(Claim, Reg),
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        cx.report.instructions -= 1;
        let bits = if reg.file == File::W64 { 64 } else { 32 };
        for lane in lanes(active) {
            let bits_of = self.regs.get(*reg, lane);
            if !claim.fact.holds(bits, bits_of) {
                let value = claim.fact.value(bits, bits_of);
                let at = cx.at(self.who(1 << lane, source));
                return Err(Error::FalseClaim { at, claim: Box::new(claim.clone()), value });
            }
        }
        Ok(())
    }
}
