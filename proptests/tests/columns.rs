//! Layouts of F2 columns through the algebra, each law against enumeration.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Error, Int, Lay, Stride, Tile, Tiler, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;
use proptest::sample::select;

/// A leaf as extent, stride and whether the stride is a column.
type Leaf = (i64, u64, bool);

fn leaves(l: &Lay) -> Vec<Leaf> {
    let leaf = |i| match l.flat_leaf(i) {
        (s, Stride::Int(d)) => (s.get().unwrap(), d.get().unwrap() as u64, false),
        (s, Stride::F2(column)) => (s.get().unwrap(), column, true),
        other => panic!("{other:?}"),
    };
    (0..l.leaf_count()).map(leaf).collect()
}

/// The index by the definition of columns: integers add up, then each bit of a digit toggles a shifted column.
fn at(leaves: &[Leaf], coord: i64) -> i64 {
    let (mut rest, mut sum, mut toggled) = (coord, 0, 0);
    for (i, (extent, stride, column)) in leaves.iter().enumerate() {
        let digit = if i + 1 == leaves.len() { rest } else { rest % extent };
        rest /= extent;
        if *column {
            (0..62).filter(|bit| digit >> bit & 1 == 1).for_each(|bit| toggled ^= stride << bit);
        } else {
            sum += digit * *stride as i64;
        }
    }
    sum ^ toggled as i64
}

fn size(l: &Lay) -> i64 {
    leaves(l).iter().map(|(s, ..)| s).product()
}

fn table(l: &Lay) -> Vec<i64> {
    let leaves = leaves(l);
    (0..size(l)).map(|i| at(&leaves, i)).collect()
}

fn distinct(values: &[i64]) -> bool {
    oracle::sorted(values.to_vec()).windows(2).all(|w| w[0] != w[1])
}

/// Leaves of powers of two with columns or integers below 64, in any order, and sometimes a mode above them.
fn columns() -> impl Strategy<Value = Lay> {
    let column = (select(vec![1i64, 2, 2, 4, 8]), 0u64..64, Just(true));
    let integer = (select(vec![2i64, 4]), select(vec![0u64, 1, 2, 4, 8, 16, 3]), Just(false));
    let above = (select(vec![1i64, 2, 3, 4]), select(vec![512u64, 1024, 1536]), Just(false));
    let leaf = prop_oneof![4 => column, 2 => integer, 1 => above];
    prop::collection::vec(leaf, 1..4).prop_map(|leaves| {
        let modes: Vec<Lay> = leaves
            .into_iter()
            .map(|(s, d, column)| {
                let stride = if column { Stride::F2(d) } else { Stride::from(d as i64) };
                Lay::leaf(Int::value(s), stride).unwrap()
            })
            .collect();
        Lay::concat(&modes).unwrap()
    })
}

/// Whether below the columns' highest bit there are powers of two only whose integers keep to bits of their own: what elimination is for.
fn is_linear(l: &Lay) -> bool {
    let mut bits = 0u32;
    loop {
        let low: Vec<Leaf> = leaves(l)
            .into_iter()
            .filter(|(s, d, column)| *s > 1 && *d != 0 && (*column || d % (1 << bits) != 0))
            .collect();
        let need = low.iter().map(|(s, d, _)| d.ilog2() + (*s as u64).next_power_of_two().ilog2()).max();
        if need.unwrap_or(0) <= bits {
            let mut taken = 0;
            return low.iter().all(|(s, d, column)| {
                let shifted = (0..s.ilog2()).map(|bit| d << bit);
                let apart = *column
                    || shifted.clone().all(|b| {
                        let free = taken & b == 0;
                        taken |= b;
                        free
                    });
                s.count_ones() == 1 && apart
            });
        }
        bits = need.unwrap_or(0);
    }
}

fn essential(l: &Lay) -> Vec<Leaf> {
    leaves(l).into_iter().filter(|(s, d, _)| *s > 1 && *d != 0).collect()
}

/// Whether some layout of columns over the shape has these values.
fn has_columns(shape_of: &Lay, values: &[i64]) -> bool {
    let carryless = |j: i64, c: i64| (0..7).filter(|b| j >> b & 1 == 1).fold(0, |x, b| x ^ c << b);
    fn line(values: &[i64], carryless: &dyn Fn(i64, i64) -> i64) -> bool {
        let n = values.len();
        n <= 1
            || (2..=n).filter(|e| n.is_multiple_of(*e)).any(|e| {
                let straight =
                    |b: &[i64]| b.iter().zip(0..).all(|(v, k)| *v == b[0] ^ carryless(k, values[1]));
                let origins: Vec<i64> = values.iter().step_by(e).copied().collect();
                values.chunks(e).all(straight) && line(&origins, carryless)
            })
    }
    let (mut step, mut lines) = (1, Vec::new());
    for (s, ..) in leaves(shape_of) {
        lines.push((0..s).map(|j| values[(j * step) as usize]).collect::<Vec<_>>());
        step *= s;
    }
    let joins = values.iter().enumerate().all(|(i, value)| {
        let mut rest = i;
        let digits = lines.iter().map(|line| {
            let digit = line[rest % line.len()];
            rest /= line.len();
            digit
        });
        digits.fold(0, |x, d| x ^ d) == *value
    });
    joins && lines.iter().all(|l| line(l, &carryless))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn questions(l in columns()) {
        if !is_linear(&l) {
            return Ok(()); // not what the law is about
        }
        let table = table(&l);
        prop_assert_eq!(l.min_index().unwrap(), *table.iter().min().unwrap());
        prop_assert_eq!(l.max_index().unwrap(), *table.iter().max().unwrap());
        prop_assert_eq!(l.is_injective().unwrap(), distinct(&table));
        let compact = oracle::sorted(table.clone()).into_iter().eq(0..size(&l));
        prop_assert_eq!(l.is_compact().unwrap(), compact);
        for index in 0..80 {
            match l.preimage(index).unwrap() {
                Some(coord) => prop_assert_eq!(l.crd2idx(&coord).unwrap(), index),
                None => prop_assert!(!table.contains(&index), "{} {}", l, index),
            }
        }
    }

    #[test]
    fn a_complement_fills_the_holes(l in columns(), n in 1i64..3000) {
        if !mixed(&l) {
            return Ok(()); // integers have laws of their own
        }
        match l.complement(Int::value(n)) {
            Ok(rest) => {
                let essential = leaves(&l.filter_zeros().coalesce());
                let both: Vec<Leaf> = essential.iter().copied().chain(leaves(&rest)).collect();
                let total: i64 = both.iter().map(|(s, ..)| s).product();
                let filled = oracle::sorted((0..total).map(|i| at(&both, i)).collect());
                prop_assert!(total >= n, "{} in {}: {}", l, n, rest);
                prop_assert!(filled.into_iter().eq(0..total), "{} in {}: {}", l, n, rest);
                prop_assert!(table(&rest).windows(2).all(|w| w[0] < w[1]));
            }
            Err(Error::Overlap { .. }) => prop_assert!(!distinct(&table(&l.filter_zeros()))),
            Err(error) => prop_assert!(!(is_linear(&l) && tractable_above(&l)), "{}: {}", l, error),
        }
    }

    #[test]
    fn right_inverse(l in columns()) {
        match l.right_inverse() {
            Ok(inverse) => {
                for (i, coord) in table(&inverse).into_iter().enumerate() {
                    prop_assert_eq!(at(&leaves(&l), coord), i as i64, "{}: {}", l, inverse);
                }
                // As far as the indices below the next power of two are all there.
                let image = table(&l);
                if pure(&l) {
                    prop_assert!((0..2 * size(&inverse)).any(|i| !image.contains(&i)), "{}: {}", l, inverse);
                }
            }
            Err(error) => prop_assert!(!pure(&l), "{}: {}", l, error),
        }
    }

    #[test]
    fn left_and_quasi_inverse(l in columns()) {
        match l.left_inverse() {
            Ok(inverse) => for (i, index) in table(&l).into_iter().enumerate() {
                prop_assert_eq!(at(&leaves(&inverse), index), i as i64, "{}: {}", l, inverse);
            },
            Err(Error::Overlap { .. }) => prop_assert!(!distinct(&table(&l)), "{}", l),
            Err(error) => prop_assert!(!pure(&l), "{}: {}", l, error),
        }
        match l.quasi_inverse() {
            Ok(inverse) => for index in table(&l) {
                prop_assert_eq!(at(&leaves(&l), at(&leaves(&inverse), index)), index, "{}: {}", l, inverse);
            },
            Err(error) => prop_assert!(!pure(&l), "{}: {}", l, error),
        }
    }

    #[test]
    fn composition_with_columns_on_the_right(a in strategies::arbitrary(3), s in columns(), b in columns()) {
        if size(&b) > 256 {
            return Ok(()); // the oracle would take long
        }
        for a in [a, s] {
            let truth: Vec<i64> = table(&b).into_iter().map(|i| at(&leaves(&a), i)).collect();
            match a.composition(&b) {
                Ok(r) => {
                    prop_assert_eq!(table(&r), truth, "{} o {} = {}", a, b, r);
                    prop_assert!(b.shape().compatible(r.shape()).unwrap());
                }
                Err(Error::Capacity { .. }) => {}
                Err(error) => {
                    prop_assert!(!oracle::has_layout(&zeros(&b), &truth), "{} o {}: {}", a, b, error);
                    prop_assert!(!(mixed(&a) || mixed(&b)) || !has_columns(&b, &truth), "{} o {}: {}", a, b, error);
                }
            }
        }
    }

    #[test]
    fn divides_rearrange(a in strategies::any_layout(3), t in columns(), k in 1i64..4) {
        let line = Lay::leaf(Int::value(1024 * k), Stride::from(1)).unwrap();
        for a in [a, line] {
            let n = size(&a);
            let Ok(divided) = a.logical_divide(&Tiler::Lay(t)) else { continue };
            let tile = divided.mode(0).unwrap();
            let truth: Vec<i64> = table(&t).into_iter().map(|i| oracle::at(&a, i)).collect();
            prop_assert_eq!(table(&tile), truth, "{} by {}", a, t);
            if n % 1024 == 0 && a.leaf_count() == 1 && distinct(&table(&t)) && size(&t) <= 256 && n % size(&divided) == 0 {
                prop_assert_eq!(oracle::sorted(table(&divided)), (0..n).collect::<Vec<_>>(), "{} by {}: {}", a, t, divided);
            }
        }
    }

    #[test]
    fn divides_by_mode(t in columns(), u in columns()) {
        let a = lay!("(512,512):(1,512)");
        let tiles = Tiler::modes(&[Tile::Lay(t), Tile::Lay(u)]).unwrap();
        if let Ok(tile) = a.compose(&tiles) {
            let (t, u) = (table(&t), table(&u));
            let truth = u.iter().flat_map(|y| t.iter().map(move |x| x % 512 + (x / 512) * 512 + 512 * y));
            if t.iter().all(|x| *x < 512) {
                prop_assert!(table(&tile).into_iter().eq(truth));
            }
        }
    }

    #[test]
    fn products_are_injective(a in columns(), b in columns(), c in strategies::tractable(2)) {
        for (a, b) in [(a, c), (c, b), (a, b)] {
            for product in [girih_layout::Product::FillHoles, girih_layout::Product::Outer] {
                if size(&a) * size(&b) > 4096 {
                    continue;
                }
                match a.logical_product_with(&Tiler::Lay(b), product) {
                    Ok(both) => {
                        prop_assert_eq!(both.mode(0).unwrap(), a);
                        prop_assert!(b.shape().compatible(both.mode(1).unwrap().shape()).unwrap());
                        let once = distinct(&table(&a)) && distinct(&table(&b));
                        prop_assert!(!once || distinct(&table(&both)), "{} by {}: {}", a, b, both);
                    }
                    Err(_) => prop_assert!(!(pure(&a) && is_binary_line(&b) && distinct(&table(&a))), "{} by {}", a, b),
                }
            }
        }
    }
}

/// Whether `b` is `n:1` in powers of two: an arrangement that every block of powers of two has.
fn is_binary_line(b: &Lay) -> bool {
    leaves(b).iter().all(|(s, ..)| s.count_ones() == 1)
        && b.coalesce().leaf_count() == 1
        && b.coalesce().flat_leaf(0).1 == Stride::from(1)
}

/// The extents with stride 0: the integer oracle asks for the shape only.
fn zeros(l: &Lay) -> Lay {
    let modes: Vec<Lay> =
        leaves(l).iter().map(|(s, ..)| Lay::leaf(Int::value(*s), Stride::ZERO).unwrap()).collect();
    Lay::concat(&modes).unwrap()
}

/// Whether all of it is one map over F2: powers of two, and integers apart.
fn pure(l: &Lay) -> bool {
    let mut taken = 0;
    mixed(l)
        && leaves(l).iter().all(|(s, d, column)| {
            let apart = *column
                || (0..s.ilog2()).map(|bit| d << bit).all(|b| {
                    let free = taken & b == 0;
                    taken |= b;
                    free
                });
            s.count_ones() == 1 && apart
        })
        && is_linear(l)
}

/// Whether there are columns at all.
fn mixed(l: &Lay) -> bool {
    essential(l).iter().any(|leaf| leaf.2)
}

/// Whether the modes above the columns end where the next can begin.
fn tractable_above(l: &Lay) -> bool {
    let mut above: Vec<Leaf> = essential(l).into_iter().filter(|(_, d, _)| *d >= 512).collect();
    above.sort_by_key(|leaf| leaf.1);
    above.windows(2).all(|w| w[1].1 % (w[0].0 as u64 * w[0].1) == 0)
}

#[test]
fn worked_examples() {
    // A tile of 8 x 8, swizzled, three stages of it.
    let stages = lay!("(8,8,3):(^1,^9,64)");
    assert_eq!(stages.cosize().unwrap().get(), Some(192));
    assert_eq!(stages.complement(Int::value(384)).unwrap(), lay!("2:192"));
    assert_eq!(stages.right_inverse().unwrap(), lay!("(8,8,3):(^1,^9,64)"));
    assert_eq!(stages.left_inverse().unwrap(), lay!("(8,8,3):(^1,^9,64)"));
    assert_eq!(
        stages.logical_product(&Tiler::parse("2:1").unwrap()).unwrap(),
        lay!("((8,8,3),2):((^1,^9,64),192)")
    );
    // The identity through a swizzle and back.
    let swizzle = lay!("(8,8):(^1,^9)");
    assert_eq!(swizzle.composition(&swizzle).unwrap(), lay!("(8,8):(1,8)"));
    assert_eq!(lay!("192:2").logical_divide(&Tiler::Lay(swizzle)).unwrap(), lay!("((8,8),3):((^2,^18),128)"));
    assert_eq!(lay!("(3,64):(64,1)").composition(&swizzle).unwrap_err().kind(), "no_layout");
    assert_eq!(lay!("(8,8):(^1,^1)").complement(Int::value(64)).unwrap_err().kind(), "overlap");
    assert_eq!(lay!("(3,8):(1,^4)").complement(Int::value(64)).unwrap_err().kind(), "unsupported");
    let pitch = Lay::parse("(8,8,s0):(^1,^9,s1)").unwrap();
    assert_eq!(pitch.complement(Int::value(64)).unwrap_err().kind(), "needs_fact");
}
