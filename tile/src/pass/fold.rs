//! Folding of constants and of operations that change nothing.

use girih_codegen::algorithm::element::exact;
use girih_tensor::DType;

use super::rebuild::{Copy, Keep, Pass, rebuild};
use crate::dtype::number::encode;
use crate::dtype::{Category, Const, category};
use crate::fit;
use crate::ir::table::{Each, How};
use crate::ir::{Dims, End, Func, Kind, Op, Rounding, Type, Value};

/// Computes what is constant, drops operations that change nothing and what a loop carries unchanged, and joins casts, permutations,
/// broadcasts and reshapes of their like.
pub fn fold(func: &Func) -> Func {
    rebuild(func, &mut Fold)
}

struct Fold;

impl Pass for Fold {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let &result = op.results.first()?;
        let ty = copy.func.ty(result);
        let value = match &op.kind {
            &Kind::Each { op, rounding, ftz, nan, .. } => {
                let constants: Vec<Option<u64>> =
                    operands.iter().map(|&value| constant(copy, value)).collect();
                let dtype = copy.b.ty(*operands.last()?).dtype;
                if let Some(all) = constants.iter().copied().collect::<Option<Vec<u64>>>() {
                    let mut args = [0; 3];
                    args[..all.len()].copy_from_slice(&all);
                    let bits = match op {
                        Each::Select => args[if args[0] != 0 { 1 } else { 2 }],
                        _ => exact::apply(op, How { rounding, ftz, nan }, dtype, args)?,
                    };
                    return Some(vec![copy.b.push1(Kind::Full(bits), &[], ty)]);
                }
                if ftz { None } else { each(copy, op, rounding, dtype, operands, &constants) }
            }
            Kind::Cast(rounding) => cast(copy, *rounding, operands[0], ty),
            Kind::Bitcast => match (constant(copy, operands[0]), before(copy, operands[0], &Kind::Bitcast)) {
                (Some(bits), _) => Some(copy.b.push1(Kind::Full(bits), &[], ty)),
                (_, Some(first)) if copy.b.ty(first) == ty => Some(first),
                (_, Some(first)) => Some(copy.b.push1(Kind::Bitcast, &[first], ty)),
                _ => None,
            },
            kind
            @ (Kind::Broadcast | Kind::Reshape | Kind::Permute(_) | Kind::Extract(_) | Kind::Flip(_)) => {
                shape(copy, kind, operands[0], ty)
            }
            _ => None,
        };
        value.map(|value| vec![value])
    }

    fn keeps(&mut self, func: &Func, op: &Op) -> Option<Keep> {
        if !matches!(op.kind, Kind::For | Kind::Loop) {
            return None;
        }
        let (region, count) = (op.regions[0], op.results.len());
        let last = |values: &[Value]| values[values.len() - count..].to_vec();
        let carried = last(&func.region(region).args).into_iter().zip(last(&op.operands));
        let mut keep = vec![false; count];
        changed(func, region, 0, &carried.collect::<Vec<_>>(), &mut keep);
        Some(Keep::Some(keep))
    }
}

/// Marks what is carried and does not stay what it was. `depth` is the number of loops between the region and the loop.
fn changed(
    func: &Func,
    region: crate::ir::RegionId,
    depth: u32,
    carried: &[(Value, Value)],
    keep: &mut [bool],
) {
    let from = func.region(region);
    if let End::Continue(to, values) | End::Break(to, values) = &from.end
        && *to == depth
    {
        for ((value, &(arg, initial)), keep) in values.iter().zip(carried).zip(keep.iter_mut()) {
            *keep |= *value != arg && *value != initial;
        }
    }
    for &id in &from.ops {
        let op = func.op(id);
        let deeper = u32::from(matches!(op.kind, Kind::For | Kind::Loop));
        op.regions.iter().for_each(|&inner| changed(func, inner, depth + deeper, carried, keep));
    }
}

/// The bits of a tile of one constant.
fn constant(copy: &Copy<'_>, value: Value) -> Option<u64> {
    match copy.definition(value)?.kind {
        Kind::Full(bits) => Some(bits),
        _ => None,
    }
}

/// The operand of the operation that defines a value, if that is of this kind.
fn before(copy: &Copy<'_>, value: Value, kind: &Kind) -> Option<Value> {
    let op = copy.definition(value)?;
    (op.kind == *kind).then(|| op.operands[0])
}

fn each(
    copy: &Copy<'_>,
    op: Each,
    rounding: Rounding,
    dtype: DType,
    operands: &[Value],
    constants: &[Option<u64>],
) -> Option<Value> {
    let is = |at: usize, x: i128| {
        let bits = if category(dtype) == Category::Float { Const::Float(x as f64) } else { Const::Int(x) };
        constants.get(at) == Some(&Some(encode(dtype, bits)))
    };
    let minus_zero = |at: usize| constants.get(at) == Some(&Some(encode(dtype, Const::Float(-0.0))));
    let whole = dtype.is_integer() || dtype == DType::Bool;
    let nearest = rounding == Rounding::Nearest;
    let ones = |at: usize| {
        constants.get(at) == Some(&Some(exact::mask(if dtype == DType::Bool { DType::B1 } else { dtype })))
    };
    let same = operands.len() > 1 && operands[0] == operands[1];
    let twice = |kind: Each| {
        let inner = copy.definition(operands[0])?;
        matches!(inner.kind, Kind::Each { op, .. } if op == kind).then(|| inner.operands[0])
    };
    match op {
        Each::Mul if is(1, 1) => Some(operands[0]),
        Each::Mul if is(0, 1) => Some(operands[1]),
        Each::TrueDiv if is(1, 1) && nearest => Some(operands[0]),
        Each::FloorDiv | Each::CeilDiv if whole && is(1, 1) => Some(operands[0]),
        Each::Add | Each::Or | Each::Xor if whole && is(1, 0) => Some(operands[0]),
        Each::Add | Each::Or | Each::Xor if whole && is(0, 0) => Some(operands[1]),
        Each::Add if !whole && nearest && minus_zero(1) => Some(operands[0]),
        Each::Add if !whole && nearest && minus_zero(0) => Some(operands[1]),
        Each::Sub | Each::Shl | Each::Shr if whole && is(1, 0) => Some(operands[0]),
        Each::Sub if !whole && nearest && is(1, 0) && !minus_zero(1) => Some(operands[0]),
        Each::And if ones(1) => Some(operands[0]),
        Each::And if ones(0) => Some(operands[1]),
        Each::And | Each::Or | Each::Min | Each::Max if same => Some(operands[0]),
        Each::Neg | Each::Not => twice(op),
        Each::Select if operands[1] == operands[2] => Some(operands[1]),
        Each::Select => constants[0].map(|cond| operands[if cond != 0 { 1 } else { 2 }]),
        _ => None,
    }
}

/// Whether each number of a dtype is one of another of the same category.
fn holds_all(wide: DType, narrow: DType) -> bool {
    let float = |dtype| matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64);
    if float(wide) && float(narrow) {
        return wide.bits() > narrow.bits();
    }
    let signs = wide.is_signed() || !narrow.is_signed();
    wide.is_integer() && narrow.is_integer() && wide.bits() > narrow.bits() && signs
}

fn cast(copy: &mut Copy<'_>, rounding: Rounding, from: Value, ty: Type) -> Option<Value> {
    let middle = copy.b.ty(from).dtype;
    if let Some(bits) = constant(copy, from) {
        return Some(copy.b.push1(Kind::Full(exact::convert(middle, ty.dtype, rounding, bits)), &[], ty));
    }
    let inner = copy.definition(from)?;
    let (Kind::Cast(_), &[first]) = (&inner.kind, &inner.operands[..]) else { return None };
    let start = copy.b.ty(first);
    if !holds_all(middle, start.dtype) {
        return None;
    }
    Some(if start == ty { first } else { copy.b.push1(Kind::Cast(rounding), &[first], ty) })
}

fn shape(copy: &mut Copy<'_>, kind: &Kind, from: Value, ty: Type) -> Option<Value> {
    if let Some(bits) = constant(copy, from) {
        return Some(copy.b.push1(Kind::Full(bits), &[], ty));
    }
    let unmoved = |axes: &Dims| axes.iter().copied().eq(0..fit::item(axes.rank()));
    match kind {
        Kind::Permute(axes) if unmoved(axes) => return Some(from),
        Kind::Broadcast | Kind::Reshape | Kind::Extract(_) if copy.b.ty(from) == ty => return Some(from),
        _ => {}
    }
    let inner = copy.definition(from)?;
    let first = *inner.operands.first()?;
    let joined = match (kind, &inner.kind) {
        (Kind::Broadcast, Kind::Broadcast) | (Kind::Reshape, Kind::Reshape) => kind.clone(),
        (Kind::Flip(a), Kind::Flip(b)) if a == b => return Some(first),
        (Kind::Permute(outer), Kind::Permute(axes)) => {
            let axes: Vec<u32> = outer.iter().map(|&axis| axes[axis as usize]).collect();
            Kind::Permute(Dims::new(&axes)?)
        }
        (Kind::Extract(at), Kind::Extract(start)) => {
            let at: Vec<u32> = at.iter().zip(start.iter()).map(|(a, b)| a + b).collect();
            Kind::Extract(Dims::new(&at)?)
        }
        _ => return None,
    };
    let same = match &joined {
        Kind::Permute(axes) => unmoved(axes),
        _ => copy.b.ty(first) == ty,
    };
    Some(if same { first } else { copy.b.push1(joined, &[first], ty) })
}
