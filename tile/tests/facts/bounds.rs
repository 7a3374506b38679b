//! How bounds of accesses are known.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::facts::{Bound, Bounds, GridCheck, check, infer};
use girih_tile::ir::{ArrayId, Build, Dims, End, Func, Kind, Known, OpId, Padding, Type};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;

use super::kernels::param;

/// `c[bid(1), bid(0)] = sum over k of a[bid(1), k]`, in tiles of 16, where extents are multiples of `known`.
fn kernel(known: i64, deny: bool) -> Func {
    let mut b = Build::new("k");
    let extents = vec![Known::MultipleOf(known); 2];
    let a = b.array(girih_tile::ir::ArrayParam { extents: extents.clone(), ..param("a", 2, false) });
    let c = b.array(girih_tile::ir::ArrayParam { extents, ..param("c", 2, true) });
    let tile = Dims::new(&[16, 16]).unwrap();
    let (x, y) = (b.bid(0).unwrap(), b.bid(1).unwrap());
    let from = Tiles { padding: Padding::Zero, ..Tiles::new(a, tile) };
    let zero = b.full(DType::S32, Dims::SCALAR, Const::Int(0));
    let one = b.full(DType::S32, Dims::SCALAR, Const::Int(1));
    let count = b.num_tiles(&from, 1).unwrap();
    let sum = b.full(DType::F32, tile, Const::Float(0.0));
    let (region, args) = b.open(&[Type::scalar(DType::S32), Type { dtype: DType::F32, dims: tile }]);
    let part = b.load(&from, &[y.into(), args[0].into()]).unwrap();
    let next = b.each(Each::Add, &[args[1].into(), part.into()], Default::default()).unwrap();
    b.close(End::Continue(0, vec![next]));
    let ty = Type { dtype: DType::F32, dims: tile };
    let sum = b.push_regions(Kind::For, &[zero, count, one, sum], &[ty], vec![region])[0];
    b.store(&Tiles::new(c, tile), &[y.into(), x.into()], Arg::from(sum)).unwrap();
    if deny {
        b.deny_in_kernel_checks();
    }
    b.finish()
}

fn find(func: &Func, wanted: impl Fn(&Kind) -> bool) -> OpId {
    let mut found = None;
    func.walk(func.body(), &mut |id, op| {
        if wanted(&op.kind) {
            found = Some(id);
        }
    });
    found.unwrap()
}

#[test]
fn extents_that_are_multiples_need_no_checks_in_the_kernel() {
    let func = kernel(32, true);
    let bounds = Bounds::of_func(&func);
    let load = bounds.access(find(&func, |kind| matches!(kind, Kind::Load(_))));
    let store = bounds.access(find(&func, |kind| matches!(kind, Kind::Store(_))));
    assert_eq!((load[1].low, load[1].high), (Bound::Proved, Bound::Proved));
    assert_eq!((store[0].low, store[0].high), (Bound::Proved, Bound::Launch));
    assert_eq!((store[1].low, store[1].high), (Bound::Proved, Bound::Launch));
    let check = |axis, along| GridCheck { axis, array: ArrayId(1), along, step: 16 };
    assert_eq!(bounds.checks, [check(0, 1), check(1, 0)]);
}

#[test]
fn other_extents_are_checked_in_the_kernel_or_refused() {
    let func = kernel(24, false);
    let bounds = Bounds::of_func(&func);
    let load = bounds.access(find(&func, |kind| matches!(kind, Kind::Load(_))));
    assert_eq!((load[1].low, load[1].high), (Bound::Proved, Bound::Kernel));
    assert!(check(&func).is_ok());
    let errors = check(&kernel(24, true)).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.fault.code()).collect::<Vec<_>>(), ["bounds_check"; 2]);
}

#[test]
fn a_load_with_padding_may_go_beyond_its_array() {
    // The row of `a` is a block's number, and nothing but the padding says what is beyond.
    let func = kernel(32, false);
    let bounds = Bounds::of_func(&func);
    let load = bounds.access(find(&func, |kind| matches!(kind, Kind::Load(_))));
    assert_eq!(load[0].high, Bound::Kernel);
}

#[test]
fn the_grid_follows_from_the_store() {
    let grid = infer(&kernel(1, false)).unwrap();
    let axes: Vec<Option<(u8, u32)>> =
        grid.iter().map(|axis| axis.map(|axis| (axis.along, axis.step))).collect();
    assert_eq!(axes, [Some((1, 16)), Some((0, 16)), None]);
}
