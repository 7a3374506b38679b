//! Loops that are left from within, against the same loops in Rust.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, ArrayParam, Build, Dims, End, Kind, Known, Type, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference::{ArrayData, run};

pub(super) fn param(name: &str, dtype: DType, rank: usize) -> ArrayParam {
    ArrayParam {
        name: name.into(),
        dtype,
        mutable: true,
        extents: vec![Known::MultipleOf(1); rank],
        strides: vec![Known::MultipleOf(1); rank],
        align: 1,
        assume_disjoint: None,
    }
}

pub(super) fn int(n: i64) -> Arg {
    Arg::Loose(Const::Int(n.into()))
}

/// Stores a scalar at an index of an array of rank 1.
pub(super) fn put(b: &mut Build, array: ArrayId, at: Arg, value: Value) {
    b.store(&Tiles::new(array, Dims::SCALAR), &[at], value.into()).unwrap();
}

fn scalar(b: &mut Build, n: i64) -> Value {
    b.value(int(n)).unwrap()
}

fn each(b: &mut Build, op: Each, x: Value, y: impl Into<Arg>) -> Value {
    b.each(op, &[x.into(), y.into()], Mode::default()).unwrap()
}

/// `for i in 0..n { for j in 0..n { if j == skip { continue 'outer } if i * j > end { break 'outer } sum += i * 10 + j } }`
fn nested(n: i64, skip: i64, end: i64) -> i32 {
    let ty = Type::scalar(DType::S32);
    let mut b = Build::new("nested");
    let out = b.array(param("out", DType::S32, 1));
    let [zero, one, high, skip, end] = [0, 1, n, skip, end].map(|n| scalar(&mut b, n));
    let (outer, args) = b.open(&[ty, ty]);
    let (i, sum) = (args[0], args[1]);
    let (inner, args) = b.open(&[ty, ty]);
    let (j, sum_now) = (args[0], args[1]);
    let at_skip = each(&mut b, Each::Equal, j, skip);
    let (yes, _) = b.open(&[]);
    b.close(End::Continue(1, vec![sum_now]));
    let (no, _) = b.open(&[]);
    b.close(End::Yield(vec![]));
    b.push_regions(Kind::If, &[at_skip], &[], vec![yes, no]);
    let product = each(&mut b, Each::Mul, i, j);
    let beyond = each(&mut b, Each::Greater, product, end);
    let (yes, _) = b.open(&[]);
    b.close(End::Break(1, vec![sum_now]));
    let (no, _) = b.open(&[]);
    b.close(End::Yield(vec![]));
    b.push_regions(Kind::If, &[beyond], &[], vec![yes, no]);
    let tens = each(&mut b, Each::Mul, i, int(10));
    let more = each(&mut b, Each::Add, tens, j);
    let next = each(&mut b, Each::Add, sum_now, more);
    b.close(End::Continue(0, vec![next]));
    let after = b.push_regions(Kind::For, &[zero, high, one, sum], &[ty], vec![inner]);
    b.close(End::Continue(0, after));
    let result = b.push_regions(Kind::For, &[zero, high, one, zero], &[ty], vec![outer]);
    put(&mut b, out, int(0), result[0]);
    let mut arrays = [ArrayData::dense(DType::S32, &[1], &[0])];
    run(&b.finish(), [1; 3], &mut arrays, &[]).unwrap();
    arrays[0].read(&[0]).unwrap() as i32
}

#[test]
fn loops_are_left_at_any_depth() {
    for (n, skip, end) in [(5, 9, 99), (5, 3, 99), (5, 9, 6), (6, 4, 5), (0, 0, 0), (3, 0, 0)] {
        let mut sum = 0;
        'outer: for i in 0..n {
            for j in 0..n {
                if j == skip {
                    continue 'outer;
                }
                if i * j > end {
                    break 'outer;
                }
                sum += i * 10 + j;
            }
        }
        assert_eq!(i64::from(nested(n, skip, end)), sum, "{n} {skip} {end}");
    }
}

/// The number of steps of Collatz's sequence, by a loop without an end of its own.
#[test]
fn endless_loops_end_by_break() {
    let ty = Type::scalar(DType::S32);
    let mut b = Build::new("collatz");
    let out = b.array(param("out", DType::S32, 1));
    let (start, zero) = (scalar(&mut b, 27), scalar(&mut b, 0));
    let (body, args) = b.open(&[ty, ty]);
    let (n, count) = (args[0], args[1]);
    let done = each(&mut b, Each::Equal, n, int(1));
    let (yes, _) = b.open(&[]);
    b.close(End::Break(0, vec![n, count]));
    let (no, _) = b.open(&[]);
    b.close(End::Yield(vec![]));
    b.push_regions(Kind::If, &[done], &[], vec![yes, no]);
    let rest = each(&mut b, Each::Mod, n, int(2));
    let odd = each(&mut b, Each::NotEqual, rest, int(0));
    let (yes, _) = b.open(&[]);
    let triple = each(&mut b, Each::Mul, n, int(3));
    let up = each(&mut b, Each::Add, triple, int(1));
    b.close(End::Yield(vec![up]));
    let (no, _) = b.open(&[]);
    let down = each(&mut b, Each::FloorDiv, n, int(2));
    b.close(End::Yield(vec![down]));
    let next = b.push_regions(Kind::If, &[odd], &[ty], vec![yes, no])[0];
    let more = each(&mut b, Each::Add, count, int(1));
    b.close(End::Continue(0, vec![next, more]));
    let result = b.push_regions(Kind::Loop, &[start, zero], &[ty, ty], vec![body]);
    put(&mut b, out, int(0), result[1]);
    let mut arrays = [ArrayData::dense(DType::S32, &[1], &[0])];
    run(&b.finish(), [1; 3], &mut arrays, &[]).unwrap();
    assert_eq!(arrays[0].read(&[0]), Some(111));
}

/// A step that is not positive has no meaning.
#[test]
fn steps_are_positive() {
    let ty = Type::scalar(DType::S32);
    let mut b = Build::new("steps");
    let [zero, ten] = [0, 10].map(|n| scalar(&mut b, n));
    let (body, _) = b.open(&[ty]);
    b.close(End::Continue(0, vec![]));
    b.push_regions(Kind::For, &[zero, ten, zero], &[], vec![body]);
    let error = run(&b.finish(), [1; 3], &mut [], &[]).unwrap_err();
    assert!(error.0.contains("steps of 0"), "{error}");
}
