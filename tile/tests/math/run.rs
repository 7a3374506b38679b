//! Straight-line programs on many scalars at once, by the reference's elements.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::table::How;
use girih_tile::ir::{Build, Func, Kind, Known, Rounding, ScalarParam, Value};
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference as reference;

/// A function of scalar parameters as a program, before and after the expansion.
pub(crate) fn program(op: Each, dtype: DType, rounding: Rounding, ftz: bool) -> Func {
    let mut b = Build::new("k");
    let args: Vec<Arg> = (0..op.arity())
        .map(|i| {
            let name = format!("x{i}");
            Arg::Value(b.scalar(ScalarParam { name, dtype, known: Known::MultipleOf(1) }))
        })
        .collect();
    let rounding = (rounding != Rounding::Nearest).then_some(rounding);
    b.each(op, &args, Mode { rounding, ftz, ..Mode::default() }).unwrap();
    girih_tile::pass::expand(&b.finish())
}

/// The bits of the last result for each of `args[parameter][i]`. Approximate instructions are as wrong as they are allowed to be.
pub(crate) fn run(func: &Func, args: &[Vec<u64>]) -> Vec<u64> {
    let count = args[0].len();
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); func.value_count()];
    let mut last = 0;
    for &id in &func.region(func.body()).ops {
        let op = func.op(id);
        let result = op.results[0];
        let ty = func.ty(result);
        let of = |i: usize| &values[op.operands[i].index()];
        let from = op.operands.last().map_or(ty.dtype, |&value| func.ty(value).dtype);
        let bits = match &op.kind {
            Kind::Param(at) => args[usize::from(*at)].clone(),
            Kind::Full(bits) => vec![*bits; count],
            Kind::Bitcast => of(0).clone(),
            Kind::Cast(rounding) => {
                of(0).iter().map(|&bits| reference::convert(from, ty.dtype, *rounding, bits)).collect()
            }
            Kind::Each { op: Each::Exp2 | Each::Log2 | Each::Rsqrt, .. } if from == DType::F32 => {
                let exact = each(&op.kind, from, &op.operands, &values, count);
                let off = |(i, bits): (usize, u64)| {
                    let x = f32::from_bits(bits as u32);
                    let error = [0.0, 1.0, -1.0][i % 3] * 2f64.powf(-22.5);
                    u64::from(((f64::from(x) * (1.0 + error)) as f32).to_bits())
                };
                exact.into_iter().enumerate().map(off).collect()
            }
            kind => each(kind, from, &op.operands, &values, count),
        };
        last = result.index();
        values[last] = bits;
    }
    values.swap_remove(last)
}

fn each(kind: &Kind, dtype: DType, operands: &[Value], values: &[Vec<u64>], count: usize) -> Vec<u64> {
    let &Kind::Each { op, rounding, ftz, nan, .. } = kind else { panic!("{kind:?} in a function") };
    let of = |i: usize| operands.get(i).map(|value| values[value.index()].as_slice()).unwrap_or(&[]);
    let (a, b, c) = (of(0), of(1), of(2));
    let f = |bits: u64| f32::from_bits(bits as u32);
    let d = f64::from_bits;
    let plain = rounding == Rounding::Nearest && !ftz;
    match (op, dtype) {
        (Each::Select, _) => (0..count).map(|i| if a[i] != 0 { b[i] } else { c[i] }).collect(),
        (Each::Add, DType::F32) if plain => {
            (0..count).map(|i| (f(a[i]) + f(b[i])).to_bits().into()).collect()
        }
        (Each::Mul, DType::F32) if plain => {
            (0..count).map(|i| (f(a[i]) * f(b[i])).to_bits().into()).collect()
        }
        (Each::Fma, DType::F32) if plain => {
            (0..count).map(|i| f(a[i]).mul_add(f(b[i]), f(c[i])).to_bits().into()).collect()
        }
        (Each::Add, DType::F64) if plain => (0..count).map(|i| (d(a[i]) + d(b[i])).to_bits()).collect(),
        (Each::Mul, DType::F64) if plain => (0..count).map(|i| (d(a[i]) * d(b[i])).to_bits()).collect(),
        (Each::Fma, DType::F64) if plain => {
            (0..count).map(|i| d(a[i]).mul_add(d(b[i]), d(c[i])).to_bits()).collect()
        }
        _ => (0..count)
            .map(|i| {
                let at = |list: &[u64]| list.get(i).copied().unwrap_or(0);
                reference::apply(op, How { rounding, ftz, nan }, dtype, [at(a), at(b), at(c)]).unwrap_or(0)
            })
            .collect(),
    }
}

/// Bits of a number in a dtype.
pub(crate) fn bits(dtype: DType, x: f64) -> u64 {
    girih_tile::ops::number::encode(dtype, Const::Float(x))
}

/// The distance of neighbours of a number in f32 or f64.
pub(crate) fn unit(dtype: DType, x: f64) -> f64 {
    let (point, least) = if dtype == DType::F64 { (52, -1074) } else { (23, -149) };
    if x == 0.0 || !x.is_finite() {
        return f64::from(least).exp2();
    }
    let scaled = if x.is_subnormal() { -1074 } else { ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023 - point };
    f64::from(scaled.max(least)).exp2()
}
