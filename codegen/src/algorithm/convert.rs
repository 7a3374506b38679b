//! Elementwise conversion of fragments (CUTLASS's `NumericArrayConverter`).

use std::panic::Location;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::{DType, Tensor};

use super::congruent::{self, Held};
use super::data::fragment_values;
use super::scalars::{is_pair, place, read, write};
use crate::builder::{Builder, Reg};
use crate::{Error, Rmem};

/// `target(i) = source(i)` for all `i`, in the target's dtype. Numbers of 8 bits become floats of 16 bits two by two, each exactly; other dtypes
/// are converted one by one, as [`Scalar::to`](crate::Scalar::to) converts them. NaN of e4m3 becomes 480 in its sign; infinity and NaN of e5m2
/// stay what they are as f16, and become the numbers behind the greatest one as bf16.
///
/// # Errors
/// [`Error::Mismatch`] if the tensors have different numbers of values, and for floats of 8 bits that do not become floats of 16 bits, or that do
/// not lie two by two in the registers of both tensors; as [`read`] and [`write()`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::convert;
/// use girih_codegen::{Builder, Rmem};
/// use girih_layout::lay;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 1);
/// let bytes = Rmem::tensor(&mut b, DType::S8, lay!("8:1"))?;
/// let floats = Rmem::tensor(&mut b, DType::Bf16, lay!("8:1"))?;
/// convert(&mut b, &bytes, &floats)?;
/// assert_eq!(b.finish()?.module().to_string().matches("fma.rn.bf16x2").count(), 4);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn convert(b: &mut Builder, source: &Tensor<Rmem>, target: &Tensor<Rmem>) -> Result<(), Error> {
    let (from, to) = (source.engine().dtype(), target.engine().dtype());
    let refused = |accepted| Error::Mismatch {
        what: "convert",
        layout: format!("{from} {}", source.layout()),
        with: format!("{to} {}", target.layout()),
        accepted,
    };
    let (values, results) = (fragment_values("convert", source)?, fragment_values("convert", target)?);
    if values.len() != results.len() {
        return Err(refused("tensors of as many values"));
    }
    if let (Some(from), Some(to)) = (Held::of(source), Held::of(target)) {
        congruent::elementwise("convert", &from, &to)?;
    }
    b.on_behalf(Location::caller(), |b| {
        let floats =
            Format::of(from).zip(Format::of(to)).filter(|(from, to)| from.bits == 8 && to.bits == 16);
        match pairs(&values, &results) {
            Some(pairs) if (from, to) == (DType::S8, DType::Bf16) => {
                pairs.iter().for_each(|pair| pair.widen_s8(b));
                Ok(())
            }
            Some(pairs) if floats.is_some() => {
                floats.iter().for_each(|(from, to)| pairs.iter().for_each(|pair| pair.widen(b, from, to)));
                Ok(())
            }
            _ if matches!(from, DType::E4m3 | DType::E5m2) => {
                Err(refused("e4m3 or e5m2 that becomes bf16 or f16, two by two in one register each"))
            }
            _ => {
                let scalars: Vec<_> = read(b, source)?.iter().map(|x| x.to(DType::F32).to(to)).collect();
                write(b, target, &scalars)
            }
        }
    })
}

/// Two values of 8 bits in a register, and the register of the two values of 16 bits that they become.
struct Pair {
    source: Reg,
    /// The bytes of the source.
    bytes: [i64; 2],
    target: Reg,
}

/// The values two by two, if the two always share a register and become the two values of a register.
fn pairs(values: &[Rmem], results: &[Rmem]) -> Option<Vec<Pair>> {
    let pair = |(values, results): (&[Rmem], &[Rmem])| {
        let ([low, high], [first, second]) = (values, results) else { return None };
        let ((source, from), (other, upper)) = (place(low), place(high));
        let fits = source == other && is_pair(first, second);
        fits.then(|| Pair { source, bytes: [from / 8, upper / 8], target: place(first).0 })
    };
    values.chunks(2).zip(results.chunks(2)).map(pair).collect()
}

/// The bits of -1 as bf16, and of -0 as any float of 16 bits, in both halves of a register.
const MINUS_ONE: i64 = 0xbf80_bf80;
const MINUS_ZERO: i64 = 0x8000_8000;

/// A format of floats of 8 or 16 bits.
struct Format {
    bits: u32,
    /// The bits of the exponent, and what is added to it.
    exponent: u32,
    bias: i64,
    /// Two numbers in a register.
    pair: Type,
}

impl Format {
    fn of(dtype: DType) -> Option<Format> {
        let (exponent, pair) = match dtype {
            DType::E4m3 => (4, Type::E4m3x2),
            DType::E5m2 => (5, Type::E5m2x2),
            DType::F16 => (5, Type::F16x2),
            DType::Bf16 => (8, Type::Bf16x2),
            _ => return None,
        };
        Some(Format { bits: dtype.bits(), exponent, bias: (1 << (exponent - 1)) - 1, pair })
    }
}

/// The same 16 bits in both halves of a register.
const fn twice(bits: i64) -> i64 {
    bits | bits << 16
}

impl Pair {
    /// The register in which `selector` arranges the bytes of the source (0 to 3) and of `other` (4 to 7).
    fn permuted(&self, b: &mut Builder, other: i64, selector: impl Fn([i64; 2]) -> i64) -> Reg {
        let operands = [Operand::from(&self.source), Operand::Int(other), Operand::Int(selector(self.bytes))];
        compute(b, Opcode::Prmt, &[Type::B32.into()], operands)
    }

    /// With the lowest seven bits and the sign of a byte each as the fraction of a bf16 of 128, `128 + low` and `128 + 128 * sign`: their
    /// difference is the number.
    fn widen_s8(&self, b: &mut Builder) {
        let spread = self.permuted(b, 0x4343_4343, |[low, high]| 0x4040 | low | high << 8);
        let masked = |b: &mut Builder, mask: i64| {
            compute(b, Opcode::And, &[Type::B32.into()], [Operand::from(&spread), Operand::Int(mask)])
        };
        let (low, sign) = (masked(b, 0xff7f_ff7f), masked(b, 0xff80_ff80));
        self.multiply_add(b, Type::Bf16x2, &sign, MINUS_ONE, Operand::from(&low));
    }

    /// With the exponent and the fraction of a byte as the lowest bits of an exponent and the highest of a fraction, the number is too small
    /// by a power of two, which the biases tell.
    fn widen(&self, b: &mut Builder, from: &Format, to: &Format) {
        let spread = self.permuted(b, 0, |[low, high]| 0x0404 | low << 4 | high << 12);
        let longer = i64::from(to.exponent - from.exponent);
        if longer == 0 {
            let operands = vec![Operand::from(&self.target), Operand::from(&spread)];
            return b.inst(Opcode::Mov, &[Type::B32.into()], operands);
        }
        let masked = |b: &mut Builder, from: &Reg, mask: i64| {
            compute(b, Opcode::And, &[Type::B32.into()], [Operand::from(from), Operand::Int(mask)])
        };
        let shifted = [Operand::from(&spread), Operand::Int(longer)];
        let shifted = compute(b, Opcode::Shr, &[Type::U32.into()], shifted);
        let number = masked(b, &shifted, twice(0x7f00 >> longer));
        let sign = masked(b, &spread, MINUS_ZERO);
        let both = [Operand::from(&number), Operand::from(&sign)];
        let small = compute(b, Opcode::Or, &[Type::B32.into()], both);
        let zero = constant(b, MINUS_ZERO);
        let factor = twice((2 * to.bias - from.bias) << (15 - to.exponent));
        self.multiply_add(b, to.pair, &small, factor, Operand::from(&zero));
    }

    /// Writes `x * factor + addend` to the target.
    fn multiply_add(&self, b: &mut Builder, pair: Type, x: &Reg, factor: i64, addend: Operand) {
        let factor = constant(b, factor);
        let operands = vec![Operand::from(&self.target), Operand::from(x), Operand::from(&factor), addend];
        b.inst(Opcode::Fma, &[Word::Rn.into(), pair.into()], operands);
    }
}

fn constant(b: &mut Builder, bits: i64) -> Reg {
    compute(b, Opcode::Mov, &[Type::B32.into()], [Operand::Int(bits)])
}

fn compute<const N: usize>(
    b: &mut Builder,
    opcode: Opcode,
    modifiers: &[Modifier],
    operands: [Operand; N],
) -> Reg {
    let out = b.reg(Type::B32);
    let operands = [Operand::from(&out)].into_iter().chain(operands).collect();
    b.inst(opcode, modifiers, operands);
    out
}
