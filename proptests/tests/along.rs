//! Right-hand sides whose strides are basis vectors: their indices are coordinates of the left-hand shape.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Error, Int, Lay, ModePath, Stride, Tile, Tiler, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;
use proptest::sample::Index;

/// Every way to a mode of a layout, or to a mode of a mode.
fn paths(of: &Lay, at: &[usize], out: &mut Vec<(Vec<usize>, Lay)>) {
    for mode in 0..of.rank() {
        let (path, inner) = ([at, &[mode]].concat(), of.mode(mode).unwrap());
        if path.len() < ModePath::MAX_DEPTH && !inner.is_leaf() {
            paths(&inner, &path, out);
        }
        out.push((path, inner));
    }
}

/// A leaf of the right-hand side: extent, step, and a way into the left-hand side.
type Step = (i64, i64, Vec<usize>);

fn right(steps: &[Step]) -> Lay {
    let leaf = |(s, d, path): &Step| {
        let along = Stride::Basis { scale: Int::value(*d), mode: ModePath::new(path).unwrap() };
        Lay::leaf(Int::value(*s), along).unwrap()
    };
    Lay::concat(&steps.iter().map(leaf).collect::<Vec<_>>()).unwrap()
}

/// The leaves along each way, as a layout of integers.
fn groups(a: &Lay, steps: &[Step]) -> Vec<(Vec<usize>, Lay, Lay)> {
    let (mut all, mut out) = (Vec::new(), Vec::new());
    paths(a, &[], &mut all);
    for (path, mode) in all {
        let of = steps.iter().filter(|(s, d, along)| *along == path && *s > 1 && *d != 0);
        let leaves: Vec<Lay> = of.map(|(s, d, _)| strategies::line(*s, *d)).collect();
        if !leaves.is_empty() {
            out.push((path, mode, Lay::concat(&leaves).unwrap()));
        }
    }
    out
}

/// `A` at the coordinates of `B`, by definition.
fn definition(a: &Lay, steps: &[Step]) -> Vec<i64> {
    let mut ways = Vec::new();
    paths(a, &[], &mut ways);
    let size: i64 = steps.iter().map(|(s, _, _)| s).product();
    let value = |i: i64| {
        let mut entries = vec![0; ways.len()];
        let mut rest = i;
        for (s, d, path) in steps {
            entries[ways.iter().position(|(way, _)| way == path).unwrap()] += rest % s * d;
            rest /= s;
        }
        ways.iter().zip(entries).map(|((_, mode), x)| oracle::at(mode, x)).sum()
    };
    (0..size).map(value).collect()
}

fn problem() -> impl Strategy<Value = (Lay, Vec<Step>)> {
    let modes = prop::collection::vec(strategies::any_layout(3), 1..4);
    let steps = prop::collection::vec((1i64..5, 0i64..7, any::<Index>()), 1..5);
    (modes, steps).prop_map(|(modes, steps)| {
        let a = Lay::concat(&modes).unwrap();
        let mut ways = Vec::new();
        paths(&a, &[], &mut ways);
        let steps = steps.into_iter().map(|(s, d, at)| (s, d, at.get(&ways).0.clone())).collect();
        (a, steps)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// `(A o B)(c) = A(B(c))`, and what is refused is a mode that has no composition with the leaves along it.
    #[test]
    fn compositions_are_those_of_the_definition((a, steps) in problem()) {
        let (b, groups) = (right(&steps), groups(&a, &steps));
        let live: Vec<&Vec<usize>> = groups.iter().map(|(path, _, _)| path).collect();
        let mixed = live.iter().any(|p| live.iter().any(|q| p.len() < q.len() && q.starts_with(p)));
        match a.composition(&b) {
            Ok(both) => {
                prop_assert!(!mixed);
                prop_assert!(b.shape().compatible(both.shape()).unwrap());
                prop_assert_eq!(oracle::table(&both), definition(&a, &steps), "{} o {} = {}", a, b, both);
                prop_assert_eq!(a.compose_general(&b).unwrap(), both);
                let inside = groups.iter().all(|(_, mode, group)| mode.compose_in_bounds(group).is_ok());
                prop_assert_eq!(a.compose_in_bounds(&b).is_ok(), inside, "{} o {}", a, b);
            }
            Err(Error::MixedModes { .. }) => prop_assert!(mixed),
            Err(error) => {
                prop_assert!(groups.iter().any(|(_, mode, group)| mode.composition(group) == Err(error)), "{}", error);
            }
        }
    }

    /// One tile for each mode says the same, as a composition and as a divide, whatever the sizes.
    #[test]
    fn tiles_of_modes_are_steps_along_modes(
        modes in prop::collection::vec(strategies::any_layout(3), 2..4), tiles in (strategies::tractable(2), strategies::tractable(2)),
    ) {
        let a = Lay::concat(&modes).unwrap();
        let along = |tile: &Lay, mode: usize| {
            let mode = ModePath::new(&[mode]).unwrap();
            let strides = tile.stride().map(|d| Stride::Basis { scale: d.int().unwrap(), mode }).unwrap();
            Lay::new(tile.shape(), &strides).unwrap()
        };
        let tiler = Tiler::modes(&[Tile::Lay(tiles.0), Tile::Lay(tiles.1)]).unwrap();
        let steps = Lay::concat(&[along(&tiles.0, 0), along(&tiles.1, 1)]).unwrap();
        prop_assert_eq!(a.composition(&steps), a.compose(&tiler));
        let divided = a.zipped_divide(&tiler);
        match a.logical_divide(&steps.into()) {
            // A mode that the steps do not really go along stays as it is.
            Ok(logical) if oracle::size(&tiles.0) > 1 && oracle::size(&tiles.1) > 1 => {
                prop_assert_eq!(Ok(logical), divided, "{} by {}", a, steps);
            }
            Ok(logical) => prop_assert_eq!(oracle::table(&logical), oracle::table(&divided.unwrap())),
            Err(_) => prop_assert!(divided.is_err(), "{} by {}", a, steps),
        }
    }

    /// A divide has each index of the layout once, and begins with the composition.
    #[test]
    fn divides_rearrange((a, steps) in problem()) {
        let b = right(&steps);
        if let Ok(divided) = a.logical_divide(&b.into()) && oracle::size(&divided) == oracle::size(&a) {
            prop_assert_eq!(oracle::sorted(oracle::table(&divided)), oracle::sorted(oracle::table(&a)), "{} by {}", a, b);
            prop_assert_eq!(oracle::table(&divided.mode(0).unwrap()), definition(&a, &steps));
        }
    }
}

#[test]
fn worked_examples() {
    let a = lay!("(4096,8192):(1,4096)");
    let threads = lay!("(32,s0,8,128):(1@0,8@1,1@1,32@0)");
    assert_eq!(a.composition(&threads).unwrap(), lay!("(32,s0,8,128):(1,32768,4096,32)"));
    assert_eq!(a.compose(&threads.into()).unwrap(), lay!("(32,s0,8,128):(1,32768,4096,32)"));
    // A transpose, a diagonal, and an identity.
    let b = lay!("(6,(2,4)):(8,(1,2))");
    assert_eq!(b.composition(&lay!("(8,6):(1@1,1@0)")).unwrap(), lay!("(8,6):(1,8)"));
    assert_eq!(lay!("(4,4):(1,9)").composition(&lay!("(4,4):(1@0,1@1)")).unwrap(), lay!("(4,4):(1,9)"));
    assert_eq!(b.composition(&lay!("(4,6):(1@1@1,1@0)")).unwrap(), lay!("(4,6):(2,8)"));
    // The left-hand side may be an identity layout itself.
    assert_eq!(
        lay!("(8,8):(1@0,1@1)").composition(&lay!("(2,4):(4@1,2@0)")).unwrap(),
        lay!("(2,4):(4@1,2@0)")
    );
    // Symbols on the left.
    assert_eq!(lay!("(s0,s1):(s2,1)").composition(&lay!("(4,8):(1@1,1@0)")).unwrap(), lay!("(4,8):(1,s2)"));
    // Steps that stay where they are.
    assert_eq!(b.composition(&lay!("(3,1,6):(0@1,7@4,1@0)")).unwrap(), lay!("(3,1,6):(0,0,8)"));
    // Past the end of a mode, its last leaf goes on.
    assert_eq!(lay!("(4,8):(8,1)").composition(&lay!("(6,9):(1@0,1@1)")).unwrap(), lay!("(6,9):(8,1)"));
    // Each divide rounds up along its own mode; the batch stays.
    let tiles = lay!("(9,7,3):(7,1,63)").logical_divide(&lay!("(2,4):(1@1,1@0)").into()).unwrap();
    assert_eq!(tiles, lay!("((2,4),(3,4,3)):((1,7),(28,2,63))"));
    assert_eq!(
        lay!("(8,6):(1,8)").flat_divide(&lay!("(4,2):(1@0,1@1)").into()).unwrap(),
        lay!("(4,2,2,3):(1,8,4,16)")
    );
    let nested = lay!("(4,(2,6)):(1,(4,8))").logical_divide(&lay!("3:1@1@1").into()).unwrap();
    assert_eq!(nested, lay!("(3,(4,(2,2))):(8,(1,(4,24)))"));
    assert_eq!(
        lay!("((4,8),6):((1,4),32)").compose(&Tiler::parse("<(2,2):(1@1,2@0),_>").unwrap()).unwrap(),
        lay!("((2,2),6):((4,2),32)")
    );
}

#[test]
fn what_no_coordinate_is_is_refused() {
    let a = lay!("(4,(2,3)):(1,(4,8))");
    for (b, message) in [
        (lay!("4:1@2"), "there is no mode 2 in rank 2"),
        (lay!("4:1@2@1"), "there is no mode 2 in rank 2"),
        (lay!("(2,3):(1@1,1@1@1)"), ""),
        (
            lay!("(2,2):(1@0,1)"),
            "composition does not support basis strides beside other strides on the right",
        ),
        (
            lay!("(2,2):(1@0,^1)"),
            "composition does not support basis strides beside other strides on the right",
        ),
    ] {
        let error = a.composition(&b).unwrap_err();
        assert!(message.is_empty() || error.to_string() == message, "{b}: {error}");
        assert!(a.logical_divide(&b.into()).is_err(), "{b}");
    }
    assert!(matches!(a.composition(&lay!("(2,3):(1@1,1@1@1)")), Err(Error::MixedModes { .. })));
    // Steps back are those of integers: accepted along a single mode.
    assert_eq!(a.composition(&lay!("4:-1@1")).unwrap(), lay!("4:-4"));
    let back = lay!("(8,(4,2)):(100,(1,10))").composition(&lay!("4:-1@1")).unwrap_err();
    assert_eq!(back.kind(), "non_positive_stride");
    // Two leaves along one mode carry into its next leaf.
    let carry = lay!("(8,(4,2)):(100,(1,10))").composition(&lay!("(2,2):(2@1,3@1)")).unwrap_err();
    assert_eq!(carry, lay!("(4,2):(1,10)").composition(&lay!("(2,2):(2,3)")).unwrap_err());
    assert_eq!(a.compose_in_bounds(&lay!("(4,7):(1@0,1@1)")).unwrap_err().kind(), "coord_out_of_range");
    assert_eq!(a.compose_in_bounds(&lay!("(4,6):(1@0,1@1)")).unwrap(), lay!("(4,6):(1,4)"));
}
