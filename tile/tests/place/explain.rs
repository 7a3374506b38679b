use expect_test::expect;
use girih_tensor::DType;
use girih_tile::explain::explain;
use girih_tile::ir::{parse, verify};
use girih_tile::prelude::*;

use super::programs::transpose;

/// The part of an explanation that does not depend on how programs are lowered: the text with its notes.
fn placed(func: &girih_tile::ir::Func) -> String {
    let text = explain(func, 90).unwrap().to_string();
    let (program, rest) = text.split_once("\nblock:").unwrap();
    assert_eq!(parse(program).unwrap().to_string(), explain(func, 90).unwrap().plan.func.to_string());
    assert!(rest.contains("global memory: "), "{rest}");
    program.to_string()
}

#[test]
fn every_tile_says_where_it_is() {
    let rows = "\
kernel rows(x: bf16[?8, ?8] strides [?8, 1] align 16, mut y: bf16[?8, ?8] strides [?8, 1] align 16) {
  %0 = bid 0 : s32
  %1 = full 0 : s32
  %2 = load x[4, 1000] at (%0, %1) pad 0 : bf16[4, 1000]
  %3 = cast %2 : f32[4, 1000]
  %4 = reduce max %3 along 1 : f32[4, 1]
  %5 = broadcast %4 : f32[4, 1000]
  %6 = sub %3, %5 : f32[4, 1000]
  %7 = cast %6 : bf16[4, 1000]
  store %7 to y[4, 1000] at (%0, %1)
}
";
    expect![[r#"
        kernel rows(x: bf16[?8, ?8] strides [?8, 1] align 16, mut y: bf16[?8, ?8] strides [?8, 1] align 16) {
          %0 = bid 0 : s32
          %1 = full 0 : s32
          %2 = load x[4, 1000] at (%0, %1) pad 0 : bf16[4, 1000]
              // lanes[8@1 16@1 32@1 64@1 128@1] warps[1@0 2@0] vals[2:1@1 2:2@1 2:4@1 2:256@1 2:512@1]: ((32,4),(8,4)):((32,1),(4,1024)), 32 a thread, padded to [4, 1024]
              // 4 accesses of 16 bytes (the widest), 16 sectors for a warp's (16 at the least)
              // bounds: axis 0 not below 0 proved, not beyond its end checked in the kernel; axis 1 not below 0 proved, not beyond its end checked in the kernel
          %3 = cast %2 : f32[4, 1000]
              // lanes[8@1 16@1 32@1 64@1 128@1] warps[1@0 2@0] vals[2:1@1 2:2@1 2:4@1 2:256@1 2:512@1]: ((32,4),(8,4)):((32,1),(4,1024)), 32 a thread, padded to [4, 1024]
          %4 = reduce max %3 along 1 : f32[4, 1]
              // lanes[0 0 0 0 0] warps[1@0 2@0] vals[]: ((32,4),1):((0,1),0), 1 a thread
              // 32 elements in a thread, 5 butterflies
          %5 = broadcast %4 : f32[4, 1000]
              // lanes[8@1 16@1 32@1 64@1 128@1] warps[1@0 2@0] vals[2:1@1 2:2@1 2:4@1 2:256@1 2:512@1]: ((32,4),(8,4)):((32,1),(4,1024)), 32 a thread, padded to [4, 1024]
          %6 = sub %3, %5 : f32[4, 1000]
              // lanes[8@1 16@1 32@1 64@1 128@1] warps[1@0 2@0] vals[2:1@1 2:2@1 2:4@1 2:256@1 2:512@1]: ((32,4),(8,4)):((32,1),(4,1024)), 32 a thread, padded to [4, 1024]
          %7 = cast %6 : bf16[4, 1000]
              // lanes[8@1 16@1 32@1 64@1 128@1] warps[1@0 2@0] vals[2:1@1 2:2@1 2:4@1 2:256@1 2:512@1]: ((32,4),(8,4)):((32,1),(4,1024)), 32 a thread, padded to [4, 1024]
          store %7 to y[4, 1000] at (%0, %1)
              // 4 accesses of 16 bytes (the widest), 16 sectors for a warp's (16 at the least)
              // bounds: axis 0 not below 0 proved, not beyond its end checked at launch; axis 1 not below 0 proved, not beyond its end checked in the kernel
        }
    "#]].assert_eq(&placed(&parse(rows).unwrap()));
}

#[test]
fn a_conversion_says_how_it_is_done() {
    expect![[r#"
        kernel transpose(x: bf16[?8, ?8] strides [?8, 1] align 16, mut y: bf16[?8, ?8] strides [?8, 1] align 16, bias: bf16[?8] strides [1] align 16) {
          %0 = bid 0 : s32
          %1 = full 0 : s32
          %2 = load x[64, 64] at (%0, %1) pad 0 : bf16[64, 64]
              // lanes[8@1 16@1 32@1 1@0 2@0] warps[4@0 8@0] vals[2:1@1 2:2@1 2:4@1 2:16@0 2:32@0]: ((8,16),(8,4)):((512,1),(64,16)), 32 a thread
              // 4 accesses of 16 bytes (the widest), 16 sectors for a warp's (16 at the least)
              // bounds: axis 0 not below 0 proved, not beyond its end checked in the kernel; axis 1 not below 0 proved, not beyond its end checked in the kernel
          %3 = permute %2 by [1, 0] : bf16[64, 64]
              // lanes[8@0 16@0 32@0 1@1 2@1] warps[4@1 8@1] vals[2:1@0 2:2@0 2:4@0 2:16@1 2:32@1]: (128,(8,4)):(8,(1,1024)), 32 a thread
          %4 = convert %3 : bf16[64, 64]
              // lanes[8@1 16@1 32@1 1@0 2@0] warps[4@0 8@0] vals[2:1@1 2:2@1 2:4@1 2:16@0 2:32@0]: ((8,16),(8,4)):((512,1),(64,16)), 32 a thread
              // through 8192 bytes of shared memory, strides [64, 1], Sw<3,3,6>: 32 stores of 2 bytes, 4 loads of 16 bytes, 48 wavefronts (48 at the least)
          store %4 to y[64, 64] at (%0, %1) pad 0
              // 4 accesses of 16 bytes (the widest), 16 sectors for a warp's (16 at the least)
              // bounds: axis 0 not below 0 proved, not beyond its end checked in the kernel; axis 1 not below 0 proved, not beyond its end checked in the kernel
        }
    "#]].assert_eq(&placed(&transpose(64, 64, DType::Bf16, false)));
}

#[test]
fn the_roofline_follows_from_bytes_and_instructions() {
    let explanation = explain(&transpose(64, 64, DType::Bf16, false), 90).unwrap();
    assert_eq!(explanation.bytes(), (2 * 64 * 64 * 2, false));
    let text = explanation.to_string();
    assert!(text.contains("bound by memory") && text.contains("4 ld.global"), "{text}");
    assert!(explain(&super::programs::looped(8, 128), 90).unwrap().bytes().1);
}

#[test]
fn the_programs_of_the_command_line_are_sound() {
    for text in [
        include_str!("texts/bias.tile"),
        include_str!("texts/softmax.tile"),
        include_str!("texts/transpose.tile"),
    ] {
        let func = parse(text).unwrap();
        verify(&func).unwrap();
        let text = explain(&func, 90).unwrap().to_string();
        assert!(text.contains("stores of y: proved disjoint") && text.contains("bound by memory"), "{text}");
    }
}

/// Products, one of whose operands is converted, and one of which is gathered.
#[kernel]
fn products(
    a: &Array<bf16, 2>,
    q: &Array<i8, 2>,
    rows: &Array<i32, 1>,
    b: &Array<bf16, 2>,
    c: &mut Array<f32, 2>,
) {
    let at = rows.tiles([64]).load((bid(1),));
    let mut sums = zeros::<f32>([128, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        let x = a.tiles([128, 64]).padding(Padding::Zero).load((bid(0), k));
        let w = q.tiles([64, 64]).padding(Padding::Zero).load((k, bid(1)));
        sums = mma(x, w.to::<f32>().to::<bf16>(), sums);
        let y = b.gather(((arange::<i32>(64) + k * 64).reshape([64, 1]), at.reshape([1, 64])));
        sums = mma(x, y, sums);
    }
    c.tiles_mut([128, 64]).store((bid(0), bid(1)), sums);
}

#[test]
fn a_late_load_says_why_and_a_product_is_bound_by_tensor_cores() {
    let func = products::ir().unwrap();
    for sm in [80, 90] {
        let text = explain(&func, sm).unwrap().to_string();
        let why = "not prefetched: the threads wait for another load of the iteration anyway";
        assert!(text.contains(why), "{text}");
        assert!(text.contains("not prefetched: a gather has an address for each element"), "{text}");
        assert!(
            text.contains("accesses of 2 bytes (its indices do not count along an axis of stride 1)"),
            "{text}"
        );
        assert!(text.contains("// cdiv(a.dim(1), 64) iterations"), "{text}");
        assert!(text.contains("with one iteration of loops of cdiv(a.dim(1), 64)"), "{text}");
        assert!(text.contains("\nblocks of a multiprocessor: "), "{text}");
    }
}
