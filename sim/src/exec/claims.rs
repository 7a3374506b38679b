//! The notes of a kernel's generator: claims of the values of registers, which are checked, and registers that a load leaves undefined.

use girih_ptx::Claim;

use crate::Error;
use crate::lanes::{File, Reg, lanes_of};

use super::context::Context;
use super::registers::{Origin, Source, all_bits};
use super::warp::Warp;

impl Warp {
    /// Makes registers undefined in the active lanes. It is no instruction of the kernel, as for a claim.
    pub(super) fn left_undefined(&mut self, cx: &mut Context<'_>, regs: &[Reg], active: u32) {
        cx.report.instructions -= u64::from(active != 0);
        let Some(undefined) = &mut self.undefined else { return };
        for &reg in regs {
            let origin = Origin { source: Source::Register(reg), padding: false };
            lanes_of(active).for_each(|lane| undefined.set(reg, lane, all_bits(reg), origin));
        }
    }

    /// Checks that a claim of a register holds in every active lane. The claim is no instruction of the kernel, so the
    /// count of instructions is corrected.
    pub(super) fn claimed(
        &self,
        cx: &mut Context<'_>,
        (claim, reg): &(Claim, Reg),
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        cx.report.instructions -= 1;
        let bits = if reg.file == File::W64 { 64 } else { 32 };
        for lane in lanes_of(active) {
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
