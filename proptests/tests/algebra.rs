//! Complement, inverses, divides, products, recasts and swizzles: the laws N, I, D, X, R and W.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Composed, Error, Int, Lay, Stride, Swizzle, Tile, Tiler, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

fn line(s: i64, d: i64) -> Lay {
    Lay::leaf(Int::value(s), Stride::from(d)).unwrap()
}

fn complement(l: &Lay, n: i64) -> Result<Lay, Error> {
    l.complement(Int::value(n))
}

/// The modes that lead somewhere, by stride.
fn essential(l: &Lay) -> Vec<(i64, i64)> {
    let mut leaves: Vec<_> = oracle::leaves(l).into_iter().filter(|(s, d)| *s > 1 && *d != 0).collect();
    leaves.sort_by_key(|(_, d)| *d);
    leaves
}

fn round_up(n: i64, to: i64) -> i64 {
    (n + to - 1) / to * to
}

fn end(l: &Lay) -> i64 {
    essential(l).last().map_or(1, |(s, d)| s * d)
}

/// All sums of an index of `a` and one of `b`.
fn sums(a: &Lay, b: &Lay) -> Vec<i64> {
    let (a, b) = (oracle::table(a), oracle::table(b));
    oracle::sorted(b.iter().flat_map(|y| a.iter().map(move |x| x + y)).collect())
}

fn increasing(l: &Lay) -> bool {
    oracle::table(l).windows(2).all(|w| w[0] < w[1])
}

proptest! {
    #[test]
    fn n01_n02_n03_n04_a_complement_fills_the_holes(l in strategies::tractable(4), n in 1i64..200) {
        let (filtered, c) = (l.filter(), end(&l));
        let rest = complement(&l, n).unwrap();
        prop_assert!(increasing(&rest));
        let covered = round_up(n, c);
        prop_assert_eq!(sums(&filtered, &rest), (0..covered).collect::<Vec<_>>());
    }

    #[test]
    fn n05_n06_twice_is_sorted(l in strategies::tractable(4), k in 1i64..4) {
        let m = end(&l) * k;
        let once = complement(&l, m).unwrap();
        let twice = complement(&once, m).unwrap();
        let leaves: Vec<Lay> = essential(&l).into_iter().map(|(s, d)| line(s, d)).collect();
        let sorted = if leaves.is_empty() { Lay::UNIT } else { Lay::concat(&leaves).unwrap() };
        prop_assert_eq!(twice, sorted.coalesce());
        prop_assert_eq!(complement(&l.flatten(), m).unwrap(), once);
        prop_assert_eq!(complement(&sorted, m).unwrap(), once);
    }

    #[test]
    fn n08_irregular_holes_are_refused(l in strategies::signed(4), n in 1i64..99) {
        let leaves = essential(&l);
        let regular = leaves.iter().scan(1, |end, (s, d)| {
            let fits = *d > 0 && d % *end == 0;
            *end = s * d;
            Some(fits)
        }).all(|fits| fits);
        // Coalescing may join modes first, which never makes them irregular.
        match complement(&l, n) {
            Ok(rest) => {
                prop_assert!(increasing(&rest));
                prop_assert_eq!(sums(&l.filter(), &rest), (0..round_up(n, end(&l))).collect::<Vec<_>>());
            }
            Err(error) => {
                prop_assert!(!regular, "{}: {}", l, error);
                prop_assert!(error.kind() != "overlap" || !oracle::injective(&l.filter()), "{}: {}", l, error);
                prop_assert!(matches!(error.kind(), "not_tractable" | "overlap" | "non_positive_stride"));
            }
        }
    }

    #[test]
    fn the_floored_complement_is_disjoint(l in strategies::arbitrary(3), n in 1i64..99) {
        if let Ok(rest) = l.complement_floor(Int::value(n)) {
            prop_assert!(increasing(&rest));
            if oracle::injective(&l.filter()) && complement(&l, n).is_ok() {
                prop_assert_eq!(rest, complement(&l, n).unwrap());
            }
        }
    }

    #[test]
    fn i01_i07_right_inverse(l in strategies::any_layout(4)) {
        let inverse = l.right_inverse().unwrap();
        for (i, c) in oracle::table(&inverse).into_iter().enumerate() {
            prop_assert_eq!(oracle::at(&l, c), i as i64);
        }
        // Where modes follow on one another from 1, none is left out.
        let mut run = 1;
        while let Some(s) = essential(&l.coalesce()).iter().filter(|(_, d)| *d == run).map(|(s, _)| *s).max() {
            run *= s;
        }
        prop_assert_eq!(oracle::size(&inverse), run);
    }

    #[test]
    fn i02_i03_i04_compact_layouts_have_two_sided_inverses(l in strategies::compact(4)) {
        let (right, left) = (l.right_inverse().unwrap(), l.left_inverse().unwrap());
        prop_assert_eq!(oracle::size(&right), oracle::size(&l));
        prop_assert!(right.equivalent(&left));
        prop_assert_eq!(right.right_inverse().unwrap(), l.coalesce());
        let identity = line(oracle::size(&l), 1);
        prop_assert!(l.composition(&right).unwrap().equivalent(&identity));
        prop_assert!(right.composition(&l).unwrap().equivalent(&identity));
    }

    #[test]
    fn i05_i06_left_inverse(l in strategies::any_layout(3)) {
        match l.left_inverse() {
            Ok(inverse) => for (i, index) in oracle::table(&l).into_iter().enumerate() {
                prop_assert_eq!(inverse.at_extended(index).unwrap(), i as i64);
            },
            Err(error) => {
                let leaves = essential(&l);
                let divides = leaves.windows(2).all(|w| w[1].1 % w[0].1 == 0);
                let positive = leaves.iter().all(|(_, d)| *d > 0);
                prop_assert!(!(oracle::injective(&l) && divides && positive), "{}: {}", l, error);
            }
        }
    }

    #[test]
    fn i08_quasi_inverse(l in strategies::arbitrary(3)) {
        if let Ok(inverse) = l.quasi_inverse() {
            for index in oracle::table(&l) {
                prop_assert_eq!(oracle::at(&l, inverse.at_extended(index).unwrap()), index);
            }
        }
    }

    #[test]
    fn i09_the_inverse_of_a_composition(a in strategies::tractable(2), b in strategies::tractable(2)) {
        if let (Ok(both), Ok(ia), Ok(ib)) = (a.composition(&b), a.left_inverse(), b.left_inverse())
            && b.max_index().unwrap() < oracle::size(&a)
            && let Ok(inverse) = both.left_inverse()
        {
            for index in oracle::table(&both) {
                let steps = ib.at_extended(ia.at_extended(index).unwrap()).unwrap();
                prop_assert_eq!(inverse.at_extended(index).unwrap(), steps);
            }
        }
    }

    #[test]
    fn i11_i12_what_two_layouts_share(a in strategies::any_layout(3), b in strategies::any_layout(3), c in strategies::compact(3), d in strategies::compact(3)) {
        for (a, b) in [(a, b), (c, d), (c, c), (a, c), (c, a)] {
            let common = a.max_common_layout(&b).unwrap();
            for (i, x) in oracle::table(&common).into_iter().enumerate() {
                prop_assert_eq!((oracle::at(&a, x), oracle::at(&b, x)), (i as i64, i as i64));
            }
            prop_assert_eq!(oracle::size(&common), longest_common(&a, &b), "{} and {}: {}", a, b, common);
            prop_assert_eq!(a.max_common_vector(&b).unwrap().get().unwrap(), longest_vector(&a, &b));
        }
        let whole = line(oracle::size(&c), 1);
        prop_assert_eq!(c.max_common_layout(&c).unwrap(), c.right_inverse().unwrap());
        prop_assert_eq!(whole.max_common_vector(&whole).unwrap(), whole.size().unwrap());
    }

    #[test]
    fn r04_r06_recasts_in_steps(l in strategies::compact(3), m in 1i64..5, n in 1i64..5) {
        if let (Ok(once), Ok(first)) = (l.upcast(m * n), l.upcast(n))
            && let Ok(twice) = first.upcast(m)
        {
            prop_assert_eq!(oracle::table(&once), oracle::table(&twice));
        }
        let steps = if m == n { Ok(l) } else { l.downcast(m / gcd(m, n)).and_then(|l| l.upcast(n / gcd(m, n))) };
        prop_assert_eq!(l.recast(8 * m, 8 * n), steps);
    }

    #[test]
    fn t03_t04_partitions_of_a_tile(thr in strategies::compact(2), val in strategies::compact(2)) {
        // The tile that threads and their values rake over, as (thread, value) -> place.
        let raked = thr.raked_product(&val).unwrap();
        let (t, v) = (oracle::size(&thr), oracle::size(&val));
        let shape = girih_layout::Shape::flat(&[Int::value(t), Int::value(v)]).unwrap();
        let tv = raked.right_inverse().unwrap().with_shape(&shape).unwrap();
        prop_assert_eq!(oracle::sorted(oracle::table(&tv)), (0..t * v).collect::<Vec<_>>());
        let data = line(t * v, 3);
        let partition = data.composition(&tv).unwrap();
        for i in 0..t * v {
            prop_assert_eq!(oracle::at(&partition, i), oracle::at(&data, oracle::at(&tv, i)));
        }
    }

    #[test]
    fn d01_d02_d03_divide_rearranges(a in strategies::any_layout(3), b in strategies::tractable(2)) {
        let n = oracle::size(&a);
        if n % end(&b) != 0 {
            return Ok(()); // not what the law is about
        }
        let rest = complement(&b, n).unwrap();
        let both = Lay::concat(&[b, rest]).unwrap();
        match a.logical_divide(&Tiler::Lay(b)) {
            Ok(divided) => {
                prop_assert_eq!(divided.rank(), 2);
                if let (Ok(tile), Ok(rests)) = (a.composition(&b), a.composition(&rest)) {
                    prop_assert_eq!(oracle::table(&divided.mode(0).unwrap()), oracle::table(&tile));
                    prop_assert_eq!(oracle::table(&divided.mode(1).unwrap()), oracle::table(&rests));
                }
                if oracle::injective(&b) && exact(&a, &b) {
                    prop_assert_eq!(oracle::sorted(oracle::table(&divided)), oracle::sorted(oracle::table(&a)));
                }
            }
            Err(_) => prop_assert!(a.composition(&both).is_err() || !exact(&a, &b)),
        }
    }

    #[test]
    fn d04_a_divide_can_be_undone(a in strategies::any_layout(3), b in strategies::tractable(2)) {
        let n = oracle::size(&a);
        if n % end(&b) != 0 || !oracle::injective(&b) || !exact(&a, &b) {
            return Ok(()); // not what the law is about
        }
        let both = Lay::concat(&[b, complement(&b, n).unwrap()]).unwrap();
        let (Ok(divided), Ok(back)) = (a.logical_divide(&Tiler::Lay(b)), both.left_inverse()) else { return Ok(()) };
        let recovered: Vec<i64> = (0..n).map(|i| oracle::at(&divided, oracle::at(&back, i))).collect();
        prop_assert_eq!(recovered, oracle::table(&a));
    }

    #[test]
    fn d05_an_uneven_divide_rounds_up(s in 1i64..60, d in 1i64..5, t in 1i64..9) {
        let divided = line(s, d).logical_divide(&Tiler::Lay(line(t, 1))).unwrap();
        let table = oracle::table(&divided);
        prop_assert_eq!(table.len() as i64, round_up(s, t));
        let inside: Vec<i64> = table.iter().copied().filter(|i| *i < s * d).collect();
        prop_assert_eq!(inside, oracle::table(&line(s, d)));
    }

    #[test]
    fn d05_no_tile_straddles_a_mode(s in 2i64..12, n in 1i64..5, d in 1i64..50, e in 1000i64..1050, t in 1i64..12) {
        if t >= s {
            return Ok(()); // not what the law is about
        }
        let a = Lay::concat(&[line(s, d), line(n, e)]).unwrap();
        let divided = a.logical_divide(&Tiler::Lay(line(t, 1))).unwrap();
        let per_column = (s + t - 1) / t;
        for (i, index) in oracle::table(&divided).into_iter().enumerate() {
            let (i, tile) = (i as i64 % t, i as i64 / t);
            prop_assert_eq!(index, (i + tile % per_column * t) * d + tile / per_column * e);
        }
        prop_assert_eq!(oracle::size(&divided), per_column * t * n);
    }

    #[test]
    fn d06_d07_d08_divides_by_mode(
        m in 1i64..9, n in 1i64..9, p in 1i64..5, q in 1i64..5, e in 1i64..50, f in 1i64..50,
    ) {
        let a = Lay::concat(&[line(m * p, e), line(n * q, f), line(3, 1000)]).unwrap();
        let tiler = Tiler::sizes(&[p, q]).unwrap();
        let logical = a.logical_divide(&tiler).unwrap();
        let zipped = a.zipped_divide(&tiler).unwrap();
        for k in 0..2 {
            for (outer, inner) in [(0, 0), (1, 1)] {
                prop_assert_eq!(
                    zipped.mode(outer).unwrap().mode(k).unwrap(),
                    logical.mode(k).unwrap().mode(inner).unwrap()
                );
            }
        }
        let index = |i, j, x, y, z: i64| {
            let digits = [i, j, x, y, z].map(Some);
            zipped.crd2idx(&strategies::coordinate(&zipped, &digits))
        };
        for (i, j, x, y, z) in (0..p).flat_map(|i| (0..q).map(move |j| (i, j, m - 1, n - 1, 2))) {
            prop_assert_eq!(index(i, j, x, y, z).unwrap(), (i + x * p) * e + (j + y * q) * f + z * 1000);
        }
        let (tiled, flat) = (a.tiled_divide(&tiler).unwrap(), a.flat_divide(&tiler).unwrap());
        prop_assert_eq!((zipped.rank(), tiled.rank(), flat.rank()), (2, 4, 5));
        prop_assert_eq!(oracle::table(&tiled), oracle::table(&zipped));
        prop_assert_eq!(oracle::table(&flat), oracle::table(&zipped));
        let all = Tiler::modes(&[Tile::All, Tile::All]).unwrap();
        prop_assert_eq!(a.logical_divide(&all).unwrap(), a);
        prop_assert!(a.zipped_divide(&Tiler::sizes(&[1, 1, 1, 1]).unwrap()).is_err());
    }

    #[test]
    fn d10_by_everything(a in strategies::any_layout(4)) {
        let whole = a.logical_divide(&Tiler::Lay(line(oracle::size(&a), 1))).unwrap();
        prop_assert!(whole.mode(0).unwrap().equivalent(&a));
        prop_assert!(whole.mode(1).unwrap().equivalent(&Lay::UNIT));
    }

    #[test]
    fn x01_x02_x03_products(a in strategies::tractable(3), b in strategies::tractable(2)) {
        if oracle::size(&a) * oracle::size(&b) > 4096 {
            return Ok(()); // not what the law is about
        }
        if let Ok(product) = a.logical_product(&Tiler::Lay(b)) {
            prop_assert_eq!(product.mode(0).unwrap(), a);
            prop_assert!(b.shape().compatible(product.mode(1).unwrap().shape()));
            prop_assert!(!(oracle::injective(&a) && oracle::injective(&b)) || oracle::injective(&product));
        }
    }

    #[test]
    fn x04_x05_compact_blocks(a in strategies::compact(3), b in strategies::arbitrary(2), n in 1i64..9) {
        let copies = a.logical_product(&Tiler::Lay(b)).unwrap().mode(1).unwrap();
        let size = oracle::size(&a);
        let expected: Vec<i64> = oracle::table(&b).into_iter().map(|i| i * size).collect();
        prop_assert_eq!(oracle::table(&copies), expected);
        let product = a.logical_product(&Tiler::Lay(line(n, 1))).unwrap();
        let divided = product.logical_divide(&Tiler::Lay(line(size, 1))).unwrap();
        prop_assert!(divided.mode(0).unwrap().equivalent(&a));
        prop_assert!(divided.mode(1).unwrap().equivalent(&product.mode(1).unwrap()));
    }

    #[test]
    fn x06_associative(a in strategies::compact(2), b in strategies::compact(2), c in strategies::compact(2)) {
        let times = |a: &Lay, b: &Lay| a.logical_product(&Tiler::Lay(*b)).unwrap();
        prop_assert!(times(&times(&a, &b), &c).equivalent(&times(&a, &times(&b, &c))));
    }

    #[test]
    fn x07_x08_blocked_and_raked(a in strategies::compact(2), b in strategies::compact(2)) {
        let (blocked, raked) = (a.blocked_product(&b).unwrap(), a.raked_product(&b).unwrap());
        prop_assert_eq!(oracle::sorted(oracle::table(&blocked)), oracle::sorted(oracle::table(&raked)));
        for k in 0..blocked.rank() {
            let (block, rake) = (blocked.mode(k).unwrap(), raked.mode(k).unwrap());
            prop_assert_eq!(block.select(&[1, 0]).unwrap(), rake);
        }
    }

    #[test]
    fn x09_tile_to_shape(a in strategies::compact(2), counts in prop::collection::vec(1i64..4, 2)) {
        let target: Vec<Int> = (0..2)
            .map(|k| Int::value(counts[k] * if k < a.rank() { oracle::size(&a.mode(k).unwrap()) } else { 1 }))
            .collect();
        let target = girih_layout::Shape::flat(&target).unwrap();
        let tiled = a.tile_to_shape(&target, None).unwrap();
        prop_assert!(target.compatible(tiled.shape()));
        prop_assert_eq!(oracle::sorted(oracle::table(&tiled)), (0..oracle::size(&tiled)).collect::<Vec<_>>());
    }

    #[test]
    fn r01_r02_r03_recasts(l in strategies::compact(3), n in 1i64..5) {
        if oracle::leaves(&l).iter().any(|(s, d)| *s == 1 && *d == 1) {
            return Ok(()); // not what the law is about
        }
        if oracle::size(&l) == 1 {
            return Ok(()); // not what the law is about
        }
        let down = l.downcast(n).unwrap();
        let image: Vec<i64> = oracle::table(&l).iter().flat_map(|x| (0..n).map(move |j| n * x + j)).collect();
        prop_assert_eq!(oracle::sorted(oracle::table(&down)), oracle::sorted(image));
        prop_assert_eq!(down.upcast(n).unwrap(), l);
        if let Ok(up) = l.upcast(n) {
            let mut image: Vec<i64> = oracle::sorted(oracle::table(&l).iter().map(|x| x / n).collect());
            image.dedup();
            prop_assert_eq!(oracle::sorted(oracle::table(&up)), image);
        }
    }

    #[test]
    fn r02_r03_what_is_recast_at_all_is_right(l in strategies::arbitrary(3), n in 1i64..9) {
        let image = |l: &Lay| { let mut t = oracle::sorted(oracle::table(l)); t.dedup(); t };
        if let Ok(down) = l.downcast(n) {
            let parts: Vec<i64> = image(&l).into_iter().flat_map(|x| (0..n).map(move |j| n * x + j)).collect();
            prop_assert_eq!(image(&down), parts, "{} down {}", l, n);
        }
        if let Ok(up) = l.upcast(n) {
            let mut units: Vec<i64> = image(&l).into_iter().map(|x| x / n).collect();
            units.dedup();
            prop_assert_eq!(image(&up), units, "{} up {}", l, n);
        }
    }

    #[test]
    fn r05_w01_w02_w03_w04_swizzles(bits in 0u32..4, base in 0u32..5, more in 0i32..4, down: bool, n in 0u32..5) {
        let distance = bits as i32 + more;
        let swizzle = Swizzle::new(bits, base, if down { -distance } else { distance }).unwrap();
        let period = swizzle.period();
        let (mask, base_mask) = ((1i64 << bits) - 1, (1i64 << base) - 1);
        let (from, to) = if down { (base as i32, base as i32 + distance) } else { (base as i32 + distance, base as i32) };
        let mut image = Vec::new();
        for x in 0..period {
            let y = swizzle.apply(x);
            prop_assert_eq!(y, x ^ (((x >> from) & mask) << to));
            prop_assert_eq!(swizzle.apply(y), x);
            prop_assert_eq!(swizzle.apply(x ^ (7 * x % period)), y ^ swizzle.apply(7 * x % period));
            let within = (x >> base << base..).take(1 << base).position(|x| swizzle.apply(x) == y);
            prop_assert_eq!(within, Some((x & base_mask) as usize));
            prop_assert_eq!(swizzle.apply(x + period), y + period);
            prop_assert_eq!(y & base_mask, x & base_mask);
            image.push(y);
        }
        prop_assert_eq!(oracle::sorted(image), (0..period).collect::<Vec<_>>());
        match swizzle.upcast(n) {
            Ok(up) => for x in 0..period {
                prop_assert_eq!(up.apply(x), swizzle.apply(x << n) >> n);
            },
            Err(_) => prop_assert!(n > base),
        }
    }

    #[test]
    fn swizzled_slices((l, c) in strategies::arbitrary(3).prop_flat_map(strategies::slicing), offset in 0i64..64) {
        let swizzled = Composed::new(Swizzle::new(2, 1, 2).unwrap(), offset, l);
        let slice = swizzled.slice(&c).unwrap();
        let (plain, start) = l.slice(&c).unwrap();
        for i in 0..oracle::size(&plain) {
            prop_assert_eq!(slice.at(i).unwrap(), swizzled.swizzle().apply(offset + start + plain.at(i).unwrap()));
        }
    }
}

/// The size of the longest piece of `b`'s right inverse that is a layout and on which `a` counts from 0: every length is tried.
fn longest_common(a: &Lay, b: &Lay) -> i64 {
    let places = oracle::table(&b.right_inverse().unwrap());
    let common = |(i, x): (i64, &i64)| *x < oracle::size(a) && oracle::at(a, *x) == i;
    let run = (0..).zip(&places).take_while(|pair| common(*pair)).count();
    (1..=run).rev().find(|n| oracle::is_layout(&places[..*n])).unwrap() as i64
}

/// How many of the first places of that piece follow on one another.
fn longest_vector(a: &Lay, b: &Lay) -> i64 {
    let places = oracle::table(&b.right_inverse().unwrap());
    let n = longest_common(a, b) as usize;
    (0..).zip(&places[..n]).take_while(|(i, x)| i == *x).count() as i64
}

/// Whether the tile ends at a mode boundary or divides the mode it ends in, so that nothing is rounded.
fn exact(a: &Lay, b: &Lay) -> bool {
    let (end, mut begin) = (end(b), 1);
    for (s, _) in oracle::leaves(&a.coalesce()) {
        if end < begin * s {
            return end % begin != 0 || s % (end / begin) == 0;
        }
        begin *= s;
    }
    true
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn t01_t02_fragments_cover_their_tiles() {
    // Thread and value to the place in the tile, column-major: C, A and B of m16n8k16, C of wgmma m64n32, and an operand in shared memory that
    // every thread of a warpgroup has.
    for (text, tile, replicas) in [
        ("((4,8),(2,2)):((32,1),(16,8))", 16 * 8, 1),
        ("((4,8),(2,2,2)):((32,1),(16,8,128))", 16 * 16, 1),
        ("((4,8),(2,2)):((16,1),(8,64))", 8 * 16, 1),
        ("((4,8,4),(2,2,4)):((128,1,16),(64,8,512))", 64 * 32, 1),
        ("(128,(64,16)):(0,(1,64))", 64 * 16, 128),
    ] {
        let tv = Lay::parse(text).unwrap();
        assert_eq!(oracle::sorted(oracle::table(&tv.filter())), (0..tile).collect::<Vec<_>>(), "{text}");
        assert_eq!(oracle::size(&tv.nullspace().unwrap()), replicas, "{text}");
    }
}

#[test]
fn n07_worked_complements() {
    for (l, n, expected) in [
        (lay!("4:1"), 24, lay!("6:4")),
        (lay!("6:4"), 24, lay!("4:1")),
        (lay!("1:0"), 7, lay!("7:1")),
        (lay!("7:1"), 7, lay!("1:0")),
        (lay!("(2,2):(1,6)"), 24, lay!("(3,2):(2,12)")),
    ] {
        assert_eq!(complement(&l, n).unwrap(), expected);
    }
    assert_eq!(complement(&lay!("(2,2):(1,1)"), 8).unwrap_err().kind(), "overlap");
    assert_eq!(complement(&lay!("(2,2):(1,3)"), 12).unwrap_err().kind(), "not_tractable");
    assert_eq!(lay!("(2,2):(1,3)").complement_floor(Int::value(12)).unwrap(), lay!("2:6"));
    assert_eq!(complement(&lay!("4:-1"), 8).unwrap_err().kind(), "non_positive_stride");
}

#[test]
fn x10_a_number_is_a_compact_tile() {
    let a = lay!("(4,2):(1,8)");
    let (number, layout) = (Tiler::parse("2").unwrap(), Tiler::parse("2:1").unwrap());
    assert_eq!(a.logical_product(&number), a.logical_product(&layout));
    assert_eq!(a.logical_product(&number).unwrap(), lay!("((4,2),2):((1,8),4)"));
    assert_eq!(a.logical_divide(&number), a.logical_divide(&layout));
}

#[test]
fn i07_of_equal_strides_the_largest_mode_counts() {
    assert_eq!(lay!("(2,3):(1,1)").right_inverse().unwrap(), lay!("3:2"));
    assert_eq!(lay!("(3,2):(1,1)").right_inverse().unwrap(), lay!("3:1"));
    assert_eq!(lay!("(3,4):(0,1)").right_inverse().unwrap(), lay!("4:3"));
    assert_eq!(lay!("4:2").right_inverse().unwrap(), Lay::UNIT);
}

#[test]
fn seeds_worked_examples() {
    let a = lay!("(9,(4,8)):(59,(13,1))");
    let tiler = Tiler::parse("<3:3,(2,4):(1,8)>").unwrap();
    let logical = "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))";
    assert_eq!(a.logical_divide(&tiler).unwrap().to_string(), logical);
    assert_eq!(
        a.zipped_divide(&tiler).unwrap().to_string(),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    );
    let (block, tiler) = (lay!("(2,5):(5,1)"), Tiler::parse("<3:5,4:6>").unwrap());
    assert_eq!(block.logical_product(&tiler).unwrap(), block.blocked_product(&lay!("(3,4):(1,3)")).unwrap());
    assert_eq!(block.zipped_product(&tiler).unwrap(), lay!("((2,5),(3,4)):((5,1),(10,30))"));
    assert_eq!(block.tiled_product(&tiler).unwrap(), lay!("((2,5),3,4):((5,1),10,30)"));
    assert_eq!(lay!("20:2").composition(&lay!("(5,4):(4,1)")).unwrap(), lay!("(5,4):(8,2)"));
}
