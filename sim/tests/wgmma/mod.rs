//! `wgmma` of every type, shape and shared-memory layout, compared with sums of products; the places of elements are
//! from the ISA's figures ("WGMMA .m64nNk16 register fragment layout for matrix A", ..., "Canonical Layouts").
#![expect(clippy::unwrap_used, reason = "tests")]

mod case;
mod place;
mod rules;
mod sparse;
mod values;

use case::Case;
use place::Place;
use values::{Random, TYPES, bits, is_integer};

fn case(random: &mut Random, types: (&'static str, &'static str), d: &'static str, n: usize) -> Case {
    let (a, b) = types;
    let mn = |random: &mut Random| bits(a) == 16 && random.flip();
    let width = |random: &mut Random| random.pick(&[0, 32, 64, 128]);
    let (a_mn, a_width, b_mn, b_width) = (mn(random), width(random), mn(random), width(random));
    let shared = random.below(3) > 0;
    Case {
        a,
        b,
        d,
        n,
        left: shared.then(|| Place::random(random, 64, bits(a), a_mn, a_width, 0, 32 << 10)),
        right: Place::random(random, n, bits(b), b_mn, b_width, 32 << 10, 64 << 10),
        negate: [random.flip(), random.flip()],
        accumulate: random.below(4) > 0,
    }
}

/// Every type with every N that it has.
#[test]
fn every_shape() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for &(a, b, sums) in TYPES {
        for &d in sums {
            for n in (8..=256).step_by(8) {
                if is_integer(a) && n > 32 && n % 16 != 0 {
                    continue;
                }
                case(&mut random, (a, b), d, n).check(&mut random, n as u64 / 8 % 3);
            }
        }
    }
}

/// Every pair of layouts that each type has, at several places each.
#[test]
fn every_layout() {
    let mut random = Random(0x0fed_cba9_8765_4321);
    for &(a, b, sums) in TYPES {
        let majors: &[bool] = if bits(a) == 16 { &[false, true] } else { &[false] };
        let sides = || majors.iter().flat_map(|&mn| [0, 32, 64, 128].map(|width| (mn, width)));
        for (a_mn, a_width) in sides() {
            for (b_mn, b_width) in sides() {
                let n = random.pick(&[8, 16, 64, 96]);
                let left = Place::random(&mut random, 64, bits(a), a_mn, a_width, 0, 32 << 10);
                let right = Place::random(&mut random, n, bits(b), b_mn, b_width, 32 << 10, 64 << 10);
                let (left, negate) = (Some(left), [false, true]);
                Case { a, b, d: sums[0], n, left, right, negate, accumulate: true }.check(&mut random, 0);
            }
        }
    }
}
