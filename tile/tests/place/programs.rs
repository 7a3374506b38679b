//! Programs to place, built by hand.

use girih_tensor::DType;
use girih_tile::ir::{
    ArrayId, ArrayParam, Build, Combine, Dims, End, Func, Kind, Known, Nan, Order, Overflow, Padding,
    Rounding, Type, Value, View,
};
use girih_tile::ops::table::Each;

/// A shape.
pub(crate) fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

/// A row-major array whose last extent and strides are multiples of 8, as aligned as an allocation.
pub(crate) fn array(b: &mut Build, name: &str, dtype: DType, rank: usize, mutable: bool) -> ArrayId {
    let strides =
        (0..rank).map(|i| if i + 1 == rank { Known::Is(1) } else { Known::MultipleOf(8) }).collect();
    b.array(ArrayParam {
        name: name.into(),
        dtype,
        mutable,
        extents: vec![Known::MultipleOf(8); rank],
        strides,
        align: 16,
        assume_disjoint: None,
    })
}

pub(crate) fn view(array: ArrayId, tile: Dims) -> View {
    View {
        array,
        tile,
        steps: tile,
        padding: Padding::Zero,
        check: true,
        latency: None,
        tma: true,
        order: Order::Weak,
        scope: None,
    }
}

pub(crate) fn each(b: &mut Build, op: Each, operands: &[Value]) -> Value {
    let ty = b.ty(operands[0]);
    let kind = Kind::Each {
        op,
        rounding: Rounding::Nearest,
        ftz: false,
        nan: Nan::Ignored,
        overflow: Overflow::Wraps,
    };
    b.push1(kind, operands, ty)
}

pub(crate) fn cast(b: &mut Build, value: Value, dtype: DType) -> Value {
    let dims = b.ty(value).dims;
    b.push1(Kind::Cast(Rounding::Nearest), &[value], Type { dtype, dims })
}

pub(crate) fn reduce(b: &mut Build, value: Value, axis: u8, combine: Combine) -> Value {
    let ty = b.ty(value);
    let dims = ty.dims.with(axis.into(), 1);
    b.push1(Kind::Reduce { axis, combine, identity: Vec::new().into() }, &[value], Type { dims, ..ty })
}

pub(crate) fn broadcast(b: &mut Build, value: Value, to: Dims) -> Value {
    let dtype = b.ty(value).dtype;
    b.push1(Kind::Broadcast, &[value], Type { dtype, dims: to })
}

/// Indices of a tile: the block's index, then 0.
pub(crate) fn at(b: &mut Build, rank: usize) -> Vec<Value> {
    let s32 = Type::scalar(DType::S32);
    (0..rank).map(|i| b.push1(if i == 0 { Kind::Bid(0) } else { Kind::Full(0) }, &[], s32)).collect()
}

pub(crate) fn load(b: &mut Build, array: ArrayId, tile: Dims) -> Value {
    let dtype = match &b.func().arrays()[array.index()] {
        girih_tile::ir::Array::Param(param) => param.dtype,
        girih_tile::ir::Array::Slice { .. } => unreachable!("parameters alone"),
    };
    let index = at(b, tile.rank());
    b.push1(Kind::Load(view(array, tile)), &index, Type { dtype, dims: tile })
}

pub(crate) fn store(b: &mut Build, array: ArrayId, value: Value) {
    let tile = b.ty(value).dims;
    let mut operands = vec![value];
    operands.extend(at(b, tile.rank()));
    b.push(Kind::Store(view(array, tile)), &operands, &[]);
}

/// Rows of a softmax.
pub(crate) fn softmax(rows: u32, columns: u32, dtype: DType) -> Func {
    let mut b = Build::new("softmax");
    let (x, y) = (array(&mut b, "x", dtype, 2, false), array(&mut b, "y", dtype, 2, true));
    let tile = dims(&[rows, columns]);
    let x = load(&mut b, x, tile);
    let f = cast(&mut b, x, DType::F32);
    let most = reduce(&mut b, f, 1, Combine::Max(Nan::Ignored));
    let most = broadcast(&mut b, most, tile);
    let below = each(&mut b, Each::Sub, &[f, most]);
    let e = each(&mut b, Each::Exp, &[below]);
    let sum = reduce(&mut b, e, 1, Combine::Sum);
    let sum = broadcast(&mut b, sum, tile);
    let q = each(&mut b, Each::TrueDiv, &[e, sum]);
    let q = cast(&mut b, q, dtype);
    store(&mut b, y, q);
    b.finish()
}

/// A transpose, with a row that is added if `bias`.
pub(crate) fn transpose(rows: u32, columns: u32, dtype: DType, bias: bool) -> Func {
    let mut b = Build::new("transpose");
    let (x, y) = (array(&mut b, "x", dtype, 2, false), array(&mut b, "y", dtype, 2, true));
    let z = array(&mut b, "bias", dtype, 1, false);
    let x = load(&mut b, x, dims(&[rows, columns]));
    let to = dims(&[columns, rows]);
    let mut t = b.push1(Kind::Permute(dims(&[1, 0])), &[x], Type { dtype, dims: to });
    if bias {
        let z = load(&mut b, z, dims(&[rows]));
        let z = b.push1(Kind::Reshape, &[z], Type { dtype, dims: dims(&[1, rows]) });
        let z = broadcast(&mut b, z, to);
        t = each(&mut b, Each::Add, &[t, z]);
    }
    store(&mut b, y, t);
    b.finish()
}

/// Sums of tiles in a loop, with a condition in it.
pub(crate) fn looped(rows: u32, columns: u32) -> Func {
    let mut b = Build::new("looped");
    let (x, y) = (array(&mut b, "x", DType::F32, 2, false), array(&mut b, "y", DType::F32, 1, true));
    let (tile, s32) = (dims(&[rows, columns]), Type::scalar(DType::S32));
    let ty = Type { dtype: DType::F32, dims: dims(&[rows, 1]) };
    let (start, stop, step) = (
        b.push1(Kind::Full(0), &[], s32),
        b.push1(Kind::NumBlocks(1), &[], s32),
        b.push1(Kind::Full(1), &[], s32),
    );
    let zero = b.push1(Kind::Full(0), &[], ty);
    let (_, args) = b.open(&[s32, ty]);
    let row = b.push1(Kind::Bid(0), &[], s32);
    let tile = b.push1(Kind::Load(view(x, tile)), &[row, args[0]], Type { dtype: DType::F32, dims: tile });
    let sum = reduce(&mut b, tile, 1, Combine::Sum);
    let odd = b.push1(Kind::Cast(Rounding::Nearest), &[args[0]], Type::scalar(DType::Bool));
    b.open(&[]);
    let twice = each(&mut b, Each::Add, &[sum, sum]);
    let then = b.close(End::Yield(vec![twice]));
    b.open(&[]);
    let otherwise = b.close(End::Yield(vec![sum]));
    let sum = b.push_regions(Kind::If, &[odd], &[ty], vec![then, otherwise])[0];
    let next = each(&mut b, Each::Add, &[args[1], sum]);
    let body = b.close(End::Continue(0, vec![next]));
    let sum = b.push_regions(Kind::For, &[start, stop, step, zero], &[ty], vec![body])[0];
    let sum = b.push1(Kind::Reshape, &[sum], Type { dtype: DType::F32, dims: dims(&[rows]) });
    store(&mut b, y, sum);
    b.finish()
}
