//! What MMA atoms take: fragments, shared memory and descriptors.

use girih_layout::Lay;
use girih_ptx::Operand as Ptx;
use girih_tensor::{Engine, Tensor};

use crate::algorithm::copy::copy;
use crate::algorithm::scalars::extract;
use crate::atom::{AUTO_VECTORIZING_COPY, MmaAtom, MmaKind};
use crate::builder::{Builder, Reg};
use crate::sizes::static_size;
use crate::{Descriptor, Error, Expr, Memory, Operand, Rmem, Smem};

/// An engine that an MMA takes A or B from: registers, descriptors of shared memory, or shared memory itself, whose values
/// [`gemm`](crate::algorithm::gemm()) loads into registers.
pub trait MmaOperand: Engine<Index = Expr> {
    /// Whether the values are in memory, from which they are loaded before an instruction takes them.
    const IN_MEMORY: bool = false;

    /// Loads the values of operand `which` of `atom` into new registers; `None` for an engine whose values the instruction takes itself.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the atom does not take registers there, or takes them of another dtype.
    fn load(
        b: &mut Builder,
        atom: &MmaAtom,
        which: Operand,
        tensor: &Tensor<Self>,
    ) -> Result<Option<Tensor<Rmem>>, Error> {
        let _ = (b, atom, which, tensor);
        Ok(None)
    }

    /// The operand of `atom` at `values`, the values (FrgV) of one instruction.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the atom takes another kind of operand there, or the values are not whole registers.
    fn operand(&self, b: &mut Builder, atom: &MmaAtom, which: Operand, values: &Lay) -> Result<Ptx, Error>;

    /// The registers, where the operand is in registers.
    fn registers(&self) -> Option<&Rmem> {
        None
    }
}

pub(super) fn mismatch(layout: String, with: String, accepted: &'static str) -> Error {
    Error::Mismatch { what: "gemm", layout, with, accepted }
}

impl MmaOperand for Rmem {
    fn registers(&self) -> Option<&Rmem> {
        Some(self)
    }

    fn operand(&self, b: &mut Builder, atom: &MmaAtom, which: Operand, values: &Lay) -> Result<Ptx, Error> {
        let dtype = atom.dtype(which);
        if atom.from_shared(which) || dtype != self.dtype() {
            let with = format!("{which:?} of {atom}");
            let accepted = "registers of the atom's dtype, for an operand that the atom takes from registers";
            return Err(mismatch(format!("registers of {}", self.dtype()), with, accepted));
        }
        let held = static_size("gemm", &[atom.a, atom.b, atom.c][which as usize].mode(1)?)?;
        if static_size("gemm", values)? != held {
            let with = format!("{which:?} of {atom}");
            return Err(mismatch(values.to_string(), with, "as many values as the atom has in a thread"));
        }
        self.check()?;
        if atom.kind == MmaKind::Fma && dtype.bits() == 16 {
            return Ok(Ptx::from(&extract(b, self)));
        }
        let regs = self.registers_of(values)?;
        let single = matches!(atom.kind, MmaKind::Fma | MmaKind::Dot);
        Ok(match regs {
            [one] if single => Ptx::from(one),
            many => Ptx::Vector(many.iter().map(Ptx::from).collect()),
        })
    }
}

impl MmaOperand for Smem {
    const IN_MEMORY: bool = true;

    #[track_caller]
    fn load(
        b: &mut Builder,
        atom: &MmaAtom,
        which: Operand,
        tensor: &Tensor<Smem>,
    ) -> Result<Option<Tensor<Rmem>>, Error> {
        tensor.engine().fits(atom, which)?;
        let values = Rmem::like(b, tensor)?;
        copy(b, AUTO_VECTORIZING_COPY, tensor, &values)?;
        Ok(Some(values))
    }

    fn operand(&self, _: &mut Builder, atom: &MmaAtom, which: Operand, _: &Lay) -> Result<Ptx, Error> {
        self.fits(atom, which)?;
        let with = format!("{which:?} of {atom}");
        Err(mismatch(
            format!("shared memory of {}", self.dtype()),
            with,
            "values that `MmaOperand::load` loaded",
        ))
    }
}

impl Smem {
    /// Refuses shared memory that cannot be loaded as the operand of `atom`.
    fn fits(&self, atom: &MmaAtom, which: Operand) -> Result<(), Error> {
        let accepted = if atom.from_shared(which) {
            "descriptors of shared memory: `ThrMma::partition_descriptor`"
        } else if atom.kind.is_wgmma() {
            "registers that are loaded before `warpgroup_arrive`"
        } else if atom.dtype(which) != self.dtype() {
            "shared memory of the atom's dtype"
        } else {
            return Ok(());
        };
        Err(mismatch(format!("shared memory of {}", self.dtype()), format!("{which:?} of {atom}"), accepted))
    }
}

impl MmaOperand for Descriptor {
    fn operand(&self, b: &mut Builder, atom: &MmaAtom, which: Operand, _: &Lay) -> Result<Ptx, Error> {
        if !atom.from_shared(which) {
            let accepted = "registers: the atom does not take this operand from shared memory";
            return Err(mismatch(String::from("a descriptor"), format!("{which:?} of {atom}"), accepted));
        }
        self.value(b)
    }
}

impl Rmem {
    /// The registers of the values that `values` names, counted from the value at which the engine is.
    fn registers_of(&self, values: &Lay) -> Result<&[Reg], Error> {
        let (count, per) = (static_size("gemm", values)?, self.per_register() as i64);
        let refused = || {
            let with = format!("registers of {} from value {}", self.dtype(), self.offset());
            mismatch(values.to_string(), with, "consecutive values that fill whole registers")
        };
        let consecutive = count == 1 || values.coalesce() == crate::sizes::extent(count)?;
        if !consecutive || self.offset() % per != 0 {
            return Err(refused());
        }
        let first = usize::try_from(self.offset() / per).map_err(|_| refused())?;
        let last = first + (count + per - 1) as usize / per as usize;
        self.regs().get(first..last).ok_or_else(refused)
    }
}
