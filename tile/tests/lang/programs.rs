//! Programs and their text.

use expect_test::expect;
use girih_tile::ir::Func;
use girih_tile::prelude::*;

fn show(func: Result<Func, girih_tile::error::Error>) -> String {
    match func {
        Ok(func) => func.to_string(),
        Err(error) => format!("refused:\n{error}\n"),
    }
}

#[kernel]
fn add(a: &Array<f32, 1>, b: &Array<f32, 1>, c: &mut Array<f32, 1>) {
    let i = bid(0);
    let x = a.tiles([256]).load((i,));
    let y = b.tiles([256]).load((i,));
    c.tiles_mut([256]).store((i,), x + 2.0 * y);
}

#[kernel]
fn softmax<T: Float + StoreTo<T>, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>)
where
    f32: StoreTo<f32>,
{
    let row = bid(0);
    let v = x.tiles([1, N]).padding(Padding::NegInf).load((row, 0)).to::<f32>();
    let e = ((v - v.max(keep(1))) * std::f64::consts::LOG2_E).exp2();
    y.tiles_mut([1, N]).store((row, 0), (e / e.sum(keep(1))).to::<T>());
}

#[function]
fn rescale<T: Float>(acc: &mut Tile<T>, by: Tile<T>, often: Scalar<i32>) {
    for _ in 0..often {
        *acc *= by;
    }
}

/// Nested loops, branches that assign, ways out, loops of the build, tuples.
#[kernel]
fn control<T: Float, const N: usize>(x: &Array<T, 1>, y: &mut Array<T, 1>, n: Scalar<i32>) {
    let mut best = full::<T>([N], 0.0);
    let mut count = scalar::<i32>(0);
    let mut pair = (zeros::<T>([N]), bid(0));
    let mut unrolled = 0;
    for i in 0..n {
        let t = x.tiles([N]).load((i,));
        if i > 5 && true {
            if i == 7 {
                continue;
            }
            best = maximum(best, t);
            count += 1;
        } else {
            best = best + t;
        }
        for j in 0..i {
            pair.0 = best + t;
            pair.1 += j;
            if j > 100 {
                break;
            }
        }
        for u in 0..2usize {
            best += u as f64;
        }
        rescale(&mut best, t, count);
    }
    for u in 0..3usize {
        unrolled += u;
        if u == 1 {
            break;
        }
    }
    while count < 10 {
        count += 3;
        if count == n {
            break;
        }
    }
    let scale = if count > 3 {
        1.0 * best
    } else if count > 2 {
        best * 0.5
    } else {
        best
    };
    y.tiles_mut([N]).store((bid(0),), scale + pair.0);
    assert_eq!(unrolled, 1);
}

#[test]
fn programs() {
    expect![[r#"
        kernel add(a: f32[?] strides [1] align 4, b: f32[?] strides [1] align 4, mut c: f32[?] strides [1] align 4) {
          %0 = bid 0 : s32
          %1 = load a[256] at (%0) : f32[256]
          %2 = load b[256] at (%0) : f32[256]
          %3 = full 2.0 : f32[256]
          %4 = mul %3, %2 : f32[256]
          %5 = add %1, %4 : f32[256]
          store %5 to c[256] at (%0)
        }
    "#]].assert_eq(&show(add::ir()));
    expect![[r#"
        kernel softmax(x: bf16[?, ?] strides [?, 1] align 2, mut y: bf16[?, ?] strides [?, 1] align 2) {
          %0 = bid 0 : s32
          %1 = full 0 : s32
          %2 = load x[1, 1024] at (%0, %1) pad -inf : bf16[1, 1024]
          %3 = cast %2 : f32[1, 1024]
          %4 = reduce max %3 along 1 : f32[1, 1]
          %5 = broadcast %4 : f32[1, 1024]
          %6 = sub %3, %5 : f32[1, 1024]
          %7 = full 1.442695 : f32[1, 1024]
          %8 = mul %6, %7 : f32[1, 1024]
          %9 = exp2 %8 : f32[1, 1024]
          %10 = reduce sum %9 along 1 : f32[1, 1]
          %11 = broadcast %10 : f32[1, 1024]
          %12 = truediv %9, %11 : f32[1, 1024]
          %13 = cast %12 : bf16[1, 1024]
          store %13 to y[1, 1024] at (%0, %1)
        }
    "#]]
    .assert_eq(&show(softmax::<bf16, 1024>::ir()));
    expect![[r#"
        kernel control(x: f32[?] strides [1] align 4, mut y: f32[?] strides [1] align 4, n: s32) {
          %0 = param n : s32
          %1 = full 0.0 : f32[256]
          %2 = full 0 : s32
          %3 = bid 0 : s32
          %4 = full 1 : s32
          %5 = full 5 : s32
          %6 = full 7 : s32
          %7 = full 100 : s32
          %8 = full 1.0 : f32[256]
          %9, %10, %11, %12 = for %2 to %0 step %4 carry %1, %2, %1, %3 : f32[256], s32, f32[256], s32 { (%13: s32, %14: f32[256], %15: s32, %16: f32[256], %17: s32)
            %18 = load x[256] at (%13) : f32[256]
            %19 = greater %13, %5 : bool
            %20 = equal %13, %6 : bool
            %21 = add %15, %4 : s32
            %22, %23 = if %19 : f32[256], s32 {
              if %20 {
                continue %14, %15, %16, %17
              } else {
              }
              %24 = maximum %14, %18 : f32[256]
              yield %24, %21
            } else {
              %25 = add %14, %18 : f32[256]
              yield %25, %15
            }
            %26, %27 = for %2 to %13 step %4 carry %16, %17 : f32[256], s32 { (%28: s32, %29: f32[256], %30: s32)
              %31 = add %22, %18 : f32[256]
              %32 = add %30, %28 : s32
              %33 = greater %28, %7 : bool
              if %33 {
                break %31, %32
              } else {
              }
              continue %31, %32
            }
            %34 = add %22, %1 : f32[256]
            %35 = add %34, %8 : f32[256]
            %36 = for %2 to %23 step %4 carry %35 : f32[256] { (%37: s32, %38: f32[256])
              %39 = mul %38, %18 : f32[256]
              continue %39
            }
            continue %36, %23, %26, %27
          }
          %40 = full 10 : s32
          %41 = full 3 : s32
          %42 = loop carry %10 : s32 { (%43: s32)
            %44 = less %43, %40 : bool
            if %44 {
            } else {
              break %43
            }
            %45 = add %43, %41 : s32
            %46 = equal %45, %0 : bool
            if %46 {
              break %45
            } else {
            }
            continue %45
          }
          %47 = greater %42, %41 : bool
          %48 = full 2 : s32
          %49 = greater %42, %48 : bool
          %50 = full 0.5 : f32[256]
          %51 = if %47 : f32[256] {
            %52 = mul %8, %9 : f32[256]
            yield %52
          } else {
            %53 = if %49 : f32[256] {
              %54 = mul %9, %50 : f32[256]
              yield %54
            } else {
              yield %9
            }
            yield %53
          }
          %55 = add %51, %11 : f32[256]
          store %55 to y[256] at (%3)
        }
    "#]].assert_eq(&show(control::<f32, 256>::ir()));
}
