//! Loads, stores and packing of elements, each in a register of its own.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Space};

use crate::builder::{Access, Builder, Cond, Reg};
use crate::scalar::{immediate, moved, register};
use crate::{Error, Expr};

/// The type as which `count` elements are accessed, and the number of registers.
fn carriers(space: Space, dtype: DType, count: usize) -> Result<(Type, usize), Error> {
    let ty = moved(register(dtype));
    let refused = || Error::Access { space, registers: vec![ty; count] };
    Ok(match (dtype.bytes(), dtype.bytes() * count as i64) {
        (4 | 8, 4 | 8 | 16) => (ty, count),
        _ if dtype.bits() < 8 => return Err(refused()),
        (_, 1) => (Type::U8, 1),
        (_, 2) if ty == Type::B16 => (ty, 1),
        (_, 2) => (Type::U16, 1),
        (_, all @ (4 | 8 | 16)) => (Type::B32, all as usize / 4),
        _ => return Err(refused()),
    })
}

/// Loads `count` consecutive elements, which are aligned as a whole, into registers of their own ([`register`]) where `cond` holds.
/// Elsewhere they are `pad`, the bits of an element, or undetermined. Elements of less than 32 bits are loaded several to a register.
///
/// # Errors
/// [`Error::Access`] for more elements than a vector has, or a space without addresses.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{load_elements, store_elements};
/// use girih_codegen::{Builder, Cond};
/// use girih_tensor::{DType, Space};
///
/// let mut b = Builder::new("exchange", 80, 1);
/// let x = b.pointer("x", 8);
/// let mut values = load_elements(&mut b, Space::Gmem, DType::Bf16, 4, &x, &Cond::Always, None)?;
/// values.reverse();
/// store_elements(&mut b, Space::Gmem, DType::Bf16, &x, &Cond::Always, &values)?;
/// let text = b.finish()?.module().to_string();
/// assert!(text.contains("ld.global.v2.b32") && text.contains("st.global.v2.b32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn load_elements(
    b: &mut Builder,
    access: impl Into<Access>,
    dtype: DType,
    count: usize,
    address: &Expr,
    cond: &Cond,
    pad: Option<u64>,
) -> Result<Vec<Reg>, Error> {
    let access = access.into();
    let (ty, words) = carriers(access.space, dtype, count)?;
    // Integers of 8 and 16 bits are loaded into registers of 32 bits.
    let loaded = b.regs(if matches!(ty, Type::U8 | Type::U16) { Type::U32 } else { ty }, words);
    if let Some(bits) = pad.filter(|_| *cond != Cond::Always) {
        // As many elements as a register has.
        let size = dtype.bytes();
        let together = (count as i64).min(4 / size).max(1);
        let bits = (0..together).fold(0, |all, i| all | bits << (8 * size * i));
        let (as_ty, bits) = match ty {
            Type::F32 | Type::F64 | Type::B64 | Type::B16 => (ty, immediate(dtype, bits)),
            _ => (Type::B32, immediate(DType::S32, bits)),
        };
        for reg in &loaded {
            b.inst(Opcode::Mov, &[as_ty.into()], vec![Operand::from(reg), bits.clone()]);
        }
    }
    match pad {
        Some(_) => b.load_as(ty, access, &loaded, address, cond)?,
        None => b.load_undefined(ty, access, &loaded, address, cond)?,
    }
    Ok(unpack(b, dtype, count, &loaded))
}

/// Stores consecutive elements, which are aligned as a whole, from registers of their own where `cond` holds.
///
/// # Errors
/// As [`load_elements`].
#[track_caller]
pub fn store_elements(
    b: &mut Builder,
    access: impl Into<Access>,
    dtype: DType,
    address: &Expr,
    cond: &Cond,
    elements: &[Reg],
) -> Result<(), Error> {
    if *cond == Cond::Never {
        return Ok(());
    }
    let access = access.into();
    let (ty, _) = carriers(access.space, dtype, elements.len())?;
    let packed = pack(b, dtype, elements);
    b.store_as(ty, access, address, &packed, cond)
}

/// `count` elements of whole bytes that registers share, in registers of their own ([`register`]).
#[track_caller]
pub fn unpack(b: &mut Builder, dtype: DType, count: usize, packed: &[Reg]) -> Vec<Reg> {
    let (ty, size) = (register(dtype), dtype.bytes());
    if size >= 4 || ty == Type::B16 && count == 1 {
        return packed.to_vec();
    }
    let each = count.div_ceil(packed.len().max(1)) as i64;
    let mut out = Vec::new();
    for word in packed {
        if ty == Type::B16 {
            out.extend(b.split(ty, word));
            continue;
        }
        for i in 0..each {
            out.push(match dtype {
                DType::Bool => {
                    let mask = vec![Operand::from(word), Operand::Int(0xff << (8 * i))];
                    let byte = b.inst_to(Type::U32, Opcode::And, &[Type::B32.into()], mask);
                    let nonzero = vec![Operand::from(&byte), Operand::Int(0)];
                    b.inst_to(ty, Opcode::Setp, &[Word::Ne.into(), Type::U32.into()], nonzero)
                }
                // An element that is loaded alone is extended by zeros.
                _ if count == 1 && !dtype.is_signed() => word.clone(),
                _ => {
                    let field = vec![Operand::from(word), Operand::Int(i * 8 * size), Operand::Int(8 * size)];
                    b.inst_to(ty, Opcode::Bfe, &[ty.into()], field)
                }
            });
        }
    }
    out.truncate(count);
    out
}

/// Registers that elements of whole bytes share which have registers of their own, as [`Rmem::new`](crate::Rmem::new) packs them; fewer elements than a
/// register holds are in its lowest bits.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{pack, unpack};
/// use girih_codegen::{Builder, Rmem};
/// use girih_ptx::Type;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 1);
/// let halves = b.regs(Type::B16, 4);
/// let pairs = pack(&mut b, DType::F16, &halves);
/// assert_eq!(Rmem::of(pairs.clone(), DType::F16)?.values(), 4);
/// assert_eq!(unpack(&mut b, DType::F16, 4, &pairs).len(), 4);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn pack(b: &mut Builder, dtype: DType, elements: &[Reg]) -> Vec<Reg> {
    let size = dtype.bytes();
    if size >= 4 {
        return elements.to_vec();
    }
    if register(dtype) == Type::B16 {
        let pair = |pair: &[Reg]| match pair {
            [low, high] => b.join(Type::B32, [low, high]),
            _ => pair[0].clone(),
        };
        return elements.chunks(2).map(pair).collect();
    }
    let number = |reg: &Reg| match dtype {
        DType::Bool => {
            let inputs = vec![Operand::Int(1), Operand::Int(0), Operand::from(reg)];
            b.inst_to(Type::U32, Opcode::Selp, &[Type::B32.into()], inputs)
        }
        _ => reg.clone(),
    };
    let mut packed: Vec<Reg> = elements.iter().map(number).collect();
    // Two bytes of each of two registers, then two halves.
    for selector in if size == 1 { [0x3340, 0x5410].as_slice() } else { &[0x5410] } {
        let join = |pair: &[Reg]| match pair {
            [low, high] => {
                let inputs = vec![Operand::from(low), Operand::from(high), Operand::Int(*selector)];
                b.inst_to(Type::B32, Opcode::Prmt, &[Type::B32.into()], inputs)
            }
            _ => pair[0].clone(),
        };
        packed = packed.chunks(2).map(join).collect();
    }
    packed
}
