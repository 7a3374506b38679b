//! Int tuples against trees of plain vectors.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::cmp::Ordering;

use girih_layout::{
    Coord, Error, Fact, Int, IntTuple, Lay, Shape, Symbol, crd2crd, crd2idx, idx2crd, natural_coord,
};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Leaf(i64),
    Tuple(Vec<Tree>),
}

use Tree::{Leaf, Tuple};

impl Tree {
    fn text(&self) -> String {
        match self {
            Leaf(n) => n.to_string(),
            Tuple(modes) => format!("({})", modes.iter().map(Tree::text).collect::<Vec<_>>().join(",")),
        }
    }

    fn ints(&self) -> IntTuple {
        IntTuple::parse(&self.text()).unwrap()
    }

    fn modes(&self) -> Vec<Tree> {
        match self {
            Leaf(_) => vec![self.clone()],
            Tuple(modes) => modes.clone(),
        }
    }

    fn leaves(&self) -> Vec<i64> {
        match self {
            Leaf(n) => vec![*n],
            Tuple(modes) => modes.iter().flat_map(Tree::leaves).collect(),
        }
    }

    fn product(&self) -> i64 {
        self.leaves().iter().product()
    }

    /// Another tree of the same profile.
    fn with(&self, leaves: &mut impl Iterator<Item = i64>) -> Tree {
        match self {
            Leaf(_) => Leaf(leaves.next().unwrap()),
            Tuple(modes) => Tuple(modes.iter().map(|mode| mode.with(leaves)).collect()),
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    (1i64..6)
        .prop_map(Leaf)
        .prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 1..4).prop_map(Tuple))
}

/// Two trees of one profile.
fn pairs() -> impl Strategy<Value = (Tree, Tree)> {
    trees()
        .prop_flat_map(|tree| {
            let n = tree.leaves().len();
            (Just(tree), prop::collection::vec(1i64..6, n))
        })
        .prop_map(|(tree, leaves)| (tree.with(&mut leaves.into_iter()), tree))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

proptest! {
    #[test]
    fn editing(t in trees(), u in trees(), at in 0usize..4, to in 0usize..4) {
        let (a, b, modes) = (t.ints(), u.ints(), t.modes());
        let rank = modes.len();
        let tuple = |modes: &[Tree]| Tuple(modes.to_vec()).ints();
        let edited = |edit: &dyn Fn(&mut Vec<Tree>)| { let mut m = modes.clone(); edit(&mut m); Tuple(m).ints() };
        prop_assert_eq!(a.append(&b).unwrap(), edited(&|m| m.push(u.clone())));
        prop_assert_eq!(a.prepend(&b).unwrap(), edited(&|m| m.insert(0, u.clone())));
        if at <= rank {
            prop_assert_eq!(a.insert(at, &b).unwrap(), edited(&|m| m.insert(at, u.clone())));
        } else {
            prop_assert_eq!(a.insert(at, &b).unwrap_err().kind(), "mode_out_of_range");
        }
        if at < rank {
            prop_assert_eq!(a.replace(at, &b).unwrap(), edited(&|m| m[at] = u.clone()));
            if rank > 1 {
                prop_assert_eq!(a.remove(at).unwrap(), edited(&|m| drop(m.remove(at))));
            }
            prop_assert_eq!(a.mode(at).unwrap(), modes[at].ints());
        } else {
            prop_assert!(a.replace(at, &b).is_err() && a.remove(at).is_err());
        }
        if at < to && to <= rank {
            prop_assert_eq!(a.take(at, to).unwrap(), tuple(&modes[at..to]));
            let grouped = edited(&|m| { let group = m.splice(at..to, []).collect(); m.insert(at, Tuple(group)); });
            prop_assert_eq!(a.group(at, to).unwrap(), grouped);
        }
        prop_assert!(a.take(0, rank + 1).is_err() && a.group(0, rank + 1).is_err());
        if let Tuple(modes) = &t {
            prop_assert_eq!(a.reverse(), tuple(&modes.iter().rev().cloned().collect::<Vec<_>>()));
            let order: Vec<usize> = (0..rank).rev().collect();
            prop_assert_eq!(a.select(&order).unwrap(), a.reverse());
        } else {
            prop_assert_eq!(a.wrap(), tuple(std::slice::from_ref(&t)));
        }
        prop_assert_eq!(a.flatten().unflatten(a.profile()).unwrap(), a);
        let mut inner = t.clone();
        while let Tuple(modes) = &inner && modes.len() == 1 { inner = modes[0].clone(); }
        prop_assert_eq!(a.unwrap_tuple(), inner.ints());
        prop_assert_eq!(a.map(|n| Int::value(n.get().unwrap() + 1)).unwrap(), t.with(&mut t.leaves().iter().map(|n| n + 1)).ints());
        prop_assert_eq!(IntTuple::repeat(Int::value(7), a.profile()), t.with(&mut std::iter::repeat(7)).ints());
        match IntTuple::zip(&[a, b]) {
            Ok(zipped) => {
                let pairs = modes.iter().zip(u.modes()).map(|(x, y)| Tuple(vec![x.clone(), y]));
                prop_assert_eq!(zipped, Tuple(pairs.collect()).ints());
            }
            Err(_) => prop_assert_ne!(rank, u.modes().len()),
        }
    }

    #[test]
    fn reductions((t, u) in pairs(), v in trees()) {
        let (a, b) = (t.ints(), u.ints());
        let (x, y) = (t.leaves(), u.leaves());
        prop_assert_eq!(a.sum().unwrap().get(), Some(x.iter().sum()));
        prop_assert_eq!(a.max().unwrap().get(), x.iter().copied().max());
        prop_assert_eq!(a.min().unwrap().get(), x.iter().copied().min());
        prop_assert_eq!(a.gcd().unwrap(), x.iter().fold(0, |g, n| gcd(g, *n)));
        let dot: i64 = x.iter().zip(&y).map(|(m, n)| m * n).sum();
        prop_assert_eq!(a.inner_product(&b).unwrap().get(), Some(dot));
        prop_assert_eq!(a.elem_scale(&b).unwrap(), t.with(&mut x.iter().zip(&y).map(|(m, n)| m * n)).ints());
        let sizes = Tuple(t.modes()).ints().product_each().unwrap();
        prop_assert!(sizes.leaves().map(|n| n.get().unwrap()).eq(t.modes().iter().map(Tree::product)));
        // Against the profile of any tree: refused unless this one refines it, and then the sizes agree.
        match a.product_like(v.ints().profile()) {
            Ok(products) => prop_assert!(products.compatible(&a).unwrap()),
            Err(error) => prop_assert!(error.kind() == "not_congruent" && !v.ints().weakly_congruent(&a)),
        }
    }

    #[test]
    fn orders((t, u) in pairs()) {
        let (a, b, x, y) = (t.ints(), u.ints(), t.leaves(), u.leaves());
        let reversed = |v: &[i64]| v.iter().rev().copied().collect::<Vec<_>>();
        prop_assert_eq!(a.lex_less(&b).unwrap(), x.cmp(&y) == Ordering::Less);
        prop_assert_eq!(a.colex_less(&b).unwrap(), reversed(&x) < reversed(&y));
        prop_assert_eq!(a.elem_less(&b).unwrap(), x.iter().zip(&y).all(|(m, n)| m < n));
        prop_assert_eq!(a.elem_leq(&b).unwrap(), x.iter().zip(&y).all(|(m, n)| m <= n));
        prop_assert_eq!(a.lex_less(&a.append(&b).unwrap()).unwrap_err().kind(), "not_congruent");
    }

    #[test]
    fn tilings(sizes in prop::collection::vec((1i64..40, 1i64..9), 1..4), more in trees()) {
        let shape = Tuple(sizes.iter().map(|(s, _)| Leaf(*s)).chain([more.clone()]).collect());
        let tile = Tuple(sizes.iter().map(|(_, t)| Leaf(*t)).collect());
        let counts = Tuple(sizes.iter().map(|(s, t)| Leaf((s + t - 1) / t)).chain([more.clone()]).collect());
        let padded = Tuple(sizes.iter().map(|(s, t)| Leaf((s + t - 1) / t * t)).chain([more]).collect());
        prop_assert_eq!(shape.ints().ceil_div(&tile.ints()).unwrap(), counts.ints());
        prop_assert_eq!(shape.ints().round_up(&tile.ints()).unwrap(), padded.ints());
        prop_assert_eq!(tile.ints().ceil_div(&shape.ints()).unwrap_err().kind(), "rank_mismatch");
    }

    #[test]
    fn coordinates_and_numbers(t in trees(), u in trees()) {
        let (shape, other): (Shape, Shape) = (t.ints(), u.ints());
        let size = t.product();
        for (i, coord) in (0..).zip(shape.coords().unwrap()) {
            prop_assert_eq!(idx2crd(&shape, i).unwrap(), coord);
            prop_assert_eq!(crd2idx(&shape, &coord).unwrap(), i);
            prop_assert!(shape.contains(&coord).unwrap() && shape.contains(&Coord::at(i)).unwrap());
            if i < u.product() {
                prop_assert_eq!(crd2crd(&shape, &other, &coord).unwrap(), natural_coord(&other, &Coord::at(i)).unwrap());
            } else {
                prop_assert!(crd2crd(&shape, &other, &coord).is_err());
            }
        }
        prop_assert!(!shape.contains(&Coord::at(size)).unwrap() && !shape.contains(&Coord::at(-1)).unwrap());
        prop_assert_eq!(crd2idx(&shape, &Coord::at(size)).unwrap_err().kind(), "coord_out_of_range");
        // Compact layouts give their coordinates back.
        let rows = Lay::right(&shape).unwrap();
        for i in 0..size {
            let x = rows.coord_1d(i).unwrap();
            prop_assert_eq!(rows.at(x).unwrap(), i);
            prop_assert_eq!(rows.crd2idx(&rows.flat_coord(i).unwrap()).unwrap(), i);
        }
    }

    #[test]
    fn iteration_in_any_order(t in trees(), keys in prop::collection::vec(0i64..4, 8)) {
        let keys = t.with(&mut keys.into_iter().cycle()).ints();
        let shape: Shape = t.ints();
        let ordered = Lay::ordered(&shape, &keys).unwrap();
        for (i, coord) in (0..).zip(shape.coords_by(&keys).unwrap()) {
            prop_assert_eq!(ordered.crd2idx(&coord).unwrap(), i);
        }
        prop_assert_eq!(shape.coords_by(&keys).unwrap().count() as i64, t.product());
    }

    #[test]
    fn layouts_are_edited_like_their_trees((t, u) in pairs(), v in trees(), at in 0usize..3) {
        let (l, m) = (Lay::left(&t.ints()).unwrap(), Lay::right(&v.ints()).unwrap());
        let other = Lay::right(&u.ints()).unwrap();
        let rebuilt = |shape: IntTuple, stride| Lay::new(&shape, &stride).unwrap();
        if at <= l.rank() {
            let inserted = rebuilt(l.shape().insert(at, m.shape()).unwrap(), l.stride().insert(at, &m.stride()).unwrap());
            prop_assert_eq!(l.insert(at, &m).unwrap(), inserted);
            prop_assert_eq!(inserted.remove(at).unwrap(), if l.is_leaf() { l.take(0, 1).unwrap() } else { l });
        } else {
            prop_assert!(l.insert(at, &m).is_err());
        }
        prop_assert_eq!(l.reverse().reverse(), l);
        let zipped = l.zip(&other).unwrap();
        for k in 0..l.rank() {
            prop_assert_eq!(zipped.mode(k).unwrap().mode(0).unwrap(), l.mode(k).unwrap());
            prop_assert_eq!(zipped.mode(k).unwrap().mode(1).unwrap(), other.mode(k).unwrap());
        }
        let coalesced = l.map_modes(|mode| Ok(mode.coalesce())).unwrap();
        for k in 0..l.rank() {
            prop_assert_eq!(coalesced.mode(k).unwrap(), l.mode(k).unwrap().coalesce());
        }
    }
}

#[test]
fn symbols_name_the_fact_that_would_settle_it() {
    let m = Symbol::new(0);
    let shape = |symbol: Symbol| Shape::flat(&[symbol.into(), Int::fixed(8)]).unwrap();
    let coord = Coord::of(&[100, 3]).unwrap();
    let error = shape(m).contains(&coord).unwrap_err();
    assert!(matches!(error, girih_layout::Error::NeedsFact { fact: Fact::AtLeast(101), .. }), "{error}");
    assert!(shape(m.at_least(128)).contains(&coord).unwrap());
    // What the other leaves settle needs no fact.
    assert!(!shape(m).contains(&Coord::of(&[100, 8]).unwrap()).unwrap());
    assert!(!shape(m).elem_less(&Shape::parse("(5,8)").unwrap()).unwrap());
    let error = shape(m).elem_less(&Shape::parse("(5,9)").unwrap()).unwrap_err();
    assert!(matches!(error, girih_layout::Error::NeedsFact { fact: Fact::AtMost(4), .. }), "{error}");
    let error = shape(m).shape_div(&Shape::leaf(Int::fixed(4))).unwrap_err();
    assert!(matches!(error, girih_layout::Error::NeedsFact { fact: Fact::DivisibleBy(4), .. }), "{error}");
    assert_eq!(
        shape(m.divisible_by(4)).shape_div(&Shape::leaf(Int::fixed(4))).unwrap().to_string(),
        "(ceil(s0/4),8)"
    );
    assert_eq!(shape(m).sum().unwrap().to_string(), "s0 + 8");
    assert_eq!(shape(m).max().unwrap_err().kind(), "not_known");
    assert_eq!(shape(m.at_least(64)).max().unwrap(), Int::symbol(m));
    assert_eq!(shape(m).gcd().unwrap_err().kind(), "not_known");
}

/// A range of modes is what its numbers say, or refused with them: for every beginning and end, of layouts and of tuples.
#[test]
fn ranges_of_modes_are_there_or_refused() {
    for text in ["(2):(3)", "(2,3):(3,1)", "((2,2),3,5):((1,2),4,12)", "(2,3,4,5):(1,2,6,24)"] {
        let lay = Lay::parse(text).unwrap();
        let rank = lay.rank();
        let modes: Vec<Lay> = (0..rank).map(|i| lay.mode(i).unwrap()).collect();
        for (begin, end) in (0..=rank + 2).flat_map(|begin| (0..=rank + 2).map(move |end| (begin, end))) {
            let (taken, grouped) = (lay.take(begin, end), lay.group(begin, end));
            let (shape, shapes) = (lay.shape().take(begin, end), lay.shape().group(begin, end));
            if begin <= end && end <= rank {
                let taken = taken.unwrap();
                let found: Vec<Lay> = (0..taken.rank()).map(|i| taken.mode(i).unwrap()).collect();
                assert_eq!(found, modes[begin..end], "{text}: take({begin},{end})");
                if begin == end {
                    let refused = Error::Unsupported { op: "group", what: "a group of no modes" };
                    assert_eq!(
                        (grouped, shapes),
                        (Err(refused), Err(refused)),
                        "{text}: group({begin},{end})"
                    );
                    continue;
                }
                let grouped = grouped.unwrap();
                assert_eq!(grouped.rank(), rank - (end - begin) + 1, "{text}: group({begin},{end})");
                assert_eq!(grouped.mode(begin).unwrap(), taken, "{text}: group({begin},{end})");
                assert_eq!((*taken.shape(), *grouped.shape()), (shape.unwrap(), shapes.unwrap()));
            } else {
                let refused = Error::ModeRange { begin, end, rank };
                assert_eq!((taken, grouped), (Err(refused), Err(refused)), "{text}: {begin} up to {end}");
                assert_eq!((shape, shapes), (Err(refused), Err(refused)), "{text}: {begin} up to {end}");
            }
        }
    }
}
