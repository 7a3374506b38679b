//! Elementwise conversion of fragments (CUTLASS's `NumericArrayConverter`).

pub(super) mod fp8;
mod number;
mod small;
mod words;

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Tensor};

use self::words::Words;
use super::congruent::{self, Held};
use super::copy::copy;
use super::data::fragment_values;
use super::scalars::{is_pair, place, write};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Reg};
use crate::{Error, Rmem};

/// `target(i) = source(i)` for all `i`, in the target's dtype: the target's number that is nearest to the source's, and of two that are
/// equally near the even one.
///
/// Every dtype is converted to every other:
///
/// | target | a number beyond the greatest | infinity | NaN |
/// |---|---|---|---|
/// | f64, f32, tf32, f16, bf16 | infinity | infinity | NaN |
/// | e4m3, e5m2 | the greatest number in its sign, 448 or 57344 (`.satfinite`) | the same | NaN |
/// | e2m1 | 6 in its sign | the same | 6 |
/// | e8m0 | 2^127; 2^-127 of 0 and of negative numbers | the same | NaN |
/// | integers, b1 | the integer dtype's end (saturation) | the same | 0 |
/// | bool | true | true | true |
///
/// Numbers keep their signs, -0 included. A conversion to the same dtype keeps the bits.
///
/// The instructions follow from the kernel's target. From sm_89 on, e4m3 becomes f16, and f32 and f16 become 8-bit floats, by the
/// hardware's conversions; before, by integer and f16 arithmetic. 4-bit and 8-bit integers become floats without conversion
/// instructions: their bits are put into the fraction of a float of 2^10 (f16), 2^7 (bf16) or 2^23 (f32), which is then subtracted. This
/// takes 3 instructions for two neighbours of s4 or u4 that become f16, and 2 for values that are four apart in a register. The fast
/// ways need values two by two in one register of both tensors, results of 8 and 4 bits as whole registers; other values are
/// converted one by one, to the same results.
///
/// # Errors
/// [`Error::Mismatch`] if the tensors have different numbers of values; [`Error::Incongruent`] if their values are not the same elements
/// of a tile; as [`read`](super::read()) and [`write()`].
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
///
/// // By the hardware's conversion, two at a time.
/// let mut b = Builder::new("k", 90, 1);
/// let bytes = Rmem::tensor(&mut b, DType::E4m3, lay!("8:1"))?;
/// let floats = Rmem::tensor(&mut b, DType::F16, lay!("8:1"))?;
/// convert(&mut b, &bytes, &floats)?;
/// assert_eq!(b.finish()?.module().to_string().matches("cvt.rn.f16x2.e4m3x2").count(), 4);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn convert(b: &mut Builder, source: &Tensor<Rmem>, target: &Tensor<Rmem>) -> Result<(), Error> {
    converted(b, source, target, true)
}

/// As [`convert`], for 8-bit floats that are finite, with fewer instructions: NaN of e4m3 becomes 480 in its sign; infinity and NaN of e5m2
/// become the numbers after the greatest one as bf16.
#[track_caller]
pub(crate) fn convert_finite(
    b: &mut Builder,
    source: &Tensor<Rmem>,
    target: &Tensor<Rmem>,
) -> Result<(), Error> {
    converted(b, source, target, false)
}

#[track_caller]
fn converted(
    b: &mut Builder,
    source: &Tensor<Rmem>,
    target: &Tensor<Rmem>,
    exact: bool,
) -> Result<(), Error> {
    let (from, to) = (source.engine().dtype(), target.engine().dtype());
    let (values, results) = (fragment_values("convert", source)?, fragment_values("convert", target)?);
    if values.len() != results.len() {
        return Err(Error::Mismatch {
            what: "convert",
            layout: format!("{from} {}", source.layout()),
            with: format!("{to} {}", target.layout()),
            accepted: "tensors of as many values",
        });
    }
    if let (Some(from), Some(to)) = (Held::of(source), Held::of(target)) {
        congruent::elementwise("convert", &from, &to)?;
    }
    b.on_behalf(Location::caller(), |b| {
        if from == to {
            return copy(b, AUTO_VECTORIZING_COPY, source, target);
        }
        if in_words(&mut Words::new(b, exact), &values, &results) {
            return Ok(());
        }
        let numbers = number::read_numbers(b, source, &values)?;
        match whole_registers(&results) {
            Some(registers) if number::packs(b, to) => number::pack(b, &numbers, from, to, &registers),
            _ => {
                let mut cast = |number| number::cast(b, number, from, to);
                let scalars = numbers.iter().map(&mut cast).collect::<Result<Vec<_>, Error>>()?;
                write(b, target, &scalars)
            }
        }
    })
}

/// Converts several values at once, where the dtypes and the places of the values allow it. Otherwise nothing is written, and the answer
/// is `false`.
fn in_words(words: &mut Words<'_>, values: &[Rmem], results: &[Rmem]) -> bool {
    let [Some(from), Some(to)] = [values, results].map(|all| all.first().map(Rmem::dtype)) else {
        return true;
    };
    let integer = matches!(from, DType::S4 | DType::U4 | DType::S8 | DType::U8);
    let fp8 = matches!(from, DType::E4m3 | DType::E5m2);
    match to {
        DType::F16 | DType::Bf16 if integer || fp8 => {
            let Some(pairs) = pairs(values, results) else { return false };
            for pair in &pairs {
                if integer { small::widen(words, pair, from, to) } else { fp8::widen(words, pair, from, to) }
            }
        }
        DType::F32 if integer => {
            for (value, result) in values.iter().zip(results) {
                small::to_f32(words, from, &place(value), &place(result).0);
            }
        }
        DType::S8 | DType::U8 if matches!((from, to), (DType::S4, DType::S8) | (DType::U4, _)) => {
            let Some(registers) = whole_registers(results) else { return false };
            let sources: Vec<(Reg, i64)> = values.iter().map(place).collect();
            let together = |four: &[(Reg, i64)]| four.iter().all(|(reg, _)| *reg == four[0].0);
            if !sources.chunks(4).all(together) {
                return false;
            }
            for (four, target) in sources.chunks(4).zip(&registers) {
                small::to_bytes(words, from, four, target);
            }
        }
        DType::E4m3 | DType::E5m2 if from == DType::F16 && words.sm() >= 89 => {
            let whole = values.chunks(2).all(|pair| matches!(pair, [low, high] if is_pair(low, high)));
            let (true, Some(registers)) = (whole, whole_registers(results)) else { return false };
            for (four, target) in values.chunks(4).zip(&registers) {
                fp8::narrow_halves(words, to, &[place(&four[0]).0, place(&four[2]).0], target);
            }
        }
        _ => return false,
    }
    true
}

/// The 8-bit float in the lowest bits of a register of 32 bits as an f16, exactly.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::{byte_to_f16, f32_to_byte, f32_to_tf32};
/// use girih_ptx::Type;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 90, 32);
/// let x = b.reg(Type::F32);
/// let tf32 = f32_to_tf32(&mut b, &x);
/// let byte = f32_to_byte(&mut b, DType::E4m3, &tf32);
/// let half = byte_to_f16(&mut b, DType::E4m3, &byte);
/// assert_eq!([tf32.ty(), byte.ty(), half.ty()], [Type::F32, Type::U32, Type::B16]);
/// ```
pub fn byte_to_f16(b: &mut Builder, from: DType, byte: &Reg) -> Reg {
    let target = b.reg(Type::B32);
    let pair = Pair { source: byte.clone(), bits: [0, 8], target: target.clone() };
    fp8::widen(&mut Words::new(b, true), &pair, from, DType::F16);
    let [half, _] = b.split(Type::B16, &target);
    half
}

/// The 8-bit float that is nearest to an f32, ties to even, and at most the greatest finite number, in the lowest bits of a register of 32
/// bits.
pub fn f32_to_byte(b: &mut Builder, to: DType, x: &Reg) -> Reg {
    if b.sm() < 89 {
        return fp8::rounded(&mut Words::new(b, true), to, x);
    }
    let byte = fp8::narrow(b, to, x, None);
    b.inst_to(Type::U32, Opcode::Cvt, &[Type::U32.into(), Type::U16.into()], vec![Operand::from(&byte)])
}

/// The tf32 that is nearest to an f32, ties to even.
pub fn f32_to_tf32(b: &mut Builder, x: &Reg) -> Reg {
    number::nearest_tf32(b, x)
}

/// Two values in a register, and the register that the two results fill.
struct Pair {
    source: Reg,
    /// The first bit of each value.
    bits: [i64; 2],
    target: Reg,
}

impl Pair {
    /// The numbers of the bytes in which the values are.
    fn bytes(&self) -> [i64; 2] {
        self.bits.map(|bit| bit / 8)
    }
}

/// The values two by two, if the two always share a register and become the two values of a register.
fn pairs(values: &[Rmem], results: &[Rmem]) -> Option<Vec<Pair>> {
    let pair = |(values, results): (&[Rmem], &[Rmem])| {
        let ([low, high], [first, second]) = (values, results) else { return None };
        let ((source, from), (other, upper)) = (place(low), place(high));
        let fits = source == other && is_pair(first, second);
        fits.then(|| Pair { source, bits: [from, upper], target: place(first).0 })
    };
    values.chunks(2).zip(results.chunks(2)).map(pair).collect()
}

/// The registers that the values fill in order, if they fill whole registers.
fn whole_registers(values: &[Rmem]) -> Option<Vec<Reg>> {
    let per = values.first()?.per_register();
    let whole = |group: &[Rmem]| {
        let first = group[0].offset();
        let fills = group.len() == per && first % per as i64 == 0;
        let fills = fills && (first..).zip(group).all(|(offset, value)| value.offset() == offset);
        fills.then(|| place(&group[0]).0)
    };
    values.chunks(per).map(whole).collect()
}
