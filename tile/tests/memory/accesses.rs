//! Accesses that are refused while a kernel is built.

use expect_test::{Expect, expect};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::error::{Code, Fault};
use girih_tile::ir::{ArrayId, Build, Dims, Order, Padding, Rmw, Scope, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::indexed::{Along, Elements};
use girih_tile::ops::memory::{Access, Tiles, check_order};

use crate::facts::kernels::param;

fn refused<T: std::fmt::Debug>(result: Result<T, Fault>, code: Code, text: Expect) {
    let fault = result.unwrap_err();
    assert_eq!(fault.code, code, "{fault}");
    text.assert_eq(&format!("{fault}\n"));
}

/// `x` of f32 that is read, `y` of a dtype that is written, both of rank 2.
fn arrays(dtype: DType) -> (Build, ArrayId, ArrayId) {
    let mut b = Build::new("k");
    let x = b.array(param("x", 2, false));
    let y = b.array(girih_tile::ir::ArrayParam { dtype, ..param("y", 2, true) });
    (b, x, y)
}

fn tile(b: &mut Build, dtype: DType, shape: &[u32]) -> Value {
    b.full(dtype, Dims::new(shape).unwrap(), Const::Int(1))
}

const ZERO: Arg = Arg::Loose(Const::Int(0));

#[test]
fn loads_and_stores_that_do_not_fit_are_refused() {
    let (mut b, x, y) = arrays(DType::F16);
    let dims = Dims::new(&[4, 8]).unwrap();
    let tiles = Tiles::new(x, dims);
    refused(
        b.load(&tiles, &[ZERO]),
        Code::IndexRank,
        expect![[r#"
        `load` at 1 indices from an array of rank 2: 2 are accepted
    "#]],
    );
    refused(
        b.load(&tiles, &[ZERO, Arg::Loose(Const::Float(1.0))]),
        Code::IndexNonInteger,
        expect![[r#"
        `load` at an index of f32: integers are accepted
    "#]],
    );
    let wide = Tiles { latency: Some(11), ..tiles };
    refused(
        b.load(&wide, &[ZERO, ZERO]),
        Code::HintValue,
        expect![[r#"
        `latency = 11`: 1 to 10 is accepted
    "#]],
    );
    let release = Tiles { order: Order::Release, scope: Some(Scope::Device), ..tiles };
    refused(
        b.load(&release, &[ZERO, ZERO]),
        Code::MemoryOrderScope,
        expect![[r#"
        a load is not release: weak, relaxed, acquire are accepted
    "#]],
    );
    b.strict_pow2 = true;
    let six = Tiles::new(x, Dims::new(&[4, 6]).unwrap());
    refused(
        b.load(&six, &[ZERO, ZERO]),
        Code::ShapeNotPow2,
        expect![[r#"
        `load` by tiles [4, 6] is refused: powers of two are accepted here
    "#]],
    );
    b.strict_pow2 = false;
    let value = tile(&mut b, DType::F32, &[4, 8]);
    let to = Tiles::new(y, dims);
    refused(
        b.store(&to, &[ZERO, ZERO], value.into()),
        Code::ImplicitCast,
        expect![[r#"
        `store` of f32 in an array of f16: it may lose something, so cast it by `.to::<T>()`
    "#]],
    );
    let half = tile(&mut b, DType::F16, &[8, 4]);
    refused(
        b.store(&to, &[ZERO, ZERO], half.into()),
        Code::StoreShape,
        expect![[r#"
        `store` of a tile [8, 4] where tiles are [4, 8]: a tile of that shape, or one that broadcasts to it, is accepted
    "#]],
    );
    let overlap = Tiles { steps: Dims::new(&[2, 8]), ..to };
    let half = tile(&mut b, DType::F16, &[4, 8]);
    refused(
        b.store(&overlap, &[ZERO, ZERO], half.into()),
        Code::Shape,
        expect![[r#"
        `store` of tiles [4, 8] at steps of [2, 8]: they overlap; steps of the extents or more are accepted
    "#]],
    );
    refused(
        b.store(&tiles, &[ZERO, ZERO], value.into()),
        Code::Unsupported,
        expect![[r#"
        `store` in the array `x`, which is `&Array`: `&mut Array` is accepted
    "#]],
    );
    let (mut b, _, y) = arrays(DType::S32);
    let nan = Tiles { padding: Padding::Nan, ..Tiles::new(y, dims) };
    refused(
        b.load(&nan, &[ZERO, ZERO]),
        Code::IntegerInputUnsupported,
        expect![[r#"
        `load` of s32 with Nan outside: s32 does not have it; zero is accepted
    "#]],
    );
    refused(
        b.bid(3),
        Code::BidAxis3,
        expect![[r#"
        `bid` along axis 3: grids have the axes 0, 1 and 2
    "#]],
    );
}

#[test]
fn elements_that_do_not_fit_are_refused() {
    let (mut b, x, y) = arrays(DType::S32);
    let at = Elements::new(x);
    let rows = tile(&mut b, DType::S32, &[4]);
    let more = tile(&mut b, DType::S32, &[2]);
    refused(
        b.gather(&at, &[rows.into()], None, None),
        Code::IndexRank,
        expect![[r#"
        `gather` by 1 indices of an array of rank 2: 2 are accepted
    "#]],
    );
    refused(
        b.gather(&at, &[rows.into(), more.into()], None, None),
        Code::Broadcast,
        expect![[r#"
        `gather`: shapes [4] and [2] do not broadcast: 4 and 2 at axis 0 of 1; equal extents, or 1, are accepted
    "#]],
    );
    let mask = Some(rows.into());
    refused(
        b.gather(&at, &[rows.into(), rows.into()], mask, None),
        Code::MaskDtype,
        expect![[r#"
        `gather` under a mask of s32: bool is accepted
    "#]],
    );
    let value = tile(&mut b, DType::F32, &[4]);
    refused(
        b.scatter(&Elements::new(y), &[rows.into(), ZERO], value.into(), None),
        Code::ImplicitCast,
        expect![[r#"
            `scatter` of f32 in an array of s32: it may lose something, so cast it by `.to::<T>()`
        "#]],
    );
    let square = tile(&mut b, DType::S32, &[4, 4]);
    let along = [Along::Rows(square.into()), Along::Span { start: ZERO, count: 4 }];
    refused(
        b.load_rows(&at, &along, None),
        Code::Shape,
        expect![[r#"
        `load_rows` by rows that are a tile [4, 4]: a tile of rank 1 is accepted
    "#]],
    );
    let empty = [Along::Rows(rows.into()), Along::Span { start: ZERO, count: 0 }];
    refused(
        b.load_rows(&at, &empty, None),
        Code::Shape,
        expect![[r#"
        `load_rows` of no elements along axis 1: 1 or more are accepted
    "#]],
    );
}

#[test]
fn atomic_operations_that_do_not_exist_are_refused() {
    let (mut b, x, y) = arrays(DType::F32);
    let index = [ZERO, ZERO];
    let one = Arg::Loose(Const::Int(1));
    refused(
        b.atomic(Rmw::Max, &Elements::new(y), &index, None, one, None),
        Code::AtomicDtype,
        expect![[r#"
        `atomic_max` in an array of f32: s32, u32, s64, u64 are accepted
    "#]],
    );
    refused(
        b.atomic(Rmw::Add, &Elements::new(x), &index, None, one, None),
        Code::Unsupported,
        expect![[r#"
        `atomic_add` in the array `x`, which is `&Array`: `&mut Array` is accepted
    "#]],
    );
    let weak = Elements { order: Some(Order::Weak), ..Elements::new(y) };
    refused(
        b.atomic(Rmw::Add, &weak, &index, None, one, None),
        Code::MemoryOrderScope,
        expect![[r#"
            an atomic operation is not weak: relaxed, acquire, release, acq_rel are accepted
        "#]],
    );
    refused(
        b.atomic(Rmw::Add, &Elements::new(y), &index, Some(one), one, None),
        Code::Unsupported,
        expect![[r#"
            `atomic_add`: an expected value belongs to `atomic_cas`, which has one
        "#]],
    );
    let (mut b, _, y) = arrays(DType::S32);
    let wide = tile(&mut b, DType::S64, &[4]);
    let at = Elements::new(y);
    refused(
        b.atomic(Rmw::And, &at, &index, None, wide.into(), None),
        Code::AtomicBitwiseDtypeMismatch,
        expect![[r#"
            `atomic_and` of s64 in an array of s32: the array's dtype is accepted
        "#]],
    );
    refused(
        b.atomic(Rmw::Add, &at, &index, None, wide.into(), None),
        Code::ImplicitCast,
        expect![[r#"
        `atomic_add` of s64 in an array of s32: it may lose something, so cast it by `.to::<T>()`
    "#]],
    );
}

#[test]
fn orders_and_scopes_are_those_of_the_access() {
    let all = [Order::Weak, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
    let accepted = |access| -> Vec<&str> {
        let scope = |order| (order != Order::Weak).then_some(Scope::Device);
        all.into_iter()
            .filter(|&order| check_order(access, order, scope(order)).is_ok())
            .map(Order::name)
            .collect()
    };
    assert_eq!(accepted(Access::Load), ["weak", "relaxed", "acquire"]);
    assert_eq!(accepted(Access::Store), ["weak", "relaxed", "release"]);
    assert_eq!(accepted(Access::Atomic), ["relaxed", "acquire", "release", "acq_rel"]);
    refused(
        check_order(Access::Load, Order::Weak, Some(Scope::Block)),
        Code::MemoryOrderScope,
        expect![[r#"
            a load that is weak has no scope, and not block: leave the scope out
        "#]],
    );
    refused(
        check_order(Access::Store, Order::Relaxed, None),
        Code::MemoryOrderScope,
        expect![[r#"
        a store that is relaxed has a scope: block, device or system is accepted
    "#]],
    );
}

#[test]
fn formats_fit_what_is_printed() {
    let (mut b, _, _) = arrays(DType::F32);
    let x = tile(&mut b, DType::F32, &[2]);
    refused(
        b.print("%d\n", &[x.into()]),
        Code::Unsupported,
        expect![[r#"
        `printf` by "%d\n": `%d` for f32; %f, %e, %g, %a are accepted for floats and %d, %u, %x, %o for integers, without a length
    "#]],
    );
    refused(
        b.print("%f %f\n", &[x.into()]),
        Code::Unsupported,
        expect![[r#"
        `printf` by "%f %f\n": 2 conversions for 1 values
    "#]],
    );
    refused(
        b.print("100%", &[]),
        Code::Unsupported,
        expect![[r#"
        `printf` by "100%": a `%` has a letter behind it, and `%%` is a per cent sign
    "#]],
    );
    refused(
        b.assert(x.into(), "x"),
        Code::Condition,
        expect![[r#"
        `assert` of f32: truth values are accepted, such as those of a comparison
    "#]],
    );
    assert!(b.print("%5.2f of %lld%%\n", &[x.into(), ZERO]).is_err());
    b.print("%5.2f of %d%%\n", &[x.into(), ZERO]).unwrap();
}

#[test]
fn an_axis_order_permutes_tile_and_index() {
    let (mut b, x, _) = arrays(DType::F32);
    let turned = Tiles { axes: Dims::new(&[1, 0]), ..Tiles::new(x, Dims::new(&[4, 8]).unwrap()) };
    let value = b.load(&turned, &[ZERO, Arg::Loose(Const::Int(1))]).unwrap();
    assert_eq!(b.ty(value), Type { dtype: DType::F32, dims: Dims::new(&[4, 8]).unwrap() });
    let mut found = None;
    b.func().walk(b.func().body(), &mut |_, op| {
        if let girih_tile::ir::Kind::Load(view) = &op.kind {
            found = Some((view.tile, op.operands.clone()));
        }
    });
    let (tile, operands) = found.unwrap();
    assert_eq!(tile, Dims::new(&[8, 4]).unwrap());
    let one = b.value(Arg::Loose(Const::Int(1))).unwrap();
    assert_eq!(operands[0], one);
}
