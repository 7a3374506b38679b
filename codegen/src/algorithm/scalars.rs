//! Reads and writes the values of tensors one by one, each as a scalar.

use std::panic::Location;

use girih_layout::{Int, Lay, Stride};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Tensor};

use super::Site;
use super::convert::fp8;
use super::copy::{self, CopyWith};
use super::data::{Data, distance, fragment_values};
use super::math::narrow::{self, is_narrow};
use super::vectors::Fresh;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Reg, vector};
use crate::scalar::{computed, register};
use crate::sizes::{ONE, static_size};
use crate::{Error, Rmem, Scalar};

/// The tensor itself if it is in registers, otherwise registers like it.
pub(super) fn fragment(
    b: &mut Builder,
    what: &'static str,
    tensor: &Tensor<Site>,
) -> Result<Tensor<Rmem>, Error> {
    let Some(dtype) = tensor.engine().dtype() else {
        return Err(Error::Mismatch {
            what,
            layout: tensor.layout().to_string(),
            with: String::from("coordinates"),
            accepted: "a tensor in global or shared memory or in registers",
        });
    };
    match tensor.engine() {
        Site::Rmem(rmem) => Ok(Tensor::new(rmem.clone(), *tensor.layout())),
        _ => Rmem::tensor(b, dtype, Lay::left(tensor.layout().shape())?),
    }
}

/// The values of a tensor in colexicographic order, loaded in the widest vectors if they are in memory. Integers below 32 bits
/// are extended to 32, and floats of 8 bits are u32 of their bits. Values outside of the extents that the array is known to have
/// ([`Gmem::bounded`](crate::Gmem::bounded)) are 0.
///
/// # Errors
/// [`Error::Mismatch`] for coordinates, or a tensor that cannot be copied; [`Error::NotStatic`] for a symbolic layout.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{read, write};
/// use girih_codegen::{Builder, Gmem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("reverse", 80, 1);
/// let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("8:1"));
/// let mut values = read(&mut b, &x)?;
/// values.reverse();
/// write(&mut b, &x, &values)?;
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn read<E: Data>(b: &mut Builder, tensor: &Tensor<E>) -> Result<Vec<Scalar>, Error> {
    let tensor = Site::tensor(tensor);
    b.on_behalf(Location::caller(), |b| read_sites(b, &tensor))
}

fn read_sites(b: &mut Builder, tensor: &Tensor<Site>) -> Result<Vec<Scalar>, Error> {
    let fragment = loaded(b, tensor)?;
    let scalar = |value: &Rmem| one(b, value);
    fragment_values("read", &fragment)?.iter().map(scalar).collect()
}

/// Reads as [`read`] does, but reads values that are the same element, since the tensor does not move along a mode, once.
#[track_caller]
pub(crate) fn read_once<E: Data>(b: &mut Builder, tensor: &Tensor<E>) -> Result<Vec<Scalar>, Error> {
    let tensor = Site::tensor(tensor);
    b.on_behalf(Location::caller(), |b| read_sites_once(b, &tensor))
}

fn read_sites_once(b: &mut Builder, tensor: &Tensor<Site>) -> Result<Vec<Scalar>, Error> {
    let (layout, site) = (tensor.layout(), tensor.engine());
    let (mut leaves, mut numbers, mut distinct) = (Vec::new(), Vec::new(), 1);
    for leaf in 0..layout.leaf_count() {
        let (extent, stride) = layout.flat_leaf(leaf);
        let moves = distance(site, &stride) != Some(0);
        numbers.push(Lay::leaf(extent, Stride::Int(Int::fixed(if moves { distinct } else { 0 })))?);
        if moves {
            distinct *= extent.get().unwrap_or(1);
            leaves.push(Lay::leaf(extent, stride)?);
        }
    }
    if leaves.is_empty() {
        leaves.push(ONE);
    }
    let found = read_sites(b, &Tensor::new(site.clone(), Lay::concat(&leaves)?))?;
    let numbers = Lay::concat(&numbers)?; // value -> which of the distinct ones
    let count = static_size("read", layout)?;
    (0..count).map(|i| Ok(found[numbers.at(i)? as usize].clone())).collect()
}

/// Reads as [`read`] does, but leaves floats of 16 bits that fill registers in pairs, so that both are computed together.
pub(super) fn read_pairs(b: &mut Builder, tensor: &Tensor<Site>) -> Result<Vec<Scalar>, Error> {
    let fragment = loaded(b, tensor)?;
    let own = !matches!(tensor.engine(), Site::Rmem(_));
    let (all, mut out) = (fragment_values("read", &fragment)?, Vec::new());
    while let Some(value) = all.get(out.len()) {
        match all.get(out.len() + 1) {
            Some(next) if is_pair(value, next) => out.extend(halves(b, value, own)?),
            _ => out.push(one(b, value)?),
        }
    }
    Ok(out)
}

/// The tensor's values in registers.
fn loaded(b: &mut Builder, tensor: &Tensor<Site>) -> Result<Tensor<Rmem>, Error> {
    let fragment = fragment(b, "read", tensor)?;
    if !matches!(tensor.engine(), Site::Rmem(_)) {
        copy::copy(b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), tensor, &fragment)?;
    }
    Ok(fragment)
}

/// The value that an engine points at.
pub(crate) fn one(b: &mut Builder, value: &Rmem) -> Result<Scalar, Error> {
    let reg = extract(b, value);
    b.scalar_in(&reg, computed(value.dtype()))
}

/// Writes a scalar to each value of a tensor in colexicographic order, in the widest vectors if the tensor is in memory. The scalars
/// are of the dtypes that [`read`] gives. Floats of 8 bits may also be written from f32, which are rounded to nearest even and clamped
/// to the greatest finite number: by `cvt.rn.satfinite` from sm_89 on, and by integer arithmetic before.
///
/// # Errors
/// [`Error::Mismatch`] for another number of scalars or another dtype; as [`read`] and [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::write;
/// use girih_codegen::{Builder, Gmem, Scalar};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("quantise", 89, 1);
/// let x = Tensor::new(Gmem::new(b.pointer("x", 4), DType::E4m3), lay!("4:1"));
/// let values = [0.5, 1.0, 1.5, 2.0].map(|x| Scalar::new(DType::F32, x));
/// write(&mut b, &x, &values)?;
/// assert_eq!(b.finish()?.module().to_string().matches("cvt.rn.satfinite.e4m3x2.f32").count(), 2);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn write<E: Data>(b: &mut Builder, tensor: &Tensor<E>, scalars: &[Scalar]) -> Result<(), Error> {
    let tensor = Site::tensor(tensor);
    b.on_behalf(Location::caller(), |b| write_sites(b, &tensor, scalars))
}

fn write_sites(b: &mut Builder, tensor: &Tensor<Site>, scalars: &[Scalar]) -> Result<(), Error> {
    let single = |scalar: &Scalar| scalar.dtype() == DType::F32;
    if let Some(to) = tensor.engine().dtype()
        && is_narrow(to)
        && !scalars.is_empty()
        && scalars.iter().all(single)
    {
        let bits = scalars.iter().map(|scalar| narrow::of_f32(b, to, scalar));
        let bits = bits.collect::<Result<Vec<_>, Error>>()?;
        return write_sites(b, tensor, &bits);
    }
    let fragment = fragment(b, "write", tensor)?;
    let all = fragment_values("write", &fragment)?;
    let stored = fragment.engine().dtype();
    let rounded = stored.is_narrow_float() && scalars.iter().all(single);
    let dtype = if rounded { DType::F32 } else { computed(stored) };
    let wrong = scalars.iter().find(|scalar| scalar.dtype() != dtype && scalar.faulty().is_none());
    if all.len() != scalars.len() || wrong.is_some() {
        let found = wrong.map_or(dtype, |scalar| scalar.dtype());
        return Err(Error::Mismatch {
            what: "write",
            layout: format!("{} scalars of {found}", scalars.len()),
            with: format!("{} of {}", tensor.layout(), fragment.engine().dtype()),
            accepted: "a scalar for each value, of the tensor's dtype; integers below 32 bits are extended to 32, \
                       floats of 8 bits are f32 or u32 of their bits",
        });
    }
    let mut fresh = Fresh::new(all.iter());
    let mut i = 0;
    while i < all.len() {
        let (value, scalar) = (&all[i], &scalars[i]);
        let is_fresh = fresh.take(value.offset());
        if rounded {
            i += pack_bytes(b, &all[i..], &scalars[i..], is_fresh)?;
            continue;
        }
        let next = all.get(i + 1).filter(|next| is_fresh && is_pair(value, next));
        if next.is_some() {
            pack(b, value, [scalar, &scalars[i + 1]])?;
            i += 2;
            continue;
        }
        let reg = b.scalar(scalar)?;
        insert(b, value, &reg, is_fresh);
        i += 1;
    }
    if matches!(tensor.engine(), Site::Rmem(_)) {
        return Ok(());
    }
    copy::copy(b, AUTO_VECTORIZING_COPY, &fragment, tensor)
}

/// Whether two values are the floats of 16 bits that fill a register.
pub(super) fn is_pair(low: &Rmem, high: &Rmem) -> bool {
    let floats = matches!(low.dtype(), DType::F16 | DType::Bf16);
    floats && low.offset() % 2 == 0 && high.offset() == low.offset() + 1
}

/// The two floats of 16 bits that a register holds now. If `own` is false, the register may be written later, so that it is copied.
fn halves(b: &mut Builder, low: &Rmem, own: bool) -> Result<[Scalar; 2], Error> {
    let (mut pair, _) = place(low);
    if !own {
        let source = std::mem::replace(&mut pair, b.reg(Type::B32));
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&pair), Operand::from(&source)]);
    }
    b.halves_of(&pair, low.dtype())
}

/// Writes two floats of 16 bits to the register that they fill. The floats are computed together if they are the same operation, and
/// by one conversion if both are rounded from f32.
fn pack(b: &mut Builder, to: &Rmem, [low, high]: [&Scalar; 2]) -> Result<(), Error> {
    let (reg, _) = place(to);
    if let Some(pair) = b.packed(low, high)? {
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&reg), Operand::from(&pair)]);
        return Ok(());
    }
    let pair = if to.dtype() == DType::F16 { Type::F16x2 } else { Type::Bf16x2 };
    if let ([Some(low), Some(high)], true) = ([low, high].map(Scalar::rounded_from_f32), b.sm() >= 80) {
        let (low, high) = (b.scalar(low)?, b.scalar(high)?);
        // The first source is the upper half.
        let operands = vec![Operand::from(&reg), Operand::from(&high), Operand::from(&low)];
        b.inst(Opcode::Cvt, &[Word::Rn.into(), pair.into(), Type::F32.into()], operands);
        return Ok(());
    }
    let halves = [b.scalar(low)?, b.scalar(high)?];
    b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&reg), vector(&halves)]);
    Ok(())
}

/// Rounds the first of the scalars to floats of 8 bits, and writes them to the register that they share: four of them, two or one.
/// Returns how many.
fn pack_bytes(b: &mut Builder, to: &[Rmem], scalars: &[Scalar], fresh: bool) -> Result<usize, Error> {
    let first = to[0].offset();
    let consecutive = |count: usize| {
        first % count as i64 == 0
            && to.get(..count).is_some_and(|to| (first..).zip(to).all(|(offset, to)| to.offset() == offset))
    };
    let dtype = to[0].dtype();
    let rounded = |b: &mut Builder, low: &Scalar, high: Option<&Scalar>| -> Result<Reg, Error> {
        let low = b.scalar(low)?;
        let high = high.map_or(Ok(None), |high| b.scalar(high).map(Some))?;
        Ok(fp8::narrow(b, dtype, &low, high.as_ref()))
    };
    let (reg, shift) = place(&to[0]);
    if fresh && consecutive(4) {
        let halves =
            [rounded(b, &scalars[0], Some(&scalars[1]))?, rounded(b, &scalars[2], Some(&scalars[3]))?];
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&reg), vector(&halves)]);
        return Ok(4);
    }
    let count = if consecutive(2) { 2 } else { 1 };
    let value = rounded(b, &scalars[0], scalars.get(1).filter(|_| count == 2))?;
    insert_bits(b, (&reg, shift), &value, 8 * count as i64, fresh);
    Ok(count)
}

/// The register and the first bit of the value at which `rmem` is.
pub(super) fn place(rmem: &Rmem) -> (Reg, i64) {
    let (per, offset) = (rmem.per_register() as i64, rmem.offset());
    let reg = rmem.regs()[(offset / per) as usize].clone();
    (reg, offset % per * i64::from(rmem.dtype().bits()))
}

pub(super) fn extract(b: &mut Builder, rmem: &Rmem) -> Reg {
    let (reg, shift) = place(rmem);
    let (dtype, ty) = (rmem.dtype(), register(computed(rmem.dtype())));
    let out = b.reg(ty);
    let [target, source] = [Operand::from(&out), Operand::from(&reg)];
    match dtype.bits() {
        32 | 64 => b.inst(
            Opcode::Mov,
            &[if dtype.bits() == 64 { Type::B64 } else { Type::B32 }.into()],
            vec![target, source],
        ),
        16 if ty == Type::B16 => {
            let (other, pair) = (b.reg(Type::B16), |low, high| Operand::Vector(vec![low, high]));
            let halves = if shift == 0 {
                pair(target, Operand::from(&other))
            } else {
                pair(Operand::from(&other), target)
            };
            b.inst(Opcode::Mov, &[Type::B32.into()], vec![halves, source]);
        }
        bits => {
            let signed = if ty == Type::S32 { Type::S32 } else { Type::U32 };
            let operands = vec![target, source, Operand::Int(shift), Operand::Int(i64::from(bits))];
            b.inst(Opcode::Bfe, &[signed.into()], operands);
        }
    }
    out
}

pub(super) fn insert(b: &mut Builder, rmem: &Rmem, value: &Reg, fresh: bool) {
    let (reg, shift) = place(rmem);
    let bits = i64::from(rmem.dtype().bits());
    if bits >= 32 {
        let ty = if bits == 64 { Type::B64 } else { Type::B32 };
        return b.inst(Opcode::Mov, &[ty.into()], vec![Operand::from(&reg), Operand::from(value)]);
    }
    insert_bits(b, (&reg, shift), value, bits, fresh);
}

/// Writes the lowest `bits` bits of `value` to a register, from bit `shift` on.
fn insert_bits(b: &mut Builder, (reg, shift): (&Reg, i64), value: &Reg, bits: i64, fresh: bool) {
    let wide = if value.ty() == Type::B16 {
        let wide = b.reg(Type::B32);
        let operands = vec![Operand::from(&wide), Operand::from(value)];
        b.inst(Opcode::Cvt, &[Type::U32.into(), Type::U16.into()], operands);
        wide
    } else {
        value.clone()
    };
    let [target, wide] = [Operand::from(reg), Operand::from(&wide)];
    if fresh {
        // The other values overwrite the other bits.
        return b.inst(Opcode::Shl, &[Type::B32.into()], vec![target, wide, Operand::Int(shift)]);
    }
    let operands = vec![target.clone(), wide, target, Operand::Int(shift), Operand::Int(bits)];
    b.inst(Opcode::Bfi, &[Type::B32.into()], operands);
}
