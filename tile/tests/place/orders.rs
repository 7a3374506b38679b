//! Operations that take some distributions alone.

use girih_tile::ir::{Kind, parse};
use girih_tile::place::{naive, place};

const TEXT: &str = "\
kernel orders(x: f32[?, ?] strides [?, 1] align 4, mut y: f32[?, ?] strides [?, 1] align 4, mut h: s32[?] strides [1] align 4) {
  %0 = bid 0 : s32
  %1 = full 0 : s32
  %2 = load x[24, 96] at (%0, %1) pad 0 : f32[24, 96]
  %3 = scan sum %2 along 0 : f32[24, 96]
  %4 = scan sum %3 along 1 reverse : f32[24, 96]
  %5 = sort %4 along 1 : f32[24, 96]
  %6 = sort %5 along 0 : f32[24, 96]
  %7 = permute %6 by [1, 0] : f32[96, 24]
  %8 = reshape %7 : f32[48, 48]
  %9 = flip %8 along 0 : f32[48, 48]
  store %9 to y[48, 48] at (%0, %1)
  %10 = iota : s32[40]
  %11 = histogram %10 : s32[40]
  %12 = gather h at (%10) else %11 : s32[40]
  %13 = atomic add %12 to h at (%10) relaxed.device : s32[40]
  scatter %13 to h at (%10)
}
";

#[test]
fn what_an_operation_takes_it_gets() {
    let func = parse(TEXT).unwrap();
    for plan in [place(&func, 90).unwrap(), naive(&func, 64), naive(&func, 512)] {
        plan.verify().unwrap();
    }
}

#[test]
fn a_broken_order_is_refused() {
    // Several bits along either axis; placement gives the scan of columns none.
    let plan = naive(&parse(TEXT).unwrap(), 512);
    let mut broken = 0;
    plan.func.walk(plan.func.body(), &mut |_, op| {
        let mut plan = plan.clone();
        let values = op.operands.iter().chain(&op.results);
        match op.kind {
            // Bits the other way round: their numbers fall where scales rise.
            Kind::Scan { .. } | Kind::Sort { .. } => {
                values.for_each(|value| plan.dists[value.index()].bits.reverse());
            }
            // Threads with copies.
            Kind::Atomic { .. } => values.for_each(|value| {
                plan.dists[value.index()]
                    .bits
                    .iter_mut()
                    .filter(|bit| bit.is_some_and(|bit| bit.1 >= 64))
                    .for_each(|bit| *bit = None);
            }),
            _ => return,
        }
        assert!(plan.verify().is_err());
        broken += 1;
    });
    assert_eq!(broken, 5);
}
