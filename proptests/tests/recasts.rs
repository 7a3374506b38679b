//! Recasts of layouts and swizzles: the laws R, and W01 to W04.

use girih_layout::{Composed, Lay, Swizzle};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

proptest! {
    #[test]
    fn r04_r06_recasts_in_steps(l in strategies::compact(3), m in 1i64..5, n in 1i64..5) {
        if let (Ok(once), Ok(first)) = (l.upcast(m * n), l.upcast(n))
            && let Ok(twice) = first.upcast(m)
        {
            prop_assert_eq!(oracle::table(&once), oracle::table(&twice));
        }
        let steps = if m == n { Ok(l) } else { l.downcast(m / gcd(m, n)).and_then(|l| l.upcast(n / gcd(m, n))) };
        // Its errors are those of the steps, under its own name.
        prop_assert_eq!(l.recast(8 * m, 8 * n).map_err(|error| error.kind()), steps.map_err(|error| error.kind()));
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
    fn r05_units_of_swizzles(swizzle in strategies::swizzles(), n in 0u32..5) {
        match swizzle.upcast(n) {
            Ok(up) => for x in 0..swizzle.period() {
                prop_assert_eq!(up.apply(x), swizzle.apply(x << n) >> n);
            },
            Err(_) => prop_assert!(n > swizzle.base()),
        }
    }

    #[test]
    fn swizzled_slices((l, c) in strategies::arbitrary(3).prop_flat_map(strategies::slicing), offset in 0i64..64) {
        let swizzled = Composed::new(Swizzle::new(2, 1, 2).unwrap(), offset, l);
        let slice = swizzled.slice(&c).unwrap();
        let (plain, start) = l.slice(&c).unwrap();
        let start = start.get().unwrap();
        for i in 0..oracle::size(&plain) {
            prop_assert_eq!(slice.at(i).unwrap(), swizzled.swizzle().apply(offset + start + plain.at(i).unwrap()));
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
