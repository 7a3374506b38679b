//! Coordinates and coalescing: the laws C, K and S.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Coord, Crd, Lay, ModePath, Shape, Stride, idx2crd, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

const LEAVES: usize = 4;

/// Mode by mode, with one position each.
fn by_rank(layout: &Lay, mut index: i64) -> Coord {
    let mut positions = Vec::new();
    for i in 0..layout.rank() {
        let size = oracle::size(&layout.mode(i).unwrap());
        positions.push(index % size);
        index /= size;
    }
    if layout.is_leaf() { Coord::at(positions[0]) } else { Coord::of(&positions).unwrap() }
}

/// The table of the leaves under `_`, and where it begins.
fn free_and_fixed(layout: &Lay, coord: &Coord) -> (Vec<(i64, i64)>, i64) {
    let (mut free, mut offset) = (Vec::new(), 0);
    for ((s, d), c) in oracle::leaves(layout).into_iter().zip(coord.leaves()) {
        match c {
            Crd::At(c) => offset += c * d,
            Crd::All => free.push((s, d)),
        }
    }
    (free, offset)
}

proptest! {
    #[test]
    fn c01_c02_c03_all_coordinates_of_an_element_agree(l in strategies::any_layout(LEAVES)) {
        let expected = oracle::table(&l);
        let mut digits_before: Option<Vec<i64>> = None;
        for (i, index) in expected.iter().enumerate() {
            let i = i as i64;
            let nested = idx2crd(l.shape(), i).unwrap();
            prop_assert_eq!(l.at(i).unwrap(), *index);
            prop_assert_eq!(l.crd2idx(&nested).unwrap(), *index);
            prop_assert_eq!(l.crd2idx(&by_rank(&l, i)).unwrap(), *index);
            prop_assert_eq!(Lay::left(l.shape()).unwrap().crd2idx(&nested).unwrap(), i);
            // Colexicographic: the rightmost differing digit grows.
            let digits: Vec<i64> = nested.leaves().rev()
                .map(|c| match c { Crd::At(x) => x, Crd::All => -1 }).collect();
            prop_assert!(digits_before.as_ref().is_none_or(|before| *before < digits));
            digits_before = Some(digits);
        }
        prop_assert!(l.at(expected.len() as i64).is_err() && l.at(-1).is_err());
        prop_assert!(idx2crd(l.shape(), expected.len() as i64).is_err());
    }

    #[test]
    fn c06_the_extended_function_goes_on_in_the_last_leaf(l in strategies::any_layout(LEAVES), i in 0i64..4096) {
        prop_assert_eq!(l.at_extended(i).unwrap(), oracle::at(&l, i));
    }

    #[test]
    fn c07_c08_the_range_of_indices(l in strategies::any_layout(LEAVES)) {
        let table = oracle::table(&l);
        let (least, most) = (*table.iter().min().unwrap(), *table.iter().max().unwrap());
        prop_assert_eq!((l.min_index().unwrap(), l.max_index().unwrap()), (least, most));
        prop_assert_eq!(l.span().unwrap().get(), Some(most - least + 1));
        match l.cosize() {
            Ok(cosize) => prop_assert_eq!(cosize.get(), Some(most + 1)),
            Err(error) => { prop_assert!(least < 0); prop_assert_eq!(error.kind(), "non_positive_stride"); }
        }
    }

    #[test]
    fn c04_c05_compatible_means_the_same_coordinates(
        a in strategies::arbitrary(3), b in strategies::arbitrary(3), c in strategies::arbitrary(3),
    ) {
        let (a, b, c) = (a.shape(), b.shape(), c.shape());
        prop_assert!(a.compatible(a).unwrap());
        prop_assert!(!(a.compatible(b).unwrap() && b.compatible(a).unwrap()) || a == b);
        prop_assert!(!(a.compatible(b).unwrap() && b.compatible(c).unwrap()) || a.compatible(c).unwrap());
        prop_assert!(!a.congruent(b) || a.weakly_congruent(b));
        prop_assert!(!a.compatible(b).unwrap() || a.weakly_congruent(b) && a.size() == b.size());
        // Every coordinate of a shape is one of whatever refines it.
        let (la, lb) = (Lay::left(a).unwrap(), Lay::left(b).unwrap());
        let all = (0..oracle::size(&la)).all(|i| lb.crd2idx(&idx2crd(a, i).unwrap()) == Ok(i));
        if all && a.size() == b.size() && a.weakly_congruent(b) { prop_assert!(a.compatible(b).unwrap()); }
        if a.compatible(b).unwrap() { prop_assert!(all); }
    }

    #[test]
    fn k01_k02_k08_coalesce_keeps_the_function(l in strategies::any_layout(LEAVES)) {
        let c = l.coalesce();
        prop_assert_eq!(oracle::table(&c), oracle::table(&l));
        prop_assert_eq!(c.coalesce(), c);
        prop_assert!(c.depth() <= 1);
        let leaves = oracle::leaves(&c);
        prop_assert!(leaves.len() == 1 || leaves.iter().all(|(s, _)| *s > 1));
        prop_assert!(leaves.windows(2).all(|w| w[1].1 != w[0].0 * w[0].1));
        prop_assert!(oracle::size(&l) != 1 || c == Lay::UNIT);
    }

    #[test]
    fn k03_v03_equal_functions_coalesce_equally(a in strategies::any_layout(3), b in strategies::any_layout(3)) {
        let same = oracle::table(&a) == oracle::table(&b);
        prop_assert_eq!(a.equivalent(&b), same);
        prop_assert_eq!(a.coalesce() == b.coalesce(), same);
    }

    #[test]
    fn k05_coalesce_by_mode(l in strategies::any_layout(LEAVES)) {
        if l.is_leaf() {
            return Ok(()); // not what the law is about
        }
        let profile = l.shape().product_each().unwrap();
        let c = l.coalesce_by(&profile).unwrap();
        prop_assert_eq!(c.rank(), l.rank());
        for i in 0..l.rank() {
            prop_assert_eq!(c.mode(i).unwrap(), l.mode(i).unwrap().coalesce());
        }
        prop_assert_eq!(oracle::table(&c), oracle::table(&l));
        prop_assert!(l.coalesce_by(&Shape::parse("(1,1,1,1,1)").unwrap()).is_err());
    }

    #[test]
    fn k07_flatten_and_back(l in strategies::any_layout(LEAVES)) {
        let flat = l.flatten();
        prop_assert!(flat.depth() <= 1);
        prop_assert_eq!(oracle::table(&flat), oracle::table(&l));
        prop_assert_eq!(flat.unflatten(l.shape().profile()).unwrap(), l);
    }

    #[test]
    fn k09_k10_filter_and_nullspace(l in strategies::any_layout(LEAVES)) {
        let image = |l: &Lay| { let mut t = oracle::sorted(oracle::table(l)); t.dedup(); t };
        let (filter, null) = (l.filter(), l.nullspace().unwrap());
        prop_assert_eq!(image(&filter), image(&l));
        prop_assert_eq!(oracle::size(&filter) * oracle::size(&null), oracle::size(&l));
        prop_assert!(oracle::table(&null).into_iter().all(|i| oracle::at(&l, i) == 0));
        prop_assert_eq!(null.nullspace().unwrap(), Lay::UNIT);
    }

    #[test]
    fn s01_s02_slices((l, c) in strategies::any_layout(LEAVES).prop_flat_map(strategies::slicing)) {
        let (slice, offset) = l.slice(&c).unwrap();
        let (free, fixed) = free_and_fixed(&l, &c);
        prop_assert_eq!(offset.get(), Some(fixed));
        prop_assert_eq!(oracle::leaves(&slice), free);
        let rest = l.dice(&c).unwrap();
        prop_assert_eq!(oracle::size(&slice) * oracle::size(&rest), oracle::size(&l));
    }

    #[test]
    fn s03_slices_of_coalesced_modes(l in strategies::any_layout(LEAVES), i in 0i64..64) {
        if l.rank() < 2 {
            return Ok(()); // not what the law is about
        }
        // Mode 0 fixed, the others kept; and the other way round.
        let coalesced = l.coalesce_by(&l.shape().product_each().unwrap()).unwrap();
        let at = Crd::At(i % oracle::size(&l.mode(0).unwrap()));
        for fixed in [true, false] {
            let mut leaves = vec![if fixed { Crd::All } else { Crd::At(0) }; l.rank()];
            leaves[0] = if fixed { at } else { Crd::All };
            let coord = Coord::flat(&leaves).unwrap();
            let ((a, p), (b, q)) = (l.slice(&coord).unwrap(), coalesced.slice(&coord).unwrap());
            prop_assert_eq!((oracle::table(&a), p), (oracle::table(&b), q));
        }
    }

    #[test]
    fn s04_modes_in_other_places(l in strategies::any_layout(LEAVES), begin in 0usize..4, len in 0usize..4) {
        let (rank, end) = (l.rank(), begin + len);
        let all: Vec<usize> = (0..rank).collect();
        let group = l.group(begin, end);
        // No layout has an empty tuple for a mode.
        prop_assert_eq!(group.is_ok(), len > 0 && end <= rank);
        if let Ok(group) = group {
            prop_assert_eq!(oracle::table(&group), oracle::table(&l));
            prop_assert_eq!(group.rank(), rank - len + 1);
        }
        prop_assert_eq!(oracle::table(&l.select(&all).unwrap()), oracle::table(&l));
        prop_assert!(l.select(&[rank]).is_err() && l.mode(rank).is_err());
        let (front, back) = (l.prepend(&Lay::UNIT).unwrap(), l.append(&Lay::UNIT).unwrap());
        prop_assert_eq!((front.rank(), back.rank()), (rank + 1, rank + 1));
        prop_assert_eq!(front.mode(0).unwrap(), back.mode(rank).unwrap());
        prop_assert_eq!(oracle::table(&front), oracle::table(&l));
    }

    #[test]
    fn text_round_trip(l in strategies::any_layout(LEAVES)) {
        prop_assert_eq!(Lay::parse(&l.to_string()).unwrap(), l);
        prop_assert_eq!(Shape::parse(&l.shape().to_string()).unwrap(), *l.shape());
        prop_assert_eq!(Lay::new(l.shape(), &l.stride()).unwrap(), l);
    }

    #[test]
    fn text_never_panics(text in "[0-9(),:_@E^s*/ceil<> -]{0,24}") {
        let _ = (Lay::parse(&text), Coord::parse(&text), girih_layout::Tiler::parse(&text));
    }
}

#[test]
fn k06_plain_coalesce_may_change_the_extended_function() {
    let l = Lay::parse("(4,1):(1,0)").unwrap();
    assert_eq!(l.coalesce().to_string(), "4:1");
    assert_ne!(l.at_extended(5).unwrap(), l.coalesce().at_extended(5).unwrap());
    assert_eq!(l.composition(&Lay::parse("8:1").unwrap()).unwrap().at(5), Ok(1));
}

#[test]
fn the_layout_of_rank_0_has_one_element() {
    let (l, offset) = Lay::parse("(4,8):(8,1)").unwrap().slice(&Coord::parse("(3,5)").unwrap()).unwrap();
    assert_eq!((l.to_string().as_str(), offset.get(), l.rank()), ("():()", Some(29), 0));
    assert_eq!(Lay::parse("():()").unwrap(), l);
    assert_eq!((l.at(0), l.size().unwrap().get()), (Ok(0), Some(1)));
    assert!(l.at(1).is_err() && l.mode(0).is_err() && Lay::parse("((),4):((),1)").is_err());
    assert_eq!(l.coalesce(), Lay::UNIT);
    assert_eq!(Lay::parse("8:3").unwrap().composition(&l).unwrap(), l);
    assert_eq!(l.composition(&Lay::parse("1:0").unwrap()).unwrap(), Lay::UNIT);
}

#[test]
fn malformed_text_says_where_and_what() {
    for (text, at) in
        [("(4,8):(1", 8), ("(4,,8)", 3), ("4:", 2), ("(4,8))", 5), ("4:1 x", 4), ("", 0), ("(_,4)", 1)]
    {
        match Lay::parse(text) {
            Err(girih_layout::Error::Parse { at: found, .. }) => assert_eq!(found, at, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for (text, kind) in [
        ("(4,8):(1,(4,5))", "not_congruent"),
        ("(4,0):(1,4)", "non_positive_shape"),
        ("99999999999999999999:1", "parse"),
        ("(4611686018427387904,4,1)", "overflow"),
    ] {
        assert_eq!(Lay::parse(text).unwrap_err().kind(), kind, "{text}");
    }
    assert_eq!(girih_layout::Tiler::parse("<(),4>").unwrap_err().kind(), "unsupported");
    let many = format!("({}1)", "1,".repeat(girih_layout::MAX_LEAVES));
    assert_eq!(Lay::parse(&many).unwrap_err().kind(), "capacity");
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert_eq!(Lay::parse(&deep).unwrap_err().kind(), "capacity");
}

/// The positions other than 0 of a coordinate, by the basis vectors along which they are.
fn entries(layout: &Lay, i: i64, rank: usize) -> Vec<(Stride, Crd)> {
    let basis = layout.coordinate_basis(rank).unwrap();
    let coord = layout.coord_at(i, rank).unwrap();
    basis.leaves().zip(coord.leaves()).filter(|(_, position)| *position != Crd::At(0)).collect()
}

proptest! {
    /// The definition: the identity sends each coordinate to itself, and so does what is computed from it where it leads.
    #[test]
    fn identities_of_all_shapes(l in strategies::any_layout(LEAVES), b in strategies::arbitrary(2)) {
        let shape = if l.is_leaf() { Shape::concat(&[*l.shape()]).unwrap() } else { *l.shape() };
        let identity = match Lay::identity(&shape) {
            Ok(identity) => identity,
            Err(error) => {
                prop_assert!(shape.depth() > ModePath::MAX_DEPTH, "{}: {}", shape, error);
                return Ok(());
            }
        };
        prop_assert_eq!(identity.coshape(shape.rank()).unwrap(), shape);
        prop_assert!(identity.coordinate_basis(shape.rank()).unwrap().profile().congruent(shape.profile()));
        prop_assert_eq!(Lay::parse(&identity.to_string()).unwrap(), identity);
        for i in 0..oracle::size(&l) {
            prop_assert_eq!(identity.coord_at(i, shape.rank()).unwrap(), idx2crd(&shape, i).unwrap());
        }
        let inside = oracle::table(&b).into_iter().all(|i| i < oracle::size(&l));
        if let (true, Ok(r)) = (inside, identity.composition(&b)) {
            for i in 0..oracle::size(&b) {
                prop_assert_eq!(entries(&r, i, shape.rank()), entries(&identity, oracle::at(&b, i), shape.rank()), "{}", r);
            }
        }
    }
}

#[test]
fn basis_vectors_of_nested_coordinates_are_read_and_written() {
    for (text, printed) in [
        ("(4,3):(E<0>,E<0,1>)", "(4,3):(1@0,1@1@0)"),
        ("(4,3):( E0 , 5@1@2 )", "(4,3):(1@0,5@1@2)"),
        ("4:E< 2, 1 ,0 >", "4:1@0@1@2"),
        ("4:s1@31@0", "4:s1@31@0"),
        ("4:2*s1@0@1", "4:2*s1@0@1"),
    ] {
        let l = Lay::parse(text).unwrap();
        assert_eq!(l.to_string(), printed);
        assert_eq!(Lay::parse(printed).unwrap(), l);
    }
    for (text, at) in [
        ("4:E<0,1", 7),
        ("4:E<>", 4),
        ("4:E<0;1>", 5),
        ("4:1@32", 4),
        ("4:1@0@1@2@3", 10),
        ("4:1@-1", 4),
        ("4:1@0@", 6),
        ("4:E", 3),
    ] {
        let girih_layout::Error::Parse { at: found, .. } = Lay::parse(text).unwrap_err() else {
            panic!("{text}")
        };
        assert_eq!(found, at, "{text}");
    }
    // Other entries are other units: nothing is merged and nothing is composed across them.
    assert_eq!(lay!("(2,3):(1@0@1,2@0@1)").coalesce(), lay!("6:1@0@1"));
    assert_eq!(lay!("(2,3):(1@0@1,2@1@1)").coalesce(), lay!("(2,3):(1@0@1,2@1@1)"));
    assert_eq!(lay!("(2,3):(1@1,2@0@1)").coalesce(), lay!("(2,3):(1@1,2@0@1)"));
    assert_eq!(
        lay!("(4,6):(1@0@1,1@1@1)").composition(&lay!("(2,2):(2,4)")).unwrap(),
        lay!("(2,2):(2@0@1,1@1@1)")
    );
    assert_eq!(lay!("(4,6):(1@0@1,1@1@1)").composition(&lay!("3:3")).unwrap_err().kind(), "no_layout");
    // A mode is a number or a tuple.
    let mixed = lay!("(2,3):(1@1,1@0@1)");
    assert_eq!(
        mixed.coord_at(0, 2).unwrap_err().to_string(),
        "a coordinate of a layout: mode 1 of the coordinates would be a number \
        and a tuple; strides along it or along its modes are accepted, not both"
    );
    assert_eq!(mixed.coshape(2).unwrap_err().kind(), "mixed_modes");
    assert_eq!(lay!("(2,3):(1@0@1,1@0@0@1)").coshape(2).unwrap_err().kind(), "mixed_modes");
    assert_eq!(
        ModePath::new(&[1, 2, 3, 4]).unwrap_err().to_string(),
        "no basis vector has a path of 4 modes with mode 4 last: \
        1 to 3 modes are accepted, each less than 32"
    );
}

#[test]
fn coordinates_of_identity_layouts() {
    let shape = Shape::parse("(4,6)").unwrap();
    let l = Lay::identity(&shape).unwrap();
    assert_eq!(l.to_string(), "(4,6):(1@0,1@1)");
    for i in 0..24 {
        assert_eq!(l.coord_at(i, 2).unwrap(), Coord::of(&[i % 4, i / 4]).unwrap());
        // An index is no coordinate, except the origin.
        assert_eq!(l.at(i).is_ok(), i == 0);
        assert_eq!(l.crd2idx(&idx2crd(&shape, i).unwrap()).is_ok(), i == 0);
    }
    assert_eq!(l.coord_at(23, 1).unwrap_err().kind(), "mode_out_of_range");
    // Tiles of coordinates: what a kernel compares with M and N.
    let tiles = l.zipped_divide(&girih_layout::Tiler::parse("<2,3>").unwrap()).unwrap();
    assert_eq!(tiles.to_string(), "((2,3),(2,2)):((1@0,1@1),(2@0,3@1))");
    let halves = l.composition(&Lay::parse("(2,12):(1,2)").unwrap()).unwrap();
    for i in 0..24 {
        assert_eq!(halves.coord_at(i, 2).unwrap(), l.coord_at(i, 2).unwrap());
    }
}
