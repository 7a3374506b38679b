//! The verifier refuses each broken rule.

use girih_tensor::DType;
use girih_tile::ir::{Build, End, Kind, Rounding, Type, Value, parse, verify};

#[test]
fn broken_rules_are_named() {
    let program = |lines: &str| {
        format!(
            "kernel k(x: f32[?, ?] strides [?, 1] align 4, mut y: f32[?] strides [1] align 4) {{
  %0 = bid 0 : s32
  %1 = full 1.0 : f32[4]
  %2 = full 1 : s32[4]
  %3 = full true : bool
  %4 = full 1.0 : f64[4]
  %9 = full 0.0 : f32
  %30 = full 1.0 : f32[4, 8]
  %31 = full 1.0 : f32[8, 2]
  %32 = full 1.0 : f32[4, 2]
  %33 = full 1 : s32[4, 2]
  {lines}
}}
"
        )
    };
    for (lines, rule) in [
        ("%5 = add %1, %2 : f32[4]", "operands are of one dtype"),
        ("%5 = add %1, %1 : f32[5]", "operands are of the result's shape"),
        ("%5 = add %1 : f32[4]", "1 operands and 1 results; 2 and 1 are taken"),
        ("%5 = less %1, %1 : f32[4]", "bool is the result's dtype"),
        ("%5 = exp %2 : s32[4]", "s32 is not taken"),
        ("%5 = exp.rz %1 : f32[4]", "no rounding by Zero"),
        ("%5 = exp.approx %4 : f64[4]", "no rounding by Approx"),
        ("%5 = add.ftz %4, %4 : f64[4]", "no flushing to zero"),
        ("%5 = add.nsw %1, %1 : f32[4]", "no promise about overflow"),
        ("%5 = minimum.nw %2, %2 : s32[4]", "no promise about overflow"),
        ("%5 = where %1, %1, %1 : f32[4]", "the condition is a tile of bool"),
        ("%5 = bitcast %1 : f64[4]", "shape and size of elements stay"),
        ("%5 = broadcast %1 : f32[8]", "the rank stays, and extents of 1 stretch"),
        ("%5 = reshape %1 : f32[5]", "the size stays"),
        ("%5 = permute %1 by [1] : f32[4]", "each axis once"),
        ("%5 = extract %1 at [3] : f32[2]", "the part lies in the tile"),
        ("%5 = reduce sum %1 along 1 : f32[1]", "the axis exists"),
        ("%5 = reduce sum %1 along 0 : f32[4]", "the axis becomes 1, and an index is an s32"),
        ("%5 = reduce xor %1 along 0 : f32[1]", "integers or bool"),
        ("%5 = scan argmax %1 along 0 : s32[4]", "indices are not scanned"),
        ("%5 = mma %1, %1, %1 : f32[4]", "three matrices, or three batches of matrices, are taken"),
        (
            "%5 = mma %31, %30, %32 : f32[4, 2]",
            "[8, 2] and [4, 8] into [4, 2]: (M,K), (K,N) and (M,N) are taken",
        ),
        ("%5 = mma %30, %31, %33 : s32[4, 2]", "a product of f32 and f32 is not summed in s32"),
        ("%5 = mma %30, %31, %32 : f32[2, 4]", "the result is of the accumulator's type"),
        ("%5 = load x[4] at (%0) : f32[4]", "1 operands and 1 results; 2 and 1 are taken"),
        ("%5 = load x[4] at (%0, %0) : f32[4]", "the array has 2 axes"),
        ("%5 = load x[4, 4] at (%0, %9) : f32[4, 4]", "an integer scalar counts tiles along each axis"),
        ("%5 = load x[4, 4] at (%0, %0) acquire : f32[4, 4]", "a weak access has no scope, others have one"),
        ("%5 = load x[4, 4] at (%0, %0) release.device : f32[4, 4]", "no access of the order Release"),
        ("%5 = load x[4, 4] at (%0, %0) latency 11 : f32[4, 4]", "a latency is 1 to 10"),
        ("%5 = full 1.0 : f32[4, 4]\n  store %5 to x[4, 4] at (%0, %0)", "the kernel does not write `x`"),
        ("store %4 to y[4] at (%0)", "a tile of the view is stored"),
        ("scatter %1 to y at (%1)", "an s32 or s64 tile of the value's shape for each axis"),
        ("atomic add %1 to y at (%2)", "no access of the order Weak"),
        ("%5 = dim x, 2 : s32", "an s32 scalar for an axis of the array"),
        ("%5 = dim x<1: %9..%0>, 0 : s32", "the ends of a part are integer scalars"),
        ("%5 = dim x<2: %0..%0>, 0 : s32", "a part along axis 2, which the array does not have"),
        ("assert \"a\" %1", "a tile of bool is taken"),
        ("if %0 {\n  } else {\n  }", "the condition is a bool scalar"),
        ("if %3 {\n  }", "has 1 regions, and takes 2"),
        ("%5 = if %3 : s32 {\n  yield %0\n  } else {\n  }", "passes on (); (s32[]) is taken"),
        ("if %3 {\n  break\n  } else {\n  }", "there are not 1 loops around"),
        ("loop {\n  }", "a loop's body continues or breaks"),
        ("%5 = loop carry %0 : s32 { (%6: s32)\n  continue\n  }", "passes on (); (s32[]) is taken"),
        ("%5 = loop carry %0 : s32 {\n  break\n  }", "a region with arguments () is entered with (s32[])"),
        ("for %0 to %0 step %9 { (%6: s32)\n  continue\n  }", "bounds and step are equal integer scalars"),
        (
            "%5 = reduce region %1 along 0 identity [0.0] : f32[1] { (%6: f32, %7: f32)\n  store %1 to y[4] at (%0)\n  yield %6\n  }",
            "has an effect, or waits for one, inside of a combination",
        ),
        (
            "loop {\n  %5 = reduce region %1 along 0 identity [0.0] : f32[1] { (%6: f32, %7: f32)\n  break\n  }\n  break\n  }",
            "there are not 1 loops around",
        ),
    ] {
        let func = parse(&program(lines)).unwrap();
        let error = verify(&func).expect_err(lines).to_string();
        assert!(error.ends_with(&format!(": {rule}")), "{lines}: {error}");
    }
    verify(&parse(&program("%5 = add %1, %1 : f32[4]")).unwrap()).unwrap();
}

#[test]
fn values_are_used_where_they_are_defined() {
    let ty = Type::scalar(DType::F32);
    let cast = |b: &mut Build, value: Value| {
        b.push1(Kind::Cast(Rounding::Nearest), &[value], Type::scalar(DType::F16))
    };
    // A region's argument after the region.
    let mut b = Build::new("k");
    let init = b.push1(Kind::Full(0), &[], ty);
    let (_, args) = b.open(&[ty]);
    let region = b.close(End::Break(0, vec![args[0]]));
    b.push_regions(Kind::Loop, &[init], &[ty], vec![region]);
    cast(&mut b, args[0]);
    let error = verify(&b.finish()).unwrap_err().to_string();
    assert!(error.ends_with("is not defined here"), "{error}");
    // A region that two loops own.
    let mut b = Build::new("k");
    let init = b.push1(Kind::Full(0), &[], ty);
    let (_, args) = b.open(&[ty]);
    cast(&mut b, args[0]);
    let region = b.close(End::Break(0, vec![args[0]]));
    b.push_regions(Kind::Loop, &[init], &[ty], vec![region]);
    b.push_regions(Kind::Loop, &[init], &[ty], vec![region]);
    let error = verify(&b.finish()).unwrap_err().to_string();
    assert!(error.ends_with("stands in two places"), "{error}");
}
