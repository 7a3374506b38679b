//! Loops and conditions: what is carried, ways out from any depth, ranges at the end of a dtype, accesses that iterations share.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, End, Kind, Known, RegionId, ScalarParam, Type, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};

use super::memory::param;
use crate::common::differ::{Tolerance, array, differ, random, zeros};

fn each(b: &mut Build, op: Each, args: &[Arg]) -> Value {
    b.each(op, args, Mode::default()).unwrap()
}

fn int(n: i128) -> Arg {
    Arg::Strict(DType::S32, Const::Int(n))
}

/// A scalar parameter of which nothing is known.
fn scalar(b: &mut Build, name: &str, dtype: DType) -> Value {
    b.scalar(ScalarParam { name: name.into(), dtype, known: Known::MultipleOf(1) })
}

/// A loop whose body is written by `body`, from the number and what is carried to the end.
fn for_loop(
    b: &mut Build,
    bounds: [Value; 3],
    carried: &[Value],
    body: impl FnOnce(&mut Build, Value, &[Value]) -> End,
) -> Vec<Value> {
    let types: Vec<Type> = carried.iter().map(|&value| b.ty(value)).collect();
    let args: Vec<Type> = [b.ty(bounds[0])].into_iter().chain(types.iter().copied()).collect();
    let (_, values) = b.open(&args);
    let end = body(b, values[0], &values[1..]);
    let region = b.close(end);
    let operands: Vec<Value> = bounds.into_iter().chain(carried.iter().copied()).collect();
    b.push_regions(Kind::For, &operands, &types, vec![region])
}

fn region(b: &mut Build, body: impl FnOnce(&mut Build) -> End) -> RegionId {
    b.open(&[]);
    let end = body(b);
    b.close(end)
}

fn if_else(b: &mut Build, cond: Value, results: &[Type], sides: [RegionId; 2]) -> Vec<Value> {
    b.push_regions(Kind::If, &[cond], results, sides.to_vec())
}

/// Stores values as tiles of eight elements, one array each, and compares.
fn check(mut b: Build, values: &[Value], scalars: &[u64]) {
    let mut arrays = Vec::new();
    for (i, &value) in values.iter().enumerate() {
        let dtype = b.ty(value).dtype;
        let dims = Dims::new(&[8]).unwrap();
        let value =
            if b.ty(value).dims.rank() == 0 { b.broadcast_to(value, Dims::SCALAR).unwrap() } else { value };
        let y = b.array(param(&format!("y{i}"), dtype, true, &[Known::Is(8)], &[Known::Is(1)], 16));
        if b.ty(value).dims.rank() == 0 {
            // A scalar decides a tile, since it has no tile of its own without a reshape.
            let zero = b.full(dtype, dims, Const::Int(0));
            let one = b.full(dtype, dims, Const::Int(1));
            let mut sum = zero;
            for bit in 0..8 {
                let shifted = each(&mut b, Each::Shr, &[value.into(), Arg::Strict(dtype, Const::Int(bit))]);
                let low = each(&mut b, Each::And, &[shifted.into(), Arg::Strict(dtype, Const::Int(1))]);
                let cond = b.cast(low, DType::Bool, girih_tile::ir::Rounding::Nearest).unwrap();
                let sides =
                    [region(&mut b, |_| End::Yield(vec![one])), region(&mut b, |_| End::Yield(vec![zero]))];
                let ty = b.ty(one);
                let chosen = if_else(&mut b, cond, &[ty], sides)[0];
                let weighted = each(&mut b, Each::Shl, &[chosen.into(), Arg::Strict(dtype, Const::Int(bit))]);
                sum = each(&mut b, Each::Add, &[sum.into(), weighted.into()]);
            }
            b.store(&Tiles::new(y, dims), &[int(0)], sum.into()).unwrap();
        } else {
            b.store(&Tiles::new(y, dims), &[int(0)], value.into()).unwrap();
        }
        arrays.push(zeros(dtype, &[8]));
    }
    differ(&b.finish(), [1; 3], &arrays, scalars, |_| Tolerance::EXACT).unwrap();
}

#[test]
fn carried_values_change_places() {
    let mut b = Build::new("fibonacci");
    let n = scalar(&mut b, "n", DType::S32);
    let [zero, one] = [0, 1].map(|n| b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
    let tile = b.iota(DType::S32, &[8]).unwrap();
    let other = b.full(DType::S32, Dims::new(&[8]).unwrap(), Const::Int(3));
    let results = for_loop(&mut b, [zero, n, one], &[zero, one, tile, other], |b, i, c| {
        let sum = each(b, Each::Add, &[c[0].into(), c[1].into()]);
        let shifted = each(b, Each::Add, &[c[2].into(), i.into()]);
        End::Continue(0, vec![c[1], sum, c[3], shifted])
    });
    check(b, &results, &[11]);
}

#[test]
fn loops_end_and_go_on_from_any_depth() {
    for limit in [0u64, 3, 7, 50] {
        let mut b = Build::new("ways_out");
        let n = scalar(&mut b, "n", DType::S32);
        let [zero, one] = [0, 1].map(|n| b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
        let ten = b.full(DType::S32, Dims::SCALAR, Const::Int(10));
        let results = for_loop(&mut b, [zero, ten, one], &[zero, one], |b, i, outer| {
            let ty = b.ty(outer[0]);
            let (count, product) = (outer[0], outer[1]);
            // An inner loop that counts up to the number, leaves both loops where the count reaches the limit, and skips odd numbers.
            let (_, args) = b.open(&[ty, ty]);
            let (k, inner) = (args[0], args[1]);
            let done = each(b, Each::GreaterEqual, &[k.into(), i.into()]);
            let reached = each(b, Each::GreaterEqual, &[inner.into(), n.into()]);
            let next = each(b, Each::Add, &[k.into(), one.into()]);
            let sides = [
                region(b, |_| End::Break(0, vec![k, inner])),
                region(b, |b| {
                    let sides = [
                        region(b, |_| End::Break(1, vec![inner, product])),
                        region(b, |_| End::Yield(vec![])),
                    ];
                    if_else(b, reached, &[], sides);
                    End::Yield(vec![])
                }),
            ];
            if_else(b, done, &[], sides);
            let low = each(b, Each::And, &[k.into(), one.into()]);
            let odd = each(b, Each::Equal, &[low.into(), one.into()]);
            let sides =
                [region(b, |_| End::Continue(0, vec![next, inner])), region(b, |_| End::Yield(vec![]))];
            if_else(b, odd, &[], sides);
            let more = each(b, Each::Add, &[inner.into(), one.into()]);
            let inside = b.close(End::Continue(0, vec![next, more]));
            let left = b.push_regions(Kind::Loop, &[zero, count], &[ty, ty], vec![inside]);
            let product = each(b, Each::Add, &[product.into(), left[0].into()]);
            End::Continue(0, vec![left[1], product])
        });
        check(b, &results, &[limit]);
    }
}

#[test]
fn a_side_that_leaves_gives_no_results() {
    for x in [0u64, 4, 9] {
        let mut b = Build::new("side");
        let n = scalar(&mut b, "n", DType::S32);
        let [zero, one] = [0, 1].map(|n| b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
        let ten = b.full(DType::S32, Dims::SCALAR, Const::Int(10));
        let tile = b.iota(DType::S32, &[8]).unwrap();
        let ty = b.ty(tile);
        let results = for_loop(&mut b, [zero, ten, one], &[tile], |b, i, c| {
            let equal = each(b, Each::Equal, &[i.into(), n.into()]);
            let sides = [
                region(b, |_| End::Break(0, vec![c[0]])),
                region(b, |b| {
                    let i = b.broadcast_to(i, Dims::SCALAR).unwrap();
                    let more = each(b, Each::Xor, &[c[0].into(), c[0].into()]);
                    let kept = each(b, Each::Sub, &[c[0].into(), more.into()]);
                    let _ = i;
                    End::Yield(vec![kept])
                }),
            ];
            let next = if_else(b, equal, &[ty], sides)[0];
            let next = each(b, Each::Add, &[next.into(), int(3)]);
            End::Continue(0, vec![next])
        });
        check(b, &results, &[x]);
    }
}

#[test]
fn ranges_reach_the_ends_of_their_dtypes() {
    for (dtype, start, stop, step) in [
        (DType::S32, -7i64, 6, 3),
        (DType::S32, 5, 5, 1),
        (DType::S32, 5, -5, 1),
        (DType::S32, i32::MAX as i64 - 5, i32::MAX as i64, 4),
        (DType::U32, u32::MAX as i64 - 9, u32::MAX as i64, 7),
        (DType::S64, i64::MAX - 9, i64::MAX, 4),
        (DType::S64, i64::MIN, i64::MIN + 5, 2),
        (DType::U8, 250, 255, 3),
    ] {
        let mut b = Build::new("ranges");
        let bounds = ["start", "stop", "step"].map(|name| scalar(&mut b, name, dtype));
        let zero = b.full(dtype, Dims::SCALAR, Const::Int(0));
        let results = for_loop(&mut b, bounds, &[zero, zero], |b, i, c| {
            let count = each(b, Each::Add, &[c[0].into(), Arg::Strict(dtype, Const::Int(1))]);
            End::Continue(0, vec![count, i])
        });
        let mask = girih_tile_reference::mask(dtype);
        check(b, &results, &[start, stop, step].map(|n| n as u64 & mask));
    }
}

#[test]
fn blocks_read_what_they_have_written() {
    // Each iteration loads a row as a column after all rows have been written: threads read what others wrote.
    let mut rng = random(5);
    for dtype in [DType::S32, DType::F16, DType::S8] {
        let mut b = Build::new("rows");
        let known = [Known::Is(16), Known::Is(32)];
        let x = b.array(param("x", dtype, true, &known, &[Known::Is(32), Known::Is(1)], 16));
        let [zero, one] = [0, 1].map(|n| b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
        let four = b.full(DType::S32, Dims::SCALAR, Const::Int(4));
        for_loop(&mut b, [zero, four, one], &[], |b, i, _| {
            let tile = Tiles::new(x, Dims::new(&[4, 32]).unwrap());
            let row = b.load(&tile, &[i.into(), int(0)]).unwrap();
            let sum = each(b, Each::Add, &[row.into(), row.into()]);
            b.store(&tile, &[i.into(), int(0)], sum.into()).unwrap();
            let column = Tiles::new(x, Dims::new(&[16, 8]).unwrap());
            let loaded = b.load(&column, &[int(0), i.into()]).unwrap();
            let negative = each(b, Each::Neg, &[loaded.into()]);
            b.store(&column, &[int(0), i.into()], negative.into()).unwrap();
            End::Continue(0, vec![])
        });
        let arrays = [array(&mut rng, dtype, &[16, 32])];
        differ(&b.finish(), [1; 3], &arrays, &[], |_| Tolerance::EXACT).unwrap();
    }
}

/// What is known of a scalar says nothing of how far it reaches.
#[test]
fn scalars_of_64_bits_may_be_any() {
    for dtype in [DType::S64, DType::U64] {
        for number in [i64::MIN, -(1 << 61), 0, 1 << 61, i64::MAX - 63] {
            for known in [Known::MultipleOf(64), Known::Is(number / 64 * 64)] {
                let mut b = Build::new("far");
                let n = b.scalar(ScalarParam { name: "n".into(), dtype, known });
                let half = each(&mut b, Each::FloorDiv, &[n.into(), Arg::Strict(dtype, Const::Int(64))]);
                let less = each(&mut b, Each::Less, &[n.into(), Arg::Strict(dtype, Const::Int(1 << 60))]);
                let one = b.full(dtype, Dims::SCALAR, Const::Int(1));
                let chosen = each(&mut b, Each::Select, &[less.into(), half.into(), one.into()]);
                check(b, &[chosen], &[number as u64]);
            }
        }
    }
}
