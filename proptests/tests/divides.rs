//! Divides: the laws D.

use girih_layout::{Error, Int, Lay, Shape, Tile, Tiler, Tiles};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

fn complement(l: &Lay, n: i64) -> Result<Lay, Error> {
    l.complement(Int::value(n))
}

proptest! {
    #[test]
    fn d01_d02_d03_divide_rearranges(a in strategies::any_layout(3), b in strategies::tractable(2)) {
        let n = oracle::size(&a);
        if n % oracle::end(&b) != 0 {
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
        if n % oracle::end(&b) != 0 || !oracle::injective(&b) || !exact(&a, &b) {
            return Ok(()); // not what the law is about
        }
        let both = Lay::concat(&[b, complement(&b, n).unwrap()]).unwrap();
        let (Ok(divided), Ok(back)) = (a.logical_divide(&Tiler::Lay(b)), both.left_inverse()) else { return Ok(()) };
        let recovered: Vec<i64> = (0..n).map(|i| oracle::at(&divided, oracle::at(&back, i))).collect();
        prop_assert_eq!(recovered, oracle::table(&a));
    }

    #[test]
    fn d05_an_uneven_divide_rounds_up(s in 1i64..60, d in 1i64..5, t in 1i64..9) {
        let divided = strategies::line(s, d).logical_divide(&Tiler::Lay(strategies::line(t, 1))).unwrap();
        let table = oracle::table(&divided);
        prop_assert_eq!(table.len() as i64, oracle::round_up(s, t));
        let inside: Vec<i64> = table.iter().copied().filter(|i| *i < s * d).collect();
        prop_assert_eq!(inside, oracle::table(&strategies::line(s, d)));
    }

    #[test]
    fn d05_no_tile_straddles_a_mode(s in 2i64..12, n in 1i64..5, d in 1i64..50, e in 1000i64..1050, t in 1i64..12) {
        if t >= s {
            return Ok(()); // not what the law is about
        }
        let a = Lay::concat(&[strategies::line(s, d), strategies::line(n, e)]).unwrap();
        let divided = a.logical_divide(&Tiler::Lay(strategies::line(t, 1))).unwrap();
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
        let a = Lay::concat(&[strategies::line(m * p, e), strategies::line(n * q, f), strategies::line(3, 1000)]).unwrap();
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

    /// Tiles of a mode's modes are the tiles of the modes side by side, in the tree of the tiler.
    #[test]
    fn tilers_of_a_modes_modes(
        m in 1i64..4, n in 1i64..4, k in 1i64..4, p in 1i64..4, q in 1i64..4, r in 1i64..4,
        steps in prop::array::uniform3(1i64..50), whole in 0usize..8,
    ) {
        let extents = [m * p, n * q, k * r];
        let [a, b, c] = [0, 1, 2].map(|i| strategies::line(extents[i], steps[i]));
        let nested = Lay::concat(&[Lay::concat(&[a, b]).unwrap(), c]).unwrap();
        let flat = Lay::concat(&[a, b, c]).unwrap();
        let [t, u, v] = [(p, 0), (q, 1), (r, 2)].map(|(n, bit)| match whole >> bit & 1 {
            0 => Tile::Lay(strategies::line(n, 1)),
            _ => Tile::All,
        });
        let within = Tiler::modes(&[Tile::Modes(Tiles::new(&[t, u]).unwrap()), v]).unwrap();
        let beside = Tiler::modes(&[t, u, v]).unwrap();
        prop_assert_eq!(Tiler::parse(&within.to_string()).unwrap(), within);
        let Tiler::Modes(tiles) = within else { return Ok(()) };
        prop_assert_eq!(tiles.tile(0).unwrap(), Tile::Modes(Tiles::new(&[t, u]).unwrap()));
        prop_assert_eq!(tiles.tile(1).unwrap(), v);
        for (by, tree) in [
            (Lay::compose as fn(&Lay, &Tiler) -> Result<Lay, girih_layout::Error>, "((a,b),c)"),
            (Lay::logical_divide, "((a,b),c)"),
            (Lay::zipped_divide, "(((a,b),c),((d,e),f))"),
            (Lay::logical_product, "((a,b),c)"),
            (Lay::zipped_product, "(((a,b),c),((d,e),f))"),
        ] {
            let (one, other) = (by(&nested, &within), by(&flat, &beside));
            let (Ok(one), Ok(other)) = (&one, &other) else {
                prop_assert_eq!(one.map_err(|e| e.kind()).err(), other.map_err(|e| e.kind()).err());
                return Ok(());
            };
            prop_assert_eq!(oracle::table(one), oracle::table(other));
            let mut modes = 0;
            let tree = Shape::parse(&tree.replace(|c: char| c.is_ascii_lowercase(), "1")).unwrap();
            modes += tree.leaf_count();
            prop_assert!(tree.weakly_congruent(one.shape()), "{one} has no tree of {modes} modes {tree}");
        }
        let (divided, residue) = nested.divide_with_residue(&within).unwrap();
        prop_assert!((0..oracle::size(&divided)).all(|i| residue.is_inside(i) == Ok(true)));
        // More tiles than modes, at any depth.
        let many = Tiler::modes(&[Tile::Modes(Tiles::new(&[t, u, v]).unwrap())]).unwrap();
        prop_assert_eq!(nested.logical_divide(&many).unwrap_err().kind(), "rank_mismatch");
        prop_assert_eq!(nested.compose(&many).unwrap_err().kind(), "rank_mismatch");
    }

    #[test]
    fn d10_by_everything(a in strategies::any_layout(4)) {
        let whole = a.logical_divide(&Tiler::Lay(strategies::line(oracle::size(&a), 1))).unwrap();
        prop_assert!(whole.mode(0).unwrap().equivalent(&a));
        prop_assert!(whole.mode(1).unwrap().equivalent(&Lay::UNIT));
    }
}

/// Whether the tile ends at a mode boundary or divides the mode it ends in, so that nothing is rounded.
fn exact(a: &Lay, b: &Lay) -> bool {
    let (end, mut begin) = (oracle::end(b), 1);
    for (s, _) in oracle::leaves(&a.coalesce()) {
        if end < begin * s {
            return end % begin != 0 || s % (end / begin) == 0;
        }
        begin *= s;
    }
    true
}
