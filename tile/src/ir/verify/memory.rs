//! The rules of accesses: of arrays, of views of them, and of elements smaller than a byte.

use girih_tensor::DType;

use super::types::{Rule, ensure, is_index};
use crate::ir::{ArrayParam, Dims, Func, Indexed, Known, Order, Scope, Type, View};

/// Why elements smaller than a byte are not accessed one by one.
pub(super) const SHARED: &str = "two elements along the last axis share a byte";

/// Arrays of elements smaller than a byte have whole bytes along their last axis.
pub(super) fn pairs_of_array(param: &ArrayParam) -> Rule {
    let Some(last) = param.extents.len().checked_sub(1).filter(|_| param.dtype.bits() < 8) else {
        return Ok(());
    };
    let even = |known: &Known| !matches!(known, Known::Is(n) if n % 2 != 0);
    let strides = &param.strides;
    ensure(
        even(&param.extents[last])
            && matches!(strides[last], Known::Is(1) | Known::MultipleOf(1))
            && strides[..last].iter().all(even),
        format!(
            "`{}` of {}: {SHARED}; an even extent and the stride 1 along that axis, and even strides along others are accepted",
            param.name, param.dtype
        ),
    )
}

/// Tiles of elements smaller than a byte are of whole bytes.
pub(super) fn pairs(dtype: DType, view: &View) -> Rule {
    let even = |dims: &Dims| dims.last().is_some_and(|n| n % 2 == 0);
    ensure(
        dtype.bits() >= 8 || even(&view.tile) && even(&view.steps),
        format!("tiles of {dtype}: {SHARED}; an even extent and even steps along it are accepted"),
    )
}

/// Elements that are whole bytes.
pub(super) fn whole(dtype: DType) -> Rule {
    ensure(dtype.bits() >= 8, format!("{dtype}: {SHARED}; loads and stores of tiles are accepted"))
}

pub(super) fn array(func: &Func, id: crate::ir::ArrayId) -> (DType, usize) {
    let param = func.param_of(id).1;
    (param.dtype, param.extents.len())
}

pub(super) fn mutable(func: &Func, id: crate::ir::ArrayId) -> Rule {
    let param = func.param_of(id).1;
    ensure(param.mutable, format!("the kernel does not write `{}`", param.name))
}

pub(super) fn window(view: &View, rank: usize, index: &[Type]) -> Rule {
    ensure(view.tile.rank() == rank && view.steps.rank() == rank, format!("the array has {rank} axes"))?;
    ensure(view.steps.iter().all(|&step| step > 0), "steps are 1 or more")?;
    ensure(index.iter().all(|&ty| is_index(ty)), "an integer scalar counts tiles along each axis")?;
    ensure(view.latency.is_none_or(|latency| (1..=10).contains(&latency)), "a latency is 1 to 10")
}

pub(super) fn indexed(at: &Indexed, rank: usize, dims: Dims, operands: &[Type]) -> Rule {
    let (index, mask) = operands.split_at(rank);
    let is = |ty: &Type| ty.dims == dims && matches!(ty.dtype, DType::S32 | DType::S64);
    ensure(index.iter().all(is), "an s32 or s64 tile of the value's shape for each axis")?;
    ensure(!at.masked || mask == [Type { dtype: DType::Bool, dims }], "a mask of bool of the value's shape")
}

pub(super) fn order(order: Order, scope: Option<Scope>, has: &[Order]) -> Rule {
    ensure(has.contains(&order), format!("no access of the order {order:?}"))?;
    ensure((order == Order::Weak) == scope.is_none(), "a weak access has no scope, others have one")
}
