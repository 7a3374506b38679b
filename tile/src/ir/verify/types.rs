//! The rule of each operation for the types of its operands and results.

use girih_tensor::DType;

use crate::dtype::{Category, category, is_restricted};
use crate::fit;
use crate::ir::table::{Each, Gives, Takes};
use crate::ir::{
    ArrayParam, Combine, Dims, Func, Indexed, Kind, Known, Op, Order, Overflow, Rmw, Rounding, Scope, Type,
    View,
};

type Rule = Result<(), String>;

/// Whether a type is an integer scalar.
pub(super) fn is_index(ty: Type) -> bool {
    ty.dims.rank() == 0 && ty.dtype.is_integer()
}

fn ensure(holds: bool, why: impl Into<String>) -> Rule {
    if holds { Ok(()) } else { Err(why.into()) }
}

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
fn pairs(dtype: DType, view: &View) -> Rule {
    let even = |dims: &Dims| dims.last().is_some_and(|n| n % 2 == 0);
    ensure(
        dtype.bits() >= 8 || even(&view.tile) && even(&view.steps),
        format!("tiles of {dtype}: {SHARED}; an even extent and even steps along it are accepted"),
    )
}

/// Elements that are whole bytes.
fn whole(dtype: DType) -> Rule {
    ensure(dtype.bits() >= 8, format!("{dtype}: {SHARED}; loads and stores of tiles are accepted"))
}

/// Checks the types of an operation's operands and results, and its attributes.
pub(super) fn check(func: &Func, op: &Op) -> Rule {
    let operands: Vec<Type> = op.operands.iter().map(|&value| func.ty(value)).collect();
    let results: Vec<Type> = op.results.iter().map(|&value| func.ty(value)).collect();
    let counts = |n: usize, m: usize| {
        ensure(
            operands.len() == n && results.len() == m,
            format!("{} operands and {} results; {n} and {m} are taken", operands.len(), results.len()),
        )
    };
    match &op.kind {
        Kind::Full(_)
        | Kind::Dense(_)
        | Kind::Iota
        | Kind::NumBlocks(_)
        | Kind::Worker
        | Kind::Workers
        | Kind::Dim(..)
        | Kind::Param(_) => {
            counts(0, 1)?;
            factory(func, &op.kind, results[0])
        }
        Kind::Bid(_) => {
            counts(operands.len().min(1), 1)?;
            ensure(operands.iter().all(|ty| *ty == results[0]), "an s32 scalar")?;
            factory(func, &op.kind, results[0])
        }
        Kind::Each { op, rounding, ftz, overflow, .. } => {
            counts(op.arity(), 1)?;
            each(*op, *rounding, *ftz, &operands, results[0])?;
            let promises = op.overflows() && results[0].dtype.is_integer();
            ensure(*overflow == Overflow::Wraps || promises, "no promise about overflow")
        }
        Kind::Cast(_)
        | Kind::Bitcast
        | Kind::Broadcast
        | Kind::Reshape
        | Kind::Permute(_)
        | Kind::Extract(_)
        | Kind::Flip(_)
        | Kind::Pack
        | Kind::Unpack
        | Kind::Convert
        | Kind::Histogram => {
            counts(1, 1)?;
            unary(&op.kind, operands[0], results[0])
        }
        Kind::Insert(at) => {
            counts(2, 1)?;
            let (whole, part) = (operands[0], operands[1]);
            ensure(
                whole == results[0] && whole.dtype == part.dtype,
                "the result is the first operand's type",
            )?;
            fits(at, part.dims, whole.dims)
        }
        Kind::Cat(axis) => {
            counts(2, 1)?;
            let (a, b) = (operands[0], operands[1]);
            let at = usize::from(*axis);
            ensure(
                at < a.dims.rank()
                    && a.dims.rank() == b.dims.rank()
                    && a.dtype == b.dtype
                    && a.dims.with(at, 1) == b.dims.with(at, 1),
                "tiles that differ along the axis alone are taken",
            )?;
            ensure(
                results[0] == Type { dims: a.dims.with(at, a.dims[at] + b.dims[at]), ..a },
                "extents add up",
            )
        }
        Kind::Reduce { axis, combine, identity } => {
            combined(*axis, *combine, identity.len(), &operands)?;
            let at = usize::from(*axis);
            let arg = matches!(combine, Combine::ArgMax(_) | Combine::ArgMin(_));
            let of = |ty: &Type| Type {
                dims: ty.dims.with(at, 1),
                dtype: if arg { DType::S32 } else { ty.dtype },
            };
            let expected: Vec<Type> = operands.iter().map(of).collect();
            ensure(results == expected, "the axis becomes 1, and an index is an s32")
        }
        Kind::Scan { axis, combine, identity, .. } => {
            combined(*axis, *combine, identity.len(), &operands)?;
            ensure(!matches!(combine, Combine::ArgMax(_) | Combine::ArgMin(_)), "indices are not scanned")?;
            ensure(results == operands, "results are of the operands' types")
        }
        Kind::Sort { axis, .. } => {
            ensure(!operands.is_empty() && operands == results, "results are of the operands' types")?;
            ensure(operands.iter().all(|ty| ty.dims == operands[0].dims), "operands are of one shape")?;
            operands.iter().try_for_each(|ty| computed(ty.dtype))?;
            ensure(usize::from(*axis) < operands[0].dims.rank(), "the axis exists")
        }
        Kind::Mma => {
            counts(3, 1)?;
            product(operands[0], operands[1], operands[2], results[0])
        }
        Kind::Load(view) => {
            let (dtype, rank) = array(func, view.array);
            counts(rank, 1)?;
            window(view, rank, &operands)?;
            pairs(dtype, view)?;
            ensure(results[0] == Type { dtype, dims: view.tile }, "the result is a tile of the view")?;
            order(view.order, view.scope, &[Order::Weak, Order::Relaxed, Order::Acquire])
        }
        Kind::Store(view) => {
            let (dtype, rank) = array(func, view.array);
            counts(rank + 1, 0)?;
            window(view, rank, &operands[1..])?;
            pairs(dtype, view)?;
            ensure(operands[0] == Type { dtype, dims: view.tile }, "a tile of the view is stored")?;
            mutable(func, view.array)?;
            order(view.order, view.scope, &[Order::Weak, Order::Relaxed, Order::Release])
        }
        Kind::Gather(at) => {
            let (dtype, rank) = array(func, at.array);
            counts(rank + 1 + usize::from(at.masked), 1)?;
            let dims = results[0].dims;
            whole(dtype)?;
            indexed(at, rank, dims, &operands[..operands.len() - 1])?;
            ensure(
                results[0].dtype == dtype && operands.last() == Some(&results[0]),
                "padding and result are tiles of the array's dtype",
            )?;
            order(at.order, at.scope, &[Order::Weak, Order::Relaxed, Order::Acquire])
        }
        Kind::Scatter(at) => {
            let (dtype, rank) = array(func, at.array);
            counts(1 + rank + usize::from(at.masked), 0)?;
            ensure(operands[0].dtype == dtype, "the array's dtype is stored")?;
            whole(dtype)?;
            indexed(at, rank, operands[0].dims, &operands[1..])?;
            mutable(func, at.array)?;
            order(at.order, at.scope, &[Order::Weak, Order::Relaxed, Order::Release])
        }
        Kind::Atomic { rmw, at } => {
            let (dtype, rank) = array(func, at.array);
            let updates = if *rmw == Rmw::Cas { 2 } else { 1 };
            counts(updates + rank + usize::from(at.masked), results.len().min(1))?;
            let ty = Type { dtype, ..operands[0] };
            whole(dtype)?;
            ensure(
                operands[..updates].iter().chain(&results).all(|&other| other == ty),
                "updates and result are of the array's dtype",
            )?;
            indexed(at, rank, ty.dims, &operands[updates..])?;
            mutable(func, at.array)?;
            order(at.order, at.scope, &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel])
        }
        Kind::For => {
            ensure(operands.len() >= 3, "bounds and a step are taken")?;
            ensure(
                operands[..3].iter().all(|&ty| ty == operands[0] && is_index(ty)),
                "bounds and step are equal integer scalars",
            )?;
            ensure(results == operands[3..], "results are of the types that the loop carries")
        }
        Kind::Loop => ensure(results == operands, "results are of the types that the loop carries"),
        Kind::If => ensure(operands == [Type::scalar(DType::Bool)], "the condition is a bool scalar"),
        Kind::Print(_) => ensure(results.is_empty(), "no results"),
        Kind::Assert(_) => {
            counts(1, 0)?;
            ensure(operands[0].dtype == DType::Bool, "a tile of bool is taken")
        }
    }
}

/// Dtypes that more is done with than converting them.
fn computed(dtype: DType) -> Rule {
    let is_converted = dtype.bits() < 8 || dtype == DType::E8m0;
    ensure(!is_converted, format!("{dtype} is loaded, converted and stored, and nothing else"))
}

fn factory(func: &Func, kind: &Kind, ty: Type) -> Rule {
    let fits = |bits: u64| ty.dtype.bits() == 64 || bits >> ty.dtype.bits() == 0;
    match kind {
        Kind::Full(bits) => ensure(fits(*bits), "bits beyond the dtype's"),
        Kind::Dense(bits) => {
            ensure(bits.len() as u64 == ty.dims.size(), format!("{} constants for {ty}", bits.len()))?;
            ensure(bits.iter().all(|&bits| fits(bits)), "bits beyond the dtype's")
        }
        Kind::Iota => {
            computed(ty.dtype)?;
            ensure(ty.dims.rank() == 1 && ty.dtype.is_integer(), "integers along one axis")
        }
        Kind::Bid(axis) | Kind::NumBlocks(axis) => {
            ensure(*axis < 3 && ty == Type::scalar(DType::S32), "an s32 scalar for an axis below 3")
        }
        Kind::Worker | Kind::Workers => ensure(ty == Type::scalar(DType::S32), "an s32 scalar"),
        Kind::Dim(of, axis) => {
            let rank = array(func, *of).1;
            ensure(
                usize::from(*axis) < rank && ty == Type::scalar(DType::S32),
                "an s32 scalar for an axis of the array",
            )
        }
        Kind::Param(at) => {
            let param = func.scalars().get(usize::from(*at));
            computed(ty.dtype)?;
            ensure(
                param.is_some_and(|param| ty == Type::scalar(param.dtype)),
                "a scalar parameter of the kernel, of its dtype",
            )
        }
        _ => Ok(()),
    }
}

fn each(op: Each, rounding: Rounding, ftz: bool, operands: &[Type], result: Type) -> Rule {
    let row = op.row();
    let of = if op == Each::Select { &operands[1..] } else { operands };
    let dtype = of[0].dtype;
    ensure(operands.iter().all(|ty| ty.dims == result.dims), "operands are of the result's shape")?;
    ensure(of.iter().all(|ty| ty.dtype == dtype), "operands are of one dtype")?;
    if op == Each::Select {
        ensure(operands[0].dtype == DType::Bool, "the condition is a tile of bool")?;
    } else {
        ensure(!is_restricted(dtype), format!("{dtype} takes no part in arithmetic"))?;
    }
    let takes = match row.takes {
        Takes::Numbers => dtype != DType::Bool,
        Takes::Floats | Takes::FloatsOnly => category(dtype) == Category::Float,
        Takes::Integers => dtype.is_integer(),
        Takes::Bits => category(dtype) != Category::Float,
        Takes::Ordered => true,
    };
    ensure(takes, format!("{dtype} is not taken"))?;
    let expected = if row.gives == Gives::Bool { DType::Bool } else { dtype };
    ensure(result.dtype == expected, format!("{expected} is the result's dtype"))?;
    let directed = matches!(rounding, Rounding::Zero | Rounding::Down | Rounding::Up);
    let rounds =
        rounding == Rounding::Nearest || row.rounds.has(rounding) && (directed || dtype == DType::F32);
    ensure(
        rounds && (rounding == Rounding::Nearest || category(dtype) == Category::Float),
        format!("no rounding by {rounding:?}"),
    )?;
    ensure(!ftz || row.ftz && dtype == DType::F32, "no flushing to zero")
}

fn unary(kind: &Kind, from: Type, to: Type) -> Rule {
    let (a, b) = (from.dims, to.dims);
    match kind {
        Kind::Cast(rounding) => {
            ensure(a == b, "the shape stays")?;
            let nearest = matches!(to.dtype, DType::E2m1 | DType::E8m0);
            ensure(
                !matches!(rounding, Rounding::Full | Rounding::Approx),
                "a conversion rounds to nearest or in a direction",
            )?;
            ensure(!nearest || *rounding == Rounding::Nearest, format!("{} is rounded to nearest", to.dtype))
        }
        Kind::Bitcast => {
            ensure(a == b && from.dtype.bits() == to.dtype.bits(), "shape and size of elements stay")?;
            ensure(from.dtype != DType::Bool && to.dtype != DType::Bool, "bool has no bits to be seen")
        }
        Kind::Histogram => ensure(
            from.dtype.is_integer() && to.dtype == DType::S32 && b.rank() == 1,
            "integers are counted in s32",
        ),
        Kind::Pack => {
            computed(from.dtype)?;
            let bytes = a.size() * u64::from(from.dtype.bits()) / 8;
            ensure(
                to.dtype == DType::U8 && b.rank() == 1 && b.size() == bytes,
                "all bytes, in one axis of u8",
            )
        }
        Kind::Unpack => {
            computed(to.dtype)?;
            let bytes = b.size() * u64::from(to.dtype.bits()) / 8;
            ensure(
                from.dtype == DType::U8 && a.rank() == 1 && b.rank() == 1 && a.size() == bytes,
                "one axis of u8 to one axis",
            )
        }
        _ => {
            ensure(from.dtype == to.dtype, "the dtype stays")?;
            match kind {
                Kind::Broadcast => ensure(
                    a.rank() == b.rank() && a.iter().zip(b.iter()).all(|(n, m)| n == m || *n == 1),
                    "the rank stays, and extents of 1 stretch",
                ),
                Kind::Reshape => ensure(a.size() == b.size(), "the size stays"),
                Kind::Permute(axes) => {
                    let mut sorted = axes.to_vec();
                    sorted.sort_unstable();
                    ensure(sorted.iter().copied().eq(0..fit::item(a.rank())), "each axis once")?;
                    ensure(
                        b.iter().copied().eq(axes.iter().map(|&axis| a[axis as usize])),
                        "extents follow their axes",
                    )
                }
                Kind::Extract(at) => fits(at, b, a),
                Kind::Flip(axis) => {
                    ensure(a == b && usize::from(*axis) < a.rank(), "the type stays, and the axis exists")
                }
                _ => ensure(a == b, "the type stays"),
            }
        }
    }
}

/// Whether a part is in a whole.
fn fits(at: &Dims, part: Dims, whole: Dims) -> Rule {
    let inside = at.rank() == whole.rank()
        && part.rank() == whole.rank()
        && (0..whole.rank()).all(|i| u64::from(at[i]) + u64::from(part[i]) <= u64::from(whole[i]));
    ensure(inside, "the part lies in the tile")
}

fn combined(axis: u8, combine: Combine, identities: usize, operands: &[Type]) -> Rule {
    let first = operands.first().ok_or("at least one operand is combined")?;
    ensure(operands.iter().all(|ty| ty.dims == first.dims), "operands are of one shape")?;
    ensure(usize::from(axis) < first.dims.rank(), "the axis exists")?;
    if combine == Combine::By(()) {
        operands.iter().try_for_each(|ty| computed(ty.dtype))?;
        return ensure(identities == operands.len(), "an identity for each operand");
    }
    ensure(operands.len() == 1 && !is_restricted(first.dtype), "one operand that takes part in arithmetic")?;
    match combine {
        Combine::And | Combine::Or | Combine::Xor => {
            ensure(category(first.dtype) != Category::Float, "integers or bool")
        }
        _ => ensure(first.dtype != DType::Bool, "numbers"),
    }
}

fn array(func: &Func, id: crate::ir::ArrayId) -> (DType, usize) {
    let param = func.param_of(id).1;
    (param.dtype, param.extents.len())
}

fn mutable(func: &Func, id: crate::ir::ArrayId) -> Rule {
    let param = func.param_of(id).1;
    ensure(param.mutable, format!("the kernel does not write `{}`", param.name))
}

fn window(view: &View, rank: usize, index: &[Type]) -> Rule {
    ensure(view.tile.rank() == rank && view.steps.rank() == rank, format!("the array has {rank} axes"))?;
    ensure(view.steps.iter().all(|&step| step > 0), "steps are 1 or more")?;
    ensure(index.iter().all(|&ty| is_index(ty)), "an integer scalar counts tiles along each axis")?;
    ensure(view.latency.is_none_or(|latency| (1..=10).contains(&latency)), "a latency is 1 to 10")
}

fn indexed(at: &Indexed, rank: usize, dims: Dims, operands: &[Type]) -> Rule {
    let (index, mask) = operands.split_at(rank);
    let is = |ty: &Type| ty.dims == dims && matches!(ty.dtype, DType::S32 | DType::S64);
    ensure(index.iter().all(is), "an s32 or s64 tile of the value's shape for each axis")?;
    ensure(!at.masked || mask == [Type { dtype: DType::Bool, dims }], "a mask of bool of the value's shape")
}

fn order(order: Order, scope: Option<Scope>, has: &[Order]) -> Rule {
    ensure(has.contains(&order), format!("no access of the order {order:?}"))?;
    ensure((order == Order::Weak) == scope.is_none(), "a weak access has no scope, others have one")
}

/// The types of a product `a * b + c`, and of its result.
fn product(a: Type, b: Type, c: Type, result: Type) -> Rule {
    let rank = a.dims.rank();
    ensure(
        (2..=3).contains(&rank) && b.dims.rank() == rank && c.dims.rank() == rank,
        "three matrices, or three batches of matrices, are taken",
    )?;
    let [m, k, n] = [a.dims[rank - 2], a.dims[rank - 1], b.dims[rank - 1]];
    let with = |rows: u32, columns: u32| a.dims.with(rank - 2, rows).with(rank - 1, columns);
    ensure(
        b.dims == with(k, n) && c.dims == with(m, n),
        format!("{} and {} into {}: (M,K), (K,N) and (M,N) are taken", a.dims, b.dims, c.dims),
    )?;
    ensure(c == result, "the result is of the accumulator's type")?;
    ensure(
        crate::dtype::sums(a.dtype, b.dtype).contains(&c.dtype),
        format!("a product of {} and {} is not summed in {}", a.dtype, b.dtype, c.dtype),
    )
}
