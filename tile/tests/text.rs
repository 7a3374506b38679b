//! The text form: every operation is printed and read back, and what is no program is refused with its line.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, Kind, Type, parse, verify};
use girih_tile::ops::{Arg, Mode, table::TABLE};

/// A program with every family of operations.
const ALL: &str = r#"kernel "all<bf16>"(x: bf16[?, ?8] strides [?8, 1] align 16, mut y: f32[?, 40] strides [40, 1] align 4 disjoint "a \"reason\"\n", mut h: s32[256] strides [1] align 4, "a b": u8[?] strides [1] align 1, n: s32 = ?16, eps: f32, eps: f64 = 3) {
  hint all num_ctas 2 occupancy 4
  hint 90 num_worker_warps 8 opt_level 3
  hint 100
  %0 = param n : s32
  %1 = param @1 : f32
  %2 = param @2 : f64
  %3 = bid 0 : s32
  %4 = num_blocks 2 : s32
  %5 = dim x, 1 : s32
  %6 = dim @3<0: %3..%4>, 0 : s32
  %7 = full 0 : s32
  %8 = full -1.5 : f32[4, 8]
  %9 = full 0x7fc00001 : f32[4, 8]
  %10 = full nan : bf16[4, 8]
  %11 = full true : bool
  %12 = dense [1, -2, 127, -128] : s8[4]
  %13 = dense [1e-7, -inf, 0.1, -0.0] : f64[4]
  %14 = iota : s32[8]
  %15 = load x[4, 8] at (%3, %7) pad -inf latency 3 no_tma : bf16[4, 8]
  %16 = load x<1: %7..%5><0: %7..%0>[4, 8] at (%3, %7) steps [2, 8] unchecked acquire.device : bf16[4, 8]
  %17 = cast %15 : f32[4, 8]
  %18 = cast.rz %8 : f16[4, 8]
  %19 = bitcast %17 : u32[4, 8]
  %20 = exp.approx.ftz %17 : f32[4, 8]
  %21 = maximum.nan %20, %8 : f32[4, 8]
  %22 = less %20, %21 : bool[4, 8]
  %23 = where %22, %20, %21 : f32[4, 8]
  %24 = permute %23 by [1, 0] : f32[8, 4]
  %25 = extract %24 at [4, 0] : f32[4, 4]
  %26 = insert %24, %25 at [0, 0] : f32[8, 4]
  %27 = cat %25, %26 along 0 : f32[12, 4]
  %28 = flip %27 along 1 : f32[12, 4]
  %29 = reshape %28 : f32[48]
  %30 = pack %29 : u8[192]
  %31 = unpack %30 : f64[24]
  %32 = reduce sum %21 along 1 : f32[4, 1]
  %33 = reduce argmax.nan %21 along 1 : s32[4, 1]
  %34, %35 = reduce region %21, %19 along 0 identity [0.0, 7] : f32[1, 8], u32[1, 8] { (%36: f32, %37: u32, %38: f32, %39: u32)
    %40 = add %36, %38 : f32
    %41 = bitwise_xor %37, %39 : u32
    yield %40, %41
  }
  %42 = scan prod %8 along 1 reverse exclusive : f32[4, 8]
  %43, %44 = sort %21, %19 along 1 descending : f32[4, 8], u32[4, 8]
  %45 = histogram %14 : s32[8]
  %46 = less %14, %45 : bool[8]
  %47 = broadcast %32 : f32[4, 8]
  %48 = gather h at (%14) mask %46 else %45 unchecked relaxed.block : s32[8]
  scatter %48 to h at (%14) mask %46
  %49 = atomic cas %48, %45 to h at (%14) acq_rel.system : s32[8]
  atomic add %49 to h at (%14) relaxed.device
  %50 = full 1 : s32
  %51 = for %7 to %0 step %50 carry %47 : f32[4, 8] { (%52: s32, %53: f32[4, 8])
    %54 = loop carry %53 : f32[4, 8] { (%55: f32[4, 8])
      %56 = if %11 : f32[4, 8] {
        yield %55
      } else {
        if %11 {
          break.1 %55
        } else {
          unreachable
        }
        continue %55
      }
      break %56
    }
    continue %54
  }
  loop {
    break
  }
  store %51 to y[4, 8] at (%3, %7) release.system
  %57 = convert %51 : f32[4, 8]
  print "100 %%, %f\n" %57, %3
  print "nothing"
  assert "all" %22
  %58 = full 0.0 : f32[8, 8]
  %59 = mma %24, %8, %58 : f32[8, 8]
  %60 = add.nsw %14, %14 : s32[8]
  %61 = bitwise_lshift.nw %60, %14 : s32[8]
  %62 = mul.nuw %61, %14 : s32[8]
}
"#;

#[test]
fn every_operation_is_printed_and_read_back() {
    let func = parse(ALL).unwrap();
    assert_eq!(func.to_string(), ALL);
    assert_eq!(parse(&func.to_string()).unwrap(), func);
    verify(&func).unwrap();
}

#[test]
fn each_row_of_the_table_has_a_text() {
    for row in TABLE {
        let mut b = Build::new("k");
        let args: Vec<Arg> = (0..row.arity).map(|i| Arg::Loose(Const::Int(i as i128 + 1))).collect();
        let floats: Vec<Arg> = (0..row.arity).map(|i| Arg::Loose(Const::Float(i as f64 + 0.5))).collect();
        let done =
            b.each(row.op, &args, Mode::default()).or_else(|_| b.each(row.op, &floats, Mode::default()));
        done.unwrap_or_else(|fault| panic!("{}: {fault}", row.name));
        let func = b.finish();
        assert_eq!(parse(&func.to_string()).unwrap(), func, "{func}");
        verify(&func).unwrap();
    }
}

#[test]
fn constants_of_all_dtypes_keep_their_bits() {
    let mut state = 7u64;
    for &dtype in girih_tile::ir::DTYPES {
        for i in 0..200 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mut bits = if i < 100 { state.rotate_left(29) } else { u64::from(i as u8) };
            bits &= if dtype.bits() == 64 { u64::MAX } else { (1 << dtype.bits()) - 1 };
            if dtype == DType::Bool {
                bits &= 1;
            }
            let mut b = Build::new("k");
            b.push1(Kind::Full(bits), &[], Type { dtype, dims: Dims::SCALAR });
            let func = b.finish();
            assert_eq!(parse(&func.to_string()).unwrap(), func, "{func}");
        }
    }
}

#[test]
fn refusals_name_the_line_and_what_is_accepted() {
    let program = |line: &str| {
        format!("kernel k(x: f32[?] strides [1] align 4) {{\n  %0 = bid 0 : s32\n  {line}\n}}\n")
    };
    for (line, message) in [
        ("%1 = neg %0 : s32", "an operation is accepted here, not `neg`"),
        ("%1 = negative %7 : s32", "`%7` is not defined here"),
        ("%1 = negative %0", "1 results and 0 types"),
        ("%1 = negative %0 : i32", "a dtype is accepted here, not `i32`"),
        (
            "%1 = full 300 : s8",
            "`300` is no constant of s8; a number of it or its bits in hexadecimal are accepted",
        ),
        ("%1 = load z[4] at (%0) : f32[4]", "an array of the kernel is accepted here, not `z`"),
        (
            "%1 = load x[4] at (%0) sometimes : f32[4]",
            "an attribute of the access, or an order such as `acquire.device`, is accepted here, not `sometimes`",
        ),
        (
            "%1 = load x[4] at (%0) pad 1 : f32[4]",
            "a padding (any, 0, -0, nan, inf, -inf) is accepted here, not `1`",
        ),
        ("%1 = negative.up %0 : s32", "`.up` is no rounding, `.ftz`, `.nan`, `.nsw`, `.nuw` or `.nw`"),
        ("print \"no end", "a string without an end"),
        ("yield %0\n  %1 = bid 1 : s32", "`}` after the end of a region is accepted here, not `%1`"),
    ] {
        let error = parse(&program(line)).unwrap_err().to_string();
        let at = if line.contains('\n') { 4 } else { 3 };
        assert_eq!(error, format!("line {at}: {message}"), "{line}");
    }
    assert_eq!(
        parse("kernel k() {\n").unwrap_err().to_string(),
        "line 1: the text ends within a kernel; `}` is accepted"
    );
    // Values of a region end with it.
    let text = "kernel k() {\n  loop {\n    %0 = bid 0 : s32\n    break\n  }\n  print \"%d\" %0\n}\n";
    assert_eq!(parse(text).unwrap_err().to_string(), "line 6: `%0` is not defined here");
}
