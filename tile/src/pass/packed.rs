//! Packing: elements smaller than a byte become bytes, and floats without a conversion instruction become integers.
//!
//! An array of 4-bit elements becomes one of the bytes that hold them, half as many along its last axis. A tile is loaded in bytes and
//! unpacked, and packed before it is stored. In registers an element has a byte of its own: the number of an integer, the bits of an e2m1.

use girih_codegen::algorithm::element::exact::saturated;
use girih_codegen::algorithm::math::narrow::{decode, decoded_in, encode, encoded_in, is_narrow};
use girih_tensor::DType;

use super::rebuild::{Copy, Pass, rebuild};
use crate::dtype::{Category, Const, category};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{
    ArrayParam, Build, Dims, Func, Kind, Known, MAX_RANK, Op, Overflow, Rounding, Type, Value, View,
};
use crate::math::Writer;

/// How many elements of a dtype a byte holds, if they are smaller; else 1.
pub(crate) fn per_byte(dtype: DType) -> i64 {
    i64::from((8 / dtype.bits()).max(1))
}

fn is_packed(dtype: DType) -> bool {
    per_byte(dtype) > 1
}

/// The dtype of the bytes of 4-bit elements; others stay.
fn byte(dtype: DType) -> DType {
    match is_packed(dtype) {
        true if dtype.is_signed() => DType::S8,
        true => DType::U8,
        false => dtype,
    }
}

/// Writes out elements smaller than a byte, and conversions of e2m1 and e8m0.
pub fn packed(func: &Func) -> Func {
    let is_written_out = |dtype: DType| is_packed(dtype) || is_narrow(dtype);
    if func.params().any(|(_, param)| is_written_out(param.dtype))
        || func.values.iter().any(|value| is_written_out(value.ty.dtype))
    {
        rebuild(func, &mut Packed)
    } else {
        func.clone()
    }
}

struct Packed;

impl Pass for Packed {
    fn param(&self, param: &ArrayParam) -> ArrayParam {
        let per = per_byte(param.dtype);
        let mut param = param.clone();
        let less = |known: &mut Known| {
            *known = match *known {
                Known::Is(n) => Known::Is(n / per),
                Known::MultipleOf(n) if n % per == 0 => Known::MultipleOf(n / per),
                // A multiple of all elements of a byte, too.
                Known::MultipleOf(n) => Known::MultipleOf(n),
            };
        };
        if per > 1 {
            param.extents.last_mut().into_iter().for_each(less);
            param.strides.iter_mut().for_each(less);
            param.strides.last_mut().into_iter().for_each(|stride| *stride = Known::Is(1));
        }
        param.dtype = byte(param.dtype);
        param
    }

    fn ty(&self, ty: Type) -> Type {
        Type { dtype: byte(ty.dtype), ..ty }
    }

    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let kind = copy.kind(op);
        let func = copy.func;
        let from = op.operands.first().map(|&value| func.ty(value).dtype);
        let to = op.results.first().map(|&value| func.ty(value));
        let of_array = op.kind.names().map(|array| func.param_of(array).1);
        let b = &mut copy.b;
        match (kind, from, to) {
            (Kind::Dim(array, axis), _, Some(ty)) => {
                let param = of_array.filter(|param| is_packed(param.dtype))?;
                let number = b.push1(Kind::Dim(array, axis), &[], ty);
                if usize::from(axis) + 1 < param.extents.len() {
                    return Some(vec![number]);
                }
                let per = b.full(ty.dtype, ty.dims, Const::Int(per_byte(param.dtype).into()));
                let mut kind = Kind::each(Each::Mul);
                if let Kind::Each { overflow, .. } = &mut kind {
                    *overflow = Overflow::Never;
                }
                Some(vec![b.push1(kind, &[number, per], ty)])
            }
            (Kind::Load(view), _, Some(ty)) if is_packed(ty.dtype) => {
                let view = in_bytes(view, ty.dtype);
                let bytes = Type { dtype: byte(ty.dtype), dims: view.tile };
                let bytes = b.push1(Kind::Load(view), operands, bytes);
                Some(vec![unpack(b, bytes, ty.dims)])
            }
            (Kind::Store(view), Some(dtype), _) if is_packed(dtype) => {
                let bytes = pack(b, operands[0]);
                let operands: Vec<Value> = [bytes].into_iter().chain(operands[1..].iter().copied()).collect();
                Some(b.push(Kind::Store(in_bytes(view, dtype)), &operands, &[]))
            }
            (Kind::Full(bits), _, Some(ty)) if is_packed(ty.dtype) => {
                Some(vec![b.push1(Kind::Full(extended(ty.dtype, bits)), &[], self.ty(ty))])
            }
            (Kind::Dense(all), _, Some(ty)) if is_packed(ty.dtype) => {
                let all = all.iter().map(|&bits| extended(ty.dtype, bits)).collect();
                Some(vec![b.push1(Kind::Dense(all), &[], self.ty(ty))])
            }
            (Kind::Cast(rounding), Some(from), Some(ty))
                if [from, ty.dtype].iter().any(|&dtype| is_packed(dtype) || is_narrow(dtype)) =>
            {
                Some(vec![cast(b, operands[0], from, ty.dtype, rounding)])
            }
            (Kind::Bitcast, Some(from), Some(ty)) if is_packed(ty.dtype) => {
                let bits = recast(b, operands[0], byte(ty.dtype));
                let same = byte(from) == byte(ty.dtype);
                Some(vec![if same { bits } else { wrapped(b, bits) }])
            }
            (Kind::Print(text), ..) => {
                let numbers = operands.iter().zip(&op.operands).map(|(&value, &old)| {
                    let from = func.ty(old).dtype;
                    if is_narrow(from) { number(b, value, from, DType::F32) } else { value }
                });
                let numbers: Vec<Value> = numbers.collect();
                Some(b.push(Kind::Print(text), &numbers, &[]))
            }
            _ => None,
        }
    }
}

/// The bits of an element as those of its byte.
fn extended(dtype: DType, bits: u64) -> u64 {
    if dtype.is_signed() { fit::signed(bits, dtype.bits()).cast_unsigned() & 0xff } else { bits }
}

/// The view of the bytes of a view's elements.
fn in_bytes(view: View, dtype: DType) -> View {
    let last = view.tile.rank().saturating_sub(1);
    let per = 8 / dtype.bits();
    let less = |dims: Dims| dims.with(last, dims[last] / per);
    View { tile: less(view.tile), steps: less(view.steps), ..view }
}

/// A shape's pairs of neighbours along its last axis, with `each` elements of each pair.
fn pairs(dims: Dims, each: u32) -> Dims {
    let rank = dims.rank();
    let list: Vec<u32> = match rank {
        // One axis less has room for the pairs.
        MAX_RANK => vec![fit::low(dims.size() / 2)],
        _ => dims[..rank - 1].iter().copied().chain([dims[rank - 1] / 2]).collect(),
    };
    Dims::new(&[list, vec![each]].concat()).unwrap_or_default()
}

/// The elements of bytes, the lower half of each first.
fn unpack(b: &mut Build, bytes: Value, dims: Dims) -> Value {
    let (dtype, one, two) = (b.ty(bytes).dtype, pairs(dims, 1), pairs(dims, 2));
    let bytes = b.reshaped(bytes, one);
    let low = wrapped(b, bytes);
    let high = (Writer::new(b, dtype, one).x(bytes) >> 4).value;
    let both = b.push1(Kind::Cat(fit::axis(one.rank() - 1)), &[low, high], Type { dtype, dims: two });
    b.reshaped(both, dims)
}

/// The bytes of elements.
fn pack(b: &mut Build, value: Value) -> Value {
    let Type { dtype, dims } = b.ty(value);
    let (one, two) = (pairs(dims, 1), pairs(dims, 2));
    let both = b.reshaped(value, two);
    let [low, high] = [0, 1].map(|half| {
        let at = Dims::new(&vec![0; one.rank()]).unwrap_or_default().with(one.rank() - 1, half);
        b.push1(Kind::Extract(at), &[both], Type { dtype, dims: one })
    });
    let e = Writer::new(b, dtype, one);
    let bytes = ((e.x(low) & 0xf) | (e.x(high) << 4)).value;
    let last = dims.rank() - 1;
    b.reshaped(bytes, dims.with(last, dims[last] / 2))
}

/// The lowest four bits of bytes, as numbers.
fn wrapped(b: &mut Build, bytes: Value) -> Value {
    let Type { dtype, dims } = b.ty(bytes);
    let e = Writer::new(b, dtype, dims);
    let bytes = e.x(bytes);
    if dtype.is_signed() { (bytes << 4) >> 4 } else { bytes & 0xf }.value
}

/// A tile as one of a dtype that is as wide.
fn recast(b: &mut Build, value: Value, dtype: DType) -> Value {
    let ty = b.ty(value);
    if ty.dtype == dtype { value } else { b.push1(Kind::Bitcast, &[value], Type { dtype, ..ty }) }
}

/// The numbers of an e2m1 or e8m0 tile in a dtype that has them all, on the way to `to`.
fn number(b: &mut Build, value: Value, from: DType, to: DType) -> Value {
    let bits = recast(b, value, DType::U8);
    let dims = b.ty(bits).dims;
    decode(Writer::new(b, decoded_in(from, to), dims).x(bits), from).value
}

fn cast(b: &mut Build, value: Value, from: DType, to: DType, rounding: Rounding) -> Value {
    let value = if is_narrow(from) { number(b, value, from, to) } else { value };
    let ty = b.ty(value);
    if is_narrow(to) {
        let bits = encode(Writer::new(b, encoded_in(ty.dtype, to), ty.dims).x(value), to).value;
        return recast(b, bits, byte(to));
    }
    let own = byte(to);
    let value = match ty.dtype == own {
        true => value,
        false => b.push1(Kind::Cast(rounding), &[value], Type { dtype: own, ..ty }),
    };
    match category(ty.dtype) {
        _ if !is_packed(to) => value,
        Category::Bool => value,
        Category::Integer => wrapped(b, value),
        Category::Float => {
            let [least, most] = [f64::NEG_INFINITY, f64::INFINITY].map(|x| saturated(to, x));
            let e = Writer::new(b, ty.dtype, ty.dims);
            e.x(value).op(Each::Max, least).op(Each::Min, most).value
        }
    }
}
