//! CuTe's `copy_if` between memory and registers, by a universal copy atom.

use girih_layout::Lay;
use girih_tensor::Tensor;

use crate::atom::{CopyAtom, CopyOp};
use crate::builder::{Builder, Cond, Reg};
use crate::{Error, Memory, Rmem, Vectors, engine, vectorise};

/// Loads the values of `source` into `target` in vectors of `atom` where `cond` holds: value `i` (1-D) becomes
/// register value `i`.
///
/// # Errors
/// [`Error::Mismatch`] if `source` is not contiguous in vectors of the atom, not aligned to them, or holds another
/// number of values than `target`.
pub fn load<E: Memory>(
    b: &mut Builder,
    atom: &CopyAtom,
    cond: &Cond,
    source: &Tensor<E>,
    target: &Rmem,
) -> Result<(), Error> {
    let vectors = vectors(atom, source, target)?;
    for i in 0..vectors.count()? {
        let address = engine::at(&Tensor::new(source.engine().clone(), vectors.memory), i * vectors.width)?
            .address()?;
        b.load(source.engine().space(), &registers(target, &vectors, i)?, &address, cond)?;
    }
    Ok(())
}

/// Stores the values of `source` into `target`: the reverse of [`load`].
///
/// # Errors
/// As [`load`].
pub fn store<E: Memory>(
    b: &mut Builder,
    atom: &CopyAtom,
    cond: &Cond,
    source: &Rmem,
    target: &Tensor<E>,
) -> Result<(), Error> {
    let vectors = vectors(atom, target, source)?;
    for i in 0..vectors.count()? {
        let address = engine::at(&Tensor::new(target.engine().clone(), vectors.memory), i * vectors.width)?
            .address()?;
        b.store(target.engine().space(), &address, &registers(source, &vectors, i)?, cond)?;
    }
    Ok(())
}

fn vectors<E: Memory>(atom: &CopyAtom, memory: &Tensor<E>, registers: &Rmem) -> Result<Vectors, Error> {
    let layout = memory.layout();
    let bits = memory.engine().dtype().bits();
    let width = i64::from(atom.bits() / bits);
    let vectors = vectorise(layout, &Lay::left(layout.shape())?, width)?;
    let mismatch = |accepted| Error::Mismatch {
        what: "copy",
        layout: layout.to_string(),
        with: format!("{atom} and {} registers", registers.regs().len()),
        accepted,
    };
    if atom.op != CopyOp::Universal || atom.bits() < bits || vectors.width != width {
        return Err(mismatch("a universal atom whose vectors the layout holds contiguously"));
    }
    if registers.dtype() != memory.engine().dtype()
        || layout.size()?.get() != i64::try_from(registers.values()).ok()
    {
        return Err(mismatch("a value of the same dtype in registers for each in memory"));
    }
    let address = engine::at(&Tensor::new(memory.engine().clone(), vectors.memory), 0)?.address()?;
    if address.multiple() % i64::from(atom.bits() / 8) != 0 {
        return Err(mismatch("addresses that are multiples of the atom's bytes"));
    }
    Ok(vectors)
}

/// The registers of vector `index`, in memory order, one for each pair of 16-bit values.
pub(crate) fn registers(values: &Rmem, vectors: &Vectors, index: i64) -> Result<Vec<Reg>, Error> {
    let mismatch = || Error::Mismatch {
        what: "fragment",
        layout: vectors.registers.to_string(),
        with: format!("{} registers", values.regs().len()),
        accepted: "vectors that are whole registers of the fragment",
    };
    let value = |element: i64| vectors.registers.crd2idx(&girih_layout::Coord::of(&[element, index])?);
    let per = values.per_register() as i64;
    let mut out = Vec::new();
    for first in (0..vectors.width).step_by(values.per_register()) {
        let start = value(first)?;
        for element in 0..per {
            if start % per != 0
                || first + element >= vectors.width
                || value(first + element)? != start + element
            {
                return Err(mismatch());
            }
        }
        let reg = usize::try_from(start).ok().and_then(|v| values.reg(v));
        out.push(reg.ok_or_else(mismatch)?.clone());
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
