//! Accesses that are refused while a kernel is built.

use expect_test::{Expect, expect};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::error::Fault;
use girih_tile::ir::{ArrayId, Build, Dims, Order, Padding, Rmw, Scope, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::indexed::{Along, Elements};
use girih_tile::ops::memory::{Access, Tiles, check_order};

use crate::facts::kernels::param;

fn refused<T: std::fmt::Debug>(result: Result<T, Fault>, code: &str, text: Expect) {
    let fault = result.unwrap_err();
    assert_eq!(fault.code(), code, "{fault}");
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
        "index_rank",
        expect![[r#"
            `load` at 1 indices where the rank is 2: 2 are accepted
        "#]],
    );
    refused(
        b.load(&tiles, &[ZERO, Arg::Loose(Const::Float(1.0))]),
        "index_non_integer",
        expect![[r#"
        `load` at an index of f32: integers are accepted
    "#]],
    );
    let wide = Tiles { latency: Some(11), ..tiles };
    refused(
        b.load(&wide, &[ZERO, ZERO]),
        "hint_value",
        expect![[r#"
        `latency = 11`: 1 to 10 is accepted
    "#]],
    );
    let release = Tiles { order: Order::Release, scope: Some(Scope::Device), ..tiles };
    refused(
        b.load(&release, &[ZERO, ZERO]),
        "memory_order_scope",
        expect![[r#"
            a load with the order release and the scope device: weak or relaxed or acquire is accepted
        "#]],
    );
    b.strict_pow2 = true;
    let six = Tiles::new(x, Dims::new(&[4, 6]).unwrap());
    refused(
        b.load(&six, &[ZERO, ZERO]),
        "shape_not_pow2",
        expect![[r#"
            a tile [4, 6] in a kernel with `strict_pow2`: extents that are powers of two are accepted
        "#]],
    );
    b.strict_pow2 = false;
    let value = tile(&mut b, DType::F32, &[4, 8]);
    let to = Tiles::new(y, dims);
    refused(
        b.store(&to, &[ZERO, ZERO], value.into()),
        "implicit_cast",
        expect![[r#"
            `store` of f32 in an array of f16: dtypes that promote to f16 are accepted, and casts by `.to::<T>()`
        "#]],
    );
    let half = tile(&mut b, DType::F16, &[8, 4]);
    refused(
        b.store(&to, &[ZERO, ZERO], half.into()),
        "store_shape",
        expect![[r#"
            `store` of a tile [8, 4] where tiles are [4, 8]: a tile that broadcasts to that shape is accepted
        "#]],
    );
    let overlap = Tiles { steps: Dims::new(&[2, 8]), ..to };
    let half = tile(&mut b, DType::F16, &[4, 8]);
    refused(
        b.store(&overlap, &[ZERO, ZERO], half.into()),
        "shape",
        expect![[r#"
            `store` by tiles [4, 8] at steps of [2, 8]: a step of the extent or more, so that tiles do not overlap, is accepted for each axis
        "#]],
    );
    refused(
        b.store(&tiles, &[ZERO, ZERO], value.into()),
        "unsupported",
        expect![[r#"
        `store` in the array `x`, which is `&Array`: `&mut Array` is accepted
    "#]],
    );
    let (mut b, _, y) = arrays(DType::S32);
    let nan = Tiles { padding: Padding::Nan, ..Tiles::new(y, dims) };
    refused(
        b.load(&nan, &[ZERO, ZERO]),
        "integer_input_unsupported",
        expect![[r#"
        `load` of s32 with Nan outside: s32 does not have it; zero is accepted
    "#]],
    );
    refused(
        b.bid(3),
        "bid_axis_3",
        expect![[r#"
            `bid` along axis 3 of a grid: 0, 1 and 2 are accepted
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
        "index_rank",
        expect![[r#"
            `gather` at 1 indices where the rank is 2: 2 are accepted
        "#]],
    );
    refused(
        b.gather(&at, &[rows.into(), more.into()], None, None),
        "broadcast",
        expect![[r#"
            shapes [4] and [2] do not broadcast: 4 and 2 at axis 0 of 1; equal extents, or 1, are accepted
        "#]],
    );
    let mask = Some(rows.into());
    refused(
        b.gather(&at, &[rows.into(), rows.into()], mask, None),
        "mask_dtype",
        expect![[r#"
        `gather` under a mask of s32: bool is accepted
    "#]],
    );
    let value = tile(&mut b, DType::F32, &[4]);
    refused(
        b.scatter(&Elements::new(y), &[rows.into(), ZERO], value.into(), None),
        "implicit_cast",
        expect![[r#"
            `scatter` of f32 in an array of s32: dtypes that promote to s32 are accepted, and casts by `.to::<T>()`
        "#]],
    );
    let square = tile(&mut b, DType::S32, &[4, 4]);
    let along = [Along::Rows(square.into()), Along::Span { start: ZERO, count: 4 }];
    refused(
        b.load_rows(&at, &along, None),
        "shape",
        expect![[r#"
            `load_rows` at an index that is a tile [4, 4]: scalars and tiles of rank 1 are accepted, and other tiles by `gather`
        "#]],
    );
    let empty = [Along::Rows(rows.into()), Along::Span { start: ZERO, count: 0 }];
    refused(
        b.load_rows(&at, &empty, None),
        "shape",
        expect![[r#"
            `load_rows` of 0 elements along axis 1: 1 or more are accepted
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
        "atomic_dtype",
        expect![[r#"
        `atomic_max` in an array of f32: s32, u32, s64, u64 are accepted
    "#]],
    );
    refused(
        b.atomic(Rmw::Add, &Elements::new(x), &index, None, one, None),
        "unsupported",
        expect![[r#"
        `atomic_add` in the array `x`, which is `&Array`: `&mut Array` is accepted
    "#]],
    );
    let weak = Elements { order: Some(Order::Weak), ..Elements::new(y) };
    refused(
        b.atomic(Rmw::Add, &weak, &index, None, one, None),
        "memory_order_scope",
        expect![[r#"
            an atomic operation with the order weak and no scope: relaxed or acquire or release or acq_rel is accepted
        "#]],
    );
    refused(
        b.atomic(Rmw::Add, &Elements::new(y), &index, Some(one), one, None),
        "unsupported",
        expect![[r#"
            `atomic_add` with 1 expected values: one is accepted by `atomic_cas`, and none by others
        "#]],
    );
    let (mut b, _, y) = arrays(DType::S32);
    let wide = tile(&mut b, DType::S64, &[4]);
    let at = Elements::new(y);
    refused(
        b.atomic(Rmw::And, &at, &index, None, wide.into(), None),
        "atomic_bitwise_dtype_mismatch",
        expect![[r#"
            `atomic_and` of s64 in an array of s32: s32 is accepted
        "#]],
    );
    refused(
        b.atomic(Rmw::Add, &at, &index, None, wide.into(), None),
        "implicit_cast",
        expect![[r#"
            `atomic_add` of s64 in an array of s32: dtypes that promote to s32 are accepted, and casts by `.to::<T>()`
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
        "memory_order_scope",
        expect![[r#"
            a load with the order weak and the scope block: no scope is accepted
        "#]],
    );
    refused(
        check_order(Access::Store, Order::Relaxed, None),
        "memory_order_scope",
        expect![[r#"
            a store with the order relaxed and no scope: a scope, block, device or system, is accepted
        "#]],
    );
}

#[test]
fn formats_fit_what_is_printed() {
    let (mut b, _, _) = arrays(DType::F32);
    let x = tile(&mut b, DType::F32, &[2]);
    refused(
        b.print("%d\n", &[x.into()]),
        "unsupported",
        expect![[r#"
            `printf` by "%d\n" with `%d` for f32: %f, %e, %g, %a are accepted for floats and %d, %u, %x, %o for integers, without a length
        "#]],
    );
    refused(
        b.print("%f %f\n", &[x.into()]),
        "unsupported",
        expect![[r#"
            `printf` by "%f %f\n" of 1 values: a `%` with a letter is accepted for each, `%%` for a per cent sign, and no zero byte
        "#]],
    );
    refused(
        b.print("100%", &[]),
        "unsupported",
        expect![[r#"
            `printf` by "100%" of 0 values: a `%` with a letter is accepted for each, `%%` for a per cent sign, and no zero byte
        "#]],
    );
    refused(
        b.assert(x.into(), "x"),
        "condition",
        expect![[r#"
            the condition of `assert` is f32[2]: bool, such as that of a comparison, is accepted
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
