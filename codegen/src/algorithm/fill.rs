//! `fill` and `clear`.

use std::collections::BTreeMap;
use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Tensor};

use super::Site;
use super::copy::line;
use super::data::{Data, memory_order, values};
use super::predicates::Predicates;
use super::registers::Piece;
use super::transform::transform;
use crate::builder::{Builder, Cond, Reg};
use crate::{Error, Expr, Rmem};

/// Sets every value of `target` to `value`, rounded to the dtype of `target` as [`DType::encode`] does (CuTe's `fill`). Memory is
/// written in the widest vectors.
///
/// # Errors
/// [`Error::Mismatch`] for coordinates, or addresses that are not known to be aligned to an element;
/// [`Error::NotStatic`].
#[track_caller]
pub fn fill<E: Data>(b: &mut Builder, target: &Tensor<E>, value: f64) -> Result<(), Error> {
    let target = Site::tensor(target);
    b.on_behalf(Location::caller(), |b| filled(b, &target, value))
}

fn filled(b: &mut Builder, target: &Tensor<Site>, value: f64) -> Result<(), Error> {
    let (all, site) = (values("fill", target)?, target.engine());
    let refused = |accepted| Error::Mismatch {
        what: "fill",
        layout: target.layout().to_string(),
        with: format!("{:?}", site.space()),
        accepted,
    };
    let Some(dtype) = site.dtype() else {
        return Err(refused("a tensor in global or shared memory or in registers"));
    };
    let bits = i64::from(dtype.bits());
    if let Site::Rmem(_) = site {
        fill_registers(b, &all, pattern(dtype, value));
        return Ok(());
    }
    let (order, bounds) = (memory_order(site, target.layout())?, Predicates::bounds(&all));
    let mut width = 128;
    while width >= bits.max(8) {
        if let Some(lines) = lines(&all, &bounds, &order, bits, width)? {
            let piece = constant(b, width, pattern(dtype, value));
            for (address, inside) in lines {
                b.store(site.space(), &address, &piece, &inside)?;
            }
            return Ok(());
        }
        width /= 2;
    }
    Err(refused("addresses that are multiples of an element"))
}

/// Sets every value to zero (CuTe's `clear`).
///
/// # Errors
/// As [`fill`].
#[track_caller]
pub fn clear<E: Data>(b: &mut Builder, target: &Tensor<E>) -> Result<(), Error> {
    fill(b, target, 0.0)
}

/// Sets the values of registers where `inside` fails to `value`: the scores of keys past the end to negative infinity.
///
/// # Errors
/// [`Error::Mismatch`] for predicates of another number of values; as [`fill`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{Predicates, fill_outside};
/// use girih_codegen::atom::SM80_16X8X16_F32BF16BF16F32_TN;
/// use girih_codegen::{Builder, Counting, Expr, Operand, Rmem, TiledMma};
/// use girih_layout::{Lay, lay};
/// use girih_ptx::Special;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("k", 80, 32);
/// let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(1,1):(0,0)"))?;
/// let places = Tensor::new(Counting::new(2), Lay::identity(lay!("(16,8)").shape())?); // (query,key)
/// let places = mma.get_slice(&b.special(Special::TidX))?.partition(Operand::C, &places)?; // (FrgV,1,1)
/// let scores = Rmem::tensor(&mut b, DType::F32, lay!("((2,2),1,1)"))?; // (FrgV,1,1)
/// let inside = Predicates::inside(&places, &[16, 5].map(Expr::from))?;
/// fill_outside(&mut b, &scores, &inside, f64::NEG_INFINITY)?;
/// assert_eq!(b.finish()?.module().to_string().matches("selp").count(), 4);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn fill_outside(
    b: &mut Builder,
    target: &Tensor<Rmem>,
    inside: &Predicates,
    value: f64,
) -> Result<(), Error> {
    let refused = || Error::Mismatch {
        what: "fill_outside",
        layout: target.layout().to_string(),
        with: String::from("predicates"),
        accepted: "a predicate for each value, or one for all",
    };
    if !inside.are_of(crate::sizes::static_size("fill_outside", target.layout())? as usize) {
        return Err(refused());
    }
    let mut values = 0..;
    transform(b, &[target], target, |_, x| {
        let cond = values.next().and_then(|i| inside.of(&[i])).ok_or_else(refused)?;
        Ok(x[0].select(&cond, value))
    })
}

/// The addresses of vectors of `width` bits, each with the condition that it is inside its array, if the values are in such vectors.
fn lines(
    all: &[Site],
    bounds: &Predicates,
    order: &[i64],
    bits: i64,
    width: i64,
) -> Result<Option<Vec<(Expr, Cond)>>, Error> {
    let count = (width / bits) as usize;
    if !order.len().is_multiple_of(count) {
        return Ok(None);
    }
    let group = |group: &[i64]| {
        let sites: Vec<Site> = group.iter().map(|&i| all[i as usize].clone()).collect();
        Ok(line(&sites, bits)?.zip(bounds.of(group)))
    };
    order.chunks(count).map(group).collect()
}

/// 64 bits that repeat the bits of the value of `dtype` that is nearest to `value`, as [`DType::encode`] rounds.
///
/// ```
/// use girih_codegen::algorithm::pattern;
/// use girih_tensor::DType;
/// assert_eq!(pattern(DType::Bf16, 1.0), 0x3f80_3f80_3f80_3f80);
/// ```
pub fn pattern(dtype: DType, value: f64) -> u64 {
    let (bits, value) = (dtype.bits(), dtype.encode(value));
    (0..64 / bits).fold(0, |all, i| all | value << (i * bits))
}

/// Registers with `width` bits in total, filled with `pattern`.
fn constant(b: &mut Builder, width: i64, pattern: u64) -> Vec<Reg> {
    let value = |ty| match ty {
        Type::U8 => (Type::U16, pattern & 0xff),
        Type::B16 => (Type::B16, pattern & 0xffff),
        _ => (Type::B32, pattern & 0xffff_ffff),
    };
    let (ty, count) = match width {
        8 => (Type::U8, 1),
        16 => (Type::B16, 1),
        // Every 32 bits are the same, except for values of 64 bits.
        _ if pattern >> 32 != pattern & 0xffff_ffff => (Type::B64, width / 64),
        _ => (Type::B32, width / 32),
    };
    let regs = b.regs(ty, count as usize);
    for reg in &regs {
        let (ty, value) = if ty == Type::B64 { (Type::B64, pattern) } else { value(ty) };
        b.inst(Opcode::Mov, &[ty.into()], vec![Operand::from(reg), Operand::Int(value as i64)]);
    }
    regs
}

pub(super) fn fill_registers(b: &mut Builder, all: &[Site], pattern: u64) {
    let mut written: BTreeMap<i64, Vec<Rmem>> = BTreeMap::new();
    for rmem in all.iter().filter_map(Site::rmem) {
        let same = written.entry(rmem.offset() / rmem.per_register() as i64).or_default();
        if !same.iter().any(|other| other.offset() == rmem.offset()) {
            same.push(rmem.clone());
        }
    }
    for (register, values) in &written {
        let (first, per) = (&values[0], values[0].per_register());
        let reg = first.regs()[first.offset() as usize / per].clone();
        if values.len() as i64 == first.values_in(*register) {
            let (ty, value) = match reg.ty() {
                Type::F32 => (Type::F32, Operand::F32(pattern as u32)),
                Type::F64 => (Type::F64, Operand::F64(pattern)),
                Type::B64 => (Type::B64, Operand::Int(pattern as i64)),
                ty => (ty, Operand::Int((pattern & 0xffff_ffff) as i64)),
            };
            b.inst(Opcode::Mov, &[ty.into()], vec![Operand::from(&reg), value]);
            continue;
        }
        let word = constant(b, 32, pattern & 0xffff_ffff | pattern << 32);
        for value in values {
            let piece = Piece::of(&[Site::Rmem(value.clone())]);
            if let Some(Piece::Field { reg, shift, bits }) = piece {
                let [shift, bits, old] = [Operand::Int(shift), Operand::Int(bits), Operand::from(&reg)];
                let operands = vec![Operand::from(&reg), Operand::from(&word[0]), old, shift, bits];
                b.inst(Opcode::Bfi, &[Type::B32.into()], operands);
            }
        }
    }
}
