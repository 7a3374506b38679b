//! Equality of regions and programs up to numbers.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, End, Kind, RegionId, Rounding, Type, Value, same_region};
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};

fn tile() -> Type {
    Type { dtype: DType::F32, dims: Dims::new(&[4, 5]).unwrap() }
}

/// A body that doubles its argument and applies `op` to it and `other`.
fn body(b: &mut Build, op: Each, other: Option<Value>) -> RegionId {
    let (_, args) = b.open(&[tile()]);
    let x =
        b.each(Each::Mul, &[Arg::Value(args[0]), Arg::Loose(Const::Float(2.0))], Mode::default()).unwrap();
    let y = b.each(op, &[Arg::Value(x), Arg::Value(other.unwrap_or(args[0]))], Mode::default()).unwrap();
    b.close(End::Continue(0, vec![y]))
}

#[test]
fn regions_are_compared_by_what_they_do() {
    let mut b = Build::new("k");
    let p = b.full(DType::F32, tile().dims, Const::Float(1.0));
    let q = b.full(DType::F32, tile().dims, Const::Float(3.0));
    let first = body(&mut b, Each::Add, None);
    let again = body(&mut b, Each::Add, None);
    let other = body(&mut b, Each::Sub, None);
    let with_p = body(&mut b, Each::Add, Some(p));
    let with_p_again = body(&mut b, Each::Add, Some(p));
    let with_q = body(&mut b, Each::Add, Some(q));
    let f = b.func();
    assert!(same_region(f, first, again) && same_region(f, with_p, with_p_again));
    // Another function, a value from outside instead of the argument, another value from outside.
    for (x, y) in [(first, other), (first, with_p), (with_p, first), (with_p, with_q)] {
        assert!(!same_region(f, x, y));
    }
}

#[test]
fn ends_and_nested_regions_count() {
    let mut b = Build::new("k");
    let c = b.full(DType::Bool, Dims::SCALAR, Const::Bool(true));
    let nested = |b: &mut Build, rounding, end: fn(Vec<Value>) -> End| {
        let (_, args) = b.open(&[tile()]);
        b.open(&[]);
        let to = Type { dtype: DType::F16, ..tile() };
        let h = b.push1(Kind::Cast(rounding), &[args[0]], to);
        let yes = b.close(End::Yield(vec![h]));
        b.open(&[]);
        let no = b.close(End::Unreachable);
        let r = b.push_regions(Kind::If, &[c], &[to], vec![yes, no]);
        b.close(end(r))
    };
    let first = nested(&mut b, Rounding::Nearest, |v| End::Break(0, v));
    let again = nested(&mut b, Rounding::Nearest, |v| End::Break(0, v));
    let inner = nested(&mut b, Rounding::Zero, |v| End::Break(0, v));
    let depth = nested(&mut b, Rounding::Nearest, |v| End::Break(1, v));
    let kind = nested(&mut b, Rounding::Nearest, |v| End::Continue(0, v));
    let f = b.func();
    assert!(same_region(f, first, again));
    assert!(![inner, depth, kind].iter().any(|&other| same_region(f, first, other)));
}

#[test]
fn functions_are_equal_whatever_their_numbers() {
    let program = |extra: bool, factor: f64| {
        let mut b = Build::new("k");
        if extra {
            // A region that nothing refers to takes numbers.
            body(&mut b, Each::Add, None);
        }
        let x = b.full(DType::F32, tile().dims, Const::Float(factor));
        b.each(Each::Exp, &[Arg::Value(x)], Mode::default()).unwrap();
        b.finish()
    };
    assert_eq!(program(false, 2.0), program(false, 2.0));
    assert_ne!(program(false, 2.0), program(false, 3.0));
    let (mut with, without) = (program(true, 2.0), program(false, 2.0));
    assert_ne!(with.value_count(), without.value_count());
    assert_eq!(with, without, "the region's constant is the body's");
    with.name = "other".into();
    assert_ne!(with, without);
}
