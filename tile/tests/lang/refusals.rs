//! What building refuses: the class, and the message with its place and operands.
#![allow(unused_must_use, reason = "what is refused has no use")]

mod control;

use std::panic::Location;

use expect_test::{Expect, expect};
use girih_tile::error::Error;
use girih_tile::ir::Func;
use girih_tile::prelude::*;

/// All that a build of a program in a file refuses, a line each with its class; places without the file.
fn refused(func: Result<Func, Error>, file: &str) -> String {
    match func {
        Ok(func) => format!("accepted:\n{func}"),
        Err(Error::Build(found)) => {
            let first = found.first().map_or(0, |diagnostic| diagnostic.site.line) - 1;
            let line = |diagnostic: &girih_tile::error::Diagnostic| {
                let place = |site: girih_tile::error::Site| {
                    assert_eq!(site.file, file, "{site}");
                    format!("+{}:{}", i64::from(site.line) - i64::from(first), site.column)
                };
                let stack = diagnostic.stack.iter();
                let stack: String = stack
                    .map(|(name, site)| format!("\n  in `{name}`, called at {}", place(*site)))
                    .collect();
                // Messages name other places by line and column.
                let mut message = diagnostic.fault.to_string();
                let named = format!("{file}:");
                while let Some(at) = message.find(&named) {
                    let rest = &message[at + named.len()..];
                    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let line: i64 = rest[..digits].parse().unwrap_or(0);
                    message = format!("{}+{}{}", &message[..at], line - i64::from(first), &rest[digits..]);
                }
                format!("{} [{}] {message}{stack}\n", place(diagnostic.site), diagnostic.fault.code())
            };
            found.iter().map(line).collect()
        }
        Err(other) => format!("{other}\n"),
    }
}

#[track_caller]
fn check(func: Result<Func, Error>, expected: &Expect) {
    expected.assert_eq(&refused(func, Location::caller().file()));
}

#[test]
fn shapes() {
    #[kernel]
    fn several<const BM: usize>(a: &Array<f16, 2>, c: &mut Array<f32, 2>, n: Scalar<i32>) {
        let x = a.tiles([BM, 32]).load((bid(0), 0));
        let y = a.tiles([48, BM]).load((bid(0), 0));
        let z = x + y;
        let r = helper(x);
        let w = z + r;
        c.tiles_mut([BM, 16]).store((0, 0), zeros::<f32>([BM, BM]));
        let far = bid(3);
    }
    #[function]
    fn helper<T: Float>(x: Tile<T>) -> Tile<T> {
        x.max(2)
    }
    check(
        several::<64>::ir(),
        &expect![[r#"
            +1:17 [broadcast] shapes [64, 32] and [48, 64] do not broadcast: 64 and 48 at axis 0 of 2; equal extents, or 1, are accepted
            +9:11 [axis_out_of_range] `max` along axis 2 where the rank is 2: -2 to 1 are accepted
              in `helper`, called at +2:17
            +4:31 [store_shape] `store` of a tile [64, 64] where tiles are [64, 16]: a tile that broadcasts to that shape is accepted
            +5:19 [bid_axis_3] `bid` along axis 3 of a grid: 0, 1 and 2 are accepted
        "#]],
    );

    #[kernel]
    fn of_shape(a: &Array<f32, 2>) {
        let x = a.tiles([4, 6]).load((0, 0));
        x.reshape([5, 5]);
        x.reshape([-1, -1]);
        x.reshape([-1, 5]);
        x.permute([0, 0]);
        x.permute([0]);
        x.permute([0, 2]);
        x.expand_dims(5);
        x.broadcast_to([4, 12]);
        x.extract([0, 2], [4, 3]);
        x.extract([0, 0], [3, 3]);
        x.extract([0], [4, 3]);
        x.insert([1, 0], zeros::<f32>([4, 3]));
        x.flip(2);
        cat((x, zeros::<f32>([4, 5])), 0);
        cat((x, zeros::<f32>([4])), 0);
        x.sum([0, 0]);
        x.argmax([0, 1]);
        x.sum(-3);
        x.cumsum(2);
        x.sort(2);
        x.top_k(9, 1);
        x.extent(2);
        zeros::<f32>([0, 4]);
        zeros::<f32>([4096, 4096, 4096]);
        arange::<i32>(0);
        astile::<i32>(vec![vec![1, 2], vec![3]]);
        x.reshape([24]).transpose();
        a.dim(2);
    }
    check(
        of_shape::ir(),
        &expect![[r#"
            +1:11 [reshape_size] `reshape` of a tile [4, 6] to [5, 5]: a shape of 24 elements and at most 8 axes is accepted
            +2:11 [reshape_infer] `reshape` of a tile [4, 6] to [-1, -1]: one extent of -1 is accepted, if the product of the others divides 24
            +3:11 [reshape_infer] `reshape` of a tile [4, 6] to [-1, 5]: one extent of -1 is accepted, if the product of the others divides 24
            +4:11 [repeated_axis] `permute` over the axes [0, 0]: each axis is accepted once
            +5:11 [axes_rank] `permute` of a tile [4, 6] in the order [0]: a permutation of the axes of the tile is accepted
            +6:11 [axis_out_of_range] `permute` along axis 2 where the rank is 2: -2 to 1 are accepted
            +7:11 [axis_out_of_range] `expand_dims` along axis 5 where the rank is 3: -3 to 2 are accepted
            +8:11 [broadcast] a tile [4, 6] does not broadcast to [4, 12]: equal extents, or 1, are accepted, along 2 axes or fewer
            +9:11 [extract_index] `extract` at [0, 2] of a tile with [1, 2] parts: indices from 0 on that are below these numbers are accepted
            +10:11 [extract_divisible] `extract` of a part [3, 3] of a tile [4, 6]: extents that divide the tile's are accepted
            +11:11 [index_rank] `extract` at 1 indices where the rank is 2: 2 are accepted
            +12:11 [extract_index] `insert` at [1, 0] of a tile with [1, 2] parts: indices from 0 on that are below these numbers are accepted
            +13:11 [axis_out_of_range] `flip` along axis 2 where the rank is 2: -2 to 1 are accepted
            +14:9 [cat_shape] `cat` of f32[4, 6] and f32[4, 5] along axis 0: tiles that are equal along the other axes are accepted
            +15:9 [cat_rank] `cat` of f32[4, 6] and f32[4]: tiles of one rank, 1 or more, are accepted
            +16:11 [repeated_axis] `sum` over the axes [0, 0]: each axis is accepted once
            +17:11 [axis_tuple_unsupported] `argmax` over several axes: one axis, or all of them, is accepted
            +18:11 [axis_out_of_range] `sum` along axis -3 where the rank is 2: -2 to 1 are accepted
            +19:11 [axis_out_of_range] `cumsum` along axis 2 where the rank is 2: -2 to 1 are accepted
            +20:11 [axis_out_of_range] `sort` along axis 2 where the rank is 2: -2 to 1 are accepted
            +21:11 [shape] `top_k` of 9 elements along axis 1: 1 to 6 are accepted
            +22:11 [axis_out_of_range] `extent` along axis 2 where the rank is 2: -2 to 1 are accepted
            +23:9 [shape] a tile [0, 4]: at most 8 extents of 1 or more are accepted, 2^32 - 1 elements in all
            +24:9 [shape] a tile [4096, 4096, 4096]: at most 8 extents of 1 or more are accepted, 2^32 - 1 elements in all
            +25:9 [shape] a tile [0]: at most 8 extents of 1 or more are accepted, 2^32 - 1 elements in all
            +26:9 [astile_ragged] `astile` of rows of shapes [2] and [1]: rows of one shape are accepted
            +27:25 [transpose_rank] `transpose` of a tile [24]: tiles of rank 2 or more are accepted
            +28:11 [axis_out_of_range] `dim` along axis 2 where the rank is 2: -2 to 1 are accepted
        "#]],
    );
}

#[test]
fn dtypes() {
    #[kernel]
    fn of_dtype(a: &Array<i8, 1>, b: &Array<u8, 1>, x: &Array<f64, 1>) {
        let (a, b, x) = (a.tiles([8]).load((0,)), b.tiles([8]).load((0,)), x.tiles([8]).load((0,)));
        let _ = a + 300;
        let _ = b * -1;
        full::<u8>([4], 256);
        a.bitcast::<i16>();
        a.bitcast::<bool>();
        (a < 3).pack_to_bytes();
        b.unpack_from_bytes::<bool>();
        b.reshape([8]).unpack_from_bytes::<f32>().sum(1);
        truediv_with(x, x, Mode::new().rounding(Rounding::Approx));
        add_with(a, a, Mode::new().rounding(Rounding::Zero));
        add_with(x, x, Mode::new().ftz());
        mul_with(x, x, Mode::new().rounding(Rounding::Full));
        exp_with(x.to::<f32>(), Mode::new().rounding(Rounding::Up));
        add_with(x, x, Mode::new().overflow(Overflow::NoSigned));
        maximum_with(a, a, Mode::new().overflow(Overflow::Never));
        mul_with(a, a, Mode::new().overflow(Overflow::NoUnsigned));
    }
    check(
        of_dtype::ir(),
        &expect![[r#"
            +1:17 [const_out_of_range] the constant 300 is not a number of s8: -128 to 127 are accepted
            +2:17 [const_out_of_range] the constant -1 is not a number of u8: 0 to 255 are accepted
            +3:9 [const_out_of_range] the constant 256 is not a number of u8: 0 to 255 are accepted
            +4:11 [bitcast_width] `bitcast` of s8 to s16, of 8 and 16 bits: equal widths are accepted
            +5:11 [bitcast_bool] `bitcast` of bool, which has no bits of its own: numbers are accepted, and casts by `.to::<T>()`
            +6:17 [bitcast_bool] `pack_to_bytes` of bool, which has no bits of its own: numbers are accepted, and casts by `.to::<T>()`
            +7:11 [bitcast_bool] `unpack_from_bytes` of bool, which has no bits of its own: numbers are accepted, and casts by `.to::<T>()`
            +8:51 [axis_out_of_range] `sum` along axis 1 where the rank is 1: -1 to 0 are accepted
            +9:9 [rounding_needs_f32] `truediv` of f64 does not round by Approx: f32 is accepted
            +10:9 [rounding_needs_float] `add` of s8 is not rounded: rounding modes are accepted for floats
            +11:9 [ftz_needs_f32] `add` of f64 does not flush to zero: f32 arithmetic is accepted
            +12:9 [rounding_unsupported] `mul` that gives f64 does not round by Full: [Nearest, Zero, Down, Up] are accepted
            +13:9 [rounding_unsupported] `exp` that gives f32 does not round by Up: [Full, Approx] are accepted
            +14:9 [overflow] `add` of f64 does not overflow: sums, differences, products and shifts to the left of integers are accepted
            +15:9 [overflow] `maximum` of s8 does not overflow: sums, differences, products and shifts to the left of integers are accepted
        "#]],
    );

    #[kernel(dialect = "cxx")]
    fn narrowed(a: &Array<i32, 1>) {
        let _ = a.tiles([8]).load((0,)) * 2.5;
    }
    check(
        narrowed::ir(),
        &expect![[r#"
            +1:17 [narrowing_const] the constant 2.5 would be narrowed to s32: a constant of that dtype, or a cast of the tile, is accepted
        "#]],
    );

    #[kernel(strict_pow2)]
    fn powers(a: &Array<i32, 1>) {
        a.tiles([12]).load((0,));
        a.tiles([12]);
        zeros::<i32>([8]);
    }
    check(
        powers::ir(),
        &expect![[r#"
            +1:11 [shape_not_pow2] a tile [12] in a kernel with `strict_pow2`: extents that are powers of two are accepted
            +2:11 [shape_not_pow2] a tile [12] in a kernel with `strict_pow2`: extents that are powers of two are accepted
        "#]],
    );
}

#[test]
fn products() {
    #[kernel]
    fn of_tiles(a: &Array<f16, 2>, b: &Array<f16, 3>, c: &Array<i8, 2>) {
        let (x, y) = (a.tiles([16, 32]).load((0, 0)), a.tiles([32, 8]).load((0, 0)));
        let batch = b.tiles([4, 32, 8]).load((0, 0, 0));
        mma(y, x, zeros::<f32>([32, 32]));
        mma(x, y, zeros::<f32>([8, 16]));
        mma(x, batch, zeros::<f32>([16, 8]));
        mma(b.tiles([3, 16, 32]).load((0, 0, 0)), batch, zeros::<f16>([4, 16, 8]));
        mma(zeros::<f16>([32]), y, zeros::<f32>([8]));
        x.mma(zeros::<f16>([2, 2, 32, 8]), zeros::<f32>([16, 8]));
        matmul(x, x);
        x.matmul(zeros::<f16>([16]));
        matmul(scalar::<f16>(2), x);
        matmul(x, batch).shape();
    }
    check(
        of_tiles::ir(),
        &expect![[r#"
            +1:9 [mma_shape] `mma` of [32, 8] and [16, 32]: (M,K) and (K,N) are accepted, here K = 8, and equal batches, or one of 1
            +2:9 [mma_acc_shape] `mma` into an accumulator [8, 16]: [16, 8] is accepted, the shape of the product
            +3:9 [mma_acc_shape] `mma` into an accumulator [16, 8]: [4, 16, 8] is accepted, the shape of the product
            +4:9 [mma_shape] `mma` of [3, 16, 32] and [4, 32, 8]: (M,K) and (K,N) are accepted, here K = 32, and equal batches, or one of 1
            +5:9 [mma_rank] `mma` of [32] and [32, 8]: tiles of rank 2 are accepted, of rank 3 with a batch axis, and of rank 1 by `matmul`
            +6:11 [mma_rank] `mma` of [16, 32] and [2, 2, 32, 8]: tiles of rank 2 are accepted, of rank 3 with a batch axis, and of rank 1 by `matmul`
            +7:9 [mma_shape] `matmul` of [16, 32] and [16, 32]: (M,K) and (K,N) are accepted, here K = 32, and equal batches, or one of 1
            +8:11 [mma_shape] `matmul` of [16, 32] and [16, 1]: (M,K) and (K,N) are accepted, here K = 32, and equal batches, or one of 1
            +9:9 [mma_rank] `matmul` of [] and [16, 32]: tiles of rank 2 are accepted, of rank 3 with a batch axis, and of rank 1 by `matmul`
        "#]],
    );
}

#[test]
fn memory() {
    #[kernel]
    fn accesses(a: &Array<f32, 2>, b: &mut Array<u8, 1>, c: &mut Array<f32, 2>, f: &mut Array<f16, 1>) {
        a.tiles([8, 8]).latency(11).load((0, 0));
        a.tiles([8, 8]).memory_order(Order::Release, Scope::Device).load((0, 0));
        a.tiles([8, 0]).load((0, 0));
        a.tiles([8, 8]).axes([0, 0]).load((0, 0));
        b.tiles([8]).padding(Padding::NegInf).load((0,));
        a.tiles([8, 8]).load((arange::<i32>(4), 0));
        c.tiles_mut([8, 8]).steps([4, 8]).store((0, 0), zeros::<f32>([8, 8]));
        c.tiles_mut([8, 8]).memory_order(Order::Acquire, Scope::Device).store((0, 0), zeros::<f32>([8, 8]));
        c.tiles_mut([8, 8]).memory_order(Order::Weak, Scope::Device).store((0, 0), zeros::<f32>([8, 8]));
        b.atomic_add((0,), 1);
        f.atomic_max((0,), 1.0);
        c.atomic_and((0, 0), 1);
        c.elements_mut().memory_order(Order::Weak, Scope::Device).atomic_add((0, 0), 1.0);
        c.elements_mut().latency(3).atomic_add((0, 0), 1.0);
        a.gather((arange::<i32>(4), arange::<i32>(3)));
        a.load_rows((zeros::<i32>([2, 2]), span(0, 4)));
        a.load_rows((arange::<i32>(2), span(0, 0)));
        printf!("%d", 1.5);
        printf!("%d");
        c.slice_mut(2, 0, 1).tiles_mut([8, 8]).store((0, 0), zeros::<f32>([8, 8]));
    }
    check(
        accesses::ir(),
        &expect![[r#"
            +1:37 [hint_value] `latency = 11`: 1 to 10 is accepted
            +2:69 [memory_order_scope] a load with the order release and the scope device: weak or relaxed or acquire is accepted
            +3:11 [shape] a tile [8, 0]: at most 8 extents of 1 or more are accepted, 2^32 - 1 elements in all
            +4:38 [axes_rank] `load` of a tile [8, 8] in the order [0, 0]: a permutation of the axes of the tile is accepted
            +5:47 [integer_input_unsupported] `load` of u8 with NegInf outside: u8 does not have it; zero is accepted
            +6:25 [shape] `load` at an index that is a tile [4]: scalars are accepted, and other tiles by `gather`
            +7:43 [shape] `store` by tiles [8, 8] at steps of [4, 8]: a step of the extent or more, so that tiles do not overlap, is accepted for each axis
            +8:73 [memory_order_scope] a store with the order acquire and the scope device: weak or relaxed or release is accepted
            +9:70 [memory_order_scope] a store with the order weak and the scope device: no scope is accepted
            +10:11 [atomic_dtype] `atomic_add` in an array of u8: s32, u32, s64, u64, f16, bf16, f32, f64 are accepted
            +11:11 [atomic_dtype] `atomic_max` in an array of f16: s32, u32, s64, u64 are accepted
            +12:11 [atomic_dtype] `atomic_and` in an array of f32: s32, u32, s64, u64 are accepted
            +13:67 [memory_order_scope] an atomic operation with the order weak and no scope: relaxed or acquire or release or acq_rel is accepted
            +14:37 [hint_unsupported_here] `latency` at the construct `atomic`: load, store, gather, scatter are accepted for it
            +15:11 [broadcast] shapes [4] and [3] do not broadcast: 4 and 3 at axis 0 of 1; equal extents, or 1, are accepted
            +16:11 [shape] `load_rows` at an index that is a tile [2, 2]: scalars and tiles of rank 1 are accepted, and other tiles by `gather`
            +17:11 [shape] `load_rows` of 0 elements along axis 1: 1 or more are accepted
            +18:9 [unsupported] `printf` by "%d" with `%d` for f32: %f, %e, %g, %a are accepted for floats and %d, %u, %x, %o for integers, without a length
            +19:9 [unsupported] `printf` by "%d" of 0 values: a `%` with a letter is accepted for each, `%%` for a per cent sign, and no zero byte
            +20:11 [axis_out_of_range] `slice` along axis 2 where the rank is 2: -2 to 1 are accepted
        "#]],
    );
}

#[test]
fn hints_and_assertions() {
    #[kernel(
        occupancy = 33,
        num_ctas = 3,
        sm_90(num_ctas = 32, opt_level = 4),
        sm_75(num_ctas = 1),
        latency = 3,
        occupance = 1
    )]
    fn hinted() {}
    check(
        hinted::ir(),
        &expect![[r#"
            +1:9 [hint_value] `occupancy = 33`: 1 to 32 is accepted
            +2:9 [hint_value] `num_ctas = 3`: 1, 2, 4, 8 or 16 is accepted
            +3:15 [hint_value] `num_ctas = 32` on sm_90: 1, 2, 4, 8 or 16 is accepted
            +3:30 [hint_value] `opt_level = 4` on sm_90: 0 to 3 is accepted
            +4:15 [arch_key] no architecture is called `sm_75`: sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_101, sm_103, sm_110, sm_120, sm_121 are accepted
            +5:9 [hint_unsupported_here] `latency` at the construct `kernel`: load, store, gather, scatter are accepted for it
            +6:9 [hint_unsupported_here] no hint is called `occupance`: num_ctas, occupancy, num_worker_warps, opt_level, num_stages, latency, allow_tma are accepted
        "#]],
    );

    #[kernel]
    fn asserted<const N: usize>(causal: bool) {
        static_assert!(N % 8 == 0, "N is {N}, a multiple of 8 is accepted");
        static_assert!(causal);
    }
    assert!(asserted::<16>::ir(true).is_ok());
    check(
        asserted::<4>::ir(false),
        &expect![[r#"
        +1:9 [static_assert_false] N is 4, a multiple of 8 is accepted
        +2:9 [static_assert_false] static assertion failed: causal
    "#]],
    );

    #[kernel]
    fn in_a_region(n: Scalar<i32>) {
        let x = zeros::<f32>([4]);
        let y = reduce(x, 0, 0.0, |a, b| (a + b).reshape([1]));
        let z = reduce((x, x), 0, (0.0, 0.0), |a, b| (a.0 + b.0, n.to::<f32>() + b.1));
        let w = scan(x, 1, 0.0, Scan::default(), |a, b| a * b);
        let w = reduce(x, [0, 0], 0.0, |a, b| a * b);
    }
    check(
        in_a_region::ir(),
        &expect![[r#"
            +1:17 [carry] a combination gives (f32[1]): (f32[]) are accepted
            +3:17 [axis_out_of_range] `scan` along axis 1 where the rank is 1: -1 to 0 are accepted
            +4:17 [axis_tuple_unsupported] `reduce` over several axes: one axis is accepted
        "#]],
    );
}
